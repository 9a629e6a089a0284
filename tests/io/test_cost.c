/* SPDX-License-Identifier: MIT
 *
 * test_cost.c - what opening and looking costs: allocations, bytes, heap
 *
 * docs/guarantees.md promises these numbers.
 */
#include <stdarg.h>

#include "lib/io/digest.h"
#include "tests/support.h"

/* ---- models of any size, made in memory ---- */

struct bytes {
    uint8_t *at;
    size_t size, room;
};

static void put(struct bytes *out, const void *bytes, size_t size)
{
    if (out->room - out->size < size) {
        out->room = (out->room + size) * 2;
        out->at = realloc(out->at, out->room);
        assert_non_null(out->at);
    }
    memcpy(out->at + out->size, bytes, size);
    out->size += size;
}

static void put_u64(struct bytes *out, uint64_t value, size_t size)
{
    uint8_t little[8];

    for (size_t i = 0; i < 8; i++)
        little[i] = (uint8_t)(value >> 8 * i);
    put(out, little, size);
}

static void put_text(struct bytes *out, const char *format, ...)
{
    char text[256];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put(out, text, (size_t)size);
}

static void put_zeros(struct bytes *out, size_t size)
{
    static const uint8_t zeros[64];

    for (; size > 64; size -= 64)
        put(out, zeros, 64);
    put(out, zeros, size);
}

static size_t tensor_name(size_t i, char out[64])
{
    /* Fixed width, so that APR's order of names is the order of i. */
    return (size_t)snprintf(out, 64, "blk.%05zu.part_%zu.weight", i / 10,
                            i % 10);
}

/* tensors of 8 F32 each, after a vocabulary of so many tokens. */
static struct bytes make_gguf(size_t tensors, size_t tokens)
{
    struct bytes out = { 0 };
    char name[64];

    put_text(&out, "GGUF");
    put_u64(&out, 3, 4);
    put_u64(&out, tensors, 8);
    put_u64(&out, 2, 8);
    put_u64(&out, 20, 8);
    put_text(&out, "general.architecture");
    put_u64(&out, 8, 4);
    put_u64(&out, 5, 8);
    put_text(&out, "llama");
    put_u64(&out, 21, 8);
    put_text(&out, "tokenizer.ggml.tokens");
    put_u64(&out, 9, 4);
    put_u64(&out, 8, 4);
    put_u64(&out, tokens, 8);
    for (size_t i = 0; i < tokens; i++) {
        put_u64(&out, 7, 8);
        put_text(&out, "t%06zu", i % 1000000);
    }
    for (size_t i = 0; i < tensors; i++) {
        size_t size = tensor_name(i, name);

        put_u64(&out, size, 8);
        put(&out, name, size);
        put_u64(&out, 2, 4);
        put_u64(&out, 4, 8);
        put_u64(&out, 2, 8);
        put_u64(&out, 0, 4);
        put_u64(&out, 32 * i, 8);
    }
    put_zeros(&out, (32 - out.size % 32) % 32 + 32 * tensors);
    return out;
}

static struct bytes make_safetensors(size_t tensors)
{
    struct bytes header = { 0 }, out = { 0 };
    char name[64];

    put_text(&header, "{");
    for (size_t i = 0; i < tensors; i++) {
        tensor_name(i, name);
        put_text(&header,
                 "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[2,4],"
                 "\"data_offsets\":[%zu,%zu]}",
                 i > 0 ? "," : "", name, 32 * i, 32 * i + 32);
    }
    put_text(&header, "}");
    put_u64(&out, header.size, 8);
    put(&out, header.at, header.size);
    put_zeros(&out, 32 * tensors);
    free(header.at);
    return out;
}

static struct bytes make_apr(size_t tensors)
{
    struct bytes out = { 0 };
    char name[64];
    uint64_t entry = 20 + tensor_name(0, name) + 16;
    uint64_t data = (128 + entry * tensors + 63) / 64 * 64;
    uint32_t crc;

    put(&out, "APR\0\2\0\0\4", 8);
    put_u64(&out, tensors, 4);
    put_u64(&out, 64, 8);
    put_u64(&out, 2, 4);
    put_u64(&out, 128, 8);
    put_u64(&out, data, 8);
    crc = mf_crc32(0, out.at, 40);
    put_zeros(&out, 24);
    crc = mf_crc32(crc, out.at + 44, 20);
    out.size = 40;
    put_u64(&out, crc, 4);
    out.size = 64;
    put_text(&out, "{}");
    put_zeros(&out, 62);
    for (size_t i = 0; i < tensors; i++) {
        size_t size = tensor_name(i, name);

        put_u64(&out, size, 2);
        put(&out, name, size);
        put_u64(&out, 0, 1);
        put_u64(&out, 2, 1);
        put_u64(&out, 2, 8);
        put_u64(&out, 4, 8);
        put_u64(&out, 64 * i, 8);
        put_u64(&out, 32, 8);
    }
    put_zeros(&out, (size_t)data - out.size + 64 * tensors);
    return out;
}

/* ---- what it costs ---- */

struct cost {
    uint64_t allocations; /* the env's own not among them */
    size_t peak;
    uint64_t bytes_read, header;
};

static struct cost open_and_look(struct bytes model_bytes, size_t tensors)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_heap_stats before, opened, looked;
    struct mf_io_stats io;
    struct mf_model *model;
    struct cost cost;

    assert_non_null(env);
    mf_env_heap(env, &before);
    assert_int_equal(mf_model_open_memory(env, "memory", model_bytes.at,
                                          model_bytes.size, NULL, &model),
                     MF_OK);
    assert_int_equal(mf_model_info(model)->tensor_count, tensors);
    assert_int_equal(mf_model_info(model)->error_count, 0);
    assert_int_equal(mf_model_info(model)->warning_count, 0);
    mf_env_heap(env, &opened);
    mf_env_io(env, &io);
    for (size_t i = 0; i < tensors; i++) {
        struct mf_tensor tensor;
        struct mf_meta meta;
        size_t at;

        assert_true(mf_tensor_at(model, i, &tensor));
        assert_true(mf_tensor_find(model, tensor.name.at, tensor.name.size,
                                   &tensor, &at));
        assert_int_equal(at, i);
        mf_meta_find(model, "general.architecture", 20, &meta, NULL);
    }
    mf_env_heap(env, &looked);
    assert_int_equal(looked.allocations, opened.allocations);
    cost =
        (struct cost){ .allocations = opened.allocations - before.allocations,
                       .peak = opened.peak,
                       .bytes_read = io.bytes_read,
                       .header = mf_model_info(model)->data_offset };
    mf_model_close(model);
    mf_env_free(env);
    free(model_bytes.at);
    return cost;
}

static struct bytes make(const char *format, size_t tensors)
{
    if (strcmp(format, "gguf") == 0)
        return make_gguf(tensors, 10);
    return strcmp(format, "apr") == 0 ? make_apr(tensors)
                                      : make_safetensors(tensors);
}

static struct cost cost_of(const char *format, size_t tensors)
{
    return open_and_look(make(format, tensors), tensors);
}

/* The number of allocations is the same for 2 tensors and for 20,000: the
 * model, its files, their parts, its path, the window, tensors, their names and
 * shapes, name tables; with metadata two more, for its table and its text. */
static void allocations_are_constant(void **state)
{
    static const struct {
        const char *format;
        uint64_t allocations;
    } promised[] = { { "gguf", 10 }, { "safetensors", 8 }, { "apr", 8 } };
    static const size_t counts[] = { 2, 30, 300, 3000, 20000 };

    (void)state;
    for (size_t f = 0; f < 3; f++)
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
            assert_int_equal(cost_of(promised[f].format, counts[i]).allocations,
                             promised[f].allocations);
}

/* Allocations of a plan to convert a model to another format. */
static uint64_t plan_cost(const char *from, size_t tensors, const char *to)
{
    const struct mf_convert_options options = {
        .size = sizeof(options), .format = to, .lossy = true, .dry_run = true
    };
    struct bytes bytes = make(from, tensors);
    struct mf_env *env = mf_env_new(NULL);
    struct mf_heap_stats before, after;
    struct mf_model *model;

    assert_int_equal(
        mf_model_open_memory(env, "memory", bytes.at, bytes.size, NULL, &model),
        MF_OK);
    mf_env_heap(env, &before);
    if (mf_model_convert(model, "/tmp/planned", &options, NULL) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    mf_env_heap(env, &after);
    mf_model_close(model);
    mf_env_free(env);
    free(bytes.at);
    return after.allocations - before.allocations;
}

/* The file, its texts, tensors and their shapes in the other order; metadata of
 * GGUF takes four more. */
static void plans_are_constant(void **state)
{
    static const struct {
        const char *from, *to;
        uint64_t allocations;
    } promised[] = { { "gguf", "apr", 8 },
                     { "gguf", "safetensors", 8 },
                     { "apr", "gguf", 4 },
                     { "safetensors", "gguf", 4 } };
    static const size_t counts[] = { 16, 64, 256, 1024, 4096, 20000 };

    (void)state;
    for (size_t i = 0; i < COUNT(promised); i++)
        for (size_t j = 0; j < COUNT(counts); j++)
            assert_int_equal(
                plan_cost(promised[i].from, counts[j], promised[i].to),
                promised[i].allocations);
}

/* The window, a few tables, and 160 bytes for each tensor and its name. */
static void heap_per_tensor(void **state)
{
    static const char *const formats[] = { "gguf", "safetensors", "apr" };
    char name[64];

    (void)state;
    for (size_t f = 0; f < 3; f++)
        assert_true(cost_of(formats[f], 20000).peak <=
                    20000 * (160 + tensor_name(0, name)));
}

static void bytes_read(void **state)
{
    struct cost cost;

    (void)state;
    cost = cost_of("gguf", 20000);
    assert_true(cost.bytes_read <= cost.header + 256 * 1024);
    cost = cost_of("apr", 20000);
    assert_true(cost.bytes_read <= cost.header + 256 * 1024);
    cost = cost_of("safetensors", 20000);
    assert_true(cost.bytes_read <= 2 * cost.header + 256 * 1024);
}

/* 152,000 tokens leave no trace on the heap. */
static void vocabulary_is_walked(void **state)
{
    struct cost small = open_and_look(make_gguf(291, 10), 291);
    struct cost large = open_and_look(make_gguf(291, 152000), 291);

    (void)state;
    assert_true(large.peak <= 512 * 1024);
    assert_true(large.peak <= small.peak + 128 * 1024);
    assert_int_equal(large.allocations, small.allocations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_constant),
        cmocka_unit_test(plans_are_constant),
        cmocka_unit_test(heap_per_tensor),
        cmocka_unit_test(bytes_read),
        cmocka_unit_test(vocabulary_is_walked),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
