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
 * Rows are part of this library, so a mistake in one is an assert.
 */
#include "lib/hub/tensor_rows.h"

#include <assert.h>
#include <stdio.h>

static const struct step_row {
    const char *word;
    size_t least, most;
    int names;
    bool whole;
} step_rows[MF_STEP_COUNT] = {
#define STEP(NAME, word, least, most, names, whole)                            \
    [MF_STEP_##NAME] = { word, least, most, names, whole },
#include "lib/hub/tensor_steps.def"
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

static struct mf_str trim(struct mf_str text)
{
    while (text.size > 0 && text.at[0] == ' ') {
        text.at++;
        text.size--;
    }
    while (text.size > 0 && text.at[text.size - 1] == ' ')
        text.size--;
    return text;
}

/* Takes the text before the first such byte, and that byte. */
static struct mf_str take_until(struct mf_str *rest, char end)
{
    size_t size = 0;
    struct mf_str text;

    while (size < rest->size && rest->at[size] != end)
        size++;
    text = trim((struct mf_str){ rest->at, size });
    size += size < rest->size;
    *rest = trim((struct mf_str){ rest->at + size, rest->size - size });
    return text;
}

/* ---- numbers ---- */

static bool take_number(struct reading *reading, struct mf_str *text,
                        int64_t *out, const struct mf_node **value)
{
    const struct mf_node *node = mf_recipe_take(reading->recipe, text);

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

    for (size_t i = 0; step_rows[step->kind].whole && i < step->numbers; i++)
        if (!mf_node_is_int(step->value[i]) ||
            !mf_node_int(step->value[i], &number)) {
            mf_recipe_wrong(recipe, step->value[i], "a whole number");
            return false;
        }
    return true;
}

static bool take_numbers(struct reading *reading, struct mf_tensor_step *step,
                         struct mf_str text)
{
    text = trim(text);
    while (text.size > 0) {
        assert(step->numbers < MF_STEP_NUMBERS_MAX);
        if (!take_number(reading, &text, &step->number[step->numbers],
                         &step->value[step->numbers]))
            return false;
        step->numbers++;
        text = trim(text);
        if (text.size > 0 && text.at[0] == ',')
            text = trim((struct mf_str){ text.at + 1, text.size - 1 });
    }
    return true;
}

/* ---- templates ---- */

/* A copy of the template in which "(N)" is the number, and *plus what the first
 * number of a name grows by; at NULL after mf_fail. */
static struct mf_str read_template(struct reading *reading, struct mf_str text,
                                   int64_t *plus)
{
    struct mf_hub_name out = { .size = 0 };
    struct mf_str none = { NULL, 0 };
    char *copy;

    for (size_t i = 0; i < text.size; i++) {
        struct mf_str inner = { text.at + i + 1, text.size - i - 1 };
        char digits[24];
        int64_t number;
        bool fits;

        if (text.at[i] != '(') {
            fits = mf_hub_name_add(&out, (struct mf_str){ text.at + i, 1 });
            assert(fits);
            (void)fits;
            continue;
        }
        if (!take_number(reading, &inner, &number, NULL))
            return none;
        inner = trim(inner);
        assert(inner.size > 0 && inner.at[0] == ')');
        if (i > 0 && text.at[i - 1] == '#')
            *plus = number;
        else
            snprintf(digits, sizeof(digits), "%" PRId64, number);
        fits = (i > 0 && text.at[i - 1] == '#') ||
               mf_hub_name_add(&out, (struct mf_str){ digits, strlen(digits) });
        assert(fits);
        i = (size_t)(inner.at - text.at);
    }
    copy = mf_arena_text(reading->recipe->arena, out.size);
    if (copy)
        memcpy(copy, out.at, out.size);
    return (struct mf_str){ copy, out.size };
}

/* The next template; brackets may have spaces in them. */
static struct mf_str take_template(struct mf_str *text)
{
    size_t size = 0, depth = 0;
    struct mf_str word;

    while (size < text->size && (depth > 0 || text->at[size] != ' ')) {
        depth += text->at[size] == '(';
        depth -= text->at[size] == ')';
        size++;
    }
    word = (struct mf_str){ text->at, size };
    *text = trim((struct mf_str){ text->at + size, text->size - size });
    return word;
}

/* ---- steps ---- */

static enum mf_step_kind step_kind(struct mf_str word)
{
    unsigned kind = 0;

    while (kind < MF_STEP_COUNT && !mf_str_is(word, step_rows[kind].word))
        kind++;
    assert(kind < MF_STEP_COUNT);
    return (enum mf_step_kind)kind;
}

/* "as" between spaces, or at the beginning. */
static size_t find_as(struct mf_str text)
{
    for (size_t i = 0; i + 3 <= text.size; i++)
        if (memcmp(text.at + i, "as ", 3) == 0 &&
            (i == 0 || text.at[i - 1] == ' '))
            return i;
    return text.size;
}

/* Rows are ours, not a file's. */
static void check_counts(const struct mf_tensor_step *step,
                         const struct step_row *row)
{
    (void)step, (void)row;
    assert(step->numbers >= row->least && step->numbers <= row->most);
    assert(row->names == 2   ? step->names > 0
           : row->names == 1 ? step->names == 1
                             : step->names == 0);
}

static bool read_step(struct reading *reading, struct mf_str text,
                      struct mf_tensor_step *step)
{
    struct mf_str word = mf_recipe_word(&text);
    size_t as;

    if (word.size > 2 && word.at[word.size - 2] == '@') {
        step->only = (size_t)(word.at[word.size - 1] - '0');
        word.size -= 2;
    }
    step->kind = step_kind(word);
    as = step->kind == MF_STEP_AS ? 0 : find_as(text);
    if (!take_numbers(reading, step, (struct mf_str){ text.at, as }))
        return false;
    text = (struct mf_str){ text.at + as, text.size - as };
    if (step->kind != MF_STEP_AS && text.size > 0)
        mf_recipe_word(&text);
    for (text = trim(text); text.size > 0;) {
        struct mf_str template = take_template(&text);

        assert(step->names < MF_STEP_NAMES_MAX);
        step->name[step->names] = read_template(reading, template, &step->plus);
        if (!step->name[step->names++].at)
            return false;
    }
    check_counts(step, &step_rows[step->kind]);
    return true;
}

static enum mf_status read_steps(struct reading *reading,
                                 struct mf_tensor_row *row, struct mf_str text)
{
    struct mf_tensor_step **last = &row->step;

    while (text.size > 0) {
        struct mf_str words = take_until(&text, ';');
        struct mf_tensor_step *step =
            mf_arena_take(reading->recipe->arena, sizeof(*step));

        if (!step)
            return failed(reading);
        *step = (struct mf_tensor_step){ .next = NULL };
        if (!read_step(reading, words, step))
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

/* "from N", "below N", "at LIST" and "except", for all rows from that one on.
 */
static enum mf_status read_range(struct reading *reading,
                                 struct mf_tensor_row *row, struct mf_str text)
{
    int64_t least = INT64_MIN, most = INT64_MAX;
    struct mf_str except = { NULL, 0 };
    const struct mf_node *at = NULL;

    while (text.size > 0) {
        struct mf_str word = mf_recipe_word(&text);
        bool from = mf_str_is(word, "from");
        int64_t number;

        if (mf_str_is(word, "except")) {
            except = text;
            break;
        }
        if (mf_str_is(word, "at")) {
            at = mf_recipe_take(reading->recipe, &text);
            if (!at)
                return failed(reading);
            text = trim(text);
            continue;
        }
        assert(from || mf_str_is(word, "below"));
        if (!take_number(reading, &text, &number, NULL))
            return failed(reading);
        if (from)
            least = number;
        else
            most = number > INT64_MIN ? number - 1 : number;
        text = trim(text);
    }
    for (; row; row = row->next) {
        row->least = least;
        row->most = most;
        row->at = at;
        row->except = except;
    }
    return MF_OK;
}

static bool is_range(struct mf_str text)
{
    struct mf_str word = mf_recipe_word(&text);

    return mf_str_is(word, "from") || mf_str_is(word, "below") ||
           mf_str_is(word, "at") || mf_str_is(word, "except");
}

static enum mf_status read_skip(struct reading *reading, struct mf_str text)
{
    struct mf_tensor_row *first = NULL;

    while (text.size > 0 && !is_range(text)) {
        struct mf_tensor_row *row =
            add_row(reading, MF_ROW_SKIP, mf_recipe_word(&text));

        if (!row)
            return failed(reading);
        first = first ? first : row;
        text = trim(text);
    }
    return read_range(reading, first, text);
}

static enum mf_status read_rename(struct reading *reading, struct mf_str text,
                                  enum mf_tensor_row_kind kind)
{
    struct mf_tensor_row *row = add_row(reading, kind, mf_recipe_word(&text));

    text = trim(text);
    if (!row)
        return failed(reading);
    row->to = read_template(reading, take_template(&text), &row->plus);
    return row->to.at ? read_range(reading, row, text) : failed(reading);
}

static enum mf_status read_tensor(struct reading *reading, struct mf_str text,
                                  enum mf_tensor_row_kind kind)
{
    struct mf_str head = take_until(&text, ':');
    struct mf_tensor_row *row = add_row(reading, kind, mf_recipe_word(&head));

    if (!row || read_range(reading, row, trim(head)) != MF_OK)
        return failed(reading);
    return read_steps(reading, row, text);
}

static enum mf_row_type row_type(struct mf_str word)
{
    static const char *const words[] = { [MF_ROW_F32] = "f32",
                                         [MF_ROW_F16] = "f16",
                                         [MF_ROW_HALF] = "half",
                                         [MF_ROW_FILE] = "file" };
    unsigned type = 0;

    while (!mf_str_is(word, words[type])) {
        type++;
        assert(type < sizeof(words) / sizeof(*words));
    }
    return (enum mf_row_type)type;
}

static enum mf_status read_type(struct reading *reading, struct mf_str text,
                                enum mf_tensor_row_kind kind)
{
    struct mf_str type = mf_recipe_word(&text);

    while (text.size > 0) {
        struct mf_tensor_row *row =
            add_row(reading, kind, mf_recipe_word(&text));

        if (!row)
            return failed(reading);
        row->type = row_type(type);
        text = trim(text);
    }
    return MF_OK;
}

static enum mf_status visit(struct mf_recipe *recipe, struct mf_str word,
                            struct mf_str rest, void *user)
{
    struct reading *reading = user;

    (void)recipe;
    rest = trim(rest);
    if (mf_str_is(word, "skip"))
        return read_skip(reading, rest);
    if (mf_str_is(word, "rename"))
        return read_rename(reading, rest, MF_ROW_RENAME);
    if (mf_str_is(word, "replace"))
        return read_rename(reading, rest, MF_ROW_REPLACE);
    if (mf_str_is(word, "tensor"))
        return read_tensor(reading, rest, MF_ROW_TENSOR);
    if (mf_str_is(word, "early"))
        return read_tensor(reading, rest, MF_ROW_EARLY);
    if (mf_str_is(word, "extra"))
        return read_tensor(reading, rest, MF_ROW_EXTRA);
    if (mf_str_is(word, "type"))
        return read_type(reading, rest, MF_ROW_TYPE);
    if (mf_str_is(word, "gguf_type"))
        return read_type(reading, rest, MF_ROW_GGUF_TYPE);
    return MF_OK;
}

/* The family's paragraph about tensors, or the group of those without one.  A
 * projector's paragraph is about all of it. */
static const struct mf_recipe_text *find_text(const struct mf_recipe *recipe)
{
    const char *words = recipe->family->words;
    struct mf_str rest = { words, strlen(words) };
    const struct mf_recipe_text *text = NULL;

    if (strcmp(recipe->family->kind, "projector") == 0)
        return recipe->family;
    while (!text && rest.size > 0)
        text = mf_recipe_find("tensors", mf_recipe_word(&rest));
    if (!text)
        text = mf_recipe_find("group", (struct mf_str){ "text_tensors", 12 });
    assert(text);
    return text;
}

/* Of what keys called by a name, only the number of blocks stays: other names
 * mean what config.json says, which is what the converter goes by here. */
static void forget_lets(struct mf_recipe *recipe)
{
    struct mf_str name = { "block_count", 11 };
    const struct mf_node *blocks = mf_recipe_field(recipe, name);

    recipe->lets = recipe->given;
    if (blocks)
        recipe->let[recipe->lets++] = (struct mf_recipe_let){ name, blocks };
}

enum mf_status mf_tensor_rows_read(struct mf_tensor_rows *rows,
                                   struct mf_recipe *recipe)
{
    forget_lets(recipe);
    return mf_tensor_rows_of(rows, recipe, find_text(recipe));
}

enum mf_status mf_tensor_rows_of(struct mf_tensor_rows *rows,
                                 struct mf_recipe *recipe,
                                 const struct mf_recipe_text *text)
{
    struct reading reading = { .recipe = recipe, .rows = rows };

    *rows = (struct mf_tensor_rows){ .first = NULL };
    rows->last = &rows->first;
    return mf_recipe_run(recipe, text->rows, visit, &reading);
}
