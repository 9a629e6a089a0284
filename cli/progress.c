/* SPDX-License-Identifier: MIT
 *
 * progress.c - how far long work is, and what ends it early
 *
 * A signal sets a flag: the library is told at its next question, takes away
 * what it has begun to write, and comes back with an error.  Where it does not
 * ask in time, as by a mistake or while it reads a long header, a timer ends
 * the program.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

/* What a signal's end may take. */
#define DEADLINE_NS 80000000

static volatile sig_atomic_t stopped_by;
static struct run *running;
static void (*volatile last_act)(void);
static timer_t deadline;
static bool has_deadline;

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody is left to be told */
}

/* A second signal neither hastens the end nor puts it off. */
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

/* Everything here may be called by a signal handler. */
static void end_now(int number)
{
    (void)number;
    mf_env_abandon(running->env);
    if (last_act)
        last_act();
    progress_clear(running);
    say("modelfile: stopped before the end\n");
    _exit(EXIT_SIGNAL + stopped_by);
}

void progress_at_end(void (*act)(void))
{
    last_act = act;
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
    sigfillset(&action.sa_mask); /* of several the first one counts */
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        struct sigaction old;

        /* nohup and a shell's background jobs have some ignored: they stay. */
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
