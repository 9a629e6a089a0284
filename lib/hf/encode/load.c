/* SPDX-License-Identifier: MIT
 *
 * load.c - a tokenizer that can be run, made of what its files say
 */
#include "lib/hf/encode/load.h"

#include "lib/base/str.h"

#define MAX_CHARS 100 /* of a word, where WordPiece's file has no number */

static enum mf_status failed(const struct mf_encoder *tokenizer)
{
    return tokenizer->env->error.status;
}

static enum mf_status wrong(struct mf_encoder *tokenizer, const char *path,
                            const struct mf_node *node, const char *expected)
{
    return mf_fail(tokenizer->env, MF_ERR_CORRUPT, node->offset,
                   "'tokenizer.json': '%s' must be %s, not %s", path, expected,
                   mf_node_kind_name(node));
}

/* ---- "model" ---- */

/* NULL where it is missing, or null. */
static const struct mf_node *value_at(const struct mf_encoder *tokenizer,
                                      const char *path)
{
    const struct mf_node *node = mf_node_at(tokenizer->fast->json, path);

    return node && node->kind == MF_NODE_NULL ? NULL : node;
}

static enum mf_status read_flag(struct mf_encoder *tokenizer, const char *path,
                                bool *flag)
{
    const struct mf_node *node = value_at(tokenizer, path);

    *flag = node && node->kind == MF_NODE_TRUE;
    return !node || node->kind == MF_NODE_TRUE || node->kind == MF_NODE_FALSE
               ? MF_OK
               : wrong(tokenizer, path, node, "true or false");
}

static enum mf_status read_text(struct mf_encoder *tokenizer, const char *path,
                                struct mf_str *out)
{
    const struct mf_node *node = value_at(tokenizer, path);

    *out = node ? node->text : (struct mf_str){ NULL, 0 };
    return !node || node->kind == MF_NODE_STRING
               ? MF_OK
               : wrong(tokenizer, path, node, "a string");
}

static enum mf_status read_kind(struct mf_encoder *tokenizer)
{
    struct mf_model_part *part = &tokenizer->part;
    struct mf_str type;

    if (read_text(tokenizer, "model.type", &type) != MF_OK)
        return failed(tokenizer);
    part->kind = mf_str_is(type, "BPE")         ? MF_MODEL_BPE
                 : mf_str_is(type, "WordPiece") ? MF_MODEL_WORDPIECE
                 : mf_str_is(type, "WordLevel") ? MF_MODEL_WORDS
                                                : MF_MODEL_NONE;
    if (part->kind != MF_MODEL_NONE)
        return MF_OK;
    return type.at ? mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                             "'tokenizer.json': GGUF has no name for the "
                             "pre-tokenizer of a model of type '%s'",
                             mf_quote(type).text)
                   : mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                             "'tokenizer.json': missing key 'model.type'");
}

static enum mf_status read_merges(struct mf_encoder *tokenizer)
{
    const struct mf_node *merges =
        mf_node_at(tokenizer->fast->json, "model.merges");

    if (tokenizer->part.kind != MF_MODEL_BPE || tokenizer->fast->slow)
        return MF_OK;
    if (!merges)
        return mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'tokenizer.json': missing key 'model.merges'");
    if (merges->kind != MF_NODE_ARRAY)
        return wrong(tokenizer, "model.merges", merges, "a list");
    tokenizer->part.merges_offset = merges->offset;
    return MF_OK;
}

/* With a dropout the same text gives other ids each time. */
static enum mf_status read_numbers(struct mf_encoder *tokenizer)
{
    static const char most[] = "model.max_input_chars_per_word";
    const struct mf_node *node = mf_node_at(tokenizer->fast->json, most);
    const struct mf_node *dropout = value_at(tokenizer, "model.dropout");

    tokenizer->part.max_chars = node ? node->number.u64 : MAX_CHARS;
    if (node && (node->kind != MF_NODE_NUMBER || node->type != MF_VALUE_U64))
        return wrong(tokenizer, most, node, "a whole number");
    if (dropout && dropout->kind == MF_NODE_NUMBER && dropout->number.u64 == 0)
        return MF_OK;
    return dropout
               ? mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, dropout->offset,
                         "'tokenizer.json': 'model.dropout' must be null")
               : MF_OK;
}

static enum mf_status read_model(struct mf_encoder *tokenizer)
{
    struct mf_model_part *part = &tokenizer->part;

    if (read_kind(tokenizer) != MF_OK || read_merges(tokenizer) != MF_OK ||
        read_numbers(tokenizer) != MF_OK ||
        read_text(tokenizer, "model.unk_token", &part->unk) != MF_OK ||
        read_text(tokenizer, "model.continuing_subword_prefix",
                  &part->prefix) != MF_OK ||
        read_text(tokenizer, "model.end_of_word_suffix", &part->suffix) !=
            MF_OK ||
        read_flag(tokenizer, "model.fuse_unk", &part->fuse_unk) != MF_OK ||
        read_flag(tokenizer, "model.byte_fallback", &part->byte_fallback) !=
            MF_OK)
        return failed(tokenizer);
    return read_flag(tokenizer, "model.ignore_merges", &part->ignore_merges);
}

/* ---- all of it ---- */

static enum mf_status load(struct mf_encoder *tokenizer)
{
    const struct mf_node *json = tokenizer->fast->json;
    struct mf_arena *arena = tokenizer->arena;

    tokenizer->post_processor = mf_node_at(json, "post_processor");
    if (read_model(tokenizer) != MF_OK ||
        mf_node_copy(arena, mf_node_at(json, "normalizer"),
                     &tokenizer->normalizer) != MF_OK ||
        mf_node_copy(arena, mf_node_at(json, "pre_tokenizer"),
                     &tokenizer->pre_tokenizer) != MF_OK ||
        mf_class_load(tokenizer) != MF_OK)
        return failed(tokenizer);
    if (mf_steps_make(tokenizer->env, arena, tokenizer->normalizer,
                      "normalizers", &tokenizer->normalize) != MF_OK ||
        mf_steps_make(tokenizer->env, arena, tokenizer->pre_tokenizer,
                      "pretokenizers", &tokenizer->split) != MF_OK)
        return mf_sidecar_fail(tokenizer->env, tokenizer->fast->file);
    return MF_OK;
}

struct mf_encoder *mf_encoder_open(struct mf_fast *fast, struct mf_arena *arena)
{
    struct mf_encoder *tokenizer = mf_arena_take(arena, sizeof(*tokenizer));

    if (!tokenizer)
        return NULL;
    *tokenizer =
        (struct mf_encoder){ .env = fast->env, .fast = fast, .arena = arena };
    return load(tokenizer) == MF_OK ? tokenizer : NULL;
}
