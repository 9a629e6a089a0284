/* SPDX-License-Identifier: MIT
 *
 * test_drift.c - two functions that answer the same question do not drift apart
 *
 * A lookup and the list that it looks into, a table of what the library can do
 * and what it does: over all fixtures and all rows of the tables.  That a plan
 * has the size of the file is in test_drift_sizes.c.
 */
#include "tests/quantize/mix.h"
#include "tests/with_scratch.h"

static bool same_text(struct mf_str a, struct mf_str b)
{
    return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

/* ---- lists and lookups, of one model ---- */

/* A name that is longer than any by a byte that none has. */
static struct mf_str longer_than(struct mf_str name)
{
    static char longer[1 << 17];

    assert_true(name.size + 1 < sizeof(longer));
    memcpy(longer, name.at, name.size);
    longer[name.size] = '\x7f';
    return (struct mf_str){ longer, name.size + 1 };
}

static void same_meta(const struct mf_meta *a, const struct mf_meta *b)
{
    assert_true(same_text(a->key, b->key));
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->span.offset, b->span.offset);
    assert_int_equal(a->number.u64, b->number.u64);
    assert_ptr_equal(a->text.at, b->text.at);
}

static void metadata_agrees(const struct mf_model *model)
{
    size_t count = mf_model_info(model)->metadata_count, at;
    struct mf_meta meta, found, first;

    assert_false(mf_meta_at(model, count, &meta));
    for (size_t i = 0; i < count; i++) {
        struct mf_str longer;
        size_t earliest = 0;

        assert_true(mf_meta_at(model, i, &meta));
        while (mf_meta_at(model, earliest, &first) &&
               !same_text(first.key, meta.key))
            earliest++;
        assert_true(
            mf_meta_find(model, meta.key.at, meta.key.size, &found, &at));
        assert_int_equal(at, earliest);
        same_meta(&found, &first);
        longer = longer_than(meta.key);
        assert_false(mf_meta_find(model, longer.at, longer.size, &found, &at));
    }
}

static void tensors_agree(const struct mf_model *model)
{
    size_t count = mf_model_info(model)->tensor_count, at;
    struct mf_tensor tensor, found, first;

    assert_false(mf_tensor_at(model, count, &tensor));
    assert_false(mf_tensor_by_offset(model, count, &tensor));
    for (size_t i = 0; i < count; i++) {
        struct mf_str longer;
        size_t earliest = 0;

        assert_true(mf_tensor_at(model, i, &tensor));
        while (mf_tensor_at(model, earliest, &first) &&
               !same_text(first.name, tensor.name))
            earliest++;
        assert_true(mf_tensor_find(model, tensor.name.at, tensor.name.size,
                                   &found, &at));
        assert_int_equal(at, earliest);
        assert_ptr_equal(found.name.at, first.name.at);
        assert_string_equal(found.type, first.type);
        assert_int_equal(found.data.offset, first.data.offset);
        longer = longer_than(tensor.name);
        assert_false(
            mf_tensor_find(model, longer.at, longer.size, &found, &at));
    }
}

/* The order by offset has every tensor once. */
static void orders_agree(const struct mf_model *model)
{
    size_t count = mf_model_info(model)->tensor_count;
    struct mf_tensor tensor, before = { 0 };
    size_t *seen = calloc(count + 1, sizeof(*seen));

    assert_non_null(seen);
    for (size_t i = 0; i < count; i++) {
        struct mf_tensor other;
        size_t at = 0;

        assert_true(mf_tensor_by_offset(model, i, &tensor));
        while (mf_tensor_at(model, at, &other) &&
               other.name.at != tensor.name.at)
            at++;
        assert_true(at < count && seen[at]++ == 0);
        assert_true(i == 0 || tensor.shard > before.shard ||
                    tensor.data.offset >= before.data.offset);
        before = tensor;
    }
    free(seen);
}

/* A fact is the metadata that it says it is. */
static void facts_agree(const struct mf_model *model)
{
    struct mf_meta fact, meta;
    size_t at, found;

    for (int i = 0; i < MF_FACT_COUNT; i++) {
        bool has = mf_model_fact(model, (enum mf_fact)i, &fact, &at);

        assert_int_equal(has,
                         mf_model_fact(model, (enum mf_fact)i, &meta, NULL));
        if (!has)
            continue;
        assert_true(mf_meta_at(model, at, &meta));
        assert_true(same_text(fact.key, meta.key));
        assert_true(
            mf_meta_find(model, meta.key.at, meta.key.size, &meta, &found));
        assert_int_equal(found, at);
        if (i != MF_FACT_FILE_TYPE) /* whose number becomes a name */
            same_meta(&fact, &meta);
    }
    assert_false(mf_model_fact(model, MF_FACT_COUNT, &fact, &at));
}

static void totals_agree(const struct mf_model *model)
{
    const struct mf_model_info *info = mf_model_info(model);
    uint64_t size = 0, parameters = 0, data = 0;
    struct mf_tensor tensor;
    struct mf_shard shard;
    size_t tensors = 0;

    for (size_t i = 0; mf_shard_at(model, i, &shard); i++) {
        assert_true(i < info->shard_count);
        assert_true(i > 0 || shard.data_offset == info->data_offset);
        size += shard.size;
        tensors += shard.tensor_count;
    }
    assert_false(mf_shard_at(model, info->shard_count, &shard));
    assert_true(mf_shard_at(model, info->shard_count - 1, &shard));
    assert_int_equal(size, info->file_size);
    assert_int_equal(tensors, info->tensor_count);
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        if (__builtin_add_overflow(parameters, tensor.parameters, &parameters))
            parameters = UINT64_MAX;
        if (__builtin_add_overflow(data, tensor.data.size, &data))
            data = UINT64_MAX;
    }
    assert_int_equal(parameters, info->parameters);
    assert_int_equal(data, info->data_size);
}

/* ---- values ---- */

/* What walking a value shows of it. */
struct walked {
    uint64_t elements,
        bytes; /* of the outermost array or object; of a string */
    struct mf_value first;
};

static bool walk(struct mf_model *model, size_t index, struct walked *out)
{
    struct mf_values *values;
    struct mf_value value = { .event = MF_EVENT_ITEM };
    enum mf_status status;
    unsigned depth = 0;

    *out = (struct walked){ 0 };
    if (mf_values_open(model, index, &values) != MF_OK)
        return false;
    for (size_t i = 0; (status = mf_values_next(values, &value)) == MF_OK &&
                       value.event != MF_EVENT_DONE;
         i++) {
        if (i == 0)
            out->first = value;
        depth -= value.event == MF_EVENT_END;
        /* An object's members are counted by their keys. */
        if (depth == 1 && !value.more &&
            (value.event == MF_EVENT_KEY ||
             (out->first.type == MF_VALUE_ARRAY &&
              value.event != MF_EVENT_END)))
            out->elements++;
        if (depth == 0)
            out->bytes += value.text.size;
        depth += value.event == MF_EVENT_BEGIN;
    }
    mf_values_close(values);
    return status == MF_OK;
}

/* Metadata says of a value what reading it shows. */
static void values_agree(struct mf_model *model)
{
    struct mf_meta meta;
    struct walked walked;

    for (size_t i = 0; mf_meta_at(model, i, &meta); i++) {
        if (!walk(model, i, &walked))
            continue; /* a fault that reading meets and a finding names */
        assert_int_equal(walked.first.type, meta.type);
        if (meta.type == MF_VALUE_ARRAY || meta.type == MF_VALUE_OBJECT) {
            assert_int_equal(walked.first.event, MF_EVENT_BEGIN);
            if (meta.type == MF_VALUE_ARRAY && walked.elements > 0 &&
                meta.of == MF_VALUE_ARRAY)
                continue; /* elements are arrays: their ends count as well */
            assert_int_equal(walked.elements, meta.count);
        } else if (meta.type == MF_VALUE_STRING) {
            assert_int_equal(walked.bytes, meta.count);
            assert_int_equal(meta.text.at == NULL, meta.count > 1024);
        } else if (meta.type != MF_VALUE_NULL) {
            assert_int_equal(walked.first.number.u64, meta.number.u64);
        }
    }
}

/* ---- findings ---- */

static bool is_rule(const char *id)
{
    struct mf_rule_info rule;

    for (size_t i = 0; mf_rule_at(i, &rule); i++)
        if (strcmp(rule.id, id) == 0)
            return true;
    return false;
}

static void findings_agree(const struct mf_model *model)
{
    const struct mf_model_info *info = mf_model_info(model);
    size_t of[MF_ERROR + 1] = { 0 }, count = 0;
    struct mf_finding finding;

    for (; mf_finding_at(model, count, &finding); count++) {
        of[finding.severity]++;
        assert_true(is_rule(finding.rule));
        assert_true(finding.shard < info->shard_count);
    }
    if (count == MF_FINDINGS_MAX)
        return;
    assert_int_equal(of[MF_ERROR], info->error_count);
    assert_int_equal(of[MF_WARNING], info->warning_count);
    assert_int_equal(of[MF_NOTE], info->note_count);
}

static void coverage_agrees(const struct mf_model *model)
{
    struct mf_coverage coverage;
    struct mf_finding finding;
    struct mf_rule_info rule;
    size_t rules = 0, applied = 0;

    assert_true(mf_model_coverage(model, &coverage));
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (mf_rule_skipped(model, finding.rule))
            fail_msg("%s was found, but skipped: %s", finding.rule,
                     mf_rule_skipped(model, finding.rule));
    for (; mf_rule_at(rules, &rule); rules++)
        applied += mf_rule_skipped(model, rule.id) == NULL;
    assert_int_equal(coverage.rule_count, rules);
    assert_int_equal(coverage.applied_count, applied);
    assert_int_equal(coverage.header_bytes + coverage.tensor_bytes +
                         coverage.padding_bytes + coverage.footer_bytes +
                         coverage.gap_bytes,
                     coverage.file_bytes);
    assert_int_equal(coverage.file_bytes, mf_model_info(model)->file_size);
}

/* ---- all fixtures ---- */

static size_t opened;

static void path_agrees(const char *path)
{
    struct mf_model *model;

    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return;
    opened++;
    metadata_agrees(model);
    tensors_agree(model);
    orders_agree(model);
    facts_agree(model);
    totals_agree(model);
    values_agree(model);
    findings_agree(model);
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    findings_agree(model);
    coverage_agrees(model);
    mf_model_close(model);
}

static void agrees(const char *name, const uint8_t *bytes, size_t size)
{
    (void)bytes, (void)size;
    path_agrees(fixture_path(name));
}

static enum mf_status folder_agrees(void *user, const char *path, bool link)
{
    (void)user, (void)link;
    path_agrees(path);
    return MF_OK;
}

static void every_fixture(void **state)
{
    size_t files;

    (void)state;
    assert_true(each_fixture("good-", agrees) > 50);
    assert_true(each_fixture("bad-", agrees) > 250);
    files = opened;
    assert_int_equal(
        mf_folder_subfolders(env, fixture_folder(), folder_agrees, NULL),
        MF_OK);
    assert_true(files > 200 && opened > files + 10);
}

/* ---- types ---- */

static const char *file_of(const char *format)
{
    char name[32];

    snprintf(name, sizeof(name), "one.%s", format);
    return scratch_path(name);
}

/* A file of one tensor of that type, 2 rows of 256 elements. */
static enum mf_status write_one(const char *type, const char *format)
{
    static const uint64_t dim[] = { 2, 256 };
    struct mf_writer_options options = { .size = sizeof(options),
                                         .format = format,
                                         .replace = true };
    struct mf_new_tensor tensor = {
        .name = { "w", 1 }, .type = type, .rank = 2, .dim = dim
    };
    struct mf_writer *writer;
    enum mf_status status = mf_writer_new(env, &options, &writer);

    assert_int_equal(status, MF_OK);
    status = mf_writer_add(writer, &tensor, NULL);
    if (status == MF_OK)
        status = mf_writer_open(writer, file_of(format));
    if (status == MF_OK)
        status = mf_writer_fill(writer, no_bytes, NULL);
    if (status == MF_OK)
        status = mf_writer_commit(writer);
    mf_writer_free(writer);
    return status;
}

/* A type that a format can have is written, and read as that type. */
static void read_one(const struct mf_type_info *type, const char *format)
{
    struct mf_model *model = open_model(file_of(format));
    struct mf_tensor_stats stats;
    struct mf_kernel kernel;
    struct mf_tensor tensor;
    bool decoded;

    assert_true(mf_tensor_at(model, 0, &tensor));
    assert_string_equal(tensor.type, type->name);
    assert_int_equal(tensor.parameters, 512);
    decoded = mf_tensor_stats(model, (size_t[]){ 0 }, 1, &stats) == MF_OK;
    if (!mf_kernel_find(type->name, NULL, &kernel)) {
        /* Only integers, bools and f64 need no kernel. */
        assert_true(!decoded || strchr("iub", type->name[0]) ||
                    strcmp(type->name, "f64") == 0);
    } else {
        assert_true(decoded);
        assert_int_equal(kernel.block, type->block);
        assert_int_equal(kernel.size, type->size);
        assert_int_equal(tensor.data.size,
                         kernel.prefix + 512 / type->block * type->size);
        assert_int_equal(stats.count + stats.nans + stats.infinities, 512);
    }
    mf_model_close(model);
}

static void types_are_written_where_they_can_be(void **state)
{
    struct mf_format_info format;
    struct mf_type_info type;
    size_t written = 0;

    (void)state;
    for (size_t f = 0; mf_format_at(f, &format); f++) {
        struct mf_writer_options options = { .size = sizeof(options),
                                             .format = format.name };
        struct mf_writer *writer;
        char path[64];

        if (*format.variant)
            continue;
        assert_int_equal(mf_writer_new(env, &options, &writer) == MF_OK,
                         format.can_write);
        if (format.can_write)
            mf_writer_free(writer);
        assert_int_equal(
            mf_shard_path("m", format.name, 0, 2, path, sizeof(path)),
            format.can_write);
        for (size_t t = 0; format.can_write && mf_type_at(t, &type); t++) {
            bool can = mf_type_in(type.name, format.name);

            if ((write_one(type.name, format.name) == MF_OK) != can)
                fail_msg("%s in %s: %s", type.name, format.name,
                         mf_env_error(env)->message);
            if (can)
                read_one(&type, format.name);
            written += can;
        }
    }
    assert_true(written > 60);
    empty_scratch();
}

/* ---- mixes ---- */

/* What becomes of the model that write_matrix makes. */
static enum mf_status quantize(const char *type, const char *imatrix)
{
    struct mf_quantize_options what = { .size = sizeof(what),
                                        .type = type,
                                        .imatrix = imatrix,
                                        .allow_requantize = true };
    struct mf_convert_options how = { .size = sizeof(how),
                                      .format = "gguf",
                                      .replace = true };
    struct mf_model *model = open_model(scratch_path("in.gguf"));
    enum mf_status status =
        mf_model_quantize(model, scratch_path("out.gguf"), &what, &how, NULL);

    mf_model_close(model);
    return status;
}

static bool has_encoder(const char *type)
{
    struct mf_kernel kernel;

    return mf_kernel_find(type, NULL, &kernel) &&
           mf_kernel_encodes(&kernel, NULL);
}

static void mixes_are_made_where_they_can_be(void **state)
{
    char matrix[512];
    struct mf_mix_info mix;
    size_t available = 0;

    (void)state;
    strcpy(matrix, scratch_path("m.dat"));
    make_model("tied", scratch_path("in.gguf"), matrix);
    for (size_t i = 0; mf_mix_at(i, &mix); i++) {
        char number[16];

        if (mix.available != (!*mix.type || has_encoder(mix.type)))
            fail_msg("%s says that it is %savailable", mix.name,
                     mix.available ? "" : "not ");
        if ((quantize(mix.name, matrix) == MF_OK) != mix.available)
            fail_msg("%s: %s", mix.name, mf_env_error(env)->message);
        if ((quantize(mix.name, NULL) == MF_OK) !=
            (mix.available && !mix.needs_imatrix))
            fail_msg("%s without a matrix: %s", mix.name,
                     mf_env_error(env)->message);
        assert_string_equal(mf_mix_name(mix.name), mix.name);
        snprintf(number, sizeof(number), "%u", mix.file_type);
        assert_non_null(mf_mix_name(number)); /* or an alias: "Q4_K" */
        assert_non_null(mf_mix_name(mf_mix_name(number)));
        available += mix.available;
    }
    assert_true(available > 25);
    empty_scratch();
}

/* Every type as one for all tensors. */
static void types_are_made_where_they_can_be(void **state)
{
    struct mf_type_info type;
    char matrix[512];

    (void)state;
    strcpy(matrix, scratch_path("m.dat"));
    make_model("tied", scratch_path("in.gguf"), matrix);
    for (size_t i = 0; mf_type_at(i, &type); i++) {
        bool can = has_encoder(type.name) && mf_mix_name(type.name) &&
                   mf_type_in(type.name, "gguf");

        if ((quantize(type.name, matrix) == MF_OK) != can)
            fail_msg("%s: %s", type.name, mf_env_error(env)->message);
    }
    empty_scratch();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture),
        cmocka_unit_test(types_are_written_where_they_can_be),
        cmocka_unit_test(mixes_are_made_where_they_can_be),
        cmocka_unit_test(types_are_made_where_they_can_be),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
