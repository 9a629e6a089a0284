/* SPDX-License-Identifier: MIT
 *
 * power.h - how much power the machine takes: RAPL, or a given number
 *
 * Linux shows the energy counters of processors (RAPL) below
 * /sys/class/powercap.  The zones of packages are added up.  Their parts
 * (cores, DRAM) and the platform (psys) are left out, which would count the
 * same energy twice, and so is what intel-rapl-mmio repeats of them.
 */
#ifndef MF_CLI_POWER_H
#define MF_CLI_POWER_H

#include <stdbool.h>

#include "cli/energy.h"

#define POWER_ZONES 32

enum power_kind { POWER_NONE, POWER_MOCK, POWER_RAPL };

struct power_zone {
    char folder[32]; /* "intel-rapl:0" */
    char name[32];   /* "package-0" */
    uint64_t energy; /* microjoules, when it was read last */
    uint64_t range;  /* the counter wraps around after this; 0: unknown */
};

struct power {
    enum power_kind kind;
    const char *why; /* there are no figures; NULL: there are */
    double watts;    /* of a mock */
    int folder;      /* of the zones; -1: not open */
    size_t count;
    struct power_zone zone[POWER_ZONES];
    uint64_t read_us; /* when all counters were read last */
    bool moved;       /* a counter has changed since power_open */
};

/* choice: "auto", "none" or "mock:WATTS"; NULL is auto.  root: what takes the
 * place of /sys; NULL: nothing does.  False if the choice is none of them. */
bool power_open(struct power *power, const char *choice, const char *root,
                uint64_t now_us);
void power_close(struct power *power);

/* What was taken until now: one sample for each of `count` sums.  None if it
 * cannot be told. */
void power_sample(struct power *power, uint64_t now_us,
                  struct energy *const sums[], size_t count);

/* "measured", "unavailable (permission)", "not measured": about what was
 * sampled. */
const char *power_status(const struct power *power,
                         const struct energy *energy);

#endif
