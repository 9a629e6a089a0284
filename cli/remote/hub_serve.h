/* SPDX-License-Identifier: MIT
 *
 * hub_serve.h - what the helper asks the Hub for
 *
 * The parser names a repository of the command line and what it wants of it;
 * the helper makes the address.  It reads no answer of the Hub's API, but for
 * the status, and where the next page of a list is.
 */
#ifndef MF_CLI_REMOTE_HUB_SERVE_H
#define MF_CLI_REMOTE_HUB_SERVE_H

#include "cli/remote/fetch.h"

/* The longest answer of the API: a page of a list has 1000 files. */
#define HUB_DOCUMENT_MAX ((uint64_t)4 * 1024 * 1024)

/* What the helper knows of the Hub. */
struct hub_site {
    const char *endpoint;
    const char *token;             /* "": none */
    const char *const *repository; /* of the command line */
    size_t count;
};

/* The address of what a question is about; false: nothing has that name. */
bool hub_address(const struct hub_site *site, const struct wire_ask *ask,
                 const char *name, struct address *out);

/* Where a list goes on: ENODATA at its end.  The error is in the fetcher. */
int hub_next(struct fetcher *fetcher, const struct remote_file *file,
             struct address *out);

/* Fetches a whole answer of the API into file->document.  0, or a number of
 * errno. */
int hub_fetch(struct fetcher *fetcher, struct remote_file *file);
void hub_forget(struct fetcher *fetcher, struct remote_file *file);

/* What an answer of the Hub's own server means that is not the file; NULL: what
 * it means from any other.  *reason is a number of errno. */
const char *hub_refusal(const struct reply *reply, bool has_token, int *reason);

#endif
