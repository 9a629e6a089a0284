/* SPDX-License-Identifier: MIT
 *
 * tensor_rows.c - reading what a recipe says about tensors
 *
 * Paragraphs `tensors FAMILY ...` of lib/families have these rows, besides
 * those that recipe.h explains:
 *
 *     skip PATTERN ... [RANGE]
 *     rename PATTERN TEMPLATE [RANGE]
 *     replace OLD [NEW]
 *     tensor PATTERN [RANGE] : STEP ; STEP ...
 *     early PATTERN [RANGE] : STEP ; STEP ...
 *     extra NAME : STEP ; STEP ...
 *     type TYPE PATTERN ...
 *     gguf_type TYPE PATTERN ...
 *
 * RANGE is "from N" and "below N": what the first number in the name must be;
 * "at LIST": the element of that number must hold; then "except PATTERN ...".
 * A step is a word, then "@K" if it is about the Kth tensor of the list alone,
 * numbers between commas, and "as" with templates.  In a template "(N)" is a
 * number; after "#" it is added to that.
 *
 * The program that made them bytes has checked their counts.
 */
#include "lib/hf/hub/tensor_rows.h"

#include <assert.h>
#include <stdio.h>

/* Whether the numbers of a step must be whole ones. */
static const bool whole_numbers[MF_STEP_COUNT] = {
#define STEP(NAME, word, least, most, names, whole, on)                        \
    [MF_STEP_##NAME] = whole,
#include "lib/hf/hub/tensor_steps.def"
#undef STEP
};

/* What is being read. */
struct reading {
    struct mf_recipe *recipe;
    struct mf_tensor_rows *rows;
};

static enum mf_status failed(const struct reading *reading)
{
    return reading->recipe->env->error.status;
}

/* ---- numbers ---- */

static bool take_number(struct reading *reading, struct mf_code *code,
                        int64_t *out, const struct mf_node **value)
{
    const struct mf_node *node = mf_recipe_take(reading->recipe, code);

    if (!node)
        return false;
    if (value)
        *value = node;
    *out = 0;
    if ((mf_node_is_int(node) && mf_node_int(node, out)) || value)
        return true; /* else it may belong to a row that nothing fits */
    mf_recipe_wrong(reading->recipe, node, "a whole number");
    return false;
}

bool mf_tensor_step_check(struct mf_recipe *recipe,
                          const struct mf_tensor_step *step)
{
    int64_t number;

    for (size_t i = 0; whole_numbers[step->kind] && i < step->numbers; i++)
        if (!mf_node_is_int(step->value[i]) ||
            !mf_node_int(step->value[i], &number)) {
            recipe->about = step->about[i];
            mf_recipe_wrong(recipe, step->value[i], "a whole number");
            return false;
        }
    return true;
}

/* ---- templates ---- */

/* Adds a piece of a template to the name. */
static bool take_piece(struct reading *reading, struct mf_code *code,
                       struct mf_tensor_name *name, int64_t *plus)
{
    enum mf_code_piece kind = (enum mf_code_piece)mf_code_byte(code);
    struct mf_str text;
    char digits[24];
    int64_t number;
    bool fits;

    if (kind == MF_PIECE_TEXT)
        text = mf_code_text(code);
    else if (!take_number(reading, code, &number, NULL))
        return false;
    else if (kind == MF_PIECE_PLUS) {
        *plus = number;
        return true;
    } else {
        snprintf(digits, sizeof(digits), "%" PRId64, number);
        text = (struct mf_str){ digits, strlen(digits) };
    }
    fits = mf_tensor_name_add(name, text);
    assert(fits); /* rows have no longer ones */
    (void)fits;
    return true;
}

/* A template with its numbers, and *plus what the first number of a name grows
 * by; at NULL after mf_fail. */
static struct mf_str take_template(struct reading *reading,
                                   struct mf_code *code, int64_t *plus)
{
    struct mf_tensor_name out = { .size = 0 };
    char *copy;

    for (unsigned left = mf_code_byte(code); left > 0; left--)
        if (!take_piece(reading, code, &out, plus))
            return (struct mf_str){ NULL, 0 };
    copy = mf_arena_text(reading->recipe->arena, out.size);
    if (copy)
        memcpy(copy, out.at, out.size);
    return (struct mf_str){ copy, out.size };
}

/* ---- steps ---- */

static bool take_step(struct reading *reading, struct mf_code *code,
                      struct mf_tensor_step *step)
{
    step->kind = (enum mf_step_kind)mf_code_byte(code);
    step->only = mf_code_byte(code);
    step->numbers = mf_code_byte(code);
    assert(step->numbers <= MF_STEP_NUMBERS_MAX);
    for (size_t i = 0; i < step->numbers; i++) {
        if (!take_number(reading, code, &step->number[i], &step->value[i]))
            return false;
        step->about[i] = reading->recipe->about;
    }
    step->names = mf_code_byte(code);
    assert(step->names <= MF_STEP_NAMES_MAX);
    for (size_t i = 0; i < step->names; i++) {
        step->name[i] = take_template(reading, code, &step->plus);
        if (!step->name[i].at)
            return false;
    }
    return true;
}

static enum mf_status take_steps(struct reading *reading,
                                 struct mf_tensor_row *row,
                                 struct mf_code *code)
{
    struct mf_tensor_step **last = &row->step;

    for (unsigned left = mf_code_byte(code); left > 0; left--) {
        struct mf_tensor_step *step =
            mf_arena_take(reading->recipe->arena, sizeof(*step));

        if (!step)
            return failed(reading);
        *step = (struct mf_tensor_step){ .next = NULL };
        if (!take_step(reading, code, step))
            return failed(reading);
        *last = step;
        last = &step->next;
    }
    return MF_OK;
}

/* ---- rows ---- */

static struct mf_tensor_row *add_row(struct reading *reading,
                                     enum mf_tensor_row_kind kind,
                                     struct mf_str pattern)
{
    struct mf_tensor_row *row =
        mf_arena_take(reading->recipe->arena, sizeof(*row));

    if (!row)
        return NULL;
    *row = (struct mf_tensor_row){ .kind = kind,
                                   .number = reading->rows->count++,
                                   .pattern = pattern,
                                   .least = INT64_MIN,
                                   .most = INT64_MAX };
    *reading->rows->last = row;
    reading->rows->last = &row->next;
    return mf_tensor_row_prepare(row, reading->recipe->arena) ? row : NULL;
}

/* Takes a range, for all rows from that one on. */
static enum mf_status take_range(struct reading *reading,
                                 struct mf_tensor_row *row,
                                 struct mf_code *code)
{
    unsigned flags = mf_code_byte(code);
    int64_t least = INT64_MIN, most = INT64_MAX;
    struct mf_str except = { NULL, 0 };
    const struct mf_node *at = NULL;

    if (flags & MF_RANGE_FROM && !take_number(reading, code, &least, NULL))
        return failed(reading);
    if (flags & MF_RANGE_BELOW) {
        if (!take_number(reading, code, &most, NULL))
            return failed(reading);
        most -= most > INT64_MIN;
    }
    if (flags & MF_RANGE_AT) {
        at = mf_recipe_take(reading->recipe, code);
        if (!at)
            return failed(reading);
    }
    if (flags & MF_RANGE_EXCEPT)
        except = mf_code_text(code);
    for (; row; row = row->next) {
        row->least = least;
        row->most = most;
        row->at = at;
        row->except = except;
    }
    return MF_OK;
}

static enum mf_status take_skip(struct reading *reading, struct mf_code *code)
{
    struct mf_tensor_row *first = NULL;

    for (unsigned left = mf_code_byte(code); left > 0; left--) {
        struct mf_tensor_row *row =
            add_row(reading, MF_ROW_SKIP, mf_code_text(code));

        if (!row)
            return failed(reading);
        first = first ? first : row;
    }
    return take_range(reading, first, code);
}

static enum mf_status take_rename(struct reading *reading, struct mf_code *code,
                                  enum mf_tensor_row_kind kind)
{
    struct mf_tensor_row *row = add_row(reading, kind, mf_code_text(code));

    if (!row)
        return failed(reading);
    row->to = take_template(reading, code, &row->plus);
    return row->to.at ? take_range(reading, row, code) : failed(reading);
}

static enum mf_status take_change(struct reading *reading, struct mf_code *code,
                                  enum mf_tensor_row_kind kind)
{
    struct mf_tensor_row *row = add_row(reading, kind, mf_code_text(code));

    if (!row || take_range(reading, row, code) != MF_OK)
        return failed(reading);
    return take_steps(reading, row, code);
}

static enum mf_status take_type(struct reading *reading, struct mf_code *code,
                                enum mf_tensor_row_kind kind)
{
    enum mf_row_type type = (enum mf_row_type)mf_code_byte(code);

    for (unsigned left = mf_code_byte(code); left > 0; left--) {
        struct mf_tensor_row *row = add_row(reading, kind, mf_code_text(code));

        if (!row)
            return failed(reading);
        row->type = type;
    }
    return MF_OK;
}

static enum mf_status visit(struct mf_recipe *recipe, enum mf_code_row word,
                            struct mf_code row, void *user)
{
    struct reading *reading = user;

    (void)recipe;
    switch (word) {
    case MF_DO_SKIP:
        return take_skip(reading, &row);
    case MF_DO_RENAME:
        return take_rename(reading, &row, MF_ROW_RENAME);
    case MF_DO_REPLACE:
        return take_rename(reading, &row, MF_ROW_REPLACE);
    case MF_DO_CHANGE:
        return take_change(reading, &row, MF_ROW_TENSOR);
    case MF_DO_EARLY:
        return take_change(reading, &row, MF_ROW_EARLY);
    case MF_DO_EXTRA:
        return take_change(reading, &row, MF_ROW_EXTRA);
    case MF_DO_TYPE:
        return take_type(reading, &row, MF_ROW_TYPE);
    case MF_DO_GGUF_TYPE:
        return take_type(reading, &row, MF_ROW_GGUF_TYPE);
    default:
        return MF_OK;
    }
}

/* The family's paragraph about tensors, or the group of those without one.  A
 * projector's paragraph is about all of it. */
static const struct mf_rows_part *find_part(const struct mf_recipe *recipe)
{
    struct mf_str words = mf_part_words(&mf_family_rows, recipe->family);
    const struct mf_rows_part *part = NULL;

    if (recipe->family->kind == MF_ROWS_projector)
        return recipe->family;
    while (!part && words.size > 0)
        part = mf_recipe_find(MF_ROWS_tensors, mf_word(&words));
    if (!part)
        part = mf_recipe_find(MF_ROWS_group,
                              (struct mf_str){ "text_tensors", 12 });
    assert(part);
    return part;
}

/* Of what keys called by a name, only the number of blocks stays: other names
 * mean what config.json says, which is what the converter goes by here. */
static void forget_lets(struct mf_recipe *recipe)
{
    struct mf_str name = { "block_count", 11 };
    const struct mf_node *blocks = mf_recipe_field(recipe, name);

    recipe->lets = recipe->given;
    if (blocks)
        recipe->let[recipe->lets++] =
            (struct mf_recipe_let){ .name = name, .value = blocks };
}

enum mf_status mf_tensor_rows_read(struct mf_tensor_rows *rows,
                                   struct mf_recipe *recipe)
{
    forget_lets(recipe);
    return mf_tensor_rows_of(rows, recipe, find_part(recipe));
}

enum mf_status mf_tensor_rows_of(struct mf_tensor_rows *rows,
                                 struct mf_recipe *recipe,
                                 const struct mf_rows_part *part)
{
    struct reading reading = { .recipe = recipe, .rows = rows };

    *rows = (struct mf_tensor_rows){ .first = NULL };
    rows->last = &rows->first;
    return mf_recipe_run(recipe, mf_recipe_rows(part), visit, &reading);
}
