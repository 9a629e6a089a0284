/* SPDX-License-Identifier: MIT
 *
 * decode.c - a compressed checkpoint's weights as floats, under their own names
 */
#include "lib/hf/hub/decode.h"

#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/hub/compressed_parts.h"

struct decoding {
    struct mf_draft *draft;
    struct mf_derivation derive;
    struct mf_recipe recipe;
    struct mf_compressed compressed;
    bool found;
};

static enum mf_status failed(const struct decoding *work)
{
    return work->draft->env->error.status;
}

static struct mf_str name_of(const struct mf_model *model, size_t record)
{
    const struct mf_record *tensor = &model->index.tensor[record];

    return (struct mf_str){ tensor->name, tensor->name_size };
}

/* ---- config.json ---- */

static struct mf_node *member(struct mf_node *object, const char *key)
{
    struct mf_node *node = object ? object->first : NULL;

    while (node && !mf_str_is(node->key, key))
        node = node->next;
    return node;
}

/* The object that has quantization_config: all of the file, or the part about
 * text of a model for images, too. */
static enum mf_status open(struct decoding *work, const struct mf_model *model)
{
    struct mf_recipe *recipe = &work->recipe;
    struct mf_node *file, *text;

    *recipe = (struct mf_recipe){ .env = model->env,
                                  .arena = &work->draft->arena,
                                  .model = model };
    if (mf_derivation_init(&work->derive, model->env, recipe->arena) != MF_OK ||
        mf_sidecar_tree(model, recipe->arena, "config.json", MF_SIDECAR_LIMIT,
                        &file) != MF_OK)
        return failed(work);
    text = member(file, "text_config");
    recipe->config = text && !member(file, "quantization_config") &&
                             member(text, "quantization_config")
                         ? text
                         : file;
    if (mf_compressed_open(&work->compressed, recipe, true) != MF_OK)
        return failed(work);
    work->compressed.mxfp4 = work->compressed.method == MF_COMPRESSION_MXFP4;
    return MF_OK;
}

/* ---- weights ---- */

/* Blocks of NVFP4 have one more scale for all of them. */
static const struct mf_derived *
scale_blocks(const struct mf_compressed *compressed,
             const struct mf_derivation *d, size_t record,
             const struct mf_derived *node)
{
    struct mf_compressed_scales scales;

    if (!mf_compressed_scales(compressed, d, record, false, &scales))
        return NULL;
    if (scales.count != 1) {
        mf_fail(d->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "tensor '%s' cannot be decoded: %zu scales for all its blocks "
                "are not supported",
                mf_quote(d->name).text, scales.count);
        return NULL;
    }
    return mf_derive_map(d, node, MF_MAP_MUL, (double)scales.value[0]);
}

const struct mf_derived *
mf_compressed_floats(const struct mf_compressed *compressed,
                     const struct mf_derivation *d, size_t record)
{
    const struct mf_derived *node = mf_compressed_node(compressed, d, record);

    if (!node || !mf_type_is_quantized((enum mf_type)node->type))
        return node;
    if (node->type == MF_TYPE_MXFP4)
        return mf_derive_decoded(d, node);
    node = mf_derive_decoded(d, node);
    return node ? scale_blocks(compressed, d, record, node) : NULL;
}

/* ---- scales that nothing explains ---- */

static const struct {
    const char *end, *scale;
} scaled[] = {
    { "", "_scale_inv" },
    { ".weight", ".weight_scale" },
    { ".weight", ".qscale_weight" },
    { ".weight_packed", ".weight_scale" },
    { ".qweight", ".scales" },
    { "_blocks", "_scales" },
    { ".weight", ".SCB" },
    { "", ".absmax" },
};

static bool is_float(enum mf_type type)
{
    return type == MF_TYPE_F32 || type == MF_TYPE_F16 || type == MF_TYPE_BF16 ||
           type == MF_TYPE_F64;
}

/* Without its scales a weight would have other values. */
static enum mf_status check_plain(const struct decoding *work, size_t record)
{
    const struct mf_model *model = work->recipe.model;
    size_t scale = MF_NOT_FOUND;

    if (is_float((enum mf_type)model->index.tensor[record].type))
        return MF_OK;
    for (size_t i = 0;
         i < sizeof(scaled) / sizeof(*scaled) && scale == MF_NOT_FOUND; i++)
        scale = mf_compressed_find(&work->compressed, record, scaled[i].end,
                                   scaled[i].scale);
    return scale == MF_NOT_FOUND
               ? MF_OK
               : mf_fail(model->env, MF_ERR_UNSUPPORTED,
                         model->index.tensor[record].entry,
                         "tensor '%s' cannot be decoded: it has scales, '%s', "
                         "and no quantization_config in config.json explains "
                         "them",
                         mf_quote(name_of(model, record)).text,
                         mf_quote(name_of(model, scale)).text);
}

/* ---- all tensors ---- */

/* The tensor's name, without what says that it is compressed. */
static enum mf_status set_name(struct decoding *work, size_t record,
                               enum mf_compressed_use use, struct mf_str *out)
{
    static const char blocks[] = "_blocks";
    struct mf_str name = name_of(work->recipe.model, record);
    struct mf_compressed_name end = { "", "" };
    size_t size;
    char *text;

    *out = name;
    if (use == MF_COMPRESSED_LATER || use == MF_COMPRESSED_FIRST)
        end = mf_compressed_name(&work->compressed, record);
    if (use == MF_COMPRESSED_FIRST && !*end.from && mf_str_ends(name, blocks))
        end.from = blocks;
    if (!*end.from)
        return MF_OK;
    size = name.size - strlen(end.from);
    text = mf_arena_text(work->recipe.arena, size + strlen(end.to));
    if (!text)
        return failed(work);
    memcpy(text, name.at, size);
    strcpy(text + size, end.to);
    *out = (struct mf_str){ text, size + strlen(end.to) };
    if (mf_names_find(&work->recipe.model->index.tensor_names, *out) ==
        MF_NOT_FOUND)
        return MF_OK;
    return mf_fail(work->draft->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                   "tensor '%s' would be decoded as '%s', which is there, too",
                   mf_quote(name).text, mf_quote(*out).text);
}

/* Experts of gpt-oss: transformers has the matrices of their floats in the
 * other direction. */
static const struct mf_derived *turn(const struct mf_derivation *d,
                                     const struct mf_derived *node)
{
    return node && node->rank == 3 ? mf_derive_swap(d, node, 1, 2) : node;
}

static enum mf_status add(struct decoding *work, size_t record)
{
    const struct mf_compressed *compressed = &work->compressed;
    const struct mf_derived *node;
    enum mf_compressed_use use;
    struct mf_str name;

    if (mf_compressed_use(compressed, record, &use) != MF_OK ||
        set_name(work, record, use, &name) != MF_OK)
        return failed(work);
    work->found = work->found || use != MF_COMPRESSED_PLAIN;
    if (use == MF_COMPRESSED_GONE)
        return MF_OK;
    if (use == MF_COMPRESSED_PLAIN && check_plain(work, record) != MF_OK)
        return failed(work);
    work->derive.name = name;
    if (use == MF_COMPRESSED_PLAIN)
        node = mf_derive_tensor(&work->derive, work->recipe.model, record);
    else
        node = mf_compressed_floats(compressed, &work->derive, record);
    if (use == MF_COMPRESSED_FIRST &&
        mf_compressed_find(compressed, record, "_blocks", "_scales") !=
            MF_NOT_FOUND)
        node = turn(&work->derive, node);
    return node ? mf_derived_add(work->draft, name, node,
                                 (enum mf_type)node->type)
                : failed(work);
}

enum mf_status mf_hub_decode(struct mf_draft *draft,
                             const struct mf_model *model, bool *found)
{
    struct decoding work = { .draft = draft };
    enum mf_status status = open(&work, model);

    for (size_t i = 0; i < model->index.tensor_count && status == MF_OK; i++)
        status = add(&work, i);
    *found = status == MF_OK && work.found;
    if (!*found)
        draft->tensor_count = 0;
    return status;
}
