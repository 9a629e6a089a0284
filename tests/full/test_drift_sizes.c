/* SPDX-License-Identifier: MIT
 *
 * test_drift_sizes.c - what a dry run says is what is written, to the byte
 *
 * Every mix on every model of fixtures/mix, every fixture in every format, with
 * every option that changes a size.
 */
#include <sys/stat.h>

#include "tests/quantize/mix.h"
#include "tests/with_models.h"
#include "tests/with_scratch.h"

static const char *const formats[] = { "gguf", "safetensors", "apr" };

/* The bytes of the files in the scratch folder whose names begin with "out";
 * they are removed.  A list of shards does not count. */
static uint64_t written(size_t *files)
{
    DIR *folder = opendir(scratch_folder);
    struct dirent *entry;
    struct stat status;
    uint64_t size = 0;

    assert_non_null(folder);
    *files = 0;
    while ((entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, "out", 3) == 0) {
            assert_int_equal(stat(scratch_path(entry->d_name), &status), 0);
            if (!has_suffix(entry->d_name, ".index.json")) {
                size += (uint64_t)status.st_size;
                ++*files;
            }
            assert_int_equal(unlink(scratch_path(entry->d_name)), 0);
        }
    closedir(folder);
    return size;
}

static void same_as_written(const char *what, size_t file_count,
                            uint64_t file_size)
{
    size_t files;
    uint64_t size = written(&files);

    if (size != file_size || files != file_count)
        fail_msg("%s: %zu files of %" PRIu64 " bytes, not %zu of %" PRIu64,
                 what, files, size, file_count, file_size);
}

static const char *out_path(const char *format)
{
    char name[32];

    snprintf(name, sizeof(name), "out.%s", format);
    return scratch_path(name);
}

/* ---- quantize ---- */

static size_t quantized;

static void same_result(const char *what, const struct mf_quantize_result *a,
                        const struct mf_quantize_result *b)
{
    bool same = a->file_count == b->file_count &&
                a->file_size == b->file_size && a->changed == b->changed &&
                a->fallbacks == b->fallbacks && a->weighted == b->weighted &&
                a->left_out == b->left_out;

    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++)
        same = same && a->type[i].tensors == b->type[i].tensors &&
               a->type[i].bytes == b->type[i].bytes &&
               a->type[i].parameters == b->type[i].parameters;
    if (!same)
        fail_msg("%s: the dry run differs", what);
}

/* Both fail likewise, or both know the same. */
static void quantize_both(const char *what, const char *from,
                          struct mf_quantize_options *options,
                          const char *format)
{
    struct mf_convert_options how = { .size = sizeof(how),
                                      .format = format,
                                      .replace = true,
                                      .dry_run = true,
                                      .lossy = true };
    struct mf_quantize_result planned, result;
    struct mf_model *model = open_model(from);
    enum mf_status dry, wet;
    char message[320];

    options->size = sizeof(*options);
    dry = mf_model_quantize(model, out_path(format), options, &how, &planned);
    snprintf(message, sizeof(message), "%s", mf_env_error(env)->message);
    how.dry_run = false;
    wet = mf_model_quantize(model, out_path(format), options, &how, &result);
    mf_model_close(model);
    if (dry != wet)
        fail_msg("%s as %s: %d and %d: %s %s", what, format, dry, wet, message,
                 mf_env_error(env)->message);
    if (dry != MF_OK)
        return;
    quantized++;
    same_result(what, &planned, &result);
    same_as_written(what, planned.file_count, planned.file_size);
}

/* Calls each for the names of fixtures/mix/models.txt. */
static size_t each_model(void (*each)(const char *name))
{
    FILE *file = fopen(fixture_path("mix/models.txt"), "r");
    char line[256], name[64];
    size_t count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "model %63s", name) == 1) {
            each(name);
            count++;
        }
    fclose(file);
    return count;
}

static void in_every_mix(const char *name)
{
    char matrix[512], from[512], what[128];
    struct mf_mix_info mix;

    strcpy(matrix, scratch_path("m.dat"));
    strcpy(from, scratch_path("in.gguf"));
    make_model(name, from, matrix);
    for (size_t i = 0; mf_mix_at(i, &mix); i++)
        for (size_t f = 0; f < COUNT(formats); f++) {
            struct mf_quantize_options options = {
                .type = mix.name,
                .allow_requantize = true,
                .imatrix = mix.needs_imatrix || i % 2 ? matrix : NULL
            };

            snprintf(what, sizeof(what), "%s as %s", name, mix.name);
            quantize_both(what, from, &options, formats[f]);
        }
    empty_scratch();
}

static void every_mix(void **state)
{
    (void)state;
    assert_true(each_model(in_every_mix) > 10);
    assert_true(quantized > 400);
}

/* Each on a mix that has more than one type. */
static void every_option(void **state)
{
    static const struct mf_tensor_type types[] = { { "attn_v", "q8_0" } };
    static const struct mf_edit edit = { .key = "general.name",
                                         .type = MF_VALUE_STRING,
                                         .text = { "a longer name", 13 } };
    static const uint32_t blocks[] = { 0, 3 };
    struct mf_quantize_options options[] = {
        { .pure = true },
        { .leave_output = true },
        { .output_type = "f16" },
        { .embedding_type = "q8_0" },
        { .tensor_types = types, .tensor_type_count = 1 },
        { .prune = blocks, .prune_count = 2 },
        { .edits = &edit, .edit_count = 1 },
        { .keep_split = true },
        { .report = true },
    };
    struct mf_convert_options split = { .size = sizeof(split),
                                        .shard_tensors = 20 };
    char whole[512];

    (void)state;
    strcpy(whole, scratch_path("in.gguf"));
    make_model("grouped", whole, NULL);
    must_convert(env, whole, scratch_path("split.gguf"), &split);
    for (size_t i = 0; i < COUNT(options); i++) {
        struct mf_quantize_options of_shards = options[i];

        options[i].type = of_shards.type = "Q4_K_M";
        quantize_both("options of a whole model", whole, &options[i], "gguf");
        quantize_both("options of shards",
                      scratch_path("split-00001-of-00007.gguf"), &of_shards,
                      "gguf");
    }
    assert_int_equal(quantized, 2 * COUNT(options));
    empty_scratch();
}

/* ---- convert ---- */

static size_t converted;

static void convert_both(const char *what, struct mf_model *model,
                         struct mf_convert_options *options)
{
    const char *path = out_path(options->format);
    struct mf_convert_result planned, result;
    enum mf_status dry, wet;
    char message[320];

    options->size = sizeof(*options);
    options->dry_run = true;
    dry = mf_model_convert(model, path, options, &planned);
    snprintf(message, sizeof(message), "%s", mf_env_error(env)->message);
    options->dry_run = false;
    wet = mf_model_convert(model, path, options, &result);
    if (dry == MF_OK && wet == MF_ERR_CORRUPT)
        return; /* data, which only writing reads */
    if (dry != wet)
        fail_msg("%s as %s: %d and %d: %s %s", what, options->format, dry, wet,
                 message, mf_env_error(env)->message);
    if (dry != MF_OK)
        return;
    converted++;
    if (planned.file_count != result.file_count ||
        planned.file_size != result.file_size ||
        planned.left_out != result.left_out ||
        planned.tensors_left_out != result.tensors_left_out)
        fail_msg("%s as %s: the dry run differs", what, options->format);
    same_as_written(what, planned.file_count, planned.file_size);
}

static void convert_path(const char *path)
{
    static const struct mf_edit edits[] = {
        { .key = "general.name",
          .type = MF_VALUE_STRING,
          .text = { "a longer name", 13 } },
        { .key = "general.architecture", .unset = true },
    };
    static const struct mf_convert_options each[] = {
        { .lossy = true },
        { .lossy = false },
        { .lossy = true, .type = "f32" },
        { .lossy = true, .type = "f16", .allow_nonfinite = true },
        { .lossy = true, .type = "bf16", .allow_nonfinite = true },
        { .lossy = true, .type = "keep" },
        { .lossy = true,
          .type = "f32",
          .dequantize = true,
          .allow_nonfinite = true },
        { .lossy = true,
          .type = "f16",
          .dequantize = true,
          .allow_nonfinite = true },
        { .lossy = true, .reserve = 1000 },
        { .lossy = true, .shard_tensors = 1 },
        { .lossy = true, .shard_size = 64 },
        { .lossy = true, .shard_tensors = 2, .empty_first = true },
        { .lossy = true, .version = 2 },
        { .lossy = true, .edits = edits, .edit_count = 2 },
        { .lossy = true, .names = MF_NAMING_GGUF },
        { .lossy = true, .names = MF_NAMING_HF },
    };
    struct mf_model *model;

    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return;
    for (size_t i = 0; i < COUNT(each); i++)
        for (size_t f = 0; f < COUNT(formats); f++) {
            struct mf_convert_options options = each[i];
            char what[512];

            snprintf(what, sizeof(what), "%s with options %zu", path, i);
            options.format = formats[f];
            convert_both(what, model, &options);
        }
    mf_model_close(model);
}

static void every_fixture(void **state)
{
    (void)state;
    each_good_model(convert_path);
    assert_true(converted > 1000);
    empty_scratch();
}

/* ---- edits ---- */

static void edit_both(const char *name, const struct mf_edit *edit)
{
    struct mf_edit_options options = { .size = sizeof(options),
                                       .dry_run = true,
                                       .force = true };
    struct mf_edit_result planned, result;
    const char *path = scratch_path(name);
    enum mf_status dry, wet;
    struct stat before, after;

    assert_int_equal(stat(path, &before), 0);
    dry = mf_file_edit(env, path, edit, 1, &options, &planned);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    options.dry_run = false;
    wet = mf_file_edit(env, path, edit, 1, &options, &result);
    if (dry != wet)
        fail_msg("%s: %d and %d: %s", name, dry, wet,
                 mf_env_error(env)->message);
    if (dry != MF_OK)
        return;
    assert_int_equal(planned.in_place, result.in_place);
    assert_int_equal(planned.journalled, result.journalled);
    assert_int_equal(planned.changed, result.changed);
    assert_int_equal(stat(path, &after), 0);
    if (result.in_place)
        assert_int_equal(after.st_size, before.st_size);
    else
        assert_int_equal(after.st_size, result.changed);
}

static void edit_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    static char text[5000];
    const size_t sizes[] = { 1, 9, 30, 4999, 3 };

    memset(text, 'x', sizeof(text));
    save(scratch_path(name), bytes, size);
    for (size_t i = 0; i < COUNT(sizes); i++)
        edit_both(name, &(struct mf_edit){ .key = "general.name",
                                           .type = MF_VALUE_STRING,
                                           .text = { text, sizes[i] } });
    edit_both(name, &(struct mf_edit){ .key = "general.name", .unset = true });
    empty_scratch();
}

static void every_edit(void **state)
{
    (void)state;
    assert_true(each_fixture("good-", edit_fixture) > 50);
}

/* Of memory where there is such a folder: files are brought to the disk. */
static int setup(void **state)
{
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    return scratch_env_setup(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option),
        cmocka_unit_test(every_mix),
        cmocka_unit_test(every_fixture),
        cmocka_unit_test(every_edit),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, scratch_env_teardown);
}
