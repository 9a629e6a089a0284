/* SPDX-License-Identifier: MIT
 *
 * test_put.c - setting keys of a draft
 */
#include <math.h>

#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/model/formats.h"
#include "tests/with_env.h"

static struct mf_draft draft;

static int draft_setup(void **state)
{
    if (env_setup(state) != 0)
        return -1;
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    return 0;
}

static int draft_teardown(void **state)
{
    mf_draft_release(&draft);
    return env_teardown(state);
}

#define WITH_DRAFT(test)                                                       \
    cmocka_unit_test_setup_teardown(test, draft_setup, draft_teardown)

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

static const struct mf_entry *entry_of(size_t i, const char *key,
                                       enum mf_value_type type)
{
    assert_true(i < draft.entry_count);
    if (!mf_str_is(draft.entry[i].key, key))
        fail_msg("key %zu is '%s', not '%s'", i, draft.entry[i].key.at, key);
    assert_int_equal(draft.entry[i].type, type);
    return &draft.entry[i];
}

static void keys_come_in_the_order_of_their_first_value(void **state)
{
    char text[] = "llama";

    (void)state;
    assert_int_equal(mf_set_text(&draft, "general.architecture", str(text)),
                     MF_OK);
    text[0] = 'x'; /* copied */
    assert_int_equal(mf_set_u32(&draft, "*.block_count", 4), MF_OK);
    assert_int_equal(mf_set_f32(&draft, "*.eps", 1e-5), MF_OK);
    assert_int_equal(mf_set_i32(&draft, "*.block_count", -1), MF_OK);
    assert_int_equal(mf_set_bool(&draft, "llama.eps", true), MF_OK);
    assert_int_equal(mf_set_f64(&draft, "d", 0.1), MF_OK);
    assert_int_equal(mf_set_u64(&draft, "u", UINT64_MAX), MF_OK);
    assert_int_equal(draft.entry_count, 5);
    assert_true(mf_str_is(
        entry_of(0, "general.architecture", MF_VALUE_STRING)->text, "llama"));
    assert_int_equal(draft.entry[0].count, 5);
    assert_int_equal(entry_of(1, "llama.block_count", MF_VALUE_I32)->number.i64,
                     -1);
    assert_true(entry_of(2, "llama.eps", MF_VALUE_BOOL)->number.boolean);
    assert_true(entry_of(3, "d", MF_VALUE_F64)->number.f64 == 0.1);
    assert_true(entry_of(4, "u", MF_VALUE_U64)->number.u64 == UINT64_MAX);
    mf_set_remove(&draft, "*.block_count");
    mf_set_remove(&draft, "*.not_there");
    assert_int_equal(draft.entry_count, 4);
    entry_of(1, "llama.eps", MF_VALUE_BOOL);
}

static void arrays_are_set_too(void **state)
{
    static const union mf_number numbers[] = { { .u64 = 1 }, { .u64 = 2 } };
    static const struct mf_str texts[] = { { "a", 1 } };
    const struct mf_entry *entry;

    (void)state;
    mf_set_array(&draft, "n", MF_VALUE_U32, numbers, 2);
    mf_set_array(&draft, "t", MF_VALUE_STRING, numbers, 2);
    mf_set_array(&draft, "t", MF_VALUE_STRING, texts, 1);
    mf_set_u32(&draft, "n", 7);
    entry_of(0, "n", MF_VALUE_U32);
    assert_null(draft.entry[0].elements);
    entry = entry_of(1, "t", MF_VALUE_ARRAY);
    assert_int_equal(entry->of, MF_VALUE_STRING);
    assert_int_equal(entry->count, 1);
    assert_ptr_equal(entry->elements, texts);
}

static void refused(enum mf_status status, const char *message)
{
    assert_int_equal(status, MF_ERR_UNSUPPORTED);
    assert_string_equal(mf_env_error(env)->message, message);
    assert_int_equal(draft.entry_count, 0);
    mf_clear_error(env);
}

static enum mf_status put_float_as(enum mf_value_type type, double value)
{
    return mf_set_number(&draft, "k", type, MF_VALUE_F64,
                         (union mf_number){ .f64 = value });
}

static void numbers_out_of_range_are_refused(void **state)
{
    union mf_number minus = { .i64 = -1 };

    (void)state;
    refused(mf_set_u32(&draft, "k", UINT64_C(1) << 32),
            "4294967296 is not a valid u32 for key 'k'");
    refused(mf_set_number(&draft, "k", MF_VALUE_U32, MF_VALUE_I64, minus),
            "-1 is not a valid u32 for key 'k'");
    refused(mf_set_i32(&draft, "k", INT64_C(1) << 31),
            "2147483648 is not a valid i32 for key 'k'");
    refused(mf_set_f32(&draft, "k", 1e39), "1e+39 is not a "
                                           "valid f32 for key 'k'");
    refused(put_float_as(MF_VALUE_U32, 2),
            "2.0 is not a valid u32 for key 'k'");
    refused(put_float_as(MF_VALUE_U32, 2.5),
            "2.5 is not a valid u32 for key 'k'");
    assert_int_equal(put_float_as(MF_VALUE_F32, INFINITY), MF_OK);
    assert_int_equal(put_float_as(MF_VALUE_F32, 0.1), MF_OK);
    assert_true(draft.entry[0].number.f64 == (double)0.1F);
    assert_int_equal(
        mf_set_number(&draft, "k", MF_VALUE_F32, MF_VALUE_I64, minus), MF_OK);
    assert_true(draft.entry[0].number.f64 == -1);
}

static void a_star_needs_an_architecture(void **state)
{
    (void)state;
    assert_int_equal(mf_set_u32(&draft, "*.block_count", 4), MF_ERR_CORRUPT);
    assert_int_equal(draft.entry_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DRAFT(keys_come_in_the_order_of_their_first_value),
        WITH_DRAFT(arrays_are_set_too),
        WITH_DRAFT(numbers_out_of_range_are_refused),
        WITH_DRAFT(a_star_needs_an_architecture),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
