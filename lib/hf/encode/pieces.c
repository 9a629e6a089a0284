/* SPDX-License-Identifier: MIT
 *
 * pieces.c - a text, cut into pieces by one step after the other
 */
#include "lib/hf/encode/pieces.h"

#include "lib/base/str.h"

enum mf_status mf_pieces_init(struct mf_pieces *pieces, struct mf_env *env,
                              struct mf_arena *arena)
{
    *pieces = (struct mf_pieces){ .env = env, .arena = arena };
    pieces->at = mf_alloc(env, MF_TEXT_PIECE_MAX * sizeof(*pieces->at));
    pieces->made = mf_alloc(env, MF_TEXT_PIECE_MAX * sizeof(*pieces->made));
    pieces->match = mf_alloc(env, MF_TEXT_PIECE_MAX * sizeof(*pieces->match));
    pieces->row = mf_alloc(env, MF_TEXT_MAX * sizeof(*pieces->row));
    pieces->offset = mf_alloc(env, (MF_TEXT_MAX + 1) * sizeof(*pieces->offset));
    pieces->matcher.env = env;
    pieces->matcher.stack =
        mf_alloc(env, MF_REGEX_STACK * sizeof(*pieces->matcher.stack));
    return env->error.status;
}

void mf_pieces_release(struct mf_pieces *pieces)
{
    struct mf_env *env = pieces->env;

    mf_release(env, pieces->at, MF_TEXT_PIECE_MAX * sizeof(*pieces->at));
    mf_release(env, pieces->made, MF_TEXT_PIECE_MAX * sizeof(*pieces->made));
    mf_release(env, pieces->match, MF_TEXT_PIECE_MAX * sizeof(*pieces->match));
    mf_release(env, pieces->row, MF_TEXT_MAX * sizeof(*pieces->row));
    mf_release(env, pieces->offset,
               (MF_TEXT_MAX + 1) * sizeof(*pieces->offset));
    mf_release(env, pieces->matcher.stack,
               MF_REGEX_STACK * sizeof(*pieces->matcher.stack));
}

enum mf_status mf_pieces_add(struct mf_pieces *pieces,
                             const struct mf_text_piece *piece)
{
    if (piece->size == 0 && !piece->added)
        return MF_OK;
    if (pieces->made_count == MF_TEXT_PIECE_MAX)
        return mf_fail(pieces->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the text is cut into more than %d pieces",
                       MF_TEXT_PIECE_MAX);
    pieces->made[pieces->made_count++] = *piece;
    return MF_OK;
}

void mf_pieces_turn(struct mf_pieces *pieces)
{
    struct mf_text_piece *made = pieces->made;

    pieces->made = pieces->at;
    pieces->at = made;
    pieces->count = pieces->made_count;
    pieces->made_count = 0;
}

enum mf_status mf_pieces_chars(struct mf_pieces *pieces, struct mf_str text)
{
    size_t count = 0, taken;

    if (text.size > MF_TEXT_MAX)
        return mf_fail(pieces->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the text has more than %d bytes", MF_TEXT_MAX);
    for (size_t at = 0; at < text.size; at += taken) {
        pieces->offset[count] = (uint32_t)at;
        pieces->row[count] = mf_char_next(text.at + at, text.size - at, &taken);
        if (pieces->row[count++] == MF_NO_CHAR)
            return mf_fail(pieces->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "'%s' has an unknown character",
                           mf_quote(text).text);
    }
    pieces->offset[count] = (uint32_t)text.size;
    pieces->char_count = count;
    return MF_OK;
}

/* ---- matches ---- */

void mf_match_begin(struct mf_pieces *pieces)
{
    pieces->match_count = 0;
}

static enum mf_status add(struct mf_pieces *pieces, size_t start, size_t end,
                          bool match)
{
    if (pieces->match_count == MF_TEXT_PIECE_MAX)
        return mf_fail(pieces->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "a pattern matches more than %d times",
                       MF_TEXT_PIECE_MAX / 2);
    pieces->match[pieces->match_count++] =
        (struct mf_match){ (uint32_t)start, (uint32_t)end, match };
    return MF_OK;
}

enum mf_status mf_match_end(struct mf_pieces *pieces, size_t size)
{
    size_t last =
        pieces->match_count ? pieces->match[pieces->match_count - 1].end : 0;

    return last < size || size == 0 ? add(pieces, last, size, false) : MF_OK;
}

enum mf_status mf_match_add(struct mf_pieces *pieces, size_t start, size_t end)
{
    size_t last =
        pieces->match_count ? pieces->match[pieces->match_count - 1].end : 0;

    if (last < start && add(pieces, last, start, false) != MF_OK)
        return pieces->env->error.status;
    return add(pieces, start, end, true);
}

static enum mf_status match_regex(struct mf_pieces *pieces, struct mf_str text,
                                  const struct mf_regex *regex)
{
    struct mf_regex_text chars = { .row = pieces->row };
    size_t from = 0, start, end, last = SIZE_MAX;
    bool found;

    if (mf_pieces_chars(pieces, text) != MF_OK)
        return pieces->env->error.status;
    chars.count = pieces->char_count;
    while (from <= chars.count && text.size > 0) {
        if (mf_regex_find(&pieces->matcher, regex, &chars, from, &start, &end,
                          &found) != MF_OK)
            return pieces->env->error.status;
        if (!found)
            break;
        if (start == end && end == last) {
            from++; /* an empty match right after another does not count */
            continue;
        }
        if (mf_match_add(pieces, pieces->offset[start], pieces->offset[end]) !=
            MF_OK)
            return pieces->env->error.status;
        from = last = end;
    }
    return mf_match_end(pieces, text.size);
}

enum mf_status mf_match_all(struct mf_pieces *pieces, struct mf_str text,
                            const struct mf_regex *regex, struct mf_str plain)
{
    size_t at = 0;

    mf_match_begin(pieces);
    if (regex)
        return match_regex(pieces, text, regex);
    while (plain.size > 0 && text.size - at >= plain.size) {
        if (memcmp(text.at + at, plain.at, plain.size) != 0) {
            at++;
            continue;
        }
        if (mf_match_add(pieces, at, at + plain.size) != MF_OK)
            return pieces->env->error.status;
        at += plain.size;
    }
    return mf_match_end(pieces, text.size);
}

enum mf_status mf_match_chars(struct mf_pieces *pieces, struct mf_str text,
                              bool (*fits)(uint16_t row))
{
    mf_match_begin(pieces);
    if (mf_pieces_chars(pieces, text) != MF_OK)
        return pieces->env->error.status;
    for (size_t i = 0; i < pieces->char_count; i++)
        if (fits(pieces->row[i]) &&
            mf_match_add(pieces, pieces->offset[i], pieces->offset[i + 1]) !=
                MF_OK)
            return pieces->env->error.status;
    return mf_match_end(pieces, text.size);
}

/* ---- cutting ---- */

/* Joins neighbours in the list of matches, in place, from its first on or, for
 * those that go to the next, from its last. */
static void join(struct mf_pieces *pieces, enum mf_behavior behavior)
{
    struct mf_match *match = pieces->match;
    size_t count = pieces->match_count, kept = 0;
    bool backward = behavior == MF_BEHAVIOR_MERGED_WITH_NEXT, before = false;

    for (size_t i = 0; i < count; i++) {
        struct mf_match *next = &match[backward ? count - 1 - i : i];
        bool is_match = next->match;
        bool joins = behavior == MF_BEHAVIOR_CONTIGUOUS ? is_match == before
                                                        : is_match && !before;

        before = is_match;
        if (joins && kept > 0) {
            if (backward)
                match[count - kept].start = next->start;
            else
                match[kept - 1].end = next->end;
            continue;
        }
        match[backward ? count - 1 - kept : kept] = *next;
        kept++;
    }
    if (backward)
        memmove(match, match + count - kept, kept * sizeof(*match));
    pieces->match_count = kept;
}

enum mf_status mf_pieces_cut(struct mf_pieces *pieces,
                             const struct mf_text_piece *piece,
                             enum mf_behavior behavior)
{
    if (behavior != MF_BEHAVIOR_REMOVED && behavior != MF_BEHAVIOR_ISOLATED)
        join(pieces, behavior);
    for (size_t i = 0; i < pieces->match_count; i++) {
        const struct mf_match *match = &pieces->match[i];
        struct mf_text_piece part = { .at = piece->at + match->start,
                                      .size = match->end - match->start,
                                      .first =
                                          piece->first && match->start == 0 };

        if ((behavior != MF_BEHAVIOR_REMOVED || !match->match) &&
            mf_pieces_add(pieces, &part) != MF_OK)
            return pieces->env->error.status;
    }
    return MF_OK;
}

/* ---- steps ---- */

enum mf_status mf_step_refuse(struct mf_env *env, const struct mf_node *step,
                              const char *key)
{
    const struct mf_node *value = mf_node_at(step, key);
    struct mf_str type = mf_node_text(step, "type");

    return mf_fail(
        env, MF_ERR_UNSUPPORTED, value ? value->offset : step->offset,
        "%s '%s' of '%s' is not supported", value ? "the value of" : "missing",
        key, type.at ? mf_quote(type).text : "?");
}

enum mf_status mf_step_flag(struct mf_env *env, const struct mf_node *step,
                            const char *key, bool otherwise, bool *out)
{
    const struct mf_node *node = mf_node_at(step, key);

    *out = node ? node->kind == MF_NODE_TRUE : otherwise;
    return !node || node->kind == MF_NODE_TRUE || node->kind == MF_NODE_FALSE
               ? MF_OK
               : mf_step_refuse(env, step, key);
}

enum mf_status mf_step_text(struct mf_env *env, const struct mf_node *step,
                            const char *key, struct mf_str *out)
{
    *out = mf_node_text(step, key);
    return out->at ? MF_OK : mf_step_refuse(env, step, key);
}

/* A Split or Replace has a pattern, an expression or a plain text. */
static enum mf_status make_pattern(struct mf_env *env, struct mf_arena *arena,
                                   struct mf_steps *steps, size_t i)
{
    const struct mf_node *step = steps->node[i];
    struct mf_str regex = mf_node_text(step, "pattern.Regex");

    if (!mf_node_at(step, "pattern"))
        return MF_OK;
    steps->plain[i] = mf_node_text(step, "pattern.String");
    if (regex.at) {
        steps->regex[i] = mf_regex_make(env, arena, regex);
        return env->error.status;
    }
    return steps->plain[i].at ? MF_OK : mf_step_refuse(env, step, "pattern");
}

enum mf_status mf_steps_make(struct mf_env *env, struct mf_arena *arena,
                             const struct mf_node *root, const char *list,
                             struct mf_steps *steps)
{
    const struct mf_node *open[MF_STEP_MAX] = { root };
    size_t depth = 1;

    *steps = (struct mf_steps){ .count = 0 };
    while (root && root->kind != MF_NODE_NULL && depth > 0) {
        const struct mf_node *step = open[depth - 1];

        if (step->kind != MF_NODE_OBJECT)
            return mf_step_refuse(env, step, "type");
        open[depth - 1] = step == root ? NULL : step->next;
        depth -= !open[depth - 1];
        if (mf_str_is(mf_node_text(step, "type"), "Sequence")) {
            const struct mf_node *steps_in = mf_node_at(step, list);

            if (!steps_in || steps_in->kind != MF_NODE_ARRAY)
                return mf_step_refuse(env, step, list);
            if (steps_in->first && depth == MF_STEP_MAX)
                return mf_step_refuse(env, step, list);
            if (steps_in->first)
                open[depth++] = steps_in->first;
            continue;
        }
        if (steps->count == MF_STEP_MAX)
            return mf_fail(env, MF_ERR_LIMIT, step->offset,
                           "more than %d steps", MF_STEP_MAX);
        steps->node[steps->count] = step;
        if (make_pattern(env, arena, steps, steps->count++) != MF_OK)
            return env->error.status;
    }
    return MF_OK;
}
