/* SPDX-License-Identifier: MIT
 *
 * filled.c - writes a GGUF file of one type whose tensors hold real bytes
 *
 *     filled TYPE MIB OUT
 *
 * Eight tensors of noise in which no number and no scale is infinite: bit 6 of
 * each byte is clear, and that is the highest bit of every exponent.  A type
 * and a size always give the same bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/little.h"

enum { TENSORS = 8, ROW = 4096, ALIGNMENT = 32 };

static const struct type {
    const char *name;
    uint32_t id;
    uint64_t block, size;
} types[] = {
    { "f32", 0, 1, 4 },    { "f16", 1, 1, 2 },       { "bf16", 30, 1, 2 },
    { "q8_0", 8, 32, 34 }, { "q4_k", 12, 256, 144 }, { "q6_k", 14, 256, 210 },
};

static void put(FILE *file, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        putc(i < 8 ? (int)(value >> 8 * i & 0xff) : 0, file);
}

static void put_string(FILE *file, const char *text)
{
    put(file, strlen(text), 8);
    fputs(text, file);
}

static uint64_t padded(uint64_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void put_noise(FILE *file, uint64_t size)
{
    static uint8_t noise[8 * 8192];
    static uint64_t state = 0x9E3779B97F4A7C15;

    while (size > 0) {
        size_t some = size < sizeof(noise) ? (size_t)size : sizeof(noise);

        for (size_t i = 0; i < sizeof(noise) / 8; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            mf_put_little_64(noise + 8 * i, state & 0xbfbfbfbfbfbfbfbf);
        }
        fwrite(noise, 1, some, file);
        size -= some;
    }
}

static void write_model(FILE *file, const struct type *type, uint64_t rows)
{
    uint64_t size = rows * ROW / type->block * type->size;
    char name[32];

    fputs("GGUF", file);
    put(file, 3, 4);
    put(file, TENSORS, 8);
    put(file, 1, 8);
    put_string(file, "general.architecture");
    put(file, 8, 4); /* a string */
    put_string(file, "none");
    for (uint64_t i = 0; i < TENSORS; i++) {
        snprintf(name, sizeof(name), "t%" PRIu64 ".weight", i);
        put_string(file, name);
        put(file, 2, 4);
        put(file, ROW, 8);
        put(file, rows, 8);
        put(file, type->id, 4);
        put(file, i * padded(size), 8);
    }
    put(file, 0,
        (size_t)(padded((uint64_t)ftell(file)) - (uint64_t)ftell(file)));
    for (uint64_t i = 0; i < TENSORS; i++) {
        put_noise(file, size);
        put(file, 0, (size_t)(padded(size) - size));
    }
}

int main(int argc, char **argv)
{
    FILE *file;

    for (size_t i = 0; argc == 4 && i < sizeof(types) / sizeof(types[0]); i++) {
        const struct type *type = &types[i];
        uint64_t row = ROW / type->block * type->size;

        if (strcmp(type->name, argv[1]) != 0)
            continue;
        file = fopen(argv[3], "wb");
        if (!file) {
            perror(argv[3]);
            return 1;
        }
        write_model(file, type,
                    (strtoull(argv[2], NULL, 10) << 20) / TENSORS / row);
        if (ferror(file) | fclose(file)) {
            perror(argv[3]);
            return 1;
        }
        return 0;
    }
    fputs("usage: filled f32|f16|bf16|q8_0|q4_k|q6_k MIB OUT\n", stderr);
    return 2;
}
