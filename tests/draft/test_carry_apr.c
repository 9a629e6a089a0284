/* SPDX-License-Identifier: MIT
 *
 * test_carry_apr.c - APR's metadata in other formats, and back
 */
#include "tests/with_scratch.h"

static const struct mf_convert_options usual = {
    .size = sizeof(struct mf_convert_options), .replace = true
};

/* A safetensors file of these metadata, as JSON. */
static void save_strings(const char *metadata, const char *name)
{
    char header[1024];

    snprintf(header, sizeof(header),
             "{\"__metadata__\":{%s},\"t\":{\"dtype\":\"F32\",\"shape\":[1],"
             "\"data_offsets\":[0,4]}}",
             metadata);
    for (size_t size = strlen(header); size % 8 != 0; size++)
        strcat(header, " ");
    safetensors_save(header, 4, scratch_path(name));
}

static void convert(const char *from, const char *to)
{
    must_convert(env, scratch_path(from), scratch_path(to), &usual);
}

/* The types of a value and of an array's elements; -1 without such a key. */
static int type_in(const char *file, const char *key, int *of)
{
    struct mf_model *model;
    struct mf_meta meta;
    int type = -1;

    assert_int_equal(mf_model_open(env, scratch_path(file), NULL, &model),
                     MF_OK);
    if (mf_meta_find(model, key, strlen(key), &meta, NULL)) {
        type = (int)meta.type;
        *of = (int)meta.of;
    }
    mf_model_close(model);
    return type;
}

static void expect_text(const char *file, const char *key, const char *text)
{
    struct mf_model *model;
    struct mf_meta meta;
    bool found;

    assert_int_equal(mf_model_open(env, scratch_path(file), NULL, &model),
                     MF_OK);
    found = mf_meta_find(model, key, strlen(key), &meta, NULL);
    if (found != (text != NULL) ||
        (found && (meta.type != MF_VALUE_STRING || !meta.text.at ||
                   strcmp(meta.text.at, text) != 0)))
        fail_msg("%s: '%s' is %s%s, not %s", file, key,
                 found ? "" : "not there",
                 found && meta.text.at ? meta.text.at : "",
                 text ? text : "not there");
    mf_model_close(model);
}

/* ---- by way of strings ---- */

static void count_metadata(void *user, const struct mf_difference *difference)
{
    *(size_t *)user += !difference->is_tensor;
}

static void expect_same_metadata(const char *path, const char *other)
{
    struct mf_diff_options options = { .size = sizeof(struct mf_diff_options),
                                       .no_data = true };
    struct mf_model *a, *b;
    size_t count = 0;

    assert_int_equal(mf_model_open(env, path, NULL, &a), MF_OK);
    assert_int_equal(mf_model_open(env, other, NULL, &b), MF_OK);
    assert_int_equal(mf_model_diff(a, b, &options, count_metadata, &count),
                     MF_OK);
    assert_int_equal(count, 0);
    assert_int_equal(mf_model_info(a)->metadata_count,
                     mf_model_info(b)->metadata_count);
    mf_model_close(a);
    mf_model_close(b);
}

/* All that JSON has: objects, nulls, numbers of every kind. */
static void all_of_it_returns_from_strings(void **state)
{
    const char *from = fixture_path("good-metadata.apr");

    (void)state;
    must_convert(env, from, scratch_path("a.safetensors"), &usual);
    convert("a.safetensors", "b.apr");
    expect_same_metadata(from, scratch_path("b.apr"));
}

/* An array whose type only its digits show, as in a tokenizer's scores. */
static void arrays_of_digits(void **state)
{
    static const char *const keys[] = { "x", "y", "tokenizer.scores" };
    int of;

    (void)state;
    save_strings("\"x:json\":\"[0.5,-2]\",\"y:json\":\"[1,-2]\","
                 "\"z:f64[]\":\"[0.5]\",\"tokenizer.scores:json\":\"[0,-1.5]\"",
                 "a.safetensors");
    convert("a.safetensors", "a.apr");
    convert("a.apr", "b.safetensors");
    convert("b.safetensors", "b.apr");
    assert_true(same_files(scratch_path("a.apr"), scratch_path("b.apr")));
    for (size_t i = 0; i < COUNT(keys); i++) {
        assert_int_equal(type_in("a.apr", keys[i], &of), MF_VALUE_ARRAY);
        assert_int_equal(of, i == 1 ? MF_VALUE_I64 : MF_VALUE_F64);
    }
    /* GGUF names the type, and it is kept from then on. */
    assert_int_equal(type_in("a.apr", "z:f64[]", &of), MF_VALUE_ARRAY);

    convert("a.apr", "a.gguf");
    convert("b.safetensors", "b.gguf");
    assert_true(same_files(scratch_path("a.gguf"), scratch_path("b.gguf")));
    assert_int_equal(type_in("a.gguf", "x", &of), MF_VALUE_ARRAY);
    assert_int_equal(of, MF_VALUE_F64);
    assert_int_equal(type_in("a.gguf", "y", &of), MF_VALUE_ARRAY);
    assert_int_equal(of, MF_VALUE_I64);
    assert_int_equal(type_in("a.gguf", "tokenizer.ggml.scores", &of),
                     MF_VALUE_ARRAY);
    assert_int_equal(of, MF_VALUE_F32);
}

/* Keys that only APR requires do not get into safetensors. */
static void strings_return_from_apr(void **state)
{
    static const char *const metadata[] = {
        "\"format\":\"pt\"",
        "\"format\":\"pt\",\"architecture\":\"llama\"",
        "\"license\":\"MIT\",\"model_type\":\"sample\"",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(metadata); i++) {
        save_strings(metadata[i], "a.safetensors");
        convert("a.safetensors", "b.apr");
        convert("b.apr", "b.safetensors");
        if (!same_files(scratch_path("a.safetensors"),
                        scratch_path("b.safetensors")))
            fail_msg("%s comes back as other bytes", metadata[i]);
    }
}

/* ---- what a model is ---- */

static void model_types(void **state)
{
    static const struct {
        const char *architecture, *type; /* of APR */
        const char *gguf, *gguf_type;    /* NULL: not there */
        const char *back;                /* the architecture, then */
    } rows[] = {
        { "llama", "llama", "llama", NULL, "llama" },
        { "llama", "sample", "llama", "sample", "llama" },
        { "llama", NULL, "llama", NULL, "llama" },
        { NULL, "sample", "sample", NULL, "sample" },
        { NULL, "", NULL, NULL, NULL },
    };
    char metadata[256];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *type = rows[i].type ? rows[i].type : rows[i].architecture;

        snprintf(metadata, sizeof(metadata), "\"format\":\"pt\"%s%s%s%s%s%s",
                 rows[i].architecture ? ",\"architecture\":\"" : "",
                 rows[i].architecture ? rows[i].architecture : "",
                 rows[i].architecture ? "\"" : "",
                 rows[i].type ? ",\"model_type\":\"" : "",
                 rows[i].type ? rows[i].type : "", rows[i].type ? "\"" : "");
        save_strings(metadata, "a.safetensors");
        convert("a.safetensors", "a.apr");
        expect_text("a.apr", "model_type", type);
        expect_text("a.apr", "architecture", rows[i].architecture);
        convert("a.apr", "a.gguf");
        expect_text("a.gguf", "general.architecture", rows[i].gguf);
        expect_text("a.gguf", "model_type", rows[i].gguf_type);
        convert("a.gguf", "b.apr");
        expect_text("b.apr", "model_type", type);
        expect_text("b.apr", "model_type:string", NULL);
        expect_text("b.apr", "architecture", rows[i].back);
        convert("b.apr", "b.gguf");
        assert_true(same_files(scratch_path("a.gguf"), scratch_path("b.gguf")));
        convert("a.apr", "b.safetensors");
        convert("b.safetensors", "b.gguf");
        expect_text("b.gguf", "general.architecture", rows[i].gguf);
        expect_text("b.gguf", "model_type", rows[i].gguf_type);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_returns_from_strings),
        cmocka_unit_test(arrays_of_digits),
        cmocka_unit_test(strings_return_from_apr),
        cmocka_unit_test(model_types),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
