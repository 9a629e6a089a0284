/* SPDX-License-Identifier: MIT
 *
 * glob.h - patterns of names in recipes, and new names made of them
 *
 * In a pattern "*" is any text, "#" a decimal number, "{a,b}" one of several
 * texts, of which one that begins with another comes first; the rest is itself.
 * A pattern fits a whole name.  What these three stood for is kept, and a new
 * name is made of it: "*", "#" and "$" in order, each kind for itself.
 */
#ifndef MF_LIB_GLOB_H
#define MF_LIB_GLOB_H

#include <stdbool.h>

#include "lib/base/str.h"

#define MF_GLOB_PARTS 4 /* of each kind */

/* What a pattern found in a name. */
struct mf_glob_match {
    struct mf_str text[MF_GLOB_PARTS];   /* of "*" */
    struct mf_str digits[MF_GLOB_PARTS]; /* of "#" */
    struct mf_str choice[MF_GLOB_PARTS]; /* of "{}" */
    size_t chosen[MF_GLOB_PARTS];        /* which of them, from 0 on */
    size_t text_count, digits_count, choice_count;
};

/* Time is at most the product of both sizes. */
bool mf_glob_fits(struct mf_str pattern, struct mf_str name,
                  struct mf_glob_match *match);

/* The number of texts in the pattern's nth "{}", and one of them. */
size_t mf_glob_choices(struct mf_str pattern, size_t nth);
struct mf_str mf_glob_choice(struct mf_str pattern, size_t nth, size_t choice);

#define MF_TENSOR_NAME_MAX 255 /* bytes of a tensor's name */

struct mf_tensor_name {
    char at[MF_TENSOR_NAME_MAX + 1]; /* terminated */
    size_t size;
};

static inline struct mf_str
mf_tensor_name_text(const struct mf_tensor_name *name)
{
    return (struct mf_str){ name->at, name->size };
}

/* False where it does not fit. */
bool mf_tensor_name_add(struct mf_tensor_name *name, struct mf_str text);

/* Makes a new name, whose template has nothing in brackets. */
bool mf_glob_make(struct mf_str pattern, const struct mf_glob_match *match,
                  struct mf_tensor_name *out);

/* Replaces every occurrence; false where the result does not fit. */
bool mf_hub_name_replace(struct mf_tensor_name *name, struct mf_str old,
                         struct mf_str new);

#endif
