/* SPDX-License-Identifier: MIT
 *
 * keys.c - names, types, lengths and ids in a tokenizer's metadata
 *
 * No element of an array is read.
 */
#include "lib/vocab/parts.h"

#include <inttypes.h>
#include <stdio.h>

#define IS(type) (UINT32_C(1) << MF_VALUE_##type)

static const struct {
    const char *suffix;
    enum mf_value_type type;
} keys[] = {
#define KEY(suffix, type) { suffix, MF_VALUE_##type },
#define ID(suffix, special)
#define ARRAY(NAME, suffix, types, expects)
#include "lib/vocab/keys.def"
#undef ARRAY
#undef ID
#undef KEY
};

static const struct {
    const char *suffix;
    bool special;
} ids[] = {
#define KEY(suffix, type)
#define ID(suffix, special) { suffix, special },
#define ARRAY(NAME, suffix, types, expects)
#include "lib/vocab/keys.def"
#undef ARRAY
#undef ID
#undef KEY
};
_Static_assert(sizeof(ids) / sizeof(*ids) == MF_VOCAB_IDS,
               "each may be special");

static const struct {
    const char *suffix, *expects;
    uint32_t types;
} arrays[] = {
#define KEY(suffix, type)
#define ID(suffix, special)
#define ARRAY(NAME, suffix, types, expects) { suffix, expects, types },
#include "lib/vocab/keys.def"
#undef ARRAY
#undef ID
#undef KEY
};

/* ---- names ---- */

/* As a program in C reads it. */
static struct mf_str name_in(const struct mf_meta *meta)
{
    struct mf_str name = meta->text;

    if (name.at)
        name.size = strlen(name.at);
    return name;
}

static void check_model(struct mf_vocab *vocab)
{
    const struct mf_meta *meta = mf_vocab_meta(vocab, "model");
    struct mf_str name;

    if (!meta) {
        mf_index_note(vocab->index, 0, MF_ERROR, MF_RULE_TOKENS_MODEL,
                      MF_NO_OFFSET, "missing key '%s'",
                      mf_vocab_key(vocab, "model").text);
        return;
    }
    if (meta->type != MF_VALUE_STRING)
        return;
    name = name_in(meta);
    vocab->tokenizer = mf_known_tokenizer_find(name);
    if (!vocab->tokenizer)
        mf_index_note(vocab->index, meta->shard, MF_ERROR, MF_RULE_TOKENS_MODEL,
                      meta->span.offset, "unknown tokenizer '%s'%s",
                      mf_quote(name).text, mf_known_tokenizer_hint(name).text);
}

/* Only byte pairs are split before they are merged. */
static void check_pre(struct mf_vocab *vocab)
{
    const struct mf_meta *meta = mf_vocab_meta(vocab, "pre");
    struct mf_str name = { "", 0 };

    if (!mf_vocab_is(vocab, MF_TOKENIZER_BPE))
        return;
    if (strcmp(vocab->tokenizer->name, "gemma4") == 0)
        name = (struct mf_str){ "gemma4", strlen("gemma4") };
    else if (meta && meta->type != MF_VALUE_STRING)
        return;
    else if (meta)
        name = name_in(meta);
    vocab->pre = mf_pre_tokenizer_find(name);
    if (vocab->pre)
        return;
    if (name.at && name.size == 0)
        mf_index_note(vocab->index, 0, MF_WARNING, MF_RULE_TOKENS_PRE,
                      meta ? meta->span.offset : MF_NO_OFFSET,
                      "'%s' is missing or empty: llama.cpp splits text as "
                      "'default' does, probably unlike the model",
                      mf_vocab_key(vocab, "pre").text);
    else
        mf_index_note(vocab->index, meta->shard, MF_ERROR, MF_RULE_TOKENS_PRE,
                      meta->span.offset, "unknown pre-tokenizer '%s'%s",
                      mf_quote(name).text, mf_pre_tokenizer_hint(name).text);
}

/* ---- types ---- */

static void note_type(struct mf_vocab *vocab, enum mf_severity severity,
                      const struct mf_meta *meta, const char *expected)
{
    bool is_array = meta->type == MF_VALUE_ARRAY;

    mf_index_note(
        vocab->index, meta->shard, severity, MF_RULE_GGUF_TOKENS_TYPE,
        meta->span.offset, "'%s' is %s %s; expected %s",
        mf_quote(meta->key).text, is_array ? "an array of" : "of type",
        mf_value_type_name(is_array ? meta->of : meta->type), expected);
}

static void check_types(struct mf_vocab *vocab)
{
    bool none = mf_vocab_is(vocab, MF_TOKENIZER_NONE);
    const size_t read_first = 3; /* model, pre, token_type_count */

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        const struct mf_meta *meta = mf_vocab_meta(vocab, keys[i].suffix);

        if (meta && meta->type != keys[i].type)
            note_type(vocab, none && i >= read_first ? MF_WARNING : MF_ERROR,
                      meta, mf_value_type_name(keys[i].type));
    }
}

/* Whether llama.cpp reads that array at all. */
static bool is_read(const struct mf_vocab *vocab, enum mf_vocab_array row)
{
    if (!vocab->tokenizer)
        return true;
    if (vocab->tokenizer->kind == MF_TOKENIZER_NONE)
        return false;
    return row == MF_VOCAB_MERGES     ? mf_vocab_is(vocab, MF_TOKENIZER_BPE)
           : row == MF_VOCAB_CHARSMAP ? mf_vocab_is(vocab, MF_TOKENIZER_UGM)
                                      : true;
}

static void check_arrays(struct mf_vocab *vocab)
{
    for (int row = 0; row < MF_VOCAB_ARRAYS; row++) {
        const struct mf_meta *meta = mf_vocab_meta(vocab, arrays[row].suffix);
        char expected[32] = "an array of ";

        if (!meta)
            continue;
        strcat(expected, arrays[row].expects);
        if (meta->type != MF_VALUE_ARRAY ||
            !(arrays[row].types >> meta->of & 1)) {
            note_type(vocab,
                      is_read(vocab, (enum mf_vocab_array)row) ? MF_ERROR
                                                               : MF_WARNING,
                      meta, expected);
            continue;
        }
        vocab->array[row] = meta;
        /* llama.cpp converts them; others read the bits as floats. */
        if (row == MF_VOCAB_SCORES && meta->of == MF_VALUE_I32)
            note_type(vocab, MF_WARNING, meta, expected);
    }
}

/* ---- lengths ---- */

/* A shorter array ends loading; of a longer one the rest is never read. */
static void check_length(struct mf_vocab *vocab, enum mf_vocab_array row)
{
    const struct mf_meta *meta = vocab->array[row];

    if (!meta || meta->count == vocab->count)
        return;
    mf_index_note(vocab->index, meta->shard,
                  meta->count < vocab->count ? MF_ERROR : MF_WARNING,
                  MF_RULE_GGUF_TOKENS_LENGTH, meta->span.offset,
                  "'%s' has %" PRIu64 " elements, but there are %" PRIu64
                  " tokens",
                  mf_quote(meta->key).text, meta->count, vocab->count);
}

/* The architecture's vocab_size; NULL if it is missing. */
static const struct mf_meta *vocab_size(const struct mf_vocab *vocab)
{
    struct mf_meta architecture;
    char key[128];

    if (!mf_model_fact(vocab->model, MF_FACT_ARCHITECTURE, &architecture,
                       NULL) ||
        !architecture.text.at)
        return NULL;
    snprintf(key, sizeof(key), "%s.vocab_size", architecture.text.at);
    return mf_index_meta(vocab->index, key);
}

/* llama.cpp counts the tokens instead, but others make their tables by it. */
static void check_vocab_size(struct mf_vocab *vocab)
{
    const struct mf_meta *meta = vocab_size(vocab);
    uint64_t size;

    if (mf_meta_unsigned(meta, &size) && size != vocab->count)
        mf_index_note(vocab->index, meta->shard, MF_WARNING,
                      MF_RULE_GGUF_TOKENS_LENGTH, meta->span.offset,
                      "'%s' is %" PRIu64 ", but there are %" PRIu64 " tokens",
                      mf_quote(meta->key).text, size, vocab->count);
}

/* Without a tokenizer the vocabulary has so many tokens of no text. */
static void check_dummies(struct mf_vocab *vocab)
{
    const struct mf_meta *meta = vocab_size(vocab);

    if (!meta)
        return;
    if (meta->type != MF_VALUE_U32)
        note_type(vocab, MF_ERROR, meta, "u32");
    else if (meta->number.u64 > INT32_MAX)
        mf_index_note(vocab->index, meta->shard, MF_ERROR,
                      MF_RULE_GGUF_TOKENS_LENGTH, meta->span.offset,
                      "'%s' is %" PRIu64 "; expected at most %d",
                      mf_quote(meta->key).text, meta->number.u64, INT32_MAX);
}

/* ---- ids ---- */

/* *out: the id, if it is in the vocabulary.  `known`: llama.cpp reads it.  The
 * largest u32 is how some writers spell -1, which means none. */
static bool check_id(struct mf_vocab *vocab, const struct mf_meta *meta,
                     bool known, uint64_t *out)
{
    enum mf_severity severity = known ? MF_ERROR : MF_WARNING;

    if (known ? meta->type != MF_VALUE_U32 : !mf_meta_is_integer(meta)) {
        note_type(vocab, severity, meta, known ? "u32" : "an integer");
        return false;
    }
    if (!mf_meta_unsigned(meta, out)) {
        mf_index_note(vocab->index, meta->shard, MF_WARNING,
                      MF_RULE_GGUF_TOKENS_ID, meta->span.offset,
                      "'%s' is %" PRId64 ", but token ids are not negative",
                      mf_quote(meta->key).text, meta->number.i64);
        return false;
    }
    if (*out < vocab->count)
        return true;
    if (vocab->count == 0) /* has its own finding */
        return false;
    mf_index_note(
        vocab->index, meta->shard, *out == UINT32_MAX ? MF_WARNING : severity,
        MF_RULE_GGUF_TOKENS_ID, meta->span.offset,
        "'%s' is %" PRIu64 ", out of range: the last token is %" PRIu64,
        mf_quote(meta->key).text, *out, vocab->count - 1);
    return false;
}

static const char *suffix_of(const struct mf_vocab *vocab, struct mf_str key)
{
    size_t size = strlen(vocab->model->format->tokenizer);

    return mf_str_begins(key, vocab->model->format->tokenizer) ? key.at + size
                                                               : NULL;
}

static bool is_known_id(const char *suffix)
{
    for (size_t i = 0; i < MF_VOCAB_IDS; i++)
        if (strcmp(ids[i].suffix, suffix) == 0)
            return true;
    return false;
}

static void check_ids(struct mf_vocab *vocab)
{
    uint64_t id;

    for (size_t i = 0; i < MF_VOCAB_IDS; i++) {
        const struct mf_meta *meta = mf_vocab_meta(vocab, ids[i].suffix);

        if (meta && check_id(vocab, meta, true, &id) && ids[i].special)
            vocab->special[vocab->special_count++] =
                (struct mf_vocab_special){ meta, id, MF_TOKEN_CONTROL };
    }
    for (size_t i = 0; i < vocab->index->meta_count; i++) {
        const struct mf_meta *meta = &vocab->index->meta[i];
        const char *suffix = suffix_of(vocab, meta->key);

        if (suffix && mf_str_ends(meta->key, "_token_id") &&
            !is_known_id(suffix))
            check_id(vocab, meta, false, &id);
    }
}

void mf_vocab_check_keys(struct mf_vocab *vocab)
{
    check_model(vocab);
    check_types(vocab);
    check_pre(vocab);
    check_arrays(vocab);
    if (vocab->array[MF_VOCAB_TOKENS])
        vocab->count = vocab->array[MF_VOCAB_TOKENS]->count;
    if (mf_vocab_is(vocab, MF_TOKENIZER_NONE))
        check_dummies(vocab);
    if (mf_vocab_is(vocab, MF_TOKENIZER_NONE) || !vocab->array[MF_VOCAB_TOKENS])
        return;
    check_length(vocab, MF_VOCAB_SCORES);
    check_length(vocab, MF_VOCAB_TYPES);
    check_vocab_size(vocab);
    check_ids(vocab);
}
