/* SPDX-License-Identifier: MIT
 *
 * test_quantize_apr.c - APR's own types, for tensors whose rows are not whole
 * blocks
 *
 * A codec takes a tensor whole; quantize takes it in pieces, on several
 * threads.  Both must come to the same bytes, and back to the same floats.
 */
#include <math.h>

#include "tests/quant/quant.h"
#include "tests/scratch.h"

/* Several pieces of work and a part of a block; rows of an odd length; less
 * than a block; a zero. */
static const struct {
    const char *name;
    uint64_t dim[2];
} tensors[] = {
    { "big.weight", { 1001, 777 } },
    { "odd.weight", { 3, 50 } },
    { "tiny.weight", { 2, 2 } },
    { "one.weight", { 2, 1 } },
};

static float *numbers[COUNT(tensors)];

static size_t count_of(size_t tensor)
{
    return (size_t)(tensors[tensor].dim[0] * tensors[tensor].dim[1]);
}

/* The largest magnitude is near the end; there is a zero. */
static float *make_numbers(size_t tensor)
{
    size_t count = count_of(tensor);
    float *out = malloc(count * sizeof(*out));
    uint32_t noise = (uint32_t)tensor + 1;

    assert_non_null(out);
    for (size_t i = 0; i < count; i++) {
        noise = noise * 1664525 + 1013904223;
        out[i] = (float)(int32_t)noise * 0x1p-34f;
    }
    out[count / 2] = 0;
    if (count > 100)
        out[count - 3] = -7.25f;
    return out;
}

static void write_numbers(struct mf_writer *writer, struct mf_env *env,
                          size_t tensor)
{
    size_t count = count_of(tensor);

    in_file_order(numbers[tensor], count, sizeof(float));
    assert_int_equal(mf_writer_write_at(writer, env, tensor, 0, numbers[tensor],
                                        count * sizeof(float)),
                     MF_OK);
    in_file_order(numbers[tensor], count, sizeof(float));
}

static int make_source(void **state)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_writer *writer = NULL;

    if (make_scratch(state) != 0)
        return -1;
    assert_int_equal(mf_writer_new(env,
                                   &(struct mf_writer_options){
                                       .size = sizeof(struct mf_writer_options),
                                       .format = "safetensors" },
                                   &writer),
                     MF_OK);
    for (size_t i = 0; i < COUNT(tensors); i++) {
        struct mf_new_tensor tensor = { .name = { tensors[i].name,
                                                  strlen(tensors[i].name) },
                                        .type = "f32",
                                        .rank = 2,
                                        .dim = tensors[i].dim };

        numbers[i] = make_numbers(i);
        assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    }
    assert_int_equal(mf_writer_open(writer, scratch_path("in.safetensors")),
                     MF_OK);
    for (size_t i = 0; i < COUNT(tensors); i++)
        write_numbers(writer, env, i);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
    mf_env_free(env);
    return 0;
}

static int remove_source(void **state)
{
    for (size_t i = 0; i < COUNT(tensors); i++)
        free(numbers[i]);
    return remove_scratch(state);
}

/* The bytes of the tensor of that name. */
static uint8_t *stored(const char *path, const char *name, size_t *size)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model = NULL;
    struct mf_tensor tensor;
    uint8_t *out;
    FILE *file;

    assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    assert_true(mf_tensor_find(model, name, strlen(name), &tensor, NULL));
    *size = (size_t)tensor.data.size;
    out = malloc(*size + 1);
    file = fopen(path, "rb");
    assert_true(out && file);
    assert_int_equal(fseek(file, (long)tensor.data.offset, SEEK_SET), 0);
    assert_int_equal(fread(out, 1, *size, file), *size);
    fclose(file);
    mf_model_close(model);
    mf_env_free(env);
    return out;
}

static void quantize(const char *from, const char *to, const char *type,
                     size_t threads)
{
    struct mf_env *env = mf_env_new(&(struct mf_options){
        .size = sizeof(struct mf_options), .threads = (uint32_t)threads });
    struct mf_quantize_options options = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = type,
                                           .allow_requantize = true,
                                           .report = true };
    struct mf_convert_options how = { .size = sizeof(struct mf_convert_options),
                                      .replace = true };
    struct mf_quantize_result result;
    struct mf_model *model = NULL;

    assert_int_equal(mf_model_open(env, from, NULL, &model), MF_OK);
    assert_int_equal(mf_model_quantize(model, to, &options, &how, &result),
                     MF_OK);
    mf_model_close(model);
    mf_env_free(env);
}

static void they_are_as_if_taken_whole(const char *name, enum mf_type type)
{
    const struct mf_codec *codec = mf_codec_of(mf_isas, type);
    const char *out = scratch_path("out.apr"), *back = scratch_path("back.apr");

    for (size_t threads = 1; threads <= 3; threads++) {
        quantize(scratch_path("in.safetensors"), out, name, threads);
        quantize(out, back, "f32", threads);
        for (size_t i = 0; i < COUNT(tensors); i++) {
            size_t count = count_of(i), size = quant_row_size(type, count);
            uint8_t *expected = malloc(size), *found;
            float *floats = malloc(count * sizeof(*floats));
            size_t found_size;

            assert_true(expected && floats);
            codec->encode(numbers[i], NULL, expected, count);
            codec->decode(expected, floats, count);
            in_file_order(floats, count, sizeof(*floats));
            found = stored(out, tensors[i].name, &found_size);
            assert_int_equal(found_size, size);
            assert_memory_equal(found, expected, size);
            free(found);
            found = stored(back, tensors[i].name, &found_size);
            assert_int_equal(found_size, count * sizeof(*floats));
            assert_memory_equal(found, floats, found_size);
            free(found);
            free(floats);
            free(expected);
        }
    }
}

static void apr_q4_blocks_go_on_from_row_to_row(void **state)
{
    (void)state;
    they_are_as_if_taken_whole("apr_q4", MF_TYPE_APR_Q4);
}

static void apr_q8_has_one_scale_for_all_pieces(void **state)
{
    (void)state;
    they_are_as_if_taken_whole("apr_q8", MF_TYPE_APR_Q8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apr_q4_blocks_go_on_from_row_to_row),
        cmocka_unit_test(apr_q8_has_one_scale_for_all_pieces),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_source, remove_source);
}
