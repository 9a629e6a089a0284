/* SPDX-License-Identifier: MIT
 *
 * f8_e4m3fnuz.c - four bits of exponent with bias 8, three below
 *
 * No infinities and no negative zero: its code is the one NaN.
 */
#include "lib/quant/quant.h"
#include "lib/quant/small.h"

MF_FNUZ_CODEC(f8_e4m3fnuz, 3, 8);
