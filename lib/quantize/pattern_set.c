/* SPDX-License-Identifier: MIT
 *
 * pattern_set.c - sets of bytes in a regular expression, and escapes
 */
#include <stdlib.h>

#include "lib/quantize/pattern_parse.h"

static void set_put(uint8_t *set, unsigned byte)
{
    set[byte / 8] |= (uint8_t)(1 << byte % 8);
}

bool mf_pattern_in_class(const char *name, unsigned byte)
{
    bool digit = byte >= '0' && byte <= '9', lower = byte >= 'a' && byte <= 'z';
    bool upper = byte >= 'A' && byte <= 'Z';

    switch (name[0]) {
    case 'd':
        return digit;
    case 'w':
        return digit || lower || upper || byte == '_';
    case 's':
        return byte == ' ' || (byte >= '\t' && byte <= '\r');
    case 'l':
        return lower;
    case 'u':
        return upper;
    case 'x':
        return digit || (byte >= 'a' && byte <= 'f') ||
               (byte >= 'A' && byte <= 'F');
    case 'p':
        return byte > ' ' && byte < 0x7f && !digit && !lower && !upper;
    case 'a': /* alpha, alnum */
        return lower || upper || (digit && name[2] == 'n');
    default: /* "." */
        return byte != '\n' && byte != '\r';
    }
}

static void set_put_class(uint8_t *set, const char *name, bool negated)
{
    for (unsigned byte = 0; byte < 256; byte++)
        if (mf_pattern_in_class(name, byte) != negated)
            set_put(set, byte);
}

static uint8_t *add_set(struct mf_pattern_parser *parser)
{
    struct mf_pattern *pattern = parser->pattern;
    struct mf_pattern_step *step = mf_pattern_add(parser, SET);

    if (pattern->set_count == MF_PATTERN_SETS) {
        mf_pattern_fail(parser, "has too many sets");
        pattern->set_count--;
    }
    step->byte = (uint8_t)pattern->set_count;
    memset(pattern->set[pattern->set_count], 0, sizeof(*pattern->set));
    return pattern->set[pattern->set_count++];
}

bool mf_pattern_escaped(struct mf_pattern_parser *parser, uint8_t *out)
{
    static const char from[] = "tnrfv", to[] = "\t\n\r\f\v";
    const char *found;
    char byte = *parser->at, hex[3] = { 0 };

    if (byte == 0)
        return mf_pattern_fail(parser, "ends within an escape");
    found = strchr(from, byte);
    if (byte == 'x' && mf_pattern_in_class("x", (uint8_t)parser->at[1]) &&
        mf_pattern_in_class("x", (uint8_t)parser->at[2])) {
        memcpy(hex, parser->at + 1, 2);
        *out = (uint8_t)strtoul(hex, NULL, 16);
        parser->at += 3;
        return true;
    }
    if (!found && mf_pattern_in_class("w", (uint8_t)byte))
        return mf_pattern_fail(parser, "has an unknown escape");
    *out = (uint8_t)(found ? to[found - from] : byte);
    parser->at++;
    return true;
}

static void add_class(struct mf_pattern_parser *parser, uint8_t *set)
{
    char name[2] = { *parser->at };
    bool negated = name[0] == 'D' || name[0] == 'W' || name[0] == 'S';

    if (negated)
        name[0] = (char)(name[0] - 'A' + 'a');
    set_put_class(set, name, negated);
    parser->at++;
}

bool mf_pattern_class(struct mf_pattern_parser *parser)
{
    add_class(parser, add_set(parser));
    return !parser->failed;
}

bool mf_pattern_any(struct mf_pattern_parser *parser)
{
    set_put_class(add_set(parser), ".", false);
    return !parser->failed;
}

bool mf_pattern_at_class(const struct mf_pattern_parser *parser)
{
    return parser->at[0] == '\\' && parser->at[1] &&
           strchr("dDwWsS", parser->at[1]);
}

/* [:alpha:] and the like. */
static bool add_named_class(struct mf_pattern_parser *parser, uint8_t *set)
{
    static const char *const names[] = { "alpha", "alnum", "digit", "lower",
                                         "upper", "space", "punct", "xdigit" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t size = strlen(names[i]);

        if (strncmp(parser->at + 2, names[i], size) == 0 &&
            strncmp(parser->at + 2 + size, ":]", 2) == 0) {
            set_put_class(set, names[i], false);
            parser->at += size + 4;
            return true;
        }
    }
    return mf_pattern_fail(parser, "has an unknown class");
}

static bool parse_set_byte(struct mf_pattern_parser *parser, uint8_t *out)
{
    if (*parser->at == 0)
        return mf_pattern_fail(parser, "ends within a set");
    if (*parser->at == '\\') {
        parser->at++;
        return mf_pattern_escaped(parser, out);
    }
    *out = (uint8_t)mf_small(*parser->at++);
    return true;
}

static bool add_range(struct mf_pattern_parser *parser, uint8_t *set)
{
    uint8_t first, last;

    if (!parse_set_byte(parser, &first))
        return false;
    last = first;
    if (parser->at[0] == '-' && parser->at[1] != ']') {
        parser->at++;
        if (mf_pattern_at_class(parser) || !parse_set_byte(parser, &last) ||
            last < first)
            return mf_pattern_fail(parser, "has an invalid range");
    }
    for (unsigned byte = first; byte <= last; byte++)
        set_put(set, byte);
    return true;
}

bool mf_pattern_set(struct mf_pattern_parser *parser)
{
    uint8_t *set = add_set(parser);
    bool negated = *parser->at == '^', more = !parser->failed;

    if (negated)
        parser->at++;
    if (*parser->at == ']')
        return mf_pattern_fail(parser, "has an empty set");
    while (more && *parser->at != ']') {
        if (parser->at[0] == '[' && parser->at[1] == ':')
            more = add_named_class(parser, set);
        else if (mf_pattern_at_class(parser)) {
            parser->at++;
            add_class(parser, set);
        } else
            more = add_range(parser, set);
    }
    if (!more)
        return false;
    parser->at++;
    for (size_t i = 0; negated && i < sizeof(*parser->pattern->set); i++)
        set[i] = (uint8_t)~set[i];
    return true;
}
