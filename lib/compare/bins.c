/* SPDX-License-Identifier: MIT
 *
 * bins.c - how many numbers there are of each sign and exponent
 *
 * Sign and exponent are the upper bits of a float, and count as they are.  Only
 * where these say 0 does a second look tell zeros from subnormal numbers.
 */
#include "lib/compare/bins.h"

#include <string.h>

#include "lib/base/little.h"

/* Numbers that are counted in one go: so many fit counters of 32 bits, and pay
 * for moving these to the bins. */
#define BATCH ((size_t)1 << 16)

#define FLOAT_BITS 23 /* of the mantissa */
#define FLOAT_SIGN ((uint32_t)1 << 31)
#define FLOAT_FIELD                                                            \
    256 /* values of the exponent's bits; the last are NaN and                 \
           infinity */

#define DOUBLE_BITS  52
#define DOUBLE_SIGN  ((uint64_t)1 << 63)
#define DOUBLE_FIELD 2048

/* Numbers next to each other mostly have the same few exponents: a counter that
 * was just written would have to be waited for. */
#define LANES 4

struct mf_exponents mf_exponents_of(enum mf_type type)
{
    if (mf_type_is_integer(type))
        return (struct mf_exponents){ 0, 64 };
    if (type == MF_TYPE_F64)
        return (struct mf_exponents){ -1074, DOUBLE_FIELD - 2 + DOUBLE_BITS };
    return (struct mf_exponents){ -149, FLOAT_FIELD - 2 + FLOAT_BITS };
}

/* The place of the highest bit of a number that is not 0. */
static size_t highest_bit(uint64_t number)
{
    return 63 - (size_t)__builtin_clzll(number);
}

static uint32_t float_bits(const float *at)
{
    uint32_t bits;

    memcpy(&bits, at, sizeof(bits));
    return bits;
}

static void add_small_floats(uint64_t *bins, const float *at, size_t count)
{
    size_t half = mf_exponents_of(MF_TYPE_F32).count;

    for (size_t i = 0; i < count; i++) {
        uint32_t bits = float_bits(at + i), size = bits & ~FLOAT_SIGN;

        if (size > 0 && size >> FLOAT_BITS == 0)
            bins[(bits == size ? half : 0) + highest_bit(size)]++;
    }
}

/* At most BATCH of them. */
static void add_floats(uint64_t *bins, const float *at, size_t count)
{
    uint32_t seen[LANES][2 * FLOAT_FIELD] = { { 0 } };
    size_t half = mf_exponents_of(MF_TYPE_F32).count, small = 0;

    for (size_t i = 0; i < count; i++)
        seen[i % LANES][float_bits(at + i) >> FLOAT_BITS]++;
    for (size_t lane = 0; lane < LANES; lane++) {
        small += seen[lane][0] + seen[lane][FLOAT_FIELD];
        for (size_t k = 1; k < FLOAT_FIELD - 1; k++) {
            bins[half + FLOAT_BITS - 1 + k] += seen[lane][k];
            bins[FLOAT_BITS - 1 + k] += seen[lane][FLOAT_FIELD + k];
        }
    }
    if (small > 0)
        add_small_floats(bins, at, count);
}

static void add_doubles(uint64_t *bins, const uint8_t *bytes, size_t count)
{
    size_t half = mf_exponents_of(MF_TYPE_F64).count;

    for (size_t i = 0; i < count; i++) {
        uint64_t bits = mf_little_64(bytes + i * sizeof(bits));
        uint64_t size = bits & ~DOUBLE_SIGN;
        size_t field = (size_t)(size >> DOUBLE_BITS);
        uint64_t *side = bins + (bits == size ? half : 0);

        if (field == 0 && size > 0)
            side[highest_bit(size)]++;
        else if (field > 0 && field < DOUBLE_FIELD - 1)
            side[DOUBLE_BITS - 1 + field]++;
    }
}

static void add_integers(uint64_t *bins, enum mf_type type,
                         const uint8_t *bytes, size_t count)
{
    size_t half = mf_exponents_of(type).count, each = mf_types[type].bytes;
    bool is_signed = mf_type_is_signed(type);

    for (size_t i = 0; i < count; i++) {
        uint64_t number = mf_integer_at(type, bytes + i * each);
        bool negative = is_signed && number >> 63;

        if (number != 0)
            bins[(negative ? 0 : half) +
                 highest_bit(negative ? 0 - number : number)]++;
    }
}

void mf_bins_add(uint64_t *bins, const struct mf_numbers *numbers)
{
    for (size_t i = 0, some; numbers->floats && i < numbers->count; i += some) {
        some = numbers->count - i < BATCH ? numbers->count - i : BATCH;
        add_floats(bins, numbers->floats + i, some);
    }
    if (numbers->floats)
        return;
    if (numbers->type == MF_TYPE_F64)
        add_doubles(bins, numbers->bytes, numbers->count);
    else
        add_integers(bins, numbers->type, numbers->bytes, numbers->count);
}
