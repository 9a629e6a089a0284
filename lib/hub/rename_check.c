/* SPDX-License-Identifier: MIT
 *
 * rename_check.c - whether all tensors of a model can be renamed
 *
 * Everything that can be refused is refused here, before an output is opened:
 * a name without a row, a tensor that would be lost, and a model that is not
 * complete.  The last is not about names; but llama.cpp notices a missing layer
 * only when it loads the file, and a folder that was downloaded in part is a
 * common mistake.
 */
#include "lib/base/str.h"
#include "lib/hub/rename.h"
#include "lib/hub/rename_table.h"

static struct mf_str name_of(const struct mf_record *record)
{
    return (struct mf_str){ record->name, record->name_size };
}

/* ---- prediction layers ---- */

/* UINT64_MAX where the number is larger than any count of layers. */
static uint64_t block_number(struct mf_str digits)
{
    uint64_t number = 0;

    if (digits.size > 10)
        return UINT64_MAX;
    for (size_t i = 0; i < digits.size; i++)
        number = number * 10 + (uint64_t)(digits.at[i] - '0');
    return number;
}

/* Such layers come after those of the model, or have names of their own.
 * llama.cpp would take them for layers of the model. */
bool mf_rename_is_prediction(const struct mf_renaming *renaming,
                             struct mf_str name)
{
    static const char *const prefix[] = { "mtp.", "model.mtp.",
                                          "model.mtp_layers." };
    struct mf_str block = mf_rename_block(name, MF_SIDE_HF);

    if (renaming->to != MF_NAMING_GGUF || renaming->predicting == 0)
        return false;
    for (size_t i = 0; i < sizeof(prefix) / sizeof(*prefix); i++)
        if (mf_str_begins(name, prefix[i]) && name.size > strlen(prefix[i]))
            return true;
    return block.at && block_number(block) >= renaming->layers &&
           block_number(block) - renaming->layers < renaming->predicting;
}

/* ---- completeness ---- */

static enum mf_status check_layer(const struct mf_renaming *renaming,
                                  const struct mf_model *model,
                                  const struct mf_record *record, bool *seen)
{
    struct mf_str block = mf_rename_block(name_of(record), MF_SIDE_HF);

    if (!block.at || mf_rename_is_prediction(renaming, name_of(record)))
        return MF_OK;
    if (block_number(block) >= renaming->layers)
        return mf_fail(
            model->env, MF_ERR_UNSUPPORTED, record->entry,
            "layer of tensor '%s' is out of range: the model's layer "
            "count is %" PRIu64,
            mf_record_name(record).text, renaming->layers);
    seen[block_number(block)] = true;
    return MF_OK;
}

/* Every layer has tensors, and no tensor belongs to a later layer. */
static enum mf_status check_layers(const struct mf_renaming *renaming,
                                   const struct mf_model *model)
{
    struct mf_env *env = model->env;
    const struct mf_index *index = &model->index;
    size_t count = (size_t)renaming->layers, first = 0;
    enum mf_status status = MF_OK;
    bool *seen;

    /* Also bounds the memory below: the count comes from config.json. */
    if (count > index->tensor_count)
        return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "the model has %zu tensors, too few for %zu layers",
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
               : mf_fail(
                     env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                     "no tensor of layer %zu: the model's layer count is %zu",
                     first, count);
}

static enum mf_status check_vocabulary(const struct mf_renaming *renaming,
                                       const struct mf_model *model,
                                       const struct mf_record *record)
{
    struct mf_str name = name_of(record);
    uint64_t rows;

    if (renaming->vocabulary == 0 || record->rank != 2 ||
        !(mf_str_is(name, "model.embed_tokens.weight") ||
          mf_str_is(name, "lm_head.weight")))
        return MF_OK;
    rows = record->dim[model->info.fastest_first ? 1 : 0];
    return rows == renaming->vocabulary
               ? MF_OK
               : mf_fail(model->env, MF_ERR_UNSUPPORTED, record->entry,
                         "tensor '%s' has %" PRIu64 " rows, but the model has "
                         "%" PRIu64 " tokens (vocab_size)",
                         mf_record_name(record).text, rows,
                         renaming->vocabulary);
}

static enum mf_status check_complete(const struct mf_renaming *renaming,
                                     const struct mf_model *model)
{
    const struct mf_index *index = &model->index;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (check_vocabulary(renaming, model, &index->tensor[i]) != MF_OK)
            return model->env->error.status;
    return renaming->layers > 0 ? check_layers(renaming, model) : MF_OK;
}

/* ---- names ---- */

static enum mf_status unknown_name(const struct mf_renaming *renaming,
                                   const struct mf_model *model,
                                   const struct mf_record *record)
{
    return mf_decline(model->env, MF_REASON_NAMES_UNKNOWN, record->entry,
                      "unknown tensor '%s': not a %s name of this architecture",
                      mf_record_name(record).text,
                      renaming->to == MF_NAMING_GGUF ? "Hugging Face"
                                                     : "llama.cpp");
}

static enum mf_status would_lose(const struct mf_model *model,
                                 const struct mf_record *record)
{
    return mf_decline(model->env, MF_REASON_NOT_LOSSLESS, record->entry,
                      "tensor '%s' has no Hugging Face name: config.json "
                      "describes its values there",
                      mf_record_name(record).text);
}

/* How many of the model's names are known on that side. */
static size_t count_names(const struct mf_renaming *renaming,
                          const struct mf_model *model, enum mf_name_side side)
{
    size_t count = 0;
    struct mf_str block;

    for (size_t i = 0; i < model->index.tensor_count; i++)
        count += mf_rename_row_find(renaming->family, side,
                                    name_of(&model->index.tensor[i]),
                                    &block) != NULL;
    return count;
}

/* renamed: the model has the other side's names, not already those wanted. */
static enum mf_status check_tensor(struct mf_renaming *renaming,
                                   const struct mf_model *model,
                                   const struct mf_record *record,
                                   enum mf_name_side from, bool renamed)
{
    const struct mf_rename_row *row;
    struct mf_str block;

    if (renamed && mf_rename_is_prediction(renaming, name_of(record))) {
        renaming->dropped++;
        renaming->lost++;
        return MF_OK;
    }
    row = mf_rename_row_find(renaming->family, from, name_of(record), &block);
    if (!row)
        return unknown_name(renaming, model, record);
    if (!renamed || row->name[1 - from][0])
        return MF_OK;
    if (row->rows == MF_ROWS_LOSE && !renaming->lossy)
        return would_lose(model, record);
    renaming->dropped++;
    renaming->lost += row->rows == MF_ROWS_LOSE;
    return MF_OK;
}

enum mf_status mf_renaming_check(struct mf_renaming *renaming,
                                 const struct mf_model *model)
{
    const struct mf_index *index = &model->index;
    enum mf_name_side to =
        renaming->to == MF_NAMING_GGUF ? MF_SIDE_GGUF : MF_SIDE_HF;
    enum mf_name_side from = to == MF_SIDE_GGUF ? MF_SIDE_HF : MF_SIDE_GGUF;
    bool renamed = count_names(renaming, model, from) > 0;

    for (size_t i = 0; i < index->tensor_count; i++)
        if (check_tensor(renaming, model, &index->tensor[i],
                         renamed ? from : to, renamed) != MF_OK)
            return model->env->error.status;
    if (!renamed)
        renaming->to = MF_NAMING_KEEP;
    return renaming->to == MF_NAMING_GGUF ? check_complete(renaming, model)
                                          : MF_OK;
}
