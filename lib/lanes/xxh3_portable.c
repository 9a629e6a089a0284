/* SPDX-License-Identifier: MIT
 *
 * xxh3_portable.c - XXH3, for any processor
 */
#define LANE portable
#include "lib/lanes/xxh3_lane.h"
