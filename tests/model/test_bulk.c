/* SPDX-License-Identifier: MIT
 *
 * test_bulk.c - many tensors and metadata keys in one call
 */
#include "tests/with_env.h"

#define SOME 5 /* rows of a call */

static void same_tensor(const struct mf_tensor *a, const struct mf_tensor *b)
{
    assert_ptr_equal(a->name.at, b->name.at);
    assert_int_equal(a->name.size, b->name.size);
    assert_string_equal(a->type, b->type);
    assert_int_equal(a->type_id, b->type_id);
    assert_int_equal(a->rank, b->rank);
    assert_ptr_equal(a->dim, b->dim);
    assert_int_equal(a->parameters, b->parameters);
    assert_int_equal(a->data.offset, b->data.offset);
    assert_int_equal(a->data.size, b->data.size);
    assert_int_equal(a->shard, b->shard);
    assert_int_equal(a->flags, b->flags);
    assert_ptr_equal(a->stride, b->stride);
    assert_int_equal(a->storage, b->storage);
}

static void same_meta(const struct mf_meta *a, const struct mf_meta *b)
{
    assert_ptr_equal(a->key.at, b->key.at);
    assert_int_equal(a->key.size, b->key.size);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->of, b->of);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->number.u64, b->number.u64);
    assert_ptr_equal(a->text.at, b->text.at);
    assert_int_equal(a->text.size, b->text.size);
    assert_int_equal(a->span.offset, b->span.offset);
    assert_int_equal(a->span.size, b->span.size);
    assert_int_equal(a->shard, b->shard);
}

static size_t at_most(size_t left, size_t most)
{
    return left < most ? left : most;
}

/* From each index on, one after the last included. */
static void check_tensors(const struct mf_model *model, size_t count)
{
    struct mf_tensor some[SOME + 1], one;

    for (size_t first = 0; first <= count + 1; first++) {
        size_t wanted = first < count ? at_most(count - first, SOME) : 0;

        memset(some, 0x5a, sizeof(some));
        assert_int_equal(mf_tensors_at(model, first, SOME, some), wanted);
        for (size_t i = 0; i < wanted; i++) {
            assert_true(mf_tensor_at(model, first + i, &one));
            same_tensor(&some[i], &one);
        }
        for (size_t i = 0; i < sizeof(one); i++)
            assert_int_equal(((const uint8_t *)&some[wanted])[i], 0x5a);
    }
    assert_int_equal(mf_tensors_at(model, SIZE_MAX, SIZE_MAX, some), 0);
    assert_int_equal(mf_tensors_at(model, 0, 0, some), 0);
}

static void check_metas(const struct mf_model *model, size_t count)
{
    struct mf_meta some[SOME + 1], one;

    for (size_t first = 0; first <= count + 1; first++) {
        size_t wanted = first < count ? at_most(count - first, SOME) : 0;

        memset(some, 0x5a, sizeof(some));
        assert_int_equal(mf_metas_at(model, first, SOME, some), wanted);
        for (size_t i = 0; i < wanted; i++) {
            assert_true(mf_meta_at(model, first + i, &one));
            same_meta(&some[i], &one);
        }
        for (size_t i = 0; i < sizeof(one); i++)
            assert_int_equal(((const uint8_t *)&some[wanted])[i], 0x5a);
    }
    assert_int_equal(mf_metas_at(model, SIZE_MAX, SIZE_MAX, some), 0);
    assert_int_equal(mf_metas_at(model, 0, 0, some), 0);
}

static size_t rows_seen;

static void check_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_heap_stats before, after;
    const struct mf_model_info *info;
    struct mf_model *model;

    (void)bytes, (void)size;
    if (mf_model_open(env, fixture_path(name), NULL, &model) != MF_OK)
        return;
    info = mf_model_info(model);
    mf_env_heap(env, &before);
    check_tensors(model, info->tensor_count);
    check_metas(model, info->metadata_count);
    mf_env_heap(env, &after);
    assert_int_equal(after.allocations, before.allocations);
    rows_seen += info->tensor_count + info->metadata_count;
    mf_model_close(model);
}

static void test_every_fixture(void **state)
{
    (void)state;
    each_fixture("", check_fixture);
    assert_true(rows_seen > 1000);
}

/* More is asked for than there is: nothing is written after the last. */
static void test_all_at_once(void **state)
{
    struct mf_model *model = open_fixture("good-split-00001-of-00003.gguf");
    size_t count = mf_model_info(model)->tensor_count;
    struct mf_tensor *tensors;
    struct mf_meta *metas;

    (void)state;
    tensors = malloc(count * sizeof(*tensors));
    assert_non_null(tensors);
    assert_int_equal(mf_tensors_at(model, 0, SIZE_MAX, tensors), count);
    assert_int_not_equal(tensors[0].shard, tensors[count - 1].shard);
    free(tensors);
    count = mf_model_info(model)->metadata_count;
    metas = malloc(count * sizeof(*metas));
    assert_non_null(metas);
    assert_int_equal(mf_metas_at(model, 0, SIZE_MAX, metas), count);
    free(metas);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(test_every_fixture),
        WITH_ENV(test_all_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
