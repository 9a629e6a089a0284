/* SPDX-License-Identifier: MIT
 *
 * test_mix.c - every tensor gets the type that llama-quantize gives it
 *
 * fixtures/mix/models.txt describes models, expected.tsv what llama-quantize
 * made of them.
 */
#include <ctype.h>

#include "tests/quantize/mix.h"

/* ---- fixtures/mix ---- */

/* The letter of each type in expected.tsv. */
static char letter_of(uint32_t type)
{
    static const struct letter {
        const char *name;
        char letter;
    } letters[] = {
        { "q4_0", 'a' },    { "q4_1", 'b' },   { "q5_0", 'c' },
        { "q5_1", 'd' },    { "q8_0", 'e' },   { "q2_k", 'f' },
        { "q3_k", 'g' },    { "q4_k", 'h' },   { "q5_k", 'i' },
        { "q6_k", 'j' },    { "iq1_s", 'k' },  { "iq1_m", 'l' },
        { "iq2_xxs", 'm' }, { "iq2_xs", 'n' }, { "iq2_s", 'o' },
        { "iq3_xxs", 'p' }, { "iq3_s", 'q' },  { "iq4_nl", 'r' },
        { "iq4_xs", 's' },  { "tq1_0", 't' },  { "tq2_0", 'u' },
        { "f32", 'F' },     { "f16", 'H' },    { "bf16", 'B' },
        { "mxfp4", 'v' },   { "q1_0", 'w' },   { "q2_0", 'x' },
    };

    for (size_t i = 0; i < COUNT(letters); i++)
        if (strcmp(mf_types[type].name, letters[i].name) == 0)
            return letters[i].letter;
    return '?';
}

/* "3a" for "aaa", from three on. */
static void shorten(const char *letters, char *out)
{
    for (size_t same; *letters; letters += same) {
        same = 1;
        while (letters[same] == letters[0])
            same++;
        if (same > 2)
            out += sprintf(out, "%zu%c", same, letters[0]);
        else
            for (size_t i = 0; i < same; i++)
                *out++ = letters[0];
    }
    *out = 0;
}

static void types_of(const struct plan *plan, char *out)
{
    char letters[1024];
    size_t count = plan->draft.tensor_count;

    assert_true(count < sizeof(letters));
    for (size_t i = 0; i < count; i++)
        letters[i] = letter_of(plan->draft.tensor[i].type);
    letters[count] = 0;
    shorten(letters, out);
}

static void check_row(const char *model, const char *mix, bool weighted,
                      const char *expected)
{
    struct mf_quantize_options choices = {
        .size = sizeof(struct mf_quantize_options), .type = mix
    };
    char got[2048] = "!", matrix[512];
    struct plan plan;

    strcpy(matrix, scratch_path("matrix.dat"));
    if (weighted)
        choices.imatrix = matrix;
    if (make_plan(&plan, scratch_path("model.gguf"), &choices) == MF_OK)
        types_of(&plan, got);
    if (strcmp(got, expected) != 0)
        fail_msg("%s as %s %s importance matrix is\n%s\nnot\n%s\n%s", model,
                 mix, weighted ? "with" : "without", got, expected,
                 message_of(&plan));
    drop_plan(&plan);
}

static void types_are_as_in_llama_quantize(void **state)
{
    FILE *file = fopen(fixture_path("mix/expected.tsv"), "r");
    char line[4096], model[64], mix[16], weights[16], types[2048];
    char made[64] = "";
    size_t rows = 0;

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(
            sscanf(line, "%63s %15s %15s %2047s", model, mix, weights, types),
            4);
        if (strcmp(model, made) != 0)
            make_model(model, scratch_path("model.gguf"),
                       scratch_path("matrix.dat"));
        strcpy(made, model);
        check_row(model, mix, strcmp(weights, "imatrix") == 0, types);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 19 * 36 * 2);
}

/* ---- what is asked for ---- */

static struct plan plan_of(const char *model,
                           const struct mf_quantize_options *choices)
{
    struct plan plan;

    make_model(model, scratch_path("model.gguf"), scratch_path("matrix.dat"));
    if (make_plan(&plan, scratch_path("model.gguf"), choices) != MF_OK)
        fail_msg("%s as %s: %s", model, choices->type, message_of(&plan));
    return plan;
}

static void refuse(const char *model, const struct mf_quantize_options *choices,
                   enum mf_status status, const char *message)
{
    struct plan plan;

    make_model(model, scratch_path("model.gguf"), NULL);
    if (make_plan(&plan, scratch_path("model.gguf"), choices) != status)
        fail_msg("%s as '%s': not refused as '%s'", model, choices->type,
                 message);
    if (!strstr(message_of(&plan), message))
        fail_msg("the message is: %s", message_of(&plan));
    drop_plan(&plan);
}

static void mixes_have_names_and_numbers(void **state)
{
    struct mf_quantize_options choices = {
        .size = sizeof(struct mf_quantize_options), .type = NULL
    };
    struct mf_mix_info mix;
    struct plan plan;
    char name[16], matrix[512];

    (void)state;
    strcpy(matrix, scratch_path("m.dat"));
    choices.imatrix = matrix;
    make_model("tied", scratch_path("model.gguf"), choices.imatrix);
    for (size_t i = 0; mf_mix_at(i, &mix); i++) {
        for (size_t c = 0; c <= strlen(mix.name); c++) /* "q4_k_M" */
            name[c] = (char)(c < 4 ? tolower(mix.name[c]) : mix.name[c]);
        choices.type = strcmp(mix.name, "COPY") == 0 ? "copy" : name;
        assert_int_equal(make_plan(&plan, scratch_path("model.gguf"), &choices),
                         MF_OK);
        if (mix.type[0])
            assert_string_equal(mf_types[plan.result.type].name, mix.type);
        drop_plan(&plan);
        snprintf(name, sizeof(name), "%u", mix.file_type);
        choices.type = name;
        assert_int_equal(make_plan(&plan, scratch_path("model.gguf"), &choices),
                         MF_OK);
        assert_int_equal(plan.result.file_type, mix.file_type);
        drop_plan(&plan);
    }
    for (size_t i = 0; i < 5; i++) {
        choices.type = (const char *[]){ "", "Q4_K_X", "4", "1024", "i32" }[i];
        refuse("tied", &choices, MF_ERR_ARGUMENT, "unknown quantization type");
    }
}

/* The names of its files contain them. */
static void names_are_as_in_llama_quantize(void **state)
{
    static const char *const names[][2] = {
        { "Q4_K_M", "Q4_K_M" }, { "q4_k_m", "Q4_K_M" }, { "q4_k", "Q4_K" },
        { "15", "Q4_K" },       { "12", "Q3_K" },       { "17", "Q5_K" },
        { "14", "Q4_K_S" },     { "0", "F32" },         { "copy", "COPY" },
        { "bf16", "BF16" },     { "NVFP4", "nvfp4" },
    };
    static const char *const none[] = { "", "4", "8x", "-1", "i32", "x.gguf" };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        assert_string_equal(mf_mix_name(names[i][0]), names[i][1]);
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
        assert_null(mf_mix_name(none[i]));
}

/* As for llama-quantize, "q4_k" is the mix. */
static void a_type_without_a_mix_is_for_all(void **state)
{
    struct plan plan =
        plan_of("grouped", &(struct mf_quantize_options){
                               .size = sizeof(struct mf_quantize_options),
                               .type = "nvfp4" });

    (void)state;
    assert_string_equal(planned_type(&plan, "output.weight"), "nvfp4");
    assert_string_equal(planned_type(&plan, "blk.0.ffn_down.weight"), "nvfp4");
    assert_string_equal(planned_type(&plan, "output_norm.weight"), "f32");
    assert_int_equal(plan.result.file_type, 39);
    drop_plan(&plan);
    plan = plan_of("grouped", &(struct mf_quantize_options){
                                  .size = sizeof(struct mf_quantize_options),
                                  .type = "q4_k" });
    assert_string_equal(planned_type(&plan, "output.weight"), "q6_k");
    assert_int_equal(plan.result.file_type, 15);
    drop_plan(&plan);
    plan = plan_of("grouped", &(struct mf_quantize_options){
                                  .size = sizeof(struct mf_quantize_options),
                                  .type = "q4_k",
                                  .pure = true });
    assert_string_equal(planned_type(&plan, "output.weight"), "q4_k");
    assert_int_equal(plan.result.file_type, 15);
    drop_plan(&plan);
}

static void tensors_come_by_block_and_name(void **state)
{
    struct plan plan =
        plan_of("grouped", &(struct mf_quantize_options){
                               .size = sizeof(struct mf_quantize_options),
                               .type = "Q8_0" });
    uint64_t block = 0, next, end = 0;

    (void)state;
    for (size_t i = 0; i < plan.draft.tensor_count; i++) {
        const struct mf_draft_tensor *tensor = &plan.draft.tensor[i];
        const struct mf_draft_tensor *last = i > 0 ? tensor - 1 : NULL;

        if (i < 3)
            assert_false(mf_block_number(tensor->name, &next));
        else
            assert_true(mf_block_number(tensor->name, &next));
        if (i < 4)
            next = block;
        assert_true(next >= block);
        if (last && next == block && i != 3)
            assert_true(strcmp(last->name.at, tensor->name.at) < 0);
        assert_int_equal(tensor->offset, end);
        end = (tensor->offset + tensor->size + 31) / 32 * 32;
        block = next;
    }
    assert_int_equal(block, 15);
    drop_plan(&plan);
}

static void users_types_go_first(void **state)
{
    const struct mf_tensor_type types[] = {
        { "BLK\\.(0|1)\\.ffn_down", "Q8_0" },
        { "ffn_(down|up)", "q5_1" },
        { "token_embd|output", "f16" },
    };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_M",
                                           .tensor_types = types,
                                           .tensor_type_count = COUNT(types),
                                           .output_type = "q8_0",
                                           .embedding_type = "IQ4_NL" };
    struct plan plan = plan_of("grouped", &choices);

    (void)state;
    assert_string_equal(planned_type(&plan, "blk.1.ffn_down.weight"), "q8_0");
    assert_string_equal(planned_type(&plan, "blk.10.ffn_down.weight"), "q5_1");
    assert_string_equal(planned_type(&plan, "blk.2.ffn_up.weight"), "q5_1");
    assert_string_equal(planned_type(&plan, "blk.2.ffn_gate.weight"), "q4_k");
    assert_string_equal(planned_type(&plan, "output.weight"), "q8_0");
    assert_string_equal(planned_type(&plan, "token_embd.weight"), "iq4_nl");
    assert_string_equal(planned_type(&plan, "output_norm.weight"), "f32");
    drop_plan(&plan);
    choices.type = "COPY";
    refuse("grouped", &choices, MF_ERR_ARGUMENT, "COPY keeps all types");
    choices = (struct mf_quantize_options){ .size = sizeof(
                                                struct mf_quantize_options),
                                            .type = "Q4_0",
                                            .output_type = "i32" };
    refuse("grouped", &choices, MF_ERR_ARGUMENT, "'i32' is not a type");
}

/* Without an output.weight the embeddings are the output. */
static void users_types_of_shared_embeddings(void **state)
{
    const struct mf_tensor_type types[] = { { "token_embd", "q4_0" } };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_M",
                                           .output_type = "q8_0" };
    const char *first = "token_embd.weight";
    const char *second = "per_layer_token_embd.weight";
    struct plan plan = plan_of("two-embeddings", &choices);

    (void)state;
    assert_string_equal(planned_type(&plan, first), "q8_0");
    assert_string_equal(planned_type(&plan, second), "q8_0");
    drop_plan(&plan);
    choices.embedding_type = "q5_1";
    plan = plan_of("two-embeddings", &choices);
    assert_string_equal(planned_type(&plan, first), "q5_1");
    assert_string_equal(planned_type(&plan, second), "q5_1");
    drop_plan(&plan);
    choices.tensor_types = types;
    choices.tensor_type_count = COUNT(types);
    plan = plan_of("two-embeddings", &choices);
    assert_string_equal(planned_type(&plan, first), "q5_1");
    assert_string_equal(planned_type(&plan, second), "q4_0");
    drop_plan(&plan);
}

/* Four of attn_v get more bits in Q4_K_S: the first that the mix decides. */
static void users_types_are_not_counted(void **state)
{
    const struct mf_tensor_type types[] = { { "blk.0.attn_v", "q8_0" } };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_S",
                                           .tensor_types = types,
                                           .tensor_type_count = COUNT(types) };
    struct plan plan = plan_of("grouped", &choices);

    (void)state;
    assert_string_equal(planned_type(&plan, "blk.0.attn_v.weight"), "q8_0");
    assert_string_equal(planned_type(&plan, "blk.1.attn_v.weight"), "q5_k");
    assert_string_equal(planned_type(&plan, "blk.4.attn_v.weight"), "q5_k");
    assert_string_equal(planned_type(&plan, "blk.5.attn_v.weight"), "q4_k");
    drop_plan(&plan);
}

static void patterns_need_a_mix_that_quantizes(void **state)
{
    const struct mf_tensor_type types[] = { { "ffn", "q8_0" } };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "BF16",
                                           .tensor_types = types,
                                           .tensor_type_count = COUNT(types),
                                           .output_type = "q5_0" };
    struct plan plan = plan_of("grouped", &choices);

    (void)state;
    assert_string_equal(planned_type(&plan, "blk.0.ffn_up.weight"), "bf16");
    assert_string_equal(planned_type(&plan, "output.weight"), "q5_0");
    drop_plan(&plan);
}

static void rows_that_are_not_whole_blocks(void **state)
{
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_S",
                                           .pure = true };
    struct plan plan = plan_of("odder-rows", &choices);

    (void)state;
    assert_string_equal(planned_type(&plan, "token_embd.weight"), "q5_0");
    assert_string_equal(planned_type(&plan, "blk.0.attn_q.weight"), "f16");
    assert_string_equal(planned_type(&plan, "blk.0.attn_v.weight"), "q4_k");
    assert_int_equal(plan.result.fallbacks, 5);
    drop_plan(&plan);
    choices.type = "Q4_0"; /* smaller blocks than the largest that has one */
    plan = plan_of("odder-rows", &choices);
    assert_string_equal(planned_type(&plan, "token_embd.weight"), "q4_0");
    assert_string_equal(planned_type(&plan, "blk.0.attn_q.weight"), "f16");
    assert_int_equal(plan.result.fallbacks, 4);
    drop_plan(&plan);
    choices.type = "Q1_0"; /* larger, and nothing takes its place */
    refuse("odder-rows", &choices, MF_ERR_UNSUPPORTED,
           "tensor 'token_embd.weight' cannot be q1_0: its row length 96");
    choices.type = "Q8_0";
    choices.embedding_type = "q4_k"; /* taken as it is, or not at all */
    refuse("odder-rows", &choices, MF_ERR_UNSUPPORTED,
           "tensor 'token_embd.weight' cannot be q4_k: its row length 96");
}

static void what_is_quantized_stays(void **state)
{
    struct mf_quantize_options choices = {
        .size = sizeof(struct mf_quantize_options), .type = "Q8_0"
    };
    struct plan plan = plan_of("quantized", &choices);

    (void)state;
    assert_int_equal(plan.result.changed, 0);
    drop_plan(&plan);
    choices.type = "Q4_0";
    refuse("quantized", &choices, MF_ERR_ARGUMENT,
           "tensor 'output.weight' is q8_0 already");
    choices.leave_output = true;
    refuse("quantized", &choices, MF_ERR_ARGUMENT,
           "tensor 'token_embd.weight' is q8_0 already");
    choices.allow_requantize = true;
    plan = plan_of("quantized", &choices);
    assert_string_equal(planned_type(&plan, "output.weight"), "q8_0");
    assert_string_equal(planned_type(&plan, "blk.0.ffn_up.weight"), "q4_0");
    drop_plan(&plan);
    refuse("integers", &choices, MF_ERR_UNSUPPORTED,
           "tensor 'blk.0.qweight' is i32");
}

static void some_stay_whatever_they_are(void **state)
{
    struct mf_quantize_options choices = {
        .size = sizeof(struct mf_quantize_options), .type = "q8_0"
    };
    struct plan plan = plan_of("all-kept", &choices);

    (void)state;
    for (size_t i = 0; i < plan.draft.tensor_count; i++)
        if (plan.draft.tensor[i].type != MF_TYPE_F16)
            fail_msg("%s does not stay", plan.draft.tensor[i].name.at);
    drop_plan(&plan);
}

static const char *type_in(const char *architecture, const char *mix,
                           const char *name)
{
    char blocks[64], shared[64];
    struct mf_edit edits[] = {
        { .key = "general.architecture", .type = MF_VALUE_STRING },
        { .key = blocks, .type = MF_VALUE_U32, .number.u64 = 80 },
        { .key = shared, .type = MF_VALUE_U32, .number.u64 = 2 },
    };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = mix,
                                           .edits = edits,
                                           .edit_count = COUNT(edits) };
    struct plan plan;
    const char *type;

    edits[0].text = (struct mf_str){ architecture, strlen(architecture) };
    snprintf(blocks, sizeof(blocks), "%s.block_count", architecture);
    snprintf(shared, sizeof(shared), "%s.attention.head_count_kv",
             architecture);
    plan = plan_of("grouped", &choices);
    type = planned_type(&plan, name);
    drop_plan(&plan);
    return type;
}

/* The 65B model: as many blocks, but each head has its own keys and values. */
static void heads_that_share_nothing(void **state)
{
    const struct mf_edit edits[] = {
        { .key = "llama.block_count", .type = MF_VALUE_U32, .number.u64 = 80 },
        { .key = "llama.attention.head_count_kv", .unset = true },
    };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q3_K_S",
                                           .edits = edits,
                                           .edit_count = 2 };
    struct plan plan = plan_of("grouped", &choices);

    (void)state;
    assert_string_equal(planned_type(&plan, "blk.8.attn_v.weight"), "q3_k");
    drop_plan(&plan);
}

/* Those whose loaders in llama.cpp call a model of 80 blocks 70B. */
static void architectures_differ(void **state)
{
    static const char *const large[] = { "llama", "llama-embed", "deci", "olmo",
                                         "qwen2" };
    const char *values = "blk.8.attn_v.weight";

    (void)state;
    for (size_t i = 0; i < COUNT(large); i++)
        assert_string_equal(type_in(large[i], "Q3_K_S", values), "q5_k");
    assert_string_equal(type_in("qwen2vl", "Q3_K_S", values), "q3_k");
    assert_string_equal(type_in("unknown", "Q3_K_S", values), "q3_k");
    assert_string_equal(type_in("gemma", "Q4_K_M", "token_embd.weight"),
                        "q4_k");
}

static void copies_say_what_the_model_is(void **state)
{
    struct mf_quantize_options choices = {
        .size = sizeof(struct mf_quantize_options), .type = "COPY"
    };
    struct plan plan = plan_of("grouped", &choices);

    (void)state;
    assert_int_equal(plan.result.file_type, 1024 + 1); /* f16, a guess */
    assert_int_equal(plan.result.changed, 0);
    drop_plan(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_as_in_llama_quantize),
        cmocka_unit_test(mixes_have_names_and_numbers),
        cmocka_unit_test(names_are_as_in_llama_quantize),
        cmocka_unit_test(a_type_without_a_mix_is_for_all),
        cmocka_unit_test(tensors_come_by_block_and_name),
        cmocka_unit_test(users_types_go_first),
        cmocka_unit_test(users_types_of_shared_embeddings),
        cmocka_unit_test(users_types_are_not_counted),
        cmocka_unit_test(patterns_need_a_mix_that_quantizes),
        cmocka_unit_test(rows_that_are_not_whole_blocks),
        cmocka_unit_test(what_is_quantized_stays),
        cmocka_unit_test(some_stay_whatever_they_are),
        cmocka_unit_test(architectures_differ),
        cmocka_unit_test(heads_that_share_nothing),
        cmocka_unit_test(copies_say_what_the_model_is),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
