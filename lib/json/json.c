/* SPDX-License-Identifier: MIT
 *
 * json.c - a pull tokenizer over a reader
 *
 * Nothing after the current token is consumed, so the reader's offset is the
 * end of the token.
 */
#include "lib/json/json.h"

#include <assert.h>
#include <stdio.h>

/* What may come next. */
enum state {
    AT_VALUE,
    AT_FIRST_VALUE, /* after [ */
    AT_KEY,
    AT_FIRST_KEY, /* after { */
    AT_COLON,
    AFTER_VALUE, /* in an array or object */
    AT_END,
    REFUSED /* after an error there are no more tokens */
};

enum { SPACE = 1, DIGIT = 2 }; /* DIGIT: any byte that numbers are made of */

static const uint8_t class_of[256] = {
    [' '] = SPACE, ['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE,
    ['0'] = DIGIT, ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,
    ['4'] = DIGIT, ['5'] = DIGIT,  ['6'] = DIGIT,  ['7'] = DIGIT,
    ['8'] = DIGIT, ['9'] = DIGIT,  ['+'] = DIGIT,  ['-'] = DIGIT,
    ['.'] = DIGIT, ['e'] = DIGIT,  ['E'] = DIGIT,
};

void mf_json_init(struct mf_json *json, struct mf_reader *reader)
{
    assert(reader->capacity >= MF_JSON_LOOK ||
           reader->capacity >= mf_reader_left(reader));
    *json = (struct mf_json){ .reader = reader, .state = AT_VALUE };
}

/* ---- Errors -------------------------------------------------------------- */

void mf_json_refuse(struct mf_json *json, const char *rule)
{
    struct mf_reader *reader = json->reader;
    int byte = mf_peek(reader);

    if (reader->failed)
        mf_reader_check(reader, "the JSON text");
    else if (byte < 0)
        mf_refuse(reader->env, MF_RULE_FILE_JSON, mf_reader_offset(reader),
                  "the JSON text ends here, %s", rule);
    else
        mf_refuse(reader->env, MF_RULE_FILE_JSON, mf_reader_offset(reader),
                  "unexpected byte 0x%02x, %s", (unsigned)byte, rule);
}

enum mf_status mf_json_stop(struct mf_json *json)
{
    json->state = REFUSED;
    json->text_pending = false;
    return json->reader->env->error.status;
}

static enum mf_json_token stop(struct mf_json *json)
{
    mf_json_stop(json);
    return MF_JSON_ERROR;
}

static enum mf_json_token refuse(struct mf_json *json, const char *rule)
{
    mf_json_refuse(json, rule);
    return stop(json);
}

/* ---- Numbers ------------------------------------------------------------- */

/* Reads all bytes that numbers are made of; false if there are too many. */
static bool take_digits(struct mf_json *json)
{
    struct mf_reader *reader = json->reader;
    size_t size = 0;

    do {
        const uint8_t *at = reader->window + reader->at;
        const uint8_t *end = reader->window + reader->filled;

        for (; at < end && class_of[*at] & DIGIT; at++) {
            if (size == sizeof(json->digits) - 1)
                return false;
            json->digits[size++] = (char)*at;
        }
        reader->at = (size_t)(at - reader->window);
    } while (reader->at == reader->filled && mf_peek(reader) >= 0);
    json->digits[size] = 0;
    json->digits_size = size;
    return true;
}

static enum mf_json_token after_value(struct mf_json *json,
                                      enum mf_json_token token)
{
    json->state = json->depth > 0 ? AFTER_VALUE : AT_END;
    return token;
}

static enum mf_json_token word(struct mf_json *json, const char *expected,
                               enum mf_json_token token)
{
    char rule[32];

    for (const char *at = expected; *at; at++) {
        if (mf_peek(json->reader) != *at) {
            snprintf(rule, sizeof(rule), "expected '%s'", expected);
            return refuse(json, rule);
        }
        json->reader->at++;
    }
    return after_value(json, token);
}

/* A number that JSON has no digits for, after its sign. */
static enum mf_json_token not_finite(struct mf_json *json, const char *sign,
                                     const char *name)
{
    snprintf(json->digits, sizeof(json->digits), "%s%s", sign, name);
    json->digits_size = strlen(json->digits);
    return word(json, name, MF_JSON_NUMBER);
}

static enum mf_json_token number(struct mf_json *json)
{
    struct mf_env *env = json->reader->env;
    const char *error;

    if (!take_digits(json)) {
        mf_refuse(env, MF_RULE_FILE_LIMIT, json->token_offset,
                  "a number has more than %zu characters",
                  sizeof(json->digits) - 1);
        return stop(json);
    }
    if (json->not_finite && strcmp(json->digits, "-") == 0 &&
        mf_peek(json->reader) == 'I')
        return not_finite(json, "-", "Infinity");
    error = mf_json_number_error(json->digits);
    if (json->reader->failed || (error && !*error))
        return refuse(json, "expected a digit");
    if (!error)
        return after_value(json, MF_JSON_NUMBER);
    mf_refuse(env, MF_RULE_FILE_JSON,
              json->token_offset + (uint64_t)(error - json->digits),
              "unexpected byte 0x%02x, numbers are written like -12.5e+3 and "
              "without leading zeros",
              (unsigned)*error);
    return stop(json);
}

/* ---- Tokens -------------------------------------------------------------- */

/* Skips white space; returns the byte after it, -1 at the limit. */
static int skip_space(struct mf_reader *reader)
{
    int byte;

    while ((byte = mf_peek(reader)) >= 0 && class_of[byte] & SPACE)
        reader->at++;
    return byte;
}

/* The same, fast if there is no white space. */
static inline int next_byte(struct mf_reader *reader)
{
    if (reader->at < reader->filled && reader->window[reader->at] > ' ')
        return reader->window[reader->at];
    return skip_space(reader);
}

static bool in_object(const struct mf_json *json)
{
    unsigned level = json->depth - 1;

    return json->depth > 0 && json->in_object[level / 64] >> level % 64 & 1;
}

static enum mf_json_token begin(struct mf_json *json, bool object)
{
    uint64_t *bits = &json->in_object[json->depth / 64];
    uint64_t bit = (uint64_t)1 << json->depth % 64;

    if (json->depth == MF_JSON_DEPTH) {
        mf_refuse(json->reader->env, MF_RULE_FILE_NESTING, json->token_offset,
                  "objects and arrays are nested deeper than %d",
                  MF_JSON_DEPTH);
        return stop(json);
    }
    json->depth++;
    *bits = object ? *bits | bit : *bits & ~bit;
    json->state = object ? AT_FIRST_KEY : AT_FIRST_VALUE;
    json->reader->at++;
    return object ? MF_JSON_BEGIN_OBJECT : MF_JSON_BEGIN_ARRAY;
}

static enum mf_json_token end(struct mf_json *json)
{
    bool object = in_object(json);

    json->reader->at++;
    json->depth--;
    return after_value(json, object ? MF_JSON_END_OBJECT : MF_JSON_END_ARRAY);
}

static enum mf_json_token text(struct mf_json *json, enum mf_json_token token)
{
    json->reader->at++;
    json->text_pending = true;
    if (token == MF_JSON_STRING)
        return after_value(json, token);
    json->state = AT_COLON;
    return token;
}

static enum mf_json_token value(struct mf_json *json, int byte)
{
    switch (byte) {
    case '{':
        return begin(json, true);
    case '[':
        return begin(json, false);
    case '"':
        return text(json, MF_JSON_STRING);
    case 't':
        return word(json, "true", MF_JSON_TRUE);
    case 'f':
        return word(json, "false", MF_JSON_FALSE);
    case 'n':
        return word(json, "null", MF_JSON_NULL);
    default:
        if (byte == '-' || (byte >= '0' && byte <= '9'))
            return number(json);
        if (json->not_finite && (byte == 'N' || byte == 'I'))
            return not_finite(json, "", byte == 'N' ? "NaN" : "Infinity");
        return refuse(json, json->state == AT_VALUE
                                ? "expected a value"
                                : "expected a value or ']'");
    }
}

/* The token that starts with byte, after everything before it was read. */
static enum mf_json_token token(struct mf_json *json, int byte)
{
    switch ((enum state)json->state) {
    case AT_FIRST_VALUE:
        return byte == ']' ? end(json) : value(json, byte);
    case AT_VALUE:
        return value(json, byte);
    case AT_FIRST_KEY:
        if (byte == '}')
            return end(json);
        if (byte == '"')
            return text(json, MF_JSON_KEY);
        return refuse(json, "expected a key or '}'");
    case AT_KEY:
        if (byte == '"')
            return text(json, MF_JSON_KEY);
        return refuse(json, "expected a key");
    case AT_COLON:
        return refuse(json, "expected ':'");
    case AFTER_VALUE:
        if (byte == (in_object(json) ? '}' : ']'))
            return end(json);
        return refuse(json, in_object(json) ? "expected ',' or '}'"
                                            : "expected ',' or ']'");
    case AT_END:
        if (byte < 0 && !json->reader->failed)
            return MF_JSON_END;
        return refuse(json,
                      "expected nothing but white space after the document");
    case REFUSED:
        break;
    }
    return MF_JSON_ERROR;
}

enum mf_json_token mf_json_next(struct mf_json *json)
{
    struct mf_reader *reader = json->reader;
    uint64_t size;
    bool more;
    int byte;

    if (json->text_pending &&
        mf_json_text(json, NULL, 0, &size, &more) != MF_OK)
        return MF_JSON_ERROR;
    byte = next_byte(reader);
    if (byte == ',' && json->state == AFTER_VALUE) {
        json->state = in_object(json) ? AT_KEY : AT_VALUE;
        reader->at++;
        byte = next_byte(reader);
    } else if (byte == ':' && json->state == AT_COLON) {
        json->state = AT_VALUE;
        reader->at++;
        byte = next_byte(reader);
    }
    json->token_offset = mf_reader_offset(reader);
    return token(json, byte);
}

enum mf_status mf_json_skip(struct mf_json *json, enum mf_json_token first)
{
    unsigned depth = json->depth;

    if (first == MF_JSON_ERROR)
        return json->reader->env->error.status;
    if (first != MF_JSON_BEGIN_OBJECT && first != MF_JSON_BEGIN_ARRAY)
        return MF_OK;
    while (json->depth >= depth)
        if (mf_json_next(json) == MF_JSON_ERROR)
            return json->reader->env->error.status;
    return MF_OK;
}
