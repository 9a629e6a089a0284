/* SPDX-License-Identifier: MIT
 *
 * rows.h - the room that reads rows: what each family of models is
 *
 * lib/families has a file for each family; docs/rows.md teaches the language.
 * The program in lib/rows/maker checks all rows when the library is built, and
 * writes them as bytes (codes.h): here they are only read.  So a row cannot be
 * wrong, and nothing in it is looked for by its text.
 *
 * In: a program, which is all paragraphs of a language.  Out: its rows, one
 * after the other, and expressions as trees.  What a value is, the rooms know
 * that run rows: whole numbers of which some are unknown (lib/arch, lib/plan),
 * or values of JSON (lib/hf/hub, lib/hf/restore).
 */
#ifndef MF_LIB_ROWS_H
#define MF_LIB_ROWS_H

#include <string.h>

#include "lib/base/str.h"
#include "lib/rows/codes.h"

enum mf_rows_kind {
    MF_ROWS_arch,
    MF_ROWS_graph,
    MF_ROWS_family,
    MF_ROWS_projector,
    MF_ROWS_tensors,
    MF_ROWS_config,
    MF_ROWS_restore,
    MF_ROWS_group
};

/* A paragraph. */
struct mf_rows_part {
    uint32_t kind;
    uint32_t words; /* what follows in its first line: a text */
    uint32_t begin, end;
};

/* All paragraphs of a language, without an address that a loader has to fill
 * in. */
struct mf_rows {
    const uint8_t *code, *texts;
    size_t text_size; /* of all texts */
    const struct mf_rows_part *part;
    size_t count;
};

extern const struct mf_rows mf_loader_rows, mf_graph_rows, mf_family_rows;

/* What is still to be read: rows, operands, an expression. */
struct mf_code {
    const uint8_t *at, *end;
    const struct mf_rows *rows; /* whose it is */
};

static inline bool mf_code_left(const struct mf_code *code)
{
    return code->at < code->end;
}

static inline unsigned mf_code_byte(struct mf_code *code)
{
    return *code->at++;
}

static inline size_t mf_code_two(struct mf_code *code)
{
    code->at += 2;
    return code->at[-2] | (size_t)code->at[-1] << 8;
}

static inline struct mf_str mf_rows_text_at(const uint8_t *texts, size_t place)
{
    const uint8_t *text = texts + place;

    return (struct mf_str){ (const char *)text + 2,
                            text[0] | (size_t)text[1] << 8 };
}

/* Ends with a NUL. */
static inline struct mf_str mf_code_text(struct mf_code *code)
{
    size_t low = mf_code_two(code);

    return mf_rows_text_at(code->rows->texts, low | (size_t)mf_code_byte(code)
                                                        << 16);
}

/* A word: the number of a parameter, from 1 on, or 0; and its text. */
struct mf_code_word {
    unsigned parameter;
    struct mf_str text;
};
static inline struct mf_code_word mf_code_word(struct mf_code *code)
{
    unsigned parameter = mf_code_byte(code);

    return (struct mf_code_word){ parameter, mf_code_text(code) };
}

int64_t mf_code_number(struct mf_code *code);

/* Takes that many bytes. */
static inline struct mf_code mf_code_bytes(struct mf_code *code, size_t size)
{
    code->at += size;
    return (struct mf_code){ code->at - size, code->at, code->rows };
}

/* Takes as many bytes as the next two say. */
static inline struct mf_code mf_code_part(struct mf_code *code)
{
    return mf_code_bytes(code, mf_code_two(code));
}

/* Takes a row; its word is *word, and what is given are its operands. */
static inline struct mf_code mf_code_row(struct mf_code *rows,
                                         enum mf_code_row *word)
{
    *word = (enum mf_code_row)mf_code_byte(rows);
    return mf_code_part(rows);
}

/* Takes an argument of a function that is a text or a key. */
static inline struct mf_str mf_code_argument(struct mf_code *code)
{
    mf_code_byte(code);
    return mf_code_text(code);
}

/* Takes the byte of a node and its own operands; of a name and a key they are
 * still to be taken.  Children are next, and then what follows the node: so all
 * nodes of an expression can be seen from the left.  A text after the arguments
 * of a call is not a node: no function of numbers has one. */
enum mf_code_kind mf_code_enter(struct mf_code *code);

/* Takes an expression, and gives it. */
struct mf_code mf_code_expression(struct mf_code *code);

/* ---- paragraphs ---- */

static inline struct mf_str mf_part_words(const struct mf_rows *rows,
                                          const struct mf_rows_part *part)
{
    return mf_rows_text_at(rows->texts, part->words);
}

static inline struct mf_code mf_part_rows(const struct mf_rows *rows,
                                          const struct mf_rows_part *part)
{
    return (struct mf_code){ rows->code + part->begin, rows->code + part->end,
                             rows };
}

/* Takes the text up to the next space, and the space. */
struct mf_str mf_word(struct mf_str *text);

/* The first paragraph of that kind in whose first line the word is; NULL: there
 * is none. */
const struct mf_rows_part *mf_rows_find(const struct mf_rows *rows,
                                        enum mf_rows_kind kind,
                                        struct mf_str word);

/* ---- groups ---- */

/* The arguments of the group whose rows are run. */
struct mf_frame {
    const struct mf_frame *up;
    bool optional;                              /* all tensors of the group */
    struct mf_code_word word[MF_ARGUMENTS_MAX]; /* an empty text: not a word */
    struct mf_code value[MF_ARGUMENTS_MAX];
};

/* The rows of the group that a row USE is about, and its arguments. */
struct mf_code mf_code_use(struct mf_code row, struct mf_frame *frame);

/* What a word stands for: of a parameter the argument, and if that is a
 * parameter of the caller, what that stands for. */
struct mf_str mf_frame_word(const struct mf_frame *frame,
                            struct mf_code_word word);

#endif
