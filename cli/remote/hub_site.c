/* SPDX-License-Identifier: MIT
 *
 * hub_site.c - the Hub, as the helper knows it
 */
#include "cli/remote/hub_site.h"

#include <errno.h>
#include <string.h>

const char *hub_refusal(const struct reply *reply, bool has_token, int *reason)
{
    bool missing = reply->status == 404;

    *reason = missing ? ENOENT : EACCES;
    if (reply->status != 401 && reply->status != 403 && !missing)
        return NULL;
    if (strcmp(reply->problem, "GatedRepo") == 0)
        return has_token ? "the repository is gated, and the account of the "
                           "token has no access: ask for it on its page"
                         : "the repository is gated: ask for access on its "
                           "page, and set HF_TOKEN";
    if (strcmp(reply->problem, "RevisionNotFound") == 0)
        return "the repository has no such revision";
    if (strcmp(reply->problem, "EntryNotFound") == 0)
        return "the revision has no such file";
    if (missing)
        return has_token ? "the Hub has no such repository, or none that the "
                           "token may read"
                         : "the Hub has no such repository";
    if (!has_token)
        return "the Hub has no public repository of that name: if it is "
               "private, set HF_TOKEN";
    return reply->status == 401
               ? "the Hub does not accept the token"
               : "the repository is private, and the token may not read it";
}
