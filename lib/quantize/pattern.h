/* SPDX-License-Identifier: MIT
 *
 * pattern.h - a regular expression, found anywhere in a name
 *
 * The syntax is ECMAScript's, which llama-quantize uses, without lookahead and
 * backreferences: alternatives, groups, sets, repetitions, and the boundaries
 * of a text and of words.  Greedy or not makes no difference, since the only
 * question is whether there is a match.
 *
 * Names come from files and patterns from users, and std::regex backtracks: a
 * pattern such as (a+)+b takes time that doubles with each letter, or overflows
 * the stack.  Here both are bounded: a pattern becomes at most MF_PATTERN_STEPS
 * steps, and a search takes no more than that many operations for each byte of
 * the name, in memory of a fixed size.  Lookahead and backreferences are what
 * this would not allow.
 */
#ifndef MF_LIB_PATTERN_H
#define MF_LIB_PATTERN_H

#include "lib/base/heap.h"

#define MF_PATTERN_STEPS 2000
#define MF_PATTERN_SETS  64

struct mf_pattern {
    struct mf_pattern_step {
        uint8_t op; /* enum mf_pattern_op */
        uint8_t byte;
        uint16_t next, other;
    } * step;
    uint8_t (*set)[256 / 8]; /* a bit for each byte in it */
    uint16_t step_count, set_count;
};

/* Compiles a pattern, into memory of the arena.  Its capital letters become
 * small ones, as in llama-quantize. */
enum mf_status mf_pattern_init(struct mf_pattern *pattern,
                               struct mf_arena *arena, const char *text);

/* Whether the pattern matches any part of the name. */
bool mf_pattern_matches(const struct mf_pattern *pattern, struct mf_str name);

#endif
