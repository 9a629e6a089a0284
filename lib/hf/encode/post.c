/* SPDX-License-Identifier: MIT
 *
 * post.c - the ids that a text gets at its beginning and its end
 */
#include "lib/hf/encode/text_vocab.h"

#include "lib/base/str.h"

struct posting {
    struct mf_encoder *tokenizer;
    struct mf_token_ids *ids, out;
};

static enum mf_status failed(const struct posting *posting)
{
    return posting->tokenizer->env->error.status;
}

static enum mf_status put_node(struct posting *posting,
                               const struct mf_node *step,
                               const struct mf_node *id)
{
    if (!id || id->kind != MF_NODE_NUMBER || id->type != MF_VALUE_U64 ||
        id->number.u64 >= MF_NO_TOKEN)
        return mf_step_refuse(posting->tokenizer->env, step, "type");
    return mf_token_ids_add(&posting->out, (uint32_t)id->number.u64);
}

static enum mf_status put_text(struct posting *posting)
{
    for (size_t i = 0; i < posting->ids->count; i++)
        if (mf_token_ids_add(&posting->out, posting->ids->at[i]) != MF_OK)
            return failed(posting);
    return MF_OK;
}

/* What was put becomes the text for the next step. */
static void turn(struct posting *posting)
{
    struct mf_token_ids ids = *posting->ids;

    *posting->ids = posting->out;
    posting->out = ids;
    posting->out.count = 0;
}

/* ["</s>", 2] under a key. */
static enum mf_status put_pair(struct posting *posting,
                               const struct mf_node *step, const char *key)
{
    const struct mf_node *pair = mf_node_at(step, key);

    return put_node(posting, step, mf_node_at(pair, "1"));
}

static enum mf_status run_pair(struct posting *posting,
                               const struct mf_node *step)
{
    if (put_pair(posting, step, "cls") != MF_OK || put_text(posting) != MF_OK ||
        put_pair(posting, step, "sep") != MF_OK)
        return failed(posting);
    turn(posting);
    return MF_OK;
}

/* The ids of a special token of a template. */
static enum mf_status put_special(struct posting *posting,
                                  const struct mf_node *step, struct mf_str id)
{
    const struct mf_node *ids =
        mf_node_at(mf_node_get(mf_node_at(step, "special_tokens"), id), "ids");

    if (!id.at || !ids || ids->kind != MF_NODE_ARRAY)
        return mf_step_refuse(posting->tokenizer->env, step, "special_tokens");
    for (const struct mf_node *node = ids->first; node; node = node->next)
        if (put_node(posting, step, node) != MF_OK)
            return failed(posting);
    return MF_OK;
}

static enum mf_status run_template(struct posting *posting,
                                   const struct mf_node *step)
{
    const struct mf_node *single = mf_node_at(step, "single");

    if (!single || single->kind != MF_NODE_ARRAY)
        return mf_step_refuse(posting->tokenizer->env, step, "single");
    for (const struct mf_node *piece = single->first; piece;
         piece = piece->next) {
        struct mf_str sequence = mf_node_text(piece, "Sequence.id");

        if (sequence.at && !mf_str_is(sequence, "A"))
            return mf_step_refuse(posting->tokenizer->env, step, "single");
        if ((sequence.at
                 ? put_text(posting)
                 : put_special(posting, step,
                               mf_node_text(piece, "SpecialToken.id"))) !=
            MF_OK)
            return failed(posting);
    }
    turn(posting);
    return MF_OK;
}

/* The id of BOS or EOS, for a class that puts it there itself. */
static enum mf_status put_named(struct posting *posting,
                                enum mf_special_kind which)
{
    struct mf_encoder *tokenizer = posting->tokenizer;
    struct mf_str text = tokenizer->fast->special[which];
    const struct mf_added *added =
        text.at ? mf_added_find(&tokenizer->fast->added, text) : NULL;
    static const char *const names[MF_SPECIAL_COUNT] = {
        [MF_SPECIAL_BOS] = "bos",
        [MF_SPECIAL_EOS] = "eos",
        [MF_SPECIAL_SEP] = "sep",
        [MF_SPECIAL_CLS] = "cls",
    };

    /* In the template a space ends a token, and a colon its name. */
    if (!added || mf_str_holds(text, " ") || mf_str_holds(text, ":"))
        return mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer_config.json': the template of texts needs a "
                       "valid %s_token",
                       names[which]);
    return mf_token_ids_add(&posting->out, (uint32_t)added->id);
}

static enum mf_status run_class(struct posting *posting)
{
    const struct mf_encoder *tokenizer = posting->tokenizer;
    const struct mf_class_config *config = &tokenizer->config;
    bool bos = config->add_bos == MF_UNSET ? tokenizer->fast->class->adds_bos
                                           : config->add_bos == MF_TRUE;

    if ((bos && put_named(posting, MF_SPECIAL_BOS) != MF_OK) ||
        put_text(posting) != MF_OK ||
        (config->add_eos == MF_TRUE &&
         put_named(posting, MF_SPECIAL_EOS) != MF_OK))
        return failed(posting);
    turn(posting);
    return MF_OK;
}

/* Of a class that is not made of a tokenizer.json. */
static enum mf_status run_slow(struct posting *posting)
{
    const struct mf_encoder *tokenizer = posting->tokenizer;
    const struct mf_slow *slow = tokenizer->fast->slow;
    bool pair = slow->ends == MF_ENDS_PAIR;
    bool bos = tokenizer->config.add_bos == MF_TRUE;

    if (bos && strcmp(slow->class, "CodeGen") == 0)
        return mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer_config.json': 'add_bos_token' of a "
                       "CodeGenTokenizer must be false");
    if ((pair && put_named(posting, MF_SPECIAL_CLS) != MF_OK) ||
        (bos && slow->ends == MF_ENDS_BOS &&
         put_named(posting, MF_SPECIAL_BOS) != MF_OK) ||
        put_text(posting) != MF_OK ||
        (pair && put_named(posting, MF_SPECIAL_SEP) != MF_OK))
        return failed(posting);
    turn(posting);
    return MF_OK;
}

static enum mf_status run_file(struct posting *posting)
{
    struct mf_encoder *tokenizer = posting->tokenizer;
    struct mf_steps steps;

    if (mf_steps_make(tokenizer->env, tokenizer->arena,
                      tokenizer->post_processor, "processors", &steps) != MF_OK)
        return mf_sidecar_fail(tokenizer->env, tokenizer->fast->file);
    for (size_t i = 0; i < steps.count && failed(posting) == MF_OK; i++) {
        struct mf_str type = mf_node_text(steps.node[i], "type");

        if (mf_str_is(type, "TemplateProcessing"))
            run_template(posting, steps.node[i]);
        else if (mf_str_is(type, "BertProcessing") ||
                 mf_str_is(type, "RobertaProcessing"))
            run_pair(posting, steps.node[i]);
        else if (!mf_str_is(type, "ByteLevel"))
            mf_step_refuse(tokenizer->env, steps.node[i], "type");
    }
    return failed(posting) == MF_OK
               ? MF_OK
               : mf_sidecar_fail(tokenizer->env, tokenizer->fast->file);
}

enum mf_status mf_post_process(struct mf_encoder *tokenizer,
                               struct mf_token_ids *ids)
{
    struct posting posting = { .tokenizer = tokenizer,
                               .ids = ids,
                               .out = { .env = tokenizer->env } };
    const struct mf_fast *fast = tokenizer->fast;
    enum mf_status status = fast->slow ? run_slow(&posting)
                            : fast->class->does == MF_CLASS_TEMPLATE
                                ? run_class(&posting)
                                : run_file(&posting);

    mf_release(tokenizer->env, posting.out.at,
               posting.out.capacity * sizeof(*posting.out.at));
    return status;
}
