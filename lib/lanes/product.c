/* SPDX-License-Identifier: MIT
 *
 * product.c - products of narrow matrices, one copy for each instruction
 * set
 *
 * It is compiled for each, with its name as MF_ISA.  Each sum is of products in
 * the order of the rank, each step rounded, so that all give the same: vectors
 * take sums side by side, never parts of one.
 *
 * Sums of some rows and columns stay in registers for all ranks; the loop that
 * took one row and one rank at a time loaded and stored a sum for each product.
 */
#include <string.h>

#include "lib/lanes/isa.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif

#define WIDTH (BYTES / sizeof(float))
#define ROWS  4 /* with two vectors of each: 11 registers of 16 */

typedef float vector __attribute__((vector_size(BYTES)));

static inline vector load(const float *from)
{
    vector to;

    memcpy(&to, from, sizeof(to));
    return to;
}

static inline void store(float *to, vector from)
{
    memcpy(to, &from, sizeof(from));
}

/* ROWS rows, two vectors of columns. */
static void add_block(float *sum, const float *a, const float *b, size_t ranks,
                      size_t stride)
{
    vector left[ROWS], right[ROWS];

    for (size_t i = 0; i < ROWS; i++) {
        left[i] = load(sum + i * stride);
        right[i] = load(sum + i * stride + WIDTH);
    }
    for (size_t k = 0; k < ranks; k++) {
        vector one = load(a + k * stride), two = load(a + k * stride + WIDTH);

        for (size_t i = 0; i < ROWS; i++) {
            float factor = b[i * ranks + k];

            left[i] += factor * one;
            right[i] += factor * two;
        }
    }
    for (size_t i = 0; i < ROWS; i++) {
        store(sum + i * stride, left[i]);
        store(sum + i * stride + WIDTH, right[i]);
    }
}

/* Any rows and columns. */
static void add_rest(float *sum, const float *a, const float *b,
                     struct mf_product_size size)
{
    for (size_t i = 0; i < size.rows; i++)
        for (size_t k = 0; k < size.ranks; k++) {
            float *restrict to = sum + i * size.stride;
            const float *restrict from = a + k * size.stride;
            float factor = b[i * size.ranks + k];

            for (size_t j = 0; j < size.columns; j++)
                to[j] += factor * from[j];
        }
}

void JOIN(mf_product_, MF_ISA)(float *sum, const float *a, const float *b,
                               struct mf_product_size size)
{
    size_t columns = size.columns - size.columns % (2 * WIDTH);
    size_t rows = size.rows - size.rows % ROWS;
    struct mf_product_size rest = size;

    for (size_t i = 0; i < rows; i += ROWS)
        for (size_t j = 0; j < columns; j += 2 * WIDTH)
            add_block(sum + i * size.stride + j, a + j, b + i * size.ranks,
                      size.ranks, size.stride);
    rest.rows = rows;
    rest.columns = size.columns - columns;
    add_rest(sum + columns, a + columns, b, rest);
    rest.rows = size.rows - rows;
    rest.columns = size.columns;
    add_rest(sum + rows * size.stride, a, b + rows * size.ranks, rest);
}
