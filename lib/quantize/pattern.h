/* SPDX-License-Identifier: MIT
 *
 * pattern.h - a regular expression, found anywhere in a name
 *
 * As ECMAScript has them, without groups that look ahead or are referred to
 * again: alternatives, groups, sets, repetitions (greedy or not: all that is
 * asked is whether it is found), the ends of a text and of words.  Time is that
 * of the name's length times the pattern's, whatever the two are.
 */
#ifndef MF_LIB_PATTERN_H
#define MF_LIB_PATTERN_H

#include "lib/base/heap.h"

#define MF_PATTERN_STEPS 2000
#define MF_PATTERN_SETS  64

struct mf_pattern {
    struct mf_pattern_step {
        uint8_t op; /* in pattern.c */
        uint8_t byte;
        uint16_t next, other;
    } step[MF_PATTERN_STEPS];
    uint16_t step_count;
    uint16_t set_count;
    uint8_t set[MF_PATTERN_SETS]
               [256 / 8]; /* bytes that are in it, a bit each */
};

/* Capital letters are taken for small ones, as llama-quantize does. */
enum mf_status mf_pattern_init(struct mf_pattern *pattern, struct mf_env *env,
                               const char *text);

bool mf_pattern_found(const struct mf_pattern *pattern, struct mf_str name);

#endif
