/* SPDX-License-Identifier: MIT
 *
 * product_avx512.c - products of narrow matrices, with AVX-512
 */
#define LANE avx512
#include "lib/lanes/product_lane.h"
