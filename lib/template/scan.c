/* SPDX-License-Identifier: MIT
 *
 * scan.c - what the bytes of a template show, without its grammar
 */
#include "lib/base/str.h"
#include "lib/template/lex.h"

void mf_template_flag(struct mf_template_report *report,
                      enum mf_template_flag flag,
                      const struct mf_template_place *place, struct mf_str text,
                      uint32_t detail)
{
    struct mf_template_finding *found = &report->flag[flag];

    if (found->count++ > 0)
        return;
    found->place = *place;
    found->detail = detail;
    found->text_size =
        text.size < sizeof(found->text) ? text.size : sizeof(found->text);
    if (text.size > 0)
        memcpy(found->text, text.at, found->text_size);
}

/* ---- invisible characters ---- */

/* Characters that a reader does not see, or that change the order of what is
 * seen.  Not here: private use, which shows as a box; variation selectors and
 * joiners, which emoji and some scripts need: see below. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x0000, 0x0008 }, /* controls but tab and line feed */
    { 0x000b, 0x000c },   { 0x000e, 0x001f },
    { 0x007f, 0x009f },   { 0x00ad, 0x00ad }, /* soft hyphen */
    { 0x034f, 0x034f },                       /* combining grapheme joiner */
    { 0x061c, 0x061c },                       /* Arabic letter mark */
    { 0x115f, 0x1160 },                       /* Hangul fillers */
    { 0x17b4, 0x17b5 },                       /* Khmer vowels without a shape */
    { 0x180b, 0x180f },   /* Mongolian selectors, vowel separator */
    { 0x200b, 0x200b },   /* zero width space */
    { 0x200e, 0x200f },   /* marks of direction */
    { 0x2028, 0x202e },   /* line and paragraph separator, bidi controls */
    { 0x2060, 0x206f },   /* word joiner, invisible operators, isolates */
    { 0x3164, 0x3164 },   /* Hangul filler */
    { 0xfeff, 0xfeff },   /* byte order mark */
    { 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
    { 0xfff0, 0xfffb },   /* annotation characters */
    { 0x1d173, 0x1d17a }, /* musical controls */
    { 0xe0000, 0xe0fff }, /* tags, more variation selectors */
};

static bool is_selector(uint32_t code)
{
    return code >= 0xfe00 && code <= 0xfe0f;
}

/* A joiner or a selector is part of how an emoji or a letter of many scripts is
 * written; after ASCII, or after another selector, it can only hide something.
 */
static bool is_hidden(uint32_t code, uint32_t before)
{
    if (code == 0x200c || code == 0x200d)
        return before < 0x0590 || (before >= 0x2000 && before < 0x2100);
    if (is_selector(code))
        return is_selector(before) || before < 0x20;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

void mf_template_scan_code(struct mf_template_scan *scan, uint32_t code,
                           const struct mf_template_place *place)
{
    if (code != '\r' && is_hidden(code, scan->before))
        mf_template_flag(scan->report, MF_TEMPLATE_HIDDEN, place,
                         (struct mf_str){ NULL, 0 }, code);
    scan->before = code;
}

/* Well-formed UTF-8 is the concern of another rule. */
void mf_template_scan_byte(struct mf_template_scan *scan, uint8_t byte,
                           const struct mf_template_place *place)
{
    if (scan->left > 0 && (byte & 0xc0) == 0x80) {
        scan->code = scan->code << 6 | (byte & 0x3f);
        if (--scan->left == 0)
            mf_template_scan_code(scan, scan->code, &scan->start);
        return;
    }
    scan->start = *place;
    scan->left = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
    scan->code = byte & (byte >= 0xf0 ? 0x07u : byte >= 0xe0 ? 0x0fu : 0x1fu);
    if (byte < 0x80)
        mf_template_scan_code(scan, byte, place);
}

/* ---- words ---- */

/* Six bytes that are not ASCII (two characters of Chinese) count as a word. */
#define WIDE_WORD 6

/* A word is separate, as in a sentence: <|im_start|> and tool_calls have none.
 */
static void count_words(struct mf_template_scan *scan, char byte)
{
    bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');

    if (letter) {
        scan->letters += scan->alone;
    } else {
        if (scan->letters > 1 && memchr(" \n.,;:!?)", byte, 10))
            scan->words++;
        scan->letters = 0;
        scan->alone = memchr(" \n(\"", byte, 4) != NULL;
    }
    if (((uint8_t)byte & 0x80) && ++scan->wide % WIDE_WORD == 0)
        scan->words++;
}

/* ---- addresses ---- */

#define SCHEME_MAX 5u /* "https" */

static void find_url(struct mf_template_scan *scan, char byte,
                     const struct mf_template_place *place)
{
    static const char stops[] = " \t\r\n'\"<>`)]}";
    struct mf_template_finding *found = &scan->report->flag[MF_TEMPLATE_URL];
    bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');

    if (scan->in_url) {
        scan->in_url = !memchr(stops, byte, sizeof(stops));
        if (scan->in_url && found->count == 1 &&
            found->text_size < sizeof(found->text))
            found->text[found->text_size++] = byte;
        return;
    }
    if (letter && scan->slashes == 0) {
        if (scan->scheme_size == SCHEME_MAX)
            memmove(scan->scheme, scan->scheme + 1, --scan->scheme_size);
        scan->scheme[scan->scheme_size++] = byte;
        return;
    }
    if (scan->scheme_size >= 2 && byte == "://"[scan->slashes]) {
        scan->scheme[scan->scheme_size + scan->slashes] = byte;
        if (++scan->slashes < 3)
            return;
        mf_template_flag(
            scan->report, MF_TEMPLATE_URL, place,
            (struct mf_str){ scan->scheme, scan->scheme_size + 3u }, 0);
        scan->in_url = true;
    }
    scan->slashes = 0;
    scan->scheme_size = 0;
}

/* ---- special tokens ---- */

#define BAR "\xef\xbd\x9c" /* U+FF5C, which DeepSeek writes for '|' */

static bool is_token(struct mf_str text)
{
    return (text.size > 4 && mf_str_begins(text, "<|") &&
            mf_str_ends(text, "|>")) ||
           (text.size > 8 && mf_str_begins(text, "<" BAR) &&
            mf_str_ends(text, BAR ">")) ||
           mf_str_is(text, "<start_of_turn>") ||
           mf_str_is(text, "<end_of_turn>");
}

static void add_token(struct mf_template_scan *scan)
{
    struct mf_template_report *report = scan->report;
    struct mf_str text = { scan->token, scan->token_size };
    struct mf_template_token *new = &report->token[report->token_count];

    if (!is_token(text) || report->token_count == MF_TEMPLATE_TOKENS)
        return;
    for (size_t i = 0; i < report->token_count; i++) {
        const struct mf_template_token *old = &report->token[i];

        if (mf_str_same(text, (struct mf_str){ old->text, old->size }))
            return;
    }
    memcpy(new->text, text.at, text.size);
    new->size = (uint8_t)text.size;
    new->place = scan->token_place;
    report->token_count++;
}

static void find_token(struct mf_template_scan *scan, char byte,
                       const struct mf_template_place *place)
{
    if (byte == '<') {
        scan->token_size = 0;
        scan->token_place = *place;
    } else if (scan->token_size == 0) {
        return;
    }
    if ((uint8_t)byte <= ' ' || scan->token_size == MF_TEMPLATE_TOKEN_SIZE) {
        scan->token_size = 0;
        return;
    }
    scan->token[scan->token_size++] = byte;
    if (byte == '>') {
        add_token(scan);
        scan->token_size = 0;
    }
}

/* ---- literals ---- */

void mf_template_scan_begin(struct mf_template_scan *scan)
{
    scan->letters = 0;
    scan->alone = true;
    scan->scheme_size = 0;
    scan->slashes = 0;
    scan->in_url = false;
    scan->token_size = 0;
}

void mf_template_scan_literal(struct mf_template_scan *scan, char byte,
                              const struct mf_template_place *place)
{
    count_words(scan, byte);
    find_url(scan, byte, place);
    find_token(scan, byte, place);
}
