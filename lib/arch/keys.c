/* SPDX-License-Identifier: MIT
 *
 * keys.c - rows that read metadata
 *
 *     key TYPE NAME
 *
 * TYPE is what the loader takes, to the letter: a u32 where it wants a u32.
 *
 *     uint, int, float, bool, string
 *               one value of type u32, i32, f32, bool, string
 *     uint[]    an array of at most 512, of u32, i32 or bool.  A single value
 *               counts as missing
 *     uint[4]   the same, of at most 4
 *     uint*     one value, or an array with one for each block
 *     uint*-    the same, without blocks for speculative decoding
 *     uint*4    one value, or an array of exactly 4
 *     uint|[]   one value or an array
 *     id[]      an array of u32 or i32
 *     float[], string[], ulong[] and so on: arrays of f32, string, u64
 *     list      an array of anything, of which only the length matters
 *
 * "?" at the end: the key may be missing.  In the file the architecture's name
 * and a dot come first, except for keys of general., tokenizer. and xielu.
 */
#include "lib/arch/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/model/facts.h"

#define ELEMENTS_MAX 512 /* of an array that a loader keeps */
#define NAME_MAX     128 /* of an architecture */

/* ---- the type of a row ---- */

struct base {
    enum mf_value_type scalar;
    uint32_t elements; /* bits of types that an array may have */
};

#define BIT(type) (UINT32_C(1) << MF_VALUE_##type)

/* In the order of MF_KEY_TYPES. */
static const struct base bases[] = {
    { MF_VALUE_U32, BIT(U32) | BIT(I32) | BIT(BOOL) },
    { MF_VALUE_U32, BIT(U32) | BIT(I32) },
    { MF_VALUE_I32, BIT(U32) | BIT(I32) | BIT(BOOL) },
    { MF_VALUE_F32, BIT(F32) },
    { MF_VALUE_BOOL, BIT(U32) | BIT(I32) | BIT(BOOL) },
    { MF_VALUE_STRING, BIT(STRING) },
    { MF_VALUE_U64, BIT(U64) },
    { MF_VALUE_ARRAY, UINT32_MAX },
};

struct type {
    const struct base *base;
    bool single, array; /* may be one value, an array */
    bool exact;         /* the array must have `most` elements */
    bool optional;
    uint64_t most;
};

static struct type take_type(struct mf_arch_run *run, struct mf_code *row)
{
    struct type type = { .base = &bases[mf_code_byte(row)] };
    unsigned flags = mf_code_byte(row);
    uint64_t most = mf_code_two(row);

    type.single = flags & MF_KEY_SINGLE;
    type.array = flags & MF_KEY_ARRAY;
    type.exact = flags & MF_KEY_EXACT;
    type.optional = flags & MF_KEY_OPTIONAL;
    type.most = most > 0 ? most : ELEMENTS_MAX;
    if (type.exact && most == 0) { /* one for each block */
        const char *per = flags & MF_KEY_TRUNK ? "layers" : "blocks";
        struct mf_arch_number blocks =
            mf_arch_name_value(run, (struct mf_str){ per, strlen(per) });

        type.exact = blocks.known;
        if (blocks.known)
            type.most = (uint64_t)blocks.value;
    }
    return type;
}

/* ---- the key in the file ---- */

bool mf_arch_is_whole_key(struct mf_str name)
{
    return mf_str_begins(name, "general.") ||
           mf_str_begins(name, "tokenizer.") || mf_str_begins(name, "xielu.");
}

static struct mf_arch_full_key full_key(struct mf_str architecture,
                                        struct mf_str name)
{
    bool whole = mf_arch_is_whole_key(name);
    struct mf_arch_full_key out;

    assert(architecture.size + name.size + 2 <= sizeof(out.text));
    out.size = (size_t)snprintf(out.text, sizeof(out.text), "%.*s%s%.*s",
                                whole ? 0 : (int)architecture.size,
                                whole ? "" : architecture.at, whole ? "" : ".",
                                (int)name.size, name.at);
    return out;
}

struct mf_arch_full_key mf_arch_full_key(const struct mf_arch_run *run,
                                         struct mf_str name)
{
    return full_key(run->name, name);
}

static void note_type(struct mf_arch_run *run, const struct mf_meta *meta,
                      const struct type *type)
{
    bool is_array = meta->type == MF_VALUE_ARRAY;

    run->unsure = true;
    if (run->quiet)
        return;
    mf_index_note(run->index, meta->shard, run->severity, MF_RULE_MODEL_KEY,
                  meta->span.offset, "'%s' is %s%s; the loader expects %s%s%s",
                  mf_quote(meta->key).text,
                  is_array ? "an array of " : "of type ",
                  mf_value_type_name(is_array ? meta->of : meta->type),
                  type->single ? mf_value_type_name(type->base->scalar) : "",
                  type->single && type->array ? " or " : "",
                  type->array ? "an array" : "");
}

static void note_count(struct mf_arch_run *run, const struct mf_meta *meta,
                       const struct type *type)
{
    run->unsure = true;
    if (run->quiet)
        return;
    mf_index_note(run->index, meta->shard, run->severity, MF_RULE_MODEL_KEY,
                  meta->span.offset,
                  "'%s' has %" PRIu64
                  " elements; the loader expects %s%" PRIu64,
                  mf_quote(meta->key).text, meta->count,
                  type->exact ? "" : "at most ", type->most);
}

/* ---- its value ---- */

/* What the loader sees, which takes u32 for i32 and the reverse.  Of a float
 * only the sign is known, that of a NaN being -1, and whether it is 1: another
 * one above 0 is 2. */
static int64_t integer_of(const struct type *wanted, enum mf_value_type type,
                          union mf_number number)
{
    bool is_signed = wanted->base->scalar == MF_VALUE_I32;

    switch (type) {
    case MF_VALUE_BOOL:
        return number.boolean;
    case MF_VALUE_U64:
        return number.u64 <= INT64_MAX ? (int64_t)number.u64 : INT64_MAX;
    case MF_VALUE_I32:
        return is_signed ? number.i64 : (uint32_t)number.i64;
    case MF_VALUE_I8:
    case MF_VALUE_I16:
    case MF_VALUE_I64:
        return number.i64;
    case MF_VALUE_U8:
    case MF_VALUE_U16:
    case MF_VALUE_U32:
        return is_signed ? (int32_t)number.u64 : (int64_t)number.u64;
    case MF_VALUE_F32:
        return number.f64 == 1   ? 1
               : number.f64 > 0  ? 2
               : number.f64 == 0 ? 0
                                 : -1;
    default:
        return 0;
    }
}

/* Reads the elements of an array, which has at most ELEMENTS_MAX. */
static void read_elements(struct mf_arch_run *run, struct mf_model *model,
                          size_t row, const struct mf_meta *meta,
                          const struct type *type, struct mf_arch_key *key)
{
    struct mf_index *index = run->index;
    struct mf_values *values;
    struct mf_value value;
    uint64_t seen = 0;
    int64_t *each;

    each = mf_arena_take(run->quiet ? &run->arena : &index->arena,
                         (size_t)meta->count * sizeof(*each));
    if (!each || mf_values_open(model, row, &values) != MF_OK) {
        run->status = index->env->error.status;
        return;
    }
    while ((run->status = mf_values_next(values, &value)) == MF_OK &&
           value.event != MF_EVENT_DONE)
        if (value.event == MF_EVENT_ITEM && seen < meta->count)
            each[seen++] = integer_of(type, value.type, value.number);
    mf_values_close(values);
    key->each = each;
    key->count = seen;
}

static void read_array(struct mf_arch_run *run, struct mf_model *model,
                       size_t row, const struct mf_meta *meta,
                       const struct type *type, struct mf_arch_key *key)
{
    key->count = meta->count;
    if (!(type->base->elements >> meta->of & 1)) {
        note_type(run, meta, type);
        key->fault = MF_ARCH_TYPE;
        return;
    }
    if (type->base->scalar != MF_VALUE_ARRAY &&
        (type->exact ? meta->count != type->most : meta->count > type->most)) {
        note_count(run, meta, type);
        key->fault = MF_ARCH_COUNT;
        return;
    }
    key->present = true;
    if ((meta->of == MF_VALUE_U32 || meta->of == MF_VALUE_I32 ||
         meta->of == MF_VALUE_BOOL || meta->of == MF_VALUE_U64) &&
        meta->count > 0 && meta->count <= ELEMENTS_MAX)
        read_elements(run, model, row, meta, type, key);
}

static void read_single(struct mf_arch_run *run, const struct mf_meta *meta,
                        const struct type *type, struct mf_arch_key *key)
{
    if (meta->type != type->base->scalar) {
        note_type(run, meta, type);
        key->fault = MF_ARCH_TYPE;
        if (meta->type == MF_VALUE_I8 || meta->type == MF_VALUE_I16 ||
            meta->type == MF_VALUE_I32 || meta->type == MF_VALUE_I64)
            key->number.value = meta->number.i64;
        return;
    }
    key->present = true;
    key->text = meta->text;
    key->number = (struct mf_arch_number){ true, integer_of(type, meta->type,
                                                            meta->number) };
}

static void note_missing(struct mf_arch_run *run,
                         const struct mf_arch_full_key *full)
{
    if (run->take) /* then lengths are unknown, which counts */
        return;
    run->unsure = true;
    if (run->quiet)
        return;
    mf_index_note(run->index, 0, run->severity, MF_RULE_MODEL_KEY, MF_NO_OFFSET,
                  "missing key '%s'",
                  mf_quote((struct mf_str){ full->text, full->size }).text);
}

static void read_meta(struct mf_arch_run *run, struct mf_model *model,
                      size_t at, const struct mf_meta *meta,
                      const struct type *type, struct mf_arch_key *key)
{
    key->offset = meta->span.offset;
    if (meta->type == MF_VALUE_ARRAY &&
        (type->array || type->base->scalar == MF_VALUE_ARRAY))
        read_array(run, model, at, meta, type, key);
    else
        read_single(run, meta, type, key);
}

/* ---- models of other formats ---- */

/* Other formats have what GGUF calls a fact under keys of their own, as numbers
 * of any type.  What they have no key for is unknown. */
static void read_fact(struct mf_arch_run *run, const struct type *type,
                      struct mf_arch_key *key)
{
    int fact = mf_fact_of_key(run->model, key->name);
    uint64_t number;
    struct mf_meta meta;
    size_t at;

    if (fact < 0) { /* only GGUF counts blocks for speculative decoding */
        key->number.known = mf_str_is(key->name, "nextn_predict_layers");
        return;
    }
    if (!mf_model_detail(run->model, fact, &meta, &at)) {
        bool has = mf_model_has_fact(run->model, fact);

        /* A model that could count experts, and does not, has none. */
        key->number.known = has && mf_str_is(key->name, "expert_count");
        if (has && !type->optional && !run->quiet)
            mf_index_note(run->index, 0, run->severity, MF_RULE_MODEL_KEY,
                          MF_NO_OFFSET, "missing key '%s'",
                          mf_detail_key(run->model, fact).text);
        return;
    }
    key->offset = meta.span.offset;
    if (meta.type == MF_VALUE_ARRAY)
        key->count = meta.count;
    if (type->base->scalar == MF_VALUE_ARRAY)
        key->present = meta.type == MF_VALUE_ARRAY;
    else if (meta.type == MF_VALUE_ARRAY && type->array) {
        if (type->exact && meta.count != type->most) {
            note_count(run, &meta, type);
            key->fault = MF_ARCH_COUNT;
        } else if (meta.count > 0 && meta.count <= ELEMENTS_MAX)
            read_elements(run, run->model, at, &meta, type, key);
        key->present = key->each != NULL;
    } else if (mf_meta_unsigned(&meta, &number) && number <= INT64_MAX) {
        key->number = (struct mf_arch_number){ true, (int64_t)number };
        key->present = true;
    }
}

/* The key with its type, as a file has it that was made of GGUF. */
static bool read_carried(struct mf_arch_run *run, const struct type *type,
                         struct mf_arch_key *key)
{
    struct mf_arch_key carried = *key;
    struct mf_arch_full_key full;
    struct mf_meta meta;
    size_t at;

    if (!run->keys ||
        !mf_model_fact(run->keys, MF_FACT_ARCHITECTURE, &meta, NULL) ||
        meta.text.size > NAME_MAX)
        return false;
    full = full_key(meta.text, key->name);
    if (!mf_meta_find(run->keys, full.text, full.size, &meta, &at))
        return false;
    read_meta(run, run->keys, at, &meta, type, &carried);
    if (carried.present)
        *key = carried;
    return carried.present;
}

/* Where the keys of GGUF are known, one that may be missing counts as 0. */
static void read_foreign(struct mf_arch_run *run, const struct type *type,
                         struct mf_arch_key *key)
{
    if (read_carried(run, type, key))
        return;
    read_fact(run, type, key);
    if (run->keys && type->optional && key->fault == MF_ARCH_SOUND &&
        !key->present)
        key->number.known = true;
}

/* ---- rows ---- */

void mf_arch_read_key(struct mf_arch_run *run, struct mf_code row)
{
    struct type type = take_type(run, &row);
    struct mf_str name = mf_code_text(&row);
    struct mf_arch_full_key full = mf_arch_full_key(run, name);
    struct mf_arch_key *key;
    struct mf_meta meta;
    size_t at;

    assert(run->key_count < MF_ARCH_KEYS_MAX);
    key = &run->key[run->key_count];
    *key = (struct mf_arch_key){ .name = name, .offset = MF_NO_OFFSET };
    run->key_count++;
    if (run->foreign) {
        read_foreign(run, &type, key);
        return;
    }
    if (mf_meta_find(run->model, full.text, full.size, &meta, &at) &&
        (type.single || type.base->scalar == MF_VALUE_ARRAY ||
         meta.type == MF_VALUE_ARRAY))
        read_meta(run, run->model, at, &meta, &type, key);
    else if (!type.optional) {
        note_missing(run, &full);
        key->fault = MF_ARCH_MISSING;
    } else /* loaders begin with 0 where a key may be missing */
        key->number.known = true;
}

/* Of two rows for one key the later one counts. */
const struct mf_arch_key *mf_arch_key_of(const struct mf_arch_run *run,
                                         struct mf_str name)
{
    for (size_t i = run->key_count; i-- > 0;)
        if (mf_str_same(run->key[i].name, name))
            return &run->key[i];
    return NULL;
}
