/* SPDX-License-Identifier: MIT
 *
 * scan_avx2.c - the loops over numbers, with AVX2
 */
#define LANE avx2
#include "lib/lanes/scan_lane.h"
