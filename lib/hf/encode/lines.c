/* SPDX-License-Identifier: MIT
 *
 * lines.c - the lines of a text file, and their words, as Python reads them
 */
#include "lib/base/text.h"
#include "lib/hf/encode/text_vocab.h"

/* What Python takes for white space. */
static bool is_space(uint32_t code)
{
    return (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x20) ||
           code == 0x85 || code == 0xa0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

struct mf_str mf_line_word(struct mf_str *line)
{
    struct mf_str word = { line->at, 0 };
    uint32_t code = 0;

    for (size_t step; line->size > 0; line->at += step, line->size -= step) {
        step = mf_utf8_next(line->at, line->size, &code);
        step = step > 0 ? step : 1;
        if (!is_space(code))
            word.size += step;
        else if (word.size > 0)
            break;
        else
            word.at = line->at + step;
    }
    return word;
}

bool mf_lines_next(struct mf_lines *lines, struct mf_str *line)
{
    struct mf_reader *reader = lines->reader;
    uint64_t offset = mf_reader_offset(reader);
    size_t size = 0;
    int next = mf_peek(reader);

    if (next < 0)
        return false;
    for (; next >= 0 && next != '\n' && next != '\r'; next = mf_peek(reader)) {
        if (size == sizeof(lines->text)) {
            mf_fail(reader->env, MF_ERR_LIMIT, offset,
                    "a line of more than %zu bytes", sizeof(lines->text));
            return false;
        }
        lines->text[size++] = (char)mf_take_u8(reader);
    }
    lines->ended = next >= 0;
    if (next >= 0)
        mf_take_u8(reader);
    if (next == '\r' && mf_peek(reader) == '\n')
        mf_take_u8(reader);
    *line = (struct mf_str){ lines->text, size };
    if (mf_text_is_utf8(line->at, line->size))
        return true;
    mf_fail(reader->env, MF_ERR_CORRUPT, offset, "a line is not valid UTF-8");
    return false;
}
