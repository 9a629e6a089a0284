/* SPDX-License-Identifier: MIT
 *
 * grid_map.h - where the points of a lattice are in a grid, or near it
 *
 * A code is a point of a lattice: eight digits of two bits, or four of three,
 * the first at the lowest bits.  A grid is a list of codes.  An encoder rounds
 * to a point; where the grid does not have it, it looks for the best of the
 * points of the grid that are nearest to it.  Which those are depends on the
 * grid alone, so they are listed once: lib/codec/grid_maps.h.
 */
#ifndef MF_LIB_QUANT_GRID_MAP_H
#define MF_LIB_QUANT_GRID_MAP_H

#include <stdint.h>

enum mf_grid {
    MF_GRID_NONE,
    MF_GRID_IQ1, /* of iq1_s and iq1_m */
    MF_GRID_IQ2_XXS,
    MF_GRID_IQ2_XS,
    MF_GRID_IQ2_S,
    MF_GRID_IQ3_XXS,
    MF_GRID_IQ3_S,
    MF_GRID_COUNT
};

/* Codes at a time that a search may load; and of the longest list, with what it
 * is filled up with. */
#define MF_NEAR_STEP 16
#define MF_NEAR_MAX  304

struct mf_grid_map {
    /* By code.  From 0 on: its place in the grid.  Below: it is not in the
     * grid, and mf_grid_near tells which codes of the grid are near.  Of codes
     * with eight digits, a digit of 3 is never made; there is no place for a
     * code above the one whose digits are all 2. */
    const int32_t *place;
    const uint16_t *near; /* lists, each with its count before it */
    const uint16_t *grid; /* codes by place */
    const struct mf_grid_cells *cells; /* of codes with four digits; or NULL */
};

struct mf_near {
    const uint16_t *code; /* in order of distance, then of place; up to the next
                             multiple of MF_NEAR_STEP the last is repeated */
    unsigned count;
};

/* Of a place below 0. */
static inline struct mf_near mf_grid_near(const struct mf_grid_map *map,
                                          int32_t place)
{
    const uint16_t *list = map->near + ~place;

    return (struct mf_near){ list + 1, *list };
}

#endif
