/* SPDX-License-Identifier: MIT
 *
 * operators.c - what operators in rows give
 */
#include "lib/arch/run.h"

static const struct mf_arch_number unknown = { false, 0 };

struct mf_arch_number mf_arch_apply(struct mf_arch_run *run, char sign,
                                    struct mf_arch_number a,
                                    struct mf_arch_number b)
{
    struct mf_arch_number out = { true, 0 };
    bool wraps = false;

    /* 0 times anything is 0, also where that is unknown. */
    if (sign == '*' && ((a.known && a.value == 0) || (b.known && b.value == 0)))
        return (struct mf_arch_number){ true, 0 };
    if (!a.known || !b.known)
        return unknown;
    if (sign == '*')
        wraps = __builtin_mul_overflow(a.value, b.value, &out.value);
    else if (sign == '+')
        wraps = __builtin_add_overflow(a.value, b.value, &out.value);
    else if (sign == '-')
        wraps = __builtin_sub_overflow(a.value, b.value, &out.value);
    else if (b.value == 0 || (b.value == -1 && a.value == INT64_MIN))
        wraps = true;
    else
        out.value = sign == '/' ? a.value / b.value : a.value % b.value;
    run->overflowed = run->overflowed || (wraps && b.value != 0);
    return wraps ? unknown : out;
}

bool mf_arch_compare(const char *sign, int64_t a, int64_t b)
{
    switch (sign[0]) {
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        return sign[1] ? a <= b : a < b;
    default:
        return sign[1] ? a >= b : a > b;
    }
}
