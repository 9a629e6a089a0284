/* SPDX-License-Identifier: MIT
 *
 * test_power.c - energy from samples, and counters of power in a tree of files
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "lib/watch/watch.h"
#include "tests/scratch.h"

/* ---- energy ---- */

static void constant_power(void **state)
{
    struct mf_energy energy = { 0 };

    (void)state;
    for (uint64_t at = 5000000; at <= 6000000; at += 250000)
        mf_energy_add(&energy, 100, at);
    assert_true(energy.joules == 100 && mf_energy_mean_watts(&energy) == 100);
    assert_true(mf_energy_seconds(&energy) == 1 && energy.samples == 5);
}

static void ramp(void **state)
{
    struct mf_energy energy = { 0 };

    (void)state;
    mf_energy_add(&energy, 0, 0);
    mf_energy_add(&energy, 200, 1000000);
    assert_true(energy.joules == 100 && energy.peak == 200);
    assert_true(mf_energy_mean_watts(&energy) == 100);
}

static void one_sample_gives_no_energy(void **state)
{
    struct mf_energy none = { 0 }, energy = { 0 };

    (void)state;
    mf_energy_add(&energy, 42, 7);
    assert_true(energy.joules == 0 && mf_energy_seconds(&energy) == 0);
    assert_true(mf_energy_mean_watts(&energy) == 42 && energy.peak == 42);
    assert_true(mf_energy_mean_watts(&none) == 0 &&
                mf_energy_seconds(&none) == 0);
}

/* The mean of the samples is not the energy over the time. */
static void uneven_samples(void **state)
{
    struct mf_energy energy = { 0 };

    (void)state;
    mf_energy_add(&energy, 10, 0);
    mf_energy_add(&energy, 10, 3000000);
    mf_energy_add(&energy, 40, 4000000);
    assert_true(energy.joules == 30 + 25);
    assert_true(mf_energy_mean_watts(&energy) == 20);
}

static void clock_that_goes_back(void **state)
{
    struct mf_energy energy = { 0 };

    (void)state;
    mf_energy_add(&energy, 10, 9000000);
    mf_energy_add(&energy, 10, 1000000);
    assert_true(energy.joules == 0 && mf_energy_seconds(&energy) == 0);
}

static void spans_add_up(void **state)
{
    struct mf_energy energy = { 0 };

    (void)state;
    mf_energy_add_span(&energy, 0, 0, 1000000);
    mf_energy_add_span(&energy, 70, 1000000, 1100000);
    mf_energy_add_span(&energy, 0, 1100000, 2000000);
    assert_true(fabs(energy.joules - 7) < 1e-12 && energy.peak == 70);
    assert_true(mf_energy_seconds(&energy) == 2 && energy.samples == 3);
}

/* ---- RAPL ---- */

static const char *tree(void)
{
    return scratch_path("power");
}

static void put_file(const char *zone, const char *name, const char *text)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", tree(), zone);
    mkdir(tree(), 0700);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/%s/%s", tree(), zone, name);
    unlink(path);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_zone(const char *zone, const char *name, const char *energy,
                     const char *range)
{
    put_file(zone, "name", name);
    put_file(zone, "energy_uj", energy);
    put_file(zone, "max_energy_range_uj", range);
}

static void remove_tree(void)
{
    char command[4200];

    snprintf(command, sizeof(command), "rm -rf '%s'", tree());
    assert_int_equal(system(command), 0);
}

static double joules_until(struct mf_power *power, struct mf_energy *energy,
                           uint64_t at)
{
    mf_power_sample(power, at, &energy, 1);
    return energy->joules;
}

/* Of two packages, one of which wraps around, and what repeats them. */
static void packages_only(void **state)
{
    struct mf_energy energy = { 0 };
    struct mf_power power;

    (void)state;
    put_zone("intel-rapl:0", "package-0\n", "1000000\n", "262143328850\n");
    put_zone("intel-rapl:1", "package-1\n", "999000\n", "1000000\n");
    put_zone("intel-rapl:0:0", "core\n", "5\n", "1000000\n");
    put_zone("intel-rapl:0:1", "package-9\n", "5\n", "1000000\n");
    put_zone("intel-rapl:2", "psys\n", "5\n", "1000000\n");
    put_zone("intel-rapl-mmio:0", "package-0\n", "5\n", "1000000\n");
    assert_true(mf_power_open(&power, "auto", tree(), 0));
    assert_null(power.why);
    assert_int_equal(power.count, 2);
    assert_string_equal(mf_power_status(&power, &energy),
                        "unavailable (the energy counter cannot be read)");
    put_file("intel-rapl:0", "energy_uj", "3000000\n");
    put_file("intel-rapl:1", "energy_uj", "1000\n");
    put_file("intel-rapl:2", "energy_uj", "900000\n");
    put_file("intel-rapl-mmio:0", "energy_uj", "900000\n");
    assert_true(fabs(joules_until(&power, &energy, 500000) - 2.002) < 1e-12);
    assert_true(fabs(energy.peak - 4.004) < 1e-12);
    assert_string_equal(mf_power_status(&power, &energy), "measured");
    mf_power_close(&power);
    remove_tree();
}

static void mmio_where_there_is_nothing_else(void **state)
{
    struct mf_energy energy = { 0 };
    struct mf_power power;

    (void)state;
    put_zone("intel-rapl-mmio:0", "package-0\n", "5\n", "1000000\n");
    assert_true(mf_power_open(&power, NULL, tree(), 0));
    assert_int_equal(power.count, 1);
    put_file("intel-rapl-mmio:0", "energy_uj", "1000005\n");
    assert_true(fabs(joules_until(&power, &energy, 1000000) - 1) < 1e-12);
    mf_power_close(&power);
    remove_tree();
}

/* What is not a number is not a sample; the next one covers its time. */
static void unreadable_for_a_while(void **state)
{
    static const char *const hostile[] = {
        "",      "-1\n",   "1 2\n", "0x10\n", "99999999999999999999\n",
        "1e9\n", "watt\n", " 7\n"
    };
    struct mf_energy energy = { 0 };
    struct mf_power power;

    (void)state;
    put_zone("intel-rapl:0", "package-0\n", "1000000\n", "2000000\n");
    assert_true(mf_power_open(&power, "auto", tree(), 0));
    for (size_t i = 0; i < COUNT(hostile); i++) {
        put_file("intel-rapl:0", "energy_uj", hostile[i]);
        assert_true(joules_until(&power, &energy, 1000 * (i + 1)) == 0);
    }
    assert_int_equal(energy.samples, 0);
    put_file("intel-rapl:0", "energy_uj", "1500000\n");
    assert_true(fabs(joules_until(&power, &energy, 1000000) - 0.5) < 1e-12);
    assert_true(fabs(energy.peak - 0.5) < 1e-12);
    mf_power_close(&power);
    remove_tree();
}

/* It went back, and is above its range or has none: the time is lost, and no
 * energy invented. */
static void wraps_at_an_unknown_place(void **state)
{
    static const char *const ranges[] = { "10\n", "none\n", "0\n" };

    (void)state;
    for (size_t i = 0; i < COUNT(ranges); i++) {
        struct mf_energy energy = { 0 };
        struct mf_power power;

        put_zone("intel-rapl:0", "package-0\n", "5000000\n", ranges[i]);
        assert_true(mf_power_open(&power, "auto", tree(), 0));
        put_file("intel-rapl:0", "energy_uj", "1000000\n");
        assert_true(joules_until(&power, &energy, 1000000) == 0);
        assert_int_equal(energy.samples, 0);
        put_file("intel-rapl:0", "energy_uj", "3000000\n");
        assert_true(fabs(joules_until(&power, &energy, 2000000) - 2) < 1e-12);
        assert_true(mf_energy_seconds(&energy) == 1);
        mf_power_close(&power);
        remove_tree();
    }
}

static void no_counter(void **state)
{
    struct mf_energy energy = { 0 };
    struct mf_power power;

    (void)state;
    mkdir(tree(), 0700);
    assert_true(mf_power_open(&power, "auto", tree(), 0));
    joules_until(&power, &energy, 1000000);
    assert_string_equal(mf_power_status(&power, &energy),
                        "unavailable (no energy counter)");
    mf_power_close(&power);
    remove_tree();
    assert_true(mf_power_open(&power, "auto", tree(), 0));
    assert_string_equal(mf_power_status(&power, &energy),
                        "unavailable (no energy counter)");
}

/* Links lead where they like; a pipe must not block, a device not be read. */
static void counters_that_are_invalid(void **state)
{
    struct mf_power power;
    char path[4096];

    (void)state;
    put_zone("intel-rapl:0", "package-0\n", "1\n", "1\n");
    put_zone("intel-rapl:1", "package-1\n", "1\n", "1\n");
    snprintf(path, sizeof(path), "%s/intel-rapl:0/energy_uj", tree());
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof(path), "%s/intel-rapl:1/energy_uj", tree());
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_true(mf_power_open(&power, "auto", tree(), 0));
    assert_int_equal(power.count, 0);
    assert_string_equal(power.why,
                        "unavailable (the energy counter cannot be read)");
    mf_power_close(&power);
    remove_tree();
}

static void counter_without_change(void **state)
{
    struct mf_energy energy = { 0 };
    struct mf_power power;

    (void)state;
    put_zone("intel-rapl:0", "package-0\n", "77\n", "1000\n");
    assert_true(mf_power_open(&power, "auto", tree(), 0));
    joules_until(&power, &energy, 1000000);
    assert_string_equal(mf_power_status(&power, &energy),
                        "unavailable (the energy counter does not change)");
    mf_power_close(&power);
    remove_tree();
}

static void choices(void **state)
{
    static const char *const wrong[] = { "",          "rapl",     "mock",
                                         "mock:",     "mock:x",   "mock:-1",
                                         "mock:1W",   "mock:inf", "mock:nan",
                                         "mock:1e10", "AUTO" };
    struct mf_energy energy = { 0 };
    struct mf_power power;

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(mf_power_open(&power, wrong[i], NULL, 0));
    assert_true(mf_power_open(&power, "mock:12.5", NULL, 0));
    joules_until(&power, &energy, 1000000);
    assert_true(fabs(joules_until(&power, &energy, 3000000) - 25) < 1e-12);
    assert_true(mf_power_open(&power, "none", NULL, 0));
    assert_string_equal(mf_power_status(&power, &energy), "not measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_power),
        cmocka_unit_test(ramp),
        cmocka_unit_test(one_sample_gives_no_energy),
        cmocka_unit_test(uneven_samples),
        cmocka_unit_test(clock_that_goes_back),
        cmocka_unit_test(spans_add_up),
        cmocka_unit_test(packages_only),
        cmocka_unit_test(mmio_where_there_is_nothing_else),
        cmocka_unit_test(unreadable_for_a_while),
        cmocka_unit_test(wraps_at_an_unknown_place),
        cmocka_unit_test(no_counter),
        cmocka_unit_test(counters_that_are_invalid),
        cmocka_unit_test(counter_without_change),
        cmocka_unit_test(choices),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
