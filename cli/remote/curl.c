/* SPDX-License-Identifier: MIT
 *
 * curl.c - libcurl, loaded when a URL is asked for
 */
#include "cli/remote/curl.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/modelfile.h"

#define LIBRARY "libcurl.so.4"
#define PACKAGE "libcurl4"

/* From libcurl's manual and symbols: these numbers never change. */
enum {
    GLOBAL_DEFAULT = 3,

    OPT_WRITEDATA = 10001,
    OPT_URL = 10002,
    OPT_RANGE = 10007,
    OPT_ERRORBUFFER = 10010,
    OPT_USERAGENT = 10018,
    OPT_HTTPHEADER = 10023,
    OPT_HEADERDATA = 10029,
    OPT_PRIVATE = 10103,
    OPT_CAINFO = 10065,
    OPT_CAPATH = 10097,
    OPT_WRITEFUNCTION = 20011,
    OPT_HEADERFUNCTION = 20079,
    OPT_LOW_SPEED_LIMIT = 19,
    OPT_LOW_SPEED_TIME = 20,
    OPT_CONNECTTIMEOUT = 78,
    OPT_BUFFERSIZE = 98,
    OPT_NOSIGNAL = 99,
    OPT_TIMEOUT = 13,
    OPT_PROTOCOLS = 181,
    OPT_SUPPRESS_CONNECT_HEADERS = 265,

    INFO_REDIRECT_URL = 0x100000 + 31,
    INFO_PRIVATE = 0x100000 + 21,

    MULTI_MAXCONNECTS = 6,
    MULTI_MAX_TOTAL_CONNECTIONS = 13,

    MESSAGE_DONE = 1,
    WAIT_POLLIN = 1,
    WRITE_PAUSE = 0x10000001,
    PAUSE_CONT = 0,

    PROTOCOLS_HTTP = 3 /* http and https */
};

/* Bytes in a second that are next to nothing, and that a whole answer has at
 * least, or it takes too long. */
#define SPEED_LEAST 1024
#define SPEED_WHOLE ((uint64_t)16 * 1024)

/* Bytes of an answer that is not the file, to keep the connection. */
#define OTHER_BODY_MAX ((uint64_t)64 * 1024)

/* What is read of a connection at a time. */
#define BUFFER_SIZE (128L * 1024)

/* As its manual declares them. */
struct curl_waitfd {
    int fd;
    short events, revents;
};

struct curl_message {
    int what;
    void *handle;
    union {
        void *other;
        int code;
    } result;
};

/* ---- loading ---- */

/* C has no cast from what dlsym returns; POSIX promises that the bytes are the
 * same. */
static bool find(const struct curl *curl, const char *name, void *place)
{
    void *symbol = dlsym(curl->library, name);

    memcpy(place, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static bool find_all(struct curl *curl, int (**begin)(long flags),
                     void *(**make_multi)(void))
{
    return find(curl, "curl_global_init", begin) &&
           find(curl, "curl_multi_init", make_multi) &&
           find(curl, "curl_easy_init", &curl->make) &&
           find(curl, "curl_easy_setopt", &curl->set) &&
           find(curl, "curl_easy_getinfo", &curl->info) &&
           find(curl, "curl_easy_pause", &curl->pause) &&
           find(curl, "curl_easy_strerror", &curl->error_text) &&
           find(curl, "curl_multi_setopt", &curl->set_multi) &&
           find(curl, "curl_multi_add_handle", &curl->add) &&
           find(curl, "curl_multi_remove_handle", &curl->remove) &&
           find(curl, "curl_multi_perform", &curl->perform) &&
           find(curl, "curl_multi_wait", &curl->wait) &&
           find(curl, "curl_multi_info_read", &curl->next) &&
           find(curl, "curl_slist_append", &curl->append) &&
           find(curl, "curl_slist_free_all", &curl->free_list) &&
           find(curl, "curl_getdate", &curl->date);
}

/* As the command curl has it. */
static void set_certificates(struct curl *curl, void *handle)
{
    const char *bundle = getenv("CURL_CA_BUNDLE");
    const char *folder = getenv("SSL_CERT_DIR");

    if (!bundle || !*bundle) {
        bundle = getenv("SSL_CERT_FILE");
        if (folder && *folder)
            curl->set(handle, OPT_CAPATH, folder);
    }
    if (bundle && *bundle)
        curl->set(handle, OPT_CAINFO, bundle);
}

bool curl_load(struct curl *curl)
{
    int (*begin)(long flags);
    void *(*make_multi)(void);
    const char *reason;

    *curl = (struct curl){ .library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
    if (!curl->library) {
        reason = dlerror();
        snprintf(curl->why, sizeof(curl->why),
                 "URLs need " LIBRARY ", Debian's package " PACKAGE ": %.150s",
                 reason ? reason : "it cannot be loaded");
        return false;
    }
    if (find_all(curl, &begin, &make_multi) &&
        begin(GLOBAL_DEFAULT) == CURL_DONE)
        curl->multi = make_multi();
    if (!curl->multi) {
        snprintf(curl->why, sizeof(curl->why), LIBRARY " cannot be used");
        return false;
    }
    curl->set_multi(curl->multi, MULTI_MAXCONNECTS, (long)CURL_CONNECTIONS);
    curl->set_multi(curl->multi, MULTI_MAX_TOTAL_CONNECTIONS,
                    (long)CURL_CONNECTIONS);
    return true;
}

/* ---- a request ---- */

static size_t take_line(char *at, size_t one, size_t count, void *user)
{
    struct request *request = user;

    (void)one; /* always 1 */
    return reply_line(&request->reply, at, count) ? count : 0;
}

/* An answer whose bytes are not the file's; some are read. */
static size_t skip(struct request *request, size_t size)
{
    request->other += size;
    request->cut = request->other > OTHER_BODY_MAX;
    return request->cut ? 0 : size;
}

static const char *part_wrong(const struct request *request, size_t size)
{
    const struct reply *reply = &request->reply;
    const char *wrong = reply_range_wrong(reply, request->first, request->last);

    if (wrong)
        return wrong;
    return size > reply->last - request->first + 1 - request->got
               ? "it has more bytes than its range"
               : NULL;
}

static size_t take_body(char *at, size_t one, size_t count, void *user)
{
    struct request *request = user;

    (void)one; /* always 1 */
    if (!request->paused)
        *request->body += count;
    request->paused = false;
    if (request->reply.status != 206 &&
        !(request->reply.status == 200 && request->whole))
        return skip(request, count);
    if (request->reply.status == 206)
        request->wrong = part_wrong(request, count);
    if (!request->wrong && request->got == 0)
        request->wrong = request->accept(request->user);
    if (request->wrong)
        return 0;
    request->paused = !request->take(request->user, (const uint8_t *)at, count);
    if (request->paused)
        return WRITE_PAUSE;
    request->got += count;
    return count;
}

static void set_all(struct curl *curl, struct request *request)
{
    void *handle = request->handle;
    uint64_t seconds = (request->last - request->first) / SPEED_WHOLE;

    curl->set(handle, OPT_NOSIGNAL, 1L);
    curl->set(handle, OPT_PROTOCOLS, (long)PROTOCOLS_HTTP);
    curl->set(handle, OPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl->set(handle, OPT_USERAGENT, "modelfile/" MF_VERSION_STRING);
    curl->set(handle, OPT_ERRORBUFFER, request->error);
    curl->set(handle, OPT_HEADERFUNCTION, take_line);
    curl->set(handle, OPT_HEADERDATA, request);
    curl->set(handle, OPT_WRITEFUNCTION, take_body);
    curl->set(handle, OPT_WRITEDATA, request);
    curl->set(handle, OPT_PRIVATE, request);
    curl->set(handle, OPT_BUFFERSIZE, BUFFER_SIZE);
    curl->set(handle, OPT_CONNECTTIMEOUT, request->patience);
    curl->set(handle, OPT_LOW_SPEED_LIMIT, (long)SPEED_LEAST);
    curl->set(handle, OPT_LOW_SPEED_TIME, request->patience);
    curl->set(handle, OPT_TIMEOUT, 2 * request->patience + (long)seconds);
}

/* Adds a line to a list of them; false, and the list as it was, if out of
 * memory. */
static bool add(struct curl *curl, void **list, const char *line)
{
    void *longer = curl->append(*list, line);

    if (longer)
        *list = longer;
    return longer != NULL;
}

/* The lines of the request's header that are not libcurl's own. */
static bool add_lines(struct curl *curl, struct request *request)
{
    char line[600];
    bool added = add(curl, &request->lines, "Accept-Encoding: identity");

    if (request->if_range) {
        snprintf(line, sizeof(line), "If-Range: %s", request->if_range);
        added = added && add(curl, &request->lines, line);
    }
    if (request->token) {
        snprintf(line, sizeof(line), "Authorization: Bearer %s",
                 request->token);
        added = added && add(curl, &request->lines, line);
    }
    return added;
}

static bool prepare(struct curl *curl, struct request *request)
{
    char range[64];

    if (!request->handle) {
        request->handle = curl->make();
        if (!request->handle)
            return false;
        set_certificates(curl, request->handle);
    }
    snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, request->first,
             request->last);
    set_all(curl, request);
    return add_lines(curl, request) &&
           curl->set(request->handle, OPT_URL, request->url) == CURL_DONE &&
           curl->set(request->handle, OPT_RANGE,
                     request->document ? NULL : range) == CURL_DONE &&
           curl->set(request->handle, OPT_HTTPHEADER, request->lines) ==
               CURL_DONE;
}

static void end(struct curl *curl, struct request *request, int code)
{
    if (request->runs)
        curl->remove(curl->multi, request->handle);
    if (request->handle) {
        curl->set(request->handle, OPT_HTTPHEADER, NULL);
        curl->set(request->handle, OPT_ERRORBUFFER, NULL);
    }
    curl->free_list(request->lines);
    request->lines = NULL;
    request->runs = request->paused = false;
    request->code = code;
    if (code == CURL_CUT && !request->wrong)
        request->wrong = request->reply.wrong;
    if (code != CURL_DONE && !*request->error)
        snprintf(request->error, sizeof(request->error), "%s",
                 curl->error_text(code));
}

void curl_begin(struct curl *curl, struct request *request)
{
    request->reply = (struct reply){ 0 };
    request->got = request->other = 0;
    request->cut = request->paused = false;
    request->wrong = NULL;
    request->error[0] = 0;
    request->code = CURL_DONE;
    request->runs =
        prepare(curl, request) && curl->add(curl->multi, request->handle) == 0;
    if (!request->runs)
        end(curl, request, CURL_NO_MEMORY);
}

struct request *curl_work(struct curl *curl)
{
    struct curl_message *message;
    char *user = NULL;
    struct request *request;
    int count;

    curl->perform(curl->multi, &count);
    do
        message = curl->next(curl->multi, &count);
    while (message && message->what != MESSAGE_DONE);
    if (!message)
        return NULL;
    count = message->result.code;
    curl->info(message->handle, INFO_PRIVATE, &user);
    request = (struct request *)(void *)user;
    end(curl, request, count);
    return request;
}

bool curl_wait(struct curl *curl, int other, int millis)
{
    struct curl_waitfd waits = { .fd = other, .events = WAIT_POLLIN };
    int count;

    curl->wait(curl->multi, &waits, 1, millis, &count);
    return waits.revents != 0;
}

/* libcurl calls take_body at once, and reads on later. */
void curl_go_on(struct curl *curl, struct request *request)
{
    curl->pause(request->handle, PAUSE_CONT);
}

void curl_cut(struct curl *curl, struct request *request)
{
    if (request->runs)
        end(curl, request, CURL_CUT);
}

const char *curl_redirect(struct curl *curl, const struct request *request)
{
    const char *url = NULL;

    if (curl->info(request->handle, INFO_REDIRECT_URL, &url) != CURL_DONE)
        return NULL;
    return url;
}
