/* SPDX-License-Identifier: MIT
 *
 * fetch.h - blocks of a file on a server, which stays the same file
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
    uint64_t size;
    char etag[256], modified[64];
    struct mf_span expected; /* see WIRE_EXPECT */
    int reason;              /* errno, if it could not be opened */
    char why[WIRE_TEXT_MAX];

    bool hub;          /* it is of the Hub; see hub_serve.h */
    bool whole;        /* it is an answer of its API, */
    uint8_t *document; /* which is here; NULL: not any more */
    size_t room;
    char *next; /* the next page; NULL: there is none */
};

struct hub_site;

struct fetcher {
    struct mf_env *env;
    struct curl curl;
    struct remote_cost cost;
    bool (*is_over)(void);          /* the program has ended */
    void (*pause)(unsigned millis); /* which ends the process then */
    long patience;                  /* seconds of silence */
    struct address address;         /* of the request in work */
    const struct hub_site *hub;     /* which gets its token; or NULL */
    char next[2048];                /* see struct reply */
    bool next_is_wrong;
    char why[WIRE_TEXT_MAX]; /* after an error */
};

/* Seconds of silence, unless MODELFILE_TIMEOUT has others. */
#define FETCH_PATIENCE 20

/* The most that is read of a server that sends whole files only. */
#define FETCH_WHOLE_MAX ((uint64_t)16 * 1024 * 1024)

/* Reads up to room bytes at offset; fewer only at the end of the file.  The
 * first call, at 0, finds out what there is to know about the file.  Returns 0,
 * or a number of errno. */
int fetch_block(struct fetcher *fetcher, struct remote_file *file,
                uint64_t offset, uint8_t *into, size_t room, size_t *got);

/* A copy on the env's heap; NULL if out of memory. */
char *fetch_text(struct mf_env *env, const char *text);

#endif
