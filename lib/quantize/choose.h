/* SPDX-License-Identifier: MIT
 *
 * choose.h - one type for each tensor, with the least error within a size
 *
 * In operations research this is a multiple-choice knapsack.  choose_items.c
 * makes of costs a list of options for each item.  choose.c solves the
 * relaxation in which an item may be divided between two options, and rounds
 * that down.  choose_exact.c and choose_branch.c search what lies between the
 * two, and say how much they have left out.
 *
 * Nothing here knows models or types: options are numbers.  All sums are made
 * in the order of items, and every comparison has a winner, so the same costs
 * give the same answer on every machine.
 */
#ifndef MF_LIB_CHOOSE_H
#define MF_LIB_CHOOSE_H

#include "lib/base/heap.h"

/* Types at most. */
#define MF_CHOOSE_TYPES 64

struct mf_choose_option {
    uint64_t bytes;
    double error;
    uint32_t type;
};

/* Tensors that get one type: mostly a single one. */
struct mf_choose_item {
    /* More bytes and less error from one to the next. */
    struct mf_choose_option *option;
    uint32_t count;
    uint32_t fixed;  /* the only one that is looked at; MF_CHOOSE_NONE: all */
    uint32_t base;   /* the relaxation's, rounded down */
    uint32_t tried;  /* in a choice that is being made */
    uint32_t chosen; /* the best that is known */
    uint32_t tensor; /* the first one */
};

/* From one option on an item's hull to the next. */
struct mf_choose_step {
    double slope; /* error saved for a byte */
    uint32_t item, to;
};

struct mf_choosing {
    struct mf_env *env;
    struct mf_arena arena;
    struct mf_choose_item *item;
    size_t count;
    struct mf_choose_step *step; /* the one that saves most first */
    size_t step_count;
    uint32_t *item_of; /* of each tensor */
    uint64_t limit;
    /* the relaxation: */
    uint64_t base_bytes;
    double base_error;
    double slope;     /* error that the next byte would save */
    double relaxed;   /* no choice has less error */
    uint32_t divided; /* the item that is between two options; MF_CHOOSE_NONE:
                         none is */
    /* what is chosen: */
    double error;
    uint64_t bytes;
};

/* Makes items of tensors, and finds the useful options of each. */
enum mf_status mf_choose_items(struct mf_choosing *work,
                               const struct mf_choose_options *options);

/* The fewest bytes that they can have, and the most that are of use: refuses a
 * limit below, and lowers one above. */
enum mf_status mf_choose_measure(struct mf_choosing *work,
                                 struct mf_chosen *out);

/* Solves the relaxation, with what is fixed; false where nothing fits.  It is
 * rounded down, and chosen if that is better. */
bool mf_choose_relax(struct mf_choosing *work);

/* After that: searches for a better choice, in which what is fixed stays.
 * share: so small a part of the error is not worth finding.  *bound: no such
 * choice has less error. */
enum mf_status mf_choose_search(struct mf_choosing *work, double share,
                                double *bound);

/* The same without a relaxation, trying every option of the items that it
 * divides. */
enum mf_status mf_choose_branch(struct mf_choosing *work, double *bound);

/* What was tried is chosen if it has less error. */
void mf_choose_try(struct mf_choosing *work);

/* The proof that is enough. */
#define MF_CHOOSE_PROVEN 1e-3

#endif
