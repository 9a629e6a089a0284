/* SPDX-License-Identifier: MIT
 *
 * pytorch.c - what the converter computes, bit for bit as PyTorch does
 *
 * Bit for bit as PyTorch computes it in llama.cpp's converter: in floats, with
 * its power function, which is SLEEF's for all but the last elements of a
 * vector and the C library's for those.  A number divided by a tensor is the
 * tensor's reciprocal, times the number.
 */
#include "lib/hf/hub/pytorch.h"
#include "lib/base/little.h"

#include <assert.h>
#include <math.h>

/* ---- a vector whose numbers have the mean 0 ---- */

/* Bit for bit as PyTorch computes it: halves are summed as floats, and the mean
 * is rounded to their type.  Its sum has lanes as wide as AVX2's on every x86,
 * four sums in each lane, and levels that keep numbers of like size together.
 */

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

/* ---- a number as the sum of two floats ---- */

struct two {
    float high, low;
};

static struct two times(struct two a, struct two b)
{
    float high = a.high * b.high;
    float low = fmaf(a.high, b.high, -high);

    return (struct two){ high, fmaf(a.high, b.low, fmaf(a.low, b.high, low)) };
}

static struct two times_float(struct two a, float b)
{
    float high = a.high * b;

    return (struct two){ high, fmaf(a.low, b, fmaf(a.high, b, -high)) };
}

static struct two square(struct two a)
{
    float high = a.high * a.high;

    return (struct two){ high, fmaf(a.high + a.high, a.low,
                                    fmaf(a.high, a.high, -high)) };
}

/* What rounding took from a + b. */
static float lost(float a, float b, float sum)
{
    float part = sum - a;

    return (a - (sum - part)) + (b - part);
}

static struct two plus(struct two a, struct two b)
{
    float high = a.high + b.high;

    return (struct two){ high, lost(a.high, b.high, high) + a.low + b.low };
}

static struct two plus_float(struct two a, float b)
{
    float high = a.high + b;

    return (struct two){ high, lost(a.high, b, high) + a.low };
}

/* The same where a is at least as large as b. */
static struct two plus_smaller(struct two a, struct two b)
{
    float high = a.high + b.high;

    return (struct two){ high, (a.high - high) + b.high + a.low + b.low };
}

static struct two divide(struct two a, struct two b)
{
    float inverse = 1 / b.high;
    float high = a.high * inverse;
    float low = fmaf(inverse, a.high, -high);
    float error = fmaf(-b.low, inverse, fmaf(-b.high, inverse, 1));

    return (struct two){ high, fmaf(high, error, fmaf(a.low, inverse, low)) };
}

/* ---- x ** y, as SLEEF's Sleef_powf_u10 computes it ---- */

static struct two logarithm(float x)
{
    static const struct two third = { 0.66666662693023681640625F,
                                      3.69183861259614332084311e-09F };
    static const struct two log_2 = { 0.69314718246459960938F,
                                      -1.904654323148236017e-09F };
    struct two a, a2, sum;
    float mantissa, t;
    int exponent;

    frexpf(x * (1.0F / 0.75F), &exponent);
    exponent--;
    mantissa = ldexpf(x, -exponent);
    sum = (struct two){ mantissa - 1, 0 };
    sum.low = lost(-1, mantissa, sum.high);
    a = (struct two){ 1 + mantissa, 0 };
    a.low = lost(1, mantissa, a.high);
    a = divide(sum, a);
    a2 = square(a);
    t = fmaf(0.240320354700088500976562F, a2.high, 0.285112679004669189453125F);
    t = fmaf(t, a2.high, 0.400007992982864379882812F);
    sum = times_float(log_2, (float)exponent);
    sum = plus_smaller(sum, (struct two){ a.high * 2, a.low * 2 });
    return plus_smaller(sum,
                        times(times(a2, a), plus(times_float(a2, t), third)));
}

static float exponential(struct two x)
{
    const float log2_e = 1.442695040888963407359924681001892137F;
    float whole = rintf((x.high + x.low) * log2_e), t;
    struct two sum = plus_float(x, whole * -0.693145751953125F);

    sum = plus_float(sum, whole * -1.428606765330187045e-06F);
    t = sum.high + sum.low;
    sum = (struct two){ t, (sum.high - t) + sum.low };
    t = 0.00136324646882712841033936F;
    t = fmaf(t, sum.high, 0.00836596917361021041870117F);
    t = fmaf(t, sum.high, 0.0416710823774337768554688F);
    t = fmaf(t, sum.high, 0.166665524244308471679688F);
    t = fmaf(t, sum.high, 0.499999850988388061523438F);
    sum = plus_smaller(sum, times_float(square(sum), t));
    t = 1 + sum.high;
    t += (1 - t) + sum.high + sum.low;
    return ldexpf(t, (int)whole);
}

/* No result is too large or too small. */
float mf_llama3_power(float theta, float part)
{
    return exponential(times_float(logarithm(theta), part));
}

/* ---- the factors ---- */

/* Elements that PyTorch computes at once where it has AVX-512; the rest of a
 * vector goes through the C library.  With AVX2 it is 16: then the last 16 of
 * some widths (such as 96) may differ in the last bit. */
#define AT_ONCE 32

static float factor_of(const struct mf_llama3 *llama3, float wave)
{
    double original = llama3->original;
    float smooth;

    if (wave < (float)(original / llama3->high))
        return 1;
    if (wave > (float)(original / llama3->low))
        return (float)llama3->factor;
    smooth = (1 / wave * (float)original - (float)llama3->low) /
             (float)(llama3->high - llama3->low);
    return 1 / ((1 - smooth) / (float)llama3->factor + smooth);
}

/* The same where the converter takes the frequency out of the tensor. */
static float wide_factor_of(const struct mf_llama3 *llama3, float frequency)
{
    double wave = 2 * 3.141592653589793 / (double)frequency;
    double original = llama3->original, smooth;

    if (wave < original / llama3->high)
        return 1;
    if (wave > original / llama3->low)
        return (float)llama3->factor;
    smooth = (original / wave - llama3->low) / (llama3->high - llama3->low);
    return (float)(1 / ((1 - smooth) / llama3->factor + smooth));
}

void mf_llama3_factors(const struct mf_llama3 *llama3, float *out)
{
    const float two_pi = (float)6.283185307179586;
    float theta = (float)llama3->theta;
    int64_t count = (llama3->width + 1) / 2;

    for (int64_t i = 0; i < count; i++) {
        float part = (float)(2 * i) / (float)llama3->width;
        float raised = i < count / AT_ONCE * AT_ONCE
                           ? mf_llama3_power(theta, part)
                           : powf(theta, part);
        float frequency = 1 / raised;

        out[i] = llama3->wide ? wide_factor_of(llama3, frequency)
                              : factor_of(llama3, 1 / frequency * two_pi);
    }
}
