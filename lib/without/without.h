/* SPDX-License-Identifier: MIT
 *
 * without.h - what a library says that was built without a group
 *
 * One file for each group of the Makefile (WITHOUT=...) that others call: the
 * functions that they call, which fail.  Functions without a caller do not
 * exist.
 */
#ifndef MF_LIB_WITHOUT_H
#define MF_LIB_WITHOUT_H

#include "lib/base/error.h"

/* what: "convert folders of Hugging Face". */
static inline enum mf_status mf_without(struct mf_env *env, const char *group,
                                        const char *what)
{
    return mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "this library cannot %s: it was built without '%s'", what,
                   group);
}

#endif
