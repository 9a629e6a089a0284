/* SPDX-License-Identifier: MIT
 *
 * pattern_parse.h - what the parts of reading a pattern share
 */
#ifndef MF_LIB_PATTERN_PARSE_H
#define MF_LIB_PATTERN_PARSE_H

#include <string.h>

#include "lib/quantize/pattern.h"

enum mf_pattern_op {
    BYTE,     /* this one */
    SET,      /* one of a set, whose number is byte */
    SPLIT,    /* on to next and to other */
    JUMP,     /* on to next */
    BEGIN,    /* the name's begin */
    END,      /* its end */
    WORD,     /* the begin or end of a word */
    NOT_WORD, /* neither */
    FOUND
};

struct mf_pattern_parser {
    struct mf_env *env;
    struct mf_pattern *pattern;
    const char *text, *at;
    unsigned depth; /* of groups */
    bool failed;
};

/* Says what is wrong where the parser stands, once; false. */
bool mf_pattern_fail(struct mf_pattern_parser *parser, const char *what);

/* One step more, which leads to the one behind it. */
struct mf_pattern_step *mf_pattern_add(struct mf_pattern_parser *parser,
                                       enum mf_pattern_op op);

/* ---- pattern_set.c ---- */

/* "w" for \\w, "alpha" for [:alpha:], "." for what a full stop is. */
bool mf_pattern_in_class(const char *name, unsigned byte);

/* At a class: \\d, \\w, \\s or what they are not. */
bool mf_pattern_at_class(const struct mf_pattern_parser *parser);

/* A step of a set: the class that it stands at (behind the backslash), what a
 * full stop is, or what stands behind a bracket. */
bool mf_pattern_class(struct mf_pattern_parser *parser);
bool mf_pattern_any(struct mf_pattern_parser *parser);
bool mf_pattern_set(struct mf_pattern_parser *parser);

/* The byte that stands for itself behind a backslash. */
bool mf_pattern_escaped(struct mf_pattern_parser *parser, uint8_t *out);

/* Letters that were capital ones are small. */
uint8_t mf_pattern_small(char byte);

#endif
