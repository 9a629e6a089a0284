/* SPDX-License-Identifier: MIT
 *
 * test_duplicates.c - tensors with equal bytes, found by whatever threads
 */
#include "lib/compare/compare.h"
#include "tests/gguf/gguf_image.h"

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
 * be taken from the next one's. */
static void make_a_collision(uint8_t *a, uint8_t *b, size_t size)
{
    static const uint64_t secret[2] = { 0xbe4ba423396cfeb8,
                                        0x1cad21f72c81017c };
    const uint64_t moved = UINT64_C(5) << 32;
    uint64_t twin[2] = { secret[0] + moved, secret[1] - moved };

    for (size_t i = 0; i < 2; i++) {
        mf_put_little_64(a + 64 * i, secret[i]);
        mf_put_little_64(b + 64 * i, twin[i]);
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

/* ---- of several models ---- */

static void image_of(const struct piece *piece, size_t count, struct image *out)
{
    make_image(piece, count);
    *out = image;
    image = (struct image){ 0 };
}

static struct mf_model *open_one(struct mf_env *env, const struct image *from)
{
    struct mf_model *model;

    if (mf_model_open_memory(env, "made.gguf", from->at, from->size, NULL,
                             &model) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return model;
}

/* Numbers go on from one model to the next, and names do not matter.  What is
 * open twice has its bytes in one place; equal bytes elsewhere are copies. */
static void models_share_tensors(void **state)
{
    static const struct piece a[] = { { NAMED("x"), 96, 1 },
                                      { NAMED("only"), 128, 2 },
                                      { NAMED("large"), 20 * MIB, 3 } };
    static const struct piece b[] = { { NAMED("large"), 20 * MIB, 4 },
                                      { NAMED("other"), 20 * MIB, 3 },
                                      { NAMED("x"), 96, 5 },
                                      { NAMED("y"), 96, 1 } };
    /* a is 0 to 2, b is 3 to 6, and a once more is 7 to 9 */
    static const uint32_t same[] = { 0, 1, 2, 3, 2, 5, 0, 0, 1, 2 };
    static const uint32_t place[] = { 0, 1, 2, 3, 4, 5, 6, 0, 1, 2 };
    struct image images[2];

    (void)state;
    image_of(a, COUNT(a), &images[0]);
    image_of(b, COUNT(b), &images[1]);
    for (size_t t = 0; t < COUNT(thread_counts); t++) {
        struct mf_env *env = env_with(thread_counts[t]);
        struct mf_model *models[] = { open_one(env, &images[0]),
                                      open_one(env, &images[1]),
                                      open_one(env, &images[0]) };
        uint32_t found[COUNT(same)], placed[COUNT(same)];

        assert_int_equal(mf_models_duplicates(models, 3, found, placed), MF_OK);
        assert_memory_equal(found, same, sizeof(same));
        assert_memory_equal(placed, place, sizeof(place));
        assert_int_equal(mf_models_duplicates(models, 2, found, NULL), MF_OK);
        assert_memory_equal(found, same, 7 * sizeof(*same));
        assert_int_equal(mf_models_duplicates(models, 0, NULL, NULL), MF_OK);
        for (size_t m = 0; m < 3; m++)
            mf_model_close(models[m]);
        mf_env_free(env);
    }
    free(images[0].at);
    free(images[1].at);
}

/* A link to a file leads to the same bytes; a copy of it has bytes of its own.
 */
static void links_are_one_file(void **state)
{
    static const char *const names[] = { "good-base.gguf", "good-base.gguf",
                                         "good-llama.gguf" };
    struct mf_env *env = env_with(1);
    struct mf_model *models[3];
    uint32_t same[32], place[32];

    (void)state;
    for (size_t m = 0; m < 3; m++)
        assert_int_equal(
            mf_model_open(env, fixture_path(names[m]), NULL, &models[m]),
            MF_OK);
    assert_int_equal(mf_models_duplicates(models, 3, same, place), MF_OK);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(same[i], i % 2);
        assert_int_equal(place[i], i % 2);
    }
    for (size_t m = 0; m < 3; m++)
        mf_model_close(models[m]);
    mf_env_free(env);
}

/* With planted digests in two models: their bytes decide. */
static void equal_digests_of_two_models(void **state)
{
    enum { SIZE = 1024 };
    static const struct piece one[] = { { NAMED("a"), SIZE, 5 } };
    static const uint32_t expected[] = { 0, 1, 0 };
    uint8_t digests[2][16];
    struct mf_env *env = env_with(1);
    struct mf_model *models[3];
    struct image images[3];
    uint32_t same[3];

    (void)state;
    for (size_t m = 0; m < 3; m++)
        image_of(one, 1, &images[m]);
    make_a_collision(images[0].at + images[0].size - SIZE,
                     images[1].at + images[1].size - SIZE, SIZE);
    memcpy(images[2].at, images[0].at, images[0].size);
    for (size_t m = 0; m < 3; m++)
        models[m] = open_one(env, &images[m]);
    for (size_t m = 0; m < 2; m++)
        assert_int_equal(
            mf_model_hash_tensors(models[m], MF_XXH3_128, digests[m]), MF_OK);
    assert_memory_equal(digests[0], digests[1], 16);
    assert_int_equal(mf_models_duplicates(models, 3, same, NULL), MF_OK);
    assert_memory_equal(same, expected, sizeof(same));
    for (size_t m = 0; m < 3; m++) {
        mf_model_close(models[m]);
        free(images[m].at);
    }
    mf_env_free(env);
}

static void models_of_two_envs_are_refused(void **state)
{
    struct mf_env *env = env_with(1), *other = env_with(1);
    struct mf_model *models[2];
    uint32_t same[4];

    (void)state;
    for (size_t m = 0; m < 2; m++)
        assert_int_equal(mf_model_open(m == 0 ? env : other,
                                       fixture_path("good-base.gguf"), NULL,
                                       &models[m]),
                         MF_OK);
    assert_int_equal(mf_models_duplicates(models, 2, same, NULL),
                     MF_ERR_ARGUMENT);
    mf_model_close(models[1]);
    mf_env_free(other);
    assert_int_equal(
        mf_model_open(env, fixture_path("bad-overlap.gguf"), NULL, &models[1]),
        MF_OK);
    assert_int_equal(mf_models_duplicates(models, 2, same, NULL),
                     MF_ERR_CORRUPT);
    assert_non_null(strstr(mf_env_error(env)->message, "bad-overlap.gguf'"));
    assert_non_null(strstr(mf_env_error(env)->message, "tensor 'a.weight'"));
    mf_model_close(models[1]);
    mf_model_close(models[0]);
    mf_env_free(env);
}

/* With a heap that fails at that call; true if there were fewer calls. */
static bool two_models_failing(const struct image *from, uint64_t call)
{
    struct test_heap heap = { .fail_at = call };
    struct mf_env *env = test_env(&heap);
    struct mf_model *models[2] = { NULL, NULL };
    uint32_t same[6] = { 9 }, place[6] = { 9 };
    enum mf_status status = MF_ERR_MEMORY;

    for (size_t m = 0; env && m < 2; m++)
        if (mf_model_open_memory(env, "made.gguf", from->at, from->size, NULL,
                                 &models[m]) != MF_OK)
            break;
    if (models[1])
        status = mf_models_duplicates(models, 2, same, place);
    if (status == MF_OK)
        assert_true(same[0] == 0 && same[3] == 0 && place[3] == 0);
    else
        assert_int_equal(status, MF_ERR_MEMORY);
    mf_model_close(models[1]);
    mf_model_close(models[0]);
    mf_env_free(env);
    assert_int_equal(heap.live, 0);
    return heap.calls < call;
}

static void every_allocation_failed(void **state)
{
    static const struct piece few[] = { { NAMED("a"), 96, 1 },
                                        { NAMED("b"), 96, 2 },
                                        { NAMED("c"), 96, 1 } };
    struct image from;
    uint64_t call = 1;

    (void)state;
    image_of(few, COUNT(few), &from);
    while (!two_models_failing(&from, call))
        call++;
    assert_true(call > 20);
    free(from.at);
}

/* What two models of that many equal tensors cost while they are compared. */
static size_t peak_of_two(size_t count)
{
    struct piece *piece = calloc(count, sizeof(*piece));
    char(*name)[16] = calloc(count, sizeof(*name));
    uint32_t *same = malloc(4 * count * sizeof(*same));
    struct mf_env *env = env_with(2);
    struct mf_model *models[2];
    struct mf_heap_stats before, after;
    struct image images[2];

    assert_true(piece && name && same);
    for (size_t i = 0; i < count; i++) {
        int size = snprintf(name[i], sizeof(name[i]), "blk.%zu", i);

        piece[i] = (struct piece){ name[i], (size_t)size, 32, (unsigned)i };
    }
    for (size_t m = 0; m < 2; m++) {
        image_of(piece, count, &images[m]);
        models[m] = open_one(env, &images[m]);
    }
    mf_env_heap(env, &before);
    assert_int_equal(mf_models_duplicates(models, 2, same, same + 2 * count),
                     MF_OK);
    mf_env_heap(env, &after);
    for (uint32_t i = 0; i < count; i++)
        assert_true(same[i] == i && same[count + i] == i);
    for (size_t m = 0; m < 2; m++) {
        mf_model_close(models[m]);
        free(images[m].at);
    }
    mf_env_free(env);
    free(same);
    free(name);
    free(piece);
    return after.peak - before.live;
}

/* 20 bytes of each tensor, and 32 of each of the model whose digests are
 * computed. */
static void heap_is_bounded(void **state)
{
    size_t few = peak_of_two(2000), many = peak_of_two(20000);

    (void)state;
    print_message("# heap for 2 x 20,000 tensors: %zu bytes, 2 x 2,000: %zu\n",
                  many, few);
    assert_true(many < few + (size_t)40 * 2 * 18000);
    assert_true(many < (size_t)2 << 20);
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
        struct mf_pair pair = { .a = { 0, 0 }, .b = { 0, 1 } };

        assert_int_equal(mf_compare(&model, &pair, 1), MF_OK);
        assert_int_equal(pair.first, 40 * MIB + 32);
        assert_true(mf_tensor_at(model, 1, &tensor));
        for (size_t i = 0; i + 1 < COUNT(places); i++) {
            uint8_t *at = image.at + tensor.data.offset;

            at[places[i]] ^= 1;
            at[40 * MIB + 31] ^= 1; /* and a later one */
            assert_int_equal(mf_compare(&model, &pair, 1), MF_OK);
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
        cmocka_unit_test(models_share_tensors),
        cmocka_unit_test(links_are_one_file),
        cmocka_unit_test(equal_digests_of_two_models),
        cmocka_unit_test(models_of_two_envs_are_refused),
        cmocka_unit_test(every_allocation_failed),
        cmocka_unit_test(heap_is_bounded),
        cmocka_unit_test_setup_teardown(first_difference_is_reported, make,
                                        unmake),
        cmocka_unit_test(slices_cover_everything),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
