/* SPDX-License-Identifier: MIT
 *
 * budget.c - what --max-memory allows the process, and what it needs
 *
 * The limit counts every malloc, including the C library, OpenMP and libcrypto.
 * A build that does not count them limits each env instead.
 */
#include "cli/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/malloc_count.h"
#include "cli/progress.h"
#include "cli/ranks.h"

/* ---- trials ---- */

/* The process that makes the trials waits, and ends with the program.  The
 * program does not wait for it: the system would count its memory as the
 * program's. */

/* Limits are tried in whole K, as --max-memory has it, and the answer is at
 * most 3 % too high. */
#define UNIT     ((uint64_t)1000)
#define CLOSE    32
#define UNIT_MAX (UINT64_C(1) << 40) /* no machine has as much */

/* A header of a million tensors is checked in 2 s. */
#define SECONDS_EACH 10
#define SECONDS_ALL  15

/* Buffers have their size when the first data is read. */
#define DATA_SECONDS 0.2

static int ask = -1,
           answer = -1;    /* of the program, or of the waiting process */
static off_t input_offset; /* of standard input, when it all began */

/* Standard output and error must not be held open longer than the program
 * does. */
static bool leave_output(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    bool left = null >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
                dup2(null, STDERR_FILENO) >= 0;

    if (null > STDERR_FILENO)
        close(null);
    return left;
}

/* A file that is standard input is read by its own offset; a pipe has been
 * read, and ends at once. */
static bool open_input(void)
{
    struct stat status;
    bool file = fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
    int input =
        open(file ? "/proc/self/fd/0" : "/dev/null", O_RDONLY | O_CLOEXEC);
    bool opened = input >= 0 && dup2(input, STDIN_FILENO) >= 0 &&
                  (!file || lseek(STDIN_FILENO, input_offset, SEEK_SET) >= 0);

    if (input > STDERR_FILENO)
        close(input);
    return opened;
}

/* ---- a trial ---- */

static void become_trial(struct run *run, uint64_t units, pid_t parent)
{
    struct rlimit time = { SECONDS_EACH, SECONDS_EACH };

    child_begin(parent);
    close(ask);
    close(answer);
    if (setrlimit(RLIMIT_CPU, &time) != 0 || !open_input())
        raise(SIGKILL); /* whatever its exit code, it would count */
    run->trial = true;
    run->options->max_memory = units * UNIT;
    run->options->quiet = true;
    run->options->stats = false;
    run->options->progress = PROGRESS_NEVER;
    run->options->resume = false; /* what was kept is not for trials */
}

bool trial_progress(void *user, const struct mf_progress *progress)
{
    static struct timespec begun;
    struct timespec now;

    (void)user;
    if (progress->total == 0)
        return true;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (begun.tv_sec == 0 && begun.tv_nsec == 0)
        begun = now;
    return (double)(now.tv_sec - begun.tv_sec) +
               (double)(now.tv_nsec - begun.tv_nsec) / 1e9 <
           DATA_SECONDS;
}

/* ---- the process that makes them ---- */

enum outcome { WORKS, LACKS_MEMORY, UNCLEAR, IN_TRIAL };

static enum outcome try_limit(struct run *run, uint64_t units)
{
    pid_t parent = getpid(), trial = fork();
    int end, code;

    if (trial < 0)
        return UNCLEAR;
    if (trial == 0) {
        become_trial(run, units, parent);
        return IN_TRIAL;
    }
    if (!child_wait(trial, &end) || !WIFEXITED(end))
        return UNCLEAR;
    code = WEXITSTATUS(end);
    if (code == EXIT_MEMORY)
        return LACKS_MEMORY;
    /* Whatever it failed for, it had enough memory to find out.  EXIT_SIGNAL
     * alone: ended by trial_progress. */
    return code <= EXIT_SIGNAL ? WORKS : UNCLEAR;
}

struct search {
    uint64_t low, high; /* too low; one that works, or 0 */
    uint64_t checked;   /* a tenth less than this one was tried */
};

/* Doubles until a limit works, halves the difference until it is small.  Then
 * one a tenth lower must not work: buffers are whole pages, so that now and
 * then a limit is enough although a higher one is not.  0: done. */
static uint64_t next_limit(struct search *search, uint64_t given)
{
    uint64_t low = search->low, high = search->high, tenth = high - high / 10;

    if (high == 0)
        return low > 4 ? 2 * low : 8;
    if (high == search->checked)
        return 0;
    if (high - low > 1 && high - low > high / CLOSE)
        return low + (high - low) / 2;
    if (low == given || low < tenth)
        return 0;
    search->low = given;
    search->checked = high;
    return tenth;
}

/* Each limit that works is an answer; the last one counts. */
static enum outcome search(struct run *run)
{
    uint64_t given = run->options->max_memory / UNIT, next;
    struct search search = { .low = given };

    while ((next = next_limit(&search, given)) > 0 && next < UNIT_MAX) {
        enum outcome outcome = try_limit(run, next);
        uint64_t bytes = next * UNIT;

        if (outcome == LACKS_MEMORY)
            search.low = next;
        else if (outcome == WORKS)
            search.high = next;
        else
            return outcome;
        if (outcome == WORKS &&
            write(answer, &bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
            return UNCLEAR;
    }
    return UNCLEAR;
}

/* Returns in a trial only. */
static void wait_and_search(struct run *run, pid_t program)
{
    ssize_t got;
    char byte;

    child_begin(program);
    if (!leave_output())
        _exit(EXIT_DONE);
    do
        got = read(ask, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1 || search(run) != IN_TRIAL)
        _exit(EXIT_DONE);
}

/* ---- the program ---- */

void trial_begin(struct run *run)
{
    int asking[2], answering[2];
    pid_t program = getpid(), other;

    if (run->command->once || run->reads_stream || pipe(asking) != 0)
        return;
    if (pipe(answering) != 0) {
        close(asking[0]);
        close(asking[1]);
        return;
    }
    input_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    other = fork();
    close(asking[other != 0 ? 0 : 1]);
    close(answering[other != 0 ? 1 : 0]);
    ask = asking[other != 0 ? 1 : 0];
    answer = answering[other != 0 ? 0 : 1];
    if (other == 0)
        wait_and_search(run, program);
    else if (other > 0)
        fcntl(ask, F_SETFD, FD_CLOEXEC);
}

/* False at the end of the answers, or when it takes too long. */
static bool next_answer(const struct timespec *asked, uint64_t *least)
{
    struct pollfd ready = { .fd = answer, .events = POLLIN };
    struct timespec now;
    uint64_t bytes;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - asked->tv_sec >= SECONDS_ALL || progress_signal() != 0)
        return false;
    if (poll(&ready, 1, 1000) <= 0)
        return true;
    if (read(answer, &bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes))
        return false;
    *least = bytes;
    return true;
}

uint64_t trial_least(void)
{
    static uint64_t least;
    struct timespec asked;

    if (ask < 0)
        return least;
    clock_gettime(CLOCK_MONOTONIC, &asked);
    if (write(ask, "?", 1) == 1)
        while (next_answer(&asked, &least))
            ;
    close(ask);
    close(answer);
    ask = answer = -1;
    return least;
}

/* ---- what --max-memory allows the process, and what it needs ---- */

static bool limited; /* by malloc itself */
static const struct run *in_work;

/* Below SIZE_MAX, which stands for no limit. */
static size_t limit_of(const struct run *run)
{
    uint64_t most = run->options->max_memory;

    return most < SIZE_MAX ? (size_t)most : SIZE_MAX - 1;
}

void budget_begin(struct run *run)
{
    in_work = run;
    if (run->options->max_memory == 0)
        return;
    trial_begin(run);
    limited = process_heap_limit(limit_of(run));
}

static size_t memory_left(void *user)
{
    (void)user;
    return process_heap_left();
}

void budget_env(const struct run *run, struct mf_options *options)
{
    if (limited)
        options->memory_left = memory_left;
    else if (run->options->max_memory > 0)
        options->heap_limit = limit_of(run);
}

void budget_allow(struct run *run)
{
    if (run->trial)
        sandbox_allow_file(&run->sandbox, "/dev/null");
}

void budget_end_trial(const struct run *run)
{
    if (run->trial)
        _exit(run->code);
}

bool budget_is_limit(const struct mf_error *error)
{
    return strcmp(error->rule, "HEAP-LIMIT") == 0 ||
           (error->status == MF_ERR_MEMORY && process_heap_refused());
}

uint64_t budget_least(const struct run *run, const struct mf_error *error)
{
    if (run->options->max_memory == 0 || (error && !budget_is_limit(error)))
        return 0;
    return trial_least();
}

struct budget_text budget_text(uint64_t least)
{
    struct budget_text text;

    if (least % 1000 == 0)
        snprintf(text.at, sizeof(text.at), "%" PRIu64 "K", least / 1000);
    else
        snprintf(text.at, sizeof(text.at), "%" PRIu64, least);
    return text;
}

/* ---- the end ---- */

static bool ended;

void budget_end(void)
{
    ended = true;
}

void budget_at_exit(void)
{
    static const char text[] = "modelfile: out of memory\n";
    ssize_t wrote;

    if (ended)
        return;
    mf_env_abandon(in_work ? in_work->env : NULL);
    if (ranks_are_ended())
        _exit(EXIT_OUTPUT); /* the rank that did it has said why */
    wrote = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)wrote;
    _exit(EXIT_MEMORY);
}
