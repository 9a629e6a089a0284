/* SPDX-License-Identifier: MIT
 *
 * carry_row.c - keys that GGUF and APR name differently
 */
#include <math.h>
#include <stdio.h>

#include "lib/draft/carry.h"

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
