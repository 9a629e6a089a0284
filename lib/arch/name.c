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

static struct mf_arch_number in_frame(struct mf_arch_run *run,
                                      const struct mf_frame *frame,
                                      struct mf_code expression)
{
    const struct mf_frame *now = run->frame;
    struct mf_arch_number out;

    run->frame = frame;
    out = mf_arch_number_of(run, expression);
    run->frame = now;
    return out;
}

struct mf_arch_number mf_arch_argument(struct mf_arch_run *run,
                                       unsigned parameter)
{
    return in_frame(run, run->frame->up, run->frame->value[parameter - 1]);
}

struct mf_str mf_arch_pattern(const struct mf_arch_run *run,
                              struct mf_code *code,
                              char out[MF_ARCH_PATTERN_MAX])
{
    unsigned pieces = mf_code_byte(code);
    size_t size = 0;

    for (unsigned i = 0; i < pieces; i++) {
        struct mf_str text = mf_frame_word(run->frame, mf_code_word(code));

        if (pieces == 1)
            return text;
        assert(size + text.size <= MF_ARCH_PATTERN_MAX);
        memcpy(out + size, text.at, text.size);
        size += text.size;
    }
    return (struct mf_str){ out, size };
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

static struct mf_arch_number let_value(struct mf_arch_run *run,
                                       struct mf_arch_let *let)
{
    bool varies = run->varies;

    if (let->fixed)
        return let->value;
    if (let->open) /* it depends on itself, which no row of the library does */
        return (struct mf_arch_number){ false, 0 };
    if (let->key_count != run->key_count || run->key_count == 0 ||
        (let->varies && let->block != run->block) ||
        (run->quiet && !let->value.known)) {
        run->varies = false;
        let->open = true;
        let->value = in_frame(run, NULL, let->expression);
        let->open = false;
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

    if (mf_str_is(name, "i")) {
        run->varies = true;
        return (struct mf_arch_number){ true, (int64_t)run->block };
    }
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

/* What is left of an expression if only the sides of ?: are kept that give its
 * value. */
static struct mf_code chosen(struct mf_arch_run *run, struct mf_code code)
{
    while (*code.at == MF_IS_CHOICE) {
        struct mf_arch_number which;
        size_t first, second;
        struct mf_code yes;

        mf_code_byte(&code);
        first = mf_code_two(&code);
        second = mf_code_two(&code);
        which = in_frame(run, NULL, mf_code_expression(&code));
        yes = mf_code_bytes(&code, first);
        code = which.known && which.value == 0 ? mf_code_bytes(&code, second)
                                               : yes;
    }
    return code;
}

/* Takes what comes before the next name of a value or a key, and that name; its
 * size is 0 at the end. */
static struct mf_code_word next_name(struct mf_code *code)
{
    while (mf_code_left(code)) {
        enum mf_code_kind kind = mf_code_enter(code);

        if (kind == MF_IS_NAME || kind == MF_IS_KEY)
            return (struct mf_code_word){ 0, mf_code_text(code) };
        if (kind == MF_IS_PARAMETER)
            return mf_code_word(code);
    }
    return (struct mf_code_word){ 0, { "", 0 } };
}

static const struct mf_arch_key *key_behind(struct mf_arch_run *run,
                                            struct mf_code code, bool *same);

static const struct mf_arch_key *key_of(struct mf_arch_run *run,
                                        struct mf_code_word name, bool *same)
{
    const struct mf_arch_let *let;

    if (name.parameter > 0)
        return NULL;
    let = find_let(run, name.text);
    if (!let)
        return mf_arch_key_of(run, name.text);
    return let->fixed ? NULL : key_behind(run, let->expression, same);
}

/* The first key in the file that an expression names, also through `let`s. */
static const struct mf_arch_key *first_key(struct mf_arch_run *run,
                                           struct mf_code code, bool *same)
{
    bool alone = *code.at == MF_IS_NAME;
    struct mf_code_word name;

    while ((name = next_name(&code)).text.size > 0) {
        const struct mf_arch_key *key = key_of(run, name, same);

        *same = *same && alone;
        if (key && key->offset != MF_NO_OFFSET)
            return key;
    }
    *same = *same && alone;
    return NULL;
}

/* The key that the value of an expression is taken from, or else one that its
 * conditions name; NULL if the file has none.  *same stays true if the value is
 * just that of the key. */
static const struct mf_arch_key *key_behind(struct mf_arch_run *run,
                                            struct mf_code code, bool *same)
{
    const struct mf_arch_key *key = first_key(run, chosen(run, code), same);

    return key ? key : first_key(run, code, same);
}

/* Whether an expression says the name before that place. */
static bool is_named_before(struct mf_code code, struct mf_str name,
                            const uint8_t *place)
{
    while (code.at < place) {
        struct mf_str other = next_name(&code).text;

        if (code.at < place && mf_str_same(other, name))
            return true;
    }
    return false;
}

/* The value of a name; unknown where no row explains it. */
static struct mf_arch_number value_of(struct mf_arch_run *run,
                                      struct mf_code_word name)
{
    if (name.parameter > 0)
        return mf_arch_argument(run, name.parameter);
    if (find_let(run, name.text) || mf_arch_key_of(run, name.text))
        return mf_arch_name_value(run, name.text);
    return (struct mf_arch_number){ false, 0 };
}

/* Appends "NAME is VALUE" for each name in the expression that has a value. */
static void add_values(struct mf_arch_run *run, struct mf_code code, char *out,
                       size_t room, uint64_t *offset)
{
    struct mf_code rest = code;
    struct mf_code_word name;
    size_t used = 0;

    while ((name = next_name(&rest)).text.size > 0) {
        bool same = true;
        const struct mf_arch_key *key = key_of(run, name, &same);
        struct mf_arch_number value;

        if (key && key->offset != MF_NO_OFFSET && *offset == MF_NO_OFFSET)
            *offset = key->offset;
        same = same && key && !mf_str_same(key->name, name.text);
        value = value_of(run, name);
        if (value.known && !is_named_before(code, name.text, rest.at) &&
            used + name.text.size + (same ? key->name.size : 0) + 32 < room)
            used += (size_t)snprintf(
                out + used, room - used, "%s%.*s is %" PRId64 "%s%.*s%s",
                used ? ", " : "", (int)name.text.size, name.text.at,
                value.value, same ? " (" : "", same ? (int)key->name.size : 0,
                same ? key->name.at : "", same ? ")" : "");
    }
}

void mf_arch_note_need(struct mf_arch_run *run, struct mf_str text,
                       struct mf_code expression)
{
    uint64_t offset = MF_NO_OFFSET;
    char values[240] = "";

    add_values(run, expression, values, sizeof(values), &offset);
    mf_index_note(run->index, 0, run->severity, MF_RULE_MODEL_VALUE, offset,
                  "architecture '%s' requires %.*s%s%s",
                  mf_quote(run->name).text, (int)text.size, text.at,
                  *values ? ", but " : "", values);
}
