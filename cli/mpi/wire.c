/* SPDX-License-Identifier: MIT
 *
 * wire.c - the functions of struct mf_ranks, by MPI
 */
#include "cli/mpi/wire.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/mpi/inside.h"
#include "cli/mpi/post.h"
#include "cli/mpi/ring.h"
#include "cli/mpi/tasks.h"
#include "cli/room.h"

/* Large messages may go another way than small ones. */
#define GREETING (64 * 1024)
#define NEAR     128

#if defined(MPICH_VERSION)
#define FINALIZE_SECONDS 3
#else
#define FINALIZE_SECONDS 0 /* however long it takes */
#endif

#define NAP_MOST       2000000
#define PULSE_NS       2000000 /* at most so often, by rank 0 */
#define PULSE_OTHER_NS 20000000

struct wire wire;

static struct {
    pthread_mutex_t lock;
    bool in_mpi; /* the thread that has the lock */
    int print_to;
    struct ring ring;
    int *sizes; /* and places, of what ranks bring */
    void (*at_end)(void);
    uint64_t pulsed;
} own = { .lock = PTHREAD_MUTEX_INITIALIZER, .print_to = 2 };

uint64_t wire_now(void)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void wire_fail(const char *why)
{
    dprintf(own.print_to, "modelfile: rank %d: %s; all ranks end\n", wire.rank,
            why);
    if (own.at_end)
        own.at_end();
    MPI_Abort(wire.all, 4);
    _Exit(4);
}

static void end(void *user, const char *why)
{
    (void)user;
    wire_fail(why);
}

/* ---- while something is awaited, and between tasks ---- */

void wire_lock(void)
{
    pthread_mutex_lock(&own.lock);
    own.in_mpi = true;
}

void wire_unlock(void)
{
    own.in_mpi = false;
    pthread_mutex_unlock(&own.lock);
}

bool wire_is_there(int from, enum wire_tag tag, MPI_Status *status)
{
    int there;

    MPI_Iprobe(from, tag, wire.all, &there, status);
    return there;
}

static void attend(uint64_t now)
{
    tasks_attend();
    post_attend();
    ring_tell(&own.ring, now);
    ring_hear(&own.ring, now);
}

void wire_attend(void)
{
    attend(wire_now());
}

void wire_nap(long *pause)
{
    struct timespec time = { .tv_nsec = *pause };
    uint64_t now = wire_now();
    char why[96];

    attend(now);
    if (ring_is_broken(&own.ring, now, why, sizeof(why)))
        wire_fail(why);
    wire_unlock();
    nanosleep(&time, NULL);
    wire_lock();
    *pause = *pause < NAP_MOST / 2 ? 2 * *pause : NAP_MOST;
}

void wire_await(MPI_Request *request)
{
    long pause = NAP_LEAST;

    for (int done = 0;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        wire_nap(&pause);
    }
}

void wire_pulse(void)
{
    uint64_t now = wire_now();

    if (pthread_mutex_trylock(&own.lock) != 0)
        return;
    own.in_mpi = true;
    if (now - own.pulsed >= (wire.rank == 0 ? PULSE_NS : PULSE_OTHER_NS)) {
        own.pulsed = now;
        attend(now);
    }
    wire_unlock();
}

bool wire_is_in_mpi(void)
{
    return own.in_mpi;
}

static void pulse(void *user)
{
    (void)user;
    wire_pulse();
}

/* ---- all at once ---- */

int wire_fit(size_t size)
{
    if (size > INT_MAX)
        wire_fail("more than 2 GiB cannot be sent at once");
    return (int)size;
}

static void gather(void *user, const void *mine, size_t size, void *all)
{
    MPI_Request request;

    (void)user;
    wire_lock();
    tasks_forget();
    MPI_Iallgather(mine, wire_fit(size), MPI_BYTE, all, wire_fit(size),
                   MPI_BYTE, wire.all, &request);
    wire_await(&request);
    wire_unlock();
}

static void gather_some(void *user, const void *mine, size_t size, void *all,
                        const size_t *sizes)
{
    int *count = own.sizes;
    size_t sum = 0;
    MPI_Request request;

    (void)user;
    for (int i = 0; i < wire.count; i++) {
        count[i] = wire_fit(sizes[i]);
        count[wire.count + i] = wire_fit(sum);
        sum += sizes[i];
    }
    wire_lock();
    tasks_forget();
    MPI_Iallgatherv(mine, wire_fit(size), MPI_BYTE, all, count,
                    count + wire.count, MPI_BYTE, wire.all, &request);
    wire_await(&request);
    wire_unlock();
}

/* ---- the beginning and the end ---- */

void *wire_need(size_t size)
{
    void *memory = room_take(size);

    if (!memory)
        wire_fail("out of memory");
    return memory;
}

/* MPI makes a connection when it is first used, by means that the sandbox
 * refuses, such as files of other processes in /proc.  Of many ranks those are
 * met that collective calls and the ring use; to the others the network leads.
 */
static void meet_all(void)
{
    char *out = wire_need(2 * GREETING), *in = out + GREETING;

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
    own.sizes = wire_need(2 * (size_t)wire.count * sizeof(*own.sizes));
    meet_all();
    ring_begin(&own.ring, wire.all, wire_now());
    *out = (struct mf_ranks){ .rank = (size_t)wire.rank,
                              .count = (size_t)wire.count,
                              .gather = gather,
                              .gather_some = gather_some,
                              .begin = tasks_begin,
                              .take = tasks_take,
                              .stop = tasks_stop,
                              .pulse = pulse,
                              .end = end };
    return NULL;
}

void wire_print_to(int fd)
{
    own.print_to = fd;
}

void wire_at_end(void (*act)(void))
{
    own.at_end = act;
}

void wire_watch(unsigned seconds)
{
    ring_watch(&own.ring, seconds, wire_now());
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

    wire_lock();
    MPI_Ibarrier(wire.all, &request);
    wire_await(&request);
    ring_end(&own.ring, wire_now());
    wire_unlock();
    MPI_Comm_free(&wire.all);
    exit_code = code;
    signal(SIGALRM, leave_now);
    alarm(FINALIZE_SECONDS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    alarm(0);
}
