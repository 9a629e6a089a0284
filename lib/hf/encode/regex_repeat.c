/* SPDX-License-Identifier: MIT
 *
 * regex_repeat.c - what is repeated in a regular expression
 */
#include "lib/hf/encode/regex.h"

static enum mf_status failed(const struct mf_making *making)
{
    return making->input.env->error.status;
}

/* Copies of what is repeated, after it, `times` in all, each after the first
 * `needed` after a SPLIT to the end. */
static enum mf_status copy_atom(struct mf_making *making, uint32_t size,
                                uint32_t needed, uint32_t times, bool lazy)
{
    struct mf_regex *regex = making->regex;
    enum mf_regex_kind kind = lazy ? MF_OP_LAZY : MF_OP_SPLIT;

    for (uint32_t i = 1; i < times; i++) {
        uint32_t end = (uint32_t)regex->count;

        if (i >= needed &&
            mf_making_append(making, kind,
                             (int32_t)((times - i) * (size + 1))) != MF_OK)
            return failed(making);
        end = (uint32_t)regex->count;
        if (mf_making_insert(making, end, size) != MF_OK)
            return failed(making);
        memcpy(regex->op + end, regex->op + making->atom,
               size * sizeof(*regex->op));
    }
    return MF_OK;
}

/* least to most times, UINT32_MAX: any number. */
static enum mf_status repeat(struct mf_making *making, uint32_t least,
                             uint32_t most, bool lazy)
{
    struct mf_regex *regex = making->regex;
    uint32_t at = making->atom, size = (uint32_t)regex->count - at;
    enum mf_regex_kind kind = lazy ? MF_OP_LAZY : MF_OP_SPLIT;

    if (most == UINT32_MAX && making->atom_size == 0)
        return mf_regex_refuse(&making->input,
                               "unsupported: repeats what may be empty,");
    if (most == 0) {
        regex->count = at;
    } else if (most == UINT32_MAX) {
        /* The last of the needed ones, or one that is not, in a loop. */
        if (copy_atom(making, size, least, least, lazy) != MF_OK)
            return failed(making);
        at = (uint32_t)regex->count - size;
        if (least == 0 &&
            mf_making_put(making, at, kind, (int32_t)size + 2) != MF_OK)
            return failed(making);
        if (mf_making_append(making,
                             least == 0 ? MF_OP_JUMP
                             : lazy     ? MF_OP_SPLIT
                                        : MF_OP_LAZY,
                             least == 0 ? -(int32_t)size - 1
                                        : -(int32_t)size) != MF_OK)
            return failed(making);
    } else if (copy_atom(making, size, least ? least : 1, most, lazy) !=
                   MF_OK ||
               (least == 0 &&
                mf_making_put(making, at, kind,
                              (int32_t)(regex->count - at) + 1) != MF_OK)) {
        return failed(making);
    }
    making->atom_size = least > 0 && making->atom_size > 1000 / least
                            ? 1000
                            : making->atom_size * least;
    return MF_OK;
}

/* {n}, {n,}, {,m} or {n,m}; false: it is a brace like any other character. */
static bool take_bounds(struct mf_making *making, uint32_t *least,
                        uint32_t *most)
{
    size_t start = making->input.at;
    uint32_t bound[2] = { 0, 0 };
    bool given[2] = { false, false }, comma = false;

    making->input.at++;
    for (; mf_making_peek(making) && mf_making_peek(making) != '}';
         making->input.at++) {
        char byte = mf_making_peek(making);

        if (byte == ',' && !comma) {
            comma = true;
        } else if (byte >= '0' && byte <= '9' && bound[comma] <= 1000) {
            bound[comma] = bound[comma] * 10 + (uint32_t)(byte - '0');
            given[comma] = true;
        } else {
            break;
        }
    }
    if (mf_making_peek(making) != '}' || (!given[0] && !given[1])) {
        making->input.at = start;
        return false;
    }
    making->input.at++;
    *least = bound[0];
    *most = !comma ? bound[0] : given[1] ? bound[1] : UINT32_MAX;
    return true;
}

static enum mf_status make_atomic(struct mf_making *making, uint32_t at)
{
    uint32_t size = (uint32_t)making->regex->count - at;

    if (mf_making_put(making, at, MF_OP_ATOMIC, (int32_t)size + 2) != MF_OK)
        return failed(making);
    return mf_making_append(making, MF_OP_END, 0);
}

/* A repetition, if one follows; *taken. */
enum mf_status mf_making_repeat(struct mf_making *making, bool *taken)
{
    char byte = mf_making_peek(making);
    uint32_t least = byte == '+', most = byte == '?' ? 1 : UINT32_MAX;
    bool bounds = byte == '{' && take_bounds(making, &least, &most);
    bool lazy, possessive;

    *taken = bounds || byte == '*' || byte == '+' || byte == '?';
    if (!*taken)
        return MF_OK;
    making->input.at += !bounds;
    if (making->atom == MF_REGEX_NOTHING)
        return mf_regex_refuse(&making->input, "nothing to repeat");
    if (most < least || (most != UINT32_MAX && most > 1000) || least > 1000)
        return mf_regex_refuse(&making->input, "invalid bounds");
    /* After {n} a '?' is a repetition of its own, as is a '+' after {n,m}. */
    lazy = (!bounds || least != most) && mf_making_take(making, "?");
    possessive = !bounds && !lazy && mf_making_take(making, "+");
    if (repeat(making, least, most, lazy) != MF_OK)
        return failed(making);
    return possessive ? make_atomic(making, making->atom) : MF_OK;
}
