/* SPDX-License-Identifier: MIT
 *
 * test_plan_config.c - a config.json and a GGUF header of one model
 *
 * Both must give the same plan, and a config.json that makes no sense must say
 * which field does not.  Whole folders and their files are compared in
 * test_hub_back.c.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/plan/plan_image.h"

/* ---- a folder with a config.json ---- */

static char folder[64], config_path[96], model_path[96];

static void write_text(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    static const char nothing[] = "\2\0\0\0\0\0\0\0{}";

    strcpy(folder, "/tmp/modelfile-config.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(config_path, sizeof(config_path), "%s/config.json", folder);
    snprintf(model_path, sizeof(model_path), "%s/model.safetensors", folder);
    write_text(model_path, nothing, sizeof(nothing) - 1);
    return env_setup(state);
}

static int remove_folder(void **state)
{
    unlink(config_path);
    unlink(model_path);
    rmdir(folder);
    return env_teardown(state);
}

static struct mf_plan plan_of(struct mf_model *model)
{
    struct mf_plan_options options = { .size = sizeof(options),
                                       .context = 8192 };
    struct mf_plan plan;

    if (mf_plan(model, &options, &plan) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    mf_model_close(model);
    return plan;
}

static struct mf_plan plan_of_config(const char *config)
{
    write_text(config_path, config, strlen(config));
    return plan_of(open_as(model_path, NULL));
}

/* ---- the same plan ---- */

static void same_plans(const char *config, const char *arch, const char *keys)
{
    struct mf_plan a = plan_of_config(config);
    struct mf_plan b = plan_of(open_header(arch, keys));

    assert_string_equal(a.reason, b.reason);
    assert_int_equal(a.unknown & (1U << MF_PLAN_KV | 1U << MF_PLAN_STATE), 0);
    assert_false(a.full_attention);
    assert_int_equal(a.model_context, b.model_context);
    assert_int_equal(a.cache_count, b.cache_count);
    for (size_t i = 0; i < a.cache_count; i++) {
        assert_int_equal(a.cache[i].cells, b.cache[i].cells);
        assert_int_equal(a.cache[i].layers, b.cache[i].layers);
        assert_int_equal(a.cache[i].k_bytes, b.cache[i].k_bytes);
        assert_int_equal(a.cache[i].v_bytes, b.cache[i].v_bytes);
    }
    assert_int_equal(a.state_conv, b.state_conv);
    assert_int_equal(a.state_ssm, b.state_ssm);
    assert_int_equal(a.line[MF_PLAN_OUTPUT], b.line[MF_PLAN_OUTPUT]);
}

static void dense_models(void **state)
{
    (void)state;
    same_plans("{\"architectures\": [\"LlamaForCausalLM\"],"
               "\"model_type\": \"llama\", \"hidden_size\": 4096,"
               "\"intermediate_size\": 14336, \"num_hidden_layers\": 32,"
               "\"max_position_embeddings\": 8192, \"rope_scaling\": null,"
               "\"num_attention_heads\": 32, \"num_key_value_heads\": 8,"
               "\"vocab_size\": 128256}",
               "llama",
               "block_count=32 context_length=8192 embedding_length=4096 "
               "feed_forward_length=14336 attention.head_count=32 "
               "attention.head_count_kv=8 vocab_size=128256 "
               "attention.layer_norm_rms_epsilon=1.0");
    same_plans("{\"architectures\": [\"GPT2LMHeadModel\"],"
               "\"model_type\": \"gpt2\", \"n_embd\": 768, \"n_layer\": 12,"
               "\"n_head\": 12, \"n_positions\": 1024, \"n_ctx\": 1024,"
               "\"vocab_size\": 50257}",
               "gpt2",
               "block_count=12 context_length=1024 embedding_length=768 "
               "feed_forward_length=3072 attention.head_count=12 "
               "vocab_size=50257 attention.layer_norm_epsilon=1.0");
    same_plans("{\"architectures\": [\"FalconForCausalLM\"],"
               "\"model_type\": \"falcon\", \"hidden_size\": 4544,"
               "\"multi_query\": true, \"new_decoder_architecture\": false,"
               "\"num_attention_heads\": 71, \"num_kv_heads\": 71,"
               "\"num_hidden_layers\": 32, \"vocab_size\": 65024}",
               "falcon",
               "block_count=32 context_length=2048 embedding_length=4544 "
               "feed_forward_length=18176 attention.head_count=71 "
               "attention.head_count_kv=71 vocab_size=65024 "
               "attention.layer_norm_epsilon=1.0");
}

/* What Gemma 3's config.json leaves out is what transformers fills in. */
static void windows(void **state)
{
    (void)state;
    same_plans("{\"architectures\": [\"Gemma3ForConditionalGeneration\"],"
               "\"model_type\": \"gemma3\", \"hidden_size\": 1,"
               "\"text_config\": {\"model_type\": \"gemma3_text\","
               "\"hidden_size\": 2560, \"intermediate_size\": 10240,"
               "\"num_hidden_layers\": 34, \"sliding_window\": 1024},"
               "\"vision_config\": {\"hidden_size\": 1152,"
               "\"num_hidden_layers\": 27, \"num_attention_heads\": 16}}",
               "gemma3",
               "block_count=34 context_length=131072 embedding_length=2560 "
               "feed_forward_length=10240 attention.head_count=8 "
               "attention.head_count_kv=4 attention.key_length=256 "
               "attention.value_length=256 attention.sliding_window=1024 "
               "vocab_size=262208 attention.layer_norm_rms_epsilon=1.0");
    same_plans("{\"architectures\": [\"GptOssForCausalLM\"],"
               "\"model_type\": \"gpt_oss\", \"head_dim\": 64,"
               "\"hidden_size\": 2880, \"intermediate_size\": 2880,"
               "\"layer_types\": [\"sliding_attention\", \"full_attention\","
               "\"sliding_attention\", \"full_attention\"],"
               "\"num_attention_heads\": 64, \"num_key_value_heads\": 8,"
               "\"num_hidden_layers\": 4, \"num_local_experts\": 32,"
               "\"num_experts_per_tok\": 4, \"sliding_window\": 128,"
               "\"max_position_embeddings\": 131072, \"vocab_size\": 201088}",
               "gpt-oss",
               "block_count=4 context_length=131072 embedding_length=2880 "
               "feed_forward_length=2880 attention.head_count=64 "
               "attention.head_count_kv=8 attention.key_length=64 "
               "attention.value_length=64 attention.sliding_window=128 "
               "expert_count=32 expert_used_count=4 vocab_size=201088 "
               "expert_feed_forward_length=2880 "
               "attention.layer_norm_rms_epsilon=1.0");
}

static void latent_attention(void **state)
{
    (void)state;
    same_plans("{\"architectures\": [\"DeepseekV3ForCausalLM\"],"
               "\"model_type\": \"deepseek_v3\", \"hidden_size\": 7168,"
               "\"intermediate_size\": 18432, \"kv_lora_rank\": 512,"
               "\"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128,"
               "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128,"
               "\"num_attention_heads\": 128, \"num_key_value_heads\": 128,"
               "\"num_hidden_layers\": 61, \"num_nextn_predict_layers\": 1,"
               "\"n_routed_experts\": 256, \"n_shared_experts\": 1,"
               "\"num_experts_per_tok\": 8, \"first_k_dense_replace\": 3,"
               "\"moe_intermediate_size\": 2048, \"vocab_size\": 129280,"
               "\"max_position_embeddings\": 163840}",
               "deepseek2",
               "block_count=61 context_length=163840 embedding_length=7168 "
               "feed_forward_length=18432 attention.head_count=128 "
               "attention.head_count_kv=1 attention.key_length=576 "
               "attention.value_length=512 attention.key_length_mla=192 "
               "attention.value_length_mla=128 attention.kv_lora_rank=512 "
               "attention.q_lora_rank=1536 rope.dimension_count=64 "
               "expert_count=256 expert_used_count=8 expert_shared_count=1 "
               "expert_feed_forward_length=2048 leading_dense_block_count=3 "
               "vocab_size=129280 attention.layer_norm_rms_epsilon=1.0");
}

/* Blocks that attend, as a list or a period. */
static void lists_of_blocks(void **state)
{
    (void)state;
    same_plans("{\"architectures\": [\"Lfm2ForCausalLM\"],"
               "\"model_type\": \"lfm2\", \"conv_L_cache\": 3,"
               "\"hidden_size\": 2048, \"block_ff_dim\": 12288,"
               "\"layer_types\": [\"conv\", \"conv\", \"full_attention\"],"
               "\"num_attention_heads\": 32, \"num_key_value_heads\": 8,"
               "\"num_hidden_layers\": 3, \"vocab_size\": 65536,"
               "\"max_position_embeddings\": 128000}",
               "lfm2",
               "block_count=3 context_length=128000 embedding_length=2048 "
               "feed_forward_length=12288 attention.head_count=32 "
               "attention.head_count_kv=[0,0,8] shortconv.l_cache=3 "
               "vocab_size=65536 attention.layer_norm_rms_epsilon=1.0");
    same_plans("{\"architectures\": [\"JambaForCausalLM\"],"
               "\"model_type\": \"jamba\", \"attn_layer_offset\": 4,"
               "\"attn_layer_period\": 8, \"hidden_size\": 4096,"
               "\"intermediate_size\": 14336, \"mamba_d_conv\": 4,"
               "\"mamba_d_state\": 16, \"mamba_dt_rank\": 256,"
               "\"mamba_expand\": 2, \"num_attention_heads\": 32,"
               "\"num_key_value_heads\": 8, \"num_hidden_layers\": 8,"
               "\"num_experts\": 16, \"num_experts_per_tok\": 2,"
               "\"max_position_embeddings\": 262144, \"vocab_size\": 65536}",
               "jamba",
               "block_count=8 context_length=262144 embedding_length=4096 "
               "feed_forward_length=14336 attention.head_count=32 "
               "attention.head_count_kv=[0,0,0,0,8,0,0,0] ssm.conv_kernel=4 "
               "ssm.inner_size=8192 ssm.state_size=16 "
               "ssm.time_step_rank=256 expert_count=16 expert_used_count=2 "
               "vocab_size=65536 attention.layer_norm_rms_epsilon=1.0");
}

/* ---- fields that make no sense ---- */

static const struct {
    const char *fields, *reason;
} faults[] = {
    { "\"num_hidden_layers\": 2",
      "'config.json': missing key 'num_attention_heads'" },
    { "\"num_attention_heads\": 4",
      "'config.json': the number of layers is missing" },
    { "\"num_hidden_layers\": 2, \"num_attention_heads\": \"4\"",
      "'config.json': 'num_attention_heads' must be a number, not '4'" },
    { "\"num_hidden_layers\": 2, \"num_attention_heads\": {}",
      "'config.json': 'num_attention_heads' must be a number, not an "
      "object" },
    { "\"num_hidden_layers\": 2, \"num_attention_heads\": -4",
      "-4 is not a valid u32 for key 'llama.attention.head_count'" },
    { "\"num_hidden_layers\": 2, \"num_attention_heads\": 0",
      "'config.json': 'num_attention_heads' is 0, but other numbers are "
      "divided by it" },
    { "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
      "\"num_key_value_heads\": [1]",
      "'llama.attention.head_count_kv' has 1 element" },
    { "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
      "\"num_key_value_heads\": 0",
      "'llama.attention.head_count_kv' is 0" },
    { "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
      "\"num_key_value_heads\": 4294967296",
      "4294967296 is not a valid u32 for key "
      "'llama.attention.head_count_kv'" },
    { "\"num_hidden_layers\": 2, \"num_attention_heads\": 4,"
      "\"head_dim\": 0",
      "'llama.attention.key_length' is 0" },
    { "\"num_hidden_layers\": 1099511627776, \"num_attention_heads\": 4",
      "1099511627776 is not a valid u32 for key 'llama.block_count'" },
    { "\"num_hidden_layers\": 99999999999999999999,"
      "\"num_attention_heads\": 4",
      "'config.json': 'num_hidden_layers' must be a whole number from 0 "
      "on, "
      "not 1e+20" },
    { "\"num_hidden_layers\": 2.5, \"num_attention_heads\": 4",
      "'config.json': 'num_hidden_layers' must be a whole number from 0 "
      "on, "
      "not 2.5" },
};

static void faults_name_their_field(void **state)
{
    char config[512];

    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        struct mf_plan plan;

        snprintf(config, sizeof(config),
                 "{\"architectures\": [\"LlamaForCausalLM\"],"
                 "\"model_type\": \"llama\", \"hidden_size\": 64, "
                 "\"intermediate_size\": 64, \"rms_norm_eps\": 1e-5,"
                 "\"max_position_embeddings\": 512, \"vocab_size\": 100, %s}",
                 faults[i].fields);
        plan = plan_of_config(config);
        if (strcmp(plan.reason, faults[i].reason) != 0)
            fail_msg("%s: '%s'", faults[i].fields, plan.reason);
        assert_true(plan.line[MF_PLAN_KV] == MF_PLAN_UNKNOWN);
    }
}

static void invalid_json_is_named(void **state)
{
    struct mf_plan plan = plan_of_config("{\"num_hidden_layers\": 2,");

    (void)state;
    assert_true(strstr(plan.reason, "'config.json': ") == plan.reason);
    assert_true(plan.line[MF_PLAN_KV] == MF_PLAN_UNKNOWN);
    assert_int_equal(plan.line[MF_PLAN_WEIGHTS], 0);
}

/* ---- facts ---- */

static const char mixed[] =
    "{\"architectures\": [\"DeepseekV3ForCausalLM\"],"
    "\"model_type\": \"deepseek_v3\", \"hidden_size\": 64,"
    "\"intermediate_size\": 96, \"kv_lora_rank\": 16, \"q_lora_rank\": null,"
    "\"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 4, \"v_head_dim\": 8,"
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 4,"
    "\"num_hidden_layers\": 4, \"n_routed_experts\": 8,"
    "\"n_shared_experts\": 1, \"num_experts_per_tok\": 2,"
    "\"first_k_dense_replace\": 1, \"moe_intermediate_size\": 32,"
    "\"routed_scaling_factor\": 1.5e0, \"norm_topk_prob\": true,"
    "\"rms_norm_eps\": 1e-6, \"scoring_func\": \"s\\u0069gmoid\","
    "\"rope_theta\": 10000, \"vocab_size\": 100,"
    "\"max_position_embeddings\": 512}";

static enum mf_status make_outlines(struct mf_model *model, bool whole)
{
    struct mf_validate_options how = { .size = sizeof(how) };
    enum mf_status status = MF_OK;

    for (int i = MF_OUTLINE_FACTS; i <= MF_OUTLINE_HEADER; i++) {
        struct mf_model *outline;

        status = mf_model_outline(model, (enum mf_outline)i, &outline);
        assert_int_equal(outline != NULL, status == MF_OK);
        if (i == MF_OUTLINE_HEADER && status == MF_OK) {
            how.outline = outline;
            status = mf_model_validate_with(model, &how);
        }
        assert_true(!whole || status == MF_OK || status == MF_ERR_MEMORY);
        mf_model_close(outline);
        if (status == MF_ERR_MEMORY)
            break;
    }
    return status;
}

/* Plans with that heap; what is not JSON is not an error. */
static enum mf_status try(struct test_heap *heap, const char *config,
                          size_t size)
{
    struct mf_plan_options options = { .size = sizeof(options),
                                       .context = 1024 };
    struct mf_env *with = test_env(heap);
    struct mf_model *model = NULL;
    struct mf_plan plan;
    enum mf_status status;

    write_text(config_path, config, size);
    if (!with)
        return MF_ERR_MEMORY;
    status = mf_model_open(with, model_path, NULL, &model);
    if (status == MF_OK)
        status = mf_plan(model, &options, &plan);
    assert_int_equal(mf_env_error(with)->status, status);
    if (status == MF_OK &&
        make_outlines(model, size == sizeof(mixed) - 1 && heap->fail_at > 0) ==
            MF_ERR_MEMORY)
        status = MF_ERR_MEMORY;
    mf_model_close(model);
    mf_env_free(with);
    assert_int_equal(heap->live, 0);
    return status;
}

static void every_prefix_and_flip(void **state)
{
    static const char masks[] = { 1, 0x20, 0x10 };
    size_t size = sizeof(mixed) - 1;
    char config[sizeof(mixed)];

    (void)state;
    for (size_t i = 0; i <= size; i++) {
        struct test_heap heap = { 0 };

        assert_int_equal(try(&heap, mixed, i), MF_OK);
    }
    memcpy(config, mixed, sizeof(mixed));
    for (size_t i = 0; i < size; i++)
        for (size_t m = 0; m < COUNT(masks); m++) {
            struct test_heap heap = { 0 };

            config[i] = (char)(config[i] ^ masks[m]);
            assert_int_equal(try(&heap, config, size), MF_OK);
            config[i] = mixed[i];
        }
}

static void every_allocation_failed(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++)
        for (uint64_t call = 1;; call++) {
            struct test_heap heap = { .fail_at = call, .fail_after = after };
            enum mf_status status = try(&heap, mixed, sizeof(mixed) - 1);

            if (heap.calls < call)
                break;
            if (after || status != MF_OK)
                assert_int_equal(status, MF_ERR_MEMORY);
        }
}

/* Of two values the last one counts, whatever comes before. */
static void lists_of_any_length(void **state)
{
    char *config = calloc(1, 1 << 20);
    size_t size;
    struct mf_plan plan;

    (void)state;
    assert_non_null(config);
    size = (size_t)sprintf(config, "{\"model_type\": \"llama\", \"layer_types\""
                                   ": [");
    for (int i = 0; i < 20000; i++)
        size += (size_t)sprintf(config + size, "[{\"a\": %d}], ", i);
    size += (size_t)sprintf(config + size, "1], ");
    for (int i = 0; i < 20000; i++)
        size += (size_t)sprintf(config + size, "\"hidden_size\": %d, ", i);
    sprintf(config + size, "\"hidden_size\": 64, \"num_hidden_layers\": 2,"
                           "\"num_attention_heads\": 4, \"vocab_size\": 9}");
    plan = plan_of_config(config);
    assert_int_equal(plan.line[MF_PLAN_WEIGHTS], 0);
    free(config);
}

#define WITH_FOLDER(test)                                                      \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(dense_models),
        WITH_FOLDER(windows),
        WITH_FOLDER(latent_attention),
        WITH_FOLDER(lists_of_blocks),
        WITH_FOLDER(faults_name_their_field),
        WITH_FOLDER(invalid_json_is_named),
        WITH_FOLDER(every_prefix_and_flip),
        WITH_FOLDER(every_allocation_failed),
        WITH_FOLDER(lists_of_any_length),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
