/* SPDX-License-Identifier: MIT
 *
 * mix_meta.c - the metadata of a model that is quantized
 *
 * llama-quantize removes each key that it sets and adds it at the end.  So does
 * this, since files are compared byte for byte.
 */
#include <string.h>

#include "lib/codec/codecs.h"
#include "lib/draft/carry.h"
#include "lib/quantize/mix.h"
#include "lib/write/convert.h"

/* ggml's GGML_QNT_VERSION: the layout of its blocks. */
#define QUANTIZATION_VERSION 2

/* Bytes of the longest text about an importance matrix in llama-quantize. */
#define TEXT_MAX ((size_t)127)

/* ---- reading ---- */

/* Stops at the first element. */
static enum mf_status first_number(void *user, const struct mf_value *value)
{
    union mf_number *number = user;

    if (value->event == MF_EVENT_BEGIN)
        return MF_OK;
    if (value->event != MF_EVENT_ITEM ||
        !mf_value_as(value, MF_VALUE_U64, number))
        number->u64 = 0;
    return MF_ERR_STOPPED;
}

enum mf_status mf_draft_number(const struct mf_draft *draft, const char *key,
                               uint64_t *number)
{
    const struct mf_entry *entry = mf_draft_find_of(draft, key);
    union mf_number first = { .u64 = 0 };

    /* Having stopped there is not a failure. */
    if (entry &&
        mf_entry_read(draft->env, entry, first_number, &first) != MF_OK &&
        draft->env->error.status != MF_OK)
        return draft->env->error.status;
    *number = first.u64;
    return MF_OK;
}

/* ---- writing ---- */

/* Sets the key at the end, wherever it was. */
static enum mf_status put_last(struct mf_draft *draft, struct mf_edit edit)
{
    struct mf_edit both[2];

    if (mf_carry_edit(draft, &edit) != MF_OK)
        return draft->env->error.status;
    both[0] = (struct mf_edit){ .key = edit.key, .unset = true };
    both[1] = edit;
    return mf_draft_edit(draft, both, edit.unset ? 1 : 2);
}

enum mf_status mf_draft_put_number(struct mf_draft *draft, const char *key,
                                   enum mf_value_type type, uint64_t number)
{
    return put_last(
        draft,
        (struct mf_edit){ .key = key, .type = type, .number.u64 = number });
}

static enum mf_status unset(struct mf_draft *draft, const char *key,
                            enum mf_value_type type)
{
    return put_last(
        draft, (struct mf_edit){ .key = key, .type = type, .unset = true });
}

static enum mf_status put_text(struct mf_draft *draft, const char *key,
                               struct mf_str text)
{
    struct mf_edit edit = { .key = key, .type = MF_VALUE_STRING };

    if (text.size > TEXT_MAX)
        text.size = mf_utf8_whole(text.at, TEXT_MAX);
    edit.text = mf_draft_text(draft, text);
    return edit.text.at ? put_last(draft, edit) : draft->env->error.status;
}

static enum mf_status put_imatrix(struct mf_draft *draft, const char *path,
                                  const struct mf_imatrix *imatrix)
{
    struct mf_str file = { path, strlen(path) };

    if (put_text(draft, "quantize.imatrix.file", file) != MF_OK ||
        (imatrix->dataset.size > 0 &&
         put_text(draft, "quantize.imatrix.dataset", imatrix->dataset) !=
             MF_OK) ||
        mf_draft_put_number(draft, "quantize.imatrix.entries_count",
                            MF_VALUE_U32, imatrix->count) != MF_OK)
        return draft->env->error.status;
    return imatrix->chunks > 0
               ? mf_draft_put_number(draft, "quantize.imatrix.chunks_count",
                                     MF_VALUE_U32, imatrix->chunks)
               : MF_OK;
}

enum mf_status mf_mix_metadata(struct mf_draft *draft,
                               const struct mf_quantize_options *options,
                               const struct mf_imatrix *imatrix,
                               uint32_t file_type)
{
    static const char file_key[] = "general.file_type";

    if (mf_draft_put_number(draft, "general.quantization_version", MF_VALUE_U32,
                            QUANTIZATION_VERSION) != MF_OK ||
        (file_type == MF_NO_FILE_TYPE
             ? unset(draft, file_key, MF_VALUE_U32)
             : mf_draft_put_number(draft, file_key, MF_VALUE_U32, file_type)) !=
            MF_OK ||
        unset(draft, "split.no", MF_VALUE_U16) != MF_OK ||
        unset(draft, "split.count", MF_VALUE_U16) != MF_OK ||
        unset(draft, "split.tensors.count", MF_VALUE_I32) != MF_OK)
        return draft->env->error.status;
    for (size_t i = 0; i < options->edit_count; i++)
        if (put_last(draft, options->edits[i]) != MF_OK)
            return draft->env->error.status;
    return imatrix ? put_imatrix(draft, options->imatrix, imatrix) : MF_OK;
}

/* Whether encoders write any of their tensors, and such that can search. */
static void what_is_encoded(struct mf_draft *const *drafts, size_t count,
                            bool *encoded, bool *searched)
{
    *encoded = *searched = false;
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < drafts[i]->tensor_count; t++) {
            const struct mf_draft_tensor *tensor = &drafts[i]->tensor[t];
            const struct mf_codec *codec = NULL;

            if (tensor->from == tensor->type)
                continue;
            /* All instruction sets search the same types. */
            codec = mf_env_codec(drafts[i]->env, mf_isas,
                                 (enum mf_type)tensor->type);
            *encoded = true;
            *searched |= codec && codec->further;
        }
}

enum mf_status mf_mix_put_effort(struct mf_draft *const *drafts, size_t count,
                                 uint32_t *effort)
{
    static const char key[] = MF_EFFORT_KEY, version[] = MF_EFFORT_VERSION_KEY;
    struct mf_draft *draft = drafts[0];
    bool encoded, searched;

    what_is_encoded(drafts, count, &encoded, &searched);
    if (*effort <= MF_EFFORT_LEAST || !searched)
        *effort = MF_EFFORT_LEAST;
    if (*effort > MF_EFFORT_LEAST)
        return mf_draft_put_number(draft, key, MF_VALUE_U32, *effort) == MF_OK
                   ? mf_draft_put_number(draft, version, MF_VALUE_U32,
                                         MF_EFFORT_VERSION)
                   : draft->env->error.status;
    /* What the model says of itself is no longer true of the file. */
    if (encoded && (mf_draft_find(draft, key) || mf_draft_find(draft, version)))
        return unset(draft, key, MF_VALUE_U32) == MF_OK
                   ? unset(draft, version, MF_VALUE_U32)
                   : draft->env->error.status;
    return MF_OK;
}

enum mf_status mf_mix_split(struct mf_draft *const *drafts, size_t count)
{
    uint64_t tensors = 0;

    for (size_t i = 0; i < count; i++)
        tensors += drafts[i]->tensor_count;
    for (size_t i = 0; i < count; i++)
        if (mf_draft_put_number(drafts[i], "split.no", MF_VALUE_U16, i) !=
                MF_OK ||
            mf_draft_put_number(drafts[i], "split.count", MF_VALUE_U16,
                                count) != MF_OK ||
            mf_draft_put_number(drafts[i], "split.tensors.count", MF_VALUE_I32,
                                tensors) != MF_OK)
            return drafts[i]->env->error.status;
    return MF_OK;
}
