/* SPDX-License-Identifier: MIT
 *
 * pattern_parse.h - shared by the files that compile a pattern
 */
#ifndef MF_LIB_PATTERN_PARSE_H
#define MF_LIB_PATTERN_PARSE_H

#include <string.h>

#include "lib/base/str.h"
#include "lib/quantize/pattern.h"

enum mf_pattern_op {
    BYTE,     /* this one */
    SET,      /* one of a set, whose number is byte */
    SPLIT,    /* continue at next and at other */
    JUMP,     /* continue at next */
    BEGIN,    /* at the start of the name */
    END,      /* at its end */
    WORD,     /* at a word boundary */
    NOT_WORD, /* not at a word boundary */
    MATCH
};

struct mf_pattern_parser {
    struct mf_env *env;
    struct mf_pattern *pattern;
    const char *text, *at;
    unsigned depth; /* of groups */
    bool failed;
};

/* Notes an error at the current character, unless there is one; false. */
bool mf_pattern_fail(struct mf_pattern_parser *parser, const char *what);

/* Appends a step that continues at the one after it. */
struct mf_pattern_step *mf_pattern_add(struct mf_pattern_parser *parser,
                                       enum mf_pattern_op op);

/* ---- pattern_set.c ---- */

/* Whether a byte is in a class: "w" for \\w, "alpha" for [:alpha:], "." for a
 * full stop. */
bool mf_pattern_in_class(const char *name, unsigned byte);

/* Whether the parser is at \\d, \\w, \\s or their complements. */
bool mf_pattern_at_class(const struct mf_pattern_parser *parser);

/* Append a step for the class at the parser (after its backslash), for a full
 * stop, and for a set (after its bracket). */
bool mf_pattern_class(struct mf_pattern_parser *parser);
bool mf_pattern_any(struct mf_pattern_parser *parser);
bool mf_pattern_set(struct mf_pattern_parser *parser);

/* The byte of an escape, after its backslash. */
bool mf_pattern_escaped(struct mf_pattern_parser *parser, uint8_t *out);

#endif
