/* SPDX-License-Identifier: MIT
 *
 * test_apr_meta.c - metadata and facts of the APR fixtures, value by value
 */
#include <inttypes.h>

#include "tests/with_env.h"

/* ---- values ---- */

/* "key type=value", or "key type*count" of what has elements. */
static void check_meta(const struct mf_model *model, size_t index,
                       const char *expected)
{
    struct mf_meta meta;
    char line[256];
    int at;

    assert_true(mf_meta_at(model, index, &meta));
    at = snprintf(line, sizeof(line), "%s %s", meta.key.at,
                  mf_value_type_name(meta.type));
    if (meta.type == MF_VALUE_STRING)
        snprintf(line + at, sizeof(line) - (size_t)at, "=%s", meta.text.at);
    else if (meta.type == MF_VALUE_U64)
        snprintf(line + at, sizeof(line) - (size_t)at, "=%" PRIu64,
                 meta.number.u64);
    else if (meta.type == MF_VALUE_F64)
        snprintf(line + at, sizeof(line) - (size_t)at, "=%g", meta.number.f64);
    else if (meta.type == MF_VALUE_BOOL)
        snprintf(line + at, sizeof(line) - (size_t)at, "=%d",
                 meta.number.boolean);
    else if (meta.type == MF_VALUE_ARRAY)
        snprintf(line + at, sizeof(line) - (size_t)at, "*%" PRIu64 " of %s",
                 meta.count, mf_value_type_name(meta.of));
    else if (meta.type == MF_VALUE_OBJECT)
        snprintf(line + at, sizeof(line) - (size_t)at, "*%" PRIu64, meta.count);
    assert_string_equal(line, expected);
}

static void every_metadatum(void **state)
{
    static const char *const lines[] = {
        "model_type string=llama",
        "name string=Tiny",
        "description string=A \"tiny\" model",
        "author string=make.c",
        "license string=MIT",
        "data_source null",
        "data_license null",
        "version string=1.0.0",
        "source string=fixtures",
        "original_format string=gguf",
        "created_at string=2026-01-01T00:00:00Z",
        "total_size u64=32",
        "param_count u64=8",
        "quantization object*4",
        "sharding object*4",
        ("chat_template string={% for m in messages %}\n"
         "{{ m.content }}{% endfor %}"),
        "chat_format string=chatml",
        "special_tokens object*6",
        "architecture string=llama",
        "hf_architecture string=LlamaForCausalLM",
        "hf_model_type string=llama",
        "hidden_size u64=32",
        "num_layers u64=2",
        "num_heads u64=4",
        "num_kv_heads u64=2",
        "vocab_size u64=4",
        "intermediate_size u64=64",
        "max_position_embeddings u64=128",
        "rope_theta f64=10000",
        "rope_type u64=0",
        "rms_norm_eps f64=1e-05",
        "head_dim u64=8",
        "num_experts u64=1",
        "num_experts_per_tok u64=1",
        "moe_intermediate_size u64=64",
        "tokenizer.vocabulary array*4 of string",
        "tokenizer.merges array*2 of string",
        "tokenizer.scores array*4 of f64",
        "tokenizer.vocab_size u64=4",
        "tokenizer.add_bos_token bool=1",
        "custom object*1",
    };
    struct mf_model *model = open_fixture("good-metadata.apr");

    (void)state;
    assert_int_equal(mf_model_info(model)->metadata_count, COUNT(lines));
    for (size_t i = 0; i < COUNT(lines); i++)
        check_meta(model, i, lines[i]);
    mf_model_close(model);
}

static void every_metadatum_of_version_1(void **state)
{
    static const char *const lines[] = {
        "created_at string=1764278947",
        "aprender_version string=0.11.0",
        "model_name string=tiny",
        "description string=a regression with a description over 31 bytes",
        "training object*3",
        "metrics object*1",
        "custom object*4",
    };
    static const char *const files[] = { "good-v1.apr", "good-v1-signed.apr",
                                         "good-v1-zstd.apr" };

    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        struct mf_model *model = open_fixture(files[i]);

        assert_string_equal(mf_model_info(model)->variant, "v1");
        assert_int_equal(mf_model_info(model)->version, 1);
        assert_int_equal(mf_model_info(model)->tensor_count, 0);
        assert_int_equal(mf_model_info(model)->data_offset, 0x10c);
        assert_int_equal(mf_model_info(model)->metadata_count, COUNT(lines));
        for (size_t k = 0; k < COUNT(lines); k++)
            check_meta(model, k, lines[k]);
        mf_model_close(model);
    }
}

/* A value as text made from its events: a dot before each key, a space after
 * each item. */
static void print_events(struct mf_model *model, const char *key, char *out,
                         size_t size)
{
    struct mf_values *values;
    struct mf_value value;
    struct mf_meta meta;
    size_t index, at = 0;

    assert_true(mf_meta_find(model, key, strlen(key), &meta, &index));
    assert_int_equal(mf_values_open(model, index, &values), MF_OK);
    for (;;) {
        char *here = out + at;

        assert_int_equal(mf_values_next(values, &value), MF_OK);
        if (value.event == MF_EVENT_DONE)
            break;
        if (value.event == MF_EVENT_BEGIN || value.event == MF_EVENT_END)
            snprintf(here, size - at, "%c",
                     (value.type == MF_VALUE_OBJECT
                          ? "{}"
                          : "[]")[value.event == MF_EVENT_END]);
        else if (value.type == MF_VALUE_STRING)
            snprintf(here, size - at, "%s%.*s ",
                     value.event == MF_EVENT_KEY ? "." : "",
                     (int)value.text.size, value.text.at);
        else if (value.type == MF_VALUE_U64)
            snprintf(here, size - at, "%" PRIu64 " ", value.number.u64);
        else if (value.type == MF_VALUE_I64)
            snprintf(here, size - at, "%" PRId64 " ", value.number.i64);
        else if (value.type == MF_VALUE_F64)
            snprintf(here, size - at, "%g ", value.number.f64);
        else if (value.type == MF_VALUE_BOOL)
            snprintf(here, size - at, "%s ",
                     value.number.boolean ? "yes" : "no");
        else
            snprintf(here, size - at, "%s ", mf_value_type_name(value.type));
        at += strlen(here);
    }
    mf_values_close(values);
}

static void values_are_read_event_by_event(void **state)
{
    static const struct {
        const char *name, *key, *events;
    } rows[] = {
        { "good-metadata.apr", "custom", "{.nested [1 [2 {.three null }]]}" },
        { "good-metadata.apr", "tokenizer.scores", "[0 -1.5 -2 -3 ]" },
        { "good-metadata.apr", "tokenizer.vocabulary",
          "[<s> </s> a \xe2\x96\x81"
          "b ]" },
        { "good-metadata.apr", "license", "MIT " },
        { "good-v1.apr", "training",
          "{.samples 100000 .duration_ms 1099511627776 .source null }" },
        { "good-v1.apr", "metrics", "{.r2 0.875 }" },
        { "good-v1.apr", "custom",
          "{.ready yes .draft no .layers [1 -32 300 ].none []}" },
        { "good-v1.apr", "model_name", "tiny " },
    };
    char events[256];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_model *model = open_fixture(rows[i].name);

        print_events(model, rows[i].key, events, sizeof(events));
        assert_string_equal(events, rows[i].events);
        mf_model_close(model);
    }
}

/* ---- facts ---- */

static void facts_under_both_writers_names(void **state)
{
    static const char *const names[] = { "good-metadata.apr",
                                         "good-realizar-q4k.apr" };
    static const uint64_t numbers[][6] = {
        { 128, 32, 2, 4, 2, 4 },
        { 128, 256, 1, 4, 4, 4 },
    };
    static const enum mf_fact order[] = {
        MF_FACT_CONTEXT_LENGTH, MF_FACT_EMBEDDING_LENGTH, MF_FACT_BLOCK_COUNT,
        MF_FACT_HEAD_COUNT,     MF_FACT_HEAD_COUNT_KV,    MF_FACT_VOCAB_SIZE,
    };
    struct mf_meta fact;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct mf_model *model = open_fixture(names[i]);

        assert_true(mf_model_fact(model, MF_FACT_ARCHITECTURE, &fact, NULL));
        assert_string_equal(fact.text.at, "llama");
        for (size_t k = 0; k < COUNT(order); k++) {
            assert_true(mf_model_fact(model, order[k], &fact, NULL));
            assert_int_equal(fact.number.u64, numbers[i][k]);
        }
        mf_model_close(model);
    }
}

static void facts_from_what_else_there_is(void **state)
{
    struct mf_model *model = open_fixture("good-metadata-large.apr");
    struct mf_meta fact;

    (void)state;
    /* A vocabulary gives its size as well; null does not count. */
    assert_true(mf_model_fact(model, MF_FACT_VOCAB_SIZE, &fact, NULL));
    assert_string_equal(fact.key.at, "tokenizer.vocabulary");
    assert_int_equal(fact.count, 400);
    assert_true(mf_model_fact(model, MF_FACT_ARCHITECTURE, &fact, NULL));
    assert_string_equal(fact.key.at, "model_type");
    mf_model_close(model);

    model = open_fixture("good-base.apr");
    assert_false(mf_model_fact(model, MF_FACT_LICENSE, &fact, NULL));
    mf_model_close(model);
    model = open_fixture("bad-metadata-alias.apr");
    assert_true(mf_model_fact(model, MF_FACT_BLOCK_COUNT, &fact, NULL));
    assert_string_equal(fact.key.at, "num_hidden_layers");
    mf_model_close(model);
    model = open_fixture("good-v1.apr");
    assert_true(mf_model_fact(model, MF_FACT_NAME, &fact, NULL));
    assert_string_equal(fact.text.at, "tiny");
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_metadatum),
        WITH_ENV(every_metadatum_of_version_1),
        WITH_ENV(values_are_read_event_by_event),
        WITH_ENV(facts_under_both_writers_names),
        WITH_ENV(facts_from_what_else_there_is),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
