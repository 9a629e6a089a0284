/* SPDX-License-Identifier: MIT
 *
 * record_state.c - the record of this run
 */
#include <string.h>
#include <time.h>

#include "cli/measure/record_parts.h"

struct record the_record;

static uint64_t clock_of(clockid_t which)
{
    struct timespec time;

    clock_gettime(which, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t record_clock(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

uint64_t record_wall_clock(void)
{
    return clock_of(CLOCK_REALTIME) / 1000;
}

bool record_is_on(void)
{
    return the_record.on;
}

struct record_folder *record_folder(void)
{
    return the_record.on ? &the_record.folder : NULL;
}

bool record_has_energy(const struct mf_energy *energy)
{
    return the_record.on &&
           strcmp(mf_power_status(&the_record.power, energy), "measured") == 0;
}

void record_members(void (*write)(struct mf_json_out *json))
{
    the_record.members = write;
}
