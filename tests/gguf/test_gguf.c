/* SPDX-License-Identifier: MIT
 *
 * test_gguf.c - what GGUF fixtures hold: versions, facts, shards
 *
 * fixtures/make_gguf*.c says what each file is made of.
 */
#include "tests/gguf/gguf_image.h"
#include "tests/with_env.h"

/* ---- versions ---- */

static void check_base(const char *name, uint32_t version,
                       enum mf_byte_order order)
{
    struct mf_model *model = open_fixture(name);
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_tensor a = tensor_of(model, "a.weight");
    struct mf_tensor b = tensor_of(model, "b.weight");
    struct mf_meta meta = meta_of(model, "general.architecture");

    assert_string_equal(info->format, "gguf");
    assert_int_equal(info->version, version);
    assert_int_equal(info->byte_order, order);
    assert_int_equal(info->alignment, 32);
    assert_int_equal(info->data_offset % 32, 0);
    assert_true(info->fastest_first && info->has_tensors);
    assert_int_equal(meta.text.size, 4);
    assert_memory_equal(meta.text.at, "tiny", 4);
    assert_string_equal(a.type, "f32");
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.dim[0], 4);
    assert_int_equal(a.dim[1], 2);
    assert_int_equal(a.parameters, 8);
    assert_int_equal(a.data.offset, info->data_offset);
    assert_int_equal(a.data.size, 32);
    assert_int_equal(b.rank, 1);
    assert_int_equal(b.data.offset, info->data_offset + 32);
    assert_int_equal(b.data.size, 24);
    mf_model_close(model);
}

static void versions_and_byte_orders(void **state)
{
    (void)state;
    check_base("good-base.gguf", 3, MF_LITTLE_ENDIAN);
    check_base("bad-v1.gguf", 1, MF_LITTLE_ENDIAN);
    check_base("good-v2.gguf", 2, MF_LITTLE_ENDIAN);
    check_base("good-big-endian.gguf", 3, MF_BIG_ENDIAN);
}

/* ---- facts ---- */

static void check_text_fact(const struct mf_model *model, enum mf_fact fact,
                            const char *expected)
{
    struct mf_meta meta;

    assert_true(mf_model_fact(model, fact, &meta, NULL));
    assert_int_equal(meta.type, MF_VALUE_STRING);
    assert_string_equal(meta.text.at, expected);
}

static void facts_of_a_llama(void **state)
{
    static const struct {
        enum mf_fact fact;
        uint64_t value;
    } facts[] = {
        { MF_FACT_CONTEXT_LENGTH, 128 }, { MF_FACT_EMBEDDING_LENGTH, 32 },
        { MF_FACT_BLOCK_COUNT, 2 },      { MF_FACT_HEAD_COUNT, 4 },
        { MF_FACT_HEAD_COUNT_KV, 2 },
    };
    struct mf_model *model = open_fixture("good-llama.gguf");
    struct mf_meta meta, same;
    size_t at;

    (void)state;
    check_text_fact(model, MF_FACT_ARCHITECTURE, "llama");
    check_text_fact(model, MF_FACT_NAME, "Tiny Llama of the Fixtures");
    check_text_fact(model, MF_FACT_LICENSE, "mit");
    check_text_fact(model, MF_FACT_FILE_TYPE, "Q8_0");
    for (size_t i = 0; i < COUNT(facts); i++) {
        assert_true(mf_model_fact(model, facts[i].fact, &meta, &at));
        assert_int_equal(meta.number.u64, facts[i].value);
        assert_true(mf_meta_at(model, at, &same));
        assert_string_equal(same.key.at, meta.key.at);
    }
    assert_true(mf_model_fact(model, MF_FACT_VOCAB_SIZE, &meta, NULL));
    assert_int_equal(meta.count, 16);
    mf_model_close(model);
}

static void facts_that_a_file_does_not_have(void **state)
{
    struct mf_model *model = open_fixture("good-base.gguf");
    struct mf_meta meta;

    (void)state;
    check_text_fact(model, MF_FACT_ARCHITECTURE, "tiny");
    for (int fact = MF_FACT_ARCHITECTURE + 1; fact < MF_FACT_COUNT; fact++)
        assert_false(mf_model_fact(model, (enum mf_fact)fact, &meta, NULL));
    mf_model_close(model);
    model = open_fixture("bad-architecture-missing.gguf");
    assert_false(mf_model_fact(model, MF_FACT_ARCHITECTURE, &meta, NULL));
    mf_model_close(model);
}

static void put_text(const char *text)
{
    put_number(strlen(text), 8);
    put(text, strlen(text));
}

static void put_u32(const char *key, uint32_t value)
{
    put_text(key);
    put_number(MF_VALUE_U32, 4);
    put_number(value, 4);
}

/* Only metadata: a window in two of three blocks, experts, a state. */
static void make_hybrid(void)
{
    static const uint8_t pattern[] = { 1, 1, 0 };

    image = (struct image){ .at = calloc(1, 4096) };
    assert_non_null(image.at);
    put("GGUF", 4);
    put_number(3, 4);
    put_number(0, 8);
    put_number(6, 8);
    put_text("general.architecture");
    put_number(MF_VALUE_STRING, 4);
    put_text("mix");
    put_u32("mix.attention.sliding_window", 1024);
    put_text("mix.attention.sliding_window_pattern");
    put_number(MF_VALUE_ARRAY, 4);
    put_number(MF_VALUE_BOOL, 4);
    put_number(sizeof(pattern), 8);
    put(pattern, sizeof(pattern));
    put_u32("mix.expert_count", 128);
    put_u32("mix.expert_used_count", 8);
    put_u32("mix.wkv.head_size", 64);
    image.size = (image.size + 31) / 32 * 32;
}

static void facts_that_not_every_model_has(void **state)
{
    static const struct {
        enum mf_fact fact;
        uint64_t value;
    } facts[] = {
        { MF_FACT_SLIDING_WINDOW, 1024 },
        { MF_FACT_EXPERT_COUNT, 128 },
        { MF_FACT_EXPERT_USED_COUNT, 8 },
        { MF_FACT_STATE_SIZE, 64 },
    };
    struct mf_model *model;
    struct mf_meta meta;
    size_t at;

    (void)state;
    make_hybrid();
    model = open_image(env);
    for (size_t i = 0; i < COUNT(facts); i++) {
        assert_true(mf_model_fact(model, facts[i].fact, &meta, NULL));
        assert_int_equal(meta.number.u64, facts[i].value);
    }
    assert_true(
        mf_model_fact(model, MF_FACT_SLIDING_WINDOW_PATTERN, &meta, &at));
    assert_int_equal(meta.type, MF_VALUE_ARRAY);
    assert_int_equal(meta.of, MF_VALUE_BOOL);
    assert_int_equal(meta.count, 3);
    mf_model_close(model);
    free(image.at);
}

/* ---- shards ---- */

static void split_models_open_from_any_shard(void **state)
{
    static const char *const names[] = { "good-split-00001-of-00003.gguf",
                                         "good-split-00002-of-00003.gguf",
                                         "good-split-00003-of-00003.gguf" };
    static const size_t tensors[] = { 0, 2, 1 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct mf_open_options alone = { .size = sizeof(struct mf_open_options),
                                         .shards = MF_SHARDS_ALONE };
        struct mf_model *model = open_fixture(names[i]);
        struct mf_shard shard;

        assert_int_equal(mf_model_info(model)->shard_count, 3);
        assert_int_equal(mf_model_info(model)->tensor_count, 3);
        assert_int_equal(tensor_of(model, "b.weight").shard, 1);
        assert_int_equal(tensor_of(model, "c.weight").shard, 2);
        assert_true(mf_shard_at(model, 1, &shard));
        assert_true(has_suffix(shard.path, names[1]));
        mf_model_close(model);
        model = open_as(fixture_path(names[i]), &alone);
        assert_int_equal(mf_model_info(model)->shard_count, 1);
        assert_int_equal(mf_model_info(model)->tensor_count, tensors[i]);
        assert_int_equal(mf_model_info(model)->error_count, 0);
        mf_model_close(model);
    }
}

/* What is wrong with the other shard is said with its name; this one alone is
 * fine. */
static void shards_that_do_not_fit_are_named(void **state)
{
    static const struct {
        const char *file, *shard, *why;
        enum mf_status status;
    } rows[] = {
        { "bad-split-foreign-00001-of-00002.gguf",
          "bad-split-foreign-00002-of-00002.gguf", "shard 2 of 3",
          MF_ERR_CORRUPT },
        { "bad-split-missing-00001-of-00002.gguf",
          "bad-split-missing-00002-of-00002.gguf", "cannot be opened",
          MF_ERR_CORRUPT },
    };
    const struct mf_open_options alone = { .size =
                                               sizeof(struct mf_open_options),
                                           .shards = MF_SHARDS_ALONE };
    struct mf_model *model;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(
            mf_model_open(env, fixture_path(rows[i].file), NULL, &model),
            rows[i].status);
        assert_non_null(strstr(mf_env_error(env)->message, rows[i].shard));
        assert_non_null(strstr(mf_env_error(env)->message, rows[i].why));
        model = open_as(fixture_path(rows[i].file), &alone);
        assert_int_equal(mf_model_info(model)->tensor_count, 1);
        assert_int_equal(mf_model_info(model)->error_count, 0);
        mf_model_close(model);
    }
}

/* ---- metadata alone ---- */

static void metadata_only_stops_before_tensors(void **state)
{
    const struct mf_open_options options = { .size =
                                                 sizeof(struct mf_open_options),
                                             .metadata_only = true };
    struct mf_model *model =
        open_as(fixture_path("good-many-tensors.gguf"), &options);

    (void)state;
    assert_false(mf_model_info(model)->has_tensors);
    assert_int_equal(mf_model_info(model)->tensor_count, 0);
    assert_int_equal(mf_model_info(model)->metadata_count, 1);
    assert_string_equal(meta_of(model, "general.architecture").text.at, "tiny");
    mf_model_close(model);
}

/* A split model's metadata are in its first shard, whichever is named. */
static void metadata_only_reads_the_first_shard(void **state)
{
    const struct mf_open_options options = { .size =
                                                 sizeof(struct mf_open_options),
                                             .metadata_only = true };
    struct mf_model *model =
        open_as(fixture_path("good-split-00003-of-00003.gguf"), &options);

    (void)state;
    assert_string_equal(meta_of(model, "general.name").text.at, "Three Parts");
    assert_int_equal(mf_model_info(model)->tensor_count, 0);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(versions_and_byte_orders),
        WITH_ENV(facts_of_a_llama),
        WITH_ENV(facts_that_a_file_does_not_have),
        WITH_ENV(facts_that_not_every_model_has),
        WITH_ENV(split_models_open_from_any_shard),
        WITH_ENV(shards_that_do_not_fit_are_named),
        WITH_ENV(metadata_only_stops_before_tensors),
        WITH_ENV(metadata_only_reads_the_first_shard),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
