/* SPDX-License-Identifier: MIT
 *
 * expression.h - the expressions of rows, read to see that they are ones
 *
 * Loaders' rows have whole numbers, names with dots, and functions of keys and
 * tensors; families' rows have values of JSON: texts, lists, members, elements.
 * Operators and their precedence are the same but for //, ** and `in`.
 */
#ifndef MF_ROWS_EXPRESSION_H
#define MF_ROWS_EXPRESSION_H

#include "lib/rows/codes.h"
#include "lib/rows/maker/rows.h"

/* What an argument of a function is, by its letter in a row of functions.def:
 *
 *     x   an expression
 *     p   a name, or in families one with members: "rope.factor"
 *     k   a name, that of a key
 *     n   a new name, which the expressions after it may have
 *     w   a tensor: a name with "*" for the block
 *     t   a text without quotes
 *     +   at the end: the last one once or more often */
struct function {
    const char *name, *arguments;
};

/* What an expression is made of: the kinds of lib/rows/codes.h.  The children
 * of CALL are arguments; those with a letter other than x have no kind. */
struct node {
    enum mf_code_kind kind;
    char letter;
    struct text text;   /* a name, digits, what is between quotes; of DIVIDE
                           and its like the divisor, of CALL all arguments */
    size_t number;      /* of LENGTH the dimension, of CALL the function */
    struct node *child; /* the first one */
    struct node *next;  /* of the same parent */
};

struct expression {
    const struct row *row;
    const struct function *functions; /* ends with a name of NULL */
    bool json;
    /* Called for each name that must mean something; whole: with the members
     * after it, "rope.factor". */
    void (*name)(void *user, const struct row *row, struct text name,
                 struct text whole);
    /* Likewise for each member, "factor" of "rope.factor", and each tensor; may
     * be NULL. */
    void (*member)(void *user, const struct row *row, struct text name);
    void (*tensor)(void *user, const struct row *row, struct text name);
    /* For each tensor of whose lengths one is asked for: "cur[0]".  NULL: such
     * are not expected. */
    void (*length)(void *user, const struct row *row, struct text name);
    void *user;
    struct words local; /* made by functions such as `each` */
};

/* Takes the expression at the beginning of the text.  NULL after an error,
 * which takes all of the text. */
struct node *expression_take(struct expression *expression, struct text *text);

/* The whole text is one. */
bool expression_check(struct expression *expression, struct text text);

/* Whether the text is a whole number, true or false: its value does not depend
 * on anything. */
bool expression_is_constant(struct text text);

/* ---- between expression.c, which knows operators, and operand.c ---- */

struct parser {
    struct expression *of;
    struct text rest;
    bool failed;
    unsigned depth; /* of brackets and signs that are open */
};

/* ---- expression.c ---- */

/* An expression. */
struct node *parse_choice(struct parser *parser);

/* ---- operand.c ---- */

/* A value, with the members and elements after it. */
struct node *parse_operand(struct parser *parser);

/* New nodes, which live as long as the program. */
struct node *parse_node(enum mf_code_kind kind, struct node *child);
struct node *parse_two(enum mf_code_kind kind, struct node *a, struct node *b);

/* What was taken since that place. */
struct text parse_since(const struct parser *parser, const char *start);

void parse_skip(struct parser *parser, size_t size);

/* The first error ends the expression. */
void parse_fail(struct parser *parser, const char *wanted);
void parse_spaces(struct parser *parser);

/* Takes the sign if it is next; parse_expect: it is an error if it is not. */
bool parse_sign(struct parser *parser, const char *sign);
void parse_expect(struct parser *parser, const char *sign);

bool parse_is_digit(char c);
bool parse_is_in_name(const struct parser *parser, char c);

#endif
