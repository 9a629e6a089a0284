/* SPDX-License-Identifier: MIT
 *
 * test_shards.c - one model in several files, and room for edits in them
 */
#include "tests/same_model.h"

/* ---- several files ---- */

static void split_and_merge(const char *name, const char *suffix,
                            struct mf_convert_options split, size_t files)
{
    struct mf_convert_options usual = { .size =
                                            sizeof(struct mf_convert_options) };
    struct mf_convert_result result;
    struct mf_model *from, *to;
    char first[64], whole[64];

    snprintf(first, sizeof(first), "part-00001-of-%05zu.%s", files, suffix);
    if (strcmp(suffix, "safetensors") == 0)
        snprintf(first, sizeof(first), "part.safetensors.index.json");
    snprintf(whole, sizeof(whole), "whole.%s", suffix);
    if (convert_file(env, fixture_path(name), output("part", suffix), &split,
                     &result) != MF_OK)
        fail_msg("%s: %s", name, mf_env_error(env)->message);
    assert_int_equal(result.file_count, files);
    must_convert(env, scratch_path(first), scratch_path(whole), &usual);
    from = open_model(fixture_path(name));
    to = open_model(scratch_path(whole));
    same_tensors(from, to);
    mf_model_close(from);
    mf_model_close(to);
    /* Of safetensors, where no padding is, large elements come first. */
    if (strcmp(suffix, "gguf") == 0 &&
        !same_files(fixture_path(name), scratch_path(whole)))
        fail_msg("%s: another file after splitting and merging", name);
    assert_int_equal(empty_scratch(),
                     files + 1 + (strcmp(suffix, "safetensors") == 0));
}

static void merged_as_before(void **state)
{
    const struct mf_convert_options one = {
        .size = sizeof(struct mf_convert_options), .shard_tensors = 1
    };
    const struct mf_convert_options two = {
        .size = sizeof(struct mf_convert_options), .shard_tensors = 2
    };
    const struct mf_convert_options hundred = {
        .size = sizeof(struct mf_convert_options), .shard_tensors = 100
    };
    const struct mf_convert_options small = {
        .size = sizeof(struct mf_convert_options), .shard_size = 1000
    };

    (void)state;
    split_and_merge("good-base.gguf", "gguf", one, 2);
    split_and_merge("good-many-tensors.gguf", "gguf", hundred, 3);
    split_and_merge("good-many-tensors.gguf", "gguf", small, 10);
    split_and_merge("good-llama.gguf", "gguf", small, 19);
    split_and_merge("good-alignment-64.gguf", "gguf", one, 2);
    split_and_merge("good-big-endian.gguf", "gguf", two, 3);
    split_and_merge("bad-v1.gguf", "gguf", one, 2);
    split_and_merge("good-v2.gguf", "gguf", one, 2);
    split_and_merge("good-types.gguf", "gguf", two, 18);
    split_and_merge("bad-type-iq4_ks.gguf", "gguf", two, 2);
    split_and_merge("good-base.safetensors", "safetensors", one, 1);
    split_and_merge("good-dtypes.safetensors", "safetensors", two, 11);
}

static uint64_t number_of(struct mf_model *model, const char *key,
                          enum mf_value_type type)
{
    struct mf_meta meta;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, NULL));
    assert_int_equal(meta.type, type);
    return meta.number.u64;
}

/* As llama-gguf-split names and marks them. */
static void shards_of_gguf(void **state)
{
    const struct mf_convert_options options = {
        .size = sizeof(struct mf_convert_options), .shard_tensors = 100
    };
    const struct mf_open_options alone = { .size =
                                               sizeof(struct mf_open_options),
                                           .shards = MF_SHARDS_ALONE };
    struct mf_model *whole, *shard;

    (void)state;
    must_convert(env, fixture_path("good-many-tensors.gguf"),
                 scratch_path("m.gguf"), &options);
    whole = open_model(fixture_path("good-many-tensors.gguf"));
    for (size_t i = 0; i < 3; i++) {
        char name[64];

        snprintf(name, sizeof(name), "m-%05zu-of-00003.gguf", i + 1);
        assert_int_equal(mf_model_open(env, scratch_path(name), &alone, &shard),
                         MF_OK);
        assert_int_equal(number_of(shard, "split.no", MF_VALUE_U16), i);
        assert_int_equal(number_of(shard, "split.count", MF_VALUE_U16), 3);
        assert_int_equal(number_of(shard, "split.tensors.count", MF_VALUE_I32),
                         300);
        assert_int_equal(mf_model_info(shard)->tensor_count, 100);
        assert_int_equal(mf_model_info(shard)->metadata_count,
                         i ? 3 : mf_model_info(whole)->metadata_count + 3);
        mf_model_close(shard);
    }
    mf_model_close(whole);
    assert_int_equal(empty_scratch(), 3);
}

/* Several files over those that are read: a crash would leave nothing. */
static void own_shards_are_spared(void **state)
{
    struct mf_convert_options options = { .size =
                                              sizeof(struct mf_convert_options),
                                          .shard_tensors = 100,
                                          .replace = true };
    size_t size, after;
    uint8_t *before, *now;

    (void)state;
    must_convert(env, fixture_path("good-many-tensors.gguf"),
                 scratch_path("m.gguf"), &options);
    before = load(scratch_path("m-00002-of-00003.gguf"), &size);
    must_refuse(env, scratch_path("m-00001-of-00003.gguf"),
                scratch_path("m.gguf"), &options, MF_ERR_OUTPUT,
                "is one of the input files");
    now = load(scratch_path("m-00002-of-00003.gguf"), &after);
    assert_int_equal(size, after);
    assert_memory_equal(before, now, size);
    free(before);
    free(now);
    /* Others of these names may be replaced. */
    must_convert(env, fixture_path("good-many-tensors.gguf"),
                 scratch_path("m.gguf"), &options);
    assert_int_equal(empty_scratch(), 3);
}

/* ---- room for edits ---- */

static void room_is_left_once(void **state)
{
    static const char *const names[] = { "good-base.gguf", "good-base.apr",
                                         "good-base.safetensors" };
    struct mf_convert_options options = { .size =
                                              sizeof(struct mf_convert_options),
                                          .reserve = 1000 };
    struct mf_convert_options usual = { .size =
                                            sizeof(struct mf_convert_options),
                                        .shard_tensors = 0 };
    struct stat once, twice, without;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *format = formats[i];
        struct mf_model *from, *to;

        must_convert(env, fixture_path(names[i]), output("a", format),
                     &options);
        must_convert(env, output("a", format), output("b", format), &options);
        from = open_model(fixture_path(names[i]));
        to = open_model(output("b", format));
        same_tensors(from, to);
        assert_int_equal(mf_model_validate_data(from), MF_OK);
        nothing_new(names[i], from, to);
        mf_model_close(from);
        mf_model_close(to);
        assert_int_equal(stat(fixture_path(names[i]), &without), 0);
        assert_int_equal(stat(output("a", format), &once), 0);
        assert_int_equal(stat(output("b", format), &twice), 0);
        assert_int_equal(once.st_size, twice.st_size);
        /* Old writers left some, too. */
        assert_true(once.st_size >= without.st_size + 900);
        must_convert(env, output("a", format),
                     output("c", formats[(i + 1) % 3]), &usual);
        empty_scratch();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_as_before),
        cmocka_unit_test(shards_of_gguf),
        cmocka_unit_test(own_shards_are_spared),
        cmocka_unit_test(room_is_left_once),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
