/* SPDX-License-Identifier: MIT
 *
 * features.c - what a program can name: each refers to its own code only
 */
#include "lib/full/full.h"

#define ROW(row)                                                               \
    {                                                                          \
        MF_PLACE_##row, &mf_format_##row                                       \
    }

/* A format: the rows of its folder, at most two. */
#define READS(name, ...)                                                       \
    const struct mf_feature *mf_feature_##name(void)                           \
    {                                                                          \
        static const struct mf_feature feature = { .format = {                 \
                                                       __VA_ARGS__ } };        \
                                                                               \
        return &feature;                                                       \
    }

READS(gguf, ROW(gguf))
READS(apr, ROW(apr), ROW(apr_v1))
READS(torch, ROW(torch), ROW(torch_legacy))
READS(npy, ROW(npz), ROW(npy))
READS(safetensors, ROW(safetensors_index), ROW(safetensors))
READS(parquet, ROW(parquet))
READS(imatrix, ROW(imatrix))

#define CODEC(NAME, name)                                                      \
    const struct mf_feature *mf_feature_##name(void)                           \
    {                                                                          \
        static const struct mf_feature feature = { .type = MF_TYPE_##NAME,     \
                                                   .codec =                    \
                                                       &mf_codec_set_##name }; \
                                                                               \
        return &feature;                                                       \
    }
#include "lib/codec/codecs.def"
