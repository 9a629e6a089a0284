/* SPDX-License-Identifier: MIT
 *
 * decode.c - one opcode of a pickle and its argument
 */
#include "torch/pickle.h"

const struct pickle_row mf_pickle_rows[256] = {
#define OPCODE(byte, NAME, argument, effect, nodes, pushes, class)             \
    [byte] = { #NAME,  PICKLE_##argument, nodes,                               \
               pushes, PICKLE_##class,    mf_pickle_do_##effect },
#include "torch/opcodes.def"
#undef OPCODE
};

static uint64_t big_endian(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (int i = 0; bytes && i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* ---- texts ---- */

/* A UTF-8 text of which byte after byte is seen. */
struct utf8 {
    uint8_t low, high; /* of the next byte, where the character needs more */
    uint8_t needs;
    bool surrogates; /* Python has them in texts of protocol 2 */
};

static bool begin_character(struct utf8 *utf8, uint8_t byte)
{
    if (byte < 0x80)
        return true;
    if (byte < 0xc2 || byte > 0xf4)
        return false;
    utf8->needs = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    utf8->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    utf8->high = byte == 0xed && !utf8->surrogates ? 0x9f
                 : byte == 0xf4                    ? 0x8f
                                                   : 0xbf;
    return true;
}

static bool check_text(struct utf8 *utf8, const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (utf8->needs == 0) {
            if (!begin_character(utf8, at[i]))
                return false;
            continue;
        }
        if (at[i] < utf8->low || at[i] > utf8->high)
            return false;
        utf8->needs--;
        utf8->low = 0x80;
        utf8->high = 0xbf;
    }
    return true;
}

/* Goes over a long text; false where it is not UTF-8, which Python refuses. */
static bool skip_text(struct mf_reader *reader, struct utf8 *utf8,
                      uint64_t size)
{
    while (size > 0) {
        size_t part = size < MF_TEXT_KEPT ? (size_t)size : MF_TEXT_KEPT;
        const uint8_t *at = mf_take(reader, part);

        if (!at)
            return true; /* the reader's error */
        if (!check_text(utf8, at, part))
            return false;
        size -= part;
    }
    return true;
}

static enum mf_status bad_text(struct mf_reader *reader,
                               const struct pickle_step *step)
{
    return mf_refuse(reader->env, MF_RULE_PICKLE_OPCODE, step->at,
                     "%s of a text that is not UTF-8", step->row->name);
}

/* size bytes, of which the first MF_TEXT_KEPT at most are kept. */
static enum mf_status take_bytes(struct mf_reader *reader, uint64_t size,
                                 struct pickle_step *out)
{
    bool is_text = mf_pickle_is_text(out->opcode);
    struct utf8 utf8 = { .surrogates =
                             out->opcode != PICKLE_OP_BINSTRING &&
                             out->opcode != PICKLE_OP_SHORT_BINSTRING };

    if (size > mf_reader_left(reader))
        return mf_refuse(reader->env, MF_RULE_FILE_COUNT, out->at,
                         "%s of %" PRIu64 " bytes, but the pickle has only "
                         "%" PRIu64 " after it",
                         out->row->name, size, mf_reader_left(reader));
    out->text_size = size;
    out->text.size = 0;
    if (size > MF_TEXT_KEPT) {
        if (!is_text)
            mf_skip(reader, size);
        else if (!skip_text(reader, &utf8, size) || utf8.needs > 0)
            return bad_text(reader, out);
        return MF_OK;
    }
    out->text.at = (const char *)mf_take(reader, (size_t)size);
    out->text.size = out->text.at ? (size_t)size : 0;
    if (is_text &&
        (!check_text(&utf8, (const uint8_t *)out->text.at, out->text.size) ||
         utf8.needs > 0))
        return bad_text(reader, out);
    return MF_OK;
}

/* Up to a line feed; returns how many bytes that were. */
static uint64_t take_line(struct mf_reader *reader, char *line,
                          struct mf_str *out)
{
    uint64_t size = 0;

    for (;;) {
        uint8_t byte = mf_take_u8(reader);

        if (reader->failed || byte == '\n')
            break;
        if (size < MF_TEXT_KEPT)
            line[size] = (char)byte;
        size++;
    }
    *out = size <= MF_TEXT_KEPT ? (struct mf_str){ line, (size_t)size }
                                : (struct mf_str){ NULL, 0 };
    return size;
}

static enum mf_status take_argument(struct mf_reader *reader,
                                    struct pickle_lines *lines,
                                    struct pickle_step *out)
{
    switch ((enum pickle_argument)out->row->argument) {
    case PICKLE_EMPTY:
        return MF_OK;
    case PICKLE_U1:
        out->number = mf_take_u8(reader);
        return MF_OK;
    case PICKLE_U2:
        out->number = mf_take_u16(reader);
        return MF_OK;
    case PICKLE_I4:
        out->number = (uint64_t)(int64_t)(int32_t)mf_take_u32(reader);
        return MF_OK;
    case PICKLE_U4:
        out->number = mf_take_u32(reader);
        return MF_OK;
    case PICKLE_U8:
        out->number = mf_take_u64(reader);
        return MF_OK;
    case PICKLE_F8:
        out->number = big_endian(mf_take(reader, 8));
        return MF_OK;
    case PICKLE_BYTES1:
        return take_bytes(reader, mf_take_u8(reader), out);
    case PICKLE_BYTES4:
        return take_bytes(reader, mf_take_u32(reader), out);
    case PICKLE_BYTES8:
        return take_bytes(reader, mf_take_u64(reader), out);
    case PICKLE_LINES:
        out->text_size = take_line(reader, lines->line[0], &out->text);
        out->text_size += take_line(reader, lines->line[1], &out->name);
        return MF_OK;
    case PICKLE_LINE:
        out->text_size = take_line(reader, lines->line[0], &out->text);
    }
    return MF_OK;
}

enum mf_status mf_pickle_step(struct mf_reader *reader,
                              struct pickle_lines *lines,
                              struct pickle_step *out)
{
    out->at = mf_reader_offset(reader);
    out->opcode = mf_take_u8(reader);
    out->row = &mf_pickle_rows[out->opcode];
    if (reader->failed)
        return mf_reader_check(reader, "a pickle");
    if (!out->row->name)
        return mf_refuse(reader->env, MF_RULE_PICKLE_OPCODE, out->at,
                         "byte 0x%02x is not an opcode of a pickle",
                         out->opcode);
    if (take_argument(reader, lines, out) != MF_OK)
        return reader->env->error.status;
    return mf_reader_check(reader, out->row->name);
}
