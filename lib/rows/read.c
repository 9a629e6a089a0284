/* SPDX-License-Identifier: MIT
 *
 * read.c - rows and expressions, as they are taken from a program
 */
#include "lib/rows/rows.h"

#include <assert.h>

int64_t mf_code_number(struct mf_code *code)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)mf_code_byte(code) << 8 * i;
    return (int64_t)value;
}

static void skip(struct mf_code *code, size_t size)
{
    code->at += size;
}

#define TEXT 3 /* bytes */
#define WORD (1 + TEXT)

enum mf_code_kind mf_code_enter(struct mf_code *code)
{
    enum mf_code_kind kind = (enum mf_code_kind)mf_code_byte(code);

    switch (kind) {
    case MF_IS_NUMBER:
        skip(code, 8);
        break;
    case MF_IS_REAL:
    case MF_IS_TEXT:
    case MF_IS_MEMBER:
    case MF_IS_DIVIDE:
    case MF_IS_QUOTIENT:
    case MF_IS_REMAINDER:
        skip(code, TEXT);
        break;
    case MF_IS_LENGTH:
        skip(code, WORD + 1);
        break;
    case MF_IS_LIST:
        skip(code, 1);
        break;
    case MF_IS_AND:
    case MF_IS_OR:
        skip(code, 2);
        break;
    case MF_IS_CHOICE:
    case MF_IS_CALL:
        skip(code, 4);
        break;
    case MF_IS_PATTERN:
        skip(code, 1 + (size_t)*code->at * WORD);
        break;
    case MF_IS_PATH:
        skip(code, 1 + (size_t)*code->at * TEXT);
        break;
    default: /* a name, or nothing but children */
        break;
    }
    return kind;
}

/* Passes over an expression. */
static void pass(struct mf_code *code)
{
    const uint8_t *start = code->at;
    enum mf_code_kind kind = mf_code_enter(code);
    unsigned children = 0;

    if (kind == MF_IS_NAME || kind == MF_IS_KEY)
        skip(code, TEXT);
    else if (kind == MF_IS_PARAMETER)
        skip(code, WORD);
    else if (kind == MF_IS_CALL) /* its size is in front of the count */
        code->at += (start[2] | (size_t)start[3] << 8) - 1;
    else if (kind == MF_IS_LIST)
        children = start[1];
    else if (kind == MF_IS_CHOICE)
        children = 3;
    else if (kind == MF_IS_MEMBER || kind == MF_IS_NOT || kind == MF_IS_MINUS)
        children = 1;
    else if (kind == MF_IS_ELEMENT || (kind >= MF_IS_ADD && kind <= MF_IS_OR))
        children = 2;
    for (; children > 0; children--)
        pass(code);
}

struct mf_code mf_code_expression(struct mf_code *code)
{
    struct mf_code out = *code;

    pass(code);
    out.end = code->at;
    return out;
}

/* ---- paragraphs and groups ---- */

struct mf_str mf_word(struct mf_str *text)
{
    struct mf_str word = { text->at, 0 };
    size_t skipped;

    while (word.size < text->size && word.at[word.size] != ' ')
        word.size++;
    skipped = word.size + (word.size < text->size);
    text->at += skipped;
    text->size -= skipped;
    return word;
}

const struct mf_rows_part *mf_rows_find(const struct mf_rows *rows,
                                        enum mf_rows_kind kind,
                                        struct mf_str word)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct mf_str words = mf_part_words(rows, &rows->part[i]);

        /* The other words of a group are its parameters. */
        while (rows->part[i].kind == (uint32_t)kind && words.size > 0)
            if (mf_str_same(mf_word(&words), word))
                return &rows->part[i];
            else if (kind == MF_ROWS_group)
                break;
    }
    return NULL;
}

struct mf_code mf_code_use(struct mf_code row, struct mf_frame *frame)
{
    const struct mf_frame *up = frame->up;
    const struct mf_rows_part *part;
    unsigned count;

    frame->optional = mf_code_byte(&row) || (up && up->optional);
    part = &row.rows->part[mf_code_two(&row)];
    count = mf_code_byte(&row);
    assert(count <= MF_ARGUMENTS_MAX); /* in a row, not in a file */
    for (unsigned i = 0; i < count; i++) {
        frame->word[i] = mf_code_word(&row);
        frame->value[i] = mf_code_part(&row);
    }
    return mf_part_rows(row.rows, part);
}

struct mf_str mf_frame_word(const struct mf_frame *frame,
                            struct mf_code_word word)
{
    while (frame && word.parameter > 0) {
        word = frame->word[word.parameter - 1];
        frame = frame->up;
    }
    return word.text;
}
