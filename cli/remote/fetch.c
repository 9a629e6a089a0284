/* SPDX-License-Identifier: MIT
 *
 * fetch.c - blocks of a file on a server, which stays the same file
 *
 * What a server says is compared with what was asked, and with what it said
 * before: size, ETag and Last-Modified.  A file that changes is an error; two
 * versions of it are never mixed.
 */
#include "cli/remote/fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/malloc_count.h"
#include "cli/remote/hub_site.h"

#define RETRIES        3
#define REDIRECTS_MAX  10
#define RETRY_WAIT_MAX 30 /* seconds */

/* The pause before the first retry; then twice as long each time.  It is
 * shorter where the server may not be silent for long. */
#define PAUSE_MILLIS 500

enum outcome {
    DONE,
    AGAIN, /* may work later */
    FAILED
};

struct attempt {
    struct fetcher *fetcher;
    struct remote_file *file;
    struct request request;
    int reason; /* errno of a failure */
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
fail(struct attempt *attempt, enum outcome outcome, int reason,
     const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(attempt->fetcher->why, sizeof(attempt->fetcher->why), format,
              arguments);
    va_end(arguments);
    attempt->reason = reason;
    return outcome;
}

static enum outcome no_memory(struct attempt *attempt)
{
    return fail(attempt, FAILED, ENOMEM, "the network's process has no memory");
}

/* ---- what an answer means ---- */

static enum outcome wrong(struct attempt *attempt, const char *what)
{
    return fail(attempt, FAILED, EIO, "the server's answer is wrong: %s", what);
}

static enum outcome changed(struct attempt *attempt)
{
    return fail(attempt, FAILED, EIO,
                "the file on the server has changed while it was read");
}

/* Keeps what tells this version of the file from others, or compares it. */
static bool is_same(struct remote_file *file, const struct reply *reply,
                    uint64_t size)
{
    if (file->known)
        return file->size == size && strcmp(file->etag, reply->etag) == 0 &&
               strcmp(file->modified, reply->modified) == 0;
    file->known = true;
    file->size = size;
    memcpy(file->etag, reply->etag, sizeof(file->etag));
    memcpy(file->modified, reply->modified, sizeof(file->modified));
    return true;
}

static enum outcome judge_part(struct attempt *attempt)
{
    const struct request *request = &attempt->request;
    struct remote_file *file = attempt->file;
    const char *what =
        reply_range_wrong(&request->reply, request->first, request->last);

    if (what)
        return wrong(attempt, what);
    if (file->known && request->reply.total != file->size)
        return changed(attempt);
    if (request->code != CURL_DONE ||
        request->got != request->reply.last - request->first + 1)
        return fail(attempt, AGAIN, EIO,
                    "the server's answer ended early: %zu of %" PRIu64 " bytes",
                    request->got, request->reply.last - request->first + 1);
    if (!file->known)
        file->ranges = true;
    return is_same(file, &request->reply, request->reply.total)
               ? DONE
               : changed(attempt);
}

static enum outcome judge_whole(struct attempt *attempt)
{
    const struct request *request = &attempt->request;
    const struct reply *reply = &request->reply;
    struct remote_file *file = attempt->file;

    if (!request->whole)
        return changed(attempt); /* so says If-Range */
    if (!reply->has_length && request->cut)
        return fail(attempt, FAILED, EIO,
                    "the server sends no ranges, and not the file's size");
    return is_same(file, reply,
                   reply->has_length ? reply->length : request->got)
               ? DONE
               : changed(attempt);
}

/* Only a file without bytes has no first one. */
static enum outcome judge_outside(struct attempt *attempt)
{
    const struct reply *reply = &attempt->request.reply;

    if (attempt->file->known)
        return changed(attempt);
    if (!reply->has_range || reply->has_bytes || reply->total != 0)
        return wrong(attempt, "status 416 for the first bytes of a file");
    attempt->file->ranges = true;
    attempt->request.got = 0;
    return is_same(attempt->file, reply, 0) ? DONE : changed(attempt);
}

/* Whether the address in work is the Hub's own, not one that it redirects to.
 */
static bool is_at_hub(const struct attempt *attempt)
{
    const struct fetcher *fetcher = attempt->fetcher;

    return attempt->file->hub &&
           address_is_same_server(fetcher->address.at, fetcher->hub->endpoint);
}

static enum outcome judge_status(struct attempt *attempt)
{
    const struct reply *reply = &attempt->request.reply;
    int reason;
    const char *why =
        is_at_hub(attempt)
            ? hub_refusal(reply, *attempt->fetcher->hub->token, &reason)
            : NULL;

    if (why)
        return fail(attempt, FAILED, reason, "%s", why);
    switch (reply->status) {
    case 404:
    case 410:
        return fail(attempt, FAILED, ENOENT, "the server answers %u",
                    reply->status);
    case 401:
    case 403:
    case 407:
        return fail(attempt, FAILED, EACCES, "the server answers %u",
                    reply->status);
    case 408:
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
        if (reply->has_wait && reply->wait > RETRY_WAIT_MAX)
            return fail(attempt, FAILED, EIO,
                        "the server answers %u, and to ask again in %" PRIu64
                        " seconds",
                        reply->status, reply->wait);
        return fail(attempt, AGAIN, EIO, "the server answers %u",
                    reply->status);
    case 416:
        return judge_outside(attempt);
    default:
        return fail(attempt, FAILED, EIO, "the server answers %u",
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

static enum outcome judge(struct attempt *attempt)
{
    const struct request *request = &attempt->request;

    if (request->code == CURL_NO_MEMORY ||
        (request->code != CURL_DONE && process_heap_refused()))
        return no_memory(attempt);
    if (request->wrong)
        return wrong(attempt, request->wrong);
    if (request->code != CURL_DONE && !request->cut)
        return fail(attempt, may_pass(request->code) ? AGAIN : FAILED, EIO,
                    "%s", request->error);
    if (request->reply.status == 206)
        return judge_part(attempt);
    if (request->reply.status == 200)
        return judge_whole(attempt);
    return judge_status(attempt);
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
static const char *redirect(struct attempt *attempt)
{
    struct fetcher *fetcher = attempt->fetcher;
    const char *next = curl_redirect(&fetcher->curl);

    if (!next || strlen(next) >= sizeof(fetcher->address.at))
        return "it redirects to no address, or to a very long one";
    if (!address_is_url(next))
        return "it redirects to another protocol than HTTP";
    if (address_is_https(fetcher->address.at) && !address_is_https(next))
        return "it redirects from https to http";
    strcpy(fetcher->address.at, next);
    return NULL;
}

/* For the Hub's own server alone: a redirect to another host, port or scheme
 * does not get it. */
static const char *token_for(const struct attempt *attempt)
{
    const struct hub_site *hub = attempt->fetcher->hub;

    return is_at_hub(attempt) && *hub->token ? hub->token : NULL;
}

static void send_request(struct attempt *attempt)
{
    struct fetcher *fetcher = attempt->fetcher;

    attempt->request.url = fetcher->address.at;
    attempt->request.token = token_for(attempt);
    fetcher->cost.requests++;
    curl_get(&fetcher->curl, &attempt->request, fetcher->is_over);
    fetcher->cost.bytes += attempt->request.body;
}

/* The address that has answered is asked from now on. */
static bool keep_address(struct attempt *attempt)
{
    struct remote_file *file = attempt->file;
    const char *at = attempt->fetcher->address.at;
    struct mf_env *env = attempt->fetcher->env;

    if (strcmp(file->at ? file->at : file->url, at) == 0)
        return true;
    if (file->at)
        mf_env_resize(env, file->at, strlen(file->at) + 1, 0);
    file->at = fetch_text(env, at);
    return file->at != NULL;
}

/* An address that was redirected to may be valid for some time only. */
static enum outcome judge_address(struct attempt *attempt, enum outcome outcome)
{
    struct remote_file *file = attempt->file;
    unsigned status = attempt->request.reply.status;

    if (outcome == DONE)
        return keep_address(attempt) ? DONE : no_memory(attempt);
    if (outcome == AGAIN || !file->at ||
        (status != 401 && status != 403 && status != 404 && status != 410))
        return outcome;
    mf_env_resize(attempt->fetcher->env, file->at, strlen(file->at) + 1, 0);
    file->at = NULL;
    return AGAIN;
}

static enum outcome try_once(struct attempt *attempt)
{
    struct fetcher *fetcher = attempt->fetcher;
    struct remote_file *file = attempt->file;
    const char *refused;

    strcpy(fetcher->address.at, file->at ? file->at : file->url);
    for (unsigned hops = 0;; hops++) {
        send_request(attempt);
        if (!is_redirect(&attempt->request))
            break;
        refused = hops == REDIRECTS_MAX ? "it redirects more than 10 times"
                                        : redirect(attempt);
        if (refused)
            return wrong(attempt, refused);
    }
    return judge_address(attempt, judge(attempt));
}

/* ---- a block ---- */

/* If-Range takes a strong ETag, or else a date. */
static const char *version_of(const struct remote_file *file)
{
    if (!file->known || !file->ranges)
        return NULL;
    if (*file->etag == '"')
        return file->etag;
    return !*file->etag && *file->modified ? file->modified : NULL;
}

static void pause_before(const struct attempt *attempt, unsigned retry)
{
    const struct reply *reply = &attempt->request.reply;
    unsigned millis = (unsigned)PAUSE_MILLIS << retry;

    if (attempt->fetcher->patience < FETCH_PATIENCE)
        millis = millis / FETCH_PATIENCE * (unsigned)attempt->fetcher->patience;

    if (reply->has_wait && reply->wait * 1000 > millis)
        millis = (unsigned)reply->wait * 1000;
    attempt->fetcher->pause(millis);
}

int fetch_block(struct fetcher *fetcher, struct remote_file *file,
                uint64_t offset, uint8_t *into, size_t room, size_t *got)
{
    struct attempt attempt = {
        .fetcher = fetcher,
        .file = file,
        .request = { .first = offset,
                     .last = offset + room - 1,
                     .if_range = version_of(file),
                     .whole = offset == 0 && !file->ranges,
                     .document = file->whole,
                     .into = into,
                     .patience = fetcher->patience },
    };
    enum outcome outcome;

    fetcher->why[0] = 0;
    if (*fetcher->curl.why) {
        snprintf(fetcher->why, sizeof(fetcher->why), "%s", fetcher->curl.why);
        return process_heap_refused() ? ENOMEM : EIO;
    }
    for (unsigned retry = 0;; retry++) {
        outcome = try_once(&attempt);
        if (outcome != AGAIN || retry == RETRIES)
            break;
        pause_before(&attempt, retry);
        fetcher->cost.retries++;
    }
    *got = attempt.request.got;
    fetcher->next_is_wrong = attempt.request.reply.next_is_wrong;
    memcpy(fetcher->next, attempt.request.reply.next, sizeof(fetcher->next));
    return outcome == DONE ? 0 : attempt.reason;
}
