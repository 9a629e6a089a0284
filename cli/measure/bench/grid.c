/* SPDX-License-Identifier: MIT
 *
 * grid.c - the unchanged model, then each setting, measured for a record
 *
 * A model is quantized once for all its numbers of threads, into the temporary
 * folder.  Each round has an env of its own, and a first round that is not
 * counted brings the file into memory.
 */
#include "cli/measure/bench/grid.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/measure/record.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/room.h"

static struct grid {
    size_t threads[GRID_THREADS];
    size_t threads_count;
    struct grid_setting *setting; /* GRID_MOST */
    size_t count;
    double norm; /* of all elements of the unchanged model: its L2 */
    struct witness witness;
} grid;

/* ---- the command line ---- */

bool grid_read_threads(struct run *run)
{
    const char *at = bench_options.threads;
    unsigned long number;
    char *end;

    for (; at && grid.threads_count < GRID_THREADS; at = end + 1) {
        errno = 0;
        number = strtoul(at, &end, 10);
        if (!isdigit((unsigned char)*at) || number == 0 || errno != 0 ||
            (*end != 0 && *end != ','))
            break;
        grid.threads[grid.threads_count++] = number;
        if (number > run->options->threads)
            run->options->threads = number;
        if (*end == 0)
            return true;
    }
    if (!at)
        return true;
    report_usage(run,
                 "invalid value '%.60s' for '--threads': not a number from 1 "
                 "up, nor at most %d of them such as 1,2,4",
                 bench_options.threads, GRID_THREADS);
    return false;
}

static bool has_twice(const struct text_list *mixes)
{
    for (size_t i = 0; i < mixes->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(mf_mix_name(mixes->at[i]), mf_mix_name(mixes->at[j])) ==
                0)
                return true;
    return false;
}

static bool threads_twice(void)
{
    for (size_t i = 0; i < grid.threads_count; i++)
        for (size_t j = 0; j < i; j++)
            if (grid.threads[i] == grid.threads[j])
                return true;
    return false;
}

static size_t settings_asked(void)
{
    return bench_options.mixes.count * grid.threads_count + 1;
}

bool grid_is_usable(struct run *run)
{
    bool records = record_is_on() && run->operand_count > 0;

    if (grid.threads_count > 1 && bench_options.leak_check)
        report_usage(run, "'--leak-check' takes one number for '--threads'");
    else if (grid.threads_count > 1 && !records)
        report_usage(run, "a list for '--threads' requires %s",
                     record_is_on()            ? "the argument MODEL"
                     : run->operand_count == 0 ? "MODEL and '--record'"
                                               : "'--record'");
    else if (records && threads_twice())
        report_usage(run, "'--threads' has a number twice");
    else if (records && has_twice(&bench_options.mixes))
        report_usage(run, "'--quantize' has a type twice");
    else if (records && settings_asked() > GRID_MOST)
        report_usage(run,
                     "%zu settings are too many: '--quantize' and '--threads' "
                     "may give at most %d with the unchanged model",
                     settings_asked(), GRID_MOST);
    else
        return true;
    return false;
}

/* ---- one round ---- */

struct round {
    double nanoseconds;
    uint64_t kernel; /* likewise, in decoders */
    uint64_t elements;
    double squares; /* of all elements */
};

/* The tensors that can be decoded; the others have no numbers. */
static size_t choose(const struct mf_model *model, size_t *index)
{
    struct mf_tensor tensor;
    struct mf_kernel kernel;
    size_t count = 0;

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (mf_kernel_find(tensor.type, NULL, &kernel))
            index[count++] = i;
    return count;
}

static enum mf_status decode(struct mf_env *env, struct mf_model *model,
                             struct round *round)
{
    size_t most = mf_model_info(model)->tensor_count + 1, count = 0;
    size_t each = sizeof(size_t) + sizeof(struct mf_tensor_stats);
    struct mf_tensor_stats *stats = mf_env_resize(env, NULL, 0, most * each);
    enum mf_status status = MF_ERR_MEMORY;
    size_t *index;

    if (!stats)
        return mf_env_error(env)->status;
    index = (size_t *)(void *)(stats + most);
    count = choose(model, index);
    status = mf_tensor_stats(model, index, count, stats);
    for (size_t i = 0; status == MF_OK && i < count; i++) {
        round->elements += stats[i].count + stats[i].nans + stats[i].infinities;
        round->squares += stats[i].l2 * stats[i].l2;
    }
    mf_env_resize(env, stats, most * each, 0);
    return status;
}

static enum mf_status read_model(struct mf_env *env, const char *path,
                                 struct round *round)
{
    uint64_t started = bench_now();
    struct mf_model *model;
    enum mf_status status = mf_model_open(env, path, NULL, &model);

    if (status != MF_OK)
        return status;
    status = decode(env, model, round);
    mf_model_close(model);
    round->nanoseconds = (double)(bench_now() - started);
    return status;
}

/* In JSON the error is an element of its own. */
static void report_round(struct run *run, struct mf_env *env, const char *work,
                         const char *mix)
{
    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_text(run, "work", work);
        if (mix)
            json_text(run, "type", mix);
    }
    bench_failure(run, env, run->operand[0]);
    if (run->options->json)
        mf_json_end(&run->json, '}');
}

/* False after a report. */
static bool do_round(struct run *run, const char *path,
                     struct grid_setting *setting, struct round *round)
{
    struct mf_env *env = bench_env(run, setting->threads);
    struct mf_heap_stats before, after;
    enum mf_status status;

    if (!env)
        return false;
    *round = (struct round){ 0 };
    mf_env_heap(env, &before);
    status = read_model(env, path, round);
    if (status != MF_OK)
        report_round(run, env, "read", setting->mix);
    round->kernel = record_kernel(env);
    mf_env_heap(env, &after);
    setting->peak = after.peak;
    setting->allocations = after.allocations - before.allocations;
    bench_env_free(run, env);
    return status == MF_OK;
}

/* ---- one setting ---- */

/* What is below one: of the baseline. */
static double reduction(double of, double baseline, bool known)
{
    return known && baseline > 0 ? 1 - of / baseline : NAN;
}

static void write_result(const struct grid_setting *setting)
{
    const struct grid_setting *baseline = &grid.setting[0];
    bool same = setting == baseline;
    double error = setting->error > 0 ? -setting->error : setting->error;

    record_result(&(struct record_result){
        .setting = setting->name,
        .coherence_delta = error,
        .kv_cache_reduction = 0, /* weights have no part in it */
        .peak_mem_reduction = same ? 0
                                   : reduction((double)setting->peak,
                                               (double)baseline->peak, true),
        .energy_reduction =
            same && record_has_energy(&baseline->energy)
                ? 0
                : reduction(setting->energy.joules, baseline->energy.joules,
                            record_has_energy(&setting->energy)),
        .p95_latency_us = setting->latency.p95,
        .accuracy = 1 - setting->error,
    });
}

static void print_setting(struct run *run, const struct grid_setting *setting)
{
    const struct mf_watch_times *latency = &setting->latency;
    struct bench_row row = { .work = "read",
                             .type = setting->mix,
                             .threads = setting->threads,
                             .operations = latency->count,
                             .p50 = latency->p50 * 1e3,
                             .p95 = latency->p95 * 1e3,
                             .p99 = latency->p99 * 1e3,
                             .mean = latency->mean * 1e3,
                             .std = latency->std * 1e3,
                             .has_cost = true,
                             .allocations = setting->allocations,
                             .peak = setting->peak };

    if (row.p50 > 0)
        row.rate = (double)setting->file_size / row.p50;
    bench_print(run, BENCH_MODEL, &row);
}

/* Rounds of a setting; false after a report. */
static bool do_rounds(struct run *run, const char *path,
                      struct grid_setting *setting, double *times)
{
    struct round round;
    size_t rounds = (size_t)bench_options.rounds;

    if (!do_round(run, path, setting, &round)) /* is not counted */
        return false;
    if (setting == &grid.setting[0])
        grid.norm = sqrt(round.squares);
    record_energy(&setting->energy);
    for (size_t i = 0; i < rounds; i++) {
        uint64_t wall;

        if (progress_signal() != 0 || !do_round(run, path, setting, &round))
            return false;
        wall =
            record_sample(run, round.nanoseconds, round.kernel, round.elements);
        witness_round(&grid.witness, i, wall, (round.kernel + 500) / 1000,
                      round.elements);
        times[i] = (double)wall;
    }
    record_energy(NULL);
    setting->latency = mf_times_of(times, rounds);
    return true;
}

/* Files are named after it. */
static void name_setting(struct grid_setting *setting, const char *mix)
{
    const char *canonical = mix ? mf_mix_name(mix) : NULL;

    if (!canonical) {
        snprintf(setting->name, sizeof(setting->name), "baseline");
        return;
    }
    snprintf(setting->name, sizeof(setting->name), "%.30s_t%zu", canonical,
             setting->threads);
    for (char *at = setting->name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-')
            *at = '_';
}

/* distance: of all elements from the unchanged model's. */
static bool do_setting(struct run *run, const char *path, const char *mix,
                       size_t threads, uint64_t file_size, double distance,
                       double *times)
{
    struct grid_setting *setting = &grid.setting[grid.count];
    bool done;

    *setting = (struct grid_setting){ .mix = mix,
                                      .threads = threads,
                                      .file_size = file_size };
    name_setting(setting, mix);
    setting->error = grid.norm > 0 ? distance / grid.norm : 0;
    witness_begin(run, &grid.witness, setting, grid.count == 0);
    done = do_rounds(run, path, setting, times);
    record_energy(NULL);
    witness_end(&grid.witness, setting);
    if (!done)
        return false;
    grid.count++;
    write_result(setting);
    print_setting(run, setting);
    return true;
}

/* ---- a quantized model ---- */

/* Writes it; false after a report. */
static bool quantize(struct run *run, const char *mix, const char *path,
                     struct mf_quantize_result *result)
{
    struct mf_env *env = bench_env(run, mf_env_threads(run->env));
    struct mf_model *model;
    enum mf_status status;

    if (!env)
        return false;
    bench_folder_env(env);
    status = mf_model_open(env, inputs_model_path(run, run->operand[0]), NULL,
                           &model);
    if (status == MF_OK) {
        status = bench_write_measured(model, path, mix, result);
        mf_model_close(model);
    }
    if (status != MF_OK)
        report_round(run, env, "quantize", mix);
    bench_folder_env(NULL);
    bench_env_free(run, env);
    return status == MF_OK;
}

static double distance_of(const struct mf_quantize_result *result)
{
    double squares = 0;

    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++)
        if (result->type[i].measured > 0)
            squares += result->type[i].rmse * result->type[i].rmse *
                       (double)result->type[i].measured;
    return sqrt(squares);
}

static void do_mix(struct run *run, const char *mix, const char *path,
                   double *times)
{
    struct mf_quantize_result result = { 0 };

    if (!quantize(run, mix, path, &result))
        return;
    for (size_t i = 0; i < grid.threads_count && progress_signal() == 0; i++)
        if (!do_setting(run, path, mix, grid.threads[i], result.file_size,
                        distance_of(&result), times))
            break;
    bench_folder_empty();
}

/* ---- all of it ---- */

static void setting_json(struct mf_json_out *json,
                         const struct grid_setting *setting)
{
    mf_json_begin(json, '{');
    json_member_text(json, "setting", setting->name);
    mf_json_key(json, "type");
    if (setting->mix)
        mf_json_string(json, setting->mix, strlen(setting->mix));
    else
        mf_json_null(json);
    json_member_number(json, "threads", setting->threads);
    json_member_number(json, "file_bytes", setting->file_size);
    mf_json_key(json, "relative_error");
    mf_json_f64(json, setting->error);
    json_member_number(json, "peak_heap_bytes", setting->peak);
    mf_json_key(json, "latency");
    mf_json_begin(json, '{');
    record_latency_json(json, &setting->latency);
    mf_json_end(json, '}');
    mf_json_key(json, "energy");
    mf_json_begin(json, '{');
    record_energy_json(json, &setting->energy);
    mf_json_end(json, '}');
    mf_json_end(json, '}');
}

static void settings_json(struct mf_json_out *json)
{
    mf_json_key(json, "settings");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < grid.count; i++)
        setting_json(json, &grid.setting[i]);
    mf_json_end(json, ']');
}

static void do_all(struct run *run, const char *path, uint64_t file_size,
                   double *times)
{
    const struct text_list *mixes = &bench_options.mixes;
    bool begun = do_setting(run, inputs_model_path(run, run->operand[0]), NULL,
                            grid.threads[0], file_size, 0, times);

    for (size_t i = 0; begun && i < mixes->count && progress_signal() == 0; i++)
        do_mix(run, mixes->at[i], path, times);
    figs_write(grid.setting, grid.count);
}

void grid_measure(struct run *run, struct mf_model *model)
{
    size_t size = (size_t)bench_options.rounds * sizeof(double);
    double *times = mf_env_resize(run->env, NULL, 0, size);
    const struct bench_folder *folder;

    if (!times) {
        report_failure(run, NULL);
        return;
    }
    if (grid.threads_count == 0)
        grid.threads[grid.threads_count++] = mf_env_threads(run->env);
    grid.setting = room_take(GRID_MOST * sizeof(*grid.setting));
    if (!grid.setting) {
        report_no_room(run);
        mf_env_resize(run->env, times, size, 0);
        return;
    }
    record_own_samples();
    record_members(settings_json);
    folder = bench_folder_begin(run);
    if (folder) {
        bench_begin(run, BENCH_MODEL);
        do_all(run, folder->ours, mf_model_info(model)->file_size, times);
        bench_end(run);
        bench_folder_end(run);
    }
    if (progress_signal() != 0)
        report_code(run, EXIT_SIGNAL + progress_signal());
    mf_env_resize(run->env, times, size, 0);
}
