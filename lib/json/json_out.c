/* SPDX-License-Identifier: MIT
 *
 * json_out.c - writing JSON: commas, escapes, numbers
 */
#include "lib/program.h"

#include <math.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/text.h"

static void put(struct mf_json_out *json, const char *at, size_t size)
{
    if (json && json->write && at && size > 0)
        json->write(json->user, at, size);
}

static void put_text(struct mf_json_out *json, const char *text)
{
    put(json, text, strlen(text));
}

/* The comma that the next value or key needs before it. */
static void separate(struct mf_json_out *json)
{
    if (!json)
        return;
    if (json->comma && !json->after_key)
        put(json, ",", 1);
    json->comma = true;
    json->after_key = false;
}

void mf_json_begin(struct mf_json_out *json, char bracket)
{
    if (!json)
        return;

    separate(json);
    put(json, &bracket, 1);
    json->comma = false;
}

/* A key whose value could not be had has null. */
void mf_json_end(struct mf_json_out *json, char bracket)
{
    if (!json)
        return;

    if (json->after_key)
        mf_json_null(json);
    put(json, &bracket, 1);
    json->comma = true;
}

void mf_json_key(struct mf_json_out *json, const char *key)
{
    mf_json_open_string(json);
    mf_json_piece(json, key, key ? strlen(key) : 0);
    mf_json_close_string(json, true);
}

void mf_json_string(struct mf_json_out *json, const char *at, size_t size)
{
    mf_json_open_string(json);
    mf_json_piece(json, at, size);
    mf_json_close_string(json, false);
}

void mf_json_open_string(struct mf_json_out *json)
{
    separate(json);
    put(json, "\"", 1);
}

void mf_json_close_string(struct mf_json_out *json, bool key)
{
    if (!json)
        return;

    put_text(json, key ? "\":" : "\"");
    json->after_key = key;
}

static void put_hex(struct mf_json_out *json, const char *before, uint32_t code,
                    int count)
{
    char digits[4];

    put_text(json, before);
    for (int i = count; i-- > 0; code >>= 4)
        digits[i] = "0123456789abcdef"[code & 15];
    put(json, digits, (size_t)count);
}

/* The escape of the character at `at`; returns its length in bytes. */
static size_t escape(struct mf_json_out *json, const char *at, size_t size)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    uint32_t code;
    size_t length = mf_utf8_next(at, size, &code);
    const char *name = length == 1 && code ? strchr(named, (int)code) : NULL;
    char escaped[2] = { '\\' };

    if (name) {
        escaped[1] = names[name - named];
        put(json, escaped, 2);
    } else if (length == 4) { /* a pair of surrogates */
        put_hex(json, "\\u", 0xd800 + ((code - 0x10000) >> 10), 4);
        put_hex(json, "\\u", 0xdc00 + (code & 0x3ff), 4);
    } else if (length > 0) {
        put_hex(json, "\\u", code, 4);
    } else {
        put_hex(json, "\\\\x", (uint8_t)*at, 2);
    }
    return length > 0 ? length : 1;
}

/* Text that is clean for a terminal: of it, JSON escapes two characters. */
static void put_clean(struct mf_json_out *json, const char *at, size_t size)
{
    size_t start = 0; /* of what is not written yet */

    for (size_t i = 0; i < size; i++) {
        if (at[i] != '"' && at[i] != '\\')
            continue;
        put(json, at + start, i - start);
        escape(json, at + i, 1);
        start = i + 1;
    }
    put(json, at + start, size - start);
}

void mf_json_piece(struct mf_json_out *json, const char *at, size_t size)
{
    if (!at)
        return;

    while (size > 0) {
        size_t taken = mf_text_clean(at, size);

        put_clean(json, at, taken);
        if (taken < size)
            taken += escape(json, at + taken, size - taken);
        at += taken;
        size -= taken;
    }
}

static void put_number(struct mf_json_out *json, uint64_t size, bool negative)
{
    char text[24]; /* 20 digits and a sign */
    char *at = text + sizeof(text);

    do {
        *--at = (char)('0' + size % 10);
        size /= 10;
    } while (size > 0);
    if (negative)
        *--at = '-';
    separate(json);
    put(json, at, (size_t)(text + sizeof(text) - at));
}

void mf_json_u64(struct mf_json_out *json, uint64_t value)
{
    put_number(json, value, false);
}

void mf_json_i64(struct mf_json_out *json, int64_t value)
{
    put_number(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value,
               value < 0);
}

/* Writes NaN and infinities, which JSON has no digits for; false for others. */
static bool put_not_finite(struct mf_json_out *json, double value)
{
    const char *name = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";

    if (isfinite(value))
        return false;
    mf_json_string(json, name, strlen(name));
    return true;
}

static void put_digits(struct mf_json_out *json, struct mf_number_text text)
{
    mf_json_digits(json, text.at, text.size);
}

void mf_json_f32(struct mf_json_out *json, float value)
{
    if (json && !put_not_finite(json, (double)value))
        put_digits(json, mf_number_f32(value));
}

void mf_json_f64(struct mf_json_out *json, double value)
{
    if (json && !put_not_finite(json, value))
        put_digits(json, mf_number_f64(value));
}

void mf_json_bool(struct mf_json_out *json, bool value)
{
    separate(json);
    put_text(json, value ? "true" : "false");
}

void mf_json_null(struct mf_json_out *json)
{
    separate(json);
    put_text(json, "null");
}

void mf_json_digits(struct mf_json_out *json, const char *at, size_t size)
{
    separate(json);
    put(json, at, size);
}
