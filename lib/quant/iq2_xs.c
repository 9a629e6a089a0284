/* SPDX-License-Identifier: MIT
 *
 * iq2_xs.c - 256 numbers of 2.31 bits: codes of a grid
 *
 * half scale, uint16 place[32], uint8 parts[8].  A place has 9 bits, and above
 * them seven signs; each half of a byte of parts is for 16 numbers;
 * number * scale * (part + 0.5) / 4.
 */
#include "lib/quant/grid_2.h"

static const struct mf_grid_levels levels = { { 8, 25, 43, 0, 8, 25, 43, 0 } };

static const uint16_t grid[512] = {
#include "lib/quant/iq2_xs.def"
};

static inline struct mf_grid_eight eight(const uint8_t *block, size_t i,
                                         float scale)
{
    uint32_t place = mf_load_u16(block + 2 + 2 * i);
    int part = block[66 + i / 4] >> (i / 2 % 2 * 4) & 15;

    return (struct mf_grid_eight){
        .code = grid[place & 511],
        .signs = mf_grid_eight_signs(place >> 9),
        .scale = scale * (0.5f + (float)part) * 0.25f,
    };
}

MF_GRID_DECODE(74, 2)

/* ---- encoding ---- */

#define BLOCK 256
#define BYTES 74
#define SIZE  MF_GRID_2_SIZE
#define PARTS (BLOCK / SIZE)
#define LEAST 1e-15f /* a part of nothing larger is zeros */

/* Eight signs of which an even number is set: where it would be odd that of the
 * number that matters least is turned, and its magnitude becomes negative. */
static unsigned take_signs(const float *row, const float *weight, float *x)
{
    unsigned signs = 0, count = 0;
    int least = 0;

    for (int i = 0; i < 8; i++) {
        bool minus = !(row[i] >= 0);

        x[i] = minus ? -row[i] : row[i];
        signs |= (unsigned)minus << i;
        count += minus;
    }
    if (count % 2 == 0)
        return signs & 127;
    for (int i = 1; i < 8; i++)
        if (weight[i] * row[i] * row[i] <
            weight[least] * row[least] * row[least])
            least = i;
    x[least] = -x[least];
    return (signs ^ 1u << least) & 127;
}

struct part {
    struct mf_grid_2 group;
    unsigned signs[2], code[2];
    bool on_grid[2];
    float scale;
};

/* False where the reference stops. */
static bool round_8(const struct mf_grid_map *map, const struct part *part,
                    int half, float inverse, float scale, unsigned *code,
                    bool *on_grid)
{
    const float *x = part->group.x + 8 * half;
    unsigned rounded = mf_grid_2_round(x, inverse);
    int32_t place = map->place[rounded];
    int found;

    *on_grid = place >= 0;
    *code = rounded;
    if (place >= 0)
        return true;
    found = mf_grid_2_nearest(mf_grid_near(map, place), x,
                              part->group.root + 8 * half, scale);
    *code = (unsigned)found;
    return found >= 0;
}

static bool try_scales(const struct mf_grid_map *map, struct part *part,
                       float most)
{
    float best = 0;

    for (int step = -MF_GRID_2_STEPS; step <= MF_GRID_2_STEPS; step++) {
        float inverse = (5 + (float)step * 0.1f) / most, scale = 1 / inverse;
        float with_x, squares;
        unsigned code[2];
        bool on_grid[2];

        for (int half = 0; half < 2; half++)
            if (!round_8(map, part, half, inverse, scale, &code[half],
                         &on_grid[half]))
                return false;
        mf_grid_2_sums(&part->group, code, &with_x, &squares);
        if (squares > 0 && with_x * with_x > best * squares) {
            part->scale = with_x / squares;
            best = part->scale * with_x;
            memcpy(part->code, code, sizeof(code));
            memcpy(part->on_grid, on_grid, sizeof(on_grid));
        }
    }
    return true;
}

/* Halves that the grid lacked are rounded again, at the best scale. */
static bool refine(const struct mf_grid_map *map, struct part *part)
{
    float inverse = 1 / part->scale, with_x, squares;

    if ((part->on_grid[0] && part->on_grid[1]) || !(part->scale > 0))
        return true;
    for (int half = 0; half < 2; half++) {
        bool on_grid;

        if (!part->on_grid[half] &&
            !round_8(map, part, half, inverse, part->scale, &part->code[half],
                     &on_grid))
            return false;
    }
    mf_grid_2_sums(&part->group, part->code, &with_x, &squares);
    if (squares > 0)
        part->scale = with_x / squares;
    return true;
}

static bool encode_part(const struct mf_grid_map *map, const float *row,
                        const float *weights, float variance, struct part *part)
{
    struct mf_grid_2 *group = &part->group;
    float most;

    for (int i = 0; i < SIZE; i++) {
        group->weight[i] = weights[i] * sqrtf(variance + row[i] * row[i]);
        group->root[i] = sqrtf(group->weight[i]);
    }
    for (int half = 0; half < 2; half++)
        part->signs[half] = take_signs(row + 8 * half, group->weight + 8 * half,
                                       group->x + 8 * half);
    most = group->x[0];
    for (int i = 1; i < SIZE; i++)
        most = most > group->x[i] ? most : group->x[i];
    part->code[0] = part->code[1] = 0;
    part->scale = 0;
    if (most < LEAST)
        return true;
    part->scale = most / 5;
    part->on_grid[0] = part->on_grid[1] = true;
    if (!try_scales(map, part, most) || !refine(map, part))
        return false;
    if (part->scale < 0) {
        part->scale = -part->scale;
        part->signs[0] ^= 127;
        part->signs[1] ^= 127;
    }
    return part->scale >= 0 && map->place[part->code[0]] >= 0 &&
           map->place[part->code[1]] >= 0;
}

static bool encode_block(const struct mf_grid_map *map, const float *row,
                         const float *weights, uint8_t *block)
{
    struct part part[PARTS];
    float most = 0, inverse, sum = 0;

    for (int i = 0; i < BLOCK; i++)
        sum += row[i] * row[i];
    memset(block, 0, BYTES);
    for (int i = 0; i < PARTS; i++) {
        if (!encode_part(map, row + SIZE * i, weights + SIZE * i, sum / BLOCK,
                         &part[i]))
            return false;
        most = most > part[i].scale ? most : part[i].scale;
    }
    if (most == 0)
        return true;
    mf_store_scale(block, most / 31);
    inverse = 1 / (most / 31);
    for (int i = 0; i < PARTS; i++) {
        int32_t scale = mf_k_round(0.5f * (inverse * part[i].scale - 1));

        scale = scale < 0 ? 0 : scale > 15 ? 15 : scale;
        block[66 + i / 2] |= (uint8_t)(scale << i % 2 * 4);
        for (int half = 0; half < 2; half++) {
            int32_t place = map->place[part[i].code[half]];

            mf_store_u16(
                block + 2 + 4 * i + 2 * half,
                (uint16_t)((unsigned)place | part[i].signs[half] << 9));
        }
    }
    return true;
}

static bool encode_on_grid(const struct mf_grid_map *map,
                           const float *restrict row,
                           const float *restrict weights,
                           uint8_t *restrict blocks, size_t columns)
{
    for (size_t i = 0; i < columns; i += BLOCK, blocks += BYTES)
        if (!encode_block(map, row + i, weights + i, blocks))
            return false;
    return true;
}

const struct mf_codec MF_CODEC(iq2_xs) = {
    .decode = decode,
    .encode_on_grid = encode_on_grid,
    .grid = MF_GRID_IQ2_XS,
    .needs_weights = true,
};
