/* SPDX-License-Identifier: MIT
 *
 * architecture.h - what a model of its architecture needs
 */
#ifndef MF_LIB_ARCHITECTURE_H
#define MF_LIB_ARCHITECTURE_H

#include "lib/model/model.h"

/* Notes what is missing or does not fit, as warnings: a table cannot be certain
 * of a model that somebody made yesterday. */
void mf_architecture_check(struct mf_model *model);

#endif
