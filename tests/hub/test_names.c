/* SPDX-License-Identifier: MIT
 *
 * test_names.c - convert --names: files that lie, and a heap that fails
 *
 * What the names and rows must be, names.mjs works out.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support.h"

static char folder[64], output[96];
static enum mf_naming naming;

/* ---- sidecars ---- */

static const char *path_in(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(path_in(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static uint8_t *fixture(const char *name, size_t *size)
{
    char path[128];

    snprintf(path, sizeof(path), "good-hf-llama/%s", name);
    return load(fixture_path(path), size);
}

static const char *const names[] = { "model.safetensors", "config.json",
                                     "tokenizer.json",
                                     "tokenizer_config.json" };

static int set_up(void **state)
{
    (void)state;
    naming = MF_NAMING_GGUF;
    strcpy(folder, "/tmp/modelfile-names.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(output, sizeof(output), "%s.gguf", folder);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t size;
        uint8_t *bytes = fixture(names[i], &size);

        write_file(names[i], bytes, size);
        free(bytes);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        unlink(path_in(names[i]));
    unlink(output);
    return rmdir(folder);
}

/* ---- converting ---- */

static enum mf_status convert(struct mf_env *env, const char *path,
                              bool dry_run)
{
    struct mf_convert_options options = { .size =
                                              sizeof(struct mf_convert_options),
                                          .replace = true,
                                          .dry_run = dry_run,
                                          .names = naming };
    struct mf_model *model = NULL;
    enum mf_status status = mf_model_open(env, path, NULL, &model);

    if (status == MF_OK)
        status = mf_model_convert(model, output, &options, NULL);
    mf_model_close(model);
    return status;
}

/* Whatever a sidecar contains: success, or an error that can be printed. */
static enum mf_status try(bool dry_run)
{
    struct test_heap heap = { 0 };
    struct mf_env *env = test_env(&heap);
    const struct mf_error *error = mf_env_error(env);
    enum mf_status status = convert(env, folder, dry_run);

    if (status != MF_OK) {
        assert_true(error->message[0] != 0);
        assert_true(mf_text_clean(error->message, strlen(error->message)) ==
                    strlen(error->message));
    }
    mf_env_free(env);
    assert_int_equal(heap.live, 0);
    return status;
}

static void every_prefix_and_flip(const char *name)
{
    static const uint8_t masks[] = { 0xff, 0x01, 0x80, 0x20 };
    size_t size, accepted = 0;
    uint8_t *bytes = fixture(name, &size);

    for (size_t cut = 0; cut + 2 < size; cut++) {
        write_file(name, bytes, cut);
        assert_int_not_equal(try(true), MF_OK);
    }
    for (size_t at = 0; at < size; at++)
        for (size_t m = 0; m < sizeof(masks); m++) {
            bytes[at] ^= masks[m];
            write_file(name, bytes, size);
            accepted += try(true) == MF_OK;
            bytes[at] ^= masks[m];
        }
    write_file(name, bytes, size);
    assert_int_equal(try(true), MF_OK);
    assert_true(accepted < size * 3);
    free(bytes);
}

static void config_flipped(void **state)
{
    (void)state;
    every_prefix_and_flip("config.json");
}

static void tokenizer_flipped(void **state)
{
    (void)state;
    every_prefix_and_flip("tokenizer.json");
}

static void tokenizer_config_flipped(void **state)
{
    (void)state;
    every_prefix_and_flip("tokenizer_config.json");
}

/* ---- allocations ---- */

/* With a heap that fails at that call; true if there were fewer calls. */
static bool try_failing(const char *from, uint64_t call, bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *env = test_env(&heap);

    unlink(output);
    if (env) {
        enum mf_status status = convert(env, from, false);

        check_refused(&heap, status);
        assert_int_equal(access(output, F_OK) == 0, status == MF_OK);
        mf_env_free(env);
    }
    assert_int_equal(heap.live, 0);
    return heap.calls < call;
}

/* Chat templates with names, and one without. */
static void name_templates(void)
{
    static const char text[] =
        "{\"bos_token\": \"<|begin_of_text|>\", \"chat_template\": ["
        "{\"name\": \"default\", \"template\": \"a\"},"
        "{\"name\": \"tool use\", \"template\": \"b\"}]}";

    write_file("tokenizer_config.json", text, sizeof(text) - 1);
}

static void every_allocation_failed(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        if (after)
            name_templates();
        while (!try_failing(folder, call, after))
            call++;
        assert_true(call > 20);
        assert_int_equal(access(output, F_OK), 0);
    }
}

/* A file alone under the other names, and back. */
static void every_allocation_failed_of_a_file(void **state)
{
    const char *from = fixture_path("good-llama.gguf");
    char named[128];

    (void)state;
    snprintf(named, sizeof(named), "%s", path_in("named.gguf"));
    unlink(path_in("config.json"));
    for (naming = MF_NAMING_HF;; naming = MF_NAMING_GGUF) {
        uint64_t call = 1;

        while (!try_failing(from, call, false))
            call++;
        assert_true(call > 20);
        assert_int_equal(access(output, F_OK), 0);
        if (naming == MF_NAMING_GGUF)
            break;
        assert_int_equal(rename(output, named), 0);
        from = named;
    }
    unlink(named);
}

/* ---- what has no folder ---- */

static void a_model_in_memory_has_no_sidecars(void **state)
{
    const struct mf_convert_options options = {
        .size = sizeof(struct mf_convert_options), .names = MF_NAMING_GGUF
    };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model;
    size_t size;
    uint8_t *bytes = fixture("model.safetensors", &size);

    (void)state;
    assert_int_equal(
        mf_model_open_memory(env, path_in("memory"), bytes, size, NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_convert(model, output, &options, NULL),
                     MF_ERR_UNSUPPORTED);
    assert_non_null(strstr(mf_env_error(env)->message, "config.json"));
    mf_model_close(model);
    mf_env_free(env);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(config_flipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tokenizer_flipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tokenizer_config_flipped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_failed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_failed_of_a_file,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_model_in_memory_has_no_sidecars,
                                        set_up, tear_down),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
