/* SPDX-License-Identifier: MIT
 *
 * storages.h - what the tensors of an archive lie in
 */
#ifndef MF_CLI_TENSORS_STORAGES_H
#define MF_CLI_TENSORS_STORAGES_H

#include "cli/cli.h"

/* Members of the tensor in JSON: its storage, and how it lies there. */
void storage_json(struct run *run, const struct mf_model *model,
                  const struct mf_tensor *tensor);

/* The storages that tensors lie in, each once: a line, or a list in JSON.
 * Nothing where the format has none. */
void storages_show(struct run *run, const struct mf_model *model);

#endif
