/* SPDX-License-Identifier: MIT
 *
 * operators.c - what operators in rows give
 */
#include "lib/arch/run.h"

static const struct mf_arch_number unknown = { false, 0 };

/* False if the result does not fit, or a divisor is 0. */
static bool calculate(enum mf_code_kind kind, int64_t a, int64_t b,
                      int64_t *out)
{
    switch (kind) {
    case MF_IS_MULTIPLY:
        return !__builtin_mul_overflow(a, b, out);
    case MF_IS_ADD:
        return !__builtin_add_overflow(a, b, out);
    case MF_IS_SUBTRACT:
        return !__builtin_sub_overflow(a, b, out);
    default:
        if (b == 0 || (b == -1 && a == INT64_MIN))
            return false;
        *out = kind == MF_IS_DIVIDE ? a / b : a % b;
        return true;
    }
}

static bool compare(enum mf_code_kind kind, int64_t a, int64_t b)
{
    switch (kind) {
    case MF_IS_EQUAL:
        return a == b;
    case MF_IS_DIFFERENT:
        return a != b;
    case MF_IS_LESS:
        return a < b;
    case MF_IS_AT_MOST:
        return a <= b;
    case MF_IS_GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

struct mf_arch_number mf_arch_apply(struct mf_arch_run *run,
                                    enum mf_code_kind kind,
                                    struct mf_arch_number a,
                                    struct mf_arch_number b)
{
    struct mf_arch_number out = { true, 0 };

    /* 0 times anything is 0, also where that is unknown. */
    if (kind == MF_IS_MULTIPLY &&
        ((a.known && a.value == 0) || (b.known && b.value == 0)))
        return out;
    if (!a.known || !b.known)
        return unknown;
    if (kind >= MF_IS_EQUAL)
        return (struct mf_arch_number){ true, compare(kind, a.value, b.value) };
    if (calculate(kind, a.value, b.value, &out.value))
        return out;
    run->overflowed = run->overflowed || b.value != 0;
    return unknown;
}
