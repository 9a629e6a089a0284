/* SPDX-License-Identifier: MIT
 *
 * progress.c - how far long work is, and what ends it early
 *
 * A signal only sets a flag: the library is told at its next question, takes
 * away what it has begun to write, and comes back with an error.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t stopped_by;

static void stop(int number)
{
    stopped_by = number;
}

int progress_signal(void)
{
    return stopped_by;
}

void progress_catch_signals(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = stop };

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        struct sigaction old;

        /* nohup and a shell's background jobs have some ignored: they stay. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

/* ---- the line ---- */

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody is left to be told */
}

static double seconds_between(const struct timespec *from,
                              const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) +
           (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

static void show(struct run *run, const struct mf_progress *progress,
                 double seconds)
{
    double done = (double)progress->done, total = (double)progress->total;
    double rate = seconds > 0 ? done / seconds : 0;
    double left = rate > 0 ? (total - done) / rate : 0;
    char line[160];

    if (run->options.progress == PROGRESS_JSON)
        snprintf(line, sizeof(line),
                 "{\"done\":%" PRIu64 ",\"total\":%" PRIu64
                 ",\"seconds\":%.3f}\n",
                 progress->done, progress->total, seconds);
    else
        snprintf(line, sizeof(line),
                 "\r%3.0f %%  %.2f GB/s  %.0f s left \033[K",
                 total > 0 ? 100 * done / total : 100.0, rate / 1e9, left);
    say(line);
    run->progress_shown = true;
}

static bool is_shown(const struct run *run)
{
    return run->options.progress >= PROGRESS_ALWAYS ||
           (run->options.progress == PROGRESS_AUTO && !run->options.quiet &&
            isatty(STDERR_FILENO));
}

bool progress_tell(void *user, const struct mf_progress *progress)
{
    /* Ten times a second; not at all for what is done by then. */
    const double pause = 0.1;
    struct run *run = user;
    struct timespec now;

    if (stopped_by)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds_between(&run->progress_at, &now) < pause)
        return true;
    run->progress_at = now;
    if (is_shown(run))
        show(run, progress, seconds_between(&run->started, &now));
    return true;
}

void progress_clear(struct run *run)
{
    if (run->progress_shown && run->options.progress != PROGRESS_JSON)
        say("\r\033[K");
    run->progress_shown = false;
}
