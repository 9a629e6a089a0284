/* SPDX-License-Identifier: MIT
 *
 * record.h - --record DIR: what a run took, as tables for other programs
 *
 *     latency.csv  one line per sample: a file that the command worked on, or a
 *                  round of bench
 *     memory.csv   resident memory and heap: at the start, at most ten times a
 *                  second during long work, at the end
 *     results.csv  one line per setting that was measured
 *     run.json     percentiles, mean and deviation, memory, energy, what was
 *                  run and where
 *     SHA256SUMS   the digests of these files, and the seal
 *
 * The columns are ruvector-profiler's (docs/cli.md).  Numbers that are not
 * known are NaN in results.csv and null in run.json.
 */
#ifndef MF_CLI_RECORD_H
#define MF_CLI_RECORD_H

#include "cli/measure/measure.h"
#include "cli/measure/record_folder.h"

/* ---- bench, whose samples and settings are its own ---- */

bool record_is_on(void);

/* Files are not samples any more. */
void record_own_samples(void);

/* elements: that were worked on.  Returns the microseconds in latency.csv. */
uint64_t record_sample(struct run *run, double nanoseconds,
                       uint64_t kernel_nanoseconds, uint64_t elements);

/* Nanoseconds in decoders and encoders since the env was made: of all threads
 * together, divided by their number. */
uint64_t record_kernel(const struct mf_env *env);

struct record_result {
    const char *setting;
    double coherence_delta, kv_cache_reduction, peak_mem_reduction,
        energy_reduction, p95_latency_us, accuracy;
};
void record_result(const struct record_result *result);

/* From now on energy is added up there, too; NULL: no longer. */
void record_energy(struct mf_energy *energy);

/* Whether there are figures of that energy. */
bool record_has_energy(const struct mf_energy *energy);

/* The folder, for more files; NULL without --record. */
struct record_folder *record_folder(void);

/* Writes more members into run.json. */
void record_members(void (*write)(struct mf_json_out *json));

/* Members "p50_us" and others, of an object that is open. */
void record_latency_json(struct mf_json_out *json,
                         const struct mf_watch_times *latency);
void record_energy_json(struct mf_json_out *json,
                        const struct mf_energy *energy);

/* The fingerprint of this run; begin must be over. */
struct sha256_text record_fingerprint(struct run *run);

#endif
