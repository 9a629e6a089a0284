/* SPDX-License-Identifier: MIT
 *
 * hub_open.h - models of the Hub: which file is meant, and what is checked
 */
#ifndef MF_CLI_REMOTE_HUB_OPEN_H
#define MF_CLI_REMOTE_HUB_OPEN_H

#include "cli/remote/hub_repository.h"

enum mf_status hub_open(struct run *run, const char *operand,
                        const struct mf_open_options *options,
                        struct mf_model **out);

/* Reads what is left of the model's files, so that each is checked that has a
 * SHA-256.  0, or a number of errno. */
int hub_check(const struct mf_model *model, const char *operand);

#endif
