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
#include "cli/remote/asking.h"
#include "cli/remote/helper.h"
#include "cli/remote/hub_open.h"
#include "cli/report.h"
#include "cli/room.h"

static struct {
    int fd; /* of the helper; 0: there is none */
    bool ended;
    const char **url; /* of the command line */
    size_t count;
    struct helper_work work;
    struct remote_cost cost;
    int reason;              /* errno of the last failure */
    char why[WIRE_TEXT_MAX]; /* more about it */
} asking;

/* Two models may be read at once, by threads that do not know each other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool remote_is_url(const char *operand)
{
    return address_is_url(operand) || hub_is_name(operand);
}

bool remote_is_hub(const char *operand)
{
    return hub_is_name(operand);
}

/* For run->why. */
static const char *why(const struct mf_error *error)
{
    return error->system != 0 && error->system == asking.reason &&
                   remote_is_url(error->path)
               ? asking.why
               : "";
}

/* ---- the helper ---- */

struct collected {
    bool hub;         /* names of models of the Hub, else URLs */
    const char **out; /* NULL: they are only counted */
    size_t count;
};

static void collect_one(struct collected *urls, const char *text)
{
    if (!text || !remote_is_url(text) || hub_is_name(text) != urls->hub)
        return;
    if (urls->out)
        urls->out[urls->count] = text;
    urls->count++;
}

/* Operands, lines of --files-from, and values of options such as --from. */
static size_t collect(const struct run *run, bool hub, const char **out)
{
    const struct option *option = run->command->options;
    struct collected urls = { .hub = hub, .out = out };

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
        helper_serve(run, program, pair[1], &asking.work);
    close(pair[1]);
    asking.fd = pair[0];
    fcntl(asking.fd, F_SETFD, FD_CLOEXEC);
    return helper > 0;
}

/* Room for the texts of both kinds; false if out of memory. */
static const char **take_texts(const struct run *run, bool hub, size_t count)
{
    const char **texts = room_take((count + 1) * sizeof(*texts));

    if (texts)
        collect(run, hub, texts);
    return texts;
}

/* Names of the Hub, and what the helper needs for them.  The token is the
 * helper's alone. */
static bool begin_hub(struct run *run, size_t count)
{
    const char **names = take_texts(run, true, count);
    struct hub_endpoint *endpoint = room_take(sizeof(*endpoint));
    char *token = room_take(HUB_TOKEN_SIZE);

    if (!names || !endpoint || !token) {
        report_no_room(run);
        return false;
    }
    if (!hub_begin(run, names, count))
        return false;
    if (!hub_token(token)) {
        report_usage(run, "the token of HF_TOKEN, or of its file, is invalid");
        return false;
    }
    hub_endpoint(endpoint);
    asking.work.hub = (struct hub_site){ endpoint->at, token,
                                         hub_repositories(), count };
    /* Data that is read in order can be checked in the same pass. */
    if (run->command->in_order && run->options->threads == 0)
        run->options->threads = 1;
    return true;
}

static void forget_token(void)
{
    char *token = (char *)(uintptr_t)asking.work.hub.token;

    if (token)
        memset(token, 0, HUB_TOKEN_SIZE);
}

static bool begin_helper(struct run *run)
{
    bool started = start(run);

    forget_token();
    if (!started)
        report_no_room(run);
    return started;
}

bool remote_begin(struct run *run)
{
    bool help = run->options->help;
    size_t urls = help ? 0 : collect(run, false, NULL);
    size_t names = help ? 0 : collect(run, true, NULL);

    if (urls + names == 0)
        return true;
    asking.url = take_texts(run, false, urls);
    if (!asking.url) {
        report_no_room(run);
        return false;
    }
    asking.count = urls;
    asking.work.url = asking.url;
    asking.work.url_count = urls;
    run->why = why;
    run->remote = &asking.cost;
    if (!are_accepted(run) || (names > 0 && !begin_hub(run, names)))
        return false;
    return urls + (hub_is_online() ? names : 0) == 0 || begin_helper(run);
}

/* ---- questions ---- */

int asking_failed(int reason, const char *why)
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
    return asking_failed(stopped ? ECANCELED : EIO,
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
    return asking_failed(answer->reason, why);
}

/* Sends a question with a name, and takes the answer but for the bytes that
 * follow.  Returns 0 or a number of errno. */
static int ask_for(const struct wire_ask *ask, const char *name,
                   struct wire_answer *answer)
{
    if (asking.fd == 0 || asking.ended)
        return asking_failed(EIO, asking.fd == 0 ? "name the URL on the command line"
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

/* ---- a source ---- */

static uint32_t number_of(void *user)
{
    return (uint32_t)((uintptr_t)user - 1);
}

static void *user_of(uint32_t number)
{
    return (void *)((uintptr_t)number + 1); /* not NULL */
}

int64_t asking_read(uint32_t file, uint64_t offset, void *buffer, size_t count)
{
    struct wire_ask ask = { WIRE_READ, file, offset,
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

static int64_t read_remote(void *user, uint64_t offset, void *buffer,
                           size_t count)
{
    return asking_read(number_of(user), offset, buffer, count);
}

/* Has no answer: if the helper has ended, the next question finds out. */
void asking_expect(uint32_t file, uint64_t offset, uint64_t size)
{
    struct wire_ask ask = { WIRE_EXPECT, file, offset, size };

    pthread_mutex_lock(&lock);
    if (!asking.ended && !put(&ask, sizeof(ask)))
        broken();
    pthread_mutex_unlock(&lock);
}

static void expect_remote(void *user, uint64_t offset, uint64_t size)
{
    asking_expect(number_of(user), offset, size);
}

static int open_remote(const struct wire_ask *ask, const char *name,
                       struct mf_byte_source *out);

/* The library names a file with the folder of the first one. */
static int open_beside(void *user, const char *name, struct mf_byte_source *out)
{
    struct wire_ask ask = { WIRE_BESIDE, number_of(user), 0, strlen(name) };

    return ask.size > WIRE_NAME_MAX ? ENOENT : open_remote(&ask, name, out);
}

int asking_open(const struct wire_ask *ask, const char *name,
                struct wire_answer *out)
{
    int reason;

    pthread_mutex_lock(&lock);
    reason = ask_for(ask, name, out);
    pthread_mutex_unlock(&lock);
    return reason;
}

static int open_remote(const struct wire_ask *ask, const char *name,
                       struct mf_byte_source *out)
{
    struct wire_answer answer = { 0 };
    int reason = asking_open(ask, name, &answer);

    *out = (struct mf_byte_source){ .size = sizeof(*out),
                                    .bytes = answer.total,
                                    .read = read_remote,
                                    .user = user_of(answer.file),
                                    .open = open_beside,
                                    .expect = expect_remote,
                                    .one_at_a_time = true };
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

/* A source that fails when it is read. */
static int64_t read_nothing(void *user, uint64_t offset, void *buffer,
                            size_t count)
{
    (void)user;
    (void)offset;
    (void)buffer;
    (void)count;
    return -(int64_t)asking.reason;
}

enum mf_status asking_open_failed(struct run *run, const char *name,
                                  const struct mf_open_options *options,
                                  struct mf_model **out)
{
    struct mf_byte_source source = { .size = sizeof(source),
                                     .name = name,
                                     .bytes = 1,
                                     .read = read_nothing };

    return mf_model_open_source(run->env, &source, options, out);
}

static enum mf_status open_url(struct run *run, const char *url,
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
            ? asking_failed(EIO, "name the URL on the command line")
            : open_remote(&ask, NULL, &source))
        return asking_open_failed(run, name.at, options, out);
    source.name = name.at;
    return mf_model_open_source(run->env, &source, options, out);
}

enum mf_status remote_open(struct run *run, const char *url,
                           const struct mf_open_options *options,
                           struct mf_model **out)
{
    return hub_is_name(url) ? hub_open(run, url, options, out)
                            : open_url(run, url, options, out);
}

/* ---- models of the Hub ---- */

enum mf_status remote_check(struct run *run, const struct mf_model *model,
                            const char *operand)
{
    const struct mf_open_options options = { .size = sizeof(options) };
    int reason = hub_is_name(operand) ? hub_check(model, operand) : 0;
    struct mf_model *none;

    return reason == 0 ? MF_OK
                       : asking_open_failed(run, operand, &options, &none);
}

const struct hub_cost *remote_hub_cost(void)
{
    return hub_cost();
}

bool remote_hub_at(size_t index, struct hub_commit *out)
{
    return hub_commit_at(index, out);
}

void remote_end(void)
{
    hub_end();
}
