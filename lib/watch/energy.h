/* SPDX-License-Identifier: MIT
 *
 * energy.h - energy from samples of power
 */
#ifndef MF_LIB_ENERGY_H
#define MF_LIB_ENERGY_H

#include "lib/program.h"

/* The power at a moment: energy grows by the trapezoid between it and the
 * sample before.  A clock that went back counts as no time. */
void mf_energy_add(struct mf_energy *energy, double watts, uint64_t at_us);

/* The mean power of the time from one moment to another, as a counter of energy
 * tells it: one sample. */
void mf_energy_add_span(struct mf_energy *energy, double watts,
                        uint64_t from_us, uint64_t to_us);

#endif
