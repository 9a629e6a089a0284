/* SPDX-License-Identifier: MIT
 *
 * test_features.c - envs that know what a program names
 */
#include "lib/check/check.h"
#include "lib/draft/draft.h"
#include "lib/full/full.h"
#include "tests/support.h"

/* Every feature that there is; formats not in the order of detection. */
static const struct mf_feature *features[MF_TYPE_COUNT + 16];
static size_t feature_count;

static void add(const struct mf_feature *feature)
{
    assert_non_null(feature);
    assert_true(feature_count < sizeof(features) / sizeof(*features));
    features[feature_count++] = feature;
}

static int list_features(void **state)
{
    (void)state;
    add(mf_feature_imatrix());
    add(mf_feature_safetensors());
    add(mf_feature_gguf());
    add(mf_feature_parquet());
    add(mf_feature_apr());
    add(mf_feature_npy());
    add(mf_feature_torch());
#define CODEC(NAME, name) add(mf_feature_##name());
#include "lib/codec/codecs.def"
#undef CODEC
    return 0;
}

static struct mf_env *env_with(const struct mf_feature *a,
                               const struct mf_feature *b)
{
    const struct mf_feature *some[] = { a, b };
    struct mf_env *env = mf_env_new_with(NULL, some, b ? 2 : 1);

    assert_non_null(env);
    return env;
}

/* ---- tables ---- */

static void all_features_are_all_that_there_is(void **state)
{
    struct mf_env *env = mf_env_new_with(NULL, features, feature_count);

    (void)state;
    assert_non_null(env);
    for (size_t i = 0; i <= MF_FORMAT_COUNT; i++)
        assert_ptr_equal(env->formats[i], mf_formats[i]);
    for (int type = 0; type < MF_TYPE_COUNT; type++)
        assert_ptr_equal(env->codecs[type], mf_codec_sets[type]);
    mf_env_free(env);
}

static void an_env_knows_what_was_named(void **state)
{
    struct mf_env *env = env_with(mf_feature_q4_k(), mf_feature_npy());
    size_t count = 0;

    (void)state;
    for (; env->formats[count]; count++)
        assert_true(env->formats[count] == &mf_format_npz ||
                    env->formats[count] == &mf_format_npy);
    assert_int_equal(count, 2);
    for (int type = 0; type < MF_TYPE_COUNT; type++)
        assert_int_equal(env->codecs[type] != NULL, type == MF_TYPE_Q4_K);
    mf_env_free(env);
}

static void options_are_as_in_any_env(void **state)
{
    const struct mf_feature *feature = mf_feature_gguf();
    struct mf_options options = { .size = sizeof(options),
                                  .isa = "portable",
                                  .scratch_folder = "/somewhere",
                                  .heap_limit = 100000 };
    struct mf_env *env = mf_env_new_with(&options, &feature, 1);

    (void)state;
    assert_non_null(env);
    assert_string_equal(env->isa, "portable");
    assert_string_equal(env->scratch.folder, "/somewhere");
    assert_ptr_equal(env->formats[0], &mf_format_gguf);
    mf_env_free(env);
    options.heap_limit = 100;
    assert_null(mf_env_new_with(&options, &feature, 1));
    options.size = 0;
    assert_null(mf_env_new_with(&options, &feature, 1));
}

/* A program that only lists is linked without writing: the row says whether
 * there is a table for it, and does not refer to it. */
static void rows_say_whether_they_are_written(void **state)
{
    (void)state;
    for (size_t i = 0; mf_formats[i]; i++)
        assert_int_equal(mf_formats[i]->written,
                         mf_format_out(mf_formats[i]) != NULL);
}

static void rules_of_formats_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; mf_formats[i]; i++) {
        const char *rules = mf_formats[i]->rules;
        size_t k = 0;

        while (rules && mf_rules_of_formats[k] &&
               strcmp(mf_rules_of_formats[k], rules) != 0)
            k++;
        assert_true(!rules || mf_rules_of_formats[k]);
    }
}

/* ---- models ---- */

static size_t applied(struct mf_env *env, const char *name)
{
    struct mf_model *model;
    struct mf_coverage coverage;

    assert_int_equal(mf_model_open(env, fixture_path(name), NULL, &model),
                     MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    assert_true(mf_model_coverage(model, &coverage));
    mf_model_close(model);
    return coverage.applied_count;
}

static void validating_applies_the_same_rules(void **state)
{
    static const char *const names[] = { "good-llama.gguf",
                                         "good-base.safetensors" };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct mf_env *some =
            env_with(mf_feature_gguf(), mf_feature_safetensors());
        struct mf_env *all = mf_env_new(NULL);

        assert_int_equal(applied(some, names[i]), applied(all, names[i]));
        mf_env_free(some);
        mf_env_free(all);
    }
}

static void other_formats_are_refused(void **state)
{
    struct mf_env *env = env_with(mf_feature_gguf(), NULL);
    struct mf_model *model;

    (void)state;
    assert_int_equal(
        mf_model_open(env, fixture_path("good-base.safetensors"), NULL, &model),
        MF_ERR_FORMAT);
    assert_int_equal(
        mf_model_open(env, fixture_path("good-sharded"), NULL, &model),
        MF_ERR_FORMAT);
    assert_int_equal(
        mf_model_open(env, fixture_path("good-base.gguf"), NULL, &model),
        MF_OK);
    mf_model_close(model);
    mf_env_free(env);
}

static void numbers_of_other_types_are_refused(void **state)
{
    struct mf_env *env = env_with(mf_feature_gguf(), mf_feature_f32());
    struct mf_model *model;
    struct mf_tensor tensor;
    size_t read = 0;
    float number;

    (void)state;
    assert_int_equal(
        mf_model_open(env, fixture_path("good-llama.gguf"), NULL, &model),
        MF_OK);
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        bool f32 = strcmp(tensor.type, "f32") == 0;

        read += f32;
        assert_int_equal(mf_tensor_read(model, i, 0, 1, MF_READ_F32, &number),
                         f32 ? MF_OK : MF_ERR_UNSUPPORTED);
    }
    assert_true(read > 0);
    mf_model_close(model);
    mf_env_free(env);
}

/* Writing has a table of its own: the formats that are written need not be
 * named. */
static void writing_needs_no_feature(void **state)
{
    struct mf_convert_options options = { .size = sizeof(options),
                                          .dry_run = true };
    struct mf_env *env = env_with(mf_feature_gguf(), NULL);
    struct mf_model *model;

    (void)state;
    assert_int_equal(
        mf_model_open(env, fixture_path("good-base.gguf"), NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_convert(model, "new.apr", &options, NULL), MF_OK);
    options.lossy = true;
    assert_int_equal(mf_model_convert(model, "new.safetensors", &options, NULL),
                     MF_OK);
    options.shard_tensors = 1;
    assert_int_equal(mf_model_convert(model, "new.safetensors", &options, NULL),
                     MF_ERR_UNSUPPORTED);
    assert_non_null(strstr(mf_env_error(env)->message, "list of shards"));
    mf_model_close(model);
    mf_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_features_are_all_that_there_is),
        cmocka_unit_test(an_env_knows_what_was_named),
        cmocka_unit_test(options_are_as_in_any_env),
        cmocka_unit_test(rows_say_whether_they_are_written),
        cmocka_unit_test(rules_of_formats_are_known),
        cmocka_unit_test(validating_applies_the_same_rules),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(numbers_of_other_types_are_refused),
        cmocka_unit_test(writing_needs_no_feature),
    };

    return cmocka_run_group_tests(tests, list_features, NULL);
}
