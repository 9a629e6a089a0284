/* SPDX-License-Identifier: MIT
 *
 * config_facts.c - the facts that `info` shows, from config.json
 */
#include <string.h>

#include "lib/folder/sidecar.h"
#include "lib/hub/config.h"

static const enum mf_config_field fields[MF_FACT_COUNT] = {
    [MF_FACT_ARCHITECTURE] = MF_CONFIG_MODEL_TYPE,
    [MF_FACT_NAME] = MF_CONFIG_COUNT,
    [MF_FACT_LICENSE] = MF_CONFIG_COUNT,
    [MF_FACT_FILE_TYPE] = MF_CONFIG_COUNT,
    [MF_FACT_CONTEXT_LENGTH] = MF_CONFIG_CONTEXT,
    [MF_FACT_EMBEDDING_LENGTH] = MF_CONFIG_EMBEDDING,
    [MF_FACT_BLOCK_COUNT] = MF_CONFIG_BLOCKS,
    [MF_FACT_HEAD_COUNT] = MF_CONFIG_HEADS,
    [MF_FACT_HEAD_COUNT_KV] = MF_CONFIG_HEADS_KV,
    [MF_FACT_VOCAB_SIZE] = MF_CONFIG_VOCABULARY,
    [MF_FACT_FEED_FORWARD_LENGTH] = MF_CONFIG_FEED_FORWARD,
    [MF_FACT_KEY_LENGTH] = MF_CONFIG_HEAD_SIZE,
    [MF_FACT_VALUE_LENGTH] = MF_CONFIG_HEAD_SIZE,
    [MF_FACT_EXPERT_COUNT] = MF_CONFIG_COUNT,
    [MF_FACT_EXPERT_USED_COUNT] = MF_CONFIG_COUNT,
    [MF_FACT_SLIDING_WINDOW] = MF_CONFIG_WINDOW,
    [MF_FACT_SLIDING_WINDOW_PATTERN] = MF_CONFIG_COUNT,
    [MF_FACT_STATE_SIZE] = MF_CONFIG_COUNT,
};

_Static_assert(sizeof(((struct mf_config_fact *)NULL)->text) ==
                   MF_CONFIG_TEXT + 1,
               "a text of config.json fits a fact");

static void copy_facts(const struct mf_config *config,
                       struct mf_config_facts *out)
{
    out->found = true;
    for (unsigned i = 0; i < MF_FACT_COUNT; i++) {
        const struct mf_config_value *value;
        struct mf_config_fact *fact = &out->fact[i];

        if (fields[i] == MF_CONFIG_COUNT)
            continue;
        value = &config->value[fields[i]];
        fact->given = value->given;
        fact->is_text = value->type == MF_VALUE_STRING;
        if (fact->is_text)
            memcpy(fact->text, value->text, sizeof(fact->text));
        else
            fact->number = value->number.u64;
    }
}

enum mf_status mf_model_config_facts(struct mf_model *model,
                                     struct mf_config_facts *out)
{
    struct mf_config config;
    struct mf_arena arena;

    MF_NEED(NULL, model);
    MF_NEED(model->env, out);
    mf_clear_error(model->env);
    *out = (struct mf_config_facts){ 0 };
    if (model->file[0].source.fd < 0)
        return MF_OK;
    mf_arena_init(&arena, model->env);
    if (mf_sidecar_exists(model, &arena, "config.json") &&
        mf_config_read(&config, model, &arena) == MF_OK)
        copy_facts(&config, out);
    mf_arena_release(&arena);
    return model->env->error.status;
}
