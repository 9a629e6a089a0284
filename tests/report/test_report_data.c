/* SPDX-License-Identifier: MIT
 *
 * test_report_data.c - the member "data" of a report
 *
 * The numbers are few, so that what is expected is computed by hand.
 */
#include "lib/report/report.h"
#include "tests/with_env.h"

struct text {
    char at[65536];
    size_t size;
};

static void take(void *user, const char *at, size_t size)
{
    struct text *text = user;

    assert_true(size < sizeof(text->at) - text->size);
    memcpy(text->at + text->size, at, size);
    text->size += size;
    text->at[text->size] = 0;
}

static enum mf_status data_of(struct mf_model *model, bool wanted,
                              struct text *out)
{
    const struct mf_report_options options = { .size = sizeof(options),
                                               .data = wanted };
    struct mf_json_out json = { .write = take, .user = out };
    enum mf_status status;

    out->size = 0;
    mf_json_begin(&json, '{');
    status = mf_report_data(model, &options, &json);
    mf_json_end(&json, '}');
    return status;
}

static struct text text;

static const char head[] =
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,2],\"data_offsets\":[0,24]},"
    "\"c\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[24,32]},"
    "\"e\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[32,32]},"
    "\"i\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[32,40]},"
    "\"n\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[40,44]},"
    "\"u\":{\"dtype\":\"U64\",\"shape\":[2],\"data_offsets\":[44,60]}}";

static const struct {
    uint64_t value;
    size_t size;
} data[] = {
    { 0x3f800000, 4 }, { 0xbf800000, 4 }, /* 1, -1 */
    { 0x3f800000, 4 }, { 0x3f800000, 4 }, /* 1, 1 */
    { 0xbf800000, 4 }, { 0xbf800000, 4 }, /* -1, -1 */
    { 0, 8 },          { UINT64_C(1) << 63, 8 },
    { 0x7fc00000, 4 }, /* NaN */
    { 3, 8 },          { 3, 8 },
};

static struct mf_model *small_model(void)
{
    static uint8_t file[1024];
    struct mf_model *model = NULL;
    uint8_t *at = file + 8 + sizeof(head) - 1;

    set_number(file, sizeof(head) - 1, 8);
    memcpy(file + 8, head, sizeof(head) - 1);
    for (size_t i = 0; i < COUNT(data); i++) {
        set_number(at, data[i].value, data[i].size);
        at += data[i].size;
    }
    assert_int_equal(mf_model_open_memory(env, "memory", file,
                                          (size_t)(at - file), NULL, &model),
                     MF_OK);
    return model;
}

static void columns_of_a_model(void **state)
{
    struct mf_model *model = small_model();

    (void)state;
    assert_int_equal(data_of(model, false, &text), MF_OK);
    assert_string_equal(text.at, "{}");
    assert_int_equal(data_of(model, true, &text), MF_OK);
    assert_string_equal(
        text.at,
        "{\"data\":{\"count\":[6,null,null,1,0,2],"
        "\"min\":[-1,null,null,\"-9223372036854775808\",null,3],"
        "\"max\":[1,null,null,\"-9223372036854775808\",null,3],"
        "\"mean\":[0,null,null,-9.223372036854776e+18,null,3],"
        "\"std\":[1,null,null,0,null,0],"
        "\"l2\":[2.449489742783178,null,null,9.223372036854776e+18,null,"
        "4.242640687119285],"
        "\"zeros\":[0,null,null,0,0,0],\"nans\":[0,null,null,0,1,0],"
        "\"infinities\":[0,null,null,0,0,0],\"rows\":[3,null,null,1,1,1],"
        "\"zero_rows\":[0,null,null,0,0,0],"
        "\"constant_rows\":[2,null,null,1,0,1],"
        "\"histogram\":["
        "{\"bins\":[0,[3],[3]],\"outliers\":0,\"beyond\":8},null,null,"
        "{\"bins\":[63,[1],[0]],\"outliers\":0,\"beyond\":0},"
        "{\"bins\":[0,[],[]],\"outliers\":0,\"beyond\":0},"
        "{\"bins\":[1,[0],[2]],\"outliers\":0,\"beyond\":0}]}}");
    mf_model_close(model);
}

/* Members that cannot be unpacked: others are measured all the same. */
static void damaged_tensors_are_null(void **state)
{
    static uint8_t bytes[65536];
    struct mf_model *model;
    size_t size;
    uint8_t *file = load(fixture_path("good-deflated.npz"), &size);
    size_t damaged = 0;

    (void)state;
    assert_true(size <= sizeof(bytes));
    for (size_t i = 30; i < size; i++) {
        memcpy(bytes, file, size);
        bytes[i] ^= 0x55;
        if (mf_model_open_memory(env, "memory", bytes, size, NULL, &model) !=
            MF_OK)
            continue;
        if (mf_model_info(model)->tensor_count > 1) {
            assert_int_equal(data_of(model, true, &text), MF_OK);
            damaged += strstr(text.at, "null,") || strstr(text.at, ",null");
        }
        mf_model_close(model);
    }
    print_message("%zu of %zu changes make a tensor null\n", damaged, size);
    assert_true(damaged > 0);
    free(file);
}

/* Nothing of tables; of all others one entry for each tensor, the same again.
 */
static void fixtures_of_all_kinds(void **state)
{
    const char *const names[] = {
        "good-llama.gguf", "good-dtypes.safetensors", "good-array.npy",
        "good-base.apr",   "good-table.parquet",      "good-moe.gguf"
    };
    static struct text again;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct mf_model *model = open_fixture(names[i]);

        assert_int_equal(data_of(model, true, &text), MF_OK);
        assert_int_equal(data_of(model, true, &again), MF_OK);
        assert_string_equal(text.at, again.at);
        if (strcmp(text.at, "{}") == 0)
            assert_string_equal(names[i], "good-table.parquet");
        mf_model_close(model);
    }
}

static void memory_is_refused(void **state)
{
    bool refused = true;

    (void)state;
    for (uint64_t k = 0; refused; k++)
        for (int after = 0; after < 2; after++) {
            struct mf_model *model = small_model();

            env_heap.calls = 0;
            env_heap.fail_at = k;
            env_heap.fail_after = after > 0;
            check_refused(&env_heap, data_of(model, true, &text));
            refused = k == 0 || env_heap.calls >= k;
            env_heap.fail_at = 0;
            mf_model_close(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(columns_of_a_model),
        WITH_ENV(damaged_tensors_are_null),
        WITH_ENV(fixtures_of_all_kinds),
        WITH_ENV(memory_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
