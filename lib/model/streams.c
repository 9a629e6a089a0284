/* SPDX-License-Identifier: MIT
 *
 * streams.c - reading anywhere in storages that are compressed
 */

#include <errno.h>
#include <time.h>

#include "lib/base/kept.h"
#include "lib/base/spin.h"
#include "lib/model/stored_parts.h"

/* With zlib's 40 KiB, 48 KiB for a thread. */
#define INPUT_SIZE 8000

/* zlib is a fifth faster where one call makes more than the 32 KiB that deflate
 * refers back to, and 8000 bytes of input rarely do.  So the end of the buffer
 * that it fills is room for more input, this part of it. */
#define ROOM_PART 4

/* A storage is unpacked from its start so many times, as commands do that go
 * over all data twice; then once more as a whole. */
#define BEGUN_MOST 2

/* What is passed over goes to the stack. */
#define SKIPPED 4096

struct mf_stream {
    struct mf_inflate inflate;
    uint32_t row; /* of the storage; UINT32_MAX: none yet */
    /* Guarded by the lock: whether a thread reads, what and how far. */
    bool busy;
    uint32_t for_row;
    uint64_t until;
    bool ended;      /* no byte comes after `at` */
    uint64_t at;     /* the next unpacked byte */
    uint64_t packed; /* the next byte of the storage in the file */
    size_t next, filled;
    struct mf_io_stats *io; /* of the thread that reads */
    uint8_t input[INPUT_SIZE];
};

/* ---- which stream ---- */

/* What there is for a read, under the lock. */
struct choice {
    struct mf_stream *near;   /* free, of the row, nearest before the offset */
    struct mf_stream *coming; /* the same of those that are in use: where they
                                 will be */
    struct mf_stream *any; /* free; of no row if possible, since another thread
                              may go on with one that is */
    size_t slot;           /* where a new one could be */
};

static void choose_free(struct choice *choice, struct mf_stream *stream,
                        uint32_t row, uint64_t offset)
{
    if (!choice->any || stream->row == UINT32_MAX)
        choice->any = stream;
    if (stream->row == row && stream->at <= offset &&
        (!choice->near || stream->at > choice->near->at))
        choice->near = stream;
}

static struct choice choose(const struct mf_streams *streams, uint32_t row,
                            uint64_t offset)
{
    struct choice choice = { .slot = MF_STREAMS_MAX };

    for (size_t i = MF_STREAMS_MAX; i-- > 0;) {
        struct mf_stream *stream = streams->stream[i];

        if (!stream)
            choice.slot = i;
        else if (!stream->busy)
            choose_free(&choice, stream, row, offset);
        else if (stream->for_row == row && stream->until <= offset &&
                 (!choice.coming || stream->until > choice.coming->until))
            choice.coming = stream;
    }
    return choice;
}

static struct mf_stream *new_stream(struct mf_env *env)
{
    struct mf_error before;
    struct mf_stream *stream;

    mf_kept_lock(env);
    before = env->error;
    stream = mf_alloc(env, sizeof(*stream));
    env->error = before;
    mf_kept_unlock(env);
    if (!stream) {
        errno = ENOMEM;
        return NULL;
    }
    *stream = (struct mf_stream){ .row = UINT32_MAX, .busy = true };
    return stream;
}

/* Takes one of the choice; *waits: none yet.  Under the lock. */
static struct mf_stream *take(struct mf_streams *streams,
                              const struct choice *choice, bool *waits)
{
    struct mf_stream *stream = choice->near ? choice->near : choice->any;

    /* To begin again costs more than to wait for who is nearly there. */
    *waits = choice->coming &&
             (!choice->near || choice->coming->until > choice->near->at);
    *waits = *waits || (!stream && choice->slot == MF_STREAMS_MAX);
    if (*waits)
        return NULL;
    if (!stream)
        stream = streams->stream[choice->slot] = new_stream(streams->env);
    return stream;
}

/* How a read of a storage goes on. */
struct access {
    struct mf_stream *stream;    /* of this thread alone, or NULL */
    bool makes;                  /* it unpacks the whole storage first */
    struct mf_unpacked unpacked; /* else where the bytes are, if ready */
};

/* Begins again with a stream, or unpacks all: false with errno. */
static bool begin(struct mf_streams *streams, struct mf_stored *stored,
                  uint32_t row, struct access *out)
{
    struct mf_unpacked *unpacked;

    if (stored->begun < BEGUN_MOST) {
        stored->begun++;
        return true;
    }
    unpacked =
        mf_unpacked_begin(&streams->unpacked, streams->env, row, stored->size);
    if (!unpacked)
        return false;
    out->makes = true;
    out->unpacked = *unpacked;
    return true;
}

/* Takes a stream for a read that is not of what was unpacked as a whole; true
 * if the read has to wait.  Under the lock. */
static bool choose_stream(struct mf_streams *streams, struct mf_stored *stored,
                          uint32_t row, struct mf_span read, struct access *out)
{
    struct choice choice = choose(streams, row, read.offset);
    bool waits;

    out->stream = take(streams, &choice, &waits);
    if (!out->stream)
        return waits;
    out->stream->busy = true;
    out->stream->for_row = row;
    out->stream->until = read.offset + read.size;
    if (out->stream != choice.near && !begin(streams, stored, row, out)) {
        out->stream->busy = false;
        out->stream = NULL;
    }
    return false;
}

/* Finds out how to read; false with errno. */
static bool acquire(struct mf_streams *streams, struct mf_stored *stored,
                    uint32_t row, struct mf_span read, struct access *out)
{
    const struct timespec moment = { .tv_nsec = 50000 };
    bool waits = true;

    for (;;) {
        const struct mf_unpacked *unpacked;

        *out = (struct access){ .stream = NULL };
        mf_spin_lock(&streams->locked);
        unpacked = mf_unpacked_find(&streams->unpacked, row);
        if (unpacked && !unpacked->again) {
            out->unpacked = *unpacked;
            waits = !unpacked->ready;
        } else {
            waits = choose_stream(streams, stored, row, read, out);
        }
        mf_spin_unlock(&streams->locked);
        if (!waits)
            return out->stream || out->unpacked.ready;
        nanosleep(&moment, NULL);
    }
}

static void let_go(struct mf_streams *streams, struct mf_stream *stream)
{
    mf_spin_lock(&streams->locked);
    stream->busy = false;
    mf_spin_unlock(&streams->locked);
}

/* ---- unpacking ---- */

static bool restart(struct mf_stream *stream, struct mf_env *env, uint32_t row)
{
    stream->row = UINT32_MAX;
    if (!mf_inflate_begin(&stream->inflate, env)) {
        errno = ENOMEM;
        return false;
    }
    stream->row = row;
    stream->at = stream->packed = 0;
    stream->next = stream->filled = 0;
    stream->ended = false;
    return true;
}

/* Reads more input, if all of it is used and some is left; false with errno. */
static bool refill(struct mf_stream *stream, const struct mf_source *file,
                   const struct mf_stored *stored)
{
    uint64_t left = stored->file.size - stream->packed;
    size_t size = left < INPUT_SIZE ? (size_t)left : INPUT_SIZE;
    int64_t got;

    if (stream->next < stream->filled || size == 0)
        return true;
    got = file->ops->read(file, stored->file.offset + stream->packed,
                          stream->input, size, stream->io);
    if (got == 0)
        errno = EIO;
    if (got <= 0)
        return false;
    stream->packed += (uint64_t)got;
    stream->next = 0;
    stream->filled = (size_t)got;
    return true;
}

/* Unpacks *used bytes of input to *size bytes, which get how many it were;
 * false with errno where nothing came of it. */
static bool inflate_some(struct mf_stream *stream, const uint8_t *input,
                         size_t *used, uint8_t *into, size_t *size)
{
    enum mf_inflated result =
        mf_inflate_step(&stream->inflate, input, used, into, size);

    stream->at += *size;
    stream->ended = result == MF_INFLATE_END;
    errno = result == MF_INFLATE_NO_MEMORY ? ENOMEM : EBADMSG;
    return stream->ended ||
           (result == MF_INFLATE_MORE && (*used > 0 || *size > 0));
}

/* At most *size more bytes, and how many; false with errno where neither they
 * nor the end came. */
static bool step(struct mf_stream *stream, const struct mf_source *file,
                 const struct mf_stored *stored, uint8_t *into, size_t *size)
{
    size_t used;
    bool done;

    if (!refill(stream, file, stored))
        return false;
    used = stream->filled - stream->next;
    done =
        inflate_some(stream, stream->input + stream->next, &used, into, size);
    stream->next += used;
    return done;
}

/* The same with input at the end of into, if that is larger than the stream's
 * own; what is not used of it is read again. */
static bool step_in_room(struct mf_stream *stream, const struct mf_source *file,
                         const struct mf_stored *stored, uint8_t *into,
                         size_t *size)
{
    uint64_t left = stored->file.size - stream->packed;
    size_t room = *size / ROOM_PART, used;
    int64_t got;

    if (room > left)
        room = (size_t)left;
    if (room <= INPUT_SIZE || stream->next < stream->filled)
        return step(stream, file, stored, into, size);
    *size -= room;
    got = file->ops->read(file, stored->file.offset + stream->packed,
                          into + *size, room, stream->io);
    if (got == 0)
        errno = EIO;
    if (got <= 0)
        return false;
    used = (size_t)got;
    if (!inflate_some(stream, into + *size, &used, into, size))
        return false;
    stream->packed += used;
    return true;
}

/* The next size bytes; false with errno. */
static bool unpack(struct mf_stream *stream, const struct mf_source *file,
                   const struct mf_stored *stored, uint8_t *into, size_t size)
{
    while (size > 0) {
        size_t made = size;

        errno = EBADMSG;
        if (stream->ended || !step_in_room(stream, file, stored, into, &made))
            return false;
        into += made;
        size -= made;
    }
    return true;
}

/* Once all bytes of the storage are there: whether the packed ones end as well.
 * False with errno. */
static bool ends_there(struct mf_stream *stream, const struct mf_source *file,
                       const struct mf_stored *stored)
{
    uint8_t beyond;
    size_t made = 0;

    while (!stream->ended && made == 0) {
        made = 1;
        if (!step(stream, file, stored, &beyond, &made))
            return false;
    }
    errno = EBADMSG;
    return made == 0 && stream->next == stream->filled &&
           stream->packed == stored->file.size;
}

static bool pass_over(struct mf_stream *stream, const struct mf_source *file,
                      const struct mf_stored *stored, uint64_t offset)
{
    uint8_t unused[SKIPPED];

    while (stream->at < offset) {
        uint64_t left = offset - stream->at;

        if (!unpack(stream, file, stored, unused,
                    left < SKIPPED ? (size_t)left : SKIPPED))
            return false;
    }
    return true;
}

/* All bytes up to damage, if there is some: what comes before it can be read.
 * False with errno. */
static bool unpack_whole(struct mf_streams *streams, struct mf_stream *stream,
                         const struct mf_stored *stored,
                         struct mf_unpacked *out)
{
    uint8_t bytes[SKIPPED];
    bool good = true;

    while (good && stream->at < stored->size) {
        uint64_t from = stream->at, left = stored->size - from;
        int error;

        good = unpack(stream, streams->file, stored, bytes,
                      left < SKIPPED ? (size_t)left : SKIPPED);
        error = errno;
        if (!mf_unpacked_put(streams->env, out, from, bytes,
                             (size_t)(stream->at - from))) {
            errno = ENOSPC;
            return false;
        }
        errno = error;
    }
    out->size = stream->at;
    if (good && !ends_there(stream, streams->file, stored)) {
        out->size = stored->size - 1; /* its last byte cannot be trusted */
        good = false;
    }
    return good || errno == EBADMSG;
}

/* Does so, and lets others know. */
static void make_whole(struct mf_streams *streams, struct mf_stream *stream,
                       const struct mf_stored *stored, uint32_t row,
                       struct access *access)
{
    struct mf_unpacked *made = &access->unpacked, *place;
    bool done = restart(stream, streams->env, row) &&
                unpack_whole(streams, stream, stored, made);

    made->error = done ? 0 : errno;
    made->ready = true;
    made->again = !done && made->error != EBADMSG; /* not for what it is */
    if (!done && !made->again)
        mf_unpacked_drop(streams->env, made);
    stream->row = UINT32_MAX;
    mf_spin_lock(&streams->locked);
    place = mf_unpacked_find(&streams->unpacked, row);
    *place = *made;
    mf_spin_unlock(&streams->locked);
}

static bool read_stream(struct mf_streams *streams, struct mf_stream *stream,
                        const struct mf_stored *stored, uint32_t row,
                        struct mf_span read, uint8_t *into)
{
    bool done, whole;

    done = ((stream->row == row && stream->at <= read.offset) ||
            restart(stream, streams->env, row)) &&
           pass_over(stream, streams->file, stored, read.offset) &&
           unpack(stream, streams->file, stored, into, (size_t)read.size);
    whole = done && stream->at == stored->size;
    if (whole)
        done = ends_there(stream, streams->file, stored);
    if (whole || !done)
        stream->row = UINT32_MAX; /* nothing comes after this */
    return done;
}

bool mf_streams_read(struct mf_streams *streams, struct mf_stored *stored,
                     uint32_t row, uint64_t offset, uint8_t *into, size_t size,
                     struct mf_io_stats *io)
{
    struct mf_span read = { offset, size };
    struct access access;
    bool done = true;
    int error;

    if (!acquire(streams, stored, row, read, &access))
        return false;
    if (access.stream) {
        access.stream->io = io;
        if (access.makes)
            make_whole(streams, access.stream, stored, row, &access);
        else
            done = read_stream(streams, access.stream, stored, row, read, into);
        error = errno;
        let_go(streams, access.stream);
        errno = error;
    }
    return done && (!access.unpacked.ready ||
                    mf_unpacked_get(streams->env, &access.unpacked, offset,
                                    into, size));
}

void mf_streams_release(struct mf_streams *streams)
{
    mf_unpacked_release(&streams->unpacked, streams->env);
    for (size_t i = 0; i < MF_STREAMS_MAX; i++)
        if (streams->stream[i]) {
            mf_inflate_end(&streams->stream[i]->inflate);
            mf_release(streams->env, streams->stream[i],
                       sizeof(*streams->stream[i]));
        }
}
