/* SPDX-License-Identifier: MIT
 *
 * scalar.c - the text of a scalar of YAML: plain, quoted, or a block
 *
 * A line break within a text is a space, and further ones stay.
 */
#include "lib/base/text.h"
#include "lib/yaml/yaml.h"

static bool fail(struct mf_yaml *yaml, const char *what)
{
    mf_yaml_fail(yaml, yaml->line, what);
    return false;
}

/* ---- the text so far ---- */

static void add(struct mf_yaml *yaml, const char *at, size_t size)
{
    memcpy(yaml->scratch + yaml->length, at, size);
    yaml->length += size;
}

static void add_times(struct mf_yaml *yaml, char c, size_t times)
{
    memset(yaml->scratch + yaml->length, c, times);
    yaml->length += times;
}

/* The next `size` bytes of the document. */
static void take(struct mf_yaml *yaml, size_t size)
{
    add(yaml, yaml->text + yaml->at, size);
    yaml->at += size;
}

static bool finish(struct mf_yaml *yaml, struct mf_str *out)
{
    char *text = mf_arena_text(yaml->arena, yaml->length);

    if (!text)
        return false;
    memcpy(text, yaml->scratch, yaml->length);
    text[yaml->length] = 0;
    *out = (struct mf_str){ text, yaml->length };
    return true;
}

static size_t pass_spaces(struct mf_yaml *yaml)
{
    size_t count = 0;

    for (; mf_yaml_char(yaml, 0) == ' '; count++)
        yaml->at++;
    return count;
}

/* ---- plain ---- */

/* What is between two words, to be added before the second one. */
struct gap {
    char c;
    size_t times; /* 0: the text has ended */
};

static struct gap pass_gap(struct mf_yaml *yaml)
{
    struct gap gap = { ' ', pass_spaces(yaml) };
    size_t breaks = 0;

    if (mf_yaml_char(yaml, 0) != '\n')
        return gap;
    yaml->key_allowed = true;
    gap.times = 1;
    do {
        mf_yaml_break(yaml);
        breaks++;
        if (mf_yaml_at_separator(yaml))
            return (struct gap){ 0, 0 };
        pass_spaces(yaml);
    } while (mf_yaml_char(yaml, 0) == '\n');
    return breaks == 1 ? gap : (struct gap){ '\n', breaks - 1 };
}

static bool ends_plain(const struct mf_yaml *yaml, size_t ahead)
{
    char c = mf_yaml_char(yaml, ahead), after = mf_yaml_char(yaml, ahead + 1);

    if (mf_yaml_is_blank(c))
        return true;
    if (c == ':')
        return mf_yaml_is_blank(after) ||
               (yaml->flow && strchr(",[]{}", after));
    return yaml->flow && strchr(",?[]{}", c);
}

bool mf_yaml_scan_plain(struct mf_yaml *yaml, struct mf_str *out)
{
    struct gap gap = { ' ', 0 };

    yaml->length = 0;
    while (mf_yaml_char(yaml, 0) != '#') {
        size_t size = 0;

        while (!ends_plain(yaml, size))
            size++;
        if (size == 0)
            break;
        yaml->key_allowed = false;
        add_times(yaml, gap.c, gap.times);
        take(yaml, size);
        gap = pass_gap(yaml);
        if (gap.times == 0 ||
            (!yaml->flow && mf_yaml_column(yaml) <= yaml->indent))
            break;
    }
    return finish(yaml, out);
}

/* ---- quoted ---- */

/* Line breaks and the spaces after them; false: the document ends there. */
static bool pass_breaks(struct mf_yaml *yaml, size_t *count)
{
    *count = 0;
    for (;;) {
        if (mf_yaml_at_separator(yaml))
            return fail(yaml, "the document ends in a quoted text");
        pass_spaces(yaml);
        if (mf_yaml_char(yaml, 0) != '\n')
            return true;
        mf_yaml_break(yaml);
        ++*count;
    }
}

static bool take_space(struct mf_yaml *yaml)
{
    size_t spaces = pass_spaces(yaml), breaks;

    if (mf_yaml_char(yaml, 0) == 0)
        return fail(yaml, "a quoted text does not end");
    if (mf_yaml_char(yaml, 0) != '\n') {
        add_times(yaml, ' ', spaces);
        return true;
    }
    mf_yaml_break(yaml);
    if (!pass_breaks(yaml, &breaks))
        return false;
    add_times(yaml, breaks ? '\n' : ' ', breaks ? breaks : 1);
    return true;
}

static bool take_code(struct mf_yaml *yaml, size_t digits)
{
    uint32_t code = 0;
    char text[4];

    for (size_t i = 0; i < digits; i++) {
        char c = mf_yaml_char(yaml, i);
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;

        if (digit == 16)
            return fail(yaml, "an escape lacks hexadecimal digits");
        code = code << 4 | digit;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return fail(yaml, "an escape is not a character");
    add(yaml, text, mf_utf8_put(code, text));
    yaml->at += digits;
    return true;
}

/* What is after a backslash. */
static bool take_escape(struct mf_yaml *yaml)
{
    static const char letters[] = "abtnvfre \"\\/";
    static const char values[] = "\a\b\t\n\v\f\r\x1b \"\\/";
    char c = mf_yaml_char(yaml, 0);
    const char *letter = c ? strchr(letters, c) : NULL;
    size_t breaks;

    if (c == '\n') {
        mf_yaml_break(yaml);
        if (!pass_breaks(yaml, &breaks))
            return false;
        add_times(yaml, '\n', breaks);
        return true;
    }
    yaml->at++;
    if (letter)
        add(yaml, &values[letter - letters], 1);
    else if (c == '0')
        add(yaml, "", 1);
    else if (c == 'N')
        add(yaml, "\xc2\x85", 2);
    else if (c == '_')
        add(yaml, "\xc2\xa0", 2);
    else if (c == 'L' || c == 'P')
        add(yaml, c == 'L' ? "\xe2\x80\xa8" : "\xe2\x80\xa9", 3);
    else if (c == 'x' || c == 'u' || c == 'U')
        return take_code(yaml, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    else
        return fail(yaml, "an escape is unknown");
    return true;
}

bool mf_yaml_scan_quoted(struct mf_yaml *yaml, struct mf_str *out)
{
    char quote = mf_yaml_char(yaml, 0);

    yaml->at++;
    yaml->length = 0;
    for (;;) {
        char c = mf_yaml_char(yaml, 0);

        if (mf_yaml_is_blank(c)) {
            if (!take_space(yaml))
                return false;
        } else if (c == quote && quote == '\'' && mf_yaml_char(yaml, 1) == c) {
            add(yaml, "'", 1);
            yaml->at += 2;
        } else if (c == quote) {
            yaml->at++;
            return finish(yaml, out);
        } else if (c == '\\' && quote == '"') {
            yaml->at++;
            if (!take_escape(yaml))
                return false;
        } else
            take(yaml, 1);
    }
}

/* ---- blocks ---- */

struct block {
    bool folded, strip, keep;
    int indent; /* 0: the first line's */
};

/* "|2-" and the like, to the end of the line. */
static bool take_header(struct mf_yaml *yaml, struct block *block)
{
    char c;

    block->folded = mf_yaml_char(yaml, 0) == '>';
    yaml->at++;
    for (int i = 0; i < 2; i++) {
        c = mf_yaml_char(yaml, 0);
        if (c && strchr("+-", c) && !block->strip && !block->keep) {
            block->strip = c == '-';
            block->keep = c == '+';
            yaml->at++;
        } else if (c >= '1' && c <= '9' && block->indent == 0) {
            block->indent = c - '0';
            yaml->at++;
        }
    }
    if (!mf_yaml_is_blank(mf_yaml_char(yaml, 0)))
        return fail(yaml, "what follows '|' or '>' is invalid");
    pass_spaces(yaml);
    if (mf_yaml_char(yaml, 0) == '#')
        while (mf_yaml_char(yaml, 0) && mf_yaml_char(yaml, 0) != '\n')
            yaml->at++;
    if (mf_yaml_char(yaml, 0) == '\n')
        mf_yaml_break(yaml);
    else if (mf_yaml_char(yaml, 0))
        return fail(yaml, "what follows '|' or '>' is invalid");
    return true;
}

/* Empty lines, and the spaces of the next one up to that column. */
static size_t pass_lines(struct mf_yaml *yaml, int indent)
{
    size_t breaks = 0;

    for (;;) {
        while (mf_yaml_column(yaml) < indent && mf_yaml_char(yaml, 0) == ' ')
            yaml->at++;
        if (mf_yaml_char(yaml, 0) != '\n')
            return breaks;
        mf_yaml_break(yaml);
        breaks++;
    }
}

/* The column of the first line that is not empty. */
static size_t find_indent(struct mf_yaml *yaml, int *indent)
{
    size_t breaks = 0;

    for (;; breaks++) {
        pass_spaces(yaml);
        if (mf_yaml_column(yaml) > *indent)
            *indent = mf_yaml_column(yaml);
        if (mf_yaml_char(yaml, 0) != '\n')
            return breaks;
        mf_yaml_break(yaml);
    }
}

bool mf_yaml_scan_block(struct mf_yaml *yaml, struct mf_str *out)
{
    struct block block = { .indent = 0 };
    int indent = yaml->indent < 0 ? 1 : yaml->indent + 1;
    size_t breaks, ends = 0;

    if (!take_header(yaml, &block))
        return false;
    yaml->length = 0;
    indent += block.indent ? block.indent - 1 : 0;
    breaks =
        block.indent ? pass_lines(yaml, indent) : find_indent(yaml, &indent);
    while (mf_yaml_column(yaml) == indent && mf_yaml_char(yaml, 0)) {
        bool text = mf_yaml_char(yaml, 0) != ' ';
        size_t size = 0;

        add_times(yaml, '\n', breaks);
        while (mf_yaml_char(yaml, size) && mf_yaml_char(yaml, size) != '\n')
            size++;
        take(yaml, size);
        ends = mf_yaml_char(yaml, 0) == '\n';
        if (ends)
            mf_yaml_break(yaml);
        breaks = pass_lines(yaml, indent);
        if (mf_yaml_column(yaml) != indent || !mf_yaml_char(yaml, 0))
            break;
        if (!block.folded || !text || mf_yaml_char(yaml, 0) == ' ')
            add_times(yaml, '\n', ends);
        else if (breaks == 0)
            add_times(yaml, ' ', 1);
    }
    add_times(yaml, '\n', block.strip ? 0 : ends);
    add_times(yaml, '\n', block.keep ? breaks : 0);
    return finish(yaml, out);
}
