/* SPDX-License-Identifier: MIT
 *
 * test_hub.c - names of models of the Hub
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "cli/remote/hub.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

static void test_names(void **state)
{
    static const struct {
        const char *operand, *repository, *revision, *path; /* or NULL */
    } row[] = {
        { "hf://a/b", "a/b", "main", "" },
        { "hf://models/a/b", "a/b", "main", "" },
        { "hf://a/b/", "a/b", "main", "" },
        { "hf://a/b@v1", "a/b", "v1", "" },
        { "hf://a/b@v1/", "a/b", "v1", "" },
        { "hf://a/b@x%2Fy/c/d.gguf", "a/b", "x/y", "c/d.gguf" },
        { "hf://a/b@refs/pr/12/c", "a/b", "refs/pr/12", "c" },
        { "hf://a/b@refs/convert/parquet", "a/b", "refs/convert/parquet", "" },
        { "hf://a/b/c@1.txt", "a/b", "main", "c@1.txt" },
        { "hf://a/b/c%20d?e#f", "a/b", "main", "c%20d?e#f" },
        { "https://huggingface.co/a/b", "a/b", "main", "" },
        { "HTTPS://HuggingFace.co/a/b/?x=y", "a/b", "main", "" },
        { "https://hf.co/a/b#top", "a/b", "main", "" },
        { "https://huggingface.co/a/b/tree/main", "a/b", "main", "" },
        { "https://huggingface.co/a/b/tree/refs%2Fpr%2F1/c%20d", "a/b",
          "refs/pr/1", "c d" },
        { "https://huggingface.co/a/b/blob/v1/c/d.gguf?x#y", "a/b", "v1",
          "c/d.gguf" },
        { "http://own:8080/hub/a/b/tree/v2", "a/b", "v2", "" },
        { "https://huggingface.co/a/b/resolve/main/c.gguf", NULL, NULL, NULL },
        { "https://huggingface.co/a/b/raw/main/c", NULL, NULL, NULL },
        { "https://huggingface.co/datasets/a/b", NULL, NULL, NULL },
        { "https://huggingface.co/api/models", NULL, NULL, NULL },
        { "https://huggingface.co.evil/a/b", NULL, NULL, NULL },
        { "https://huggingface.co/a", NULL, NULL, NULL },
        { "http://huggingface.co/a/b", NULL, NULL, NULL },
        { "https://other/a/b", NULL, NULL, NULL },
        { "http://own:8080/a/b/c", NULL, NULL, NULL },
    };
    struct hub_name name;

    (void)state;
    setenv("HF_ENDPOINT", "http://own:8080/hub/", 1);
    for (size_t i = 0; i < COUNT(row); i++) {
        const char *operand = row[i].operand;

        if (hub_is_name(operand) != (row[i].repository != NULL))
            fail_msg("%s", operand);
        if (!row[i].repository)
            continue;
        if (hub_parse(operand, &name))
            fail_msg("%s: %s", operand, hub_parse(operand, &name));
        assert_string_equal(name.repository, row[i].repository);
        assert_string_equal(name.revision, row[i].revision);
        assert_string_equal(name.path, row[i].path);
    }
    unsetenv("HF_ENDPOINT");
}

/* At the limits of what there is room for. */
static void test_long_names(void **state)
{
    char text[4096];
    struct hub_name name;

    (void)state;
    for (size_t size = 90; size < 100; size++) {
        strcpy(text, "hf://a/");
        memset(text + 7, 'b', size);
        text[7 + size] = 0;
        assert_true((hub_parse(text, &name) == NULL) == (size <= 96));
    }
    for (size_t size = HUB_PATH_SIZE - 3; size < HUB_PATH_SIZE + 3; size++) {
        strcpy(text, "hf://a/b/");
        memset(text + 9, 'c', size);
        text[9 + size] = 0;
        assert_true((hub_parse(text, &name) == NULL) == (size < HUB_PATH_SIZE));
    }
}

static void test_endpoint(void **state)
{
    static const struct {
        const char *set, *found;
    } row[] = {
        { "", "https://huggingface.co" },
        { "https://h//", "https://h" },
        { "http://h:1/x/", "http://h:1/x" },
        { "h", NULL },
        { "https://me:secret@h", NULL },
        { "https://h/?a", NULL },
        { "ftp://h", NULL },
    };
    struct hub_endpoint endpoint;

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        setenv("HF_ENDPOINT", row[i].set, 1);
        assert_true(hub_endpoint(&endpoint) == (row[i].found != NULL));
        if (row[i].found)
            assert_string_equal(endpoint.at, row[i].found);
    }
    unsetenv("HF_ENDPOINT");
}

static void test_tokens(void **state)
{
    char token[HUB_TOKEN_SIZE], longest[2 * HUB_TOKEN_SIZE];

    (void)state;
    setenv("HF_HOME", "/nowhere", 1);
    setenv("HF_TOKEN", " hf_a\n", 1);
    assert_true(hub_token(token));
    assert_string_equal(token, "hf_a");
    setenv("HF_TOKEN", "", 1);
    assert_true(hub_token(token));
    assert_string_equal(token, "");
    setenv("HF_TOKEN", "hf_a\r\nX: y", 1);
    assert_false(hub_token(token));
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    setenv("HF_TOKEN", longest, 1);
    assert_false(hub_token(token));
    longest[HUB_TOKEN_SIZE - 2] = 0;
    setenv("HF_TOKEN", longest, 1);
    assert_true(hub_token(token));
    setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "True", 1);
    assert_true(hub_token(token));
    assert_string_equal(token, "");
}

static void test_folders(void **state)
{
    char folder[PATH_MAX];

    (void)state;
    unsetenv("HF_HOME");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HF_HUB_CACHE");
    unsetenv("HUGGINGFACE_HUB_CACHE");
    setenv("HOME", "/me", 1);
    assert_true(hub_cache_folder(folder));
    assert_string_equal(folder, "/me/.cache/huggingface/hub");
    setenv("XDG_CACHE_HOME", "/x", 1);
    assert_true(hub_cache_folder(folder));
    assert_string_equal(folder, "/x/huggingface/hub");
    setenv("HF_HOME", "~/hf", 1);
    assert_true(hub_cache_folder(folder));
    assert_string_equal(folder, "/me/hf/hub");
    setenv("HUGGINGFACE_HUB_CACHE", "/old", 1);
    assert_true(hub_cache_folder(folder));
    assert_string_equal(folder, "/old");
    setenv("HF_HUB_CACHE", "/new", 1);
    assert_true(hub_cache_folder(folder));
    assert_string_equal(folder, "/new");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_endpoint), cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_folders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
