/* SPDX-License-Identifier: MIT
 *
 * files.c - many files, each read by one rank: --jobs and --log
 *
 * A rank reads its files one after the other, in an env that is made for each,
 * and keeps what they print until rank 0 takes it (post.h).  No process is
 * made: MPI does not allow that everywhere, and it takes longer than a small
 * file.
 */
#include "cli/mpi/files.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cost.h"
#include "cli/held.h"
#include "cli/jobs.h"
#include "cli/jobs_log.h"
#include "cli/jobs_sum.h"
#include "cli/mpi/inside.h"
#include "cli/mpi/post.h"
#include "cli/mpi/wire.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/report.h"
#include "cli/start.h"

/* A rank takes files for about so long at once. */
#define TAKE_NS   10000000
#define TAKE_MOST 32

static struct {
    bool begun, over;
    bool inside;           /* what is printed is about a file */
    uint64_t seen;         /* files */
    uint64_t printed;      /* by rank 0 */
    uint64_t digest;       /* of their paths */
    uint64_t first, count; /* those that this rank has taken */
    uint64_t wanted;       /* next time */
    uint64_t taken_at;     /* nanoseconds */
    uint64_t bytes;        /* read */
    struct post_bytes text[POST_TEXTS];
    struct jobs_sum *sum; /* of rank 0 */
} files;

/* Ranks that wait for rank 0 hear of it while its reader is slow.  There is no
 * line of progress that would have to go. */
static void wait_for_reader(void *user)
{
    struct pollfd reader = { .fd = STDOUT_FILENO, .events = POLLOUT };
    long pause = NAP_LEAST;

    (void)user;
    while (poll(&reader, 1, 0) == 0 && progress_signal() == 0)
        post_wait(&pause);
}

static void begin(struct run *run, struct jobs_sum *sum)
{
    run->out.before = wait_for_reader;
    run->out.piece = PIPE_BUF;
    files.begun = true;
    files.wanted = 1;
    files.digest = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    files.sum = sum;
    post_begin();
}

/* All ranks have to find the same files, in the same order. */
static void note_path(const char *path)
{
    do
        files.digest =
            (files.digest ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    while (*path++);
    files.seen++;
}

/* ---- what a file prints ---- */

static void add_text(void *user, const char *at, size_t size)
{
    post_add(user, at, size);
}

/* What a run has for one file, and has to get back. */
struct kept {
    struct mf_env *env;
    struct timespec started, env_made;
    int code;
    bool quiet;
    uint64_t size;
    struct mf_io_stats other_io;
    struct mf_heap_stats other_heap;
};

static struct kept enter(struct run *run)
{
    struct kept kept = { .env = run->env,
                         .started = run->started,
                         .env_made = run->env_made,
                         .code = run->code,
                         .quiet = run->options->quiet,
                         .size = run->size,
                         .other_io = run->other_io,
                         .other_heap = run->other_heap };

    out_flush(&run->out);
    held_print();
    files.inside = true;
    for (size_t i = 0; i < POST_TEXTS; i++)
        files.text[i].size = 0;
    run->out.sink = add_text;
    run->out.user = &files.text[POST_OUT];
    held_to(add_text, &files.text[POST_ERROR]);
    start_answer(run);
    run->options->quiet = true;
    return kept;
}

static void leave(struct run *run, const struct kept *kept)
{
    held_print();
    held_to(NULL, NULL);
    files.inside = false;
    run->out.sink = NULL;
    run->env = kept->env;
    run->started = kept->started;
    run->env_made = kept->env_made;
    run->code = kept->code;
    run->options->quiet = kept->quiet;
    run->size = kept->size;
    run->other_io = kept->other_io;
    run->other_heap = kept->other_heap;
}

static void note_costs(struct mf_env *env, struct post_answer *answer)
{
    struct mf_heap_stats heap;
    struct mf_io_stats io;

    mf_env_heap(env, &heap);
    mf_env_io(env, &io);
    answer->heap = heap.peak + post_heap();
    answer->allocations = heap.allocations;
    answer->read = io.bytes_read;
    files.bytes += io.bytes_read;
}

/* keeps_env: the env in which the list is read has the error. */
static void act_alone(struct run *run, const struct jobs_act *act,
                      struct post_answer *answer)
{
    struct kept kept = enter(run);

    if (act->keeps_env || start_env_for_file(run))
        act->act(act->user);
    answer->code = (uint64_t)run->code;
    answer->size = run->size;
    out_flush(&run->out);
    if (run->env && run->env != kept.env) {
        struct mf_env *env = run->env;

        note_costs(env, answer);
        if (run->code != EXIT_USAGE)
            cost_close(run);
        timings_close(run);
        run->env = kept.env; /* a signal may come */
        mf_env_free(env);
    }
    leave(run, &kept);
}

static void read_file(struct run *run, const char *path,
                      const struct jobs_act *act)
{
    struct post_answer answer = { .number = files.seen - 1 };
    const char *text[POST_TEXTS];
    struct jobs_file file;
    int code = -1;

    if (run->options->log)
        code = jobs_log_find(path, &file);
    if (code >= 0) {
        answer.code = (uint64_t)code;
        answer.left_out = 1;
        for (size_t i = 0; i < POST_TEXTS; i++)
            files.text[i].size = 0;
    } else {
        act_alone(run, act, &answer);
        if (progress_signal() || post_is_stopped())
            return; /* it was cut short */
        if (run->options->log)
            jobs_log_line(&file, (int)answer.code, add_text,
                          &files.text[POST_LOG]);
    }
    for (size_t i = 0; i < POST_TEXTS; i++) {
        answer.text[i] = files.text[i].size;
        text[i] = files.text[i].at;
    }
    post_put(&answer, text);
}

/* ---- which files ---- */

static bool is_over(struct run *run)
{
    bool lost = run->out.closed || run->out.error;

    files.over |= progress_signal() != 0 || lost || post_is_stopped();
    return files.over;
}

static void print(struct run *run, const struct post_answer *answer,
                  const char *texts)
{
    const char *error = texts + answer->text[POST_OUT];
    const char *line = error + answer->text[POST_ERROR];
    int code = (int)answer->code;

    files.printed++;
    report_code(run, code);
    if (answer->left_out) {
        files.sum->left_out++;
        files.sum->left_with_errors += code == EXIT_NO;
        return;
    }
    out_bytes(&run->out, texts, (size_t)answer->text[POST_OUT]);
    if (answer->text[POST_ERROR] > 0) {
        out_flush(&run->out);
        held_write(error, (size_t)answer->text[POST_ERROR]);
    }
    if (answer->text[POST_LOG] > 0)
        jobs_log_put(run, line, (size_t)answer->text[POST_LOG]);
    files.sum->ended[code <= EXIT_MEMORY ? code : EXIT_INPUT]++;
    files.sum->done++;
    run->size += answer->size;
    run->other_io.bytes_read += answer->read;
    run->other_heap.allocations += answer->allocations;
    if (answer->heap > run->other_heap.peak)
        run->other_heap.peak = (size_t)answer->heap;
}

/* By rank 0. */
static void print_ready(struct run *run)
{
    struct post_answer answer;
    char *texts;

    while (!is_over(run) && post_next(&answer, &texts)) {
        print(run, &answer, texts ? texts : "");
        post_resize(texts, post_size(&answer), 0);
    }
}

/* While rank 0 waits. */
static void look_around(struct run *run)
{
    print_ready(run);
    if (post_is_stuck())
        post_stop();
}

/* Small files are taken several at once, so that few messages are needed. */
static void adapt(void)
{
    uint64_t each;

    if (files.count == 0)
        return;
    each = (wire_now() - files.taken_at) / files.count + 1;
    files.wanted = TAKE_NS / each;
    files.wanted = files.wanted < 1           ? 1
                   : files.wanted > TAKE_MOST ? TAKE_MOST
                                              : files.wanted;
}

static void take(struct run *run)
{
    enum post_taken taken = POST_LATER;
    long pause = NAP_LEAST;

    adapt();
    while (!is_over(run)) {
        taken = post_take(files.wanted, &files.first, &files.count);
        if (taken != POST_LATER)
            break;
        post_wait(&pause);
        if (!ranks_follow())
            look_around(run);
    }
    files.over |= taken == POST_OVER;
    files.taken_at = wire_now();
}

void ranks_give_file(struct run *run, const char *path,
                     const struct jobs_act *act, struct jobs_sum *sum)
{
    uint64_t number;

    if (!files.begun)
        begin(run, sum);
    note_path(path);
    number = files.seen - 1;
    while (!files.over && number >= files.first + files.count)
        take(run);
    if (files.over || number < files.first)
        return;
    read_file(run, path, act);
    post_send();
    if (!ranks_follow())
        print_ready(run);
}

/* ---- the end ---- */

/* NULL: the answer is complete. */
static const char *what_is_wrong(const struct post_end *ends, char text[96])
{
    for (size_t i = 1; i < ranks_count(); i++)
        if (ends[i].files != ends[0].files ||
            ends[i].digest != ends[0].digest) {
            snprintf(text, 96,
                     "rank %zu found other files than rank 0: the answer is "
                     "not complete",
                     i);
            return text;
        }
    return files.printed == ends[0].files ? NULL
                                          : "answers about files are missing";
}

static size_t stopped_rank(const struct post_end *ends)
{
    for (size_t i = 1; i < ranks_count(); i++)
        if (ends[i].signal)
            return i;
    return 0;
}

static void check_ends(struct run *run, const struct post_end *ends)
{
    size_t stopped = stopped_rank(ends);
    bool lost = run->out.closed || run->out.error;
    const char *wrong;
    char text[96];

    if (progress_signal()) {
        report_code(run, EXIT_SIGNAL + progress_signal());
    } else if (stopped > 0) {
        snprintf(text, sizeof(text), "rank %zu was stopped by signal %" PRIu64,
                 stopped, ends[stopped].signal);
        report_late(run, EXIT_SIGNAL + (int)ends[stopped].signal,
                    run->command->name, text);
    } else if (!lost && (wrong = what_is_wrong(ends, text)) != NULL) {
        files.over = true;
        report_input(run, run->command->name, "%s", wrong);
    }
}

/* Rank 0 waits for the answers of all. */
static void gather(struct run *run)
{
    const struct post_end *ends;
    long pause = NAP_LEAST;

    for (;;) {
        bool ended = post_ended(&ends) == ranks_count();

        look_around(run);
        if (is_over(run) || stopped_rank(ends) > 0)
            post_stop();
        if (ended)
            break;
        post_wait(&pause);
    }
    post_finish();
    check_ends(run, ends);
}

bool ranks_end_files(struct run *run, struct jobs_sum *sum)
{
    struct post_end end = { 0 };

    if (!files.begun)
        begin(run, sum);
    end = (struct post_end){ files.seen, files.digest,
                             (uint64_t)progress_signal() };
    post_end(&end);
    if (ranks_follow())
        return false;
    gather(run);
    return !is_over(run);
}

uint64_t files_bytes(void)
{
    return files.bytes;
}

bool files_are_inside(void)
{
    return files.inside;
}

bool ranks_go_on(void)
{
    if (files.begun)
        wire_pulse();
    return !post_is_stopped();
}
