/* SPDX-License-Identifier: MIT
 *
 * hub_repository.h - repositories that the command line names, and their
 * commits
 *
 * A revision means one commit for the whole run.  What files the commit has is
 * asked for when it matters.
 */
#ifndef MF_CLI_REMOTE_HUB_REPOSITORY_H
#define MF_CLI_REMOTE_HUB_REPOSITORY_H

#include "cli/remote/hub_listing.h"
#include "cli/remote/remote.h"

struct repository {
    const char *operand;
    struct hub_name name;
    char commit[HUB_COMMIT_DIGITS + 1]; /* "" until it is known */
    struct listing *listing;            /* NULL until it is known */
    struct listing own;
    struct hub_file *file; /* those that were opened: see hub_file.h */
};

struct the_hub {
    struct run *run;
    struct repository *repository;
    const char **names; /* theirs, for the helper */
    size_t count;
    bool offline; /* only the cache is read */
    struct hub_cost cost;
};
extern struct the_hub the_hub;

/* Takes the names of the command line; false after a report. */
bool hub_begin(struct run *run, const char *const *operand, size_t count);

/* While there is an env. */
void hub_end(void);

/* NULL if the command line does not name it. */
struct repository *hub_find(const char *operand);

/* What the helper knows it by. */
uint32_t hub_number(const struct repository *repository);

/* Finds out the commit, and which files it has.  0, or a number of errno. */
int hub_resolve(struct repository *repository);
int hub_list(struct repository *repository);

#endif
