/* SPDX-License-Identifier: MIT
 *
 * name.c - the names in expressions, and conditions that do not hold
 *
 * A name is a parameter of the group whose rows are run, a `let` or a key that
 * a row has read, in this order.  The arguments of a group belong to its
 * caller; a `let` sees no parameters.
 */
#include "lib/arch/run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

bool mf_arch_is_in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

static struct mf_arch_number in_frame(struct mf_arch_run *run,
                                      const struct mf_arch_frame *frame,
                                      struct mf_str text)
{
    const struct mf_arch_frame *now = run->frame;
    struct mf_arch_number out;

    run->frame = frame;
    out = mf_arch_number_of(run, text);
    run->frame = now;
    return out;
}

/* The argument at a place in the list, which has commas between them. */
static struct mf_str argument(struct mf_str list, size_t place)
{
    size_t begin = 0, depth = 0;

    for (size_t i = 0; i < list.size; i++) {
        depth += list.at[i] == '(';
        depth -= list.at[i] == ')';
        if (list.at[i] != ',' || depth > 0)
            continue;
        if (place-- == 0)
            return (struct mf_str){ list.at + begin, i - begin };
        begin = i + 1;
    }
    assert(place == 0);
    return (struct mf_str){ list.at + begin, list.size - begin };
}

bool mf_arch_find_argument(const struct mf_arch_frame *frame,
                           struct mf_str name, struct mf_str *out)
{
    struct mf_str parameters = frame->parameters;

    for (size_t place = 0; parameters.size > 0; place++)
        if (mf_str_same(mf_arch_word(&parameters), name)) {
            *out = argument(frame->arguments, place);
            return true;
        }
    return false;
}

static struct mf_arch_number key_value(struct mf_arch_run *run,
                                       const struct mf_arch_key *key)
{
    struct mf_arch_number out = key->number;

    run->varies = run->varies || key->each;
    if (key->each && run->block < key->count)
        out = (struct mf_arch_number){ true, key->each[run->block] };
    else if (key->each)
        out.known = false;
    if (!out.known && !run->culprit)
        run->culprit = key;
    return out;
}

static struct mf_arch_let *find_let(struct mf_arch_run *run, struct mf_str name)
{
    for (size_t i = 0; i < run->let_count; i++)
        if (mf_str_same(run->let[i].name, name))
            return &run->let[i];
    return NULL;
}

/* Whether a row or a group explains the name. */
static bool is_name(struct mf_arch_run *run, struct mf_str name)
{
    struct mf_str text;

    if (run->frame && mf_arch_find_argument(run->frame, name, &text))
        return true;
    return find_let(run, name) || mf_arch_key_of(run, name);
}

static struct mf_arch_number let_value(struct mf_arch_run *run,
                                       struct mf_arch_let *let)
{
    bool varies = run->varies;

    if (let->key_count != run->key_count || run->key_count == 0 ||
        (let->varies && let->block != run->block) ||
        (run->quiet && !let->value.known)) {
        run->varies = false;
        let->value = in_frame(run, NULL, let->expression);
        let->varies = run->varies;
        let->block = run->block;
        let->key_count = run->key_count;
    }
    run->varies = varies || let->varies;
    return let->value;
}

struct mf_arch_number mf_arch_name_value(struct mf_arch_run *run,
                                         struct mf_str name)
{
    struct mf_arch_let *let;
    const struct mf_arch_key *key;
    struct mf_str text;

    if (mf_str_is(name, "i")) {
        run->varies = true;
        return (struct mf_arch_number){ true, (int64_t)run->block };
    }
    if (run->frame && mf_arch_find_argument(run->frame, name, &text))
        return in_frame(run, run->frame->up, text);
    let = find_let(run, name);
    if (let)
        return let_value(run, let);
    key = mf_arch_key_of(run, name);
    if (!key) { /* the row that reads it was not reached */
        run->unsure = true;
        return (struct mf_arch_number){ false, 0 };
    }
    return key_value(run, key);
}

/* ---- a condition that does not hold ---- */

/* The length of the text before the first such sign outside of parentheses, or
 * before the ':' that belongs to a '?' in front of the text. */
static size_t before_sign(struct mf_str text, char sign)
{
    size_t depth = 0, at = 0;

    for (; at < text.size; at++) {
        if (depth == 0 && text.at[at] == sign)
            break;
        depth += text.at[at] == '(' || (sign == ':' && text.at[at] == '?');
        depth -= text.at[at] == ')' || (sign == ':' && text.at[at] == ':');
    }
    return at;
}

/* What is left of an expression if only the sides of ?: are kept that give its
 * value. */
static struct mf_str chosen(struct mf_arch_run *run, struct mf_str text)
{
    size_t at;

    while ((at = before_sign(text, '?')) < text.size) {
        struct mf_arch_number which =
            in_frame(run, NULL, (struct mf_str){ text.at, at });

        text = (struct mf_str){ text.at + at + 2, text.size - at - 2 };
        at = before_sign(text, ':');
        if (which.known && which.value == 0)
            text = (struct mf_str){ text.at + at + 2, text.size - at - 2 };
        else
            text.size = at - 1;
    }
    return text;
}

/* The name from *at on, which is advanced past it; its size is 0 at the end. */
static struct mf_str next_name(struct mf_str text, size_t *at)
{
    struct mf_str name;

    while (*at < text.size && !mf_arch_is_in_name(text.at[*at]))
        ++*at;
    name = (struct mf_str){ text.at + *at, 0 };
    while (*at < text.size && mf_arch_is_in_name(text.at[*at])) {
        ++*at;
        name.size++;
    }
    return name;
}

static const struct mf_arch_key *key_behind(struct mf_arch_run *run,
                                            struct mf_str text, bool *same);

/* The first key in the file that a text names, also through `let`s. */
static const struct mf_arch_key *first_key(struct mf_arch_run *run,
                                           struct mf_str text, bool *same)
{
    struct mf_str name;
    size_t at = 0;

    while ((name = next_name(text, &at)).size > 0) {
        const struct mf_arch_let *let = find_let(run, name);
        const struct mf_arch_key *key =
            let ? key_behind(run, let->expression, same)
                : mf_arch_key_of(run, name);

        *same = *same && name.size == text.size;
        if (key && key->offset != MF_NO_OFFSET)
            return key;
    }
    return NULL;
}

/* The key that the value of an expression is taken from, or else one that its
 * conditions name; NULL if the file has none.  *same stays true if the value is
 * just that of the key. */
static const struct mf_arch_key *key_behind(struct mf_arch_run *run,
                                            struct mf_str text, bool *same)
{
    const struct mf_arch_key *key = first_key(run, chosen(run, text), same);

    return key ? key : first_key(run, text, same);
}

/* Whether the name is earlier in the text, too. */
static bool is_named_before(struct mf_str text, struct mf_str name)
{
    size_t before = (size_t)(name.at - text.at);

    for (size_t i = 0; i + name.size <= before; i++)
        if (memcmp(text.at + i, name.at, name.size) == 0)
            return true;
    return false;
}

/* Appends "NAME is VALUE" for each name in the text that has a value. */
static void add_values(struct mf_arch_run *run, struct mf_str text, char *out,
                       size_t room, uint64_t *offset)
{
    size_t used = 0, at = 0;
    struct mf_str name;

    while ((name = next_name(text, &at)).size > 0) {
        bool same = true;
        const struct mf_arch_key *key = key_behind(run, name, &same);
        struct mf_arch_number value;

        if (key && *offset == MF_NO_OFFSET)
            *offset = key->offset;
        if ((*name.at >= '0' && *name.at <= '9') || mf_str_is(name, "i") ||
            (at < text.size && text.at[at] == '(') || !is_name(run, name))
            continue;
        same = same && key && !mf_str_same(key->name, name);
        value = mf_arch_name_value(run, name);
        if (value.known && !is_named_before(text, name) &&
            used + name.size + (same ? key->name.size : 0) + 32 < room)
            used += (size_t)snprintf(
                out + used, room - used, "%s%.*s is %" PRId64 "%s%.*s%s",
                used ? ", " : "", (int)name.size, name.at, value.value,
                same ? " (" : "", same ? (int)key->name.size : 0,
                same ? key->name.at : "", same ? ")" : "");
    }
}

void mf_arch_note_need(struct mf_arch_run *run, struct mf_str expression)
{
    uint64_t offset = MF_NO_OFFSET;
    char values[240] = "";

    add_values(run, expression, values, sizeof(values), &offset);
    mf_index_note(run->index, 0, run->severity, MF_RULE_MODEL_VALUE, offset,
                  "architecture '%s' requires %.*s%s%s",
                  mf_quote(run->name).text, (int)expression.size, expression.at,
                  *values ? ", but " : "", values);
}
