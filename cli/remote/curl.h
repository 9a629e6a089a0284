/* SPDX-License-Identifier: MIT
 *
 * curl.h - libcurl, loaded when a URL is asked for
 *
 * Building needs no header of curl: what is used of its interface, which has
 * been the same since version 7.32, is declared in curl.c.
 */
#ifndef MF_CLI_REMOTE_CURL_H
#define MF_CLI_REMOTE_CURL_H

#include "cli/remote/reply.h"

struct curl {
    void *library, *handle;
    int (*set)(void *handle, int option, ...);
    int (*info)(void *handle, int item, ...);
    int (*perform)(void *handle);
    void *(*append)(void *list, const char *text);
    void (*free_list)(void *list);
    const char *(*error_text)(int code);
    char why[256]; /* why it cannot be used; "": it can */
};

/* The codes that matter here. */
enum curl_code {
    CURL_DONE = 0,
    CURL_NO_PROXY = 5,
    CURL_NO_HOST = 6,
    CURL_NO_CONNECTION = 7,
    CURL_HTTP2 = 16,
    CURL_PARTIAL = 18,
    CURL_CUT = 23, /* by our own function */
    CURL_NO_MEMORY = 27,
    CURL_TIMEOUT = 28,
    CURL_TLS = 35,
    CURL_ABORTED = 42,
    CURL_NOTHING = 52,
    CURL_SEND = 55,
    CURL_RECEIVE = 56,
    CURL_HTTP2_STREAM = 92
};

/* One request for bytes first to last of what is at a URL. */
struct request {
    const char *url;
    uint64_t first, last;
    const char *if_range; /* or NULL */
    const char *token;    /* for an Authorization; or NULL */
    bool document;        /* no range is asked for; all of it has to fit */
    bool whole;    /* an answer with all of the file, cut when there are as many
                      bytes, will do; first is 0 */
    uint8_t *into; /* room for that many */
    long patience; /* seconds in which there may be next to nothing */

    int code; /* of libcurl; CURL_CUT where one of the next three is why */
    struct reply reply;
    size_t got;
    bool cut;          /* there was more of the whole file, or of a text that
                          says what is wrong */
    const char *wrong; /* what is wrong with the answer, or NULL */
    uint64_t body;     /* bytes that came */
    char error[256];   /* libcurl's text about the code */
};

/* False, and curl->why, if there is no libcurl.  What it needs of the system's
 * files before a connection is read now. */
bool curl_load(struct curl *curl);

/* is_over ends the transfer. */
void curl_get(struct curl *curl, struct request *request,
              bool (*is_over)(void));

/* Where the last answer redirects to; NULL: nowhere.  Valid until the next
 * request. */
const char *curl_redirect(struct curl *curl);

#endif
