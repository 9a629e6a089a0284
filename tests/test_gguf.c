/* SPDX-License-Identifier: MIT
 *
 * test_gguf.c - what GGUF fixtures hold, and which fault is found where
 *
 * fixtures/make_gguf*.c says what each file is made of.
 */
#include <math.h>

#include "tests/support.h"

static struct mf_env *env;

static struct mf_model *open_as(const char *name,
                                const struct mf_open_options *options)
{
    struct mf_model *model;

    if (mf_open(env, fixture_path(name), options, &model) != MF_OK)
        fail_msg("%s: %s", name, mf_env_error(env)->message);
    return model;
}

static struct mf_model *open_fixture(const char *name)
{
    return open_as(name, NULL);
}

static struct mf_meta meta_of(const struct mf_model *model, const char *key)
{
    struct mf_meta meta;

    if (!mf_meta_find(model, key, strlen(key), &meta, NULL))
        fail_msg("there is no key %s", key);
    return meta;
}

static struct mf_tensor tensor_of(const struct mf_model *model,
                                  const char *name)
{
    struct mf_tensor tensor;

    if (!mf_tensor_find(model, name, strlen(name), &tensor, NULL))
        fail_msg("there is no tensor %s", name);
    return tensor;
}

/* ---- versions ---- */

static void check_base(const char *name, uint32_t version,
                       enum mf_byte_order order)
{
    struct mf_model *model = open_fixture(name);
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_tensor a = tensor_of(model, "a.weight");
    struct mf_tensor b = tensor_of(model, "b.weight");
    struct mf_meta meta = meta_of(model, "general.architecture");

    assert_string_equal(info->format, "gguf");
    assert_int_equal(info->version, version);
    assert_int_equal(info->byte_order, order);
    assert_int_equal(info->alignment, 32);
    assert_int_equal(info->data_offset % 32, 0);
    assert_true(info->fastest_first && info->has_tensors);
    assert_int_equal(meta.text.size, 4);
    assert_memory_equal(meta.text.at, "tiny", 4);
    assert_string_equal(a.type, "f32");
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.dim[0], 4);
    assert_int_equal(a.dim[1], 2);
    assert_int_equal(a.parameters, 8);
    assert_int_equal(a.data.offset, info->data_offset);
    assert_int_equal(a.data.size, 32);
    assert_int_equal(b.rank, 1);
    assert_int_equal(b.data.offset, info->data_offset + 32);
    assert_int_equal(b.data.size, 24);
    mf_close(model);
}

static void versions_and_byte_orders(void **state)
{
    (void)state;
    check_base("good-base.gguf", 3, MF_LITTLE_ENDIAN);
    check_base("good-v1.gguf", 1, MF_LITTLE_ENDIAN);
    check_base("good-v2.gguf", 2, MF_LITTLE_ENDIAN);
    check_base("good-big-endian.gguf", 3, MF_BIG_ENDIAN);
}

/* ---- values ---- */

static void numbers_at_their_limits(void **state)
{
    struct mf_model *model = open_fixture("good-scalars.gguf");
    static const struct {
        const char *type;
        uint64_t least, most;
    } integers[] = {
        { "u8", 0, UINT8_MAX },
        { "u16", 0, UINT16_MAX },
        { "u32", 0, UINT32_MAX },
        { "u64", 0, UINT64_MAX },
        { "i8", (uint64_t)INT8_MIN, INT8_MAX },
        { "i16", (uint64_t)INT16_MIN, INT16_MAX },
        { "i32", (uint64_t)INT32_MIN, INT32_MAX },
        { "i64", (uint64_t)INT64_MIN, INT64_MAX },
    };
    size_t found = 0;
    struct mf_meta meta;

    (void)state;
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        for (size_t j = 0; j < sizeof(integers) / sizeof(*integers); j++)
            if (strcmp(mf_value_type_name(meta.type), integers[j].type) == 0) {
                assert_true(meta.number.u64 == integers[j].least ||
                            meta.number.u64 == integers[j].most);
                found++;
            }
    assert_int_equal(found, 2 * sizeof(integers) / sizeof(*integers));
    mf_close(model);
}

static void numbers_of_big_endian_files(void **state)
{
    struct mf_model *model = open_fixture("good-big-endian.gguf");
    struct mf_values *values;
    struct mf_value value;
    size_t at;
    struct mf_meta meta;

    (void)state;
    assert_int_equal(meta_of(model, "tiny.u16").number.u64, 0x1234);
    assert_true(meta_of(model, "tiny.f64").number.f64 == 0.1);
    assert_true(mf_meta_find(model, "tiny.numbers", 12, &meta, &at));
    assert_int_equal(mf_values_open(model, at, &values), MF_OK);
    assert_int_equal(mf_values_next(values, &value), MF_OK);
    assert_int_equal(value.event, MF_EVENT_BEGIN);
    assert_int_equal(value.of, MF_VALUE_I32);
    assert_int_equal(value.count, 2);
    assert_int_equal(mf_values_next(values, &value), MF_OK);
    assert_int_equal(value.number.i64, 258);
    assert_int_equal(mf_values_next(values, &value), MF_OK);
    assert_int_equal(value.number.i64, -1);
    assert_int_equal(mf_values_next(values, &value), MF_OK);
    assert_int_equal(value.event, MF_EVENT_END);
    assert_int_equal(mf_values_next(values, &value), MF_OK);
    assert_int_equal(value.event, MF_EVENT_DONE);
    mf_values_close(values);
    mf_close(model);
}

/* The string of metadatum number at, put together from its pieces; free it. */
static char *whole_text(struct mf_model *model, size_t at, size_t *size)
{
    struct mf_values *values;
    struct mf_value value;
    char *text = malloc(1);

    *size = 0;
    assert_int_equal(mf_values_open(model, at, &values), MF_OK);
    do {
        assert_int_equal(mf_values_next(values, &value), MF_OK);
        assert_int_equal(value.event, MF_EVENT_ITEM);
        assert_int_equal(value.type, MF_VALUE_STRING);
        text = realloc(text, *size + value.text.size + 1);
        assert_non_null(text);
        memcpy(text + *size, value.text.at, value.text.size);
        *size += value.text.size;
    } while (value.more);
    assert_int_equal(mf_values_next(values, &value), MF_OK);
    assert_int_equal(value.event, MF_EVENT_DONE);
    mf_values_close(values);
    return text;
}

/* Strings up to 1024 bytes are kept; all of them can be told. */
static void strings_of_every_length(void **state)
{
    struct mf_model *model = open_fixture("good-strings.gguf");
    size_t strings = 0, empty = 0, longer = 0;
    struct mf_meta meta;

    (void)state;
    for (size_t i = 0; mf_meta_at(model, i, &meta); i++) {
        size_t size;
        char *text;

        if (meta.type != MF_VALUE_STRING)
            continue;
        text = whole_text(model, i, &size);
        assert_int_equal(size, meta.count);
        assert_int_equal(meta.text.at != NULL, size <= 1024);
        if (meta.text.at)
            assert_memory_equal(text, meta.text.at, size);
        strings++;
        empty += size == 0;
        longer += size > 1024;
        free(text);
    }
    assert_true(strings > 5 && empty == 1 && longer == 2);
    mf_close(model);
}

/* Nested arrays as text: "[[1 2 ] [3 ] [] ] ". */
static void spell(struct mf_model *model, const char *key, char *out)
{
    struct mf_values *values;
    struct mf_value value;
    struct mf_meta meta;
    size_t at;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, &at));
    assert_int_equal(mf_values_open(model, at, &values), MF_OK);
    for (;;) {
        assert_int_equal(mf_values_next(values, &value), MF_OK);
        if (value.event == MF_EVENT_DONE)
            break;
        if (value.event == MF_EVENT_BEGIN)
            out += sprintf(out, "[");
        else if (value.event == MF_EVENT_END)
            out += sprintf(out, "] ");
        else if (value.type == MF_VALUE_STRING)
            out += sprintf(out, "%.*s ", (int)value.text.size, value.text.at);
        else
            out += sprintf(out, "%d ", (int)value.number.i64);
    }
    mf_values_close(values);
}

static void nested_arrays(void **state)
{
    struct mf_model *model = open_fixture("good-array-nested.gguf");
    char text[128];

    (void)state;
    spell(model, "nested.i32", text);
    assert_string_equal(text, "[[1 2 ] [3 ] [] ] ");
    spell(model, "nested.empty", text);
    assert_string_equal(text, "[] ");
    mf_close(model);
}

/* ---- types ---- */

static void every_type_has_its_size(void **state)
{
    struct mf_model *model = open_fixture("good-types.gguf");
    struct mf_tensor tensor;
    struct mf_type_info type;
    size_t seen = 0;

    (void)state;
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        for (size_t t = 0; mf_type_at(t, &type); t++)
            if (strcmp(type.name, tensor.type) == 0) {
                assert_true(type.gguf);
                assert_int_equal(tensor.data.size,
                                 tensor.parameters / type.block * type.size);
                seen++;
            }
    assert_int_equal(seen, 35);
    mf_close(model);
}

static void unknown_types_take_the_room_they_have(void **state)
{
    struct mf_model *model = open_fixture("unsupported-type-1234.gguf");
    struct mf_tensor tensor = tensor_of(model, "c.weight");

    (void)state;
    assert_string_equal(tensor.type, "type_1234");
    assert_int_equal(tensor.data.size, 128);
    assert_int_equal(tensor.flags, MF_TENSOR_SIZE_INFERRED);
    mf_close(model);
    model = open_fixture("good-type-iq4_ks.gguf");
    tensor = tensor_of(model, "c.weight");
    assert_string_equal(tensor.type, "iq4_ks");
    assert_int_equal(tensor.data.size, 288);
    mf_close(model);
}

static void alignment_moves_the_data(void **state)
{
    struct mf_model *model = open_fixture("good-alignment-64.gguf");

    (void)state;
    assert_int_equal(mf_model_info(model)->alignment, 64);
    assert_int_equal(mf_model_info(model)->data_offset % 64, 0);
    assert_int_equal(tensor_of(model, "b.weight").data.offset,
                     mf_model_info(model)->data_offset + 64);
    mf_close(model);
}

/* ---- facts ---- */

static void facts_of_a_llama(void **state)
{
    static const struct {
        enum mf_fact fact;
        uint64_t value;
    } facts[] = {
        { MF_FACT_CONTEXT_LENGTH, 128 }, { MF_FACT_EMBEDDING_LENGTH, 32 },
        { MF_FACT_BLOCK_COUNT, 2 },      { MF_FACT_HEAD_COUNT, 4 },
        { MF_FACT_HEAD_COUNT_KV, 2 },
    };
    struct mf_model *model = open_fixture("good-llama.gguf");
    struct mf_meta meta;

    (void)state;
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        assert_true(mf_model_fact(model, facts[i].fact, &meta, NULL));
        assert_int_equal(meta.number.u64, facts[i].value);
    }
    assert_true(mf_model_fact(model, MF_FACT_FILE_TYPE, &meta, NULL));
    assert_memory_equal(meta.text.at, "Q8_0", 4);
    assert_true(mf_model_fact(model, MF_FACT_VOCAB_SIZE, &meta, NULL));
    assert_int_equal(meta.count, 16);
    mf_close(model);
}

/* ---- shards ---- */

static void split_models_open_from_any_shard(void **state)
{
    static const char *const names[] = { "good-split-00001-of-00003.gguf",
                                         "good-split-00002-of-00003.gguf",
                                         "good-split-00003-of-00003.gguf" };
    static const size_t tensors[] = { 0, 2, 1 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct mf_open_options alone = { .shards = MF_SHARDS_ALONE };
        struct mf_model *model = open_fixture(names[i]);
        struct mf_shard shard;

        assert_int_equal(mf_model_info(model)->shard_count, 3);
        assert_int_equal(mf_model_info(model)->tensor_count, 3);
        assert_int_equal(tensor_of(model, "b.weight").shard, 1);
        assert_int_equal(tensor_of(model, "c.weight").shard, 2);
        assert_true(mf_shard_at(model, 1, &shard));
        assert_true(has_suffix(shard.path, names[1]));
        mf_close(model);
        model = open_as(names[i], &alone);
        assert_int_equal(mf_model_info(model)->shard_count, 1);
        assert_int_equal(mf_model_info(model)->tensor_count, tensors[i]);
        assert_int_equal(mf_model_info(model)->error_count, 0);
        mf_close(model);
    }
}

static void shards_that_do_not_fit_are_named(void **state)
{
    static const struct {
        const char *file, *shard;
    } rows[] = {
        { "bad-split-foreign-00001-of-00002.gguf",
          "bad-split-foreign-00002-of-00002.gguf" },
        { "bad-split-missing-00001-of-00002.gguf",
          "bad-split-missing-00002-of-00002.gguf" },
    };
    struct mf_model *model;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_not_equal(
            mf_open(env, fixture_path(rows[i].file), NULL, &model), MF_OK);
        assert_non_null(strstr(mf_env_error(env)->message, rows[i].shard));
    }
}

/* ---- metadata alone ---- */

static void metadata_only_stops_before_tensors(void **state)
{
    struct mf_open_options options = { .metadata_only = true };
    struct mf_model *model = open_as("good-many-tensors.gguf", &options);

    (void)state;
    assert_false(mf_model_info(model)->has_tensors);
    assert_int_equal(mf_model_info(model)->tensor_count, 0);
    assert_memory_equal(meta_of(model, "general.architecture").text.at, "tiny",
                        4);
    mf_close(model);
}

static int begin(void **state)
{
    (void)state;
    env = mf_env_new(NULL);
    return env ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mf_env_free(env); /* which minds what was not closed */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_byte_orders),
        cmocka_unit_test(numbers_at_their_limits),
        cmocka_unit_test(numbers_of_big_endian_files),
        cmocka_unit_test(strings_of_every_length),
        cmocka_unit_test(nested_arrays),
        cmocka_unit_test(every_type_has_its_size),
        cmocka_unit_test(unknown_types_take_the_room_they_have),
        cmocka_unit_test(alignment_moves_the_data),
        cmocka_unit_test(facts_of_a_llama),
        cmocka_unit_test(split_models_open_from_any_shard),
        cmocka_unit_test(shards_that_do_not_fit_are_named),
        cmocka_unit_test(metadata_only_stops_before_tensors),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
