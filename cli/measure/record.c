/* SPDX-License-Identifier: MIT
 *
 * record.c - --record DIR: what a run took, as tables for other programs
 */
#include "cli/measure/record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/measure/record_parts.h"
#include "cli/report.h"
#include "cli/room.h"

/* ---- before the run ---- */

static bool has_force(const struct command *command)
{
    const struct option *option = command->options;

    for (; option && option->name; option++)
        if (strcmp(option->name, "--force") == 0)
            return true;
    return false;
}

static void refuse(struct run *run, enum record_found found)
{
    struct record_folder *folder = &the_record.folder;
    char why[RECORD_NAME + 100];

    if (found == RECORD_OTHER)
        snprintf(why, sizeof(why),
                 "contains '%s', which is not of a whole record: choose "
                 "another folder for '--record'",
                 folder->failed);
    else if (found == RECORD_BUSY)
        snprintf(why, sizeof(why), "is in use: another process records there");
    else if (found == RECORD_PLANTED)
        snprintf(why, sizeof(why),
                 "belongs to another user in a folder that everyone may write "
                 "to");
    else if (found == RECORD_OLD || found == RECORD_BROKEN)
        snprintf(why, sizeof(why), "has a record%s; %s",
                 found == RECORD_BROKEN ? " of a run that was killed" : "",
                 has_force(run->command)
                     ? "use --force to overwrite it"
                     : "remove it, or choose another folder");
    else
        snprintf(why, sizeof(why), "cannot be made: %s",
                 strerror(folder->error));
    report_output_alone(run, folder->path, why);
    if (folder->fd >= 0)
        close(folder->fd);
}

static bool open_folder(struct run *run)
{
    struct record_folder *folder = &the_record.folder;
    enum record_found found = record_folder_open(folder, run->options->record);

    /* The record of resumed work describes the last try. */
    if ((found == RECORD_OLD || found == RECORD_BROKEN) &&
        (run->options->force || run->options->resume)) {
        record_remove(folder);
        found = RECORD_READY;
    }
    if (found != RECORD_READY)
        refuse(run, found);
    return found == RECORD_READY;
}

/* What only a run with --record needs; false after a report. */
static bool take_room(struct run *run, struct record *record)
{
    record->times.first =
        room_take(RECORD_TIMES * sizeof(double) + RECORD_BUFFERS * OUT_BUFFER);
    if (!record->times.first) {
        report_no_room(run);
        return false;
    }
    return true;
}

bool record_open(struct run *run)
{
    const struct options *options = run->options;
    struct record *record = &the_record;

    if (options->help)
        return true;
    if (!options->record && (options->power || options->power_root)) {
        report_usage(run, "'%s' requires '--record'",
                     options->power ? "--power" : "--power-root");
        return false;
    }
    if (!options->record)
        return true;
    if (!mf_power_open(&record->power, options->power, options->power_root,
                       record_clock() / 1000)) {
        report_usage(run,
                     "invalid value '%.60s' for '--power': not one of auto, "
                     "none, mock:WATTS",
                     options->power);
        return false;
    }
    if (!take_room(run, record))
        return false;
    record->open = open_folder(run);
    record->folder.buffers = (char *)(record->times.first + RECORD_TIMES);
    return record->open;
}

void record_allow(struct sandbox *sandbox)
{
    if (the_record.open)
        sandbox_allow_folder(sandbox, the_record.folder.path);
}

static void open_table(struct record_file *file, const char *name,
                       const char *heading)
{
    record_file_open(&the_record.folder, file, name);
    out_line(&file->out, heading);
    out_flush(&file->out);
}

void record_begin(struct run *run)
{
    struct record *record = &the_record;

    if (!record->open)
        return;
    record->on = true;
    record->times.at = record->times.first;
    record->times.room = RECORD_TIMES;
    record->env = run->env;
    record->begun_us = record_wall_clock();
    mf_sha256_begin(&record->weights);
    record_folder_begin(&record->folder, &record->sums);
    open_table(&record->latency, "latency.csv", RECORD_LATENCY);
    open_table(&record->memory, "memory.csv",
               "timestamp_us,peak_rss_bytes,kv_cache_bytes,activation_bytes,"
               "temp_buffer_bytes");
    open_table(&record->results, "results.csv",
               "setting,coherence_delta,kv_cache_reduction,peak_mem_reduction,"
               "energy_reduction,p95_latency_us,accuracy");
    record_snapshot(run->env);
}

/* ---- after the run ---- */

/* What had no samples of its own is one: all of it. */
static void sample_all(struct run *run)
{
    struct record *record = &the_record;
    uint64_t start = (uint64_t)run->started.tv_sec * 1000000000 +
                     (uint64_t)run->started.tv_nsec;

    if (record->times.count == 0)
        record_sample(run, (double)(record_clock() - start),
                      record_kernel(run->env), record->now.elements);
}

static void release_times(struct run *run, struct record_times *times)
{
    if (times->at != times->first)
        mf_env_resize(run->env, times->at, times->room * sizeof(double), 0);
    times->at = times->first;
}

static void report_recorded(struct run *run, const char *fingerprint)
{
    struct record *record = &the_record;
    char text[200], joules[80];

    snprintf(joules, sizeof(joules), "%s",
             mf_power_status(&record->power, &record->energy));
    if (record_has_energy(&record->energy))
        snprintf(joules, sizeof(joules), "%.3g J", record->energy.joules);
    snprintf(text, sizeof(text), "recorded; energy: %s; fingerprint: %s",
             joules, fingerprint);
    if (!run->options->quiet)
        report_note(run, record->folder.path, text);
}

static void report_failed(struct run *run)
{
    const struct record_folder *folder = &the_record.folder;
    char text[RECORD_NAME + 120];

    snprintf(text, sizeof(text),
             "no record is left: '%s' cannot be written: %s",
             *folder->failed ? folder->failed : ".", strerror(folder->error));
    report_unwritten(run, folder->path, text);
}

void record_close(struct run *run)
{
    struct record *record = &the_record;
    struct sha256_text fingerprint;
    bool dropped;

    if (!record->on) { /* there was no env to begin with */
        if (record->open && record->folder.made)
            rmdir(record->folder.path);
        return;
    }
    /* A mistyped command leaves no record: the next one can use the folder.  A
     * grid has results all the same where one type of it was refused. */
    dropped = run->code == EXIT_USAGE && record->results_count == 0;
    if (dropped)
        record_folder_drop(&record->folder);
    sample_all(run);
    record_snapshot(run->env);
    fingerprint = record_fingerprint(run);
    record_write_run(run);
    record_folder_end(&record->folder);
    release_times(run, &record->times);
    mf_power_close(&record->power);
    if (record->folder.error && !dropped)
        report_failed(run);
    else if (!record->folder.error)
        report_recorded(run, fingerprint.at);
    record->on = false;
    if (record->times.lost && !record->folder.error) {
        report_late(run, EXIT_MEMORY, record->folder.path,
                    "no memory for all samples: run.json has no percentiles");
    }
}
