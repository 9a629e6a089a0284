/* SPDX-License-Identifier: MIT
 *
 * options.h - option structs of programs that know fewer or more options
 *
 * A program and the library may be of different versions.  The program's struct
 * begins with its size; the library works with a copy of its own size, in which
 * options that the program does not know are zero, their default.  An option
 * that only the program knows is refused unless it is zero: to ignore it would
 * be to do something else than what was requested.  A new option is appended,
 * at a multiple of 8 bytes: padding of older structs never becomes an option.
 */
#ifndef MF_LIB_OPTIONS_H
#define MF_LIB_OPTIONS_H

#include "lib/base/error.h"

/* Whether given (may be NULL) has a valid size and no unknown options; if so,
 * fills in out, a struct of out_size bytes. */
bool mf_options_copy(void *out, size_t out_size, const void *given);

/* The same for a public function: MF_ERR_ARGUMENT in env if not. */
enum mf_status mf_options_take(struct mf_env *env, void *out, size_t out_size,
                               const void *given);

#endif
