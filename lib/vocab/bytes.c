/* SPDX-License-Identifier: MIT
 *
 * bytes.c - tokens for single bytes, for text that no other token covers
 *
 * Each kind of tokenizer writes them in its own way:
 *   SPM, PLaMo-2    <0x0A>, typed as byte tokens
 *   byte pairs      one printable character for each byte, U+010A for 0x0A;
 *                   with raw bytes <0x0A>
 *   RWKV            the byte itself, perhaps as \x0a or \n
 * WPM and UGM have a token for unknown text instead.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/vocab/parts.h"

/* A vocabulary of fewer tokens has no room for them: a toy. */
#define ALL_BYTES 256

static void set_bit(uint64_t bits[4], unsigned byte)
{
    bits[byte / 64] |= UINT64_C(1) << byte % 64;
}

static bool has_bit(const uint64_t bits[4], unsigned byte)
{
    return bits[byte / 64] >> byte % 64 & 1;
}

/* ---- how a byte is written ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* The byte that <0xNN> stands for, else -1. */
static int of_hex(struct mf_str text)
{
    int high, low;

    if (text.size != strlen("<0x00>") || !mf_str_begins(text, "<0x") ||
        text.at[5] != '>')
        return -1;
    high = hex_digit(text.at[3]);
    low = hex_digit(text.at[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* The byte that a character stands for in byte pairs, else -1. */
static int of_character(struct mf_str text)
{
    uint32_t code = 0;

    return text.size > 0 && mf_utf8_next(text.at, text.size, &code) == text.size
               ? mf_char_byte(code)
               : -1;
}

/* ---- RWKV ---- */

struct unescaped {
    size_t size;   /* in bytes */
    uint8_t first; /* one, if any */
    bool broken;   /* an escape that is cut off, or not of hexadecimal digits */
};

static void put(struct unescaped *out, unsigned byte)
{
    if (out->size++ == 0)
        out->first = (uint8_t)byte;
}

static struct unescaped unescape(struct mf_str text)
{
    struct unescaped out = { 0 };

    for (size_t i = 0; i < text.size; i++) {
        char c = text.at[i];

        if (c != '\\') {
            put(&out, (uint8_t)c);
            continue;
        }
        if (++i == text.size) {
            out.broken = true;
        } else if (text.at[i] != 'x') {
            c = text.at[i];
            put(&out, c == 'n'   ? '\n'
                      : c == 't' ? '\t'
                      : c == 'r' ? '\r'
                                 : (uint8_t)c);
        } else if (text.size - i <= 2 || hex_digit(text.at[i + 1]) < 0 ||
                   hex_digit(text.at[i + 2]) < 0) {
            out.broken = true;
            i += 2;
        } else {
            put(&out, (unsigned)(hex_digit(text.at[i + 1]) * 16 +
                                 hex_digit(text.at[i + 2])));
            i += 2;
        }
    }
    return out;
}

static void add_escaped(struct mf_byte_tokens *bytes,
                        const struct mf_items *token)
{
    struct unescaped text = unescape(token->text);

    if (text.broken && token->whole)
        mf_tally_add(&bytes->escapes, token);
    if (text.size == 0)
        return;
    set_bit(bytes->starts, text.first);
    if (text.size == 1 && token->whole)
        set_bit(bytes->seen, text.first);
}

/* ---- a token ---- */

static int byte_of(const struct mf_vocab *vocab, struct mf_str text)
{
    if (mf_vocab_is(vocab, MF_TOKENIZER_SPM) && text.size == 1)
        return (uint8_t)*text.at;
    if (mf_vocab_is(vocab, MF_TOKENIZER_BPE) &&
        !mf_vocab_has_trait(vocab, MF_PRE_RAW_BYTES))
        return of_character(text);
    return of_hex(text);
}

void mf_byte_tokens_add(struct mf_byte_tokens *bytes,
                        const struct mf_vocab *vocab,
                        const struct mf_items *token, int64_t type)
{
    enum mf_known_tokenizer_kind kind =
        vocab->tokenizer ? vocab->tokenizer->kind : MF_TOKENIZER_TEST;
    int byte = byte_of(vocab, token->text);

    if (kind == MF_TOKENIZER_RWKV) {
        add_escaped(bytes, token);
        return;
    }
    if (kind == MF_TOKENIZER_TEST)
        return;
    if (type == MF_TOKEN_BYTE &&
        (kind == MF_TOKENIZER_WPM || of_hex(token->text) < 0))
        mf_tally_add(&bytes->malformed, token);
    if (kind == MF_TOKENIZER_PLAMO2 &&
        (type != MF_TOKEN_BYTE || token->at == 0))
        return;
    if (byte >= 0)
        set_bit(bytes->seen, (unsigned)byte);
}

/* ---- findings ---- */

/* Bytes that occur in the UTF-8 of assigned characters, but for controls that
 * no text has: well-known vocabularies of byte pairs lack some of the others.
 */
static bool is_in_text(unsigned byte)
{
    return byte < 0x20 ? byte == '\t' || byte == '\n' || byte == '\r'
                       : byte != 0x7f && byte != 0xc0 && byte != 0xc1 &&
                             byte != 0xf1 && byte != 0xf2 && byte < 0xf4;
}

/* Bytes without a token, and the first of them. */
struct gap {
    unsigned count, first, seen;
};

static struct gap find_gap(const uint64_t seen[4], const uint64_t *starts,
                           bool text_only)
{
    struct gap gap = { 0 };

    for (unsigned byte = 0; byte < ALL_BYTES; byte++) {
        if (has_bit(seen, byte))
            gap.seen++;
        else if ((!starts || has_bit(starts, byte)) &&
                 (!text_only || is_in_text(byte)) && gap.count++ == 0)
            gap.first = byte;
    }
    return gap;
}

static void note_gap(const struct mf_vocab *vocab, enum mf_severity severity,
                     struct gap gap, const char *effect)
{
    const struct mf_meta *tokens = vocab->array[MF_VOCAB_TOKENS];
    char rest[32] = "";

    if (gap.count > 1)
        snprintf(rest, sizeof(rest), " (%u such bytes)", gap.count);
    if (gap.count > 0)
        mf_index_note(vocab->index, tokens->shard, severity,
                      MF_RULE_TOKENS_BYTES, tokens->span.offset,
                      "no token for the byte 0x%02X: llama.cpp %s%s", gap.first,
                      effect, rest);
}

/* A vocabulary without any leaves them out on purpose. */
static void report_gap(const struct mf_byte_tokens *bytes,
                       const struct mf_vocab *vocab)
{
    enum mf_known_tokenizer_kind kind =
        vocab->tokenizer ? vocab->tokenizer->kind : MF_TOKENIZER_TEST;
    bool raw = mf_vocab_has_trait(vocab, MF_PRE_RAW_BYTES);
    bool large = vocab->count >= ALL_BYTES;
    struct gap gap;

    if (kind == MF_TOKENIZER_PLAMO2)
        note_gap(vocab, MF_ERROR, find_gap(bytes->seen, NULL, false),
                 "refuses the vocabulary");
    if (kind == MF_TOKENIZER_RWKV) {
        gap = find_gap(bytes->seen, bytes->starts, false);
        note_gap(vocab, MF_ERROR, gap,
                 "never returns from a text that contains it, for longer "
                 "tokens begin with it");
        if (gap.count == 0 && large)
            note_gap(vocab, MF_ERROR, find_gap(bytes->seen, NULL, true),
                     "fails on a text that contains it");
    }
    gap = find_gap(bytes->seen, NULL, true);
    if (kind == MF_TOKENIZER_SPM && large)
        note_gap(vocab, gap.seen > 0 ? MF_ERROR : MF_WARNING, gap,
                 "aborts on a text that needs it");
    if (kind == MF_TOKENIZER_BPE && large && gap.seen > 0 &&
        !mf_vocab_has_trait(vocab, MF_PRE_NO_BYTES))
        note_gap(vocab, MF_WARNING,
                 raw ? find_gap(bytes->seen, NULL, true) : gap,
                 "leaves it out of a text");
}

void mf_byte_tokens_report(const struct mf_byte_tokens *bytes,
                           const struct mf_vocab *vocab)
{
    uint32_t shard = vocab->array[MF_VOCAB_TOKENS]->shard;
    const struct mf_tally *at = &bytes->malformed;

    if (at->count > 0 && mf_vocab_is(vocab, MF_TOKENIZER_WPM))
        mf_index_note(vocab->index, shard, MF_ERROR, MF_RULE_TOKENS_BYTES,
                      at->offset,
                      "token %" PRIu64 " ('%s') is typed as a byte, on which "
                      "llama.cpp aborts in a tokenizer of word pieces%s",
                      at->at, at->text.text, mf_tally_rest(at, "tokens").text);
    else if (at->count > 0)
        mf_index_note(vocab->index, shard, MF_ERROR, MF_RULE_TOKENS_BYTES,
                      at->offset,
                      "token %" PRIu64 " ('%s') is typed as a byte; expected "
                      "<0x00> to <0xFF>%s",
                      at->at, at->text.text, mf_tally_rest(at, "tokens").text);
    at = &bytes->escapes;
    if (at->count > 0)
        mf_index_note(vocab->index, shard, MF_ERROR, MF_RULE_TOKENS_BYTES,
                      at->offset,
                      "token %" PRIu64 " ('%s') contains an invalid escape; "
                      "expected \\xNN, \\n, \\t, \\r or an escaped character%s",
                      at->at, at->text.text, mf_tally_rest(at, "tokens").text);
    report_gap(bytes, vocab);
}
