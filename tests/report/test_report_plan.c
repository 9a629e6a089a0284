/* SPDX-License-Identifier: MIT
 *
 * test_report_plan.c - the member "plan" is what mf_plan and mf_plan_fit say
 */
#include <stdio.h>

#include "tests/report/report_document.h"

#include "tests/plan/plan_tensors.h"

static const struct mf_node *plan_of(struct mf_model *model)
{
    if (write_section(mf_report_plan, model, NULL) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return mf_node_at(read_written(), "plan");
}

/* ---- contexts ---- */

static void check_contexts(uint64_t most)
{
    uint64_t context[MF_PLAN_POINTS];
    size_t count = mf_plan_contexts(most, context);
    uint64_t last = most < 4294967040 ? most : 4294967040;

    assert_true(count >= 1 && count <= MF_PLAN_POINTS);
    assert_int_equal(context[count - 1], most > 0 ? last : 256);
    if (most >= 256)
        assert_int_equal(context[0], 256);
    for (size_t i = 1; i < count; i++)
        assert_true(context[i] > context[i - 1]);
    for (size_t i = 0; i + 1 < count; i++)
        assert_int_equal(context[i] % 256, 0);
}

static void contexts_rise(void **state)
{
    (void)state;
    for (uint64_t most = 0; most < 20000; most++)
        check_contexts(most);
    for (unsigned bit = 14; bit < 64; bit++)
        for (int i = -1; i <= 1; i++)
            check_contexts((UINT64_C(1) << bit) + (uint64_t)i);
    check_contexts(UINT64_MAX);
}

/* ---- curves ---- */

static void check_amount(const struct mf_node *node, uint64_t amount)
{
    assert_non_null(node);
    if (amount >= MF_PLAN_HUGE)
        assert_int_equal(node->kind, MF_NODE_NULL);
    else if (node->kind == MF_NODE_STRING)
        assert_true(strtoull(node->text.at, NULL, 10) == amount);
    else
        assert_true(node->kind == MF_NODE_NUMBER && node->number.u64 == amount);
}

static const struct mf_node *in(const struct mf_node *list, const char *key,
                                size_t index)
{
    char path[64];

    snprintf(path, sizeof(path), "%s.%zu", key, index);
    return mf_node_at(list, path);
}

/* Each number of it. */
static void check_curve(struct mf_model *model, const struct mf_node *plan,
                        const struct mf_node *curve)
{
    size_t count = mf_node_at(plan, "contexts")->count;

    for (size_t i = 0; i < count; i++) {
        struct mf_plan one;

        assert_int_equal(
            mf_plan(model,
                    OPTIONS(.context = in(plan, "contexts", i)->number.u64,
                            .type_k = mf_node_text(curve, "type_k").at,
                            .type_v = mf_node_text(curve, "type_v").at),
                    &one),
            MF_OK);
        for (unsigned line = 0; line < MF_PLAN_LINE_COUNT; line++)
            check_amount(
                in(curve, mf_plan_line_name((enum mf_plan_line)line), i),
                one.line[line]);
        check_amount(in(curve, "total", i), one.total);
    }
}

/* Models of all kinds; types: of the cache that suit them. */
static const struct {
    const char *arch, *keys;
    unsigned types;
} models[] = {
    { "llama",
      "block_count=2 context_length=8192 embedding_length=256 "
      "attention.head_count=4 feed_forward_length=512 vocab_size=100",
      3 },
    { "llama",
      "block_count=1 context_length=256 embedding_length=64 "
      "attention.head_count=1 feed_forward_length=64 vocab_size=1",
      3 },
    { "llama", /* rows of 16 numbers are not blocks of 32 */
      "block_count=1 context_length=1000 embedding_length=16 "
      "attention.head_count=1 feed_forward_length=64 vocab_size=1",
      1 },
    { "llama", /* no length of a context */
      "block_count=1 embedding_length=64 attention.head_count=1 "
      "feed_forward_length=64 vocab_size=1",
      3 },
    { "gemma3",
      "block_count=6 context_length=131072 embedding_length=256 "
      "attention.head_count=4 attention.head_count_kv=1 "
      "attention.key_length=64 attention.value_length=64 "
      "feed_forward_length=512 attention.sliding_window=1024 vocab_size=100",
      3 },
    { "mamba",
      "block_count=2 context_length=1048576 embedding_length=256 "
      "ssm.conv_kernel=4 ssm.inner_size=512 ssm.state_size=16 "
      "ssm.time_step_rank=16 vocab_size=100",
      3 },
    { "llama",
      "block_count=1 context_length=4294967295 embedding_length=4294967232 "
      "attention.head_count=1 vocab_size=1",
      3 },
    { "something-new", "block_count=2 context_length=512", 3 },
};

static void curves_are_plans(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(models); i++) {
        struct mf_model *model = open_header(models[i].arch, models[i].keys);
        const struct mf_node *plan = plan_of(model);
        const struct mf_node *curves = mf_node_at(plan, "curves");

        assert_int_equal(curves->count, models[i].types);
        for (const struct mf_node *curve = curves->first; curve;
             curve = curve->next)
            check_curve(model, plan, curve);
        mf_model_close(model);
    }
}

static void reasons_are_there(void **state)
{
    struct mf_model *model = open_header(models[3].arch, models[3].keys);
    const struct mf_node *plan = plan_of(model);

    (void)state;
    assert_true(is_null_at(plan, "context"));
    assert_non_null(
        strstr(mf_node_text(plan, "reason").at, "llama.context_length"));
    assert_int_equal(
        in(plan, "contexts", mf_node_at(plan, "contexts")->count - 1)
            ->number.u64,
        4096);
    assert_true(number_at(plan, "curves.0.kv.0") > 0);
    mf_model_close(model);
    model = open_header("llama", "context_length=512 embedding_length=64");
    plan = plan_of(model);
    assert_non_null(
        strstr(mf_node_text(plan, "reason").at, "llama.block_count"));
    assert_true(is_null_at(plan, "curves.0.kv.0"));
    assert_null(mf_node_at(plan, "devices"));
    mf_model_close(model);
}

/* ---- mixes ---- */

static const struct shape shapes[] = {
    { 4, 512, 128, 1024, 1000, 0, false },
    { 4, 512, 128, 1024, 1000, 0, true },
    { 2, 256, 256, 512, 300, 8, false },
    { 1, 96, 32, 100, 10, 0, true },
};

#define SHAPE_KEYS                                                             \
    "block_count=%u context_length=2048 embedding_length=%u "                  \
    "attention.head_count=4 attention.head_count_kv=%u "                       \
    "feed_forward_length=%u vocab_size=%u"

/* As if it had its data, without which it could not be quantized. */
static struct mf_model *open_row(const struct shape *shape)
{
    struct mf_open_options options = { .size = sizeof(options) };
    struct mf_model *model;
    char keys[400];
    size_t size = (size_t)snprintf(keys, sizeof(keys), SHAPE_KEYS,
                                   shape->blocks, (unsigned)shape->embd,
                                   (unsigned)(shape->kv * 4 / shape->embd),
                                   (unsigned)shape->ff, (unsigned)shape->vocab);

    if (shape->experts)
        snprintf(keys + size, sizeof(keys) - size,
                 " expert_count=%u expert_used_count=2",
                 (unsigned)shape->experts);
    mf_model_close(open_shape(keys, shape));
    options.file_size = image.size + tensor_end;
    assert_int_equal(mf_model_open_memory(env, "made.gguf", image.at,
                                          image.size, &options, &model),
                     MF_OK);
    return model;
}

/* A curve with a mix's weights in place of its own is the plan of that mix. */
static void check_mix(struct mf_model *model, const struct mf_node *plan,
                      const struct mf_node *mix)
{
    size_t count = mf_node_at(plan, "contexts")->count;
    uint64_t weights = number_at(mix, "weights");

    for (size_t i = 0; i < count; i += 5) {
        struct mf_plan one;

        assert_int_equal(
            mf_plan(model,
                    OPTIONS(.context = in(plan, "contexts", i)->number.u64,
                            .as = mf_node_text(mix, "name").at),
                    &one),
            MF_OK);
        if (one.line[MF_PLAN_WEIGHTS] != weights)
            fail_msg("%s: %llu, not %llu", mf_node_text(mix, "name").at,
                     (unsigned long long)weights,
                     (unsigned long long)one.line[MF_PLAN_WEIGHTS]);
        assert_int_equal(in(plan, "curves.0.total", i)->number.u64 -
                             in(plan, "curves.0.weights", i)->number.u64 +
                             weights,
                         one.total);
    }
}

static void mixes_change_the_weights_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct mf_model *model = open_row(&shapes[i]);
        const struct mf_node *plan = plan_of(model);
        size_t known = 0;

        for (const struct mf_node *mix = mf_node_at(plan, "mixes")->first; mix;
             mix = mix->next)
            if (!is_null_at(mix, "weights")) {
                check_mix(model, plan, mix);
                known++;
            }
        assert_true(known > 20);
        mf_model_close(model);
    }
}

/* ---- what has no plan ---- */

static void has_none(const char *name)
{
    struct mf_model *model = open_fixture(name);

    assert_int_equal(write_section(mf_report_plan, model, NULL), MF_OK);
    assert_int_equal(written.size, 2);
    assert_int_equal(mf_env_error(env)->status, MF_OK);
    mf_model_close(model);
}

static void what_is_not_run_has_none(void **state)
{
    (void)state;
    has_none("good-imatrix.gguf");
    has_none("good-imatrix.dat");
    has_none("good-table.parquet");
    has_none("good-empty.safetensors");
    has_none("good-scalar.npy");
    has_none("bad-architecture-none.gguf");
}

static void any_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *model;

    if (mf_model_open_memory(env, name, bytes, size, NULL, &model) != MF_OK)
        return;
    if (write_section(mf_report_plan, model, NULL) != MF_OK)
        fail_msg("%s: %s", name, mf_env_error(env)->message);
    read_written();
    mf_model_close(model);
}

static void every_fixture_has_one_or_none(void **state)
{
    (void)state;
    assert_true(each_fixture("", any_fixture) > 100);
}

/* ---- memory ---- */

static bool try_failing(uint64_t call, bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *own = test_env(&heap);
    struct mf_model *model = NULL;
    enum mf_status status = MF_ERR_MEMORY;

    if (own && mf_model_open(own, fixture_path("good-hf-llama"), NULL,
                             &model) == MF_OK)
        status = write_section(mf_report_plan, model, NULL);
    mf_model_close(model);
    mf_env_free(own);
    assert_int_equal(heap.live, 0);
    check_refused(&heap, status);
    return heap.calls < call;
}

static void every_allocation_failed(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (!try_failing(call, after))
            call++;
        assert_true(call > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_rise),
        WITH_DOCUMENT(curves_are_plans),
        WITH_DOCUMENT(reasons_are_there),
        WITH_DOCUMENT(mixes_change_the_weights_alone),
        WITH_DOCUMENT(what_is_not_run_has_none),
        WITH_DOCUMENT(every_fixture_has_one_or_none),
        cmocka_unit_test(every_allocation_failed),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    free(written.at);
    return failed;
}
