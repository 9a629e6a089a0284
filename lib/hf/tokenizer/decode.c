/* SPDX-License-Identifier: MIT
 *
 * decode.c - the text that one token is decoded to
 *
 * Decoders in a sequence are run one after another; a sequence within a
 * sequence does not occur, and is refused rather than followed.
 */
#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/hf/tokenizer/parts.h"

/* Bytes of a decoded token: replacing one text by a longer one must end. */
#define DECODED_MAX ((size_t)1 << 20)

struct decoding {
    struct mf_arena *arena;
    struct mf_str text;
};

static enum mf_status failed(const struct decoding *decoding)
{
    return decoding->arena->env->error.status;
}

static struct mf_str str_of(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* ---- replacing ---- */

/* The size of the text with `by` for each `part`; 0 with *none: unchanged. */
static size_t size_after(struct mf_str text, struct mf_str part,
                         struct mf_str by, bool *none)
{
    size_t size = 0;

    *none = true;
    for (size_t i = 0; i < text.size;) {
        if (text.size - i >= part.size &&
            memcmp(text.at + i, part.at, part.size) == 0) {
            *none = false;
            size += by.size;
            i += part.size;
        } else {
            size++;
            i++;
        }
    }
    return size;
}

static enum mf_status replace(struct decoding *decoding, struct mf_str part,
                              struct mf_str by)
{
    struct mf_str text = decoding->text;
    bool none = true;
    size_t size, to = 0;
    char *out;

    if (part.size == 0)
        return MF_OK;
    size = size_after(text, part, by, &none);
    if (none)
        return MF_OK;
    if (size > DECODED_MAX)
        return mf_fail(decoding->arena->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "an added token is decoded to more than %zu bytes",
                       DECODED_MAX);
    out = mf_arena_text(decoding->arena, size);
    if (!out)
        return failed(decoding);
    for (size_t i = 0; i < text.size;) {
        if (text.size - i >= part.size &&
            memcmp(text.at + i, part.at, part.size) == 0) {
            memcpy(out + to, by.at, by.size);
            to += by.size;
            i += part.size;
        } else {
            out[to++] = text.at[i++];
        }
    }
    decoding->text = (struct mf_str){ out, size };
    return MF_OK;
}

static enum mf_status clean(struct decoding *decoding, bool word_piece)
{
    static const struct {
        const char *part, *by;
        bool word_piece; /* only there */
    } rows[] = {
        { " .", ".", false },     { " ?", "?", false },
        { " !", "!", false },     { " ,", ",", false },
        { " ' ", "'", false },    { " n't", "n't", false },
        { " 'm", "'m", false },   { " do not", " don't", true },
        { " 's", "'s", false },   { " 've", "'ve", false },
        { " 're", "'re", false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if ((word_piece || !rows[i].word_piece) &&
            replace(decoding, str_of(rows[i].part), str_of(rows[i].by)) !=
                MF_OK)
            return failed(decoding);
    return MF_OK;
}

enum mf_status mf_token_clean(struct mf_arena *arena, struct mf_str text,
                              struct mf_str *out)
{
    struct decoding decoding = { .arena = arena, .text = text };

    if (clean(&decoding, false) != MF_OK)
        return failed(&decoding);
    *out = decoding.text;
    return MF_OK;
}

/* ---- bytes ---- */

/* Bytes as UTF-8, with U+FFFD for each longest part that is not: as
 * from_utf8_lossy of Rust and decode("replace") of Python do it. */
static size_t put_lossy(const char *bytes, size_t size, char *out)
{
    size_t to = 0;
    uint32_t code;

    for (size_t at = 0; at < size;) {
        size_t step = mf_utf8_next(bytes + at, size - at, &code), bad = 1;

        if (step > 0) {
            memcpy(out + to, bytes + at, step);
            to += step;
            at += step;
            continue;
        }
        /* A beginning that some continuation would make a character. */
        while (at + bad < size && bad < 4 &&
               mf_utf8_whole(bytes + at, bad) == 0 &&
               mf_utf8_whole(bytes + at, bad + 1) == 0)
            bad++;
        to += mf_utf8_put(0xfffd, out + to);
        at += bad;
    }
    return to;
}

static enum mf_status decode_bytes(struct decoding *decoding)
{
    struct mf_str text = decoding->text;
    char *bytes = mf_arena_text(decoding->arena, text.size), *out;
    size_t count = 0;
    uint32_t code = 0;

    if (!bytes)
        return failed(decoding);
    for (size_t i = 0, step; i < text.size; i += step) {
        int byte;

        step = mf_utf8_next(text.at + i, text.size - i, &code);
        byte = step > 0 ? mf_char_byte(code) : -1;
        if (byte < 0)
            return MF_OK; /* not an encoded text: it stays */
        bytes[count++] = (char)byte;
    }
    out = mf_arena_text(decoding->arena, 3 * count);
    if (!out)
        return failed(decoding);
    decoding->text = (struct mf_str){ out, put_lossy(bytes, count, out) };
    return MF_OK;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "<0x41>" is the byte 0x41. */
static enum mf_status decode_fallback(struct decoding *decoding)
{
    struct mf_str text = decoding->text;
    int high, low;
    char *out;

    if (text.size != 6 || !mf_str_begins(text, "<0x") || text.at[5] != '>')
        return MF_OK;
    high = digit_of(text.at[3]);
    low = digit_of(text.at[4]);
    if (high < 0 || low < 0)
        return MF_OK;
    out = mf_arena_text(decoding->arena, 4);
    if (!out)
        return failed(decoding);
    decoding->text = (struct mf_str){
        out, mf_utf8_put(high < 8 ? (uint32_t)(high * 16 + low) : 0xfffd, out)
    };
    return MF_OK;
}

/* ---- one decoder ---- */

static enum mf_status wrong(struct decoding *decoding,
                            const struct mf_node *node, const char *what)
{
    return mf_fail(decoding->arena->env, MF_ERR_UNSUPPORTED, node->offset,
                   "'tokenizer.json': the decoder's '%s' is not supported",
                   what);
}

static enum mf_status decode_metaspace(struct decoding *decoding,
                                       const struct mf_node *node)
{
    struct mf_str replacement = mf_node_text(node, "replacement");
    struct mf_str scheme = mf_node_text(node, "prepend_scheme");
    const struct mf_node *prefix = mf_node_at(node, "add_prefix_space");
    bool never = mf_str_is(scheme, "never") ||
                 (!scheme.at && prefix && prefix->kind == MF_NODE_FALSE);

    if (!replacement.at)
        return wrong(decoding, node, "replacement");
    return replace(decoding, replacement, str_of(never ? " " : ""));
}

static enum mf_status decode_strip(struct decoding *decoding,
                                   const struct mf_node *node)
{
    struct mf_str content = mf_node_text(node, "content");
    const struct mf_node *start = mf_node_at(node, "start");
    const struct mf_node *stop = mf_node_at(node, "stop");
    struct mf_str *text = &decoding->text;

    if (content.size == 0 || !start || !stop || start->kind != MF_NODE_NUMBER ||
        stop->kind != MF_NODE_NUMBER)
        return wrong(decoding, node, "Strip");
    for (uint64_t i = 0;
         i < start->number.u64 && mf_str_begins(*text, content.at); i++) {
        text->at += content.size;
        text->size -= content.size;
    }
    for (uint64_t i = 0; i < stop->number.u64 && mf_str_ends(*text, content.at);
         i++)
        text->size -= content.size;
    return MF_OK;
}

static enum mf_status decode_replace(struct decoding *decoding,
                                     const struct mf_node *node)
{
    struct mf_str part = mf_node_text(node, "pattern.String");
    struct mf_str by = mf_node_text(node, "content");

    return part.at && by.at ? replace(decoding, part, by)
                            : wrong(decoding, node, "Replace");
}

static enum mf_status decode_by(struct decoding *decoding,
                                const struct mf_node *node)
{
    struct mf_str type = mf_node_text(node, "type");
    const struct mf_node *cleanup = mf_node_at(node, "cleanup");

    if (mf_str_is(type, "ByteLevel"))
        return decode_bytes(decoding);
    if (mf_str_is(type, "ByteFallback"))
        return decode_fallback(decoding);
    if (mf_str_is(type, "Metaspace"))
        return decode_metaspace(decoding, node);
    if (mf_str_is(type, "Strip"))
        return decode_strip(decoding, node);
    if (mf_str_is(type, "Replace"))
        return decode_replace(decoding, node);
    if (mf_str_is(type, "BPEDecoder"))
        return replace(decoding, mf_node_text(node, "suffix"), str_of(""));
    /* The first token of a text keeps its "##". */
    if (mf_str_is(type, "WordPiece"))
        return cleanup && cleanup->kind == MF_NODE_TRUE ? clean(decoding, true)
                                                        : MF_OK;
    return mf_str_is(type, "Fuse")
               ? MF_OK
               : wrong(decoding, node, type.at ? mf_quote(type).text : "type");
}

enum mf_status mf_token_decode(struct mf_arena *arena,
                               const struct mf_node *decoder,
                               struct mf_str text, struct mf_str *out)
{
    struct decoding decoding = { .arena = arena, .text = text };
    const struct mf_node *sequence = mf_node_at(decoder, "decoders");

    if (!decoder || decoder->kind == MF_NODE_NULL)
        decoder = NULL;
    else if (!mf_str_is(mf_node_text(decoder, "type"), "Sequence"))
        decode_by(&decoding, decoder);
    else if (!sequence || sequence->kind != MF_NODE_ARRAY)
        wrong(&decoding, decoder, "decoders");
    else
        for (decoder = sequence->first; decoder && failed(&decoding) == MF_OK;
             decoder = decoder->next)
            decode_by(&decoding, decoder);
    *out = decoding.text;
    return failed(&decoding);
}
