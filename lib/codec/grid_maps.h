/* SPDX-License-Identifier: MIT
 *
 * grid_maps.h - the maps of grids, made once
 */
#ifndef MF_LIB_GRID_MAPS_H
#define MF_LIB_GRID_MAPS_H

#include "lib/base/error.h"
#include "lib/quant/grid_map.h"

/* The map of a grid, for all threads; made on first use and freed with the env.
 * NULL after mf_fail. */
const struct mf_grid_map *mf_grid_map_of(struct mf_env *env, enum mf_grid grid);

#endif
