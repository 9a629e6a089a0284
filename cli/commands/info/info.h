/* SPDX-License-Identifier: MIT
 *
 * info.h - between the files of modelfile info
 */
#ifndef MF_CLI_INFO_H
#define MF_CLI_INFO_H

#include "cli/cli.h"
#include "cli/totals.h"

/* Of a model that has parameters. */
double info_bits_per_weight(const struct mf_model_info *info);

struct totals info_totals(const struct mf_model *model);

/* The one of both that has the fact; NULL: neither. */
struct mf_model *info_fact(struct mf_model *model, struct mf_model *outline,
                           enum mf_fact fact, struct mf_meta *meta, size_t *at);

/* outline: what config.json says, or NULL. */
void info_json(struct run *run, struct mf_model *model,
               struct mf_model *outline);

#endif
