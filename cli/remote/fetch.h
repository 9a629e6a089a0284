/* SPDX-License-Identifier: MIT
 *
 * fetch.h - parts of a file on a server, which stays the same file
 */
#ifndef MF_CLI_REMOTE_FETCH_H
#define MF_CLI_REMOTE_FETCH_H

#include "cli/remote/address.h"
#include "cli/remote/curl.h"
#include "cli/remote/remote.h"
#include "cli/remote/wire.h"

struct remote_file {
    char *url; /* as it was asked for */
    char *at;  /* where redirects have led to; NULL: there */
    bool known, ranges;
    uint64_t size; /* FETCH_ENDLESS: not known yet, of a server without ranges
                    */
    char etag[256], modified[64];
    int reason; /* errno, if it could not be opened */
    char why[WIRE_TEXT_MAX];

    bool hub;          /* it is of the Hub; see hub_serve.h */
    bool whole;        /* it is an answer of its API, */
    uint8_t *document; /* which is here; NULL: not any more */
    size_t room;
    char *next; /* the next page; NULL: there is none */
};

#define FETCH_ENDLESS UINT64_MAX

enum fetch_state {
    FETCH_UNUSED,
    FETCH_RUNS,
    FETCH_WAITS, /* to be tried again */
    FETCH_DONE,
    FETCH_FAILED
};

struct fetcher;

/* Bytes first to last of a file, which arrive in order.  It is in work until it
 * is done or has failed, tries again what may pass, and goes on where an answer
 * ended. */
struct fetch {
    enum fetch_state state;
    struct fetcher *fetcher;
    struct remote_file *file;
    uint64_t next, last; /* bytes that are still to come */
    uint64_t skip;       /* of an answer from the beginning, there already */
    bool (*take)(void *user, const uint8_t *bytes, size_t size);
    void *user;
    struct request request;
    struct address address; /* of the request in work */
    bool direct; /* it is what another one has redirected to before */
    unsigned hops, retry;
    uint64_t failed_at;      /* offset that it had reached */
    uint64_t again;          /* when, in milliseconds */
    bool changed;            /* the file has */
    int reason;              /* errno of a failure */
    char why[WIRE_TEXT_MAX]; /* and more about it */
};
struct hub_site;

struct fetcher {
    struct mf_env *env;
    struct curl curl;
    struct remote_cost cost;
    long patience; /* seconds of silence */
    struct fetch fetch[CURL_CONNECTIONS];
    bool news; /* bytes have come, or found no room, or a request has ended */
    int other; /* the parser's; news of it while it waits: */
    void (*over)(void);         /* it has ended */
    const struct hub_site *hub; /* which gets its token; or NULL */
    char next[2048];            /* see struct reply; of a document */
    bool next_is_wrong;
    char why[WIRE_TEXT_MAX]; /* after an error of a document */
};

/* Seconds of silence, unless MODELFILE_TIMEOUT has others. */
#define FETCH_PATIENCE 20

/* Begins; take: as of struct request.  The first one of a file finds out what
 * there is to know about it.  NULL if all are in use. */
struct fetch *fetch_begin(
    struct fetcher *fetcher, struct remote_file *file, struct mf_span span,
    bool (*take)(void *user, const uint8_t *bytes, size_t size), void *user);

/* Whether it may take more: neither done nor failed. */
bool fetch_runs(const struct fetch *fetch);

/* Bytes wait, for which there was no room. */
bool fetch_is_full(const struct fetch *fetch);
void fetch_go_on(struct fetch *fetch);

/* Ends it, wherever it is. */
void fetch_end(struct fetch *fetch);

/* Works on all of them, and waits for news if there is no work; true where
 * there are some of the other descriptor. */
bool fetch_work(struct fetcher *fetcher, int other);

/* Waits for news of them, while the parser waits. */
void fetch_wait(struct fetcher *fetcher);

/* Fetches a document as a whole, for which no range is asked; fewer bytes than
 * file->size where there is no room for more.  0, or a number of errno. */
int fetch_document(struct fetcher *fetcher, struct remote_file *file,
                   uint8_t *into, size_t room, size_t *got);

/* What tells this version of the file from others; of a server that says
 * nothing, 0. */
void fetch_name_version(const struct remote_file *file, uint64_t out[2]);

/* A copy on the env's heap; NULL if out of memory. */
char *fetch_text(struct mf_env *env, const char *text);

#endif
