/* SPDX-License-Identifier: MIT
 *
 * compressed.h - checkpoints whose weights are quantized already
 *
 * What config.json says under quantization_config, and what becomes of the
 * tensors: weights with their scales, zeros and the like become one node
 * (lib/derive), or blocks of a type that GGUF has.  Methods that llama.cpp's
 * converter does not decode are refused by name.
 */
#ifndef MF_LIB_HUB_COMPRESSED_H
#define MF_LIB_HUB_COMPRESSED_H

#include "lib/derive/derive.h"
#include "lib/hf/hub/recipe.h"

enum mf_compression {
    MF_COMPRESSION_NONE,
    MF_COMPRESSION_FP8,
    MF_COMPRESSION_BITNET,
    MF_COMPRESSION_GPTQ,
    MF_COMPRESSION_SCALED, /* compressed-tensors: whole numbers or f8 */
    MF_COMPRESSION_PACKED, /* compressed-tensors: several in an integer */
    MF_COMPRESSION_MODELOPT,
    MF_COMPRESSION_MXFP4, /* kept */
    MF_COMPRESSION_COUNT
};

#define MF_COMPRESSED_BLOCK 3 /* dimensions of a block at most */

struct mf_compressed {
    struct mf_env *env;
    const struct mf_recipe *recipe;
    enum mf_compression method;
    bool nvfp4;    /* weights that have blocks of it are kept so */
    bool mxfp4;    /* likewise: the family has rows for them */
    bool is_fp8;   /* SCALED: the weights are f8 */
    bool one_more; /* GPTQ: zeros are stored less one */
    unsigned bits;
    uint64_t group; /* of PACKED: columns that share a scale */
    uint32_t block_rank;
    uint64_t block[MF_COMPRESSED_BLOCK];
};

/* Reads quantization_config and hf_quant_config.json.  mxfp4: the family has
 * rows for its blocks. */
enum mf_status mf_compressed_open(struct mf_compressed *compressed,
                                  const struct mf_recipe *recipe, bool mxfp4);

/* What becomes of a tensor of the folder. */
enum mf_compressed_use {
    MF_COMPRESSED_PLAIN, /* it is what it is */
    MF_COMPRESSED_GONE,  /* it belongs to another one, or is not needed */
    MF_COMPRESSED_HERE,  /* weights: mf_compressed_node instead of it */
    MF_COMPRESSED_LATER, /* the same, after all others, by another name */
    MF_COMPRESSED_FIRST  /* blocks of 4 bits, before all others, likewise */
};

/* Whether some may be used so; for LATER and FIRST. */
bool mf_compressed_has(const struct mf_compressed *compressed,
                       enum mf_compressed_use use);

/* Fails where a tensor that belongs to it is missing. */
enum mf_status mf_compressed_use(const struct mf_compressed *compressed,
                                 size_t record, enum mf_compressed_use *out);

/* The end of the tensor's name, and what it becomes: ".qweight" and ".weight";
 * both empty where the name stays. */
struct mf_compressed_name {
    const char *from, *to;
};
struct mf_compressed_name
mf_compressed_name(const struct mf_compressed *compressed, size_t record);

/* NULL after mf_fail. */
const struct mf_derived *
mf_compressed_node(const struct mf_compressed *compressed,
                   const struct mf_derivation *derivation, size_t record);

/* Whether the weights were f8. */
bool mf_compressed_was_fp8(const struct mf_compressed *compressed,
                           size_t record);

/* ---- NVFP4 ---- */

/* The numbers that the blocks of a tensor are multiplied by, or its input is: 1
 * where the folder has none.  At most MF_COMPRESSED_SCALES; false after
 * mf_fail. */
#define MF_COMPRESSED_SCALES 64
struct mf_compressed_scales {
    size_t count;
    float value[MF_COMPRESSED_SCALES];
};
bool mf_compressed_scales(const struct mf_compressed *compressed,
                          const struct mf_derivation *derivation, size_t record,
                          bool of_input, struct mf_compressed_scales *out);

#endif
