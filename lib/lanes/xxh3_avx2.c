/* SPDX-License-Identifier: MIT
 *
 * xxh3_avx2.c - XXH3, with AVX2
 */
#define LANE avx2
#include "lib/lanes/xxh3_lane.h"
