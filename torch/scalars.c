/* SPDX-License-Identifier: MIT
 *
 * scalars.c - opcodes that make one node of their own bytes: constants,
 * numbers, texts
 */
#include "torch/pickle.h"

/* Bytes of a step that is a number: at most a line that was kept. */
static uint16_t length_of(const struct pickle *pickle,
                          const struct pickle_step *step)
{
    return (uint16_t)(mf_reader_offset(pickle->reader) - step->at);
}

enum mf_status mf_pickle_do_constant(struct pickle *pickle,
                                     const struct pickle_step *step)
{
    mf_pickle_push(pickle, step->opcode == PICKLE_OP_MARK       ? PICKLE_MARK
                           : step->opcode == PICKLE_OP_NEWTRUE  ? PICKLE_TRUE
                           : step->opcode == PICKLE_OP_NEWFALSE ? PICKLE_FALSE
                                                                : PICKLE_NONE);
    return MF_OK;
}

enum mf_status mf_pickle_do_number(struct pickle *pickle,
                                   const struct pickle_step *step)
{
    bool real = step->opcode == PICKLE_OP_BINFLOAT;
    uint32_t node =
        mf_pickle_add(pickle, step, real ? PICKLE_FLOAT : PICKLE_INT);

    pickle->node[node].global = length_of(pickle, step);
    /* The bits of either. */
    memcpy(&pickle->node[node].is, &step->number, sizeof(step->number));
    mf_pickle_push(pickle, node);
    return MF_OK;
}

bool mf_pickle_long(struct mf_str bytes, int64_t *out)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    uint64_t value;

    if (bytes.size > sizeof(value))
        return false;
    value = bytes.size > 0 && at[bytes.size - 1] & 0x80 ? UINT64_MAX : 0;
    for (size_t i = bytes.size; i-- > 0;)
        value = value << 8 | at[i];
    memcpy(out, &value, sizeof(*out));
    return true;
}

size_t mf_pickle_long_size(struct mf_str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    size_t size = bytes.size;

    while (size > 1 &&
           at[size - 1] == (at[size - 2] & 0x80 ? (uint8_t)0xff : 0))
        size--;
    return size;
}

enum mf_status mf_pickle_do_long(struct pickle *pickle,
                                 const struct pickle_step *step)
{
    uint32_t node = mf_pickle_add(pickle, step, PICKLE_BIG);
    struct mf_str bytes = step->text;
    int64_t number;

    if (bytes.at)
        bytes.size = mf_pickle_long_size(bytes);
    if (bytes.at && mf_pickle_long(bytes, &number)) {
        pickle->node[node].kind = PICKLE_INT;
        pickle->node[node].global = length_of(pickle, step);
        pickle->node[node].is.number = number;
    } else {
        mf_pickle_keep_text(pickle, node, step, bytes);
    }
    mf_pickle_push(pickle, node);
    return MF_OK;
}

bool mf_pickle_is_text(uint8_t opcode)
{
    return opcode == PICKLE_OP_BINUNICODE ||
           opcode == PICKLE_OP_SHORT_BINUNICODE ||
           opcode == PICKLE_OP_BINUNICODE8 || opcode == PICKLE_OP_BINSTRING ||
           opcode == PICKLE_OP_SHORT_BINSTRING;
}

enum mf_status mf_pickle_do_text(struct pickle *pickle,
                                 const struct pickle_step *step)
{
    uint32_t node = mf_pickle_add(
        pickle, step,
        mf_pickle_is_text(step->opcode) ? PICKLE_TEXT : PICKLE_BYTES);

    pickle->node[node].global = (uint16_t)(mf_reader_offset(pickle->reader) -
                                           step->at - step->text_size);
    mf_pickle_keep_text(pickle, node, step, step->text);
    mf_pickle_push(pickle, node);
    return MF_OK;
}

/* Decimal digits, perhaps after a minus and before an 'L'. */
static bool parse_decimal(struct mf_str line, int64_t *out)
{
    bool minus = line.size > 0 && line.at[0] == '-';
    int64_t value = 0;

    if (line.size > 0 && line.at[line.size - 1] == 'L')
        line.size--;
    if (line.size == minus)
        return false;
    for (size_t i = minus; i < line.size; i++) {
        int digit = line.at[i] - '0';

        if (digit < 0 || digit > 9 ||
            __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    return !__builtin_mul_overflow(value, minus ? 1 : -1, out);
}

/* A text of protocol 0 without its quotes; false where Python would read
 * something else than the bytes of the line. */
static bool parse_text(uint8_t opcode, struct mf_str *line)
{
    if (opcode == PICKLE_OP_STRING) {
        if (line->size < 2 || (line->at[0] != '\'' && line->at[0] != '"') ||
            line->at[line->size - 1] != line->at[0])
            return false;
        line->at++;
        line->size -= 2;
    }
    for (size_t i = 0; i < line->size; i++)
        if (line->at[i] == '\\' || (uint8_t)line->at[i] >= 0x80)
            return false;
    return true;
}

/* [-]digits[.digits][e[+-]digits], as Python writes a float. */
static bool is_real(struct mf_str line)
{
    size_t i = line.size > 0 && line.at[0] == '-', digits = 0;
    bool point = false, exponent = false;

    for (; i < line.size; i++) {
        if (line.at[i] >= '0' && line.at[i] <= '9') {
            digits++;
            continue;
        }
        if (digits == 0 || exponent || (point && line.at[i] == '.'))
            return false;
        point = line.at[i] == '.';
        exponent = line.at[i] == 'e';
        if (!point && !exponent)
            return false;
        digits = 0;
        i += exponent && i + 1 < line.size &&
             (line.at[i + 1] == '-' || line.at[i + 1] == '+');
    }
    return digits > 0;
}

static bool parse_real(struct mf_str line, double *out)
{
    char digits[40];
    bool minus = line.size > 0 && line.at[0] == '-';

    if (line.size >= sizeof(digits) || !is_real(line))
        return false;
    memcpy(digits, line.at + minus, line.size - minus);
    digits[line.size - minus] = 0;
    *out = mf_decimal_read(digits);
    if (minus)
        *out = -*out;
    return true;
}

static bool parse_line(struct pickle *pickle, const struct pickle_step *step,
                       struct pickle_node *node)
{
    struct mf_str text = step->text;

    switch (step->opcode) {
    case PICKLE_OP_INT:
    case PICKLE_OP_LONG:
        node->kind = PICKLE_INT;
        node->global = length_of(pickle, step);
        return parse_decimal(text, &node->is.number);
    case PICKLE_OP_FLOAT:
        node->kind = PICKLE_FLOAT;
        node->global = length_of(pickle, step);
        return parse_real(text, &node->is.real);
    default:
        return parse_text(step->opcode, &text);
    }
}

/* INT, LONG, FLOAT, STRING and UNICODE of protocol 0. */
enum mf_status mf_pickle_do_line(struct pickle *pickle,
                                 const struct pickle_step *step)
{
    struct mf_str text = step->text;
    uint32_t node = mf_pickle_add(pickle, step, PICKLE_TEXT);

    if (!text.at || !parse_line(pickle, step, &pickle->node[node]))
        return mf_refuse(pickle->env, MF_RULE_PICKLE_OPCODE, step->at,
                         "%s with a text that is not read: it is too long, "
                         "has escapes or is not what the opcode says",
                         step->row->name);
    if (step->opcode == PICKLE_OP_INT && mf_str_is(text, "00"))
        node = PICKLE_FALSE;
    else if (step->opcode == PICKLE_OP_INT && mf_str_is(text, "01"))
        node = PICKLE_TRUE;
    else if (pickle->node[node].kind == PICKLE_TEXT) {
        parse_text(step->opcode, &text);
        mf_pickle_keep_text(pickle, node, step, text);
    }
    mf_pickle_push(pickle, node);
    return MF_OK;
}

bool mf_pickle_number(const struct pickle_step *step, struct mf_value *out)
{
    int64_t number = 0;

    if (step->row->effect == mf_pickle_do_number) {
        out->type = MF_VALUE_F64;
        memcpy(&out->number, &step->number, sizeof(step->number));
        if (step->opcode == PICKLE_OP_BINFLOAT)
            return true;
        number = (int64_t)step->number;
    } else if (step->opcode == PICKLE_OP_FLOAT) {
        out->type = MF_VALUE_F64;
        return step->text.at && parse_real(step->text, &out->number.f64);
    } else if (!step->text.at ||
               (step->row->effect == mf_pickle_do_long
                    ? !mf_pickle_long(
                          (struct mf_str){ step->text.at,
                                           mf_pickle_long_size(step->text) },
                          &number)
                    : step->row->effect != mf_pickle_do_line ||
                          !parse_decimal(step->text, &number))) {
        return false;
    }
    out->type = number < 0 ? MF_VALUE_I64 : MF_VALUE_U64;
    out->number.i64 = number;
    return true;
}

uint64_t mf_pickle_memo_number(const struct pickle_step *step, uint64_t next)
{
    int64_t number;

    if (step->opcode == PICKLE_OP_MEMOIZE)
        return next;
    if (step->row->argument != PICKLE_LINE)
        return step->number;
    if (!step->text.at || !parse_decimal(step->text, &number) || number < 0)
        return UINT64_MAX;
    return (uint64_t)number;
}
