/* SPDX-License-Identifier: MIT
 *
 * pattern_find.c - searching a name for a match
 *
 * All ways through the steps are followed at once, one byte of the name at a
 * time.  Two ways that reach the same step have the same future, so a step is
 * entered once for each byte (`seen`): that is what bounds the time.  A match
 * may begin anywhere, so the first step is entered again at each byte.
 */
#include "lib/quantize/pattern_parse.h"

/* The steps that could match the next byte of the name. */
struct front {
    uint16_t step[MF_PATTERN_STEPS];
    uint16_t count;
};

struct search {
    const struct mf_pattern *pattern;
    struct mf_str name;
    size_t at;
    bool seen[MF_PATTERN_STEPS]; /* entered at this byte of the name */
};

static bool is_word(const struct search *search, size_t at)
{
    return at < search->name.size &&
           mf_pattern_in_class("w", (uint8_t)search->name.at[at]);
}

/* Whether a step that matches no byte lets a way continue here. */
static bool passes(const struct search *search, enum mf_pattern_op op)
{
    size_t at = search->at;
    bool before = at > 0 && is_word(search, at - 1);

    switch (op) {
    case BEGIN:
        return at == 0;
    case END:
        return at == search->name.size;
    case WORD:
        return before != is_word(search, at);
    case NOT_WORD:
        return before == is_word(search, at);
    default:
        return true;
    }
}

/* Steps that were entered and not followed yet. */
struct pending_steps {
    uint16_t step[MF_PATTERN_STEPS];
    uint16_t count;
};

static void enter(struct search *search, struct pending_steps *pending,
                  uint16_t number)
{
    if (!search->seen[number])
        pending->step[pending->count++] = number;
    search->seen[number] = true;
}

/* Follows a step as far as no byte is needed; steps that match a byte go into
 * the front.  True where the end is reached. */
static bool follow(struct search *search, struct front *front, uint16_t first)
{
    struct pending_steps pending;

    pending.count = 0;
    enter(search, &pending, first);
    while (pending.count > 0) {
        uint16_t number = pending.step[--pending.count];
        const struct mf_pattern_step *step = &search->pattern->step[number];

        if (step->op == MATCH)
            return true;
        if (step->op == BYTE || step->op == SET) {
            front->step[front->count++] = number;
            continue;
        }
        if (!passes(search, (enum mf_pattern_op)step->op))
            continue;
        enter(search, &pending, step->next);
        if (step->op == SPLIT)
            enter(search, &pending, step->other);
    }
    return false;
}

static bool step_matches(const struct mf_pattern *pattern,
                         const struct mf_pattern_step *step, uint8_t byte)
{
    if (step->op == BYTE)
        return step->byte == byte;
    return pattern->set[step->byte][byte / 8] >> byte % 8 & 1;
}

/* To the next byte that the pattern can begin with; false where there is none.
 * Most patterns begin with a letter, and most names lack it. */
static bool skip(struct search *search)
{
    const struct mf_pattern_step *first = search->pattern->step;
    size_t left = search->name.size - search->at;
    const char *from = search->name.at + search->at, *found;

    if (first->op != BYTE)
        return true;
    found = left > 0 ? memchr(from, first->byte, left) : NULL;
    search->at += found ? (size_t)(found - from) : left;
    memset(search->seen, 0, search->pattern->step_count);
    return found != NULL;
}

bool mf_pattern_matches(const struct mf_pattern *pattern, struct mf_str name)
{
    struct front front[2];
    struct front *now = &front[0], *then = &front[1], *swap;
    struct search search;

    search.pattern = pattern;
    search.name = name;
    search.at = 0;
    memset(search.seen, 0, pattern->step_count);
    now->count = 0;
    for (;;) {
        uint8_t byte;

        if (now->count == 0 && !skip(&search))
            return false;
        if (follow(&search, now, 0)) /* a match may begin here */
            return true;
        if (search.at == name.size)
            return false;
        byte = (uint8_t)name.at[search.at++];
        memset(search.seen, 0, pattern->step_count);
        then->count = 0;
        for (uint16_t i = 0; i < now->count; i++) {
            const struct mf_pattern_step *step = &pattern->step[now->step[i]];

            if (step_matches(pattern, step, byte) &&
                follow(&search, then, step->next))
                return true;
        }
        swap = now;
        now = then;
        then = swap;
    }
}
