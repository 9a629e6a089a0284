/* SPDX-License-Identifier: MIT
 *
 * test_read.c - elements and bytes of tensors, for programs
 *
 * What is expected was computed by hand, or is in the file where it lies; that
 * it is what numpy, torch and gguf-py read is for read.t.
 */
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/read/one_tensor.h"
#include "tests/with_scratch.h"

/* ---- one type as another ---- */

static void check_status(enum mf_status status, enum mf_status wanted,
                         const char *says)
{
    assert_int_equal(status, wanted);
    if (!strstr(mf_env_error(env)->message, says))
        fail_msg("no '%s' in '%s'", says, mf_env_error(env)->message);
}

/* Reads all of the only tensor. */
#define READ(type, given, as, out)                                             \
    read_all(type, given, COUNT(given), sizeof(*(given)), as, out)

/* Nothing is written after the last number. */
static enum mf_status read_all(const char *type, const void *given,
                               size_t count, size_t element, enum mf_read_as as,
                               void *out)
{
    struct mf_model *model = tensor_in_memory(type, given, count, element);
    size_t size = count * (as == MF_READ_F32 ? 4 : 8);
    enum mf_status status;
    uint64_t numbers[8];

    assert_true(size < sizeof(numbers));
    memset(numbers, 0xa5, sizeof(numbers));
    status = mf_tensor_read(model, 0, 0, count, as, numbers);
    for (size_t i = size; i < sizeof(numbers); i++)
        assert_int_equal(((uint8_t *)numbers)[i], 0xa5);
    memcpy(out, numbers, size);
    mf_model_close(model);
    return status;
}

static void test_integers(void **state)
{
    const int64_t longs[] = { INT64_MIN, -1, 0, 9007199254740993, INT64_MAX };
    const uint64_t unsigned_longs[] = { 0, INT64_MAX, UINT64_MAX };
    const int8_t bytes[] = { -128, -1, 0, 127 };
    const uint8_t bools[] = { 0, 1, 1 };
    int64_t integers[5];
    double doubles[5];
    float floats[5];

    (void)state;
    assert_int_equal(READ("I64", longs, MF_READ_I64, integers), MF_OK);
    assert_memory_equal(integers, longs, sizeof(longs));
    assert_int_equal(READ("I64", longs, MF_READ_F64, doubles), MF_OK);
    assert_true(doubles[0] == -0x1p63 && doubles[1] == -1 && doubles[2] == 0 &&
                doubles[3] == 9007199254740992.0 && doubles[4] == 0x1p63);
    assert_int_equal(READ("I64", longs, MF_READ_F32, floats), MF_OK);
    assert_true(floats[0] == -0x1p63f && floats[1] == -1 &&
                floats[4] == 0x1p63f);
    assert_int_equal(READ("U64", unsigned_longs, MF_READ_F64, doubles), MF_OK);
    assert_true(doubles[1] == 0x1p63 && doubles[2] == 0x1p64);
    check_status(READ("U64", unsigned_longs, MF_READ_I64, integers),
                 MF_ERR_UNSUPPORTED,
                 "element 2 of u64 is above 9223372036854775807");
    assert_int_equal(READ("I8", bytes, MF_READ_I64, integers), MF_OK);
    assert_true(integers[0] == -128 && integers[1] == -1 && integers[3] == 127);
    assert_int_equal(READ("I8", bytes, MF_READ_F64, doubles), MF_OK);
    assert_true(doubles[0] == -128 && doubles[1] == -1 && doubles[3] == 127);
    assert_int_equal(READ("BOOL", bools, MF_READ_I64, integers), MF_OK);
    assert_true(integers[0] == 0 && integers[1] == 1 && integers[2] == 1);
    assert_int_equal(READ("BOOL", bools, MF_READ_F32, floats), MF_OK);
    assert_true(floats[0] == 0 && floats[1] == 1 && floats[2] == 1);
    assert_int_equal(READ("BOOL", bools, MF_READ_F64, doubles), MF_OK);
    assert_true(doubles[0] == 0 && doubles[1] == 1 && doubles[2] == 1);
}

static void test_floats(void **state)
{
    const double wide[] = { 1e300, 0.1, -0.0, NAN };
    const float single[] = { 0.1f, -INFINITY, 1e-40f };
    const uint16_t halves[] = { 0x3c00, 0x0001, 0xfc00 };
    const uint16_t brains[] = { 0x3f80, 0x0001 };
    int64_t integers[4];
    double doubles[4];
    float floats[4];

    (void)state;
    assert_int_equal(READ("F64", wide, MF_READ_F64, doubles), MF_OK);
    assert_memory_equal(doubles, wide, sizeof(wide));
    assert_int_equal(READ("F64", wide, MF_READ_F32, floats), MF_OK);
    assert_true(isinf(floats[0]) && floats[1] == 0.1f && signbit(floats[2]) &&
                isnan(floats[3]));
    check_status(READ("F64", wide, MF_READ_I64, integers), MF_ERR_UNSUPPORTED,
                 "tensor 't' is f64: its numbers are not integers");
    assert_int_equal(READ("F32", single, MF_READ_F64, doubles), MF_OK);
    assert_true(doubles[0] == (double)0.1f && isinf(doubles[1]) &&
                doubles[2] == (double)1e-40f);
    assert_int_equal(READ("F16", halves, MF_READ_F32, floats), MF_OK);
    assert_true(floats[0] == 1 && floats[1] == 0x1p-24f && isinf(floats[2]));
    assert_int_equal(READ("F16", halves, MF_READ_F64, doubles), MF_OK);
    assert_true(doubles[0] == 1 && doubles[1] == 0x1p-24 && isinf(doubles[2]));
    assert_int_equal(READ("BF16", brains, MF_READ_F64, doubles), MF_OK);
    assert_true(doubles[0] == 1 && doubles[1] == 0x1p-133);
}

/* ---- types ---- */

static void test_types(void **state)
{
    static const struct {
        const char *name;
        int ggml;
        uint32_t block, size;
    } rows[] = {
        { "f32", 0, 1, 4 },       { "F16", 1, 1, 2 }, { "q4_0", 2, 32, 18 },
        { "Q4_K", 12, 256, 144 }, { "i8", 24, 1, 1 }, { "bf16", 30, 1, 2 },
        { "mxfp4", 39, 32, 17 },  { "u8", -1, 1, 1 }, { "apr_q4", -1, 32, 18 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_type_info info;

        assert_true(mf_type_find(rows[i].name, &info));
        assert_int_equal(info.ggml, rows[i].ggml);
        assert_int_equal(info.block, rows[i].block);
        assert_int_equal(info.size, rows[i].size);
    }
}

/* Whichever dimension a format counts first. */
static void check_shape(const char *name, const char *of)
{
    struct mf_model *model = open_fixture(name);
    struct mf_tensor tensor = tensor_of(model, of);
    uint64_t shape[MF_RANK_MAX];

    assert_int_equal(mf_tensor_shape(model, &tensor, shape), 2);
    assert_int_equal(shape[0], 2);
    assert_int_equal(shape[1], 256);
    mf_model_close(model);
}

static void test_shapes(void **state)
{
    struct mf_model *model = open_fixture("good-big-endian.gguf");
    struct mf_tensor tensor = tensor_of(model, "a.weight");
    uint64_t shape[MF_RANK_MAX];

    (void)state;
    assert_int_equal(tensor.dim[0], 4); /* the file's order */
    assert_int_equal(mf_tensor_shape(model, &tensor, shape), 2);
    assert_int_equal(shape[0], 2);
    assert_int_equal(shape[1], 4);
    mf_model_close(model);
    check_shape("good-dtypes.apr", "type.f32");
}

/* ---- what is refused ---- */

static void test_refused(void **state)
{
    const uint64_t numbers[] = { 7, 8 };
    struct mf_model *model = tensor_in_memory("U64", numbers, 2, 8);
    struct mf_tensor_reader *reader;
    uint64_t out[2] = { 0 };

    (void)state;
    check_status(mf_tensor_read(model, 1, 0, 1, MF_READ_OWN, out),
                 MF_ERR_ARGUMENT, "tensor index 1 is out of range");
    check_status(mf_tensor_read(model, 0, 1, 2, MF_READ_OWN, out),
                 MF_ERR_ARGUMENT, "has 2 elements; asked for 2 from 1 on");
    check_status(mf_tensor_read(model, 0, UINT64_MAX, 2, MF_READ_F32, out),
                 MF_ERR_ARGUMENT, "has 2 elements");
    check_status(mf_tensor_read(model, 0, 0, 1, (enum mf_read_as)9, out),
                 MF_ERR_ARGUMENT, "9 is not a way to read numbers");
    check_status(mf_tensor_bytes(model, 0, 9, 8, out), MF_ERR_ARGUMENT,
                 "has 16 bytes; asked for 8 from 9 on");
    assert_int_equal(mf_tensor_read(model, 0, 2, 0, MF_READ_OWN, NULL), MF_OK);
    assert_int_equal(mf_tensor_bytes(model, 0, 16, 0, NULL), MF_OK);
    assert_int_equal(mf_tensor_read(model, 0, 1, 1, MF_READ_OWN, out), MF_OK);
    assert_int_equal(out[0], 8);
    /* A reader has errors of its own. */
    assert_int_equal(mf_tensor_reader_open(model, &reader), MF_OK);
    assert_int_equal(mf_tensor_reader_read(reader, 1, 0, 1, MF_READ_OWN, out),
                     MF_ERR_ARGUMENT);
    assert_int_equal(mf_tensor_reader_error(reader)->status, MF_ERR_ARGUMENT);
    assert_int_equal(mf_env_error(env)->status, MF_OK);
    mf_tensor_reader_close(reader);
    mf_model_close(model);
}

/* Of blocks and of tensors with one scale no part can be had as it is. */
static void test_blocks(void **state)
{
    struct mf_model *model = open_fixture("good-dtypes.apr");
    struct mf_tensor tensor;
    uint8_t bytes[512];
    float floats[256];
    size_t index;

    (void)state;
    assert_true(mf_tensor_find(model, "type.q4_k", 9, &tensor, &index));
    assert_string_equal(tensor.type, "q4_k");
    check_status(mf_tensor_read(model, index, 0, 32, MF_READ_OWN, bytes),
                 MF_ERR_ARGUMENT,
                 "has blocks of 256 elements of q4_k: they are read whole");
    check_status(mf_tensor_read(model, index, 3, 253, MF_READ_OWN, bytes),
                 MF_ERR_ARGUMENT, "read whole");
    assert_int_equal(mf_tensor_read(model, index, 0, 256, MF_READ_OWN, bytes),
                     MF_OK);
    assert_int_equal(mf_tensor_read(model, index, 3, 253, MF_READ_F32, floats),
                     MF_OK);
    mf_model_close(model);
}

/* ---- big-endian files ---- */

static uint32_t big_32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

static void check_turned(struct mf_model *model, const char *name,
                         const uint8_t *file)
{
    struct mf_tensor tensor;
    float numbers[16];
    uint32_t bits[16];
    uint8_t bytes[64];
    size_t index, size;

    assert_true(mf_tensor_find(model, name, strlen(name), &tensor, &index));
    size = (size_t)tensor.data.size;
    assert_int_equal(tensor.flags, MF_TENSOR_SWAPPED);
    assert_false(mf_tensor_place(model, index, &(struct mf_file_span){ 0 }));
    assert_int_equal(mf_tensor_read(model, index, 0, tensor.parameters,
                                    MF_READ_F32, numbers),
                     MF_OK);
    memcpy(bits, numbers, size);
    for (size_t i = 0; i < tensor.parameters; i++)
        assert_int_equal(bits[i], big_32(file + tensor.data.offset + 4 * i));
    for (size_t from = 0; from <= size; from++)
        for (size_t some = 0; some <= size - from; some++) {
            assert_int_equal(mf_tensor_bytes(model, index, from, some, bytes),
                             MF_OK);
            for (size_t i = 0; i < some; i++)
                assert_int_equal(bytes[i],
                                 file[tensor.data.offset + ((from + i) ^ 3)]);
        }
}

static void test_big_endian(void **state)
{
    struct mf_model *model = open_fixture("good-big-endian.gguf");
    size_t size, index;
    uint8_t *file = load(fixture_path("good-big-endian.gguf"), &size);
    struct mf_tensor tensor;
    uint8_t bytes[64];
    int64_t integer;

    (void)state;
    check_turned(model, "a.weight", file);
    check_turned(model, "b.weight", file);
    assert_true(mf_tensor_find(model, "integer", 7, &tensor, &index));
    assert_int_equal(mf_tensor_read(model, index, 0, 1, MF_READ_I64, &integer),
                     MF_OK);
    assert_int_equal((uint64_t)integer,
                     (uint64_t)big_32(file + tensor.data.offset) << 32 |
                         big_32(file + tensor.data.offset + 4));
    assert_true(mf_tensor_find(model, "block", 5, &tensor, &index));
    assert_int_equal(mf_tensor_bytes(model, index, 0, 34, bytes), MF_OK);
    assert_memory_equal(bytes, "\0\x38", 2); /* one half, and then bytes */
    assert_memory_equal(bytes + 2, file + tensor.data.offset + 2, 32);
    free(file);
    mf_model_close(model);
}

/* ---- files that change ---- */

static void test_changed(void **state)
{
    struct mf_model *model;
    const char *path;
    float numbers[8];
    size_t size;
    uint8_t *bytes = load(fixture_path("good-big-endian.gguf"), &size);

    (void)state;
    path = scratch_path("m.gguf");
    save(path, bytes, size);
    model = open_model(path);
    assert_int_equal(mf_model_unchanged(model), MF_OK);
    assert_int_equal(truncate(path, 0x1f0), 0);
    assert_int_equal(mf_tensor_read(model, 0, 0, 8, MF_READ_F32, numbers),
                     MF_ERR_IO);
    assert_int_equal(mf_model_unchanged(model), MF_ERR_IO);
    mf_model_close(model);
    free(bytes);
}

/* ---- threads ---- */

struct thread {
    pthread_t id;
    struct mf_model *model;
    struct mf_tensor_reader *reader;
    uint64_t read;
};

/* Reads all tensors, in parts, again and again. */
static void *read_in_thread(void *context)
{
    struct thread *own = context;
    struct mf_tensor tensor;
    float part[100], first[100];

    for (int round = 0; round < 20; round++)
        for (size_t i = 0; mf_tensor_at(own->model, i, &tensor); i++) {
            uint64_t some = tensor.parameters < 100 ? tensor.parameters : 100;

            if (mf_tensor_reader_read(own->reader, i, 0, some, MF_READ_F32,
                                      first) != MF_OK)
                continue;
            if (mf_tensor_reader_read(own->reader, i, 0, some, MF_READ_F32,
                                      part) != MF_OK ||
                memcmp(part, first, (size_t)some * sizeof(*part)) != 0)
                return NULL;
            own->read += some;
        }
    return own;
}

static void check_threads(const char *name)
{
    struct mf_model *model = open_fixture(name);
    struct thread thread[4] = { { .model = model } };
    void *done;

    for (size_t i = 0; i < COUNT(thread); i++) {
        thread[i] = (struct thread){ .model = model };
        assert_int_equal(mf_tensor_reader_open(model, &thread[i].reader),
                         MF_OK);
    }
    for (size_t i = 0; i < COUNT(thread); i++)
        assert_int_equal(
            pthread_create(&thread[i].id, NULL, read_in_thread, &thread[i]), 0);
    for (size_t i = 0; i < COUNT(thread); i++) {
        pthread_join(thread[i].id, &done);
        assert_non_null(done);
        assert_true(thread[i].read > 0 && thread[i].read == thread[0].read);
    }
    for (size_t i = 0; i < COUNT(thread); i++)
        mf_tensor_reader_close(thread[i].reader);
    mf_model_close(model);
}

static void test_threads(void **state)
{
    (void)state;
    check_threads("good-types.gguf");
    check_threads("good-torch-deflated.pt");
    check_threads("good-deflated.npz");
}

/* ---- the end ---- */

struct things {
    struct mf_env *own;
    struct mf_model *model;
    struct mf_tensor_reader *reader;
    const struct mf_array *array;
    bool closed;
};

static void open_things(struct test_heap *heap, struct things *out)
{
    struct mf_meta meta;
    size_t at;

    out->own = test_env(heap);
    assert_non_null(out->own);
    assert_int_equal(mf_model_open(out->own, fixture_path("good-llama.gguf"),
                                   NULL, &out->model),
                     MF_OK);
    assert_true(
        mf_meta_find(out->model, "tokenizer.ggml.tokens", 21, &meta, &at));
    assert_int_equal(mf_values_read(out->model, at, &out->array), MF_OK);
    assert_int_equal(mf_tensor_reader_open(out->model, &out->reader), MF_OK);
}

static void close_thing(struct things *things, unsigned number)
{
    float numbers[8];

    if (number == 0)
        mf_env_free(things->own);
    else if (number == 1) {
        mf_model_close(things->model);
        things->closed = true;
    } else if (number == 2)
        mf_array_free(things->array);
    else {
        assert_int_equal(mf_tensor_reader_read(things->reader, 0, 0, 8,
                                               MF_READ_F32, numbers),
                         things->closed ? MF_ERR_ARGUMENT : MF_OK);
        mf_tensor_reader_close(things->reader);
    }
}

/* Finalizers of other languages come in any order: all 24 of them. */
static void test_any_order(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 256; order++) {
        unsigned turn[] = { order & 3, order >> 2 & 3, order >> 4 & 3,
                            order >> 6 };
        struct test_heap heap = { 0 };
        struct things things = { .closed = false };
        unsigned seen = 0;

        for (size_t i = 0; i < COUNT(turn); i++)
            seen |= 1u << turn[i];
        if (seen != 15)
            continue;
        open_things(&heap, &things);
        for (size_t i = 0; i < COUNT(turn); i++)
            close_thing(&things, turn[i]);
        assert_int_equal(heap.live, 0);
    }
}

/* ---- everything that there is ---- */

static uint64_t draws;

static uint64_t draw(uint64_t below)
{
    draws = draws * UINT64_C(6364136223846793005) + 1442695040888963407;
    return below > 0 ? (draws >> 33) % below : 0;
}

static bool same_floats(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof(*a)) == 0;
}

/* Parts are what the whole has there. */
static void check_parts(struct mf_tensor_reader *reader, size_t index,
                        const float *whole, uint64_t count)
{
    float *part = malloc(((size_t)count + 1) * sizeof(*part));
    double *wide = malloc(((size_t)count + 1) * sizeof(*wide));

    assert_true(part && wide);
    for (int i = 0; i < 20; i++) {
        uint64_t first = draw(count + 1), some = draw(count - first + 1);

        assert_int_equal(mf_tensor_reader_read(reader, index, first, some,
                                               MF_READ_F32, part),
                         MF_OK);
        assert_true(same_floats(part, whole + first, (size_t)some));
        assert_int_equal(mf_tensor_reader_read(reader, index, first, some,
                                               MF_READ_F64, wide),
                         MF_OK);
        for (uint64_t k = 0; k < some; k++)
            assert_true((float)wide[k] == part[k] || isnan(part[k]));
    }
    free(part);
    free(wide);
}

/* The bytes of a file, where they are as they are. */
static void check_place(struct mf_model *model, struct mf_tensor_reader *reader,
                        size_t index, const struct mf_tensor *tensor)
{
    struct mf_file_span place;
    uint8_t *file, *bytes = malloc((size_t)tensor->data.size + 1);
    size_t size;

    assert_non_null(bytes);
    assert_int_equal(mf_tensor_reader_bytes(reader, index, 0,
                                            (size_t)tensor->data.size, bytes),
                     MF_OK);
    if (tensor->data.size > 0 && mf_tensor_place(model, index, &place)) {
        assert_int_equal(tensor->flags & ~(unsigned)MF_TENSOR_SIZE_INFERRED, 0);
        file = load(place.path, &size);
        assert_true(place.data.offset <= size &&
                    place.data.size <= size - place.data.offset);
        assert_memory_equal(bytes, file + place.data.offset,
                            (size_t)place.data.size);
        free(file);
    }
    free(bytes);
}

static void check_tensor(struct mf_model *model, size_t index)
{
    struct mf_tensor_reader *reader;
    struct mf_heap_stats before, after;
    struct mf_tensor tensor;
    enum mf_status status;
    float *whole;

    assert_true(mf_tensor_at(model, index, &tensor));
    if (tensor.parameters > 1 << 20) /* as it claims */
        return;
    assert_int_equal(mf_tensor_reader_open(model, &reader), MF_OK);
    whole = malloc(((size_t)tensor.parameters + 1) * sizeof(*whole));
    assert_non_null(whole);
    mf_env_heap(env, &before);
    status = mf_tensor_reader_read(reader, index, 0, tensor.parameters,
                                   MF_READ_F32, whole);
    if (status == MF_OK) {
        check_parts(reader, index, whole, tensor.parameters);
        check_place(model, reader, index, &tensor);
    } else if (status != MF_ERR_UNSUPPORTED &&
               !(tensor.flags & MF_TENSOR_DAMAGED)) {
        assert_int_equal(status, MF_ERR_CORRUPT); /* what is packed */
    }
    mf_env_heap(env, &after);
    if (!(tensor.flags & MF_TENSOR_PACKED))
        assert_int_equal(after.allocations, before.allocations);
    free(whole);
    mf_tensor_reader_close(reader);
}

static size_t tensors_read;

static void read_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *model;

    (void)bytes, (void)size;
    if (mf_model_open(env, fixture_path(name), NULL, &model) != MF_OK)
        return;
    for (size_t i = 0; i < mf_model_info(model)->tensor_count; i++) {
        check_tensor(model, i);
        tensors_read++;
    }
    mf_model_close(model);
}

static void test_every_fixture(void **state)
{
    (void)state;
    each_fixture("", read_fixture);
    assert_true(tensors_read > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(test_integers),      WITH_ENV(test_floats),
        WITH_ENV(test_types),         WITH_ENV(test_shapes),
        WITH_ENV(test_refused),       WITH_ENV(test_blocks),
        WITH_ENV(test_big_endian),    WITH_ENV(test_changed),
        WITH_ENV(test_threads),       WITH_ENV(test_any_order),
        WITH_ENV(test_every_fixture),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
