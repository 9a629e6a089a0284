/* SPDX-License-Identifier: MIT
 *
 * class.c - tokenizer_config.json, and what the class that it names does
 *
 * A class of transformers is a tokenizer.json and some changes: tokens that are
 * added, the tokens that a text gets at its ends, spaces before texts, letters
 * made small.
 */
#include "lib/tokenize/class.h"

#include "lib/base/str.h"

static const struct mf_class classes[] = {
#define CLASS(name, does, bos, spaces, ...)                                    \
    { name, MF_CLASS_##does, bos, spaces, { __VA_ARGS__ } },
#define TYPE(type, class)
#include "lib/tokenize/classes.def"
#undef TYPE
#undef CLASS
};

static const struct {
    const char *type, *class;
} types[] = {
#define CLASS(name, does, bos, spaces, ...)
#define TYPE(type, class) { type, class },
#include "lib/tokenize/classes.def"
#undef TYPE
#undef CLASS
};

static enum mf_status failed(const struct mf_reading *reading)
{
    return reading->env->error.status;
}

/* ---- the class ---- */

static const struct mf_class *class_of(struct mf_str name)
{
    for (size_t i = 0; name.at && i < sizeof(classes) / sizeof(*classes); i++) {
        size_t size = strlen(classes[i].name);
        struct mf_str rest = { name.at + size, name.size - size };

        if (name.size > size && mf_str_begins(name, classes[i].name) &&
            (mf_str_is(rest, "TokenizerFast") || mf_str_is(rest, "Tokenizer")))
            return &classes[i];
    }
    return NULL;
}

static enum mf_status find_class(struct mf_reading *reading,
                                 const struct mf_node *config)
{
    struct mf_tokenize *tokenizer = reading->tokenizer;
    struct mf_str name = tokenizer->config.class_name;
    struct mf_str type = mf_node_text(config, "model_type");

    if (!name.at)
        name = mf_node_text(config, "tokenizer_class");
    tokenizer->class = class_of(name);
    for (size_t i = 0; !name.at && i < sizeof(types) / sizeof(*types); i++)
        for (size_t c = 0; mf_str_is(type, types[i].type) &&
                           c < sizeof(classes) / sizeof(*classes);
             c++)
            if (strcmp(classes[c].name, types[i].class) == 0)
                tokenizer->class = &classes[c];
    if (tokenizer->class)
        return MF_OK;
    return name.at ? mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                             "'tokenizer_config.json': tokenizer_class '%s' is "
                             "not supported",
                             mf_quote(name).text)
                   : mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                             "'tokenizer_config.json': missing key "
                             "'tokenizer_class'");
}

/* What the class has where the file names no token. */
static void set_defaults(struct mf_reading *reading)
{
    struct mf_tokenize *tokenizer = reading->tokenizer;
    const struct mf_class *class = tokenizer->class;

    for (size_t i = 0; i < MF_SPECIAL_COUNT; i++) {
        const char *text = class->special[i];

        if (tokenizer->config.special_given[i] || !text)
            continue;
        tokenizer->config.special[i] = (struct mf_str){ text, strlen(text) };
        reading->special[i].token =
            (struct mf_tokenize_added){ .text = tokenizer->config.special[i],
                                        .special = true };
    }
}

/* Whether the text is that of a special token. */
static bool names_special(const struct mf_reading *reading, struct mf_str text)
{
    const struct mf_class_config *config = &reading->tokenizer->config;

    for (size_t i = 0; i < MF_SPECIAL_COUNT; i++)
        if (config->special[i].at && mf_str_same(config->special[i], text))
            return true;
    for (const struct mf_given *given = reading->extra; given;
         given = given->next)
        if (mf_str_same(given->token.text, text))
            return true;
    return false;
}

static enum mf_status put_special(struct mf_reading *reading,
                                  const struct mf_given *given)
{
    struct mf_tokenize *tokenizer = reading->tokenizer;
    struct mf_tokenize_added token = given->token;
    const struct mf_given *named = reading->decoder;

    token.special = true;
    while (named && !mf_str_same(named->token.text, token.text))
        named = named->next;
    if (mf_tokenize_added_find(tokenizer, token.text) &&
        (named || !given->object || !tokenizer->config.has_decoder))
        return MF_OK; /* it has the flags that it has there */
    return mf_tokenize_added_put(tokenizer, &token);
}

/* Adds tokens as the base class of fast tokenizers does: those with ids in
 * their order, then special ones that are still missing. */
static enum mf_status add_tokens(struct mf_reading *reading)
{
    struct mf_tokenize *tokenizer = reading->tokenizer;

    for (struct mf_given *given = reading->decoder; given;
         given = given->next) {
        given->token.special =
            given->token.special || names_special(reading, given->token.text);
        if (mf_tokenize_added_put(tokenizer, &given->token) != MF_OK)
            return failed(reading);
    }
    /* Without such a list those of tokenizer.json are taken for one. */
    for (struct mf_tokenize_added *added = tokenizer->added;
         added && !tokenizer->config.has_decoder; added = added->next) {
        struct mf_tokenize_added token = *added;

        token.special = token.special || names_special(reading, token.text);
        if (mf_tokenize_added_put(tokenizer, &token) != MF_OK)
            return failed(reading);
    }
    for (size_t i = 0; i < MF_SPECIAL_COUNT; i++)
        if (tokenizer->config.special[i].at &&
            put_special(reading, &reading->special[i]) != MF_OK)
            return failed(reading);
    for (const struct mf_given *given = reading->extra; given;
         given = given->next)
        if (put_special(reading, given) != MF_OK)
            return failed(reading);
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
static enum mf_status set_flag(struct mf_reading *reading, struct mf_node *step,
                               const char *key, enum mf_tristate value)
{
    struct mf_node *node = child(step, key);

    if (!node) {
        node = mf_arena_take(reading->tokenizer->arena, sizeof(*node));
        if (!node)
            return failed(reading);
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
static enum mf_status set_prefix_space(struct mf_reading *reading)
{
    struct mf_tokenize *tokenizer = reading->tokenizer;
    struct mf_node *root = tokenizer->pre_tokenizer;
    enum mf_tristate value = tokenizer->config.prefix_space;
    bool is_bytes = mf_str_is(mf_node_text(root, "type"), "ByteLevel");

    /* Llama's passes on a null, which the step does not take. */
    if (value == MF_NULL ||
        (value == MF_UNSET && strcmp(tokenizer->class->name, "Llama") == 0))
        return MF_OK;
    if (is_bytes)
        return set_flag(reading, root, "add_prefix_space",
                        value == MF_TRUE ? MF_TRUE : MF_FALSE);
    if (!tokenizer->class->spaces || value != MF_TRUE || !root)
        return MF_OK;
    root = child(root, "pretokenizers");
    for (struct mf_node *step = root ? root->first : NULL; step;
         step = step->next)
        if (step->kind == MF_NODE_OBJECT && child(step, "add_prefix_space") &&
            set_flag(reading, step, "add_prefix_space", MF_TRUE) != MF_OK)
            return failed(reading);
    return MF_OK;
}

static enum mf_status set_bert(struct mf_reading *reading)
{
    struct mf_node *root = reading->tokenizer->normalizer;
    const struct mf_class_config *config = &reading->tokenizer->config;

    if (reading->tokenizer->class->does != MF_CLASS_BERT)
        return MF_OK;
    if (!root || root->kind != MF_NODE_OBJECT)
        return mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer.json': a tokenizer of class '%s' needs a "
                       "normalizer",
                       reading->tokenizer->class->name);
    if (!mf_str_is(mf_node_text(root, "type"), "BertNormalizer"))
        return MF_OK;
    if (set_flag(reading, root, "lowercase",
                 config->lower == MF_UNSET ? MF_TRUE : config->lower) !=
            MF_OK ||
        set_flag(reading, root, "strip_accents", config->accents) != MF_OK)
        return failed(reading);
    return set_flag(reading, root, "handle_chinese_chars",
                    config->chinese == MF_UNSET ? MF_TRUE : config->chinese);
}

/* What makes transformers build another tokenizer than the file's: a Llama with
 * add_prefix_space is made from its SentencePiece model, and a Mistral may be
 * given a corrected expression. */
static enum mf_status check_changes(struct mf_reading *reading)
{
    const struct mf_class_config *config = &reading->tokenizer->config;

    if (strcmp(reading->tokenizer->class->name, "Llama") == 0 &&
        (config->prefix_space == MF_TRUE || config->prefix_space == MF_FALSE))
        return mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer_config.json': 'add_prefix_space' of a "
                       "LlamaTokenizer must be null: else tokenizer.json is "
                       "not used");
    return config->fix_regex == MF_TRUE
               ? mf_fail(reading->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'tokenizer_config.json': 'fix_mistral_regex' must be "
                         "false")
               : MF_OK;
}

enum mf_status mf_class_load(struct mf_tokenize *tokenizer,
                             const struct mf_node *config)
{
    struct mf_reading reading = { .tokenizer = tokenizer,
                                  .env = tokenizer->env };

    if (mf_reading_files(&reading) != MF_OK ||
        find_class(&reading, config) != MF_OK ||
        check_changes(&reading) != MF_OK)
        return failed(&reading);
    set_defaults(&reading);
    if (add_tokens(&reading) != MF_OK || set_prefix_space(&reading) != MF_OK)
        return failed(&reading);
    return set_bert(&reading);
}
