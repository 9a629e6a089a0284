/* SPDX-License-Identifier: MIT
 *
 * grid_cells.c - makes the lists of lib/quant/grid_cells.h
 */
#include "lib/codec/grid_cells.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define DIGITS 4
#define LEVELS 8
#define SIDES  16 /* of cells, for a digit */
#define NEAR   64 /* codes that are near another, at most */
#define PARTS  (NEAR / 2 / MF_CELL_WORDS)
#define BYTES  UINT32_C(0x80808080)

/* A list while it is made. */
struct list {
    unsigned count;
    uint16_t code[NEAR];
    uint32_t rank[NEAR]; /* a byte for each digit */
};

/* By the side of a cell: how many levels are nearer than this one. */
static void rank_levels(uint8_t rank[SIDES][LEVELS])
{
    for (int side = 0; side < SIDES; side++) {
        /* In quarters of a level: never as far from one as from another. */
        int inner = side < 2 ? 1 : side > 13 ? 14 : side;
        int at = 2 * inner - 1;

        for (int i = 0; i < LEVELS; i++) {
            int far = 4 * i - at < 0 ? at - 4 * i : 4 * i - at;

            rank[side][i] = 0;
            for (int j = 0; j < LEVELS; j++)
                if ((4 * j - at < 0 ? at - 4 * j : 4 * j - at) < far)
                    rank[side][i]++;
        }
    }
}

static unsigned side(unsigned cell, unsigned digit)
{
    return cell >> 4 * digit & 15;
}

/* No byte of a is above b's. */
static bool none_above(uint32_t a, uint32_t b)
{
    return (((b | BYTES) - a) & BYTES) == BYTES;
}

/* Appends the code where nothing before it is as near in each digit. */
static void offer(struct list *list, uint16_t code, uint32_t rank)
{
    for (unsigned i = 0; i < list->count; i++)
        if (none_above(list->rank[i], rank))
            return;
    list->code[list->count] = code;
    list->rank[list->count++] = rank;
}

/* Returns the number of parts. */
static size_t write_parts(const struct list *list, bool off,
                          uint32_t part[PARTS][MF_CELL_WORDS])
{
    unsigned codes = 2 * MF_CELL_WORDS;
    unsigned count = (list->count + codes - 1) / codes;

    for (unsigned i = 0; i < count * codes; i += 2) {
        uint32_t first = list->code[i < list->count ? i : 0];
        uint32_t second = list->code[i + 1 < list->count ? i + 1 : 0];

        part[i / codes][i % codes / 2] = first | second << MF_CELL_SECOND;
    }
    part[0][0] |= (off ? MF_CELL_OFF : 0) | list->count << MF_CELL_COUNT;
    return count;
}

struct making {
    const struct mf_grid_map *map;
    uint8_t rank[SIDES][LEVELS];
    struct mf_cells_found *found;
    struct mf_grid_cells *cells;
    size_t room, parts;
};

/* The first word has the count, so that no list is looked at beyond its end. */
static bool is_there(uint32_t (*there)[MF_CELL_WORDS],
                     uint32_t part[PARTS][MF_CELL_WORDS], size_t count)
{
    return there[0][0] == part[0][0] &&
           memcmp(there, part, count * sizeof(*part)) == 0;
}

/* Where those parts are: cells that are alike share a list. */
static uint16_t place_parts(struct making *making,
                            uint32_t part[PARTS][MF_CELL_WORDS], size_t count)
{
    uint16_t *found = making->found->start;
    const size_t last = sizeof(making->found->start) / sizeof(*found) - 1;
    const size_t size = count * sizeof(*part);
    uint32_t hash = 0;
    size_t slot;

    for (size_t i = 0; i < count * MF_CELL_WORDS; i++)
        hash = (hash ^ part[i / MF_CELL_WORDS][i % MF_CELL_WORDS]) *
               UINT32_C(0x9e3779b1);
    for (slot = hash >> 16 & last; found[slot] != 0; slot = (slot + 1) & last)
        if (is_there(making->cells->part + found[slot] - 1, part, count))
            return (uint16_t)(found[slot] - 1);
    assert(making->room - making->parts >= count);
    memcpy(making->cells->part[making->parts], part, size);
    making->parts += count;
    found[slot] = (uint16_t)(making->parts - count + 1);
    return (uint16_t)(found[slot] - 1);
}

static void make_cell(struct making *making, unsigned cell)
{
    const struct mf_grid_map *map = making->map;
    struct list list = { .count = 0 };
    struct mf_near near = { NULL, 0 };
    uint32_t part[PARTS][MF_CELL_WORDS] = { { 0 } };
    unsigned code = 0;
    int32_t place;

    for (unsigned i = 0; i < DIGITS; i++)
        code |= side(cell, i) / 2 << 3 * i;
    place = map->place[code];
    if (place >= 0)
        offer(&list, (uint16_t)code, 0);
    else
        near = mf_grid_near(map, place);
    assert(near.count <= NEAR);
    for (unsigned i = 0; i < near.count; i++) {
        uint32_t rank = 0;

        for (unsigned j = 0; j < DIGITS; j++) {
            unsigned level = near.code[i] >> 3 * j & 7;

            rank |= (uint32_t)making->rank[side(cell, j)][level] << 8 * j;
        }
        offer(&list, near.code[i], rank);
    }
    making->cells->start[cell] =
        place_parts(making, part, write_parts(&list, place < 0, part));
}

/* The cell whose list it has: 0 is as 1, 15 as 14. */
static unsigned inner_cell(unsigned cell)
{
    unsigned inner = 0;

    for (unsigned i = 0; i < DIGITS; i++) {
        unsigned one = side(cell, i);

        inner |= (one < 1 ? 1 : one > 14 ? 14 : one) << 4 * i;
    }
    return inner;
}

size_t mf_grid_cells_make(const struct mf_grid_map *map, size_t room,
                          struct mf_cells_found *found,
                          struct mf_grid_cells *cells)
{
    struct making making = {
        .map = map, .found = found, .cells = cells, .room = room
    };

    rank_levels(making.rank);
    for (unsigned cell = 0; cell < 1 << 16; cell++)
        if (inner_cell(cell) == cell)
            make_cell(&making, cell);
    for (unsigned cell = 0; cell < 1 << 16; cell++)
        cells->start[cell] = cells->start[inner_cell(cell)];
    return making.parts;
}
