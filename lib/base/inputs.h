/* SPDX-License-Identifier: MIT
 *
 * inputs.h - files that a program has read for an env, other than models
 *
 * Lists of types, options, earlier reports: the program reads them itself, and
 * no output of the env may replace them (lib/write/output_guard.c).  A file is
 * known by its device and number, whatever name leads to it.
 */
#ifndef MF_LIB_INPUTS_H
#define MF_LIB_INPUTS_H

#include "lib/base/heap.h"

bool mf_inputs_have(const struct mf_env *env, uint64_t device, uint64_t file);

/* Adds one, unless it is there. */
enum mf_status mf_inputs_add(struct mf_env *env, uint64_t device,
                             uint64_t file);

void mf_inputs_release(struct mf_env *env);

#endif
