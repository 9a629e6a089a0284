/* SPDX-License-Identifier: MIT
 *
 * fetch.c - parts of a file on a server, which stays the same file
 *
 * All requests run in one thread.  One that has ended is judged (judge.c), and
 * then sent to where it was redirected, or again later, or it is done.
 */
#include "cli/remote/fetch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/malloc_count.h"
#include "cli/remote/hub_site.h"
#include "cli/remote/judge.h"
#include "lib/program.h"

#define RETRIES       3
#define REDIRECTS_MAX 10

/* The pause before the first retry; then twice as long each time.  It is
 * shorter where the server may not be silent for long. */
#define PAUSE_MILLIS 500

/* After so many bytes without an error, retries are counted from 0 again. */
#define PROGRESS ((uint64_t)1024 * 1024)

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

/* ---- a fetch ---- */

/* Leaves out what an answer from the beginning repeats. */
static bool take_bytes(void *user, const uint8_t *bytes, size_t size)
{
    struct fetch *fetch = user;
    size_t skip = fetch->skip < size ? (size_t)fetch->skip : size;

    fetch->fetcher->news = true;
    if (size > skip && !fetch->take(fetch->user, bytes + skip, size - skip))
        return false;
    fetch->skip -= skip;
    fetch->next += size - skip;
    return true;
}

/* If-Range takes a strong ETag, or else a date. */
static const char *version_of(const struct remote_file *file)
{
    if (!file->known || !file->ranges)
        return NULL;
    if (*file->etag == '"')
        return file->etag;
    return !*file->etag && *file->modified ? file->modified : NULL;
}

void fetch_name_version(const struct remote_file *file, uint64_t out[2])
{
    struct mf_sha256 sha;
    uint8_t digest[32];

    if (!*file->etag && !*file->modified)
        return;
    /* An ETag is one of this address: another's may be the same. */
    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, file->url, address_path_size(file->url));
    mf_sha256_add(&sha, file->etag, strlen(file->etag) + 1);
    mf_sha256_add(&sha, file->modified, strlen(file->modified) + 1);
    mf_sha256_add(&sha, &file->size, sizeof(file->size));
    mf_sha256_end(&sha, digest);
    memcpy(out, digest, 2 * sizeof(*out));
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
    /* All of it, as before, should there be ranges now. */
    request->last = file->known && !file->ranges && file->size > 0 &&
                            file->size != FETCH_ENDLESS
                        ? file->size - 1
                        : fetch->last;
    request->if_range = version_of(file);
    request->whole = request->first == 0 && !file->ranges;
    request->document = file->whole;
    request->token = judge_is_at_hub(fetch) && *fetcher->hub->token
                         ? fetcher->hub->token
                         : NULL;
    request->patience = fetcher->patience;
    request->accept = judge_beginning;
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
        end_attempt(fetch, judge_end(fetch));
        return;
    }
    refused = fetch->hops++ == REDIRECTS_MAX ? "it redirects more than 10 times"
                                             : redirect(fetch);
    if (refused)
        end_attempt(fetch, judge_wrong(fetch, refused));
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

static enum outcome no_curl(struct fetch *fetch)
{
    snprintf(fetch->why, sizeof(fetch->why), "%s", fetch->fetcher->curl.why);
    fetch->reason = process_heap_refused() ? ENOMEM : EIO;
    return FAILED;
}

struct fetch *fetch_begin(
    struct fetcher *fetcher, struct remote_file *file, struct mf_span span,
    bool (*take)(void *user, const uint8_t *bytes, size_t size), void *user)
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
        end_attempt(fetch, no_curl(fetch));
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

/* looks: the caller looks at what has come before there is more. */
static bool work(struct fetcher *fetcher, int other, bool looks)
{
    struct pollfd alone = { .fd = other, .events = POLLIN };
    int wait = send_again(fetcher);
    struct request *ended;

    if (*fetcher->curl.why)
        return poll(&alone, 1, -1) != 0;
    while ((ended = curl_work(&fetcher->curl)) != NULL) {
        go_on(ended->user);
        fetcher->news = true;
    }
    if (end_unsent(fetcher) || (looks && fetcher->news))
        wait = 0;
    fetcher->news = false;
    return curl_wait(&fetcher->curl, other, wait);
}

bool fetch_work(struct fetcher *fetcher, int other)
{
    return work(fetcher, other, false);
}

void fetch_wait(struct fetcher *fetcher)
{
    if (work(fetcher, fetcher->other, true))
        fetcher->over();
}

struct document {
    uint8_t *into;
    size_t room, got;
};

static bool take_document(void *user, const uint8_t *bytes, size_t size)
{
    struct document *document = user;

    if (size > document->room - document->got)
        return false;
    memcpy(document->into + document->got, bytes, size);
    document->got += size;
    return true;
}

int fetch_document(struct fetcher *fetcher, struct remote_file *file,
                   uint8_t *into, size_t room, size_t *got)
{
    struct document document = { .into = into, .room = room };
    struct fetch *fetch = fetch_begin(
        fetcher, file, (struct mf_span){ 0, room }, take_document, &document);
    int reason;

    fetcher->why[0] = 0;
    if (!fetch)
        return EAGAIN;
    while (fetch_runs(fetch) && !fetch_is_full(fetch))
        fetch_wait(fetcher);
    reason = fetch->state == FETCH_FAILED ? fetch->reason : 0;
    memcpy(fetcher->why, fetch->why, sizeof(fetcher->why));
    memcpy(fetcher->next, fetch->request.reply.next, sizeof(fetcher->next));
    fetcher->next_is_wrong = fetch->request.reply.next_is_wrong;
    fetch_end(fetch);
    *got = document.got;
    return reason;
}
