/* SPDX-License-Identifier: MIT
 *
 * tsv.h - fields of tab-separated values, for cut, awk and the like
 *
 * The first line has the names of the columns, as in --json.  A field is
 * followed by a tab or the end of the line, and has neither: a text from a file
 * is escaped, "\" too, so that the original can be restored.  A field without a
 * value is empty.
 */
#ifndef MF_CLI_TSV_H
#define MF_CLI_TSV_H

#include "cli/cli.h"

/* The field before this one is over. */
void tsv_next(struct out *out);

void tsv_text(struct out *out, struct mf_str text);
void tsv_number(struct out *out, uint64_t number);

/* In the shortest digits that read back as the same number. */
void tsv_double(struct out *out, double number);

/* 4096x32000, with all dimensions; "scalar" without any. */
void tsv_shape(struct out *out, const struct mf_tensor *tensor);

/* False after report_usage: --tsv is not possible with what else was given. */
bool tsv_fits(struct run *run);

#endif
