/* SPDX-License-Identifier: MIT
 *
 * test_stage.c - folders that get their name when they are whole
 */
#include <sys/stat.h>

#include "lib/io/stage.h"
#include "tests/scratch.h"
#include "tests/with_env.h"

static struct mf_stage stage;

static int setup(void **state)
{
    return make_scratch(state) == 0 ? env_setup(state) : -1;
}

static int teardown(void **state)
{
    mf_stage_abort(&stage);
    env_teardown(state);
    return remove_scratch(state);
}

#define WITH_STAGE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void put_file(const char *name, const char *text)
{
    struct mf_stage_file file;

    assert_int_equal(mf_stage_open(&stage, name, &file), MF_OK);
    mf_put(&file.sink, text, strlen(text));
    assert_int_equal(mf_stage_close(&file, MF_OK), MF_OK);
}

static void a_folder_appears_with_all_its_files(void **state)
{
    char path[600], text[8] = "";
    struct stat status;
    FILE *file;

    (void)state;
    assert_int_equal(mf_stage_begin(env, scratch_path("model///"), &stage),
                     MF_OK);
    put_file("config.json", "{}\n");
    assert_int_not_equal(stat(scratch_path("model"), &status), 0);
    assert_int_equal(mf_stage_commit(&stage), MF_OK);
    snprintf(path, sizeof(path), "%s/config.json", scratch_path("model"));
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof(text) - 1, file), 3);
    fclose(file);
    assert_string_equal(text, "{}\n");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(scratch_path("model")), 0);
}

static void nothing_stays_of_one_that_is_given_up(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mf_stage_begin(env, scratch_path("model"), &stage),
                         MF_OK);
        put_file("config.json", "{}");
        put_file("tokenizer.json", "{}");
        assert_non_null(mf_stage_expect(&stage, "model.safetensors"));
        if (i == 0)
            mf_env_abandon(env); /* as a signal does it */
        else if (i == 1)
            fclose(fopen(mf_stage_expect(&stage, "model.safetensors"), "w"));
        mf_stage_abort(&stage);
        assert_int_equal(empty_scratch(), 0);
    }
}

static void what_is_there_is_not_replaced(void **state)
{
    const char *path = scratch_path("model");
    struct mf_stage_file file;

    (void)state;
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(mf_stage_begin(env, path, &stage), MF_OK);
    put_file("a", "a");
    assert_int_equal(mf_stage_open(&stage, "a", &file), MF_ERR_OUTPUT);
    assert_int_equal(mf_stage_close(&file, MF_ERR_OUTPUT), MF_ERR_OUTPUT);
    assert_int_equal(mf_stage_commit(&stage), MF_OK); /* it was empty */
    mf_stage_abort(&stage);
    mf_clear_error(env);
    assert_int_equal(mf_stage_begin(env, path, &stage), MF_ERR_OUTPUT);
    assert_non_null(strstr(mf_env_error(env)->message, "is not empty"));
    mf_stage_abort(&stage);
    {
        char inside[600];

        snprintf(inside, sizeof(inside), "%s/a", scratch_path("model"));
        mf_clear_error(env);
        assert_int_equal(mf_stage_begin(env, inside, &stage), MF_ERR_OUTPUT);
        mf_stage_abort(&stage);
        unlink(inside);
    }
    assert_int_equal(rmdir(scratch_path("model")), 0);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = { ".", "..", "/" };

        mf_clear_error(env);
        assert_int_equal(mf_stage_begin(env, names[i], &stage),
                         MF_ERR_ARGUMENT);
        mf_stage_abort(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STAGE(a_folder_appears_with_all_its_files),
        WITH_STAGE(nothing_stays_of_one_that_is_given_up),
        WITH_STAGE(what_is_there_is_not_replaced),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
