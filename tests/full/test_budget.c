/* SPDX-License-Identifier: MIT
 *
 * test_budget.c - with little memory each operation does the same, or says that
 * it is too little
 *
 * Every operation writes what it finds to a text, and some write files; both
 * must be the same as in a run without a limit.
 */
#include <inttypes.h>

#include "lib/base/heap.h"
#include "tests/quantize/mix.h"

/* ---- a model ---- */

enum { TOKENS = 3000, LONG = 9000, PART = 1500 };

static FILE *file;

static void put(uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fputc((int)(value >> 8 * i & 0xff), file);
}

static void put_text(const char *text, size_t size)
{
    put(size, 8);
    assert_int_equal(fwrite(text, 1, size, file), size);
}

static void put_key(const char *key, enum mf_value_type type)
{
    put_text(key, strlen(key));
    put(type, 4);
}

static void put_string(const char *key, const char *text)
{
    put_key(key, MF_VALUE_STRING);
    put_text(text, strlen(text));
}

static void put_array(const char *key, enum mf_value_type of, uint64_t count)
{
    put_key(key, MF_VALUE_ARRAY);
    put(of, 4);
    put(count, 8);
}

/* A text that is longer than a window of values, or than a part of a hash. */
static void put_long(char letter, size_t size, char last)
{
    char text[LONG];

    assert_true(size <= sizeof(text));
    memset(text, letter, size);
    text[size - 1] = last;
    put_text(text, size);
}

static void put_tokens(void)
{
    char text[32];

    put_array("tokenizer.ggml.tokens", MF_VALUE_STRING, TOKENS);
    for (unsigned i = 0; i < TOKENS - 5; i++)
        put_text(text, (size_t)snprintf(text, sizeof(text), "t%u",
                                        i == 2500 ? 7 : i));
    put_long('a', PART, 'a');
    put_long('b', PART, 'b');
    put_long('c', LONG, 'd');
    put_long('c', LONG, 'c');
    put_long('c', LONG, 'd'); /* the second duplicate */
    put_array("tokenizer.ggml.token_type", MF_VALUE_I32, TOKENS);
    for (unsigned i = 0; i < TOKENS; i++)
        put(i == 1234 ? 9 : 1, 4);
}

static void put_merges(void)
{
    char text[2 * PART + 1];

    put_array("tokenizer.ggml.merges", MF_VALUE_STRING, 600);
    for (unsigned i = 0; i < 599; i++)
        put_text(text, (size_t)snprintf(text, sizeof(text), "t%u %s%u", i,
                                        i % 100 == 99 ? "u" : "t", 2 * i));
    memset(text, 'a', PART);
    memset(text + PART + 1, 'b', PART);
    text[PART] = ' ';
    put_text(text, sizeof(text));
}

static const struct shape {
    const char *name;
    uint32_t rank;
    uint64_t dim[3];
    bool half;
} shapes[] = {
    { "token_embd.weight", 2, { 512, 300 }, true },
    { "blk.0.attn_q.weight", 2, { 512, 700 }, true },
    { "blk.0.attn_norm.weight", 1, { 512 }, false },
    { "blk.0.ffn_up_exps.weight", 3, { 256, 4, 96 }, true },
    { "blk.0.zero.weight", 2, { 256, 64 }, true },
    { "output.weight", 2, { 1024, 160 }, true },
};

static uint64_t numbers_of(const struct shape *shape)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < shape->rank; i++)
        count *= shape->dim[i];
    return count;
}

/* Halves and floats from about 2^-8 to 2^3, of both signs. */
static void put_numbers(const struct shape *shape)
{
    uint64_t state = shape->dim[0] * UINT64_C(0x9E3779B97F4A7C15);
    bool zero = strstr(shape->name, "zero");

    for (uint64_t i = numbers_of(shape); i > 0; i--) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        if (shape->half)
            put(zero ? 0 : (state >> 40 & 0x8fff) + 0x2000, 2);
        else
            put((state >> 33 & 0x81ffffff) + 0x3c000000, 4);
    }
}

static void put_model(const char *path)
{
    uint64_t offset = 0;

    file = fopen(path, "wb");
    assert_non_null(file);
    fputs("GGUF", file);
    put(3, 4);
    put(COUNT(shapes), 8);
    put(5, 8);
    put_string("general.architecture", "llama");
    put_string("tokenizer.ggml.model", "gpt2");
    put_tokens();
    put_merges();
    for (size_t i = 0; i < COUNT(shapes); i++) {
        put_text(shapes[i].name, strlen(shapes[i].name));
        put(shapes[i].rank, 4);
        for (uint32_t k = 0; k < shapes[i].rank; k++)
            put(shapes[i].dim[k], 8);
        put(shapes[i].half, 4); /* f16 is 1, f32 is 0 */
        put(offset, 8);
        offset += numbers_of(&shapes[i]) * (shapes[i].half ? 2 : 4);
    }
    while (ftell(file) % 32 != 0)
        put(0, 1);
    for (size_t i = 0; i < COUNT(shapes); i++)
        put_numbers(&shapes[i]);
    assert_int_equal(fclose(file), 0);
}

/* Importance of all matrices. */
static void put_matrix(const char *path)
{
    FILE *matrix = start_matrix(path, 5);

    for (size_t i = 0; i < COUNT(shapes); i++) {
        const uint64_t *dim = shapes[i].dim;
        uint64_t count = shapes[i].rank > 2 ? dim[0] * dim[2] : dim[0];

        if (shapes[i].rank > 1)
            write_entry(matrix, shapes[i].name, 2, (uint32_t)count, 3);
    }
    assert_int_equal(fclose(matrix), 0);
}

/* ---- operations ---- */

struct result {
    char text[1 << 16];
    size_t size;
};

static void say(struct result *result, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    result->size +=
        (size_t)vsnprintf(result->text + result->size,
                          sizeof(result->text) - result->size, format, values);
    va_end(values);
    assert_true(result->size < sizeof(result->text));
}

static void say_bytes(struct result *result, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        say(result, "%02x", bytes[i]);
    say(result, "\n");
}

typedef enum mf_status operation(struct mf_model *model, const char *out,
                                 struct result *result);

static enum mf_status validate(struct mf_model *model, const char *out,
                               struct result *result)
{
    enum mf_status status = mf_model_validate(model);
    struct mf_finding finding;

    (void)out;
    if (status == MF_OK)
        status = mf_model_validate_data(model);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        say(result, "%s %d %" PRIu64 " %s\n", finding.rule, finding.severity,
            finding.offset, finding.message);
    return status;
}

/* All texts, however they are cut. */
static enum mf_status values(struct mf_model *model, const char *out,
                             struct result *result)
{
    (void)out;
    for (size_t i = 0; i < mf_model_info(model)->metadata_count; i++) {
        struct mf_value value = { .event = MF_EVENT_BEGIN };
        uint64_t sum = 0, events = 0, size = 0;
        struct mf_values *all;

        if (mf_values_open(model, i, &all) != MF_OK)
            return mf_env_error(model->env)->status;
        while (value.event != MF_EVENT_DONE &&
               mf_values_next(all, &value) == MF_OK) {
            events += !value.more;
            size += value.text.size;
            for (size_t k = 0; k < value.text.size; k++)
                sum = sum * 31 + (uint8_t)value.text.at[k];
        }
        mf_values_close(all);
        if (value.event != MF_EVENT_DONE)
            return mf_env_error(model->env)->status;
        say(result, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", events, size, sum);
    }
    return MF_OK;
}

static enum mf_status hash(struct mf_model *model, const char *out,
                           struct result *result)
{
    static const enum mf_digest_kind kinds[] = { MF_CRC32, MF_XXH64,
                                                 MF_XXH3_128 };
    uint8_t digests[COUNT(shapes) * MF_DIGEST_MAX], all[MF_DIGEST_MAX];
    enum mf_status status = MF_OK;

    (void)out;
    for (size_t i = 0; i < COUNT(kinds) && status == MF_OK; i++) {
        struct mf_digest_info info;

        mf_digest_at(kinds[i], &info);
        status = mf_model_hash_tensors(model, kinds[i], digests);
        if (status == MF_OK)
            status = mf_model_hash_data(model, kinds[i], all);
        if (status == MF_OK) {
            say_bytes(result, digests, COUNT(shapes) * info.size);
            say_bytes(result, all, info.size);
        }
    }
    return status;
}

static enum mf_status stats(struct mf_model *model, const char *out,
                            struct result *result)
{
    struct mf_tensor_stats found[COUNT(shapes)];
    size_t index[COUNT(shapes)];
    enum mf_status status;

    (void)out;
    for (size_t i = 0; i < COUNT(shapes); i++)
        index[i] = i;
    status = mf_tensor_stats(model, index, COUNT(shapes), found);
    for (size_t i = 0; i < COUNT(shapes) && status == MF_OK; i++)
        say(result, "%a %a %a %a %a\n", found[i].min, found[i].max,
            found[i].mean, found[i].std, found[i].l2);
    return status;
}

static void say_difference(void *user, const struct mf_difference *difference)
{
    const struct mf_value_errors *values = difference->values;

    say(user, "%u %zu %zu %" PRIu64 " %s\n", difference->what, difference->a,
        difference->b, difference->first,
        difference->no_values ? difference->no_values : "");
    if (values)
        say_bytes(user, (const uint8_t *)values, sizeof(*values));
}

static enum mf_status diff(struct mf_model *model, const char *out,
                           struct result *result)
{
    const struct mf_diff_options options = { .size =
                                                 sizeof(struct mf_diff_options),
                                             .values = true };
    struct mf_model *other;
    enum mf_status status =
        mf_model_open(model->env, scratch_path("other.gguf"), NULL, &other);

    (void)out;
    if (status != MF_OK)
        return status;
    status = mf_model_diff(model, other, &options, say_difference, result);
    mf_model_close(other);
    return status;
}

static enum mf_status export(struct mf_model *model, const char *out,
                             struct result *result) {
    (void)result; return mf_tensor_export(model, 1, out, NULL);
}

static enum mf_status convert(struct mf_model *model, const char *out,
                              const struct mf_convert_options *more)
{
    struct mf_convert_options options = *more;

    options.size = sizeof(options);
    options.lossy = true;
    return mf_model_convert(model, out, &options, NULL);
}

static enum mf_status to_apr(struct mf_model *model, const char *out,
                             struct result *result)
{
    (void)result;
    return convert(model, out, &(struct mf_convert_options){ .format = "apr" });
}

static enum mf_status to_safetensors(struct mf_model *model, const char *out,
                                     struct result *result)
{
    (void)result;
    return convert(model, out,
                   &(struct mf_convert_options){ .format = "safetensors" });
}

static enum mf_status to_floats(struct mf_model *model, const char *out,
                                struct result *result)
{
    (void)result;
    return convert(model, out, &(struct mf_convert_options){ .type = "f32" });
}

static enum mf_status dequantize(struct mf_model *model, const char *out,
                                 struct result *result)
{
    (void)result;
    return convert(
        model, out,
        &(struct mf_convert_options){ .type = "f16", .dequantize = true });
}

static enum mf_status quantize(struct mf_model *model, const char *out,
                               struct result *result)
{
    const struct mf_quantize_options options = {
        .size = sizeof(struct mf_quantize_options),
        .type = "Q4_K_M",
        .imatrix = scratch_path("matrix"),
        .report = true
    };
    struct mf_quantize_result done;
    enum mf_status status =
        mf_model_quantize(model, out, &options, NULL, &done);

    for (size_t i = 0; i < MF_QUANTIZED_MAX && status == MF_OK; i++)
        if (done.type[i].tensors > 0)
            say(result, "%s %zu %a %a %a\n", done.type[i].name,
                done.type[i].tensors, done.type[i].rmse, done.type[i].worst,
                done.type[i].cosine);
    return status;
}

static enum mf_status split(struct mf_model *model, const char *out,
                            struct result *result)
{
    char shard[512];
    enum mf_status status =
        convert(model, out, &(struct mf_convert_options){ .shard_tensors = 4 });

    for (size_t i = 0; i < 2 && status == MF_OK; i++) {
        struct mf_env *own = mf_env_new(NULL);
        uint8_t digest[MF_DIGEST_MAX];

        assert_true(mf_shard_path(out, "gguf", i, 2, shard, sizeof(shard)));
        assert_int_equal(mf_file_hash(own, shard, MF_XXH3_128, digest), MF_OK);
        say_bytes(result, digest, 16);
        mf_env_free(own);
        assert_int_equal(remove(shard), 0);
    }
    return status;
}

static enum mf_status merge(struct mf_model *model, const char *out,
                            struct result *result)
{
    (void)result;
    return convert(model, out, &(struct mf_convert_options){ .type = NULL });
}

static const struct test_case {
    const char *name, *from;
    operation *run;
    size_t enough; /* KiB with which it must work */
} cases[] = {
    { "validate", "model.gguf", validate, 36 },
    { "values", "model.gguf", values, 24 },
    { "hash", "model.gguf", hash, 32 },
    { "stats", "model.gguf", stats, 32 },
    { "diff", "model.gguf", diff, 48 },
    { "export", "model.gguf", export, 40 },
    { "convert to apr", "model.gguf", to_apr, 50 },
    { "convert to safetensors", "model.gguf", to_safetensors, 50 },
    { "convert to f32", "model.gguf", to_floats, 40 },
    { "quantize", "model.gguf", quantize, 192 },
    { "dequantize", "quantized.gguf", dequantize, 48 },
    { "split", "model.gguf", split, 40 },
    { "merge", "split-00001-of-00002.gguf", merge, 40 },
};

static char last_message[400];

/* One operation with its own env.  What is written goes to `out`. */
static enum mf_status run(const struct test_case *test,
                          const struct mf_options *options, const char *out,
                          struct result *result)
{
    struct mf_env *own = mf_env_new(options);
    struct mf_heap_stats heap;
    struct mf_model *model;
    enum mf_status status;

    result->size = 0;
    remove(out);
    if (!own)
        return MF_ERR_MEMORY;
    status = mf_model_open(own, scratch_path(test->from), NULL, &model);
    if (status == MF_OK) {
        status = test->run(model, out, result);
        mf_model_close(model);
    }
    snprintf(last_message, sizeof(last_message), "%s",
             mf_env_error(own)->message);
    mf_env_heap(own, &heap);
    if (options->heap_limit > 0)
        assert_true(heap.peak <= options->heap_limit);
    mf_env_free(own);
    return status;
}

/* ---- the tests ---- */

static char expected_path[512], out_path[512];
static struct result expected, found;

static void expect(const struct test_case *test)
{
    const struct mf_options options = { .size = sizeof(struct mf_options) };

    assert_int_equal(run(test, &options, expected_path, &expected), MF_OK);
}

static void check_same(const struct test_case *test, const char *when)
{
    bool written = access(expected_path, F_OK) == 0;

    if (found.size != expected.size ||
        memcmp(found.text, expected.text, found.size) != 0)
        fail_msg("%s, %s:\n%.*s\ninstead of\n%.*s", test->name, when,
                 (int)found.size, found.text, (int)expected.size,
                 expected.text);
    assert_int_equal(access(out_path, F_OK) == 0, written);
    if (written && !same_files(out_path, expected_path))
        fail_msg("%s, %s: the file is another one", test->name, when);
}

/* Steps of an eighth, on one thread and on three. */
static void try_limits(const struct test_case *test)
{
    unsigned tries = 0;

    expect(test);
    for (size_t limit = 2048; limit < 6 << 20; limit += limit / 8, tries++) {
        const struct mf_options options = { .size = sizeof(struct mf_options),
                                            .heap_limit = limit,
                                            .threads = tries % 2 ? 3 : 1 };
        enum mf_status status = run(test, &options, out_path, &found);
        char when[64];

        snprintf(when, sizeof(when), "%zu bytes", limit);
        if (status == MF_OK)
            check_same(test, when);
        else if (limit >= test->enough * 1024)
            fail_msg("%s fails with %s: %s", test->name, when, last_message);
        else
            assert_true(status == MF_ERR_LIMIT || status == MF_ERR_MEMORY);
    }
}

static void limits_do_not_show(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        try_limits(&cases[i]);
}

/* Other threads of the program take memory and give it back: a request above a
 * page is refused now and then, whatever was given before. */
struct moody {
    uint64_t state;
    unsigned refused;
};

static void *moody_resize(void *user, void *block, size_t old_size,
                          size_t new_size)
{
    struct moody *moody = user;

    if (new_size == 0) {
        free(block);
        return NULL;
    }
    moody->state = moody->state * UINT64_C(6364136223846793005) + 1;
    if (new_size > old_size && new_size > 4096 && moody->state >> 62 == 0) {
        moody->refused++;
        return NULL;
    }
    return realloc(block, new_size);
}

static void refusals_do_not_show(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        unsigned survived = 0;

        expect(&cases[i]);
        for (uint64_t seed = 1; seed <= 40; seed++) {
            struct moody moody = { .state = seed * seed << 40 };
            const struct mf_options options = {
                .size = sizeof(struct mf_options),
                .allocator = { .resize = moody_resize, .user = &moody },
                .threads = 1 + seed % 2,
            };
            enum mf_status status = run(&cases[i], &options, out_path, &found);

            if (status == MF_OK)
                check_same(&cases[i], "some refused");
            else
                assert_int_equal(status, MF_ERR_MEMORY);
            survived += status == MF_OK && moody.refused > 0;
        }
        if (survived < 3)
            fail_msg("%s: %u survived a refusal", cases[i].name, survived);
    }
}

static int set_up(void **state)
{
    struct mf_env *env = mf_env_new(NULL);
    const struct mf_convert_options halves = {
        .size = sizeof(struct mf_convert_options), .shard_tensors = 3
    };
    const struct mf_convert_options narrow = {
        .size = sizeof(struct mf_convert_options), .type = "bf16"
    };
    struct mf_model *model;
    int failed = make_scratch(state);

    strcpy(expected_path, scratch_path("expected.gguf"));
    strcpy(out_path, scratch_path("out.gguf"));
    put_model(scratch_path("model.gguf"));
    put_matrix(scratch_path("matrix"));
    must_convert(env, scratch_path("model.gguf"), scratch_path("split.gguf"),
                 &halves);
    must_convert(env, scratch_path("model.gguf"), scratch_path("other.gguf"),
                 &narrow);
    assert_int_equal(
        mf_model_open(env, scratch_path("model.gguf"), NULL, &model), MF_OK);
    assert_int_equal(quantize(model, scratch_path("quantized.gguf"), &found),
                     MF_OK);
    mf_model_close(model);
    mf_env_free(env);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_do_not_show),
        cmocka_unit_test(refusals_do_not_show),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, remove_scratch);
}
