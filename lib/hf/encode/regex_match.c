/* SPDX-License-Identifier: MIT
 *
 * regex_match.c - where a regular expression matches a text
 *
 * A group that looks around or that is atomic leaves a mark on the stack where
 * it begins.  When it has matched, all that is above the mark goes: there is no
 * way back into it.  When the mark is reached by going back, the group has not
 * matched.  One that looks behind then begins one character earlier.
 */
#include "lib/hf/encode/regex.h"

#include <assert.h>

#define NO_MARK UINT32_MAX
#define MARK    0x80000000u /* in mf_regex_back.op */

struct match {
    struct mf_matcher *matcher;
    const struct mf_regex *regex;
    const struct mf_regex_text *text;
    struct mf_regex_back *stack;
    uint32_t top, open; /* open: the innermost mark */
    uint32_t op, at;
    bool full; /* the stack is */
};

static void push(struct match *match, uint32_t op, uint32_t at, uint32_t first)
{
    if (match->top == MF_REGEX_STACK) {
        match->full = true;
        return;
    }
    match->stack[match->top++] =
        (struct mf_regex_back){ op, at, match->open, first };
}

static uint32_t target(const struct match *match, uint32_t op)
{
    return (uint32_t)((int64_t)op + match->regex->op[op].value);
}

static bool word_at(const struct match *match, uint32_t at)
{
    return at < match->text->count && mf_char_is_word(match->text->row[at]);
}

static bool newline_at(const struct match *match, uint32_t at)
{
    return match->text->row[at] < MF_CHARS &&
           mf_chars[match->text->row[at]].code == '\n';
}

/* Whether an operation that takes no character holds here. */
static bool holds(const struct match *match, enum mf_regex_kind kind)
{
    uint32_t at = match->at, count = (uint32_t)match->text->count;
    bool edge = (at > 0 && word_at(match, at - 1)) != word_at(match, at);

    switch (kind) {
    case MF_OP_LINE_START:
        return at == 0 || (at < count && newline_at(match, at - 1));
    case MF_OP_LINE_END:
        return at == count || newline_at(match, at);
    case MF_OP_TEXT_START:
        return at == 0;
    case MF_OP_TEXT_END:
        return at == count;
    case MF_OP_TEXT_ALMOST_END:
        return at == count || (at + 1 == count && newline_at(match, at));
    case MF_OP_WORD_EDGE:
        return edge;
    default:
        return !edge;
    }
}

/* The END of the innermost group; false: go back. */
static bool end_group(struct match *match)
{
    struct mf_regex_back mark = match->stack[match->open];
    enum mf_regex_kind kind = match->regex->op[mark.op & ~MARK].kind;

    if ((kind == MF_OP_BEHIND || kind == MF_OP_NOT_BEHIND) &&
        match->at != mark.at)
        return false;
    match->top = match->open;
    match->open = mark.open;
    if (kind == MF_OP_NOT_AHEAD || kind == MF_OP_NOT_BEHIND)
        return false;
    if (kind != MF_OP_ATOMIC)
        match->at = mark.at;
    match->op++;
    return true;
}

/* Goes back to where there is another way; false: there is none. */
static bool go_back(struct match *match)
{
    while (match->top > 0) {
        struct mf_regex_back *back = &match->stack[match->top - 1];
        uint32_t op = back->op & ~MARK;
        enum mf_regex_kind kind = match->regex->op[op].kind;

        match->open = back->open;
        match->at = back->at;
        match->op = op;
        if (!(back->op & MARK)) {
            match->top--;
            return true;
        }
        if ((kind == MF_OP_BEHIND || kind == MF_OP_NOT_BEHIND) &&
            back->first > 0) {
            match->at = --back->first;
            match->open = match->top - 1;
            match->op++;
            return true;
        }
        match->top--;
        if (kind == MF_OP_NOT_AHEAD || kind == MF_OP_NOT_BEHIND) {
            match->op = target(match, op);
            return true;
        }
    }
    return false;
}

/* One operation; false: go back. */
static bool step(struct match *match)
{
    const struct mf_regex_op *op = &match->regex->op[match->op];
    uint16_t row = match->at < match->text->count ? match->text->row[match->at]
                                                  : MF_NO_CHAR;

    switch (op->kind) {
    case MF_OP_CHAR:
        match->at++;
        match->op++;
        return row == (uint16_t)op->value;
    case MF_OP_SET:
        match->at++;
        match->op++;
        return mf_char_in(&match->regex->set[op->value], row);
    case MF_OP_JUMP:
        match->op = target(match, match->op);
        return true;
    case MF_OP_SPLIT:
        push(match, target(match, match->op), match->at, 0);
        match->op++;
        return true;
    case MF_OP_LAZY:
        push(match, match->op + 1, match->at, 0);
        match->op = target(match, match->op);
        return true;
    case MF_OP_AHEAD:
    case MF_OP_NOT_AHEAD:
    case MF_OP_BEHIND:
    case MF_OP_NOT_BEHIND:
    case MF_OP_ATOMIC:
        push(match, match->op | MARK, match->at, match->at);
        match->open = match->top - 1;
        match->op++;
        return true;
    case MF_OP_END:
        return end_group(match);
    default:
        match->op++;
        return holds(match, op->kind);
    }
}

/* A match that begins at match->at; *found, and match->at is its end. */
static enum mf_status run(struct match *match, bool *found)
{
    struct mf_matcher *matcher = match->matcher;

    match->top = 0;
    match->open = NO_MARK;
    match->op = 0;
    *found = true;
    while (match->regex->op[match->op].kind != MF_OP_MATCH) {
        if (matcher->steps++ == MF_REGEX_STEPS || match->full)
            return mf_fail(matcher->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                           "a regular expression takes too long");
        if (!step(match) && !go_back(match)) {
            *found = false;
            return MF_OK;
        }
    }
    return MF_OK;
}

enum mf_status mf_regex_find(struct mf_matcher *matcher,
                             const struct mf_regex *regex,
                             const struct mf_regex_text *text, size_t from,
                             size_t *start, size_t *end, bool *found)
{
    struct match match = { .matcher = matcher,
                           .regex = regex,
                           .text = text,
                           .stack = matcher->stack };

    assert(from <= text->count && text->count < UINT32_MAX);
    *found = false;
    for (; from <= text->count && !*found; from++) {
        match.at = (uint32_t)from;
        if (run(&match, found) != MF_OK)
            return matcher->env->error.status;
        *start = from;
        *end = match.at;
    }
    return MF_OK;
}
