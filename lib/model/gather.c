/* SPDX-License-Identifier: MIT
 *
 * gather.c - elements of a view, in C order
 *
 * range() cuts elements first .. first + count into boxes: of the first row
 * that is not whole, of all whole rows at once, and of the last row.  box()
 * sorts the dimensions of one by their strides and walks it with the largest
 * stride outside.  Where at least one byte in 16 of a stretch is wanted, the
 * window is filled from all of it, otherwise only with what the innermost
 * dimension needs.
 */
#include "lib/model/stored_parts.h"

#include <string.h>

#define SPARSE 16

/* One dimension of a box. */
struct axis {
    uint64_t count;
    uint64_t stride; /* bytes in the storage */
    uint64_t step;   /* bytes in the result */
};

struct walk {
    const struct mf_gather *gather;
    struct axis axis[MF_RANK_MAX];
    uint32_t rank;
    size_t element;
    /* Bytes of the storage that are in the window. */
    uint64_t from, end;
    uint64_t stretch; /* up to here the window may be filled */
    uint64_t last;    /* end of the box's last element */
    uint8_t window[MF_GATHER_WINDOW];
};

/* ---- the window ---- */

/* The element at offset of the storage; NULL with errno. */
static const uint8_t *fetch(struct walk *walk, uint64_t offset)
{
    uint64_t size;

    if (offset >= walk->from && offset + walk->element <= walk->end)
        return walk->window + (offset - walk->from);
    size = walk->stretch > offset ? walk->stretch - offset : 0;
    if (size > sizeof(walk->window))
        size = sizeof(walk->window);
    if (size < walk->element)
        size = walk->element;
    if (!walk->gather->read(walk->gather->user, offset, walk->window,
                            (size_t)size))
        return NULL;
    walk->from = offset;
    walk->end = offset + size;
    return walk->window;
}

/* ---- one box ---- */

/* Bytes from the first element of the innermost dimensions to the end of their
 * last one. */
static uint64_t span_of(const struct walk *walk, uint32_t from)
{
    uint64_t span = walk->element;

    for (uint32_t i = from; i < walk->rank; i++)
        span += (walk->axis[i].count - 1) * walk->axis[i].stride;
    return span;
}

/* The outermost dimension from which on a stretch is worth reading whole. */
static uint32_t dense_from(const struct walk *walk)
{
    uint64_t wanted = walk->element;
    uint32_t dense = walk->rank;

    for (uint32_t i = walk->rank; i-- > 0;) {
        wanted *= walk->axis[i].count;
        if (span_of(walk, i) / SPARSE <= wanted)
            dense = i;
    }
    return dense;
}

static void sort_axes(struct walk *walk)
{
    for (uint32_t i = 1; i < walk->rank; i++)
        for (uint32_t k = i;
             k > 0 && walk->axis[k].stride > walk->axis[k - 1].stride; k--) {
            struct axis swapped = walk->axis[k];

            walk->axis[k] = walk->axis[k - 1];
            walk->axis[k - 1] = swapped;
        }
}

static bool copy_run(struct walk *walk, const struct axis *axis,
                     uint64_t offset, uint8_t *into)
{
    size_t element = walk->element;

    /* Elements that lie as they are wanted need no window. */
    if (axis->stride == element && axis->step == element &&
        axis->count * element > MF_GATHER_WINDOW)
        return walk->gather->read(walk->gather->user, offset, into,
                                  (size_t)(axis->count * element));
    for (uint64_t i = 0; i < axis->count; i++) {
        const uint8_t *at = fetch(walk, offset);

        if (!at)
            return false;
        /* A size that is known becomes one move. */
        if (element == 4)
            memcpy(into, at, 4);
        else if (element == 8)
            memcpy(into, at, 8);
        else if (element == 2)
            memcpy(into, at, 2);
        else
            memcpy(into, at, element);
        offset += axis->stride;
        into += axis->step;
    }
    return true;
}

static bool walk_box(struct walk *walk, uint64_t offset, uint8_t *into)
{
    uint32_t outer = walk->rank - 1, dense = dense_from(walk);
    uint64_t done[MF_RANK_MAX] = { 0 };
    const struct axis *axis = walk->axis;
    uint32_t i;

    do {
        if (offset >= walk->stretch || walk->stretch == 0) {
            walk->stretch = offset + span_of(walk, dense);
            if (walk->stretch > walk->last)
                walk->stretch = walk->last;
        }
        if (!copy_run(walk, &axis[outer], offset, into))
            return false;
        for (i = outer; i > 0; i--) {
            offset += axis[i - 1].stride;
            into += axis[i - 1].step;
            if (++done[i - 1] < axis[i - 1].count)
                break;
            offset -= axis[i - 1].count * axis[i - 1].stride;
            into -= axis[i - 1].count * axis[i - 1].step;
            done[i - 1] = 0;
        }
    } while (i > 0);
    return true;
}

/* `rows` of the view's dimension `top` and all dimensions after it, from offset
 * of the storage on. */
static bool box(struct walk *walk, uint32_t top, uint64_t rows, uint64_t offset,
                uint8_t *into)
{
    const struct mf_stored_view *view = walk->gather->view;
    uint64_t step = walk->element;

    walk->rank = 0;
    for (uint32_t i = view->rank; i-- > top;) {
        uint64_t count = i == top ? rows : view->dim[i];

        if (count > 1)
            walk->axis[walk->rank++] =
                (struct axis){ count, view->stride[i] * walk->element, step };
        step *= count;
    }
    if (walk->rank == 0)
        walk->axis[walk->rank++] = (struct axis){ 1, 0, 0 };
    sort_axes(walk);
    walk->from = walk->end = walk->stretch = 0;
    walk->last = offset + span_of(walk, 0);
    return walk_box(walk, offset, into);
}

/* ---- boxes ---- */

/* Elements of the dimensions from `top` on, whose first one is at offset. */
static bool range(struct walk *walk, uint32_t top, uint64_t offset,
                  uint64_t first, uint64_t count, uint8_t *into)
{
    const struct mf_stored_view *view = walk->gather->view;
    uint64_t row = 1, stride, rows;

    for (uint32_t i = top + 1; i < view->rank; i++)
        row *= view->dim[i];
    if (top >= view->rank)
        return box(walk, top, 1, offset, into);
    stride = view->stride[top] * walk->element;
    offset += first / row * stride;
    first %= row;
    if (first > 0) {
        uint64_t part = count < row - first ? count : row - first;

        if (!range(walk, top + 1, offset, first, part, into))
            return false;
        into += part * walk->element;
        count -= part;
        offset += stride;
    }
    rows = count / row;
    if (rows > 0 && !box(walk, top, rows, offset, into))
        return false;
    into += rows * row * walk->element;
    count -= rows * row;
    return count == 0 ||
           range(walk, top + 1, offset + rows * stride, 0, count, into);
}

static void swap(uint8_t *bytes, size_t size, size_t unit)
{
    for (size_t at = 0; at < size; at += unit)
        for (size_t i = 0; i < unit / 2; i++) {
            uint8_t byte = bytes[at + i];

            bytes[at + i] = bytes[at + unit - 1 - i];
            bytes[at + unit - 1 - i] = byte;
        }
}

bool mf_gather(const struct mf_gather *gather, uint64_t first, size_t count,
               uint8_t *into)
{
    struct walk walk;

    if (count == 0)
        return true;
    walk.gather = gather;
    walk.element = gather->view->element;
    if (!range(&walk, 0, gather->view->from, first, count, into))
        return false;
    if (gather->view->swap > 1)
        swap(into, count * walk.element, gather->view->swap);
    return true;
}
