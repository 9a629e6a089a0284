/* SPDX-License-Identifier: MIT
 *
 * evaluate.h - between evaluate.c, which computes expressions, and functions.c
 */
#ifndef MF_LIB_EVALUATE_H
#define MF_LIB_EVALUATE_H

#include "lib/hf/hub/recipe.h"

/* An expression that is computed. */
struct mf_eval {
    struct mf_recipe *recipe;
    struct mf_code code;   /* the rest of it */
    struct mf_str operand; /* the last divisor, as the row has it */
    bool failed;           /* nothing is computed any more */
};

/* The value; for NULL, which is after mf_fail, null, and nothing is computed
 * any more. */
const struct mf_node *mf_eval_value(struct mf_eval *eval,
                                    const struct mf_node *value);
const struct mf_node *mf_eval_wrong(struct mf_eval *eval,
                                    const struct mf_node *value,
                                    const char *wanted);

/* Whether a row may look through all that the list or object has, which it may
 * do once for each layer; false after mf_fail, and nothing is computed any
 * more.
 */
bool mf_eval_may_walk(struct mf_eval *eval, const struct mf_node *node);

const struct mf_node *mf_eval_int(struct mf_eval *eval, int64_t value);
const struct mf_node *mf_eval_real(struct mf_eval *eval, double value);

/* What an operator with two operands gives (operators.c). */
const struct mf_node *mf_eval_operator(struct mf_eval *eval,
                                       enum mf_code_kind kind,
                                       const struct mf_node *a,
                                       const struct mf_node *b);

/* Takes a name with dots, and gives what it means; NULL: nothing. */
const struct mf_node *mf_eval_path(struct mf_eval *eval);

/* A null that knows which key it would have. */
const struct mf_node *mf_eval_missing(struct mf_eval *eval, struct mf_str name);

/* Takes an expression; null where nothing is computed any more. */
const struct mf_node *mf_eval_next(struct mf_eval *eval);

/* Takes a call without its first byte (functions.c). */
const struct mf_node *mf_eval_call(struct mf_eval *eval);

/* What a function gives for its arguments, all of them computed. */
typedef const struct mf_node *mf_call(struct mf_eval *eval,
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
const struct mf_node *mf_call_over(struct mf_eval *eval, unsigned count);
mf_call mf_call_by_number;
mf_call mf_call_numbered;
mf_call mf_call_object;

/* functions_token.c */
mf_call mf_call_token;

/* functions_data.c */
mf_call mf_call_values;
mf_call mf_call_same;

#endif
