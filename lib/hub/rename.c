/* SPDX-License-Identifier: MIT
 *
 * rename.c - tensors under llama.cpp's names and under Hugging Face's
 */
#include "lib/hub/rename.h"

#include <assert.h>
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/draft/carry.h"
#include "lib/hub/hub.h"

enum family_number {
#define FAMILY(NAME) NUMBER_##NAME,
#define CLASS(hf, type, gguf, FAMILY, kv)
#define TENSOR(gguf, hf, block, ROWS, which)
#include "lib/hub/rename.def"
#undef TENSOR
#undef CLASS
#undef FAMILY
};

enum family { /* one bit each */
#define FAMILY(NAME) NAME = 1 << NUMBER_##NAME,
#define CLASS(hf, type, gguf, FAMILY, kv)
#define TENSOR(gguf, hf, block, ROWS, which)
#include "lib/hub/rename.def"
#undef TENSOR
#undef CLASS
#undef FAMILY
};

static const struct mf_class classes[] = {
#define FAMILY(NAME)
#define CLASS(hf, type, gguf, FAMILY, kv) { hf, type, gguf, FAMILY, kv },
#define TENSOR(gguf, hf, block, ROWS, which)
#include "lib/hub/rename.def"
#undef TENSOR
#undef CLASS
#undef FAMILY
};

enum rows { ROWS_KEEP, ROWS_Q, ROWS_K, ROWS_DROP, ROWS_LOSE };

enum side { GGUF, HF };

static const struct row {
    const char *name[2]; /* of each enum side; "": it has none there */
    bool block;
    enum rows rows;
    unsigned families;
} table[] = {
#define FAMILY(NAME)
#define CLASS(hf, type, gguf, FAMILY, kv)
#define TENSOR(gguf, hf, block, ROWS, which)                                   \
    { { gguf, hf }, block, ROWS_##ROWS, which },
#include "lib/hub/rename.def"
#undef TENSOR
#undef CLASS
#undef FAMILY
};

#define CLASS_COUNT (sizeof(classes) / sizeof(*classes))
#define ROW_COUNT   (sizeof(table) / sizeof(*table))

/* ---- architectures ---- */

const struct mf_class *mf_class_find(struct mf_str hf, struct mf_str type)
{
    for (size_t i = 0; i < CLASS_COUNT; i++)
        if (hf.at ? mf_str_is(hf, classes[i].hf)
                  : mf_str_is(type, classes[i].type))
            return &classes[i];
    return NULL;
}

/* What a file's metadata calls it. */
static const struct mf_class *class_named(struct mf_str name)
{
    for (size_t i = 0; i < CLASS_COUNT; i++)
        if (mf_str_is(name, classes[i].gguf) ||
            mf_str_is(name, classes[i].type))
            return &classes[i];
    return NULL;
}

enum mf_status mf_class_refuse(struct mf_env *env, struct mf_str name)
{
    char known[160] = "";
    size_t used = 0;

    for (size_t i = 0; i < CLASS_COUNT && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i > 0 ? ", " : "", classes[i].type);
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "--names: the architecture '%s' has no table; there is one "
                   "for %s",
                   mf_quote(name).text, known);
}

/* ---- names ---- */

static const char *const block_prefix[] = {
    [GGUF] = "blk.", [HF] = "model.layers."
};

/* The digits behind the prefix, where they are a number as one writes it: two
 * tensors never get one name. */
static struct mf_str block_of(struct mf_str name, enum side side)
{
    const char *prefix = block_prefix[side];
    size_t start = strlen(prefix), end = start;

    if (name.size <= start || memcmp(name.at, prefix, start) != 0)
        return (struct mf_str){ NULL, 0 };
    while (end < name.size && name.at[end] >= '0' && name.at[end] <= '9')
        end++;
    if (end == start || end == name.size || name.at[end] != '.' ||
        (name.at[start] == '0' && end - start > 1))
        return (struct mf_str){ NULL, 0 };
    return (struct mf_str){ name.at + start, end - start };
}

static const struct row *find_row(unsigned family, enum side side,
                                  struct mf_str name, struct mf_str *block)
{
    struct mf_str rest = name;

    *block = block_of(name, side);
    if (block->at) {
        rest.at = block->at + block->size + 1;
        rest.size = (size_t)(name.at + name.size - rest.at);
    }
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (table[i].families & family && table[i].name[side][0] &&
            table[i].block == (block->at != NULL) &&
            mf_str_is(rest, table[i].name[side]))
            return &table[i];
    return NULL;
}

static struct mf_str record_name(const struct mf_record *record)
{
    return (struct mf_str){ record->name, record->name_size };
}

/* ---- all names of a model ---- */

static enum mf_status no_row(const struct mf_renaming *renaming,
                             const struct mf_model *model,
                             const struct mf_record *record)
{
    return mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                   "--names: the table of this architecture has no row for "
                   "tensor '%s' among %s names",
                   mf_record_name(record).text,
                   renaming->to == MF_NAMING_GGUF ? "Hugging Face's"
                                                  : "llama.cpp's");
}

static enum mf_status would_lose(const struct mf_model *model,
                                 const struct mf_record *record)
{
    return mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                   "--names: tensor '%s' has no place among Hugging Face's "
                   "names, where config.json says what is in it; --lossy "
                   "leaves it out",
                   mf_record_name(record).text);
}

/* Its digits as a number; what is too large for one is larger than all. */
static uint64_t number_of(struct mf_str block)
{
    uint64_t number = 0;

    if (block.size > 10)
        return UINT64_MAX;
    for (size_t i = 0; i < block.size; i++)
        number = number * 10 + (uint64_t)(block.at[i] - '0');
    return number;
}

/* A tensor of a layer that predicts more tokens at once (MTP): it stands behind
 * the layers of the model, or under a name of its own, and llama.cpp would take
 * it for one of them. */
static bool is_predicting(const struct mf_renaming *renaming,
                          struct mf_str name)
{
    static const char *const prefix[] = { "mtp.", "model.mtp.",
                                          "model.mtp_layers." };
    struct mf_str block = block_of(name, HF);

    if (renaming->to != MF_NAMING_GGUF || renaming->predicting == 0)
        return false;
    for (size_t i = 0; i < sizeof(prefix) / sizeof(*prefix); i++)
        if (name.size > strlen(prefix[i]) &&
            memcmp(name.at, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return block.at && number_of(block) >= renaming->layers &&
           number_of(block) - renaming->layers < renaming->predicting;
}

/* ---- whether all of the model is there ---- */

static enum mf_status check_layer(const struct mf_renaming *renaming,
                                  const struct mf_model *model,
                                  const struct mf_record *record, bool *seen)
{
    struct mf_str block = block_of(record_name(record), HF);

    if (!block.at || is_predicting(renaming, record_name(record)))
        return MF_OK;
    if (number_of(block) >= renaming->layers)
        return mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                       "tensor '%s' is of a layer behind the last one: the "
                       "model has %" PRIu64 " layers",
                       mf_record_name(record).text, renaming->layers);
    seen[number_of(block)] = true;
    return MF_OK;
}

/* Each layer that the metadata speak of has tensors, and there are no others.
 */
static enum mf_status check_layers(const struct mf_renaming *renaming,
                                   const struct mf_model *model)
{
    struct mf_env *env = model->env;
    const struct mf_index *index = &model->index;
    size_t count = (size_t)renaming->layers, first = 0;
    enum mf_status status = MF_OK;
    bool *seen;

    if (count > index->tensor_count)
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the model has %zu tensors, which are too few for %zu "
                       "layers",
                       index->tensor_count, count);
    seen = mf_alloc(env, count * sizeof(*seen));
    if (!seen)
        return env->error.status;
    memset(seen, 0, count * sizeof(*seen));
    for (size_t i = 0; i < index->tensor_count && status == MF_OK; i++)
        status = check_layer(renaming, model, &index->tensor[i], seen);
    while (first < count && seen[first])
        first++;
    mf_release(env, seen, count * sizeof(*seen));
    return status != MF_OK || first == count
               ? status
               : mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "there is no tensor of layer %zu: the model has %zu "
                         "layers, counted from 0",
                         first, count);
}

static enum mf_status check_rows(const struct mf_renaming *renaming,
                                 const struct mf_model *model,
                                 const struct mf_record *record)
{
    struct mf_str name = record_name(record);
    uint64_t rows;

    if (renaming->vocabulary == 0 || record->rank != 2 ||
        !(mf_str_is(name, "model.embed_tokens.weight") ||
          mf_str_is(name, "lm_head.weight")))
        return MF_OK;
    rows = record->dim[model->info.fastest_first ? 1 : 0];
    return rows == renaming->vocabulary
               ? MF_OK
               : mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                         "tensor '%s' has %" PRIu64 " rows, and the model has "
                         "%" PRIu64 " tokens (vocab_size)",
                         mf_record_name(record).text, rows,
                         renaming->vocabulary);
}

/* What llama.cpp would only miss when it loads the file. */
static enum mf_status check_whole(const struct mf_renaming *renaming,
                                  const struct mf_model *model)
{
    const struct mf_index *index = &model->index;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (check_rows(renaming, model, &index->tensor[i]) != MF_OK)
            return model->env->error.status;
    return renaming->layers > 0 ? check_layers(renaming, model) : MF_OK;
}

/* ---- all of them ---- */

/* How many of the model's names are of that side. */
static size_t count_names(const struct mf_renaming *renaming,
                          const struct mf_model *model, enum side side)
{
    size_t count = 0;
    struct mf_str block;

    for (size_t i = 0; i < model->index.tensor_count; i++)
        count += find_row(renaming->family, side,
                          record_name(&model->index.tensor[i]), &block) != NULL;
    return count;
}

static enum mf_status check_names(struct mf_renaming *renaming,
                                  const struct mf_model *model)
{
    const struct mf_index *index = &model->index;
    enum side to = renaming->to == MF_NAMING_GGUF ? GGUF : HF;
    enum side from = to == GGUF ? HF : GGUF;
    bool renamed = count_names(renaming, model, from) > 0;

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        struct mf_str block;
        const struct row *row = find_row(renaming->family, renamed ? from : to,
                                         record_name(record), &block);

        if (renamed && is_predicting(renaming, record_name(record))) {
            renaming->dropped++;
            renaming->lost++;
            continue;
        }
        if (!row)
            return no_row(renaming, model, record);
        if (!renamed || row->name[to][0])
            continue;
        if (row->rows == ROWS_LOSE && !renaming->lossy)
            return would_lose(model, record);
        renaming->dropped++;
        renaming->lost += row->rows == ROWS_LOSE;
    }
    if (!renamed) /* they have these names already */
        renaming->to = MF_NAMING_KEEP;
    return renaming->to == MF_NAMING_GGUF ? check_whole(renaming, model)
                                          : MF_OK;
}

/* ---- what the metadata says ---- */

/* ARCHITECTURE and tail, say "llama" and ".block_count". */
static const struct mf_entry *find_of(const struct mf_draft *facts,
                                      struct mf_str name, const char *tail)
{
    for (size_t i = 0; i < facts->entry_count; i++) {
        struct mf_str key = facts->entry[i].key;

        if (key.size == name.size + strlen(tail) &&
            memcmp(key.at, name.at, name.size) == 0 &&
            memcmp(key.at + name.size, tail, strlen(tail)) == 0)
            return &facts->entry[i];
    }
    return NULL;
}

static struct mf_str architecture_of(const struct mf_draft *facts)
{
    const struct mf_entry *entry = mf_draft_find(facts, "general.architecture");

    if (!entry || entry->type != MF_VALUE_STRING || !entry->text.at)
        return (struct mf_str){ NULL, 0 };
    return entry->text;
}

/* 0 where it is not one number. */
static uint64_t count_of(const struct mf_draft *facts, struct mf_str name,
                         const char *tail)
{
    const struct mf_entry *entry = find_of(facts, name, tail);
    union mf_number number;

    return entry && mf_number_as(entry->type, entry->number, MF_VALUE_U32,
                                 &number)
               ? number.u64
               : 0;
}

/* From metadata under GGUF's keys. */
static enum mf_status learn(struct mf_renaming *renaming,
                            struct mf_draft *facts, struct mf_model *model,
                            struct mf_hub_result *result)
{
    struct mf_str name = architecture_of(facts);
    const struct mf_class *class = name.at ? class_named(name) : NULL;

    if (name.at && !class)
        return mf_class_refuse(model->env, name);
    if (!name.at || !find_of(facts, name, ".block_count")) {
        if (mf_hub_read(facts, model, result) != MF_OK)
            return model->env->error.status;
    } else if (result && renaming->to == MF_NAMING_GGUF &&
               mf_hub_positions(facts, model, result) != MF_OK) {
        return model->env->error.status;
    }
    name = architecture_of(facts);
    class = name.at ? class_named(name) : NULL;
    if (!class) /* there is one, and it is no short string */
        return mf_fail(model->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'general.architecture' is not the name of an "
                       "architecture");
    renaming->family = class->family;
    renaming->heads = count_of(facts, name, ".attention.head_count");
    renaming->heads_kv = count_of(facts, name, ".attention.head_count_kv");
    if (!find_of(facts, name, ".attention.head_count_kv"))
        renaming->heads_kv = renaming->heads;
    renaming->layers = count_of(facts, name, ".block_count");
    renaming->vocabulary = count_of(facts, name, ".vocab_size");
    renaming->predicting = result ? result->predicting : 0;
    return MF_OK;
}

enum mf_status mf_renaming_init(struct mf_renaming *renaming,
                                struct mf_model *model, struct mf_draft *draft,
                                enum mf_naming to, size_t *left_out)
{
    struct mf_hub_result result = { 0 };
    struct mf_draft facts;
    enum mf_status status;

    *renaming = (struct mf_renaming){ .to = to, .lossy = draft->lossy };
    if (to == MF_NAMING_KEEP)
        return MF_OK;
    if (draft->format->values == MF_VALUES_TYPED) {
        status = learn(renaming, draft, model, &result);
        *left_out += result.left_out;
        renaming->made = result.tensors;
    } else {
        status = mf_carry_facts(&facts, model);
        if (status == MF_OK)
            status = learn(renaming, &facts, model, NULL);
        mf_draft_release(&facts);
    }
    return status == MF_OK ? check_names(renaming, model) : status;
}

/* ---- one tensor ---- */

static enum mf_status set_name(struct mf_draft *draft,
                               struct mf_draft_tensor *tensor,
                               const struct row *row, enum side side,
                               struct mf_str block)
{
    const char *prefix = block.at ? block_prefix[side] : "";
    const char *dot = block.at ? "." : "";
    size_t size =
        strlen(prefix) + block.size + strlen(dot) + strlen(row->name[side]);
    char *text = mf_arena_text(&draft->arena, size);

    if (!text)
        return draft->env->error.status;
    snprintf(text, size + 1, "%s%.*s%s%s", prefix, (int)block.size,
             block.at ? block.at : "", dot, row->name[side]);
    tensor->name = (struct mf_str){ text, size };
    return MF_OK;
}

/* Rows must be whole, and each head must have two halves of them. */
static enum mf_status set_rows(const struct mf_renaming *renaming,
                               struct mf_draft *draft,
                               struct mf_draft_tensor *tensor, bool keys)
{
    uint64_t heads = keys ? renaming->heads_kv : renaming->heads;
    bool fastest_first = draft->format->fastest_first;
    uint64_t rows = tensor->rank == 0 ? 0
                    : fastest_first   ? tensor->dim[tensor->rank - 1]
                                      : tensor->dim[0];
    uint64_t columns = tensor->rank != 2 ? 1
                       : fastest_first   ? tensor->dim[0]
                                         : tensor->dim[1];
    /* Rows move before they become another type. */
    const struct mf_type_row *type = &mf_types[tensor->from];
    uint64_t row_size;

    if (heads == 0)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "--names: the metadata does not say how many %s there "
                       "are, which the rows of tensor '%s' depend on",
                       keys ? "heads for keys" : "heads",
                       mf_quote(tensor->name).text);
    if (tensor->rank < 1 || tensor->rank > 2 || tensor->size == 0 ||
        tensor->from == MF_TYPE_UNKNOWN || columns % type->block != 0 ||
        !mf_mul(columns / type->block, type->bytes, &row_size) ||
        rows % heads != 0 || rows / heads % 2 != 0)
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "--names: the %" PRIu64 " rows of tensor '%s' are not "
                       "two halves for each of %" PRIu64 " heads",
                       rows, mf_quote(tensor->name).text, heads);
    tensor->rows = (struct mf_rows){ .size = row_size,
                                     .half = rows / heads / 2,
                                     .apart = renaming->to == MF_NAMING_HF };
    return MF_OK;
}

enum mf_status mf_rename(const struct mf_renaming *renaming,
                         struct mf_draft *draft)
{
    struct mf_draft_tensor *tensor = &draft->tensor[draft->tensor_count - 1];
    enum side to = renaming->to == MF_NAMING_GGUF ? GGUF : HF;
    struct mf_str block;
    const struct row *row;

    if (renaming->to == MF_NAMING_KEEP)
        return MF_OK;
    if (is_predicting(renaming, tensor->name)) {
        draft->tensor_count--;
        return MF_OK;
    }
    row = find_row(renaming->family, to == GGUF ? HF : GGUF, tensor->name,
                   &block);
    assert(row); /* all names were checked */
    if (!row->name[to][0]) {
        draft->tensor_count--;
        return MF_OK;
    }
    if ((row->rows == ROWS_Q || row->rows == ROWS_K) &&
        set_rows(renaming, draft, tensor, row->rows == ROWS_K) != MF_OK)
        return draft->env->error.status;
    return set_name(draft, tensor, row, to, block);
}
