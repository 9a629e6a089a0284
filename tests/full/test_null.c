/* SPDX-License-Identifier: MIT
 *
 * test_null.c - NULL where something must be is an answer, not a crash
 *
 * One function for each of the library's; tests/project/layers.t compares
 * their names with the exported ones.
 */
#include "tests/support.h"

static struct mf_env *env;
static struct mf_model *model, *other;
static struct mf_writer *writer;
static struct mf_values *values;
static struct mf_editor *editor;

/* What calls may fill. */
static struct mf_detection detection;
static struct mf_tensor_stats stats;
static struct mf_value value;
static struct mf_span span;
static struct mf_finding finding;
static struct mf_meta meta;
static struct mf_shard shard;
static struct mf_tensor tensor;
static struct mf_kernel kernel;
static struct mf_heap_stats heap;
static struct mf_io_stats io;
static uint32_t numbers[4096];
static uint8_t bytes[65536];
static const size_t index;

static const struct mf_edit no_edit = { .key = NULL };
static const struct mf_edit no_text = { .key = "a",
                                        .type = MF_VALUE_STRING,
                                        .text = { NULL, 1 } };
static const struct mf_edit no_array = {
    .key = "a", .type = MF_VALUE_ARRAY, .of = MF_VALUE_U8, .count = 1
};
static const struct mf_tensor_type no_type = { NULL, "q8_0" };
static const char *const no_texts[] = { NULL };
static const struct mf_quantize_options quantize = {
    .size = sizeof(struct mf_quantize_options), .type = "Q8_0"
};
static const struct mf_convert_options dry = {
    .size = sizeof(struct mf_convert_options), .dry_run = true
};
static const struct mf_writer_options writing = {
    .size = sizeof(struct mf_writer_options), .format = "gguf"
};

/* ---- callbacks, none of which is called ---- */

static void found(void *user, const struct mf_difference *difference)
{
    (void)user;
    (void)difference;
}

static enum mf_status produce(void *user, size_t number, uint64_t offset,
                              void *buffer, size_t size)
{
    (void)user;
    (void)number;
    (void)offset;
    (void)buffer;
    (void)size;
    return MF_OK;
}

/* ---- what is expected ---- */

static void refused(enum mf_status status)
{
    assert_int_equal(status, MF_ERR_ARGUMENT);
}

static void named_error(const char *argument)
{
    char message[64];

    snprintf(message, sizeof(message), "'%s' is NULL", argument);
    assert_int_equal(mf_env_error(env)->status, MF_ERR_ARGUMENT);
    assert_string_equal(mf_env_error(env)->message, message);
}

static void named(const char *argument, enum mf_status status)
{
    refused(status);
    named_error(argument);
}

static void new_writer(void)
{
    assert_int_equal(mf_writer_new(env, &writing, &writer), MF_OK);
}

/* ---- each function ---- */

static void options_have_a_size(void **state)
{
    struct {
        struct mf_convert_options known;
        uint64_t unknown;
    } more = { { .size = sizeof(more), .dry_run = true }, 0 };
    struct mf_convert_options none = { .size = 0, .dry_run = true };
    struct mf_convert_result result;

    (void)state;
    refused(mf_model_convert(model, "out.gguf", &none, NULL));
    assert_non_null(strstr(mf_env_error(env)->message, "size of the options"));
    none.size = SIZE_MAX;
    refused(mf_model_convert(model, "out.gguf", &none, NULL));
    assert_int_equal(mf_model_convert(model, "out.gguf", &more.known, &result),
                     MF_OK);
    more.unknown = 1;
    refused(mf_model_convert(model, "out.gguf", &more.known, &result));
    assert_non_null(strstr(mf_env_error(env)->message, "unknown members"));
    /* A program that does not know shard_size. */
    more.known.size = offsetof(struct mf_convert_options, shard_size);
    more.known.shard_size = 1;
    assert_int_equal(mf_model_convert(model, "out.gguf", &more.known, &result),
                     MF_OK);
    assert_int_equal(result.file_count, 1);
}

#include "tests/full/null_reading.h"

static void null_mf_model_close(void)
{
    mf_model_close(NULL);
}

static void covered(void *user, const struct mf_imatrix_tensor *tensor_found)
{
    (void)user;
    (void)tensor_found;
}

static void null_mf_model_is_imatrix(void)
{
    assert_false(mf_model_is_imatrix(NULL));
}

static void null_mf_model_imatrix_coverage(void)
{
    refused(mf_model_imatrix_coverage(NULL, "m.dat", covered, NULL, NULL));
    named("path", mf_model_imatrix_coverage(model, NULL, covered, NULL, NULL));
}

static void null_mf_imatrix_merge(void)
{
    static const char *const paths[] = { NULL };

    refused(mf_imatrix_merge(NULL, paths, 1, "out", NULL, NULL));
    named("paths", mf_imatrix_merge(env, NULL, 1, "out", NULL, NULL));
    named("path", mf_imatrix_merge(env, paths, 1, NULL, NULL, NULL));
    named("paths[i]", mf_imatrix_merge(env, paths, 1, "out", NULL, NULL));
    refused(mf_imatrix_merge(env, paths, 0, "out", NULL, NULL));
}

static void null_mf_parts_finish(void)
{
    refused(mf_parts_finish(NULL, "out.gguf", NULL, NULL));
    named("path", mf_parts_finish(env, NULL, NULL, NULL));
}

static void null_mf_model_convert(void)
{
    refused(mf_model_convert(NULL, "out.gguf", NULL, NULL));
    named("path", mf_model_convert(model, NULL, NULL, NULL));
    named("edits",
          mf_model_convert(model, "out.gguf",
                           &(struct mf_convert_options){
                               .size = sizeof(struct mf_convert_options),
                               .dry_run = true,
                               .edit_count = 1 },
                           NULL));
}

static void null_mf_file_detect(void)
{
    refused(mf_file_detect(NULL, "a", &detection));
    named("path", mf_file_detect(env, NULL, &detection));
    named("out", mf_file_detect(env, "a", NULL));
}

static void null_mf_model_diff(void)
{
    refused(mf_model_diff(NULL, model, NULL, found, NULL));
    named("b", mf_model_diff(model, NULL, NULL, found, NULL));
    named("found", mf_model_diff(model, model, NULL, NULL, NULL));
}

static void null_mf_verify(void)
{
    refused(mf_verify(NULL, model, NULL, NULL));
    named("source", mf_verify(model, NULL, NULL, NULL));
    assert_int_equal(mf_verify(model, model, NULL, NULL), MF_OK);
}

static void null_mf_verdict_name(void)
{
    assert_null(mf_verdict_name((enum mf_verdict)99));
}

static void null_mf_digest_at(void)
{
    assert_false(mf_digest_at(0, NULL));
}

static void null_mf_file_edit(void)
{
    refused(mf_file_edit(NULL, "a", NULL, 0, NULL, NULL));
    named("path", mf_file_edit(env, NULL, NULL, 0, NULL, NULL));
    named("edits", mf_file_edit(env, "a", NULL, 1, NULL, NULL));
    named("edits[i].key", mf_file_edit(env, "a", &no_edit, 1, NULL, NULL));
    named("edits[i].text.at", mf_file_edit(env, "a", &no_text, 1, NULL, NULL));
    named("edits[i].elements",
          mf_file_edit(env, "a", &no_array, 1, NULL, NULL));
}

static void null_mf_file_recover(void)
{
    refused(mf_file_recover(NULL, "a", NULL, NULL));
    named("path", mf_file_recover(env, NULL, NULL, NULL));
}

static void null_mf_editor_open(void)
{
    refused(mf_editor_open(NULL, "a", NULL, &editor));
    named("path", mf_editor_open(env, NULL, NULL, &editor));
    named("out", mf_editor_open(env, "a", NULL, NULL));
}

static void null_mf_editor_model(void)
{
    assert_null(mf_editor_model(NULL));
}

static void null_mf_editor_apply(void)
{
    struct mf_edit_options options = { .size = sizeof(struct mf_edit_options),
                                       .dry_run = true };

    refused(mf_editor_apply(NULL, NULL, 0, NULL));
    assert_int_equal(
        mf_editor_open(env, fixture_path("good-base.gguf"), &options, &editor),
        MF_OK);
    named("edits", mf_editor_apply(editor, NULL, 1, NULL));
    named("edits[i].key", mf_editor_apply(editor, &no_edit, 1, NULL));
    mf_editor_close(editor);
}

static void null_mf_editor_close(void)
{
    mf_editor_close(NULL);
}

static void null_mf_env_error(void)
{
    assert_int_equal(mf_env_error(NULL)->status, MF_ERR_ARGUMENT);
    assert_string_equal(mf_env_error(NULL)->message, "there is no env");
}

static void null_mf_env_free(void)
{
    mf_env_free(NULL);
}

static void null_mf_env_abandon(void)
{
    mf_env_abandon(NULL);
}

static void null_mf_env_resumable(void)
{
    assert_false(mf_env_resumable(NULL));
}

static void null_mf_env_heap(void)
{
    mf_env_heap(NULL, &heap);
    assert_int_equal(heap.live, 0);
    mf_env_heap(env, NULL);
}

static void null_mf_env_io(void)
{
    mf_env_io(NULL, &io);
    assert_int_equal(io.bytes_read, 0);
    mf_env_io(env, NULL);
}

static void null_mf_env_timing(void)
{
    struct mf_timing timing;

    assert_false(mf_env_timing(NULL, 0, &timing));
    assert_false(mf_env_timing(env, 0, NULL));
}

static void null_mf_env_new(void)
{
    struct mf_env *new = mf_env_new(NULL);

    assert_non_null(new);
    mf_env_free(new);
}

static void null_mf_env_new_with(void)
{
    const struct mf_feature *features[] = { mf_feature_gguf(), NULL };
    struct mf_env *new = mf_env_new_with(NULL, NULL, 0);

    assert_non_null(new);
    mf_env_free(new);
    assert_null(mf_env_new_with(NULL, NULL, 1));
    assert_null(mf_env_new_with(NULL, features, 2));
}

static void null_mf_fact_name(void)
{
    assert_non_null(mf_fact_name(MF_FACT_NAME));
}

static void null_mf_model_duplicates(void)
{
    refused(mf_model_duplicates(NULL, numbers));
    named("same", mf_model_duplicates(model, NULL));
}

static void null_mf_models_duplicates(void)
{
    struct mf_model *models[] = { model, NULL };

    refused(mf_models_duplicates(NULL, 1, numbers, NULL));
    refused(mf_models_duplicates(models + 1, 1, numbers, NULL));
    named("models", mf_models_duplicates(models, 2, numbers, NULL));
    named("same", mf_models_duplicates(models, 1, NULL, NULL));
}

static void null_mf_finding_subject(void)
{
    assert_null(mf_finding_subject(NULL).at);
    assert_null(mf_finding_subject(&(struct mf_finding){ 0 }).at);
}

static void null_mf_finding_at(void)
{
    assert_false(mf_finding_at(NULL, 0, &finding));
    assert_false(mf_finding_at(model, 0, NULL));
}

static void null_mf_format_at(void)
{
    assert_false(mf_format_at(0, NULL));
}

static void null_mf_model_hash_data(void)
{
    refused(mf_model_hash_data(NULL, MF_CRC32, bytes));
    named("out", mf_model_hash_data(model, MF_CRC32, NULL));
}

static void null_mf_file_hash(void)
{
    refused(mf_file_hash(NULL, "a", MF_CRC32, bytes));
    named("path", mf_file_hash(env, NULL, MF_CRC32, bytes));
    named("out", mf_file_hash(env, "a", MF_CRC32, NULL));
}

static void null_mf_model_hash(void)
{
    refused(mf_model_hash(NULL, MF_CRC32, bytes, bytes, NULL, NULL));
    named("digests", mf_model_hash(model, MF_CRC32, NULL, bytes, NULL, NULL));
    named("out", mf_model_hash(model, MF_CRC32, bytes, NULL, NULL, NULL));
}

static void null_mf_model_hash_metadata(void)
{
    refused(mf_model_hash_metadata(NULL, MF_CRC32, bytes));
    named("out", mf_model_hash_metadata(model, MF_CRC32, NULL));
}

static void null_mf_plan(void)
{
    struct mf_plan plan;

    refused(mf_plan(NULL, NULL, &plan));
    named("out", mf_plan(model, NULL, NULL));
}

static void null_mf_plan_fit(void)
{
    struct mf_fit_options how = { .size = sizeof(how), .limit = 1 };
    struct mf_fit fit;

    refused(mf_plan_fit(NULL, NULL, &how, &fit));
    named("fit", mf_plan_fit(model, NULL, NULL, &fit));
    named("out", mf_plan_fit(model, NULL, &how, NULL));
}

static void nothing_written(void *user, const char *at, size_t size)
{
    (void)user, (void)at, (void)size;
}

static void null_mf_report(void)
{
    struct mf_model *const none = NULL;

    refused(mf_report(NULL, 1, "a.html", NULL));
    refused(mf_report(&none, 1, "a.html", NULL));
    refused(mf_report(&model, 0, "a.html", NULL));
    named("path", mf_report(&model, 1, NULL, NULL));
}

static void null_mf_report_json(void)
{
    refused(mf_report_json(NULL, 1, NULL, nothing_written, NULL));
    named("write", mf_report_json(&model, 1, NULL, NULL, NULL));
}

static void null_mf_plan_line_name(void)
{
    assert_string_equal(mf_plan_line_name(MF_PLAN_KV), "kv");
    assert_null(mf_plan_line_name(MF_PLAN_LINE_COUNT));
}

static void null_mf_model_uuid(void)
{
    refused(mf_model_uuid(NULL, bytes));
    named("out", mf_model_uuid(model, NULL));
}

static void null_mf_model_hash_tensors(void)
{
    refused(mf_model_hash_tensors(NULL, MF_CRC32, bytes));
    named("digests", mf_model_hash_tensors(model, MF_CRC32, NULL));
}

static void null_mf_isa_at(void)
{
    assert_non_null(mf_isa_at(0));
}

static void null_mf_kernel_find(void)
{
    assert_false(mf_kernel_find(NULL, NULL, &kernel));
    assert_false(mf_kernel_find("f32", NULL, NULL));
}

static void null_mf_kernel_encodes(void)
{
    struct mf_kernel none = { .block = 1 };

    assert_false(mf_kernel_encodes(NULL, NULL));
    assert_false(mf_kernel_encodes(&none, NULL));
}

static void null_mf_env_encode(void)
{
    struct mf_kernel none = { .block = 1 };
    float row[32] = { 0 };

    assert_true(mf_kernel_find("q8_0", NULL, &kernel));
    assert_int_equal(mf_env_encode(NULL, &kernel, row, NULL, bytes, 32),
                     MF_ERR_ARGUMENT);
    named("kernel", mf_env_encode(env, NULL, row, NULL, bytes, 32));
    named("row", mf_env_encode(env, &kernel, NULL, NULL, bytes, 32));
    named("blocks", mf_env_encode(env, &kernel, row, NULL, NULL, 32));
    assert_int_equal(mf_env_encode(env, &none, row, NULL, bytes, 32),
                     MF_ERR_UNSUPPORTED);
    assert_int_equal(mf_env_encode(env, &kernel, row, NULL, bytes, 32), MF_OK);
}

static void null_mf_env_encode_rows(void)
{
    struct mf_kernel none = { .block = 1 };
    float row[32] = { 0 };

    assert_true(mf_kernel_find("q8_0", NULL, &kernel));
    refused(mf_env_encode_rows(NULL, &kernel, row, 1, 32, NULL, bytes));
    named("kernel", mf_env_encode_rows(env, NULL, row, 1, 32, NULL, bytes));
    named("rows", mf_env_encode_rows(env, &kernel, NULL, 1, 32, NULL, bytes));
    named("blocks", mf_env_encode_rows(env, &kernel, row, 1, 32, NULL, NULL));
    assert_int_equal(mf_env_encode_rows(env, &none, row, 1, 32, NULL, bytes),
                     MF_ERR_UNSUPPORTED);
}

static void null_mf_env_decode_rows(void)
{
    struct mf_kernel none = { .block = 1 };
    float row[32];

    assert_true(mf_kernel_find("q8_0", NULL, &kernel));
    refused(mf_env_decode_rows(NULL, &kernel, bytes, 1, 32, row));
    named("kernel", mf_env_decode_rows(env, NULL, bytes, 1, 32, row));
    named("blocks", mf_env_decode_rows(env, &kernel, NULL, 1, 32, row));
    named("out", mf_env_decode_rows(env, &kernel, bytes, 1, 32, NULL));
    assert_int_equal(mf_env_decode_rows(env, &none, bytes, 1, 32, row),
                     MF_ERR_UNSUPPORTED);
}

static void null_mf_meta_at(void)
{
    assert_false(mf_meta_at(NULL, 0, &meta));
    assert_false(mf_meta_at(model, 0, NULL));
}

static void null_mf_metas_at(void)
{
    assert_int_equal(mf_metas_at(NULL, 0, 1, &meta), 0);
    assert_int_equal(mf_metas_at(model, 0, 1, NULL), 0);
    assert_int_equal(mf_metas_at(model, SIZE_MAX, SIZE_MAX, &meta), 0);
}

static void null_mf_meta_find(void)
{
    assert_false(mf_meta_find(NULL, "a", 1, &meta, NULL));
    assert_false(mf_meta_find(model, NULL, 1, &meta, NULL));
    assert_false(mf_meta_find(model, "general.architecture", 20, NULL, NULL));
}

static void null_mf_mix_at(void)
{
    assert_false(mf_mix_at(0, NULL));
}

static void null_mf_mix_name(void)
{
    assert_null(mf_mix_name(NULL));
}

static void null_mf_model_fact(void)
{
    assert_false(mf_model_fact(NULL, MF_FACT_NAME, &meta, NULL));
    assert_false(mf_model_fact(model, MF_FACT_ARCHITECTURE, NULL, NULL));
}

static void null_mf_model_adapter_info(void)
{
    struct mf_adapter_info info;

    assert_int_equal(mf_model_adapter_info(NULL, &info), MF_ERR_ARGUMENT);
    refused(mf_model_adapter_info(model, NULL));
}

static void null_mf_model_outline(void)
{
    struct mf_model *out;

    assert_int_equal(mf_model_outline(NULL, MF_OUTLINE_FACTS, &out),
                     MF_ERR_ARGUMENT);
    refused(mf_model_outline(model, MF_OUTLINE_FACTS, NULL));
    refused(mf_model_outline(model, (enum mf_outline)7, &out));
}

static void null_mf_model_info(void)
{
    assert_int_equal(mf_model_info(NULL)->tensor_count, 0);
    assert_string_equal(mf_model_info(NULL)->format, "");
}

static void null_mf_model_open(void)
{
    refused(mf_model_open(NULL, "a", NULL, &other));
    named("path", mf_model_open(env, NULL, NULL, &other));
    named("out", mf_model_open(env, "a", NULL, NULL));
}

static void null_mf_model_open_memory(void)
{
    refused(mf_model_open_memory(NULL, "a", "b", 1, NULL, &other));
    named("name", mf_model_open_memory(env, NULL, "b", 1, NULL, &other));
    named("bytes", mf_model_open_memory(env, "a", NULL, 1, NULL, &other));
    named("out", mf_model_open_memory(env, "a", "b", 1, NULL, NULL));
    assert_int_not_equal(mf_model_open_memory(env, "a", NULL, 0, NULL, &other),
                         MF_OK);
}

static void null_mf_pattern_check(void)
{
    refused(mf_pattern_check(NULL, "a"));
    named("pattern", mf_pattern_check(env, NULL));
}

#define QUANTIZE(...)                                                          \
    (&(struct mf_quantize_options){                                            \
        .size = sizeof(struct mf_quantize_options), __VA_ARGS__ })

static void null_mf_model_quantize(void)
{
    refused(mf_model_quantize(NULL, "a", &quantize, NULL, NULL));
    named("path", mf_model_quantize(model, NULL, &quantize, NULL, NULL));
    named("options", mf_model_quantize(model, "a", NULL, NULL, NULL));
    named("options->type",
          mf_model_quantize(model, "out.gguf", QUANTIZE(.pure = true), &dry,
                            NULL));
    named("options->tensor_types",
          mf_model_quantize(model, "out.gguf",
                            QUANTIZE(.type = "Q8_0", .tensor_type_count = 1),
                            &dry, NULL));
    named("options->include",
          mf_model_quantize(model, "out.gguf",
                            QUANTIZE(.type = "Q8_0", .include_count = 1), &dry,
                            NULL));
    named("options->exclude",
          mf_model_quantize(model, "out.gguf",
                            QUANTIZE(.type = "Q8_0", .exclude_count = 1), &dry,
                            NULL));
    named("options->prune",
          mf_model_quantize(model, "out.gguf",
                            QUANTIZE(.type = "Q8_0", .prune_count = 1), &dry,
                            NULL));
    named("edits", mf_model_quantize(model, "out.gguf",
                                     QUANTIZE(.type = "Q8_0", .edit_count = 1),
                                     &dry, NULL));
    named("options->tensor_types[i].pattern",
          mf_model_quantize(model, "out.gguf",
                            QUANTIZE(.type = "Q8_0", .tensor_types = &no_type,
                                     .tensor_type_count = 1),
                            &dry, NULL));
    named("options->include[i]",
          mf_model_quantize(
              model, "out.gguf",
              QUANTIZE(.type = "Q8_0", .include = no_texts, .include_count = 1),
              &dry, NULL));
    named("options->exclude[i]",
          mf_model_quantize(
              model, "out.gguf",
              QUANTIZE(.type = "Q8_0", .exclude = no_texts, .exclude_count = 1),
              &dry, NULL));
}

static void null_mf_model_quantize_many(void)
{
    const struct mf_quantize_output two[] = { { "Q8_0", "a" },
                                              { "Q4_0", "b" } };
    const struct mf_quantize_output no_path = { "Q8_0", NULL };
    const struct mf_quantize_output no_mix = { NULL, "a" };

    refused(mf_model_quantize_many(NULL, two, 2, NULL, NULL, NULL));
    named("outputs", mf_model_quantize_many(model, NULL, 2, NULL, NULL, NULL));
    assert_int_equal(mf_model_quantize_many(model, two, 0, NULL, NULL, NULL),
                     MF_ERR_ARGUMENT);
    named("outputs[i].path",
          mf_model_quantize_many(model, &no_path, 1, NULL, NULL, NULL));
    named("outputs[i].type",
          mf_model_quantize_many(model, &no_mix, 1, NULL, NULL, NULL));
    named("options->prune",
          mf_model_quantize_many(model, two, 2, QUANTIZE(.prune_count = 1),
                                 &dry, NULL));
    assert_int_equal(mf_model_quantize_many(model, two, 2, NULL, &dry, NULL),
                     MF_OK);
}

static void look_at_plan(void *user, const struct mf_quantize_plan *plan)
{
    struct mf_quantized_tensor planned;

    assert_false(mf_quantize_plan_at(plan, 0, NULL));
    assert_true(mf_quantize_plan_at(plan, 0, &planned));
    assert_false(mf_quantize_plan_at(plan, SIZE_MAX, &planned));
    *(bool *)user = true;
}

static void null_mf_quantize_plan_at(void)
{
    struct mf_quantized_tensor planned;
    bool seen = false;

    assert_false(mf_quantize_plan_at(NULL, 0, &planned));
    assert_int_equal(
        mf_model_quantize(model, "out.gguf",
                          QUANTIZE(.type = "COPY", .planned = look_at_plan,
                                   .planned_user = &seen),
                          &dry, NULL),
        MF_OK);
    assert_true(seen);
}

static void null_mf_attack_at(void)
{
    assert_false(mf_attack_at(0, NULL));
}

static void null_mf_attack_fits(void)
{
    assert_false(mf_attack_fits(0, NULL, NULL));
    assert_false(mf_attack_fits(0, NULL, &(struct mf_finding){ 0 }));
}

static void null_mf_reason_at(void)
{
    assert_false(mf_reason_at(0, NULL));
}

static void null_mf_rule_at(void)
{
    assert_false(mf_rule_at(0, NULL));
}

static void null_mf_readers_name(void)
{
    assert_non_null(mf_readers_name(MF_READER_SPEC));
    assert_null(mf_readers_name((enum mf_readers)8));
}

static void null_mf_severity_name(void)
{
    assert_non_null(mf_severity_name(MF_NOTE));
}

static void null_mf_shard_at(void)
{
    assert_false(mf_shard_at(NULL, 0, &shard));
    assert_false(mf_shard_at(model, 0, NULL));
}

static void null_mf_status_name(void)
{
    assert_non_null(mf_status_name(MF_OK));
}

static void null_mf_shard_fd(void)
{
    assert_int_equal(mf_shard_fd(NULL, 0), -1);
    assert_true(mf_shard_fd(model, 0) >= 0);
}

static void null_mf_tensor_at(void)
{
    assert_false(mf_tensor_at(NULL, 0, &tensor));
    assert_false(mf_tensor_at(model, 0, NULL));
}

static void null_mf_missing_at(void)
{
    struct mf_missed missed;

    assert_false(mf_missing_at(NULL, 0, &missed));
    assert_false(mf_missing_at(model, 0, NULL));
}

static void null_mf_storage_at(void)
{
    struct mf_storage storage;

    assert_false(mf_storage_at(NULL, 0, &storage));
    assert_false(mf_storage_at(model, 0, NULL));
}

static void null_mf_model_table(void)
{
    struct mf_table_info info;

    assert_false(mf_model_table(NULL, &info));
    assert_false(mf_model_table(model, NULL));
}

static void null_mf_column_at(void)
{
    struct mf_column column;

    assert_false(mf_column_at(NULL, 0, &column));
    assert_false(mf_column_at(model, 0, NULL));
}

static void null_mf_column_chunk_at(void)
{
    struct mf_column_chunk chunk;

    assert_false(mf_column_chunk_at(NULL, 0, &chunk));
    assert_false(mf_column_chunk_at(model, 0, NULL));
}

static void null_mf_column_chunk_sort(void)
{
    uint32_t row = 0;

    mf_column_chunk_sort(NULL, MF_ORDER_SIZE, &row, 1);
    mf_column_chunk_sort(model, MF_ORDER_SIZE, NULL, 1);
}

static void null_mf_encoding_name(void)
{
    assert_null(mf_encoding_name(NULL, 0));
}

static void null_mf_tensors_at(void)
{
    assert_int_equal(mf_tensors_at(NULL, 0, 1, &tensor), 0);
    assert_int_equal(mf_tensors_at(model, 0, 1, NULL), 0);
    assert_int_equal(mf_tensors_at(model, SIZE_MAX, SIZE_MAX, &tensor), 0);
}

static void null_mf_tensor_by_offset(void)
{
    assert_false(mf_tensor_by_offset(NULL, 0, &tensor));
    assert_false(mf_tensor_by_offset(model, 0, NULL));
}

static void null_mf_tensor_export(void)
{
    refused(mf_tensor_export(NULL, 0, "a", NULL));
    named("path", mf_tensor_export(model, 0, NULL, NULL));
}

static void null_mf_tensor_find(void)
{
    assert_false(mf_tensor_find(NULL, "a", 1, &tensor, NULL));
    assert_false(mf_tensor_find(model, NULL, 1, &tensor, NULL));
    assert_true(mf_tensor_at(model, 0, &tensor));
    assert_false(
        mf_tensor_find(model, tensor.name.at, tensor.name.size, NULL, NULL));
}

static void null_mf_tensor_sort(void)
{
    mf_tensor_sort(NULL, MF_ORDER_SIZE, numbers, 1);
    mf_tensor_sort(model, MF_ORDER_SIZE, NULL, 1);
}

static void on_histogram(void *user, size_t number,
                         const struct mf_tensor_histogram *histogram)
{
    (void)user;
    (void)number;
    (void)histogram;
}

static void null_mf_choose_types(void)
{
    const struct mf_type_cost cost = { 1, 0 };
    struct mf_choose_options options = { .size = sizeof(options),
                                         .cost = &cost,
                                         .tensors = 1,
                                         .types = 1,
                                         .limit = 1 };
    struct mf_chosen chosen;
    uint32_t type;

    refused(mf_choose_types(NULL, &options, &type, &chosen));
    named("options", mf_choose_types(env, NULL, &type, &chosen));
    named("types", mf_choose_types(env, &options, NULL, &chosen));
    named("out", mf_choose_types(env, &options, &type, NULL));
    options.cost = NULL;
    named("options->cost", mf_choose_types(env, &options, &type, &chosen));
    options.tensors = 0;
    assert_int_equal(mf_choose_types(env, &options, NULL, &chosen), MF_OK);
}

static void null_mf_tensor_histograms(void)
{
    refused(mf_tensor_histograms(NULL, &index, 1, on_histogram, NULL));
    named("index", mf_tensor_histograms(model, NULL, 1, on_histogram, NULL));
    named("each", mf_tensor_histograms(model, &index, 1, NULL, NULL));
    assert_int_equal(mf_tensor_histograms(model, NULL, 0, on_histogram, NULL),
                     MF_OK);
}

static void null_mf_tensor_stats(void)
{
    refused(mf_tensor_stats(NULL, &index, 1, &stats));
    named("index", mf_tensor_stats(model, NULL, 1, &stats));
    named("out", mf_tensor_stats(model, &index, 1, NULL));
    assert_int_equal(mf_tensor_stats(model, NULL, 0, NULL), MF_OK);
}

static void null_mf_shard_path(void)
{
    char name[64];

    assert_false(mf_shard_path(NULL, "gguf", 0, 1, name, sizeof(name)));
    assert_false(mf_shard_path("m", NULL, 0, 1, name, sizeof(name)));
    assert_false(mf_shard_path("m", "gguf", 0, 1, NULL, 64));
    assert_false(mf_shard_path("m", "gguf", 0, 1, name, 21));
    assert_true(mf_shard_path("m.gguf", "gguf", 0, 1, name, 22));
    assert_string_equal(name, "m-00001-of-00001.gguf");
}

static void null_mf_type_at(void)
{
    assert_false(mf_type_at(0, NULL));
}

static void null_mf_type_in(void)
{
    assert_false(mf_type_in(NULL, "gguf"));
    assert_false(mf_type_in("f32", NULL));
}

static void null_mf_model_coverage(void)
{
    struct mf_coverage coverage;

    assert_false(mf_model_coverage(NULL, &coverage));
    assert_false(mf_model_coverage(model, NULL));
}

static void null_mf_rule_skipped(void)
{
    assert_null(mf_rule_skipped(NULL, "FILE-COUNT"));
    assert_null(mf_rule_skipped(model, NULL));
}

static void null_mf_model_validate_with(void)
{
    refused(mf_model_validate_with(NULL, NULL));
    assert_int_equal(mf_model_validate_with(model, NULL), MF_OK);
}

static void null_mf_model_validate(void)
{
    refused(mf_model_validate(NULL));
}

static void null_mf_model_validate_data(void)
{
    refused(mf_model_validate_data(NULL));
}

static void null_mf_value_type_name(void)
{
    assert_non_null(mf_value_type_name(MF_VALUE_U8));
}

static void null_mf_values_close(void)
{
    mf_values_close(NULL);
}

static void null_mf_values_next(void)
{
    refused(mf_values_next(NULL, &value));
    assert_int_equal(mf_values_open(model, 0, &values), MF_OK);
    named("out", mf_values_next(values, NULL));
    mf_values_close(values);
}

static void null_mf_values_open(void)
{
    refused(mf_values_open(NULL, 0, &values));
    named("out", mf_values_open(model, 0, NULL));
}

static void null_mf_version(void)
{
    assert_non_null(mf_version());
}

static void null_mf_writer_add(void)
{
    new_writer();
    refused(mf_writer_add(NULL, &(struct mf_new_tensor){ .name = { "a", 1 } },
                          NULL));
    named("tensor", mf_writer_add(writer, NULL, NULL));
    named("tensor->name.at",
          mf_writer_add(writer, &(struct mf_new_tensor){ .name = { NULL, 1 } },
                        NULL));
    refused(mf_writer_add(writer, &(struct mf_new_tensor){ .name = { "a", 1 } },
                          NULL));
    mf_writer_free(writer);
}

static void null_mf_writer_commit(void)
{
    refused(mf_writer_commit(NULL));
}

static void null_mf_writer_fill(void)
{
    new_writer();
    refused(mf_writer_fill(NULL, produce, NULL));
    assert_int_equal(mf_writer_open(writer, "/dev/null"), MF_OK);
    named("produce", mf_writer_fill(writer, NULL, NULL));
    mf_writer_free(writer);
}

static void null_mf_writer_free(void)
{
    mf_writer_free(NULL);
}

static void null_mf_writer_new(void)
{
    refused(mf_writer_new(NULL, &writing, &writer));
    named("options", mf_writer_new(env, NULL, &writer));
    named("out", mf_writer_new(env, &writing, NULL));
    assert_int_equal(mf_writer_new(env,
                                   &(struct mf_writer_options){
                                       .size = sizeof(struct mf_writer_options),
                                       .version = 0 },
                                   &writer),
                     MF_ERR_ARGUMENT);
}

static void null_mf_profile_allocator(void)
{
    assert_null(mf_profile_allocator(NULL).resize);
}

static void null_mf_profile_error(void)
{
    assert_int_equal(mf_profile_error(NULL)->status, MF_ERR_ARGUMENT);
}

static void null_mf_profile_expect(void)
{
    struct mf_profile *profile = mf_profile_new(NULL);

    assert_false(mf_profile_expect(NULL, true, "a"));
    assert_false(mf_profile_expect(profile, false, NULL));
    mf_profile_free(profile);
}

static void null_mf_profile_free(void)
{
    mf_profile_free(NULL);
}

static void null_mf_profile_new(void)
{
    struct mf_profile *profile = mf_profile_new(NULL);

    assert_non_null(profile);
    mf_profile_free(profile);
}

static void null_mf_profile_point_at(void)
{
    struct mf_profile *profile = mf_profile_new(NULL);
    struct mf_profile_point point;

    assert_false(mf_profile_point_at(NULL, MF_PROFILE_PEAK, 0, &point));
    assert_false(mf_profile_point_at(profile, MF_PROFILE_PEAK, 0, NULL));
    mf_profile_free(profile);
}

static void null_mf_profile_stats(void)
{
    struct mf_profile *profile = mf_profile_new(NULL);

    mf_profile_stats(NULL, &heap);
    assert_int_equal(heap.live, 0);
    mf_profile_stats(profile, NULL);
    mf_profile_free(profile);
}

static void null_mf_profile_write(void)
{
    struct mf_profile *profile = mf_profile_new(NULL);

    refused(mf_profile_write(NULL, "a"));
    refused(mf_profile_write(profile, NULL));
    assert_string_equal(mf_profile_error(profile)->message, "'path' is NULL");
    mf_profile_free(profile);
}

static void null_mf_writer_open(void)
{
    new_writer();
    refused(mf_writer_open(NULL, "a"));
    named("path", mf_writer_open(writer, NULL));
    mf_writer_free(writer);
}

static void null_mf_writer_place(void)
{
    new_writer();
    assert_false(mf_writer_place(NULL, 0, &span));
    assert_false(mf_writer_place(writer, 0, NULL));
    mf_writer_free(writer);
}

static void null_mf_writer_push(void)
{
    new_writer();
    refused(mf_writer_push(NULL, "a", 1));
    named("bytes", mf_writer_push(writer, NULL, 1));
    mf_writer_free(writer);
}

static void null_mf_writer_set(void)
{
    new_writer();
    refused(mf_writer_set(NULL, &no_edit));
    named("value", mf_writer_set(writer, NULL));
    named("edits[i].key", mf_writer_set(writer, &no_edit));
    named("edits[i].text.at", mf_writer_set(writer, &no_text));
    named("edits[i].elements", mf_writer_set(writer, &no_array));
    mf_writer_free(writer);
}

static void null_mf_writer_copy_metadata(void)
{
    new_writer();
    refused(mf_writer_copy_metadata(NULL, model));
    named("model", mf_writer_copy_metadata(writer, NULL));
    mf_writer_free(writer);
}

static void null_mf_writer_write_at(void)
{
    new_writer();
    refused(mf_writer_write_at(writer, NULL, 0, 0, "a", 1));
    named("writer", mf_writer_write_at(NULL, env, 0, 0, "a", 1));
    named("bytes", mf_writer_write_at(writer, env, 0, 0, NULL, 1));
    mf_writer_free(writer);
}

static const struct {
    const char *name;
    void (*test)(void);
} rows[] = {
    { "mf_array_free", null_mf_array_free },
    { "mf_bytes_detect", null_mf_bytes_detect },
    { "mf_attack_at", null_mf_attack_at },
    { "mf_attack_fits", null_mf_attack_fits },
    { "mf_choose_types", null_mf_choose_types },
    { "mf_column_at", null_mf_column_at },
    { "mf_column_chunk_at", null_mf_column_chunk_at },
    { "mf_column_chunk_sort", null_mf_column_chunk_sort },
    { "mf_digest_at", null_mf_digest_at },
    { "mf_editor_apply", null_mf_editor_apply },
    { "mf_editor_close", null_mf_editor_close },
    { "mf_editor_model", null_mf_editor_model },
    { "mf_editor_open", null_mf_editor_open },
    { "mf_encoding_name", null_mf_encoding_name },
    { "mf_env_abandon", null_mf_env_abandon },
    { "mf_env_decode_rows", null_mf_env_decode_rows },
    { "mf_env_encode", null_mf_env_encode },
    { "mf_env_encode_rows", null_mf_env_encode_rows },
    { "mf_env_error", null_mf_env_error },
    { "mf_env_free", null_mf_env_free },
    { "mf_env_heap", null_mf_env_heap },
    { "mf_env_io", null_mf_env_io },
    { "mf_env_new", null_mf_env_new },
    { "mf_env_new_with", null_mf_env_new_with },
    { "mf_env_resumable", null_mf_env_resumable },
    { "mf_env_timing", null_mf_env_timing },
    { "mf_fact_name", null_mf_fact_name },
    { "mf_file_detect", null_mf_file_detect },
    { "mf_file_edit", null_mf_file_edit },
    { "mf_file_hash", null_mf_file_hash },
    { "mf_file_recover", null_mf_file_recover },
    { "mf_finding_at", null_mf_finding_at },
    { "mf_finding_subject", null_mf_finding_subject },
    { "mf_format_at", null_mf_format_at },
    { "mf_imatrix_merge", null_mf_imatrix_merge },
    { "mf_isa_at", null_mf_isa_at },
    { "mf_kernel_encodes", null_mf_kernel_encodes },
    { "mf_kernel_find", null_mf_kernel_find },
    { "mf_meta_at", null_mf_meta_at },
    { "mf_meta_find", null_mf_meta_find },
    { "mf_metas_at", null_mf_metas_at },
    { "mf_missing_at", null_mf_missing_at },
    { "mf_mix_at", null_mf_mix_at },
    { "mf_mix_name", null_mf_mix_name },
    { "mf_model_adapter_info", null_mf_model_adapter_info },
    { "mf_model_close", null_mf_model_close },
    { "mf_model_outline", null_mf_model_outline },
    { "mf_model_convert", null_mf_model_convert },
    { "mf_model_coverage", null_mf_model_coverage },
    { "mf_model_diff", null_mf_model_diff },
    { "mf_model_duplicates", null_mf_model_duplicates },
    { "mf_model_fact", null_mf_model_fact },
    { "mf_model_hash", null_mf_model_hash },
    { "mf_model_hash_data", null_mf_model_hash_data },
    { "mf_model_hash_metadata", null_mf_model_hash_metadata },
    { "mf_model_hash_tensors", null_mf_model_hash_tensors },
    { "mf_model_imatrix_coverage", null_mf_model_imatrix_coverage },
    { "mf_model_info", null_mf_model_info },
    { "mf_model_is_imatrix", null_mf_model_is_imatrix },
    { "mf_model_open", null_mf_model_open },
    { "mf_model_open_fd", null_mf_model_open_fd },
    { "mf_model_open_memory", null_mf_model_open_memory },
    { "mf_model_open_source", null_mf_model_open_source },
    { "mf_model_quantize", null_mf_model_quantize },
    { "mf_model_quantize_many", null_mf_model_quantize_many },
    { "mf_model_table", null_mf_model_table },
    { "mf_model_unchanged", null_mf_model_unchanged },
    { "mf_model_uuid", null_mf_model_uuid },
    { "mf_model_validate", null_mf_model_validate },
    { "mf_model_validate_data", null_mf_model_validate_data },
    { "mf_model_validate_with", null_mf_model_validate_with },
    { "mf_models_duplicates", null_mf_models_duplicates },
    { "mf_parts_finish", null_mf_parts_finish },
    { "mf_pattern_check", null_mf_pattern_check },
    { "mf_plan", null_mf_plan },
    { "mf_plan_fit", null_mf_plan_fit },
    { "mf_plan_line_name", null_mf_plan_line_name },
    { "mf_profile_allocator", null_mf_profile_allocator },
    { "mf_profile_error", null_mf_profile_error },
    { "mf_profile_expect", null_mf_profile_expect },
    { "mf_profile_free", null_mf_profile_free },
    { "mf_profile_new", null_mf_profile_new },
    { "mf_profile_point_at", null_mf_profile_point_at },
    { "mf_profile_stats", null_mf_profile_stats },
    { "mf_profile_write", null_mf_profile_write },
    { "mf_quantize_plan_at", null_mf_quantize_plan_at },
    { "mf_readers_name", null_mf_readers_name },
    { "mf_report", null_mf_report },
    { "mf_report_json", null_mf_report_json },
    { "mf_reason_at", null_mf_reason_at },
    { "mf_rule_at", null_mf_rule_at },
    { "mf_rule_skipped", null_mf_rule_skipped },
    { "mf_severity_name", null_mf_severity_name },
    { "mf_shard_at", null_mf_shard_at },
    { "mf_shard_fd", null_mf_shard_fd },
    { "mf_shard_path", null_mf_shard_path },
    { "mf_status_name", null_mf_status_name },
    { "mf_storage_at", null_mf_storage_at },
    { "mf_tensor_at", null_mf_tensor_at },
    { "mf_tensor_by_offset", null_mf_tensor_by_offset },
    { "mf_tensor_bytes", null_mf_tensor_bytes },
    { "mf_tensor_export", null_mf_tensor_export },
    { "mf_tensor_find", null_mf_tensor_find },
    { "mf_tensor_histograms", null_mf_tensor_histograms },
    { "mf_tensor_place", null_mf_tensor_place },
    { "mf_tensor_read", null_mf_tensor_read },
    { "mf_tensor_reader_bytes", null_mf_tensor_reader_bytes },
    { "mf_tensor_reader_close", null_mf_tensor_reader_close },
    { "mf_tensor_reader_error", null_mf_tensor_reader_error },
    { "mf_tensor_reader_open", null_mf_tensor_reader_open },
    { "mf_tensor_reader_read", null_mf_tensor_reader_read },
    { "mf_tensor_shape", null_mf_tensor_shape },
    { "mf_tensor_sort", null_mf_tensor_sort },
    { "mf_tensor_stats", null_mf_tensor_stats },
    { "mf_tensors_at", null_mf_tensors_at },
    { "mf_type_at", null_mf_type_at },
    { "mf_type_find", null_mf_type_find },
    { "mf_type_in", null_mf_type_in },
    { "mf_value_type_name", null_mf_value_type_name },
    { "mf_values_close", null_mf_values_close },
    { "mf_values_next", null_mf_values_next },
    { "mf_values_open", null_mf_values_open },
    { "mf_values_read", null_mf_values_read },
    { "mf_verdict_name", null_mf_verdict_name },
    { "mf_verify", null_mf_verify },
    { "mf_version", null_mf_version },
    { "mf_watch_begin", null_mf_watch_begin },
    { "mf_watch_close", null_mf_watch_close },
    { "mf_watch_count_at", null_mf_watch_count_at },
    { "mf_watch_end", null_mf_watch_end },
    { "mf_watch_energy", null_mf_watch_energy },
    { "mf_watch_open", null_mf_watch_open },
    { "mf_watch_times", null_mf_watch_times },
    { "mf_watch_write", null_mf_watch_write },
    { "mf_writer_add", null_mf_writer_add },
    { "mf_writer_commit", null_mf_writer_commit },
    { "mf_writer_copy_metadata", null_mf_writer_copy_metadata },
    { "mf_writer_fill", null_mf_writer_fill },
    { "mf_writer_free", null_mf_writer_free },
    { "mf_writer_new", null_mf_writer_new },
    { "mf_writer_open", null_mf_writer_open },
    { "mf_writer_place", null_mf_writer_place },
    { "mf_writer_push", null_mf_writer_push },
    { "mf_writer_set", null_mf_writer_set },
    { "mf_writer_write_at", null_mf_writer_write_at },
};

/* ---- all of them ---- */

static void every_function(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        print_message("# %s\n", rows[i].name);
        rows[i].test();
    }
}

static int setup(void **state)
{
    (void)state;
    env = mf_env_new(NULL);
    return !env || mf_model_open(env, fixture_path("good-base.gguf"), NULL,
                                 &model) != MF_OK;
}

static int teardown(void **state)
{
    (void)state;
    mf_model_close(model);
    mf_env_free(env);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function),
        cmocka_unit_test(options_have_a_size),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
