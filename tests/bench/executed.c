/* SPDX-License-Identifier: MIT
 *
 * executed.c - decodes or encodes one row, to count what that executes
 *
 *     executed TYPE decode|encode COLUMNS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/quant/quant.h"

#define COLUMNS_MAX 65536

#define TYPES(ROW) ROW(f16) ROW(q8_0) ROW(q4_0) ROW(q4_k) ROW(q6_k)

#define ROW(name) extern const struct mf_codec mf_codec_##name##_portable;
TYPES(ROW)
#undef ROW

static const struct {
    const char *name;
    const struct mf_codec *codec;
} types[] = {
#define ROW(name) { #name, &mf_codec_##name##_portable },
    TYPES(ROW)
#undef ROW
};

static float row[COLUMNS_MAX];
static uint8_t blocks[COLUMNS_MAX * 4];

/* Finite as any type, and of both signs. */
static void fill(void)
{
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        row[i] = (float)((int)(i * 2654435761u % 2003) - 1001) / 1001;
    for (size_t i = 0; i < sizeof(blocks); i++)
        blocks[i] = (uint8_t)(0x20 + i * 7 % 28);
}

int main(int argc, char **argv)
{
    size_t columns = argc == 4 ? strtoul(argv[3], NULL, 10) : COLUMNS_MAX + 1;

    fill();
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (columns <= COLUMNS_MAX && strcmp(types[i].name, argv[1]) == 0) {
            if (strcmp(argv[2], "decode") == 0)
                types[i].codec->decode(blocks, row, columns);
            else
                types[i].codec->encode(row, NULL, blocks, columns);
            return 0;
        }
    fputs("usage: executed TYPE decode|encode COLUMNS\n", stderr);
    return 2;
}
