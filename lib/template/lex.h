/* SPDX-License-Identifier: MIT
 *
 * lex.h - the tokens of a template, as either reader makes them
 *
 * One token at a time, out of a window of a few bytes.  Texts and strings are
 * not kept: the scan sees their bytes, and a token has their first ones.
 */
#ifndef MF_LIB_TEMPLATE_LEX_H
#define MF_LIB_TEMPLATE_LEX_H

#include "lib/template/template.h"

enum mf_template_kind {
    MF_LEX_END,    /* of the template */
    MF_LEX_FAILED, /* the reader accepts no such token; see error */
    MF_LEX_TEXT,   /* outside of tags */
    MF_LEX_COMMENT,
    MF_LEX_OPEN_BLOCK,  /* {% */
    MF_LEX_CLOSE_BLOCK, /* %} */
    MF_LEX_OPEN_PRINT,  /* {{ */
    MF_LEX_CLOSE_PRINT, /* }} */
    MF_LEX_NAME,
    MF_LEX_STRING,
    MF_LEX_NUMBER,
    MF_LEX_OPERATOR, /* see op */
    MF_LEX_SIGN      /* + or - where llama.cpp takes it for a sign */
};

/* Operators of two characters; one of a single character is itself. */
#define MF_OP(a, b) (uint16_t)((a) << 8 | (b))

#define MF_LEX_KEPT 64

struct mf_template_token_now {
    enum mf_template_kind kind;
    uint16_t op;
    bool is_integer;
    bool escaped; /* a string with an escape for what needs none */
    struct mf_template_place place;
    char text[MF_LEX_KEPT]; /* of a name or a string: its first bytes */
    size_t size;            /* of all of it */
    uint64_t words;         /* in a text or string */
};

#define MF_LEX_AHEAD 16 /* bytes that can be looked at */

struct mf_template_lexer {
    struct mf_template_text *text;
    enum mf_template_reader reader;
    struct mf_template_scan *scan;
    enum mf_status status; /* of reading the text */
    struct mf_template_error *error;

    char window[256];
    size_t at, filled;
    struct mf_str piece;
    bool ended;
    struct mf_template_place here;

    bool in_code;
    enum mf_template_kind opened; /* of the tag that the code is in */
    uint64_t depth; /* of brackets; for llama.cpp of braces, which may wrap */
    char before;    /* the last byte of the token before */
    struct mf_template_token_now token;
};

enum mf_status mf_template_lexer_init(struct mf_template_lexer *lexer,
                                      struct mf_template_text *text,
                                      enum mf_template_reader reader,
                                      struct mf_template_scan *scan,
                                      struct mf_template_error *error);

/* Makes lexer->token the next one. */
void mf_template_lexer_next(struct mf_template_lexer *lexer);

/* After the tag "raw": skips to the end of the tag "endraw". */
void mf_template_lexer_raw(struct mf_template_lexer *lexer);

/* The first failure at place; the token becomes MF_LEX_FAILED. */
void mf_template_fail(struct mf_template_lexer *lexer,
                      const struct mf_template_place *place, const char *format,
                      ...) MF_PRINTF(3, 4);

static inline struct mf_str
mf_template_token_text(const struct mf_template_token_now *token)
{
    return (struct mf_str){ token->text, token->size < MF_LEX_KEPT
                                             ? token->size
                                             : MF_LEX_KEPT };
}

/* ---- for lex.c and literal.c ---- */

static inline bool mf_template_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool mf_template_is_word(char c)
{
    return mf_template_is_digit(c) || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '_';
}

static inline char mf_template_peek(const struct mf_template_lexer *lexer,
                                    size_t ahead)
{
    return lexer->at + ahead < lexer->filled ? lexer->window[lexer->at + ahead]
                                             : 0;
}

static inline bool mf_template_at_end(const struct mf_template_lexer *lexer)
{
    return lexer->at == lexer->filled;
}

/* Passes one byte. */
void mf_template_step(struct mf_template_lexer *lexer);

/* Passes one byte that belongs to a name or a number. */
void mf_template_keep(struct mf_template_lexer *lexer);

/* Reads a string, from its quote on, or a number. */
void mf_template_string(struct mf_template_lexer *lexer);
void mf_template_number(struct mf_template_lexer *lexer);

/* ---- what the bytes of a template show, without its grammar ---- */

/* Every byte is searched for invisible characters.  Addresses, special tokens
 * and words are looked for in literals only: text outside of tags, and strings.
 * Comments reach no model. */

struct mf_template_scan {
    struct mf_template_report *report;
    /* the character being read */
    uint32_t code, before; /* before: the one that came before it */
    unsigned left;         /* bytes to come of it */
    struct mf_template_place start;
    /* the literal being read */
    uint64_t words; /* of all literals so far */
    unsigned letters, wide;
    bool alone;     /* what came before may precede a word */
    char scheme[8]; /* letters before "://" */
    unsigned scheme_size, slashes;
    bool in_url;
    char token[MF_TEMPLATE_TOKEN_SIZE];
    unsigned token_size;
    struct mf_template_place token_place;
};

/* One more byte of the template, wherever it is. */
void mf_template_scan_byte(struct mf_template_scan *scan, uint8_t byte,
                           const struct mf_template_place *place);

/* A character that a string's escape stands for. */
void mf_template_scan_code(struct mf_template_scan *scan, uint32_t code,
                           const struct mf_template_place *place);

/* A literal begins; one more byte of it. */
void mf_template_scan_begin(struct mf_template_scan *scan);
void mf_template_scan_literal(struct mf_template_scan *scan, char byte,
                              const struct mf_template_place *place);

/* Counts what belongs to a flag, and keeps the first. */
void mf_template_flag(struct mf_template_report *report,
                      enum mf_template_flag flag,
                      const struct mf_template_place *place, struct mf_str text,
                      uint32_t detail);

#endif
