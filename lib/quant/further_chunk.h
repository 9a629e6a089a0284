/* SPDX-License-Identifier: MIT
 *
 * further_chunk.h - blocks that are searched side by side, and what they add up
 * to
 *
 * Private to further.c, as are further_scale.h and further_super.h.
 */
#ifndef MF_LIB_QUANT_FURTHER_CHUNK_H
#define MF_LIB_QUANT_FURTHER_CHUNK_H

#include "lib/quant/iq4.h"
#include "lib/quant/quant.h"

/* Blocks that are searched together: of a few whole super-blocks. */
#define BLOCKS 32
#define CHUNKS (BLOCKS / MF_ABREAST)
#define SIZE   32 /* elements of a block, at most */

_Static_assert(BLOCKS % MF_ABREAST == 0, "chunks are full");

/* So many thousandths. */
static inline float part_of(int thousandths)
{
    return (float)thousandths / 1000.0f;
}

/* From `first` on, number i of parts. */
static inline float part_at(int first, int step, int i)
{
    return part_of(first + step * i);
}

/* A block in each lane. */
struct chunk {
    struct mf_row x[SIZE], weight[SIZE];
};

/* Of each block, its scale and minimum as products, and by what they err. */
struct choice {
    float unit[2][BLOCKS], multiple[2][BLOCKS], error[BLOCKS];
};

struct work {
    const struct mf_makeup *makeup;
    const struct mf_depth *depth;
    const float *row, *weights;
    size_t count, supers; /* blocks, and super-blocks */
    struct chunk chunk[CHUNKS];
    struct choice now, best;
};

/* ---- numbers of a block */

/* The numbers nearest to y. */
static inline mf_floats nearest(enum mf_makeup_numbers numbers,
                                const struct mf_makeup *makeup, mf_floats y)
{
    if (numbers == MF_NUMBERS_TABLE)
        return mf_lanes_look_up(mf_iq4_values, mf_iq4_code(y));
    y = mf_lanes_max(y, mf_lanes_all(makeup->low));
    y = mf_lanes_min(y, mf_lanes_all(makeup->high));
    return mf_lanes_whole(y);
}

static inline mf_floats inverse_of(mf_floats scale)
{
    return mf_lanes_select(scale == 0.0f, scale, 1.0f / scale);
}

/* The weighted squared errors with these scales and minimums.  With a scale of
 * 0 none is less than with another: that is left out. */
static inline __attribute__((always_inline)) void
add_errors(enum mf_makeup_numbers numbers, const struct mf_makeup *makeup,
           const struct chunk *chunk, const struct mf_row *scale,
           const struct mf_row *minimum, struct mf_row *error)
{
    mf_floats sum[MF_SIDES], inverse[MF_SIDES], add[MF_SIDES];

    for (int s = 0; s < MF_SIDES; s++) {
        sum[s] = mf_lanes_all(0.0f);
        inverse[s] = 1.0f / scale->side[s];
        add[s] = minimum->side[s] * inverse[s];
    }
    for (size_t i = 0; i < makeup->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats y = chunk->x[i].side[s] * inverse[s];

            if (numbers == MF_NUMBERS_SHIFTED)
                y += add[s];
            y -= nearest(numbers, makeup, y);
            sum[s] += chunk->weight[i].side[s] * y * y;
        }
    for (int s = 0; s < MF_SIDES; s++)
        error->side[s] = sum[s] * (scale->side[s] * scale->side[s]);
}

/* Sums of weights times numbers l, their squares, and their products with x. */
struct sums {
    struct mf_row l, l2, xl;
};

static inline __attribute__((always_inline)) void
add_sums(enum mf_makeup_numbers numbers, const struct mf_makeup *makeup,
         const struct chunk *chunk, const struct mf_row *scale,
         const struct mf_row *minimum, struct sums *out)
{
    mf_floats inverse[MF_SIDES];
    mf_floats sum[MF_SIDES], squares[MF_SIDES], products[MF_SIDES];

    for (int s = 0; s < MF_SIDES; s++) {
        inverse[s] = inverse_of(scale->side[s]);
        sum[s] = squares[s] = products[s] = mf_lanes_all(0.0f);
    }
    for (size_t i = 0; i < makeup->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats x = chunk->x[i].side[s], y = x, l, wl;

            if (numbers == MF_NUMBERS_SHIFTED)
                y += minimum->side[s];
            l = nearest(numbers, makeup, y * inverse[s]);
            wl = chunk->weight[i].side[s] * l;
            if (numbers == MF_NUMBERS_SHIFTED)
                sum[s] += wl;
            squares[s] += wl * l;
            products[s] += wl * x;
        }
    for (int s = 0; s < MF_SIDES; s++) {
        out->l.side[s] = sum[s];
        out->l2.side[s] = squares[s];
        out->xl.side[s] = products[s];
    }
}

/* Both, for each kind of numbers. */
static void errors_of(const struct mf_makeup *makeup, const struct chunk *chunk,
                      const struct mf_row *scale, const struct mf_row *minimum,
                      struct mf_row *error)
{
    switch (makeup->numbers) {
    case MF_NUMBERS_TABLE:
        add_errors(MF_NUMBERS_TABLE, makeup, chunk, scale, minimum, error);
        break;
    case MF_NUMBERS_SHIFTED:
        add_errors(MF_NUMBERS_SHIFTED, makeup, chunk, scale, minimum, error);
        break;
    default:
        add_errors(MF_NUMBERS_WHOLE, makeup, chunk, scale, minimum, error);
    }
}

static void sums_of(const struct mf_makeup *makeup, const struct chunk *chunk,
                    const struct mf_row *scale, const struct mf_row *minimum,
                    struct sums *out)
{
    switch (makeup->numbers) {
    case MF_NUMBERS_TABLE:
        add_sums(MF_NUMBERS_TABLE, makeup, chunk, scale, minimum, out);
        break;
    case MF_NUMBERS_SHIFTED:
        add_sums(MF_NUMBERS_SHIFTED, makeup, chunk, scale, minimum, out);
        break;
    default:
        add_sums(MF_NUMBERS_WHOLE, makeup, chunk, scale, minimum, out);
    }
}

/* What the sums of a chunk do not depend on. */
struct totals {
    struct mf_row w, x, least, most, farthest;
};

static void add_totals(const struct mf_makeup *makeup,
                       const struct chunk *chunk, struct totals *out)
{
    struct totals all = { .least = chunk->x[0], .most = chunk->x[0] };

    for (size_t i = 0; i < makeup->block_size; i++)
        for (int s = 0; s < MF_SIDES; s++) {
            mf_floats x = chunk->x[i].side[s], w = chunk->weight[i].side[s];

            all.w.side[s] += w;
            all.x.side[s] += w * x;
            all.least.side[s] = mf_lanes_min(x, all.least.side[s]);
            all.most.side[s] = mf_lanes_max(x, all.most.side[s]);
        }
    for (int s = 0; s < MF_SIDES; s++)
        all.farthest.side[s] =
            mf_lanes_select_less(all.most.side[s], -all.least.side[s],
                                 all.least.side[s], all.most.side[s]);
    *out = all;
}

/* ---- a batch of blocks */

/* Where there are no weights, all are 1, in every batch. */
static void weigh_alike(struct work *work)
{
    for (size_t chunk = 0; chunk < CHUNKS; chunk++)
        for (size_t i = 0; i < SIZE; i++)
            for (int s = 0; s < MF_SIDES; s++)
                work->chunk[chunk].weight[i].side[s] = mf_lanes_all(1.0f);
}

/* Turns the elements of blocks from number first on; the last fills up. */
static void load_chunk(struct work *work, size_t first)
{
    const size_t size = work->makeup->block_size, last = work->count - 1;
    struct chunk *chunk = &work->chunk[first / MF_ABREAST];
    const float *from[MF_ABREAST];
    size_t at[MF_ABREAST];

    for (size_t i = 0; i < MF_ABREAST; i++) {
        at[i] = size * (first + i < last ? first + i : last);
        from[i] = work->row + at[i];
    }
    mf_rows_load(chunk->x, from, size);
    for (size_t i = 0; i < MF_ABREAST && work->weights; i++)
        from[i] = work->weights + at[i];
    if (work->weights)
        mf_rows_load(chunk->weight, from, size);
}

static inline struct mf_row load(const float *at)
{
    return mf_row_load(at);
}

static inline struct mf_row product(struct mf_row a, struct mf_row b)
{
    for (int s = 0; s < MF_SIDES; s++)
        a.side[s] *= b.side[s];
    return a;
}

/* What the reference made of a batch, where a search may begin.  Lanes that are
 * left repeat the first blocks. */
static void load_reference(struct work *work, const uint8_t *blocks)
{
    const struct mf_makeup *makeup = work->makeup;
    const size_t count = makeup->block_count;
    struct choice *now = &work->now;

    for (size_t i = 0; i < BLOCKS; i += count) {
        struct mf_parts parts;

        makeup->load(blocks + (i < work->count ? i / count * makeup->bytes : 0),
                     &parts);
        for (size_t j = 0; j < count; j++)
            for (size_t k = 0; k < 2; k++) {
                now->unit[k][i + j] = parts.unit[k];
                now->multiple[k][i + j] = parts.multiple[k][j];
            }
    }
}

#endif
