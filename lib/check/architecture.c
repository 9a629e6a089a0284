/* SPDX-License-Identifier: MIT
 *
 * architecture.c - whether a model is of a known architecture, and its check
 */
#include "lib/check/check.h"

#include <string.h>

#include "lib/arch/arch.h"
#include "lib/base/str.h"
#include "lib/folder/adapter.h"
#include "lib/model/facts.h"
#include "lib/model/model.h"

/* ---- what a loader would find in the GGUF file that a folder becomes ---- */

/* A folder of Hugging Face has neither the keys nor the names that the rows of
 * lib/arch are about; the header of the file that is made of it has. */

enum mf_status mf_outline_check(struct mf_model *model,
                                struct mf_model *outline)
{
    const struct mf_index *from = &outline->index;
    size_t first = from->finding_count;

    if (model->outline_validated)
        return MF_OK;
    model->outline_validated = true;
    mf_architecture_check(outline);
    mf_lists_check(outline);
    for (size_t i = first; i < from->finding_count; i++) {
        const struct mf_finding *finding = &from->finding[i];

        mf_index_note(&model->index, 0,
                      finding->severity == MF_NOTE ? MF_NOTE : MF_WARNING,
                      mf_rule_of(finding->rule), MF_NO_OFFSET, "as GGUF: %s",
                      finding->message);
    }
    return from->status != MF_OK ? from->status : model->index.status;
}

/* ---- whether a model is of a known architecture, and its check ---- */

/* A single shard, or a file opened for its metadata, lacks tensors. */
static bool is_whole(const struct mf_model *model)
{
    const struct mf_part *part = &model->part[0];

    return model->info.has_tensors &&
           (!part->is_split || part->split_count == model->file_count);
}

static void note_unknown(struct mf_model *model, const struct mf_meta *name)
{
    const char *similar = mf_arch_similar(name->text);

    if (similar)
        mf_index_note(&model->index, 0, MF_ERROR, MF_RULE_MODEL_ARCHITECTURE,
                      name->span.offset,
                      "unknown architecture '%s'; the name is spelled '%s'",
                      mf_quote(name->text).text, similar);
    else
        mf_index_note(&model->index, 0, MF_NOTE, MF_RULE_MODEL_UNKNOWN,
                      name->span.offset,
                      "unknown architecture '%s': generic checks only",
                      mf_quote(name->text).text);
}

/* Adapters and projectors are GGUF files, too.  Of these an adapter names the
 * architecture of its model. */
static bool is_model(const struct mf_model *model)
{
    const struct mf_meta *type = mf_index_meta(&model->index, "general.type");

    return !type || type->type != MF_VALUE_STRING || !type->text.at ||
           mf_str_is(type->text, "model");
}

/* In APR the key model_type is required but may be empty; only an empty value
 * of the format's own key for the architecture counts as missing. */
static bool is_empty(const struct mf_format *format, const struct mf_meta *name)
{
    return name->text.size == 0 && mf_str_is(name->key, format->facts[0].key);
}

/* Whether an adapter is one for a model of llama.cpp. */
static bool has_blocks(const struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        struct mf_str name = { record->name, record->name_size };

        if (mf_str_begins(name, "token_embd.weight") ||
            mf_str_begins(name, "blk."))
            return true;
    }
    return false;
}

/* GGUF requires the name, and llama.cpp chooses its code by it; of shards it
 * reads it in the first one, for all.  It compares an adapter's with the
 * model's. */
static bool is_required(const struct mf_model *model)
{
    const struct mf_part *part = &model->part[0];

    if ((model->format->readers & MF_READER_LLAMA) == 0 ||
        (part->is_split && part->split_number > 0))
        return false;
    return !mf_model_is_adapter(model) || has_blocks(&model->index);
}

/* The name is missing, empty or not a string. */
static void note_nameless(struct mf_model *model)
{
    const char *key = model->format->facts[0].key;
    const struct mf_meta *meta = mf_index_meta(&model->index, key);
    bool llama = (model->format->readers & MF_READER_LLAMA) != 0;

    if (llama && meta && meta->type != MF_VALUE_STRING)
        mf_index_note(&model->index, meta->shard, MF_ERROR,
                      MF_RULE_MODEL_ARCHITECTURE, meta->span.offset,
                      "'%s' is of type %s, not a string", key,
                      mf_value_type_name(meta->type));
    else
        mf_index_note(
            &model->index, 0, is_required(model) ? MF_ERROR : MF_WARNING,
            MF_RULE_MODEL_ARCHITECTURE, meta ? meta->span.offset : MF_NO_OFFSET,
            "no architecture in the metadata (key '%s')", key);
}

void mf_architecture_check(struct mf_model *model)
{
    struct mf_index *index = &model->index;
    const char *architecture;
    struct mf_meta name;
    enum mf_status status;

    /* Formats without a key for it leave the choice of keys to the writer. */
    if (!mf_model_has_fact(model, MF_FACT_BLOCK_COUNT) ||
        mf_model_is_imatrix(model))
        return;
    if (!mf_model_fact(model, MF_FACT_ARCHITECTURE, &name, NULL) ||
        is_empty(model->format, &name)) {
        note_nameless(model);
        return;
    }
    if (!is_model(model) && !mf_model_is_adapter(model))
        return;
    architecture = mf_arch_of(model, name.text);
    if (!architecture) {
        note_unknown(model, &name);
        return;
    }
    if (!is_model(model))
        return;
    status = mf_arch_check(model, architecture, is_whole(model));
    if (status == MF_OK)
        status = mf_tensor_types_check(model, name.text);
    if (status != MF_OK)
        index->status = status;
}
