/* SPDX-License-Identifier: MIT
 *
 * tokenizer_facts.c - what is known of a vocabulary before a file is made of it
 */
#include <math.h>

#include "lib/base/names.h"
#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/hf/encode/fast.h"
#include "lib/hf/restore/tokenizer.h"
#include "lib/model/values.h"
#include "lib/model/vocabulary.h"
#include "lib/vocab/token_set.h"

static enum mf_status failed(const struct mf_tokenizer_facts *facts)
{
    return facts->env->error.status;
}

static enum mf_status wrong(const struct mf_tokenizer_facts *facts,
                            const char *key, const char *expected)
{
    return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                   "metadata key '%s' is not %s", key, expected);
}

/* ---- keys ---- */

/* The key's place, and its value; false: missing. */
static bool find(const struct mf_tokenizer_facts *facts, const char *key,
                 struct mf_meta *meta, size_t *at)
{
    return mf_meta_find(facts->model, key, strlen(key), meta, at);
}

static enum mf_status read_text(struct mf_tokenizer_facts *facts,
                                const char *key, struct mf_str *out, size_t *at)
{
    struct mf_meta meta;

    *out = (struct mf_str){ NULL, 0 };
    if (!find(facts, key, &meta, at))
        return MF_OK;
    if (meta.type != MF_VALUE_STRING || !meta.text.at)
        return wrong(facts, key, "a short text");
    *out = meta.text;
    return MF_OK;
}

static enum mf_status read_flag(struct mf_tokenizer_facts *facts,
                                const char *key, struct mf_tokenizer_flag *out)
{
    struct mf_meta meta;

    *out = (struct mf_tokenizer_flag){ .given = false };
    if (!find(facts, key, &meta, &out->at))
        return MF_OK;
    if (meta.type != MF_VALUE_BOOL)
        return wrong(facts, key, "true or false");
    out->given = true;
    out->value = meta.number.boolean;
    return MF_OK;
}

/* takes: bits of MF_TAKES. */
static enum mf_status read_array(struct mf_tokenizer_facts *facts,
                                 const char *key, uint32_t takes,
                                 const char *expected, size_t *out)
{
    struct mf_meta meta;
    size_t at;

    *out = MF_NO_KEY;
    if (!find(facts, key, &meta, &at))
        return MF_OK;
    if (meta.type != MF_VALUE_ARRAY || !(takes & MF_TAKES(meta.of)))
        return wrong(facts, key, expected);
    *out = at;
    return MF_OK;
}

/* The arrays with an element for each token. */
static enum mf_status read_arrays(struct mf_tokenizer_facts *facts)
{
    const uint32_t whole = MF_TAKES(MF_VALUE_I32) | MF_TAKES(MF_VALUE_U32);
    struct mf_meta tokens, other;

    if (read_array(facts, "tokenizer.ggml.tokens", MF_TAKES(MF_VALUE_STRING),
                   "an array of texts", &facts->tokens) != MF_OK ||
        read_array(facts, "tokenizer.ggml.token_type", whole, "an array of i32",
                   &facts->types) != MF_OK ||
        read_array(facts, "tokenizer.ggml.scores", MF_TAKES(MF_VALUE_F32),
                   "an array of f32", &facts->scores) != MF_OK ||
        read_array(facts, "tokenizer.ggml.merges", MF_TAKES(MF_VALUE_STRING),
                   "an array of texts", &facts->merges) != MF_OK ||
        read_array(facts, "tokenizer.ggml.precompiled_charsmap",
                   MF_TAKES(MF_VALUE_U8) | MF_TAKES(MF_VALUE_I8),
                   "an array of bytes", &facts->charsmap) != MF_OK)
        return failed(facts);
    if (facts->tokens == MF_NO_KEY)
        return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "missing metadata key 'tokenizer.ggml.tokens'");
    mf_meta_at(facts->model, facts->tokens, &tokens);
    facts->count = tokens.count;
    if (facts->count > MF_VOCAB_MAX)
        return mf_fail(facts->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%" PRIu64 " tokens, at most %" PRIu64 " are supported",
                       facts->count, MF_VOCAB_MAX);
    if (facts->types != MF_NO_KEY &&
        mf_meta_at(facts->model, facts->types, &other) &&
        other.count != facts->count)
        return wrong(facts, "tokenizer.ggml.token_type", "one for each token");
    if (facts->scores != MF_NO_KEY &&
        mf_meta_at(facts->model, facts->scores, &other) &&
        other.count != facts->count)
        return wrong(facts, "tokenizer.ggml.scores", "one for each token");
    return MF_OK;
}

static const char *const id_keys[MF_NAMED_COUNT] = {
    [MF_NAMED_BOS] = "tokenizer.ggml.bos_token_id",
    [MF_NAMED_EOS] = "tokenizer.ggml.eos_token_id",
    [MF_NAMED_UNK] = "tokenizer.ggml.unknown_token_id",
    [MF_NAMED_SEP] = "tokenizer.ggml.seperator_token_id",
    [MF_NAMED_PAD] = "tokenizer.ggml.padding_token_id",
    [MF_NAMED_MASK] = "tokenizer.ggml.mask_token_id",
    [MF_NAMED_EOT] = "tokenizer.ggml.eot_token_id",
};

/* The converter learns of tokens from tokenizer_config.json first, in their
 * order, then from config.json: of those that come after one of a higher kind
 * tokenizer_config.json said nothing. */
static enum mf_status read_ids(struct mf_tokenizer_facts *facts)
{
    size_t at[MF_NAMED_COUNT] = { 0 };

    for (unsigned i = 0; i < MF_NAMED_COUNT; i++) {
        struct mf_named_token *named = &facts->named[i];
        struct mf_meta meta;

        if (!find(facts, id_keys[i], &meta, &at[i]))
            continue;
        if (!mf_meta_unsigned(&meta, &named->id))
            return wrong(facts, id_keys[i], "the id of a token");
        named->given = named->in_config = true;
        for (unsigned j = i + 1; j < MF_NAMED_COUNT; j++)
            if (mf_meta_find(facts->model, id_keys[j], strlen(id_keys[j]),
                             &meta, &at[j]) &&
                at[j] < at[i])
                named->in_config = false;
    }
    return MF_OK;
}

/* Of encoders, converters once wrote what is put around texts as cls and sep.
 */
static enum mf_status read_cls(struct mf_tokenizer_facts *facts)
{
    static const char key[] = "tokenizer.ggml.cls_token_id";
    struct mf_named_token *named = facts->named;
    struct mf_meta meta;
    size_t at;

    if (!mf_str_is(facts->kind, "bert"))
        return MF_OK;
    if (!named[MF_NAMED_BOS].given && find(facts, key, &meta, &at)) {
        if (!mf_meta_unsigned(&meta, &named[MF_NAMED_BOS].id))
            return wrong(facts, key, "the id of a token");
        named[MF_NAMED_BOS].given = true;
    }
    if (!named[MF_NAMED_EOS].given)
        named[MF_NAMED_EOS] = named[MF_NAMED_SEP];
    return MF_OK;
}

/* What a recipe says of a family comes before the tokenizer's keys, or is of
 * Nemotron-H without experts or LLaDA, and says nothing about its files; unless
 * they have changed it, since no recipe puts tokens at both ends and none
 * between texts. */
static void forget_recipe(struct mf_tokenizer_facts *facts)
{
    bool after =
        mf_str_is(facts->arch, "nemotron_h") || mf_str_is(facts->arch, "llada");
    struct mf_tokenizer_flag *add = facts->add;
    bool changed = add[MF_NAMED_BOS].value && add[MF_NAMED_EOS].value &&
                   add[MF_NAMED_SEP].given && !add[MF_NAMED_SEP].value;

    for (unsigned i = 0; i <= MF_NAMED_SEP; i++)
        if (add[i].given && (after || add[i].at < facts->kind_at) && !changed)
            add[i] = (struct mf_tokenizer_flag){ .given = false };
}

static enum mf_status read_keys(struct mf_tokenizer_facts *facts)
{
    struct mf_meta meta;
    size_t at;

    if (read_text(facts, "tokenizer.ggml.model", &facts->kind,
                  &facts->kind_at) != MF_OK)
        return failed(facts);
    if (!facts->kind.at || mf_str_is(facts->kind, "none") ||
        mf_str_is(facts->kind, "no_vocab")) {
        facts->kind.at = NULL;
        return MF_OK;
    }
    if (read_text(facts, "tokenizer.ggml.pre", &facts->pre, &at) != MF_OK ||
        read_text(facts, "general.architecture", &facts->arch, &at) != MF_OK ||
        read_flag(facts, "tokenizer.ggml.add_bos_token",
                  &facts->add[MF_NAMED_BOS]) != MF_OK ||
        read_flag(facts, "tokenizer.ggml.add_eos_token",
                  &facts->add[MF_NAMED_EOS]) != MF_OK ||
        read_flag(facts, "tokenizer.ggml.add_sep_token",
                  &facts->add[MF_NAMED_SEP]) != MF_OK ||
        read_flag(facts, "tokenizer.ggml.add_space_prefix", &facts->prefix) !=
            MF_OK ||
        read_flag(facts, "tokenizer.ggml.remove_extra_whitespaces",
                  &facts->squeeze) != MF_OK ||
        read_flag(facts, "tokenizer.ggml.normalizer.lowercase",
                  &facts->lowercase) != MF_OK ||
        read_flag(facts, "tokenizer.ggml.normalizer.strip_accents",
                  &facts->accents) != MF_OK ||
        read_arrays(facts) != MF_OK)
        return failed(facts);
    forget_recipe(facts);
    /* The converter counts segments of encoders only. */
    facts->shifted = mf_str_is(facts->kind, "t5") &&
                     find(facts, "tokenizer.ggml.token_type_count", &meta, &at);
    return read_ids(facts) == MF_OK ? read_cls(facts) : failed(facts);
}

/* ---- tokens ---- */

static enum mf_status keep_named(struct mf_tokenizer_facts *facts,
                                 const struct mf_token_walk *walk)
{
    for (unsigned i = 0; i < MF_NAMED_COUNT; i++) {
        struct mf_named_token *named = &facts->named[i];
        char *copy;

        if (!named->given || named->id != walk->id)
            continue;
        copy = mf_arena_text(facts->arena, walk->text.size);
        if (!copy)
            return failed(facts);
        memcpy(copy, walk->text.at, walk->text.size);
        named->text = (struct mf_str){ copy, walk->text.size };
        /* tokenizer_config.json makes what it names a control token. */
        if (walk->type == MF_TOKEN_NORMAL)
            named->in_config = false;
    }
    return MF_OK;
}

/* What is looked at once. */
static enum mf_status note(struct mf_tokenizer_facts *facts,
                           const struct mf_token_walk *walk)
{
    if (!mf_text_is_utf8(walk->text.at, walk->text.size))
        return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "token %" PRIu64 " is not valid UTF-8", walk->id);
    if (!isfinite(walk->score))
        return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "the score of token %" PRIu64 " is NaN or infinite",
                       walk->id);
    /* fairseq has no piece for the mask. */
    if (!mf_token_is_filler(walk) &&
        !(facts->shifted && mf_str_is(walk->text, "<mask>"))) {
        facts->end = walk->id + 1;
        facts->of_type[walk->type]++;
        if (walk->score != MF_SCORE_LOST)
            facts->unscored = false;
    }
    if (walk->type == MF_TOKEN_USER_DEFINED && facts->added == facts->count)
        facts->added = walk->id;
    else if (walk->type != MF_TOKEN_USER_DEFINED &&
             walk->type != MF_TOKEN_CONTROL)
        facts->added = facts->count;
    facts->listed += mf_token_is_listed(walk);
    facts->has_s = facts->has_s || mf_str_is(walk->text, "<s>");
    facts->has_bos = facts->has_bos || mf_str_is(walk->text, "<bos>");
    facts->has_slash_s = facts->has_slash_s || mf_str_is(walk->text, "</s>");
    if (walk->type == MF_TOKEN_UNKNOWN && facts->unknown == facts->count)
        facts->unknown = walk->id;
    return keep_named(facts, walk);
}

static enum mf_status walk_once(struct mf_tokenizer_facts *facts,
                                struct mf_token_set *seen, bool first)
{
    struct mf_token_walk *walk = mf_token_walk_open(facts);
    enum mf_status status = MF_OK;

    while (walk && status == MF_OK && mf_token_walk_next(walk)) {
        uint64_t hash = mf_text_hash(walk->text, facts->env->hash_seed);

        if (first)
            status = note(facts, walk);
        if (status == MF_OK && mf_token_set_takes(seen, hash) &&
            !mf_token_set_add(seen, hash))
            status = mf_fail(facts->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                             "token %" PRIu64 " has the text of an earlier "
                             "one: '%s'",
                             walk->id, mf_quote(walk->text).text);
    }
    if (status == MF_OK)
        status = failed(facts);
    mf_token_walk_close(walk);
    return status;
}

static enum mf_status walk_all(struct mf_tokenizer_facts *facts)
{
    enum mf_status status = MF_OK;
    struct mf_token_set seen;

    if (mf_token_set_init(&seen, facts->env, facts->count,
                          sizeof(struct mf_token_walk) + MF_WINDOW) != MF_OK)
        return failed(facts);
    for (uint32_t pass = 0; pass < seen.passes && status == MF_OK; pass++) {
        mf_token_set_begin(&seen, pass);
        status = walk_once(facts, &seen, pass == 0);
    }
    mf_token_set_release(&seen);
    return status;
}

static enum mf_status check_ids(const struct mf_tokenizer_facts *facts)
{
    for (unsigned i = 0; i < MF_NAMED_COUNT; i++)
        if (facts->named[i].given && !facts->named[i].text.at)
            return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                           "metadata key '%s' is %" PRIu64
                           ": there are %" PRIu64 " tokens",
                           id_keys[i], facts->named[i].id, facts->count);
    return MF_OK;
}

/* The scores of SentencePiece are lost where the converter had tokenizer.json
 * only, which has merges instead. */
static enum mf_status choose_way(struct mf_tokenizer_facts *facts)
{
    static const struct {
        const char *kind;
        enum mf_tokenizer_way way;
    } ways[] = {
        { "gpt2", MF_WAY_BYTES }, { "gemma4", MF_WAY_FALLBACK },
        { "bert", MF_WAY_WORDS }, { "llama", MF_WAY_PIECES },
        { "t5", MF_WAY_PIECES },
    };
    bool llama = mf_str_is(facts->kind, "llama");

    facts->base = facts->count;
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        if (!mf_str_is(facts->kind, ways[i].kind))
            continue;
        facts->way = ways[i].way;
        if (llama && (facts->scores == MF_NO_KEY || facts->unscored))
            facts->way = MF_WAY_FALLBACK;
        if (facts->way == MF_WAY_FALLBACK)
            facts->base = facts->added;
        if (facts->way == MF_WAY_BYTES)
            facts->row = mf_pre_find(facts);
        return failed(facts);
    }
    return mf_fail(facts->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "metadata key 'tokenizer.ggml.model' is '%s': transformers "
                   "has no files for it that are not code",
                   mf_quote(facts->kind).text);
}

enum mf_status mf_tokenizer_facts_read(struct mf_tokenizer_facts *facts,
                                       struct mf_model *model,
                                       struct mf_arena *arena)
{
    *facts = (struct mf_tokenizer_facts){ .env = model->env,
                                          .model = model,
                                          .arena = arena };
    mf_clear_error(model->env);
    if (read_keys(facts) != MF_OK || !facts->kind.at)
        return failed(facts);
    facts->unknown = facts->added = facts->count;
    facts->unscored = true;
    if (walk_all(facts) != MF_OK || check_ids(facts) != MF_OK)
        return failed(facts);
    return choose_way(facts);
}
