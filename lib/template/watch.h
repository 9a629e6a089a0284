/* SPDX-License-Identifier: MIT
 *
 * watch.h - what in a template's code looks wrong
 *
 * Sees the tokens that the parser passes, in their order, and where blocks
 * begin and end.  Three things are looked for:
 * - names that lead out of the sandbox that a template runs in, also where they
 *   are put together from strings;
 * - filters and tests that a reader does not have;
 * - text that a model gets only if a message says something: a condition that
 *   compares content with words, and sentences in what depends on it.
 *
 * No finding proves anything.  The limits are those that no template of 70
 * published models reaches.
 */
#ifndef MF_LIB_TEMPLATE_WATCH_H
#define MF_LIB_TEMPLATE_WATCH_H

#include "lib/template/lex.h"

enum mf_template_tag {
    MF_TAG_PRINT,     /* {{ }} */
    MF_TAG_CONDITION, /* if, elif */
    MF_TAG_SET,
    MF_TAG_LOOP,
    MF_TAG_MACRO,
    MF_TAG_FILTER,
    MF_TAG_IMPORT, /* import, from, include, extends */
    MF_TAG_OTHER
};

/* A part of a condition between "and", "or" and their kin. */
struct mf_template_clause {
    bool content;  /* what a message says */
    bool compares; /* "in", "==", startswith, ... */
    bool other;    /* a role, a type, a name: not what it says */
    char literal[32];
    size_t literal_size;
    uint64_t literal_words;
};

/* A name that was given a value. */
struct mf_template_variable {
    uint64_t hash;  /* 0: none */
    uint64_t words; /* in strings of its value */
    bool content;
};

#define MF_TEMPLATE_VARIABLES 64
#define MF_TEMPLATE_SCOPES    100

/* What depends on a condition. */
struct mf_template_scope {
    bool triggered;
    uint64_t start;    /* words before it */
    uint64_t variable; /* of a macro or a block that is set */
    char literal[32];
    size_t literal_size;
    struct mf_template_place place;
};

struct mf_template_watch {
    struct mf_template_report *report;
    uint64_t words; /* that may be shown, so far */
    /* the tag */
    enum mf_template_tag tag;
    struct mf_template_place place;
    bool content, conditional, triggered, assigned;
    uint64_t tag_words, target;
    unsigned depth, muted; /* of parentheses; muted: see raise_exception */
    struct mf_template_clause clause, trigger;
    /* the tokens before */
    struct mf_template_token_now last;
    bool after_is;            /* "is" or "is not" */
    char joined[MF_LEX_KEPT]; /* strings that are put together */
    size_t joined_size, joined_parts;
    /* the template */
    struct mf_template_variable variable[MF_TEMPLATE_VARIABLES];
    size_t variable_count; /* modulo their number: the oldest are lost */
    struct mf_template_scope scope[MF_TEMPLATE_SCOPES];
    size_t scope_count;
};

/* Text outside of tags. */
void mf_template_watch_text(struct mf_template_watch *watch, uint64_t words);

/* A tag begins, with the token that tells which. */
void mf_template_watch_tag(struct mf_template_watch *watch,
                           enum mf_template_tag tag,
                           const struct mf_template_place *place);

/* A token within it. */
void mf_template_watch_token(struct mf_template_watch *watch,
                             const struct mf_template_token_now *token);

/* It ends; afterwards: it began a block, went on with one, or ended one. */
void mf_template_watch_tag_end(struct mf_template_watch *watch);
void mf_template_watch_block(struct mf_template_watch *watch);
void mf_template_watch_else(struct mf_template_watch *watch);
void mf_template_watch_block_end(struct mf_template_watch *watch);

/* In code.c: names and strings that lead out of the sandbox, and names
 * of filters and tests. */
void mf_template_watch_code(struct mf_template_watch *watch,
                            const struct mf_template_token_now *token);

#endif
