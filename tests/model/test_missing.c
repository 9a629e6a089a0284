/* SPDX-License-Identifier: MIT
 *
 * test_missing.c - what a file has and is not read, and who refuses it
 */
#include "tests/support.h"

#define UNREAD "bad-torch-unread.pt"

struct opened {
    struct mf_env *env;
    struct mf_model *model;
    size_t count; /* of tensors, with room for their digests */
    uint8_t digests[4096];
};

static struct opened open_unread(bool allowed)
{
    struct mf_open_options options = { .size = sizeof(options),
                                       .allow_missing = allowed };
    struct opened out = { .env = mf_env_new(NULL) };

    assert_non_null(out.env);
    assert_int_equal(
        mf_model_open(out.env, fixture_path(UNREAD), &options, &out.model),
        MF_OK);
    out.count = mf_model_info(out.model)->tensor_count;
    return out;
}

static void close_unread(struct opened *opened)
{
    mf_model_close(opened->model);
    mf_env_free(opened->env);
}

static void test_names(void **state)
{
    static const char *const names[] = { "sparse", "quantized" };
    struct opened opened = open_unread(false);
    struct mf_missed missed;

    (void)state;
    assert_int_equal(mf_model_info(opened.model)->missing_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_true(mf_missing_at(opened.model, i, &missed));
        assert_string_equal(missed.name.at, names[i]);
        assert_int_equal(missed.name.size, strlen(names[i]));
        assert_non_null(strstr(missed.reason, "a tensor of a kind"));
        assert_int_equal(missed.shard, 0);
    }
    assert_false(mf_missing_at(opened.model, COUNT(names), &missed));
    assert_int_equal(opened.count, 1);
    close_unread(&opened);
}

static void found(void *user, const struct mf_difference *difference)
{
    (void)user;
    (void)difference;
}

static enum mf_status call_hash(struct opened *opened)
{
    return mf_model_hash_tensors(opened->model, MF_XXH3_64, opened->digests);
}

static enum mf_status call_hash_data(struct opened *opened)
{
    return mf_model_hash_data(opened->model, MF_XXH3_64, opened->digests);
}

static enum mf_status call_uuid(struct opened *opened)
{
    return mf_model_uuid(opened->model, opened->digests);
}

static enum mf_status call_diff(struct opened *opened)
{
    return mf_model_diff(opened->model, opened->model, NULL, found, NULL);
}

static enum mf_status call_duplicates(struct opened *opened)
{
    struct mf_model *models[] = { opened->model, opened->model };
    uint32_t same[4], place[4];

    return mf_models_duplicates(models, COUNT(models), same, place);
}

static enum mf_status call_convert(struct opened *opened)
{
    struct mf_convert_options options = { .size = sizeof(options),
                                          .format = "safetensors",
                                          .dry_run = true };

    return mf_model_convert(opened->model, "out.safetensors", &options, NULL);
}

static void test_refused(void **state)
{
    static enum mf_status (*const calls[])(
        struct opened *) = { call_hash, call_hash_data,  call_uuid,
                             call_diff, call_duplicates, call_convert };

    (void)state;
    for (size_t i = 0; i < COUNT(calls); i++) {
        struct opened opened = open_unread(false);

        assert_int_equal(calls[i](&opened), MF_ERR_UNSUPPORTED);
        assert_string_equal(mf_env_error(opened.env)->rule, "DATA-MISSING");
        assert_non_null(strstr(mf_env_error(opened.env)->message,
                               "2 tensors or members of the model are not "
                               "read"));
        close_unread(&opened);
        opened = open_unread(true);
        assert_int_equal(calls[i](&opened), MF_OK);
        close_unread(&opened);
    }
}

/* Statistics are of the tensors that are asked for. */
static void test_stats(void **state)
{
    struct opened opened = open_unread(false);
    struct mf_tensor_stats stats;

    (void)state;
    assert_int_equal(mf_tensor_stats(opened.model, &(size_t){ 0 }, 1, &stats),
                     MF_OK);
    assert_int_equal(stats.count, 6);
    close_unread(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_stats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
