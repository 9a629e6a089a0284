/* SPDX-License-Identifier: MIT
 *
 * xxh3_avx512.c - XXH3, with AVX-512
 */
#define LANE avx512
#include "lib/lanes/xxh3_lane.h"
