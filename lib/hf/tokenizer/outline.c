/* SPDX-License-Identifier: MIT
 *
 * outline.c - what an outline has of a tokenizer: nothing that is in its files
 *
 * A library without tokenizers has this too, since it makes outlines.
 */
#include "lib/base/str.h"
#include "lib/draft/put.h"
#include "lib/hf/tokenizer/spm.h"
#include "lib/hf/tokenizer/tokenizer.h"
#include "lib/json/tree.h"

enum mf_status
mf_unigram_put_type_count(struct mf_draft *draft,
                          const struct mf_tokenizer_request *request)
{
    const struct mf_node *count =
        mf_node_at(request->config, "type_vocab_size");

    if (!count)
        return mf_set_u32(draft, "tokenizer.ggml.token_type_count", 1);
    if (count->kind != MF_NODE_NUMBER)
        return mf_fail(request->env, MF_ERR_CORRUPT, count->offset,
                       "'config.json': 'type_vocab_size' must be a number, "
                       "not %s",
                       mf_node_kind_name(count));
    return mf_set_number(draft, "tokenizer.ggml.token_type_count", MF_VALUE_U32,
                         count->type, count->number);
}

enum mf_status
mf_tokenizer_put_outline(struct mf_draft *draft,
                         const struct mf_tokenizer_request *request,
                         struct mf_str words)
{
    return mf_str_begins(words, "xlm_roberta")
               ? mf_unigram_put_type_count(draft, request)
               : MF_OK;
}
