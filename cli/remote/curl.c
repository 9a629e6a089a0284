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
    OPT_XFERINFODATA = 10057,
    OPT_CAINFO = 10065,
    OPT_CAPATH = 10097,
    OPT_WRITEFUNCTION = 20011,
    OPT_HEADERFUNCTION = 20079,
    OPT_XFERINFOFUNCTION = 20219,
    OPT_LOW_SPEED_LIMIT = 19,
    OPT_LOW_SPEED_TIME = 20,
    OPT_NOPROGRESS = 43,
    OPT_CONNECTTIMEOUT = 78,
    OPT_NOSIGNAL = 99,
    OPT_TIMEOUT = 13,
    OPT_PROTOCOLS = 181,
    OPT_SUPPRESS_CONNECT_HEADERS = 265,

    INFO_REDIRECT_URL = 0x100000 + 31,

    PROTOCOLS_HTTP = 3 /* http and https */
};

/* Bytes in a second that are next to nothing, and that a whole answer has at
 * least, or it takes too long. */
#define SPEED_LEAST 1024
#define SPEED_WHOLE ((uint64_t)16 * 1024)

/* Bytes of an answer that is not the file, to keep the connection. */
#define OTHER_BODY_MAX ((uint64_t)64 * 1024)

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
                     void *(**make)(void))
{
    return find(curl, "curl_global_init", begin) &&
           find(curl, "curl_easy_init", make) &&
           find(curl, "curl_easy_setopt", &curl->set) &&
           find(curl, "curl_easy_getinfo", &curl->info) &&
           find(curl, "curl_easy_perform", &curl->perform) &&
           find(curl, "curl_easy_strerror", &curl->error_text) &&
           find(curl, "curl_slist_append", &curl->append) &&
           find(curl, "curl_slist_free_all", &curl->free_list);
}

/* As the command curl has it. */
static void set_certificates(struct curl *curl)
{
    const char *bundle = getenv("CURL_CA_BUNDLE");
    const char *folder = getenv("SSL_CERT_DIR");

    if (!bundle || !*bundle) {
        bundle = getenv("SSL_CERT_FILE");
        if (folder && *folder)
            curl->set(curl->handle, OPT_CAPATH, folder);
    }
    if (bundle && *bundle)
        curl->set(curl->handle, OPT_CAINFO, bundle);
}

bool curl_load(struct curl *curl)
{
    int (*begin)(long flags);
    void *(*make)(void);
    const char *reason;

    *curl = (struct curl){ .library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
    if (!curl->library) {
        reason = dlerror();
        snprintf(curl->why, sizeof(curl->why),
                 "URLs need " LIBRARY ", Debian's package " PACKAGE ": %.150s",
                 reason ? reason : "it cannot be loaded");
        return false;
    }
    if (find_all(curl, &begin, &make) && begin(GLOBAL_DEFAULT) == CURL_DONE)
        curl->handle = make();
    if (!curl->handle) {
        snprintf(curl->why, sizeof(curl->why), LIBRARY " cannot be used");
        return false;
    }
    set_certificates(curl);
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
static bool skip(struct request *request)
{
    request->cut = request->body > OTHER_BODY_MAX;
    return !request->cut;
}

static bool take_part(struct request *request, const char *at, size_t size)
{
    size_t room = (size_t)(request->last - request->first + 1);

    request->wrong =
        reply_range_wrong(&request->reply, request->first, request->last);
    if (!request->wrong)
        room = (size_t)(request->reply.last - request->first + 1);
    if (!request->wrong && size > room - request->got)
        request->wrong = "it has more bytes than its range";
    if (request->wrong)
        return false;
    memcpy(request->into + request->got, at, size);
    request->got += size;
    return true;
}

static bool take_whole(struct request *request, const char *at, size_t size)
{
    size_t room = (size_t)(request->last - request->first + 1) - request->got;

    request->cut = size > room;
    if (size > room)
        size = room;
    memcpy(request->into + request->got, at, size);
    request->got += size;
    return !request->cut;
}

static size_t take_body(char *at, size_t one, size_t count, void *user)
{
    struct request *request = user;
    bool taken;

    (void)one; /* always 1 */
    request->body += count;
    if (request->reply.status == 206)
        taken = take_part(request, at, count);
    else if (request->reply.status == 200 && request->whole)
        taken = take_whole(request, at, count);
    else
        taken = skip(request);
    return taken ? count : 0;
}

static int ask_is_over(void *user, int64_t down_all, int64_t down,
                       int64_t up_all, int64_t up)
{
    bool (*is_over)(void);

    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    memcpy(&is_over, user, sizeof(is_over));
    return is_over();
}

static void set_all(struct curl *curl, struct request *request, void *is_over)
{
    void *handle = curl->handle;
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
    curl->set(handle, OPT_XFERINFOFUNCTION, ask_is_over);
    curl->set(handle, OPT_XFERINFODATA, is_over);
    curl->set(handle, OPT_NOPROGRESS, 0L);
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

void curl_get(struct curl *curl, struct request *request, bool (*is_over)(void))
{
    char range[64], if_range[300], token[600];
    void *lines = NULL;
    bool added = add(curl, &lines, "Accept-Encoding: identity");

    request->reply = (struct reply){ 0 };
    request->got = 0;
    request->cut = false;
    request->wrong = NULL;
    request->body = 0;
    request->error[0] = 0;
    snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, request->first,
             request->last);
    snprintf(if_range, sizeof(if_range), "If-Range: %s",
             request->if_range ? request->if_range : "");
    if (request->if_range)
        added = added && add(curl, &lines, if_range);
    snprintf(token, sizeof(token), "Authorization: Bearer %s",
             request->token ? request->token : "");
    if (request->token)
        added = added && add(curl, &lines, token);
    set_all(curl, request, &is_over);
    if (!added || curl->set(curl->handle, OPT_URL, request->url) != CURL_DONE ||
        curl->set(curl->handle, OPT_RANGE, request->document ? NULL : range) !=
            CURL_DONE ||
        curl->set(curl->handle, OPT_HTTPHEADER, lines) != CURL_DONE)
        request->code = CURL_NO_MEMORY;
    else
        request->code = curl->perform(curl->handle);
    curl->set(curl->handle, OPT_HTTPHEADER, NULL);
    curl->set(curl->handle, OPT_ERRORBUFFER, NULL);
    curl->free_list(lines);
    if (request->code == CURL_CUT && !request->wrong)
        request->wrong = request->reply.wrong;
    if (request->code != CURL_DONE && !*request->error)
        snprintf(request->error, sizeof(request->error), "%s",
                 curl->error_text(request->code));
}

const char *curl_redirect(struct curl *curl)
{
    const char *url = NULL;

    if (curl->info(curl->handle, INFO_REDIRECT_URL, &url) != CURL_DONE)
        return NULL;
    return url;
}
