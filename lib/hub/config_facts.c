/* SPDX-License-Identifier: MIT
 *
 * config_facts.c - the facts that `info` shows, from config.json
 */
#include <stdio.h>
#include <string.h>

#include "lib/hub/fields.h"
#include "lib/model/model.h"

/* The keys that facts have in GGUF; NULL: config.json does not say it. */
static const char *const keys[MF_FACT_COUNT] = {
    [MF_FACT_CONTEXT_LENGTH] = "context_length",
    [MF_FACT_EMBEDDING_LENGTH] = "embedding_length",
    [MF_FACT_BLOCK_COUNT] = "block_count",
    [MF_FACT_HEAD_COUNT] = "attention.head_count",
    [MF_FACT_HEAD_COUNT_KV] = "attention.head_count_kv",
    [MF_FACT_VOCAB_SIZE] = "vocab_size",
    [MF_FACT_FEED_FORWARD_LENGTH] = "feed_forward_length",
    [MF_FACT_KEY_LENGTH] = "attention.key_length",
    [MF_FACT_VALUE_LENGTH] = "attention.value_length",
    [MF_FACT_EXPERT_COUNT] = "expert_count",
    [MF_FACT_EXPERT_USED_COUNT] = "expert_used_count",
    [MF_FACT_SLIDING_WINDOW] = "attention.sliding_window",
    [MF_FACT_SLIDING_WINDOW_PATTERN] = "attention.sliding_window_pattern",
    [MF_FACT_STATE_SIZE] = "ssm.state_size",
};

static void copy_type(struct mf_str type, struct mf_config_fact *fact)
{
    if (type.size == 0 || type.size >= sizeof(fact->text) ||
        memchr(type.at, 0, type.size))
        return;
    memcpy(fact->text, type.at, type.size);
    fact->text[type.size] = '\0';
    fact->given = fact->is_text = true;
}

/* Latent attention has one head for keys in GGUF, whatever config.json says. */
static bool number_of(struct mf_arch_run *run, int fact,
                      struct mf_config_fact *out, char *reason, size_t room)
{
    int64_t number;
    bool list, given = false;

    if (fact == MF_FACT_HEAD_COUNT_KV)
        given = mf_arch_field_value(run, "num_key_value_heads", &number, &list,
                                    reason, room);
    if (!given)
        given =
            mf_arch_field_value(run, keys[fact], &number, &list, reason, room);
    out->given = given && !(list && fact == MF_FACT_SLIDING_WINDOW_PATTERN);
    if (out->given)
        out->number = (uint64_t)number;
    return given;
}

/* The first field that makes no sense becomes the error. */
static void copy_numbers(struct mf_arch_run *run, struct mf_env *env,
                         struct mf_config_facts *out)
{
    char reason[160];

    for (int i = 0; i < MF_FACT_COUNT; i++)
        if (keys[i] &&
            !number_of(run, i, &out->fact[i], reason, sizeof(reason)) &&
            *reason && env->error.status == MF_OK)
            mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET, "'config.json': %s",
                    reason);
}

enum mf_status mf_model_config_facts(struct mf_model *model,
                                     struct mf_config_facts *out)
{
    struct mf_arch_fields fields;
    struct mf_arch_run *run = NULL;
    struct mf_arena arena;

    MF_NEED(NULL, model);
    MF_NEED(model->env, out);
    mf_clear_error(model->env);
    *out = (struct mf_config_facts){ 0 };
    mf_arena_init(&arena, model->env);
    if (mf_hub_fields(model, &arena, &fields, &out->found) == MF_OK &&
        out->found && mf_arch_open(model, &fields, &run) == MF_OK) {
        copy_type(fields.type, &out->fact[MF_FACT_ARCHITECTURE]);
        copy_numbers(run, model->env, out);
    }
    mf_arch_close(run);
    mf_arena_release(&arena);
    return model->env->error.status;
}
