/* SPDX-License-Identifier: MIT
 *
 * reader.c - bounded forward reading of fields in the file's byte order
 */
#include "lib/io/reader.h"
#include "lib/base/text.h"

#include <assert.h>

/* The tables that a header fills want far more memory than a window gains by
 * its size. */
#define SHARE 8

/* Allocates the window of a reader, of at most `most` bytes; at least one,
 * because taking 0 bytes must not return NULL. */
static enum mf_status alloc_window(struct mf_reader *reader, size_t most)
{
    size_t least = most < MF_WINDOW_LEAST ? most : MF_WINDOW_LEAST;

    most = most > 0 ? most : 1;
    reader->size =
        mf_chunk_size(reader->env, least > 0 ? least : 1, most, 1, SHARE);
    reader->window = mf_chunk_alloc(reader->env, &reader->size, 1);
    if (!reader->window)
        return reader->env->error.status;
    reader->capacity = reader->size.now;
    return MF_OK;
}

static bool resize_window(struct mf_reader *reader, size_t capacity)
{
    void *moved =
        mf_env_resize(reader->env, reader->window, reader->capacity, capacity);

    if (!moved)
        return false;
    reader->window = moved;
    reader->capacity = capacity;
    return true;
}

/* Memory that a larger window would take may be needed more elsewhere: again it
 * gets a share only. */
static bool try_resize(struct mf_reader *reader, size_t capacity)
{
    const struct mf_error before = reader->env->error;

    if (capacity > mf_heap_left(reader->env) / SHARE)
        return false;
    if (resize_window(reader, capacity))
        return true;
    reader->env->error = before;
    return false;
}

/* After a read that filled the window. */
static void widen_window(struct mf_reader *reader)
{
    if (mf_chunk_fitted(&reader->size) && reader->size.now > reader->capacity &&
        !try_resize(reader, reader->size.now))
        mf_chunk_refused(&reader->size);
}

void mf_reader_widen(struct mf_reader *reader, size_t most)
{
    uint64_t left = mf_reader_left(reader);

    most = left < most ? (size_t)left : most;
    if (most > reader->capacity)
        try_resize(reader, most);
}

enum mf_status mf_reader_init(struct mf_reader *reader, struct mf_env *env,
                              const struct mf_source *source,
                              const uint8_t *head, size_t head_size)
{
    size_t capacity =
        source->size < MF_WINDOW ? (size_t)source->size : MF_WINDOW;

    *reader = (struct mf_reader){ .env = env,
                                  .source = source,
                                  .limit = source->size };
    if (alloc_window(reader, capacity) != MF_OK)
        return env->error.status;
    assert(head_size <= reader->capacity);
    if (head_size > 0)
        memcpy(reader->window, head, head_size);
    reader->filled = head_size;
    return MF_OK;
}

enum mf_status mf_reader_init_span(struct mf_reader *reader, struct mf_env *env,
                                   const struct mf_source *source,
                                   struct mf_span span, size_t window)
{
    assert(window <= MF_WINDOW && mf_source_has(source, span));
    *reader = (struct mf_reader){ .env = env,
                                  .source = source,
                                  .base = span.offset,
                                  .limit = span.offset + span.size };
    return alloc_window(reader,
                        span.size < window ? (size_t)span.size : window);
}

void mf_reader_tail(struct mf_reader *reader, const uint8_t *tail, size_t size)
{
    assert(size <= reader->source->size);
    reader->tail = tail;
    reader->tail_size = size;
}

void mf_reader_release(struct mf_reader *reader)
{
    mf_release(reader->env, reader->window, reader->capacity);
    reader->window = NULL;
}

/* Empties the window: from here on every mf_take_ returns zeros. */
static void fail_reader(struct mf_reader *reader)
{
    if (reader->failed)
        return;
    reader->base = mf_reader_offset(reader);
    reader->at = reader->filled = 0;
    reader->failed = true;
}

void mf_reader_seek(struct mf_reader *reader, uint64_t offset)
{
    if (reader->failed)
        return;
    if (offset > reader->limit) {
        fail_reader(reader);
    } else if (offset >= reader->base &&
               offset - reader->base <= reader->filled) {
        reader->at = (size_t)(offset - reader->base);
    } else {
        reader->base = offset;
        reader->at = reader->filled = 0;
    }
}

void mf_reader_limit(struct mf_reader *reader, uint64_t limit)
{
    uint64_t here = mf_reader_offset(reader);

    if (limit > reader->source->size)
        limit = reader->source->size;
    assert(limit >= here || reader->failed);
    reader->limit = limit;
    /* Drop bytes in the window that are past the limit. */
    if (limit >= here && reader->filled - reader->at > limit - here)
        reader->filled = reader->at + (size_t)(limit - here);
}

/* From the tail, as far as it has them, else from the source. */
static enum mf_status read_bytes(const struct mf_reader *reader,
                                 uint64_t offset, uint8_t *into, size_t size)
{
    uint64_t tail_at = reader->source->size - reader->tail_size;

    if (reader->tail && offset < reader->source->size &&
        offset + size > tail_at) {
        uint64_t from = offset > tail_at ? offset : tail_at;
        size_t before = (size_t)(from - offset);

        memcpy(into + before, reader->tail + (from - tail_at), size - before);
        size = before;
    }
    return mf_source_read(reader->env, reader->source, offset, into, size);
}

bool mf_reader_copy(struct mf_reader *reader, uint64_t offset, void *into,
                    size_t size)
{
    uint64_t end;

    if (reader->failed || !mf_add(offset, size, &end) || end > reader->limit)
        return false;
    if (offset >= reader->base && end <= reader->base + reader->filled) {
        memcpy(into, reader->window + (offset - reader->base), size);
        return true;
    }
    if (read_bytes(reader, offset, into, size) == MF_OK)
        return true;
    fail_reader(reader);
    return false;
}

/* How many bytes from `here` on the window gets: what fits it.  Of a file whose
 * beginning is in memory no more than is there, unless it is needed. */
static size_t ahead_of(const struct mf_reader *reader, uint64_t here,
                       uint64_t left, size_t needed)
{
    uint64_t there = mf_source_there(reader->source);
    size_t wanted = left < reader->capacity ? (size_t)left : reader->capacity;

    if (here < MF_STORED_BASE && here + wanted > there)
        wanted = here + needed < there ? (size_t)(there - here) : needed;
    return wanted;
}

/* A reader of a section that is only partly there will want the rest next. */
static void need_section(const struct mf_reader *reader)
{
    struct mf_error *error = &reader->env->error;

    if (error->status == MF_NEED_MORE && reader->limit < reader->source->size &&
        error->needed < reader->limit)
        error->needed = reader->limit;
}

bool mf_reader_fill(struct mf_reader *reader, size_t size)
{
    size_t kept = reader->filled - reader->at;
    uint64_t here = mf_reader_offset(reader), left;
    size_t wanted;

    assert(size <= MF_WINDOW);
    if (reader->failed)
        return false;
    if (kept >= size)
        return true;
    left = reader->limit - here;
    if (size > left) {
        fail_reader(reader);
        return false;
    }
    if (size > reader->capacity && !resize_window(reader, size)) {
        fail_reader(reader);
        return false;
    }
    memmove(reader->window, reader->window + reader->at, kept);
    reader->base = here;
    reader->at = 0;
    reader->filled = kept;
    wanted = ahead_of(reader, here, left, size);
    if (read_bytes(reader, here + kept, reader->window + kept, wanted - kept) !=
        MF_OK) {
        need_section(reader);
        fail_reader(reader);
        return false;
    }
    reader->filled = wanted;
    if (wanted == reader->capacity)
        widen_window(reader);
    return true;
}

struct mf_reader mf_reader_ahead(struct mf_reader *reader)
{
    uint64_t left = mf_reader_left(reader);
    struct mf_reader ahead;
    size_t all = ahead_of(reader, mf_reader_offset(reader), left,
                          reader->filled - reader->at);

    mf_reader_fill(reader, all);
    ahead = *reader;
    ahead.limit = reader->base + reader->filled;
    return ahead;
}

bool mf_take_bytes(struct mf_reader *reader, void *into, size_t size)
{
    char *out = into;

    while (size > 0) {
        size_t part = size < reader->capacity ? size : reader->capacity;
        const uint8_t *bytes = part > 0 ? mf_take(reader, part) : NULL;

        if (!bytes) {
            fail_reader(reader);
            memset(out, 0, size);
            return false;
        }
        memcpy(out, bytes, part);
        out += part;
        size -= part;
    }
    return true;
}

enum mf_status mf_reader_check(struct mf_reader *reader, const char *what)
{
    if (!reader->failed)
        return MF_OK;
    if (reader->env->error.status != MF_OK)
        return reader->env->error.status;
    if (reader->limit < reader->source->size)
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT,
                         mf_reader_offset(reader),
                         "%s extends past offset %" PRIu64 ", the end of its "
                         "section",
                         what, reader->limit);
    return mf_refuse(reader->env, MF_RULE_FILE_TRUNCATED,
                     mf_reader_offset(reader),
                     "the file ends inside %s (it has %" PRIu64 " bytes)", what,
                     reader->limit);
}

bool mf_pass_text(struct mf_reader *reader, uint64_t size, bool *has_nul)
{
    *has_nul = false;
    while (size > 0 && !reader->failed) {
        size_t piece =
            size < reader->capacity ? (size_t)size : reader->capacity;
        const char *text = (const char *)mf_take(reader, piece);
        size_t whole;

        if (!text)
            break;
        /* A character that the piece cuts in two belongs to the next one. */
        whole = piece < size ? mf_utf8_whole(text, piece) : piece;
        reader->at -= piece - whole;
        size -= whole;
        *has_nul = *has_nul || memchr(text, 0, whole);
        if (!mf_text_is_utf8(text, whole)) {
            mf_skip(reader, size);
            return false;
        }
    }
    return true;
}
