/* SPDX-License-Identifier: MIT
 *
 * name_pattern.h - the name of a tensor without its numbers
 *
 * "blk.7.attn_q.weight" becomes "blk.*.attn_q.weight", so that one row of a
 * table stands for the tensors of all blocks.
 */
#ifndef MF_LIB_NAME_PATTERN_H
#define MF_LIB_NAME_PATTERN_H

#include "lib/modelfile.h"

/* The longest pattern of any table takes 55 bytes. */
#define MF_NAME_PATTERN_MAX 64

struct mf_name_pattern {
    char text[MF_NAME_PATTERN_MAX];
    struct mf_str name; /* with "*" for each number between dots */
    bool has_block;
    uint64_t block; /* the first number */
};

/* False for a name that no table can have: too long, or with a number of more
 * than nine digits. */
bool mf_name_pattern_make(struct mf_str name, struct mf_name_pattern *out);

#endif
