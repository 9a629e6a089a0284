/* SPDX-License-Identifier: MIT
 *
 * hub_serve.c - what the helper asks the Hub for
 */
#include "cli/remote/hub_serve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/remote/hub.h"

/* ---- addresses ---- */

/* "COMMIT/PATH" */
static bool is_file(const char *name)
{
    return strspn(name, "0123456789abcdef") == HUB_COMMIT_DIGITS &&
           name[HUB_COMMIT_DIGITS] == '/' && hub_is_path(name);
}

bool hub_address(const struct hub_site *site, const struct wire_ask *ask,
                 const char *name, struct address *out)
{
    const char *format = "%s/api/models/%s/revision/", *after = "";
    bool valid = hub_is_path(name);
    size_t room = sizeof(out->at), size, escaped;

    if (ask->op == WIRE_LIST) {
        format = "%s/api/models/%s/tree/";
        after = "?recursive=true";
        valid = hub_is_commit(name);
    } else if (ask->op == WIRE_FILE) {
        format = "%s/%s/resolve/";
        valid = is_file(name);
    }
    if (!valid || ask->file >= site->count)
        return false;
    size = (size_t)snprintf(out->at, room, format, site->endpoint,
                            site->repository[ask->file]);
    if (size >= room)
        return false;
    escaped =
        address_escape(out->at + size, room - size, name, ask->op == WIRE_FILE);
    size += escaped;
    if (escaped == 0 || strlen(after) >= room - size)
        return false;
    strcpy(out->at + size, after);
    return true;
}

/* The same list on the same server, wherever redirects have led to. */
int hub_next(struct fetcher *fetcher, const struct remote_file *file,
             struct address *out)
{
    const char *next = file->next, *here = file->at ? file->at : file->url;
    size_t size = address_path_size(here);

    if (!next)
        return ENODATA;
    if (address_refused(next) || address_path_size(next) != size ||
        strncmp(next, here, size) != 0) {
        snprintf(fetcher->why, sizeof(fetcher->why),
                 "the Hub's list of files goes on at another address");
        return EIO;
    }
    strcpy(out->at, next);
    return 0;
}

/* ---- answers ---- */

void hub_forget(struct fetcher *fetcher, struct remote_file *file)
{
    mf_env_resize(fetcher->env, file->document, file->room, 0);
    if (file->next)
        mf_env_resize(fetcher->env, file->next, strlen(file->next) + 1, 0);
    file->document = NULL;
    file->next = NULL;
    file->room = 0;
    file->known = false;
}

static int no_memory(struct fetcher *fetcher)
{
    snprintf(fetcher->why, sizeof(fetcher->why),
             "the network's process has no memory");
    return ENOMEM;
}

/* A document is kept until the next page is asked for, and no longer than it
 * is. */
static int keep(struct fetcher *fetcher, struct remote_file *file, size_t got)
{
    uint8_t *bytes =
        got > 0 ? mf_env_resize(fetcher->env, file->document, file->room, got)
                : NULL;

    if (bytes) {
        file->document = bytes;
        file->room = got;
    }
    if (fetcher->next_is_wrong) {
        snprintf(fetcher->why, sizeof(fetcher->why),
                 "the Hub's answer is wrong: its Link is invalid");
        return EIO;
    }
    file->next =
        *fetcher->next ? fetch_text(fetcher->env, fetcher->next) : NULL;
    return *fetcher->next && !file->next ? no_memory(fetcher) : 0;
}

int hub_fetch(struct fetcher *fetcher, struct remote_file *file)
{
    size_t got = 0;
    int reason;

    file->room = (size_t)HUB_DOCUMENT_MAX;
    file->document = mf_env_resize(fetcher->env, NULL, 0, file->room);
    if (!file->document) {
        file->room = 0;
        return no_memory(fetcher);
    }
    reason = fetch_document(fetcher, file, file->document, file->room, &got);
    if (reason == 0 && got < file->size) {
        snprintf(fetcher->why, sizeof(fetcher->why),
                 "the Hub's answer has more than 4 MiB");
        reason = EIO;
    }
    if (reason == 0)
        reason = keep(fetcher, file, got);
    if (reason != 0)
        hub_forget(fetcher, file);
    return reason;
}
