/* SPDX-License-Identifier: MIT
 *
 * makeup.h - what a search needs to know of a type to find better blocks
 *
 * A super-block is a number that scales are multiples of, with some types
 * another for minimums, these multiples, and codes.  A type without
 * super-blocks has one block in each, and no multiples.
 */
#ifndef MF_LIB_QUANT_MAKEUP_H
#define MF_LIB_QUANT_MAKEUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked of an encoder: the reference's bytes, or how far it searches
 * for better ones.  The version changes with what any of these finds. */
enum { MF_EFFORT_LEAST = 1, MF_EFFORT_MOST = 4, MF_EFFORT_VERSION = 1 };

#define MF_MAKEUP_BLOCKS 16  /* of a super-block, at most */
#define MF_MAKEUP_CODES  256 /* likewise */

struct mf_parts {
    float unit[2]; /* what scales are multiples of, and minimums */
    float multiple[2][MF_MAKEUP_BLOCKS];
    uint8_t code[MF_MAKEUP_CODES]; /* number - low, or the place of a table */
};

enum mf_makeup_numbers {
    MF_NUMBERS_KEPT,    /* codes are not searched; the unit is fitted */
    MF_NUMBERS_WHOLE,   /* x = scale * number */
    MF_NUMBERS_TABLE,   /* the same, of IQ4's table */
    MF_NUMBERS_SHIFTED, /* x = scale * number - minimum */
};

/* How far a search goes.  Parts are thousandths. */
struct mf_depth {
    /* Of scales that are tried for a block, on each side of 0; of minimums with
     * each of them; of what scales are multiples of. */
    uint8_t scales, minimums, units;
    uint8_t rounds; /* of fitting to the codes that were found */
    uint8_t near;   /* multiples that far from those before are tried, too */
    /* Scales are parts of the one that just spans a block, minimums are moved
     * by parts of a scale, and units are parts of each other. */
    int16_t scale, scale_step, minimum, minimum_step, unit_step;
};

/* Without weights and with them, one for each effort above the least. */
typedef struct mf_depth mf_depths[2][MF_EFFORT_MOST - MF_EFFORT_LEAST];

/* The same without weights and with them. */
#define MF_DEPTHS_ALIKE(...)                                                   \
    {                                                                          \
        { __VA_ARGS__ },                                                       \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

/* Parts without codes are read; a block is written.  Multiples are whole
 * numbers within the bounds. */
struct mf_makeup {
    size_t bytes, block_size, block_count; /* bytes: of a super-block */
    enum mf_makeup_numbers numbers;
    float low, high;    /* the numbers */
    float least, most;  /* multiples of scales; equal: there are none */
    float most_minimum; /* of minimums, from 0 on */
    bool by_halves;     /* scales of a block are halves, tried one by one: then
                           scale and scale_step count halves */
    const mf_depths *depths; /* of kept numbers NULL, as are load and store */
    size_t unit;             /* of kept numbers, where it is in a block */
    void (*load)(const uint8_t *block, struct mf_parts *parts);
    void (*store)(const struct mf_parts *parts, uint8_t *block);
};

#endif
