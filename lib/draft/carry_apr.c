/* SPDX-License-Identifier: MIT
 *
 * carry_apr.c - keys of APR: those that GGUF names differently, and those that
 * every file has
 *
 * aprender requires a model_type and three keys that are mostly null.  Other
 * formats drop them, and they are added when a file becomes APR again.
 */
#include <math.h>
#include <stdio.h>

#include "lib/draft/carry.h"

/* ---- keys that GGUF and APR name differently ---- */

static const struct mf_carry_row {
    const char *gguf, *apr;
    enum mf_value_type type, of;
} rows[] = {
#define KEY(gguf, apr, TYPE)   { gguf, apr, MF_VALUE_##TYPE, MF_VALUE_U8 },
#define ARRAY(gguf, apr, TYPE) { gguf, apr, MF_VALUE_ARRAY, MF_VALUE_##TYPE },
#include "lib/draft/carry.def"
#undef ARRAY
#undef KEY
};

/* Whether key matches the pattern, in which "*" is the architecture. */
static bool matches(const struct mf_carry *carry, const char *pattern,
                    struct mf_str key)
{
    struct mf_str name = carry->architecture;

    if (*pattern != '*')
        return mf_str_is(key, pattern);
    return name.at && key.size > name.size &&
           memcmp(key.at, name.at, name.size) == 0 &&
           mf_str_is(
               (struct mf_str){ key.at + name.size, key.size - name.size },
               pattern + 1);
}

static struct mf_str key_of(const struct mf_carry *carry, const char *pattern)
{
    struct mf_str name = carry->architecture,
                  out = { pattern, strlen(pattern) };
    char *text;

    if (*pattern != '*')
        return out;
    out.size += name.size - 1;
    text = mf_arena_text(&carry->draft->arena, out.size);
    if (text) {
        memcpy(text, name.at, name.size);
        strcpy(text + name.size, pattern + 1);
    }
    out.at = text;
    return out;
}

/* Whether a row applies to the value.  One from GGUF must have the row's type,
 * and a float must be finite, as JSON has no digits for others.  One from JSON
 * must fit into that type. */
static bool fits_row(const struct mf_carry_row *row,
                     const struct mf_entry *entry, bool exact)
{
    union mf_number number;

    if (row->type == MF_VALUE_ARRAY)
        return entry->type == MF_VALUE_ARRAY &&
               (entry->of == row->of ||
                (!exact &&
                 (entry->count == 0 || (row->of != MF_VALUE_STRING &&
                                        entry->of != MF_VALUE_STRING))));
    if (exact)
        return entry->type == row->type &&
               (row->type != MF_VALUE_F32 || isfinite(entry->number.f64));
    return mf_number_as(entry->type, entry->number, row->type, &number);
}

const struct mf_carry_row *mf_carry_row_of(const struct mf_carry *carry,
                                           const struct mf_entry *entry)
{
    bool to_apr = carry->to == MF_VALUES_JSON;

    if (carry->from == carry->to || carry->to == MF_VALUES_STRINGS)
        return NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (matches(carry, to_apr ? rows[i].gguf : rows[i].apr, entry->key) &&
            (to_apr || *rows[i].gguf != '*' || carry->architecture.at) &&
            fits_row(&rows[i], entry, to_apr))
            return &rows[i];
    return NULL;
}

bool mf_is_apr_key(struct mf_str key)
{
    static const char *const made_up[] = { "model_type", "total_size",
                                           "param_count" };

    for (size_t i = 0; i < sizeof(made_up) / sizeof(*made_up); i++)
        if (mf_str_is(key, made_up[i]))
            return true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (mf_str_is(key, rows[i].apr))
            return true;
    return false;
}

enum mf_status mf_carry_row_apply(const struct mf_carry *carry,
                                  const struct mf_carry_row *row,
                                  struct mf_entry *entry)
{
    bool to_apr = carry->to == MF_VALUES_JSON;

    entry->key = to_apr ? (struct mf_str){ row->apr, strlen(row->apr) }
                        : key_of(carry, row->gguf);
    if (!entry->key.at)
        return carry->draft->env->error.status;
    if (to_apr)
        return MF_OK;
    if (row->type == MF_VALUE_ARRAY)
        entry->of = row->of;
    else if (row->type != MF_VALUE_STRING)
        mf_number_as(entry->type, entry->number, row->type, &entry->number);
    entry->type = row->type;
    return MF_OK;
}

/* ---- keys that every APR file has ---- */

bool mf_is_model_type(const struct mf_entry *entry)
{
    return mf_str_is(entry->key, "model_type") &&
           entry->type == MF_VALUE_STRING && !entry->from;
}

bool mf_carry_is_filler(const struct mf_carry *carry,
                        const struct mf_entry *entry)
{
    struct mf_meta meta = { .type = MF_VALUE_NULL };

    if (entry->type == MF_VALUE_NULL)
        return mf_str_is(entry->key, "license") ||
               mf_str_is(entry->key, "data_source") ||
               mf_str_is(entry->key, "data_license");
    mf_meta_find(carry->model, "architecture", strlen("architecture"), &meta,
                 NULL);
    if (meta.type != MF_VALUE_STRING)
        meta.text = (struct mf_str){ "", 0 };
    return mf_is_model_type(entry) && meta.text.at &&
           mf_str_same(entry->text, meta.text);
}

bool mf_carry_is_plain_type(const struct mf_carry *carry,
                            const struct mf_entry *entry)
{
    return entry->text.size == 0 ||
           (carry->architecture.at &&
            mf_str_same(entry->text, carry->architecture));
}

/* Does nothing where the draft has the key. */
static enum mf_status add_missing(struct mf_draft *draft, const char *key,
                                  enum mf_value_type type, struct mf_str text)
{
    struct mf_entry *entry;

    if (mf_draft_find(draft, key))
        return MF_OK;
    entry = mf_draft_add_entry(draft);
    if (!entry)
        return draft->env->error.status;
    entry->key = (struct mf_str){ key, strlen(key) };
    entry->type = type;
    entry->text = text;
    entry->count = text.size;
    return MF_OK;
}

enum mf_status mf_carry_complete_apr(const struct mf_carry *carry)
{
    static const char *const nulls[] = { "license", "data_source",
                                         "data_license" };
    struct mf_str empty = { "", 0 };
    enum mf_status status =
        add_missing(carry->draft, "model_type", MF_VALUE_STRING,
                    carry->architecture.at ? carry->architecture : empty);

    for (size_t i = 0; i < 3 && status == MF_OK; i++)
        status = add_missing(carry->draft, nulls[i], MF_VALUE_NULL, empty);
    return status;
}

enum mf_status mf_carry_name_architecture(const struct mf_carry *carry)
{
    struct mf_meta meta;

    if (!carry->architecture.at || carry->architecture.size == 0 ||
        (carry->from == MF_VALUES_STRINGS &&
         !(mf_meta_find(carry->model, "model_type", strlen("model_type"), &meta,
                        NULL) &&
           meta.text.at && mf_str_same(meta.text, carry->architecture))))
        return MF_OK;
    return add_missing(carry->draft, "general.architecture", MF_VALUE_STRING,
                       carry->architecture);
}
