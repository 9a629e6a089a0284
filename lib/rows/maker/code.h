/* SPDX-License-Identifier: MIT
 *
 * code.h - rows as bytes: lib/rows/codes.h says which
 */
#ifndef MF_ROWS_CODE_H
#define MF_ROWS_CODE_H

#include "lib/rows/maker/expression.h"

struct bytes {
    unsigned char *at;
    size_t size, room;
};

/* All paragraphs of a language. */
struct program {
    const struct source *source;
    const struct row *row; /* that is written */
    struct bytes code, texts;
    struct pool pool; /* of the texts */
    size_t *begin;    /* of each paragraph's rows in the code; and the end */
};

/* What a row is written into. */
struct writing {
    struct program *program;
    const struct part *part; /* whose parameters words are */
    const struct function *functions;
    bool json;
};

/* Where the text is among all texts, to which it is added if it is new. */
size_t text_place(struct program *program, struct text text);

void put_byte(struct writing *to, size_t value);
void put_two(struct writing *to, size_t value);
void put_text(struct writing *to, struct text text);
void put_word(struct writing *to, struct text text);

/* "blk.*.{w}.weight" */
void put_pattern(struct writing *to, struct text text);

/* A byte whose value is known later, such as the count of what follows. */
size_t begin_byte(struct writing *to);
void end_byte(struct writing *to, size_t begun, size_t value);

/* Two bytes whose value is known later: what lies between them and the end of
 * the code then. */
size_t begin_size(struct writing *to);
void end_size(struct writing *to, size_t begun);

/* The expression at the beginning of a row's text, which is taken from it. */
void put_expression(struct writing *to, struct text *text);

/* Writes the operands of a row whose word only this language has; its code. */
typedef enum mf_code_row put_row(struct writing *to, struct text word,
                                 struct text rest);

#endif
