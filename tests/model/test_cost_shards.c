/* SPDX-License-Identifier: MIT
 *
 * test_cost_shards.c - what a further shard costs: allocations and heap
 *
 * docs/guarantees.md promises these numbers.
 */
#include "tests/with_scratch.h"

#define TENSORS 4 /* of each shard */

/* The most bytes that a further shard may add, its tensors included; and that
 * many do on average.  An arena whose chunks grew with every shard once took
 * 98 MB for 64 of them. */
#define SHARD_COST 8192
#define SHARD_MEAN 2048

static void make_whole(const char *format, const char *path, size_t tensors)
{
    static const float numbers[8];
    struct mf_writer *writer = start_writer(env, format);
    char name[64];

    if (strcmp(format, "gguf") == 0)
        assert_int_equal(
            mf_writer_set(writer,
                          &(struct mf_edit){ .key = "general.architecture",
                                             .type = MF_VALUE_STRING,
                                             .text = { "llama", 5 } }),
            MF_OK);
    for (size_t i = 0; i < tensors; i++) {
        int size = snprintf(name, sizeof(name), "blk.%05zu.weight", i);
        struct mf_new_tensor tensor = { .name = { name, (size_t)size },
                                        .type = "f32",
                                        .rank = 2,
                                        .dim = (const uint64_t[]){ 2, 4 } };

        assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    }
    assert_int_equal(mf_writer_open(writer, path), MF_OK);
    for (size_t i = 0; i < tensors; i++)
        assert_int_equal(mf_writer_push(writer, numbers, sizeof(numbers)),
                         MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
}

struct cost {
    uint64_t allocations;
    size_t live, peak;
};

static struct cost open_cost(const char *path, size_t shards)
{
    struct mf_env *own = mf_env_new(NULL);
    struct mf_open_options options = { .size = sizeof(options),
                                       .shards = MF_SHARDS_BY_NAME };
    struct mf_heap_stats before, after;
    struct mf_model *model;

    assert_non_null(own);
    mf_env_heap(own, &before);
    if (mf_model_open(own, path, &options, &model) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(own)->message);
    mf_env_heap(own, &after);
    assert_int_equal(mf_model_info(model)->shard_count, shards);
    assert_int_equal(mf_model_info(model)->tensor_count, shards * TENSORS);
    mf_model_close(model);
    mf_env_free(own);
    return (struct cost){ .allocations = after.allocations - before.allocations,
                          .live = after.live - before.live,
                          .peak = after.peak - before.live };
}

/* Of a model with so many shards, opened by a path in the working folder: the
 * cost must not depend on where that is. */
static struct cost cost_of(const char *format, size_t shards, const char *path)
{
    struct mf_convert_options options = { .size = sizeof(options),
                                          .shard_tensors = TENSORS };
    char whole[32], split[32];
    struct cost cost;

    snprintf(whole, sizeof(whole), "whole.%s", format);
    snprintf(split, sizeof(split), "m.%s", format);
    make_whole(format, whole, shards * TENSORS);
    if (shards > 1)
        must_convert(env, whole, split, &options);
    cost = open_cost(shards > 1 ? path : whole, shards);
    empty_scratch();
    return cost;
}

static void assert_steps(const char *format, const char *pattern)
{
    static const size_t counts[] = { 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 48 };
    struct cost before = { 0 };
    char path[64];

    for (size_t i = 0; i < COUNT(counts); i++) {
        size_t more = i > 0 ? counts[i] - counts[i - 1] : 0;
        size_t most = more == 1 ? SHARD_COST : more * SHARD_MEAN;
        struct cost cost;

        snprintf(path, sizeof(path), pattern, counts[i]);
        cost = cost_of(format, counts[i], path);
        if (more > 0 &&
            (cost.live > before.live + most || cost.peak > before.peak + most))
            fail_msg("%s, %zu shards: %zu bytes more, %zu at the peak", pattern,
                     counts[i], cost.live - before.live,
                     cost.peak - before.peak);
        before = cost;
    }
}

static void a_further_shard(void **state)
{
    struct cost one = cost_of("gguf", 1, NULL);
    struct cost two = cost_of("gguf", 2, "m-00001-of-00002.gguf");

    (void)state;
    assert_true(two.live <= one.live + SHARD_COST);
    assert_true(two.peak <= one.peak + SHARD_COST);
    assert_steps("gguf", "m-00001-of-%05zu.gguf");
    /* The last one leads to the others, too. */
    assert_steps("gguf", "m-%1$05zu-of-%1$05zu.gguf");
    /* An index.json has a fixed cost, which a model of one file has not. */
    assert_steps("safetensors", "m.safetensors.index.json");
    assert_steps("safetensors", "m-00001-of-%05zu.safetensors");
}

/* Three for each shard (window, table of tensors, their names), and more for
 * tables that double. */
static void allocations_are_known(void **state)
{
    static const struct {
        size_t shards;
        uint64_t gguf, safetensors;
    } promised[] = { { 1, 10, 8 },
                     { 2, 17, 18 },
                     { 4, 26, 26 },
                     { 8, 41, 40 },
                     { 16, 69, 67 } };
    char path[64];

    (void)state;
    for (size_t i = 0; i < COUNT(promised); i++) {
        size_t shards = promised[i].shards;

        snprintf(path, sizeof(path), "m-00001-of-%05zu.gguf", shards);
        assert_int_equal(cost_of("gguf", shards, path).allocations,
                         promised[i].gguf);
        assert_int_equal(
            cost_of("safetensors", shards, "m.safetensors.index.json")
                .allocations,
            promised[i].safetensors);
    }
}

static int setup(void **state)
{
    return scratch_env_setup(state) == 0 ? chdir(scratch_folder) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_further_shard),
        cmocka_unit_test(allocations_are_known),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, scratch_env_teardown);
}
