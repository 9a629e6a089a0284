/* SPDX-License-Identifier: MIT
 *
 * carry.c - the metadata of one format in another
 *
 * Three kinds of formats differ in what a value may be: typed (GGUF), JSON
 * (APR), strings (safetensors).  Where a value's type would not be known again,
 * the key says it: "llama.block_count:u32", "tokenizer.ids:i32[]".  Keys that
 * GGUF and APR both have under names of their own stand in carry.def.
 */
#include "lib/carry.h"

#include <stdio.h>

static const struct row {
    const char *gguf, *apr;
    enum mf_value_type type, of;
} rows[] = {
#define KEY(gguf, apr, TYPE)   { gguf, apr, MF_VALUE_##TYPE, MF_VALUE_U8 },
#define ARRAY(gguf, apr, TYPE) { gguf, apr, MF_VALUE_ARRAY, MF_VALUE_##TYPE },
#include "lib/carry.def"
#undef ARRAY
#undef KEY
};

struct carry {
    struct mf_draft *draft;
    struct mf_model *model;
    enum mf_values_kind from, to;
    struct mf_str architecture; /* at NULL: not known */
};

static bool same_text(struct mf_str text, const char *other)
{
    return text.size == strlen(other) && memcmp(text.at, other, text.size) == 0;
}

/* ---- keys of carry.def ---- */

/* Whether key is the pattern, its "*" standing for the architecture. */
static bool matches(const struct carry *carry, const char *pattern,
                    struct mf_str key)
{
    struct mf_str name = carry->architecture;

    if (*pattern != '*')
        return same_text(key, pattern);
    return name.at && key.size > name.size &&
           memcmp(key.at, name.at, name.size) == 0 &&
           same_text(
               (struct mf_str){ key.at + name.size, key.size - name.size },
               pattern + 1);
}

static struct mf_str key_of(const struct carry *carry, const char *pattern)
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

/* A value that carry.def's row speaks of.  What GGUF holds must have its type;
 * what comes from JSON must have a value that fits it. */
static bool fits_row(const struct row *row, const struct mf_entry *entry,
                     bool exact)
{
    union mf_number number;

    if (row->type == MF_VALUE_ARRAY)
        return entry->type == MF_VALUE_ARRAY &&
               (entry->of == row->of ||
                (!exact &&
                 (entry->count == 0 || (row->of != MF_VALUE_STRING &&
                                        entry->of != MF_VALUE_STRING))));
    return entry->type == row->type ||
           (!exact &&
            mf_number_as(entry->type, entry->number, row->type, &number));
}

static const struct row *row_of(const struct carry *carry,
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

/* ---- types in keys ---- */

/* What a reader of JSON takes such a value for, so that the key need not say
 * it. */
static bool is_natural(const struct mf_entry *entry)
{
    bool array = entry->type == MF_VALUE_ARRAY;
    enum mf_value_type type = array ? entry->of : entry->type;

    if (array && entry->count == 0)
        return false;
    return type == MF_VALUE_STRING || type == MF_VALUE_BOOL ||
           type == MF_VALUE_U64 || type >= MF_VALUE_NULL;
}

enum mf_status mf_entry_tell_type(struct mf_draft *draft,
                                  struct mf_entry *entry)
{
    bool array = entry->type == MF_VALUE_ARRAY;
    enum mf_value_type type = array ? entry->of : entry->type;
    bool json = type >= MF_VALUE_NULL || type == MF_VALUE_ARRAY;
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

struct told { /* by a key */
    struct mf_str name;
    enum mf_value_type type; /* of an array's elements, or of the value */
    bool array, json;
};

static bool read_key(struct mf_str key, struct told *out)
{
    size_t colon = key.size;

    while (colon > 0 && key.at[colon - 1] != ':')
        colon--;
    if (colon < 2)
        return false;
    *out = (struct told){ .name = { key.at, colon - 1 } };
    key = (struct mf_str){ key.at + colon, key.size - colon };
    out->array = key.size > 2 && memcmp(key.at + key.size - 2, "[]", 2) == 0;
    key.size -= out->array ? 2 : 0;
    out->json = !out->array && same_text(key, "json");
    for (out->type = MF_VALUE_U8; out->type <= MF_VALUE_F64; out->type++)
        if (out->type != MF_VALUE_ARRAY &&
            same_text(key, mf_value_type_name(out->type)))
            return true;
    return out->json;
}

/* ---- one metadatum ---- */

/* The value itself, wherever it is kept. */
static void take_value(struct mf_entry *entry, const struct carry *carry,
                       const struct mf_meta *meta, size_t at)
{
    *entry = (struct mf_entry){ .key = meta->key,
                                .type = meta->type,
                                .of = meta->of,
                                .count = meta->count,
                                .number = meta->number,
                                .text = meta->text };
    /* Of the same format the bytes themselves are taken. */
    if (carry->draft->format == carry->model->format ||
        meta->type == MF_VALUE_ARRAY || meta->type == MF_VALUE_OBJECT ||
        (meta->type == MF_VALUE_STRING && !meta->text.at)) {
        entry->from = carry->model;
        entry->at = at;
    }
}

/* The same of JSON in a string: what it is, and of how much. */
static enum mf_status take_text(struct mf_entry *entry,
                                const struct carry *carry,
                                const struct mf_meta *meta, size_t at)
{
    struct mf_values *values;
    struct mf_value value;
    unsigned depth = 0;
    enum mf_status status = mf_values_open_text(carry->model, at, &values);

    if (status != MF_OK)
        return status;
    *entry = (struct mf_entry){ .key = meta->key };
    while ((status = mf_values_next(values, &value)) == MF_OK &&
           value.event != MF_EVENT_DONE) {
        if (depth == 0 && value.event != MF_EVENT_END) {
            entry->type = value.type;
            entry->number = value.number;
            entry->count = value.text.size;
        }
        depth -= value.event == MF_EVENT_END;
        entry->count += depth == 1 && value.event != MF_EVENT_KEY &&
                        value.event != MF_EVENT_END && !value.more;
        depth += value.event == MF_EVENT_BEGIN;
    }
    mf_values_close(values);
    if (entry->type == MF_VALUE_ARRAY || entry->type == MF_VALUE_OBJECT ||
        entry->type == MF_VALUE_STRING) {
        entry->from = carry->model;
        entry->at = at;
        entry->typed_text = true;
    }
    return status;
}

/* Gives the entry the type that its key tells; false where its value has
 * another. */
static bool set_type(struct mf_entry *entry, const struct told *told)
{
    struct mf_value word = { .type = MF_VALUE_STRING, .text = entry->text };
    bool is_float = told->type == MF_VALUE_F32 || told->type == MF_VALUE_F64;

    if (told->json) { /* what it is, it is */
        entry->of = MF_VALUE_MIXED;
        return true;
    }
    if (told->array) {
        entry->of = told->type;
        return entry->type == MF_VALUE_ARRAY;
    }
    if (entry->type == MF_VALUE_STRING && is_float) { /* "nan" */
        entry->type = told->type;
        return entry->from || mf_value_as(&word, told->type, &entry->number);
    }
    if (!mf_number_as(entry->type, entry->number, told->type, &entry->number))
        return false;
    entry->type = told->type;
    return true;
}

/* A value whose key says its type. */
static enum mf_status restore(const struct carry *carry,
                              const struct mf_meta *meta, size_t at,
                              const struct told *told, struct mf_entry *entry)
{
    mf_clear_error(carry->draft->env);
    if (carry->from != MF_VALUES_STRINGS || meta->type != MF_VALUE_STRING)
        take_value(entry, carry, meta, at);
    else if (take_text(entry, carry, meta, at) != MF_OK)
        return carry->draft->env->error.status;
    if (!set_type(entry, told))
        return mf_fail(carry->draft->env, MF_ERR_UNSUPPORTED, meta->span.offset,
                       "'%s' holds another value than its key says",
                       mf_quote(meta->key).text);
    entry->key = mf_draft_text(carry->draft, told->name);
    return entry->key.at ? MF_OK : carry->draft->env->error.status;
}

static enum mf_status apply_row(const struct carry *carry,
                                const struct row *row, struct mf_entry *entry)
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

static enum mf_status carry_one(const struct carry *carry,
                                const struct mf_meta *meta, size_t at,
                                struct mf_entry *entry)
{
    const struct row *row;
    struct told told;

    if (carry->from == carry->to || carry->from == MF_VALUES_TYPED ||
        !read_key(meta->key, &told))
        take_value(entry, carry, meta, at);
    else if (restore(carry, meta, at, &told, entry) != MF_OK)
        return carry->draft->env->error.status;
    row = row_of(carry, entry);
    if (row)
        return apply_row(carry, row, entry);
    if (carry->from == carry->to || carry->to == MF_VALUES_TYPED ||
        (carry->to == MF_VALUES_STRINGS ? entry->type == MF_VALUE_STRING
                                        : is_natural(entry)))
        return MF_OK;
    return mf_entry_tell_type(carry->draft, entry);
}

/* What other formats have no place for, and what is made anew. */
static bool is_dropped(const struct carry *carry, const struct mf_entry *entry)
{
    struct mf_str name = carry->architecture;
    const char *reserve = carry->model->format->out->reserve_key;

    if (reserve && same_text(entry->key, reserve) &&
        entry->type == MF_VALUE_ARRAY && entry->of == MF_VALUE_U8)
        return true; /* room that an earlier writer left */
    if (carry->from == carry->to || carry->to != MF_VALUES_TYPED)
        return false;
    if (same_text(entry->key, "model_type") && entry->type == MF_VALUE_STRING &&
        !entry->from)
        return entry->text.size == 0 ||
               (entry->text.size == name.size &&
                memcmp(entry->text.at, name.at, name.size) == 0);
    return same_text(entry->key, "total_size") ||
           same_text(entry->key, "param_count") || entry->type == MF_VALUE_NULL;
}

/* ---- all of it ---- */

/* What a typed format has no type for. */
static bool cannot_carry(const struct carry *carry,
                         const struct mf_entry *entry)
{
    enum mf_value_type type =
        entry->type == MF_VALUE_ARRAY ? entry->of : entry->type;

    if (carry->to != MF_VALUES_TYPED)
        return entry->type == MF_VALUE_ARRAY && entry->of == MF_VALUE_ARRAY &&
               carry->from == MF_VALUES_TYPED;
    return type > MF_VALUE_F64 ||
           (type == MF_VALUE_ARRAY && carry->from != MF_VALUES_TYPED);
}

static enum mf_status refuse(const struct carry *carry,
                             const struct mf_entry *entry)
{
    bool array = entry->type == MF_VALUE_ARRAY;

    return mf_fail(carry->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "%s cannot carry the metadatum '%s', %s%s: unset it, or "
                   "leave out such values with --lossy",
                   carry->draft->format->name, mf_quote(entry->key).text,
                   array ? "an array of type " : "of type ",
                   mf_value_type_name(array ? entry->of : entry->type));
}

static enum mf_status carry_all(struct carry *carry, size_t *left_out)
{
    struct mf_draft *draft = carry->draft;
    struct mf_meta meta;

    for (size_t i = 0; mf_meta_at(carry->model, i, &meta); i++) {
        struct mf_entry *entry;

        entry = mf_draft_add_entry(draft);
        if (!entry || carry_one(carry, &meta, i, entry) != MF_OK)
            return draft->env->error.status;
        if (is_dropped(carry, entry)) {
            draft->entry_count--;
            continue;
        }
        if (!cannot_carry(carry, entry))
            continue;
        if (!draft->lossy)
            return refuse(carry, entry);
        draft->entry_count--;
        ++*left_out;
    }
    return MF_OK;
}

static bool is_known(const struct mf_draft *draft, const char *key)
{
    return mf_draft_find(draft, key) != NULL;
}

static enum mf_status add_null(struct mf_draft *draft, const char *key)
{
    struct mf_entry *entry;

    if (is_known(draft, key))
        return MF_OK;
    entry = mf_draft_add_entry(draft);
    if (!entry)
        return draft->env->error.status;
    entry->key = (struct mf_str){ key, strlen(key) };
    entry->type = MF_VALUE_NULL;
    return MF_OK;
}

/* What every APR file says, known or not: aprender asks for it. */
static enum mf_status complete_apr(const struct carry *carry)
{
    struct mf_draft *draft = carry->draft;
    struct mf_entry *entry;

    if (!is_known(draft, "model_type")) {
        entry = mf_draft_add_entry(draft);
        if (!entry)
            return draft->env->error.status;
        entry->key = (struct mf_str){ "model_type", strlen("model_type") };
        entry->type = MF_VALUE_STRING;
        entry->text = carry->architecture.at ? carry->architecture
                                             : (struct mf_str){ "", 0 };
        entry->count = entry->text.size;
    }
    if (add_null(draft, "license") != MF_OK ||
        add_null(draft, "data_source") != MF_OK)
        return draft->env->error.status;
    return add_null(draft, "data_license");
}

enum mf_status mf_carry_metadata(struct mf_draft *draft, struct mf_model *model,
                                 size_t *left_out)
{
    struct carry carry = { .draft = draft,
                           .model = model,
                           .from = model->format->values,
                           .to = draft->format->values };
    struct mf_meta fact;
    enum mf_status status;

    if (mf_model_fact(model, MF_FACT_ARCHITECTURE, &fact, NULL) &&
        fact.type == MF_VALUE_STRING && fact.text.at)
        carry.architecture = fact.text;
    *left_out = 0;
    status = carry_all(&carry, left_out);
    if (status == MF_OK && carry.to == MF_VALUES_JSON &&
        carry.from != MF_VALUES_JSON)
        status = complete_apr(&carry);
    return status;
}
