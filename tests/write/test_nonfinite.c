/* SPDX-License-Identifier: MIT
 *
 * test_nonfinite.c - NaN and infinite values that are written only on request
 *
 * Loops over all fixtures: in what convert and dequantize write when such
 * values are not allowed, validate --data finds none.
 */
#include "tests/scratch.h"

static struct mf_env *env;

static const char *const formats[] = { "gguf", "apr", "safetensors" };

/* How a model is rewritten. */
static const struct way {
    const char *type;
    bool dequantize;
} ways[] = {
    { NULL, false }, { "f32", false }, { "f16", false }, { "bf16", false },
    { "f32", true }, { "f16", true },  { "bf16", true },
};

static size_t written, refused;

static bool is_about_numbers(const char *rule)
{
    return strcmp(rule, "DATA-NOT-FINITE") == 0 ||
           strcmp(rule, "DATA-SCALE") == 0;
}

/* What validate says of numbers of the file; errors alone, or warnings, too. */
static size_t bad_numbers(const char *path, bool warnings)
{
    struct mf_model *model;
    struct mf_finding finding;
    size_t count = 0;

    assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        count += is_about_numbers(finding.rule) &&
                 (warnings || finding.severity == MF_ERROR);
    mf_model_close(model);
    return count;
}

static void in_one_way(const char *name, const struct way *way,
                       const char *format)
{
    struct mf_convert_options how = { .size = sizeof(struct mf_convert_options),
                                      .format = format,
                                      .type = way->type,
                                      .dequantize = way->dequantize,
                                      .lossy = true,
                                      .replace = true };
    const char *path = scratch_path("out");

    if (convert_file(env, fixture_path(name), path, &how, NULL) == MF_OK) {
        written++;
        if (bad_numbers(path, way->type != NULL) > 0)
            fail_msg("%s as %s %s has numbers that validate refuses", name,
                     format, way->type ? way->type : "");
        return;
    }
    if (!is_about_numbers(mf_env_error(env)->rule))
        return;
    refused++;
    how.allow_nonfinite = true;
    must_convert(env, fixture_path(name), path, &how);
    assert_true(bad_numbers(path, true) > 0);
}

static void in_all_ways(const char *name, const uint8_t *bytes, size_t size)
{
    (void)bytes, (void)size;
    for (size_t i = 0; i < COUNT(ways); i++)
        for (size_t f = 0; f < COUNT(formats); f++)
            in_one_way(name, &ways[i], formats[f]);
}

static void every_fixture_in_every_way(void **state)
{
    (void)state;
    assert_true(each_fixture("", in_all_ways) > 200);
    print_message("%zu written, %zu refused\n", written, refused);
    assert_true(written > 1000);
    assert_true(refused > 60);
}

/* ---- small models ---- */

/* Three tensors "a", "b", "c", each of eight floats of 32 bits, all 1 but
 * b's from `first` on. */
static void three_tensors(const char *path, bool big_endian, size_t first,
                          uint32_t bits)
{
    static struct image image;
    const uint32_t one = 0x3f800000;

    image.size = 0;
    image_put(&image, "GGUF", 4);
    if (big_endian) {
        static const uint8_t counts[] = { 0, 0, 0, 3, 0, 0, 0, 0, 0, 0,
                                          0, 3, 0, 0, 0, 0, 0, 0, 0, 0 };

        image_put(&image, counts, sizeof(counts));
    } else {
        image_int(&image, 3, 4);
        image_int(&image, 3, 8);
        image_int(&image, 0, 8);
    }
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t fields[] = { 1, 0, 1, 8, 0, 32 * i };
        const size_t sizes[] = { 8, 0, 4, 8, 4, 8 };

        for (size_t f = 0; f < COUNT(fields); f++) {
            if (f == 1)
                image_put(&image, &"abc"[i], 1);
            else
                image_int(&image,
                          big_endian ? __builtin_bswap64(fields[f]) >>
                                           (64 - 8 * sizes[f])
                                     : fields[f],
                          sizes[f]);
        }
    }
    while (image.size % 32 != 0)
        image_int(&image, 0, 1);
    for (size_t i = 0; i < 24; i++) {
        uint32_t number = i / 8 == 1 && i % 8 >= first ? bits : one;

        image_int(&image, big_endian ? __builtin_bswap32(number) : number, 4);
    }
    image_save(&image, path);
}

/* Small tensors are copied together; the right one is named all the same. */
static void small_tensors(void **state)
{
    static const struct mf_convert_options hows[] = {
        { .size = sizeof(struct mf_convert_options), .format = "gguf" },
        { .size = sizeof(struct mf_convert_options),
          .format = "gguf",
          .reserve = 100 },
        { .size = sizeof(struct mf_convert_options),
          .format = "gguf",
          .shard_tensors = 3 },
        { .size = sizeof(struct mf_convert_options),
          .format = "gguf",
          .type = "f32" },
        { .size = sizeof(struct mf_convert_options), .format = "apr" },
    };

    (void)state;
    three_tensors(scratch_path("in.gguf"), false, 5, 0x7fc00000);
    for (size_t i = 0; i < COUNT(hows); i++)
        must_refuse(env, scratch_path("in.gguf"), scratch_path("out"), &hows[i],
                    MF_ERR_UNSUPPORTED,
                    "tensor 'b' as f32: element 5 is infinite or NaN");
    must_convert(
        env, scratch_path("in.gguf"), scratch_path("o.safetensors"),
        &(struct mf_convert_options){ .size = sizeof(struct mf_convert_options),
                                      .format = "safetensors" });
    must_refuse(
        env, scratch_path("in.gguf"), scratch_path("p.safetensors"),
        &(struct mf_convert_options){ .size = sizeof(struct mf_convert_options),
                                      .format = "safetensors",
                                      .type = "f32" },
        MF_ERR_UNSUPPORTED, "element 5 is infinite or NaN");
}

/* Bytes that would be infinite in the other order are not, and the other way
 * round. */
static void big_endian(void **state)
{
    const struct mf_convert_options plain = {
        .size = sizeof(struct mf_convert_options), .format = "gguf"
    };
    const struct mf_convert_options room = { .size = sizeof(
                                                 struct mf_convert_options),
                                             .format = "gguf",
                                             .reserve = 99 };

    (void)state;
    three_tensors(scratch_path("in.gguf"), true, 7, 0x7f800000);
    must_refuse(env, scratch_path("in.gguf"), scratch_path("1.gguf"), &plain,
                MF_ERR_UNSUPPORTED, "'b' as f32: element 7 is infinite");
    must_refuse(env, scratch_path("in.gguf"), scratch_path("2.gguf"), &room,
                MF_ERR_UNSUPPORTED, "'b' as f32: element 7 is infinite");
    three_tensors(scratch_path("in.gguf"), true, 7, 0x0000807f);
    must_convert(env, scratch_path("in.gguf"), scratch_path("3.gguf"), &plain);
    must_convert(env, scratch_path("in.gguf"), scratch_path("4.gguf"), &room);
}

/* 10^6 is finite, and f16 ends at 65504. */
static void too_narrow(void **state)
{
    struct mf_convert_options how = { .size = sizeof(struct mf_convert_options),
                                      .type = "f16",
                                      .replace = true };
    const char *wide = scratch_path("wide.safetensors");
    static const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],"
                                 "\"data_offsets\":[0,16]}}";
    static struct image image;

    (void)state;
    image.size = 0;
    image_text(&image, header, sizeof(header) - 1);
    for (size_t i = 0; i < 4; i++)
        image_int(&image, i == 2 ? 0x49742400 : 0x477fe000, 4);
    image_save(&image, wide);
    for (size_t i = 0; i < COUNT(formats); i++) {
        const char *path = scratch_path("narrow");

        how.format = formats[i];
        how.allow_nonfinite = false;
        must_refuse(env, wide, path, &how, MF_ERR_UNSUPPORTED,
                    "tensor 'w' as f16: element 2 would be infinite or NaN");
        assert_string_equal(mf_env_error(env)->rule, "DATA-NOT-FINITE");
        how.allow_nonfinite = true;
        must_convert(env, wide, path, &how);
        assert_int_equal(bad_numbers(path, true), 1);
    }
    how =
        (struct mf_convert_options){ .size = sizeof(struct mf_convert_options),
                                     .type = "bf16",
                                     .replace = true };
    must_convert(env, wide, scratch_path("b.gguf"), &how);
}

/* The first one is named, whichever thread finds it. */
static void first_of_many(void **state)
{
    enum { NUMBERS = 4 << 20 };
    const size_t data = sizeof(float) * (size_t)NUMBERS, head = 128;
    uint8_t *bytes = calloc(1, head + data);
    uint32_t infinite = 0x7f800000;
    char header[100];

    (void)state;
    assert_non_null(bytes);
    snprintf(header, sizeof(header),
             "{\"w\":{\"dtype\":\"F32\",\"shape\":[%d],"
             "\"data_offsets\":[0,%zu]}}",
             NUMBERS, data);
    memset(bytes + 8, ' ', head - 8);
    memcpy(bytes + 8, header, strlen(header));
    bytes[0] = (uint8_t)(head - 8);
    for (size_t i = 12345; i < NUMBERS; i += 1000)
        mf_put_little_32(bytes + head + i * sizeof(infinite), infinite);
    save(scratch_path("many.safetensors"), bytes, head + data);
    free(bytes);
    for (unsigned threads = 1; threads < 8; threads += 3) {
        struct mf_env *own = mf_env_new(&(struct mf_options){
            .size = sizeof(struct mf_options), .threads = threads });

        must_refuse(own, scratch_path("many.safetensors"),
                    scratch_path("o.gguf"), NULL, MF_ERR_UNSUPPORTED,
                    "'w' as f32: element 12345 is infinite or NaN");
        must_refuse(
            own, scratch_path("many.safetensors"), scratch_path("o.gguf"),
            &(struct mf_convert_options){
                .size = sizeof(struct mf_convert_options), .type = "f32" },
            MF_ERR_UNSUPPORTED, "element 12345 is");
        mf_env_free(own);
    }
}

static int empty(void **state)
{
    (void)state;
    empty_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_fixture_in_every_way, empty),
        cmocka_unit_test_teardown(small_tensors, empty),
        cmocka_unit_test_teardown(big_endian, empty),
        cmocka_unit_test_teardown(too_narrow, empty),
        cmocka_unit_test_teardown(first_of_many, empty),
    };
    int failed;

    /* Thousands of files: where they need not go to a disk. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
    env = mf_env_new(NULL);
    failed = cmocka_run_group_tests(tests, make_scratch, remove_scratch);
    mf_env_free(env);
    return failed;
}
