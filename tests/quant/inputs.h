/* SPDX-License-Identifier: MIT
 *
 * inputs.h - numbers of every kind, the same in each run
 */
#ifndef TESTS_QUANT_INPUTS_H
#define TESTS_QUANT_INPUTS_H

#include <math.h>

#include "lib/quant/floats.h"

static uint64_t noise = 1;

static uint32_t next_noise(void)
{
    noise = noise * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(noise >> 32);
}

static float near_normal(void) /* the sum of four uniform numbers */
{
    float sum = 0;

    for (int i = 0; i < 4; i++)
        sum += (float)(next_noise() >> 8) * 0x1p-24f - 0.5f;
    return sum;
}

static float any_bits(void)
{
    return mf_float_of_bits(next_noise());
}

static float any_scale(void) /* finite, 2^-40 to 2^40 */
{
    int power = (int)(next_noise() % 80) - 40;

    return ldexpf(near_normal(), power);
}

static float subnormal(void)
{
    return mf_float_of_bits(next_noise() & 0x807fffff);
}

static float largest(void)
{
    return next_noise() & 1 ? 3.4028234e38f : -3.4028234e38f;
}

static float zero(void)
{
    return next_noise() & 1 ? 0.0f : -0.0f;
}

static float halves(void) /* many ties */
{
    return (float)(int)(next_noise() % 33) * 0.5f - 8.0f;
}

static float some_not_finite(void)
{
    static const float odd[] = { NAN, -NAN, INFINITY, -INFINITY };

    return next_noise() % 50 == 0 ? odd[next_noise() % 4] : near_normal();
}

static float (*const inputs[])(void) = {
    near_normal, any_bits, any_scale, subnormal,
    largest,     zero,     halves,    some_not_finite,
};
#define INPUTS (sizeof(inputs) / sizeof(*inputs))

#endif
