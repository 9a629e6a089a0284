/* SPDX-License-Identifier: MIT
 *
 * kinds.c - a model of f16 whose tensors differ in scale as real ones do
 *
 *     kinds dense|experts|tied|tiny|giant BLOCKS WIDTH OUT [MATRIX]
 *
 * Numbers are nearly normal, one in 64 is four times as large, and rows differ
 * by up to four times; kinds of tensors differ by up to ten.  MATRIX gets an
 * importance matrix in the old format of llama-imatrix.  The same arguments
 * always give the same bytes.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/little.h"

enum { ALIGNMENT = 32, HEADS = 4, EXPERTS = 4, TENSORS_MAX = 4096 };

struct tensor {
    char name[64];
    uint64_t dim[3];
    unsigned rank;
    double scale; /* 0: f32, all ones */
};

static struct tensor tensors[TENSORS_MAX];
static size_t count;

static uint64_t state = 1;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* ---- the tensors ---- */

static void add(const char *name, unsigned block, double scale, uint64_t a,
                uint64_t b, uint64_t c)
{
    struct tensor *tensor = &tensors[count++];

    if (count == TENSORS_MAX)
        exit(1);
    snprintf(tensor->name, sizeof(tensor->name), name, block);
    tensor->scale = scale;
    tensor->dim[0] = a;
    tensor->dim[1] = b;
    tensor->dim[2] = c;
    tensor->rank = b == 0 ? 1 : c == 0 ? 2 : 3;
}

static void add_block(unsigned i, uint64_t width, uint64_t experts)
{
    uint64_t wide = experts > 0 ? width : 2 * width, keys = width / 2;
    double deep = 1 + (i % 5) / 4.0; /* blocks differ, too */

    add("blk.%u.attn_norm.weight", i, 0, width, 0, 0);
    add("blk.%u.attn_q.weight", i, 0.03 * deep, width, width, 0);
    add("blk.%u.attn_k.weight", i, 0.05 * deep, width, keys, 0);
    add("blk.%u.attn_v.weight", i, 0.01, width, keys, 0);
    add("blk.%u.attn_output.weight", i, 0.012 * deep, width, width, 0);
    add("blk.%u.ffn_norm.weight", i, 0, width, 0, 0);
    if (experts > 0)
        add("blk.%u.ffn_gate_inp.weight", i, 0, width, experts, 0);
    add(experts > 0 ? "blk.%u.ffn_gate_exps.weight" : "blk.%u.ffn_gate.weight",
        i, 0.02 * deep, width, wide, experts);
    add(experts > 0 ? "blk.%u.ffn_up_exps.weight" : "blk.%u.ffn_up.weight", i,
        0.015, width, wide, experts);
    add(experts > 0 ? "blk.%u.ffn_down_exps.weight" : "blk.%u.ffn_down.weight",
        i, 0.006 * deep, wide, width, experts);
}

static void list(const char *kind, unsigned blocks, uint64_t width)
{
    uint64_t words = strcmp(kind, "giant") == 0 ? 64 * width : 4 * width;

    add("token_embd.weight", 0, 0.02, width, words, 0);
    for (unsigned i = 0; i < blocks; i++)
        add_block(i, width, strcmp(kind, "experts") == 0 ? EXPERTS : 0);
    add("output_norm.weight", 0, 0, width, 0, 0);
    if (strcmp(kind, "tied") != 0)
        add("output.weight", 0, 0.04, width, words, 0);
}

static uint64_t elements_of(const struct tensor *tensor)
{
    uint64_t elements = 1;

    for (unsigned i = 0; i < tensor->rank; i++)
        elements *= tensor->dim[i];
    return elements;
}

static uint64_t size_of(const struct tensor *tensor)
{
    return elements_of(tensor) * (tensor->scale > 0 ? 2 : 4);
}

/* ---- the file ---- */

static void put(FILE *file, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        putc(i < 8 ? (int)(value >> 8 * i & 0xff) : 0, file);
}

static void put_string(FILE *file, const char *text, size_t width)
{
    put(file, strlen(text), width);
    fputs(text, file);
}

static void put_text(FILE *file, const char *key, const char *text)
{
    put_string(file, key, 8);
    put(file, 8, 4);
    put_string(file, text, 8);
}

static void put_number(FILE *file, const char *key, uint64_t number)
{
    put_string(file, key, 8);
    put(file, 4, 4);
    put(file, number, 4);
}

static void pad(FILE *file)
{
    while (ftell(file) % ALIGNMENT != 0)
        putc(0, file);
}

static void put_head(FILE *file, const char *kind, unsigned blocks,
                     uint64_t width)
{
    bool experts = strcmp(kind, "experts") == 0;
    uint64_t offset = 0;

    put(file, 0x46554747, 4);
    put(file, 3, 4);
    put(file, count, 8);
    put(file, experts ? 12 : 10, 8);
    put_text(file, "general.architecture", "llama");
    put_number(file, "llama.block_count", blocks);
    put_number(file, "llama.embedding_length", width);
    put_number(file, "llama.context_length", 512);
    put_number(file, "llama.feed_forward_length", experts ? width : 2 * width);
    put_number(file, "llama.attention.head_count", HEADS);
    put_number(file, "llama.attention.head_count_kv", HEADS / 2);
    put_number(file, "llama.vocab_size", tensors[0].dim[1]);
    put_text(file, "tokenizer.ggml.model", "no_vocab");
    put_string(file, "llama.attention.layer_norm_rms_epsilon", 8);
    put(file, 6, 4);
    put(file, 0x3727c5ac, 4); /* 1e-5 */
    if (experts) {
        put_number(file, "llama.expert_count", EXPERTS);
        put_number(file, "llama.expert_used_count", 2);
    }
    for (size_t i = 0; i < count; i++) {
        const struct tensor *tensor = &tensors[i];

        put_string(file, tensor->name, 8);
        put(file, tensor->rank, 4);
        for (unsigned d = 0; d < tensor->rank; d++)
            put(file, tensor->dim[d], 8);
        put(file, tensor->scale > 0 ? 1 : 0, 4);
        put(file, offset, 8);
        offset += (size_of(tensor) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    pad(file);
}

/* Of a number that is normal as a half. */
static uint16_t half_of(double number)
{
    int exponent;
    double part = frexp(fabs(number), &exponent);
    uint16_t sign = number < 0 ? 0x8000 : 0;

    if (part < 0.5 || exponent + 14 < 1) /* 0, or too small */
        return sign;
    return (uint16_t)(sign | (exponent + 14) << 10 |
                      ((int)(part * 2048 - 1024)));
}

/* The sum of four numbers from 0 to 1 has a variance of 1/3. */
static double normal(void)
{
    uint64_t bits = draw();
    double sum = -2;

    for (unsigned i = 0; i < 4; i++)
        sum += (double)(bits >> 16 * i & 0xffff) / 65536;
    return sum * 1.7320508 * (draw() % 64 == 0 ? 4 : 1);
}

static void put_data(FILE *file, const struct tensor *tensor)
{
    uint64_t elements = elements_of(tensor);
    double row = 1;

    for (uint64_t i = 0; i < elements; i++) {
        if (i % tensor->dim[0] == 0)
            row = 0.5 + (double)(draw() % 1024) / 683;
        if (tensor->scale > 0)
            put(file, half_of(normal() * row * tensor->scale), 2);
        else
            put(file, 0x3f800000, 4);
    }
    pad(file);
}

/* ---- the matrix ---- */

static void put_float(FILE *file, float number)
{
    uint8_t bytes[4];

    mf_put_little_float(bytes, number);
    fwrite(bytes, 1, 4, file);
}

static void put_matrix(FILE *file)
{
    size_t entries = 0;

    for (size_t i = 0; i < count; i++)
        entries +=
            strncmp(tensors[i].name, "blk.", 4) == 0 && tensors[i].scale > 0;
    put(file, entries, 4);
    for (size_t i = 0; i < count; i++) {
        const struct tensor *tensor = &tensors[i];
        uint64_t values =
            tensor->dim[0] * (tensor->rank > 2 ? tensor->dim[2] : 1);

        if (strncmp(tensor->name, "blk.", 4) != 0 || !(tensor->scale > 0))
            continue;
        put_string(file, tensor->name, 4);
        put(file, 1, 4);
        put(file, values, 4);
        for (uint64_t k = 0; k < values; k++)
            put_float(file, (float)(0.1 + pow(normal(), 2)));
    }
}

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "wb");

    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static int close_file(FILE *file)
{
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    FILE *file;
    unsigned blocks;
    uint64_t width;
    int code;

    if (argc < 5) {
        fprintf(stderr, "usage: kinds KIND BLOCKS WIDTH OUT [MATRIX]\n");
        return 2;
    }
    blocks = (unsigned)strtoul(argv[2], NULL, 10);
    width = strtoull(argv[3], NULL, 10);
    list(argv[1], strcmp(argv[1], "tiny") == 0 ? 1 : blocks, width);
    file = open_file(argv[4]);
    put_head(file, argv[1], strcmp(argv[1], "tiny") == 0 ? 1 : blocks, width);
    for (size_t i = 0; i < count; i++)
        put_data(file, &tensors[i]);
    code = close_file(file);
    if (argc > 5) {
        file = open_file(argv[5]);
        put_matrix(file);
        code |= close_file(file);
    }
    return code;
}
