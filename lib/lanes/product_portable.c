/* SPDX-License-Identifier: MIT
 *
 * product_portable.c - products of narrow matrices, for any processor
 */
#define LANE portable
#include "lib/lanes/product_lane.h"
