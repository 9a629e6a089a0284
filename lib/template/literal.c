/* SPDX-License-Identifier: MIT
 *
 * literal.c - strings and numbers in a template
 *
 * llama.cpp knows nine escapes and refuses others.  jinja2 decodes strings as
 * Python does: an escape that it does not know stays as it is, one that is not
 * complete is an error.
 */
#include <string.h>

#include "lib/base/text.h"
#include "lib/template/lex.h"

#define peek   mf_template_peek
#define step   mf_template_step
#define at_end mf_template_at_end

static void keep(struct mf_template_lexer *lexer, char byte)
{
    struct mf_template_token_now *token = &lexer->token;

    if (token->size < MF_LEX_KEPT)
        token->text[token->size] = byte;
    token->size++;
    mf_template_scan_literal(lexer->scan, byte, &lexer->here);
}

/* A character that an escape stands for. */
static void keep_code(struct mf_template_lexer *lexer, uint32_t code)
{
    char bytes[4];
    size_t size = mf_utf8_put(code < 0x110000 ? code : 0xfffd, bytes);

    mf_template_scan_code(lexer->scan, code, &lexer->here);
    if (code >= ' ' && code <= '~')
        lexer->token.escaped = true; /* it could have been written plainly */
    for (size_t i = 0; i < size; i++)
        keep(lexer, bytes[i]);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \xHH, \uHHHH, \UHHHHHHHH */
static void hex_escape(struct mf_template_lexer *lexer, size_t digits)
{
    uint32_t code = 0;

    step(lexer);
    for (size_t i = 0; i < digits; i++) {
        int value = hex_value(peek(lexer, 0));

        if (value < 0 || at_end(lexer)) {
            mf_template_fail(lexer, &lexer->here,
                             "an escape needs %zu hexadecimal digits", digits);
            return;
        }
        code = code << 4 | (uint32_t)value;
        step(lexer);
    }
    if (code > 0x10ffff)
        mf_template_fail(lexer, &lexer->here,
                         "an escape is larger than U+10FFFF");
    else
        keep_code(lexer, code);
}

static void octal_escape(struct mf_template_lexer *lexer)
{
    uint32_t code = 0;

    for (size_t i = 0; i < 3 && peek(lexer, 0) >= '0' && peek(lexer, 0) <= '7';
         i++) {
        code = code << 3 | (uint32_t)(peek(lexer, 0) - '0');
        step(lexer);
    }
    keep_code(lexer, code);
}

/* \N{NAME}: which names exist is not looked up. */
static void named_escape(struct mf_template_lexer *lexer)
{
    size_t size = 0;

    step(lexer);
    if (peek(lexer, 0) != '{') {
        mf_template_fail(lexer, &lexer->here, "\\N without a name in braces");
        return;
    }
    for (step(lexer); !at_end(lexer) && peek(lexer, 0) != '}' &&
                      peek(lexer, 0) != '\'' && peek(lexer, 0) != '"';
         size++)
        step(lexer);
    if (peek(lexer, 0) != '}' || size == 0)
        mf_template_fail(lexer, &lexer->here, "\\N without a name in braces");
    lexer->token.escaped = true;
    step(lexer);
}

static void jinja2_escape(struct mf_template_lexer *lexer)
{
    char c = peek(lexer, 0);

    if (c == 'x' || c == 'u' || c == 'U')
        hex_escape(lexer, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    else if (c == 'N')
        named_escape(lexer);
    else if (c >= '0' && c <= '7')
        octal_escape(lexer);
    else if (c == '\n')
        step(lexer); /* a line that goes on */
    else
        return;
}

/* After the backslash. */
static void escape(struct mf_template_lexer *lexer)
{
    static const char known[] = "ntrbfv\\'\"", means[] = "\n\t\r\b\f\v\\'\"";
    char c = peek(lexer, 0);
    const char *found = at_end(lexer) || !c ? NULL : strchr(known, c);

    if (at_end(lexer)) {
        mf_template_fail(lexer, &lexer->token.place, "a string is not closed");
    } else if (found) {
        keep(lexer, means[found - known]);
        step(lexer);
    } else if (lexer->reader == MF_TEMPLATE_LLAMA) {
        mf_template_fail(lexer, &lexer->here, "unknown escape '\\%s'",
                         mf_quote((struct mf_str){ &c, 1 }).text);
    } else if (strchr("xuUN01234567\n", c) && c) {
        jinja2_escape(lexer);
    } else {
        keep(lexer, '\\');
    }
}

void mf_template_string(struct mf_template_lexer *lexer)
{
    struct mf_template_token_now *token = &lexer->token;
    uint64_t words = lexer->scan->words;
    char quote = peek(lexer, 0);

    token->kind = MF_LEX_STRING;
    mf_template_scan_begin(lexer->scan);
    for (step(lexer);
         peek(lexer, 0) != quote && token->kind != MF_LEX_FAILED;) {
        if (at_end(lexer)) {
            mf_template_fail(lexer, &token->place, "a string is not closed");
        } else if (peek(lexer, 0) == '\\') {
            step(lexer);
            escape(lexer);
        } else {
            keep(lexer, peek(lexer, 0));
            step(lexer);
        }
    }
    step(lexer);
    token->words = lexer->scan->words - words;
}

/* ---- numbers ---- */

static void digits(struct mf_template_lexer *lexer)
{
    bool underscores = lexer->reader == MF_TEMPLATE_JINJA2;

    while (mf_template_is_digit(peek(lexer, 0)) ||
           (underscores && peek(lexer, 0) == '_' &&
            mf_template_is_digit(peek(lexer, 1))))
        mf_template_keep(lexer);
}

/* Digits, and what follows them in a number; false: an integer. */
static bool fraction(struct mf_template_lexer *lexer, bool exponent)
{
    bool found = false;
    size_t sign;

    if (peek(lexer, 0) == '.' && mf_template_is_digit(peek(lexer, 1))) {
        mf_template_keep(lexer);
        digits(lexer);
        found = true;
    }
    sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-';
    if (exponent && (peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') &&
        mf_template_is_digit(peek(lexer, 1 + sign))) {
        for (size_t i = 0; i < 1 + sign; i++)
            step(lexer);
        digits(lexer);
        found = true;
    }
    return found;
}

/* llama.cpp keeps integers in 64 bits. */
static bool fits_in_i64(const struct mf_template_token_now *token)
{
    static const char most[] = "9223372036854775807";
    size_t zeros = 0, size;

    if (token->size > MF_LEX_KEPT)
        return false;
    while (zeros < token->size && token->text[zeros] == '0')
        zeros++;
    size = token->size - zeros;
    return size < 19 ||
           (size == 19 && memcmp(token->text + zeros, most, 19) <= 0);
}

static bool based(struct mf_template_lexer *lexer)
{
    char base = (char)(peek(lexer, 1) | 0x20), digit = peek(lexer, 2);

    if (lexer->reader != MF_TEMPLATE_JINJA2 || peek(lexer, 0) != '0')
        return false;
    if (digit == '_')
        digit = peek(lexer, 3);
    if (!(base == 'x' && (mf_template_is_digit(digit) ||
                          ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f'))) &&
        !(base == 'o' && digit >= '0' && digit <= '7') &&
        !(base == 'b' && (digit == '0' || digit == '1')))
        return false;
    while (mf_template_is_word(peek(lexer, 0)))
        step(lexer);
    return true;
}

void mf_template_number(struct mf_template_lexer *lexer)
{
    struct mf_template_token_now *token = &lexer->token;
    bool jinja2 = lexer->reader == MF_TEMPLATE_JINJA2;
    bool member = jinja2 && lexer->before == '.';

    token->kind = MF_LEX_NUMBER;
    token->is_integer = true;
    if (based(lexer))
        return;
    digits(lexer);
    if (!member && fraction(lexer, jinja2)) {
        token->is_integer = false;
        return;
    }
    if (jinja2 && token->text[0] == '0')
        for (size_t i = 0; i < token->size && i < MF_LEX_KEPT; i++)
            if (token->text[i] != '0' && token->text[i] != '_')
                mf_template_fail(lexer, &token->place,
                                 "a number begins with 0");
    if (!jinja2 && !fits_in_i64(token))
        mf_template_fail(lexer, &token->place,
                         "an integer needs more than 64 bits");
}
