/* SPDX-License-Identifier: MIT
 *
 * tree.h - info --tree: the bytes of a model by the parts of its tensors' names
 */
#ifndef MF_CLI_COMMANDS_INFO_TREE_H
#define MF_CLI_COMMANDS_INFO_TREE_H

#include "cli/cli.h"

/* Names are divided at so many parts; a number counts as one with the part
 * before it; 0: up to the first number.  Lines of text, or the member "tree".
 * After an error of memory it is reported for path. */
void tree_show(struct run *run, const struct mf_model *model, const char *path,
               uint64_t depth);

#endif
