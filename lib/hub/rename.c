/* SPDX-License-Identifier: MIT
 *
 * rename.c - giving tensors their other name, and their rows the other order
 *
 * Why rows move.  Rotary embedding turns pairs of a head's elements.  In
 * transformers element i is paired with element i + size/2 of the head, in
 * llama.cpp's "llama" architecture with its neighbour i + 1.  The weights are
 * the same model only if the rows of q_proj and k_proj, which produce these
 * elements, are in the matching order: for heads of 8 rows
 *
 *     Hugging Face   0 1 2 3 | 4 5 6 7        two halves
 *     llama.cpp      0 4 | 1 5 | 2 6 | 3 7    pairs of a row of each half
 *
 * and so on, head by head.  Whole rows move, so quantized types need not be
 * decoded, and both directions together restore every byte.  Architectures for
 * which llama.cpp pairs elements as transformers does (qwen2, phi3, ...) keep
 * their rows.  The number of heads, which fixes what a head's rows are, is
 * head_count for q and head_count_kv for k.
 *
 * This file only notes the move in the draft (struct mf_rows); rows are copied
 * to their places in lib/write/transfer.c.
 */
#include "lib/hub/rename.h"

#include <assert.h>
#include <stdio.h>

#include "lib/draft/carry.h"
#include "lib/hub/hub.h"
#include "lib/hub/rename_table.h"

/* ---- what the metadata says ---- */

/* At NULL where it is missing. */
static struct mf_str architecture_of(const struct mf_draft *facts)
{
    const struct mf_entry *entry = mf_draft_find(facts, "general.architecture");

    if (!entry || entry->type != MF_VALUE_STRING || !entry->text.at)
        return (struct mf_str){ NULL, 0 };
    return entry->text;
}

/* 0 where it is missing or not one number. */
static uint64_t count_of(const struct mf_draft *facts, const char *key)
{
    const struct mf_entry *entry = mf_draft_find_of(facts, key);
    union mf_number number;

    return entry && mf_number_as(entry->type, entry->number, MF_VALUE_U32,
                                 &number)
               ? number.u64
               : 0;
}

/* Completes the metadata from sidecars where it says too little. */
static enum mf_status complete_facts(struct mf_draft *facts,
                                     const struct mf_model *model,
                                     enum mf_naming to,
                                     struct mf_hub_result *result)
{
    struct mf_str name = architecture_of(facts);

    if (name.at && !mf_hub_class_named(name))
        return mf_hub_class_unknown(model->env, name);
    if (!name.at || !mf_draft_find_of(facts, "*.block_count"))
        return mf_hub_read(facts, model, result);
    return result && to == MF_NAMING_GGUF
               ? mf_hub_add_rope_factors(facts, model, result)
               : MF_OK;
}

/* facts: metadata under GGUF's keys.  result NULL: facts are not written. */
static enum mf_status read_facts(struct mf_renaming *renaming,
                                 struct mf_draft *facts,
                                 const struct mf_model *model,
                                 struct mf_hub_result *result)
{
    const struct mf_hub_class *class;
    struct mf_str name;

    if (complete_facts(facts, model, renaming->to, result) != MF_OK)
        return model->env->error.status;
    name = architecture_of(facts);
    class = name.at ? mf_hub_class_named(name) : NULL;
    if (!class) /* the key exists, but is not a short string */
        return mf_fail(model->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'general.architecture' is not the name of an "
                       "architecture");
    renaming->family = class->family;
    renaming->heads = count_of(facts, "*.attention.head_count");
    renaming->heads_kv = count_of(facts, "*.attention.head_count_kv");
    if (!mf_draft_find_of(facts, "*.attention.head_count_kv"))
        renaming->heads_kv = renaming->heads;
    renaming->layers = count_of(facts, "*.block_count");
    renaming->vocabulary = count_of(facts, "*.vocab_size");
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
        status = read_facts(renaming, draft, model, &result);
        *left_out += result.left_out;
        renaming->made = result.tensors;
    } else {
        status = mf_carry_as_gguf(&facts, model);
        if (status == MF_OK)
            status = read_facts(renaming, &facts, model, NULL);
        mf_draft_release(&facts);
    }
    return status == MF_OK ? mf_renaming_check(renaming, model) : status;
}

/* ---- one tensor ---- */

static enum mf_status set_name(struct mf_draft *draft,
                               struct mf_draft_tensor *tensor,
                               const struct mf_rename_row *row,
                               enum mf_name_side side, struct mf_str block)
{
    const char *prefix = block.at ? mf_block_prefix[side] : "";
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

/* Rows must be whole blocks, and each head must have an even number of them. */
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
    /* The model's type: rows move before they are converted. */
    const struct mf_type_row *type = &mf_types[tensor->from];
    uint64_t row_size;

    if (heads == 0)
        return mf_decline(draft->env, MF_REASON_NAMES_UNKNOWN, MF_NO_OFFSET,
                          "missing %s in the metadata: the order of rows of "
                          "tensor '%s' depends on it",
                          keys ? "head_count_kv" : "head_count",
                          mf_quote(tensor->name).text);
    if (tensor->rank < 1 || tensor->rank > 2 || tensor->size == 0 ||
        tensor->from == MF_TYPE_UNKNOWN || columns % type->block != 0 ||
        !mf_mul(columns / type->block, type->bytes, &row_size) ||
        rows % heads != 0 || rows / heads % 2 != 0)
        return mf_decline(draft->env, MF_REASON_NAMES_UNKNOWN, MF_NO_OFFSET,
                          "cannot reorder the %" PRIu64 " rows of tensor '%s': "
                          "%" PRIu64
                          " heads of an even number of rows expected",
                          rows, mf_quote(tensor->name).text, heads);
    tensor->rows = (struct mf_rows){ .size = row_size,
                                     .half = rows / heads / 2,
                                     .apart = renaming->to == MF_NAMING_HF };
    return MF_OK;
}

enum mf_status mf_renaming_apply(const struct mf_renaming *renaming,
                                 struct mf_draft *draft)
{
    struct mf_draft_tensor *tensor = &draft->tensor[draft->tensor_count - 1];
    enum mf_name_side to =
        renaming->to == MF_NAMING_GGUF ? MF_SIDE_GGUF : MF_SIDE_HF;
    const struct mf_rename_row *row;
    struct mf_str block;

    assert(draft->tensor_count > 0);
    if (renaming->to == MF_NAMING_KEEP)
        return MF_OK;
    if (mf_rename_is_prediction(renaming, tensor->name)) {
        draft->tensor_count--;
        return MF_OK;
    }
    row = mf_rename_row_find(renaming->family,
                             to == MF_SIDE_GGUF ? MF_SIDE_HF : MF_SIDE_GGUF,
                             tensor->name, &block);
    assert(row); /* mf_renaming_init checked all names */
    if (!row->name[to][0]) {
        draft->tensor_count--;
        return MF_OK;
    }
    if ((row->rows == MF_ROWS_Q || row->rows == MF_ROWS_K) &&
        set_rows(renaming, draft, tensor, row->rows == MF_ROWS_K) != MF_OK)
        return draft->env->error.status;
    return set_name(draft, tensor, row, to, block);
}
