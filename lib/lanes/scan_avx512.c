/* SPDX-License-Identifier: MIT
 *
 * scan_avx512.c - the loops over numbers, with AVX-512
 */
#define LANE avx512
#include "lib/lanes/scan_lane.h"
