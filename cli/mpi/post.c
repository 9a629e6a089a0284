/* SPDX-License-Identifier: MIT
 *
 * post.c - files are given out to ranks, and their answers come to rank 0
 *
 * A message has the answers about several files, as many as were ready when the
 * one before had gone.
 */
#include "cli/mpi/post.h"

#include <string.h>

#include "cli/mpi/inside.h"
#include "lib/program.h"

/* Of files and of bytes that wait for one before them. */
#define AHEAD       4096
#define AHEAD_BYTES ((size_t)16 * 1024 * 1024)

/* To a rank; count 0: no more. */
struct grant {
    uint64_t first, count;
};

struct slot {
    bool there;
    struct post_answer answer;
    char *texts;
};

/* What rank 0 knows of a rank. */
struct peer {
    uint64_t wanted;    /* files; 0: it has not asked */
    struct grant grant; /* on its way */
    MPI_Request granting, stopping;
    bool has_ended;
};

static struct {
    bool begun, stopped;
    struct mf_env *env; /* whose heap has all of this */

    /* rank 0 */
    uint64_t given, printed; /* files */
    struct slot *slot;       /* AHEAD of them, by number */
    size_t waiting;          /* bytes of texts in them */
    struct peer *peer;       /* each rank */
    struct post_end *ends;   /* likewise */
    size_t ended_count;

    /* others */
    bool asked, sending;
    MPI_Request asking, sent;
    struct grant coming;
    struct post_bytes filling, going;
} post;

void post_begin(void)
{
    post.env = mf_env_new(NULL);
    if (!post.env)
        wire_fail("out of memory");
    post.begun = true;
    if (wire.rank > 0)
        return;
    post.slot = wire_need(AHEAD * sizeof(*post.slot));
    post.peer = wire_need((size_t)wire.count * sizeof(*post.peer));
    post.ends = wire_need((size_t)wire.count * sizeof(*post.ends));
    for (int i = 0; i < wire.count; i++)
        post.peer[i] = (struct peer){ .granting = MPI_REQUEST_NULL,
                                      .stopping = MPI_REQUEST_NULL };
}

size_t post_size(const struct post_answer *answer)
{
    size_t size = 0;

    for (size_t i = 0; i < POST_TEXTS; i++)
        size += (size_t)answer->text[i];
    return size;
}

/* With the lock: any thread may receive answers. */
static void *resize(void *block, size_t old_size, size_t size)
{
    void *memory = NULL;

    if (old_size > 0 || size > 0)
        memory = mf_env_resize(post.env, block, old_size, size);
    if (!memory && size > 0)
        wire_fail("out of memory");
    return memory;
}

void *post_resize(void *block, size_t old_size, size_t size)
{
    void *memory;

    wire_lock();
    memory = resize(block, old_size, size);
    wire_unlock();
    return memory;
}

/* With the lock. */
static void add(struct post_bytes *bytes, const void *at, size_t size)
{
    if (bytes->room - bytes->size < size) {
        size_t room = 2 * (bytes->size + size);

        bytes->at = resize(bytes->at, bytes->room, room);
        bytes->room = room;
    }
    if (size > 0)
        memcpy(bytes->at + bytes->size, at, size);
    bytes->size += size;
}

void post_add(struct post_bytes *bytes, const void *at, size_t size)
{
    wire_lock();
    add(bytes, at, size);
    wire_unlock();
}

size_t post_heap(void)
{
    struct mf_heap_stats heap;

    mf_env_heap(post.env, &heap);
    return heap.peak;
}

/* ---- rank 0: giving out ---- */

/* The file that all wait for has been given out, so that this ends. */
static bool is_full(void)
{
    return post.given - post.printed >= AHEAD || post.waiting >= AHEAD_BYTES;
}

static struct grant give(uint64_t most)
{
    struct grant grant = { post.given, AHEAD - (post.given - post.printed) };

    if (post.stopped)
        grant.count = 0;
    else if (grant.count > most)
        grant.count = most;
    post.given += grant.count;
    return grant;
}

/* A rank that asks has got its last grant, so nothing waits here. */
static void give_others(void)
{
    for (int i = 1; i < wire.count; i++) {
        struct peer *peer = &post.peer[i];

        if (peer->wanted == 0 || (is_full() && !post.stopped))
            continue;
        MPI_Wait(&peer->granting, MPI_STATUS_IGNORE);
        peer->grant = give(peer->wanted);
        peer->wanted = 0;
        MPI_Isend(&peer->grant, sizeof(peer->grant), MPI_BYTE, i, TAG_GRANT,
                  wire.all, &peer->granting);
    }
}

/* ---- rank 0: answers ---- */

/* Takes over the texts. */
static void keep(const struct post_answer *answer, char *texts)
{
    struct slot *slot = &post.slot[answer->number % AHEAD];

    *slot = (struct slot){ true, *answer, texts };
    post.waiting += post_size(answer);
}

static char *copy_of(const char *at, size_t size)
{
    char *copy = resize(NULL, 0, size);

    return size > 0 ? memcpy(copy, at, size) : NULL;
}

/* What a message has.  Its sender is the same program. */
static void unpack(const char *at, size_t size)
{
    const char *end = at + size;
    struct post_answer answer;

    while (at < end) {
        memcpy(&answer, at, sizeof(answer));
        at += sizeof(answer);
        size = post_size(&answer);
        keep(&answer, copy_of(at, size));
        at += size;
    }
}

static void receive_answers(const MPI_Status *status)
{
    int size;
    char *at;

    MPI_Get_count(status, MPI_BYTE, &size);
    at = resize(NULL, 0, (size_t)size);
    MPI_Recv(at, size, MPI_BYTE, status->MPI_SOURCE, TAG_ANSWERS, wire.all,
             MPI_STATUS_IGNORE);
    unpack(at, (size_t)size);
    resize(at, (size_t)size, 0);
}

static void receive_end(int from)
{
    MPI_Recv(&post.ends[from], sizeof(post.ends[from]), MPI_BYTE, from, TAG_END,
             wire.all, MPI_STATUS_IGNORE);
    post.peer[from].has_ended = true;
    post.ended_count++;
}

bool post_next(struct post_answer *answer, char **texts)
{
    struct slot *slot = &post.slot[post.printed % AHEAD];
    bool there;

    wire_lock();
    there = slot->there;
    if (there) {
        *answer = slot->answer;
        *texts = slot->texts;
        slot->there = false;
        post.waiting -= post_size(answer);
        post.printed++;
    }
    wire_unlock();
    return there;
}

size_t post_ended(const struct post_end **ends)
{
    *ends = post.ends;
    return post.ended_count;
}

bool post_is_stuck(void)
{
    bool stuck = false;

    wire_lock();
    for (int i = 0; i < wire.count && is_full(); i++)
        stuck |= post.peer[i].has_ended && post.ends[i].files <= post.printed;
    wire_unlock();
    return stuck;
}

void post_stop(void)
{
    static const char nothing;

    wire_lock();
    for (int i = 1; i < wire.count && !post.stopped; i++)
        MPI_Isend(&nothing, 1, MPI_BYTE, i, TAG_STOP, wire.all,
                  &post.peer[i].stopping);
    post.stopped = true;
    wire_unlock();
}

void post_finish(void)
{
    wire_lock();
    for (int i = 1; i < wire.count; i++) {
        wire_await(&post.peer[i].granting);
        wire_await(&post.peer[i].stopping);
    }
    wire_unlock();
}

/* ---- others ---- */

static void receive_stop(void)
{
    MPI_Status status;
    char nothing;

    if (!wire_is_there(0, TAG_STOP, &status))
        return;
    MPI_Recv(&nothing, 1, MPI_BYTE, 0, TAG_STOP, wire.all, MPI_STATUS_IGNORE);
    post.stopped = true;
}

static void ask(uint64_t most)
{
    MPI_Request request;

    post.asked = true;
    MPI_Irecv(&post.coming, sizeof(post.coming), MPI_BYTE, 0, TAG_GRANT,
              wire.all, &post.asking);
    MPI_Isend(&most, sizeof(most), MPI_BYTE, 0, TAG_WANT, wire.all, &request);
    wire_await(&request);
}

static bool is_granted(uint64_t most)
{
    int done = 0;

    if (!post.asked)
        ask(most);
    MPI_Test(&post.asking, &done, MPI_STATUS_IGNORE);
    post.asked = !done;
    return done;
}

static void send_answers(void)
{
    struct post_bytes kept = post.going;
    int done = 1;

    if (post.sending)
        MPI_Test(&post.sent, &done, MPI_STATUS_IGNORE);
    if (!done || post.filling.size == 0)
        return;
    post.going = post.filling;
    post.filling = kept;
    post.filling.size = 0;
    post.sending = true;
    MPI_Isend(post.going.at, wire_fit(post.going.size), MPI_BYTE, 0,
              TAG_ANSWERS, wire.all, &post.sent);
}

/* ---- any rank ---- */

enum post_taken post_take(uint64_t most, uint64_t *first, uint64_t *count)
{
    struct grant grant = { 0, 0 };
    enum post_taken taken = POST_LATER;

    wire_lock();
    if (post.stopped) {
        taken = POST_OVER;
    } else if (wire.rank > 0 ? is_granted(most) : !is_full()) {
        grant = wire.rank > 0 ? post.coming : give(most);
        taken = grant.count > 0 ? POST_TAKEN : POST_OVER;
    }
    wire_unlock();
    *first = grant.first;
    *count = grant.count;
    return taken;
}

void post_wait(long *pause)
{
    wire_lock();
    if (wire.rank > 0)
        send_answers();
    wire_nap(pause);
    wire_unlock();
}

void post_put(const struct post_answer *answer,
              const char *const text[POST_TEXTS])
{
    size_t size = post_size(answer);
    struct post_bytes own = { NULL, 0, 0 };
    struct post_bytes *to = wire.rank > 0 ? &post.filling : &own;

    wire_lock();
    if (wire.rank > 0)
        add(to, answer, sizeof(*answer));
    else
        own = (struct post_bytes){ resize(NULL, 0, size), 0, size };
    for (size_t i = 0; i < POST_TEXTS; i++)
        add(to, text[i], (size_t)answer->text[i]);
    if (wire.rank == 0)
        keep(answer, own.at);
    wire_unlock();
}

void post_send(void)
{
    wire_lock();
    if (wire.rank > 0)
        send_answers();
    wire_attend();
    wire_unlock();
}

/* A grant that this rank did not wait for may still come. */
void post_end(const struct post_end *end)
{
    MPI_Request request;

    wire_lock();
    while (wire.rank > 0 && post.filling.size > 0) {
        if (post.sending)
            wire_await(&post.sent);
        post.sending = false;
        send_answers();
    }
    if (wire.rank > 0) {
        if (post.sending)
            wire_await(&post.sent);
        MPI_Isend(end, sizeof(*end), MPI_BYTE, 0, TAG_END, wire.all, &request);
        wire_await(&request);
        if (post.asked)
            wire_await(&post.asking);
        resize(post.filling.at, post.filling.room, 0);
        resize(post.going.at, post.going.room, 0);
    } else {
        post.ends[0] = *end;
        post.peer[0].has_ended = true;
        post.ended_count++;
    }
    wire_unlock();
}

bool post_is_stopped(void)
{
    return post.stopped;
}

void post_attend(void)
{
    MPI_Status status;

    if (!post.begun)
        return;
    if (wire.rank > 0) {
        receive_stop();
        return;
    }
    /* Before the answers, which were sent before it: so none is left then. */
    while (wire_is_there(MPI_ANY_SOURCE, TAG_END, &status))
        receive_end(status.MPI_SOURCE);
    while (wire_is_there(MPI_ANY_SOURCE, TAG_ANSWERS, &status))
        receive_answers(&status);
    while (wire_is_there(MPI_ANY_SOURCE, TAG_WANT, &status))
        MPI_Recv(&post.peer[status.MPI_SOURCE].wanted, sizeof(uint64_t),
                 MPI_BYTE, status.MPI_SOURCE, TAG_WANT, wire.all,
                 MPI_STATUS_IGNORE);
    give_others();
}
