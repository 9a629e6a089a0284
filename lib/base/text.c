/* SPDX-License-Identifier: MIT
 *
 * text.c - UTF-8, and which characters may go to a terminal
 */
#include "lib/base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How many bytes a character has by its first byte; 0 where none starts so.
 * RFC 3629: 0xc0 and 0xc1 could only start overlong forms of ASCII, and what
 * is above 0xf4 lies beyond U+10FFFF. */
static size_t length_by_lead(uint8_t lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2)
        return 0;
    if (lead < 0xe0)
        return 2;
    if (lead < 0xf0)
        return 3;
    return lead < 0xf5 ? 4 : 0;
}

size_t mf_utf8_next(const char *at, size_t size, uint32_t *code)
{
    /* What a character of that length must reach, else it is overlong. */
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const uint8_t *byte = (const uint8_t *)at;
    size_t length = length_by_lead(byte[0]);
    uint32_t value;

    if (length == 0 || length > size)
        return 0;
    /* The lead gives its lowest 7, 5, 4 or 3 bits. */
    value = byte[0] & (length == 1 ? 0x7fu : 0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (byte[i] & 0x3fu);
    }
    if (value < least[length] || (value >= 0xd800 && value <= 0xdfff) ||
        value > 0x10ffff)
        return 0;
    *code = value;
    return length;
}

size_t mf_utf8_put(uint32_t code, char out[4])
{
    static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    assert(code <= 0x10ffff);
    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[length] | code);
    return length;
}

/* True where more bytes can make a character of the size bytes at `at`.  The
 * characters that start so are a range: if any is allowed, the first or the
 * last one is. */
static bool can_be_completed(const char *at, size_t size)
{
    size_t length = length_by_lead((uint8_t)at[0]);
    char first[4], last[4];
    uint32_t code;

    if (size >= length)
        return false;
    memset(first, 0x80, sizeof(first));
    memset(last, 0xbf, sizeof(last));
    memcpy(first, at, size);
    memcpy(last, at, size);
    return mf_utf8_next(first, length, &code) > 0 ||
           mf_utf8_next(last, length, &code) > 0;
}

uint32_t mf_byte_char(uint8_t byte)
{
    if (byte <= 0x20)
        return 0x100u + byte;
    if (byte >= 0x7f && byte <= 0xa0)
        return 0x121u + byte - 0x7f;
    return byte == 0xad ? 0x143 : byte;
}

int mf_char_byte(uint32_t code)
{
    if (code >= 0x100 && code <= 0x120)
        return (int)(code - 0x100);
    if (code >= 0x121 && code <= 0x142)
        return (int)(code - 0x121 + 0x7f);
    if (code == 0x143)
        return 0xad;
    return code < 0x100 && mf_byte_char((uint8_t)code) == code ? (int)code : -1;
}

size_t mf_utf8_whole(const char *at, size_t size)
{
    /* Of the longest character, three bytes can stand before the cut. */
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        const char *start = at + size - back;

        if (((uint8_t)*start & 0xc0) == 0x80)
            continue; /* the character starts before this byte */
        return can_be_completed(start, back) ? size - back : size;
    }
    return size;
}

bool mf_text_is_utf8(const char *at, size_t size)
{
    if (!at)
        return size == 0;

    uint32_t code;

    for (size_t i = 0; i < size;) {
        size_t length;
        uint64_t word;

        /* Most text is ASCII: eight bytes at a time. */
        if (size - i >= sizeof(word)) {
            memcpy(&word, at + i, sizeof(word));
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                i += sizeof(word);
                continue;
            }
        }
        length =
            (uint8_t)at[i] < 0x80 ? 1 : mf_utf8_next(at + i, size - i, &code);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

/* False for what moves a terminal's cursor, reorders the text around it, starts
 * a new line, or is not seen: of the Unicode standard the categories Cc, Cf, Zl
 * and Zp, and the property Default_Ignorable_Code_Point, reserved ones
 * included.  In the order of their numbers. */
static bool is_clean(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } refused[] = {
        { 0x00, 0x1f },       /* C0 controls: escape sequences start here */
        { 0x7f, 0x9f },       /* DEL and C1: 0x9b is an escape sequence, too */
        { 0xad, 0xad },       /* soft hyphen */
        { 0x34f, 0x34f },     /* combining grapheme joiner */
        { 0x600, 0x605 },     /* Arabic number signs */
        { 0x61c, 0x61c },     /* Arabic letter mark */
        { 0x6dd, 0x6dd },     /* Arabic end of ayah */
        { 0x70f, 0x70f },     /* Syriac abbreviation mark */
        { 0x890, 0x891 },     /* Arabic currency marks */
        { 0x8e2, 0x8e2 },     /* Arabic disputed end of ayah */
        { 0x115f, 0x1160 },   /* Hangul fillers */
        { 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
        { 0x180b, 0x180f },   /* Mongolian variation selectors */
        { 0x200b, 0x200f },   /* of no width; left-to-right, right-to-left */
        { 0x2028, 0x202e },   /* line, paragraph; embeddings and overrides */
        { 0x2060, 0x206f },   /* word joiner, invisible operators, isolates */
        { 0x3164, 0x3164 },   /* Hangul filler */
        { 0xfe00, 0xfe0f },   /* variation selectors */
        { 0xfeff, 0xfeff },   /* byte order mark */
        { 0xffa0, 0xffa0 },   /* Hangul filler of half width */
        { 0xfff0, 0xfffb },   /* interlinear annotation */
        { 0xfffe, 0xffff },   /* no characters: XML has no way to write them */
        { 0x110bd, 0x110bd }, /* Kaithi number sign */
        { 0x110cd, 0x110cd }, /* the same above */
        { 0x13430, 0x1343f }, /* Egyptian hieroglyphs: how they are joined */
        { 0x1bca0, 0x1bca3 }, /* shorthand format controls */
        { 0x1d173, 0x1d17a }, /* musical symbols: beams, slurs */
        { 0xe0000, 0xe0fff }, /* tags, more variation selectors */
    };

    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        if (code <= refused[i].last)
            return code < refused[i].first;
    return true;
}

/* Bytes of whole words, from the start on, that are printable ASCII: nearly all
 * text is that.  In a word none of whose bytes has its top bit set, taking 0x20
 * from each byte sets the top bit of one below 0x20, and adding 1 the top bit
 * of 0x7f.  (A borrow or carry can only come from a byte that is found out.) */
static size_t plain_words(const char *at, size_t size)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    size_t i = 0;

    for (; size - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, at + i, sizeof(word));
        if ((word | (word - 0x20 * each) | (word + each)) & 0x80 * each)
            break;
    }
    return i;
}

size_t mf_text_clean(const char *at, size_t size)
{
    if (!at)
        return 0;

    size_t i = plain_words(at, size);

    while (i < size) {
        uint8_t byte = (uint8_t)at[i];
        uint32_t code;
        size_t length = 1;

        if (byte < 0x20 || byte > 0x7e) {
            length = mf_utf8_next(at + i, size - i, &code);
            if (length == 0 || !is_clean(code))
                break;
        }
        i += length;
    }
    return i;
}

size_t mf_text_escape(const char *at, size_t size, char out[12])
{
    if (!out)
        return 0;

    uint32_t code;
    size_t length;

    out[0] = 0;
    if (!at || size == 0)
        return 0;
    length = mf_utf8_next(at, size, &code);
    if (length > 3)
        snprintf(out, 12, "\\U%08" PRIx32, code);
    else if (length > 1)
        snprintf(out, 12, "\\u%04" PRIx32, code);
    else if (*at == '\n')
        snprintf(out, 12, "\\n");
    else if (*at == '\t')
        snprintf(out, 12, "\\t");
    else if (*at == '\r')
        snprintf(out, 12, "\\r");
    else
        snprintf(out, 12, "\\x%02x", (unsigned)(uint8_t)*at);
    return length > 0 ? length : 1;
}

/* The text that stands for the next character: itself or its escape, which
 * goes to `escape`. */
static struct mf_str shown(struct mf_str text, char escape[12], size_t *taken)
{
    uint32_t code;
    size_t length = mf_utf8_next(text.at, text.size, &code);

    if (length > 0 && is_clean(code)) {
        *taken = length;
        return (struct mf_str){ .at = text.at, .size = length };
    }
    *taken = mf_text_escape(text.at, text.size, escape);
    return (struct mf_str){ .at = escape, .size = strlen(escape) };
}

void mf_text_escape_all(struct mf_str text, char *out, size_t capacity)
{
    static const char ellipsis[] = "...";
    size_t used = 0,
           cut = 0; /* cut: the longest text that "..." still fits after */

    assert(capacity >= 16);
    while (text.size > 0) {
        char escape[12];
        size_t taken;
        struct mf_str piece = shown(text, escape, &taken);

        if (piece.size > capacity - 1 - used) {
            memcpy(out + cut, ellipsis, sizeof(ellipsis));
            return;
        }
        memcpy(out + used, piece.at, piece.size);
        used += piece.size;
        if (used + sizeof(ellipsis) <= capacity)
            cut = used;
        text.at += taken;
        text.size -= taken;
    }
    out[used] = 0;
}
