/* SPDX-License-Identifier: MIT
 *
 * test_convert.c - the fixtures in other formats: nothing is lost
 *
 * Loops over the good fixtures, so a new one is converted before its author
 * writes a test.
 */
#include "tests/same_model.h"

/* ---- every fixture in every format ---- */

/* What a format has no place for. */
static const struct refusal {
    const char *file, *format, *part;
} refusals[] = {
    { "bad-array-nested.gguf", "apr", "an array of type array" },
    { "bad-array-nested.gguf", "safetensors", "an array of type array" },
    { "good-big-endian.gguf", "apr", "q8_0" },
    { "good-big-endian.gguf", "safetensors", "q8_0" },
    { "good-blocks-big.gguf", "apr", "q4_0" },
    { "good-blocks-big.gguf", "safetensors", "q4_0" },
    { "good-blocks-little.gguf", "apr", "q4_0" },
    { "good-blocks-little.gguf", "safetensors", "q4_0" },
    { "good-dtypes-aprender.apr", "gguf", "'code.7.u8'" },
    { "good-dtypes-aprender.apr", "safetensors", "'code.8.apr_q4'" },
    { "good-dtypes-ggml.apr", "safetensors", "q4_0" },
    { "good-dtypes.apr", "gguf", "apr_q4" },
    { "good-dtypes.apr", "safetensors", "apr_q4" },
    { "good-dtypes.safetensors", "gguf", "c64" },
    { "good-dtypes.safetensors", "apr", "c64" },
    { "good-entries.dat", "", "importance matrix" },
    { "good-imatrix.dat", "", "importance matrix" },
    { "good-shape.dat", "", "importance matrix" },
    { "good-imatrix.gguf", "apr", "importance matrix" },
    { "good-imatrix.gguf", "safetensors", "importance matrix" },
    { "good-json-index.apr", "gguf", "json" },
    { "good-json-index.apr", "safetensors", "json" },
    { "good-llama.gguf", "apr", "q8_0" },
    { "good-llama.gguf", "safetensors", "q8_0" },
    { "good-json-depth.apr", "gguf", "an array of type array" },
    { "good-metadata.apr", "gguf", "of type object" },
    { "good-metadata.safetensors", "gguf", "'k\xc3\xa9y'" },
    { "good-rank-10.safetensors", "gguf", "10 dimensions" },
    { "good-rank-10.safetensors", "apr", "10 dimensions" },
    { "good-realizar-q4k.apr", "gguf", "of type object" },
    { "good-realizar-q4k.apr", "safetensors", "q4_k" },
    { "bad-type-iq4_ks.gguf", "apr", "iq4_ks" },
    { "bad-type-iq4_ks.gguf", "safetensors", "iq4_ks" },
    { "good-types.gguf", "apr", "q4_0" },
    { "good-types.gguf", "safetensors", "q4_0" },
    { "good-arrays.npz", "apr", "i16" },
    { "good-deflated.npz", "apr", "i16" },
    { "good-zip64.npz", "apr", "i16" },
    { "good-torch.pt", "apr", "i16" },
    { "good-torch-legacy.pt", "apr", "i16" },
    { "good-no-elements.npy", "gguf", "bool" },
    { "good-no-elements.npy", "apr", "bool" },
    { "good-record.npy", "", "record" },
    { "good-version-3.npy", "gguf", "u8" },
    { "good-v1.apr", "", "is not supported" },
    { "good-v1-signed.apr", "", "is not supported" },
    { "good-v1-zstd.apr", "", "is not supported" },
};

static const struct refusal *refusal_of(const char *file, const char *format)
{
    for (size_t i = 0; i < COUNT(refusals); i++)
        if (strcmp(refusals[i].file, file) == 0 &&
            (!*refusals[i].format || strcmp(refusals[i].format, format) == 0))
            return &refusals[i];
    return NULL;
}

static bool suits(const char *name, const char *format)
{
    return has_suffix(name, format) &&
           name[strlen(name) - strlen(format) - 1] == '.';
}

static void in_one_format(const char *name, struct mf_model *model,
                          const char *format)
{
    const struct refusal *refusal = refusal_of(name, format);
    const char *path = output("out", format);
    struct mf_convert_options options = { .size =
                                              sizeof(struct mf_convert_options),
                                          .replace = true };
    struct mf_convert_result result, planned;
    enum mf_status status;
    struct mf_model *copy;
    struct stat written;

    options.dry_run = true;
    status = mf_model_convert(model, path, &options, &planned);
    options.dry_run = false;
    if (refusal) {
        assert_int_equal(status, MF_ERR_UNSUPPORTED);
        if (!strstr(mf_env_error(env)->message, refusal->part))
            fail_msg("%s as %s: %s", name, format, mf_env_error(env)->message);
        return;
    }
    if (mf_model_convert(model, path, &options, &result) != MF_OK)
        fail_msg("%s as %s: %s", name, format, mf_env_error(env)->message);
    assert_int_equal(stat(path, &written), 0);
    assert_int_equal(result.file_size, written.st_size);
    assert_int_equal(planned.file_size, written.st_size);
    assert_string_equal(result.format, format);
    copy = open_model(path);
    same_tensors(model, copy);
    nothing_new(name, model, copy);
    mf_model_close(copy);
    if (suits(name, format) && mf_model_info(model)->shard_count == 1)
        assert_true(same_files(fixture_path(name), path));
}

static void in_all_formats(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *model;

    (void)bytes, (void)size;
    if (is_table(name))
        return;
    model = open_model(fixture_path(name));
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    for (size_t i = 0; i < COUNT(formats); i++)
        in_one_format(name, model, formats[i]);
    mf_model_close(model);
    empty_scratch();
}

static void every_fixture_in_every_format(void **state)
{
    (void)state;
    assert_true(each_fixture("good-", in_all_formats) > 40);
}

/* A GGUF file by way of the others is the same file, byte for byte. */
static void there_and_back(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_convert_options options = { .size =
                                              sizeof(struct mf_convert_options),
                                          .replace = true };
    const char *back = scratch_path("back.gguf");

    (void)bytes, (void)size;
    /* Of a version that is not written again, with a scalar that gets a
     * dimension, with a name that is too long, with zeros after its data: see
     * the loop above. */
    if (!has_suffix(name, ".gguf") || strstr(name, "-split-") ||
        strstr(name, "-v1") || strstr(name, "-v2") || strstr(name, "rank-0") ||
        strstr(name, "name-64") || strstr(name, "trailing-zeros"))
        return;
    for (size_t i = 1; i < COUNT(formats); i++) {
        const char *other = output("way", formats[i]);

        if (refusal_of(name, formats[i]))
            continue;
        must_convert(env, fixture_path(name), other, &options);
        must_convert(env, other, back, &options);
        if (!same_files(fixture_path(name), back)) {
            struct mf_model *from = open_model(fixture_path(name));
            struct mf_model *to = open_model(back);

            /* APR's index is in the order of names. */
            same_tensors(from, to);
            assert_int_equal(mf_model_info(from)->metadata_count,
                             mf_model_info(to)->metadata_count);
            assert_int_equal(mf_model_info(from)->file_size,
                             mf_model_info(to)->file_size);
            mf_model_close(from);
            mf_model_close(to);
        }
    }
}

static void gguf_there_and_back(void **state)
{
    (void)state;
    assert_true(each_fixture("good-", there_and_back) > 40);
    assert_int_equal(empty_scratch(), 3);
}

/* ---- tensors that other formats cannot have ---- */

/* As aprender may write it: a scalar's entry in the index, and no bytes. */
static void empty_scalar(const char *path)
{
    size_t size, entry = 0;
    uint8_t *bytes = load(path, &size);

    for (size_t i = 0; i < 8; i++) /* where the index is */
        entry += (size_t)bytes[24 + i] << 8 * i;
    assert_memory_equal(bytes + entry, "\1\0s", 3);
    memset(bytes + entry + 3 + 1 + 1 + 8, 0, 8); /* type, rank, offset */
    save(path, bytes, size);
    free(bytes);
}

static void odd_tensors(void **state)
{
    const struct mf_convert_options usual = {
        .size = sizeof(struct mf_convert_options), .replace = true
    };
    const struct mf_convert_options halves = { .size = sizeof(
                                                   struct mf_convert_options),
                                               .replace = true,
                                               .type = "f16" };

    (void)state;
    safetensors_save("{\"a.name.of.more.than.sixty.three.bytes.which.is.longer."
                     "than.ggml.has.room.for\":{\"dtype\":\"F32\",\"shape\":[1]"
                     ",\"data_offsets\":[0,4]}}",
                     4, scratch_path("long.safetensors"));
    must_refuse(env, scratch_path("long.safetensors"), scratch_path("o.gguf"),
                &usual, MF_ERR_UNSUPPORTED, "gguf allows 1 to 63");
    must_convert(env, scratch_path("long.safetensors"), scratch_path("o.apr"),
                 &usual);
    safetensors_save("{\"a\\u0000b\":{\"dtype\":\"F32\",\"shape\":[1],"
                     "\"data_offsets\":[0,4]}}",
                     4, scratch_path("nul.safetensors"));
    must_refuse(env, scratch_path("nul.safetensors"), scratch_path("o.gguf"),
                &usual, MF_ERR_UNSUPPORTED, "contains a NUL");
    must_refuse(env, scratch_path("nul.safetensors"), scratch_path("o.apr"),
                &usual, MF_ERR_UNSUPPORTED, "contains a NUL");
    safetensors_save("{\"s\":{\"dtype\":\"F32\",\"shape\":[],"
                     "\"data_offsets\":[0,4]}}",
                     4, scratch_path("s.safetensors"));
    must_convert(env, scratch_path("s.safetensors"), scratch_path("s.apr"),
                 &usual);
    empty_scalar(scratch_path("s.apr"));
    must_refuse(env, scratch_path("s.apr"), scratch_path("o.gguf"), &usual,
                MF_ERR_UNSUPPORTED, "do not match its shape");
    must_refuse(env, scratch_path("s.apr"), scratch_path("o.safetensors"),
                &halves, MF_ERR_UNSUPPORTED, "do not match its shape");
    must_convert(env, scratch_path("s.apr"), scratch_path("o.apr"), &usual);
    empty_scratch();
}

/* An index has no number for APR's tensors of JSON. */
static void json_tensors(void **state)
{
    const struct mf_convert_options roomy = {
        .size = sizeof(struct mf_convert_options), .reserve = 100
    };

    (void)state;
    must_refuse(env, fixture_path("good-json-index.apr"), scratch_path("o.apr"),
                &roomy, MF_ERR_UNSUPPORTED, "is JSON");
    assert_int_equal(empty_scratch(), 0);
}

/* A matrix of three rows without numbers. */
static void rows_of_nothing(void **state)
{
    const struct mf_convert_options floats = { .size = sizeof(
                                                   struct mf_convert_options),
                                               .type = "f32",
                                               .dequantize = true };
    static struct image image;
    struct mf_model *model;
    struct mf_tensor tensor;

    (void)state;
    gguf_start(&image);
    image_text(&image, "t", 1);
    image_int(&image, 2, 4);
    image_int(&image, 0, 8);
    image_int(&image, 3, 8);
    image_int(&image, 8, 4); /* q8_0 */
    image_int(&image, 0, 8);
    while (image.size % 32 != 0)
        image_int(&image, 0, 1);
    image_save(&image, scratch_path("in.gguf"));
    must_convert(env, scratch_path("in.gguf"), scratch_path("o.gguf"), &floats);
    model = open_model(scratch_path("o.gguf"));
    assert_true(mf_tensor_at(model, 0, &tensor));
    assert_string_equal(tensor.type, "f32");
    assert_int_equal(tensor.data.size, 0);
    mf_model_close(model);
    empty_scratch();
}

static void damaged_models(void **state)
{
    const struct mf_convert_options usual = {
        .size = sizeof(struct mf_convert_options), .replace = true
    };

    (void)state;
    must_refuse(env, fixture_path("bad-data-missing.gguf"),
                scratch_path("o.gguf"), &usual, MF_ERR_CORRUPT,
                "is not copied");
    must_refuse(env, fixture_path("bad-name-duplicate.gguf"),
                scratch_path("o.apr"), &usual, MF_ERR_CORRUPT, "is not copied");
    assert_int_equal(empty_scratch(), 0);
}

static void without_its_tensors(void **state)
{
    const struct mf_open_options options = { .size =
                                                 sizeof(struct mf_open_options),
                                             .metadata_only = true };
    struct mf_model *model;

    (void)state;
    assert_int_equal(
        mf_model_open(env, fixture_path("good-base.gguf"), &options, &model),
        MF_OK);
    assert_int_equal(mf_model_convert(model, scratch_path("o.apr"), NULL, NULL),
                     MF_ERR_ARGUMENT);
    mf_model_close(model);
    assert_int_equal(empty_scratch(), 0);
}

static void expect_number(const char *path, const char *key, uint64_t number)
{
    struct mf_model *model = open_model(path);
    struct mf_meta meta;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, NULL));
    assert_int_equal(meta.number.u64, number);
    mf_model_close(model);
}

/* What the file says of its types is left alone where blocks stay blocks: 7 is
 * Q8_0, 32 is BF16. */
static void file_type(void **state)
{
    const struct mf_convert_options floats = { .size = sizeof(
                                                   struct mf_convert_options),
                                               .type = "bf16",
                                               .replace = true };
    const struct mf_convert_options all = { .size = sizeof(
                                                struct mf_convert_options),
                                            .type = "bf16",
                                            .dequantize = true,
                                            .replace = true };
    const char *from = fixture_path("good-llama.gguf");

    (void)state;
    must_convert(env, from, scratch_path("o.gguf"), &floats);
    expect_number(scratch_path("o.gguf"), "general.file_type", 7);
    must_convert(env, from, scratch_path("o.gguf"), &all);
    expect_number(scratch_path("o.gguf"), "general.file_type", 32);
    must_convert(env, from, scratch_path("o.apr"), &all);
    expect_number(scratch_path("o.apr"), "general.file_type:u32", 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture_in_every_format),
        cmocka_unit_test(gguf_there_and_back),
        cmocka_unit_test(odd_tensors),
        cmocka_unit_test(json_tensors),
        cmocka_unit_test(rows_of_nothing),
        cmocka_unit_test(damaged_models),
        cmocka_unit_test(without_its_tensors),
        cmocka_unit_test(file_type),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
