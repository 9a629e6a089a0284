/* SPDX-License-Identifier: MIT
 *
 * test_imatrix_merge.c - merging and coverage survive any file and any heap
 *
 * What they make of good files is compared with llama-imatrix's own in
 * imatrix.t.
 */
#include "tests/scratch.h"
#include "tests/with_env.h"

static char in[512], out[512];

static int set_up(void **state)
{
    int failed = make_scratch(state);

    strcpy(in, scratch_path("in"));
    strcpy(out, scratch_path("out"));
    return failed;
}

static void count_call(void *user, const struct mf_imatrix_tensor *tensor)
{
    size_t *calls = user;

    assert_true(tensor->cover < MF_COVER_COUNT);
    assert_true(tensor->uses == NULL || tensor->used <= tensor->experts);
    ++*calls;
}

static enum mf_status merge(struct mf_env *own, bool old)
{
    const char *paths[] = { fixture_path("good-imatrix.dat"), in };
    struct mf_imatrix_merge_options options = { .size = sizeof(options),
                                                .old = old,
                                                .replace = true };

    return mf_imatrix_merge(own, paths, COUNT(paths), out, &options, NULL);
}

static enum mf_status cover(struct mf_env *own)
{
    struct mf_imatrix_coverage sum;
    struct mf_model *model;
    enum mf_status status =
        mf_model_open(own, fixture_path("good-experts.gguf"), NULL, &model);
    size_t calls = 0, found = 0;

    if (status != MF_OK)
        return status;
    status = mf_model_imatrix_coverage(model, in, count_call, &calls, &sum);
    for (int i = 0; status == MF_OK && i < MF_COVER_COUNT; i++)
        found += sum.of[i];
    assert_int_equal(found, status == MF_OK ? calls : 0);
    mf_model_close(model);
    return status;
}

/* Everything with the file; true if all of it went well. */
static bool try(uint64_t fail_at)
{
    struct test_heap heap = { .fail_at = fail_at };
    struct mf_env *own = test_env(&heap);
    bool done = false;

    if (own) {
        done = merge(own, false) == MF_OK && merge(own, true) == MF_OK &&
               cover(own) == MF_OK;
        if (!done)
            assert_true(mf_env_error(own)->message[0] != 0);
        mf_env_free(own);
    }
    assert_int_equal(heap.live, 0);
    return done;
}

static void sweep(const char *name)
{
    static const uint8_t masks[] = { 0xff, 0x80, 0x01 };
    size_t size;
    uint8_t *bytes = load(fixture_path(name), &size);

    for (size_t cut = 0; cut < size; cut++) {
        save(in, bytes, cut);
        try(0);
    }
    for (size_t at = 0; at < size; at++)
        for (size_t m = 0; m < COUNT(masks); m++) {
            bytes[at] ^= masks[m];
            save(in, bytes, size);
            try(0);
            bytes[at] ^= masks[m];
        }
    save(in, bytes, size);
    assert_true(try(0));
    for (uint64_t call = 1; !try(call); call++)
        assert_true(call < 2000);
    free(bytes);
}

static void old_ones_are_survived(void **state)
{
    (void)state;
    sweep("good-imatrix.dat");
}

static void new_ones_are_survived(void **state)
{
    (void)state;
    sweep("good-imatrix.gguf");
}

/* More experts, and longer rows, than are read at once. */
static void large_ones_are_whole(void **state)
{
    FILE *file = fopen(in, "wb");
    uint32_t head[] = { 1, 8 }, rest[] = { 3, 100000 };
    const char *paths[] = { in, in };
    struct mf_imatrix_merge_options options = { .size = sizeof(options) };
    struct mf_imatrix_merge_result result;
    struct mf_tensor_stats stats[2];
    const size_t both[] = { 0, 1 };
    struct mf_model *model;

    (void)state;
    assert_non_null(file);
    in_file_order(head, 2, 4);
    in_file_order(rest, 2, 4);
    fwrite(head, 4, 2, file);
    fwrite("a.weight", 1, 8, file);
    fwrite(rest, 4, 2, file);
    for (uint32_t i = 0; i < 100000; i++) {
        float value = (float)(i % 7);

        in_file_order(&value, 1, 4);
        fwrite(&value, 4, 1, file);
    }
    assert_int_equal(fclose(file), 0);
    remove(out);
    assert_int_equal(mf_imatrix_merge(env, paths, 2, out, &options, &result),
                     MF_OK);
    assert_int_equal(result.chunks, 6);
    assert_int_equal(result.entries, 1);
    model = open_model(out);
    assert_int_equal(mf_tensor_stats(model, both, 2, stats), MF_OK);
    assert_int_equal(stats[0].count, 100000);
    assert_true(stats[0].max == 6 * 512 * 2 && stats[0].min == 0);
    assert_true(stats[0].zeros == 100000 / 7 + 1);
    assert_true(stats[1].max == 3 * 512 * 2);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(old_ones_are_survived),
        WITH_ENV(new_ones_are_survived),
        WITH_ENV(large_ones_are_whole),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, remove_scratch);
}
