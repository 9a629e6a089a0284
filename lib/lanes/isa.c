/* SPDX-License-Identifier: MIT
 *
 * isa.c - chooses the instruction set of the loops over tensor data
 */
#include "lib/lanes/isa.h"

#include <string.h>
#if defined(MF_X86_64)
#include <cpuid.h>
#endif

#include "lib/base/heap.h"

const struct mf_isa mf_isas[] = {
    { "portable" },
#if defined(MF_X86_64)
    { "avx2" },
    { "avx512" },
#endif
    { NULL },
};
_Static_assert(sizeof(mf_isas) / sizeof(*mf_isas) == MF_ISAS + 1,
               "MF_LANES has the loops of all instruction sets");

#define LANE(loop)                                                             \
    loop *loop##_of(const struct mf_isa *isa)                                  \
    {                                                                          \
        static loop *const lanes[MF_ISAS] = MF_LANES(loop);                    \
                                                                               \
        return lanes[isa - mf_isas];                                           \
    }

LANE(mf_count)
LANE(mf_range)
LANE(mf_xxh3_add)
LANE(mf_product)

bool mf_isa_ask(atomic_int *answer, bool (*ask)(void))
{
    enum { NO = 1, YES };
    int known = atomic_load_explicit(answer, memory_order_relaxed);

    if (known == 0) {
        known = ask() ? YES : NO;
        atomic_store_explicit(answer, known, memory_order_relaxed);
    }
    return known == YES;
}

#if defined(MF_X86_64)
/* Conversion of halves: every processor with AVX2 has it, but no rule says so.
 * clang's __builtin_cpu_supports does not know its name. */
static bool processor_has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_f16c(void)
{
    static atomic_int answer;

    return mf_isa_ask(&answer, processor_has_f16c);
}
#endif

bool mf_isa_runs(const struct mf_isa *isa)
{
#if defined(MF_X86_64)
    __builtin_cpu_init();
    if (strcmp(isa->name, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && has_f16c();
    if (strcmp(isa->name, "avx512") == 0)
        return __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && has_f16c();
#else
    (void)isa;
#endif
    return true;
}

const char *mf_isa_at(size_t index)
{
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        if (mf_isa_runs(isa) && index-- == 0)
            return isa->name;
    return NULL;
}

/* The best, or the one that is wanted; NULL and why not. */
static const struct mf_isa *find(const char *wanted, const char **why)
{
    const struct mf_isa *best = &mf_isas[0];

    *why = "this processor does not support it";
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++) {
        if (wanted && strcmp(isa->name, wanted) == 0)
            return mf_isa_runs(isa) ? isa : NULL;
        if (mf_isa_runs(isa))
            best = isa;
    }
    *why = "expected portable, avx2 or avx512";
    return wanted ? NULL : best;
}

const char *mf_isa_refused(const struct mf_env *env)
{
    const char *why;

    return find(env->isa, &why) ? NULL : why;
}

const struct mf_isa *mf_isa_choose(struct mf_env *env)
{
    const char *why;
    const struct mf_isa *isa = find(env->isa, &why);

    if (!isa)
        mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                "the instruction set is '%s': %s",
                mf_quote((struct mf_str){ env->isa, strlen(env->isa) }).text,
                why);
    return isa;
}
