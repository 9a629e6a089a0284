/* SPDX-License-Identifier: MIT
 *
 * view_read.c - reads elements in another order than they lie in
 *
 * A row of a transposed matrix is a column: to read it, each of its elements
 * would be a call of the system of its own.  So as many rows as were asked for
 * are read at once.  A box of elements (so many along each axis) is cut into
 * tiles that fit the room; a tile is read in the order of the node below, in
 * few long reads, and then put into its new order in memory.
 */
#include <assert.h>

#include "lib/derive/node.h"

/* What lies between two wanted parts is read as well, rather than calling the
 * system twice, up to so many bytes. */
#define GAP ((uint64_t)4096)

/* Parts of that size are read straight to where they go. */
#define DIRECT ((uint64_t)2048)

/* A tile that is transposed is not narrower than so many elements. */
#define WIDE 16

/* Elements of a view: count[i] along axis i. */
struct box {
    const struct mf_derived_view *view;
    uint32_t rank;
    uint64_t from;                    /* its first element, in the node below */
    uint64_t count[MF_DERIVED_RANK];  /* along each axis */
    uint64_t stride[MF_DERIVED_RANK]; /* in the node below */
    uint64_t to[MF_DERIVED_RANK];     /* stride in what is read */
    uint64_t at[MF_DERIVED_RANK];     /* stride in the room */
};

static size_t element_size(const struct mf_derived_view *view)
{
    return mf_types[view->node.type].bytes;
}

/* ---- tiles ---- */

#define MOVE(type)                                                             \
    for (uint64_t i = 0; i < count; i++) {                                     \
        type value;                                                            \
                                                                               \
        memcpy(&value, from + i * step * sizeof(type), sizeof(type));          \
        memcpy(into + i * sizeof(type), &value, sizeof(type));                 \
    }

/* count elements, each `step` of them after the one before, to `into`. */
static void move_row(uint8_t *restrict into, const uint8_t *restrict from,
                     uint64_t count, uint64_t step, size_t size)
{
    if (step == 1) {
        memcpy(into, from, (size_t)count * size);
        return;
    }
    switch (size) {
    case 1:
        MOVE(uint8_t)
        break;
    case 2:
        MOVE(uint16_t)
        break;
    case 4:
        MOVE(uint32_t)
        break;
    default:
        assert(size == 8);
        MOVE(uint64_t)
    }
}

/* From the room, row by row of the view. */
static void unpack(const struct box *tile, const uint8_t *room, uint8_t *into)
{
    uint64_t place[MF_DERIVED_RANK] = { 0 }, from = 0, to = 0;
    size_t size = element_size(tile->view);
    uint32_t last = tile->rank - 1, axis;

    assert(tile->to[last] == 1);
    do {
        move_row(into + to * size, room + from * size, tile->count[last],
                 tile->at[last], size);
        for (axis = last; axis-- > 0;) {
            from += tile->at[axis];
            to += tile->to[axis];
            if (++place[axis] < tile->count[axis])
                break;
            from -= tile->at[axis] * place[axis];
            to -= tile->to[axis] * place[axis];
            place[axis] = 0;
        }
    } while (axis != UINT32_MAX);
}

/* The axes of a box, those with the largest strides first. */
static void sort_axes(const struct box *box, uint32_t *order)
{
    for (uint32_t i = 0; i < box->rank; i++) {
        uint32_t at = i;

        for (; at > 0 && box->stride[order[at - 1]] < box->stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* How a tile is read: `parts` of the last axes in the order are apart. */
struct plan {
    uint32_t order[MF_DERIVED_RANK];
    uint32_t apart; /* axes in the order, each of whose places is a read */
    uint64_t part;  /* elements of a read */
    uint64_t count[MF_DERIVED_RANK]; /* of a tile, along each axis */
    uint64_t at[MF_DERIVED_RANK];
};

/* As much of the box as fits the room, from the axis with the smallest stride
 * on.  Axes that are cut are followed by axes of one place. */
static struct plan plan_tile(const struct box *box, uint64_t most)
{
    struct plan plan = { .part = 1, .apart = 0 };
    uint64_t size = element_size(box->view), used = 1;
    bool gaps = true, full = false;

    sort_axes(box, plan.order);
    for (uint32_t i = box->rank; i-- > 0;) {
        uint32_t axis = plan.order[i];
        uint64_t stride = box->stride[axis], count = box->count[axis], fits;

        gaps =
            gaps && stride - used <= GAP / size && (most - used) / stride > 0;
        plan.at[axis] = gaps ? stride : used;
        fits = full ? 1 : (most - used) / plan.at[axis] + 1;
        if (i + 1 == box->rank && axis != i && fits > most / WIDE)
            fits = most / WIDE; /* leaves room for as many of another axis */
        plan.count[axis] = count < fits ? count : fits;
        full = full || plan.count[axis] < count;
        used += (plan.count[axis] - 1) * plan.at[axis];
        if (gaps)
            plan.part = used;
        else if (plan.apart == 0)
            plan.apart = i + 1;
    }
    return plan;
}

/* Reads the tile into the room, read by read. */
static bool read_parts(const struct box *tile, const struct plan *plan,
                       uint8_t *bytes, struct mf_derived_room below)
{
    uint64_t place[MF_DERIVED_RANK] = { 0 };
    uint64_t from = tile->from, at = 0, part = 1;
    size_t size = element_size(tile->view);
    uint32_t i;

    for (i = plan->apart; i < tile->rank; i++)
        part += (tile->count[plan->order[i]] - 1) * tile->at[plan->order[i]];
    do {
        if (!mf_derived_read(tile->view->below, (struct mf_span){ from, part },
                             bytes + at * size, below))
            return false;
        for (i = plan->apart; i-- > 0;) {
            uint32_t axis = plan->order[i];

            from += tile->stride[axis];
            at += tile->at[axis];
            if (++place[i] < tile->count[axis])
                break;
            from -= tile->stride[axis] * place[i];
            at -= tile->at[axis] * place[i];
            place[i] = 0;
        }
    } while (i != UINT32_MAX);
    return true;
}

/* Tile by tile. */
static bool read_tiles(const struct box *box, uint8_t *into,
                       struct mf_derived_room room)
{
    size_t size = element_size(box->view);
    struct mf_derived_room own = mf_derived_take(&room, size);
    struct plan plan = plan_tile(box, own.size / size);
    uint64_t place[MF_DERIVED_RANK] = { 0 }, from = box->from, to = 0;
    uint32_t axis;

    do {
        struct box tile = *box;

        tile.from = from;
        for (uint32_t i = 0; i < box->rank; i++) {
            uint64_t left = box->count[i] - place[i];

            tile.count[i] = left < plan.count[i] ? left : plan.count[i];
            tile.at[i] = plan.at[i];
        }
        if (!read_parts(&tile, &plan, own.at, room))
            return false;
        unpack(&tile, own.at, into + to * size);
        for (axis = box->rank; axis-- > 0;) {
            from += box->stride[axis] * tile.count[axis];
            to += box->to[axis] * tile.count[axis];
            place[axis] += tile.count[axis];
            if (place[axis] < box->count[axis])
                break;
            from -= box->stride[axis] * place[axis];
            to -= box->to[axis] * place[axis];
            place[axis] = 0;
        }
    } while (axis != UINT32_MAX);
    return true;
}

/* ---- boxes ---- */

static bool is_direct(const struct box *box)
{
    uint32_t last = box->rank - 1;

    return mf_types[box->view->node.type].block > 1 ||
           (box->stride[last] == 1 &&
            (box->count[last] * element_size(box->view) >= DIRECT ||
             box->rank == 1));
}

/* Runs along the last axis, each a read. */
static bool read_runs(const struct box *box, uint8_t *into,
                      struct mf_derived_room room)
{
    uint64_t place[MF_DERIVED_RANK] = { 0 }, from = box->from;
    uint32_t last = box->rank - 1, axis;
    size_t size =
        mf_derived_bytes((enum mf_type)box->view->node.type, box->count[last]);

    do {
        if (!mf_derived_read(box->view->below,
                             (struct mf_span){ from, box->count[last] }, into,
                             room))
            return false;
        into += size;
        for (axis = last; axis-- > 0;) {
            from += box->stride[axis];
            if (++place[axis] < box->count[axis])
                break;
            from -= box->stride[axis] * place[axis];
            place[axis] = 0;
        }
    } while (axis != UINT32_MAX);
    return true;
}

/* `count` places of the axis, from the place on that begins at element `from`
 * of the node below, and all of the axes after it. */
static bool read_box(const struct mf_derived_view *view, uint32_t axis,
                     uint64_t from, uint64_t count, uint8_t *into,
                     struct mf_derived_room room)
{
    struct box box = { .view = view, .from = from };
    uint64_t to = 1;

    for (uint32_t i = axis; i < view->rank; i++) {
        box.count[box.rank] = i == axis ? count : view->axis[i].count;
        box.stride[box.rank++] = view->axis[i].stride;
    }
    for (uint32_t i = box.rank; i-- > 0;) {
        box.to[i] = to;
        to *= box.count[i];
    }
    return is_direct(&box) ? read_runs(&box, into, room)
                           : read_tiles(&box, into, room);
}

/* Elements from `first` on are a box at the end of a row, one of whole rows,
 * and one at the start of another row; and so for the rows that are cut, axis
 * by axis.  Reads the longest box that begins with the first of them; returns
 * its elements, 0 where it cannot be read. */
static uint64_t read_some(const struct mf_derived_view *view,
                          struct mf_span elements, uint8_t *into,
                          struct mf_derived_room room)
{
    uint64_t below = view->node.count, first = elements.offset, from, count;
    uint32_t axis = 0;

    from = view->offset;
    for (;; axis++) { /* until whole places of the axis are wanted */
        below /= view->axis[axis].count;
        from += first / below * view->axis[axis].stride;
        if (first % below == 0 && elements.size >= below)
            break;
        first %= below;
    }
    count = view->axis[axis].count - first / below;
    if (count > elements.size / below)
        count = elements.size / below;
    return read_box(view, axis, from, count, into, room) ? count * below : 0;
}

bool mf_view_read(const struct mf_derived *node, struct mf_span elements,
                  uint8_t *into, struct mf_derived_room room)
{
    const struct mf_derived_view *view = (const struct mf_derived_view *)node;

    if (view->rank == 0) /* one element */
        return mf_derived_read(view->below,
                               (struct mf_span){ view->offset, elements.size },
                               into, room);
    while (elements.size > 0) {
        uint64_t some = read_some(view, elements, into, room);

        if (some == 0)
            return false;
        into += mf_derived_bytes((enum mf_type)node->type, some);
        elements.offset += some;
        elements.size -= some;
    }
    return true;
}
