/* SPDX-License-Identifier: MIT
 *
 * scan_portable.c - the loops over numbers, for any processor
 */
#define LANE portable
#include "lib/lanes/scan_lane.h"
