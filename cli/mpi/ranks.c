/* SPDX-License-Identifier: MIT
 *
 * ranks.c - one program in several processes
 */
#include "cli/ranks.h"

#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "cli/mpi/files.h"
#include "cli/mpi/wire.h"
#include "cli/remote/remote.h"
#include "cli/report.h"
#include "cli/room.h"

#define TIMEOUT     120 /* seconds */
#define TIMEOUT_MAX 1000000
#define GATHERS     101 /* that are timed */

static const struct option timeout_option =
    OPTION_COUNT("--rank-timeout", "SECONDS", shared_options.rank_timeout,
                 "end all ranks when one shows no progress (default: 120)");

static struct {
    struct mf_ranks ranks;
    struct run *run;
    bool met, joined, left;
    struct timespec joined_at; /* time of processors */
    struct ranks_imbalance above;
    double gather; /* seconds of one */
} state;

/* ---- starting ---- */

/* What others would print is what rank 0 prints. */
static void be_quiet(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    wire_print_to(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    if (null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

/* As MPICH's mpirun tells: then shared memory is enough. */
static bool is_one_machine(void)
{
    const char *here = getenv("MPI_LOCALNRANKS"), *all = getenv("PMI_SIZE");

    return here && all && strcmp(here, all) == 0;
}

void ranks_begin(int *count, char ***arguments)
{
    const char *why;

    /* They would read another rank's memory, which the sandbox refuses. */
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    setenv("OMPI_MCA_smsc", "^cma", 0);
    setenv("UCX_TLS", is_one_machine() ? "posix,sysv,self" : "^cma", 0);
#if defined(__linux__)
    /* What started the ranks ends with them, and they with it. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    why = wire_begin(count, arguments, &state.ranks);
    if (why) {
        fprintf(stderr, "modelfile: %s\n", why);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    args_add_common(&timeout_option);
    if (ranks_follow())
        be_quiet();
}

size_t ranks_count(void)
{
    return state.ranks.count;
}

size_t ranks_of_answer(void)
{
    return files_are_inside() ? 1 : state.ranks.count;
}

bool ranks_follow(void)
{
    return state.ranks.rank > 0;
}

const char *ranks_library(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int size;

    if (!*text) {
        MPI_Get_library_version(text, &size);
        text[strcspn(text, ",\n")] = 0; /* the rest is about its build */
        for (char *tab = text; (tab = strchr(tab, '\t')) != NULL;)
            *tab = ' ';
    }
    return text;
}

/* ---- options ---- */

/* What one process has. */
static const char *refused(const struct run *run)
{
    const struct options *options = run->options;
    const char *option = args_of_one_process(options);

    if (option)
        return option;
    if (options->part || options->share)
        return "--part";
    return NULL;
}

/* A pipe is read once, and another process for the network would have to be
 * made of one that MPI has started. */
static bool is_a_file(struct run *run, const char *path)
{
    if (strcmp(path, "-") != 0 && !remote_is_url(path))
        return true;
    report_usage(run,
                 "'%.200s' is not a file, and only files can be read by "
                 "several ranks",
                 path);
    return false;
}

bool ranks_check(struct run *run)
{
    const char *option;

    /* mpirun may put a terminal of its own between rank 0 and a file; and what
     * a rank prints must not depend on which one it is. */
    run->out.terminal = false;
    run->out.columns = 0;
    if (run->options->colour == COLOUR_AUTO)
        run->options->colour = COLOUR_NEVER;
    if (run->options->progress == PROGRESS_AUTO)
        run->options->progress = PROGRESS_NEVER;
    if (state.ranks.count < 2 || run->options->help)
        return true;
    option = refused(run);
    if (option) {
        report_usage(run,
                     "'%s' is for one process: it cannot be given to "
                     "several ranks",
                     option);
        return false;
    }
    for (size_t i = 0; i < run->operand_count; i++)
        if (!is_a_file(run, run->operand[i]))
            return false;
    for (size_t i = 0; i < run->listed_count; i++)
        if (!is_a_file(run, run->listed[i]))
            return false;
    return !run->options->files_from ||
           is_a_file(run, run->options->files_from);
}

/* ---- the sandbox ---- */

/* Shared memory, and the folder of this job, where MPI removes its files. */
void ranks_begin_sandbox(struct sandbox *sandbox, const char *off)
{
    static const char *const names[] = { "PMIX_SERVER_TMPDIR",
                                         "OMPI_MCA_orte_top_session_dir" };

    sandbox_begin_ranks(sandbox, off);
    sandbox_allow_folder(sandbox, "/dev/shm");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]))
            sandbox_allow_folder(sandbox, getenv(names[i]));
}

/* ---- joining and leaving ---- */

/* What must be the same everywhere. */
struct identity {
    char version[64];
    char compiler[128];
    uint64_t order, shared, ready;
};

static struct identity own(bool ready)
{
    struct identity own = { .order = 0x0102030405060708,
                            .shared = state.run && state.run->command &&
                                      state.run->command->shared,
                            .ready = ready };

    snprintf(own.version, sizeof(own.version), "%s", mf_version());
    return own;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
    return memcmp(a->version, b->version, sizeof(a->version)) == 0 &&
           a->order == b->order && a->shared == b->shared;
}

/* Of those that are ready: another one has not come so far. */
static bool are_same(const struct identity *all, size_t count)
{
    const struct identity *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (all[i].ready && !first)
            first = &all[i];
        if (all[i].ready && !is_same(&all[i], first))
            return false;
    }
    return true;
}

/* Once; also by a rank that cannot work, which says so by it. */
static bool meet(bool ready)
{
    struct identity mine = own(ready);
    size_t count = state.ranks.count;
    struct identity *all = room_take(count * sizeof(*all));
    bool all_ready = true;

    state.met = true;
    if (!all)
        state.ranks.end(state.ranks.user, "out of memory");
    state.ranks.gather(state.ranks.user, &mine, sizeof(mine), all);
    if (!are_same(all, count))
        state.ranks.end(state.ranks.user,
                        "the ranks run different versions of the program, on "
                        "processors of different kinds, or with different "
                        "arguments");
    for (size_t i = 0; i < count; i++)
        all_ready &= all[i].ready != 0;
    return all_ready;
}

static unsigned timeout_of(const struct run *run)
{
    uint64_t seconds = run->options->rank_timeout;

    return seconds == 0            ? TIMEOUT
           : seconds < TIMEOUT_MAX ? (unsigned)seconds
                                   : TIMEOUT_MAX;
}

static void abandon(void)
{
    if (state.run && state.run->env)
        mf_env_abandon(state.run->env);
}

/* Of as many bytes as ranks bring to a meeting of the library. */
static void time_gathers(void)
{
    struct identity mine = { .order = 0 };
    struct timespec begun, now;
    double seconds[GATHERS];
    struct identity *all = room_take(state.ranks.count * sizeof(*all));

    for (size_t i = 0; all && i < GATHERS; i++) {
        clock_gettime(CLOCK_MONOTONIC, &begun);
        state.ranks.gather(state.ranks.user, &mine, sizeof(mine), all);
        clock_gettime(CLOCK_MONOTONIC, &now);
        seconds[i] = (double)(now.tv_sec - begun.tv_sec) +
                     (double)(now.tv_nsec - begun.tv_nsec) * 1e-9;
    }
    if (!all)
        state.ranks.end(state.ranks.user, "out of memory");
    mf_times_sort(seconds, GATHERS);
    state.gather = mf_times_percentile(seconds, GATHERS, 50);
}

double ranks_gather_seconds(void)
{
    return state.gather;
}

bool ranks_join(struct run *run)
{
    state.run = run;
    if (state.ranks.count < 2)
        return true;
    wire_at_end(abandon);
    if (!meet(true)) {
        report_late(run, EXIT_OUTPUT, run->command->name,
                    "another rank could not begin");
        return false;
    }
    if (!run->command->shared && run->command->gathers &&
        run->command->gathers() && !run->options->help)
        time_gathers();
    if (!run->command->shared || run->options->help)
        return !ranks_follow();
    wire_watch(timeout_of(run));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &state.joined_at);
    state.joined = mf_env_join_ranks(run->env, &state.ranks) == MF_OK;
    if (!state.joined)
        report_failure(run, run->command->name);
    return state.joined;
}

/* Of processors, since this rank joined the others. */
static uint64_t own_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)(now.tv_sec - state.joined_at.tv_sec) * 1000000000 +
           (uint64_t)now.tv_nsec - (uint64_t)state.joined_at.tv_nsec;
}

static double above_mean(uint64_t most, uint64_t sum)
{
    double mean = (double)sum / (double)state.ranks.count;

    return mean > 0 ? (double)most / mean - 1 : 0;
}

void ranks_leave(struct run *run)
{
    enum { READ, WRITTEN, ALLOCATIONS, WORK, TIME, SUMS };
    enum { PEAK, MOST_WORK, MOST_TIME, LARGEST };
    uint64_t sum[SUMS], largest[LARGEST];
    struct mf_heap_stats heap;
    struct mf_io_stats io;
    bool had_error;

    if (!state.joined || state.left || files_are_inside())
        return;
    state.left = true;
    mf_env_heap(run->env, &heap);
    mf_env_io(run->env, &io);
    sum[READ] = io.bytes_read;
    sum[WRITTEN] = io.bytes_written;
    sum[ALLOCATIONS] = heap.allocations;
    sum[WORK] = largest[MOST_WORK] =
        mf_env_share_done(run->env) + files_bytes();
    sum[TIME] = largest[MOST_TIME] = own_time();
    largest[PEAK] = heap.peak;
    had_error = run->code != EXIT_SUCCESS;
    if (mf_env_leave_ranks(run->env, sum, SUMS, largest, LARGEST) != MF_OK &&
        !had_error)
        report_failure(run, run->command->name);
    run->other_io.bytes_read += sum[READ] - io.bytes_read;
    run->other_io.bytes_written += sum[WRITTEN] - io.bytes_written;
    run->other_heap.allocations += sum[ALLOCATIONS] - heap.allocations;
    if (largest[PEAK] > run->other_heap.peak)
        run->other_heap.peak = (size_t)largest[PEAK];
    state.above.work = above_mean(largest[MOST_WORK], sum[WORK]);
    state.above.time = above_mean(largest[MOST_TIME], sum[TIME]);
    wire_watch(0);
}

struct ranks_imbalance ranks_imbalance(void)
{
    return state.above;
}

bool ranks_are_ended(void)
{
    return wire_is_in_mpi();
}

int ranks_end(int code)
{
    if (state.ranks.count > 1 && !state.met)
        meet(false);
    code = ranks_follow() ? EXIT_SUCCESS : code;
    wire_finish(code);
    return code;
}
