/* SPDX-License-Identifier: MIT
 *
 * kept.h - what a room above makes once and keeps with the env
 *
 * A block of the env's heap, for all threads that use it; it is freed with the
 * env.
 */
#ifndef MF_LIB_KEPT_H
#define MF_LIB_KEPT_H

#include "lib/base/heap.h"

/* Makes the block with that index; NULL after mf_fail. */
typedef void *mf_keep(struct mf_env *env, size_t index, size_t *size);

/* The block with that index, below MF_KEPT.  The first call makes it; others
 * that come meanwhile wait. */
const void *mf_kept(struct mf_env *env, size_t index, mf_keep *make);

/* One thread at a time is between these: for an env that several use. */
void mf_kept_lock(struct mf_env *env);
void mf_kept_unlock(struct mf_env *env);

void mf_kept_release(struct mf_env *env);

/* ---- files that a program has read for an env, other than models ---- */

/* Lists of types, options, earlier reports: the program reads them itself, and
 * no output of the env may replace them (lib/write/output_guard.c).  A file is
 * known by its device and number, whatever name leads to it. */

bool mf_inputs_have(const struct mf_env *env, uint64_t device, uint64_t file);

/* Adds one, unless it is there. */
enum mf_status mf_inputs_add(struct mf_env *env, uint64_t device,
                             uint64_t file);

void mf_inputs_release(struct mf_env *env);

#endif
