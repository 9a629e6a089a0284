/* SPDX-License-Identifier: MIT
 *
 * hub_site.h - the Hub, as the helper knows it
 */
#ifndef MF_CLI_REMOTE_HUB_SITE_H
#define MF_CLI_REMOTE_HUB_SITE_H

#include "cli/remote/reply.h"

/* The longest answer of the API: a page of a list has 1000 files. */
#define HUB_DOCUMENT_MAX ((uint64_t)4 * 1024 * 1024)

/* What the helper knows of the Hub. */
struct hub_site {
    const char *endpoint;
    const char *token;             /* "": none */
    const char *const *repository; /* of the command line */
    size_t count;
};

/* What an answer of the Hub's own server means that is not the file; NULL: what
 * it means from any other.  *reason is a number of errno. */
const char *hub_refusal(const struct reply *reply, bool has_token, int *reason);

#endif
