/* SPDX-License-Identifier: MIT
 *
 * test_apr_json.c - APR's metadata keys, and the tensor index as JSON
 */
#include "tests/apr/apr_image.h"

/* ---- metadata ---- */

static void known_keys_have_types(void **state)
{
    static const struct {
        const char *text, *rules;
    } rows[] = {
        { "{\"hidden_size\":64}", "" },
        { "{\"hidden_size\":null}", "" },
        { "{\"hidden_size\":64.0}", "APR-METADATA-TYPE " },
        { "{\"hidden_size\":-1}", "APR-METADATA-TYPE " },
        { "{\"hidden_size\":[64]}", "APR-METADATA-TYPE " },
        { "{\"rope_theta\":10000}", "" },
        { "{\"rope_theta\":\"1e4\"}", "APR-METADATA-TYPE " },
        { "{\"model_type\":null}", "APR-METADATA-TYPE " },
        { "{\"total_size\":null}", "APR-METADATA-TYPE " },
        { "{\"license\":null}", "" },
        { "{\"quantization\":\"q4\"}", "APR-METADATA-TYPE " },
        { "{\"quantization\":{}}", "" },
        { "{\"d_model\":\"64\"}", "" }, /* realizar's word, of any type */
        { "{\"d_model\":64,\"n_embd\":64}", "APR-METADATA-ALIAS " },
        { "{\"n_embd\":64,\"hidden_size\":64}", "APR-METADATA-ALIAS " },
        { "{\"n_embd\":64,\"n_embd\":64}", "META-DUPLICATE " },
        { "{\"hidden_size2\":1,\"Hidden_size\":[]}", "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin(ROW_MAJOR, 0, rows[i].text);
        end(0);
        expect_rules(rows[i].text, rows[i].rules);
    }
}

#define QUANTIZATION(fields)                                                   \
    "{\"architecture\":\"\",\"quantization\":{" fields "}}"
#define SHARDING(fields) "{\"architecture\":\"\",\"sharding\":{" fields "}}"

/* As aprender's structs have them: a field that is not an Option is required.
 */
static void known_objects_have_fields(void **state)
{
    static const struct {
        const char *text, *rules;
    } rows[] = {
        { QUANTIZATION("\"quant_type\":\"q\",\"bits\":4,\"symmetric\":true"),
          "" },
        { QUANTIZATION("\"symmetric\":false,\"bits\":4,\"quant_type\":\"\","
                       "\"block_size\":null,\"other\":{\"bits\":[]}"),
          "" },
        { QUANTIZATION("\"quant_type\":\"q\",\"bits\":4"),
          "APR-METADATA-FIELD " },
        { QUANTIZATION(""),
          "APR-METADATA-FIELD APR-METADATA-FIELD APR-METADATA-FIELD " },
        { QUANTIZATION("\"quant_type\":\"q\",\"bits\":4.0,\"symmetric\":1"),
          "APR-METADATA-TYPE APR-METADATA-TYPE " },
        { QUANTIZATION("\"quant_type\":null,\"bits\":\"4\",\"bits\":4,"
                       "\"symmetric\":true,\"block_size\":[]"),
          "APR-METADATA-TYPE APR-METADATA-TYPE " },
        { SHARDING("\"shard_count\":2,\"shard_index\":0,\"total_size\":0"),
          "" },
        { SHARDING("\"shard_count\":2,\"shard_index\":-1,\"total_size\":0,"
                   "\"pattern\":7"),
          "APR-METADATA-TYPE APR-METADATA-TYPE " },
        { SHARDING("\"bits\":4"),
          "APR-METADATA-FIELD APR-METADATA-FIELD APR-METADATA-FIELD " },
        { "{\"special_tokens\":{\"bos_token\":null,\"b\":1}}", "" },
        { "{\"special_tokens\":{\"bos_token\":1}}", "APR-METADATA-TYPE " },
        { "{\"special\":{\"bits\":\"4\"},\"quantization\":null}", "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_model *model;
        struct mf_finding finding;
        char rules[256] = "";

        begin(ROW_MAJOR, 0, rows[i].text);
        end(0);
        model = open_image(rows[i].text);
        assert_int_equal(mf_model_validate(model), MF_OK);
        for (size_t k = 0; mf_finding_at(model, k, &finding); k++)
            if (strncmp(finding.rule, "APR-", 4) == 0)
                strcat(strcat(rules, finding.rule), " ");
        if (strcmp(rules, rows[i].rules) != 0)
            fail_msg("%s: found %s", rows[i].text, rules);
        mf_model_close(model);
    }
}

/* ---- the index as JSON ---- */

static void index_of_json(uint32_t count, const char *text)
{
    begin(0, count, "{}");
    put_text(text);
    end(64);
}

#define ENTRY(dtype, shape, size)                                              \
    "{\"name\":\"a\",\"dtype\":" dtype ",\"shape\":" shape                     \
    ",\"offset\":0,\"size\":" size "}"

static void json_indexes_that_open(void **state)
{
    static const struct {
        const char *text, *type, *rules;
    } rows[] = {
        { "[" ENTRY("\"json\"", "[64]", "64") "]", "json", "" },
        { "[" ENTRY("\"JSON\"", "[]", "64") "]", "json", "" },
        { "[" ENTRY("\"F32\"", "[2,8]", "64") "]", "f32", "" },
        { "[ " ENTRY("\"q4_k\"", "[300]", "288") "]", "q4_k",
          "TENSOR-BOUNDS " },
        { "[" ENTRY("\"I8\"", "[63]", "64") "]", "i8", "TENSOR-SIZE " },
        { "[{\"more\":{\"x\":[1]},\"size\":64,\"offset\":0,\"shape\":[64],"
          "\"dtype\":\"U8\",\"name\":\"a\"}]",
          "u8", "" },
        { "[]", "", "APR-INDEX-COUNT APR-TRAILING " },
        { "[" ENTRY("\"U8\"", "[64]", "64") ",\n{\"name\":\"b\",\"dtype\":"
                                            "\"json\",\"shape\":[0],"
                                            "\"offset\":64,\"size\":0}]",
          "u8", "APR-INDEX-COUNT " },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_tensor tensor;
        struct mf_model *model;

        index_of_json(1, rows[i].text);
        model = open_image(rows[i].text);
        assert_string_equal(mf_model_info(model)->variant, "json-index");
        check_rules(model, rows[i].text, rows[i].rules);
        if (mf_tensor_at(model, 0, &tensor))
            assert_string_equal(tensor.type, rows[i].type);
        mf_model_close(model);
    }
}

static void json_indexes_that_are_refused(void **state)
{
    static const char *const rows[] = {
        "[" ENTRY("\"json\"", "[64]", "64"),
        "[" ENTRY("\"json\"", "[-64]", "64") "]",
        "[" ENTRY("\"json\"", "[64.0]", "64") "]",
        "[" ENTRY("\"json\"", "[\"64\"]", "64") "]",
        "[" ENTRY("\"json\"", "64", "64") "]",
        "[" ENTRY("\"json\"", "[64]", "1e2") "]",
        "[" ENTRY("\"json\"", "[64]", "18446744073709551616") "]",
        "[" ENTRY("\"json\"",
                  "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                  "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                  "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
                  "64") "]",
        "[" ENTRY("7", "[64]", "64") "]",
        "[" ENTRY("\"F31\"", "[64]", "64") "]",
        "[" ENTRY("\"C64\"", "[64]", "64") "]", /* not one of APR's */
        "[" ENTRY("\"json of a long name\"", "[64]", "64") "]",
        "[{\"name\":7,\"dtype\":\"U8\",\"shape\":[],\"offset\":0,\"size\":1}]",
        "[{\"name\":\"a\",\"shape\":[],\"offset\":0,\"size\":0}]",
        "[1]",
        "[[]]",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        index_of_json(1, rows[i]);
        expect_refusal(rows[i], MF_ERR_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(known_keys_have_types),
        WITH_ENV(known_objects_have_fields),
        WITH_ENV(json_indexes_that_open),
        WITH_ENV(json_indexes_that_are_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
