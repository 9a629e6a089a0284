/* SPDX-License-Identifier: MIT
 *
 * totals.h - tensors added up by type
 */
#ifndef MF_CLI_TOTALS_H
#define MF_CLI_TOTALS_H

#include "cli/cli.h"

#define TOTALS_MAX 64

struct total {
    char type[24];
    uint64_t tensors, parameters, bytes;
};

struct totals {
    struct total row[TOTALS_MAX]; /* the last one is "others" if there are more
                                     types than rows */
    size_t count;
    struct total all;
};

void totals_add(struct totals *totals, const struct mf_tensor *tensor);
void totals_show(struct run *run, const struct totals *totals);

#endif
