/* SPDX-License-Identifier: MIT
 *
 * join.c - several nodes as one, one after the other
 *
 * Along the first dimension their bytes follow each other.  Along another one
 * each has a part of every place of the dimensions before.
 */
#include <assert.h>

#include "lib/derive/node.h"

struct join {
    struct mf_derived node;
    uint64_t stride; /* elements from one part of a node to its next */
    size_t count;
    bool even; /* all nodes' parts have the same size */
    struct member {
        const struct mf_derived *node;
        uint64_t end; /* of its part, in elements from the stride's start */
    } member[];
};

/* The node that has that element of a stride. */
static const struct member *member_at(const struct join *join, uint64_t element)
{
    size_t low = 0, high = join->count - 1;

    if (join->even)
        return &join->member[element / join->member[0].end];
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (join->member[middle].end > element)
            high = middle;
        else
            low = middle + 1;
    }
    return &join->member[low];
}

static bool read(const struct mf_derived *node, struct mf_span elements,
                 uint8_t *into, struct mf_derived_room room)
{
    const struct join *join = (const struct join *)node;

    while (elements.size > 0) {
        uint64_t turn = elements.offset / join->stride;
        uint64_t at = elements.offset % join->stride;
        const struct member *member = member_at(join, at);
        uint64_t start = member > join->member ? member[-1].end : 0;
        struct mf_span part = { turn * (member->end - start) + (at - start),
                                member->end - at };

        if (part.size > elements.size)
            part.size = elements.size;
        if (!mf_derived_read(member->node, part, into, room))
            return false;
        into += mf_derived_bytes((enum mf_type)node->type, part.size);
        elements.offset += part.size;
        elements.size -= part.size;
    }
    return true;
}

static const struct mf_derived_ops join_ops = { MF_DERIVED_JOIN, read, NULL };

/* Elements of the dimensions from that one on. */
static uint64_t elements_from(const struct mf_derived *node, uint32_t axis)
{
    uint64_t count = 1;

    for (uint32_t i = axis; i < node->rank; i++)
        count *= node->dim[i];
    return count;
}

/* The shape is checked, and each member's part has the elements of its
 * dimensions from `axis` on. */
static const struct mf_derived *
make(const struct mf_derivation *d, const struct mf_shape *shape, uint32_t axis,
     const struct mf_derived *const *nodes, size_t count)
{
    struct join *join =
        mf_derived_new(d, sizeof(*join) + count * sizeof(*join->member),
                       &join_ops, (enum mf_type)nodes[0]->type, shape);

    for (size_t i = 0; join && i < count; i++) {
        uint64_t size = elements_from(nodes[i], axis);

        join->member[i].node = nodes[i];
        join->member[i].end = join->stride += size;
        mf_derived_note(&join->node, size);
        mf_derived_note(&join->node, nodes[i]->print);
        if (join->node.depth < nodes[i]->depth)
            join->node.depth = nodes[i]->depth;
    }
    if (!join)
        return NULL;
    join->count = count;
    join->even = true;
    for (size_t i = 0; i < count; i++)
        join->even =
            join->even && join->member[i].end == (i + 1) * join->member[0].end;
    return &join->node;
}

static bool same_type(const struct mf_derivation *d,
                      const struct mf_derived *const *nodes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (nodes[i]->type != nodes[0]->type) {
            mf_derived_misfit(
                d, nodes[i], "it is %s and is joined to one that is %s",
                mf_types[nodes[i]->type].name, mf_types[nodes[0]->type].name);
            return false;
        }
    return true;
}

/* All but the dimension `axis` are the first one's. */
static bool same_shape(const struct mf_derivation *d,
                       const struct mf_derived *const *nodes, size_t count,
                       uint32_t axis)
{
    for (size_t i = 1; i < count; i++) {
        bool same = nodes[i]->rank == nodes[0]->rank;

        for (uint32_t j = 0; same && j < nodes[0]->rank; j++)
            same = j == axis || nodes[i]->dim[j] == nodes[0]->dim[j];
        if (!same) {
            mf_derived_misfit(d, nodes[i],
                              "part %zu does not fit the first one", i + 1);
            return false;
        }
    }
    return true;
}

const struct mf_derived *mf_derive_join(const struct mf_derivation *d,
                                        uint32_t axis,
                                        const struct mf_derived *const *nodes,
                                        size_t count)
{
    struct mf_shape shape = mf_derived_shape(nodes[0]);
    const struct mf_derived *pair;

    assert(count > 0);
    if (mf_lowrank_join(d, axis, nodes, count, false, &pair))
        return pair;
    if (axis >= shape.rank) {
        mf_derived_misfit(d, nodes[0], "it lacks dimension %u",
                          (unsigned)axis + 1);
        return NULL;
    }
    if (!same_type(d, nodes, count) || !same_shape(d, nodes, count, axis))
        return NULL;
    for (size_t i = 1; i < count; i++)
        if (!mf_add(shape.dim[axis], nodes[i]->dim[axis], &shape.dim[axis])) {
            mf_derived_misfit(d, nodes[i], "together they are too large");
            return NULL;
        }
    return count > 1 ? make(d, &shape, axis, nodes, count) : nodes[0];
}

const struct mf_derived *mf_derive_stack(const struct mf_derivation *d,
                                         const struct mf_derived *const *nodes,
                                         size_t count)
{
    struct mf_shape shape = { .rank = (uint32_t)nodes[0]->rank + 1 };
    const struct mf_derived *pair;

    assert(count > 0);
    if (mf_lowrank_join(d, 0, nodes, count, true, &pair))
        return pair;
    if (shape.rank > MF_DERIVED_RANK) {
        mf_derived_misfit(d, nodes[0], "at most %d dimensions can be stacked",
                          MF_DERIVED_RANK - 1);
        return NULL;
    }
    if (!same_type(d, nodes, count) ||
        !same_shape(d, nodes, count, MF_DERIVED_RANK))
        return NULL;
    shape.dim[0] = count;
    memcpy(shape.dim + 1, nodes[0]->dim, nodes[0]->rank * sizeof(*shape.dim));
    return count > 1 ? make(d, &shape, 0, nodes, count)
                     : mf_derive_reshape(d, nodes[0], shape.rank, shape.dim);
}
