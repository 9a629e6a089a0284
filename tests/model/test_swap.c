/* SPDX-License-Identifier: MIT
 *
 * test_swap.c - big-endian files are what little-endian ones are
 *
 * The generator of fixtures has written the same blocks of every type in both
 * orders, field by field; without the library.
 */
#include <errno.h>
#include <sys/stat.h>

#include "lib/model/swap.h"
#include "tests/same_model.h"

#define LITTLE "good-blocks-little.gguf"
#define BIG    "good-blocks-big.gguf"

static struct mf_convert_options as(const char *order)
{
    return (struct mf_convert_options){ .size =
                                            sizeof(struct mf_convert_options),
                                        .replace = true,
                                        .byte_order = order };
}

/* ---- the table ---- */

static const enum mf_type listed[] = {
#define SWAP(NAME, ...) MF_TYPE_##NAME,
#include "lib/model/swap.def"
#undef SWAP
};

static void every_type_has_a_row(void **state)
{
    (void)state;
    assert_int_equal(COUNT(listed), MF_TYPE_COUNT);
    for (size_t i = 0; i < MF_TYPE_COUNT; i++)
        assert_int_equal(listed[i], i);
}

/* Turning around moves bytes within a block, and twice is not at all. */
static void twice_is_nothing(void **state)
{
    uint8_t bytes[3 * 512], seen[512];

    (void)state;
    for (size_t type = 0; type < MF_TYPE_COUNT; type++) {
        size_t size = mf_types[type].bytes;
        bool moved = false;

        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(i % size * 7 + i / 256);
        memcpy(seen, bytes + size, size);
        mf_swap_blocks((enum mf_type)type, bytes + size, 1);
        moved = memcmp(seen, bytes + size, size) != 0;
        if (moved != mf_type_swaps((enum mf_type)type))
            fail_msg("%s moves %d", mf_types[type].name, moved);
        mf_swap_blocks((enum mf_type)type, bytes + size, 1);
        for (size_t i = 0; i < sizeof(bytes); i++)
            assert_int_equal(bytes[i], (uint8_t)(i % size * 7 + i / 256));
    }
}

/* ---- whole files ---- */

static void each_order_from_the_other(void **state)
{
    static const unsigned counts[] = { 1, 2, 7 };

    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct mf_options how = { .size = sizeof(how), .threads = counts[i] };
        struct mf_env *own = mf_env_new(&how);
        struct mf_convert_options big = as("big"), little = as("little");

        must_convert(own, fixture_path(LITTLE), scratch_path("b.gguf"), &big);
        must_convert(own, fixture_path(BIG), scratch_path("l.gguf"), &little);
        assert_true(same_files(fixture_path(BIG), scratch_path("b.gguf")));
        assert_true(same_files(fixture_path(LITTLE), scratch_path("l.gguf")));
        must_convert(own, fixture_path(BIG), scratch_path("b.gguf"), &big);
        must_convert(own, fixture_path(LITTLE), scratch_path("l.gguf"),
                     &little);
        assert_true(same_files(fixture_path(BIG), scratch_path("b.gguf")));
        assert_true(same_files(fixture_path(LITTLE), scratch_path("l.gguf")));
        mf_env_free(own);
    }
    empty_scratch();
}

/* With room for a page or so, and then with all that is wanted. */
static void in_little_memory(void **state)
{
    struct mf_options how = { .size = sizeof(how), .heap_limit = 96 * 1024 };
    struct mf_env *own = mf_env_new(&how);
    struct mf_convert_options big = as("big");

    (void)state;
    must_convert(own, fixture_path(LITTLE), scratch_path("b.gguf"), &big);
    assert_true(same_files(fixture_path(BIG), scratch_path("b.gguf")));
    mf_env_free(own);
    empty_scratch();
}

static void shards_too(void **state)
{
    struct mf_convert_options split = as("big"), little = as("little");
    char first[64];

    (void)state;
    split.shard_tensors = 5;
    must_convert(env, fixture_path(LITTLE), scratch_path("s.gguf"), &split);
    assert_true(mf_shard_path("s.gguf", "gguf", 0, 8, first, sizeof(first)));
    must_convert(env, scratch_path(first), scratch_path("l.gguf"), &little);
    assert_true(same_files(fixture_path(LITTLE), scratch_path("l.gguf")));
    must_convert(env, scratch_path(first), scratch_path("b.gguf"), NULL);
    assert_true(same_files(fixture_path(BIG), scratch_path("b.gguf")));
    empty_scratch();
}

/* ---- a large tensor, in pieces that do not end where blocks do ---- */

#define ROWS    30011
#define BLOCK   22
#define COLUMNS (5 * 32)

static enum mf_status noise(void *user, size_t tensor, uint64_t offset,
                            void *buffer, size_t size)
{
    uint8_t *out = buffer;

    (void)tensor;
    for (size_t i = 0; i < size; i++) {
        uint64_t at = offset + i, word = at * 0x9e3779b97f4a7c15u;
        size_t in_block = (size_t)(at % BLOCK);

        /* The upper byte of the scale: no NaN. */
        out[i] = (uint8_t)(in_block == 1 ? 0x20 + (word >> 60) : word >> 56);
    }
    *(uint64_t *)user += size;
    return MF_OK;
}

static void write_large(const char *path)
{
    struct mf_writer *writer = start_writer(env, "gguf");
    const struct mf_new_tensor tensor = {
        .name = { "w", 1 },
        .type = "q5_0",
        .rank = 2,
        .dim = (const uint64_t[]){ ROWS, COLUMNS },
    };
    uint64_t written = 0;

    assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    assert_int_equal(mf_writer_open(writer, path), MF_OK);
    assert_int_equal(mf_writer_fill(writer, noise, &written), MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
    assert_int_equal(written, (uint64_t)ROWS * (COLUMNS / 32) * BLOCK);
}

/* Scale and fifth bits, by hand. */
static void turn_q5_0(uint8_t *bytes, size_t size)
{
    static const size_t from[] = { 1, 0, 5, 4, 3, 2 };
    uint8_t old[6];

    for (size_t at = 0; at < size; at += BLOCK) {
        memcpy(old, bytes + at, sizeof(old));
        for (size_t i = 0; i < sizeof(old); i++)
            bytes[at + i] = old[from[i]];
    }
}

static void large_tensors(void **state)
{
    struct mf_convert_options big = as("big"), little = as("little");
    const char *name = "one.gguf";
    struct mf_tensor tensor;
    struct mf_model *model;
    uint8_t *bytes[2];
    size_t size;

    (void)state;
    write_large(scratch_path(name));
    must_convert(env, scratch_path(name), scratch_path("b.gguf"), &big);
    must_convert(env, scratch_path("b.gguf"), scratch_path("l.gguf"), &little);
    assert_true(same_files(scratch_path(name), scratch_path("l.gguf")));
    model = open_model(scratch_path("b.gguf"));
    tensor = tensor_of(model, "w");
    bytes[0] = load(scratch_path(name), &size);
    bytes[1] = load(scratch_path("b.gguf"), &size);
    turn_q5_0(bytes[1] + tensor.data.offset, (size_t)tensor.data.size);
    assert_memory_equal(bytes[0] + tensor.data.offset,
                        bytes[1] + tensor.data.offset,
                        (size_t)tensor.data.size);
    mf_model_close(model);
    free(bytes[0]);
    free(bytes[1]);
    empty_scratch();
}

/* ---- an input that is touched meanwhile ---- */

/* What is written is kept here; the first write changes the input's mode. */
struct taken {
    const char *touches;
    uint8_t *bytes;
    size_t size, reads;
};

static int begin(void *user, const char *name, uint64_t bytes, void **file)
{
    struct taken *taken = user;

    (void)name;
    *file = NULL;
    taken->size = (size_t)bytes;
    taken->bytes = calloc(1, taken->size);
    return taken->bytes ? 0 : ENOMEM;
}

static int take(void *user, void *file, uint64_t offset, const void *bytes,
                size_t size)
{
    struct taken *taken = user;

    (void)file;
    if (taken->touches && chmod(scratch_path(taken->touches), 0640) != 0)
        return errno;
    taken->touches = NULL;
    memcpy(taken->bytes + offset, bytes, size);
    return 0;
}

static int give(void *user, void *file, uint64_t offset, void *bytes,
                size_t size)
{
    struct taken *taken = user;

    (void)file;
    taken->reads++;
    memcpy(bytes, taken->bytes + offset, size);
    return 0;
}

/* All is made once more, and compared with what was taken. */
static void touched(const char *from, const char *order, const char *other)
{
    struct taken taken = { .touches = from };
    const struct mf_output_ops ops = { .size = sizeof(ops),
                                       .begin = begin,
                                       .write = take,
                                       .read = give,
                                       .user = &taken };
    struct mf_options how = { .size = sizeof(how), .threads = 1 };
    struct mf_env *own = mf_env_new(&how);
    struct mf_convert_options options = as(order);
    struct mf_model *model;
    uint8_t *bytes;
    size_t size;

    options.output = &ops;
    options.replace = false;
    assert_int_equal(mf_model_open(own, scratch_path(from), NULL, &model),
                     MF_OK);
    if (mf_model_convert(model, "o.gguf", &options, NULL) != MF_OK)
        fail_msg("%s", mf_env_error(own)->message);
    mf_model_close(model);
    mf_env_free(own);
    bytes = load(scratch_path(other), &size);
    assert_int_equal(taken.size, size);
    assert_memory_equal(taken.bytes, bytes, size);
    assert_true(taken.reads > 3);
    free(taken.bytes);
    free(bytes);
}

static void touched_meanwhile(void **state)
{
    struct mf_convert_options big = as("big");

    (void)state;
    write_large(scratch_path("one.gguf"));
    must_convert(env, scratch_path("one.gguf"), scratch_path("b.gguf"), &big);
    touched("one.gguf", "big", "b.gguf");
    touched("b.gguf", "little", "one.gguf");
    empty_scratch();
}

/* ---- what the library says of them ---- */

static void same_reading(struct mf_model *a, struct mf_model *b, size_t index)
{
    uint8_t bytes[2][1024];
    float floats[2][768];
    struct mf_tensor tensor;
    size_t size;

    assert_true(mf_tensor_at(a, index, &tensor));
    size = (size_t)tensor.data.size;
    assert_true(size <= sizeof(bytes[0]));
    for (size_t from = 0; from <= size; from += from < 8 || size < 200 ? 1 : 7)
        for (size_t some = 0; some <= size - from; some += some < 9 ? 1 : 61) {
            assert_int_equal(mf_tensor_bytes(a, index, from, some, bytes[0]),
                             MF_OK);
            assert_int_equal(mf_tensor_bytes(b, index, from, some, bytes[1]),
                             MF_OK);
            assert_memory_equal(bytes[0], bytes[1], some);
        }
    assert_int_equal(
        mf_tensor_read(a, index, 0, tensor.parameters, MF_READ_OWN, bytes[0]),
        MF_OK);
    assert_int_equal(
        mf_tensor_read(b, index, 0, tensor.parameters, MF_READ_OWN, bytes[1]),
        MF_OK);
    assert_memory_equal(bytes[0], bytes[1], size);
    if (mf_tensor_read(a, index, 1, tensor.parameters - 1, MF_READ_F32,
                       floats[0]) != MF_OK)
        return; /* of no codec */
    assert_int_equal(mf_tensor_read(b, index, 1, tensor.parameters - 1,
                                    MF_READ_F32, floats[1]),
                     MF_OK);
    assert_memory_equal(floats[0], floats[1],
                        (size_t)(tensor.parameters - 1) * sizeof(float));
}

static void numbers_are_the_same(void **state)
{
    struct mf_model *a = open_fixture(LITTLE), *b = open_fixture(BIG);
    size_t count = mf_model_info(a)->tensor_count, swapped = 0;
    struct mf_tensor tensor;

    (void)state;
    assert_int_equal(mf_model_info(b)->tensor_count, count);
    for (size_t i = 0; i < count; i++) {
        same_reading(a, b, i);
        assert_true(mf_tensor_at(a, i, &tensor));
        assert_int_equal(tensor.flags, 0);
        assert_true(mf_tensor_at(b, i, &tensor));
        swapped += tensor.flags == MF_TENSOR_SWAPPED;
        assert_int_equal(mf_tensor_place(b, i, &(struct mf_file_span){ 0 }),
                         tensor.flags == 0);
    }
    /* i8, mxfp4 and nvfp4 are the same in both orders. */
    assert_int_equal(swapped, count - 3);
    mf_model_close(b);
    mf_model_close(a);
}

/* Every length of the file, as far as the library can open it. */
static void cut_off(void **state)
{
    size_t size, opened = 0;
    uint8_t *bytes = load(fixture_path(BIG), &size), out[1024];
    struct mf_model *model;
    struct mf_tensor tensor;

    (void)state;
    for (size_t have = 0; have < size; have += have < 2600 ? 97 : 13) {
        if (mf_model_open_memory(env, "cut", bytes, have, NULL, &model) !=
            MF_OK)
            continue;
        opened++;
        for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
            enum mf_status status =
                mf_tensor_bytes(model, i, 0, (size_t)tensor.data.size, out);

            if (tensor.data.offset + tensor.data.size <= have)
                assert_int_equal(status, MF_OK);
            else
                assert_int_not_equal(status, MF_OK);
        }
        mf_model_close(model);
    }
    assert_true(opened > 100);
    free(bytes);
}

/* ---- an order that cannot be ---- */

static void refused(const char *from, const char *to,
                    const struct mf_convert_options *options,
                    enum mf_status status, const char *part)
{
    struct mf_model *model = open_fixture(from);

    assert_int_equal(mf_model_convert(model, scratch_path(to), options, NULL),
                     status);
    if (!strstr(mf_env_error(env)->message, part))
        fail_msg("'%s' instead of '%s'", mf_env_error(env)->message, part);
    mf_model_close(model);
}

static void wrong_orders(void **state)
{
    struct mf_convert_options odd = as("middle"), big = as("big"),
                              both = as("little");

    (void)state;
    both.big_endian = true;
    refused(LITTLE, "o.gguf", &odd, MF_ERR_ARGUMENT,
            "unknown byte order 'middle'");
    refused(LITTLE, "o.gguf", &both, MF_ERR_ARGUMENT, "exclude each other");
    refused("good-base.gguf", "o.safetensors", &big, MF_ERR_UNSUPPORTED,
            "always little-endian");
    refused("good-base.gguf", "o.apr", &big, MF_ERR_UNSUPPORTED,
            "always little-endian");
    refused("good-base.gguf", "o/", &big, MF_ERR_UNSUPPORTED,
            "always little-endian");
    refused("bad-type-iq4_ks.gguf", "o.gguf", &big, MF_ERR_UNSUPPORTED,
            "the order of its bytes cannot be changed");
    assert_int_equal(empty_scratch(), 0);
}

static void old_versions_become_new(void **state)
{
    struct mf_convert_options big = as("big");
    struct mf_model *model;

    (void)state;
    must_convert(env, fixture_path("good-v2.gguf"), scratch_path("b.gguf"),
                 &big);
    model = open_model(scratch_path("b.gguf"));
    assert_int_equal(mf_model_info(model)->version, 3);
    assert_int_equal(mf_model_info(model)->byte_order, MF_BIG_ENDIAN);
    mf_model_close(model);
    empty_scratch();
}

static void other_formats(void **state)
{
    struct mf_convert_options big = as("big"), little = as("little");

    (void)state;
    must_convert(env, fixture_path("good-base.safetensors"),
                 scratch_path("l.gguf"), &little);
    must_convert(env, fixture_path("good-base.safetensors"),
                 scratch_path("b.gguf"), &big);
    must_convert(env, scratch_path("b.gguf"), scratch_path("back.gguf"),
                 &little);
    assert_true(same_files(scratch_path("l.gguf"), scratch_path("back.gguf")));
    must_convert(env, scratch_path("b.gguf"), scratch_path("b.safetensors"),
                 NULL);
    must_convert(env, scratch_path("l.gguf"), scratch_path("l.safetensors"),
                 NULL);
    assert_true(same_files(scratch_path("l.safetensors"),
                           scratch_path("b.safetensors")));
    empty_scratch();
}

/* ---- the heap ---- */

static bool try_failing(const char *from, const char *order, uint64_t call,
                        bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_options how = { .size = sizeof(how),
                              .threads = 1,
                              .allocator = { .resize = test_resize,
                                             .user = &heap } };
    struct mf_env *own = mf_env_new(&how);
    struct mf_convert_options options = as(order);
    struct mf_model *model = NULL;
    enum mf_status status = MF_ERR_MEMORY;

    if (own)
        status = mf_model_open(own, fixture_path(from), NULL, &model);
    if (own && status == MF_OK) {
        status =
            mf_model_convert(model, scratch_path("o.gguf"), &options, NULL);
        mf_model_close(model);
    }
    mf_env_free(own);
    assert_int_equal(heap.live, 0);
    check_refused(&heap, status);
    assert_int_equal(empty_scratch(), status == MF_OK);
    return heap.calls < call;
}

static void every_allocation_fails(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++)
        for (int big = 0; big < 2; big++) {
            uint64_t call = 1;

            while (!try_failing(big ? BIG : LITTLE, big ? "little" : "big",
                                call, after))
                call++;
            assert_true(call > 10);
        }
}

/* The meaning of the bytes of an unknown type is unknown. */
static void unknown_types(void **state)
{
    static const char name[] = "integer";
    size_t size, at = 0;
    uint8_t *bytes = load(fixture_path("good-big-endian.gguf"), &size);
    uint8_t digests[8 * MF_DIGEST_MAX];
    struct mf_env *own = mf_env_new(NULL);
    struct mf_model *model;

    (void)state;
    while (memcmp(bytes + at, name, strlen(name)) != 0)
        at++;
    at += strlen(name) + 4 + 8; /* one dimension: then its type */
    assert_int_equal(bytes[at + 3], 27);
    bytes[at + 3] = 77;
    assert_int_equal(
        mf_model_open_memory(own, "unknown", bytes, size, NULL, &model), MF_OK);
    assert_int_equal(mf_model_hash_tensors(model, MF_XXH3_64, digests),
                     MF_ERR_UNSUPPORTED);
    assert_non_null(strstr(mf_env_error(own)->message,
                           "tensor 'integer' has an unknown type in a "
                           "big-endian file"));
    assert_int_equal(mf_model_hash_data(model, MF_XXH3_64, digests),
                     MF_ERR_UNSUPPORTED);
    mf_model_close(model);
    mf_env_free(own);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_a_row),
        cmocka_unit_test(twice_is_nothing),
        cmocka_unit_test(each_order_from_the_other),
        cmocka_unit_test(in_little_memory),
        cmocka_unit_test(shards_too),
        cmocka_unit_test(large_tensors),
        cmocka_unit_test(touched_meanwhile),
        cmocka_unit_test(numbers_are_the_same),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(wrong_orders),
        cmocka_unit_test(old_versions_become_new),
        cmocka_unit_test(other_formats),
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(unknown_types),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
