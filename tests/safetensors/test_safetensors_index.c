/* SPDX-License-Identifier: MIT
 *
 * test_safetensors_index.c - telling safetensors and its index, and listing
 * shards
 */
#include "lib/model/format.h"
#include "tests/with_env.h"

/* ---- detection ---- */

static bool probed(const struct mf_format *format, const char *bytes,
                   size_t size)
{
    struct mf_head head = { .at = (const uint8_t *)bytes,
                            .size = size < MF_HEAD_SIZE ? size : MF_HEAD_SIZE,
                            .file_size = size };
    struct mf_detection detection;

    return format->probe(&head, &detection);
}

#define PROBED(format, text)                                                   \
    probed(&mf_format_safetensors##format, text, sizeof(text) - 1)

static void detection(void **state)
{
    (void)state;
    assert_true(PROBED(, "\2\0\0\0\0\0\0\0{}"));
    assert_true(PROBED(, "\4\0\0\0\0\0\0\0 \t{}"));
    assert_true(PROBED(, "\0\0\0\0\0\0\0\2{\"a\":"));
    assert_true(PROBED(, "\xf8\xff\xff\xff\xff\xff\xff\xff{\"a\":"));
    assert_false(PROBED(, ""));
    assert_false(PROBED(, "\2\0\0\0\0\0\0\0"));
    assert_false(PROBED(, "\2\0\0\0\0\0\0\0[]"));
    assert_false(PROBED(, "\2\0\0\0\0\0\0\0  x"));
    assert_false(PROBED(, "{\"abcd\":{\"efgh\":1}}"));
    assert_false(PROBED(, "--------{}"));

    assert_true(PROBED(_index, "{\"weight_map\":{"));
    assert_true(PROBED(_index, "\n{\n  \"metadata\" : \n {\n"));
    assert_false(PROBED(_index, ""));
    assert_false(PROBED(_index, "{"));
    assert_false(PROBED(_index, "{\"metadata\":1"));
    assert_false(PROBED(_index, "{\"metadata_x\":{"));
    assert_false(PROBED(_index, "{\"architectures\":[\"LlamaForCausalLM\"]"));
    assert_false(PROBED(_index, "[{\"weight_map\":{"));
}

/* ---- the list of shards ---- */

/* Lists the shards of an index; the names joined, or NULL where refused. */
static const char *list_shards(const char *index, size_t size)
{
    static char joined[1024];
    struct mf_arena arena;
    struct mf_shard_names names = { .arena = &arena };
    struct mf_source source;
    struct mf_reader reader;
    enum mf_status status;

    mf_clear_error(env);
    mf_arena_init(&arena, env);
    mf_source_open_memory("index", index, size, &source);
    assert_int_equal(mf_reader_init(&reader, env, &source, NULL, 0), MF_OK);
    status = mf_format_safetensors_index.list(&reader, &names);
    joined[0] = 0;
    for (size_t i = 0; i < names.count && i < 10; i++) {
        strcat(joined, names.name[i].at);
        strcat(joined, " ");
    }
    mf_reader_release(&reader);
    mf_release(env, names.name, names.room * sizeof(*names.name));
    mf_arena_release(&arena);
    return status == MF_OK ? joined : NULL;
}

#define LIST(text) list_shards(text, sizeof(text) - 1)

static void an_index_lists_its_shards_in_order(void **state)
{
    (void)state;
    assert_string_equal(LIST("{\"weight_map\":{\"z\":\"c\",\"a\":\"a\","
                             "\"y\":\"c\",\"b\":\"b\",\"x\":\"a\"}}"),
                        "a b c ");
    assert_string_equal(LIST(" { \"weight_map\" : { \"\\u0061\" : \"\\u0062\" "
                             "} , \"metadata\" : [ { } ] , \"more\" : 1 } "),
                        "b ");
    assert_string_equal(LIST("{\"weight_map\":{\"a\":\"..a\",\"b\":\"a..\","
                             "\"c\":\"...\"}}"),
                        "... ..a a.. ");
}

static void an_index_cannot_lead_elsewhere(void **state)
{
    (void)state;
    assert_null(LIST("{\"weight_map\":{\"a\":\"\"}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\".\"}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\"..\"}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\"/etc/passwd\"}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\"x\\/y\"}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\"x\\u002fy\"}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\"x\\u0000y\"}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\"b\",\"c\":\"../b\"}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":null}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":[\"b\"]}}"));
    assert_null(LIST("{\"weight_map\":{}}"));
    assert_null(LIST("{\"weight_map\":[]}"));
    assert_null(LIST("{\"metadata\":{}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\"b\"}}}"));
    assert_null(LIST("{\"weight_map\":{\"a\":\"b\"},}"));
    assert_null(LIST("[]"));
}

static void long_names_and_long_lists(void **state)
{
    char *index = malloc(400000);
    size_t at = 0;

    (void)state;
    assert_non_null(index);
    at = (size_t)sprintf(index, "{\"weight_map\":{\"a\":\"%0255d\"}}", 1);
    assert_non_null(list_shards(index, at));
    at = (size_t)sprintf(index, "{\"weight_map\":{\"a\":\"%0256d\"}}", 1);
    assert_null(list_shards(index, at));

    at = (size_t)sprintf(index, "{\"weight_map\":{");
    for (int i = 10001; i > 0; i--)
        at += (size_t)sprintf(index + at, "\"\":\"%d\"%s", i + 10000,
                              i > 1 ? "," : "}}");
    assert_null(list_shards(index, at));
    assert_int_equal(mf_env_error(env)->status, MF_ERR_LIMIT);
    free(index);
}

/* Each allocation fails once: the index next to a shard is found, or the error
 * says why not, and nothing leaks. */
static void memory_fails_while_an_index_is_searched(void **state)
{
    static const char shard[] = "good-sharded/model-00002-of-00002.safetensors";
    struct mf_open_options by_name = { .size = sizeof(struct mf_open_options),
                                       .shards = MF_SHARDS_BY_NAME };
    enum mf_status status = MF_ERR_MEMORY;

    (void)state;
    for (uint64_t call = 2; status != MF_OK; call++) {
        struct test_heap heap = { .fail_at = call };
        struct mf_env *failing = test_env(&heap);
        struct mf_model *model;

        assert_true(call < 100);
        assert_non_null(failing);
        status = mf_model_open(failing, fixture_path(shard), &by_name, &model);
        if (status == MF_OK) {
            assert_int_equal(mf_model_info(model)->shard_count, 2);
            assert_true(heap.calls < call);
            mf_model_close(model);
        } else {
            assert_int_equal(status, MF_ERR_MEMORY);
        }
        mf_env_free(failing);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(detection),
        WITH_ENV(an_index_lists_its_shards_in_order),
        WITH_ENV(an_index_cannot_lead_elsewhere),
        WITH_ENV(long_names_and_long_lists),
        WITH_ENV(memory_fails_while_an_index_is_searched),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
