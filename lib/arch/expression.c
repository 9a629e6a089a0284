/* SPDX-License-Identifier: MIT
 *
 * expression.c - the numbers in rows: "ssm.inner_size + 2 * groups * state"
 *
 * What is not needed (the other side of ?:, && and ||) is passed over: it may
 * divide by what the condition excludes.  Only rows, which are part of this
 * library, decide how deep the recursion goes, never a file.
 */
#include "lib/arch/run.h"

static const struct mf_arch_number unknown = { false, 0 };

static struct mf_arch_number number(int64_t value)
{
    return (struct mf_arch_number){ true, value };
}

/* ---- functions ---- */

/* The key that a row names.  One that is not needed need not be read. */
static const struct mf_arch_key *take_key(struct mf_arch_run *run,
                                          struct mf_code *code)
{
    static const struct mf_arch_key none = { .present = false };
    const struct mf_arch_key *key = mf_arch_key_of(run, mf_code_argument(code));

    if (key)
        return key;
    run->unsure = true; /* the row that reads it was not reached */
    return &none;
}

/* The tensor that a row names. */
static const struct mf_record *take_tensor(struct mf_arch_run *run,
                                           struct mf_code *code)
{
    char name[MF_ARCH_PATTERN_MAX];
    struct mf_str pattern;

    mf_code_byte(code);
    pattern = mf_arch_pattern(run, code, name);
    if (memchr(pattern.at, '*', pattern.size))
        run->varies = true;
    return mf_arch_tensor(run, pattern);
}

/* Whether the file has a key: set(KEY), or how many elements it has: len(KEY).
 * Of a key with a fault both are unknown when numbers are asked for, so that no
 * other number takes its place. */
static struct mf_arch_number about_key(struct mf_arch_run *run,
                                       struct mf_code *code, bool length)
{
    const struct mf_arch_key *key = take_key(run, code);

    if (!run->quiet || key->fault == MF_ARCH_SOUND ||
        (key->fault == MF_ARCH_MISSING && !length))
        return number(length ? (int64_t)key->count : key->present);
    if (!run->culprit)
        run->culprit = key;
    return unknown;
}

/* Whether a string has a value: is(rope.scaling.type, longrope). */
static struct mf_arch_number is_text(struct mf_arch_run *run,
                                     struct mf_code *code)
{
    const struct mf_arch_key *key = take_key(run, code);
    struct mf_str text = mf_code_argument(code);

    return number(key->present && mf_str_same(key->text, text));
}

/* Whether a tensor has a type: type(output.weight, nvfp4). */
static struct mf_arch_number is_type(struct mf_arch_run *run,
                                     struct mf_code *code)
{
    const struct mf_record *record = take_tensor(run, code);
    struct mf_str name = mf_code_argument(code);

    return number(record && record->type != MF_TYPE_UNKNOWN &&
                  mf_str_is(name, mf_types[record->type].name));
}

/* A dimension of a tensor, 0 if it is missing: dim(position_embd.weight, 1). */
static struct mf_arch_number dimension(struct mf_arch_run *run,
                                       struct mf_code *code)
{
    const struct mf_record *record = take_tensor(run, code);
    struct mf_arch_number place = mf_arch_take_number(run, code);

    if (!record)
        return number(0);
    if (!place.known || place.value < 0 || place.value >= record->rank)
        return number(1);
    return record->dim[place.value] <= INT64_MAX
               ? number((int64_t)record->dim[place.value])
               : unknown;
}

/* The greatest value of an expression in any block, and whether any is not 0:
 * most(experts_used), any(swa). */
static struct mf_arch_number over_blocks(struct mf_arch_run *run,
                                         struct mf_code code, bool any)
{
    struct mf_arch_number blocks, out = number(any ? 0 : INT64_MIN), one;
    uint64_t block = run->block;
    bool varies = run->varies;

    blocks = mf_arch_name_value(run, (struct mf_str){ "blocks", 6 });
    if (!blocks.known || blocks.value <= 0)
        return unknown;
    for (int64_t i = 0; i < blocks.value && i < MF_ARCH_BLOCKS_MAX; i++) {
        run->block = (uint64_t)i;
        one = mf_arch_number_of(run, code);
        if (!one.known) {
            out = unknown;
            break;
        }
        if (any)
            out.value |= one.value != 0;
        else if (one.value > out.value)
            out = one;
    }
    run->block = block;
    run->varies = varies;
    return out;
}

/* An expression as another block sees it: at(0, heads). */
static struct mf_arch_number at_block(struct mf_arch_run *run,
                                      struct mf_code *code)
{
    struct mf_arch_number block = mf_arch_take_number(run, code), out;
    uint64_t now = run->block;
    bool varies = run->varies;

    if (!block.known || block.value < 0)
        return unknown;
    run->block = (uint64_t)block.value;
    out = mf_arch_take_number(run, code);
    run->block = now;
    run->varies = varies;
    return out;
}

static struct mf_arch_number extreme(struct mf_arch_run *run,
                                     struct mf_code *code, bool largest)
{
    struct mf_arch_number a = mf_arch_take_number(run, code);
    struct mf_arch_number b = mf_arch_take_number(run, code);

    if (!a.known || !b.known)
        return unknown;
    return (a.value > b.value) == largest ? a : b;
}

enum function {
#define FUNCTION(NAME, name, arguments) CALL_##NAME,
#include "lib/arch/functions.def"
#undef FUNCTION
};

static struct mf_arch_number call(struct mf_arch_run *run, struct mf_code *code)
{
    enum function function = (enum function)mf_code_byte(code);
    struct mf_code arguments = mf_code_part(code);

    mf_code_byte(&arguments); /* how many they are */
    switch (function) {
    case CALL_IS:
        return is_text(run, &arguments);
    case CALL_TYPE:
        return is_type(run, &arguments);
    case CALL_DIM:
        return dimension(run, &arguments);
    case CALL_AT:
        return at_block(run, &arguments);
    case CALL_MOST:
    case CALL_ANY:
        return over_blocks(run, arguments, function == CALL_ANY);
    case CALL_MIN:
    case CALL_MAX:
        return extreme(run, &arguments, function == CALL_MAX);
    case CALL_HAS:
        return number(take_tensor(run, &arguments) != NULL);
    case CALL_SET:
    case CALL_LEN:
        break;
    }
    return about_key(run, &arguments, function == CALL_LEN);
}

/* ---- operators ---- */

/* Of && and ||: `decides` is the truth of an operand that makes the other not
 * matter. */
static struct mf_arch_number logic(struct mf_arch_run *run,
                                   struct mf_code *code, bool decides)
{
    size_t size = mf_code_two(code);
    struct mf_arch_number out = mf_arch_take_number(run, code), next;
    struct mf_code other = mf_code_bytes(code, size);

    if (out.known && (out.value != 0) == decides)
        return number(decides);
    next = mf_arch_number_of(run, other);
    if (next.known && (next.value != 0) == decides)
        return number(decides);
    return out.known && next.known ? number(!decides) : unknown;
}

static struct mf_arch_number choice(struct mf_arch_run *run,
                                    struct mf_code *code)
{
    size_t first = mf_code_two(code), second = mf_code_two(code);
    struct mf_arch_number which = mf_arch_take_number(run, code);
    struct mf_code yes = mf_code_bytes(code, first);
    struct mf_code no = mf_code_bytes(code, second);

    if (!which.known)
        return unknown;
    return mf_arch_number_of(run, which.value ? yes : no);
}

static struct mf_arch_number
compute(struct mf_arch_run *run, enum mf_code_kind kind, struct mf_code *code)
{
    struct mf_arch_number a, b;

    if (kind == MF_IS_DIVIDE || kind == MF_IS_REMAINDER)
        mf_code_text(code);
    a = mf_arch_take_number(run, code);
    b = mf_arch_take_number(run, code);
    return mf_arch_apply(run, kind, a, b);
}

struct mf_arch_number mf_arch_take_number(struct mf_arch_run *run,
                                          struct mf_code *code)
{
    enum mf_code_kind kind = (enum mf_code_kind)mf_code_byte(code);
    struct mf_arch_number out;
    struct mf_code_word word;

    switch (kind) {
    case MF_IS_NUMBER:
        return number(mf_code_number(code));
    case MF_IS_NAME:
        return mf_arch_name_value(run, mf_code_text(code));
    case MF_IS_PARAMETER:
        return mf_arch_argument(run, mf_code_word(code).parameter);
    case MF_IS_LENGTH:
        word = mf_code_word(code);
        return run->length(run->length_user, word, mf_code_byte(code));
    case MF_IS_NOT:
        out = mf_arch_take_number(run, code);
        return out.known ? number(!out.value) : out;
    case MF_IS_MINUS:
        out = mf_arch_take_number(run, code);
        return out.known && out.value != INT64_MIN ? number(-out.value)
                                                   : unknown;
    case MF_IS_AND:
    case MF_IS_OR:
        return logic(run, code, kind == MF_IS_OR);
    case MF_IS_CHOICE:
        return choice(run, code);
    case MF_IS_CALL:
        return call(run, code);
    default:
        return compute(run, kind, code);
    }
}

struct mf_arch_number mf_arch_number_of(struct mf_arch_run *run,
                                        struct mf_code code)
{
    return mf_arch_take_number(run, &code);
}
