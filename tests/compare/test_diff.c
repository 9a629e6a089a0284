/* SPDX-License-Identifier: MIT
 *
 * test_diff.c - what is different between two models, and nothing else
 */
#include <math.h>

#include "tests/compare/differences.h"

/* ---- every fixture ---- */

static bool any_damaged(const struct mf_model *model)
{
    struct mf_tensor tensor;

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (tensor.flags & MF_TENSOR_DAMAGED)
            return true;
    return false;
}

static void same_as_itself(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *a = is_table(name) ? NULL : open_bytes(env, bytes, size);
    struct mf_model *b = a ? open_bytes(env, bytes, size) : NULL;
    struct list list;

    if (a && mf_model_info(a)->missing_count > 0) {
        assert_int_equal(diff(a, b, false, &list), MF_ERR_UNSUPPORTED);
    } else if (a) {
        assert_int_equal(diff(a, b, false, &list), MF_OK);
        if (list.count > 0)
            fail_msg("%s differs from itself", name);
        /* With data, damaged tensors are in the way. */
        if (diff(a, b, true, &list) != MF_OK && !any_damaged(a))
            fail_msg("%s: %s", name, mf_env_error(env)->message);
        assert_int_equal(list.count, 0);
    }
    mf_model_close(b);
    mf_model_close(a);
}

static void fixtures_are_the_same_as_themselves(void **state)
{
    (void)state;
    assert_true(each_fixture("", same_as_itself) > 50);
}

/* The other way round, everything is found again, on the other side. */
static void check_mirrored(const char *name, size_t at, const struct list *one,
                           const struct list *back)
{
    size_t sides[2] = { 0 };

    if (one->count != back->count)
        fail_msg("%s, byte %zu: %zu differences, %zu the other way", name, at,
                 one->count, back->count);
    if (one->count > COUNT(one->at))
        return;
    for (size_t i = 0; i < one->count; i++) {
        const struct mf_difference *found = &one->at[i];
        size_t k = 0;

        while (k < one->count &&
               (back->at[k].is_tensor != found->is_tensor ||
                back->at[k].a != found->b || back->at[k].b != found->a))
            k++;
        assert_true(k < one->count);
        assert_int_equal(back->at[k].first, found->first);
        sides[0] += (found->what & MF_ONLY_A) != 0;
        sides[1] += (back->at[k].what & MF_ONLY_B) != 0;
    }
    assert_int_equal(sides[0], sides[1]);
}

static void flip_bytes(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *a = size < 1000 ? open_bytes(env, bytes, size) : NULL;
    uint8_t *copy = malloc(size + 1);

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    for (size_t at = 0; a && at < size; at++) {
        struct list one, back;
        struct mf_model *b;

        copy[at] = bytes[at] ^ 0x01;
        b = open_bytes(env, copy, size);
        if (b) {
            enum mf_status status = diff(a, b, true, &one);

            assert_int_equal(diff(b, a, true, &back), status);
            if (status == MF_OK)
                check_mirrored(name, at, &one, &back);
        }
        mf_model_close(b);
        copy[at] = bytes[at];
    }
    mf_model_close(a);
    free(copy);
}

static void sides_are_alike(void **state)
{
    (void)state;
    each_fixture("good-", flip_bytes);
}

/* ---- tensors, in GGUF and in safetensors ---- */

/* "t" of f32, 3 rows of 2, and "u" of f32, 4. */
static void put_tensors(struct bytes *bytes)
{
    begin_gguf(bytes, 2, 0);
    add_tensor(bytes, "t", 0, 2, (const uint64_t[]){ 2, 3 });
    add_tensor(bytes, "u", 32, 1, (const uint64_t[]){ 4 });
    add_padding(bytes);
    for (uint8_t i = 0; i < 24; i++)
        add_number(bytes, i, 1);
    add_number(bytes, 0, 8);
    for (uint8_t i = 100; i < 116; i++)
        add_number(bytes, i, 1);
    add_padding(bytes);
}

/* The same numbers, "u" first, under a header with these entries. */
static void put_safetensors(const char *t, const char *u)
{
    char header[512];
    int size = snprintf(header, sizeof(header),
                        "{\"u\":{%s,\"data_offsets\":[0,16]},"
                        "\"t\":{%s,\"data_offsets\":[16,40]}}",
                        u, t);

    other.size = 0;
    add_number(&other, (uint64_t)size, 8);
    add(&other, header, (size_t)size);
    for (uint8_t i = 100; i < 116; i++)
        add_number(&other, i, 1);
    for (uint8_t i = 0; i < 24; i++)
        add_number(&other, i, 1);
}

static void shapes_compare_in_one_order(void **state)
{
    struct list list;

    (void)state;
    put_tensors(&gguf);
    put_safetensors("\"dtype\":\"F32\",\"shape\":[3,2]",
                    "\"dtype\":\"F32\",\"shape\":[4]");
    diff_gguf(&list, false);
    assert_int_equal(list.count, 0);
    put_safetensors("\"dtype\":\"F32\",\"shape\":[2,3]",
                    "\"dtype\":\"F32\",\"shape\":[4,1]");
    diff_gguf(&list, false);
    assert_int_equal(list.count, 2);
    expect(&list, 0, MF_DIFFERS_SHAPE, 0, 1, 0);
    expect(&list, 1, MF_DIFFERS_SHAPE, 1, 0, 0);
    assert_true(list.at[0].is_tensor);
}

static void types_and_data_are_compared(void **state)
{
    struct list list;

    (void)state;
    put_tensors(&gguf);
    put_safetensors("\"dtype\":\"F16\",\"shape\":[6,2]",
                    "\"dtype\":\"I32\",\"shape\":[4]");
    diff_gguf(&list, false);
    assert_int_equal(list.count, 2);
    expect(&list, 0, MF_DIFFERS_TYPE | MF_DIFFERS_SHAPE, 0, 1, 0);
    expect(&list, 1, MF_DIFFERS_TYPE, 1, 0, 0);
    /* Another shape of the same bytes has its bytes compared. */
    put_safetensors("\"dtype\":\"F32\",\"shape\":[6]",
                    "\"dtype\":\"F32\",\"shape\":[4]");
    other.at[other.size - 1] ^= 1;
    other.at[other.size - 40] ^= 1;
    diff_gguf(&list, false);
    assert_int_equal(list.count, 2);
    expect(&list, 0, MF_DIFFERS_SHAPE | MF_DIFFERS_DATA, 0, 1, 23);
    expect(&list, 1, MF_DIFFERS_DATA, 1, 0, 0);
}

static void data_may_be_left_unread(void **state)
{
    struct mf_io_stats before, after;
    struct mf_model *a, *b;
    struct list list;

    (void)state;
    put_tensors(&gguf);
    put_tensors(&other);
    other.at[other.size - 32] ^= 1;
    a = open_bytes(env, gguf.at, gguf.size);
    b = open_bytes(env, other.at, other.size);
    mf_env_io(env, &before);
    assert_int_equal(diff(a, b, false, &list), MF_OK);
    assert_int_equal(list.count, 0);
    mf_env_io(env, &after);
    assert_int_equal(after.bytes_read, before.bytes_read);
    assert_int_equal(diff(a, b, true, &list), MF_OK);
    assert_int_equal(list.count, 1);
    expect(&list, 0, MF_DIFFERS_DATA, 1, 1, 0);
    mf_model_close(b);
    mf_model_close(a);
}

/* ---- APR: one scale before a whole tensor, however it is cut ---- */

enum { NUMBERS = 200 * 1027 };

static void put_apr(uint8_t dtype, const void *bytes, size_t size)
{
    begin(ROW_MAJOR, 1, "{}");
    put_entry(&(struct entry){ "t", dtype, 2, { 200, 1027 }, 0, size });
    end(size);
    memcpy(image.at + (image.size - (size + 63) / 64 * 64), bytes, size);
}

static void keep_values(void *user, const struct mf_difference *difference)
{
    struct mf_value_errors *errors = user;

    assert_non_null(difference->values);
    *errors = *difference->values;
}

static void keep_reason(void *user, const struct mf_difference *difference)
{
    assert_null(difference->values);
    assert_non_null(difference->no_values);
    snprintf(user, 320, "%s", difference->no_values);
}

static void a_scale_is_as_in_all_parts(void **state)
{
    static uint8_t q8[4 + NUMBERS], first[1 << 20];
    static float f32[NUMBERS];
    struct mf_diff_options options = { .size = sizeof(struct mf_diff_options),
                                       .values = true };
    struct mf_value_errors errors = { 0 };
    struct mf_model *a, *b;

    (void)state;
    mf_put_little_float(q8, 0.5F);
    for (int i = 0; i < NUMBERS; i++) {
        q8[4 + i] = (uint8_t)(i % 255 - 127);
        f32[i] = (float)(i % 255 - 127) / 2;
    }
    f32[NUMBERS - 1] += 3;
    in_file_order(f32, NUMBERS, sizeof(*f32));
    put_apr(129, q8, sizeof(q8));
    memcpy(first, image.at, image.size);
    a = open_bytes(env, first, image.size);
    put_apr(0, f32, sizeof(f32));
    b = open_image("f32");
    assert_int_equal(mf_model_diff(a, b, &options, keep_values, &errors),
                     MF_OK);
    assert_int_equal(errors.count, NUMBERS);
    assert_true(errors.max_absolute == 3);
    assert_true(fabs(errors.rmse * errors.rmse * NUMBERS - 9) < 1e-9);
    mf_model_close(b);
    mf_model_close(a);
}

/* aprender writes tensors that have neither dimensions nor data. */
static void of_nothing_no_number_is_read(void **state)
{
    static uint8_t first[4096];
    struct mf_diff_options options = { .size = sizeof(struct mf_diff_options),
                                       .values = true };
    struct mf_model *a, *b;
    char why[320] = "";

    (void)state;
    begin(ROW_MAJOR, 1, "{}");
    put_entry(&(struct entry){ .name = "t" });
    end(0);
    memcpy(first, image.at, image.size);
    a = open_bytes(env, first, image.size);
    begin(ROW_MAJOR, 1, "{}");
    put_entry(&(struct entry){ .name = "t", .size = 4 });
    end(4);
    b = open_image("scalar");
    assert_int_equal(mf_model_diff(a, b, &options, keep_reason, why), MF_OK);
    assert_string_equal(why, "it has 0 numbers, the other 1");
    assert_int_equal(mf_model_diff(b, a, &options, keep_reason, why), MF_OK);
    assert_string_equal(why, "it has 1 numbers, the other 0");
    mf_model_close(b);
    mf_model_close(a);
}

/* ---- what cannot be ---- */

static void what_cannot_be_is_refused(void **state)
{
    struct mf_env *own = mf_env_new(NULL);
    struct mf_model *a, *b, *damaged;
    struct list list;

    (void)state;
    put_tensors(&gguf);
    a = open_bytes(env, gguf.at, gguf.size);
    b = open_bytes(own, gguf.at, gguf.size);
    assert_int_equal(diff(a, b, true, &list), MF_ERR_ARGUMENT);
    mf_model_close(b);
    mf_model_close(a);
    mf_env_free(own);
    assert_int_equal(
        mf_model_open(env, fixture_path("bad-overlap.gguf"), NULL, &damaged),
        MF_OK);
    assert_int_equal(
        mf_model_open(env, fixture_path("good-base.gguf"), NULL, &a), MF_OK);
    assert_int_equal(diff(a, damaged, true, &list), MF_ERR_CORRUPT);
    assert_non_null(strstr(mf_env_error(env)->message, "bad-overlap.gguf': "));
    assert_int_equal(diff(damaged, a, true, &list), MF_ERR_CORRUPT);
    assert_non_null(strstr(mf_env_error(env)->message, "bad-overlap.gguf': "));
    mf_model_close(a);
    mf_model_close(damaged);
}

static bool try_failing(uint64_t call, bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *own = test_env(&heap);
    struct mf_model *a = NULL, *b = NULL;
    enum mf_status status = MF_ERR_MEMORY;
    struct list list;

    if (own &&
        mf_model_open(own, fixture_path("good-llama.gguf"), NULL, &a) ==
            MF_OK &&
        mf_model_open(own, fixture_path("good-llama.gguf"), NULL, &b) == MF_OK)
        status = diff(a, b, true, &list);
    mf_model_close(b);
    mf_model_close(a);
    mf_env_free(own);
    assert_int_equal(heap.live, 0);
    check_refused(&heap, status);
    return heap.calls < call;
}

static void every_allocation_failed(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (!try_failing(call, after))
            call++;
        assert_true(call > 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(fixtures_are_the_same_as_themselves),
        WITH_ENV(sides_are_alike),
        WITH_ENV(shapes_compare_in_one_order),
        WITH_ENV(types_and_data_are_compared),
        WITH_ENV(data_may_be_left_unread),
        WITH_ENV(a_scale_is_as_in_all_parts),
        WITH_ENV(of_nothing_no_number_is_read),
        WITH_ENV(what_cannot_be_is_refused),
        cmocka_unit_test(every_allocation_failed),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
