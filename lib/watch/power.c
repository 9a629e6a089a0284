/* SPDX-License-Identifier: MIT
 *
 * power.c - how much power the machine takes: RAPL, or a given number
 *
 * Linux shows the energy counters of processors (RAPL) below
 * /sys/class/powercap.  The zones of packages are added up.  Their parts
 * (cores, DRAM) and the platform (psys) are left out, which would count the
 * same energy twice, and so is what intel-rapl-mmio repeats of them.
 *
 * A file's content is trusted only if it looks like the kernel's: a number of
 * at most 20 digits in a regular file.  A sample for which one package cannot
 * be read is left out; the next one covers its time.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/io/system.h"
#include "lib/watch/watch.h"

/* ---- energy from samples of power ---- */

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

/* ---- how much power the machine takes: RAPL, or a given number ---- */

#define NOTHING    "unavailable (no energy counter)"
#define PERMISSION "unavailable (permission)"
#define UNREADABLE "unavailable (the energy counter cannot be read)"
#define UNMOVED    "unavailable (the energy counter does not change)"

/* Of a mock: a power station's. */
#define WATTS_MOST 1e9

/* ---- files of a zone ---- */

/* A line of a small file, terminated; false with errno set.  Links are
 * followed, since /sys consists of links, but not to pipes and devices that
 * block. */
static bool read_line(int folder, const char *zone, const char *name,
                      char *line, size_t size)
{
    char path[80];
    struct stat status;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", zone, name);
    fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    errno = EINVAL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        do
            got = read(fd, line, size - 1);
        while (got < 0 && errno == EINTR);
    close(fd);
    if (got < 0)
        return false;
    line[got] = 0;
    line[strcspn(line, "\n")] = 0;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_number(int folder, const char *zone, const char *name,
                        uint64_t *out)
{
    char line[32], *end;

    if (!read_line(folder, zone, name, line, sizeof(line)))
        return false;
    errno = 0;
    *out = strtoull(line, &end, 10);
    if (is_digit(*line) && *end == 0 && errno == 0)
        return true;
    errno = EINVAL;
    return false;
}

/* ---- zones ---- */

/* PREFIX and digits: a zone, not a part of one ("intel-rapl:0:1"). */
static bool is_zone(const char *name, const char *prefix)
{
    size_t size = strlen(prefix), digits;

    if (strncmp(name, prefix, size) != 0)
        return false;
    digits = strspn(name + size, "0123456789");
    return digits > 0 && digits <= 4 && name[size + digits] == 0;
}

static bool has_name(const struct mf_power *power, const char *name)
{
    for (size_t i = 0; i < power->count; i++)
        if (strcmp(power->zone[i].name, name) == 0)
            return true;
    return false;
}

static void add_zone(struct mf_power *power, const char *folder)
{
    struct mf_power_zone zone = { .range = 0 };

    if (power->count == MF_POWER_ZONES ||
        !read_line(power->folder, folder, "name", zone.name,
                   sizeof(zone.name)) ||
        strncmp(zone.name, "package-", 8) != 0 || has_name(power, zone.name))
        return;
    snprintf(zone.folder, sizeof(zone.folder), "%.31s", folder);
    if (!read_number(power->folder, folder, "energy_uj", &zone.energy)) {
        power->why =
            errno == EACCES || errno == EPERM ? PERMISSION : UNREADABLE;
        return;
    }
    if (!read_number(power->folder, folder, "max_energy_range_uj", &zone.range))
        zone.range = 0;
    power->zone[power->count++] = zone;
}

static void add_zones(struct mf_power *power, const char *prefix)
{
    struct mf_entries entries;
    const char *name;

    mf_entries_begin(&entries, openat(power->folder, ".",
                                      O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while ((name = mf_entries_next(&entries)) != NULL)
        if (is_zone(name, prefix))
            add_zone(power, name);
    mf_entries_end(&entries);
}

static void open_zones(struct mf_power *power, const char *root)
{
    static const char *const places[] = { "class/powercap",
                                          "sys/class/powercap", "." };
    int above = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (size_t i = 0; above >= 0 && power->folder < 0 &&
                       i < sizeof(places) / sizeof(*places);
         i++)
        power->folder =
            openat(above, places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above >= 0)
        close(above);
    if (power->folder < 0)
        return;
    add_zones(power, "intel-rapl:");
    if (power->count == 0 && !power->why)
        add_zones(power, "intel-rapl-mmio:");
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* As JSON has a number that is not negative: "4", "2.5", "1e3". */
static bool is_number(const char *text)
{
    size_t integer = digits(text), more = 1;

    text += integer;
    if (*text == '.') {
        more = digits(++text);
        text += more;
    }
    if (integer > 0 && more > 0 && (*text == 'e' || *text == 'E')) {
        text += 1 + (text[1] == '+' || text[1] == '-');
        more = digits(text);
        text += more;
    }
    return integer > 0 && more > 0 && *text == 0;
}

bool mf_power_open(struct mf_power *power, const char *choice, const char *root,
                   uint64_t now_us)
{
    static const char mock[] = "mock:";

    *power = (struct mf_power){ .folder = -1, .read_us = now_us };
    if (choice && strcmp(choice, "none") == 0) {
        power->why = "not measured";
        return true;
    }
    if (choice && strncmp(choice, mock, sizeof(mock) - 1) == 0) {
        choice += sizeof(mock) - 1;
        power->kind = MF_POWER_MOCK;
        power->watts = is_number(choice) ? mf_decimal_read(choice) : HUGE_VAL;
        return power->watts <= WATTS_MOST;
    }
    if (choice && strcmp(choice, "auto") != 0)
        return false;
    power->kind = MF_POWER_RAPL;
    open_zones(power, root ? root : "/sys");
    if (power->count == 0 && !power->why)
        power->why = NOTHING;
    return true;
}

void mf_power_close(struct mf_power *power)
{
    if (power->folder >= 0)
        close(power->folder);
    power->folder = -1;
}

/* ---- samples ---- */

/* By how much a counter has grown; false if it went back and its range is
 * unknown. */
static bool grown(const struct mf_power_zone *zone, uint64_t energy,
                  double *sum)
{
    if (energy >= zone->energy)
        *sum += (double)(energy - zone->energy);
    else if (zone->energy <= zone->range)
        *sum += (double)(zone->range - zone->energy) + (double)energy;
    else
        return false;
    return true;
}

/* Adds up what all packages have taken since the last sample, in microjoules;
 * false if it is unknown. */
static bool read_zones(struct mf_power *power, uint64_t now_us, double *sum)
{
    uint64_t energy[MF_POWER_ZONES];
    bool known = true;

    *sum = 0;
    for (size_t i = 0; i < power->count; i++)
        if (!read_number(power->folder, power->zone[i].folder, "energy_uj",
                         &energy[i]))
            return false;
    for (size_t i = 0; i < power->count; i++) {
        known = grown(&power->zone[i], energy[i], sum) && known;
        power->zone[i].energy = energy[i];
    }
    power->read_us = now_us;
    return known;
}

void mf_power_sample(struct mf_power *power, uint64_t now_us,
                     struct mf_energy *const sums[], size_t count)
{
    uint64_t from = power->read_us;
    double microjoules, watts;

    if (power->why)
        return;
    if (power->kind == MF_POWER_MOCK) {
        for (size_t i = 0; i < count; i++)
            mf_energy_add(sums[i], power->watts, now_us);
        return;
    }
    if (now_us <= from || !read_zones(power, now_us, &microjoules))
        return;
    power->moved = power->moved || microjoules > 0;
    watts = microjoules / (double)(now_us - from);
    for (size_t i = 0; i < count; i++)
        mf_energy_add_span(sums[i], watts, from, now_us);
}

const char *mf_power_status(const struct mf_power *power,
                            const struct mf_energy *energy)
{
    if (power->why)
        return power->why;
    if (energy->samples == 0)
        return UNREADABLE;
    if (power->kind == MF_POWER_RAPL && !power->moved)
        return UNMOVED;
    return "measured";
}
