/* SPDX-License-Identifier: MIT
 *
 * hub_repository.c - repositories that the command line names, and their
 * commits
 */
#include "cli/remote/hub_repository.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/remote/asking.h"
#include "cli/remote/hub_kept.h"
#include "cli/remote/hub_site.h"
#include "cli/report.h"
#include "cli/room.h"

#define PAGES_MAX 200 /* of 1000 files, as a rule */

struct the_hub the_hub;

/* ---- the command line ---- */

bool hub_begin(struct run *run, const char *const *operand, size_t count)
{
    const char *set = getenv("HF_HUB_OFFLINE"), *why = NULL;

    the_hub.run = run;
    the_hub.offline =
        hub_is_set(set && *set ? "HF_HUB_OFFLINE" : "TRANSFORMERS_OFFLINE");
    the_hub.repository = room_take(count * sizeof(*the_hub.repository));
    the_hub.names = room_take(count * sizeof(*the_hub.names));
    the_hub.cost.commit = room_take(count * sizeof(*the_hub.cost.commit));
    if (!the_hub.repository || !the_hub.names || !the_hub.cost.commit) {
        report_no_room(run);
        return false;
    }
    for (; the_hub.count < count && !why; the_hub.count++) {
        struct repository *repository = &the_hub.repository[the_hub.count];

        repository->operand = operand[the_hub.count];
        why = hub_parse(repository->operand, &repository->name);
        the_hub.names[the_hub.count] = repository->name.repository;
        the_hub.cost.commit[the_hub.cost.commit_count++] =
            (struct hub_commit){ repository->name.repository,
                                 repository->name.revision,
                                 repository->commit };
        if (why)
            report_usage(run, "'%.200s': %s", repository->operand, why);
    }
    return !why;
}

uint32_t hub_number(const struct repository *repository)
{
    return (uint32_t)(repository - the_hub.repository);
}

struct repository *hub_find(const char *operand)
{
    for (size_t i = 0; i < the_hub.count; i++)
        if (strcmp(the_hub.repository[i].operand, operand) == 0)
            return &the_hub.repository[i];
    return NULL;
}

/* ---- answers of the Hub's API ---- */

struct page {
    char *bytes;
    size_t size, room;
    uint32_t number; /* the helper's */
};

static void release_page(struct page *page)
{
    if (page->bytes)
        mf_env_resize(the_hub.run->env, page->bytes, page->room, 0);
    *page = (struct page){ NULL, 0, 0, page->number };
}

static int read_bytes(struct page *page, size_t size)
{
    while (size > 0) {
        int64_t got = asking_read(page->number, page->size,
                                  page->bytes + page->size, size);

        if (got < 0)
            return (int)-got;
        page->size += (size_t)got;
        size -= (size_t)got;
    }
    return 0;
}

static int read_page(const struct wire_ask *ask, const char *name,
                     struct page *page)
{
    struct wire_answer answer;
    int reason = asking_open(ask, name, &answer);

    if (reason != 0)
        return reason;
    if (answer.total > HUB_DOCUMENT_MAX)
        return asking_failed(EIO, "the Hub's answer is too long");
    page->number = answer.file;
    page->room = (size_t)answer.total + 1;
    page->bytes = mf_env_resize(the_hub.run->env, NULL, 0, page->room);
    return page->bytes ? read_bytes(page, (size_t)answer.total) : ENOMEM;
}

/* An object around an array. */
static int add_page(struct listing *listing, struct page *page)
{
    static const char before[] = LISTING_BEFORE, after[] = LISTING_AFTER;
    size_t room = page->size + sizeof(before) + sizeof(after);
    char *whole = mf_env_resize(the_hub.run->env, NULL, 0, room);
    struct listing_why why;
    int reason;

    if (!whole)
        return ENOMEM;
    memcpy(whole, before, sizeof(before) - 1);
    memcpy(whole + sizeof(before) - 1, page->bytes, page->size);
    memcpy(whole + sizeof(before) - 1 + page->size, after, sizeof(after));
    release_page(page);
    reason = listing_add(listing, whole, room - 2, &why);
    mf_env_resize(the_hub.run->env, whole, room, 0);
    return reason != 0 ? asking_failed(reason, why.text) : 0;
}

static int add_pages(struct repository *repository, struct listing *listing)
{
    struct wire_ask ask = { WIRE_LIST, hub_number(repository), 0,
                            strlen(repository->commit), 0 };
    const char *name = repository->commit;
    struct page page = { NULL, 0, 0, 0 };
    int reason = 0;

    for (unsigned i = 0; reason == 0; i++) {
        reason = i < PAGES_MAX
                     ? read_page(&ask, name, &page)
                     : asking_failed(EIO, "the Hub's list of files has more "
                                          "than 200 pages");
        if (reason == 0)
            reason = add_page(listing, &page);
        release_page(&page);
        ask = (struct wire_ask){ WIRE_NEXT, page.number, 0, 0, 0 };
        name = NULL;
    }
    return reason == ENODATA ? 0 : reason;
}

/* Two names may be of one commit. */
static struct listing *find_listing(const struct repository *repository)
{
    for (size_t i = 0; i < the_hub.count; i++) {
        const struct repository *other = &the_hub.repository[i];

        if (other->listing && strcmp(other->commit, repository->commit) == 0 &&
            strcmp(other->name.repository, repository->name.repository) == 0)
            return other->listing;
    }
    return NULL;
}

/* A source of bytes cannot be asked for the names in a folder. */
static void remark_templates(const struct repository *repository)
{
    static const char folder[] = "additional_chat_templates/";
    const struct listing *listing = repository->listing;

    for (size_t i = 0; i < listing->count; i++)
        if (strstr(listing_path(listing, &listing->file[i]), folder)) {
            report_remark(the_hub.run, repository->operand,
                          "chat templates in additional_chat_templates are "
                          "not read");
            return;
        }
}

/* Finds out which files the commit has. */
int hub_list(struct repository *repository)
{
    struct listing_why why = { "" };
    int reason;

    if (!repository->listing)
        repository->listing = find_listing(repository);
    if (repository->listing)
        return 0;
    repository->own = (struct listing){ .env = the_hub.run->env };
    reason = the_hub.offline
                 ? hub_add_cached(the_hub.run, repository, &repository->own)
             : hub_add_kept(the_hub.run, repository, &repository->own)
                 ? 0
                 : add_pages(repository, &repository->own);
    if (reason == 0)
        reason = listing_end(&repository->own, &why);
    if (*why.text)
        asking_failed(reason, why.text);
    if (reason != 0) {
        listing_release(&repository->own);
        return reason;
    }
    repository->listing = &repository->own;
    remark_templates(repository);
    return 0;
}

static int ask_commit(struct repository *repository)
{
    struct wire_ask ask = { WIRE_COMMIT, hub_number(repository), 0,
                            strlen(repository->name.revision), 0 };
    struct page page = { NULL, 0, 0, 0 };
    int reason = read_page(&ask, repository->name.revision, &page);

    if (reason == 0 && !listing_commit(the_hub.run->env, page.bytes, page.size,
                                       repository->commit)) {
        *repository->commit = 0;
        reason = asking_failed(EIO, "the Hub's answer about the revision names "
                                    "no commit");
    }
    release_page(&page);
    return reason;
}

/* A name that the cache knows keeps its meaning. */
static void note_cached(const struct repository *repository, time_t when)
{
    char text[400], day[32];
    struct tm parts;

    if (!gmtime_r(&when, &parts) ||
        strftime(day, sizeof(day), " since %Y-%m-%d", &parts) == 0)
        *day = 0;
    snprintf(text, sizeof(text), "'%.200s' is commit %s, as the cache has it%s",
             repository->name.revision, repository->commit, day);
    report_note(the_hub.run, repository->operand, text);
}

/* The commit that is read for the whole run. */
int hub_resolve(struct repository *repository)
{
    const struct hub_name *name = &repository->name;
    time_t when;

    if (*repository->commit)
        return 0;
    if (hub_is_commit(name->revision)) {
        strcpy(repository->commit, name->revision);
        return 0;
    }
    if (hub_cache_commit(name->repository, name->revision, repository->commit,
                         &when)) {
        note_cached(repository, when);
        return 0;
    }
    if (the_hub.offline)
        return asking_failed(ENOENT, "the cache does not have that revision, "
                                     "and HF_HUB_OFFLINE is set");
    return ask_commit(repository);
}

void hub_end(void)
{
    for (size_t i = 0; i < the_hub.count; i++)
        if (the_hub.repository[i].listing)
            listing_release(&the_hub.repository[i].own);
}
