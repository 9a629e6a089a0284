/* SPDX-License-Identifier: MIT
 *
 * tokenizer_json.c - tokenizer.json: byte-pair encoding and WordPiece
 */
#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/hf/restore/tokenizer.h"

static const char mark[] = "\u2581"; /* a space, or the begin of a word */

static enum mf_status failed(const struct mf_tokenizer_facts *facts)
{
    return facts->env->error.status;
}

static void write_json(void *user, const char *at, size_t size)
{
    mf_put(user, at, size);
}

struct mf_json_out mf_tokenizer_json_out(struct mf_sink *sink)
{
    return (struct mf_json_out){ .write = write_json, .user = sink };
}

/* Calls `put` for every token. */
static enum mf_status
each_token(const struct mf_tokenizer_facts *facts, struct mf_json_out *json,
           enum mf_status (*put)(struct mf_json_out *json,
                                 const struct mf_token_walk *walk))
{
    struct mf_token_walk *walk = mf_token_walk_open(facts);
    enum mf_status status = walk ? MF_OK : failed(facts);

    while (status == MF_OK && mf_token_walk_next(walk))
        status = put(json, walk);
    if (status == MF_OK)
        status = failed(facts);
    mf_token_walk_close(walk);
    return status;
}

/* ---- added tokens ---- */

/* Whether decoding changes the text of a token of byte-level BPE: the converter
 * writes it decoded, unless the token is looked for in normalized texts. */
static bool is_decoded(struct mf_str text)
{
    bool ascii = true;
    uint32_t code;

    for (size_t at = 0; at < text.size;) {
        size_t size = mf_utf8_next(text.at + at, text.size - at, &code);

        if (size == 0 || mf_char_byte(code) < 0)
            return false;
        ascii = ascii && code < 0x80;
        at += size;
    }
    return !ascii;
}

static bool is_added(const struct mf_token_walk *walk)
{
    return walk->type == MF_TOKEN_CONTROL || walk->type == MF_TOKEN_UNKNOWN ||
           walk->type == MF_TOKEN_USER_DEFINED;
}

/* Of WordPiece, what continues a word is without "##" and what begins one with
 * a mark, which older converters left out before "[unused1]" and its like. */
static struct mf_str plain_text(const struct mf_token_walk *walk,
                                const char **before)
{
    const size_t size = strlen(mark);
    struct mf_str text = walk->text;

    *before = "";
    if (walk->facts->way != MF_WAY_WORDS || walk->type == MF_TOKEN_CONTROL)
        return text;
    if (mf_str_begins(text, mark))
        return (struct mf_str){ text.at + size, text.size - size };
    if (!mf_str_begins(text, "[") || !mf_str_ends(text, "]"))
        *before = "##";
    return text;
}

static void put_text(struct mf_json_out *json, const struct mf_token_walk *walk,
                     bool key)
{
    const char *before;
    struct mf_str text = plain_text(walk, &before);

    mf_json_open_string(json);
    mf_json_piece(json, before, strlen(before));
    mf_json_piece(json, text.at, text.size);
    mf_json_close_string(json, key);
}

static enum mf_status put_added(struct mf_json_out *json,
                                const struct mf_token_walk *walk)
{
    const struct mf_tokenizer_facts *facts = walk->facts;
    const struct mf_named_token *mask = &facts->named[MF_NAMED_MASK];

    if (!is_added(walk))
        return MF_OK;
    mf_json_begin(json, '{');
    mf_json_key(json, "id");
    mf_json_u64(json, walk->id);
    mf_json_key(json, "content");
    put_text(json, walk, false);
    mf_put_flag(json, "single_word", false);
    mf_put_flag(json, "lstrip",
                facts->way == MF_WAY_BYTES && mask->given &&
                    mask->id == walk->id);
    mf_put_flag(json, "rstrip", false);
    mf_put_flag(json, "normalized",
                facts->way == MF_WAY_BYTES && is_decoded(walk->text));
    mf_put_flag(json, "special", walk->type != MF_TOKEN_USER_DEFINED);
    mf_json_end(json, '}');
    return MF_OK;
}

/* ---- what is done to a text ---- */

static void put_replace(struct mf_json_out *json, const char *from,
                        const char *to)
{
    mf_json_begin(json, '{');
    mf_put_word(json, "type", "Replace");
    mf_json_key(json, "pattern");
    mf_json_begin(json, '{');
    mf_put_word(json, "String", from);
    mf_json_end(json, '}');
    mf_put_word(json, "content", to);
    mf_json_end(json, '}');
}

static void put_type(struct mf_json_out *json, const char *type)
{
    mf_json_begin(json, '{');
    mf_put_word(json, "type", type);
    mf_json_end(json, '}');
}

/* As llama.cpp does where no key says so. */
static bool has_prefix(const struct mf_tokenizer_facts *facts)
{
    return facts->prefix.given ? facts->prefix.value
                               : mf_str_is(facts->kind, "llama");
}

static void put_bert_normalizer(struct mf_json_out *json,
                                const struct mf_tokenizer_facts *facts)
{
    mf_json_begin(json, '{');
    mf_put_word(json, "type", "BertNormalizer");
    mf_put_flag(json, "clean_text", true);
    mf_put_flag(json, "handle_chinese_chars", true);
    if (facts->accents.given)
        mf_put_flag(json, "strip_accents", facts->accents.value);
    else
        mf_put_null(json, "strip_accents");
    mf_put_flag(json, "lowercase",
                facts->lowercase.given ? facts->lowercase.value : true);
    mf_json_end(json, '}');
}

static void put_fallback_normalizer(struct mf_json_out *json, bool prefix)
{
    mf_json_begin(json, '{');
    mf_put_word(json, "type", "Sequence");
    mf_json_key(json, "normalizers");
    mf_json_begin(json, '[');
    if (prefix) {
        mf_json_begin(json, '{');
        mf_put_word(json, "type", "Prepend");
        mf_put_word(json, "prepend", mark);
        mf_json_end(json, '}');
    }
    put_replace(json, " ", mark);
    mf_json_end(json, ']');
    mf_json_end(json, '}');
}

static void put_normalizer(struct mf_json_out *json,
                           const struct mf_tokenizer_facts *facts)
{
    mf_json_key(json, "normalizer");
    if (facts->way == MF_WAY_WORDS)
        put_bert_normalizer(json, facts);
    else if (facts->way == MF_WAY_FALLBACK)
        put_fallback_normalizer(json, has_prefix(facts));
    else if (facts->row && mf_pre_has(facts->row, MF_PRE_NFC))
        put_type(json, "NFC");
    else
        mf_json_null(json);
}

static void put_pre(struct mf_json_out *json,
                    const struct mf_tokenizer_facts *facts)
{
    if (facts->row) {
        mf_pre_put(facts->row, json);
        return;
    }
    mf_json_key(json, "pre_tokenizer");
    if (facts->way == MF_WAY_WORDS)
        put_type(json, "BertPreTokenizer");
    else
        mf_json_null(json);
}

static void put_fallback_decoder(struct mf_json_out *json, bool prefix)
{
    mf_json_begin(json, '{');
    mf_put_word(json, "type", "Sequence");
    mf_json_key(json, "decoders");
    mf_json_begin(json, '[');
    put_replace(json, mark, " ");
    put_type(json, "ByteFallback");
    put_type(json, "Fuse");
    if (prefix) {
        mf_json_begin(json, '{');
        mf_put_word(json, "type", "Strip");
        mf_put_word(json, "content", " ");
        mf_json_key(json, "start");
        mf_json_u64(json, 1);
        mf_json_key(json, "stop");
        mf_json_u64(json, 0);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
    mf_json_end(json, '}');
}

static void put_decoder(struct mf_json_out *json,
                        const struct mf_tokenizer_facts *facts)
{
    mf_json_key(json, "decoder");
    if (facts->way == MF_WAY_BYTES) {
        mf_pre_put_bytes(json, true);
    } else if (facts->way == MF_WAY_FALLBACK) {
        put_fallback_decoder(json, has_prefix(facts));
    } else {
        mf_json_begin(json, '{');
        mf_put_word(json, "type", "WordPiece");
        mf_put_word(json, "prefix", "##");
        mf_put_flag(json, "cleanup", true);
        mf_json_end(json, '}');
    }
}

/* ---- the model ---- */

/* Of a vocabulary with a token for each byte, what a file added comes after it;
 * of others all tokens have their ids in it. */
static enum mf_status put_entry(struct mf_json_out *json,
                                const struct mf_token_walk *walk)
{
    if (mf_token_is_filler(walk) || walk->id >= walk->facts->base)
        return MF_OK;
    put_text(json, walk, true);
    mf_json_u64(json, walk->id);
    return MF_OK;
}

static enum mf_status put_merge(struct mf_json_out *json,
                                struct mf_values *values, struct mf_env *env,
                                uint64_t index)
{
    uint64_t spaces = 0, size = 0;
    struct mf_value piece;

    mf_json_open_string(json);
    do {
        if (mf_values_next(values, &piece) != MF_OK)
            return env->error.status;
        if (!mf_text_is_utf8(piece.text.at, piece.text.size))
            return mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                           "merge %" PRIu64 " is not valid UTF-8", index);
        for (size_t i = 0; i < piece.text.size; i++)
            spaces += piece.text.at[i] == ' ';
        size += piece.text.size;
        mf_json_piece(json, piece.text.at, piece.text.size);
    } while (piece.more);
    mf_json_close_string(json, false);
    return spaces == 1 && size >= 3
               ? MF_OK
               : mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                         "merge %" PRIu64 " is not two texts with a space "
                         "between them",
                         index);
}

static enum mf_status put_merges(struct mf_json_out *json,
                                 const struct mf_tokenizer_facts *facts)
{
    struct mf_values *values;
    enum mf_status status;
    struct mf_value begin;

    if (facts->merges == MF_NO_KEY)
        return MF_OK;
    if (mf_values_open(facts->model, facts->merges, &values) != MF_OK)
        return failed(facts);
    status = mf_values_next(values, &begin);
    for (uint64_t i = 0; i < begin.count && status == MF_OK; i++)
        status = put_merge(json, values, facts->env, i);
    mf_values_close(values);
    return status;
}

static enum mf_status put_bpe(struct mf_json_out *json,
                              const struct mf_tokenizer_facts *facts)
{
    bool fallback = facts->way == MF_WAY_FALLBACK;
    const struct mf_named_token *unk = &facts->named[MF_NAMED_UNK];
    enum mf_status status;

    mf_put_word(json, "type", "BPE");
    mf_put_null(json, "dropout");
    if (fallback && unk->given)
        mf_put_str(json, "unk_token", unk->text);
    else
        mf_put_null(json, "unk_token");
    mf_put_null(json, "continuing_subword_prefix");
    mf_put_null(json, "end_of_word_suffix");
    mf_put_flag(json, "fuse_unk", fallback);
    mf_put_flag(json, "byte_fallback", fallback);
    mf_put_flag(json, "ignore_merges",
                facts->row && mf_pre_has(facts->row, MF_PRE_WHOLE));
    mf_json_key(json, "vocab");
    mf_json_begin(json, '{');
    if (each_token(facts, json, put_entry) != MF_OK)
        return failed(facts);
    mf_json_end(json, '}');
    mf_json_key(json, "merges");
    mf_json_begin(json, '[');
    status = facts->merges == MF_NO_KEY && fallback
                 ? mf_tokenizer_write_merges(facts, json)
                 : put_merges(json, facts);
    mf_json_end(json, ']');
    return status;
}

static enum mf_status put_words(struct mf_json_out *json,
                                const struct mf_tokenizer_facts *facts)
{
    const struct mf_named_token *unk = &facts->named[MF_NAMED_UNK];

    mf_put_word(json, "type", "WordPiece");
    mf_put_str(json, "unk_token",
               unk->given ? unk->text : (struct mf_str){ "[UNK]", 5 });
    mf_put_word(json, "continuing_subword_prefix", "##");
    mf_json_key(json, "max_input_chars_per_word");
    mf_json_u64(json, 100);
    mf_json_key(json, "vocab");
    mf_json_begin(json, '{');
    if (each_token(facts, json, put_entry) != MF_OK)
        return failed(facts);
    mf_json_end(json, '}');
    return MF_OK;
}

/* ---- all of it ---- */

enum mf_status mf_tokenizer_write_json(struct mf_tokenizer_facts *facts,
                                       struct mf_sink *sink)
{
    struct mf_json_out out = mf_tokenizer_json_out(sink), *json = &out;
    enum mf_status status;

    mf_json_begin(json, '{');
    mf_put_word(json, "version", "1.0");
    mf_put_null(json, "truncation");
    mf_put_null(json, "padding");
    mf_json_key(json, "added_tokens");
    mf_json_begin(json, '[');
    if (each_token(facts, json, put_added) != MF_OK)
        return failed(facts);
    mf_json_end(json, ']');
    put_normalizer(json, facts);
    put_pre(json, facts);
    mf_post_put(facts, json);
    put_decoder(json, facts);
    mf_json_key(json, "model");
    mf_json_begin(json, '{');
    status = facts->way == MF_WAY_WORDS ? put_words(json, facts)
                                        : put_bpe(json, facts);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
    mf_put(sink, "\n", 1);
    return status;
}

/* ---- vocab.txt ---- */

static enum mf_status put_line(struct mf_sink *sink,
                               const struct mf_token_walk *walk)
{
    const char *before;
    struct mf_str text = plain_text(walk, &before);

    if (memchr(text.at, '\n', text.size))
        return mf_fail(walk->facts->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "token %" PRIu64 " has a line feed, which 'vocab.txt' "
                       "cannot have",
                       walk->id);
    mf_put(sink, before, strlen(before));
    mf_put(sink, text.at, text.size);
    mf_put(sink, "\n", 1);
    return MF_OK;
}

enum mf_status mf_tokenizer_write_lines(struct mf_tokenizer_facts *facts,
                                        struct mf_sink *sink)
{
    struct mf_token_walk *walk = mf_token_walk_open(facts);
    enum mf_status status = walk ? MF_OK : failed(facts);

    while (status == MF_OK && mf_token_walk_next(walk) && walk->id < facts->end)
        status = put_line(sink, walk);
    if (status == MF_OK)
        status = failed(facts);
    mf_token_walk_close(walk);
    return status;
}
