/* SPDX-License-Identifier: MIT
 *
 * record_run.c - run.json: the figures of a record in one document
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/json.h"
#include "cli/malloc_count.h"
#include "cli/measure/record_parts.h"

static void put(void *user, const char *at, size_t size)
{
    out_bytes(user, at, size);
}

static void double_member(struct mf_json_out *json, const char *key,
                          double number, bool known)
{
    mf_json_key(json, key);
    if (known)
        mf_json_f64(json, number);
    else
        mf_json_null(json);
}

/* ---- latency ---- */

static void latency_members(struct mf_json_out *json,
                            const struct mf_watch_times *latency, bool known)
{
    json_member_number(json, "samples", latency->count);
    double_member(json, "p50_us", latency->p50, known);
    double_member(json, "p95_us", latency->p95, known);
    double_member(json, "p99_us", latency->p99, known);
    double_member(json, "mean_us", latency->mean, known);
    double_member(json, "std_us", latency->std, known);
}

void record_latency_json(struct mf_json_out *json,
                         const struct mf_watch_times *latency)
{
    latency_members(json, latency, true);
}

static struct mf_watch_times latency_json(struct mf_json_out *json)
{
    struct record_times *times = &the_record.times;
    struct mf_watch_times latency = { .count = times->count };

    if (!times->lost)
        latency = mf_times_of(times->at, times->count);
    mf_json_key(json, "latency");
    mf_json_begin(json, '{');
    latency_members(json, &latency, !times->lost);
    mf_json_end(json, '}');
    return latency;
}

/* ---- memory ---- */

static void memory_json(struct mf_json_out *json)
{
    const struct record_rss *rss = &the_record.rss;
    struct process_heap heap;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    mf_json_key(json, "memory");
    mf_json_begin(json, '{');
    json_member_number(json, "samples", rss->samples);
    json_member_number(json, "peak_rss_bytes", rss->peak);
    json_member_number(json, "mean_rss_bytes", rss->sum / rss->samples);
    json_member_number(json, "system_peak_rss_bytes",
                       (uint64_t)usage.ru_maxrss * 1024);
    if (process_heap(&heap)) {
        json_member_number(json, "peak_heap_bytes", heap.peak);
        json_member_number(json, "heap_allocations", heap.allocations);
    }
    mf_json_end(json, '}');
}

/* ---- energy ---- */

void record_energy_json(struct mf_json_out *json,
                        const struct mf_energy *energy)
{
    bool known = record_has_energy(energy);
    double seconds = mf_energy_seconds(energy);

    json_member_text(json, "status",
                     mf_power_status(&the_record.power, energy));
    double_member(json, "joules", energy->joules, known);
    double_member(json, "mean_watts", mf_energy_mean_watts(energy), known);
    double_member(json, "peak_watts", energy->peak, known);
    double_member(json, "joules_per_second", energy->joules / seconds,
                  known && seconds > 0);
    double_member(json, "seconds", seconds, known);
    json_member_number(json, "samples", energy->samples);
}

static void energy_json(struct mf_json_out *json)
{
    static const char *const sources[] = {
        [MF_POWER_NONE] = "none",
        [MF_POWER_MOCK] = "mock",
        [MF_POWER_RAPL] = "rapl",
    };
    const struct mf_power *power = &the_record.power;

    mf_json_key(json, "energy");
    mf_json_begin(json, '{');
    json_member_text(json, "source", sources[power->kind]);
    mf_json_key(json, "zones");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < power->count; i++)
        mf_json_string(json, power->zone[i].name, strlen(power->zone[i].name));
    mf_json_end(json, ']');
    record_energy_json(json, &the_record.energy);
    mf_json_end(json, '}');
}

/* ---- the document ---- */

static void arguments_json(struct mf_json_out *json, const struct run *run)
{
    const char *at = run->command_line.at;

    mf_json_key(json, "command_line");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < run->command_line.size; i += strlen(at + i) + 1)
        mf_json_string(json, at + i, strlen(at + i));
    mf_json_end(json, ']');
}

static void write_members(struct mf_json_out *json, struct run *run)
{
    const struct record *record = &the_record;
    const struct command *command = run->command;

    json_member_number(json, "schema", 1);
    json_member_text(json, "version", mf_version());
    json_member_text(json, "command", command->name);
    if (*command->sub)
        json_member_text(json, "sub_command", command->sub);
    arguments_json(json, run);
    json_member_number(json, "exit_code", (uint64_t)run->code);
    json_member_number(json, "started_us", record->begun_us);
    json_member_number(json, "ended_us", record_wall_clock());
    record_config_json(json, run);
}

/* The command, if it had no settings. */
static void only_result(const struct run *run,
                        const struct mf_watch_times *latency)
{
    const struct command *command = run->command;
    char setting[64];

    snprintf(setting, sizeof(setting), "%s%s%s", command->name,
             *command->sub ? " " : "", command->sub);
    record_result(&(struct record_result){
        .setting = setting,
        .coherence_delta = NAN,
        .kv_cache_reduction = NAN,
        .peak_mem_reduction = NAN,
        .energy_reduction = NAN,
        .p95_latency_us = the_record.times.lost ? NAN : latency->p95,
        .accuracy = NAN,
    });
}

void record_write_run(struct run *run)
{
    struct record *record = &the_record;
    struct mf_json_out json = { .write = put, .user = &record->other.out };
    struct mf_watch_times latency;

    record_file_close(&record->folder, &record->latency);
    record_file_close(&record->folder, &record->memory);
    record_file_open(&record->folder, &record->other, "run.json");
    mf_json_begin(&json, '{');
    write_members(&json, run);
    latency = latency_json(&json);
    memory_json(&json);
    energy_json(&json);
    if (record->members)
        record->members(&json);
    mf_json_end(&json, '}');
    out_text(&record->other.out, "\n");
    record_file_close(&record->folder, &record->other);
    if (record->results_count == 0)
        only_result(run, &latency);
    record_file_close(&record->folder, &record->results);
}
