/* SPDX-License-Identifier: MIT
 *
 * parse.h - between expression.c, which knows operators, and operand.c
 */
#ifndef MF_ROWS_PARSE_H
#define MF_ROWS_PARSE_H

#include "lib/rows/maker/expression.h"

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
