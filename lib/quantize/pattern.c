/* SPDX-License-Identifier: MIT
 *
 * pattern.c - compiling a regular expression
 *
 * Thompson's construction: a pattern becomes steps, each of which matches a
 * byte or leads on to one or two others.
 *
 *     ab        BYTE a, BYTE b
 *     a|b       SPLIT to 1 and 3; 1: BYTE a, 2: JUMP to 4; 3: BYTE b; 4:
 *     a?        SPLIT to 1 and 2; 1: BYTE a; 2:
 *     a+        0: BYTE a, SPLIT back to 0 and on
 *     a{2,3}    BYTE a, BYTE a, SPLIT to 3 and 4; 3: BYTE a; 4:
 *
 * An operator comes after its operand, whose steps exist by then: split_before
 * moves them by one, and a bounded repetition copies them.  Links between steps
 * are relocated with them.  Nested repetitions multiply steps, which is what
 * MF_PATTERN_STEPS bounds; DEPTH_MAX bounds the recursion of groups.
 */
#include "lib/quantize/pattern_parse.h"

#include <assert.h>

#define DEPTH_MAX 50

bool mf_pattern_fail(struct mf_pattern_parser *parser, const char *what)
{
    struct mf_str text = { parser->text, strlen(parser->text) };

    if (!parser->failed)
        mf_fail(parser->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                "pattern '%s' %s at character %zu", mf_quote(text).text, what,
                (size_t)(parser->at - parser->text) + 1);
    parser->failed = true;
    return false;
}

/* ---- steps ---- */

struct mf_pattern_step *mf_pattern_add(struct mf_pattern_parser *parser,
                                       enum mf_pattern_op op)
{
    struct mf_pattern *pattern = parser->pattern;
    struct mf_pattern_step *step;

    if (pattern->step_count == MF_PATTERN_STEPS) {
        mf_pattern_fail(parser, "is too long");
        pattern->step_count--; /* room for a step that is never used */
    }
    step = &pattern->step[pattern->step_count++];
    *step = (struct mf_pattern_step){ .op = (uint8_t)op,
                                      .next = pattern->step_count };
    return step;
}

/* Links of the steps from first to last, to targets that moved. */
static void relocate(struct mf_pattern *pattern, uint16_t first, uint16_t last,
                     uint16_t from, uint16_t by)
{
    for (uint16_t i = first; i < last; i++) {
        struct mf_pattern_step *step = &pattern->step[i];

        if (step->next >= from)
            step->next = (uint16_t)(step->next + by);
        if (step->op == SPLIT && step->other >= from)
            step->other = (uint16_t)(step->other + by);
    }
}

/* Inserts a split before the steps from start on: to them, and past them. */
static void split_before(struct mf_pattern_parser *parser, uint16_t start)
{
    struct mf_pattern *pattern = parser->pattern;
    uint16_t count = pattern->step_count;

    mf_pattern_add(parser, SPLIT);
    if (parser->failed)
        return;
    memmove(&pattern->step[start + 1], &pattern->step[start],
            (size_t)(count - start) * sizeof(*pattern->step));
    relocate(pattern, (uint16_t)(start + 1), pattern->step_count, start, 1);
    pattern->step[start] = (struct mf_pattern_step){
        .op = SPLIT, .next = (uint16_t)(start + 1), .other = pattern->step_count
    };
}

/* Appends a copy of the steps from start to end. */
static void copy_steps(struct mf_pattern_parser *parser, uint16_t start,
                       uint16_t end)
{
    struct mf_pattern *pattern = parser->pattern;
    uint16_t to = pattern->step_count, size = (uint16_t)(end - start);

    assert(start <= end && end <= to);
    if (size > MF_PATTERN_STEPS - to) {
        mf_pattern_fail(parser, "is too long");
        return;
    }
    memcpy(&pattern->step[to], &pattern->step[start],
           size * sizeof(*pattern->step));
    pattern->step_count = (uint16_t)(to + size);
    relocate(pattern, to, pattern->step_count, start, (uint16_t)(to - start));
}

/* ---- atoms ---- */

static bool parse_alternatives(struct mf_pattern_parser *parser);

static bool parse_group(struct mf_pattern_parser *parser)
{
    if (parser->at[0] == '?') {
        if (parser->at[1] != ':')
            return mf_pattern_fail(parser, "has an unsupported group");
        parser->at += 2;
    }
    if (++parser->depth > DEPTH_MAX)
        return mf_pattern_fail(parser, "nests groups too deeply");
    if (!parse_alternatives(parser))
        return false;
    if (*parser->at != ')')
        return mf_pattern_fail(parser, "ends within a group");
    parser->at++;
    parser->depth--;
    return true;
}

static bool parse_escape(struct mf_pattern_parser *parser)
{
    uint8_t byte;

    if (mf_pattern_at_class(parser)) {
        parser->at++;
        return mf_pattern_class(parser);
    }
    parser->at++;
    if (*parser->at == 'b' || *parser->at == 'B') {
        mf_pattern_add(parser, *parser->at == 'b' ? WORD : NOT_WORD);
        parser->at++;
        return !parser->failed;
    }
    if (!mf_pattern_escaped(parser, &byte))
        return false;
    mf_pattern_add(parser, BYTE)->byte = byte;
    return !parser->failed;
}

static bool parse_atom(struct mf_pattern_parser *parser)
{
    switch (*parser->at) {
    case '(':
        parser->at++;
        return parse_group(parser);
    case '[':
        parser->at++;
        return mf_pattern_set(parser);
    case '\\':
        return parse_escape(parser);
    case '^':
    case '$':
        mf_pattern_add(parser, *parser->at == '^' ? BEGIN : END);
        break;
    case '.':
        parser->at++;
        return mf_pattern_any(parser);
    case '*':
    case '+':
    case '?':
    case '{':
        return mf_pattern_fail(parser, "has a repetition of nothing");
    default:
        mf_pattern_add(parser, BYTE)->byte = (uint8_t)mf_small(*parser->at);
    }
    parser->at++;
    return !parser->failed;
}

/* ---- repetitions ---- */

#define UNBOUNDED UINT16_MAX

static bool parse_number(struct mf_pattern_parser *parser, uint16_t *out)
{
    unsigned number = 0;

    if (!mf_pattern_in_class("d", (uint8_t)*parser->at))
        return mf_pattern_fail(parser, "has a repetition without a number");
    for (; mf_pattern_in_class("d", (uint8_t)*parser->at); parser->at++) {
        number = number * 10 + (unsigned)(*parser->at - '0');
        if (number > MF_PATTERN_STEPS)
            return mf_pattern_fail(parser,
                                   "has a repetition that is too large");
    }
    *out = (uint16_t)number;
    return true;
}

/* {2}, {2,} or {2,5}, or one of * + ? */
static bool parse_bounds(struct mf_pattern_parser *parser, uint16_t *min,
                         uint16_t *max)
{
    char sign = *parser->at++;

    *min = sign == '+';
    *max = sign == '?' ? 1 : UNBOUNDED;
    if (sign != '{')
        return true;
    if (!parse_number(parser, min))
        return false;
    *max = *min;
    if (*parser->at == ',') {
        parser->at++;
        *max = UNBOUNDED;
        if (*parser->at != '}' && !parse_number(parser, max))
            return false;
    }
    if (*parser->at != '}' || *max < *min)
        return mf_pattern_fail(parser, "has an invalid repetition");
    parser->at++;
    return true;
}

/* Repeats the steps from start on, which exist once so far. */
static void repeat(struct mf_pattern_parser *parser, uint16_t start,
                   uint16_t min, uint16_t max)
{
    struct mf_pattern *pattern = parser->pattern;
    uint16_t end = pattern->step_count, size = (uint16_t)(end - start);
    uint16_t last = start, times = min > 0 ? min : 1;

    if (max == 0) {
        pattern->step_count = start;
        return;
    }
    for (uint16_t i = 1; i < times && !parser->failed; i++) {
        last = pattern->step_count;
        copy_steps(parser, start, end);
    }
    if (max == UNBOUNDED) {
        struct mf_pattern_step *step = mf_pattern_add(parser, SPLIT);

        step->other = step->next;
        step->next = last;
    }
    for (uint16_t i = times; i < max && max != UNBOUNDED && !parser->failed;
         i++) {
        uint32_t past = pattern->step_count + (max - i) * (size + 1u);

        mf_pattern_add(parser, SPLIT)->other = (uint16_t)past;
        copy_steps(parser, start, end);
    }
    if (min == 0)
        split_before(parser, start);
}

static bool parse_sequence(struct mf_pattern_parser *parser)
{
    while (*parser->at && *parser->at != '|' && *parser->at != ')') {
        uint16_t start = parser->pattern->step_count, min, max;

        if (!parse_atom(parser))
            return false;
        if (!*parser->at || !strchr("*+?{", *parser->at))
            continue;
        if (!parse_bounds(parser, &min, &max))
            return false;
        repeat(parser, start, min, max);
        if (*parser->at == '?') /* not greedy: no difference here */
            parser->at++;
    }
    return !parser->failed;
}

static bool parse_alternatives(struct mf_pattern_parser *parser)
{
    struct mf_pattern *pattern = parser->pattern;
    uint16_t start = pattern->step_count, jump;

    if (!parse_sequence(parser))
        return false;
    if (*parser->at != '|')
        return true;
    parser->at++;
    jump = pattern->step_count;
    mf_pattern_add(parser, JUMP);
    split_before(parser, start);
    if (parser->failed || !parse_alternatives(parser))
        return false;
    pattern->step[jump + 1].next = pattern->step_count;
    return true;
}

/* Room for the largest pattern that is allowed. */
struct room {
    struct mf_pattern_step step[MF_PATTERN_STEPS];
    uint8_t set[MF_PATTERN_SETS][256 / 8];
};

static enum mf_status compile(struct mf_pattern *pattern, struct room *room,
                              struct mf_env *env, const char *text)
{
    struct mf_pattern_parser parser = {
        .env = env, .pattern = pattern, .text = text, .at = text
    };

    *pattern = (struct mf_pattern){ .step = room->step, .set = room->set };
    if (parse_alternatives(&parser) && *parser.at == ')')
        mf_pattern_fail(&parser, "has an unmatched ')'");
    mf_pattern_add(&parser, MATCH);
    return parser.failed ? env->error.status : MF_OK;
}

enum mf_status mf_pattern_init(struct mf_pattern *pattern,
                               struct mf_arena *arena, const char *text)
{
    size_t steps, sets;
    struct room room;

    if (compile(pattern, &room, arena->env, text) != MF_OK)
        return arena->env->error.status;
    steps = pattern->step_count * sizeof(*pattern->step);
    sets = pattern->set_count * sizeof(*pattern->set);
    pattern->step = mf_arena_take(arena, steps);
    pattern->set = mf_arena_take(arena, sets + 1); /* there may be none */
    if (!pattern->step || !pattern->set)
        return arena->env->error.status;
    memcpy(pattern->step, room.step, steps);
    memcpy(pattern->set, room.set, sets);
    return MF_OK;
}

enum mf_status mf_pattern_check(struct mf_env *env, const char *pattern)
{
    MF_NEED(NULL, env);
    MF_NEED(env, pattern);

    struct mf_pattern made;
    struct room room;

    mf_clear_error(env);
    return compile(&made, &room, env, pattern);
}
