/* SPDX-License-Identifier: MIT
 *
 * carry.c - carrying metadata from one format to another
 *
 * A model that goes from GGUF to safetensors or APR and back must come out byte
 * for byte as it was.  The three kinds of formats differ in what a value can
 * be: typed (GGUF), JSON (APR), strings (safetensors).  JSON does not
 * distinguish u32 from i64, and a string distinguishes nothing.  So where a
 * reader could not find out the type again, it is added to the key:
 * "llama.block_count:u32", "tokenizer.ids:i32[]".  On the way back the key
 * loses it, and a value that no longer fits is an error.
 *
 * Keys that GGUF and APR both have, under names of their own, are translated by
 * carry.def, so that readers of the other format find them.  Keys that mean
 * something to readers of one format only (the framework in safetensors, nulls
 * in APR) are dropped on the way out and added on the way in.
 */
#include "lib/draft/carry.h"

/* ---- one entry ---- */

/* The entry of a value as it is, read in the end from where it is now. */
static void set_value(struct mf_entry *entry, const struct mf_carry *carry,
                      const struct mf_meta *meta, size_t at)
{
    *entry = (struct mf_entry){ .key = meta->key,
                                .type = meta->type,
                                .of = meta->of,
                                .count = meta->count,
                                .number = meta->number,
                                .text = meta->text };
    /* Within one format the bytes themselves are copied. */
    if (carry->draft->format == carry->model->format ||
        meta->type == MF_VALUE_ARRAY || meta->type == MF_VALUE_OBJECT ||
        (meta->type == MF_VALUE_STRING && !meta->text.at)) {
        entry->from = carry->model;
        entry->at = at;
    }
}

/* The same of a string that contains JSON, which is read to find out its type
 * and count. */
static enum mf_status set_json_text(struct mf_entry *entry,
                                    const struct mf_carry *carry,
                                    const struct mf_meta *meta, size_t at)
{
    struct mf_values *values;
    struct mf_value value;
    unsigned depth = 0;
    uint32_t seen = 0; /* types of elements */
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
            /* "nan" is a number that JSON has no digits for. */
            if (value.type == MF_VALUE_STRING && !value.more &&
                mf_value_as(&value, MF_VALUE_F64, &entry->number))
                entry->type = MF_VALUE_F64;
        }
        depth -= value.event == MF_EVENT_END;
        if (depth == 1 && value.event != MF_EVENT_KEY &&
            value.event != MF_EVENT_END && !value.more) {
            entry->count++;
            seen |= mf_type_bit(value.type, value.number);
        }
        depth += value.event == MF_EVENT_BEGIN;
    }
    mf_values_close(values);
    entry->of = mf_common_type(seen);
    if (entry->type == MF_VALUE_ARRAY || entry->type == MF_VALUE_OBJECT ||
        entry->type == MF_VALUE_STRING) {
        entry->from = carry->model;
        entry->at = at;
        entry->typed_text = true;
    }
    return status;
}

/* A value whose key contains its type.  In safetensors it is the JSON of the
 * value, except for a string, which is itself. */
static enum mf_status restore(const struct mf_carry *carry,
                              const struct mf_meta *meta, size_t at,
                              const struct mf_typed_key *typed,
                              struct mf_entry *entry)
{
    bool is_string = typed->type == MF_VALUE_STRING && !typed->array;
    bool fits = true;

    mf_clear_error(carry->draft->env);
    if (carry->from != MF_VALUES_STRINGS || is_string)
        set_value(entry, carry, meta, at);
    else if (set_json_text(entry, carry, meta, at) == MF_ERR_CORRUPT)
        fits = false;
    else if (carry->draft->env->error.status != MF_OK)
        return carry->draft->env->error.status;
    if (!fits || !mf_entry_set_type(entry, typed)) {
        mf_clear_error(carry->draft->env);
        return mf_fail(carry->draft->env, MF_ERR_UNSUPPORTED, meta->span.offset,
                       "the value of '%s' does not have the type in its key",
                       mf_quote(meta->key).text);
    }
    entry->key = mf_draft_text(carry->draft, typed->name);
    return entry->key.at ? MF_OK : carry->draft->env->error.status;
}

/* The framework of a safetensors file, without which transformers does not load
 * it.  It is not a fact about the model: it is dropped in GGUF and added again
 * where GGUF becomes safetensors.  In APR it stays. */
#define FRAMEWORK_KEY "format"

static const struct mf_str framework = { "pt", 2 };

static bool is_framework(const struct mf_entry *entry)
{
    return mf_str_is(entry->key, FRAMEWORK_KEY) &&
           entry->type == MF_VALUE_STRING && entry->text.at &&
           mf_str_same(entry->text, framework);
}

static bool admits(const struct mf_carry *carry, const struct mf_entry *entry)
{
    const struct mf_format_out *out = carry->draft->out;

    return !out->admits || out->admits(entry);
}

/* Whether the key needs the type.  exact: the key is known to be GGUF's, not
 * APR's name for another one. */
static bool needs_type(const struct mf_carry *carry,
                       const struct mf_entry *entry, bool exact)
{
    struct mf_typed_key typed;

    if (carry->from == carry->to || carry->to == MF_VALUES_TYPED)
        return false;
    if (carry->to == MF_VALUES_STRINGS ? entry->type != MF_VALUE_STRING
                                       : !mf_entry_is_plain_json(entry))
        return true;
    if (!admits(carry, entry) || mf_typed_key_parse(entry->key, &typed))
        return true;
    if (carry->from == MF_VALUES_TYPED && carry->to == MF_VALUES_STRINGS &&
        mf_str_is(entry->key, FRAMEWORK_KEY))
        return true; /* GGUF's key of that name means something else */
    /* A model_type next to an architecture came from APR, and returns there. */
    if (mf_is_model_type(entry) && carry->architecture.at)
        return exact && mf_carry_is_plain_type(carry, entry);
    return exact && mf_is_apr_key(entry->key);
}

/* What the other format has no use for, or adds itself. */
static bool is_dropped(const struct mf_carry *carry,
                       const struct mf_entry *entry, bool exact)
{
    const struct mf_format_out *out = mf_format_out(carry->model->format);
    const char *reserve = out ? out->reserve_key : NULL; /* or only read */

    if (reserve && mf_str_is(entry->key, reserve) &&
        entry->type == MF_VALUE_ARRAY && entry->of == MF_VALUE_U8)
        return true; /* space that an earlier writer kept free */
    if (carry->from == MF_VALUES_JSON && carry->to == MF_VALUES_STRINGS)
        return !exact && mf_carry_is_filler(carry, entry);
    if (carry->from == carry->to || carry->to != MF_VALUES_TYPED || exact)
        return false;
    if (is_framework(entry))
        return true;
    if (mf_is_model_type(entry))
        return mf_carry_is_plain_type(carry, entry);
    return mf_str_is(entry->key, "total_size") ||
           mf_str_is(entry->key, "param_count") || entry->type == MF_VALUE_NULL;
}

/* ---- all entries ---- */

/* A value that the other format has no type for, or does not accept here. */
static bool cannot_carry(const struct mf_carry *carry,
                         const struct mf_entry *entry)
{
    enum mf_value_type type =
        entry->type == MF_VALUE_ARRAY ? entry->of : entry->type;

    if (carry->to != MF_VALUES_TYPED)
        return entry->type == MF_VALUE_ARRAY && entry->of == MF_VALUE_ARRAY &&
               carry->from == MF_VALUES_TYPED;
    return type > MF_VALUE_F64 || !admits(carry, entry) ||
           (type == MF_VALUE_ARRAY && carry->from != MF_VALUES_TYPED);
}

static enum mf_status refuse(const struct mf_carry *carry,
                             const struct mf_entry *entry)
{
    bool array = entry->type == MF_VALUE_ARRAY;

    return mf_decline(carry->draft->env, MF_REASON_NOT_LOSSLESS, MF_NO_OFFSET,
                      "%s cannot carry metadata key '%s', %s%s",
                      carry->draft->format->name, mf_quote(entry->key).text,
                      array ? "an array of type " : "of type ",
                      mf_value_type_name(array ? entry->of : entry->type));
}

/* An array of numbers, typed in GGUF and untyped in JSON: "[1,-2]", "[0.5]". */
static bool is_real(const struct mf_entry *entry)
{
    return entry->type == MF_VALUE_ARRAY && entry->count > 0 &&
           (entry->of == MF_VALUE_I64 || entry->of == MF_VALUE_F64);
}

/* Fills in one more entry of the draft; its key is NULL if it is dropped. */
static enum mf_status carry_one(const struct mf_carry *carry,
                                const struct mf_meta *meta, size_t at,
                                struct mf_entry *entry)
{
    bool exact = carry->from == MF_VALUES_TYPED;
    const struct mf_carry_row *row = NULL;
    struct mf_typed_key typed;

    if (carry->from == carry->to || exact ||
        !mf_typed_key_parse(meta->key, &typed)) {
        set_value(entry, carry, meta, at);
        entry->digits = carry->from == MF_VALUES_JSON && is_real(entry);
    } else {
        if (restore(carry, meta, at, &typed, entry) != MF_OK)
            return carry->draft->env->error.status;
        entry->digits = typed.json && is_real(entry);
        exact =
            carry->from == MF_VALUES_JSON || !mf_typed_key_may_be_json(&typed);
    }
    if (is_dropped(carry, entry, exact)) {
        entry->key = (struct mf_str){ NULL, 0 };
        return MF_OK;
    }
    if (!exact || carry->to != MF_VALUES_TYPED)
        row = mf_carry_row_of(carry, entry);
    if (row)
        return mf_carry_row_apply(carry, row, entry);
    if (needs_type(carry, entry, exact) &&
        mf_entry_add_type(carry->draft, entry) != MF_OK)
        return carry->draft->env->error.status;
    return cannot_carry(carry, entry) ? refuse(carry, entry) : MF_OK;
}

/* Two keys of one format may become the same key of the other. */
static enum mf_status add_name(const struct mf_carry *carry,
                               struct mf_names *names)
{
    const struct mf_draft *draft = carry->draft;
    size_t last = draft->entry_count - 1;

    if (mf_names_add(names, last) == MF_NOT_FOUND)
        return MF_OK;
    return mf_decline(draft->env, MF_REASON_NOT_LOSSLESS, MF_NO_OFFSET,
                      "metadata key '%s' would be duplicate in %s",
                      mf_quote(draft->entry[last].key).text,
                      draft->format->name);
}

static enum mf_status carry_all(struct mf_carry *carry, size_t *left_out)
{
    struct mf_draft *draft = carry->draft;
    struct mf_names names = { .name_at = mf_draft_key_at, .table = draft };
    struct mf_meta meta;

    names.seed = draft->env->hash_seed;
    if (mf_names_init(&names, &draft->arena, carry->model->index.meta_count) !=
        MF_OK)
        return draft->env->error.status;
    for (size_t i = 0; mf_meta_at(carry->model, i, &meta); i++) {
        struct mf_entry *entry = mf_draft_add_entry(draft);
        enum mf_status status = entry ? carry_one(carry, &meta, i, entry)
                                      : draft->env->error.status;

        if (status == MF_OK && !entry->key.at) {
            draft->entry_count--;
            continue;
        }
        if (status == MF_OK)
            entry->origin = i + 1;
        if (status == MF_OK && carry->from != carry->to)
            status = add_name(carry, &names);
        if (status == MF_ERR_UNSUPPORTED && draft->lossy) {
            mf_clear_error(draft->env);
            draft->entry_count--;
            ++*left_out;
        } else if (status != MF_OK) {
            return status;
        }
    }
    return MF_OK;
}

bool mf_has_blocks(const struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++)
        if (index->tensor[i].type != MF_TYPE_UNKNOWN &&
            mf_types[index->tensor[i].type].block > 1)
            return true;
    return false;
}

enum mf_status mf_carry_edit(struct mf_draft *draft, struct mf_edit *edit)
{
    const struct mf_entry *architecture = mf_draft_find(draft, "architecture");
    struct mf_carry carry = { .draft = draft,
                              .from = MF_VALUES_TYPED,
                              .to = draft->format->values };
    struct mf_entry entry = { .key = { edit->key, strlen(edit->key) },
                              .type = edit->type,
                              .of = edit->of,
                              .number = edit->number,
                              .text = edit->text };
    const struct mf_carry_row *row;

    if (carry.from == carry.to)
        return MF_OK;
    if (architecture && architecture->type == MF_VALUE_STRING)
        carry.architecture = architecture->text;
    row = mf_carry_row_of(&carry, &entry);
    if (row) {
        if (mf_carry_row_apply(&carry, row, &entry) != MF_OK)
            return draft->env->error.status;
    } else if (needs_type(&carry, &entry, true) &&
               mf_entry_add_type(draft, &entry) != MF_OK) {
        return draft->env->error.status;
    }
    edit->key = mf_draft_text(draft, entry.key).at;
    return edit->key ? MF_OK : draft->env->error.status;
}

static enum mf_status complete_strings(const struct mf_carry *carry)
{
    struct mf_entry *entry;

    if (mf_draft_find(carry->draft, FRAMEWORK_KEY))
        return MF_OK;
    entry = mf_draft_add_entry(carry->draft);
    if (!entry)
        return carry->draft->env->error.status;
    entry->key = (struct mf_str){ FRAMEWORK_KEY, strlen(FRAMEWORK_KEY) };
    entry->type = MF_VALUE_STRING;
    entry->text = framework;
    entry->count = framework.size;
    return MF_OK;
}

/* ggml requires the version of its quantized types; 2 is what all current
 * writers use. */
static enum mf_status complete_gguf(const struct mf_carry *carry)
{
    static const char key[] = "general.quantization_version";
    struct mf_entry *entry;

    if (!mf_has_blocks(&carry->model->index) ||
        mf_draft_find(carry->draft, key))
        return MF_OK;
    entry = mf_draft_add_entry(carry->draft);
    if (!entry)
        return carry->draft->env->error.status;
    entry->key = (struct mf_str){ key, strlen(key) };
    entry->type = MF_VALUE_U32;
    entry->number.u64 = 2;
    return MF_OK;
}

static struct mf_carry carry_of(struct mf_draft *draft, struct mf_model *model)
{
    struct mf_carry carry = { .draft = draft,
                              .model = model,
                              .from = model->format->values,
                              .to = draft->format->values };
    struct mf_meta fact;

    if (mf_model_fact(model, MF_FACT_ARCHITECTURE, &fact, NULL) &&
        fact.type == MF_VALUE_STRING && fact.text.at)
        carry.architecture = fact.text;
    return carry;
}

bool mf_carry_omits(struct mf_draft *draft, struct mf_model *model, size_t at)
{
    struct mf_carry carry = carry_of(draft, model);
    bool exact = carry.from == MF_VALUES_TYPED;
    struct mf_entry entry;
    struct mf_typed_key typed;
    struct mf_meta meta;

    if (!mf_meta_at(model, at, &meta) ||
        (!exact && mf_typed_key_parse(meta.key, &typed)))
        return false;
    set_value(&entry, &carry, &meta, at);
    return is_dropped(&carry, &entry, exact);
}

enum mf_status mf_carry_metadata(struct mf_draft *draft, struct mf_model *model,
                                 size_t *left_out)
{
    struct mf_carry carry = carry_of(draft, model);
    enum mf_status status;

    *left_out = 0;
    status = carry_all(&carry, left_out);
    if (status == MF_OK && carry.to == MF_VALUES_STRINGS &&
        carry.from == MF_VALUES_TYPED)
        status = complete_strings(&carry);
    if (status == MF_OK && carry.to == MF_VALUES_JSON &&
        carry.from != MF_VALUES_JSON)
        status = mf_carry_complete_apr(&carry);
    if (status == MF_OK && carry.to == MF_VALUES_TYPED &&
        carry.from != MF_VALUES_TYPED) {
        status = mf_carry_name_architecture(&carry);
        if (status == MF_OK)
            status = complete_gguf(&carry);
    }
    return status;
}

enum mf_status mf_carry_as_gguf(struct mf_draft *draft, struct mf_model *model)
{
    size_t unused;

    mf_draft_init(draft, model->env, mf_format_with_values(MF_VALUES_TYPED));
    draft->lossy = true;
    return mf_carry_metadata(draft, model, &unused);
}
