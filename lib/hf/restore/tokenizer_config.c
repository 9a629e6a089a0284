/* SPDX-License-Identifier: MIT
 *
 * tokenizer_config.c - tokenizer_config.json
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/hf/restore/tokenizer.h"

static enum mf_status failed(const struct mf_tokenizer_facts *facts)
{
    return facts->env->error.status;
}

static const char *class_of(const struct mf_tokenizer_facts *facts)
{
    if (facts->way == MF_WAY_WORDS)
        return "BertTokenizer";
    if (mf_str_is(facts->kind, "t5"))
        return facts->shifted ? "XLMRobertaTokenizer" : "T5Tokenizer";
    if (facts->way == MF_WAY_PIECES)
        return facts->has_bos ? "GemmaTokenizer" : "LlamaTokenizer";
    if (mf_post_ends_twice(facts)) /* and does so as add_bos_token says */
        return "CohereTokenizer";
    if (mf_str_is(facts->arch, "jina-bert-v2"))
        return "RobertaTokenizer"; /* else the converter refuses it */
    /* Phi 3's converter takes another for SentencePiece. */
    return mf_str_is(facts->arch, "phi3") && facts->way == MF_WAY_BYTES
               ? "GPT2Tokenizer"
               : "PreTrainedTokenizerFast";
}

/* ---- tokens that were added ---- */

/* Each as a member of added_tokens_decoder. */
static void put_decoder_entry(struct mf_json_out *json,
                              const struct mf_token_walk *walk)
{
    bool special = walk->type == MF_TOKEN_CONTROL;
    char id[24];

    snprintf(id, sizeof(id), "%" PRIu64, walk->id);
    mf_json_key(json, id);
    mf_json_begin(json, '{');
    mf_put_str(json, "content", walk->text);
    mf_put_flag(json, "lstrip", false);
    mf_put_flag(json, "normalized", false);
    mf_put_flag(json, "rstrip", false);
    mf_put_flag(json, "single_word", false);
    mf_put_flag(json, "special", special);
    mf_json_end(json, '}');
}

static bool is_named(const struct mf_tokenizer_facts *facts, uint64_t id)
{
    for (unsigned i = 0; i < MF_NAMED_EOT; i++)
        if (facts->named[i].given && facts->named[i].id == id)
            return true;
    return false;
}

static enum mf_status put_added(const struct mf_tokenizer_facts *facts,
                                struct mf_json_out *json)
{
    struct mf_token_walk *walk = mf_token_walk_open(facts);
    bool pieces = facts->way == MF_WAY_PIECES;
    enum mf_status status;

    mf_json_key(json,
                pieces ? "added_tokens_decoder" : "additional_special_tokens");
    mf_json_begin(json, pieces ? '{' : '[');
    while (walk && mf_token_walk_next(walk)) {
        bool control = walk->type == MF_TOKEN_CONTROL;

        if (pieces && mf_token_is_added(walk) && !mf_token_is_listed(walk))
            put_decoder_entry(json, walk);
        else if (!pieces && control && !is_named(facts, walk->id))
            mf_json_string(json, walk->text.at, walk->text.size);
    }
    mf_json_end(json, pieces ? '}' : ']');
    status = failed(facts);
    mf_token_walk_close(walk);
    return status;
}

enum mf_status mf_tokenizer_write_added(struct mf_tokenizer_facts *facts,
                                        struct mf_sink *sink)
{
    struct mf_json_out out = mf_tokenizer_json_out(sink), *json = &out;
    struct mf_token_walk *walk = mf_token_walk_open(facts);
    enum mf_status status;

    mf_json_begin(json, '{');
    while (walk && mf_token_walk_next(walk))
        if (mf_token_is_listed(walk)) {
            mf_json_open_string(json);
            mf_json_piece(json, walk->text.at, walk->text.size);
            mf_json_close_string(json, true);
            mf_json_u64(json, walk->id);
        }
    mf_json_end(json, '}');
    mf_put(sink, "\n", 1);
    status = failed(facts);
    mf_token_walk_close(walk);
    return status;
}

/* ---- special tokens ---- */

static void put_adds(const struct mf_tokenizer_facts *facts,
                     struct mf_json_out *json)
{
    const struct mf_tokenizer_flag *add = facts->add;
    /* Of WordPiece, the template says it. */
    bool words = facts->way == MF_WAY_WORDS;

    if (add[MF_NAMED_BOS].given && !words)
        mf_put_flag(json, "add_bos_token", add[MF_NAMED_BOS].value);
    if (add[MF_NAMED_EOS].given && !words)
        mf_put_flag(json, "add_eos_token", add[MF_NAMED_EOS].value);
    if (add[MF_NAMED_SEP].given && !mf_post_says_sep(facts))
        mf_put_flag(json, "add_sep_token", add[MF_NAMED_SEP].value);
}

static void put_token(struct mf_json_out *json, const char *key,
                      const struct mf_named_token *named)
{
    if (named->given)
        mf_put_str(json, key, named->text);
    else
        mf_put_null(json, key);
}

/* Where a key is missing the class would take its own. */
static void put_piece_tokens(const struct mf_tokenizer_facts *facts,
                             struct mf_json_out *json)
{
    const struct mf_named_token *named = facts->named;

    if (named[MF_NAMED_BOS].given || !facts->has_s)
        put_token(json, "bos_token", &named[MF_NAMED_BOS]);
    if (named[MF_NAMED_EOS].given || !facts->has_slash_s)
        put_token(json, "eos_token", &named[MF_NAMED_EOS]);
    put_token(json, "unk_token", &facts->stand_in);
    if (named[MF_NAMED_PAD].given)
        put_token(json, "pad_token", &named[MF_NAMED_PAD]);
}

static void put_word_tokens(const struct mf_tokenizer_facts *facts,
                            struct mf_json_out *json)
{
    const struct mf_named_token *named = facts->named;

    put_token(json, "cls_token", &named[MF_NAMED_BOS]);
    put_token(json, "mask_token", &named[MF_NAMED_MASK]);
    put_token(json, "pad_token", &named[MF_NAMED_PAD]);
    put_token(json, "sep_token",
              &named[named[MF_NAMED_SEP].given ? MF_NAMED_SEP : MF_NAMED_EOS]);
    put_token(json, "unk_token", &named[MF_NAMED_UNK]);
}

/* Whether the class takes tokens of its own where none are named. */
static bool has_own_tokens(const struct mf_tokenizer_facts *facts)
{
    return strcmp(class_of(facts), "PreTrainedTokenizerFast") != 0;
}

static void put_tokens(const struct mf_tokenizer_facts *facts,
                       struct mf_json_out *json)
{
    static const char *const keys[MF_NAMED_EOT] = {
        [MF_NAMED_BOS] = "bos_token", [MF_NAMED_EOS] = "eos_token",
        [MF_NAMED_UNK] = "unk_token", [MF_NAMED_SEP] = "sep_token",
        [MF_NAMED_PAD] = "pad_token", [MF_NAMED_MASK] = "mask_token",
    };

    for (unsigned i = 0; i < MF_NAMED_EOT; i++) {
        const struct mf_named_token *named = &facts->named[i];

        /* Its own end of text is in the template. */
        if (i == MF_NAMED_EOS && mf_post_ends_twice(facts))
            named = &facts->named[MF_NAMED_EOT];
        if (named->given && named->in_config)
            mf_put_str(json, keys[i], named->text);
        else if (i < MF_NAMED_SEP && has_own_tokens(facts))
            mf_put_null(json, keys[i]);
    }
}

/* ---- chat templates ---- */

static enum mf_status put_string(const struct mf_tokenizer_facts *facts,
                                 struct mf_json_out *json, size_t key)
{
    struct mf_values *values;
    enum mf_status status;
    struct mf_value piece;

    if (mf_values_open(facts->model, key, &values) != MF_OK)
        return failed(facts);
    mf_json_open_string(json);
    do {
        status = mf_values_next(values, &piece);
        if (status == MF_OK && !mf_text_is_utf8(piece.text.at, piece.text.size))
            status = mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                             "a chat template is not valid UTF-8");
        if (status == MF_OK)
            mf_json_piece(json, piece.text.at, piece.text.size);
    } while (status == MF_OK && piece.more);
    mf_json_close_string(json, false);
    mf_values_close(values);
    return status;
}

static enum mf_status put_named(const struct mf_tokenizer_facts *facts,
                                struct mf_json_out *json, struct mf_str name,
                                size_t key)
{
    enum mf_status status;

    mf_json_begin(json, '{');
    mf_put_str(json, "name", name);
    mf_json_key(json, "template");
    status = put_string(facts, json, key);
    mf_json_end(json, '}');
    return status;
}

/* The names that tokenizer.chat_templates lists, in their order. */
static enum mf_status put_list(const struct mf_tokenizer_facts *facts,
                               struct mf_json_out *json, size_t list)
{
    struct mf_values *values;
    enum mf_status status;
    struct mf_value piece = { .event = MF_EVENT_DONE };

    if (mf_values_open(facts->model, list, &values) != MF_OK)
        return failed(facts);
    status = mf_values_next(values, &piece);
    while (status == MF_OK && mf_values_next(values, &piece) == MF_OK &&
           piece.event == MF_EVENT_ITEM) {
        char key[256];
        struct mf_meta meta;
        struct mf_str name;
        size_t at;
        int head = snprintf(key, sizeof(key), "tokenizer.chat_template.");

        if (piece.more || piece.text.size > sizeof(key) - (size_t)head)
            status = mf_fail(facts->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                             "the name of a chat template is too long");
        if (status != MF_OK)
            break;
        memcpy(key + head, piece.text.at, piece.text.size);
        name = (struct mf_str){ key + head, piece.text.size };
        if (!mf_meta_find(facts->model, key, (size_t)head + name.size, &meta,
                          &at) ||
            meta.type != MF_VALUE_STRING)
            status = mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                             "'tokenizer.chat_templates' names '%s', but there "
                             "is no such template",
                             mf_quote(name).text);
        else
            status = put_named(facts, json, name, at);
    }
    if (status == MF_OK)
        status = failed(facts);
    mf_values_close(values);
    return status;
}

static enum mf_status put_templates(const struct mf_tokenizer_facts *facts,
                                    struct mf_json_out *json)
{
    static const char one[] = "tokenizer.chat_template";
    static const char list[] = "tokenizer.chat_templates";
    const struct mf_str usual = { "default", 7 };
    enum mf_status status = MF_OK;
    struct mf_meta meta, names;
    size_t at, names_at;
    bool has_one = mf_meta_find(facts->model, one, strlen(one), &meta, &at);

    if (has_one && meta.type != MF_VALUE_STRING)
        return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "metadata key '%s' is not a text", one);
    if (!mf_meta_find(facts->model, list, strlen(list), &names, &names_at)) {
        if (!has_one)
            return MF_OK;
        mf_json_key(json, "chat_template");
        return put_string(facts, json, at);
    }
    if (names.type != MF_VALUE_ARRAY || names.of != MF_VALUE_STRING)
        return mf_fail(facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "metadata key '%s' is not an array of texts", list);
    mf_json_key(json, "chat_template");
    mf_json_begin(json, '[');
    if (has_one)
        status = put_named(facts, json, usual, at);
    if (status == MF_OK)
        status = put_list(facts, json, names_at);
    mf_json_end(json, ']');
    return status;
}

/* ---- all of it ---- */

static void put_word_options(const struct mf_tokenizer_facts *facts,
                             struct mf_json_out *json)
{
    mf_put_flag(json, "do_lower_case",
                facts->lowercase.given ? facts->lowercase.value : true);
    if (facts->accents.given)
        mf_put_flag(json, "strip_accents", facts->accents.value);
    else
        mf_put_null(json, "strip_accents");
    mf_put_flag(json, "tokenize_chinese_chars", true);
}

static void put_options(const struct mf_tokenizer_facts *facts,
                        struct mf_json_out *json)
{
    bool words = facts->way == MF_WAY_WORDS;

    if (facts->prefix.given && !mf_str_is(facts->kind, "t5"))
        mf_put_flag(json, "add_prefix_space", facts->prefix.value);
    mf_put_flag(json, "clean_up_tokenization_spaces",
                words || (facts->row && mf_pre_has(facts->row, MF_PRE_CLEAN)));
    if (words)
        put_word_options(facts, json);
    if (facts->way == MF_WAY_PIECES && mf_str_is(facts->kind, "llama"))
        mf_put_flag(json, "legacy", true);
    if (!words) {
        mf_json_key(json, "model_input_names");
        mf_json_begin(json, '[');
        mf_json_string(json, "input_ids", strlen("input_ids"));
        mf_json_string(json, "attention_mask", strlen("attention_mask"));
        mf_json_end(json, ']');
    }
    mf_put_word(json, "tokenizer_class", class_of(facts));
}

enum mf_status mf_tokenizer_write_config(struct mf_tokenizer_facts *facts,
                                         struct mf_sink *sink)
{
    struct mf_json_out out = mf_tokenizer_json_out(sink), *json = &out;
    bool lists =
        (facts->way == MF_WAY_PIECES && mf_str_is(facts->kind, "llama")) ||
        facts->way == MF_WAY_FALLBACK;

    mf_json_begin(json, '{');
    put_adds(facts, json);
    if (lists && put_added(facts, json) != MF_OK)
        return failed(facts);
    if (facts->shifted)
        ; /* the class's own */
    else if (facts->way == MF_WAY_PIECES)
        put_piece_tokens(facts, json);
    else if (facts->way == MF_WAY_WORDS)
        put_word_tokens(facts, json);
    else
        put_tokens(facts, json);
    put_options(facts, json);
    if (put_templates(facts, json) != MF_OK)
        return failed(facts);
    mf_json_end(json, '}');
    mf_put(sink, "\n", 1);
    return failed(facts);
}
