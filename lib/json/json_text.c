/* SPDX-License-Identifier: MIT
 *
 * json_text.c - the strings of a JSON text: their grammar and what they mean
 *
 * They are scanned where they lie, in the reader's window, eight bytes at a
 * time.
 */
#include "lib/json/json.h"

#include <assert.h>

#include "lib/base/little.h"
#include "lib/base/text.h"

/* Brings up to wanted bytes (at most MF_JSON_LOOK) into one piece at *at;
 * returns how many there are before the limit. */
static size_t look(struct mf_reader *reader, size_t wanted, const uint8_t **at)
{
    uint64_t left = mf_reader_left(reader);

    if (wanted > left)
        wanted = (size_t)left;
    if (reader->filled - reader->at < wanted && !mf_reader_fill(reader, wanted))
        wanted = 0;
    *at = reader->window + reader->at;
    return wanted;
}

/* True for bytes of a string that need no decoding: ASCII but controls,
 * the quote and the backslash. */
static bool is_plain(int byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* Marks the zero bytes of word in their top bits.  A borrow can mark bytes
 * above a zero one, too: only the lowest mark counts. */
static uint64_t mark_zeros(uint64_t word)
{
    return (word - UINT64_C(0x0101010101010101)) & ~word &
           UINT64_C(0x8080808080808080);
}

/* How many of size bytes are plain before the first that is not. */
static size_t plain_size(const uint8_t *at, size_t size)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t i = 0;

    for (; size - i >= 8; i += 8) {
        uint64_t word = mf_little_64(at + i), marks;

        marks = mark_zeros(word ^ ones * '"') | mark_zeros(word ^ ones * '\\') |
                ((word - ones * 0x20) & ~word & ones * 0x80) |
                (word & ones * 0x80);
        if (marks)
            return i + (size_t)__builtin_ctzll(marks) / 8;
    }
    while (i < size && is_plain(at[i]))
        i++;
    return i;
}

/* The number of the four hex digits after \u, which begin at `from`
 * of the size bytes at `at`; the first bad one is refused. */
static bool hex4(struct mf_json *json, const uint8_t *at, size_t size,
                 size_t from, uint32_t *out)
{
    uint32_t value = 0;

    for (size_t i = from; i < from + 4; i++) {
        uint32_t byte = i < size ? at[i] : 0, digit;

        if (byte >= '0' && byte <= '9')
            digit = byte - '0';
        else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
            digit = (byte | 0x20) - 'a' + 10;
        else {
            json->reader->at += i < size ? i : size;
            mf_json_refuse(json, "expected four hex digits after \\u");
            return false;
        }
        value = value << 4 | digit;
    }
    *out = value;
    return true;
}

/* Two \u escapes make one character above U+FFFF; half of such a pair is
 * invalid. */
static bool join_surrogates(struct mf_json *json, const uint8_t *at,
                            size_t size, uint32_t *code)
{
    struct mf_reader *reader = json->reader;
    uint32_t low = 0;

    if (*code < 0xdc00 && size >= 8 && at[6] == '\\' && at[7] == 'u' &&
        !hex4(json, at, size, 8, &low))
        return false;
    if (low >= 0xdc00 && low <= 0xdfff) {
        *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
        return true;
    }
    mf_refuse(reader->env, MF_RULE_FILE_JSON, mf_reader_offset(reader),
              "escape \\u%04" PRIx32 " is half of a pair: \\ud800 to \\udbff "
              "must be followed by \\udc00 to \\udfff",
              *code);
    return false;
}

/* The character of the escape at the reader's position, in UTF-8; returns its
 * length, 0 after an error.  *taken: the length of the escape. */
static size_t unescape(struct mf_json *json, char out[4], size_t *taken)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const uint8_t *at;
    size_t size = look(json->reader, MF_JSON_LOOK, &at);
    const char *name =
        size > 1 ? memchr(names, at[1], sizeof(names) - 1) : NULL;
    uint32_t code;

    if (name) {
        out[0] = values[name - names];
        *taken = 2;
        return 1;
    }
    if (size < 2 || at[1] != 'u') {
        json->reader->at += size > 0;
        mf_json_refuse(json, "expected one of \"\\/bfnrtu after a backslash");
        return 0;
    }
    if (!hex4(json, at, size, 2, &code))
        return 0;
    *taken = 6;
    if (code >= 0xd800 && code <= 0xdfff) {
        if (!join_surrogates(json, at, size, &code))
            return 0;
        *taken = 12;
    }
    return mf_utf8_put(code, out);
}

/* The character at the reader's position, which is not plain, in UTF-8; returns
 * its length, 0 after an error.  *taken: its length in the file. */
static size_t special(struct mf_json *json, char out[4], size_t *taken)
{
    const uint8_t *at;
    size_t size = look(json->reader, 4, &at);
    uint32_t code;

    if (size == 0) {
        mf_json_refuse(json, "expected a quote at the end of the string");
        return 0;
    }
    if (*at == '\\')
        return unescape(json, out, taken);
    if (*at < 0x20) {
        mf_json_refuse(json, "a control character in a string must be escaped");
        return 0;
    }
    *taken = mf_utf8_next((const char *)at, size, &code);
    if (*taken == 0)
        mf_json_refuse(json, "a string must be well-formed UTF-8");
    memcpy(out, at, *taken);
    return *taken;
}

/* Takes plain bytes, at most room, as far as the window goes. */
static size_t take_plain(struct mf_reader *reader, char *out, uint64_t room)
{
    const uint8_t *at = reader->window + reader->at;
    size_t size = reader->filled - reader->at;

    size = plain_size(at, size < room ? size : (size_t)room);
    if (out && size > 0)
        memcpy(out, at, size);
    reader->at += size;
    return size;
}

enum mf_status mf_json_text(struct mf_json *json, char *out, size_t capacity,
                            uint64_t *size, bool *more)
{
    struct mf_reader *reader = json->reader;
    uint64_t room = out ? capacity : UINT64_MAX, done = 0;
    int byte;

    assert(json->text_pending && room >= 4);
    for (;;) {
        char character[4];
        size_t length, taken;

        done += take_plain(reader, out ? out + done : NULL, room - done);
        byte = mf_peek(reader);
        if (byte == '"' || (is_plain(byte) && done == room))
            break;
        if (is_plain(byte))
            continue; /* the window was at its end */
        length = special(json, character, &taken);
        if (length == 0)
            return mf_json_stop(json);
        if (length > room - done)
            break;
        if (out)
            memcpy(out + done, character, length);
        done += length;
        reader->at += taken;
    }
    *size = done;
    *more = byte != '"';
    json->text_pending = *more;
    reader->at += byte == '"';
    return MF_OK;
}
