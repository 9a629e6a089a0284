/* SPDX-License-Identifier: MIT
 *
 * fetch.c - parts of a file on a server, which stays the same file
 *
 * What a server says is compared with what was asked, and with what it said
 * before: size, ETag and Last-Modified.  A file that changes is an error; two
 * versions of it are never mixed.
 */
#include "cli/remote/fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/malloc_count.h"

#define RETRIES        3
#define REDIRECTS_MAX  10
#define RETRY_WAIT_MAX 30 /* seconds */

/* The pause before the first retry; then twice as long each time.  It is
 * shorter where the server may not be silent for long. */
#define PAUSE_MILLIS 500

/* After so many bytes without an error, retries are counted anew. */
#define PROGRESS ((uint64_t)1024 * 1024)

enum outcome {
    DONE,
    AGAIN, /* may work later */
    FAILED
};

char *fetch_text(struct mf_env *env, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mf_env_resize(env, NULL, 0, size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

__attribute__((format(printf, 4, 5))) static enum outcome
fail(struct fetch *fetch, enum outcome outcome, int reason,
     const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fetch->why, sizeof(fetch->why), format, arguments);
    va_end(arguments);
    fetch->reason = reason;
    return outcome;
}

static enum outcome no_memory(struct fetch *fetch)
{
    return fail(fetch, FAILED, ENOMEM, "the network's process has no memory");
}

/* ---- what an answer means ---- */

static enum outcome wrong(struct fetch *fetch, const char *what)
{
    return fail(fetch, FAILED, EIO, "the server's answer is wrong: %s", what);
}

static enum outcome changed(struct fetch *fetch)
{
    return fail(fetch, FAILED, EIO,
                "the file on the server has changed while it was read");
}

/* Keeps what tells this version of the file from others, or compares it. */
static bool is_same(struct remote_file *file, const struct reply *reply,
                    uint64_t size)
{
    if (file->known)
        return (size == file->size ||
                (size == FETCH_ENDLESS && !file->ranges)) &&
               strcmp(file->etag, reply->etag) == 0 &&
               strcmp(file->modified, reply->modified) == 0;
    file->known = true;
    file->size = size;
    memcpy(file->etag, reply->etag, sizeof(file->etag));
    memcpy(file->modified, reply->modified, sizeof(file->modified));
    return true;
}

static void forget_address(struct fetch *fetch)
{
    struct remote_file *file = fetch->file;

    if (file->at)
        mf_env_resize(fetch->fetcher->env, file->at, strlen(file->at) + 1, 0);
    file->at = NULL;
}

/* The address that has answered is asked from now on.  Without memory, the one
 * that redirects to it is asked again. */
static void keep_address(struct fetch *fetch)
{
    struct remote_file *file = fetch->file;
    const char *at = fetch->address.at;

    if (strcmp(file->at ? file->at : file->url, at) == 0)
        return;
    forget_address(fetch);
    file->at = fetch_text(fetch->fetcher->env, at);
}

/* Before the first byte of an answer: NULL, or what is wrong with it. */
static const char *accept_answer(void *user)
{
    struct fetch *fetch = user;
    struct remote_file *file = fetch->file;
    const struct reply *reply = &fetch->request.reply;
    bool part = reply->status == 206, first = !file->known;
    uint64_t size = reply->has_length ? reply->length : FETCH_ENDLESS;

    fetch->changed = !is_same(file, reply, part ? reply->total : size);
    if (first)
        file->ranges = part;
    fetch->skip = fetch->next - fetch->request.first;
    if (!fetch->changed)
        keep_address(fetch);
    return fetch->changed ? "the file has changed" : NULL;
}

/* Leaves out what an answer that begins anew repeats. */
static bool take_bytes(void *user, const uint8_t *bytes, size_t size)
{
    struct fetch *fetch = user;
    size_t skip = fetch->skip < size ? (size_t)fetch->skip : size;

    if (size > skip && !fetch->take(fetch->user, bytes + skip, size - skip))
        return false;
    fetch->skip -= skip;
    fetch->next += size - skip;
    return true;
}

static enum outcome ended_early(struct fetch *fetch, uint64_t size)
{
    return fail(fetch, AGAIN, EIO,
                "the server's answer ended early: %" PRIu64 " of %" PRIu64
                " bytes",
                fetch->request.got, size);
}

static enum outcome judge_part(struct fetch *fetch)
{
    const struct request *request = &fetch->request;
    const char *what =
        reply_range_wrong(&request->reply, request->first, request->last);
    uint64_t size;

    if (what)
        return wrong(fetch, what);
    size = request->reply.last - request->first + 1;
    if (request->got == 0 && accept_answer(fetch))
        return changed(fetch);
    if (request->code != CURL_DONE || request->got != size)
        return ended_early(fetch, size);
    return DONE;
}

static enum outcome judge_whole(struct fetch *fetch)
{
    const struct request *request = &fetch->request;
    struct remote_file *file = fetch->file;

    if (!request->whole)
        return changed(fetch); /* so says If-Range */
    if (request->got == 0 && accept_answer(fetch))
        return changed(fetch);
    if (request->code != CURL_DONE)
        return ended_early(fetch, file->size);
    if (file->size == FETCH_ENDLESS)
        file->size = request->got;
    return request->got == file->size ? DONE : ended_early(fetch, file->size);
}

/* Only a file without bytes has no first one. */
static enum outcome judge_outside(struct fetch *fetch)
{
    const struct reply *reply = &fetch->request.reply;

    if (fetch->file->known)
        return changed(fetch);
    if (!reply->has_range || reply->has_bytes || reply->total != 0)
        return wrong(fetch, "status 416 for the first bytes of a file");
    fetch->file->ranges = true;
    return is_same(fetch->file, reply, 0) ? DONE : changed(fetch);
}

/* A date of Retry-After as seconds from now. */
static void take_wait(struct fetch *fetch)
{
    struct reply *reply = &fetch->request.reply;
    time_t now = time(NULL), until = -1;

    if (*reply->wait_until)
        until = fetch->fetcher->curl.date(reply->wait_until, NULL);
    if (until < 0)
        return;
    reply->has_wait = true;
    reply->wait = until > now ? (uint64_t)(until - now) : 0;
}

static enum outcome judge_status(struct fetch *fetch)
{
    const struct reply *reply = &fetch->request.reply;

    take_wait(fetch);
    switch (reply->status) {
    case 404:
    case 410:
        return fail(fetch, FAILED, ENOENT, "the server answers %u",
                    reply->status);
    case 401:
    case 403:
    case 407:
        return fail(fetch, FAILED, EACCES, "the server answers %u",
                    reply->status);
    case 408:
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
        if (reply->has_wait && reply->wait > RETRY_WAIT_MAX)
            return fail(fetch, FAILED, EIO,
                        "the server answers %u, and to ask again in %" PRIu64
                        " seconds",
                        reply->status, reply->wait);
        return fail(fetch, AGAIN, EIO, "the server answers %u",
                    reply->status);
    case 416:
        return judge_outside(fetch);
    default:
        return fail(fetch, FAILED, EIO, "the server answers %u",
                    reply->status);
    }
}

static bool may_pass(int code)
{
    return code == CURL_NO_PROXY || code == CURL_NO_HOST ||
           code == CURL_NO_CONNECTION || code == CURL_HTTP2 ||
           code == CURL_PARTIAL || code == CURL_TIMEOUT || code == CURL_TLS ||
           code == CURL_NOTHING || code == CURL_SEND || code == CURL_RECEIVE ||
           code == CURL_HTTP2_STREAM;
}

static enum outcome judge(struct fetch *fetch)
{
    const struct request *request = &fetch->request;

    if (request->code == CURL_NO_MEMORY ||
        (request->code != CURL_DONE && process_heap_refused()))
        return no_memory(fetch);
    if (fetch->changed)
        return changed(fetch);
    if (request->wrong)
        return wrong(fetch, request->wrong);
    if (request->code != CURL_DONE && !request->cut)
        return fail(fetch, may_pass(request->code) ? AGAIN : FAILED, EIO,
                    "%s", request->error);
    if (!request->reply.complete)
        return fail(fetch, AGAIN, EIO,
                    "the server's answer ended in its header");
    if (request->reply.status == 206)
        return judge_part(fetch);
    if (request->reply.status == 200)
        return judge_whole(fetch);
    return judge_status(fetch);
}

/* ---- redirects ---- */

static bool is_redirect(const struct request *request)
{
    unsigned status = request->reply.status;

    return request->code == CURL_DONE &&
           (status == 301 || status == 302 || status == 303 || status == 307 ||
            status == 308);
}

/* The next address of the request; NULL, or why it is refused. */
static const char *redirect(struct fetch *fetch)
{
    const char *next = curl_redirect(&fetch->fetcher->curl, &fetch->request);

    if (!next || strlen(next) >= sizeof(fetch->address.at))
        return "it redirects to no address, or to a very long one";
    if (!address_is_url(next))
        return "it redirects to another protocol than HTTP";
    if (address_is_https(fetch->address.at) && !address_is_https(next))
        return "it redirects from https to http";
    strcpy(fetch->address.at, next);
    return NULL;
}

/* An address that was redirected to may be valid for some time only. */
static enum outcome judge_address(struct fetch *fetch, enum outcome outcome)
{
    unsigned status = fetch->request.reply.status;

    if (outcome != FAILED || !fetch->direct ||
        (status != 401 && status != 403 && status != 404 && status != 410))
        return outcome;
    forget_address(fetch);
    return AGAIN;
}

/* ---- a fetch ---- */

/* If-Range takes a strong ETag, or else a date. */
static const char *version_of(const struct remote_file *file)
{
    if (!file->known || !file->ranges)
        return NULL;
    if (*file->etag == '"')
        return file->etag;
    return !*file->etag && *file->modified ? file->modified : NULL;
}

static uint64_t now(void)
{
    struct timespec time = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static uint64_t pause_before(const struct fetch *fetch)
{
    const struct reply *reply = &fetch->request.reply;
    uint64_t millis = (uint64_t)PAUSE_MILLIS << fetch->retry;

    if (fetch->fetcher->patience < FETCH_PATIENCE)
        millis = millis * (uint64_t)fetch->fetcher->patience / FETCH_PATIENCE;
    return reply->has_wait && reply->wait * 1000 > millis ? reply->wait * 1000
                                                          : millis;
}

static void send_request(struct fetch *fetch)
{
    struct fetcher *fetcher = fetch->fetcher;
    struct remote_file *file = fetch->file;
    struct request *request = &fetch->request;

    request->url = fetch->address.at;
    request->first = file->known && !file->ranges ? 0 : fetch->next;
    request->last = fetch->last;
    request->if_range = version_of(file);
    request->whole = request->first == 0 && !file->ranges;
    request->patience = fetcher->patience;
    request->accept = accept_answer;
    request->take = take_bytes;
    request->user = fetch;
    request->body = &fetcher->cost.bytes;
    fetch->state = FETCH_RUNS;
    fetcher->cost.requests++;
    curl_begin(&fetcher->curl, request);
}

static void begin_attempt(struct fetch *fetch)
{
    const struct remote_file *file = fetch->file;

    strcpy(fetch->address.at, file->at ? file->at : file->url);
    fetch->direct = file->at != NULL;
    fetch->hops = 0;
    send_request(fetch);
}

static void end_attempt(struct fetch *fetch, enum outcome outcome)
{
    if (fetch->next - fetch->failed_at >= PROGRESS)
        fetch->retry = 0;
    fetch->failed_at = fetch->next;
    if (outcome == AGAIN && fetch->retry < RETRIES) {
        fetch->again = now() + pause_before(fetch);
        fetch->retry++;
        fetch->state = FETCH_WAITS;
        return;
    }
    fetch->state = outcome == DONE ? FETCH_DONE : FETCH_FAILED;
}

/* The request has ended. */
static void go_on(struct fetch *fetch)
{
    const char *refused;

    if (!is_redirect(&fetch->request)) {
        end_attempt(fetch, judge_address(fetch, judge(fetch)));
        return;
    }
    refused = fetch->hops++ == REDIRECTS_MAX ? "it redirects more than 10 times"
                                             : redirect(fetch);
    if (refused)
        end_attempt(fetch, wrong(fetch, refused));
    else
        send_request(fetch);
}

static struct fetch *unused(struct fetcher *fetcher)
{
    for (size_t i = 0; i < CURL_CONNECTIONS; i++)
        if (fetcher->fetch[i].state == FETCH_UNUSED)
            return &fetcher->fetch[i];
    return NULL;
}

struct fetch *fetch_begin(struct fetcher *fetcher, struct remote_file *file,
                          struct mf_span span,
                          bool (*take)(void *user, const uint8_t *bytes,
                                       size_t size),
                          void *user)
{
    struct fetch *fetch = unused(fetcher);

    if (!fetch)
        return NULL;
    fetch->fetcher = fetcher;
    fetch->file = file;
    fetch->next = fetch->failed_at = span.offset;
    fetch->last = span.offset + span.size - 1;
    fetch->take = take;
    fetch->user = user;
    fetch->retry = 0;
    fetch->changed = false;
    fetch->why[0] = 0;
    if (*fetcher->curl.why)
        end_attempt(fetch, fail(fetch, FAILED,
                                process_heap_refused() ? ENOMEM : EIO, "%s",
                                fetcher->curl.why));
    else
        begin_attempt(fetch);
    return fetch;
}

bool fetch_runs(const struct fetch *fetch)
{
    return fetch->state == FETCH_RUNS || fetch->state == FETCH_WAITS;
}

bool fetch_is_full(const struct fetch *fetch)
{
    return fetch->state == FETCH_RUNS && fetch->request.paused;
}

void fetch_go_on(struct fetch *fetch)
{
    curl_go_on(&fetch->fetcher->curl, &fetch->request);
}

void fetch_end(struct fetch *fetch)
{
    curl_cut(&fetch->fetcher->curl, &fetch->request);
    fetch->state = FETCH_UNUSED;
}

/* Sends what has waited long enough; milliseconds until the next. */
static int send_again(struct fetcher *fetcher)
{
    uint64_t time = now(), wait = 1000;

    for (size_t i = 0; i < CURL_CONNECTIONS; i++) {
        struct fetch *fetch = &fetcher->fetch[i];

        if (fetch->state != FETCH_WAITS)
            continue;
        if (fetch->again <= time) {
            fetcher->cost.retries++;
            begin_attempt(fetch);
            wait = 0;
        } else if (fetch->again - time < wait) {
            wait = fetch->again - time;
        }
    }
    return (int)wait;
}

/* One whose request never began has no other end. */
static bool end_unsent(struct fetcher *fetcher)
{
    bool ended = false;

    for (size_t i = 0; i < CURL_CONNECTIONS; i++) {
        struct fetch *fetch = &fetcher->fetch[i];

        if (fetch->state == FETCH_RUNS && !fetch->request.runs) {
            go_on(fetch);
            ended = true;
        }
    }
    return ended;
}

bool fetch_work(struct fetcher *fetcher, int other)
{
    struct pollfd alone = { .fd = other, .events = POLLIN };
    int wait = send_again(fetcher);
    struct request *ended;
    bool news = false;

    if (*fetcher->curl.why)
        return poll(&alone, 1, -1) != 0;
    while ((ended = curl_work(&fetcher->curl)) != NULL) {
        go_on(ended->user);
        news = true;
    }
    news |= end_unsent(fetcher);
    return curl_wait(&fetcher->curl, other, news ? 0 : wait);
}
