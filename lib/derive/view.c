/* SPDX-License-Identifier: MIT
 *
 * view.c - makes views: reshape, swap, slice
 *
 * A view of a view is a view of the node below where that is possible: only
 * dimensions whose elements are apart in memory cannot be made one, and then
 * the view is read through the other.
 */
#include <assert.h>

#include "lib/derive/node.h"

/* A view while it is made: all of its dimensions. */
struct layout {
    const struct mf_derived *below;
    uint64_t offset;
    struct mf_shape shape;
    uint64_t stride[MF_DERIVED_RANK];
};

static bool is_plain(const struct mf_derived *node, size_t *record)
{
    const struct mf_derived_view *view = (const struct mf_derived_view *)node;

    return view->offset == 0 && node->count == view->below->count &&
           (view->rank == 0 ||
            (view->rank == 1 && view->axis[0].stride == 1)) &&
           mf_derived_is_plain(view->below, record);
}

static const struct mf_derived_ops view_ops = { MF_DERIVED_VIEW, mf_view_read,
                                                is_plain };

/* The strides of a shape whose elements are one after the other. */
static void pack(struct layout *layout)
{
    uint64_t stride = 1;

    for (uint32_t i = layout->shape.rank; i-- > 0;) {
        layout->stride[i] = stride;
        stride *= layout->shape.dim[i]; /* at most the elements of a node */
    }
}

/* A view's dimensions with their strides, to be changed. */
static struct layout layout_of(const struct mf_derived *node)
{
    struct layout layout = { .below = node, .shape = mf_derived_shape(node) };
    const struct mf_derived_view *view = (const struct mf_derived_view *)node;
    uint32_t axis = 0;
    uint64_t left = 1, stride = 0;

    if (node->ops != &view_ops || node->count == 0) {
        pack(&layout);
        return layout;
    }
    /* An axis is one dimension or several: from the last to the first. */
    layout.below = view->below;
    layout.offset = view->offset;
    axis = view->rank;
    for (uint32_t i = node->rank; i-- > 0;) {
        if (node->dim[i] == 1) {
            layout.stride[i] = 1;
            continue;
        }
        if (left == 1) {
            axis--;
            left = view->axis[axis].count;
            stride = view->axis[axis].stride;
        }
        layout.stride[i] = stride;
        stride *= node->dim[i];
        left /= node->dim[i];
    }
    return layout;
}

/* Dimensions of more than one place; neighbours that are one are put together.
 * Returns how many. */
static uint32_t simplify(const struct layout *layout, struct mf_axis *axis)
{
    uint32_t rank = 0;

    for (uint32_t i = 0; i < layout->shape.rank; i++) {
        uint64_t count = layout->shape.dim[i], stride = layout->stride[i];

        if (count == 1)
            continue;
        if (rank > 0 && axis[rank - 1].stride == count * stride) {
            axis[rank - 1].count *= count;
            axis[rank - 1].stride = stride;
        } else {
            axis[rank++] = (struct mf_axis){ count, stride };
        }
    }
    return rank;
}

static const struct mf_derived *make(const struct mf_derivation *d,
                                     const struct layout *layout)
{
    struct mf_axis axis[MF_DERIVED_RANK];
    uint32_t rank = simplify(layout, axis);
    struct mf_derived_view *view =
        mf_derived_new(d, sizeof(*view) + rank * sizeof(*axis), &view_ops,
                       (enum mf_type)layout->below->type, &layout->shape);

    if (!view || !mf_derived_above(d, &view->node, layout->below))
        return NULL;
    view->below = layout->below;
    view->offset = layout->offset;
    view->rank = rank;
    memcpy(view->axis, axis, rank * sizeof(*axis));
    mf_derived_note(&view->node, view->below->print);
    mf_derived_note(&view->node, view->offset);
    for (uint32_t i = 0; i < rank; i++) {
        mf_derived_note(&view->node, axis[i].count);
        mf_derived_note(&view->node, axis[i].stride);
    }
    return &view->node;
}

/* Blocks of several elements are not taken apart. */
static bool in_blocks(const struct mf_derivation *d,
                      const struct mf_derived *node, bool rows)
{
    uint64_t block = mf_types[node->type].block;

    if (block == 1 || (rows && node->dim[node->rank - 1] % block == 0))
        return false;
    mf_derived_misfit(d, node, "elements of the type %s cannot be reordered",
                      mf_types[node->type].name);
    return true;
}

/* Gives each new dimension its stride, where new and old dimensions can be
 * paired group by group, such that the dimensions of an old group are one in
 * memory. */
static bool regroup(const struct layout *old, struct layout *out)
{
    struct mf_axis axis[MF_DERIVED_RANK];
    uint32_t rank = simplify(old, axis), i = out->shape.rank;

    while (i > 0 || rank > 0) {
        uint64_t left = rank > 0 ? axis[rank - 1].count : 1;
        uint64_t stride = rank > 0 ? axis[rank - 1].stride : 1;

        if (rank > 0)
            rank--;
        else if (i > 0 && out->shape.dim[i - 1] != 1)
            return false;
        do {
            if (i == 0)
                return left == 1;
            if (left % out->shape.dim[i - 1] != 0)
                return false;
            i--;
            out->stride[i] = stride;
            stride *= out->shape.dim[i];
            left /= out->shape.dim[i];
        } while (left > 1 || (i > 0 && out->shape.dim[i - 1] == 1));
    }
    return true;
}

const struct mf_derived *mf_derive_reshape(const struct mf_derivation *d,
                                           const struct mf_derived *node,
                                           uint32_t rank, const uint64_t *dim)
{
    struct layout old = layout_of(node), out = old;
    const struct mf_derived *pair;
    uint64_t count;

    assert(rank <= MF_DERIVED_RANK);
    if (mf_lowrank_reshape(d, node, rank, dim, &pair))
        return pair;
    out.shape = (struct mf_shape){ .rank = rank };
    memcpy(out.shape.dim, dim, rank * sizeof(*dim));
    if (!mf_elements(dim, rank, &count) || count != node->count) {
        mf_derived_misfit(d, node,
                          "that is not the shape that its other dimensions "
                          "imply");
        return NULL;
    }
    if (count == 0 || !regroup(&old, &out)) {
        out.below = node;
        out.offset = 0;
        pack(&out);
    }
    return make(d, &out);
}

static bool has_axis(const struct mf_derivation *d,
                     const struct mf_derived *node, uint32_t axis)
{
    if (axis < node->rank)
        return true;
    mf_derived_misfit(d, node, "it lacks dimension %u", (unsigned)axis + 1);
    return false;
}

const struct mf_derived *mf_derive_swap(const struct mf_derivation *d,
                                        const struct mf_derived *node,
                                        uint32_t a, uint32_t b)
{
    struct layout layout = layout_of(node);
    const struct mf_derived *pair;
    uint64_t dim, stride;

    if (mf_lowrank_swap(d, node, a, b, &pair))
        return pair;
    if (!has_axis(d, node, a) || !has_axis(d, node, b) ||
        in_blocks(d, node, a + 1 < node->rank && b + 1 < node->rank))
        return NULL;
    dim = layout.shape.dim[a];
    stride = layout.stride[a];
    layout.shape.dim[a] = layout.shape.dim[b];
    layout.stride[a] = layout.stride[b];
    layout.shape.dim[b] = dim;
    layout.stride[b] = stride;
    return make(d, &layout);
}

const struct mf_derived *mf_derive_slice(const struct mf_derivation *d,
                                         const struct mf_derived *node,
                                         struct mf_derived_slice slice)
{
    struct layout layout = layout_of(node);
    uint64_t step = slice.step > 0 ? slice.step : 1, last;
    const struct mf_derived *pair;

    if (mf_lowrank_slice(d, node, slice, &pair))
        return pair;
    if (!has_axis(d, node, slice.axis) ||
        in_blocks(d, node, slice.axis + 1 < node->rank))
        return NULL;
    if (!mf_mul(slice.count > 0 ? slice.count - 1 : 0, step, &last) ||
        !mf_add(last, slice.from, &last) ||
        (slice.count > 0 && last >= node->dim[slice.axis])) {
        mf_derived_misfit(
            d, node, "dimension %u has no elements %" PRIu64 " to %" PRIu64,
            (unsigned)slice.axis + 1, slice.from, last);
        return NULL;
    }
    layout.offset +=
        slice.count > 0 ? slice.from * layout.stride[slice.axis] : 0;
    layout.shape.dim[slice.axis] = slice.count;
    layout.stride[slice.axis] *= step;
    return make(d, &layout);
}
