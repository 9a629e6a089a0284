/* SPDX-License-Identifier: MIT
 *
 * test_safetensors.c - what the safetensors fixtures hold, field by field
 */
#include <inttypes.h>

#include "tests/safetensors/tensor_line.h"
#include "tests/with_env.h"

/* ---- verdicts ---- */

/* A row of fixtures/README.md, if it is one of ours: "| `name` | verdict |". */
static bool read_row(const char *line, char name[128], char verdict[16])
{
    if (sscanf(line, "| `%127[^`]` | %15[a-z] |", name, verdict) != 2)
        return false;
    return strstr(name, ".safetensors") || name[strlen(name) - 1] == '/';
}

static void check_verdict(const char *name, const char *verdict)
{
    bool good = strcmp(verdict, "good") == 0;
    struct mf_model *model;
    enum mf_status status =
        mf_model_open(env, fixture_path(name), NULL, &model);

    if ((status != MF_OK) != (strcmp(verdict, "refused") == 0 ||
                              strcmp(verdict, "unsupported") == 0))
        fail_msg("%s is %s, but: %s", name, verdict,
                 status == MF_OK ? "it opens" : mf_env_error(env)->message);
    if (status != MF_OK)
        return;
    assert_int_equal(mf_model_validate(model), MF_OK);
    if ((mf_model_info(model)->error_count > 0) !=
        (strcmp(verdict, "error") == 0))
        fail_msg("%s is %s, but has %zu errors", name, verdict,
                 mf_model_info(model)->error_count);
    if (good && mf_model_info(model)->warning_count > 0)
        fail_msg("%s is good, but has warnings", name);
    walk_model(model);
    mf_model_close(model);
}

static void every_fixture_gets_its_verdict(void **state)
{
    FILE *readme = fopen(fixture_path("README.md"), "r");
    char line[512], name[128], verdict[16];
    size_t count = 0;

    (void)state;
    assert_non_null(readme);
    while (fgets(line, sizeof(line), readme))
        if (read_row(line, name, verdict)) {
            check_verdict(name, verdict);
            count++;
        }
    fclose(readme);
    assert_true(count >= 100);
}

/* The rules of all findings, in their order. */
static void each_fault_is_found_by_its_rule(void **state)
{
    static const struct {
        const char *name, *rules;
    } rows[] = {
        { "good-spaces.safetensors", "" },
        { "bad-header-space.safetensors", "ST-BRACE " },
        { "bad-name-empty.safetensors", "ST-NAME " },
        { "bad-name-control.safetensors", "ST-NAME " },
        { "bad-name-duplicate.safetensors", "TENSOR-DUPLICATE " },
        { "bad-name-duplicate-escaped.safetensors", "TENSOR-DUPLICATE " },
        { "bad-field-duplicate.safetensors",
          "ST-FIELD-DUPLICATE TENSOR-SIZE " },
        { "bad-field-unknown.safetensors", "ST-FIELD-UNKNOWN " },
        { "bad-shape-overflow.safetensors", "TENSOR-OVERFLOW " },
        { "bad-bytes-overflow.safetensors", "TENSOR-OVERFLOW " },
        { "bad-size.safetensors", "TENSOR-SIZE " },
        { "bad-bits-f4.safetensors", "TENSOR-OVERFLOW " },
        { "bad-offsets-reversed.safetensors", "ST-OFFSETS " },
        { "bad-offsets-past-end.safetensors", "TENSOR-BOUNDS " },
        { "bad-offsets-wrap.safetensors", "ST-OFFSETS TENSOR-BOUNDS " },
        { "bad-hole.safetensors", "DATA-GAP " },
        { "bad-hole-first.safetensors", "DATA-GAP " },
        { "bad-overlap.safetensors", "TENSOR-OVERLAP " },
        { "bad-trailing.safetensors", "DATA-GAP " },
        { "bad-metadata-number.safetensors", "ST-METADATA " },
        { "bad-metadata-nested.safetensors", "ST-METADATA " },
        { "bad-metadata-string.safetensors", "ST-METADATA " },
        { "bad-metadata-null.safetensors", "ST-METADATA " },
        { "bad-metadata-twice.safetensors", "ST-METADATA " },
        { "bad-metadata-duplicate.safetensors", "META-DUPLICATE " },
        { "bad-index-wrong-shard", "ST-INDEX-SHARD " },
        { "bad-index-unlisted", "ST-INDEX-EXTRA " },
        { "bad-index-no-tensor", "ST-INDEX-MISSING " },
        { "bad-index-duplicate", "ST-INDEX-DUPLICATE ST-INDEX-SHARD " },
        { "bad-index-total-size", "ST-INDEX-SIZE " },
        { "bad-folder-name", "TENSOR-DUPLICATE " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mf_model *model = open_fixture(rows[i].name);
        struct mf_finding finding;
        char rules[256] = "";

        for (size_t k = 0; mf_finding_at(model, k, &finding); k++) {
            strcat(rules, finding.rule);
            strcat(rules, " ");
        }
        if (strcmp(rules, rows[i].rules) != 0)
            fail_msg("%s: found %s", rows[i].name, rules);
        mf_model_close(model);
    }
}

/* What cannot be read says why, and where. */
static void refusals_have_a_rule_and_a_place(void **state)
{
    static const struct {
        const char *name, *rule;
        enum mf_status status;
        uint64_t offset;
    } rows[] = {
        { "bad-header-past-end.safetensors", "FILE-COUNT", MF_ERR_CORRUPT, 0 },
        { "bad-header-over-limit.safetensors", "ST-HEADER-SIZE", MF_ERR_CORRUPT,
          0 },
        { "bad-header-wrap.safetensors", "ST-HEADER-SIZE", MF_ERR_CORRUPT, 0 },
        { "bad-header-big-endian.safetensors", "ST-HEADER-SIZE", MF_ERR_CORRUPT,
          0 },
        { "bad-json-trailing-nul.safetensors", "FILE-JSON", MF_ERR_CORRUPT,
          0x41 },
        { "bad-json-depth.safetensors", "FILE-NESTING", MF_ERR_LIMIT, 0xc1 },
        { "bad-json-second-value.safetensors", "FILE-JSON", MF_ERR_CORRUPT,
          0x41 },
        { "bad-entry-number.safetensors", "FILE-FIELD", MF_ERR_CORRUPT, 0x0d },
        { "bad-field-missing.safetensors", "FILE-FIELD", MF_ERR_CORRUPT, 0x09 },
        { "bad-dtype-unknown.safetensors", "ST-DTYPE", MF_ERR_CORRUPT, 0x16 },
        { "bad-shape-negative.safetensors", "FILE-FIELD", MF_ERR_CORRUPT,
          0x25 },
        { "bad-shape-2p64.safetensors", "FILE-FIELD", MF_ERR_CORRUPT, 0x25 },
        { "bad-shape-digits.safetensors", "FILE-LIMIT", MF_ERR_LIMIT, 0x25 },
        { "bad-json-nan.safetensors", "FILE-JSON", MF_ERR_CORRUPT, 0x25 },
        { "bad-rank-65.safetensors", "FILE-RANK", MF_ERR_LIMIT, 0x24 },
        { "bad-offsets-three.safetensors", "FILE-FIELD", MF_ERR_CORRUPT, 0x39 },
        { "bad-index-number", "FILE-FIELD", MF_ERR_CORRUPT, 0x9d },
        { "bad-index-path", "ST-INDEX-NAME", MF_ERR_CORRUPT, 0x9d },
        { "bad-index-missing-shard", "SHARD-MISSING", MF_ERR_CORRUPT,
          MF_NO_OFFSET },
        { "bad-folder-missing", "SHARD-MISSING", MF_ERR_CORRUPT, MF_NO_OFFSET },
    };
    struct mf_model *model;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_not_equal(
            mf_model_open(env, fixture_path(rows[i].name), NULL, &model),
            MF_OK);
        if (mf_env_error(env)->status != rows[i].status ||
            strcmp(mf_env_error(env)->rule, rows[i].rule) != 0 ||
            mf_env_error(env)->offset != rows[i].offset)
            fail_msg("%s: %s at %#" PRIx64, rows[i].name,
                     mf_env_error(env)->message, mf_env_error(env)->offset);
    }
}

static void a_size_is_compared_with_the_formats_limit_first(void **state)
{
    struct mf_model *model;

    (void)state;
    assert_int_equal(
        mf_model_open(env, fixture_path("bad-header-over-limit.safetensors"),
                      NULL, &model),
        MF_ERR_CORRUPT);
    assert_non_null(strstr(mf_env_error(env)->message, " 100000001 "));
    assert_non_null(strstr(mf_env_error(env)->message, "limit is 100000000"));
}

/* ---- field by field ---- */

static void model_info(void **state)
{
    struct mf_model *model = open_fixture("good-base.safetensors");
    const struct mf_model_info *info = mf_model_info(model);

    (void)state;
    assert_string_equal(info->format, "safetensors");
    assert_string_equal(info->variant, "");
    assert_int_equal(info->byte_order, MF_LITTLE_ENDIAN);
    assert_false(info->fastest_first);
    assert_true(info->has_tensors);
    assert_int_equal(info->tensor_count, 1);
    assert_int_equal(info->shard_count, 1);
    assert_int_equal(info->alignment, 1);
    assert_int_equal(info->parameters, 4);
    assert_int_equal(info->data_size, 16);
    assert_int_equal(info->file_size, info->data_offset + 16);
    check_tensor(model, 0, "a f32 [2,2] 0 16");
    assert_int_equal(tensor_of(model, "a").data.offset, info->data_offset);
    mf_model_close(model);
}

static void every_dtype(void **state)
{
    static const char *const lines[] = {
        "C64 c64 [2,4] 0 64",
        "F64 f64 [2,4] 64 64",
        "I64 i64 [2,4] 128 64",
        "U64 u64 [2,4] 192 64",
        "F32 f32 [2,4] 256 32",
        "I32 i32 [2,4] 288 32",
        "U32 u32 [2,4] 320 32",
        "F16 f16 [2,4] 352 16",
        "BF16 bf16 [2,4] 368 16",
        "I16 i16 [2,4] 384 16",
        "U16 u16 [2,4] 400 16",
        "BOOL bool [2,4] 416 8",
        "I8 i8 [2,4] 424 8",
        "U8 u8 [2,4] 432 8",
        "F8_E4M3 f8_e4m3 [2,4] 440 8",
        "F8_E5M2 f8_e5m2 [2,4] 448 8",
        "F8_E8M0 f8_e8m0 [2,4] 456 8",
        "F8_E4M3FNUZ f8_e4m3fnuz [2,4] 464 8",
        "F8_E5M2FNUZ f8_e5m2fnuz [2,4] 472 8",
        "F6_E2M3 f6_e2m3 [2,4] 480 6",
        "F6_E3M2 f6_e3m2 [2,4] 486 6",
        "F4 f4 [2,4] 492 4",
    };
    struct mf_model *model = open_fixture("good-dtypes.safetensors");
    size_t count = sizeof(lines) / sizeof(*lines);

    (void)state;
    assert_int_equal(mf_model_info(model)->tensor_count, count);
    for (size_t i = 0; i < count; i++)
        check_tensor(model, i, lines[i]);
    mf_model_close(model);
}

static void shapes_of_every_kind(void **state)
{
    struct mf_model *model = open_fixture("good-scalar.safetensors");

    (void)state;
    check_tensor(model, 0, "a f32 [] 0 4");
    assert_non_null(tensor_of(model, "a").dim);
    assert_int_equal(tensor_of(model, "a").parameters, 1);
    mf_model_close(model);

    model = open_fixture("good-rank-10.safetensors");
    check_tensor(model, 0, "a f32 [1,1,1,1,2,1,1,1,1,2] 0 16");
    mf_model_close(model);

    model = open_fixture("good-zero-size.safetensors");
    check_tensor(model, 0, "a f32 [0] 0 0");
    check_tensor(model, 1, "b f32 [2] 0 8");
    check_tensor(model, 2, "c f32 [3,0,2] 8 0");
    check_tensor(model, 3, "d f32 [2] 8 8");
    check_tensor(model, 4, "e f32 [9007199254740993,0] 16 0");
    mf_model_close(model);

    model = open_fixture("good-spaces.safetensors");
    check_tensor(model, 0, "a f32 [2,2] 0 16");
    mf_model_close(model);
}

static void order_of_header_and_of_data(void **state)
{
    static const char *const by_offset[] = { "a", "b", "c" };
    struct mf_model *model = open_fixture("good-unordered.safetensors");
    struct mf_tensor tensor;

    (void)state;
    check_tensor(model, 0, "b f32 [2] 16 8");
    check_tensor(model, 1, "c i32 [1] 24 4");
    check_tensor(model, 2, "a f32 [2,2] 0 16");
    for (size_t i = 0; i < 3; i++) {
        assert_true(mf_tensor_by_offset(model, i, &tensor));
        assert_string_equal(tensor.name.at, by_offset[i]);
    }
    mf_model_close(model);
}

static void names_are_unescaped(void **state)
{
    struct mf_model *model = open_fixture("good-names.safetensors");

    (void)state;
    check_tensor(model, 0, "gr\u00f6\u00dfe.\u6743\u91cd f32 [1] 0 4");
    check_tensor(model, 1, "a/b\\c\"d f32 [1] 4 4");
    mf_model_close(model);

    model = open_fixture("bad-name-control.safetensors");
    assert_true(mf_tensor_find(model, "a\0\x1b[31m", 7,
                               &(struct mf_tensor){ 0 }, NULL));
    mf_model_close(model);
}

/* ---- metadata ---- */

static void check_text(const struct mf_model *model, const char *key,
                       const char *expected)
{
    struct mf_meta meta;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, NULL));
    assert_int_equal(meta.type, MF_VALUE_STRING);
    assert_int_equal(meta.count, strlen(expected));
    assert_int_equal(meta.text.size, strlen(expected));
    assert_string_equal(meta.text.at, expected);
}

/* The string's 200 times four characters, read in pieces. */
static void check_long_string(struct mf_model *model, size_t index)
{
    static const char turn[] = "\u00e4\u20ac\U0001f600x";
    const size_t size = sizeof(turn) - 1;
    struct mf_values *values;
    struct mf_value value;
    size_t at = 0;

    assert_int_equal(mf_values_open(model, index, &values), MF_OK);
    do {
        assert_int_equal(mf_values_next(values, &value), MF_OK);
        assert_int_equal(value.event, MF_EVENT_ITEM);
        assert_int_equal(value.type, MF_VALUE_STRING);
        assert_true(mf_text_is_utf8(value.text.at, value.text.size));
        for (size_t i = 0; i < value.text.size; i++)
            assert_int_equal(value.text.at[i], turn[at++ % size]);
    } while (value.more);
    assert_int_equal(at, 200 * size);
    assert_int_equal(mf_values_next(values, &value), MF_OK);
    assert_int_equal(value.event, MF_EVENT_DONE);
    mf_values_close(values);
}

static void metadata(void **state)
{
    struct mf_model *model = open_fixture("good-metadata.safetensors");
    struct mf_meta meta;
    size_t at;

    (void)state;
    assert_int_equal(mf_model_info(model)->metadata_count, 6);
    assert_true(mf_meta_at(model, 0, &meta));
    assert_string_equal(meta.key.at, "format");
    check_text(model, "format", "pt");
    check_text(model, "empty", "");
    check_text(model, "escapes", "\"\\/\b\f\n\r\t\u00e4A");
    check_text(model, "surrogates", "\U0001f600 and \U0001f600");
    check_text(model, "k\u00e9y", "an escaped key");
    assert_true(mf_meta_find(model, "long", 4, &meta, &at));
    assert_int_equal(meta.count, 2000);
    assert_null(meta.text.at);
    check_long_string(model, at);
    mf_model_close(model);
}

static void wrong_metadata_are_listed(void **state)
{
    struct mf_model *model = open_fixture("bad-metadata-number.safetensors");
    struct mf_meta meta;

    (void)state;
    assert_true(mf_meta_find(model, "epoch", 5, &meta, NULL));
    assert_int_equal(meta.type, MF_VALUE_U64);
    assert_int_equal(meta.number.u64, 3);
    mf_model_close(model);

    model = open_fixture("bad-metadata-nested.safetensors");
    assert_true(mf_meta_find(model, "config", 6, &meta, NULL));
    assert_int_equal(meta.type, MF_VALUE_OBJECT);
    assert_int_equal(meta.count, 1);
    mf_model_close(model);
}

static void metadata_only(void **state)
{
    struct mf_open_options options = { .size = sizeof(struct mf_open_options),
                                       .metadata_only = true };
    struct mf_model *model;

    (void)state;
    assert_int_equal(mf_model_open(env,
                                   fixture_path("good-metadata.safetensors"),
                                   &options, &model),
                     MF_OK);
    assert_false(mf_model_info(model)->has_tensors);
    assert_int_equal(mf_model_info(model)->tensor_count, 0);
    assert_int_equal(mf_model_info(model)->metadata_count, 6);
    assert_int_equal(mf_model_info(model)->error_count, 0);
    check_text(model, "format", "pt");
    mf_model_close(model);
}

static void facts(void **state)
{
    static const char header[] =
        "{\"__metadata__\":{\"modelspec.architecture\":\"flux-1-dev\","
        "\"modelspec.title\":\"A title\",\"license\":\"mit\"}}";
    uint8_t bytes[8 + sizeof(header) - 1] = { sizeof(header) - 1 };
    struct mf_model *model;
    struct mf_meta meta;

    (void)state;
    memcpy(bytes + 8, header, sizeof(header) - 1);
    assert_int_equal(
        mf_model_open_memory(env, "m", bytes, sizeof(bytes), NULL, &model),
        MF_OK);
    assert_true(mf_model_fact(model, MF_FACT_ARCHITECTURE, &meta, NULL));
    assert_string_equal(meta.text.at, "flux-1-dev");
    assert_true(mf_model_fact(model, MF_FACT_NAME, &meta, NULL));
    assert_string_equal(meta.text.at, "A title");
    assert_true(mf_model_fact(model, MF_FACT_LICENSE, &meta, NULL));
    assert_string_equal(meta.text.at, "mit");
    assert_false(mf_model_fact(model, MF_FACT_BLOCK_COUNT, &meta, NULL));
    mf_model_close(model);
}

/* ---- several files ---- */

static void check_sharded(struct mf_model *model)
{
    struct mf_shard shard;

    assert_int_equal(mf_model_info(model)->shard_count, 2);
    assert_int_equal(mf_model_info(model)->tensor_count, 3);
    assert_int_equal(mf_model_info(model)->metadata_count, 1);
    assert_int_equal(mf_model_info(model)->data_size, 72);
    assert_int_equal(mf_model_info(model)->error_count, 0);
    assert_int_equal(mf_model_info(model)->warning_count, 0);
    check_tensor(model, 0, "embed.weight f32 [4,2] 0 32");
    check_tensor(model, 1, "norm.weight f32 [2] 32 8");
    check_tensor(model, 2, "head.weight f32 [4,2] 0 32");
    assert_int_equal(tensor_of(model, "norm.weight").shard, 0);
    assert_int_equal(tensor_of(model, "head.weight").shard, 1);
    assert_true(mf_shard_at(model, 1, &shard));
    assert_true(has_suffix(shard.path, "/model-00002-of-00002.safetensors"));
    assert_int_equal(shard.tensor_count, 1);
    assert_int_equal(tensor_of(model, "head.weight").data.offset,
                     shard.data_offset);
    mf_model_close(model);
}

static void a_sharded_model_opens_in_every_way(void **state)
{
    static const char shard[] = "good-sharded/model-00002-of-00002.safetensors";
    struct mf_open_options by_name = { .size = sizeof(struct mf_open_options),
                                       .shards = MF_SHARDS_BY_NAME };
    struct mf_model *model;

    (void)state;
    check_sharded(open_fixture("good-sharded/model.safetensors.index.json"));
    check_sharded(open_fixture("good-sharded"));
    check_sharded(open_fixture("good-folder"));
    assert_int_equal(mf_model_open(env, fixture_path(shard), &by_name, &model),
                     MF_OK);
    check_sharded(model);

    model = open_fixture(shard);
    assert_int_equal(mf_model_info(model)->shard_count, 1);
    check_tensor(model, 0, "head.weight f32 [4,2] 0 32");
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_fixture_gets_its_verdict),
        WITH_ENV(each_fault_is_found_by_its_rule),
        WITH_ENV(refusals_have_a_rule_and_a_place),
        WITH_ENV(a_size_is_compared_with_the_formats_limit_first),
        WITH_ENV(model_info),
        WITH_ENV(every_dtype),
        WITH_ENV(shapes_of_every_kind),
        WITH_ENV(order_of_header_and_of_data),
        WITH_ENV(names_are_unescaped),
        WITH_ENV(metadata),
        WITH_ENV(wrong_metadata_are_listed),
        WITH_ENV(metadata_only),
        WITH_ENV(facts),
        WITH_ENV(a_sharded_model_opens_in_every_way),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
