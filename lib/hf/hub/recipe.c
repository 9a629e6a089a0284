/* SPDX-License-Identifier: MIT
 *
 * recipe.c - finding the recipe for a config.json, and walking its rows
 */
#include "lib/hf/hub/recipe.h"

#include <assert.h>

#include "lib/base/str.h"
#include "lib/derive/derive.h"

static bool has_word(struct mf_str words, struct mf_str word)
{
    while (words.size > 0)
        if (mf_str_same(mf_word(&words), word))
            return true;
    return false;
}

/* ---- paragraphs ---- */

struct mf_code mf_recipe_row_of(const struct mf_rows_part *part,
                                enum mf_code_row word)
{
    struct mf_code rows = mf_recipe_rows(part);

    while (mf_code_left(&rows)) {
        enum mf_code_row other;
        struct mf_code row = mf_code_row(&rows, &other);

        if (other == word)
            return row;
    }
    return (struct mf_code){ NULL, NULL, NULL };
}

/* Of classes in config.json, with spaces between them. */
static struct mf_str classes_of(const struct mf_rows_part *part)
{
    struct mf_code row = mf_recipe_row_of(part, MF_DO_CLASS);

    return row.at ? mf_code_text(&row) : (struct mf_str){ "", 0 };
}

const struct mf_rows_part *mf_recipe_find(enum mf_rows_kind kind,
                                          struct mf_str word)
{
    for (size_t i = 0; i < mf_family_rows.count; i++) {
        const struct mf_rows_part *part = &mf_family_rows.part[i];

        if (part->kind == (uint32_t)kind &&
            (has_word(mf_part_words(&mf_family_rows, part), word) ||
             has_word(classes_of(part), word)))
            return part;
    }
    return NULL;
}

static bool is_before(struct mf_str a, struct mf_str b)
{
    size_t least = a.size < b.size ? a.size : b.size;
    int order = memcmp(a.at, b.at, least);

    return order < 0 || (order == 0 && a.size < b.size);
}

/* Takes the word if it comes after `name` and before what `next` has. */
static void offer(struct mf_str word, struct mf_str name, struct mf_str *next)
{
    if ((!name.at || is_before(name, word)) &&
        (!next->at || is_before(word, *next)))
        *next = word;
}

bool mf_class_after(struct mf_str *name, bool projector)
{
    uint32_t kind = projector ? MF_ROWS_projector : MF_ROWS_family;
    struct mf_str next = { NULL, 0 };

    for (size_t i = 0; i < mf_family_rows.count; i++) {
        const struct mf_rows_part *part = &mf_family_rows.part[i];
        struct mf_str words = { "", 0 };

        if (part->kind == kind)
            words = classes_of(part);
        while (words.size > 0)
            offer(mf_word(&words), *name, &next);
    }
    *name = next;
    return next.at;
}

const char *mf_recipe_file(const struct mf_recipe *recipe)
{
    return recipe->of_keys   ? "metadata"
           : recipe->mistral ? "params.json"
                             : "config.json";
}

const struct mf_derived *mf_recipe_tensor(const struct mf_recipe *recipe,
                                          const struct mf_derivation *d,
                                          size_t record)
{
    return recipe->made ? recipe->made[record]
                        : mf_derive_tensor(d, recipe->model, record);
}

void mf_recipe_give(struct mf_recipe *recipe, const char *name,
                    const struct mf_node *value)
{
    assert(recipe->given < MF_RECIPE_LETS);
    recipe->let[recipe->given++] =
        (struct mf_recipe_let){ .name = { name, strlen(name) },
                                .value = value };
    recipe->lets = recipe->given;
}

/* ---- rows ---- */

struct walk {
    struct mf_recipe *recipe;
    mf_recipe_visit *visit;
    void *user;
    bool used; /* these rows are another paragraph's */
};

static enum mf_status run(struct walk *walk, struct mf_code rows);

static enum mf_status failed(const struct walk *walk)
{
    return walk->recipe->env->error.status;
}

/* "let NAME EXPRESSION"; "let NAME none": the name means nothing from here on.
 */
static enum mf_status let(struct walk *walk, struct mf_code row)
{
    struct mf_recipe *recipe = walk->recipe;
    struct mf_str name = mf_code_text(&row);
    bool none = mf_code_byte(&row);
    const struct mf_node *value = none ? NULL : mf_recipe_take(recipe, &row);

    if (!none && !value)
        return failed(walk);
    for (size_t i = recipe->given; i < recipe->lets; i++)
        if (mf_str_same(recipe->let[i].name, name)) {
            recipe->let[i].value = value;
            recipe->let[i].about = recipe->about;
            return MF_OK;
        }
    assert(recipe->lets < MF_RECIPE_LETS);
    recipe->let[recipe->lets++] =
        (struct mf_recipe_let){ name, value, recipe->about };
    return MF_OK;
}

static enum mf_status use(struct walk *walk, struct mf_code row)
{
    struct mf_frame none = { .up = NULL };
    struct mf_code rows = mf_code_use(row, &none);
    bool used = walk->used;
    enum mf_status status;

    walk->used = true;
    status = run(walk, rows);
    walk->used = used;
    return status;
}

/* "CONDITION TEXT", about a file. */
static enum mf_status refuse(struct walk *walk, struct mf_code row)
{
    struct mf_str file = mf_code_text(&row), reason;
    const char *usual = mf_recipe_file(walk->recipe);
    const struct mf_node *value = mf_recipe_take(walk->recipe, &row);

    if (!value)
        return failed(walk);
    reason = mf_code_text(&row);
    return mf_node_holds(value)
               ? mf_fail(walk->recipe->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'%s': %s", file.size > 0 ? file.at : usual, reason.at)
               : MF_OK;
}

static enum mf_status choose(struct walk *walk, struct mf_code row)
{
    const struct mf_node *value = mf_recipe_take(walk->recipe, &row);
    struct mf_code rows;

    if (!value)
        return failed(walk);
    rows = mf_code_part(&row);
    return run(walk, mf_node_holds(value) ? rows : row);
}

static enum mf_status run_row(struct walk *walk, enum mf_code_row word,
                              struct mf_code row)
{
    switch (word) {
    case MF_DO_LET:
        return let(walk, row);
    case MF_DO_IF:
        return choose(walk, row);
    case MF_DO_USE:
        return use(walk, row);
    case MF_DO_REFUSE:
        return refuse(walk, row);
    case MF_DO_CLASS:
        return MF_OK;
    case MF_DO_ARCH:
        if (walk->used) /* the name of a family that is used by another */
            return MF_OK;
        break;
    default:
        break;
    }
    return walk->visit(walk->recipe, word, row, walk->user);
}

static enum mf_status run(struct walk *walk, struct mf_code rows)
{
    enum mf_status status = MF_OK;

    while (mf_code_left(&rows) && status == MF_OK) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&rows, &word);

        status = run_row(walk, word, row);
    }
    return status;
}

enum mf_status mf_recipe_run(struct mf_recipe *recipe, struct mf_code rows,
                             mf_recipe_visit *visit, void *user)
{
    struct walk walk = { .recipe = recipe, .visit = visit, .user = user };

    return run(&walk, rows);
}

enum mf_status mf_recipe_walk(struct mf_recipe *recipe, mf_recipe_visit *visit,
                              void *user)
{
    recipe->lets = recipe->given;
    return mf_recipe_run(recipe, mf_recipe_rows(recipe->family), visit, user);
}
