/* SPDX-License-Identifier: MIT
 *
 * test_carry.c - metadata comes back from another format as it went there
 *
 * Where a GGUF file with it goes through other formats and back, all bytes of
 * the file must be the same.
 */
#include "lib/draft/carry.h"
#include "tests/with_scratch.h"

static const struct mf_convert_options usual = {
    .size = sizeof(struct mf_convert_options), .replace = true
};
static const struct mf_convert_options lossy = {
    .size = sizeof(struct mf_convert_options), .replace = true, .lossy = true
};

static struct image image;

/* ---- there and back ---- */

/* in.gguf by each way of other formats, and in each of them once more. */
static void goes_and_comes_back(void)
{
    static const char *const ways[][3] = {
        { "a.apr", NULL, NULL },
        { "a.safetensors", NULL, NULL },
        { "a.apr", "b.safetensors", NULL },
        { "a.safetensors", "b.apr", NULL },
        { "a.apr", "b.safetensors", "c.apr" },
        { "a.safetensors", "b.apr", "c.safetensors" },
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        const char *from = scratch_path("in.gguf");

        for (size_t k = 0; k < 3 && ways[i][k]; k++) {
            must_convert(env, from, scratch_path(ways[i][k]), &usual);
            from = scratch_path(ways[i][k]);
        }
        must_convert(env, from, scratch_path("out.gguf"), &usual);
        if (!same_files(scratch_path("in.gguf"), scratch_path("out.gguf")))
            fail_msg("another file comes back by way %zu", i);
    }
}

static void new_model(void)
{
    gguf_start(&image);
    gguf_string(&image, "general.architecture", "llama");
}

static void save_model(void)
{
    gguf_save(&image, scratch_path("in.gguf"));
}

static void numbers_at_their_limits(void **state)
{
    static const struct {
        enum mf_value_type type;
        size_t size;
        uint64_t bits[5];
    } numbers[] = {
        { MF_VALUE_U8, 1, { 0, 1, 0x7f, 0x80, 0xff } },
        { MF_VALUE_I8, 1, { 0, 1, 0x7f, 0x80, 0xff } },
        { MF_VALUE_U16, 2, { 0, 1, 0x7fff, 0x8000, 0xffff } },
        { MF_VALUE_I16, 2, { 0, 1, 0x7fff, 0x8000, 0xffff } },
        { MF_VALUE_U32, 4, { 0, 1, INT32_MAX, 0x80000000, UINT32_MAX } },
        { MF_VALUE_I32, 4, { 0, 1, INT32_MAX, 0x80000000, UINT32_MAX } },
        { MF_VALUE_U64, 8, { 0, 1ULL << 53, INT64_MAX, 1ULL << 63, -1ULL } },
        { MF_VALUE_I64, 8, { 0, 1ULL << 53, INT64_MAX, 1ULL << 63, -1ULL } },
        { MF_VALUE_BOOL, 1, { 0, 1, 0, 1, 0 } },
        /* -0, the smallest, the largest, 1/3, 2^24 + 2 */
        { MF_VALUE_F32,
          4,
          { 0x80000000, 1, 0x7f7fffff, 0x3eaaaaab, 0x4b800001 } },
        { MF_VALUE_F64,
          8,
          { 1ULL << 63, 1, 0x7fefffffffffffff, 0x3fd5555555555555,
            0x4340000000000001 } },
        /* infinities, not a number, 1, 2^63 */
        { MF_VALUE_F32,
          4,
          { 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0x5f000000 } },
        { MF_VALUE_F64,
          8,
          { 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
            0x3ff0000000000000, 0x43e0000000000000 } },
    };
    char key[32];

    (void)state;
    new_model();
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        for (size_t k = 0; k < 5; k++) {
            snprintf(key, sizeof(key), "n.%zu.%zu", i, k);
            gguf_number(&image, key, numbers[i].type, numbers[i].bits[k],
                        numbers[i].size);
        }
        snprintf(key, sizeof(key), "a.%zu", i);
        gguf_array(&image, key, numbers[i].type, 5);
        for (size_t k = 0; k < 5; k++)
            image_int(&image, numbers[i].bits[k], numbers[i].size);
        snprintf(key, sizeof(key), "e.%zu", i);
        gguf_array(&image, key, numbers[i].type, 0);
    }
    save_model();
    goes_and_comes_back();
}

static void text_of_any_length(void **state)
{
    static char long_text[20000];

    (void)state;
    memset(long_text, 'x', sizeof(long_text) - 1);
    memcpy(long_text + 1020, "\"\\\n\xe2\x82\xac",
           6); /* near 1024: kept or not */
    new_model();
    gguf_string(&image, "s.none", "");
    gguf_string(&image, "s.long", long_text);
    gguf_string(&image, "s.long:u32", long_text);
    gguf_string(&image, "s.quoted", "\"nan\"");
    gguf_string(&image, "s.nan", "nan");
    gguf_array(&image, "s.array", MF_VALUE_STRING, 4);
    image_text(&image, long_text, 5000);
    image_text(&image, "", 0);
    image_text(&image, "nan", 3);
    image_text(&image, "\0\x7f\x01", 3);
    gguf_array(&image, "s.empty", MF_VALUE_STRING, 0);
    save_model();
    goes_and_comes_back();
}

/* Keys that seem to name a type; keys that APR uses for something else. */
static void keys_that_mislead(void **state)
{
    static const char *const rows[] = { "name", "license", "model_type",
                                        "tokenizer.model", "architecture" };

    (void)state;
    new_model();
    gguf_string(&image, "x:u32", "five");
    gguf_number(&image, "x", MF_VALUE_U32, 5, 4);
    gguf_string(&image, "x:string", "s");
    gguf_string(&image, "j:json", "[1,2]");
    gguf_number(&image, "j", MF_VALUE_F32, 0x7fc00000, 4);
    gguf_number(&image, "y:u32[]", MF_VALUE_U64, 7, 8);
    gguf_string(&image, "general.name", "general");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        gguf_string(&image, rows[i], "own");
    gguf_number(&image, "hidden_size", MF_VALUE_U32, 5, 4);
    gguf_number(&image, "llama.embedding_length", MF_VALUE_U32, 6, 4);
    gguf_number(&image, "rope_theta", MF_VALUE_F32, 0x3f800000, 4);
    save_model();
    goes_and_comes_back();
}

/* What carry.def has a row for, with the row's type, another, and values that
 * JSON has no digits for. */
static void rows_of_the_table(void **state)
{
    (void)state;
    new_model();
    gguf_number(&image, "llama.embedding_length", MF_VALUE_U64, 5, 8);
    gguf_number(&image, "llama.block_count", MF_VALUE_U32, 5, 4);
    gguf_number(&image, "llama.rope.freq_base", MF_VALUE_F32, 0x7f800000, 4);
    gguf_number(&image, "llama.attention.layer_norm_rms_epsilon", MF_VALUE_F32,
                0x358637bd, 4); /* 1e-6 */
    gguf_number(&image, "tokenizer.ggml.add_bos_token", MF_VALUE_BOOL, 1, 1);
    gguf_array(&image, "tokenizer.ggml.tokens", MF_VALUE_STRING, 0);
    gguf_array(&image, "tokenizer.ggml.scores", MF_VALUE_F32, 3);
    image_int(&image, 0xff800000, 4);
    image_int(&image, 0x3f800000, 4);
    image_int(&image, 0x80000000, 4);
    gguf_array(&image, "tokenizer.ggml.token_type", MF_VALUE_U32, 1);
    image_int(&image, 1, 4);
    gguf_array(&image, "llama.attention.head_count", MF_VALUE_I32, 2);
    image_int(&image, UINT64_MAX, 8);
    save_model();
    goes_and_comes_back();
}

/* ---- under which keys ---- */

static void has(const char *file, const char *key, enum mf_value_type type)
{
    struct mf_model *model;
    struct mf_meta meta;

    assert_int_equal(mf_model_open(env, scratch_path(file), NULL, &model),
                     MF_OK);
    if (!mf_meta_find(model, key, strlen(key), &meta, NULL))
        fail_msg("%s: there is no '%s'", file, key);
    if (meta.type != type)
        fail_msg("%s: '%s' is %s", file, key, mf_value_type_name(meta.type));
    mf_model_close(model);
}

static void keys_by_format(void **state)
{
    (void)state;
    new_model();
    gguf_number(&image, "llama.block_count", MF_VALUE_U32, 2, 4);
    gguf_number(&image, "a.u8", MF_VALUE_U8, 2, 1);
    gguf_number(&image, "a.u64", MF_VALUE_U64, 2, 8);
    gguf_number(&image, "a.bool", MF_VALUE_BOOL, 1, 1);
    gguf_string(&image, "general.name", "n");
    gguf_array(&image, "a.array", MF_VALUE_I16, 1);
    image_int(&image, 1, 2);
    save_model();
    must_convert(env, scratch_path("in.gguf"), scratch_path("a.apr"), &usual);
    must_convert(env, scratch_path("in.gguf"), scratch_path("a.safetensors"),
                 &usual);
    has("a.apr", "architecture", MF_VALUE_STRING);
    has("a.apr", "model_type", MF_VALUE_STRING);
    has("a.apr", "num_layers", MF_VALUE_U64);
    has("a.apr", "a.u8:u8", MF_VALUE_U64);
    has("a.apr", "a.u64", MF_VALUE_U64);
    has("a.apr", "a.bool", MF_VALUE_BOOL);
    has("a.apr", "name", MF_VALUE_STRING);
    has("a.apr", "a.array:i16[]", MF_VALUE_ARRAY);
    has("a.safetensors", "general.architecture", MF_VALUE_STRING);
    has("a.safetensors", "llama.block_count:u32", MF_VALUE_STRING);
    has("a.safetensors", "a.u64:u64", MF_VALUE_STRING);
    has("a.safetensors", "a.bool:bool", MF_VALUE_STRING);
    has("a.safetensors", "general.name", MF_VALUE_STRING);
    has("a.safetensors", "a.array:i16[]", MF_VALUE_STRING);
}

static void named_types(void **state)
{
    static const struct {
        const char *key, *name;
        enum mf_value_type type;
        bool array, json;
    } rows[] = {
        { "a:u32", "a", MF_VALUE_U32, false, false },
        { "a:u32[]", "a", MF_VALUE_U32, true, false },
        { "a:b:string", "a:b", MF_VALUE_STRING, false, false },
        { "a.b:f64", "a.b", MF_VALUE_F64, false, false },
        { "a:json", "a", MF_VALUE_U8, false, true },
        { "a::i8", "a:", MF_VALUE_I8, false, false },
    };
    static const char *const others[] = { "a",        "",        ":u32",
                                          "a:u33",    "a:",      "a:u32[",
                                          "a:json[]", "a:array", "a:[]",
                                          "a:U32",    "a:u32 ",  "a:null" };
    struct mf_typed_key typed;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mf_str key = { rows[i].key, strlen(rows[i].key) };

        if (!mf_typed_key_parse(key, &typed))
            fail_msg("%s tells nothing", rows[i].key);
        assert_int_equal(typed.name.size, strlen(rows[i].name));
        assert_memory_equal(typed.name.at, rows[i].name, typed.name.size);
        assert_int_equal(typed.array, rows[i].array);
        assert_int_equal(typed.json, rows[i].json);
        if (!typed.json)
            assert_int_equal(typed.type, rows[i].type);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (mf_typed_key_parse((struct mf_str){ others[i], strlen(others[i]) },
                               &typed))
            fail_msg("'%s' tells a type", others[i]);
}

/* ---- what cannot be carried ---- */

static void refuse(const char *from, const char *to, const char *part)
{
    must_refuse(env, scratch_path(from), scratch_path(to), &usual,
                MF_ERR_UNSUPPORTED, part);
}

/* The same is left out with lossy, and counted. */
static void leave_out(const char *from, const char *to, size_t count)
{
    struct mf_convert_result result;

    if (convert_file(env, scratch_path(from), scratch_path(to), &lossy,
                     &result) != MF_OK)
        fail_msg("%s as %s: %s", from, to, mf_env_error(env)->message);
    assert_int_equal(result.left_out, count);
}

static void two_values_of_one_key(void **state)
{
    (void)state;
    safetensors_save("{\"__metadata__\":{\"name\":\"x\",\"general.name\":\"y\","
                     "\"a\":\"1\"},\"t\":{\"dtype\":\"F32\",\"shape\":[1],"
                     "\"data_offsets\":[0,4]}}   ",
                     4, scratch_path("two.safetensors"));
    refuse("two.safetensors", "o.gguf", "'general.name' would be duplicate");
    refuse("two.safetensors", "o.apr", "'name' would be duplicate");
    leave_out("two.safetensors", "o.gguf", 1);
    leave_out("two.safetensors", "o.apr", 1);
    has("o.gguf", "a", MF_VALUE_STRING);
}

static void values_unlike_their_keys(void **state)
{
    static const char *const members[] = {
        "\"a:u32\":\"hello\"",
        "\"a:u8\":\"256\"",
        "\"a:i8\":\"-129\"",
        "\"a:u32\":\"1.5\"",
        "\"a:u64\":\"-1\"",
        "\"a:u32[]\":\"5\"",
        "\"a:bool\":\"1\"",
        "\"a:f32\":\"[]\"",
        "\"a:json\":\"[1,\"",
        "\"a:f32\":\"\\\"x\\\"\"",
        "\"a:u32\":\"\"",
        "\"a:u32\":\"1 2\"",
        "\"a:u64\":\"18446744073709551616\"",
    };
    char header[256];

    (void)state;
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        snprintf(header, sizeof(header),
                 "{\"__metadata__\":{\"b\":\"1\",%s},\"t\":{\"dtype\":\"F32\","
                 "\"shape\":[1],\"data_offsets\":[0,4]}}",
                 members[i]);
        safetensors_save(header, 4, scratch_path("in.safetensors"));
        must_refuse(env, scratch_path("in.safetensors"), scratch_path("o.gguf"),
                    &usual, MF_ERR_UNSUPPORTED, "'a");
        leave_out("in.safetensors", "o.gguf", 1);
        has("o.gguf", "b", MF_VALUE_STRING);
        must_convert(env, scratch_path("in.safetensors"),
                     scratch_path("o.safetensors"), &usual);
    }
}

/* Keys that GGUF cannot have; values that aprender would refuse the file for.
 */
static void keys_that_do_not_fit(void **state)
{
    (void)state;
    safetensors_save("{\"__metadata__\":{\"k\\u00e9y\":\"1\",\"\":\"2\",\"b\":"
                     "\"3\",\"num_layers\":\"x\"},\"t\":{\"dtype\":\"F32\","
                     "\"shape\":[1],\"data_offsets\":[0,4]}}",
                     4, scratch_path("keys.safetensors"));
    refuse("keys.safetensors", "o.gguf", "'k");
    leave_out("keys.safetensors", "o.gguf", 2);
    has("o.gguf", "b", MF_VALUE_STRING);
    must_convert(env, scratch_path("keys.safetensors"), scratch_path("o.apr"),
                 &usual);
    has("o.apr", "num_layers:string", MF_VALUE_STRING);
}

static void arrays_within_arrays(void **state)
{
    const char *from = fixture_path("bad-array-nested.gguf");

    (void)state;
    must_refuse(env, from, scratch_path("o.apr"), &usual, MF_ERR_UNSUPPORTED,
                "an array of type array");
    must_refuse(env, from, scratch_path("o.safetensors"), &usual,
                MF_ERR_UNSUPPORTED, "an array of type array");
    must_convert(env, from, scratch_path("o.apr"), &lossy);
}

static void objects(void **state)
{
    const char *from = fixture_path("good-metadata.apr");

    (void)state;
    must_refuse(env, from, scratch_path("o.gguf"), &usual, MF_ERR_UNSUPPORTED,
                "of type object");
    must_convert(env, from, scratch_path("o.safetensors"), &usual);
    must_convert(env, scratch_path("o.safetensors"), scratch_path("o.apr"),
                 &usual);
}

static void text_that_is_not_utf8(void **state)
{
    struct mf_model *model;
    struct mf_meta meta;

    (void)state;
    new_model();
    gguf_string(&image, "a.text", "\xff\\");
    save_model();
    refuse("in.gguf", "o.apr", "not UTF-8");
    refuse("in.gguf", "o.safetensors", "not UTF-8");
    must_convert(env, scratch_path("in.gguf"), scratch_path("o.safetensors"),
                 &lossy);
    assert_int_equal(
        mf_model_open(env, scratch_path("o.safetensors"), NULL, &model), MF_OK);
    assert_true(mf_meta_find(model, "a.text", 6, &meta, NULL));
    assert_string_equal(meta.text.at, "\\xff\\");
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_at_their_limits),
        cmocka_unit_test(text_of_any_length),
        cmocka_unit_test(keys_that_mislead),
        cmocka_unit_test(rows_of_the_table),
        cmocka_unit_test(keys_by_format),
        cmocka_unit_test(named_types),
        cmocka_unit_test(two_values_of_one_key),
        cmocka_unit_test(values_unlike_their_keys),
        cmocka_unit_test(keys_that_do_not_fit),
        cmocka_unit_test(arrays_within_arrays),
        cmocka_unit_test(objects),
        cmocka_unit_test(text_that_is_not_utf8),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
