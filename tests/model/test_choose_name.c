/* SPDX-License-Identifier: MIT
 *
 * test_choose_name.c - which of the names in a folder is its model, and texts
 * of a JSON document in memory
 */
#include "lib/program.h"
#include "tests/with_env.h"

static void one_is_chosen(void **state)
{
    static const struct {
        const char *names[6], *chosen; /* NULL: the error has text */
        enum mf_shards shards;
        const char *text;
    } row[] = {
        { { "a.gguf", "README.md" }, "a.gguf", MF_SHARDS_AUTO, NULL },
        { { "x.safetensors", "model.safetensors" },
          "model.safetensors",
          MF_SHARDS_AUTO,
          NULL },
        { { "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "model.safetensors.index.json" },
          "model.safetensors.index.json",
          MF_SHARDS_AUTO,
          NULL },
        { { "b-00002-of-00002.gguf", "b-00001-of-00002.gguf" },
          "b-00001-of-00002.gguf",
          MF_SHARDS_BY_NAME,
          NULL },
        { { "pytorch_model.bin", "config.json" },
          "pytorch_model.bin",
          MF_SHARDS_AUTO,
          NULL },
        { { "q/b.gguf", "README.md" }, "q/b.gguf", MF_SHARDS_AUTO, NULL },
        { { "b.gguf", "a.gguf" }, NULL, 0, "2 models: 'a.gguf', 'b.gguf'" },
        { { "q/b.gguf", "f/a.gguf" }, NULL, 0, "'f/a.gguf', 'q/b.gguf'" },
        { { ".a.gguf", "config.json" }, NULL, 0, "no model in this folder" },
        { { NULL }, NULL, 0, "no model in this folder" },
    };
    char out[64];

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        enum mf_shards shards = MF_SHARDS_AUTO;
        enum mf_status status;
        size_t count = 0;

        while (row[i].names[count])
            count++;
        status = mf_names_choose(env, row[i].names, count, out, sizeof(out),
                                 &shards);
        if (row[i].chosen) {
            assert_int_equal(status, MF_OK);
            assert_string_equal(out, row[i].chosen);
            assert_int_equal(shards, row[i].shards);
        } else if (!strstr(mf_env_error(env)->message, row[i].text)) {
            fail_msg("%s", mf_env_error(env)->message);
        }
    }
}

static void a_name_has_to_fit(void **state)
{
    static const char *const names[] = { "a.gguf" };
    enum mf_shards shards;
    char out[7];

    (void)state;
    assert_int_equal(mf_names_choose(env, names, 1, out, 6, &shards),
                     MF_ERR_LIMIT);
    assert_int_equal(mf_names_choose(env, names, 1, out, 7, &shards), MF_OK);
}

static void no_memory_is_an_error(void **state)
{
    static const char *const names[] = { "b.gguf", "model.safetensors" };
    uint64_t fail_at = 1; /* that one is the env itself */
    enum mf_status status;

    (void)state;
    do {
        struct test_heap heap = { .fail_at = ++fail_at };
        struct mf_env *other = test_env(&heap);
        enum mf_shards shards;
        char out[32];

        status = mf_names_choose(other, names, 2, out, sizeof(out), &shards);
        assert_int_equal(status, heap.calls < fail_at ? MF_OK : MF_ERR_MEMORY);
        mf_env_free(other);
        assert_int_equal(heap.live, 0);
    } while (status != MF_OK);
    assert_true(fail_at > 3);
}

/* ---- texts of a document ---- */

static void take(void *user, const char *path, struct mf_str value,
                 bool is_number)
{
    char *text = user;
    size_t size = strlen(text);

    snprintf(text + size, 256 - size, "%s=%.*s%s ", path, (int)value.size,
             value.at, is_number ? "#" : "");
}

static void texts_have_paths(void **state)
{
    static const struct {
        const char *document;
        char separator;
        const char *found; /* NULL: it is not JSON */
    } row[] = {
        { "{\"a\":[1,\"1\",{\"b\":null}]}", '.', "a.0=1# a.1=1 " },
        { "{\"a.b\":{\"c\":2}}", '.', "?.c=2# " },
        { "{\"a.b\":{\"c\":2}}", '\n', "a.b\nc=2# " },
        { "{\"a\\nb\":{\"c\":2}}", '\n', "?\nc=2# " },
        { "[1]", '.', NULL },
        { "{\"a\":1", '.', NULL },
        { "", '.', NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct mf_str bytes = { row[i].document, strlen(row[i].document) };
        struct mf_error error;
        char text[256] = "";
        enum mf_status status = mf_json_bytes_read(env, bytes, row[i].separator,
                                                   take, text, &error);

        assert_int_equal(status == MF_OK, row[i].found != NULL);
        assert_int_equal(status, error.status);
        assert_int_equal(mf_env_error(env)->status, MF_OK);
        if (row[i].found)
            assert_string_equal(text, row[i].found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(one_is_chosen),
        WITH_ENV(a_name_has_to_fit),
        cmocka_unit_test(no_memory_is_an_error),
        WITH_ENV(texts_have_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
