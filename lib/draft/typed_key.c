/* SPDX-License-Identifier: MIT
 *
 * typed_key.c - the type of a value in its key
 *
 * "llama.block_count:u32", "tokenizer.ids:i32[]", "x:json": added where JSON or
 * a string would lose the type.  A key that ends in such a word by chance gets
 * a type, too, so that reading it back removes exactly what was added.
 */
#include <math.h>
#include <stdio.h>

#include "lib/draft/carry.h"

bool mf_entry_is_plain_json(const struct mf_entry *entry)
{
    bool array = entry->type == MF_VALUE_ARRAY;
    enum mf_value_type type = array ? entry->of : entry->type;

    if (entry->digits)
        return true;
    if (array && entry->count == 0)
        return entry->of >= MF_VALUE_NULL; /* "[]" has no type in JSON either */
    if (!array && type == MF_VALUE_F64)
        return isfinite(entry->number.f64);
    if (!array && type == MF_VALUE_I64)
        return entry->number.i64 < 0;
    return type == MF_VALUE_STRING || type == MF_VALUE_BOOL ||
           type == MF_VALUE_U64 || type >= MF_VALUE_NULL;
}

enum mf_status mf_entry_add_type(struct mf_draft *draft, struct mf_entry *entry)
{
    bool array = entry->type == MF_VALUE_ARRAY;
    enum mf_value_type type = array ? entry->of : entry->type;
    bool json =
        type >= MF_VALUE_NULL || type == MF_VALUE_ARRAY || entry->digits;
    const char *name = json ? "json" : mf_value_type_name(type);
    const char *brackets = array && !json ? "[]" : "";
    size_t size = entry->key.size + 1 + strlen(name) + strlen(brackets);
    char *text = mf_arena_text(&draft->arena, size);

    if (!text)
        return draft->env->error.status;
    snprintf(text, size + 1, "%.*s:%s%s", (int)entry->key.size, entry->key.at,
             name, brackets);
    entry->key = (struct mf_str){ text, size };
    return MF_OK;
}

bool mf_typed_key_parse(struct mf_str key, struct mf_typed_key *out)
{
    size_t colon = key.size;

    while (colon > 0 && key.at[colon - 1] != ':')
        colon--;
    if (colon < 2)
        return false;
    *out = (struct mf_typed_key){ .name = { key.at, colon - 1 } };
    key = (struct mf_str){ key.at + colon, key.size - colon };
    out->array = key.size > 2 && memcmp(key.at + key.size - 2, "[]", 2) == 0;
    key.size -= out->array ? 2 : 0;
    out->json = !out->array && mf_str_is(key, "json");
    for (out->type = MF_VALUE_U8; out->type <= MF_VALUE_F64; out->type++)
        if (out->type != MF_VALUE_ARRAY &&
            mf_str_is(key, mf_value_type_name(out->type)))
            return true;
    return out->json;
}

bool mf_entry_set_type(struct mf_entry *entry, const struct mf_typed_key *typed)
{
    struct mf_value word = { .type = MF_VALUE_STRING, .text = entry->text };
    bool is_float = typed->type == MF_VALUE_F32 || typed->type == MF_VALUE_F64;

    if (typed->json) /* the JSON itself has the type */
        return true;
    if (typed->array) {
        entry->of = typed->type;
        return entry->type == MF_VALUE_ARRAY;
    }
    if (entry->type == MF_VALUE_STRING && is_float) { /* "nan" */
        entry->type = typed->type;
        entry->text = (struct mf_str){ NULL, 0 };
        return !entry->from && mf_value_as(&word, typed->type, &entry->number);
    }
    if (!mf_number_as(entry->type, entry->number, typed->type, &entry->number))
        return false;
    entry->type = typed->type;
    return true;
}

bool mf_typed_key_may_be_json(const struct mf_typed_key *typed)
{
    return typed->json || typed->array || typed->type == MF_VALUE_BOOL ||
           typed->type == MF_VALUE_U64 || typed->type == MF_VALUE_I64 ||
           typed->type == MF_VALUE_F64;
}
