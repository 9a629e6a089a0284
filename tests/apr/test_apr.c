/* SPDX-License-Identifier: MIT
 *
 * test_apr.c - what the APR fixtures hold, field by field: relatives, tensors,
 * and how much of a file is read
 */
#include <inttypes.h>

#include "tests/with_env.h"

/* ---- who wears the magic ---- */

static void relatives_are_distinguished(void **state)
{
    static const struct {
        const char *name, *format, *variant;
        bool supported;
        uint32_t version;
    } rows[] = {
        { "good-base.apr", "apr", "", true, 2 },
        { "bad-header-checksum.apr", "apr", "", true, 2 },
        { "bad-version-9.apr", "apr", "", true, 9 },
        { "unsupported-lz4.apr", "apr", "", true, 2 },
        { "good-v1.apr", "apr", "v1", true, 1 },
        { "unsupported-presentar.apr", "presentar", "", false, 0 },
        { "unsupported-apr1-json.apr", "apr1-json", "", false, 0 },
        { "unsupported-wrapper.apr", "apr1-wrapper", "", false, 0 },
        { "unsupported-wrapper-lz4.apr", "apr1-wrapper", "", false, 0 },
        { "unsupported-wrapper-zstd.apr", "apr1-wrapper", "", false, 0 },
        { "unsupported-whisper.apr", "whisper-apr", "", false, 0 },
        { "unsupported-aprt.apr", "entrenar-trace", "", false, 0 },
        { "unsupported-apnr.apr", "jugar-apr", "", false, 0 },
        { "unsupported-apr02.apr", "apr-02", "", false, 0 },
        { "unsupported-apr2.apr", "apr2", "", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_detection found;

        assert_int_equal(
            mf_file_detect(env, fixture_path(rows[i].name), &found), MF_OK);
        assert_string_equal(found.format, rows[i].format);
        assert_string_equal(found.variant, rows[i].variant);
        assert_int_equal(found.version, rows[i].version);
        assert_int_equal(found.supported, rows[i].supported);
        /* A format that is not read gets a sentence on what it is. */
        assert_int_equal(strlen(found.note) > 0, !rows[i].supported);
    }
}

/* ---- model and tensors ---- */

static void model_info(void **state)
{
    struct mf_model *model = open_fixture("good-base.apr");
    const struct mf_model_info *info = mf_model_info(model);

    (void)state;
    assert_string_equal(info->format, "apr");
    assert_string_equal(info->variant, "");
    assert_int_equal(info->version, 2);
    assert_int_equal(info->version_minor, 0);
    assert_int_equal(info->byte_order, MF_LITTLE_ENDIAN);
    assert_false(info->fastest_first);
    assert_true(info->has_tensors);
    assert_int_equal(info->tensor_count, 2);
    assert_int_equal(info->metadata_count, 7);
    assert_int_equal(info->shard_count, 1);
    assert_int_equal(info->file_size, 516);
    assert_int_equal(info->data_offset, 384);
    assert_int_equal(info->data_size, 56);
    assert_int_equal(info->parameters, 14);
    assert_int_equal(info->alignment, 64);
    mf_model_close(model);
}

/* "name type(type_id) [dims] offset size", offset from the data's start. */
static void check_tensor(const struct mf_model *model, size_t index,
                         const char *expected)
{
    char line[256];
    struct mf_tensor tensor;
    size_t at;

    assert_true(mf_tensor_at(model, index, &tensor));
    at = (size_t)snprintf(line, sizeof(line), "%s %s(%" PRIu32 ") [",
                          tensor.name.at, tensor.type, tensor.type_id);
    for (uint32_t i = 0; i < tensor.rank; i++)
        at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%" PRIu64,
                               i > 0 ? "," : "", tensor.dim[i]);
    snprintf(line + at, sizeof(line) - at, "] %" PRIu64 " %" PRIu64,
             tensor.data.offset - mf_model_info(model)->data_offset,
             tensor.data.size);
    assert_string_equal(line, expected);
    assert_int_equal(tensor.flags, 0);
}

static void every_tensor_of_every_kind(void **state)
{
    static const struct {
        const char *name, *lines[13];
    } rows[] = {
        { "good-base.apr",
          { "a.weight f32(0) [2,4] 0 32", "b.weight f32(0) [6] 64 24" } },
        { "good-dtypes.apr",
          { "type.apr_q4 apr_q4(128) [2,256] 0 288",
            "type.apr_q8 apr_q8(129) [2,256] 320 516",
            "type.bf16 bf16(30) [2,256] 896 1024",
            "type.f16 f16(1) [2,256] 1920 1024",
            "type.f32 f32(0) [2,256] 2944 2048",
            "type.f64 f64(3) [2,256] 4992 4096",
            "type.i32 i32(4) [2,256] 9088 2048",
            "type.i64 i64(5) [2,256] 11136 4096",
            "type.i8 i8(6) [2,256] 15232 512",
            "type.q4_k q4_k(12) [2,256] 15744 288",
            "type.q6_k q6_k(14) [2,256] 16064 420",
            "type.u8 u8(7) [2,256] 16512 512" } },
        { "good-dtypes-aprender.apr",
          { "code.2.bf16 bf16(2) [2,32] 0 128",
            "code.3.f64 f64(3) [2,32] 128 512", "code.6.i8 i8(6) [2,32] 640 64",
            "code.7.u8 u8(7) [2,32] 704 64",
            "code.8.apr_q4 apr_q4(8) [2,32] 768 36",
            "code.9.apr_q8 apr_q8(9) [2,32] 832 68" } },
        { "good-dtypes-ggml.apr",
          { "code.2.q4_0 q4_0(2) [2,32] 0 36",
            "code.3.q4_1 q4_1(3) [2,32] 64 40",
            "code.6.q5_0 q5_0(6) [2,32] 128 44",
            "code.7.q5_1 q5_1(7) [2,32] 192 48",
            "code.8.q8_0 q8_0(8) [2,32] 256 68",
            "code.9.q8_1 q8_1(9) [2,32] 384 72" } },
        { "good-stream-order.apr",
          { "a.weight f32(0) [6] 64 24", "b.weight f32(0) [8] 0 32" } },
        { "good-scalar-empty.apr",
          { "empty f32(0) [0,4] 0 0", "number f32(0) [] 0 4" } },
        { "good-realizar-q4k.apr",
          { "blk.0.attn_norm.weight f32(0) [256] 0 1024",
            "blk.0.attn_q.weight q4_k(12) [256,3] 1024 432",
            "blk.0.ffn_down.weight q8_0(8) [256,2] 1472 544",
            "token_embd.weight q4_k(12) [256,4] 2048 576" } },
        { "good-json-index.apr", { "weights json(256) [17] 0 17" } },
        { "good-empty.apr", { NULL } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_model *model = open_fixture(rows[i].name);
        size_t count = 0;

        for (; rows[i].lines[count]; count++)
            check_tensor(model, count, rows[i].lines[count]);
        assert_int_equal(mf_model_info(model)->tensor_count, count);
        mf_model_close(model);
    }
}

static void the_order_of_the_data_is_known(void **state)
{
    struct mf_model *model = open_fixture("good-stream-order.apr");
    struct mf_tensor tensor;

    (void)state;
    assert_true(mf_tensor_by_offset(model, 0, &tensor));
    assert_string_equal(tensor.name.at, "b.weight");
    assert_true(mf_tensor_by_offset(model, 1, &tensor));
    assert_string_equal(tensor.name.at, "a.weight");
    mf_model_close(model);
}

/* realizar's dialects: ggml's order of dimensions, or an index of JSON. */
static void dialects_say_so(void **state)
{
    struct mf_model *model = open_fixture("good-realizar-q4k.apr");

    (void)state;
    assert_string_equal(mf_model_info(model)->variant, "realizar");
    assert_true(mf_model_info(model)->fastest_first);
    mf_model_close(model);
    model = open_fixture("good-json-index.apr");
    assert_string_equal(mf_model_info(model)->variant, "json-index");
    assert_false(mf_model_info(model)->fastest_first);
    assert_int_equal(mf_model_info(model)->alignment, 1);
    mf_model_close(model);
}

/* ---- what is read ---- */

static uint64_t field(const uint8_t *bytes, size_t at, size_t size)
{
    return get_number(bytes + at, size);
}

static uint64_t bytes_read(const char *name, bool metadata_only)
{
    const struct mf_open_options options = { .size =
                                                 sizeof(struct mf_open_options),
                                             .metadata_only = metadata_only };
    struct mf_io_stats before, after;
    struct mf_model *model;

    mf_env_io(env, &before);
    assert_int_equal(mf_model_open(env, fixture_path(name), &options, &model),
                     MF_OK);
    mf_env_io(env, &after);
    assert_int_equal(mf_model_info(model)->has_tensors, !metadata_only);
    if (metadata_only)
        assert_int_equal(mf_model_info(model)->tensor_count, 0);
    assert_int_equal(mf_model_info(model)->error_count, 0);
    mf_model_close(model);
    return after.bytes_read - before.bytes_read;
}

/* Version 2: header, metadata and index, byte for byte.  Version 1: header and
 * metadata, or all of a file this small, for its checksum. */
static void check_reads(const char *name, const uint8_t *bytes, size_t size)
{
    uint64_t header = 64, metadata, index;

    if (!has_suffix(name, ".apr"))
        return;
    if (memcmp(bytes, "APRN", 4) == 0) {
        assert_int_equal(bytes_read(name, true), 32 + field(bytes, 8, 4));
        assert_int_equal(bytes_read(name, false), size);
        return;
    }
    metadata = field(bytes, 20, 4);
    index = field(bytes, 32, 8) - field(bytes, 24, 8);
    assert_int_equal(bytes_read(name, true), header + metadata);
    assert_int_equal(bytes_read(name, false), header + metadata + index);
}

static void only_the_bytes_that_are_wanted(void **state)
{
    (void)state;
    assert_true(each_fixture("good-", check_reads) > 0);
}

/* The metadata are the same whether the rest of the file is read or not. */
static void metadata_only_reads_the_same(void **state)
{
    static const char *const names[] = { "good-metadata.apr",
                                         "good-realizar-q4k.apr",
                                         "good-v1.apr" };
    const struct mf_open_options options = { .size =
                                                 sizeof(struct mf_open_options),
                                             .metadata_only = true };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct mf_model *whole = open_fixture(names[i]), *part;
        const struct mf_model_info *a = mf_model_info(whole), *b;

        assert_int_equal(
            mf_model_open(env, fixture_path(names[i]), &options, &part), MF_OK);
        b = mf_model_info(part);
        assert_string_equal(a->variant, b->variant);
        assert_int_equal(a->fastest_first, b->fastest_first);
        assert_int_equal(a->alignment, b->alignment);
        assert_int_equal(a->data_offset, b->data_offset);
        assert_int_equal(a->metadata_count, b->metadata_count);
        mf_model_close(part);
        mf_model_close(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(relatives_are_distinguished),
        WITH_ENV(model_info),
        WITH_ENV(every_tensor_of_every_kind),
        WITH_ENV(the_order_of_the_data_is_known),
        WITH_ENV(dialects_say_so),
        WITH_ENV(only_the_bytes_that_are_wanted),
        WITH_ENV(metadata_only_reads_the_same),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
