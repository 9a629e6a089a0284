/* SPDX-License-Identifier: MIT
 *
 * curl.h - libcurl, loaded when a URL is asked for
 *
 * Building needs no header of curl: what is used of its interface, which has
 * been the same since version 7.32, is declared in curl.c.
 */
#ifndef MF_CLI_REMOTE_CURL_H
#define MF_CLI_REMOTE_CURL_H

#include <time.h>

#include "cli/remote/reply.h"

struct curl_waitfd;
struct curl_message;

struct curl {
    void *library;
    void *multi; /* runs all requests, in this thread */
    void *(*make)(void);
    int (*set)(void *handle, int option, ...);
    int (*info)(void *handle, int item, ...);
    int (*pause)(void *handle, int what);
    int (*set_multi)(void *multi, int option, ...);
    int (*add)(void *multi, void *handle);
    int (*remove)(void *multi, void *handle);
    int (*perform)(void *multi, int *running);
    int (*wait)(void *multi, struct curl_waitfd *other, unsigned count,
                int millis, int *ready);
    struct curl_message *(*next)(void *multi, int *left);
    void *(*append)(void *list, const char *text);
    void (*free_list)(void *list);
    const char *(*error_text)(int code);
    time_t (*date)(const char *text, const time_t *unused);
    char why[256]; /* why it cannot be used; "": it can */
};

/* Connections at a time, to all servers together. */
#define CURL_CONNECTIONS 6

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
    bool document;        /* no range is asked for */
    bool whole;    /* an answer with all of the file will do; first is 0 */
    long patience; /* seconds in which there may be next to nothing */
    /* Before the first byte: what is wrong with the answer, or NULL. */
    const char *(*accept)(void *user);
    /* Takes all of the bytes, or none: then they come again after curl_go_on.
     */
    bool (*take)(void *user, const uint8_t *bytes, size_t size);
    void *user;
    uint64_t *body; /* bytes that came are added to this */

    /* Of libcurl, kept for the next request. */
    void *handle, *lines;
    bool runs;

    int code; /* of libcurl; CURL_CUT where `wrong` or `cut` is why */
    struct reply reply;
    uint64_t got;      /* that were taken */
    bool paused;       /* bytes wait for curl_go_on */
    bool cut;          /* of a text that says what is wrong, there was more */
    const char *wrong; /* what is wrong with the answer, or NULL */
    uint64_t other;    /* bytes that are not the file's */
    char error[256];   /* libcurl's text about the code */
};

/* False, and curl->why, if there is no libcurl.  What it needs of the system's
 * files before a connection is read now. */
bool curl_load(struct curl *curl);

/* Sends a request, or sets its code.  It must not move until it has ended. */
void curl_begin(struct curl *curl, struct request *request);

/* Goes on with all requests as far as that works without waiting.  Returns one
 * that has ended, or NULL: call it until then. */
struct request *curl_work(struct curl *curl);

/* Waits until there is work for curl_work, at most so long; whether there are
 * bytes at the other descriptor, or it is closed. */
bool curl_wait(struct curl *curl, int other, int millis);

/* Bytes that were not taken can be now. */
void curl_go_on(struct curl *curl, struct request *request);

/* Ends a request in the middle, and its connection. */
void curl_cut(struct curl *curl, struct request *request);

/* Where the answer of a request that has ended redirects to; NULL: nowhere.
 * Valid until the next request. */
const char *curl_redirect(struct curl *curl, const struct request *request);

#endif
