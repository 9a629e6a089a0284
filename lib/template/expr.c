/* SPDX-License-Identifier: MIT
 *
 * expr.c - expressions of a template
 *
 * A loop with two states: an operand is due, or what may follow one.  Open
 * brackets are a stack.
 *
 * Where the readers differ (llama.cpp v0.5.0, jinja2 3.1):
 * - llama.cpp needs no commas in lists, arguments and objects, and takes none
 *   before the end of a tuple;
 * - after a filter jinja2 takes calls, llama.cpp also members of the result of
 *   a call; after a test jinja2 takes filters, and an argument without
 *   parentheses;
 * - llama.cpp takes any operand for the name of a member, a filter or a test;
 * - "a if b if c" is for jinja2 only, as are // and **.
 */
#include "lib/template/parse.h"

#define now          mf_template_now
#define is           mf_template_is
#define is_op        mf_template_is_op
#define jinja2       mf_template_jinja2
#define pass         mf_template_pass
#define unexpected   mf_template_unexpected
#define top          mf_expr_top
#define compose      mf_expr_compose
#define want         mf_expr_want
#define have         mf_expr_have
#define fail         mf_expr_fail
#define open_bracket mf_expr_open

/* ---- operands ---- */

static void primary(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;
    bool starts = state->at_start;

    if (is_op(parser, '(')) {
        open_bracket(state, GROUP, state->grant);
    } else if (is_op(parser, '[')) {
        open_bracket(state, LIST, state->grant);
    } else if (is_op(parser, '{')) {
        open_bracket(state, KEY, state->grant);
    } else if (now(parser)->kind == MF_LEX_STRING) {
        while (now(parser)->kind == MF_LEX_STRING)
            pass(parser);
        have(state, state->grant);
    } else if (now(parser)->kind == MF_LEX_NAME ||
               now(parser)->kind == MF_LEX_NUMBER) {
        state->plain = starts && now(parser)->kind == MF_LEX_NAME;
        pass(parser);
        have(state, state->grant);
    } else {
        fail(state, "an expression");
    }
}

static void operand(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;

    if (state->at_start && mf_expr_no_element(state))
        return;
    if (state->due == LOGIC && is(parser, "not")) {
        state->at_start = false;
        compose(state);
        pass(parser);
    } else if (state->due != PRIMARY &&
               (now(parser)->kind == MF_LEX_SIGN ||
                (jinja2(parser) &&
                 (is_op(parser, '-') || is_op(parser, '+'))))) {
        state->at_start = false;
        compose(state);
        state->due = MATH;
        pass(parser);
    } else {
        primary(state);
    }
}

/* ---- after an operand ---- */

static bool name(struct mf_template_state *state, const char *what)
{
    if (now(state->parser)->kind != MF_LEX_NAME) {
        fail(state, what);
        return false;
    }
    pass(state->parser);
    return true;
}

static bool dotted_name(struct mf_template_state *state, const char *what)
{
    if (!name(state, what))
        return false;
    while (is_op(state->parser, '.')) {
        pass(state->parser);
        if (!name(state, what))
            return false;
    }
    return true;
}

static void member(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;

    state->ends_called = false;
    pass(parser);
    if (!jinja2(parser))
        want(state, PRIMARY, state->after);
    else if (now(parser)->kind == MF_LEX_NUMBER && now(parser)->is_integer)
        pass(parser);
    else
        name(state, "the name of a member");
}

static void filter(struct mf_template_state *state)
{
    compose(state);
    pass(state->parser);
    if (!jinja2(state->parser))
        want(state, PRIMARY, CALLED | FILTERED | TESTED);
    else if (dotted_name(state, "the name of a filter"))
        have(state, CALLED | FILTERED | TESTED);
}

/* An argument may follow the name of a test without parentheses. */
static bool begins_argument(const struct mf_template_parser *parser)
{
    enum mf_template_kind kind = now(parser)->kind;

    if (kind == MF_LEX_NAME)
        return !is(parser, "else") && !is(parser, "or") && !is(parser, "and");
    return kind == MF_LEX_STRING || kind == MF_LEX_NUMBER ||
           is_op(parser, '[') || is_op(parser, '{');
}

static void test(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;

    compose(state);
    pass(parser);
    if (is(parser, "not"))
        pass(parser);
    if (!jinja2(parser)) {
        want(state, PRIMARY, CALLED | TESTED);
        return;
    }
    if (!dotted_name(state, "the name of a test"))
        return;
    have(state, CALLED | FILTERED | TESTED);
    if (!begins_argument(parser))
        return;
    if (is(parser, "is"))
        fail(state, "one test at a time");
    else
        want(state, PRIMARY, ANYTHING);
}

/* Members and calls, filters and tests.  False if none follows. */
static bool suffix(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;
    uint8_t after = state->after;

    if ((after & MEMBER) && is_op(parser, '.'))
        member(state);
    else if ((after & MEMBER) && is_op(parser, '['))
        open_bracket(state, SUBSCRIPT, after);
    else if ((after & CALLED) && is_op(parser, '('))
        open_bracket(state, CALL,
                     jinja2(parser) ? after : (uint8_t)(after | MEMBER));
    else if ((after & FILTERED) && is_op(parser, '|'))
        filter(state);
    else if ((after & TESTED) && is(parser, "is"))
        test(state);
    else
        return false;
    state->plain = false;
    return true;
}

static bool is_math(const struct mf_template_parser *parser)
{
    static const uint16_t both[] = { '+',
                                     '-',
                                     '~',
                                     '*',
                                     '/',
                                     '%',
                                     '<',
                                     '>',
                                     MF_OP('<', '='),
                                     MF_OP('>', '='),
                                     MF_OP('=', '='),
                                     MF_OP('!', '=') };

    for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++)
        if (is_op(parser, both[i]))
            return true;
    return is_op(parser, MF_OP('/', '/')) || is_op(parser, MF_OP('*', '*'));
}

/* "a if b else c"; the condition may come last, as in a loop. */
static bool ternary(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;
    struct mf_template_bracket *in = top(state);

    if (is(parser, "if")) {
        if ((in->ternary && !jinja2(parser)) ||
            (in->kind == TOP && jinja2(parser) &&
             (state->flags & MF_EXPR_NO_IF)))
            return false;
        in->ternary = true;
    } else if (is(parser, "else") && in->ternary) {
        in->ternary = false;
    } else {
        return false;
    }
    pass(parser);
    want(state, LOGIC, ANYTHING);
    return true;
}

static bool operator(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;

    if (is(parser, "and") || is(parser, "or")) {
        pass(parser);
        want(state, LOGIC, ANYTHING);
    } else if (is(parser, "not")) {
        pass(parser);
        if (is(parser, "in"))
            pass(parser);
        else
            fail(state, "'in'");
        want(state, MATH, ANYTHING);
    } else if (is_math(parser) || is(parser, "in")) {
        pass(parser);
        want(state, MATH, ANYTHING);
    } else if (!ternary(state)) {
        return false;
    }
    compose(state);
    return true;
}

/* ---- the whole ---- */

static bool run(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;

    while (!state->done) {
        bool bare = top(state)->kind == TOP && (state->flags & MF_EXPR_PRIMARY);

        if (now(parser)->kind == MF_LEX_FAILED)
            state->done = true;
        else if (state->is_due)
            operand(state);
        else if (bare || (!suffix(state) && !operator(state)))
            mf_expr_next(state);
    }
    parser->depth = state->base;
    return now(parser)->kind != MF_LEX_FAILED;
}

bool mf_template_expression(struct mf_template_parser *parser, unsigned flags)
{
    struct mf_template_state state = { .parser = parser,
                                       .base = parser->depth,
                                       .flags = flags };
    bool good;

    open_bracket(&state, TOP, 0);
    state.at_start = false;
    if (flags & MF_EXPR_PRIMARY)
        state.due = PRIMARY;
    good = run(&state);
    parser->was_call = state.ends_called && !state.composed;
    return good;
}

bool mf_template_arguments(struct mf_template_parser *parser)
{
    struct mf_template_state state = { .parser = parser,
                                       .base = parser->depth };

    if (!is_op(parser, '('))
        return unexpected(parser, "'('");
    open_bracket(&state, CALL, 0);
    return run(&state);
}
