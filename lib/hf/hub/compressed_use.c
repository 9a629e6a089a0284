/* SPDX-License-Identifier: MIT
 *
 * compressed_use.c - which tensors of a compressed checkpoint are weights, and
 * which belong to them
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/hf/hub/compressed_parts.h"

/* What a tensor is by the end of its name. */
struct ending {
    enum mf_compression method;
    const char *end;
    enum mf_compressed_use use;
    const char *of; /* the end of the weights that it belongs to; NULL: it is
                       not needed */
    bool stays;     /* without those weights it is a tensor like others */
};

static const struct ending endings[] = {
#define GONE MF_COMPRESSED_GONE
    { MF_COMPRESSION_FP8, "_scale_inv", GONE, "", false },
    { MF_COMPRESSION_FP8, ".activation_scale", GONE, NULL, false },
    { MF_COMPRESSION_FP8, "_activation_scale", GONE, NULL, false },
    { MF_COMPRESSION_FP8, ".qscale_weight", GONE, ".weight", false },
    { MF_COMPRESSION_FP8, ".qscale_act", GONE, NULL, false },
    { MF_COMPRESSION_BITNET, ".weight_scale", GONE, ".weight", false },
    { MF_COMPRESSION_GPTQ, ".qweight", MF_COMPRESSED_LATER, NULL, false },
    { MF_COMPRESSION_GPTQ, ".g_idx", GONE, ".qweight", true },
    { MF_COMPRESSION_GPTQ, ".qzeros", GONE, ".qweight", true },
    { MF_COMPRESSION_GPTQ, ".scales", GONE, ".qweight", true },
    { MF_COMPRESSION_SCALED, ".weight_scale", GONE, ".weight", false },
    { MF_COMPRESSION_PACKED, ".weight_packed", MF_COMPRESSED_LATER, NULL,
      false },
    { MF_COMPRESSION_PACKED, ".weight_shape", GONE, ".weight_packed", true },
    { MF_COMPRESSION_PACKED, ".weight_scale", GONE, ".weight_packed", true },
    { MF_COMPRESSION_PACKED, ".weight_zero_point", GONE, ".weight_packed",
      true },
    { MF_COMPRESSION_MODELOPT, ".weight_scale", GONE, NULL, false },
    { MF_COMPRESSION_MODELOPT, ".input_scale", GONE, NULL, false },
    { MF_COMPRESSION_MODELOPT, ".k_scale", GONE, NULL, false },
    { MF_COMPRESSION_MODELOPT, ".v_scale", GONE, NULL, false },
#undef GONE
};

/* Ends of the names of scales, by method, that make `end` weights. */
static const struct {
    enum mf_compression method;
    const char *end, *scale;
} scales[] = {
    { MF_COMPRESSION_FP8, "", "_scale_inv" },
    { MF_COMPRESSION_FP8, ".weight", ".qscale_weight" },
    { MF_COMPRESSION_BITNET, ".weight", ".weight_scale" },
    { MF_COMPRESSION_SCALED, ".weight", ".weight_scale" },
    { MF_COMPRESSION_MODELOPT, ".weight", ".weight_scale" },
};

/* ---- tensors by their names ---- */

static struct mf_str name_of(const struct mf_compressed *compressed,
                             size_t record)
{
    const struct mf_record *tensor =
        &compressed->recipe->model->index.tensor[record];

    return (struct mf_str){ tensor->name, tensor->name_size };
}

size_t mf_compressed_find(const struct mf_compressed *compressed, size_t record,
                          const char *from, const char *to)
{
    struct mf_str name = name_of(compressed, record);
    char text[512];
    int size;

    if (!mf_str_ends(name, from))
        return MF_NOT_FOUND;
    size = snprintf(text, sizeof(text), "%.*s%s",
                    (int)(name.size - strlen(from)), name.at, to);
    if (size <= 0 || (size_t)size >= sizeof(text))
        return MF_NOT_FOUND;
    return mf_names_find(&compressed->recipe->model->index.tensor_names,
                         (struct mf_str){ text, (size_t)size });
}

size_t mf_compressed_scale(const struct mf_compressed *compressed,
                           size_t record)
{
    size_t found = MF_NOT_FOUND;

    for (size_t i = 0;
         i < sizeof(scales) / sizeof(*scales) && found == MF_NOT_FOUND; i++)
        if (scales[i].method == compressed->method)
            found = mf_compressed_find(compressed, record, scales[i].end,
                                       scales[i].scale);
    return found;
}

/* ---- NVFP4 ---- */

static const struct {
    const char *end, *scale;
} packed[] = { { ".weight", ".weight_scale" },
               { ".weight_packed", ".weight_scale" } };

/* The end of the weights' name where it is one of those in blocks, else NULL.
 */
static const char *blocks_of(const struct mf_compressed *compressed,
                             size_t record)
{
    if (!compressed->nvfp4)
        return NULL;
    for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++) {
        size_t scale = mf_compressed_find(compressed, record, packed[i].end,
                                          packed[i].scale);

        if (scale != MF_NOT_FOUND &&
            compressed->recipe->model->index.tensor[scale].rank >= 2)
            return packed[i].end;
    }
    return NULL;
}

/* Whether it belongs to weights in blocks, or is not needed with them. */
static bool is_of_blocks(const struct mf_compressed *compressed, size_t record)
{
    static const char *const ends[] = {
        ".weight_scale", ".weight_scale_2",     ".weight_global_scale",
        ".input_scale",  ".input_global_scale",
    };
    struct mf_str name = name_of(compressed, record);

    if (!compressed->nvfp4)
        return false;
    if (mf_str_ends(name, ".k_scale") || mf_str_ends(name, ".v_scale"))
        return true;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        for (size_t k = 0; k < sizeof(packed) / sizeof(*packed); k++) {
            size_t weight =
                mf_compressed_find(compressed, record, ends[i], packed[k].end);

            if (weight != MF_NOT_FOUND && blocks_of(compressed, weight))
                return true;
        }
    return false;
}

/* ---- MXFP4 ---- */

/* Blocks and their scales; the family's rows know the names. */
static enum mf_compressed_use mxfp4_use(const struct mf_compressed *compressed,
                                        size_t record)
{
    if (compressed->mxfp4 && mf_compressed_find(compressed, record, "_blocks",
                                                "_scales") != MF_NOT_FOUND)
        return MF_COMPRESSED_FIRST;
    return compressed->mxfp4 &&
                   mf_compressed_find(compressed, record, "_scales",
                                      "_blocks") != MF_NOT_FOUND
               ? MF_COMPRESSED_GONE
               : MF_COMPRESSED_PLAIN;
}

/* ---- what becomes of a tensor ---- */

bool mf_compressed_has(const struct mf_compressed *compressed,
                       enum mf_compressed_use use)
{
    if (use == MF_COMPRESSED_FIRST)
        return compressed->nvfp4 || compressed->mxfp4;
    return compressed->method == MF_COMPRESSION_GPTQ ||
           compressed->method == MF_COMPRESSION_PACKED;
}

static enum mf_status no_weights(const struct mf_compressed *compressed,
                                 size_t record)
{
    return mf_fail(compressed->env, MF_ERR_CORRUPT,
                   compressed->recipe->model->index.tensor[record].entry,
                   "the weights that tensor '%s' belongs to are missing",
                   mf_quote(name_of(compressed, record)).text);
}

static const struct ending *ending_of(const struct mf_compressed *compressed,
                                      size_t record)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
        if (endings[i].method == compressed->method &&
            mf_str_ends(name_of(compressed, record), endings[i].end))
            return &endings[i];
    return NULL;
}

enum mf_status mf_compressed_use(const struct mf_compressed *compressed,
                                 size_t record, enum mf_compressed_use *out)
{
    const struct ending *ending;

    *out = mxfp4_use(compressed, record);
    if (*out != MF_COMPRESSED_PLAIN)
        return MF_OK;
    if (blocks_of(compressed, record)) {
        *out = MF_COMPRESSED_FIRST;
        return MF_OK;
    }
    if (is_of_blocks(compressed, record)) {
        *out = MF_COMPRESSED_GONE;
        return MF_OK;
    }
    ending = ending_of(compressed, record);
    if (!ending) {
        if (mf_compressed_scale(compressed, record) != MF_NOT_FOUND)
            *out = MF_COMPRESSED_HERE;
        return MF_OK;
    }
    *out = ending->use;
    if (!ending->of || mf_compressed_find(compressed, record, ending->end,
                                          ending->of) != MF_NOT_FOUND)
        return MF_OK;
    *out = MF_COMPRESSED_PLAIN;
    return ending->stays ? MF_OK : no_weights(compressed, record);
}

struct mf_compressed_name
mf_compressed_name(const struct mf_compressed *compressed, size_t record)
{
    static const struct mf_compressed_name names[] = {
        { ".qweight", ".weight" }, { ".weight_packed", ".weight" }
    };
    struct mf_str name = name_of(compressed, record);

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (mf_str_ends(name, names[i].from))
            return names[i];
    return (struct mf_compressed_name){ "", "" };
}

bool mf_compressed_was_fp8(const struct mf_compressed *compressed,
                           size_t record)
{
    uint16_t type = compressed->recipe->model->index.tensor[record].type;
    size_t scale = mf_compressed_scale(compressed, record);

    if (scale == MF_NOT_FOUND)
        return false;
    return compressed->method == MF_COMPRESSION_FP8 ||
           (compressed->method == MF_COMPRESSION_SCALED &&
            compressed->is_fp8) ||
           (compressed->method == MF_COMPRESSION_MODELOPT &&
            (type == MF_TYPE_F8_E4M3 || type == MF_TYPE_F8_E5M2));
}
