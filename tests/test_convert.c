/* SPDX-License-Identifier: MIT
 *
 * test_convert.c - the fixtures in other files and formats: nothing is lost
 *
 * Loops over the good fixtures, so a new one is converted before its author
 * writes a test.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "tests/scratch.h"

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static const char *const formats[] = { "gguf", "apr", "safetensors" };
static struct mf_env *env;

static int start(void **state)
{
    env = mf_env_new(NULL);
    return env ? make_scratch(state) : -1;
}

static int stop(void **state)
{
    mf_env_free(env);
    return remove_scratch(state);
}

static struct mf_model *open_model(const char *path)
{
    struct mf_model *model;

    if (mf_open(env, path, NULL, &model) != MF_OK)
        fail_msg("%s: %s", path, mf_env_error(env)->message);
    return model;
}

static const char *output(const char *stem, const char *format)
{
    char name[64];

    snprintf(name, sizeof(name), "%s.%s", stem, format);
    return scratch_path(name);
}

/* ---- the same model ---- */

static void same_bytes(const struct mf_model *a, const struct mf_tensor *of_a,
                       const struct mf_model *b, const struct mf_tensor *of_b)
{
    struct mf_shard shard[2];
    FILE *file[2];

    assert_true(mf_shard_at(a, of_a->shard, &shard[0]));
    assert_true(mf_shard_at(b, of_b->shard, &shard[1]));
    for (int i = 0; i < 2; i++) {
        file[i] = fopen(shard[i].path, "rb");
        assert_non_null(file[i]);
        assert_int_equal(
            fseek(file[i], (long)(i ? of_b : of_a)->data.offset, SEEK_SET), 0);
    }
    for (uint64_t at = 0; at < of_a->data.size; at++) {
        int byte = getc(file[0]);

        if (byte == EOF || byte != getc(file[1]))
            fail_msg("byte %" PRIu64 " of '%s' differs", at, of_a->name.at);
    }
    fclose(file[0]);
    fclose(file[1]);
}

/* Elements behind each other stay so, whichever way a format counts. */
static bool same_shape(const struct mf_model *a, const struct mf_tensor *of_a,
                       const struct mf_model *b, const struct mf_tensor *of_b)
{
    bool turned =
        mf_model_info(a)->fastest_first != mf_model_info(b)->fastest_first;

    if (of_a->rank + of_b->rank == 1) /* a scalar in GGUF */
        return of_a->parameters == 1 && of_b->parameters == 1;
    for (uint32_t i = 0; i < of_a->rank && of_a->rank == of_b->rank; i++)
        if (of_a->dim[i] != of_b->dim[turned ? of_a->rank - 1 - i : i])
            return false;
    return of_a->rank == of_b->rank;
}

static void same_tensors(const struct mf_model *a, const struct mf_model *b)
{
    struct mf_tensor of_a, of_b;

    assert_int_equal(mf_model_info(a)->tensor_count,
                     mf_model_info(b)->tensor_count);
    for (size_t i = 0; mf_tensor_at(a, i, &of_a); i++) {
        if (!mf_tensor_find(b, of_a.name.at, of_a.name.size, &of_b, NULL))
            fail_msg("tensor '%s' is gone", of_a.name.at);
        if (strcmp(of_a.type, of_b.type) != 0 ||
            of_a.data.size != of_b.data.size || !same_shape(a, &of_a, b, &of_b))
            fail_msg("tensor '%s' is another", of_a.name.at);
        same_bytes(a, &of_a, b, &of_b);
    }
}

/* ---- nothing new is wrong ---- */

static bool has_rule(const struct mf_model *model, const char *rule)
{
    struct mf_finding finding;

    return find_rule(model, rule, &finding);
}

/* What the model did not have to have before: its format did not ask. */
static bool is_of_gguf_alone(const char *rule)
{
    static const char *const rules[] = { "MODEL-ARCHITECTURE", "MODEL-KEY",
                                         "GGUF-DIM-ZERO", "GGUF-KEY-STYLE" };

    for (size_t i = 0; i < COUNT(rules); i++)
        if (strcmp(rule, rules[i]) == 0)
            return true;
    return false;
}

/* Numbers for each layer have no key in APR: they tell their type, and no rule
 * of models finds them. */
static bool is_of_apr_alone(const char *path, const char *rule)
{
    return strcmp(path, "good-uneven.gguf") == 0 &&
           strcmp(rule, "MODEL-KEY") == 0;
}

static void nothing_new(const char *path, const struct mf_model *from,
                        struct mf_model *to)
{
    bool into_gguf = strcmp(mf_model_info(to)->format, "gguf") == 0 &&
                     strcmp(mf_model_info(from)->format, "gguf") != 0;
    struct mf_finding finding;

    assert_int_equal(mf_validate_data(to), MF_OK);
    for (size_t i = 0; mf_finding_at(to, i, &finding); i++)
        if (finding.severity != MF_NOTE && !has_rule(from, finding.rule) &&
            !(into_gguf && is_of_gguf_alone(finding.rule)) &&
            !is_of_apr_alone(path, finding.rule))
            fail_msg("%s: %s: %s", path, finding.rule, finding.message);
}

/* ---- every fixture in every format ---- */

/* What a format has no place for. */
static const struct refusal {
    const char *file, *format, *part;
} refusals[] = {
    { "good-array-nested.gguf", "apr", "an array of type array" },
    { "good-array-nested.gguf", "safetensors", "an array of type array" },
    { "good-big-endian.gguf", "apr", "big-endian" },
    { "good-big-endian.gguf", "safetensors", "big-endian" },
    { "good-dtypes-aprender.apr", "gguf", "'code.7.u8'" },
    { "good-dtypes-aprender.apr", "safetensors", "'code.8.apr_q4'" },
    { "good-dtypes-ggml.apr", "safetensors", "q4_0" },
    { "good-dtypes.apr", "gguf", "apr_q4" },
    { "good-dtypes.apr", "safetensors", "apr_q4" },
    { "good-dtypes.safetensors", "gguf", "c64" },
    { "good-dtypes.safetensors", "apr", "c64" },
    { "good-json-index.apr", "gguf", "json" },
    { "good-json-index.apr", "safetensors", "json" },
    { "good-llama.gguf", "apr", "q8_0" },
    { "good-llama.gguf", "safetensors", "q8_0" },
    { "good-metadata.apr", "gguf", "of type object" },
    { "good-metadata.safetensors", "gguf", "'k\xc3\xa9y'" },
    { "good-rank-10.safetensors", "gguf", "10 dimensions" },
    { "good-rank-10.safetensors", "apr", "10 dimensions" },
    { "good-realizar-q4k.apr", "gguf", "of type object" },
    { "good-realizar-q4k.apr", "safetensors", "q4_k" },
    { "good-type-iq4_ks.gguf", "apr", "iq4_ks" },
    { "good-type-iq4_ks.gguf", "safetensors", "iq4_ks" },
    { "good-types.gguf", "apr", "q4_0" },
    { "good-types.gguf", "safetensors", "q4_0" },
    { "good-v1.apr", "", "no tensors that could be copied" },
    { "good-v1-signed.apr", "", "no tensors that could be copied" },
    { "good-v1-zstd.apr", "", "no tensors that could be copied" },
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
    struct mf_convert_options options = { .replace = true };
    struct mf_convert_result result, planned;
    enum mf_status status;
    struct mf_model *copy;
    struct stat written;

    options.dry_run = true;
    status = mf_convert(model, path, &options, &planned);
    options.dry_run = false;
    if (refusal) {
        assert_int_equal(status, MF_ERR_UNSUPPORTED);
        if (!strstr(mf_env_error(env)->message, refusal->part))
            fail_msg("%s as %s: %s", name, format, mf_env_error(env)->message);
        return;
    }
    if (mf_convert(model, path, &options, &result) != MF_OK)
        fail_msg("%s as %s: %s", name, format, mf_env_error(env)->message);
    assert_int_equal(stat(path, &written), 0);
    assert_int_equal(result.file_size, written.st_size);
    assert_int_equal(planned.file_size, written.st_size);
    assert_string_equal(result.format, format);
    copy = open_model(path);
    same_tensors(model, copy);
    nothing_new(name, model, copy);
    mf_close(copy);
    if (suits(name, format) && mf_model_info(model)->shard_count == 1)
        assert_true(same_files(fixture_path(name), path));
}

static void in_all_formats(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *model;

    (void)bytes, (void)size;
    model = open_model(fixture_path(name));
    assert_int_equal(mf_validate_data(model), MF_OK);
    for (size_t i = 0; i < COUNT(formats); i++)
        in_one_format(name, model, formats[i]);
    mf_close(model);
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
    struct mf_convert_options options = { .replace = true };
    const char *back = scratch_path("back.gguf");

    (void)bytes, (void)size;
    /* Of a version that is not written anew, with a scalar that gets a
     * dimension, with a name that is too long: see the loop above. */
    if (!has_suffix(name, ".gguf") || strstr(name, "-split-") ||
        strstr(name, "-v1") || strstr(name, "-v2") || strstr(name, "rank-0") ||
        strstr(name, "name-64"))
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
            mf_close(from);
            mf_close(to);
        }
    }
}

static void gguf_there_and_back(void **state)
{
    (void)state;
    assert_true(each_fixture("good-", there_and_back) > 40);
    assert_int_equal(empty_scratch(), 3);
}

/* ---- several files ---- */

static void split_and_merge(const char *name, const char *suffix,
                            struct mf_convert_options split, size_t files)
{
    struct mf_convert_options usual = { 0 };
    struct mf_convert_result result;
    struct mf_model *from, *to;
    char first[64], whole[64];

    snprintf(first, sizeof(first), "part-00001-of-%05zu.%s", files, suffix);
    if (strcmp(suffix, "safetensors") == 0)
        snprintf(first, sizeof(first), "part.safetensors.index.json");
    snprintf(whole, sizeof(whole), "whole.%s", suffix);
    if (convert_file(env, fixture_path(name), output("part", suffix), &split,
                     &result) != MF_OK)
        fail_msg("%s: %s", name, mf_env_error(env)->message);
    assert_int_equal(result.file_count, files);
    must_convert(env, scratch_path(first), scratch_path(whole), &usual);
    from = open_model(fixture_path(name));
    to = open_model(scratch_path(whole));
    same_tensors(from, to);
    mf_close(from);
    mf_close(to);
    /* Of safetensors, where no padding is, large elements come first. */
    if (strcmp(suffix, "gguf") == 0 &&
        !same_files(fixture_path(name), scratch_path(whole)))
        fail_msg("%s: another file after splitting and merging", name);
    assert_int_equal(empty_scratch(),
                     files + 1 + (strcmp(suffix, "safetensors") == 0));
}

static void merged_as_before(void **state)
{
    const struct mf_convert_options one = { .shard_tensors = 1 };
    const struct mf_convert_options two = { .shard_tensors = 2 };
    const struct mf_convert_options hundred = { .shard_tensors = 100 };
    const struct mf_convert_options small = { .shard_size = 1000 };

    (void)state;
    split_and_merge("good-base.gguf", "gguf", one, 2);
    split_and_merge("good-many-tensors.gguf", "gguf", hundred, 3);
    split_and_merge("good-many-tensors.gguf", "gguf", small, 10);
    split_and_merge("good-llama.gguf", "gguf", small, 19);
    split_and_merge("good-alignment-64.gguf", "gguf", one, 2);
    split_and_merge("good-big-endian.gguf", "gguf", two, 3);
    split_and_merge("good-v1.gguf", "gguf", one, 2);
    split_and_merge("good-v2.gguf", "gguf", one, 2);
    split_and_merge("good-types.gguf", "gguf", two, 18);
    split_and_merge("good-type-iq4_ks.gguf", "gguf", two, 2);
    split_and_merge("good-base.safetensors", "safetensors", one, 1);
    split_and_merge("good-dtypes.safetensors", "safetensors", two, 11);
}

static uint64_t number_of(struct mf_model *model, const char *key,
                          enum mf_value_type type)
{
    struct mf_meta meta;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, NULL));
    assert_int_equal(meta.type, type);
    return meta.number.u64;
}

/* As llama-gguf-split names and marks them. */
static void shards_of_gguf(void **state)
{
    const struct mf_convert_options options = { .shard_tensors = 100 };
    const struct mf_open_options alone = { .shards = MF_SHARDS_ALONE };
    struct mf_model *whole, *shard;

    (void)state;
    must_convert(env, fixture_path("good-many-tensors.gguf"),
                 scratch_path("m.gguf"), &options);
    whole = open_model(fixture_path("good-many-tensors.gguf"));
    for (size_t i = 0; i < 3; i++) {
        char name[64];

        snprintf(name, sizeof(name), "m-%05zu-of-00003.gguf", i + 1);
        assert_int_equal(mf_open(env, scratch_path(name), &alone, &shard),
                         MF_OK);
        assert_int_equal(number_of(shard, "split.no", MF_VALUE_U16), i);
        assert_int_equal(number_of(shard, "split.count", MF_VALUE_U16), 3);
        assert_int_equal(number_of(shard, "split.tensors.count", MF_VALUE_I32),
                         300);
        assert_int_equal(mf_model_info(shard)->tensor_count, 100);
        assert_int_equal(mf_model_info(shard)->metadata_count,
                         i ? 3 : mf_model_info(whole)->metadata_count + 3);
        mf_close(shard);
    }
    mf_close(whole);
    assert_int_equal(empty_scratch(), 3);
}

/* Several files over those that are read: a crash would leave nothing. */
static void own_shards_are_spared(void **state)
{
    struct mf_convert_options options = { .shard_tensors = 100,
                                          .replace = true };
    size_t size, after;
    uint8_t *before, *now;

    (void)state;
    must_convert(env, fixture_path("good-many-tensors.gguf"),
                 scratch_path("m.gguf"), &options);
    before = load(scratch_path("m-00002-of-00003.gguf"), &size);
    must_refuse(env, scratch_path("m-00001-of-00003.gguf"),
                scratch_path("m.gguf"), &options, MF_ERR_OUTPUT,
                "is a file of the model itself");
    now = load(scratch_path("m-00002-of-00003.gguf"), &after);
    assert_int_equal(size, after);
    assert_memory_equal(before, now, size);
    free(before);
    free(now);
    /* Others of these names may be replaced. */
    must_convert(env, fixture_path("good-many-tensors.gguf"),
                 scratch_path("m.gguf"), &options);
    assert_int_equal(empty_scratch(), 3);
}

/* ---- room for edits ---- */

static void room_is_left_once(void **state)
{
    static const char *const names[] = { "good-base.gguf", "good-base.apr",
                                         "good-base.safetensors" };
    struct mf_convert_options options = { .reserve = 1000 };
    struct mf_convert_options usual = { .shard_tensors = 0 };
    struct stat once, twice, without;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *format = formats[i];
        struct mf_model *from, *to;

        must_convert(env, fixture_path(names[i]), output("a", format),
                     &options);
        must_convert(env, output("a", format), output("b", format), &options);
        from = open_model(fixture_path(names[i]));
        to = open_model(output("b", format));
        same_tensors(from, to);
        assert_int_equal(mf_validate_data(from), MF_OK);
        nothing_new(names[i], from, to);
        mf_close(from);
        mf_close(to);
        assert_int_equal(stat(fixture_path(names[i]), &without), 0);
        assert_int_equal(stat(output("a", format), &once), 0);
        assert_int_equal(stat(output("b", format), &twice), 0);
        assert_int_equal(once.st_size, twice.st_size);
        /* Old writers left some, too. */
        assert_true(once.st_size >= without.st_size + 900);
        must_convert(env, output("a", format),
                     output("c", formats[(i + 1) % 3]), &usual);
        empty_scratch();
    }
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
    const struct mf_convert_options usual = { .replace = true };
    const struct mf_convert_options halves = { .replace = true, .type = "f16" };

    (void)state;
    safetensors_save("{\"a.name.of.more.than.sixty.three.bytes.which.is.longer."
                     "than.ggml.has.room.for\":{\"dtype\":\"F32\",\"shape\":[1]"
                     ",\"data_offsets\":[0,4]}}",
                     4, scratch_path("long.safetensors"));
    must_refuse(env, scratch_path("long.safetensors"), scratch_path("o.gguf"),
                &usual, MF_ERR_UNSUPPORTED, "GGUF takes 1 to 63");
    must_convert(env, scratch_path("long.safetensors"), scratch_path("o.apr"),
                 &usual);
    safetensors_save("{\"a\\u0000b\":{\"dtype\":\"F32\",\"shape\":[1],"
                     "\"data_offsets\":[0,4]}}",
                     4, scratch_path("nul.safetensors"));
    must_refuse(env, scratch_path("nul.safetensors"), scratch_path("o.gguf"),
                &usual, MF_ERR_UNSUPPORTED, "no tensor's name");
    must_refuse(env, scratch_path("nul.safetensors"), scratch_path("o.apr"),
                &usual, MF_ERR_UNSUPPORTED, "holds a NUL");
    safetensors_save("{\"s\":{\"dtype\":\"F32\",\"shape\":[],"
                     "\"data_offsets\":[0,4]}}",
                     4, scratch_path("s.safetensors"));
    must_convert(env, scratch_path("s.safetensors"), scratch_path("s.apr"),
                 &usual);
    empty_scalar(scratch_path("s.apr"));
    must_refuse(env, scratch_path("s.apr"), scratch_path("o.gguf"), &usual,
                MF_ERR_UNSUPPORTED, "are not those of its shape");
    must_refuse(env, scratch_path("s.apr"), scratch_path("o.safetensors"),
                &halves, MF_ERR_UNSUPPORTED, "are not those of its shape");
    must_convert(env, scratch_path("s.apr"), scratch_path("o.apr"), &usual);
    empty_scratch();
}

/* An index has no number for APR's tensors of JSON. */
static void json_tensors(void **state)
{
    const struct mf_convert_options roomy = { .reserve = 100 };

    (void)state;
    must_refuse(env, fixture_path("good-json-index.apr"), scratch_path("o.apr"),
                &roomy, MF_ERR_UNSUPPORTED, "is JSON");
    assert_int_equal(empty_scratch(), 0);
}

/* A matrix of three rows without numbers. */
static void rows_of_nothing(void **state)
{
    const struct mf_convert_options floats = { .type = "f32",
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
    mf_close(model);
    empty_scratch();
}

static void damaged_models(void **state)
{
    const struct mf_convert_options usual = { .replace = true };

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
    const struct mf_open_options options = { .metadata_only = true };
    struct mf_model *model;

    (void)state;
    assert_int_equal(
        mf_open(env, fixture_path("good-base.gguf"), &options, &model), MF_OK);
    assert_int_equal(mf_convert(model, scratch_path("o.apr"), NULL, NULL),
                     MF_ERR_ARGUMENT);
    mf_close(model);
    assert_int_equal(empty_scratch(), 0);
}

/* ---- the heap ---- */

/* One try with the heap failing at that call; true when it no longer got
 * there. */
static bool try_failing(const char *from, const char *to, uint64_t call,
                        bool after)
{
    struct test_heap heap = { 0 };
    struct mf_env *own = test_env(&heap);
    struct mf_convert_options options = { .shard_tensors = after ? 0 : 1 };
    struct mf_model *model;
    enum mf_status status;
    size_t live;

    assert_int_equal(mf_open(own, from, NULL, &model), MF_OK);
    live = heap.live;
    heap.calls = 0;
    heap.fail_at = call;
    heap.fail_after = after;
    if (has_suffix(to, ".apr"))
        options.shard_tensors = 0; /* has no shards */
    status = mf_convert(model, to, &options, NULL);
    assert_int_equal(heap.live, live);
    mf_close(model);
    mf_env_free(own);
    assert_int_equal(heap.live, 0);
    if (status == MF_OK) {
        assert_true(heap.calls < call);
        assert_true(empty_scratch() > 0);
        return true;
    }
    assert_int_equal(status, MF_ERR_MEMORY);
    assert_int_equal(empty_scratch(), 0);
    return false;
}

static void every_allocation_failed(void **state)
{
    static const char *const names[] = { "good-base.safetensors",
                                         "good-arrays.gguf", "good-base.apr",
                                         "good-strings.gguf" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t f = 0; f < COUNT(formats); f++)
            for (int after = 0; after < 2; after++) {
                uint64_t call = 1;

                while (!try_failing(fixture_path(names[i]),
                                    output("o", formats[f]), call, after))
                    call++;
                assert_true(call > 3);
            }
}

/* A model of a few tensors that together have so many bytes, all of them a
 * hole. */
static void make_hollow(const char *path, uint64_t size)
{
    char header[8192];
    size_t at = 1;
    const uint64_t count = 80;
    struct image length = { .size = 0 };
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    header[0] = '{';
    for (uint64_t i = 0; i < count; i++)
        at += (size_t)snprintf(header + at, sizeof(header) - at,
                               "%s\"t.%02" PRIu64
                               "\":{\"dtype\":\"U8\",\"shape\":[%" PRIu64 "],"
                               "\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
                               i ? "," : "", i, size / count,
                               i * (size / count), (i + 1) * (size / count));
    header[at++] = '}';
    while (at % 8 != 0)
        header[at++] = ' ';
    image_int(&length, at, 8);
    fwrite(length.bytes, 1, 8, file);
    fwrite(header, 1, at, file);
    fflush(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)(8 + at + size)), 0);
    fclose(file);
}

static size_t peak_of(const char *from, const char *to, bool dry_run)
{
    struct mf_options how = { .threads = 4 };
    struct mf_env *own = mf_env_new(&how);
    struct mf_convert_options options = { .replace = true, .dry_run = dry_run };
    struct mf_heap_stats stats;
    struct mf_io_stats io;

    must_convert(own, from, to, &options);
    mf_env_heap(own, &stats);
    mf_env_io(own, &io);
    if (!dry_run) {
        struct stat written;

        assert_int_equal(stat(to, &written), 0);
        assert_true(io.bytes_written >= (uint64_t)written.st_size);
    } else {
        assert_int_equal(io.bytes_written, 0);
        assert_int_not_equal(access(to, F_OK), 0);
    }
    mf_env_free(own);
    return stats.peak;
}

/* 40 GB need no more than 80 MB, and neither need more than 8 MiB and 2 MiB for
 * each thread. */
static void heap_does_not_grow_with_tensors(void **state)
{
    const char *huge = scratch_path("huge.safetensors");
    const char *large = scratch_path("large.safetensors");
    size_t peak[3];

    (void)state;
    make_hollow(huge, 40000000000);
    make_hollow(large, 80000000);
    for (size_t i = 1; i < COUNT(formats); i++) {
        peak[0] = peak_of(large, output("o", formats[i]), true);
        peak[1] = peak_of(huge, output("o", formats[i]), true);
        peak[2] = peak_of(large, output("o", formats[i]), false);
        assert_true(peak[1] < peak[0] + 16384);
        assert_true(peak[1] < (size_t)1 << 20);
        assert_true(peak[2] < ((size_t)8 << 20) + 4 * ((size_t)2 << 20));
        unlink(output("o", formats[i]));
    }
    empty_scratch();
}

/* ---- threads ---- */

/* Noise, so that a piece in the wrong place is seen. */
static void make_noise(const char *path)
{
    static const char header[] =
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[9000001],"
        "\"data_offsets\":[0,9000001]},\"b\":{\"dtype\":\"U8\",\"shape\":"
        "[4999999],\"data_offsets\":[9000001,14000000]}}   ";
    struct image length = { .size = 0 };
    FILE *file = fopen(path, "wb");
    uint32_t state = 1;

    assert_non_null(file);
    image_int(&length, sizeof(header) - 1, 8);
    fwrite(length.bytes, 1, 8, file);
    fwrite(header, 1, sizeof(header) - 1, file);
    for (size_t i = 0; i < 14000000; i++) {
        state = state * 1664525 + 1013904223;
        putc((int)(state >> 24), file);
    }
    fclose(file);
}

static void threads_do_not_show(void **state)
{
    static const unsigned counts[] = { 1, 2, 3, 7 };
    const char *from = scratch_path("noise.safetensors");

    (void)state;
    make_noise(from);
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct mf_options how = { .threads = counts[i] };
        struct mf_convert_options options = { .replace = true };
        struct mf_env *own = mf_env_new(&how);
        struct mf_model *a, *b;

        must_convert(own, from, scratch_path(i ? "o.apr" : "one.apr"),
                     &options);
        mf_env_free(own);
        if (i > 0)
            assert_true(
                same_files(scratch_path("one.apr"), scratch_path("o.apr")));
        if (i > 0)
            continue;
        a = open_model(from);
        b = open_model(scratch_path("one.apr"));
        same_tensors(a, b);
        nothing_new("noise", a, b); /* its checksum among others */
        mf_close(a);
        mf_close(b);
    }
    empty_scratch();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture_in_every_format),
        cmocka_unit_test(gguf_there_and_back),
        cmocka_unit_test(merged_as_before),
        cmocka_unit_test(shards_of_gguf),
        cmocka_unit_test(own_shards_are_spared),
        cmocka_unit_test(room_is_left_once),
        cmocka_unit_test(odd_tensors),
        cmocka_unit_test(json_tensors),
        cmocka_unit_test(rows_of_nothing),
        cmocka_unit_test(damaged_models),
        cmocka_unit_test(without_its_tensors),
        cmocka_unit_test(every_allocation_failed),
        cmocka_unit_test(heap_does_not_grow_with_tensors),
        cmocka_unit_test(threads_do_not_show),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}
