/* SPDX-License-Identifier: MIT
 *
 * tensor_rows.h - what a recipe says about tensors, ready to be used
 *
 * A tensor runs through the rows in their order: those whose pattern fits its
 * name change it, and what comes out of one row goes on to the next one.  At
 * the end lib/hf/hub/names has its name in GGUF.  docs/rows.md explains the
 * rows.
 *
 * Expressions are computed once, when the rows are read: a model may have
 * 90,000 tensors.
 */
#ifndef MF_LIB_TENSOR_ROWS_H
#define MF_LIB_TENSOR_ROWS_H

#include "lib/hf/hub/glob.h"
#include "lib/hf/hub/recipe.h"

enum mf_tensor_row_kind {
    MF_ROW_SKIP,
    MF_ROW_RENAME,
    MF_ROW_REPLACE,
    MF_ROW_TENSOR,
    MF_ROW_EARLY,
    MF_ROW_EXTRA,
    MF_ROW_TYPE,
    MF_ROW_GGUF_TYPE
};

/* What `type` rows ask for. */
enum mf_row_type {
    MF_ROW_F32,
    MF_ROW_F16,
    MF_ROW_HALF, /* f16 in a file of f16, f32 in others */
    MF_ROW_FILE  /* the type of the file, also where others are f32 */
};

/* What a step does; tensor_steps.def has their words. */
enum mf_step_kind {
#define STEP(NAME, word, least, most, names, whole, on) MF_STEP_##NAME,
#include "lib/hf/hub/tensor_steps.def"
#undef STEP
    MF_STEP_COUNT
};

#define MF_STEP_NUMBERS_MAX 7

struct mf_tensor_step {
    struct mf_tensor_step *next;
    enum mf_step_kind kind;
    size_t only;                         /* which tensor of the list; 0: each */
    int64_t number[MF_STEP_NUMBERS_MAX]; /* 0 for what is not a whole number */
    const struct mf_node *value[MF_STEP_NUMBERS_MAX]; /* as computed */
    struct mf_str about[MF_STEP_NUMBERS_MAX];         /* of what */
    size_t numbers;
    struct mf_str name[MF_STEP_NAMES_MAX]; /* templates */
    size_t names;
    int64_t plus; /* to the first number of a template */
};

#define MF_PAIR_WORDS 16

struct mf_tensor_row {
    struct mf_tensor_row *next;
    enum mf_tensor_row_kind kind;
    size_t number; /* of the row, from 0 on */
    /* Found sooner than the pattern: its longest plain text, and of one that is
     * "*{...}*" or begins with "{...}" these texts, with the pairs of bytes
     * that they begin with. */
    struct mf_str needle;
    const struct mf_str *choice;   /* NULL: it is another one */
    size_t choices;                /* in the first "{}" of any pattern */
    uint64_t pairs[MF_PAIR_WORDS]; /* as bits */
    struct mf_str pattern;    /* or what is replaced, or the name of an extra */
    int64_t least, most;      /* of the first number in the name */
    const struct mf_node *at; /* a list that holds at that number; or NULL */
    struct mf_str except;     /* patterns of other names, with spaces between */
    struct mf_str to;         /* of RENAME and REPLACE */
    int64_t plus;
    enum mf_row_type type; /* of TYPE and GGUF_TYPE */
    struct mf_tensor_step *step;
};

struct mf_tensor_rows {
    struct mf_tensor_row *first, **last;
    size_t count;
};

/* Reads the rows of the recipe that are about tensors; others are passed over.
 * The recipe's arena owns them. */
enum mf_status mf_tensor_rows_read(struct mf_tensor_rows *rows,
                                   struct mf_recipe *recipe);

/* The same for the rows of a text. */
enum mf_status mf_tensor_rows_of(struct mf_tensor_rows *rows,
                                 struct mf_recipe *recipe,
                                 const struct mf_rows_part *part);

/* Whether a step that will be done has whole numbers where it needs them;
 * false after mf_fail. */
bool mf_tensor_step_check(struct mf_recipe *recipe,
                          const struct mf_tensor_step *step);

/* Notes what is found sooner than the pattern; false after mf_fail. */
bool mf_tensor_row_prepare(struct mf_tensor_row *row, struct mf_arena *arena);

/* Whether the row is about the name, and what its pattern found. */
bool mf_tensor_row_fits(const struct mf_tensor_row *row, struct mf_str name,
                        struct mf_glob_match *match);

/* Makes a name of a template.  False where it is too long. */
bool mf_tensor_row_name(struct mf_str to, int64_t plus,
                        const struct mf_glob_match *match,
                        struct mf_tensor_name *out);

#endif
