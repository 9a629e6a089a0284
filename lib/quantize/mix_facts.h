/* SPDX-License-Identifier: MIT
 *
 * mix_facts.h - what the rules of mix.def can depend on
 */
#ifndef MF_LIB_MIX_FACTS_H
#define MF_LIB_MIX_FACTS_H

/* Apart from the kind of tensor.  The position of a tensor is its number among
 * tensors of its kind, or its block's. */
enum condition {
    ALWAYS = 0,
    FALCON = 1 << 0,
    NOT_FALCON = 1 << 1,
    IMATRIX = 1 << 2,
    NO_IMATRIX = 1 << 3,
    EXPERTS_4 = 1 << 4, /* or more */
    EXPERTS_8 = 1 << 5, /* exactly */
    NOT_EXPERTS_8 = 1 << 6,
    GROUPS_OF_4 = 1 << 7, /* or more heads share keys and values */
    MODEL_70B = 1 << 8,
    ODD = 1 << 9, /* rows are not whole blocks of the mix's type */
    FIRST_2 = 1 << 10,
    FIRST_4 = 1 << 11,
    EIGHTH = 1 << 12, /* in the first eighth */
    SIXTEENTH = 1 << 13,
    MIDDLE = 1 << 14,     /* after the first eighth and before the last */
    MORE_BITS = 1 << 15,  /* outside the middle, or every third one in it */
    SEVERAL = 1 << 16,    /* matrices in one tensor, as experts are */
    NOT_BAILING = 1 << 17 /* another architecture than bailingmoe3 */
};

#endif
