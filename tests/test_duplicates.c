/* SPDX-License-Identifier: MIT
 *
 * test_duplicates.c - tensors with equal bytes, found by whatever threads
 */
#include "lib/base/slices.h"
#include "lib/compare/compare.h"
#include "tests/gguf_image.h"

/* ---- equal tensors ---- */

static void equal_tensors_are_found(void **state)
{
    static const uint32_t expected[] = { 0, 1, 2, 0, 4, 2, 4 };
    uint32_t same[COUNT(pieces)];

    (void)state;
    for (size_t t = 0; t < COUNT(thread_counts); t++) {
        struct mf_env *env = env_with(thread_counts[t]);
        struct mf_model *model = open_image(env);
        struct mf_io_stats before, after;

        mf_env_io(env, &before);
        assert_int_equal(mf_model_duplicates(model, same), MF_OK);
        assert_memory_equal(same, expected, sizeof(same));
        /* What has a size of its own is not read. */
        mf_env_io(env, &after);
        assert_true(after.bytes_read - before.bytes_read < 21 * MIB);
        mf_model_close(model);
        mf_env_free(env);
    }
}

/* XXH3 adds lo * hi to a lane for each 8 bytes, the halves of which are theirs
 * xor 8 of the secret's; and the bytes themselves to the lane next to it. Where
 * lo is 0 nothing is multiplied, and what is added to the high half of one may
 * be taken from that of the next. */
static void make_a_collision(uint8_t *a, uint8_t *b, size_t size)
{
    static const uint64_t secret[2] = { 0xbe4ba423396cfeb8,
                                        0x1cad21f72c81017c };
    const uint64_t moved = UINT64_C(5) << 32;
    uint64_t twin[2] = { secret[0] + moved, secret[1] - moved };

    for (size_t i = 0; i < 2; i++) {
        memcpy(a + 64 * i, &secret[i], 8);
        memcpy(b + 64 * i, &twin[i], 8);
    }
    assert_memory_not_equal(a, b, size);
}

/* Anybody can make tensors whose digests are equal: their bytes decide. */
static void equal_digests_do_not_suffice(void **state)
{
    enum { SIZE = 1024 };
    static const struct piece twins[] = { { NAMED("a"), SIZE, 5 },
                                          { NAMED("b"), SIZE, 5 },
                                          { NAMED("c"), SIZE, 5 } };
    static const uint32_t expected[] = { 0, 1, 0 };
    uint8_t digests[3 * 16];
    uint32_t same[3];
    struct mf_env *env = env_with(1);
    struct mf_model *model;
    uint8_t *data;

    (void)state;
    free(image.at);
    make_image(twins, 3);
    data = image.at + image.size - 3 * SIZE;
    make_a_collision(data, data + SIZE, SIZE);
    memcpy(data + 2 * SIZE, data, SIZE);
    model = open_image(env);
    assert_int_equal(mf_model_hash_tensors(model, MF_XXH3_128, digests), MF_OK);
    assert_memory_equal(digests, digests + 16, 16);
    assert_int_equal(mf_model_duplicates(model, same), MF_OK);
    assert_memory_equal(same, expected, sizeof(same));
    mf_model_close(model);
    mf_env_free(env);
}

static void first_difference_is_reported(void **state)
{
    static const size_t places[] = { 0,       1,        4095,          524287,
                                     1 << 24, 20 * MIB, 40 * MIB + 31, 0 };
    static const struct piece twins[] = { { NAMED("a"), 40 * MIB + 32, 5 },
                                          { NAMED("b"), 40 * MIB + 32, 5 } };
    struct mf_tensor tensor;

    (void)state;
    free(image.at);
    make_image(twins, 2);
    for (size_t t = 0; t < COUNT(thread_counts); t++) {
        struct mf_env *env = env_with(thread_counts[t]);
        struct mf_model *model = open_image(env);
        struct mf_pair pair = { .a = 0, .b = 1 };

        assert_int_equal(mf_compare(model, model, &pair, 1), MF_OK);
        assert_int_equal(pair.first, 40 * MIB + 32);
        assert_true(mf_tensor_at(model, 1, &tensor));
        for (size_t i = 0; i + 1 < COUNT(places); i++) {
            uint8_t *at = image.at + tensor.data.offset;

            at[places[i]] ^= 1;
            at[40 * MIB + 31] ^= 1; /* and a later one */
            assert_int_equal(mf_compare(model, model, &pair, 1), MF_OK);
            at[40 * MIB + 31] ^= 1;
            assert_int_equal(pair.first, places[i] == 40 * MIB + 31
                                             ? 40 * MIB + 32
                                             : places[i]);
            at[places[i]] ^= 1;
        }
        mf_model_close(model);
        mf_env_free(env);
    }
}

/* ---- slices ---- */

/* They cover every thing, in order, within their room, even where sizes add up
 * to more than there are numbers. */
static void slices_cover_everything(void **state)
{
    static const uint64_t sizes[][3] = {
        { 0, 1, 2 },
        { 100 * MIB, 0, 16 * MIB },
        { 16 * MIB + 1, UINT64_C(1) << 40, 16 * MIB },
        { INT64_MAX, INT64_MAX, INT64_MAX },
    };
    struct mf_env *env = env_with(1);

    (void)state;
    for (size_t row = 0; row < COUNT(sizes); row++) {
        uint64_t total = sizes[row][0] + sizes[row][1] + sizes[row][2];
        struct mf_slices slices;
        uint64_t covered[3] = { 0 };

        assert_int_equal(mf_slices_init(&slices, env, 3, total), MF_OK);
        for (uint32_t i = 0; i < 3; i++)
            mf_slices_add(&slices, i, sizes[row][i], false);
        assert_true(slices.count >= 3 && slices.count <= slices.room);
        assert_true(slices.count < 5000);
        for (size_t i = 0; i < slices.count; i++) {
            const struct mf_slice *slice = &slices.at[i];

            assert_true(i == 0 || slice->thing >= slice[-1].thing);
            assert_int_equal(slice->from, covered[slice->thing]);
            covered[slice->thing] += slice->size;
        }
        assert_memory_equal(covered, sizes[row], sizeof(covered));
        mf_slices_release(&slices);
    }
    mf_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_tensors_are_found, make, unmake),
        cmocka_unit_test_setup_teardown(equal_digests_do_not_suffice, make,
                                        unmake),
        cmocka_unit_test_setup_teardown(first_difference_is_reported, make,
                                        unmake),
        cmocka_unit_test(slices_cover_everything),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
