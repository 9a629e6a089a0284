/* SPDX-License-Identifier: MIT
 *
 * class.c - what the class of a tokenizer changes in tokenizer.json's steps
 *
 * Spaces before texts, letters made small.  What a text gets at its ends is
 * done by post.c, and tokens are added by fast_special.c.
 */
#include "lib/hf/encode/load.h"

#include "lib/base/str.h"

static enum mf_status failed(const struct mf_encoder *tokenizer)
{
    return tokenizer->env->error.status;
}

/* ---- settings ---- */

static enum mf_status read_flag(struct mf_encoder *tokenizer, const char *key,
                                enum mf_tristate *out)
{
    const struct mf_node *node = mf_node_at(tokenizer->fast->config, key);

    *out = !node                         ? MF_UNSET
           : node->kind == MF_NODE_TRUE  ? MF_TRUE
           : node->kind == MF_NODE_FALSE ? MF_FALSE
                                         : MF_NULL;
    return *out != MF_NULL || node->kind == MF_NODE_NULL
               ? MF_OK
               : mf_fail(tokenizer->env, MF_ERR_CORRUPT, node->offset,
                         "'tokenizer_config.json': '%s' must be true or false, "
                         "not %s",
                         key, mf_node_kind_name(node));
}

static enum mf_status read_config(struct mf_encoder *tokenizer)
{
    struct mf_class_config *config = &tokenizer->config;
    const struct {
        const char *name;
        enum mf_tristate *value;
    } flags[] = {
        { "add_bos_token", &config->add_bos },
        { "add_eos_token", &config->add_eos },
        { "add_prefix_space", &config->prefix_space },
        { "do_lower_case", &config->lower },
        { "strip_accents", &config->accents },
        { "tokenize_chinese_chars", &config->chinese },
        { "fix_mistral_regex", &config->fix_regex },
        { "split_special_tokens", &config->split_special },
    };

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (read_flag(tokenizer, flags[i].name, flags[i].value) != MF_OK)
            return failed(tokenizer);
    return MF_OK;
}

/* ---- changes to steps ---- */

static struct mf_node *child(struct mf_node *object, const char *key)
{
    struct mf_node *node = object->first;

    while (node && !mf_str_is(node->key, key))
        node = node->next;
    return node;
}

/* Sets a key of a step to true, false or null. */
static enum mf_status set_flag(struct mf_encoder *tokenizer,
                               struct mf_node *step, const char *key,
                               enum mf_tristate value)
{
    struct mf_node *node = child(step, key);

    if (!node) {
        node = mf_arena_take(tokenizer->arena, sizeof(*node));
        if (!node)
            return failed(tokenizer);
        *node = (struct mf_node){ .key = { key, strlen(key) },
                                  .next = step->first };
        step->first = node;
        step->count++;
    }
    node->kind = value == MF_TRUE    ? MF_NODE_TRUE
                 : value == MF_FALSE ? MF_NODE_FALSE
                                     : MF_NODE_NULL;
    return MF_OK;
}

/* The base class gives the outermost ByteLevel the file's add_prefix_space. */
static enum mf_status set_prefix_space(struct mf_encoder *tokenizer)
{
    struct mf_node *root = tokenizer->pre_tokenizer;
    enum mf_tristate value = tokenizer->config.prefix_space;
    bool is_bytes = mf_str_is(mf_node_text(root, "type"), "ByteLevel");

    /* Llama's passes on a null, which the step does not take. */
    if (value == MF_NULL ||
        (value == MF_UNSET &&
         strcmp(tokenizer->fast->class->name, "Llama") == 0))
        return MF_OK;
    if (is_bytes)
        return set_flag(tokenizer, root, "add_prefix_space",
                        value == MF_TRUE ? MF_TRUE : MF_FALSE);
    if (!tokenizer->fast->class->spaces || value != MF_TRUE || !root)
        return MF_OK;
    root = child(root, "pretokenizers");
    for (struct mf_node *step = root ? root->first : NULL; step;
         step = step->next)
        if (step->kind == MF_NODE_OBJECT && child(step, "add_prefix_space") &&
            set_flag(tokenizer, step, "add_prefix_space", MF_TRUE) != MF_OK)
            return failed(tokenizer);
    return MF_OK;
}

static enum mf_status set_bert(struct mf_encoder *tokenizer)
{
    struct mf_node *root = tokenizer->normalizer;
    const struct mf_class_config *config = &tokenizer->config;

    if (tokenizer->fast->class->does != MF_CLASS_BERT)
        return MF_OK;
    if (!root || root->kind != MF_NODE_OBJECT)
        return mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer.json': a tokenizer of class '%s' needs a "
                       "normalizer",
                       tokenizer->fast->class->name);
    if (!mf_str_is(mf_node_text(root, "type"), "BertNormalizer"))
        return MF_OK;
    if (set_flag(tokenizer, root, "lowercase",
                 config->lower == MF_UNSET ? MF_TRUE : config->lower) !=
            MF_OK ||
        set_flag(tokenizer, root, "strip_accents", config->accents) != MF_OK)
        return failed(tokenizer);
    if (strcmp(tokenizer->fast->class->name, "MPNet") == 0)
        return MF_OK;
    return set_flag(tokenizer, root, "handle_chinese_chars",
                    config->chinese == MF_UNSET ? MF_TRUE : config->chinese);
}

/* Reasons for transformers to build another tokenizer than the file's: a Llama
 * with add_prefix_space is made from its SentencePiece model, and a Mistral may
 * be given a corrected expression. */
static enum mf_status check_changes(struct mf_encoder *tokenizer)
{
    const struct mf_class_config *config = &tokenizer->config;

    if (strcmp(tokenizer->fast->class->name, "Llama") == 0 &&
        (config->prefix_space == MF_TRUE || config->prefix_space == MF_FALSE))
        return mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer_config.json': 'add_prefix_space' of a "
                       "LlamaTokenizer must be null: else tokenizer.json is "
                       "not used");
    return config->fix_regex == MF_TRUE
               ? mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'tokenizer_config.json': 'fix_mistral_regex' must be "
                         "false")
               : MF_OK;
}

enum mf_status mf_class_load(struct mf_encoder *tokenizer)
{
    if (read_config(tokenizer) != MF_OK || check_changes(tokenizer) != MF_OK ||
        set_prefix_space(tokenizer) != MF_OK)
        return failed(tokenizer);
    return set_bert(tokenizer);
}
