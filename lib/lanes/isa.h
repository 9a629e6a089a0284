/* SPDX-License-Identifier: MIT
 *
 * isa.h - the instruction sets that loops over tensor data are compiled for
 *
 * The room lanes/ holds loops that are compiled once for each instruction set,
 * and the choice between them at run time.  In: bytes, or floats.  Out: counts,
 * digests and sums.  It knows no file, no type and no model.
 *
 * Every instruction set gives the same answers; they differ in speed alone.
 * A file is compiled once for each, with its own compiler flags: functions with
 * target attributes in one object would share inline helpers, and the linker
 * might keep the copy that an older processor cannot run.
 */
#ifndef MF_LIB_ISA_H
#define MF_LIB_ISA_H

#include <stdatomic.h>

#include "lib/base/error.h"

/* Not on Windows, where gcc may put 32 bytes of AVX on a stack that it aligns
 * to 16. */
#if defined(__x86_64__) && !defined(_WIN32) && !defined(MF_PORTABLE)
#define MF_X86_64
#endif

/* A pattern of bits: the bits of mask are as in value. */
struct mf_bits {
    uint64_t mask, value;
};

/* How many of count numbers, width bytes wide and stride bytes apart, have
 * those bits. */
typedef uint64_t mf_count(const uint8_t *bytes, size_t count, size_t stride,
                          uint8_t width, struct mf_bits bits);

mf_count mf_count_portable, mf_count_avx2, mf_count_avx512;

/* Bounds of a number's magnitude, that is of the bits of mask: those from high
 * on are too large, those below low, but not zero, too small. */
struct mf_bounds {
    uint64_t mask, high, low;
};

struct mf_outside {
    uint64_t high, low; /* counts */
};

/* How many of count numbers, width bytes wide and stride bytes apart, are out
 * of bounds; reverse: their bytes are in the order of big-endian files. */
typedef struct mf_outside mf_range(const uint8_t *bytes, size_t count,
                                   size_t stride, uint8_t width, bool reverse,
                                   struct mf_bounds bounds);

mf_range mf_range_portable, mf_range_avx2, mf_range_avx512;

/* Adds bytes to an XXH3_state_t, for a digest of 64 or of 128 bits. */
typedef void mf_xxh3_add(void *state, const void *bytes, size_t size);

mf_xxh3_add mf_xxh3_add_portable, mf_xxh3_add_avx2, mf_xxh3_add_avx512;

/* A part of a product: rows of b, each of so many ranks, and as many rows of a.
 * Columns of a and of the sums are stride floats apart. */
struct mf_product_size {
    size_t rows, columns, ranks, stride;
};

/* Adds b a to the sums: rank after rank, each product and each sum rounded. */
typedef void mf_product(float *sum, const float *a, const float *b,
                        struct mf_product_size size);

mf_product mf_product_portable, mf_product_avx2, mf_product_avx512;

struct mf_isa {
    const char *name;
};

/* How many there are, and the table of a loop for all of them, in the order of
 * mf_isas.  Each loop has a table of its own: a program that computes digests
 * is linked without the loops that look for NaN. */
#if defined(MF_X86_64)
#define MF_ISAS 3
#define MF_LANES(loop)                                                         \
    {                                                                          \
        loop##_portable, loop##_avx2, loop##_avx512                            \
    }
#else
#define MF_ISAS 1
#define MF_LANES(loop)                                                         \
    {                                                                          \
        loop##_portable                                                        \
    }
#endif

/* The loops of an instruction set. */
mf_count *mf_count_of(const struct mf_isa *isa);
mf_range *mf_range_of(const struct mf_isa *isa);
mf_xxh3_add *mf_xxh3_add_of(const struct mf_isa *isa);
mf_product *mf_product_of(const struct mf_isa *isa);

/* From the plainest to the best; ends with name NULL. */
extern const struct mf_isa mf_isas[];

/* True where this processor has it. */
bool mf_isa_runs(const struct mf_isa *isa);

/* What ask finds out about this processor.  A virtual machine takes many
 * microseconds for that, so it is asked once; answer is 0 before. */
bool mf_isa_ask(atomic_int *answer, bool (*ask)(void));

/* The best that this processor runs, or the one that mf_options.isa names; NULL
 * after mf_fail where that is unknown or does not run here. */
const struct mf_isa *mf_isa_choose(struct mf_env *env);

#endif
