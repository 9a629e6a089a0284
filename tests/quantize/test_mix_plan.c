/* SPDX-License-Identifier: MIT
 *
 * test_mix_plan.c - what else becomes of a model that is quantized: its
 * metadata, its blocks, its shards, its weights
 */
#include "tests/quantize/mix.h"

static char model[512], matrix[512];

static int set_up(void **state)
{
    int failed = make_scratch(state);

    strcpy(model, scratch_path("model.gguf"));
    strcpy(matrix, scratch_path("matrix.dat"));
    return failed;
}

static struct plan plan_of(const char *name,
                           const struct mf_quantize_options *choices)
{
    struct plan plan;

    make_model(name, model, matrix);
    if (make_plan(&plan, model, choices) != MF_OK)
        fail_msg("%s as %s: %s", name, choices->type, message_of(&plan));
    return plan;
}

static void refuse(const struct mf_quantize_options *choices,
                   enum mf_status status, const char *message)
{
    struct plan plan;

    assert_int_equal(make_plan(&plan, model, choices), status);
    if (!strstr(message_of(&plan), message))
        fail_msg("the message is: %s", message_of(&plan));
    drop_plan(&plan);
}

/* ---- metadata ---- */

static void check_keys(const struct plan *plan, size_t first,
                       const char *const *keys, size_t count)
{
    assert_int_equal(plan->draft.entry_count, first + count);
    for (size_t i = 0; i < count; i++) {
        struct mf_str key = plan->draft.entry[first + i].key;

        assert_int_equal(key.size, strlen(keys[i]));
        assert_memory_equal(key.at, keys[i], key.size);
    }
}

static void new_keys_are_at_the_end(void **state)
{
    static const char *const keys[] = {
        "llama.context_length", /* the model's, but for what is set */
        "llama.embedding_length",
        "llama.block_count",
        "llama.attention.head_count",
        "llama.attention.head_count_kv",
        "llama.attention.layer_norm_rms_epsilon",
        "general.quantization_version",
        "general.file_type",
        "new",
        "general.architecture",
        "quantize.imatrix.file",
        "quantize.imatrix.entries_count",
    };
    const struct mf_edit edits[] = {
        { .key = "new", .type = MF_VALUE_BOOL, .number.boolean = true },
        { .key = "general.architecture",
          .type = MF_VALUE_STRING,
          .text = { "llama", 5 } },
        { .key = "not.there", .unset = true },
    };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_M",
                                           .imatrix = matrix,
                                           .edits = edits,
                                           .edit_count = COUNT(edits) };
    struct plan plan = plan_of("grouped", &choices);
    const struct mf_entry *entry;

    (void)state;
    check_keys(&plan, 0, keys, COUNT(keys));
    entry = mf_draft_find(&plan.draft, "general.file_type");
    assert_int_equal(entry->type, MF_VALUE_U32);
    assert_int_equal(entry->number.u64, 15);
    entry = mf_draft_find(&plan.draft, "quantize.imatrix.entries_count");
    assert_int_equal(entry->type, MF_VALUE_U32);
    assert_int_equal(entry->number.u64, 2 + 16 * 7);
    drop_plan(&plan);
}

/* At most 127 bytes, and no half character. */
static void long_texts_are_cut(void **state)
{
    FILE *file;
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q8_0",
                                           .imatrix = matrix };
    const struct mf_entry *entry;
    struct plan plan;
    char text[256] = "x";

    (void)state;
    for (size_t i = 1; i < 201; i += 2)
        memcpy(text + i, "\xc3\xa4", 3);
    file = start_matrix(matrix, 1);
    write_entry(file, "blk.0.ffn_up.weight", 1, 256, 1);
    write_number(file, 7);
    write_text(file, text);
    fclose(file);
    make_model("tied", model, NULL);
    assert_int_equal(make_plan(&plan, model, &choices), MF_OK);
    entry = mf_draft_find(&plan.draft, "quantize.imatrix.dataset");
    assert_int_equal(entry->text.size, 127);
    assert_memory_equal(entry->text.at, text, 127);
    entry = mf_draft_find(&plan.draft, "quantize.imatrix.chunks_count");
    assert_int_equal(entry->number.u64, 7);
    drop_plan(&plan);
    text[0] = ' ';
    memmove(text + 1, text, 200);
    file = start_matrix(matrix, 1);
    write_entry(file, "blk.0.ffn_up.weight", 1, 256, 1);
    write_number(file, 0);
    write_text(file, text);
    fclose(file);
    assert_int_equal(make_plan(&plan, model, &choices), MF_OK);
    entry = mf_draft_find(&plan.draft, "quantize.imatrix.dataset");
    assert_int_equal(entry->text.size, 126);
    assert_null(mf_draft_find(&plan.draft, "quantize.imatrix.chunks_count"));
    drop_plan(&plan);
}

/* ---- weights ---- */

static void weights_are_for_what_changes(void **state)
{
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_M",
                                           .imatrix = matrix };
    const char *down = "ffn_down";
    struct plan plan = plan_of("experts", &choices);

    (void)state;
    assert_non_null(planned(&plan, "blk.3.ffn_up_exps.weight")->weights.at);
    assert_null(planned(&plan, "blk.3.ffn_gate_inp.weight")->weights.at);
    assert_int_equal(plan.result.changed, plan.result.weighted);
    assert_int_equal(plan.result.changed, 2 + 16 * 7);
    drop_plan(&plan);
    choices.exclude = &down;
    choices.exclude_count = 1;
    plan = plan_of("experts", &choices);
    assert_null(planned(&plan, "blk.3.ffn_down_exps.weight")->weights.at);
    assert_int_equal(plan.result.weighted, 2 + 16 * 6);
    drop_plan(&plan);
    choices.type = "IQ2_XXS";
    refuse(&choices, MF_ERR_ARGUMENT,
           "tensor 'blk.2.ffn_down_exps.weight' would be iq2_xxs");
    choices.include = &down;
    choices.include_count = 1;
    refuse(&choices, MF_ERR_ARGUMENT, "not both");
    choices.exclude_count = 0;
    down = "nothing";
    refuse(&choices, MF_ERR_ARGUMENT, "entry of the importance matrix is left");
    choices.imatrix = NULL;
    choices.include_count = 0;
    refuse(&choices, MF_ERR_ARGUMENT,
           "tensor 'blk.0.attn_q.weight' would be iq2_xxs, which is useless "
           "without an importance matrix");
}

struct weights {
    const char *tensor;
    uint32_t count;
};

/* A matrix with a weight of 1 for each column of these tensors. */
static void save_matrix(const struct weights *weights, uint32_t count)
{
    FILE *file = start_matrix(matrix, count);

    for (uint32_t i = 0; i < count; i++)
        write_entry(file, weights[i].tensor, 1, weights[i].count, 1);
    fclose(file);
}

static void a_matrix_must_fit_its_tensor(void **state)
{
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_0",
                                           .imatrix = matrix };
    struct plan plan;

    (void)state;
    make_model("tied", model, NULL);
    save_matrix((const struct weights[]){ { "token_embd.weight", 4 },
                                          { "blk.0.ffn_up.weight", 256 } },
                2);
    assert_int_equal(make_plan(&plan, model, &choices), MF_OK);
    assert_null(planned(&plan, "token_embd.weight")->weights.at);
    assert_int_equal(plan.result.weighted, 1);
    drop_plan(&plan);
    save_matrix((const struct weights[]){ { "blk.0.ffn_up.weight", 4 } }, 1);
    refuse(&choices, MF_ERR_ARGUMENT,
           "has 4 numbers for tensor 'blk.0.ffn_up.weight', which has 256");
}

/* Another model's: no name fits, or only names that are not quantized. */
static void a_matrix_must_be_of_use(void **state)
{
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_0",
                                           .imatrix = matrix };
    static const char *const types[] = { "Q4_0", "Q8_0", "F16", "COPY" };
    struct plan plan;

    (void)state;
    make_model("tied", model, NULL);
    save_matrix(
        (const struct weights[]){ { "model.layers.0.mlp.up_proj.weight", 256 },
                                  { "blk.99.ffn_up.weight", 256 } },
        2);
    for (size_t i = 0; i < COUNT(types); i++) {
        choices.type = types[i];
        refuse(&choices, MF_ERR_ARGUMENT, "none of the 2 entries");
    }
    save_matrix((const struct weights[]){ { "output_norm.weight", 256 } }, 1);
    choices.type = "Q4_0";
    refuse(&choices, MF_ERR_ARGUMENT, "none of the 1 entries");
    choices.type = "COPY"; /* nothing is quantized, and the name fits */
    assert_int_equal(make_plan(&plan, model, &choices), MF_OK);
    drop_plan(&plan);
}

static void patterns_are_counted(void **state)
{
    const struct mf_tensor_type types[] = {
        { "ffn_up", "q8_0" },      /* of all blocks */
        { "blk.3.ffn", "q6_k" },   /* what the first one has left */
        { "ffn_up_", "q5_0" },     /* no name */
        { "output_norm", "q5_0" }, /* not quantized */
        { "3.ffn_up", "q5_0" },    /* all taken */
    };
    size_t tensors[COUNT(types)] = { 9, 9, 9, 9, 9 };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_0",
                                           .tensor_types = types,
                                           .tensor_type_count = COUNT(types),
                                           .tensor_type_tensors = tensors };
    struct plan plan = plan_of("tied", &choices);

    (void)state;
    assert_true(tensors[0] > 1);
    assert_true(tensors[1] > 0);
    assert_int_equal(tensors[2] + tensors[3] + tensors[4], 0);
    drop_plan(&plan);
}

/* ---- blocks ---- */

static void blocks_move_up(void **state)
{
    static const uint32_t blocks[] = { 0, 9, 14, 9 };
    union mf_number heads[16];
    struct mf_edit edit = { .key = "llama.attention.head_count",
                            .type = MF_VALUE_ARRAY,
                            .of = MF_VALUE_U32,
                            .count = 16,
                            .elements = heads };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_M",
                                           .imatrix = matrix,
                                           .edits = &edit,
                                           .edit_count = 1,
                                           .prune = blocks,
                                           .prune_count = COUNT(blocks) };
    const struct mf_entry *entry;
    const struct mf_draft_tensor *tensor;
    struct plan plan;

    (void)state;
    for (size_t i = 0; i < 16; i++)
        heads[i].u64 = 100 + i;
    plan = plan_of("grouped", &choices);
    assert_int_equal(plan.draft.tensor_count, 3 + 13 * 8);
    assert_null(planned(&plan, "blk.13.attn_q.weight"));
    tensor = planned(&plan, "blk.8.attn_q.weight"); /* was the tenth */
    assert_int_equal(tensor->weights.size, strlen("blk.10.attn_q.weight"));
    assert_memory_equal(tensor->weights.at, "blk.10.", 7);
    tensor = planned(&plan, "blk.12.attn_q.weight");
    assert_memory_equal(tensor->weights.at, "blk.15.", 7);
    entry = &plan.draft.entry[plan.draft.entry_count - 1];
    assert_memory_equal(entry->key.at, "llama.block_count", entry->key.size);
    assert_int_equal(entry->number.u64, 13);
    entry = mf_draft_find(&plan.draft, "llama.attention.head_count");
    assert_int_equal(entry->count, 13);
    for (size_t i = 0; i < 13; i++) {
        static const uint64_t left[] = { 101, 102, 103, 104, 105, 106, 107,
                                         108, 110, 111, 112, 113, 115 };

        assert_int_equal(((const union mf_number *)entry->elements)[i].u64,
                         left[i]);
    }
    drop_plan(&plan);
}

static void blocks_that_are_not_there_are_refused(void **state)
{
    static const uint32_t blocks[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q8_0",
                                           .prune = blocks,
                                           .prune_count = 10 };

    (void)state;
    make_model("tied", model, NULL);
    refuse(&choices, MF_ERR_ARGUMENT,
           "block 9 is out of range: the model has 9");
    choices.prune_count = 9;
    refuse(&choices, MF_ERR_ARGUMENT, "cannot leave out all 9 blocks");
    choices.edits =
        &(struct mf_edit){ .key = "gemma.block_count", .unset = true };
    choices.edit_count = 1;
    refuse(&choices, MF_ERR_UNSUPPORTED, "block_count is missing");
    choices.edits = &(struct mf_edit){ .key = "gemma.block_count",
                                       .type = MF_VALUE_U64,
                                       .number.u64 = UINT64_MAX };
    refuse(&choices, MF_ERR_UNSUPPORTED, "block_count is missing");
}

/* ---- shards ---- */

/* A draft of all the metadata and some tensors, the last one first. */
static void start_shard(struct mf_env *env, struct mf_draft *draft,
                        struct mf_model *from, size_t first, size_t count)
{
    size_t left_out;

    mf_draft_init(draft, env, &mf_format_gguf);
    if (first == 0)
        assert_int_equal(mf_carry_metadata(draft, from, &left_out), MF_OK);
    for (size_t i = count; i-- > 0;)
        assert_int_equal(mf_draft_list_tensors(draft, from, NULL, first + i, 1),
                         MF_OK);
}

static uint64_t number_of(const struct mf_draft *draft, const char *key)
{
    uint64_t number = UINT64_MAX;

    assert_int_equal(mf_draft_number(draft, key, &number), MF_OK);
    return number;
}

static void shards_keep_their_tensors(void **state)
{
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_M",
                                           .keep_split = true };
    struct mf_env *env = mf_env_new(NULL);
    struct mf_draft draft[2];
    struct mf_draft *drafts[] = { &draft[0], &draft[1] };
    struct mf_mix_result result;
    struct mf_model *from;

    (void)state;
    make_model("tied", model, NULL);
    assert_int_equal(mf_model_open(env, model, NULL, &from), MF_OK);
    start_shard(env, &draft[0], from, 0, 20);
    start_shard(env, &draft[1], from, 20, from->index.tensor_count - 20);
    assert_int_equal(
        mf_mix_apply(drafts, 2, from, &choices, NULL, false, &result), MF_OK);
    for (size_t i = 0; i < 2; i++) {
        for (size_t t = 0; t < draft[i].tensor_count; t++)
            assert_int_equal(draft[i].tensor[t].record, i * 20 + t);
        assert_int_equal(number_of(&draft[i], "split.no"), i);
        assert_int_equal(number_of(&draft[i], "split.count"), 2);
        assert_int_equal(number_of(&draft[i], "split.tensors.count"),
                         from->index.tensor_count);
    }
    assert_int_equal(draft[1].entry_count, 3);
    assert_int_equal(result.changed, from->index.tensor_count - 1);
    for (size_t i = 0; i < 2; i++)
        mf_draft_release(&draft[i]);
    mf_model_close(from);
    mf_env_free(env);
}

/* ---- memory ---- */

static void a_heap_that_fails_is_an_error(void **state)
{
    static const uint32_t blocks[] = { 3 };
    const struct mf_tensor_type type = { "ffn_(up|down)", "q8_0" };
    struct mf_quantize_options choices = { .size = sizeof(
                                               struct mf_quantize_options),
                                           .type = "Q4_K_M",
                                           .tensor_types = &type,
                                           .tensor_type_count = 1,
                                           .imatrix = matrix,
                                           .prune = blocks,
                                           .prune_count = 1 };

    (void)state;
    make_model("grouped", model, matrix);
    for (int after = 0; after < 2; after++) {
        struct test_heap heap = { .calls = UINT64_MAX };

        for (uint64_t call = 2; heap.calls >= call; call++) {
            struct plan plan;
            enum mf_status status;

            heap = (struct test_heap){ .fail_at = call, .fail_after = after };
            status =
                make_plan_in(test_env(&heap), &plan, model, &choices, NULL);
            check_refused(&heap, status);
            drop_plan(&plan);
            assert_int_equal(heap.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_keys_are_at_the_end),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(weights_are_for_what_changes),
        cmocka_unit_test(a_matrix_must_fit_its_tensor),
        cmocka_unit_test(a_matrix_must_be_of_use),
        cmocka_unit_test(patterns_are_counted),
        cmocka_unit_test(blocks_move_up),
        cmocka_unit_test(blocks_that_are_not_there_are_refused),
        cmocka_unit_test(shards_keep_their_tensors),
        cmocka_unit_test(a_heap_that_fails_is_an_error),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, remove_scratch);
}
