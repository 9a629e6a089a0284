/* SPDX-License-Identifier: MIT
 *
 * adapter.h - what `info` shows of a LoRA adapter
 */
#ifndef MF_CLI_ADAPTER_H
#define MF_CLI_ADAPTER_H

#include "cli/cli.h"

/* Lines of a label and a value, the value in that column; of a model that is
 * not an adapter none. */
void adapter_text(struct run *run, struct mf_model *model, size_t column);

/* The member "adapter", null of a model that is not one. */
void adapter_json(struct run *run, struct mf_model *model);

#endif
