/* SPDX-License-Identifier: MIT
 *
 * centre.c - a vector whose numbers have the mean 0
 *
 * Bit for bit as PyTorch computes it: halves are summed as floats, and the mean
 * is rounded to their type.  Its sum has lanes as wide as AVX2's on every x86,
 * four sums in each lane, and levels that keep numbers of like size together.
 */
#include "lib/hf/hub/centre.h"

#include <assert.h>

#include "lib/base/little.h"

#define LANES  8
#define SUMS   4 /* in each lane */
#define LEVELS 4

static void add_all(float *into, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        into[i] += x[i];
}

/* Bits of the number of rows that one level adds up. */
static unsigned level_bits(size_t rows)
{
    unsigned bits = 0;

    while (bits < 32 && (size_t)1 << bits < rows)
        bits++;
    return bits / LEVELS > 4 ? bits / LEVELS : 4;
}

/* The sums of columns of so many rows. */
static void add_rows(const float *x, size_t rows, size_t width, float *out)
{
    float level[LEVELS][SUMS * LANES] = { { 0 } };
    unsigned bits = level_bits(rows);
    size_t step = (size_t)1 << bits, at = 0;

    while (at + step <= rows) {
        for (size_t i = 0; i < step; i++, at++)
            add_all(level[0], x + at * width, width);
        for (unsigned j = 1; j < LEVELS; j++) {
            add_all(level[j], level[j - 1], width);
            memset(level[j - 1], 0, sizeof(level[j - 1]));
            if ((at & (step - 1) << j * bits) != 0)
                break;
        }
    }
    for (; at < rows; at++)
        add_all(level[0], x + at * width, width);
    for (unsigned j = 1; j < LEVELS; j++)
        add_all(level[0], level[j], width);
    memcpy(out, level[0], width * sizeof(*out));
}

float mf_hub_sum(const float *x, size_t count)
{
    size_t lanes = count < LANES ? 1 : LANES, vectors = count / lanes;
    size_t rows = vectors / SUMS;
    float part[SUMS * LANES], sum = 0;

    add_rows(x, rows, SUMS * lanes, part);
    for (size_t i = rows * SUMS; i < vectors; i++)
        add_all(part, x + i * lanes, lanes);
    for (size_t i = 1; i < SUMS; i++)
        add_all(part, part + i * lanes, lanes);
    for (size_t i = vectors * lanes; i < count; i++)
        sum += x[i];
    for (size_t i = 0; i < lanes; i++)
        sum += part[i];
    return sum;
}

/* ---- nodes ---- */

/* All numbers of the node; NULL after mf_fail. */
static float *numbers_of(struct mf_derivation *derive,
                         const struct mf_derived *node)
{
    const struct mf_derived *floats = mf_derive_cast(derive, node, MF_TYPE_F32);
    size_t size = (size_t)node->count * sizeof(float);
    struct mf_source source;
    float *x;

    if (!floats)
        return NULL;
    x = mf_arena_take(derive->arena, size);
    mf_derived_open(floats, derive->name.at, &source);
    if (!x ||
        mf_source_read(derive->env, &source, 0, (uint8_t *)x, size) != MF_OK)
        return NULL;
    mf_order_floats(x, (size_t)node->count);
    return x;
}

/* The number as one of that type. */
static bool round_to(struct mf_derivation *derive, enum mf_type type,
                     float *number)
{
    const struct mf_derived *node = mf_derive_floats(derive, number, 1);
    const float *x;

    node = node ? mf_derive_cast(derive, node, type) : NULL;
    x = node ? numbers_of(derive, node) : NULL;
    if (x)
        *number = *x;
    return x != NULL;
}

const struct mf_derived *mf_hub_centre(struct mf_derivation *derive,
                                       const struct mf_derived *node)
{
    const float *x;
    float mean;

    assert(node->count > 0 && node->count <= MF_CENTRE_MAX);
    x = numbers_of(derive, node);
    if (!x)
        return NULL;
    mean = mf_hub_sum(x, (size_t)node->count) / (float)node->count;
    if (!round_to(derive, (enum mf_type)node->type, &mean))
        return NULL;
    return mf_derive_cast(
        derive, mf_derive_map(derive, node, MF_MAP_ADD, -(double)mean),
        (enum mf_type)node->type);
}
