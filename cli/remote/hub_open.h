/* SPDX-License-Identifier: MIT
 *
 * hub_open.h - models of the Hub: the parser's side
 *
 * A revision means a commit, which stays the same for the whole run.  Files that
 * the cache of huggingface_hub has of it are read there, others are fetched; the
 * list of files says which others there are, how long they are, and their
 * SHA-256.  Bytes that pass in order are digested: a file of which all have
 * passed so has been checked.
 */
#ifndef MF_CLI_REMOTE_HUB_OPEN_H
#define MF_CLI_REMOTE_HUB_OPEN_H

#include "cli/remote/hub.h"
#include "cli/remote/remote.h"

/* Takes the names of the command line; false after a report. */
bool hub_begin(struct run *run, const char *const *operand, size_t count);

/* Whether files may be fetched: HF_HUB_OFFLINE is not set. */
bool hub_is_online(void);

/* The repositories, in the order of the names. */
const char *const *hub_repositories(void);

enum mf_status hub_open(struct run *run, const char *operand,
                        const struct mf_open_options *options,
                        struct mf_model **out);

/* Reads what is left of the model's files, so that each is checked that has a
 * SHA-256.  0, or a number of errno. */
int hub_check(const struct mf_model *model, const char *operand);

/* See remote.h. */
const struct hub_cost *hub_cost(void);
bool hub_commit_at(size_t index, struct hub_commit *out);

/* While there is an env. */
void hub_end(void);

#endif
