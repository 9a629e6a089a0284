/* SPDX-License-Identifier: MIT
 *
 * differences.h - models made in memory, and what mf_model_diff finds between
 * them
 */
#ifndef TESTS_DIFFERENCES_H
#define TESTS_DIFFERENCES_H

#include "tests/apr/apr_image.h"

/* ---- what was found ---- */

struct list {
    struct mf_difference at[64];
    size_t count;
};

static inline void keep(void *user, const struct mf_difference *difference)
{
    struct list *list = user;

    if (list->count < COUNT(list->at))
        list->at[list->count] = *difference;
    list->count++;
}

static inline struct mf_model *open_bytes(struct mf_env *own, const void *bytes,
                                          size_t size)
{
    struct mf_model *model = NULL;

    mf_model_open_memory(own, "memory", bytes, size, NULL, &model);
    return model;
}

static inline enum mf_status diff(struct mf_model *a, struct mf_model *b,
                                  bool data, struct list *list)
{
    struct mf_diff_options options = { .size = sizeof(struct mf_diff_options),
                                       .no_data = !data };

    list->count = 0;
    return mf_model_diff(a, b, &options, keep, list);
}

static inline void expect(const struct list *list, size_t at, unsigned what,
                          size_t a, size_t b, uint64_t first)
{
    const struct mf_difference *found = &list->at[at];

    assert_true(at < list->count);
    if (found->what != what || found->a != a || found->b != b ||
        found->first != first)
        fail_msg("%zu: %u of %zu and %zu at %" PRIu64, at, found->what,
                 found->a, found->b, found->first);
}

/* ---- files in memory ---- */

struct bytes {
    uint8_t at[65536];
    size_t size;
};

static struct bytes gguf, other;

static inline void add(struct bytes *bytes, const void *from, size_t size)
{
    assert_true(size <= sizeof(bytes->at) - bytes->size);
    memcpy(bytes->at + bytes->size, from, size);
    bytes->size += size;
}

static inline void add_number(struct bytes *bytes, uint64_t number, size_t size)
{
    in_file_order(&number, 1, sizeof(number));
    add(bytes, &number, size);
}

static inline void add_string(struct bytes *bytes, const char *text)
{
    add_number(bytes, strlen(text), 8);
    add(bytes, text, strlen(text));
}

static inline void begin_gguf(struct bytes *bytes, uint64_t tensors,
                              uint64_t keys)
{
    bytes->size = 0;
    add(bytes, "GGUF", 4);
    add_number(bytes, 3, 4);
    add_number(bytes, tensors, 8);
    add_number(bytes, keys, 8);
}

/* A tensor of f32 whose data begins at an offset. */
static inline void add_tensor(struct bytes *bytes, const char *name,
                              uint64_t offset, size_t rank, const uint64_t *dim)
{
    add_string(bytes, name);
    add_number(bytes, rank, 4);
    for (size_t i = 0; i < rank; i++)
        add_number(bytes, dim[i], 8);
    add_number(bytes, 0, 4);
    add_number(bytes, offset, 8);
}

/* Zeros to the next multiple of 32. */
static inline void add_padding(struct bytes *bytes)
{
    while (bytes->size % 32 != 0)
        add_number(bytes, 0, 1);
}

/* gguf against the APR file, or against another GGUF file. */
static inline void diff_gguf(struct list *list, bool with_json)
{
    struct mf_model *a = open_bytes(env, gguf.at, gguf.size);
    struct mf_model *b =
        with_json ? open_image("json") : open_bytes(env, other.at, other.size);

    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(diff(a, b, true, list), MF_OK);
    mf_model_close(b);
    mf_model_close(a);
}

#endif
