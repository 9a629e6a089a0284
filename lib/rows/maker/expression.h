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

#endif
