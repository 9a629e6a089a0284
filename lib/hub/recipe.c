/* SPDX-License-Identifier: MIT
 *
 * recipe.c - finding the recipe for a config.json, and walking its rows
 */
#include "lib/hub/recipe.h"

#include <assert.h>

#include "lib/base/str.h"
#include "lib/derive/derive.h"

/* How deep `if` rows are nested at most, and groups use each other. */
#define DEPTH 16

/* ---- words and lines ---- */

struct mf_str mf_recipe_word(struct mf_str *rest)
{
    struct mf_str word = { rest->at, 0 };

    while (word.size < rest->size && word.at[word.size] != ' ')
        word.size++;
    rest->at += word.size;
    rest->size -= word.size;
    while (rest->size > 0 && *rest->at == ' ') {
        rest->at++;
        rest->size--;
    }
    return word;
}

static struct mf_str take_line(const char **rows)
{
    struct mf_str line = { *rows, strcspn(*rows, "\n") };

    *rows += line.size + ((*rows)[line.size] == '\n');
    return line;
}

static bool has_word(struct mf_str words, struct mf_str word)
{
    while (words.size > 0)
        if (mf_str_same(mf_recipe_word(&words), word))
            return true;
    return false;
}

/* ---- paragraphs ---- */

struct mf_str mf_recipe_row_of(const struct mf_recipe_text *text,
                               const char *word)
{
    const char *rows = text->rows;

    while (*rows) {
        struct mf_str line = take_line(&rows);

        if (mf_str_is(mf_recipe_word(&line), word))
            return line;
    }
    return (struct mf_str){ NULL, 0 };
}

const struct mf_recipe_text *mf_recipe_find(const char *kind,
                                            struct mf_str word)
{
    for (size_t i = 0; i < mf_recipe_text_count; i++) {
        const struct mf_recipe_text *text = &mf_recipe_texts[i];
        struct mf_str words = { text->words, strlen(text->words) };

        if (strcmp(text->kind, kind) == 0 &&
            (has_word(words, word) ||
             has_word(mf_recipe_row_of(text, "class"), word)))
            return text;
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
    const char *kind = projector ? "projector" : "family";
    struct mf_str next = { NULL, 0 };

    for (size_t i = 0; i < mf_recipe_text_count; i++) {
        struct mf_str words = mf_recipe_row_of(&mf_recipe_texts[i], "class");

        while (strcmp(mf_recipe_texts[i].kind, kind) == 0 && words.size > 0)
            offer(mf_recipe_word(&words), *name, &next);
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
        (struct mf_recipe_let){ { name, strlen(name) }, value };
    recipe->lets = recipe->given;
}

/* ---- rows ---- */

struct walk {
    struct mf_recipe *recipe;
    mf_recipe_visit *visit;
    void *user;
    unsigned depth;
};

static enum mf_status run(struct walk *walk, const char *rows);

/* "let NAME EXPRESSION"; "let NAME none": the name means nothing from here on.
 */
static enum mf_status let(struct walk *walk, struct mf_str rest)
{
    struct mf_recipe *recipe = walk->recipe;
    struct mf_str name = mf_recipe_word(&rest);
    const struct mf_node *value = NULL;

    if (!mf_str_is(rest, "none")) {
        value = mf_recipe_value(recipe, rest);
        if (!value)
            return recipe->env->error.status;
    }
    for (size_t i = recipe->given; i < recipe->lets; i++)
        if (mf_str_same(recipe->let[i].name, name)) {
            recipe->let[i].value = value;
            return MF_OK;
        }
    assert(recipe->lets < MF_RECIPE_LETS);
    recipe->let[recipe->lets++] = (struct mf_recipe_let){ name, value };
    return MF_OK;
}

static enum mf_status use(struct walk *walk, struct mf_str name)
{
    const struct mf_recipe_text *text = mf_recipe_find("group", name);

    if (!text)
        text = mf_recipe_find(walk->recipe->family->kind, name);
    assert(text && walk->depth < DEPTH); /* in a row, not in a file */
    return run(walk, text->rows);
}

/* "CONDITION TEXT", about the file. */
static enum mf_status refuse(struct mf_recipe *recipe, struct mf_str file,
                             struct mf_str rest)
{
    const struct mf_node *value = mf_recipe_take(recipe, &rest);

    if (!value)
        return recipe->env->error.status;
    return mf_node_holds(value)
               ? mf_fail(recipe->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'%.*s': %.*s", (int)file.size, file.at,
                         (int)rest.size, rest.at)
               : MF_OK;
}

static enum mf_status row(struct walk *walk, struct mf_str line)
{
    const char *file = mf_recipe_file(walk->recipe);
    struct mf_str word = mf_recipe_word(&line);

    if (mf_str_is(word, "let"))
        return let(walk, line);
    if (mf_str_is(word, "use"))
        return use(walk, line);
    if (mf_str_is(word, "refuse"))
        return refuse(walk->recipe, (struct mf_str){ file, strlen(file) },
                      line);
    if (mf_str_is(word, "refuse_in")) {
        word = mf_recipe_word(&line);
        return refuse(walk->recipe, word, line);
    }
    if (mf_str_is(word, "class") ||
        (mf_str_is(word, "arch") && walk->depth > 1))
        return MF_OK; /* the names of a family that is used by another */
    return walk->visit(walk->recipe, word, line, walk->user);
}

/* What an `if` row begins: whether its rows hold, and whether any of its
 * branches did. */
struct branch {
    bool holds, done;
};

/* `if`, `elif`, `else`, `end`: *line has what follows.  False for others. */
static bool branch(struct walk *walk, struct branch *open, unsigned *depth,
                   struct mf_str line, enum mf_status *status)
{
    struct mf_str word = mf_recipe_word(&line);
    bool begins = mf_str_is(word, "if");
    const struct mf_node *value = &mf_node_true;

    if (mf_str_is(word, "end")) {
        --*depth;
        return true;
    }
    if (!begins && !mf_str_is(word, "elif") && !mf_str_is(word, "else"))
        return false;
    if (begins) {
        assert(*depth + 1 < DEPTH);
        ++*depth;
        open[*depth].done = !open[*depth - 1].holds;
    }
    if (!open[*depth].done && line.size > 0)
        value = mf_recipe_value(walk->recipe, line);
    if (!value)
        *status = walk->recipe->env->error.status;
    open[*depth].holds = value && !open[*depth].done && mf_node_holds(value);
    open[*depth].done = open[*depth].done || open[*depth].holds;
    return true;
}

static enum mf_status run(struct walk *walk, const char *rows)
{
    struct branch open[DEPTH] = { { true, true } };
    unsigned depth = 0;
    enum mf_status status = MF_OK;

    walk->depth++;
    while (*rows && status == MF_OK) {
        struct mf_str line = take_line(&rows);

        if (!branch(walk, open, &depth, line, &status) && open[depth].holds)
            status = row(walk, line);
    }
    walk->depth--;
    return status;
}

enum mf_status mf_recipe_run(struct mf_recipe *recipe, const char *rows,
                             mf_recipe_visit *visit, void *user)
{
    struct walk walk = { .recipe = recipe, .visit = visit, .user = user };

    return run(&walk, rows);
}

enum mf_status mf_recipe_walk(struct mf_recipe *recipe, mf_recipe_visit *visit,
                              void *user)
{
    recipe->lets = recipe->given;
    return mf_recipe_run(recipe, recipe->family->rows, visit, user);
}
