/* SPDX-License-Identifier: MIT
 *
 * architecture.c - what a model of its architecture needs
 */
#include "lib/architecture.h"

#include <string.h>

enum family { LLAMA, DECODER, OTHER };

/* Lengths that shapes are made of. */
enum length { ONE, EMBED, VOCAB, Q, K, V, OUT, FEED, LENGTHS };

static const struct {
    const char *name;
    enum family family;
} architectures[] = {
#define KNOWN(name, family) { name, family },
#define TENSOR(gguf, hf, block, in, out, needed)
#include "lib/architecture.def"
#undef TENSOR
#undef KNOWN
};

static const struct row {
    const char *gguf, *hf;
    bool block;
    enum length in, out;
    bool needed;
} rows[] = {
#define KNOWN(name, family)
#define TENSOR(gguf, hf, block, in, out, needed)                               \
    { gguf, hf, block, in, out, needed },
#include "lib/architecture.def"
#undef TENSOR
#undef KNOWN
};

#define ROWS (sizeof(rows) / sizeof(*rows))

struct check {
    struct mf_model *model;
    struct mf_index *index;
    uint64_t length[LENGTHS]; /* 0: not known */
    uint64_t blocks, heads, kv_heads;
    uint64_t blocks_seen; /* the highest block number of a name, and one */
    bool seen[ROWS];
};

/* ---- facts ---- */

/* A number that is the same for the whole model; 0 where the file does not say
 * or says one per layer.  *told: it says something. */
static uint64_t number_of(const struct check *check, enum mf_fact fact,
                          bool *told)
{
    struct mf_meta meta;
    uint64_t value;

    *told = mf_model_fact(check->model, fact, &meta, NULL);
    if (*told && fact == MF_FACT_VOCAB_SIZE && meta.type == MF_VALUE_ARRAY)
        return meta.count;
    return *told && mf_meta_natural(&meta, &value) ? value : 0;
}

static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t result;

    return mf_mul(a, b, &result) ? result : 0;
}

static void take_lengths(struct check *check)
{
    uint64_t *length = check->length, key, value;
    bool told;

    length[EMBED] = number_of(check, MF_FACT_EMBEDDING_LENGTH, &told);
    length[VOCAB] = number_of(check, MF_FACT_VOCAB_SIZE, &told);
    length[FEED] = number_of(check, MF_FACT_FEED_FORWARD_LENGTH, &told);
    check->blocks = number_of(check, MF_FACT_BLOCK_COUNT, &told);
    check->heads = number_of(check, MF_FACT_HEAD_COUNT, &told);
    check->kv_heads = number_of(check, MF_FACT_HEAD_COUNT_KV, &told);
    if (!told) /* as many as heads, unless the file says otherwise */
        check->kv_heads = check->heads;
    key = number_of(check, MF_FACT_KEY_LENGTH, &told);
    if (key == 0 && check->heads > 0)
        key = length[EMBED] / check->heads;
    value = number_of(check, MF_FACT_VALUE_LENGTH, &told);
    value = value > 0 ? value : key;
    length[Q] = product(check->heads, key);
    length[K] = product(check->kv_heads, key);
    length[V] = product(check->kv_heads, value);
    length[OUT] = product(check->heads, value);
}

/* More than any model has, and more than a reader may reserve room for. */
#define BLOCKS_MAX 65536

static void check_block_count(struct check *check)
{
    if (check->blocks > BLOCKS_MAX)
        mf_index_note(
            check->index, MF_WARNING, MF_RULE_MODEL_BLOCKS, MF_NO_OFFSET,
            "the metadata says %" PRIu64 " blocks, more than any model has",
            check->blocks);
}

static void check_keys(struct check *check)
{
    static const enum mf_fact needed[] = { MF_FACT_CONTEXT_LENGTH,
                                           MF_FACT_EMBEDDING_LENGTH,
                                           MF_FACT_BLOCK_COUNT,
                                           MF_FACT_HEAD_COUNT };
    struct mf_meta meta;

    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (!mf_model_fact(check->model, needed[i], &meta, NULL))
            mf_index_note(check->index, MF_WARNING, MF_RULE_MODEL_KEY,
                          MF_NO_OFFSET, "the metadata does not say %s",
                          mf_fact_name(needed[i]));
}

static void check_heads(struct check *check)
{
    uint64_t heads = check->heads, kv_heads = check->kv_heads;
    struct mf_meta meta;
    bool has_length =
        mf_model_fact(check->model, MF_FACT_KEY_LENGTH, &meta, NULL);

    if (!mf_model_fact(check->model, MF_FACT_HEAD_COUNT, &meta, NULL) ||
        meta.type == MF_VALUE_ARRAY)
        return;
    if (heads == 0 || (kv_heads > 0 && heads % kv_heads != 0))
        mf_index_note(check->index, MF_WARNING, MF_RULE_MODEL_HEADS,
                      meta.span.offset,
                      "%" PRIu64 " heads and %" PRIu64
                      " of keys and values do not fit each other",
                      heads, kv_heads);
    else if (!has_length && check->length[EMBED] % heads != 0)
        mf_index_note(check->index, MF_WARNING, MF_RULE_MODEL_HEADS,
                      meta.span.offset,
                      "%" PRIu64 " heads do not divide an embedding of "
                      "%" PRIu64,
                      heads, check->length[EMBED]);
}

/* ---- tensors ---- */

/* Takes "blk.12." or "model.layers.12." off the front of name; false where
 * neither stands there. */
static bool take_block(struct mf_str *name, uint64_t *number)
{
    static const char *const heads[] = { "blk.", "model.layers." };

    for (size_t i = 0; i < 2; i++) {
        size_t at = strlen(heads[i]), digits = at;

        if (name->size <= at || memcmp(name->at, heads[i], at) != 0)
            continue;
        *number = 0;
        /* Nine digits are more than any model has blocks. */
        for (; digits < name->size && digits < at + 9 &&
               name->at[digits] >= '0' && name->at[digits] <= '9';
             digits++)
            *number = *number * 10 + (uint64_t)(name->at[digits] - '0');
        if (digits == at || digits == name->size || name->at[digits] != '.')
            continue;
        name->at += digits + 1;
        name->size -= digits + 1;
        return true;
    }
    return false;
}

static bool is(struct mf_str name, const char *text)
{
    return name.size == strlen(text) && memcmp(name.at, text, name.size) == 0;
}

static void check_shape(struct check *check, const struct mf_record *record,
                        const struct row *row)
{
    const bool fastest_first = check->model->info.fastest_first;
    uint64_t in = check->length[row->in], out = check->length[row->out];
    uint64_t has_in, has_out = 1;

    if (record->rank != (row->out == ONE ? 1u : 2u))
        return; /* a shape of its own */
    has_in = record->dim[fastest_first || record->rank == 1 ? 0 : 1];
    if (record->rank == 2)
        has_out = record->dim[fastest_first ? 1 : 0];
    check->index->shard = record->shard;
    if (in > 0 && has_in != in)
        mf_index_note_of(check->index, record, MF_WARNING, MF_RULE_MODEL_SHAPE,
                         record->entry,
                         "tensor '%s' has rows of %" PRIu64
                         ", the metadata asks for %" PRIu64,
                         mf_record_name(record).text, has_in, in);
    else if (row->out != ONE && out > 0 && has_out != out)
        mf_index_note_of(check->index, record, MF_WARNING, MF_RULE_MODEL_SHAPE,
                         record->entry,
                         "tensor '%s' has %" PRIu64
                         " rows, the metadata asks for %" PRIu64,
                         mf_record_name(record).text, has_out, out);
}

static void look_at(struct check *check, const struct mf_record *record,
                    bool shapes)
{
    struct mf_str name = { record->name, record->name_size };
    uint64_t number = 0;
    bool block = take_block(&name, &number);

    if (block && number >= check->blocks_seen)
        check->blocks_seen = number + 1;
    for (size_t i = 0; shapes && i < ROWS; i++)
        if (rows[i].block == block &&
            (is(name, rows[i].gguf) || is(name, rows[i].hf))) {
            check->seen[i] = true;
            check_shape(check, record, &rows[i]);
            return;
        }
}

static void look_at_all(struct check *check, bool shapes)
{
    for (size_t i = 0; i < check->index->tensor_count; i++)
        look_at(check, &check->index->tensor[i], shapes);
    check->index->shard = 0;
}

/* A shard alone, or a file with the metadata alone, lacks tensors by design. */
static bool is_whole(const struct mf_model *model)
{
    const struct mf_part *part = &model->part[0];

    return model->info.has_tensors &&
           (!part->is_split || part->split_count == model->file_count);
}

/* A file may name an architecture and hold something of its own. */
static bool has_its_tensors(const struct check *check)
{
    for (size_t i = 0; i < ROWS; i++)
        if (check->seen[i])
            return true;
    return false;
}

static void check_tensors(struct check *check, bool shapes)
{
    if (!is_whole(check->model))
        return;
    if (check->blocks_seen != check->blocks && check->blocks > 0 &&
        check->blocks_seen > 0)
        mf_index_note(check->index, MF_WARNING, MF_RULE_MODEL_BLOCKS,
                      MF_NO_OFFSET,
                      "the metadata says %" PRIu64 " blocks, names of "
                      "tensors say %" PRIu64,
                      check->blocks, check->blocks_seen);
    for (size_t i = 0; shapes && i < ROWS; i++)
        if (rows[i].needed && !check->seen[i])
            mf_index_note(check->index, MF_WARNING, MF_RULE_MODEL_TENSOR,
                          MF_NO_OFFSET, "there is no tensor '%s' (or '%s')",
                          rows[i].gguf, rows[i].hf);
}

/* ---- all of it ---- */

/* Of formats whose metadata is no matter of taste. */
static bool says_architecture(const struct mf_format *format)
{
    for (const struct mf_fact_row *row = format->facts; row && row->key; row++)
        if (row->fact == MF_FACT_BLOCK_COUNT)
            return true;
    return false;
}

/* Adapters, importance matrices and projectors are GGUF, too. */
static bool is_model(const struct mf_index *index)
{
    const struct mf_meta *type = mf_index_meta(index, "general.type");

    return !type || type->type != MF_VALUE_STRING || !type->text.at ||
           is(type->text, "model");
}

void mf_architecture_check(struct mf_model *model)
{
    struct check check = { .model = model, .index = &model->index };
    size_t known = sizeof(architectures) / sizeof(*architectures), i = 0;
    struct mf_meta name;

    if (!says_architecture(model->format) || !is_model(check.index))
        return;
    if (!mf_model_fact(model, MF_FACT_ARCHITECTURE, &name, NULL)) {
        mf_index_note(check.index, MF_WARNING, MF_RULE_MODEL_ARCHITECTURE,
                      MF_NO_OFFSET, "the metadata names no architecture");
        return;
    }
    while (i < known && !is(name.text, architectures[i].name))
        i++;
    take_lengths(&check);
    check_heads(&check);
    check_block_count(&check);
    look_at_all(&check, i < known && architectures[i].family == LLAMA);
    if (i == known ||
        (architectures[i].family == LLAMA && !has_its_tensors(&check))) {
        mf_index_note(
            check.index, MF_NOTE, MF_RULE_MODEL_UNKNOWN, name.span.offset,
            i == known ? "architecture '%s' is not known here: generic "
                         "checks only"
                       : "there are no tensors of architecture '%s': "
                         "generic checks only",
            mf_quote(name.text).text);
        return;
    }
    if (architectures[i].family != OTHER)
        check_keys(&check);
    check_tensors(&check, architectures[i].family == LLAMA);
}
