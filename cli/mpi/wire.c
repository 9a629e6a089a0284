/* SPDX-License-Identifier: MIT
 *
 * wire.c - the functions of struct mf_ranks, by MPI
 *
 * Tasks are given out by rank 0, in the order in which ranks ask.  Each begins
 * with a share that needs no message, and asks for the next one while it still
 * has work; shares become smaller towards the end, so that all end at about the
 * same time.  Rank 0 works as well, and answers between its own tasks and while
 * it waits: it needs no thread for that.
 *
 * MPI's own waiting keeps a processor busy.  So everything here is begun, then
 * asked about, with sleep in between: from 20 microseconds to 2 milliseconds.
 *
 * Threads of the crew call take; one at a time is in MPI (MPI_THREAD_SERIALIZED
 * and a lock).
 */
#include "cli/mpi/wire.h"

#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/mpi/ring.h"
#include "cli/room.h"

enum tag { TAG_ASK = 1, TAG_SHARE, TAG_LIMIT, TAG_MEET };

/* To rank 0, of a run: asks for a share, or ends it. */
enum { ASK, STOP };
struct request {
    uint64_t run, kind, limit;
};

/* From rank 0. */
struct share {
    uint64_t first, count;
};
struct limit {
    uint64_t run, limit;
};

/* Large messages may go another way than small ones. */
#define GREETING (64 * 1024)
#define NEAR     128

#define FINALIZE_SECONDS 3

#define NEVER          UINT64_MAX
#define SHARES         4 /* of each rank, at first, of what is left */
#define NAP_LEAST      20000
#define NAP_MOST       2000000
#define PULSE_NS       2000000 /* at most so often, by rank 0 */
#define PULSE_OTHER_NS 20000000

static struct {
    MPI_Comm all;
    int rank, count;
    pthread_mutex_t lock;
    int print_to;
    struct ring ring;
    int *sizes; /* and places, of what ranks bring */
    void (*at_end)(void);

    /* the run */
    uint64_t run, tasks, limit;
    uint64_t given;         /* by rank 0 */
    struct share now, next; /* what this rank has; count 0: nothing */
    bool over;              /* there is no more */
    bool asked;             /* a share is on its way */
    struct share coming;
    MPI_Request receiving;

    uint64_t pulsed;
} wire = { .lock = PTHREAD_MUTEX_INITIALIZER, .print_to = 2, .limit = NEVER };

static uint64_t now_ns(void)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void end(void *user, const char *why)
{
    (void)user;
    dprintf(wire.print_to, "modelfile: rank %d: %s; all ranks end\n", wire.rank,
            why);
    if (wire.at_end)
        wire.at_end();
    MPI_Abort(wire.all, 4);
    _Exit(4);
}

/* ---- sharing out tasks ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t share_of(uint64_t left)
{
    uint64_t share = left / (SHARES * (uint64_t)wire.count);

    return share > 0 ? share : 1;
}

/* By rank 0. */
static struct share give(void)
{
    uint64_t all = least(wire.tasks, wire.limit);
    struct share share = { wire.given, 0 };

    if (wire.given < all)
        share.count = least(share_of(all - wire.given), all - wire.given);
    wire.given += share.count;
    return share;
}

static void set_limit(uint64_t limit)
{
    struct limit message = { wire.run, limit };

    if (limit >= wire.limit)
        return;
    wire.limit = limit;
    for (int i = 1; wire.rank == 0 && i < wire.count; i++)
        MPI_Send(&message, sizeof(message), MPI_BYTE, i, TAG_LIMIT, wire.all);
}

/* A request of an earlier run can only be one to end it. */
static void answer(int from)
{
    struct request request;
    struct share share;

    MPI_Recv(&request, sizeof(request), MPI_BYTE, from, TAG_ASK, wire.all,
             MPI_STATUS_IGNORE);
    if (request.kind == STOP && request.run == wire.run)
        set_limit(request.limit);
    if (request.kind != ASK)
        return;
    share = give();
    MPI_Send(&share, sizeof(share), MPI_BYTE, from, TAG_SHARE, wire.all);
}

static bool is_there(int from, enum tag tag, int *source)
{
    MPI_Status status;
    int there;

    MPI_Iprobe(from, tag, wire.all, &there, &status);
    if (there)
        *source = status.MPI_SOURCE;
    return there;
}

static void take_limits(void)
{
    struct limit message;
    int from;

    while (is_there(0, TAG_LIMIT, &from)) {
        MPI_Recv(&message, sizeof(message), MPI_BYTE, 0, TAG_LIMIT, wire.all,
                 MPI_STATUS_IGNORE);
        if (message.run == wire.run)
            wire.limit = least(wire.limit, message.limit);
    }
}

/* ---- while something is awaited, and between tasks ---- */

static void attend(uint64_t now)
{
    int from;

    if (wire.rank == 0)
        while (is_there(MPI_ANY_SOURCE, TAG_ASK, &from))
            answer(from);
    else
        take_limits();
    ring_tell(&wire.ring, now);
    ring_hear(&wire.ring, now);
}

/* Without the lock for a moment. */
static void nap(long *pause)
{
    struct timespec time = { .tv_nsec = *pause };

    pthread_mutex_unlock(&wire.lock);
    nanosleep(&time, NULL);
    pthread_mutex_lock(&wire.lock);
    *pause = *pause < NAP_MOST / 2 ? 2 * *pause : NAP_MOST;
}

static void check_ring(uint64_t now)
{
    char why[96];

    if (ring_is_broken(&wire.ring, now, why, sizeof(why)))
        end(NULL, why);
}

static void await(MPI_Request *request)
{
    long pause = NAP_LEAST;

    for (int done = 0;;) {
        uint64_t now = now_ns();

        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        attend(now);
        check_ring(now);
        nap(&pause);
    }
}

static void pulse(void *user)
{
    uint64_t now = now_ns();

    (void)user;
    if (pthread_mutex_trylock(&wire.lock) != 0)
        return;
    if (now - wire.pulsed >= (wire.rank == 0 ? PULSE_NS : PULSE_OTHER_NS)) {
        wire.pulsed = now;
        attend(now);
    }
    pthread_mutex_unlock(&wire.lock);
}

/* ---- a run ---- */

static void begin(void *user, size_t count)
{
    uint64_t share;

    (void)user;
    pthread_mutex_lock(&wire.lock);
    wire.run++;
    wire.tasks = count;
    wire.limit = NEVER;
    wire.over = false;
    wire.next.count = 0;
    share = share_of(count);
    wire.now.first = least((uint64_t)wire.rank * share, count);
    wire.now.count = least(share, count - wire.now.first);
    wire.given = least((uint64_t)wire.count * share, count);
    pthread_mutex_unlock(&wire.lock);
}

static void ask(void)
{
    struct request request = { wire.run, ASK, 0 };

    if (wire.rank == 0) {
        wire.next = give();
        wire.over = wire.next.count == 0;
        return;
    }
    wire.asked = true;
    MPI_Irecv(&wire.coming, sizeof(wire.coming), MPI_BYTE, 0, TAG_SHARE,
              wire.all, &wire.receiving);
    MPI_Send(&request, sizeof(request), MPI_BYTE, 0, TAG_ASK, wire.all);
}

static void receive(void)
{
    int done = 0;

    MPI_Test(&wire.receiving, &done, MPI_STATUS_IGNORE);
    if (!done)
        return;
    wire.asked = false;
    wire.next = wire.coming;
    wire.over = wire.next.count == 0;
}

/* Brings wire.now up to date; false: something is on its way. */
static bool refill(void)
{
    if (wire.asked)
        receive();
    if (wire.now.count == 0 && wire.next.count > 0) {
        wire.now = wire.next;
        wire.next.count = 0;
    }
    /* Before the last task is taken: by its end there is an answer. */
    if (wire.now.count <= 1 && wire.next.count == 0 && !wire.asked &&
        !wire.over)
        ask();
    return wire.now.count > 0 || (wire.over && wire.next.count == 0);
}

static size_t take(void *user)
{
    size_t task = SIZE_MAX;
    long pause = NAP_LEAST;

    (void)user;
    pthread_mutex_lock(&wire.lock);
    attend(now_ns());
    while (!refill()) {
        check_ring(now_ns());
        nap(&pause);
        attend(now_ns());
    }
    if (wire.now.count > 0 && wire.now.first < wire.limit) {
        task = (size_t)wire.now.first++;
        wire.now.count--;
    }
    pthread_mutex_unlock(&wire.lock);
    return task;
}

static void stop(void *user, size_t from)
{
    struct request request = { wire.run, STOP, from };

    (void)user;
    pthread_mutex_lock(&wire.lock);
    if (wire.rank > 0)
        MPI_Send(&request, sizeof(request), MPI_BYTE, 0, TAG_ASK, wire.all);
    set_limit(from);
    pthread_mutex_unlock(&wire.lock);
}

/* ---- all at once ---- */

/* An answer that came too late for this run is not one of the next. */
static void forget_share(void)
{
    if (wire.asked)
        await(&wire.receiving);
    wire.asked = false;
}

static int fit(size_t size)
{
    if (size > INT_MAX)
        end(NULL, "more than 2 GiB cannot be sent at once");
    return (int)size;
}

static void gather(void *user, const void *mine, size_t size, void *all)
{
    MPI_Request request;

    (void)user;
    pthread_mutex_lock(&wire.lock);
    forget_share();
    MPI_Iallgather(mine, fit(size), MPI_BYTE, all, fit(size), MPI_BYTE,
                   wire.all, &request);
    await(&request);
    pthread_mutex_unlock(&wire.lock);
}

static void gather_some(void *user, const void *mine, size_t size, void *all,
                        const size_t *sizes)
{
    int *count = wire.sizes;
    size_t sum = 0;
    MPI_Request request;

    (void)user;
    for (int i = 0; i < wire.count; i++) {
        count[i] = fit(sizes[i]);
        count[wire.count + i] = fit(sum);
        sum += sizes[i];
    }
    pthread_mutex_lock(&wire.lock);
    forget_share();
    MPI_Iallgatherv(mine, fit(size), MPI_BYTE, all, count, count + wire.count,
                    MPI_BYTE, wire.all, &request);
    await(&request);
    pthread_mutex_unlock(&wire.lock);
}

/* ---- the beginning and the end ---- */

static void *need(size_t size)
{
    void *memory = room_take(size);

    if (!memory)
        end(NULL, "out of memory");
    return memory;
}

/* MPI makes a connection when it is first used, by means that the sandbox
 * refuses, such as files of other processes in /proc.  Of many ranks those are
 * met that collective calls and the ring use; to the others the network leads.
 */
static void meet_all(void)
{
    char *out = need(2 * GREETING), *in = out + GREETING;

    for (int far = 1; far < wire.count;
         far = wire.count <= NEAR ? far + 1 : 2 * far)
        MPI_Sendrecv(out, GREETING, MPI_BYTE, (wire.rank + far) % wire.count,
                     TAG_MEET, in, GREETING, MPI_BYTE,
                     (wire.rank + wire.count - far) % wire.count, TAG_MEET,
                     wire.all, MPI_STATUS_IGNORE);
}

const char *wire_begin(int *count, char ***arguments, struct mf_ranks *out)
{
    int level = MPI_THREAD_SINGLE;

    if (MPI_Init_thread(count, arguments, MPI_THREAD_SERIALIZED, &level) !=
            MPI_SUCCESS ||
        level < MPI_THREAD_SERIALIZED)
        return "MPI cannot be called by threads in turn "
               "(MPI_THREAD_SERIALIZED)";
    MPI_Comm_dup(MPI_COMM_WORLD, &wire.all);
    MPI_Comm_rank(wire.all, &wire.rank);
    MPI_Comm_size(wire.all, &wire.count);
    wire.sizes = need(2 * (size_t)wire.count * sizeof(*wire.sizes));
    meet_all();
    ring_begin(&wire.ring, wire.all, now_ns());
    *out = (struct mf_ranks){ .rank = (size_t)wire.rank,
                              .count = (size_t)wire.count,
                              .gather = gather,
                              .gather_some = gather_some,
                              .begin = begin,
                              .take = take,
                              .stop = stop,
                              .pulse = pulse,
                              .end = end };
    return NULL;
}

void wire_print_to(int fd)
{
    wire.print_to = fd;
}

void wire_at_end(void (*act)(void))
{
    wire.at_end = act;
}

void wire_watch(unsigned seconds)
{
    ring_watch(&wire.ring, seconds, now_ns());
}

static int exit_code;

static void leave_now(int signal)
{
    (void)signal;
    _Exit(exit_code);
}

/* No rank tells its neighbour anything after all have come here.  All work is
 * done: some versions (MPICH 4.0.2 over UCX's TCP) may wait in MPI_Finalize for
 * ever, and no rank has to wait for it. */
void wire_finish(int code)
{
    MPI_Request request;

    pthread_mutex_lock(&wire.lock);
    MPI_Ibarrier(wire.all, &request);
    await(&request);
    ring_end(&wire.ring, now_ns());
    pthread_mutex_unlock(&wire.lock);
    MPI_Comm_free(&wire.all);
    exit_code = code;
    signal(SIGALRM, leave_now);
    alarm(FINALIZE_SECONDS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    alarm(0);
}
