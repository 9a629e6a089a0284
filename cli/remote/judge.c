/* SPDX-License-Identifier: MIT
 *
 * judge.c - what an answer of a server means
 *
 * What a server says is compared with what was asked, and with what it said
 * before: size, ETag and Last-Modified.  A file that changes is an error; two
 * versions of it are never mixed.
 */
#include "cli/remote/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/malloc_count.h"
#include "cli/remote/hub_site.h"

#define RETRY_WAIT_MAX 30 /* seconds */

__attribute__((format(printf, 4, 5))) static enum outcome
fail(struct fetch *fetch, enum outcome outcome, int reason, const char *format,
     ...)
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

enum outcome judge_wrong(struct fetch *fetch, const char *what)
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

char *fetch_text(struct mf_env *env, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mf_env_resize(env, NULL, 0, size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
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
const char *judge_beginning(void *user)
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
        return judge_wrong(fetch, what);
    size = request->reply.last - request->first + 1;
    if (request->got == 0 && judge_beginning(fetch))
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
    if (request->got == 0 && judge_beginning(fetch))
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
        return judge_wrong(fetch, "status 416 for the first bytes of a file");
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

bool judge_is_at_hub(const struct fetch *fetch)
{
    return fetch->file->hub &&
           address_is_same_server(fetch->address.at,
                                  fetch->fetcher->hub->endpoint);
}

static enum outcome judge_status(struct fetch *fetch)
{
    const struct reply *reply = &fetch->request.reply;
    int reason;
    const char *why =
        judge_is_at_hub(fetch)
            ? hub_refusal(reply, *fetch->fetcher->hub->token, &reason)
            : NULL;

    if (why)
        return fail(fetch, FAILED, reason, "%s", why);
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
        return fail(fetch, AGAIN, EIO, "the server answers %u", reply->status);
    case 416:
        return judge_outside(fetch);
    default:
        return fail(fetch, FAILED, EIO, "the server answers %u", reply->status);
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

static enum outcome judge_answer(struct fetch *fetch)
{
    const struct request *request = &fetch->request;

    if (request->code == CURL_NO_MEMORY ||
        (request->code != CURL_DONE && process_heap_refused()))
        return no_memory(fetch);
    if (fetch->changed)
        return changed(fetch);
    if (request->wrong)
        return judge_wrong(fetch, request->wrong);
    if (request->code != CURL_DONE && !request->cut)
        return fail(fetch, may_pass(request->code) ? AGAIN : FAILED, EIO, "%s",
                    request->error);
    if (!request->reply.complete)
        return fail(fetch, AGAIN, EIO,
                    "the server's answer ended in its header");
    if (request->reply.status == 206)
        return judge_part(fetch);
    if (request->reply.status == 200)
        return judge_whole(fetch);
    return judge_status(fetch);
}

/* An address that was redirected to may be valid for some time only. */
enum outcome judge_end(struct fetch *fetch)
{
    enum outcome outcome = judge_answer(fetch);
    unsigned status = fetch->request.reply.status;

    if (outcome != FAILED || !fetch->direct ||
        (status != 401 && status != 403 && status != 404 && status != 410))
        return outcome;
    forget_address(fetch);
    return AGAIN;
}
