/* SPDX-License-Identifier: MIT
 *
 * pattern_find.c - whether a regular expression is found in a name
 */
#include "lib/quantize/pattern_parse.h"

/* The steps at which the next byte of a name is awaited. */
struct front {
    uint16_t step[MF_PATTERN_STEPS];
    uint16_t count;
};

struct search {
    const struct mf_pattern *pattern;
    struct mf_str name;
    size_t at;
    bool seen[MF_PATTERN_STEPS]; /* at this place of the name */
};

static bool is_word(const struct search *search, size_t at)
{
    return at < search->name.size &&
           mf_pattern_in_class("w", (uint8_t)search->name.at[at]);
}

/* Whether a step that takes no byte lets through here. */
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

/* Steps that are still to be looked at. */
struct open_steps {
    uint16_t step[MF_PATTERN_STEPS];
    uint16_t count;
};

static void look_at(struct search *search, struct open_steps *open,
                    uint16_t number)
{
    if (!search->seen[number])
        open->step[open->count++] = number;
    search->seen[number] = true;
}

/* All steps that first leads to without a byte, those that await one into the
 * front; true where the end is among them. */
static bool reach(struct search *search, struct front *front, uint16_t first)
{
    struct open_steps open;

    open.count = 0;
    look_at(search, &open, first);
    while (open.count > 0) {
        uint16_t number = open.step[--open.count];
        const struct mf_pattern_step *step = &search->pattern->step[number];

        if (step->op == FOUND)
            return true;
        if (step->op == BYTE || step->op == SET) {
            front->step[front->count++] = number;
            continue;
        }
        if (!passes(search, (enum mf_pattern_op)step->op))
            continue;
        look_at(search, &open, step->next);
        if (step->op == SPLIT)
            look_at(search, &open, step->other);
    }
    return false;
}

static bool takes(const struct mf_pattern *pattern,
                  const struct mf_pattern_step *step, uint8_t byte)
{
    if (step->op == BYTE)
        return step->byte == byte;
    return pattern->set[step->byte][byte / 8] >> byte % 8 & 1;
}

bool mf_pattern_found(const struct mf_pattern *pattern, struct mf_str name)
{
    struct search search = { .pattern = pattern, .name = name };
    struct front front[2];
    struct front *now = &front[0], *then = &front[1], *swap;

    now->count = 0;
    while (!reach(&search, now, 0)) { /* it may begin anywhere */
        uint8_t byte;

        if (search.at == name.size)
            return false;
        byte = (uint8_t)name.at[search.at++];
        memset(search.seen, 0, sizeof(search.seen));
        then->count = 0;
        for (uint16_t i = 0; i < now->count; i++) {
            const struct mf_pattern_step *step = &pattern->step[now->step[i]];

            if (takes(pattern, step, byte) && reach(&search, then, step->next))
                return true;
        }
        swap = now;
        now = then;
        then = swap;
    }
    return true;
}
