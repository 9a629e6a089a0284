/* SPDX-License-Identifier: MIT
 *
 * expression.c - the numbers in rows: "ssm.inner_size + 2 * groups * state"
 *
 * A descent with one function per level of precedence, over the text of a row.
 * What is not needed (the other side of ?:, && and ||) is parsed but not
 * computed: it may divide by what the condition excludes.  Rows are part of
 * this library; the depth of the recursion is theirs, never the file's.
 */
#include "lib/arch/run.h"

#include <assert.h>

static const struct mf_arch_number unknown = { false, 0 };

static struct mf_arch_number number(int64_t value)
{
    return (struct mf_arch_number){ true, value };
}

struct parser {
    struct mf_arch_run *run;
    struct mf_str rest;
    bool live; /* what is parsed is needed */
};

static struct mf_arch_number choice(struct parser *parser);

/* ---- words ---- */

static void skip_spaces(struct parser *parser)
{
    while (parser->rest.size > 0 && *parser->rest.at == ' ') {
        parser->rest.at++;
        parser->rest.size--;
    }
}

/* Takes the sign if it is next. */
static bool take(struct parser *parser, const char *sign)
{
    size_t size;

    skip_spaces(parser);
    if (parser->rest.size == 0 || *parser->rest.at != *sign ||
        !mf_str_begins(parser->rest, sign))
        return false;
    size = strlen(sign);
    parser->rest.at += size;
    parser->rest.size -= size;
    return true;
}

static void expect(struct parser *parser, const char *sign)
{
    bool found = take(parser, sign);

    assert(found); /* in a row, not in a file */
    (void)found;
}

static struct mf_str take_name(struct parser *parser)
{
    struct mf_str name;

    skip_spaces(parser);
    name = parser->rest;
    name.size = 0;
    while (parser->rest.size > 0 && mf_arch_is_in_name(*parser->rest.at)) {
        parser->rest.at++;
        parser->rest.size--;
        name.size++;
    }
    return name;
}

/* Takes the text up to the sign, and the sign. */
static struct mf_str take_until(struct parser *parser, char sign)
{
    struct mf_str text;

    skip_spaces(parser);
    text = (struct mf_str){ parser->rest.at, 0 };
    while (text.size < parser->rest.size && text.at[text.size] != sign)
        text.size++;
    assert(text.size < parser->rest.size);
    parser->rest.at += text.size + 1;
    parser->rest.size -= text.size + 1;
    return text;
}

/* ---- functions ---- */

/* The key that a row names in parentheses.  One that is not needed need not be
 * read. */
static const struct mf_arch_key *take_key(struct parser *parser)
{
    static const struct mf_arch_key none = { .present = false };
    const struct mf_arch_key *key =
        mf_arch_key_of(parser->run, take_name(parser));

    if (key)
        return key;
    if (parser->live) /* the row that reads it was not reached */
        parser->run->unsure = true;
    return &none;
}

/* The tensor that a row names in parentheses. */
static const struct mf_record *take_tensor(struct parser *parser, char sign)
{
    struct mf_str pattern = take_until(parser, sign);

    if (parser->live && memchr(pattern.at, '*', pattern.size))
        parser->run->varies = true;
    return parser->live ? mf_arch_tensor(parser->run, pattern) : NULL;
}

/* Whether the file has a key: set(KEY), or how many elements it has: len(KEY).
 * Of a key with a fault both are unknown when numbers are asked for, so that no
 * other number takes its place. */
static struct mf_arch_number about_key(struct parser *parser, bool length)
{
    const struct mf_arch_key *key = take_key(parser);
    struct mf_arch_run *run = parser->run;

    if (!run->quiet || key->fault == MF_ARCH_SOUND ||
        (key->fault == MF_ARCH_MISSING && !length))
        return number(length ? (int64_t)key->count : key->present);
    if (parser->live && !run->culprit)
        run->culprit = key;
    return unknown;
}

/* Whether a string has a value: is(rope.scaling.type, longrope). */
static struct mf_arch_number is_text(struct parser *parser)
{
    const struct mf_arch_key *key = take_key(parser);
    struct mf_str text;

    expect(parser, ",");
    text = take_until(parser, ')');
    return number(key->present && mf_str_same(key->text, text));
}

/* Whether a tensor has a type: type(output.weight, nvfp4). */
static struct mf_arch_number is_type(struct parser *parser)
{
    const struct mf_record *record = take_tensor(parser, ',');
    struct mf_str name = take_until(parser, ')');

    return number(record && record->type != MF_TYPE_UNKNOWN &&
                  mf_str_is(name, mf_types[record->type].name));
}

/* A dimension of a tensor, 0 if it is missing: dim(position_embd.weight, 1). */
static struct mf_arch_number dimension(struct parser *parser)
{
    const struct mf_record *record = take_tensor(parser, ',');
    struct mf_arch_number place = choice(parser);

    expect(parser, ")");
    if (!record)
        return number(0);
    if (!place.known || place.value < 0 || place.value >= record->rank)
        return number(1);
    return record->dim[place.value] <= INT64_MAX
               ? number((int64_t)record->dim[place.value])
               : unknown;
}

/* The greatest value of an expression in any block, and whether any is not 0:
 * most(experts_used), any(swa). */
static struct mf_arch_number over_blocks(struct parser *parser, bool any)
{
    struct mf_arch_run *run = parser->run;
    struct mf_arch_number blocks, out = number(any ? 0 : INT64_MIN), one;
    uint64_t block = run->block;
    struct mf_str text = parser->rest;
    bool live = parser->live, varies = run->varies;

    parser->live = false;
    choice(parser);
    parser->live = live;
    expect(parser, ")");
    if (!live)
        return unknown;
    text.size -= parser->rest.size + 1;
    blocks = mf_arch_name_value(run, (struct mf_str){ "blocks", 6 });
    if (!blocks.known || blocks.value <= 0)
        return unknown;
    for (int64_t i = 0; i < blocks.value && i < MF_ARCH_BLOCKS_MAX; i++) {
        run->block = (uint64_t)i;
        one = mf_arch_number_of(run, text);
        if (!one.known) {
            out = unknown;
            break;
        }
        if (any)
            out.value |= one.value != 0;
        else if (one.value > out.value)
            out = one;
    }
    run->block = block;
    run->varies = varies;
    return out;
}

/* An expression as another block sees it: at(0, heads). */
static struct mf_arch_number at_block(struct parser *parser)
{
    struct mf_arch_number block = choice(parser), out = unknown;
    uint64_t now = parser->run->block;
    bool varies = parser->run->varies;

    expect(parser, ",");
    if (block.known && block.value >= 0)
        parser->run->block = (uint64_t)block.value;
    out = choice(parser);
    parser->run->block = now;
    parser->run->varies = varies;
    expect(parser, ")");
    return block.known && block.value >= 0 ? out : unknown;
}

static struct mf_arch_number extreme(struct parser *parser, bool largest)
{
    struct mf_arch_number a = choice(parser), b;

    expect(parser, ",");
    b = choice(parser);
    expect(parser, ")");
    if (!a.known || !b.known)
        return unknown;
    return (a.value > b.value) == largest ? a : b;
}

/* The value of the first key of a list that there is: first(n_layer, layers).
 * One with a fault is there as well. */
static struct mf_arch_number first_of(struct parser *parser)
{
    struct mf_arch_run *run = parser->run;
    struct mf_arch_number out = unknown;
    bool found = false;

    do {
        struct mf_str name = take_name(parser);
        const struct mf_arch_key *key = mf_arch_key_of(run, name);

        if (found || !parser->live || !key ||
            (!key->present && key->fault == MF_ARCH_SOUND))
            continue;
        found = true;
        out = mf_arch_name_value(run, name);
    } while (take(parser, ","));
    expect(parser, ")");
    return out;
}

/* Whether a list has a number: in(i, full_attn_idxs). */
static struct mf_arch_number is_in(struct parser *parser)
{
    struct mf_arch_number wanted = choice(parser);
    const struct mf_arch_key *key;
    bool found = false;

    expect(parser, ",");
    key = take_key(parser);
    expect(parser, ")");
    for (uint64_t i = 0; key->each && i < key->count; i++)
        found = found || key->each[i] == wanted.value;
    return wanted.known && key->each ? number(found) : unknown;
}

enum function {
#define FUNCTION(NAME, name, arguments) CALL_##NAME,
#include "lib/arch/functions.def"
#undef FUNCTION
    FUNCTION_COUNT
};

static enum function find_function(struct mf_str name)
{
    static const char *const names[] = {
#define FUNCTION(NAME, name, arguments) name,
#include "lib/arch/functions.def"
#undef FUNCTION
    };
    unsigned at = 0;

    while (at < FUNCTION_COUNT && !mf_str_is(name, names[at]))
        at++;
    assert(at < FUNCTION_COUNT); /* in a row, not in a file */
    return (enum function)at;
}

static struct mf_arch_number call(struct parser *parser, struct mf_str name)
{
    enum function function = find_function(name);
    struct mf_arch_number out;

    switch (function) {
    case CALL_IS:
        return is_text(parser);
    case CALL_FIRST:
        return first_of(parser);
    case CALL_IN:
        return is_in(parser);
    case CALL_TYPE:
        return is_type(parser);
    case CALL_DIM:
        return dimension(parser);
    case CALL_AT:
        return at_block(parser);
    case CALL_MOST:
    case CALL_ANY:
        return over_blocks(parser, function == CALL_ANY);
    case CALL_MIN:
    case CALL_MAX:
        return extreme(parser, function == CALL_MAX);
    case CALL_HAS:
        return number(take_tensor(parser, ')') != NULL);
    default:
        out = about_key(parser, function == CALL_LEN);
        expect(parser, ")");
        return out;
    }
}

/* ---- operators ---- */

static struct mf_arch_number operand(struct parser *parser)
{
    struct mf_arch_number out = unknown;
    struct mf_str name;

    if (take(parser, "(")) {
        out = choice(parser);
        expect(parser, ")");
        return out;
    }
    if (take(parser, "!")) {
        out = operand(parser);
        return out.known ? number(!out.value) : out;
    }
    if (take(parser, "-")) {
        out = operand(parser);
        return out.known && out.value != INT64_MIN ? number(-out.value)
                                                   : unknown;
    }
    name = take_name(parser);
    assert(name.size > 0);
    if (*name.at >= '0' && *name.at <= '9') {
        out = number(0);
        for (size_t i = 0; i < name.size; i++)
            out.value = out.value * 10 + (name.at[i] - '0');
        return out;
    }
    if (take(parser, "("))
        return call(parser, name);
    return parser->live ? mf_arch_name_value(parser->run, name) : unknown;
}

static struct mf_arch_number product(struct parser *parser)
{
    struct mf_arch_number out = operand(parser);

    for (;;)
        if (take(parser, "*"))
            out = mf_arch_apply(parser->run, '*', out, operand(parser));
        else if (take(parser, "/"))
            out = mf_arch_apply(parser->run, '/', out, operand(parser));
        else if (take(parser, "%"))
            out = mf_arch_apply(parser->run, '%', out, operand(parser));
        else
            return out;
}

static struct mf_arch_number sum(struct parser *parser)
{
    struct mf_arch_number out = product(parser);

    for (;;)
        if (take(parser, "+"))
            out = mf_arch_apply(parser->run, '+', out, product(parser));
        else if (take(parser, "-"))
            out = mf_arch_apply(parser->run, '-', out, product(parser));
        else
            return out;
}

static struct mf_arch_number comparison(struct parser *parser)
{
    static const char *const signs[] = { "==", "!=", "<=", ">=", "<", ">" };
    struct mf_arch_number out = sum(parser), other;

    skip_spaces(parser);
    if (parser->rest.size == 0 || !strchr("=!<>", *parser->rest.at))
        return out;
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
        if (!take(parser, signs[i]))
            continue;
        other = sum(parser);
        return out.known && other.known
                   ? number(mf_arch_compare(signs[i], out.value, other.value))
                   : unknown;
    }
    return out;
}

/* The operands of && and ||: `decides` is the truth of one that makes the
 * others not matter. */
static struct mf_arch_number logic(struct parser *parser, bool decides)
{
    struct mf_arch_number out =
        decides ? logic(parser, false) : comparison(parser);
    bool live = parser->live;

    while (take(parser, decides ? "||" : "&&")) {
        bool done = out.known && (out.value != 0) == decides;
        struct mf_arch_number next;

        parser->live = live && !done;
        next = decides ? logic(parser, false) : comparison(parser);
        parser->live = live;
        if (done)
            continue;
        if (next.known && (next.value != 0) == decides)
            out = number(decides);
        else
            out = out.known && next.known ? number(!decides) : unknown;
    }
    return out;
}

static struct mf_arch_number choice(struct parser *parser)
{
    struct mf_arch_number which = logic(parser, true), yes, no;
    bool live = parser->live;

    if (!take(parser, "?"))
        return which;
    parser->live = live && which.known && which.value;
    yes = choice(parser);
    expect(parser, ":");
    parser->live = live && which.known && !which.value;
    no = choice(parser);
    parser->live = live;
    if (!which.known)
        return unknown;
    return which.value ? yes : no;
}

/* ---- whole expressions ---- */

struct mf_arch_number mf_arch_take_number(struct mf_arch_run *run,
                                          struct mf_str *text)
{
    struct parser parser = { run, *text, true };
    struct mf_arch_number out = choice(&parser);

    skip_spaces(&parser);
    *text = parser.rest;
    return out;
}

struct mf_arch_number mf_arch_number_of(struct mf_arch_run *run,
                                        struct mf_str text)
{
    struct mf_arch_number out = mf_arch_take_number(run, &text);

    assert(text.size == 0);
    return out;
}
