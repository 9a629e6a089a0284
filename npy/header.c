/* SPDX-License-Identifier: MIT
 *
 * header.c - what precedes the elements of an array: a Python dict as text
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 *
 * NumPy evaluates it as a literal and wants exactly these three keys.  So do
 * we, without an evaluator: of literals only texts, True, False, tuples of
 * numbers and, for records, lists of fields.
 */
#include "npy/npy.h"

/* Records can be within records. */
#define NESTING_MAX 32

struct text {
    const uint8_t *bytes;
    size_t at, end;
    struct npy_fault *fault;
};

static bool fail(struct text *text, enum mf_rule rule, const char *what)
{
    if (!text->fault->what)
        *text->fault = (struct npy_fault){ rule, text->at, what };
    return false;
}

static bool malformed(struct text *text, const char *what)
{
    return fail(text, MF_RULE_NPY_HEADER, what);
}

/* ---- tokens ---- */

static int peek(struct text *text)
{
    while (text->at < text->end &&
           memchr(" \t\n\r\f", text->bytes[text->at], 5))
        text->at++;
    return text->at < text->end ? text->bytes[text->at] : -1;
}

static bool take(struct text *text, int byte)
{
    if (peek(text) != byte)
        return false;
    text->at++;
    return true;
}

/* Escapes are for names that no header has: they are refused. */
static bool take_text(struct text *text, struct mf_str *out)
{
    int quote = peek(text);
    size_t start = text->at + 1;

    if (quote != '\'' && quote != '"')
        return malformed(text, "a text was expected");
    for (size_t at = start; at < text->end; at++) {
        if (text->bytes[at] == '\\' || text->bytes[at] == '\n')
            break;
        if (text->bytes[at] == quote) {
            *out = (struct mf_str){ (const char *)text->bytes + start,
                                    at - start };
            text->at = at + 1;
            return true;
        }
    }
    return malformed(text, "a text does not end");
}

static bool take_word(struct text *text, const char *word)
{
    size_t size = strlen(word);

    peek(text);
    if (text->end - text->at < size ||
        memcmp(text->bytes + text->at, word, size) != 0)
        return false;
    text->at += size;
    return true;
}

static bool take_number(struct text *text, uint64_t *out)
{
    size_t start;
    bool fits = true;

    peek(text);
    start = text->at;
    *out = 0;
    for (; text->at < text->end; text->at++) {
        int digit = text->bytes[text->at] - '0';

        if (digit < 0 || digit > 9)
            break;
        fits =
            fits && mf_mul(*out, 10, out) && mf_add(*out, (uint64_t)digit, out);
    }
    if (text->at == start)
        return malformed(text, "a dimension is not a whole number");
    if (text->at - start > 1 && text->bytes[start] == '0')
        return malformed(text, "a dimension begins with 0");
    if (!fits || *out > INT64_MAX)
        return fail(text, MF_RULE_NPY_SHAPE, "a dimension is above 2^63 - 1");
    take_word(text, "L"); /* as Python 2 wrote it */
    return true;
}

/* ---- the three values ---- */

static bool take_shape(struct text *text, struct npy_header *out)
{
    bool comma = false;

    if (!take(text, '('))
        return malformed(text, "the shape is not a tuple");
    while (peek(text) != ')') {
        if (out->rank > 0 && !comma)
            return malformed(text, "a comma or ')' was expected in the shape");
        if (out->rank == MF_RANK_MAX)
            return fail(text, MF_RULE_FILE_RANK,
                        "the shape has more than 64 dimensions");
        if (!take_number(text, &out->dim[out->rank]))
            return false;
        out->rank++;
        comma = take(text, ',');
    }
    text->at++;
    if (out->rank == 1 && !comma)
        return malformed(text, "the shape is a number in parentheses, which is "
                               "not a tuple");
    return true;
}

static bool take_bool(struct text *text, bool *out)
{
    *out = take_word(text, "True");
    return *out || take_word(text, "False") ||
           malformed(text, "fortran_order is neither True nor False");
}

static const struct {
    char kind;
    uint8_t size;
    enum mf_type type;
    enum npy_kind other;
} numbers[] = {
    { 'b', 1, MF_TYPE_BOOL, NPY_NUMBER },
    { 'i', 1, MF_TYPE_I8, NPY_NUMBER },
    { 'i', 2, MF_TYPE_I16, NPY_NUMBER },
    { 'i', 4, MF_TYPE_I32, NPY_NUMBER },
    { 'i', 8, MF_TYPE_I64, NPY_NUMBER },
    { 'u', 1, MF_TYPE_U8, NPY_NUMBER },
    { 'u', 2, MF_TYPE_U16, NPY_NUMBER },
    { 'u', 4, MF_TYPE_U32, NPY_NUMBER },
    { 'u', 8, MF_TYPE_U64, NPY_NUMBER },
    { 'f', 2, MF_TYPE_F16, NPY_NUMBER },
    { 'f', 4, MF_TYPE_F32, NPY_NUMBER },
    { 'f', 8, MF_TYPE_F64, NPY_NUMBER },
    { 'f', 16, MF_TYPE_UNKNOWN, NPY_F128 },
    { 'c', 8, MF_TYPE_C64, NPY_NUMBER },
    { 'c', 16, MF_TYPE_UNKNOWN, NPY_C128 },
    { 'c', 32, MF_TYPE_UNKNOWN, NPY_C256 },
};

/* Kinds of any size; those with bytes of one character in `unit`. */
static const struct {
    char kind;
    uint8_t unit;
    enum npy_kind other;
} others[] = {
    { 'S', 1, NPY_BYTES }, { 'a', 1, NPY_BYTES },  { 'U', 4, NPY_TEXT },
    { 'V', 1, NPY_VOID },  { 'O', 1, NPY_OBJECT }, { 'M', 1, NPY_TIME },
    { 'm', 1, NPY_SPAN },
};

static bool set_other(char kind, uint64_t size, struct npy_header *out)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (others[i].kind == kind) {
            out->kind = others[i].other;
            out->element = size * others[i].unit;
            return true;
        }
    return false;
}

/* An order, a kind and a size: "<f4", "|b1", ">c16", "<M8[ns]". */
static bool take_type(struct text *text, struct npy_header *out)
{
    struct text size = { .bytes = (const uint8_t *)out->descr.at,
                         .at = 2,
                         .end = out->descr.size,
                         .fault = text->fault };
    uint64_t bytes = 0;
    char kind;

    if (out->descr.size < 2 || !memchr("<>|=", out->descr.at[0], 4))
        return fail(text, MF_RULE_NPY_TYPE,
                    "a type that does not begin with '<', '>', '|' or '='");
    kind = out->descr.at[1];
    if (size.at < size.end && !take_number(&size, &bytes))
        return false;
    if (size.at < size.end && kind != 'M' && kind != 'm')
        return fail(text, MF_RULE_NPY_TYPE,
                    "a type with something after its size");
    if (bytes > UINT32_MAX)
        return fail(text, MF_RULE_NPY_TYPE, "elements of more than 4 GiB");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (numbers[i].kind == kind && numbers[i].size == bytes) {
            out->type = numbers[i].type;
            out->kind = numbers[i].other;
            out->element = bytes;
            /* A complex number is two. */
            if (out->descr.at[0] == '>')
                out->swap = (uint8_t)(kind == 'c' ? bytes / 2 : bytes);
            return true;
        }
    return set_other(kind, bytes, out) ||
           fail(text, MF_RULE_NPY_TYPE, "a type that NumPy does not have");
}

/* ---- records ---- */

/* The name of a field, or a title and a name. */
static bool take_field_name(struct text *text)
{
    struct mf_str unused;

    if (!take(text, '('))
        return take_text(text, &unused);
    return take_text(text, &unused) &&
           (take(text, ',') || malformed(text, "a title without a name")) &&
           take_text(text, &unused) &&
           (take(text, ')') || malformed(text, "a ')' was expected"));
}

/* A field can be an array itself: multiplies its bytes by the shape. */
static bool take_field_shape(struct text *text, uint64_t *bytes)
{
    struct npy_header shape = { .rank = 0 };
    bool fits = true;

    if (peek(text) == '(') {
        if (!take_shape(text, &shape))
            return false;
    } else if (take_number(text, &shape.dim[0])) {
        shape.rank = 1;
    } else {
        return false;
    }
    for (uint32_t i = 0; i < shape.rank; i++)
        fits = fits && mf_mul(*bytes, shape.dim[i], bytes);
    return fits ||
           fail(text, MF_RULE_NPY_TYPE, "a field of more than 2^64 bytes");
}

static bool take_fields(struct text *text, unsigned depth,
                        struct npy_header *out);

/* (name, type) or (name, type, shape): adds its bytes to the record's. */
static bool take_field(struct text *text, unsigned depth,
                       struct npy_header *out)
{
    struct npy_header field = { .kind = NPY_RECORD };

    if (!take(text, '('))
        return malformed(text, "a field is not a tuple");
    if (!take_field_name(text))
        return false;
    if (!take(text, ','))
        return malformed(text, "a field without a type");
    if (peek(text) == '['
            ? !take_fields(text, depth + 1, &field)
            : !take_text(text, &field.descr) || !take_type(text, &field))
        return false;
    if (take(text, ',') && peek(text) != ')' &&
        !take_field_shape(text, &field.element))
        return false;
    if (!take(text, ')'))
        return malformed(text, "a ')' was expected after a field");
    if (field.kind == NPY_OBJECT)
        out->kind = NPY_OBJECT;
    return mf_add(out->element, field.element, &out->element) ||
           fail(text, MF_RULE_NPY_TYPE, "a record of more than 2^64 bytes");
}

static bool take_fields(struct text *text, unsigned depth,
                        struct npy_header *out)
{
    bool comma = true;

    if (depth == NESTING_MAX)
        return malformed(text, "a type has more than 32 levels");
    text->at++; /* the bracket */
    while (!take(text, ']')) {
        if (!comma)
            return malformed(text, "a comma or ']' was expected");
        if (!take_field(text, depth, out))
            return false;
        comma = take(text, ',');
    }
    return true;
}

static bool take_descr(struct text *text, struct npy_header *out)
{
    size_t start;

    out->type = MF_TYPE_UNKNOWN;
    out->swap = 1;
    if (peek(text) == '\'' || peek(text) == '"')
        return take_text(text, &out->descr) && take_type(text, out);
    if (peek(text) != '[')
        return malformed(text, "the type is neither a text nor a list");
    start = text->at;
    out->kind = NPY_RECORD;
    if (!take_fields(text, 0, out))
        return false;
    out->descr =
        (struct mf_str){ (const char *)text->bytes + start, text->at - start };
    return true;
}

/* ---- the dict ---- */

enum key { DESCR, FORTRAN, SHAPE, KEYS };

static bool take_key(struct text *text, unsigned *seen, enum key *out)
{
    static const char *const keys[KEYS] = { "descr", "fortran_order", "shape" };
    struct mf_str name;

    if (!take_text(text, &name))
        return false;
    for (unsigned i = 0; i < KEYS; i++)
        if (mf_str_is(name, keys[i])) {
            if (*seen >> i & 1)
                return malformed(text, "a key is there twice");
            *seen |= 1u << i;
            *out = (enum key)i;
            return take(text, ':') || malformed(text, "a ':' was expected");
        }
    return malformed(text, "a key other than 'descr', 'fortran_order' and "
                           "'shape'");
}

static bool take_value(struct text *text, enum key key, struct npy_header *out)
{
    switch (key) {
    case DESCR:
        return take_descr(text, out);
    case FORTRAN:
        return take_bool(text, &out->fortran);
    default:
        return take_shape(text, out);
    }
}

static bool take_dict(struct text *text, struct npy_header *out)
{
    bool comma = true;
    unsigned seen = 0;
    enum key key = DESCR;

    if (!take(text, '{'))
        return malformed(text, "the header is not a dict");
    while (!take(text, '}')) {
        if (!comma)
            return malformed(text, "a comma or '}' was expected");
        if (!take_key(text, &seen, &key) || !take_value(text, key, out))
            return false;
        comma = take(text, ',');
    }
    if (seen != (1u << KEYS) - 1)
        return malformed(text,
                         "'descr', 'fortran_order' or 'shape' is missing");
    if (peek(text) != -1)
        return malformed(text, "something follows the dict");
    return true;
}

/* ---- the header ---- */

bool mf_npy_is_magic(const uint8_t *start)
{
    return memcmp(start, NPY_MAGIC, NPY_MAGIC_SIZE) == 0;
}

size_t mf_npy_header_size(const uint8_t *start, struct npy_fault *fault)
{
    size_t at = start[6] == 1 ? 10 : NPY_START;
    size_t size =
        start[6] == 1 ? mf_little_16(start + 8) : mf_little_32(start + 8);

    if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
        *fault = (struct npy_fault){ MF_RULE_NPY_HEADER, NPY_MAGIC_SIZE,
                                     "a version other than 1.0, 2.0 and 3.0" };
        return 0;
    }
    if (size > NPY_HEADER_MAX - at) {
        *fault = (struct npy_fault){ MF_RULE_NPY_HEADER, 8,
                                     "a header of more than 64 KiB" };
        return 0;
    }
    return at + size;
}

bool mf_npy_header(const uint8_t *bytes, size_t size, struct npy_header *out,
                   struct npy_fault *fault)
{
    struct text text = { .bytes = bytes,
                         .at = bytes[6] == 1 ? 10 : NPY_START,
                         .end = size,
                         .fault = fault };

    *out = (struct npy_header){ .data = size };
    *fault = (struct npy_fault){ .what = NULL };
    if (size > text.at && bytes[size - 1] != '\n')
        return malformed(&text, "the header does not end with a line feed");
    return take_dict(&text, out);
}
