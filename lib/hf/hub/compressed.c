/* SPDX-License-Identifier: MIT
 *
 * compressed.c - what quantization_config says, and what belongs to what
 */
#include "lib/hf/hub/compressed.h"

#include <stdio.h>

#include "lib/base/str.h"
#include "lib/folder/sidecar.h"

/* ---- quantization_config ---- */

static enum mf_status refuse(struct mf_env *env, const char *what,
                             struct mf_str value)
{
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "config.json: %s '%s' of quantization_config is not "
                   "supported",
                   what, mf_quote(value).text);
}

static enum mf_status refuse_key(struct mf_env *env, const char *key)
{
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "config.json: the value of '%s' in quantization_config is "
                   "not supported",
                   key);
}

static bool whole(const struct mf_node *node, int64_t low, int64_t high,
                  int64_t *out)
{
    return node && mf_node_is_int(node) && mf_node_int(node, out) &&
           *out >= low && *out <= high;
}

/* A list of sizes, or null; false where it is neither. */
static bool read_block(struct mf_compressed *compressed,
                       const struct mf_node *node)
{
    if (!node || node->kind == MF_NODE_NULL)
        return true;
    if (node->kind != MF_NODE_ARRAY || node->count == 0 ||
        node->count > MF_COMPRESSED_BLOCK)
        return false;
    for (const struct mf_node *size = node->first; size; size = size->next) {
        int64_t value;

        if (!whole(size, 1, INT32_MAX, &value))
            return false;
        compressed->block[compressed->block_rank++] = (uint64_t)value;
    }
    return true;
}

static enum mf_status read_fp8(struct mf_compressed *compressed,
                               const struct mf_node *config)
{
    return read_block(compressed, mf_node_at(config, "weight_block_size"))
               ? MF_OK
               : refuse_key(compressed->env, "weight_block_size");
}

static enum mf_status read_gptq(struct mf_compressed *compressed,
                                const struct mf_node *config)
{
    const struct mf_node *format = mf_node_at(config, "checkpoint_format");
    int64_t bits;

    /* The converter knows 3, and cannot decode it. */
    if (!whole(mf_node_at(config, "bits"), 2, 8, &bits) ||
        (bits != 2 && bits != 4 && bits != 8))
        return refuse_key(compressed->env, "bits");
    compressed->bits = (unsigned)bits;
    compressed->one_more = !format || mf_node_is(format, "gptq");
    return MF_OK;
}

static bool is_null(const struct mf_node *node)
{
    return !node || node->kind == MF_NODE_NULL;
}

static enum mf_status read_scaled(struct mf_compressed *compressed,
                                  const struct mf_node *weights, bool floats)
{
    const struct mf_node *strategy = mf_node_at(weights, "strategy");
    int64_t bits;

    if (!strategy ||
        (!mf_node_is(strategy, "channel") && !mf_node_is(strategy, "block")))
        return refuse_key(compressed->env, "config_groups.*.weights.strategy");
    if (!is_null(mf_node_at(weights, "group_size")))
        return refuse_key(compressed->env,
                          "config_groups.*.weights.group_size");
    if (!read_block(compressed, mf_node_at(weights, "block_structure")))
        return refuse_key(compressed->env,
                          "config_groups.*.weights.block_structure");
    compressed->method = MF_COMPRESSION_SCALED;
    compressed->is_fp8 = floats &&
                         mf_str_is(mf_node_text(weights, "type"), "float") &&
                         whole(mf_node_at(weights, "num_bits"), 8, 8, &bits);
    return MF_OK;
}

static enum mf_status read_packed(struct mf_compressed *compressed,
                                  const struct mf_node *weights)
{
    const struct mf_node *type = mf_node_at(weights, "type");
    int64_t bits, group;

    if (!mf_str_is(mf_node_text(weights, "strategy"), "group"))
        return refuse_key(compressed->env, "config_groups.*.weights.strategy");
    if (type && !mf_node_is(type, "int"))
        return refuse_key(compressed->env, "config_groups.*.weights.type");
    if (!whole(mf_node_at(weights, "num_bits"), 1, 8, &bits))
        return refuse_key(compressed->env, "config_groups.*.weights.num_bits");
    if (!whole(mf_node_at(weights, "group_size"), 1, INT32_MAX, &group))
        return refuse_key(compressed->env,
                          "config_groups.*.weights.group_size");
    compressed->method = MF_COMPRESSION_PACKED;
    compressed->bits = (unsigned)bits;
    compressed->group = (uint64_t)group;
    return MF_OK;
}

static enum mf_status read_tensors(struct mf_compressed *compressed,
                                   const struct mf_node *config)
{
    const struct mf_node *groups = mf_node_at(config, "config_groups");
    struct mf_str format = mf_node_text(config, "format");
    const struct mf_node *weights;
    bool floats = mf_str_is(format, "float-quantized");

    if (compressed->nvfp4) /* those blocks are all that there is */
        return MF_OK;
    if (!groups || groups->kind != MF_NODE_OBJECT || groups->count != 1)
        return refuse_key(compressed->env, "config_groups");
    weights = mf_node_at(groups->first, "weights");
    if (floats || mf_str_is(format, "int-quantized") ||
        mf_str_is(format, "naive-quantized"))
        return read_scaled(compressed, weights, floats);
    return mf_str_is(format, "pack-quantized")
               ? read_packed(compressed, weights)
               : refuse(compressed->env, "the format", format);
}

/* Whether all groups of compressed-tensors are of that format. */
static bool is_all(const struct mf_node *groups, const char *format)
{
    if (!groups || groups->kind != MF_NODE_OBJECT || groups->count == 0)
        return false;
    for (const struct mf_node *group = groups->first; group;
         group = group->next)
        if (group->kind == MF_NODE_OBJECT &&
            !mf_str_is(mf_node_text(group, "format"), format))
            return false;
    return true;
}

/* Names that end so are of weights in blocks of NVFP4. */
static bool ends_nvfp4(const struct mf_node *layers)
{
    if (!layers || layers->kind != MF_NODE_OBJECT)
        return false;
    for (const struct mf_node *layer = layers->first; layer;
         layer = layer->next)
        if (mf_str_ends(mf_node_text(layer, "quant_algo"), "NVFP4"))
            return true;
    return false;
}

/* The value in hf_quant_config.json, or else in config.json. */
static const struct mf_node *either(const struct mf_node *first,
                                    const struct mf_node *config,
                                    const char *key)
{
    const struct mf_node *node = mf_node_at(first, key);

    return node ? node : mf_node_at(config, key);
}

static bool keeps_nvfp4(const struct mf_node *config,
                        const struct mf_node *other, struct mf_str method)
{
    const struct mf_node *algo = either(other, config, "quant_algo");
    const struct mf_node *format = either(other, config, "format");
    bool tensors = mf_str_is(method, "compressed-tensors");

    if (algo && (mf_node_is(algo, "NVFP4") || mf_node_is(algo, "W4A16_NVFP4")))
        return true;
    if (tensors && format &&
        (mf_node_is(format, "nvfp4-pack-quantized") ||
         (mf_node_is(format, "mixed-precision") &&
          is_all(either(other, config, "config_groups"),
                 "nvfp4-pack-quantized"))))
        return true;
    return ends_nvfp4(either(other, config, "quantized_layers"));
}

static enum mf_status read_method(struct mf_compressed *compressed,
                                  const struct mf_node *config,
                                  struct mf_str method)
{
    static const struct {
        const char *name;
        enum mf_compression method;
        enum mf_status (*read)(struct mf_compressed *,
                               const struct mf_node *config);
    } methods[] = {
        { "fp8", MF_COMPRESSION_FP8, read_fp8 },
        { "bitnet", MF_COMPRESSION_BITNET, NULL },
        { "gptq", MF_COMPRESSION_GPTQ, read_gptq },
        { "compressed-tensors", MF_COMPRESSION_NONE, read_tensors },
        { "modelopt", MF_COMPRESSION_MODELOPT, NULL },
    };

    if (compressed->mxfp4 && mf_str_is(method, "mxfp4")) {
        compressed->method = MF_COMPRESSION_MXFP4;
        return MF_OK;
    }
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (mf_str_is(method, methods[i].name)) {
            compressed->method = methods[i].method;
            return methods[i].read ? methods[i].read(compressed, config)
                                   : MF_OK;
        }
    return refuse(compressed->env, "the method", method);
}

/* Others of modelopt have scales that no method here multiplies by, such as
 * scales of inputs that AWQ and SmoothQuant moved out of the weights. */
static enum mf_status check_algorithm(struct mf_compressed *compressed,
                                      const struct mf_node *algorithm)
{
    static const char *const known[] = {
        "FP8",   "FP8_PB_WO",   "FP8_PER_CHANNEL_PER_TOKEN",
        "NVFP4", "W4A16_NVFP4", "MIXED_PRECISION"
    };

    if (compressed->method != MF_COMPRESSION_MODELOPT || !algorithm ||
        algorithm->kind != MF_NODE_STRING)
        return MF_OK;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (mf_node_is(algorithm, known[i]))
            return MF_OK;
    return refuse(compressed->env, "the algorithm", algorithm->text);
}

/* The name of what made hf_quant_config.json, in lower case. */
static struct mf_str producer(struct mf_arena *arena,
                              const struct mf_node *file)
{
    struct mf_str name = mf_node_text(file, "producer.name");
    char *text = mf_arena_text(arena, name.size);

    for (size_t i = 0; text && i < name.size; i++)
        text[i] = (char)(name.at[i] >= 'A' && name.at[i] <= 'Z'
                             ? name.at[i] + ('a' - 'A')
                             : name.at[i]);
    return (struct mf_str){ text, text ? name.size : 0 };
}

enum mf_status mf_compressed_open(struct mf_compressed *compressed,
                                  const struct mf_recipe *recipe, bool mxfp4)
{
    const struct mf_node *config =
        mf_node_at(recipe->config, "quantization_config");
    struct mf_str method = mf_node_text(config, "quant_method");
    struct mf_node *file;

    *compressed = (struct mf_compressed){ .env = recipe->env,
                                          .recipe = recipe,
                                          .mxfp4 = mxfp4 };
    if (mf_sidecar_tree(recipe->model, recipe->arena, "hf_quant_config.json",
                        MF_SIDECAR_LIMIT, &file) != MF_OK)
        return recipe->env->error.status;
    if (!method.at && file)
        method = producer(recipe->arena, file);
    compressed->nvfp4 =
        keeps_nvfp4(config, mf_node_at(file, "quantization"), method);
    if (method.size > 0 && read_method(compressed, config, method) != MF_OK)
        return recipe->env->error.status;
    return check_algorithm(compressed, either(mf_node_at(file, "quantization"),
                                              config, "quant_algo"));
}
