/* SPDX-License-Identifier: MIT
 *
 * bench_quant.c - how fast each codec is, on each instruction set
 *
 *     bench_quant [KIB [TYPE]]
 *
 * GB/s of the f32 side, one thread, and their share of what memset (decode) or
 * memcpy (encode) reaches on KIB (65536: more than caches hold) of floats.
 */
#define _DEFAULT_SOURCE

#include <stdio.h>
#include <time.h>

#include "tests/quant.h"

#define COLUMNS 4096
#define SECONDS 0.2

static size_t row_count;
static float *floats, *weights;
static uint8_t *blocks;

/* Of the processor, so that busy neighbours count less. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

enum work { DECODE, ENCODE, ENCODE_WEIGHTED, SET, COPY };

static void run_row(enum work work, const struct mf_codec *codec, size_t size,
                    size_t row)
{
    float *at = floats + row * COLUMNS;
    uint8_t *block = blocks + row * size;

    if (work == DECODE)
        codec->decode(block, at, COLUMNS);
    else if (work == SET)
        memset(at, 1, size);
    else if (work == COPY)
        memcpy(block, at, size);
    else
        codec->encode(at, work == ENCODE ? NULL : weights, block, COLUMNS);
}

/* GB of floats in a second; the best of three. */
static double rate(enum work work, const struct mf_codec *codec, size_t size)
{
    double best = 0;

    for (int round = 0; round < 3; round++) {
        double start = now(), taken;
        size_t rows = 0;

        do {
            for (size_t i = 0; i < 16; i++, rows++)
                run_row(work, codec, size, rows % row_count);
            taken = now() - start;
        } while (taken < SECONDS / 3 || rows < row_count / 16);
        if ((double)rows * COLUMNS * 4e-9 / taken > best)
            best = (double)rows * COLUMNS * 4e-9 / taken;
    }
    return best;
}

static double set_rate, copy_rate;

/* Sensible numbers, so that no codec meets its odd cases all the time. */
static void fill(void)
{
    uint32_t noise = 1;

    for (size_t i = 0; i < row_count * COLUMNS; i++) {
        float sum = 0;

        for (int j = 0; j < 4; j++) {
            noise = noise * 1664525 + 1013904223;
            sum += (float)(noise >> 8) * 0x1p-24f - 0.5f;
        }
        floats[i] = sum;
    }
    for (size_t i = 0; i < COLUMNS; i++)
        weights[i] = floats[i] * floats[i];
}

static void bench(enum mf_type type, const struct mf_isa *isa)
{
    const struct mf_codec *codec = mf_codec_of(isa, type);
    size_t size = quant_row_size(type, COLUMNS);
    double encode = 0, weighted = 0, decode;

    fill();
    if (codec->encode) {
        encode = rate(ENCODE, codec, size);
        weighted = rate(ENCODE_WEIGHTED, codec, size);
    } else {
        for (size_t i = 0; i < row_count; i++) /* any bytes will do */
            memcpy(blocks + i * size, floats, size);
    }
    decode = rate(DECODE, codec, size);
    printf("%-12s %-9s %7.2f %4.0f %%", mf_types[type].name, isa->name, decode,
           100 * decode / set_rate);
    if (codec->encode)
        printf(" %8.3f %4.0f %% %8.3f", encode, 100 * encode / copy_rate,
               weighted);
    puts("");
}

int main(int argc, char **argv)
{
    size_t kib = argc > 1 ? strtoull(argv[1], NULL, 10) : 65536;
    const char *only = argc > 2 ? argv[2] : NULL;

    row_count = kib * 1024 / 4 / COLUMNS;
    row_count = row_count > 1 ? row_count : 2; /* one of doubles */
    floats = malloc(row_count * COLUMNS * 4);
    weights = malloc(COLUMNS * 4);
    blocks = malloc(row_count * COLUMNS * 8 + 64);
    if (!floats || !weights || !blocks)
        return 1;
    memset(blocks, 0, row_count * COLUMNS * 8);
    fill();
    set_rate = rate(SET, NULL, COLUMNS * 4);
    copy_rate = rate(COPY, NULL, COLUMNS * 4);
    printf("memset %.1f GB/s, memcpy %.1f GB/s\n", set_rate, copy_rate);
    printf("%-12s %-9s %7s %6s %8s %6s %8s\n", "type", "isa", "decode",
           "memset", "encode", "memcpy", "weighted");
    for (int type = 0; type < MF_TYPE_COUNT; type++)
        for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
            if (mf_codec_of(isa, (enum mf_type)type) && mf_isa_runs(isa) &&
                (!only || strcmp(only, mf_types[type].name) == 0))
                bench((enum mf_type)type, isa);
    free(floats);
    free(weights);
    free(blocks);
    return 0;
}
