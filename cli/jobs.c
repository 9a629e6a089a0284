/* SPDX-License-Identifier: MIT
 *
 * jobs.c - many files, each by a process of its own
 *
 * A process writes to pipes.  What the first file that is not complete has in
 * its pipes is passed on; the others wait for their turn, and a process waits
 * where its pipe is full.  So nothing has to be kept in memory.
 */
#include "cli/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/child.h"
#include "cli/held.h"
#include "cli/jobs_log.h"
#include "cli/jobs_sum.h"
#include "cli/malloc_count.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/remote/remote.h"
#include "cli/report.h"
#include "cli/room.h"
#include "cli/scratch.h"
#include "cli/start.h"

#define JOBS_MOST 256

/* Files after the first that is not complete, besides those in work. */
#define AHEAD 64
#define RING  (JOBS_MOST + AHEAD)

/* What a process leaves behind. */
struct share {
    struct mf_heap_stats heap;
    uint64_t read, size;
};

enum stream { STREAM_OUT, STREAM_ERROR, STREAMS };

struct job {
    pid_t process;
    int from[STREAMS]; /* -1: it has ended */
    size_t place;      /* one of --jobs, while it is in work */
    bool works;
    bool in_line; /* what it has printed does not end with a newline */
    struct jobs_file file;
};

static struct {
    bool used;
    size_t most;   /* --jobs */
    uint64_t seen; /* files, of all parts */

    struct job *ring;    /* RING of them */
    struct share *share; /* likewise */
    size_t first, count, working;
    bool *taken; /* places */
    bool over;   /* after a signal, or without a reader */
    struct jobs_sum sum;
} jobs;

/* ---- options ---- */

/* What one process has for all files. */
static const char *refused(const struct run *run)
{
    const struct options *options = run->options;
    const char *option = args_of_one_process(options);

    if (option)
        return option;
    return options->progress >= PROGRESS_ALWAYS ? "--progress" : NULL;
}

static bool is_a_file(const char *operand)
{
    return strcmp(operand, "-") != 0 && !remote_is_url(operand);
}

static bool are_files(struct run *run, char **path, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_a_file(path[i])) {
            report_usage(run,
                         "'%.200s' is not a file: '--jobs', '--part' and "
                         "'--log' are about files",
                         path[i]);
            return false;
        }
    return true;
}

static bool take_room(struct run *run)
{
    jobs.ring = room_take(RING * sizeof(*jobs.ring));
    jobs.share = room_share(RING * sizeof(*jobs.share));
    jobs.taken = room_take(JOBS_MOST * sizeof(*jobs.taken));
    if (!jobs.ring || !jobs.share || !jobs.taken)
        report_no_room(run);
    return jobs.ring && jobs.share && jobs.taken;
}

/* Each process has as many threads as leave one processor for each. */
static void share_threads(struct run *run)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t all = processors > 0 ? (uint64_t)processors : 1;

    if (run->options->threads == 0 && jobs.most > 1)
        run->options->threads = all > jobs.most ? all / jobs.most : 1;
}

static bool fit(struct run *run)
{
    const struct options *options = run->options;
    const char *other = refused(run);

    if (options->jobs > JOBS_MOST)
        report_usage(run, "'--jobs %" PRIu64 "': at most %d", options->jobs,
                     JOBS_MOST);
    else if (options->jobs > 1 && ranks_count() > 1)
        report_usage(run,
                     "'--jobs %" PRIu64 "': each of several ranks reads one "
                     "file at a time, give '--jobs 1'",
                     options->jobs);
    else if (other)
        report_usage(run,
                     "'%s' cannot be given with '--jobs', '--part' or "
                     "'--log'",
                     other);
    else
        return are_files(run, run->operand, run->operand_count) &&
               are_files(run, run->listed, run->listed_count);
    return false;
}

bool jobs_begin(struct run *run)
{
    const struct options *options = run->options;

    if (!options->jobs && !options->part && !options->log)
        return true;
    if (!fit(run) || !jobs_sum_part(run, &jobs.sum) ||
        (ranks_count() == 1 && !take_room(run)) ||
        (options->log && !jobs_log_open(run)))
        return false;
    jobs.used = true;
    if (ranks_count() > 1)
        return true;
    jobs.most = options->jobs > 0 ? (size_t)options->jobs : 1;
    share_threads(run);
    scratch_divide(jobs.most);
    return true;
}

bool jobs_are_used(void)
{
    return jobs.used;
}

bool jobs_allow(struct run *run, const char *option)
{
    if (jobs.used)
        report_usage(run,
                     "'%s' is about all files together: it cannot be "
                     "given with '--jobs', '--part' or '--log'",
                     option);
    return !jobs.used;
}

/* ---- in a process of its own ---- */

static struct job *job_at(size_t index)
{
    return &jobs.ring[(jobs.first + index) % RING];
}

static struct share *share_of(const struct job *job)
{
    return &jobs.share[job - jobs.ring];
}

static void close_ends(int pipe_of[STREAMS][2], int end)
{
    for (size_t i = 0; i < STREAMS; i++)
        close(pipe_of[i][end]);
}

/* A process has no use for the pipes of others, and may need their numbers. */
static void leave_pipes(int pipe_of[STREAMS][2])
{
    dup2(pipe_of[STREAM_OUT][1], STDOUT_FILENO);
    dup2(pipe_of[STREAM_ERROR][1], STDERR_FILENO);
    close_ends(pipe_of, 0);
    close_ends(pipe_of, 1);
    for (size_t i = 0; i < jobs.count; i++)
        for (size_t k = 0; k < STREAMS; k++)
            close(job_at(i)->from[k]);
}

static void become_job(struct run *run, pid_t program, size_t place,
                       int pipe_of[STREAMS][2])
{
    child_begin(program);
    leave_pipes(pipe_of);
    start_answer(run);
    run->options->quiet = true;
    jobs.used = false;
    scratch_use(place);
}

static _Noreturn void end_job(struct run *run, struct share *share)
{
    struct process_heap heap;
    struct mf_io_stats io;

    start_finish(run);
    mf_env_heap(run->env, &share->heap);
    mf_env_io(run->env, &io);
    share->read = io.bytes_read;
    share->size = run->size;
    if (process_heap(&heap)) {
        share->heap.peak = heap.peak;
        share->heap.allocations = heap.allocations;
    }
    held_print();
    _exit(run->code);
}

/* ---- what they print ---- */

static void pass_on(struct run *run, struct job *job, enum stream stream)
{
    char bytes[4096];
    ssize_t got = read(job->from[stream], bytes, sizeof(bytes));

    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        close(job->from[stream]);
        job->from[stream] = -1;
    } else if (stream == STREAM_OUT) {
        job->in_line = bytes[got - 1] != '\n';
        out_bytes(&run->out, bytes, (size_t)got);
    } else {
        held_write(bytes, (size_t)got);
    }
}

static void stop_working(struct job *job)
{
    if (!job->works)
        return;
    job->works = false;
    jobs.taken[job->place] = false;
    jobs.working--;
}

static void add_costs(struct run *run, const struct share *share)
{
    run->size += share->size;
    run->other_io.bytes_read += share->read;
    run->other_heap.allocations += share->heap.allocations;
    if (share->heap.peak > run->other_heap.peak)
        run->other_heap.peak = share->heap.peak;
}

/* The answer about a file that has no process. */
static void fail(struct run *run, const char *path, const char *why)
{
    answer_one_begin(run, path);
    report_input(run, path, "%s", why);
    answer_one_end(run);
}

static void report_killed(struct run *run, const struct job *job, int status)
{
    char why[64];

    jobs.sum.killed++;
    report_code(run, EXIT_INPUT);
    if (WIFEXITED(status))
        return; /* it has said so itself */
    if (job->in_line)
        out_text(&run->out, "\n");
    snprintf(why, sizeof(why),
             "the process that read it was ended by signal %d",
             WTERMSIG(status));
    fail(run, job->file.path, why);
}

/* The first job has printed all. */
static void complete(struct run *run)
{
    struct job *job = job_at(0);
    int status, code;

    if (!child_wait(job->process, &status))
        status = SIGKILL;
    code = WEXITSTATUS(status);
    stop_working(job);
    if (!WIFEXITED(status) || code > EXIT_MEMORY) {
        report_killed(run, job, status);
    } else {
        jobs.sum.ended[code]++;
        report_code(run, code);
        add_costs(run, share_of(job));
        jobs_log_add(run, &job->file, code);
    }
    jobs.sum.done++;
    jobs.first = (jobs.first + 1) % RING;
    jobs.count--;
}

/* Of the first one, what it prints; of others, that they have ended. */
static void wait_for_news(struct run *run)
{
    struct pollfd polled[RING + 1];
    struct job *first = job_at(0);
    nfds_t count = STREAMS;

    for (size_t i = 0; i < STREAMS; i++)
        polled[i] = (struct pollfd){ first->from[i], POLLIN, 0 };
    for (size_t i = 1; i < jobs.count; i++)
        polled[count++] = (struct pollfd){
            job_at(i)->works ? job_at(i)->from[STREAM_OUT] : -1, 0, 0
        };
    if (poll(polled, count, -1) < 0)
        return; /* a signal */
    for (size_t i = 1; i < jobs.count; i++)
        if (polled[STREAMS - 1 + i].revents)
            stop_working(job_at(i));
    for (size_t i = 0; i < STREAMS; i++)
        if (polled[i].revents)
            pass_on(run, first, (enum stream)i);
    if (first->from[STREAM_OUT] < 0 && first->from[STREAM_ERROR] < 0)
        complete(run);
}

/* ---- files ---- */

static bool is_over(struct run *run)
{
    bool lost = run->out.closed || run->out.error;

    if ((progress_signal() == 0 && !lost) || jobs.over)
        return jobs.over;
    jobs.over = true;
    for (size_t i = 0; i < jobs.count; i++)
        kill(job_at(i)->process, SIGTERM);
    if (jobs.count > 0 && job_at(0)->in_line)
        out_text(&run->out, "\n");
    if (!lost)
        report_code(run, EXIT_SIGNAL + progress_signal());
    return true;
}

static size_t free_place(void)
{
    size_t place = 0;

    while (jobs.taken[place])
        place++;
    return place;
}

static bool make_pipes(int pipe_of[STREAMS][2])
{
    if (pipe(pipe_of[STREAM_OUT]) != 0)
        return false;
    if (pipe(pipe_of[STREAM_ERROR]) == 0)
        return true;
    close(pipe_of[STREAM_OUT][0]);
    close(pipe_of[STREAM_OUT][1]);
    return false;
}

static void add_job(struct job *job, pid_t process, int pipe_of[STREAMS][2])
{
    job->process = process;
    job->in_line = false;
    job->works = jobs.taken[job->place] = true;
    for (size_t i = 0; i < STREAMS; i++)
        job->from[i] = pipe_of[i][0];
    close_ends(pipe_of, 1);
    jobs.working++;
    jobs.count++;
}

/* False, with errno set, if the system has no pipes or no process. */
static bool start(struct run *run, struct job *job, const struct jobs_act *act)
{
    int pipe_of[STREAMS][2];
    pid_t program = getpid(), process;

    if (!make_pipes(pipe_of))
        return false;
    job->place = free_place();
    *share_of(job) = (struct share){ 0 };
    out_flush(&run->out);
    held_print();
    process = fork();
    if (process == 0) {
        become_job(run, program, job->place, pipe_of);
        if (act->keeps_env || start_env(run))
            act->act(act->user);
        end_job(run, share_of(job));
    }
    if (process > 0) {
        add_job(job, process, pipe_of);
        return true;
    }
    close_ends(pipe_of, 0);
    close_ends(pipe_of, 1);
    errno = EAGAIN;
    return false;
}

/* One that cannot be started has to wait for others. */
static void start_when_possible(struct run *run, const char *path,
                                const struct jobs_act *act)
{
    while (!is_over(run) && !start(run, job_at(jobs.count), act)) {
        if (jobs.count == 0) {
            fail(run, path, strerror(errno));
            jobs.sum.ended[EXIT_INPUT]++;
            jobs.sum.done++;
            return;
        }
        wait_for_news(run);
    }
}

/* With the code that it had. */
static void leave_out(struct run *run, int code)
{
    jobs.sum.left_out++;
    jobs.sum.left_with_errors += code == EXIT_NO;
    report_code(run, code);
}

void jobs_give(struct run *run, const char *path, const struct jobs_act *act)
{
    struct job *job;
    int code;

    if (ranks_count() > 1) {
        ranks_give_file(run, path, act, &jobs.sum);
        return;
    }
    if (is_over(run) || jobs.seen++ % jobs.sum.parts != jobs.sum.part - 1)
        return;
    while (jobs.working == jobs.most || jobs.count == RING) {
        wait_for_news(run);
        if (is_over(run))
            return;
    }
    job = job_at(jobs.count);
    code = jobs_log_find(path, &job->file);
    if (code >= 0)
        leave_out(run, code);
    else
        start_when_possible(run, path, act);
}

void jobs_end(struct run *run)
{
    if (ranks_count() > 1) {
        if (ranks_end_files(run, &jobs.sum))
            jobs_sum_show(run, &jobs.sum);
        return;
    }
    while (jobs.count > 0 && !is_over(run))
        wait_for_news(run);
    if (jobs.over)
        return;
    jobs_sum_show(run, &jobs.sum);
}
