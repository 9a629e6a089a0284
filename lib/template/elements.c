/* SPDX-License-Identifier: MIT
 *
 * elements.c - brackets in expressions, and what is between them
 */
#include "lib/template/parse.h"

#define now          mf_template_now
#define is_op        mf_template_is_op
#define jinja2       mf_template_jinja2
#define pass         mf_template_pass
#define top          mf_expr_top
#define compose      mf_expr_compose
#define want         mf_expr_want
#define want_element mf_expr_want_element
#define have         mf_expr_have
#define fail         mf_expr_fail

void mf_expr_open(struct mf_template_state *state, enum bracket kind,
                  uint8_t after)
{
    struct mf_template_parser *parser = state->parser;

    if (parser->depth == MF_TEMPLATE_BRACKETS) {
        mf_template_fail(&parser->lexer, &now(parser)->place,
                         "brackets are nested more than %d deep",
                         MF_TEMPLATE_BRACKETS);
        parser->lexer.error->deep = true;
        state->done = true;
        return;
    }
    parser->bracket[parser->depth++] =
        (struct mf_template_bracket){ .kind = (uint8_t)kind, .after = after };
    if (kind != TOP)
        pass(parser);
    want_element(state);
}

static void close_bracket(struct mf_template_state *state)
{
    struct mf_template_bracket *in = top(state);

    /* An argument without a name comes before those with one. */
    if (in->kind == CALL && jinja2(state->parser) && !state->at_start &&
        !(in->given & SPECIAL) && (in->given & (NAMED | STARRED | MAPPED))) {
        fail(state, "an argument with a name");
        return;
    }
    state->ends_called = in->kind == CALL;
    have(state, in->after);
    state->plain = false;
    state->parser->depth--;
    pass(state->parser);
    state->done = state->parser->depth == state->base;
}

bool mf_expr_no_element(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;
    struct mf_template_bracket *in = top(state);
    bool closes = (in->kind == LIST && is_op(parser, ']')) ||
                  (in->kind == KEY && is_op(parser, '}')) ||
                  (in->kind == CALL && is_op(parser, ')')) ||
                  (in->kind == GROUP && is_op(parser, ')') && jinja2(parser)) ||
                  (in->kind == SUBSCRIPT && is_op(parser, ']') &&
                   !(in->given & AFTER_COMMA));

    if (closes) {
        close_bracket(state);
        return true;
    }
    if (in->kind == SUBSCRIPT && is_op(parser, ':') &&
        (!jinja2(parser) || in->colons++ < 2)) {
        in->given &= (uint8_t)~AFTER_COMMA;
        pass(parser);
        return true;
    }
    if (in->kind == SUBSCRIPT && is_op(parser, ',') && in->colons > 0) {
        in->colons = 0;
        in->given |= AFTER_COMMA;
        pass(parser);
        return true;
    }
    if (in->kind != CALL || (in->given & SPECIAL))
        return false;
    if (is_op(parser, '*') &&
        (!jinja2(parser) || !(in->given & (STARRED | MAPPED))))
        in->given |= STARRED | SPECIAL;
    else if (is_op(parser, MF_OP('*', '*')) && !(in->given & MAPPED))
        in->given |= MAPPED | SPECIAL;
    else
        return false;
    state->at_start = false;
    pass(parser);
    return true;
}

/* ---- between the elements of a bracket ---- */

static void at_top(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;
    enum mf_template_kind kind;

    if (!(state->flags & MF_EXPR_TUPLE) || !is_op(parser, ',')) {
        state->done = true;
        return;
    }
    compose(state);
    pass(parser);
    kind = now(parser)->kind;
    if (jinja2(parser) &&
        (kind == MF_LEX_CLOSE_BLOCK || kind == MF_LEX_CLOSE_PRINT)) {
        state->done = true;
        return;
    }
    top(state)->ternary = false;
    want(state, state->flags & MF_EXPR_PRIMARY ? PRIMARY : LOGIC, ANYTHING);
}

/* name=value: in llama.cpp any expression may be the name. */
static void assign(struct mf_template_state *state)
{
    struct mf_template_bracket *in = top(state);

    if (in->given & SPECIAL ||
        (jinja2(state->parser) && (!state->plain || (in->given & MAPPED)))) {
        fail(state, "',' or ')'");
        return;
    }
    in->given |= NAMED | SPECIAL;
    pass(state->parser);
    in->ternary = false;
    want(state, LOGIC, ANYTHING);
}

static void comma(struct mf_template_state *state)
{
    struct mf_template_bracket *in = top(state);
    bool positional = in->kind == CALL && !(in->given & SPECIAL);

    if (jinja2(state->parser) && positional &&
        (in->given & (NAMED | STARRED | MAPPED))) {
        fail(state, "an argument with a name");
        return;
    }
    in->given |= AFTER_COMMA;
    in->colons = 0;
    if (in->kind == VALUE)
        in->kind = KEY;
    pass(state->parser);
    want_element(state);
}

void mf_expr_next(struct mf_template_state *state)
{
    struct mf_template_parser *parser = state->parser;
    struct mf_template_bracket *in = top(state);
    uint16_t closer = in->kind == GROUP || in->kind == CALL ? ')'
                      : in->kind == VALUE                   ? '}'
                                                            : ']';

    if (in->kind == TOP) {
        at_top(state);
    } else if (in->kind == KEY) {
        in->kind = VALUE;
        in->ternary = false;
        if (!is_op(parser, ':'))
            fail(state, "':'");
        pass(parser);
        want(state, LOGIC, ANYTHING);
    } else if (is_op(parser, closer)) {
        close_bracket(state);
    } else if (in->kind == SUBSCRIPT && is_op(parser, ':') &&
               (!jinja2(parser) || in->colons++ < 2)) {
        in->given &= (uint8_t)~AFTER_COMMA;
        pass(parser);
        want_element(state);
    } else if (in->kind == CALL && is_op(parser, '=')) {
        assign(state);
    } else if (is_op(parser, ',') &&
               (in->kind != SUBSCRIPT || jinja2(parser))) {
        comma(state);
        if (in->kind == GROUP && !jinja2(parser))
            state->at_start = false;
    } else if (jinja2(parser) || in->kind == GROUP) {
        fail(state, closer == ')'   ? "',' or ')'"
                    : closer == ']' ? "',' or ']'"
                                    : "',' or '}'");
    } else {
        if (in->kind == VALUE)
            in->kind = KEY;
        want_element(state);
    }
}
