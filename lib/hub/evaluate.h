/* SPDX-License-Identifier: MIT
 *
 * evaluate.h - between evaluate.c, which reads expressions, and functions.c
 */
#ifndef MF_LIB_EVALUATE_H
#define MF_LIB_EVALUATE_H

#include "lib/hub/recipe.h"

struct mf_parser {
    struct mf_recipe *recipe;
    struct mf_str rest;
    struct mf_str operand; /* the last factor or divisor, as the row has it */
    bool live;             /* what is parsed is needed */
    bool failed;
};

bool mf_parser_take(struct mf_parser *parser, const char *sign);
void mf_parser_expect(struct mf_parser *parser, const char *sign);
struct mf_str mf_parser_name(struct mf_parser *parser);

/* The value; for NULL, which is after mf_fail, null, and nothing is computed
 * any more. */
const struct mf_node *mf_parser_value(struct mf_parser *parser,
                                      const struct mf_node *value);
const struct mf_node *mf_parser_wrong(struct mf_parser *parser,
                                      const struct mf_node *value,
                                      const char *wanted);

/* Whether a row may look through all that the list or object has, which it may
 * do once for each layer; false after mf_fail, and nothing is computed any
 * more.
 */
bool mf_parser_may_walk(struct mf_parser *parser, const struct mf_node *node);

const struct mf_node *mf_parser_int(struct mf_parser *parser, int64_t value);
const struct mf_node *mf_parser_real(struct mf_parser *parser, double value);

/* Operators (operators.c).  sign: + - * / % ^ (power), and | for a quotient
 * rounded down.  null where nothing is computed. */
const struct mf_node *mf_parser_compute(struct mf_parser *parser, char sign,
                                        const struct mf_node *a,
                                        const struct mf_node *b);
const struct mf_node *mf_parser_compare(struct mf_parser *parser,
                                        const char *sign,
                                        const struct mf_node *a,
                                        const struct mf_node *b);

/* A name with dots, and what it means; NULL: nothing. */
const struct mf_node *mf_parser_path(struct mf_parser *parser);

/* An expression. */
const struct mf_node *mf_parser_choice(struct mf_parser *parser);

/* The value of a function whose name and parenthesis were taken (functions.c).
 */
const struct mf_node *mf_parser_call(struct mf_parser *parser,
                                     struct mf_str name);

/* What a function gives for its arguments, all of them computed. */
typedef const struct mf_node *mf_call(struct mf_parser *parser,
                                      const struct mf_node *const *argument);

/* functions_folder.c; docs/rows.md says what each is for. */
mf_call mf_call_exists;
mf_call mf_call_token_rows;
mf_call mf_call_json;
mf_call mf_call_tensor;
mf_call mf_call_blocks;
mf_call mf_call_size;
mf_call mf_call_type_of;
mf_call mf_call_numbers;

/* functions_text.c */
mf_call mf_call_lower;
mf_call mf_call_ends;
mf_call mf_call_text;
mf_call mf_call_join;
mf_call mf_call_integers;

/* functions_object.c */
const struct mf_node *mf_call_over(struct mf_parser *parser);
mf_call mf_call_by_number;
mf_call mf_call_numbered;
mf_call mf_call_object;

/* functions_token.c */
mf_call mf_call_token;

/* functions_data.c */
mf_call mf_call_values;
mf_call mf_call_same;

#endif
