/* SPDX-License-Identifier: MIT
 *
 * table.h - what `info` shows of a file that is a table, not a model
 */
#ifndef MF_CLI_TABLE_H
#define MF_CLI_TABLE_H

#include "cli/cli.h"

/* Lines of a label and a value, the value in that column; false of a model. */
bool table_text(struct run *run, const struct mf_model *model, size_t column);

/* The member "table", null of a model. */
void table_json(struct run *run, const struct mf_model *model);

#endif
