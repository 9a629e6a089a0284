/* SPDX-License-Identifier: MIT
 *
 * recipe.h - how the models of a family are converted, as rows
 *
 * Sections `convert` of lib/families have a paragraph for each family;
 * docs/rows.md explains the language.  A recipe is the paragraph for one
 * config.json.  Walking it visits its rows in order: `if`, `use` and `let` are
 * followed here, and all others go to the caller, who takes those it knows.
 *
 * Values are nodes of JSON, whether they come from config.json or are computed,
 * in the arena of the recipe.  Rows are part of this library, and were checked
 * when it was built.  What config.json says was not: a value of the wrong kind
 * is an error that names it.
 */
#ifndef MF_LIB_RECIPE_H
#define MF_LIB_RECIPE_H

#include "lib/json/tree.h"
#include "lib/model/model.h"
#include "lib/rows/rows.h"

/* Elements of a list that a row makes: no model has a tenth of them as layers.
 */
#define MF_RECIPE_LIST 8192

struct mf_recipe_let {
    struct mf_str name;
    const struct mf_node *value; /* NULL: the name has no value any more */
    struct mf_str about;         /* see struct mf_recipe */
};

struct mf_derivation;
struct mf_derived;
struct mf_naming_arch;

struct mf_recipe {
    struct mf_env *env;
    struct mf_arena *arena;
    const struct mf_model *model;
    /* One for each tensor of the model, in place of its bytes; or NULL. */
    const struct mf_derived *const *made;
    /* Expressions ask for tensors by llama.cpp's names, and the model has
     * Hugging Face's; or NULL. */
    const struct mf_naming_arch *naming;
    const struct mf_rows_part *family;
    struct mf_node *config; /* an object: what names mean */
    bool mistral;           /* it is params.json, not config.json */
    bool of_keys;           /* nor a file: it is made of a GGUF file's keys */
    bool facts;             /* data of tensors and of the tokenizer is not read:
                               functions that need it give nothing */
    bool lacks_tokens;      /* with `facts`: a row asked how many tokens are */
    /* The field of config.json that the last expression, or the one that is
     * computed, has looked at last: what a value without a key is computed
     * from, for messages.  at NULL: none. */
    struct mf_str about;
    size_t lets, given; /* given: before the rows */
    struct mf_recipe_let let[MF_RECIPE_LETS];
};

/* The paragraph of that kind in whose first line, or in a row `class` of which,
 * the word is; NULL: there is none. */
const struct mf_rows_part *mf_recipe_find(enum mf_rows_kind kind,
                                          struct mf_str word);

/* A tensor of the model; NULL after mf_fail. */
const struct mf_derived *
mf_recipe_tensor(const struct mf_recipe *recipe,
                 const struct mf_derivation *derivation, size_t record);

/* "config.json", or what is read in its place, for messages. */
const char *mf_recipe_file(const struct mf_recipe *recipe);

/* Gives a name a value for all rows, of the walks to come. */
void mf_recipe_give(struct mf_recipe *recipe, const char *name,
                    const struct mf_node *value);

/* The operands of the first row of the paragraph with that word, and not in a
 * condition; at NULL: it has no such row. */
struct mf_code mf_recipe_row_of(const struct mf_rows_part *part,
                                enum mf_code_row word);

/* A row: its word, and its operands. */
typedef enum mf_status mf_recipe_visit(struct mf_recipe *recipe,
                                       enum mf_code_row word,
                                       struct mf_code row, void *user);

/* Every row of the family that holds, in order.  Names of `let` rows start
 * empty, and their values stay after the walk. */
enum mf_status mf_recipe_walk(struct mf_recipe *recipe, mf_recipe_visit *visit,
                              void *user);

/* The same for other rows. */
enum mf_status mf_recipe_run(struct mf_recipe *recipe, struct mf_code rows,
                             mf_recipe_visit *visit, void *user);

/* The rows of a paragraph. */
static inline struct mf_code mf_recipe_rows(const struct mf_rows_part *part)
{
    return mf_part_rows(&mf_family_rows, part);
}

/* ---- expressions (evaluate.c) ---- */

/* Takes an expression, and gives its value; NULL after mf_fail. */
const struct mf_node *mf_recipe_take(struct mf_recipe *recipe,
                                     struct mf_code *code);

/* The value of a field of config.json, or of a `let`; NULL: it has none. */
const struct mf_node *mf_recipe_field(const struct mf_recipe *recipe,
                                      struct mf_str name);

/* ---- values (value.c) ---- */

extern const struct mf_node mf_node_null, mf_node_true, mf_node_false;

/* New nodes; NULL after mf_fail. */
const struct mf_node *mf_node_of_int(struct mf_arena *arena, int64_t value);
const struct mf_node *mf_node_of_real(struct mf_arena *arena, double value);
const struct mf_node *mf_node_of_text(struct mf_arena *arena,
                                      struct mf_str text);
static inline const struct mf_node *mf_node_of_bool(bool value)
{
    return value ? &mf_node_true : &mf_node_false;
}

/* A list that is made: it begins empty, and gets copies of values.  False after
 * mf_fail. */
struct mf_node_list {
    struct mf_node *node, *last;
};
bool mf_list_begin(struct mf_recipe *recipe, struct mf_node_list *list);
bool mf_list_add(struct mf_recipe *recipe, struct mf_node_list *list,
                 const struct mf_node *value);

bool mf_node_is_int(const struct mf_node *value); /* or a boolean */
bool mf_node_is_number(const struct mf_node *value);
bool mf_node_is(const struct mf_node *value, const char *text);
bool mf_node_equal(const struct mf_node *a, const struct mf_node *b);

/* Of a number or boolean; the first is false for what is not an int64_t. */
bool mf_node_int(const struct mf_node *value, int64_t *out);
double mf_node_real(const struct mf_node *value);

/* The double with the fewest digits that is rounded to this f32. */
double mf_node_shortest(float value);

/* The error that a value is not what it must be: "a number". */
void mf_recipe_wrong(struct mf_recipe *recipe, const struct mf_node *value,
                     const char *wanted);

#endif
