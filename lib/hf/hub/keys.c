/* SPDX-License-Identifier: MIT
 *
 * keys.c - rows `key` of recipes: config.json's values as metadata of GGUF
 *
 * Numbers are taken as Python's struct takes them: a float is never an integer,
 * an integer may be a float, a boolean is 0 or 1.
 */
#include "lib/hf/hub/keys.h"

#include "lib/draft/put.h"

struct key {
    struct mf_recipe *recipe;
    struct mf_draft *draft;
    const char *name;
    const struct mf_node *value;
};

static enum mf_status failed(const struct key *key)
{
    return key->recipe->env->error.status;
}

static enum mf_status wrong(struct key *key, const char *wanted)
{
    mf_recipe_wrong(key->recipe, key->value, wanted);
    return failed(key);
}

/* ---- one value ---- */

static enum mf_status put_number(struct key *key, enum mf_value_type type)
{
    const struct mf_node *value = key->value;
    bool real = type == MF_VALUE_F32 || type == MF_VALUE_F64;
    union mf_number number = value->number;
    enum mf_value_type from = value->type;
    int64_t whole;

    if (!mf_node_is_number(value) || (!real && !mf_node_is_int(value)))
        return wrong(key, real ? "a number" : "a whole number");
    if (value->kind != MF_NODE_NUMBER && mf_node_int(value, &whole)) {
        number.i64 = whole;
        from = MF_VALUE_I64;
    }
    return mf_set_number(key->draft, key->name, type, from, number);
}

static enum mf_status put_bool(struct key *key)
{
    return mf_set_bool(key->draft, key->name, mf_node_holds(key->value));
}

/* An empty text is not written. */
static enum mf_status put_text(struct key *key)
{
    if (key->value->kind != MF_NODE_STRING)
        return wrong(key, "a string");
    return key->value->text.size > 0
               ? mf_set_text(key->draft, key->name, key->value->text)
               : MF_OK;
}

/* ---- lists ---- */

/* As the reference finds out the type of an array: by its first element, which
 * the others must be like. */
static bool type_of(const struct mf_node *value, enum mf_value_type *type)
{
    *type = value->kind == MF_NODE_STRING ? MF_VALUE_STRING
            : value->kind == MF_NODE_TRUE || value->kind == MF_NODE_FALSE
                ? MF_VALUE_BOOL
            : mf_node_is_int(value) ? MF_VALUE_I32
                                    : MF_VALUE_F32;
    return value->kind == MF_NODE_STRING || mf_node_is_number(value);
}

static bool put_element(const struct mf_node *node, enum mf_value_type type,
                        union mf_number *out)
{
    if (type == MF_VALUE_BOOL) {
        out->boolean = node->kind == MF_NODE_TRUE;
        return true;
    }
    return mf_number_as(node->type, node->number, type, out);
}

static enum mf_status put_elements(struct key *key, enum mf_value_type type)
{
    const struct mf_node *list = key->value;
    bool texts = type == MF_VALUE_STRING;
    void *elements =
        mf_arena_take(&key->draft->arena,
                      (size_t)list->count * (texts ? sizeof(struct mf_str)
                                                   : sizeof(union mf_number)));
    size_t i = 0;

    if (!elements)
        return failed(key);
    for (const struct mf_node *node = list->first; node; node = node->next) {
        enum mf_value_type own;

        if (!type_of(node, &own) || own != type)
            return wrong(key, "a list of values of one type");
        if (texts)
            ((struct mf_str *)elements)[i++] =
                mf_draft_text(key->draft, node->text);
        else if (!put_element(node, type, &((union mf_number *)elements)[i++]))
            return wrong(key, "a list of 32-bit numbers");
    }
    if (failed(key) != MF_OK)
        return failed(key);
    return mf_set_array(key->draft, key->name, type, elements, list->count);
}

/* An empty list is not written. */
static enum mf_status put_array(struct key *key)
{
    enum mf_value_type type;

    if (key->value->kind != MF_NODE_ARRAY)
        return wrong(key, "a list");
    if (key->value->count == 0)
        return MF_OK;
    if (!type_of(key->value->first, &type))
        return wrong(key, "a list of numbers or strings");
    return put_elements(key, type);
}

/* A number, or one for each layer. */
static enum mf_status put_counts(struct key *key)
{
    return key->value->kind == MF_NODE_ARRAY ? put_array(key)
                                             : put_number(key, MF_VALUE_U32);
}

/* ---- a row ---- */

/* In the order of MF_PUT_TYPES. */
enum put_type {
    PUT_U32,
    PUT_I32,
    PUT_U64,
    PUT_F32,
    PUT_BOOL,
    PUT_TEXT,
    PUT_ARRAY,
    PUT_COUNTS
};

static enum mf_status put(struct key *key, enum put_type type)
{
    static const enum mf_value_type numbers[] = { MF_VALUE_U32, MF_VALUE_I32,
                                                  MF_VALUE_U64, MF_VALUE_F32 };

    switch (type) {
    case PUT_BOOL:
        return put_bool(key);
    case PUT_TEXT:
        return put_text(key);
    case PUT_ARRAY:
        return put_array(key);
    case PUT_COUNTS:
        return put_counts(key);
    default:
        return put_number(key, numbers[type]);
    }
}

enum mf_status mf_hub_key(struct mf_recipe *recipe, struct mf_draft *draft,
                          struct mf_code row)
{
    struct key key = { .recipe = recipe, .draft = draft };
    enum put_type type = (enum put_type)mf_code_byte(&row);
    bool optional = mf_code_byte(&row);

    key.name = mf_code_text(&row).at;
    key.value = mf_recipe_take(recipe, &row);
    if (!key.value)
        return failed(&key);
    if (optional && key.value->kind == MF_NODE_NULL)
        return MF_OK;
    return put(&key, type);
}
