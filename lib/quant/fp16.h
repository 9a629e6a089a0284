/* SPDX-License-Identifier: MIT
 *
 * fp16.h - halves by the instructions for them, where there are such
 *
 * Apart from floats.h, since the compiler's header of instructions takes it
 * longer to read than most codecs to compile.
 */
#ifndef MF_LIB_QUANT_FP16_H
#define MF_LIB_QUANT_FP16_H

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "lib/quant/floats.h"

/* The scale of a block, stored as a half. */
static inline float mf_load_scale(const uint8_t *at)
{
#ifdef __F16C__
    return mf_one_nan(_cvtsh_ss(mf_little_16(at)));
#else
    return mf_one_nan(mf_half_to_float(mf_little_16(at)));
#endif
}

static inline void mf_store_scale(uint8_t *at, float value)
{
#ifdef __F16C__
    uint16_t half = _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
#else
    uint16_t half = mf_float_to_half(value);
#endif

    /* The instruction would keep more of a NaN than its sign. */
    mf_put_little_16(at, value == value ? half : (half & 0x8000) | 0x7e00);
}

#endif
