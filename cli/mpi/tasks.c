/* SPDX-License-Identifier: MIT
 *
 * tasks.c - tasks of the library's work are given out to ranks
 *
 * Rank 0 gives them out, in the order in which ranks ask.  Each begins with a
 * share that needs no message, and asks for the next one while it still has
 * work; shares become smaller towards the end, so that all end at about the
 * same time.  Rank 0 works as well, and answers between its own tasks and while
 * it waits: it needs no thread for that.
 *
 * Threads of the crew call tasks_take; one at a time is in MPI.
 */
#include "cli/mpi/tasks.h"

#include "cli/mpi/inside.h"

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

#define NEVER  UINT64_MAX
#define SHARES 4 /* of each rank, at first, of what is left */

static struct {
    uint64_t run, count, limit;
    uint64_t given;         /* by rank 0 */
    struct share now, next; /* what this rank has; count 0: nothing */
    bool over;              /* there is no more */
    bool asked;             /* a share is on its way */
    struct share coming;
    MPI_Request receiving;
} tasks = { .limit = NEVER };

/* ---- sharing out ---- */

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
    uint64_t all = least(tasks.count, tasks.limit);
    struct share share = { tasks.given, 0 };

    if (tasks.given < all)
        share.count = least(share_of(all - tasks.given), all - tasks.given);
    tasks.given += share.count;
    return share;
}

static void set_limit(uint64_t limit)
{
    struct limit message = { tasks.run, limit };

    if (limit >= tasks.limit)
        return;
    tasks.limit = limit;
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
    if (request.kind == STOP && request.run == tasks.run)
        set_limit(request.limit);
    if (request.kind != ASK)
        return;
    share = give();
    MPI_Send(&share, sizeof(share), MPI_BYTE, from, TAG_SHARE, wire.all);
}

static void take_limits(void)
{
    struct limit message;
    MPI_Status status;

    while (wire_is_there(0, TAG_LIMIT, &status)) {
        MPI_Recv(&message, sizeof(message), MPI_BYTE, 0, TAG_LIMIT, wire.all,
                 MPI_STATUS_IGNORE);
        if (message.run == tasks.run)
            tasks.limit = least(tasks.limit, message.limit);
    }
}

void tasks_attend(void)
{
    MPI_Status status;

    if (wire.rank == 0)
        while (wire_is_there(MPI_ANY_SOURCE, TAG_ASK, &status))
            answer(status.MPI_SOURCE);
    else
        take_limits();
}

void tasks_forget(void)
{
    if (tasks.asked)
        wire_await(&tasks.receiving);
    tasks.asked = false;
}

/* ---- a run ---- */

void tasks_begin(void *user, size_t count)
{
    uint64_t share;

    (void)user;
    wire_lock();
    tasks.run++;
    tasks.count = count;
    tasks.limit = NEVER;
    tasks.over = false;
    tasks.next.count = 0;
    share = share_of(count);
    tasks.now.first = least((uint64_t)wire.rank * share, count);
    tasks.now.count = least(share, count - tasks.now.first);
    tasks.given = least((uint64_t)wire.count * share, count);
    wire_unlock();
}

/* A send that has to wait lets this rank hear of others meanwhile. */
static void send_request(struct request request)
{
    MPI_Request sent;

    MPI_Isend(&request, sizeof(request), MPI_BYTE, 0, TAG_ASK, wire.all, &sent);
    wire_await(&sent);
}

static void ask(void)
{
    if (wire.rank == 0) {
        tasks.next = give();
        tasks.over = tasks.next.count == 0;
        return;
    }
    tasks.asked = true;
    MPI_Irecv(&tasks.coming, sizeof(tasks.coming), MPI_BYTE, 0, TAG_SHARE,
              wire.all, &tasks.receiving);
    send_request((struct request){ tasks.run, ASK, 0 });
}

static void receive(void)
{
    int done = 0;

    MPI_Test(&tasks.receiving, &done, MPI_STATUS_IGNORE);
    if (!done)
        return;
    tasks.asked = false;
    tasks.next = tasks.coming;
    tasks.over = tasks.next.count == 0;
}

/* Brings tasks.now up to date; false: something is on its way. */
static bool refill(void)
{
    if (tasks.asked)
        receive();
    if (tasks.now.count == 0 && tasks.next.count > 0) {
        tasks.now = tasks.next;
        tasks.next.count = 0;
    }
    /* Before the last task is taken: by its end there is an answer. */
    if (tasks.now.count <= 1 && tasks.next.count == 0 && !tasks.asked &&
        !tasks.over)
        ask();
    return tasks.now.count > 0 || (tasks.over && tasks.next.count == 0);
}

size_t tasks_take(void *user)
{
    size_t task = SIZE_MAX;
    long pause = NAP_LEAST;

    (void)user;
    wire_lock();
    wire_attend();
    while (!refill())
        wire_nap(&pause);
    if (tasks.now.count > 0 && tasks.now.first < tasks.limit) {
        task = (size_t)tasks.now.first++;
        tasks.now.count--;
    }
    wire_unlock();
    return task;
}

void tasks_stop(void *user, size_t from)
{
    (void)user;
    wire_lock();
    if (wire.rank > 0)
        send_request((struct request){ tasks.run, STOP, from });
    set_limit(from);
    wire_unlock();
}
