/* SPDX-License-Identifier: MIT
 *
 * progress.c - the progress line, and ending on a signal
 *
 * A signal can come at any moment, and a target file may be half written.  The
 * handler itself can do little: it may not allocate, take locks or print with
 * stdio.  So there are two ways to end:
 *
 *   1. The handler sets stopped_by.  The library asks progress_update every
 *      20 ms or so; that returns false, the library removes the temporary file
 *      and returns MF_ERR_STOPPED, and the command ends as after any error.
 *   2. If the work does not poll for DEADLINE_NS - a slow disk, a long header,
 *      a loop that forgot to ask - a timer fires SIGALRM.  Its handler unlinks
 *      the temporary files from the list that the env keeps for this
 *      (mf_env_abandon) and ends the process.
 *
 * A second signal changes nothing, so an impatient Ctrl-C cannot leave files
 * behind.
 */
#include "cli/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/held.h"
#include "cli/malloc_count.h"
#include "cli/measure/measure.h"
#include "cli/ranks.h"
#include "cli/report.h"

/* How long the library may take to end by itself. */
#define DEADLINE_NS 80000000

static volatile sig_atomic_t stopped_by;
static struct run *running;
static void (*volatile at_end)(void);
static timer_t deadline;
static bool has_deadline;

static void put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* there is no way left to report it */
}

static void stop(int number)
{
    const struct itimerspec soon = { .it_value.tv_nsec = DEADLINE_NS };
    int kept = errno;

    if (!stopped_by) {
        stopped_by = number;
        if (has_deadline)
            timer_settime(deadline, 0, &soon, NULL);
    }
    errno = kept;
}

/* Calls only what a signal handler may call. */
static void end_now(int number)
{
    (void)number;
    mf_env_abandon(running->env);
    if (at_end)
        at_end();
    progress_clear(running);
    held_to(NULL, NULL);
    held_print();
    put("modelfile: interrupted");
    put(report_kept(running));
    put("\n");
    _exit(EXIT_SIGNAL + stopped_by);
}

void progress_at_end(void (*act)(void))
{
    at_end = act;
}

static void prepare_deadline(struct run *run)
{
    struct sigaction action = { .sa_handler = end_now };
    sigset_t alarm;

    running = run;
    sigfillset(&action.sa_mask);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    has_deadline = sigaction(SIGALRM, &action, NULL) == 0 &&
                   sigprocmask(SIG_UNBLOCK, &alarm, NULL) == 0 &&
                   timer_create(CLOCK_MONOTONIC, NULL, &deadline) == 0;
}

int progress_signal(void)
{
    return stopped_by;
}

void progress_catch_signals(struct run *run)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = stop };

    prepare_deadline(run);
    sigfillset(&action.sa_mask); /* of several, the first one counts */
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        struct sigaction old;

        /* nohup and background jobs of a shell ignore some: keep that. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

/* ---- the line ---- */

static double seconds_between(const struct timespec *from,
                              const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) +
           (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

/* Collects a line, so that it is written at once. */
static struct out line;

static void write_piece(void *user, const char *at, size_t size)
{
    out_bytes(user, at, size);
}

/* Bytes on the heap of the process, or where it is not counted, of the library.
 */
static uint64_t live_bytes(const struct run *run)
{
    struct mf_heap_stats library;
    struct process_heap process;

    if (process_heap(&process))
        return process.live;
    mf_env_heap(run->env, &library);
    return library.live;
}

static void show_json(const struct run *run, const struct mf_progress *progress,
                      double seconds)
{
    struct mf_json_out json = { .write = write_piece, .user = &line };
    uint64_t resident;

    mf_json_begin(&json, '{');
    mf_json_key(&json, "done");
    mf_json_u64(&json, progress->done);
    mf_json_key(&json, "total");
    mf_json_u64(&json, progress->total);
    mf_json_key(&json, "seconds");
    mf_json_f64(&json, seconds);
    mf_json_key(&json, "tensor");
    if (progress->tensor.size > 0)
        mf_json_string(&json, progress->tensor.at, progress->tensor.size);
    else
        mf_json_null(&json);
    mf_json_key(&json, "live_bytes");
    mf_json_u64(&json, live_bytes(run));
    mf_json_key(&json, "resident_bytes");
    if (mf_self_resident(&resident))
        mf_json_u64(&json, resident);
    else
        mf_json_null(&json);
    mf_json_end(&json, '}');
    out_text(&line, "\n");
}

static struct number_text left_text(double seconds)
{
    struct number_text text;

    if (seconds < 100)
        snprintf(text.at, sizeof(text.at), "%.0f s", seconds);
    else if (seconds < 6000)
        snprintf(text.at, sizeof(text.at), "%.0f min", seconds / 60);
    else
        snprintf(text.at, sizeof(text.at), "%.0f h", seconds / 3600);
    return text;
}

/* Where the name of the tensor begins; it gets the rest of the line. */
#define NAME_COLUMN 40

/* Returns the columns of the line. */
static size_t show_text(const struct mf_progress *progress, double seconds,
                        size_t columns)
{
    double done = (double)progress->done, total = (double)progress->total;
    double rate = seconds > 0 ? done / seconds : 0;
    double left = rate > 0 ? (total - done) / rate : 0;
    size_t room = columns > NAME_COLUMN + 3 ? columns - NAME_COLUMN - 1 : 0;
    size_t width = out_width(progress->tensor);
    char text[NAME_COLUMN + 40];
    int size;

    size = snprintf(text, sizeof(text), "%3.0f %%  %6.*f %s  %6s left  ",
                    total > 0 ? 100 * done / total : 100.0, rate < 1e9 ? 1 : 2,
                    rate < 1e9 ? rate / 1e6 : rate / 1e9,
                    rate < 1e9 ? "MB/s" : "GB/s", left_text(left).at);
    out_text(&line, text);
    if (columns > 0)
        width = width < room ? width : room;
    out_column(&line, progress->tensor, width, columns > 0);
    return (size_t)size + width;
}

/* The rest of a longer line before is overwritten with spaces, which works on
 * any terminal. */
static void show(struct run *run, const struct mf_progress *progress,
                 double seconds)
{
    size_t columns = out_terminal_columns(STDERR_FILENO), width;
    char buffer[OUT_BUFFER];

    line.buffer = buffer;
    line.fd = STDERR_FILENO;
    line.closed = false;
    line.error = 0;
    if (run->options->progress == PROGRESS_JSON) {
        show_json(run, progress, seconds);
    } else {
        out_text(&line, columns > 0 ? "\r" : "");
        width = show_text(progress, seconds, columns);
        if (columns == 0)
            out_text(&line, "\n");
        else if (width < run->progress.width)
            out_spaces(&line, run->progress.width - width);
        run->progress.width = columns > 0 ? width : 0;
    }
    out_flush(&line);
}

static bool is_shown(const struct run *run)
{
    return run->options->progress >= PROGRESS_ALWAYS ||
           (run->options->progress == PROGRESS_AUTO && !run->options->quiet &&
            out_terminal_columns(STDERR_FILENO) > 0 && !out_is_dumb());
}

/* Work begins; that on another file starts again at 0. */
static bool is_new(const struct run *run, const struct mf_progress *progress)
{
    return progress->done < run->progress.done ||
           (run->progress.shown.tv_sec == run->started.tv_sec &&
            run->progress.shown.tv_nsec == run->started.tv_nsec);
}

bool progress_update(void *user, const struct mf_progress *progress)
{
    /* Ten times a second on a terminal, once a second in a log.  Work that is
     * done before that shows nothing. */
    struct run *run = user;
    double pause = run->options->progress == PROGRESS_ALWAYS &&
                           out_terminal_columns(STDERR_FILENO) == 0
                       ? 1
                       : 0.1;
    struct timespec now;

    if (stopped_by || !ranks_go_on())
        return false;
    record_tick(run->env);
    if (progress->total == 0)
        return true;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (is_new(run, progress))
        run->progress.begun = run->progress.shown = now;
    run->progress.done = progress->done;
    if (seconds_between(&run->progress.shown, &now) < pause)
        return true;
    run->progress.shown = now;
    if (is_shown(run))
        show(run, progress, seconds_between(&run->progress.begun, &now));
    return true;
}

void progress_clear(struct run *run)
{
    static const char spaces[] = "                                        ";
    size_t left = run->progress.width;

    if (left == 0)
        return;
    put("\r");
    for (; left >= sizeof(spaces); left -= sizeof(spaces) - 1)
        put(spaces);
    put(spaces + sizeof(spaces) - 1 - left);
    put("\r");
    run->progress.width = 0;
}
