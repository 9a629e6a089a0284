/* SPDX-License-Identifier: MIT
 *
 * decode.c - the text of an added token, decoded
 *
 * An added token that is found as it is encodes to its own id alone, so only
 * decoding can change its text.  A decoder's steps see one token, the first.
 */
#include "lib/tokenize/load.h"

#include "lib/base/str.h"
#include "lib/base/text.h"

#define CLEANED_MAX (4 * MF_ADDED_TEXT)

struct text { /* being changed */
    struct mf_tokenize *tokenizer;
    const struct mf_node *step;
    char at[CLEANED_MAX + 4]; /* a character more than is kept */
    size_t size;
};

static enum mf_status failed(const struct text *text)
{
    return text->tokenizer->env->error.status;
}

static enum mf_status put(struct text *text, const char *at, size_t size)
{
    if (size > CLEANED_MAX - text->size)
        return mf_fail(text->tokenizer->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "a decoded token has more than %zu bytes", CLEANED_MAX);
    if (size > 0)
        memcpy(text->at + text->size, at, size);
    text->size += size;
    return MF_OK;
}

/* Each place of `from` becomes `to`. */
static enum mf_status replace(struct text *text, struct mf_str from,
                              struct mf_str to)
{
    struct text old = *text;
    size_t at = 0;

    text->size = 0;
    while (at < old.size) {
        bool here = from.size > 0 && old.size - at >= from.size &&
                    memcmp(old.at + at, from.at, from.size) == 0;

        if (put(text, here ? to.at : old.at + at, here ? to.size : 1) != MF_OK)
            return failed(text);
        at += here ? from.size : 1;
    }
    return MF_OK;
}

/* Bytes that are not UTF-8 become U+FFFD, as Rust does it: one for each part of
 * a character that could have gone on. */
static enum mf_status make_utf8(struct text *text)
{
    struct text old = *text;
    size_t at = 0, taken;
    uint32_t code;

    text->size = 0;
    while (at < old.size) {
        taken = mf_utf8_next(old.at + at, old.size - at, &code);
        if (taken > 0) {
            if (put(text, old.at + at, taken) != MF_OK)
                return failed(text);
            at += taken;
            continue;
        }
        if (put(text, "\xef\xbf\xbd", 3) != MF_OK)
            return failed(text);
        taken = old.size - at < 3 ? old.size - at : 3;
        while (taken > 1 && mf_utf8_whole(old.at + at, taken) > 0)
            taken--;
        at += taken;
    }
    return MF_OK;
}

/* ---- steps ---- */

static enum mf_status run_bytes(struct text *text)
{
    struct text old = *text;
    size_t taken;
    uint32_t code;

    text->size = 0;
    for (size_t at = 0; at < old.size; at += taken) {
        int byte;
        char one;

        taken = mf_utf8_next(old.at + at, old.size - at, &code);
        byte = mf_char_byte(code);
        if (byte < 0) { /* then the token stands for itself */
            *text = old;
            return MF_OK;
        }
        one = (char)byte;
        if (put(text, &one, 1) != MF_OK)
            return failed(text);
    }
    return make_utf8(text);
}

static enum mf_status run_replace(struct text *text)
{
    struct mf_str from = mf_node_text(text->step, "pattern.String"), to;

    if (!from.at)
        return mf_step_refuse(text->tokenizer->env, text->step, "pattern");
    if (mf_step_text(text->tokenizer->env, text->step, "content", &to) != MF_OK)
        return failed(text);
    return replace(text, from, to);
}

static enum mf_status run_metaspace(struct text *text)
{
    const struct mf_str space = { " ", 1 }, nothing = { "", 0 };
    bool never =
        mf_str_is(mf_node_text(text->step, "prepend_scheme"), "never") ||
        (mf_node_at(text->step, "add_prefix_space") &&
         mf_node_at(text->step, "add_prefix_space")->kind == MF_NODE_FALSE);
    struct mf_str from;

    if (mf_step_text(text->tokenizer->env, text->step, "replacement", &from) !=
        MF_OK)
        return failed(text);
    return replace(text, from, never ? space : nothing);
}

/* <0x41> becomes its byte. */
static enum mf_status run_fallback(struct text *text)
{
    static const char digits[] = "0123456789abcdef";
    char high = text->size == 6 ? (char)(text->at[3] | 0x20) : 0;
    char low = text->size == 6 ? (char)(text->at[4] | 0x20) : 0;
    const char *first = high > 0 ? memchr(digits, high, 16) : NULL;
    const char *second = low > 0 ? memchr(digits, low, 16) : NULL;

    if (text->size != 6 || memcmp(text->at, "<0x", 3) != 0 ||
        text->at[5] != '>' || !first || !second)
        return MF_OK;
    text->at[0] = (char)((first - digits) * 16 + (second - digits));
    text->size = 1;
    return make_utf8(text);
}

static enum mf_status read_count(struct text *text, const char *key,
                                 uint64_t *out)
{
    const struct mf_node *node = mf_node_at(text->step, key);

    if (!node || node->kind != MF_NODE_NUMBER || node->type != MF_VALUE_U64)
        return mf_step_refuse(text->tokenizer->env, text->step, key);
    *out = node->number.u64;
    return MF_OK;
}

/* At most so many of a character at the start, and at the end. */
static enum mf_status run_strip(struct text *text)
{
    struct mf_str c;
    uint64_t start = 0, stop = 0;

    if (mf_step_text(text->tokenizer->env, text->step, "content", &c) !=
            MF_OK ||
        read_count(text, "start", &start) != MF_OK ||
        read_count(text, "stop", &stop) != MF_OK)
        return failed(text);
    if (c.size == 0)
        return mf_step_refuse(text->tokenizer->env, text->step, "content");
    for (; start > 0 && text->size >= c.size &&
           memcmp(text->at, c.at, c.size) == 0;
         start--) {
        text->size -= c.size;
        memmove(text->at, text->at + c.size, text->size);
    }
    for (; stop > 0 && text->size >= c.size &&
           memcmp(text->at + text->size - c.size, c.at, c.size) == 0;
         stop--)
        text->size -= c.size;
    return MF_OK;
}

static enum mf_status clean(struct text *text, bool bert);

static enum mf_status run_wordpiece(struct text *text)
{
    bool cleanup;

    if (mf_step_flag(text->tokenizer->env, text->step, "cleanup", true,
                     &cleanup) != MF_OK)
        return failed(text);
    return cleanup ? clean(text, true) : MF_OK;
}

static enum mf_status run_suffix(struct text *text)
{
    const struct mf_str nothing = { "", 0 };
    struct mf_str suffix;

    if (mf_step_text(text->tokenizer->env, text->step, "suffix", &suffix) !=
        MF_OK)
        return failed(text);
    return replace(text, suffix, nothing);
}

/* Spaces before punctuation and English contractions go; as transformers has
 * it, and with one line more as the WordPiece decoder has it. */
static enum mf_status clean(struct text *text, bool bert)
{
    static const char *const pairs[][2] = {
        { " .", "." },     { " ?", "?" },           { " !", "!" },
        { " ,", "," },     { " ' ", "'" },          { " n't", "n't" },
        { " 'm", "'m" },   { " do not", " don't" }, { " 's", "'s" },
        { " 've", "'ve" }, { " 're", "'re" },
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        const struct mf_str from = { pairs[i][0], strlen(pairs[i][0]) };
        const struct mf_str to = { pairs[i][1], strlen(pairs[i][1]) };

        if ((bert || strcmp(from.at, " do not") != 0) &&
            replace(text, from, to) != MF_OK)
            return failed(text);
    }
    return MF_OK;
}

static enum mf_status run_nothing(struct text *text)
{
    (void)text;
    return MF_OK;
}

static const struct {
    const char *type;
    enum mf_status (*run)(struct text *text);
} kinds[] = {
    { "ByteLevel", run_bytes },     { "Replace", run_replace },
    { "Metaspace", run_metaspace }, { "ByteFallback", run_fallback },
    { "Strip", run_strip },         { "WordPiece", run_wordpiece },
    { "BPEDecoder", run_suffix },   { "Fuse", run_nothing },
};

static enum mf_status run(struct text *text, const struct mf_node *step)
{
    struct mf_str type = mf_node_text(step, "type");

    text->step = step;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (mf_str_is(type, kinds[i].type))
            return kinds[i].run(text);
    return mf_step_refuse(text->tokenizer->env, step, "type");
}

struct mf_str mf_tokenize_decoded(struct mf_tokenize *tokenizer,
                                  const struct mf_tokenize_added *added)
{
    struct mf_str none = { NULL, 0 };
    struct text text = { .tokenizer = tokenizer };
    struct mf_steps steps;
    char *at;

    if (tokenizer->config.split_special == MF_TRUE && added->listed_special) {
        mf_fail(tokenizer->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "'tokenizer_config.json': 'split_special_tokens' must be "
                "false");
        return none;
    }
    if (mf_steps_make(tokenizer->env, tokenizer->arena, tokenizer->decoder,
                      "decoders", &steps) != MF_OK ||
        put(&text, added->text.at, added->text.size) != MF_OK)
        return none;
    for (size_t i = 0; i < steps.count; i++)
        if (run(&text, steps.node[i]) != MF_OK)
            return none;
    if (tokenizer->config.clean_up == MF_TRUE && clean(&text, false) != MF_OK)
        return none;
    at = mf_arena_text(tokenizer->arena, text.size);
    if (!at)
        return none;
    memcpy(at, text.at, text.size);
    return (struct mf_str){ at, text.size };
}
