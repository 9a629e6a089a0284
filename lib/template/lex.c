/* SPDX-License-Identifier: MIT
 *
 * lex.c - the tokens of a template, as either reader makes them
 */
#include "lib/template/lex.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/base/str.h"

#define peek   mf_template_peek
#define step   mf_template_step
#define at_end mf_template_at_end

/* ---- bytes ---- */

static void fill(struct mf_template_lexer *lexer)
{
    size_t room;

    if (lexer->ended || lexer->filled - lexer->at >= MF_LEX_AHEAD)
        return;
    memmove(lexer->window, lexer->window + lexer->at,
            lexer->filled - lexer->at);
    lexer->filled -= lexer->at;
    lexer->at = 0;
    while (lexer->filled < sizeof(lexer->window) && !lexer->ended) {
        if (lexer->piece.size == 0)
            lexer->status = lexer->text->next(lexer->text, &lexer->piece);
        if (lexer->status != MF_OK || lexer->piece.size == 0) {
            lexer->ended = true;
            return;
        }
        room = sizeof(lexer->window) - lexer->filled;
        room = room < lexer->piece.size ? room : lexer->piece.size;
        memcpy(lexer->window + lexer->filled, lexer->piece.at, room);
        lexer->filled += room;
        lexer->piece.at += room;
        lexer->piece.size -= room;
    }
}

void mf_template_step(struct mf_template_lexer *lexer)
{
    char byte = peek(lexer, 0);

    if (at_end(lexer))
        return;
    mf_template_scan_byte(lexer->scan, (uint8_t)byte, &lexer->here);
    lexer->before = byte;
    lexer->here.offset++;
    lexer->here.column++;
    if (byte == '\n') {
        lexer->here.line++;
        lexer->here.column = 1;
    }
    lexer->at++;
    fill(lexer);
}

static void steps(struct mf_template_lexer *lexer, size_t count)
{
    while (count-- > 0)
        step(lexer);
}

static bool ahead_is(const struct mf_template_lexer *lexer, const char *text)
{
    for (size_t i = 0; text[i]; i++)
        if (lexer->at + i >= lexer->filled || peek(lexer, i) != text[i])
            return false;
    return true;
}

enum mf_status mf_template_lexer_init(struct mf_template_lexer *lexer,
                                      struct mf_template_text *text,
                                      enum mf_template_reader reader,
                                      struct mf_template_scan *scan,
                                      struct mf_template_error *error)
{
    *lexer = (struct mf_template_lexer){ .text = text,
                                         .reader = reader,
                                         .scan = scan,
                                         .error = error,
                                         .here = { 0, 1, 1 } };
    lexer->status = text->rewind(text);
    if (lexer->status == MF_OK)
        fill(lexer);
    return lexer->status;
}

void mf_template_fail(struct mf_template_lexer *lexer,
                      const struct mf_template_place *place, const char *format,
                      ...)
{
    va_list list;

    lexer->token.kind = MF_LEX_FAILED;
    if (lexer->error->failed)
        return;
    lexer->error->failed = true;
    lexer->error->place = *place;
    va_start(list, format);
    vsnprintf(lexer->error->message, sizeof(lexer->error->message), format,
              list);
    va_end(list);
}

/* ---- classes of bytes ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* jinja2 also skips what Unicode calls white space: its length in bytes.  And
 * letters of all scripts make names there; which characters are letters is not
 * looked up, so that a name of other signs is accepted here. */
static size_t space_size(const struct mf_template_lexer *lexer)
{
    static const char *const spaces[] = {
        "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
    };
    char c = peek(lexer, 0);

    if (at_end(lexer))
        return 0;
    if (is_space(c) ||
        (lexer->reader == MF_TEMPLATE_JINJA2 && c >= 0x1c && c <= 0x1f))
        return 1;
    if (lexer->reader == MF_TEMPLATE_LLAMA || (uint8_t)c < 0x80)
        return 0;
    for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
        if (ahead_is(lexer, spaces[i]))
            return strlen(spaces[i]);
    if (ahead_is(lexer, "\xe2\x80") && (uint8_t)peek(lexer, 2) <= 0x8a)
        return 3; /* U+2000 to U+200A */
    return 0;
}

static void skip_space(struct mf_template_lexer *lexer)
{
    for (size_t size; (size = space_size(lexer)) > 0;)
        steps(lexer, size);
}

/* Signs of Unicode that are in no name: general punctuation, full-width signs,
 * tags. */
static bool is_sign(const struct mf_template_lexer *lexer)
{
    uint8_t a = (uint8_t)peek(lexer, 0), b = (uint8_t)peek(lexer, 1);

    return a < 0xc3 || a >= 0xf3 || (a == 0xe2 && b < 0xb0) ||
           (a == 0xef && (b == 0xbd || b == 0xbb || b == 0xbc));
}

static bool in_name(const struct mf_template_lexer *lexer)
{
    char c = peek(lexer, 0);

    return mf_template_is_word(c) ||
           ((uint8_t)c >= 0x80 && lexer->reader == MF_TEMPLATE_JINJA2 &&
            (((uint8_t)c & 0xc0) == 0x80 || !is_sign(lexer)));
}

/* ---- outside of tags ---- */

static bool at_tag(const struct mf_template_lexer *lexer)
{
    return peek(lexer, 0) == '{' &&
           (peek(lexer, 1) == '%' || peek(lexer, 1) == '{' ||
            peek(lexer, 1) == '#');
}

static void literal_step(struct mf_template_lexer *lexer)
{
    mf_template_scan_literal(lexer->scan, peek(lexer, 0), &lexer->here);
    step(lexer);
}

static void text_token(struct mf_template_lexer *lexer)
{
    uint64_t words = lexer->scan->words;

    lexer->token.kind = MF_LEX_TEXT;
    mf_template_scan_begin(lexer->scan);
    while (!at_end(lexer) && !at_tag(lexer))
        literal_step(lexer);
    lexer->token.words = lexer->scan->words - words;
}

static void comment_token(struct mf_template_lexer *lexer)
{
    lexer->token.kind = MF_LEX_COMMENT;
    steps(lexer, 2);
    while (!at_end(lexer) && !ahead_is(lexer, "#}"))
        step(lexer);
    if (at_end(lexer))
        mf_template_fail(lexer, &lexer->token.place,
                         "the comment is not closed");
    steps(lexer, 2);
}

/* Both readers let a sign follow {% and {{; llama.cpp only '-', but two. */
static void open_token(struct mf_template_lexer *lexer)
{
    lexer->token.kind =
        peek(lexer, 1) == '%' ? MF_LEX_OPEN_BLOCK : MF_LEX_OPEN_PRINT;
    lexer->opened = lexer->token.kind;
    lexer->in_code = true;
    if (lexer->reader == MF_TEMPLATE_JINJA2 ||
        lexer->token.kind == MF_LEX_OPEN_PRINT)
        lexer->depth = 0;
    steps(lexer, 2);
    if (lexer->reader == MF_TEMPLATE_JINJA2) {
        if (peek(lexer, 0) == '-' || peek(lexer, 0) == '+')
            step(lexer);
        return;
    }
    if (peek(lexer, 0) == '-')
        step(lexer);
    if (peek(lexer, 0) == '-')
        step(lexer);
}

/* ---- the end of a tag ---- */

static bool close_token(struct mf_template_lexer *lexer,
                        enum mf_template_kind kind, size_t size)
{
    steps(lexer, size);
    lexer->token.kind = kind;
    lexer->in_code = false;
    return true;
}

static bool jinja2_close(struct mf_template_lexer *lexer)
{
    bool block = lexer->opened == MF_LEX_OPEN_BLOCK;
    const char *end = block ? "%}" : "}}";
    size_t sign = peek(lexer, 0) == '-' || (block && peek(lexer, 0) == '+');

    if (lexer->depth > 0 || peek(lexer, sign) != end[0] ||
        peek(lexer, sign + 1) != end[1])
        return false;
    return close_token(lexer, block ? MF_LEX_CLOSE_BLOCK : MF_LEX_CLOSE_PRINT,
                       sign + 2);
}

/* llama.cpp closes with either end, wherever it is; but an end without '-' may
 * be two braces of an object. */
static bool llama_close(struct mf_template_lexer *lexer)
{
    if (ahead_is(lexer, "-%}"))
        return close_token(lexer, MF_LEX_CLOSE_BLOCK, 3);
    if (ahead_is(lexer, "-}}"))
        return close_token(lexer, MF_LEX_CLOSE_PRINT, 3);
    if (ahead_is(lexer, "%}"))
        return close_token(lexer, MF_LEX_CLOSE_BLOCK, 2);
    if (lexer->depth == 0 && ahead_is(lexer, "}}"))
        return close_token(lexer, MF_LEX_CLOSE_PRINT, 2);
    return false;
}

/* ---- names, numbers, operators ---- */

void mf_template_keep(struct mf_template_lexer *lexer)
{
    struct mf_template_token_now *token = &lexer->token;

    if (token->size < MF_LEX_KEPT)
        token->text[token->size] = peek(lexer, 0);
    token->size++;
    step(lexer);
}

static void name_token(struct mf_template_lexer *lexer)
{
    lexer->token.kind = MF_LEX_NAME;
    while (!at_end(lexer) && in_name(lexer))
        mf_template_keep(lexer);
}

/* llama.cpp: a sign belongs to the number, unless something ended before. */
static bool llama_sign(struct mf_template_lexer *lexer,
                       const struct mf_template_token_now *last)
{
    char c = peek(lexer, 0), next = peek(lexer, 1);

    if ((c != '-' && c != '+') || (c == '-' && (next == '%' || next == '}')) ||
        last->kind == MF_LEX_NAME || last->kind == MF_LEX_NUMBER ||
        last->kind == MF_LEX_STRING ||
        (last->kind == MF_LEX_OPERATOR && (last->op == ')' || last->op == ']')))
        return false;
    step(lexer);
    if (mf_template_is_digit(peek(lexer, 0)) ||
        (peek(lexer, 0) == '.' && mf_template_is_digit(peek(lexer, 1))))
        mf_template_number(lexer);
    else
        lexer->token.kind = MF_LEX_SIGN;
    return true;
}

static void operator_token(struct mf_template_lexer *lexer)
{
    struct mf_template_token_now *token = &lexer->token;
    char a = peek(lexer, 0), b = peek(lexer, 1);
    bool jinja2 = lexer->reader == MF_TEMPLATE_JINJA2, pair;

    pair = (b == '=' && memchr("=!<>", a, 4)) ||
           (jinja2 && a == b && (a == '/' || a == '*'));
    if (!pair && !memchr("(){}[],.:|<>+-~*/%=;", a, jinja2 ? 20 : 19)) {
        mf_template_fail(lexer, &token->place, "unexpected character '%s'",
                         mf_quote((struct mf_str){ &a, 1 }).text);
        return;
    }
    token->kind = MF_LEX_OPERATOR;
    token->op = (uint16_t)(pair ? MF_OP(a, b) : (uint8_t)a);
    if (a == '{' || (jinja2 && (a == '(' || a == '[')))
        lexer->depth++;
    else if (a == '}' || (jinja2 && (a == ')' || a == ']')))
        lexer->depth--; /* below 0: the parser fails, or as in llama.cpp */
    steps(lexer, pair ? 2 : 1);
}

/* ---- tokens ---- */

static void code_token(struct mf_template_lexer *lexer,
                       const struct mf_template_token_now *last)
{
    struct mf_template_token_now *token = &lexer->token;
    bool jinja2 = lexer->reader == MF_TEMPLATE_JINJA2;
    char c;

    skip_space(lexer);
    token->place = lexer->here;
    c = peek(lexer, 0);
    if (at_end(lexer))
        token->kind = MF_LEX_END;
    else if (jinja2 ? jinja2_close(lexer)
                    : llama_sign(lexer, last) || llama_close(lexer))
        return;
    else if (!jinja2 && (ahead_is(lexer, "{%") || ahead_is(lexer, "{{")))
        mf_template_fail(lexer, &token->place, "a tag begins inside a tag");
    else if (c == '\'' || c == '"')
        mf_template_string(lexer);
    else if (mf_template_is_digit(c))
        mf_template_number(lexer);
    else if (in_name(lexer))
        name_token(lexer);
    else
        operator_token(lexer);
}

void mf_template_lexer_next(struct mf_template_lexer *lexer)
{
    struct mf_template_token_now *token = &lexer->token, last = *token;

    if (last.kind == MF_LEX_FAILED)
        return;
    *token = (struct mf_template_token_now){ .place = lexer->here };
    if (lexer->in_code)
        code_token(lexer, &last);
    else if (at_end(lexer))
        token->kind = MF_LEX_END;
    else if (!at_tag(lexer))
        text_token(lexer);
    else if (peek(lexer, 1) == '#')
        comment_token(lexer);
    else
        open_token(lexer);
}

/* {%, a sign, white space, endraw, white space, a sign, %} */
static bool end_of_raw(struct mf_template_lexer *lexer)
{
    static const char name[] = "endraw";

    steps(lexer, 2);
    if (peek(lexer, 0) == '-' || peek(lexer, 0) == '+')
        step(lexer);
    skip_space(lexer);
    for (size_t i = 0; i < 6; i++) {
        if (peek(lexer, 0) != name[i])
            return false;
        step(lexer);
    }
    skip_space(lexer);
    if (peek(lexer, 0) == '-' || peek(lexer, 0) == '+')
        step(lexer);
    if (!ahead_is(lexer, "%}"))
        return false;
    steps(lexer, 2);
    return true;
}

void mf_template_lexer_raw(struct mf_template_lexer *lexer)
{
    struct mf_template_place start = lexer->here;

    if (at_end(lexer))
        return; /* where there is nothing after it, jinja2 does not mind */
    mf_template_scan_begin(lexer->scan);
    while (!at_end(lexer)) {
        if (!ahead_is(lexer, "{%"))
            literal_step(lexer);
        else if (end_of_raw(lexer))
            return;
    }
    mf_template_fail(lexer, &start, "'raw' is not closed");
}
