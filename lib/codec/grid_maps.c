/* SPDX-License-Identifier: MIT
 *
 * grid_maps.c - the maps of grids, made once
 *
 * For each code that is not in the grid the distances of all that are: as
 * integers, the sum of squares of what digits differ by.  Points at so many
 * shortest different distances are listed, by distance and then by place.
 * Distances are small, so they are counted and not sorted.
 */
#include "lib/codec/grid_maps.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/kept.h"
#include "lib/quant/grid_cells.h"
#include "lib/quant/grid_map.h"

/* ---- the lists of lib/quant/grid_cells.h ---- */

/* Lists by their content: where they begin, plus 1; 0: none. */
struct mf_cells_found {
    uint16_t start[1 << 15];
};

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

/* From the map's place and near.  Writes so many parts of lists at most, and
 * returns how many there are.  found: zeros. */
static size_t mf_grid_cells_make(const struct mf_grid_map *map, size_t room,
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

/* ---- the maps of grids, made once ---- */

#define PLACES    2048 /* of the largest grid */
#define DISTANCES 256  /* 4 * 49, and 8 * 9, are the greatest */
#define HALVES    256  /* codes are looked up by halves */

static const uint16_t iq1[] = {
#include "lib/quant/iq1.def"
};
static const uint16_t iq2_xxs[] = {
#include "lib/quant/iq2_xxs.def"
};
static const uint16_t iq2_xs[] = {
#include "lib/quant/iq2_xs.def"
};
static const uint16_t iq2_s[] = {
#include "lib/quant/iq2_s.def"
};
static const uint16_t iq3_xxs[] = {
#include "lib/quant/iq3_xxs.def"
};
static const uint16_t iq3_s[] = {
#include "lib/quant/iq3_s.def"
};

struct grid {
    const uint16_t *code;
    uint16_t count;
    uint8_t digits, width; /* of a code; bits of a digit */
    uint8_t top;           /* the greatest digit */
    uint8_t shells;        /* different distances whose codes are near */
    uint16_t parts;        /* of lists by cell; 0: none */
};

#define GRID(name, digits, width, top, shells, parts)                          \
    {                                                                          \
        name, sizeof(name) / sizeof(*name), digits, width, top, shells, parts  \
    }

static const struct grid grids[MF_GRID_COUNT] = {
    [MF_GRID_IQ1] = GRID(iq1, 8, 2, 2, 3, 0),
    [MF_GRID_IQ2_XXS] = GRID(iq2_xxs, 8, 2, 2, 2, 0),
    [MF_GRID_IQ2_XS] = GRID(iq2_xs, 8, 2, 2, 2, 0),
    [MF_GRID_IQ2_S] = GRID(iq2_s, 8, 2, 2, 1, 0),
    [MF_GRID_IQ3_XXS] = GRID(iq3_xxs, 4, 3, 7, 2, 9410),
    [MF_GRID_IQ3_S] = GRID(iq3_s, 4, 3, 7, 3, 15417),
};

_Static_assert(MF_GRID_COUNT <= MF_KEPT, "the env keeps a map of each");
_Static_assert(sizeof(iq1) / sizeof(*iq1) <= PLACES, "none is larger");

/* A code with the distance of each half, and what they add up to. */
struct search {
    const struct grid *grid;
    uint8_t half[2][HALVES];
    unsigned high; /* the code's higher half, for half[1] */
    uint8_t distance[PLACES];
    uint16_t start[DISTANCES + 1]; /* where codes at a distance begin */
    unsigned limit;                /* the greatest that is near */
};

static unsigned digit(const struct grid *grid, unsigned code, unsigned i)
{
    return code >> i * grid->width & ((1u << grid->width) - 1);
}

static unsigned half_bits(const struct grid *grid)
{
    return grid->digits * grid->width / 2u;
}

/* Codes from 0 to the one with the greatest digits. */
static unsigned code_count(const struct grid *grid)
{
    unsigned last = 0;

    for (unsigned i = 0; i < grid->digits; i++)
        last = last << grid->width | grid->top;
    return last + 1;
}

static bool is_made(const struct grid *grid, unsigned code)
{
    for (unsigned i = 0; i < grid->digits; i++)
        if (digit(grid, code, i) > grid->top)
            return false;
    return true;
}

/* From a half of the code to all there are, which have half as many digits. */
static void measure_half(struct search *search, unsigned code, int half)
{
    const struct grid *grid = search->grid;
    unsigned bits = half_bits(grid), digits = grid->digits / 2u;

    code = code >> (half ? bits : 0) & ((1u << bits) - 1);
    search->half[half][0] = 0;
    for (unsigned i = 0; i < digits; i++) {
        unsigned step = 1u << i * grid->width;
        int from = (int)digit(grid, code, i);

        for (unsigned other = (1u << grid->width); other-- > 0;) {
            int apart = (int)other - from;

            for (unsigned j = 0; j < step; j++)
                search->half[half][other * step + j] =
                    (uint8_t)(search->half[half][j] + apart * apart);
        }
    }
}

/* Returns how many codes are near. */
static unsigned measure(struct search *search, unsigned code)
{
    const struct grid *grid = search->grid;
    unsigned bits = half_bits(grid), low = (1u << bits) - 1;
    unsigned shells = 0, sum = 0;
    uint16_t count[DISTANCES] = { 0 };

    measure_half(search, code, 0);
    if (code >> bits != search->high)
        measure_half(search, code, 1);
    search->high = code >> bits;
    for (unsigned i = 0; i < grid->count; i++) {
        unsigned distance = (unsigned)search->half[0][grid->code[i] & low] +
                            search->half[1][grid->code[i] >> bits];

        search->distance[i] = (uint8_t)distance;
        count[distance]++;
    }
    for (unsigned i = 0; shells < grid->shells && i < DISTANCES; i++) {
        search->start[i] = (uint16_t)sum;
        search->limit = i;
        shells += count[i] > 0;
        sum += count[i];
    }
    return sum;
}

static void list(struct search *search, uint16_t *out, unsigned count)
{
    const struct grid *grid = search->grid;

    assert(count > 0 && count <= MF_NEAR_MAX);
    out[0] = (uint16_t)count;
    for (unsigned i = 0; i < grid->count; i++)
        if (search->distance[i] <= search->limit)
            out[1 + search->start[search->distance[i]]++] = grid->code[i];
    for (unsigned i = count; i % MF_NEAR_STEP != 0; i++)
        out[1 + i] = out[count];
}

/* Numbers that a list takes. */
static size_t list_size(unsigned count)
{
    return 1 + (count + MF_NEAR_STEP - 1) / MF_NEAR_STEP * MF_NEAR_STEP;
}

/* All lists, one after another; where near is NULL, only their size. */
static size_t make_lists(const struct grid *grid, int32_t *place,
                         uint16_t *near)
{
    struct search search = { .grid = grid, .high = UINT32_MAX };
    unsigned codes = code_count(grid);
    size_t size = 0;

    for (unsigned code = 0; code < codes; code++) {
        if (place[code] >= 0 || !is_made(grid, code))
            continue;

        unsigned count = measure(&search, code);

        if (near) {
            place[code] = ~(int32_t)size;
            list(&search, near + size, count);
        }
        size += list_size(count);
    }
    return size;
}

static void make_places(const struct grid *grid, int32_t *place)
{
    memset(place, 0xff, code_count(grid) * sizeof(*place));
    for (unsigned i = 0; i < grid->count; i++)
        place[grid->code[i]] = (int32_t)i;
}

/* Into the room after the lists; false after mf_fail. */
static bool make_cells(struct mf_env *env, const struct grid *grid,
                       struct mf_grid_map *map, void *room)
{
    struct mf_cells_found *found = mf_alloc(env, sizeof(*found));
    size_t parts;

    if (!found)
        return false;
    memset(found, 0, sizeof(*found));
    parts = mf_grid_cells_make(map, grid->parts, found, room);
    assert(parts == grid->parts);
    (void)parts;
    mf_release(env, found, sizeof(*found));
    map->cells = room;
    return true;
}

/* One block: the map, places, lists by code, lists by cell. */
static void *make(struct mf_env *env, size_t index, size_t *size)
{
    const struct grid *grid = &grids[index];
    size_t head = sizeof(struct mf_grid_map);
    size_t places = code_count(grid) * sizeof(int32_t), lists;
    size_t cells = sizeof(struct mf_grid_cells) +
                   grid->parts * MF_CELL_WORDS * sizeof(uint32_t);
    struct mf_grid_map *map;
    int32_t *place = mf_alloc(env, places);

    if (!place)
        return NULL;
    make_places(grid, place);
    lists = make_lists(grid, place, NULL) * sizeof(uint16_t);
    mf_release(env, place, places);
    *size = head + places + lists + (grid->parts > 0 ? cells : 0);
    map = mf_alloc(env, *size);
    if (!map)
        return NULL;
    place = (void *)((char *)map + head);
    *map = (struct mf_grid_map){ .place = place,
                                 .near = (void *)((char *)place + places),
                                 .grid = grid->code };
    make_places(grid, place);
    make_lists(grid, place, (void *)((char *)place + places));
    if (grid->parts > 0 &&
        !make_cells(env, grid, map, (char *)place + places + lists)) {
        mf_release(env, map, *size);
        return NULL;
    }
    return map;
}

const struct mf_grid_map *mf_grid_map_of(struct mf_env *env, enum mf_grid grid)
{
    assert(grid > MF_GRID_NONE && grid < MF_GRID_COUNT);
    return mf_kept(env, grid, make);
}
