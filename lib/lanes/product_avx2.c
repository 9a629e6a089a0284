/* SPDX-License-Identifier: MIT
 *
 * product_avx2.c - products of narrow matrices, with AVX2
 */
#define LANE avx2
#include "lib/lanes/product_lane.h"
