/* SPDX-License-Identifier: MIT
 *
 * kinds.c - files that are not models, and what they say about themselves
 */
#include "cli/kinds.h"

#include <string.h>

#include "cli/json.h"
#include "cli/value.h"

/* In GGUF an entry is two tensors, in the old format one. */
size_t kind_entries(struct mf_model *model)
{
    static const char tail[] = ".in_sum2";
    size_t count = mf_model_info(model)->tensor_count, entries = 0;
    struct mf_tensor tensor;

    if (strcmp(mf_model_info(model)->format, "imatrix") == 0)
        return count;
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        entries += tensor.name.size >= strlen(tail) &&
                   memcmp(tensor.name.at + tensor.name.size - strlen(tail),
                          tail, strlen(tail)) == 0;
    return entries;
}

/* An encoder and projector of images or sound. */
static bool is_projector(struct mf_model *model)
{
    struct mf_meta meta;

    return mf_model_fact(model, MF_FACT_ARCHITECTURE, &meta, NULL) &&
           meta.text.size == 4 && memcmp(meta.text.at, "clip", 4) == 0;
}

static bool is_matrix(struct mf_model *model)
{
    return mf_model_is_imatrix(model);
}

const struct kind kinds[KIND_COUNT] = {
    { "imatrix",
      is_matrix,
      true,
      { { "chunk_count", "chunks", "imatrix.chunk_count" },
        { "chunk_size", "chunk size", "imatrix.chunk_size" },
        { "datasets", "datasets", "imatrix.datasets" } } },
    { "projector",
      is_projector,
      false,
      { { "type", "projector", "clip.projector_type" },
        { "vision_type", "for images", "clip.vision.projector_type" },
        { "audio_type", "for sound", "clip.audio.projector_type" },
        { "vision_encoder", "sees images", "clip.has_vision_encoder" },
        { "audio_encoder", "hears sound", "clip.has_audio_encoder" },
        { "image_size", "image size", "clip.vision.image_size" },
        { "patch_size", "patch size", "clip.vision.patch_size" },
        { "vision_layers", "image layers", "clip.vision.block_count" },
        { "audio_layers", "sound layers", "clip.audio.block_count" },
        { "vision_out", "text embedding", "clip.vision.projection_dim" },
        { "audio_out", "text embedding", "clip.audio.projection_dim" } } },
};

bool kind_row(struct mf_model *model, const struct kind *kind, size_t row,
              struct mf_meta *meta, size_t *at)
{
    const char *key = kind->row[row].key;

    return mf_meta_find(model, key, strlen(key), meta, at);
}

void kind_json(struct run *run, struct mf_model *model, const struct kind *kind)
{
    struct mf_meta meta;
    size_t at;

    mf_json_key(&run->json, kind->name);
    if (!kind->is(model)) {
        mf_json_null(&run->json);
        return;
    }
    mf_json_begin(&run->json, '{');
    if (kind->entries)
        json_number(run, "entries", kind_entries(model));
    for (size_t i = 0; kind->row[i].key; i++) {
        mf_json_key(&run->json, kind->row[i].name);
        if (kind_row(model, kind, i, &meta, &at))
            value_json_whole(run, model, at);
        else
            mf_json_null(&run->json);
    }
    mf_json_end(&run->json, '}');
}
