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

enum mf_status mf_pickle_do_long(struct pickle *pickle,
                                 const struct pickle_step *step)
{
    uint32_t node = mf_pickle_add(pickle, step, PICKLE_BIG);
    int64_t number;

    if (step->text.at && mf_pickle_long(step->text, &number)) {
        pickle->node[node].kind = PICKLE_INT;
        pickle->node[node].global = length_of(pickle, step);
        pickle->node[node].is.number = number;
    } else {
        mf_pickle_keep_text(pickle, node, step, step->text);
    }
    mf_pickle_push(pickle, node);
    return MF_OK;
}

static bool is_text(uint8_t opcode)
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
        pickle, step, is_text(step->opcode) ? PICKLE_TEXT : PICKLE_BYTES);

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

/* A text of protocol 0 without its quotes; what is escaped stays escaped. */
static struct mf_str unquoted(struct mf_str line)
{
    if (line.size < 2 || (line.at[0] != '\'' && line.at[0] != '"') ||
        line.at[line.size - 1] != line.at[0])
        return line;
    return (struct mf_str){ line.at + 1, line.size - 2 };
}

/* INT, LONG, FLOAT, STRING and UNICODE of protocol 0.  A number that is not a
 * plain integer stays text. */
enum mf_status mf_pickle_do_line(struct pickle *pickle,
                                 const struct pickle_step *step)
{
    bool integer =
        step->opcode == PICKLE_OP_INT || step->opcode == PICKLE_OP_LONG;
    struct mf_str text =
        step->opcode == PICKLE_OP_STRING ? unquoted(step->text) : step->text;
    uint32_t node = mf_pickle_add(pickle, step, PICKLE_TEXT);
    int64_t number;

    if (step->opcode == PICKLE_OP_INT && mf_str_is(text, "00"))
        node = PICKLE_FALSE;
    else if (step->opcode == PICKLE_OP_INT && mf_str_is(text, "01"))
        node = PICKLE_TRUE;
    else if (integer && text.at && parse_decimal(text, &number)) {
        pickle->node[node].kind = PICKLE_INT;
        pickle->node[node].global = length_of(pickle, step);
        pickle->node[node].is.number = number;
    } else {
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
    } else if (!step->text.at ||
               (step->row->effect == mf_pickle_do_long
                    ? !mf_pickle_long(step->text, &number)
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
