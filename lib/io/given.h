/* SPDX-License-Identifier: MIT
 *
 * given.h - bytes that a program brings, and the files next to them
 *
 * A set of them is what one struct mf_byte_source of the program leads to: the
 * file that it is itself, and those that it opens by their names.  Files of
 * such a set are never looked up on the disk.
 */
#ifndef MF_LIB_GIVEN_H
#define MF_LIB_GIVEN_H

#include "lib/io/source.h"

struct mf_given;

/* Takes over the program's source, which mf_given_close closes; so does an
 * error, but for MF_ERR_ARGUMENT. */
enum mf_status mf_given_new(struct mf_env *env,
                            const struct mf_byte_source *source,
                            struct mf_given **out);

/* After all sources of the set were closed.  NULL is allowed. */
void mf_given_close(struct mf_given *given);

/* The name of the first file. */
const char *mf_given_name(const struct mf_given *given);

/* Whether there can be more than one file. */
bool mf_given_has_more(const struct mf_given *given);

/* Opens a file of the set; mf_error.system is ENOENT where no file has that
 * name. */
enum mf_status mf_given_open(struct mf_given *given, const char *name,
                             struct mf_source *out);

#endif
