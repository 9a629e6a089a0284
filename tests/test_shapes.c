/* SPDX-License-Identifier: MIT
 *
 * test_shapes.c - the table of architectures, row by row
 *
 * For each architecture a model is made of the rows that hold for it, with
 * numbers that are written down here: nothing may be found in it.  Then each
 * dimension is changed, each part left out and each key taken away, and that
 * must be found.  A new row is tested before its author writes a test.
 */
#include "tests/image.h"

#include "lib/check/families.h"
#include "lib/model/facts.h"

/* ---- a model in memory ---- */

static void put_string(const char *text)
{
    put_number(strlen(text), 8);
    put(text, strlen(text));
}

/* Any numbers do whose sums and products differ. */
static const struct {
    int fact;
    const char *key;
    uint32_t value; /* 0: a float */
} keys[] = {
    { MF_FACT_CONTEXT_LENGTH, "context_length", 21 },
    { MF_FACT_EMBEDDING_LENGTH, "embedding_length", 96 },
    { MF_FACT_BLOCK_COUNT, "block_count", 1 },
    { MF_FACT_FEED_FORWARD_LENGTH, "feed_forward_length", 50 },
    { MF_FACT_HEAD_COUNT, "attention.head_count", 4 },
    { MF_FACT_HEAD_COUNT_KV, "attention.head_count_kv", 2 },
    { MF_FACT_VOCAB_SIZE, "vocab_size", 41 },
    { MF_FACT_KEY_LENGTH, "attention.key_length", 32 },
    { MF_FACT_VALUE_LENGTH, "attention.value_length", 20 },
    { MF_DETAIL_NORM_EPSILON, "attention.layer_norm_epsilon", 0 },
    { MF_DETAIL_RMS_EPSILON, "attention.layer_norm_rms_epsilon", 0 },
    { MF_DETAIL_ROPE, "rope.dimension_count", 12 },
    { MF_DETAIL_Q_LORA_RANK, "attention.q_lora_rank", 22 },
    { MF_DETAIL_KV_LORA_RANK, "attention.kv_lora_rank", 18 },
    { MF_DETAIL_EXPERT_COUNT, "expert_count", 8 },
    { MF_DETAIL_EXPERT_USED_COUNT, "expert_used_count", 5 },
    { MF_DETAIL_EXPERT_LENGTH, "expert_feed_forward_length", 43 },
    { MF_DETAIL_SHARED_COUNT, "expert_shared_count", 3 },
    { MF_DETAIL_SSM_CONV_KERNEL, "ssm.conv_kernel", 6 },
    { MF_DETAIL_SSM_INNER_SIZE, "ssm.inner_size", 190 },
    { MF_DETAIL_SSM_STATE_SIZE, "ssm.state_size", 9 },
    { MF_DETAIL_SSM_STEP_RANK, "ssm.time_step_rank", 7 },
};

/* What follows from them; ANY is anything. */
static const uint64_t lengths[MF_LENGTH_COUNT] = {
    [MF_LENGTH_ANY] = 3,
    [MF_LENGTH_ONE] = 1,
    [MF_LENGTH_EMBED] = 96,
    [MF_LENGTH_VOCAB] = 41,
    [MF_LENGTH_CONTEXT] = 21,
    [MF_LENGTH_HEADS] = 4,
    [MF_LENGTH_HEADS_KV] = 2,
    [MF_LENGTH_HEAD] = 32,
    [MF_LENGTH_Q] = 4 * 32,
    [MF_LENGTH_K] = 2 * 32,
    [MF_LENGTH_V] = 2 * 20,
    [MF_LENGTH_QKV] = 128 + 64 + 40,
    [MF_LENGTH_OUT] = 4 * 20,
    [MF_LENGTH_FEED] = 50,
    [MF_LENGTH_FEED_2] = 100,
    [MF_LENGTH_FEED_HALF] = 25,
    [MF_LENGTH_EXPERTS] = 8,
    [MF_LENGTH_EXPERT] = 43,
    [MF_LENGTH_EXPERT_2] = 86,
    [MF_LENGTH_SLICE] = 43,
    [MF_LENGTH_SLICE_2] = 86,
    [MF_LENGTH_SHARED] = 3 * 43,
    [MF_LENGTH_TURN] = 6,
    [MF_LENGTH_RANK_Q] = 22,
    [MF_LENGTH_RANK_KV] = 18,
    [MF_LENGTH_KV_A] = 18 + 12,
    [MF_LENGTH_KV_B] = 4 * (20 + 20),
    [MF_LENGTH_STILL] = 32 - 12,
    [MF_LENGTH_INNER] = 190,
    [MF_LENGTH_INNER_2] = 380,
    [MF_LENGTH_STATE] = 9,
    [MF_LENGTH_CONV] = 6,
    [MF_LENGTH_STEP] = 7,
    [MF_LENGTH_STEP_STATE] = 7 + 18,
};

/* What to do otherwise; zero: nothing. */
struct fault {
    int fact;       /* not told */
    uint32_t parts; /* rows that fill one of them are left out */
    const struct mf_tensor_row *row; /* has one dimension longer */
    size_t dimension;
};

static void put_keys(const char *architecture, int without)
{
    put_string("general.architecture");
    put_number(8, 4);
    put_string(architecture);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        char key[80];

        snprintf(key, sizeof(key), "%s.%s%s", architecture, keys[i].key,
                 without == keys[i].fact ? "?" : "");
        put_string(key);
        put_number(keys[i].value > 0 ? 4 : 6, 4);
        put_number(keys[i].value > 0 ? keys[i].value : 0x38000000, 4);
    }
}

/* The first row of a name is the one that counts. */
static bool is_first(const struct mf_tensor_row *row, uint32_t traits)
{
    for (const struct mf_tensor_row *other = mf_tensor_rows; other < row;
         other++)
        if (other->gguf && (other->trait & traits) &&
            strcmp(other->gguf, row->gguf) == 0)
            return false;
    return true;
}

static bool is_used(const struct mf_tensor_row *row, uint32_t traits)
{
    return row->gguf && (row->trait & traits) && is_first(row, traits);
}

/* F32 without data: what is missing there is not this test's matter. */
static void put_tensor(const struct mf_tensor_row *row,
                       const struct fault *fault)
{
    put_number(strlen(row->gguf), 8);
    for (const char *name = row->gguf; *name; name++)
        put(*name == '*' ? "0" : name, 1);
    put_number(MF_SHAPE_RANK, 4);
    for (size_t i = 0; i < MF_SHAPE_RANK; i++)
        put_number(lengths[row->shape[i]] +
                       (row == fault->row && i == fault->dimension),
                   8);
    put_number(0, 4);
    put_number(0, 8);
}

static void make_model(const char *architecture, const struct mf_family *family,
                       const struct fault *fault)
{
    uint64_t tensors = 0;
    size_t count;

    image.size = 0;
    put("GGUF\3\0\0\0", 8);
    count = image.size;
    put_number(0, 8);
    put_number(1 + sizeof(keys) / sizeof(*keys), 8);
    put_keys(architecture, fault->fact);
    for (size_t i = 0; i < mf_tensor_row_count; i++)
        if (is_used(&mf_tensor_rows[i], family->traits) &&
            !(mf_tensor_rows[i].fills & fault->parts)) {
            put_tensor(&mf_tensor_rows[i], fault);
            tensors++;
        }
    for (size_t i = 0; i < 8; i++)
        image.at[count + i] = (uint8_t)(tensors >> (8 * i));
    put("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 31);
}

/* How many findings of rules that begin with `rule` say `text`. */
static size_t found(const char *rule, const char *text)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model;
    struct mf_finding finding;
    size_t count = 0;

    assert_int_equal(
        mf_model_open_memory(env, "memory", image.at, image.size, NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        count += strncmp(finding.rule, rule, strlen(rule)) == 0 &&
                 strstr(finding.message, text);
    mf_model_close(model);
    mf_env_free(env);
    return count;
}

/* ---- all architectures ---- */

static const char *const architectures[] = {
#define KNOWN(name, family) name,
#include "lib/check/architecture.def"
};

typedef void each_family(const char *name, const struct mf_family *family);

/* Those of which no more than the name is known have nothing to check. */
static void each_architecture(each_family *each)
{
    for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures);
         i++) {
        const char *name = architectures[i];
        const struct mf_family *family =
            mf_family_of((struct mf_str){ name, strlen(name) });

        assert_non_null(family);
        if (family->parts != 0)
            each(name, family);
    }
}

static void has_no_fault(const char *name, const struct mf_family *family)
{
    make_model(name, family, &(struct fault){ .fact = -1 });
    if (found("MODEL-", "") > 0)
        fail_msg("%s", name);
}

static void whole_models_have_no_fault(void **state)
{
    (void)state;
    each_architecture(has_no_fault);
}

static void has_each_length(const char *name, const struct mf_family *family)
{
    struct fault fault = { .fact = -1 };

    for (size_t i = 0; i < mf_tensor_row_count; i++) {
        fault.row = &mf_tensor_rows[i];
        if (!is_used(fault.row, family->traits))
            continue;
        for (size_t k = 0; k < MF_SHAPE_RANK; k++) {
            bool checked = fault.row->shape[k] != MF_LENGTH_ANY;

            fault.dimension = k;
            make_model(name, family, &fault);
            if (found("MODEL-", "") != checked ||
                found("MODEL-SHAPE", "") != checked)
                fail_msg("%s: %s, dimension %zu", name, fault.row->gguf, k);
        }
    }
}

static void each_dimension_is_checked(void **state)
{
    (void)state;
    each_architecture(has_each_length);
}

static void has_each_part(const char *name, const struct mf_family *family)
{
    for (unsigned bit = 0; bit < 32; bit++) {
        struct fault fault = { .fact = -1, .parts = UINT32_C(1) << bit };

        if (!(family->parts & fault.parts))
            continue;
        make_model(name, family, &fault);
        if (found("MODEL-TENSOR", "") == 0)
            fail_msg("%s: part %u", name, bit);
    }
}

static void each_part_is_missed(void **state)
{
    (void)state;
    each_architecture(has_each_part);
}

static void has_each_key(const char *name, const struct mf_family *family)
{
    for (int fact = 0; fact < MF_DETAIL_COUNT; fact++) {
        if (!(family->keys >> fact & 1))
            continue;
        make_model(name, family, &(struct fault){ .fact = fact });
        if (found("MODEL-KEY", "") != 1)
            fail_msg("%s: %s", name, mf_detail_name(fact));
    }
}

static void each_key_is_missed(void **state)
{
    (void)state;
    each_architecture(has_each_key);
}

/* Without a key for the length of an expert, it is the forward length, or what
 * each of the experts in use gets of it: 50 and 10 here. */
static void check_expert(const char *name, const char *wanted)
{
    make_model(name, mf_family_of((struct mf_str){ name, strlen(name) }),
               &(struct fault){ .fact = MF_DETAIL_EXPERT_LENGTH });
    assert_int_equal(found("MODEL-SHAPE", wanted), 1);
}

static void lengths_of_experts_are_guessed(void **state)
{
    (void)state;
    check_expert("llama", "ffn_up_exps.weight' is 96 x 43 x 8, but the "
                          "metadata implies 96 x 50 x 8");
    check_expert("qwen2moe", "ffn_up_exps.weight' is 96 x 43 x 8, but the "
                             "metadata implies 96 x 10 x 8");
}

/* ---- the table itself ---- */

static void names_fit_their_patterns(void **state)
{
    (void)state;
    for (size_t i = 0; i < mf_tensor_row_count; i++) {
        const struct mf_tensor_row *row = &mf_tensor_rows[i];

        assert_true(row->gguf || row->hf);
        /* 64: PATTERN_MAX of lib/check/tensor_shapes.c */
        assert_true(!row->gguf || strlen(row->gguf) <= 64);
        assert_true(!row->hf || strlen(row->hf) <= 64);
    }
}

static void architectures_are_listed_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(architectures[i], architectures[k]);
}

/* ---- fixtures ---- */

static void the_faults_of_fixtures(void **state)
{
    static const char *const expected[][2] = {
        { "bad-moe-experts.gguf",
          "tensor 'blk.0.ffn_up_exps.weight' is 8 x 4 x 2, but the metadata "
          "implies 8 x 4 x 3" },
        { "bad-moe-key.gguf", "missing key 'qwen3moe.expert_used_count'" },
        { "bad-moe-router.gguf",
          "missing tensor 'blk.0.ffn_gate_inp.weight' (or "
          "'model.layers.0.mlp.gate.weight')" },
        { "bad-fused-qkv.gguf",
          "tensor 'blk.0.attn_qkv.weight' is 8 x 24, but the metadata "
          "implies 8 x 16" },
        { "bad-uneven.gguf",
          "tensor 'blk.1.ffn_gate.weight' is 8 x 4, but the metadata "
          "implies 8 x 6" },
        { "bad-shapes.apr",
          "tensor 'model.layers.0.self_attn.k_proj.weight' is 8 x 8, but "
          "the metadata implies 4 x 8" },
    };
    struct mf_env *env = mf_env_new(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        struct mf_model *model;
        struct mf_finding finding;

        assert_int_equal(
            mf_model_open(env, fixture_path(expected[i][0]), NULL, &model),
            MF_OK);
        assert_int_equal(mf_model_validate(model), MF_OK);
        assert_true(mf_finding_at(model, 0, &finding));
        assert_string_equal(finding.message, expected[i][1]);
        mf_model_close(model);
    }
    mf_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_models_have_no_fault),
        cmocka_unit_test(each_dimension_is_checked),
        cmocka_unit_test(each_part_is_missed),
        cmocka_unit_test(each_key_is_missed),
        cmocka_unit_test(lengths_of_experts_are_guessed),
        cmocka_unit_test(names_fit_their_patterns),
        cmocka_unit_test(architectures_are_listed_once),
        cmocka_unit_test(the_faults_of_fixtures),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
