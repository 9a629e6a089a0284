/* SPDX-License-Identifier: MIT
 *
 * tensor_steps.c - steps of a row that change tensors
 *
 * Dimensions are as in the Hugging Face model: the first one is the slowest.
 * A dimension is counted from the end where it is negative.  Numbers come from
 * config.json, so all of them are checked.
 */
#include "lib/hf/hub/tensors_work.h"

#include <assert.h>
#include <stdio.h>

#include "lib/hf/hub/pytorch.h"

typedef const struct mf_derived *node_step(struct mf_derivation *derive,
                                           const struct mf_tensor_step *step,
                                           const struct mf_derived *node);

static const struct mf_derived *misfit(const struct mf_derivation *derive,
                                       const struct mf_derived *node,
                                       const char *what, int64_t number)
{
    char shape[160] = "";
    size_t at = 0;

    for (uint32_t i = 0; i < node->rank; i++)
        at += (size_t)snprintf(shape + at, sizeof(shape) - at, "%s%" PRIu64,
                               i > 0 ? " x " : "", node->dim[i]);
    mf_fail(derive->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "tensor '%s' of %s elements does not fit the configuration: %s "
            "%" PRId64,
            mf_quote(derive->name).text, *shape ? shape : "1", what, number);
    return NULL;
}

/* False after mf_fail. */
static bool axis_of(const struct mf_derivation *derive,
                    const struct mf_derived *node, int64_t number,
                    uint32_t *out)
{
    int64_t axis = number < 0 ? number + node->rank : number;

    if (axis < 0 || axis >= node->rank) {
        misfit(derive, node, "there is no dimension", number);
        return false;
    }
    *out = (uint32_t)axis;
    return true;
}

/* ---- shapes ---- */

/* The dimension that is -1 is what is left of the elements. */
static bool fill_in(const struct mf_derivation *derive,
                    const struct mf_derived *node, uint64_t total,
                    const struct mf_tensor_step *step, uint64_t *dim)
{
    uint64_t known = 1;
    size_t open = SIZE_MAX;

    for (size_t i = 0; i < step->numbers; i++) {
        dim[i] = (uint64_t)step->number[i];
        if (step->number[i] == -1 && open == SIZE_MAX)
            open = i;
        else if (step->number[i] <= 0 || !mf_mul(known, dim[i], &known)) {
            misfit(derive, node, "a dimension cannot be", step->number[i]);
            return false;
        }
    }
    if (open != SIZE_MAX)
        dim[open] = total / known;
    else if (known != total)
        misfit(derive, node, "elements expected:", (int64_t)known);
    if (total % known != 0)
        misfit(derive, node, "not a multiple of", (int64_t)known);
    return total % known == 0 && (open != SIZE_MAX || known == total);
}

static node_step view, rows, flat, swap, squeeze, permute;

static const struct mf_derived *view(struct mf_derivation *derive,
                                     const struct mf_tensor_step *step,
                                     const struct mf_derived *node)
{
    uint64_t dim[MF_DERIVED_RANK];

    if (!fill_in(derive, node, node->count, step, dim))
        return NULL;
    return mf_derive_reshape(derive, node, (uint32_t)step->numbers, dim);
}

/* Only the first dimension becomes several. */
static const struct mf_derived *rows(struct mf_derivation *derive,
                                     const struct mf_tensor_step *step,
                                     const struct mf_derived *node)
{
    uint64_t dim[MF_DERIVED_RANK];
    size_t count = step->numbers;

    if (node->rank == 0 || count + node->rank - 1 > MF_DERIVED_RANK)
        return misfit(derive, node, "too many dimensions:", node->rank);
    if (!fill_in(derive, node, node->dim[0], step, dim))
        return NULL;
    memcpy(dim + count, node->dim + 1, (node->rank - 1) * sizeof(*dim));
    return mf_derive_reshape(derive, node, (uint32_t)count + node->rank - 1,
                             dim);
}

static const struct mf_derived *flat_of(struct mf_derivation *derive,
                                        const struct mf_derived *node,
                                        uint32_t count)
{
    uint64_t dim[MF_DERIVED_RANK] = { 1 };

    if (count > node->rank)
        return misfit(derive, node, "too few dimensions:", node->rank);
    for (uint32_t i = 0; i < count; i++)
        dim[0] *= node->dim[i]; /* fits: the node has so many elements */
    memcpy(dim + 1, node->dim + count, (node->rank - count) * sizeof(*dim));
    return mf_derive_reshape(derive, node, node->rank - count + 1, dim);
}

/* The first dimensions become one. */
static const struct mf_derived *flat(struct mf_derivation *derive,
                                     const struct mf_tensor_step *step,
                                     const struct mf_derived *node)
{
    assert(step->number[0] > 0 && step->number[0] <= MF_DERIVED_RANK);
    return flat_of(derive, node, (uint32_t)step->number[0]);
}

static const struct mf_derived *swap(struct mf_derivation *derive,
                                     const struct mf_tensor_step *step,
                                     const struct mf_derived *node)
{
    uint32_t a, b;

    if (!axis_of(derive, node, step->number[0], &a) ||
        !axis_of(derive, node, step->number[1], &b))
        return NULL;
    return mf_derive_swap(derive, node, a, b);
}

/* Without dimensions of 1, or without the one named where it is 1. */
static const struct mf_derived *squeeze(struct mf_derivation *derive,
                                        const struct mf_tensor_step *step,
                                        const struct mf_derived *node)
{
    uint64_t dim[MF_DERIVED_RANK];
    uint32_t rank = 0, axis = 0;

    if (step->numbers > 0 && !axis_of(derive, node, step->number[0], &axis))
        return NULL;
    for (uint32_t i = 0; i < node->rank; i++)
        if (node->dim[i] != 1 || (step->numbers > 0 && i != axis))
            dim[rank++] = node->dim[i];
    return mf_derive_reshape(derive, node, rank, dim);
}

/* Rows of each head from two halves to pairs, or back. */
static const struct mf_derived *permute(struct mf_derivation *derive,
                                        const struct mf_tensor_step *step,
                                        const struct mf_derived *node)
{
    bool back = step->kind == MF_STEP_UNPERMUTE;
    const struct mf_tensor_step heads = {
        .number = { step->number[0], back ? -1 : 2, back ? 2 : -1 },
        .numbers = 3
    };

    node = rows(derive, &heads, node);
    node = node ? mf_derive_swap(derive, node, 1, 2) : NULL;
    return node ? flat_of(derive, node, 3) : NULL;
}

/* ---- parts ---- */

static const struct mf_derived *slice_of(struct mf_derivation *derive,
                                         const struct mf_derived *node,
                                         uint32_t axis, uint64_t from,
                                         uint64_t count, uint64_t step)
{
    return mf_derive_slice(
        derive, node,
        (struct mf_derived_slice){
            .axis = axis, .from = from, .count = count, .step = step });
}

static node_step slice, pad, lead, repeat, add, mul, centre, neg_exp, log_neg;

/* As many as there are, at most those asked for; -1: all. */
static const struct mf_derived *slice(struct mf_derivation *derive,
                                      const struct mf_tensor_step *step,
                                      const struct mf_derived *node)
{
    int64_t from = step->number[1], count = step->number[2];
    uint32_t axis;
    uint64_t left;

    if (!axis_of(derive, node, step->number[0], &axis))
        return NULL;
    if (from < 0 || (uint64_t)from >= node->dim[axis] || count < -1 ||
        count == 0)
        return misfit(derive, node, "no part from", from);
    left = node->dim[axis] - (uint64_t)from;
    if (count > 0 && (uint64_t)count < left)
        left = (uint64_t)count;
    return left == node->dim[axis]
               ? node
               : slice_of(derive, node, axis, (uint64_t)from, left, 1);
}

/* Zeros after the others, up to so many. */
static const struct mf_derived *pad(struct mf_derivation *derive,
                                    const struct mf_tensor_step *step,
                                    const struct mf_derived *node)
{
    uint64_t dim[MF_DERIVED_RANK];
    const struct mf_derived *both[2] = { node, NULL };
    uint32_t axis;

    if (!axis_of(derive, node, step->number[0], &axis))
        return NULL;
    if (step->number[1] <= 0 || (uint64_t)step->number[1] <= node->dim[axis])
        return node;
    memcpy(dim, node->dim, sizeof(dim));
    dim[axis] = (uint64_t)step->number[1] - node->dim[axis];
    both[1] =
        mf_derive_zeros(derive, (enum mf_type)node->type, node->rank, dim);
    return both[1] ? mf_derive_join(derive, axis, both, 2) : NULL;
}

/* Zeros before the others. */
static const struct mf_derived *lead(struct mf_derivation *derive,
                                     const struct mf_tensor_step *step,
                                     const struct mf_derived *node)
{
    const struct mf_derived *both[2] = { NULL, node };
    uint64_t dim[MF_DERIVED_RANK];

    if (node->rank == 0 || step->number[0] < 0)
        return misfit(derive, node, "no rows before:", step->number[0]);
    if (step->number[0] == 0)
        return node;
    memcpy(dim, node->dim, sizeof(dim));
    dim[0] = (uint64_t)step->number[0];
    both[0] =
        mf_derive_zeros(derive, (enum mf_type)node->type, node->rank, dim);
    return both[0] ? mf_derive_join(derive, 0, both, 2) : NULL;
}

#define REPEAT_MAX 1024

/* So often, one after the other. */
static const struct mf_derived *repeat(struct mf_derivation *derive,
                                       const struct mf_tensor_step *step,
                                       const struct mf_derived *node)
{
    const struct mf_derived *all[REPEAT_MAX];
    int64_t count = step->number[0];

    if (node->rank == 0 || count < 1 || count > REPEAT_MAX)
        return misfit(derive, node, "it cannot be repeated so often:", count);
    for (int64_t i = 0; i < count; i++)
        all[i] = node;
    return mf_derive_join(derive, 0, all, (size_t)count);
}

static const struct mf_derived *add(struct mf_derivation *derive,
                                    const struct mf_tensor_step *step,
                                    const struct mf_derived *node)
{
    return mf_derive_map(derive, node, MF_MAP_ADD,
                         mf_node_real(step->value[0]));
}

/* Times 1 a tensor stays as it is, also in the proof of the way back; times -1
 * it has the same type. */
static const struct mf_derived *mul(struct mf_derivation *derive,
                                    const struct mf_tensor_step *step,
                                    const struct mf_derived *node)
{
    double factor = mf_node_real(step->value[0]);
    enum mf_type type = (enum mf_type)node->type;
    bool keeps = factor == -1 && (type == MF_TYPE_BF16 || type == MF_TYPE_F16);
    const struct mf_derived *product = node;

    if (factor != 1)
        product = mf_derive_map(derive, node, MF_MAP_MUL, factor);
    return product && keeps ? mf_derive_cast(derive, product, type) : product;
}

static const struct mf_derived *centre(struct mf_derivation *derive,
                                       const struct mf_tensor_step *step,
                                       const struct mf_derived *node)
{
    (void)step;
    if (node->rank != 1 || node->count == 0 || node->count > MF_CENTRE_MAX)
        return misfit(derive, node, "expected one dimension of 1 to",
                      MF_CENTRE_MAX);
    return mf_hub_centre(derive, node);
}

static const struct mf_derived *neg_exp(struct mf_derivation *derive,
                                        const struct mf_tensor_step *step,
                                        const struct mf_derived *node)
{
    (void)step;
    return mf_derive_map(derive, node, MF_MAP_NEG_EXP, 0);
}

static const struct mf_derived *log_neg(struct mf_derivation *derive,
                                        const struct mf_tensor_step *step,
                                        const struct mf_derived *node)
{
    (void)step;
    return mf_derive_map(derive, node, MF_MAP_LOG_NEG, 0);
}

/* ---- lists ---- */

/* Adds a part to the list; false after mf_fail. */
static bool add_part(struct mf_tensor_list *list, const struct mf_derived *node)
{
    assert(list->count < MF_TENSOR_LIST);
    list->node[list->count++] = node;
    return node != NULL;
}

/* Parts of the sizes given, which are all of it; -1: what is left. */
static bool split(struct mf_derivation *derive,
                  const struct mf_tensor_step *step,
                  const struct mf_derived *node, struct mf_tensor_list *out)
{
    const struct mf_tensor_step sizes = {
        .number = { step->number[1], step->number[2], step->number[3],
                    step->number[4], step->number[5] },
        .numbers = step->numbers - 1
    };
    uint64_t at = 0, left;
    uint32_t axis;

    if (!axis_of(derive, node, step->number[0], &axis))
        return false;
    left = node->dim[axis];
    for (size_t i = 0; i < sizes.numbers; i++) {
        int64_t size = sizes.number[i];

        if (size != -1 && (size <= 0 || (uint64_t)size > left)) {
            misfit(derive, node, "no part of", size);
            return false;
        }
        left -= size == -1 ? 0 : (uint64_t)size;
    }
    for (size_t i = 0; i < sizes.numbers; i++) {
        bool rest = sizes.number[i] == -1;
        uint64_t size = rest ? left : (uint64_t)sizes.number[i];

        left -= rest ? left : 0;
        if (size == 0) {
            misfit(derive, node, "no part of", 0);
            return false;
        }
        if (!add_part(out, slice_of(derive, node, axis, at, size, 1)))
            return false;
        at += size;
    }
    if (left > 0)
        misfit(derive, node, "too many elements:", (int64_t)left);
    return left == 0;
}

/* Equal parts; dealt: each takes every nth. */
static bool parts(struct mf_derivation *derive,
                  const struct mf_tensor_step *step,
                  const struct mf_derived *node, struct mf_tensor_list *out)
{
    uint64_t count = (uint64_t)step->number[1], size;
    bool dealt = step->kind == MF_STEP_DEAL;
    uint32_t axis;

    assert(count > 0 && count <= MF_TENSOR_LIST);
    if (!axis_of(derive, node, step->number[0], &axis))
        return false;
    size = node->dim[axis] / count;
    if (node->dim[axis] % count != 0 || size == 0) {
        misfit(derive, node, "parts that are not equal:", (int64_t)count);
        return false;
    }
    for (uint64_t i = 0; i < count; i++)
        if (!add_part(out, slice_of(derive, node, axis, dealt ? i : i * size,
                                    size, dealt ? count : 1)))
            return false;
    return true;
}

/* What a checkpoint has of blocks of MXFP4: packed numbers, and scales. */
static bool unblock(struct mf_derivation *derive,
                    const struct mf_tensor_step *step,
                    const struct mf_derived *node, struct mf_tensor_list *out)
{
    (void)step;
    return add_part(out, mf_derive_mxfp4_packed(derive, node)) &&
           add_part(out, mf_derive_mxfp4_scales(derive, node));
}

typedef bool cut_step(struct mf_derivation *derive,
                      const struct mf_tensor_step *step,
                      const struct mf_derived *node,
                      struct mf_tensor_list *out);

static cut_step *const cut_steps[MF_STEP_COUNT] = {
    [MF_STEP_SPLIT] = split,
    [MF_STEP_PARTS] = parts,
    [MF_STEP_DEAL] = parts,
    [MF_STEP_UNBLOCK] = unblock,
};

static bool cut(struct mf_derivation *derive, const struct mf_tensor_step *step,
                struct mf_tensor_list *list)
{
    struct mf_tensor_list out = { .count = 0 };

    for (size_t i = 0; i < list->count; i++) {
        if (step->only > 0 && step->only != i + 1) {
            add_part(&out, list->node[i]);
            continue;
        }
        if (!cut_steps[step->kind](derive, step, list->node[i], &out))
            return false;
    }
    *list = out;
    return true;
}

/* All of the list, or the first ones. */
static bool join(struct mf_derivation *derive,
                 const struct mf_tensor_step *step, struct mf_tensor_list *list)
{
    size_t count = step->numbers > 1 ? (size_t)step->number[1] : list->count;
    uint32_t axis;

    assert(count > 0 && count <= list->count);
    if (!axis_of(derive, list->node[0], step->number[0], &axis))
        return false;
    list->node[0] = mf_derive_join(derive, axis, list->node, count);
    memmove(list->node + 1, list->node + count,
            (list->count - count) * sizeof(*list->node));
    list->count -= count - 1;
    return list->node[0] != NULL;
}

/* ---- all steps ---- */

static node_step *const node_steps[MF_STEP_COUNT] = {
    [MF_STEP_PERMUTE] = permute, [MF_STEP_UNPERMUTE] = permute,
    [MF_STEP_ROWS] = rows,       [MF_STEP_FLAT] = flat,
    [MF_STEP_VIEW] = view,       [MF_STEP_SWAP] = swap,
    [MF_STEP_SQUEEZE] = squeeze, [MF_STEP_SLICE] = slice,
    [MF_STEP_PAD] = pad,         [MF_STEP_ADD] = add,
    [MF_STEP_MUL] = mul,         [MF_STEP_REPEAT] = repeat,
    [MF_STEP_CENTRE] = centre,   [MF_STEP_NEG_EXP] = neg_exp,
    [MF_STEP_LOG_NEG] = log_neg, [MF_STEP_LEAD] = lead,
};

bool mf_tensor_step_is_local(const struct mf_tensor_step *step)
{
    return node_steps[step->kind] || cut_steps[step->kind] ||
           step->kind == MF_STEP_JOIN;
}

enum mf_status mf_tensor_step_run(struct mf_derivation *derive,
                                  const struct mf_tensor_step *step,
                                  struct mf_tensor_list *list)
{
    bool done = true;

    if (cut_steps[step->kind])
        done = cut(derive, step, list);
    else if (step->kind == MF_STEP_JOIN)
        done = join(derive, step, list);
    else
        for (size_t i = 0; i < list->count && done; i++) {
            if (step->only > 0 && step->only != i + 1)
                continue;
            list->node[i] = node_steps[step->kind](derive, step, list->node[i]);
            done = list->node[i] != NULL;
        }
    return done ? MF_OK : derive->env->error.status;
}
