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
#include "cli/remote/hub_site.h"

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

#endif
