/* SPDX-License-Identifier: MIT
 *
 * f32.c - floats, as they are
 */
#include "lib/base/little.h"
#include "lib/quant/quant.h"

static void decode(const uint8_t *restrict blocks, float *restrict out,
                   size_t columns)
{
    memcpy(out, blocks, columns * sizeof(*out));
    mf_order_floats(out, columns);
}

static void encode(const float *restrict row, const float *restrict weights,
                   uint8_t *restrict blocks, size_t columns)
{
    (void)weights;
    memcpy(blocks, row, columns * sizeof(*row));
    mf_order_floats(blocks, columns);
}

const struct mf_codec MF_CODEC(f32) = { .decode = decode, .encode = encode };
