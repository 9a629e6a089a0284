/* SPDX-License-Identifier: MIT
 *
 * support.h - what several tests need: fixtures, a failing heap, a full walk
 */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/little.h"
#include "lib/program.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- the locale ---- */

/* locale.t runs tests in one whose decimal point is a comma. */
static void __attribute__((constructor)) set_locale(void)
{
    const char *name = getenv("TEST_LOCALE");

    if (name && !setlocale(LC_ALL, name)) {
        fprintf(stderr, "there is no locale '%s'\n", name);
        abort();
    }
}

/* ---- fixtures ---- */

static inline const char *fixture_folder(void)
{
    const char *folder = getenv("FIXTURES");

    return folder ? folder : "fixtures";
}

static inline const char *fixture_path(const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *out = path[turn++ % 4];

    snprintf(out, sizeof(path[0]), "%s/%s", fixture_folder(), name);
    return out;
}

/* The whole file; free it. */
static inline uint8_t *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t room = 1 << 16, got;

    assert_non_null(file);
    *size = 0;
    do {
        room *= 2;
        bytes = realloc(bytes, room);
        assert_non_null(bytes);
        got = fread(bytes + *size, 1, room - *size, file);
        *size += got;
    } while (got > 0 && *size == room);
    fclose(file);
    return bytes;
}

/* ---- numbers of files, on any processor ---- */

/* The low bytes of a number, least significant first. */
static inline void set_number(void *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)at)[i] = (uint8_t)(i < 8 ? value >> (8 * i) : 0);
}

static inline uint64_t get_number(const void *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = size; i-- > 0;)
        value = value << 8 | ((const uint8_t *)at)[i];
    return value;
}

/* Numbers as the processor has them become a file's, or the other way.
 */
static inline void in_file_order(void *at, size_t count, size_t width)
{
    uint8_t *bytes = at;

    for (size_t i = 0; MF_HOST_IS_BIG && i < count; i++, bytes += width)
        for (size_t k = 0; k < width / 2; k++) {
            uint8_t byte = bytes[k];

            bytes[k] = bytes[width - 1 - k];
            bytes[width - 1 - k] = byte;
        }
}

static inline bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);

    return length >= tail && strcmp(name + length - tail, suffix) == 0;
}

static inline bool is_model_name(const char *name)
{
    return has_suffix(name, ".gguf") || has_suffix(name, ".safetensors") ||
           has_suffix(name, ".apr") || has_suffix(name, ".dat") ||
           has_suffix(name, ".pt") || has_suffix(name, ".npy") ||
           has_suffix(name, ".npz") || has_suffix(name, ".parquet");
}

/* Whether it has columns instead of tensors, and nothing can be made of it. */
static inline bool is_table(const char *name)
{
    return has_suffix(name, ".parquet");
}

/* Calls each for every model file among the fixtures; returns how many. */
static inline size_t
each_fixture(const char *prefix,
             void (*each)(const char *name, const uint8_t *bytes, size_t size))
{
    DIR *folder = opendir(fixture_folder());
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        uint8_t *bytes;
        size_t size;

        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            !is_model_name(entry->d_name))
            continue;
        bytes = load(fixture_path(entry->d_name), &size);
        each(entry->d_name, bytes, size);
        free(bytes);
        count++;
    }
    closedir(folder);
    return count;
}

/* gcc defines a macro where memory is checked, clang has a feature. */
#if defined(__SANITIZE_ADDRESS__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#define TEST_SANITIZED __has_feature(address_sanitizer)
#else
#define TEST_SANITIZED 0
#endif

/* Whether the run of `make check` without sanitizers does the rest of it. */
static inline bool test_is_quick(void)
{
    const char *text = getenv("QUICK");

    return text && *text && strcmp(text, "0") != 0;
}

/* ---- a heap that fails on request ---- */

struct test_heap {
    size_t live;
    uint64_t calls;
    uint64_t fail_at; /* the call that fails, from 1 on; 0: no call */
    bool fail_after;  /* and all that follow it */
};

/* Bytes that follow each block, to show that none was written there.  Where
 * memory is checked that is noticed at once, and there are none. */
#define TEST_GUARD ((size_t)(TEST_SANITIZED ? 0 : 16))
#define TEST_FILL  0xa5

static inline void test_check_guard(const void *block, size_t size)
{
    size_t guard = TEST_GUARD;

    for (size_t i = 0; i < guard; i++)
        if (((const uint8_t *)block)[size + i] != TEST_FILL)
            fail_msg("byte %zu of a block of %zu was written", size + i, size);
}

/* New memory is filled with an unlikely number. */
static inline void *test_resize(void *user, void *block, size_t old_size,
                                size_t new_size)
{
    struct test_heap *heap = user;
    uint8_t *moved;

    if (old_size > 0)
        test_check_guard(block, old_size);
    if (new_size == 0) {
        heap->live -= old_size;
        free(block);
        return NULL;
    }
    if (new_size > old_size) {
        heap->calls++;
        if (heap->calls == heap->fail_at ||
            (heap->fail_after && heap->fail_at && heap->calls > heap->fail_at))
            return NULL;
    }
    moved = realloc(block, new_size + TEST_GUARD);
    assert_non_null(moved);
    if (new_size > old_size)
        memset(moved + old_size, TEST_FILL, new_size - old_size);
    memset(moved + new_size, TEST_FILL, TEST_GUARD);
    heap->live += new_size - old_size;
    return moved;
}

static inline struct mf_env *test_env(struct test_heap *heap)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .allocator = { .resize = test_resize,
                                                 .user = heap } };

    return mf_env_new(&options);
}

/* What may come of the refusal: if everything was refused from there on, only
 * an error.  If one call was, its work may have gone on with a smaller chunk.
 */
static inline void check_refused(const struct test_heap *heap,
                                 enum mf_status status)
{
    bool refused = heap->fail_at > 0 && heap->calls >= heap->fail_at;

    if (!refused)
        assert_int_equal(status, MF_OK);
    else if (heap->fail_after || status != MF_OK)
        assert_int_equal(status, MF_ERR_MEMORY);
}

/* ---- a writer ---- */

static inline struct mf_writer *start_writer(struct mf_env *own,
                                             const char *format)
{
    struct mf_writer_options options = { .size =
                                             sizeof(struct mf_writer_options),
                                         .format = format };
    struct mf_writer *writer;

    assert_int_equal(mf_writer_new(own, &options, &writer), MF_OK);
    return writer;
}

/* ---- looking at everything ---- */

/* Tells a value to its end; the number of events, or 0 after an error. */
static inline size_t walk_value(struct mf_model *model, size_t index)
{
    struct mf_values *values;
    struct mf_value value;
    size_t events = 0;
    long depth = 0;

    if (mf_values_open(model, index, &values) != MF_OK)
        return 0;
    for (;;) {
        if (mf_values_next(values, &value) != MF_OK) {
            events = 0;
            break;
        }
        if (value.event == MF_EVENT_DONE) {
            assert_int_equal(depth, 0);
            break;
        }
        depth +=
            (value.event == MF_EVENT_BEGIN) - (value.event == MF_EVENT_END);
        assert_true(depth >= 0);
        if (value.text.size > 0) /* every byte of it can be read */
            assert_non_null(
                memchr(value.text.at, value.text.at[0], value.text.size));
        events++;
    }
    mf_values_close(values);
    return events;
}

/* Digests of all tensors, and which are equal. */
static inline void walk_data(struct mf_model *model)
{
    size_t count = mf_model_info(model)->tensor_count;
    uint8_t *digests = malloc((count + 1) * sizeof(uint64_t));
    uint8_t all[MF_DIGEST_MAX];
    uint32_t *same = malloc((count + 1) * sizeof(*same));

    assert_non_null(digests);
    assert_non_null(same);
    if (mf_model_hash_tensors(model, MF_XXH64, digests) == MF_OK)
        mf_model_hash(model, MF_XXH64, digests, all, NULL, NULL);
    if (mf_model_duplicates(model, same) == MF_OK)
        for (size_t i = 0; i < count; i++)
            assert_true(same[same[i]] == same[i] && same[i] <= i);
    free(digests);
    free(same);
}

/* As many numbers of each tensor as a program might look at, and all arrays of
 * metadata. */
static inline void walk_numbers(struct mf_model *model)
{
    const struct mf_model_info *info = mf_model_info(model);
    const struct mf_array *array;
    struct mf_tensor tensor;
    double numbers[300];

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        uint64_t count =
            tensor.parameters < COUNT(numbers) ? tensor.parameters : 300;

        mf_tensor_read(model, i, tensor.parameters - count, count, MF_READ_F64,
                       numbers);
        mf_tensor_bytes(model, i, 0,
                        tensor.data.size < sizeof(numbers)
                            ? (size_t)tensor.data.size
                            : sizeof(numbers),
                        numbers);
    }
    for (size_t i = 0; i < info->metadata_count; i++)
        if (mf_values_read(model, i, &array) == MF_OK)
            mf_array_free(array);
}

/* Reads everything that a listing command would touch. */
static inline void walk_model(struct mf_model *model)
{
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_finding finding;
    struct mf_tensor tensor;
    struct mf_meta meta;
    size_t at;

    for (size_t i = 0; i < info->tensor_count; i++) {
        uint64_t sum = 0;

        assert_true(mf_tensor_at(model, i, &tensor));
        assert_int_equal(tensor.name.at[tensor.name.size], 0);
        for (uint32_t d = 0; d < tensor.rank; d++)
            sum += tensor.dim[d];
        (void)sum;
        assert_true(mf_tensor_find(model, tensor.name.at, tensor.name.size,
                                   &tensor, &at));
        assert_true(at <= i);
        assert_true(mf_tensor_by_offset(model, i, &tensor));
    }
    for (size_t i = 0; i < info->metadata_count; i++) {
        assert_true(mf_meta_at(model, i, &meta));
        assert_int_equal(meta.key.at[meta.key.size], 0);
        assert_true(
            mf_meta_find(model, meta.key.at, meta.key.size, &meta, &at));
        walk_value(model, i);
    }
    for (int fact = 0; fact < MF_FACT_COUNT; fact++)
        mf_model_fact(model, (enum mf_fact)fact, &meta, NULL);
    if (info->has_tensors) {
        mf_model_validate_data(model);
        walk_data(model);
        walk_numbers(model);
    }
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        assert_true(mf_text_clean(finding.message, strlen(finding.message)) ==
                    strlen(finding.message));
}

/* The first finding of that rule; false if there is no such finding. */
static inline bool find_rule(const struct mf_model *model, const char *rule,
                             struct mf_finding *out)
{
    for (size_t i = 0; mf_finding_at(model, i, out); i++)
        if (strcmp(out->rule, rule) == 0)
            return true;
    return false;
}

#endif
