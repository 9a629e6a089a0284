/* SPDX-License-Identifier: MIT
 *
 * tokenizers.c - a library that makes no vocabularies
 */
#include "lib/hf/tokenizer/spm.h"
#include "lib/hf/tokenizer/tokenizer.h"
#include "lib/model/model.h"
#include "lib/without/without.h"

static enum mf_status refuse(struct mf_env *env)
{
    return mf_without(env, "tokenizers", "convert a folder's tokenizer");
}

enum mf_status mf_tokenizer_put(struct mf_draft *draft,
                                const struct mf_tokenizer_request *request,
                                struct mf_str words)
{
    (void)request;
    (void)words;
    return refuse(draft->env);
}

enum mf_status mf_tokenizer_rows(const struct mf_model *model,
                                 struct mf_arena *arena,
                                 const struct mf_node *config, uint64_t *out)
{
    (void)arena;
    (void)config;
    (void)out;
    return refuse(model->env);
}
