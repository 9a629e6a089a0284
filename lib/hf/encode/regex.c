/* SPDX-License-Identifier: MIT
 *
 * regex.c - a regular expression as a list of operations
 *
 * Groups are a list of MF_REGEX_DEPTH at most.  Where a group, an alternative
 * or what is repeated turns out to need an operation before it, what follows
 * moves on by one: jumps within it are relative, and those from before it lead
 * to the new operation, as they must.
 */
#include "lib/hf/encode/regex.h"

static enum mf_status failed(const struct mf_making *making)
{
    return making->input.env->error.status;
}

static struct mf_regex_group *top(struct mf_making *making)
{
    return &making->group[making->depth];
}

char mf_making_peek(const struct mf_making *making)
{
    const struct mf_regex_input *input = &making->input;

    return input->at < input->pattern.size ? input->pattern.at[input->at] : 0;
}

bool mf_making_take(struct mf_making *making, const char *text)
{
    struct mf_regex_input *input = &making->input;
    size_t size = strlen(text);

    if (input->pattern.size - input->at < size ||
        memcmp(input->pattern.at + input->at, text, size) != 0)
        return false;
    input->at += size;
    return true;
}

/* ---- operations ---- */

/* Room for count operations at a place. */
enum mf_status mf_making_insert(struct mf_making *making, uint32_t at,
                                uint32_t count)
{
    struct mf_regex *regex = making->regex;

    if (MF_REGEX_OPS - regex->count <= count)
        return mf_regex_refuse(&making->input, "too long");
    memmove(regex->op + at + count, regex->op + at,
            (regex->count - at) * sizeof(*regex->op));
    regex->count += count;
    return MF_OK;
}

enum mf_status mf_making_put(struct mf_making *making, uint32_t at,
                             enum mf_regex_kind kind, int32_t value)
{
    if (mf_making_insert(making, at, 1) != MF_OK)
        return failed(making);
    making->regex->op[at] = (struct mf_regex_op){ kind, value };
    return MF_OK;
}

enum mf_status mf_making_append(struct mf_making *making,
                                enum mf_regex_kind kind, int32_t value)
{
    return mf_making_put(making, (uint32_t)making->regex->count, kind, value);
}

/* An operation that takes one character. */
static enum mf_status append_atom(struct mf_making *making,
                                  enum mf_regex_kind kind, int32_t value)
{
    making->atom = (uint32_t)making->regex->count;
    making->atom_size = 1;
    return mf_making_append(making, kind, value);
}

static enum mf_status append_set(struct mf_making *making,
                                 const struct mf_char_set *set)
{
    struct mf_regex *regex = making->regex;

    if (regex->set_count == MF_REGEX_SETS)
        return mf_regex_refuse(&making->input, "too many classes");
    regex->set[regex->set_count] = *set;
    return append_atom(making, MF_OP_SET, (int32_t)regex->set_count++);
}

/* A character as it is; one that no text can have is an empty set. */
static enum mf_status append_char(struct mf_making *making, uint32_t code)
{
    struct mf_char_set set = { { 0 } };
    uint16_t row = mf_char_find(code);

    mf_char_add(&set, row);
    if (making->input.fold)
        mf_char_fold(&set);
    else if (row != MF_NO_CHAR)
        return append_atom(making, MF_OP_CHAR, row);
    return append_set(making, &set);
}

/* What came before was taken, and is part of the alternative for good. */
static void count_atom(struct mf_making *making)
{
    if (making->atom != MF_REGEX_NOTHING)
        top(making)->size += making->atom_size;
    making->atom = MF_REGEX_NOTHING;
}

/* ---- groups ---- */

static enum mf_status open_group(struct mf_making *making,
                                 enum mf_regex_kind kind, bool fold,
                                 bool dot_all)
{
    uint32_t at = (uint32_t)making->regex->count;

    if (making->depth + 1 == MF_REGEX_DEPTH)
        return mf_regex_refuse(&making->input, "too many open groups");
    making->depth++;
    *top(making) = (struct mf_regex_group){ .kind = kind,
                                            .start = at,
                                            .alternative = at,
                                            .jumps = MF_REGEX_NOTHING,
                                            .least = MF_REGEX_NOTHING,
                                            .fold = making->input.fold,
                                            .dot_all = making->dot_all };
    making->input.fold = fold;
    making->dot_all = dot_all;
    making->atom = MF_REGEX_NOTHING;
    return MF_OK;
}

/* Characters that the group takes at least. */
static uint32_t group_size(const struct mf_regex_group *group)
{
    return group->least < group->size ? group->least : group->size;
}

/* '|': the alternative before it gets a SPLIT to what follows, and a jump to
 * the end of the group. */
static enum mf_status end_alternative(struct mf_making *making)
{
    struct mf_regex_group *group = top(making);
    uint32_t size = (uint32_t)making->regex->count - group->alternative;

    count_atom(making);
    if (mf_making_put(making, group->alternative, MF_OP_SPLIT,
                      (int32_t)size + 2) != MF_OK ||
        mf_making_append(making, MF_OP_JUMP, (int32_t)group->jumps) != MF_OK)
        return failed(making);
    group->jumps = (uint32_t)making->regex->count - 1;
    group->alternative = (uint32_t)making->regex->count;
    group->least = group_size(group);
    group->size = 0;
    return MF_OK;
}

/* The jumps to the end of the group get their places. */
static void end_jumps(struct mf_making *making,
                      const struct mf_regex_group *group)
{
    struct mf_regex *regex = making->regex;
    uint32_t at = group->jumps;

    while (at != MF_REGEX_NOTHING) {
        uint32_t before = (uint32_t)regex->op[at].value;

        regex->op[at].value = (int32_t)(regex->count - at);
        at = before;
    }
}

static enum mf_status close_group(struct mf_making *making)
{
    struct mf_regex_group group;

    count_atom(making);
    group = *top(making);
    if (making->depth == 0)
        return mf_regex_refuse(&making->input, "unexpected ')'");
    end_jumps(making, &group);
    making->depth--;
    making->input.fold = group.fold;
    making->dot_all = group.dot_all;
    making->atom = group.start;
    making->atom_size = group_size(&group);
    if (group.kind == MF_OP_MATCH)
        return MF_OK;
    if (group.kind != MF_OP_ATOMIC)
        making->atom_size = 0;
    if (mf_making_put(making, group.start, group.kind,
                      (int32_t)(making->regex->count - group.start) + 2) !=
        MF_OK)
        return failed(making);
    return mf_making_append(making, MF_OP_END, 0);
}

/* (?i), (?i:, (?-i: and so on, after "(?". */
static enum mf_status take_options(struct mf_making *making)
{
    bool fold = making->input.fold, dot_all = making->dot_all, on = true;

    for (;;) {
        char byte = mf_making_peek(making);

        making->input.at += byte != 0;
        switch (byte) {
        case '-':
            on = false;
            break;
        case 'i':
            fold = on;
            break;
        case 'm':
            dot_all = on;
            break;
        case ':':
            return open_group(making, MF_OP_MATCH, fold, dot_all);
        case ')': /* for the rest of the group that it is in */
            count_atom(making);
            making->input.fold = fold;
            making->dot_all = dot_all;
            return MF_OK;
        default:
            return mf_regex_refuse(&making->input, "unsupported group");
        }
    }
}

/* After '('. */
static enum mf_status take_group(struct mf_making *making)
{
    static const struct {
        const char *text;
        enum mf_regex_kind kind;
    } kinds[] = {
        { "?:", MF_OP_MATCH },       { "?=", MF_OP_AHEAD },
        { "?!", MF_OP_NOT_AHEAD },   { "?<=", MF_OP_BEHIND },
        { "?<!", MF_OP_NOT_BEHIND }, { "?>", MF_OP_ATOMIC },
    };
    bool fold = making->input.fold, dot_all = making->dot_all;

    count_atom(making);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (mf_making_take(making, kinds[i].text))
            return open_group(making, kinds[i].kind, fold, dot_all);
    return mf_making_take(making, "?")
               ? take_options(making)
               : open_group(making, MF_OP_MATCH, fold, dot_all);
}

/* ---- atoms ---- */

static enum mf_status take_dot(struct mf_making *making)
{
    struct mf_char_set set = { { 0 } };

    if (!making->dot_all)
        mf_char_add_range(&set, '\n', '\n');
    mf_char_invert(&set);
    return append_set(making, &set);
}

/* An assertion takes no character, and is not repeated by what follows. */
static enum mf_status append_edge(struct mf_making *making,
                                  enum mf_regex_kind kind)
{
    making->atom = (uint32_t)making->regex->count;
    making->atom_size = 0;
    return mf_making_append(making, kind, 0);
}

/* After a backslash. */
static enum mf_status take_escape(struct mf_making *making)
{
    static const char letters[] = "AzZbB";
    static const enum mf_regex_kind kinds[] = {
        MF_OP_TEXT_START, MF_OP_TEXT_END, MF_OP_TEXT_ALMOST_END,
        MF_OP_WORD_EDGE, MF_OP_WORD_INSIDE
    };
    const char *edge =
        mf_making_peek(making) ? strchr(letters, mf_making_peek(making)) : NULL;
    struct mf_char_set set;
    uint32_t code;
    bool is_set;

    if (edge) {
        making->input.at++;
        return append_edge(making, kinds[edge - letters]);
    }
    if (mf_regex_escape(&making->input, &is_set, &code, &set) != MF_OK)
        return failed(making);
    return is_set ? append_set(making, &set) : append_char(making, code);
}

static enum mf_status take_atom(struct mf_making *making)
{
    struct mf_char_set set;
    uint32_t code = mf_regex_take(&making->input);

    switch (code) {
    case '(':
        return take_group(making);
    case ')':
        return close_group(making);
    case '|':
        return end_alternative(making);
    default:
        break;
    }
    count_atom(making);
    switch (code) {
    case '[':
        if (mf_regex_class(&making->input, &set) != MF_OK)
            return failed(making);
        return append_set(making, &set);
    case '.':
        return take_dot(making);
    case '^':
        return append_edge(making, MF_OP_LINE_START);
    case '$':
        return append_edge(making, MF_OP_LINE_END);
    case '\\':
        return take_escape(making);
    default:
        return append_char(making, code);
    }
}

static enum mf_status make(struct mf_making *making)
{
    struct mf_regex_input *input = &making->input;
    bool taken;

    while (input->at < input->pattern.size) {
        if (mf_making_repeat(making, &taken) != MF_OK ||
            (!taken && take_atom(making) != MF_OK))
            return failed(making);
    }
    if (making->depth > 0)
        return mf_regex_refuse(input, "expected ')'");
    end_jumps(making, top(making));
    return mf_making_append(making, MF_OP_MATCH, 0);
}

struct mf_regex *mf_regex_make(struct mf_env *env, struct mf_arena *arena,
                               struct mf_str pattern)
{
    struct mf_regex *regex = mf_arena_take(arena, sizeof(*regex));
    struct mf_making making = { .input = { .env = env, .pattern = pattern },
                                .regex = regex,
                                .atom = MF_REGEX_NOTHING };
    struct mf_regex_op *op;
    struct mf_char_set *set;

    if (!regex)
        return NULL;
    *regex = (struct mf_regex){ .count = 0 };
    making.group[0] = (struct mf_regex_group){ .jumps = MF_REGEX_NOTHING,
                                               .least = MF_REGEX_NOTHING };
    op = mf_alloc(env, MF_REGEX_OPS * sizeof(*op));
    set = mf_alloc(env, MF_REGEX_SETS * sizeof(*set));
    regex->op = op;
    regex->set = set;
    if (!op || !set || make(&making) != MF_OK) {
        regex = NULL;
    } else {
        regex->op = mf_arena_take(arena, regex->count * sizeof(*op));
        regex->set =
            mf_arena_take(arena, (regex->set_count + 1) * sizeof(*set));
        if (regex->op && regex->set) {
            memcpy(regex->op, op, regex->count * sizeof(*op));
            memcpy(regex->set, set, regex->set_count * sizeof(*set));
        } else {
            regex = NULL;
        }
    }
    mf_release(env, op, MF_REGEX_OPS * sizeof(*op));
    mf_release(env, set, MF_REGEX_SETS * sizeof(*set));
    return regex;
}
