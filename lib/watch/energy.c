/* SPDX-License-Identifier: MIT
 *
 * energy.c - energy of a run from samples of its power
 */
#include "lib/watch/energy.h"

static double seconds(uint64_t from_us, uint64_t to_us)
{
    return to_us > from_us ? (double)(to_us - from_us) / 1e6 : 0;
}

static void count(struct mf_energy *energy, double watts, uint64_t at_us)
{
    energy->samples++;
    energy->sum += watts;
    energy->peak = watts > energy->peak ? watts : energy->peak;
    energy->watts = watts;
    energy->last_us = at_us;
}

void mf_energy_add(struct mf_energy *energy, double watts, uint64_t at_us)
{
    if (energy->samples == 0)
        energy->first_us = at_us;
    else
        energy->joules +=
            (energy->watts + watts) / 2 * seconds(energy->last_us, at_us);
    count(energy, watts, at_us);
}

void mf_energy_add_span(struct mf_energy *energy, double watts,
                        uint64_t from_us, uint64_t to_us)
{
    if (energy->samples == 0)
        energy->first_us = from_us;
    energy->joules += watts * seconds(from_us, to_us);
    count(energy, watts, to_us);
}

double mf_energy_mean_watts(const struct mf_energy *energy)
{
    return energy->samples > 0 ? energy->sum / (double)energy->samples : 0;
}

double mf_energy_seconds(const struct mf_energy *energy)
{
    return seconds(energy->first_us, energy->last_us);
}
