/* SPDX-License-Identifier: MIT
 *
 * remote.c - models that are read over HTTP: the parser's side
 */
#include "cli/remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/remote/address.h"
#include "cli/remote/asking.h"
#include "cli/remote/helper.h"
#include "cli/remote/hub_open.h"
#include "cli/report.h"
#include "cli/room.h"

static struct helper_work work; /* what the command line names */

bool remote_is_url(const char *operand)
{
    return address_is_url(operand) || hub_is_name(operand);
}

bool remote_is_hub(const char *operand)
{
    return hub_is_name(operand);
}

char *remote_named(char *operand)
{
    char *name = remote_is_url(operand)
                     ? NULL
                     : room_take(strlen(operand) + sizeof(HUB_PREFIX));

    return name ? strcat(strcpy(name, HUB_PREFIX), operand) : operand;
}

/* For run->why. */
static const char *why(const struct mf_error *error)
{
    return remote_is_url(error->path) ? asking_why(error->system) : "";
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
    for (size_t i = 0; i < work.url_count; i++) {
        refused = address_refused(work.url[i]);
        if (refused) {
            report_usage(run, "'%.200s': %s", work.url[i], refused);
            return false;
        }
    }
    return true;
}

static bool start(struct run *run)
{
    int pair[2];
    pid_t program = getpid(), helper;

    helper_prepare(run, &work);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return false;
    helper = fork();
    if (helper == 0)
        helper_serve(run, program, pair[1], &work);
    close(pair[1]);
    fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    if (work.shelf.at)
        room_only_read(work.shelf.at, work.shelf.size);
    asking_begin(pair[0], &work.shelf);
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
    work.hub = (struct hub_site){ endpoint->at, token, the_hub.names, count };
    run->hub = &the_hub.cost;
    /* Data that is read in order is checked in the same pass: else other bytes
     * than those that were used would be digested. */
    if (run->command->in_order)
        run->options->threads = 1;
    return true;
}

static void forget_token(void)
{
    char *token = (char *)(uintptr_t)work.hub.token;

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
    bool reads = !run->options->help && !run->command->no_input;
    size_t urls = reads ? collect(run, false, NULL) : 0;
    size_t names = reads ? collect(run, true, NULL) : 0;

    if (urls + names == 0)
        return true;
    work.url = take_texts(run, false, urls);
    work.url_count = urls;
    if (!work.url) {
        report_no_room(run);
        return false;
    }
    asking_resumes(run->options->resume);
    if (run->options->whole)
        run->options->threads = 1; /* several do not read in order */
    run->why = why;
    run->remote = asking_cost();
    run->remote_sum_up = asking_cost_of_all;
    if (!are_accepted(run) || (names > 0 && !begin_hub(run, names)))
        return false;
    return (urls == 0 && the_hub.offline) || begin_helper(run);
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
    return asking_read(number_of(user), offset, buffer, count);
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
    struct wire_ask ask = { WIRE_BESIDE, number_of(user), 0, strlen(name), 0 };

    return ask.size > WIRE_NAME_MAX ? ENOENT : open_remote(&ask, name, out);
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
                                    .one_at_a_time = true,
                                    .version = { answer.version[0],
                                                 answer.version[1] } };
    return reason;
}

/* ---- a model ---- */

static uint32_t index_of(const char *url)
{
    uint32_t i = 0;

    while (i < work.url_count && strcmp(work.url[i], url) != 0)
        i++;
    return i;
}

static enum mf_status open_url(struct run *run, const char *url,
                               const struct mf_open_options *options,
                               struct mf_model **out)
{
    struct wire_ask ask = { .op = WIRE_OPEN, .file = index_of(url) };
    struct mf_byte_source source;
    struct address name = { "" };
    size_t size = address_path_size(url);
    int reason;

    if (size < sizeof(name.at))
        memcpy(name.at, url, size);
    reason = ask.file == work.url_count
                 ? asking_failed(EIO, "name the URL on the command line")
                 : open_remote(&ask, NULL, &source);
    if (reason != 0)
        return asking_open_failed(run, name.at, reason, options, out);
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

    return reason == 0
               ? MF_OK
               : asking_open_failed(run, operand, reason, &options, &none);
}

void remote_end(void)
{
    hub_end();
}
