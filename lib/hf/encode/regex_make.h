/* SPDX-License-Identifier: MIT
 *
 * regex_make.h - a regular expression while it is read
 */
#ifndef MF_LIB_REGEX_MAKE_H
#define MF_LIB_REGEX_MAKE_H

#include "lib/hf/encode/regex.h"

#define MF_REGEX_NOTHING UINT32_MAX

struct mf_regex_group {
    enum mf_regex_kind kind;     /* MF_OP_MATCH: a plain one */
    uint32_t start, alternative; /* its first operation; of its last | */
    uint32_t jumps;              /* the last jump to its end, then by value */
    uint32_t size;               /* characters at least: of the alternative */
    uint32_t least;              /* of those before; MF_REGEX_NOTHING: none */
    bool fold, dot_all;          /* outside */
};

struct mf_making {
    struct mf_regex_input input;
    struct mf_regex *regex;
    struct mf_regex_group group[MF_REGEX_DEPTH];
    size_t depth;
    bool dot_all;
    uint32_t atom, atom_size; /* what a repetition repeats; MF_REGEX_NOTHING */
};

/* The next byte; 0 at the end. */
char mf_making_peek(const struct mf_making *making);

/* Takes a text, if it is next. */
bool mf_making_take(struct mf_making *making, const char *text);

/* Room for count operations at a place; an operation there; one at the end. */
enum mf_status mf_making_insert(struct mf_making *making, uint32_t at,
                                uint32_t count);
enum mf_status mf_making_put(struct mf_making *making, uint32_t at,
                             enum mf_regex_kind kind, int32_t value);
enum mf_status mf_making_append(struct mf_making *making,
                                enum mf_regex_kind kind, int32_t value);

/* A repetition of the last atom, if one follows; *taken. */
enum mf_status mf_making_repeat(struct mf_making *making, bool *taken);

#endif
