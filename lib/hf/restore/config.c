/* SPDX-License-Identifier: MIT
 *
 * config.c - rows `field`: config.json, made of the keys of a GGUF file
 *
 *     field PATH X      a value of config.json, whose names are in objects;
 * null leaves it out
 *     usual PATH X      the same, of a value that is not in the file
 *     without_mtp       how the folder becomes the file again
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/str.h"
#include "lib/hf/restore/keys.h"
#include "lib/hf/restore/restore.h"

/* One that is in the file; others are left out. */
static const struct mf_node written_null = { .kind = MF_NODE_NULL, .count = 1 };

static void leave_out_nulls(struct mf_node *object)
{
    struct mf_node **at = &object->first;

    object->count = 0;
    while (*at) {
        struct mf_node *node = *at;

        if (node->kind == MF_NODE_NULL && node->count == 0) {
            *at = node->next;
            continue;
        }
        if (node->kind == MF_NODE_OBJECT || node->kind == MF_NODE_ARRAY)
            leave_out_nulls(node);
        object->count++;
        at = &node->next;
    }
}

/* ---- values that are not in the file ---- */

/* Whether X of `usual` is what config.json has at that path from here on. */
static void mark(struct mf_restore *restore, struct mf_str path, bool usual)
{
    struct mf_str *name = restore->made.assumed;
    size_t at = 0;

    while (at < restore->made.assumed_count && !mf_str_same(name[at], path))
        at++;
    if (!usual && at < restore->made.assumed_count)
        memmove(&name[at], &name[at + 1],
                (--restore->made.assumed_count - at) * sizeof(*name));
    if (!usual || at < restore->made.assumed_count)
        return;
    assert(at < MF_ASSUMED_MAX); /* paths are the rows', not the file's */
    name[restore->made.assumed_count++] = path;
}

static bool has(const struct mf_node *node, struct mf_str path)
{
    while (node && path.size > 0) {
        const char *dot = memchr(path.at, '.', path.size);
        size_t size = dot ? (size_t)(dot - path.at) : path.size;

        node = mf_node_get(node, (struct mf_str){ path.at, size });
        path.at += dot ? size + 1 : size;
        path.size -= dot ? size + 1 : size;
    }
    return node;
}

/* Later rows may have left out the object that a value was in. */
static void keep_those_there(struct mf_restore *restore)
{
    size_t count = 0;

    for (size_t i = 0; i < restore->made.assumed_count; i++)
        if (has(restore->config, restore->made.assumed[i]))
            restore->made.assumed[count++] = restore->made.assumed[i];
    restore->made.assumed_count = count;
}

/* ---- rows ---- */

static enum mf_status take_field(struct mf_recipe *recipe,
                                 enum mf_code_row word, struct mf_code row,
                                 void *user)
{
    struct mf_restore *restore = user;
    const struct mf_node *value = &written_null;
    struct mf_str path;

    if (word == MF_DO_WITHOUT_MTP) {
        restore->made.without_mtp = true;
        return MF_OK;
    }
    if (word != MF_DO_FIELD && word != MF_DO_USUAL && word != MF_DO_NOTHING)
        return MF_OK;
    path = mf_code_text(&row);
    if (word != MF_DO_NOTHING) {
        mark(restore, path, word == MF_DO_USUAL);
        value = mf_recipe_take(recipe, &row);
    }
    return value && mf_restore_set(recipe, restore->config, path, value)
               ? MF_OK
               : recipe->env->error.status;
}

enum mf_status mf_restore_config(struct mf_restore *restore)
{
    struct mf_recipe *recipe = &restore->recipe;
    struct mf_node *config = mf_arena_take(recipe->arena, sizeof(*config));

    if (!config)
        return restore->env->error.status;
    *config = (struct mf_node){ .kind = MF_NODE_OBJECT };
    restore->config = config;
    recipe->lets = recipe->given;
    if (mf_recipe_run(recipe, mf_recipe_rows(restore->part), take_field,
                      restore) != MF_OK)
        return restore->env->error.status;
    leave_out_nulls(config);
    keep_those_there(restore);
    return MF_OK;
}

/* ---- JSON ---- */

/* Fractions keep a point: readers tell them from whole numbers by it. */
static void put_number(struct mf_json_out *json, const struct mf_node *node)
{
    double value = node->number.f64;
    struct mf_number_text whole;

    if (node->type == MF_VALUE_U64)
        mf_json_u64(json, node->number.u64);
    else if (node->type != MF_VALUE_F64)
        mf_json_i64(json, node->number.i64);
    else if (value == floor(value) && fabs(value) < 1e15) {
        whole = mf_number_fixed(value, 1);
        mf_json_digits(json, whole.at, whole.size);
    } else
        mf_json_f64(json, value);
}

/* Objects and lists in others are as deep as a row says. */
static void put_node(struct mf_json_out *json, const struct mf_node *node)
{
    bool object = node->kind == MF_NODE_OBJECT;

    if (node->kind == MF_NODE_NULL)
        mf_json_null(json);
    else if (node->kind == MF_NODE_TRUE || node->kind == MF_NODE_FALSE)
        mf_json_bool(json, node->kind == MF_NODE_TRUE);
    else if (node->kind == MF_NODE_NUMBER)
        put_number(json, node);
    else if (node->kind == MF_NODE_STRING)
        mf_json_string(json, node->text.at, node->text.size);
    else {
        mf_json_begin(json, object ? '{' : '[');
        for (const struct mf_node *each = node->first; each;
             each = each->next) {
            if (object)
                mf_json_key(json, each->key.at);
            put_node(json, each);
        }
        mf_json_end(json, object ? '}' : ']');
    }
}

void mf_restore_put_json(struct mf_sink *sink, const struct mf_node *node)
{
    struct mf_json_out json = mf_draft_json(sink);
    bool first = true;

    mf_put(sink, "{\n", 2);
    for (const struct mf_node *each = node->first; each; each = each->next) {
        mf_put(sink, first ? "  " : ",\n  ", first ? 2 : 4);
        first = false;
        json.comma = false;
        mf_json_string(&json, each->key.at, each->key.size);
        mf_put(sink, ": ", 2);
        json.comma = false;
        put_node(&json, each);
    }
    mf_put(sink, "\n}\n", 3);
}

enum mf_status mf_restore_put_config(const struct mf_restore *restore,
                                     struct mf_stage *stage)
{
    struct mf_stage_file file;
    enum mf_status status = mf_stage_open(stage, "config.json", &file);

    if (status == MF_OK)
        mf_restore_put_json(&file.sink, restore->config);
    return mf_stage_close(&file, status);
}
