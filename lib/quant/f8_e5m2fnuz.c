/* SPDX-License-Identifier: MIT
 *
 * f8_e5m2fnuz.c - five bits of exponent with bias 16, two below
 *
 * No infinities and no negative zero: its code is the one NaN.
 */
#include "lib/quant/quant.h"
#include "lib/quant/small.h"

MF_FNUZ_CODEC(f8_e5m2fnuz, 2, 16);
