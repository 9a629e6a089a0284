/* SPDX-License-Identifier: MIT
 *
 * hub_kept.h - which files a commit has, as the cache says
 */
#ifndef MF_CLI_REMOTE_HUB_KEPT_H
#define MF_CLI_REMOTE_HUB_KEPT_H

#include "cli/remote/hub_repository.h"

/* Without the Hub: the files that the cache has of the commit.  0, or a number
 * of errno. */
int hub_add_cached(struct run *run, const struct repository *repository,
                   struct listing *listing);

/* The list that the cache has; false if the Hub has to be asked. */
bool hub_add_kept(struct run *run, const struct repository *repository,
                  struct listing *listing);

#endif
