/* SPDX-License-Identifier: MIT
 *
 * expr.h - the state of an expression: for the two files that read it
 */
#ifndef MF_LIB_TEMPLATE_EXPR_H
#define MF_LIB_TEMPLATE_EXPR_H

#include "lib/template/parse.h"

enum bracket { TOP, GROUP, LIST, KEY, VALUE, SUBSCRIPT, CALL };

/* What may begin an operand. */
enum due { LOGIC /* "not" */, MATH /* a sign */, PRIMARY /* neither */ };

/* What may follow an operand, besides an operator. */
enum { MEMBER = 1, CALLED = 2, FILTERED = 4, TESTED = 8, ANYTHING = 15 };

/* What was given in a bracket. */
enum {
    NAMED = 1,   /* an argument with a name */
    STARRED = 2, /* *list */
    MAPPED = 4,  /* **object */
    SPECIAL = 8, /* this argument is one of these */
    AFTER_COMMA = 16
};

struct mf_template_state {
    struct mf_template_parser *parser;
    size_t base; /* brackets below are another expression's */
    unsigned flags;
    enum due due;
    uint8_t grant;    /* what may follow the operand that is due */
    uint8_t after;    /* ... the one that was read */
    bool is_due;      /* an operand */
    bool at_start;    /* of an element of a bracket */
    bool plain;       /* the operand is a name that is a whole element so far */
    bool composed;    /* there is an operator at the top */
    bool ends_called; /* the last bracket that was closed was a call's */
    bool done;
};

static inline struct mf_template_bracket *
mf_expr_top(const struct mf_template_state *state)
{
    return &state->parser->bracket[state->parser->depth - 1];
}

/* An operator at the top: the expression is not only a call. */
static inline void mf_expr_compose(struct mf_template_state *state)
{
    state->composed = state->composed || mf_expr_top(state)->kind == TOP;
}

static inline void mf_expr_want(struct mf_template_state *state, enum due due,
                                uint8_t grant)
{
    state->is_due = true;
    state->due = due;
    state->grant = grant;
    state->plain = false;
}

/* The next element of the bracket begins. */
static inline void mf_expr_want_element(struct mf_template_state *state)
{
    mf_expr_top(state)->ternary = false;
    mf_expr_top(state)->given &= (uint8_t)~SPECIAL;
    mf_expr_want(state, LOGIC, ANYTHING);
    state->at_start = true;
}

static inline void mf_expr_have(struct mf_template_state *state, uint8_t after)
{
    state->is_due = false;
    state->at_start = false;
    state->after = after;
}

static inline void mf_expr_fail(struct mf_template_state *state,
                                const char *expected)
{
    mf_template_unexpected(state->parser, expected);
    state->done = true;
}

/* Opens a bracket, which is the current token but for TOP. */
void mf_expr_open(struct mf_template_state *state, enum bracket kind,
                  uint8_t after);

/* At the start of an element: true if there is none, or not yet. */
bool mf_expr_no_element(struct mf_template_state *state);

/* An operand is complete, and no operator follows. */
void mf_expr_next(struct mf_template_state *state);

#endif
