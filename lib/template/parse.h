/* SPDX-License-Identifier: MIT
 *
 * parse.h - the grammar of templates, as either reader has it
 *
 * Expressions and blocks are open on two stacks of fixed size.  No tree is
 * made: precedence does not matter to what is accepted, so that an expression
 * is a chain of operands and operators, with brackets in between.
 */
#ifndef MF_LIB_TEMPLATE_PARSE_H
#define MF_LIB_TEMPLATE_PARSE_H

#include <string.h>

#include "lib/template/lex.h"
#include "lib/template/watch.h"

/* jinja2 gives up before: Python allows about 60 brackets or 20 loops. */
#define MF_TEMPLATE_BRACKETS 200
#define MF_TEMPLATE_BLOCKS   100

/* What expr.c keeps of a bracket that is open. */
struct mf_template_bracket {
    uint8_t kind;
    uint8_t after;  /* what may follow once it is closed */
    uint8_t colons; /* in a subscript */
    uint8_t given;  /* arguments and elements so far, as bits */
    bool ternary;   /* "if" was read, "else" may come */
};

enum mf_template_block_kind {
    MF_BLOCK_IF,
    MF_BLOCK_FOR,
    MF_BLOCK_SET,
    MF_BLOCK_MACRO,
    MF_BLOCK_CALL,
    MF_BLOCK_FILTER,
    MF_BLOCK_GENERATION,
    MF_BLOCK_WITH,
    MF_BLOCK_AUTOESCAPE,
    MF_BLOCK_BLOCK
};

struct mf_template_block {
    uint8_t kind; /* enum mf_template_block_kind */
    bool has_else;
    struct mf_template_place place;
};

struct mf_template_parser {
    struct mf_template_lexer lexer;
    struct mf_template_watch *watch;
    struct mf_template_bracket bracket[MF_TEMPLATE_BRACKETS];
    struct mf_template_block block[MF_TEMPLATE_BLOCKS];
    size_t depth, block_count;
    bool was_call; /* the last expression was a call and nothing else */
};

/* What an expression may be. */
enum {
    MF_EXPR_TUPLE = 1,  /* several, with commas in between */
    MF_EXPR_NO_IF = 2,  /* jinja2: "a if b" is not part of it */
    MF_EXPR_PRIMARY = 4 /* without operators: before "in" */
};

/* Reads an expression from the current token on, and leaves the token that ends
 * it.  False after a failure. */
bool mf_template_expression(struct mf_template_parser *parser, unsigned flags);

/* Arguments in parentheses, from the current token on. */
bool mf_template_arguments(struct mf_template_parser *parser);

/* What a tag is, by its name: one of the functions reads what follows that. */
struct mf_template_tag_row {
    const char *name;
    unsigned readers;
    enum mf_template_tag kind;
    bool (*block)(struct mf_template_parser *parser,
                  const struct mf_template_place *place);
    bool (*single)(struct mf_template_parser *parser);
    bool (*import)(struct mf_template_parser *parser, const char *name);
};

/* The row of the name that is the current token; NULL if there is none. */
const struct mf_template_tag_row *
mf_template_find_tag(const struct mf_template_parser *parser);

/* The condition of "if" and "elif", what a loop goes over. */
bool mf_template_condition(struct mf_template_parser *parser);

/* The end of a tag, which begins a block or does not. */
bool mf_template_end_tag(struct mf_template_parser *parser);
bool mf_template_begin(struct mf_template_parser *parser,
                       enum mf_template_block_kind kind,
                       const struct mf_template_place *place);

/* The whole template. */
void mf_template_parse(struct mf_template_parser *parser);

/* ---- for both files ---- */

static inline const struct mf_template_token_now *
mf_template_now(const struct mf_template_parser *parser)
{
    return &parser->lexer.token;
}

static inline bool mf_template_is(const struct mf_template_parser *parser,
                                  const char *name)
{
    const struct mf_template_token_now *token = &parser->lexer.token;
    size_t size = strlen(name);

    return token->kind == MF_LEX_NAME && token->size == size &&
           memcmp(token->text, name, size) == 0;
}

static inline bool mf_template_is_op(const struct mf_template_parser *parser,
                                     uint16_t op)
{
    return parser->lexer.token.kind == MF_LEX_OPERATOR &&
           parser->lexer.token.op == op;
}

static inline bool mf_template_jinja2(const struct mf_template_parser *parser)
{
    return parser->lexer.reader == MF_TEMPLATE_JINJA2;
}

/* Passes the current token. */
void mf_template_pass(struct mf_template_parser *parser);

/* Fails: the current token is not what is expected.  Always false. */
bool mf_template_unexpected(struct mf_template_parser *parser,
                            const char *expected);

/* ---- the state of an expression: for the two files that read it ---- */

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
