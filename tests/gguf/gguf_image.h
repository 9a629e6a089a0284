/* SPDX-License-Identifier: MIT
 *
 * gguf_image.h - a GGUF file in memory: tensors of noise, of any name and size
 */
#ifndef TESTS_GGUF_IMAGE_H
#define TESTS_GGUF_IMAGE_H

#include "tests/support.h"

struct piece {
    const char *name;
    size_t name_size, bytes; /* of i8; a multiple of the alignment */
    unsigned noise;          /* equal numbers make equal bytes */
};

static struct image {
    uint8_t *at;
    size_t size;
} image;

static inline void put(const void *bytes, size_t size)
{
    memcpy(image.at + image.size, bytes, size);
    image.size += size;
}

static inline void put_number(uint64_t number, size_t size)
{
    set_number(image.at + image.size, number, size);
    image.size += size;
}

static inline void fill(uint8_t *at, size_t size, unsigned number)
{
    for (size_t i = 0; i < size; i++) {
        number = number * 1664525 + 1013904223; /* of Numerical Recipes */
        at[i] = (uint8_t)(number >> 24);
    }
}

/* A GGUF file; free image.at. */
static inline void make_image(const struct piece *piece, size_t count)
{
    size_t room = 1 << 16;
    uint64_t offset = 0;

    for (size_t i = 0; i < count; i++)
        room += piece[i].bytes + piece[i].name_size + 64;
    image = (struct image){ .at = calloc(1, room) };
    assert_non_null(image.at);
    put("GGUF", 4);
    put_number(3, 4);
    put_number(count, 8);
    put_number(0, 8);
    for (size_t i = 0; i < count; i++) {
        put_number(piece[i].name_size, 8);
        put(piece[i].name, piece[i].name_size);
        put_number(1, 4);
        put_number(piece[i].bytes, 8);
        put_number(24, 4); /* i8 */
        put_number(offset, 8);
        offset += piece[i].bytes;
    }
    image.size = (image.size + 31) / 32 * 32;
    for (size_t i = 0; i < count; i++) {
        fill(image.at + image.size, piece[i].bytes, piece[i].noise);
        image.size += piece[i].bytes;
    }
}

#define NAMED(text) .name = text, .name_size = sizeof(text) - 1

enum { MIB = 1 << 20 };

/* Several slices, several buffers, one buffer, nothing; some twice. */
static const struct piece pieces[] = {
    { NAMED("small"), 96, 1 },
    { NAMED("large"), 40 * MIB + 32, 2 },
    { NAMED("medium"), 5 * MIB + 64, 3 },
    { NAMED("small again"), 96, 1 },
    { NAMED("small but other"), 96, 4 },
    { NAMED("medium again"), 5 * MIB + 64, 3 },
    { NAMED("small, other again"), 96, 4 },
};

static inline int make(void **state)
{
    (void)state;
    make_image(pieces, COUNT(pieces));
    return 0;
}

static inline int unmake(void **state)
{
    (void)state;
    free(image.at);
    return 0;
}

static const unsigned thread_counts[] = { 1, 2, 3, 7 };

static inline struct mf_env *env_with(unsigned threads)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .threads = threads };
    struct mf_env *made = mf_env_new(&options);

    assert_non_null(made);
    return made;
}

static inline struct mf_model *open_image(struct mf_env *env)
{
    struct mf_model *model;

    if (mf_model_open_memory(env, "made.gguf", image.at, image.size, NULL,
                             &model) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return model;
}

#endif
