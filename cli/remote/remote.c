/* SPDX-License-Identifier: MIT
 *
 * remote.c - models that are read over HTTP: the parser's side
 */
#include "cli/remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/remote/address.h"
#include "cli/remote/helper.h"
#include "cli/remote/wire.h"
#include "cli/report.h"
#include "cli/room.h"

static struct {
    int fd; /* of the helper; 0: there is none */
    bool ended;
    bool resumes;     /* --resume */
    const char **url; /* of the command line */
    size_t count;
    struct remote_cost cost;
    int reason;              /* errno of the last failure */
    char why[WIRE_TEXT_MAX]; /* more about it */
} asking;

/* Two models may be read at once, by threads that do not know each other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool remote_is_url(const char *operand)
{
    return address_is_url(operand);
}

/* For run->why. */
static const char *why(const struct mf_error *error)
{
    return asking.fd > 0 && error->system != 0 &&
                   error->system == asking.reason && address_is_url(error->path)
               ? asking.why
               : "";
}

/* ---- the helper ---- */

struct collected {
    const char **out; /* NULL: they are only counted */
    size_t count;
};

static void collect_one(struct collected *urls, const char *text)
{
    if (!text || !address_is_url(text))
        return;
    if (urls->out)
        urls->out[urls->count] = text;
    urls->count++;
}

/* Operands, lines of --files-from, and values of options such as --from. */
static size_t collect(const struct run *run, const char **out)
{
    const struct option *option = run->command->options;
    struct collected urls = { .out = out };

    for (size_t i = 0; i < run->operand_count; i++)
        collect_one(&urls, run->operand[i]);
    for (size_t i = 0; i < run->listed_count; i++)
        collect_one(&urls, run->listed[i]);
    for (; option && option->name; option++)
        if (option->kind == KIND_TEXT)
            collect_one(&urls, *option->set.text);
    return urls.count;
}

static bool are_accepted(struct run *run)
{
    const char *refused;

    if (!run->command->remote) {
        report_usage(run, "'%s%s%s' reads no URLs: download the file first",
                     run->command->name, *run->command->sub ? " " : "",
                     run->command->sub);
        return false;
    }
    for (size_t i = 0; i < asking.count; i++) {
        refused = address_refused(asking.url[i]);
        if (refused) {
            report_usage(run, "'%.200s': %s", asking.url[i], refused);
            return false;
        }
    }
    return true;
}

static bool start(struct run *run)
{
    int pair[2];
    pid_t program = getpid(), helper;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return false;
    helper = fork();
    if (helper == 0)
        helper_serve(run, program, pair[1], asking.url, asking.count);
    close(pair[1]);
    asking.fd = pair[0];
    fcntl(asking.fd, F_SETFD, FD_CLOEXEC);
    return helper > 0;
}

static void sum_up(void);

bool remote_begin(struct run *run)
{
    size_t count = run->options->help ? 0 : collect(run, NULL);

    if (count == 0)
        return true;
    asking.url = room_take(count * sizeof(*asking.url));
    if (!asking.url) {
        report_no_room(run);
        return false;
    }
    asking.count = collect(run, asking.url);
    asking.resumes = run->options->resume;
    if (run->options->whole)
        run->options->threads = 1; /* several do not read in order */
    run->why = why;
    run->remote = &asking.cost;
    run->remote_sum_up = sum_up;
    if (!are_accepted(run))
        return false;
    if (!start(run)) {
        report_no_room(run);
        return false;
    }
    return true;
}

/* ---- questions ---- */

static int failed(int reason, const char *why)
{
    asking.reason = reason;
    memmove(asking.why, why, strlen(why) + 1);
    return reason;
}

/* What was sent or answered in part cannot be continued. */
static int broken(void)
{
    bool stopped = errno == ECANCELED;

    asking.ended = true;
    return failed(stopped ? ECANCELED : EIO,
                  stopped ? "" : "the network's process has ended");
}

static bool is_stopped(void)
{
    return progress_signal() != 0;
}

static bool take(void *bytes, size_t size)
{
    return wire_read(asking.fd, bytes, size, is_stopped);
}

static bool put(const void *bytes, size_t size)
{
    return wire_write(asking.fd, bytes, size, is_stopped);
}

/* The text that says why; 0 if the helper does not keep to the rules. */
static int take_why(const struct wire_answer *answer)
{
    char why[WIRE_TEXT_MAX];

    if (answer->reason < 0 || answer->size >= sizeof(why) ||
        !take(why, (size_t)answer->size))
        return broken();
    why[answer->size] = 0;
    return failed(answer->reason, why);
}

/* Sends a question with a name, and takes the answer but for the bytes that
 * follow.  Returns 0 or a number of errno. */
static int ask_for(const struct wire_ask *ask, const char *name,
                   struct wire_answer *answer)
{
    if (asking.fd == 0 || asking.ended)
        return failed(EIO, asking.fd == 0 ? "name the URL on the command line"
                                          : asking.why);
    if (!put(ask, sizeof(*ask)) || (name && !put(name, (size_t)ask->size)) ||
        !take(answer, sizeof(*answer)))
        return broken();
    asking.cost = answer->cost;
    if (answer->reason != 0)
        return take_why(answer);
    if (answer->total > INT64_MAX)
        return broken();
    return 0;
}

/* Everything was read: run->remote gets what it has cost in all. */
static void sum_up(void)
{
    const struct wire_ask ask = { .op = WIRE_COST };
    struct wire_answer answer;

    pthread_mutex_lock(&lock);
    if (asking.fd > 0 && !asking.ended)
        ask_for(&ask, NULL, &answer);
    pthread_mutex_unlock(&lock);
}

/* ---- a source ---- */

static uint32_t number_of(void *user)
{
    return (uint32_t)((uintptr_t)user - 1);
}

static void *user_of(uint32_t number)
{
    return (void *)((uintptr_t)number + 1); /* not NULL */
}

static int64_t read_remote(void *user, uint64_t offset, void *buffer,
                           size_t count)
{
    struct wire_ask ask = { WIRE_READ, number_of(user), offset,
                            count < WIRE_READ_MAX ? count : WIRE_READ_MAX };
    struct wire_answer answer;
    int reason;

    pthread_mutex_lock(&lock);
    reason = ask_for(&ask, NULL, &answer);
    if (reason == 0 && (answer.size == 0 || answer.size > ask.size ||
                        !take(buffer, (size_t)answer.size)))
        reason = broken();
    pthread_mutex_unlock(&lock);
    return reason != 0 ? -(int64_t)reason : (int64_t)answer.size;
}

/* Has no answer: if the helper has ended, the next question finds out. */
static void expect_remote(void *user, uint64_t offset, uint64_t size)
{
    struct wire_ask ask = { WIRE_EXPECT, number_of(user), offset, size };

    pthread_mutex_lock(&lock);
    if (!asking.ended && !put(&ask, sizeof(ask)))
        broken();
    pthread_mutex_unlock(&lock);
}

static int open_remote(const struct wire_ask *ask, const char *name,
                       struct mf_byte_source *out);

/* The library names a file with the folder of the first one. */
static int open_beside(void *user, const char *name, struct mf_byte_source *out)
{
    struct wire_ask ask = { WIRE_BESIDE, number_of(user), 0, strlen(name) };

    return ask.size > WIRE_NAME_MAX ? ENOENT : open_remote(&ask, name, out);
}

static int open_remote(const struct wire_ask *ask, const char *name,
                       struct mf_byte_source *out)
{
    struct wire_answer answer = { 0 };
    int reason;

    pthread_mutex_lock(&lock);
    reason = ask_for(ask, name, &answer);
    if (reason == 0 && asking.resumes && answer.version[0] == 0 &&
        answer.version[1] == 0)
        reason = failed(EIO, "--resume needs a server that names the version "
                             "of the file: it sends neither ETag nor "
                             "Last-Modified");
    pthread_mutex_unlock(&lock);
    *out = (struct mf_byte_source){ .size = sizeof(*out),
                                    .bytes = answer.total,
                                    .read = read_remote,
                                    .user = user_of(answer.file),
                                    .open = open_beside,
                                    .expect = expect_remote,
                                    .one_at_a_time = true,
                                    .version = { answer.version[0],
                                                 answer.version[1] } };
    return reason;
}

/* ---- a model ---- */

static uint32_t index_of(const char *url)
{
    uint32_t i = 0;

    while (i < asking.count && strcmp(asking.url[i], url) != 0)
        i++;
    return i;
}

/* A source that fails when it is read: the library says so like any other
 * error. */
static int64_t read_nothing(void *user, uint64_t offset, void *buffer,
                            size_t count)
{
    (void)user;
    (void)offset;
    (void)buffer;
    (void)count;
    return -(int64_t)asking.reason;
}

enum mf_status remote_open(struct run *run, const char *url,
                           const struct mf_open_options *options,
                           struct mf_model **out)
{
    struct wire_ask ask = { .op = WIRE_OPEN, .file = index_of(url) };
    struct mf_byte_source source;
    struct address name = { "" };
    size_t size = address_path_size(url);

    if (size < sizeof(name.at))
        memcpy(name.at, url, size);
    if (ask.file == asking.count
            ? failed(EIO, "name the URL on the command line")
            : open_remote(&ask, NULL, &source)) {
        source = (struct mf_byte_source){ .size = sizeof(source),
                                          .bytes = 1,
                                          .read = read_nothing };
    }
    source.name = name.at;
    return mf_model_open_source(run->env, &source, options, out);
}
