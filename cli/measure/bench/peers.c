/* SPDX-License-Identifier: MIT
 *
 * peers.c - this program and others, run in turns on the same model
 *
 * Whole processes on both sides, from their start to their end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/measure/bench/bench.h"
#include "cli/progress.h"

extern char **environ;

#define WORDS_MAX 14

struct program {
    const char *name;
    const char *words[WORDS_MAX]; /* ends with NULL */
    const char *out;              /* what it writes; NULL: nothing */
    double *times;
    size_t runs;
    char failed[80];
};

/* ---- a process ---- */

static void wake(int number)
{
    (void)number;
}

/* Signals are blocked except in sigsuspend, so that none is missed between a
 * check and the wait. */
struct guard {
    sigset_t before;
    struct sigaction child;
};

static void guard_begin(struct guard *guard)
{
    struct sigaction action = { .sa_handler = wake };
    sigset_t held;

    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, &guard->child);
    sigemptyset(&held);
    sigaddset(&held, SIGCHLD);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    sigprocmask(SIG_BLOCK, &held, &guard->before);
}

static void guard_end(const struct guard *guard)
{
    sigprocmask(SIG_SETMASK, &guard->before, NULL);
    sigaction(SIGCHLD, &guard->child, NULL);
}

static volatile pid_t running; /* 0: none */

void bench_end_peer(void)
{
    const int patience = 10; /* milliseconds */

    for (int i = 0; running > 0 && i < patience; i++) {
        if (waitpid(running, NULL, WNOHANG) != 0)
            return;
        poll(NULL, 0, 1);
    }
    if (running > 0)
        kill(running, SIGKILL);
}

/* Passes a signal that we get on to the child. */
static int wait_for(pid_t child, const struct guard *guard)
{
    int status = 0, sent = 0;
    pid_t ended;

    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (progress_signal() != sent) {
            sent = progress_signal();
            kill(child, sent);
        } else {
            sigsuspend(&guard->before);
        }
    }
    return ended == child ? status : 127 << 8;
}

/* The child gets none of the signals that we ignore or block. */
static int start(const struct program *one, const struct guard *guard,
                 pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual;
    int error;

    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &guard->before);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn_file_actions_init(&files);
    for (int fd = STDIN_FILENO; error == 0 && fd <= STDERR_FILENO; fd++)
        error = posix_spawn_file_actions_addopen(&files, fd, "/dev/null",
                                                 O_RDWR, 0);
    if (error == 0)
        error = posix_spawnp(child, one->words[0], &files, &attributes,
                             (char *const *)(uintptr_t)one->words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* One run; a failure is kept in one->failed. */
static void run_once(struct program *one)
{
    struct guard guard;
    uint64_t started;
    int status = 0, error;
    pid_t child;

    if (one->out)
        unlink(one->out);
    guard_begin(&guard);
    started = bench_now();
    error = start(one, &guard, &child);
    if (error == 0) {
        running = child;
        status = wait_for(child, &guard);
        running = 0;
    }
    one->times[one->runs++] = (double)(bench_now() - started);
    guard_end(&guard);
    if (error != 0)
        snprintf(one->failed, sizeof(one->failed), "%s", strerror(error));
    else if (WIFSIGNALED(status))
        snprintf(one->failed, sizeof(one->failed), "signal %d",
                 WTERMSIG(status));
    else if (status != 0)
        snprintf(one->failed, sizeof(one->failed), "exit code %d",
                 WEXITSTATUS(status));
}

/* ---- the bytes that both wrote ---- */

static size_t read_whole(int fd, char *at, size_t size)
{
    size_t filled = 0;
    ssize_t got = 1;

    while (filled < size && got > 0) {
        got = read(fd, at + filled, size - filled);
        if (got > 0)
            filled += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    return filled;
}

static bool same_bytes(const char *a, const char *b)
{
    char left[16384], right[16384];
    int first = open(a, O_RDONLY | O_CLOEXEC);
    int second = open(b, O_RDONLY | O_CLOEXEC);
    bool same = first >= 0 && second >= 0;
    size_t size = sizeof(left);

    while (same && size == sizeof(left)) {
        size = read_whole(first, left, sizeof(left));
        same = read_whole(second, right, sizeof(right)) == size &&
               memcmp(left, right, size) == 0;
    }
    if (first >= 0)
        close(first);
    if (second >= 0)
        close(second);
    return same;
}

/* ---- two of them ---- */

static void print_row(struct run *run, struct program *one,
                      struct bench_row *row)
{
    row->program = one->name;
    if (one->failed[0])
        row->failed = one->failed;
    else
        bench_times(row, one->times, one->runs);
    bench_print(run, BENCH_PEERS, row);
}

/* They take turns in beginning; a program that fails is not run again. */
static void compete(struct run *run, const char *work, const char *mix,
                    struct program *ours, struct program *theirs)
{
    struct bench_row row = { .work = work,
                             .type = mix,
                             .threads = mf_env_threads(run->env) };
    struct program *pair[2] = { ours, theirs };
    uint64_t started = bench_now();
    double median;

    for (size_t turn = 0;
         progress_signal() == 0 && bench_goes_on(turn, started); turn++)
        for (size_t i = 0; i < 2; i++) {
            struct program *one = pair[(turn + i) % 2];

            if (!one->failed[0] && progress_signal() == 0)
                run_once(one);
        }
    if (progress_signal() != 0)
        return;
    print_row(run, ours, &row);
    median = row.p50;
    row =
        (struct bench_row){ .work = work, .type = mix, .threads = row.threads };
    if (!ours->failed[0] && !theirs->failed[0]) {
        bench_times(&row, theirs->times, theirs->runs);
        row.ratio = row.p50 / median;
        if (ours->out)
            row.bytes =
                same_bytes(ours->out, theirs->out) ? "same" : "different";
    }
    print_row(run, theirs, &row);
}

static void compare_quantize(struct run *run, const char *peer, const char *mix,
                             const struct bench_folder *folder, double *times,
                             size_t room)
{
    const char *model = inputs_model_path(run, run->operand[0]);
    const char *matrix = bench_options.imatrix;
    char threads[24] = "";
    struct program ours = { "modelfile",
                            { "/proc/self/exe", "quantize", "--quiet",
                              "--allow-requantize", "--to=gguf", "--threads",
                              threads, model, folder->ours, mix,
                              matrix ? "--imatrix" : NULL, matrix },
                            .out = folder->ours,
                            .times = times };
    struct program theirs = { "llama-quantize",
                              { peer, "--allow-requantize", model,
                                folder->theirs, mix, threads },
                              .out = folder->theirs,
                              .times = times + room };

    if (matrix) {
        static const size_t after = 2; /* the program, --allow-requantize */

        memmove(&theirs.words[after + 2], &theirs.words[after],
                4 * sizeof(*theirs.words));
        theirs.words[after] = "--imatrix";
        theirs.words[after + 1] = matrix;
    }
    threads[put_decimal(threads, mf_env_threads(run->env))] = 0;
    compete(run, "quantize", mix, &ours, &theirs);
}

static void compare_show(struct run *run, const char *peer, double *times,
                         size_t room)
{
    const char *model = inputs_model_path(run, run->operand[0]);
    struct program ours = { "modelfile",
                            { "/proc/self/exe", "tensors", "info", "--quiet",
                              model },
                            .times = times };
    struct program theirs = { "gguf-tools",
                              { peer, "show", model },
                              .times = times + room };

    compete(run, "show", NULL, &ours, &theirs);
}

static const char *setting(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

bool bench_has_peers(void)
{
    return setting("MODELFILE_GGUF_TOOLS") ||
           setting("MODELFILE_LLAMA_QUANTIZE");
}

void bench_peers(struct run *run, const struct bench_folder *folder,
                 double *times, size_t room)
{
    const char *show = setting("MODELFILE_GGUF_TOOLS");
    const char *quantize = setting("MODELFILE_LLAMA_QUANTIZE");
    const struct text_list *mixes = &bench_options.mixes;

    if (!show && !quantize)
        return;
    bench_begin(run, BENCH_PEERS);
    if (show)
        compare_show(run, show, times, room);
    for (size_t i = 0; quantize && i < mixes->count; i++)
        compare_quantize(run, quantize, mixes->at[i], folder, times, room);
    bench_end(run);
}
