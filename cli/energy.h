/* SPDX-License-Identifier: MIT
 *
 * energy.h - energy of a run from samples of its power
 *
 * In constant memory, however many samples there are.
 */
#ifndef MF_CLI_ENERGY_H
#define MF_CLI_ENERGY_H

#include <stddef.h>
#include <stdint.h>

/* All zero to begin with. */
struct energy {
    size_t samples;
    double joules, peak; /* watts at most */
    double sum;          /* of the watts of all samples */
    double watts;        /* of the last sample */
    uint64_t first_us, last_us;
};

/* The power at a moment: energy grows by the trapezoid between it and the
 * sample before.  A clock that went back counts as no time. */
void energy_add(struct energy *energy, double watts, uint64_t at_us);

/* The mean power of the time from one moment to another, as a counter of energy
 * tells it: one sample. */
void energy_add_span(struct energy *energy, double watts, uint64_t from_us,
                     uint64_t to_us);

/* The mean of the samples, 0 without samples.  The mean over time, joules
 * divided by seconds, differs if samples are not evenly spaced. */
double energy_mean_watts(const struct energy *energy);
double energy_seconds(const struct energy *energy);

#endif
