/* SPDX-License-Identifier: MIT
 *
 * compressed_node.c - weights of a compressed checkpoint as nodes
 */
#include <math.h>

#include "lib/base/little.h"
#include "lib/hf/hub/compressed_parts.h"

/* ---- tensors ---- */

static const struct mf_derived *tensor(const struct mf_compressed *compressed,
                                       const struct mf_derivation *d,
                                       size_t record)
{
    return mf_recipe_tensor(compressed->recipe, d, record);
}

/* The tensor whose name differs in its end only; NULL after mf_fail. */
static const struct mf_derived *beside(const struct mf_compressed *compressed,
                                       const struct mf_derivation *d,
                                       size_t record, const char *from,
                                       const char *to)
{
    size_t found = mf_compressed_find(compressed, record, from, to);

    if (found != MF_NOT_FOUND)
        return tensor(compressed, d, found);
    mf_fail(d->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "tensor '%s' cannot be decoded: its tensor '*%s' is missing",
            mf_quote(d->name).text, to);
    return NULL;
}

static const struct mf_derived *misfit(const struct mf_derivation *d,
                                       const char *what)
{
    mf_fail(d->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "tensor '%s' cannot be decoded: %s", mf_quote(d->name).text, what);
    return NULL;
}

/* With dimensions of 1 after the others, or before them. */
static const struct mf_derived *widen(const struct mf_derivation *d,
                                      const struct mf_derived *node,
                                      uint32_t rank, bool before)
{
    uint64_t dim[MF_DERIVED_RANK];

    if (node->rank > rank)
        return misfit(d, "its scales have more dimensions than it has");
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = 1;
    memcpy(dim + (before ? rank - node->rank : 0), node->dim,
           node->rank * sizeof(*dim));
    return mf_derive_reshape(d, node, rank, dim);
}

/* ---- weights with one tensor of scales ---- */

/* How many weights share a scale in each dimension: what the config says, else
 * one, or all where there is one scale. */
static void set_blocks(const struct mf_compressed *compressed,
                       struct mf_scaling *how)
{
    uint32_t rank = how->weight->rank;

    for (uint32_t i = 0; i < rank; i++) {
        uint32_t back = rank - i; /* 1 for the last dimension */

        how->block[i] = how->scale->dim[i] == 1 ? 0 : 1;
        if (back <= compressed->block_rank)
            how->block[i] = compressed->block[compressed->block_rank - back];
    }
}

static const struct mf_derived *scaled(const struct mf_compressed *compressed,
                                       const struct mf_derivation *d,
                                       size_t record)
{
    struct mf_scaling how = { .weight = tensor(compressed, d, record) };
    const struct mf_derived *scale =
        how.weight
            ? tensor(compressed, d, mf_compressed_scale(compressed, record))
            : NULL;

    if (!scale)
        return NULL;
    if (compressed->block_rank > 0 && (scale->rank != how.weight->rank ||
                                       compressed->block_rank > scale->rank))
        return misfit(d, "its scales have other dimensions than its blocks");
    how.scale = widen(d, scale, how.weight->rank, false);
    if (!how.scale)
        return NULL;
    set_blocks(compressed, &how);
    return mf_derive_scaled(d, &how);
}

/* ---- bitnet ---- */

/* Four numbers in a byte: each is of another quarter of the rows. */
static const struct mf_derived *bitnet(const struct mf_compressed *compressed,
                                       const struct mf_derivation *d,
                                       size_t record)
{
    const struct mf_derived *node = tensor(compressed, d, record);
    const struct mf_derived *scale =
        node ? tensor(compressed, d, mf_compressed_scale(compressed, record))
             : NULL;
    struct mf_scaling how = { .zero_shift = 1, .divide = true };
    uint64_t dim[2];

    if (!scale)
        return NULL;
    if (node->rank != 2)
        return misfit(d, "it is not a matrix");
    if (!mf_mul(node->dim[0], 4, &dim[0]))
        return misfit(d, "it is too large");
    dim[1] = node->dim[1];
    node = mf_derive_unpack(d, node, 2, 4);
    node = node ? mf_derive_swap(d, node, 0, 2) : NULL;
    node = node ? mf_derive_swap(d, node, 1, 2) : NULL;
    how.weight = node ? mf_derive_reshape(d, node, 2, dim) : NULL;
    how.scale = how.weight ? widen(d, scale, 2, true) : NULL;
    if (!how.scale)
        return NULL;
    for (size_t i = 0; i < 2; i++)
        how.block[i] = how.scale->dim[i] == 1 ? 0 : 1;
    return mf_derive_scaled(d, &how);
}

/* ---- GPTQ ---- */

static bool is_matrix(const struct mf_derived *node, enum mf_type type)
{
    return node->rank == 2 && node->type == type;
}

/* Its weights: [in / n, out] integers of n numbers become [out, in]. */
static const struct mf_derived *gptq_weight(const struct mf_derivation *d,
                                            const struct mf_derived *node,
                                            unsigned bits, uint64_t in)
{
    uint64_t dim[2] = { node->dim[1], in };

    node = mf_derive_unpack(d, node, bits, 32 / bits);
    node = node ? mf_derive_swap(d, node, 0, 1) : NULL;
    return node ? mf_derive_reshape(d, node, 2, dim) : NULL;
}

/* Its zeros: [groups, out / n] become [out, groups]. */
static const struct mf_derived *gptq_zero(const struct mf_derivation *d,
                                          const struct mf_derived *node,
                                          unsigned bits,
                                          const struct mf_derived *scale)
{
    node = mf_derive_unpack(d, node, bits, 32 / bits);
    node = node ? mf_derive_reshape(d, node, 2, scale->dim) : NULL;
    return node ? mf_derive_swap(d, node, 0, 1) : NULL;
}

static const struct mf_derived *gptq(const struct mf_compressed *compressed,
                                     const struct mf_derivation *d,
                                     size_t record)
{
    static const char end[] = ".qweight";
    const struct mf_derived *weight = tensor(compressed, d, record);
    const struct mf_derived *zero, *scale, *place;
    struct mf_scaling how = { .block = { 1, 1 } };

    zero = weight ? beside(compressed, d, record, end, ".qzeros") : NULL;
    scale = zero ? beside(compressed, d, record, end, ".scales") : NULL;
    place = scale ? beside(compressed, d, record, end, ".g_idx") : NULL;
    if (!place)
        return NULL;
    if (!is_matrix(weight, MF_TYPE_I32) || !is_matrix(zero, MF_TYPE_I32) ||
        scale->rank != 2 || place->rank != 1)
        return misfit(d, "its parts are not matrices of integers");
    how.weight = gptq_weight(d, weight, compressed->bits, place->count);
    how.zero = how.weight ? gptq_zero(d, zero, compressed->bits, scale) : NULL;
    how.scale = how.zero ? mf_derive_swap(d, scale, 0, 1) : NULL;
    if (!how.scale)
        return NULL;
    how.zero_shift = compressed->one_more ? 1 : 0;
    how.place = place;
    return mf_derive_scaled(d, &how);
}

/* ---- compressed-tensors, packed ---- */

/* The two numbers of the tensor that has the shape. */
static bool read_shape(const struct mf_derivation *d,
                       const struct mf_derived *node, uint64_t dim[2])
{
    size_t size = mf_types[node->type].bytes;
    struct mf_source source;
    uint8_t bytes[16] = { 0 };

    if (node->count != 2 ||
        (node->type != MF_TYPE_I64 && node->type != MF_TYPE_I32)) {
        misfit(d, "its shape is not two integers");
        return false;
    }
    mf_derived_open(node, "shape", &source);
    if (mf_source_read(d->env, &source, 0, bytes, 2 * size) != MF_OK)
        return false;
    for (size_t i = 0; i < 2; i++) {
        dim[i] = 0;
        for (size_t k = 0; k < size; k++)
            dim[i] |= (uint64_t)bytes[i * size + k] << 8 * k;
    }
    return true;
}

/* Integers of several numbers each; count of them, after the other. */
static const struct mf_derived *pack_row(const struct mf_derivation *d,
                                         const struct mf_derived *node,
                                         unsigned bits, uint64_t count)
{
    uint64_t dim[2] = { node->dim[0], node->dim[1] };
    struct mf_derived_slice slice = { .axis = 1, .count = count };

    if (!mf_mul(dim[1], 32 / bits, &dim[1]))
        return misfit(d, "it is too large");
    node = mf_derive_unpack(d, node, bits, 32 / bits);
    node = node ? mf_derive_reshape(d, node, 2, dim) : NULL;
    return node ? mf_derive_slice(d, node, slice) : NULL;
}

/* Zeros, of which those of neighbouring rows share an integer. */
static const struct mf_derived *pack_zero(const struct mf_derivation *d,
                                          const struct mf_derived *node,
                                          unsigned bits, uint64_t rows)
{
    uint64_t dim[2] = { node->dim[0], node->dim[1] };
    struct mf_derived_slice slice = { .axis = 0, .count = rows };

    if (!is_matrix(node, MF_TYPE_I32))
        return misfit(d, "its zeros are not a matrix of integers");
    if (!mf_mul(dim[0], 32 / bits, &dim[0]))
        return misfit(d, "it is too large");
    node = mf_derive_unpack(d, node, bits, 32 / bits);
    node = node ? mf_derive_swap(d, node, 1, 2) : NULL;
    node = node ? mf_derive_reshape(d, node, 2, dim) : NULL;
    return node ? mf_derive_slice(d, node, slice) : NULL;
}

static const struct mf_derived *packed(const struct mf_compressed *compressed,
                                       const struct mf_derivation *d,
                                       size_t record)
{
    static const char end[] = ".weight_packed";
    const struct mf_derived *node = tensor(compressed, d, record);
    const struct mf_derived *scale =
        node ? beside(compressed, d, record, end, ".weight_scale") : NULL;
    const struct mf_derived *shape =
        scale ? beside(compressed, d, record, end, ".weight_shape") : NULL;
    size_t zero =
        mf_compressed_find(compressed, record, end, ".weight_zero_point");
    struct mf_scaling how = { .scale = scale };
    uint64_t dim[2];

    if (!shape || !read_shape(d, shape, dim))
        return NULL;
    if (!is_matrix(node, MF_TYPE_I32) || node->dim[0] != dim[0] ||
        dim[1] % compressed->group != 0 || scale->rank != 2)
        return misfit(d, "its parts do not fit its shape");
    how.weight = pack_row(d, node, compressed->bits, dim[1]);
    if (!how.weight)
        return NULL;
    how.block[0] = scale->dim[0] == 1 ? 0 : 1;
    how.block[1] = scale->dim[1] == 1 ? 0 : compressed->group;
    how.zero_shift = (float)(1U << (compressed->bits - 1));
    if (zero == MF_NOT_FOUND)
        return mf_derive_scaled(d, &how);
    how.zero_shift = 0;
    node = tensor(compressed, d, zero);
    how.zero = node ? pack_zero(d, node, compressed->bits, dim[0]) : NULL;
    return how.zero ? mf_derive_scaled(d, &how) : NULL;
}

/* ---- blocks of 4 bits ---- */

static const struct mf_derived *mxfp4(const struct mf_compressed *compressed,
                                      const struct mf_derivation *d,
                                      size_t record)
{
    const struct mf_derived *node = tensor(compressed, d, record);
    const struct mf_derived *scale =
        node ? beside(compressed, d, record, "_blocks", "_scales") : NULL;

    return scale ? mf_derive_mxfp4(d, node, scale) : NULL;
}

static const struct mf_derived *nvfp4(const struct mf_compressed *compressed,
                                      const struct mf_derivation *d,
                                      size_t record)
{
    struct mf_compressed_name name = mf_compressed_name(compressed, record);
    const char *end = *name.from ? name.from : ".weight";
    const struct mf_derived *node = tensor(compressed, d, record);
    const struct mf_derived *scale =
        node ? beside(compressed, d, record, end, ".weight_scale") : NULL;

    return scale ? mf_derive_nvfp4(d, node, scale) : NULL;
}

/* The values of a tensor of floats, or one over them. */
static bool read_scales(const struct mf_derivation *d,
                        const struct mf_derived *node, bool inverse,
                        struct mf_compressed_scales *out)
{
    struct mf_source source;

    if (node && node->count > MF_COMPRESSED_SCALES) {
        misfit(d, "it has too many scales for all of it");
        return false;
    }
    node = node ? mf_derive_cast(d, node, MF_TYPE_F32) : NULL;
    if (!node)
        return false;
    out->count = (size_t)node->count;
    mf_derived_open(node, "scale", &source);
    if (mf_source_read(d->env, &source, 0, out->value, (size_t)source.size) !=
        MF_OK)
        return false;
    mf_order_floats(out->value, out->count);
    for (size_t i = 0; i < out->count; i++)
        if (inverse)
            out->value[i] = 1 / out->value[i];
    return true;
}

bool mf_compressed_scales(const struct mf_compressed *compressed,
                          const struct mf_derivation *d, size_t record,
                          bool of_input, struct mf_compressed_scales *out)
{
    static const struct {
        const char *from, *to;
        bool input, inverse;
    } ends[] = {
        { ".weight", ".weight_scale_2", false, false },
        { ".weight", ".input_scale", true, false },
        { ".weight_packed", ".weight_scale_2", false, false },
        { ".weight_packed", ".input_scale", true, false },
        { ".weight_packed", ".weight_global_scale", false, true },
        { ".weight_packed", ".input_global_scale", true, true },
    };

    out->count = 1;
    out->value[0] = 1;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        size_t found = ends[i].input == of_input
                           ? mf_compressed_find(compressed, record,
                                                ends[i].from, ends[i].to)
                           : MF_NOT_FOUND;

        if (found != MF_NOT_FOUND)
            return read_scales(d, tensor(compressed, d, found), ends[i].inverse,
                               out);
    }
    return true;
}

/* ---- weights ---- */

const struct mf_derived *
mf_compressed_node(const struct mf_compressed *compressed,
                   const struct mf_derivation *d, size_t record)
{
    enum mf_compressed_use use;

    if (mf_compressed_use(compressed, record, &use) != MF_OK)
        return NULL;
    if (use == MF_COMPRESSED_FIRST)
        return mf_compressed_find(compressed, record, "_blocks", "_scales") ==
                       MF_NOT_FOUND
                   ? nvfp4(compressed, d, record)
                   : mxfp4(compressed, d, record);
    switch (compressed->method) {
    case MF_COMPRESSION_BITNET:
        return bitnet(compressed, d, record);
    case MF_COMPRESSION_GPTQ:
        return gptq(compressed, d, record);
    case MF_COMPRESSION_PACKED:
        return packed(compressed, d, record);
    default:
        return scaled(compressed, d, record);
    }
}
