/* SPDX-License-Identifier: MIT
 *
 * recorded.c - which kind of record a path is, and the folder of one
 */
#include "lib/report/recorded.h"

#include <stdio.h>

#include "lib/io/path.h"

const char *const mf_record_files[MF_RECORD_FILES] = {
    [MF_RECORD_RUN] = "run.json",
    [MF_RECORD_MEMORY] = "memory.csv",
    [MF_RECORD_LATENCY] = "latency.csv",
    [MF_RECORD_RESULTS] = "results.csv",
};

/* ---- the folder ---- */

struct folder {
    struct mf_problems problems;
    bool has[MF_RECORD_FILES];
    const struct mf_node *run;
    struct mf_series memory, latency;
    struct mf_results results;
};

void mf_problem(struct mf_recorded *recorded, struct mf_problems *problems,
                const char *format, ...)
{
    char text[256];
    char *kept;
    va_list list;

    problems->count++;
    if (problems->count > MF_PROBLEMS)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    kept = mf_arena_text(&recorded->arena, strlen(text));
    if (kept)
        memcpy(kept, text, strlen(text));
    problems->text[problems->count - 1] = kept;
}

/* folder/name in the arena; NULL after mf_fail. */
static const char *path_of(struct mf_recorded *recorded, const char *name)
{
    const char *folder = recorded->options->recorded;
    size_t size = strlen(folder), more = strlen(name);
    bool slash = size > 0 && !mf_is_separator(folder[size - 1]);
    char *path = mf_arena_text(&recorded->arena, size + slash + more);

    if (path)
        snprintf(path, size + slash + more + 1, "%s%s%s", folder,
                 slash ? "/" : "", name);
    return path;
}

enum mf_status mf_record_open(struct mf_recorded *recorded, const char *name,
                              struct mf_source *out, bool *found)
{
    struct mf_env *env = recorded->env;
    const char *path;

    *found = false;
    if (env->error.status != MF_OK || !(path = path_of(recorded, name)))
        return env->error.status;
    if (mf_source_open_file(env, path, out, NULL) == MF_OK) {
        *found = true;
        return MF_OK;
    }
    if (env->error.system != ENOENT && env->error.system != ENOTDIR)
        return mf_error_about(env, path);
    mf_clear_error(env);
    return MF_OK;
}

static enum mf_status read_open(struct mf_recorded *recorded,
                                struct folder *folder,
                                const struct mf_source *source,
                                enum mf_record_file file, bool *cut)
{
    switch (file) {
    case MF_RECORD_RUN:
        return mf_run_read(recorded, source, &folder->run);
    case MF_RECORD_MEMORY:
        return mf_series_read(recorded, source, mf_memory_columns,
                              &folder->memory, cut);
    case MF_RECORD_LATENCY:
        return mf_series_read(recorded, source, mf_latency_columns,
                              &folder->latency, cut);
    default:
        return mf_results_read(recorded, source, &folder->results, cut);
    }
}

static enum mf_status read_one(struct mf_recorded *recorded,
                               struct folder *folder, enum mf_record_file file)
{
    const char *name = mf_record_files[file];
    struct mf_source source = { 0 };
    enum mf_status status =
        mf_record_open(recorded, name, &source, &folder->has[file]);
    bool cut = false;

    if (status != MF_OK || !folder->has[file])
        return status;
    status = read_open(recorded, folder, &source, file, &cut);
    if (status != MF_OK)
        status = mf_error_about(recorded->env, source.name);
    mf_source_close(&source);
    if (cut)
        mf_problem(recorded, &folder->problems, "%s ends within a line", name);
    return status;
}

static enum mf_status read_all(struct mf_recorded *recorded,
                               struct folder *folder)
{
    struct mf_env *env = recorded->env;
    bool listed[MF_RECORD_FILES] = { false }, any = false;

    if (mf_record_check(recorded, &folder->problems, listed) != MF_OK)
        return env->error.status;
    for (int i = 0; i < MF_RECORD_FILES; i++) {
        if (read_one(recorded, folder, (enum mf_record_file)i) != MF_OK)
            return env->error.status;
        any = any || folder->has[i];
        if (!listed[i] && (folder->problems.has_sums || !folder->has[i]))
            mf_problem(recorded, &folder->problems,
                       folder->has[i] ? "%s is not in SHA256SUMS"
                                      : "%s is missing",
                       mf_record_files[i]);
    }
    return any ? env->error.status
               : mf_fail(env, MF_ERR_FORMAT, MF_NO_OFFSET,
                         "not a record: the folder has none of run.json, "
                         "memory.csv, latency.csv and results.csv");
}

/* ---- what is written of it ---- */

static void write_numbers(struct mf_recorded *recorded, const char *key,
                          const uint64_t *value, size_t count)
{
    mf_json_key(recorded->json, key);
    mf_json_begin(recorded->json, '[');
    for (size_t i = 0; i < count; i++)
        mf_report_number(recorded->json, value[i]);
    mf_json_end(recorded->json, ']');
}

static void begin_series(struct mf_recorded *recorded, const char *key,
                         const struct mf_series *series)
{
    struct mf_json_out *json = recorded->json;

    mf_json_key(json, key);
    mf_json_begin(json, '{');
    mf_put_string(json, "unit", "us");
    mf_put_number(json, "samples", series->samples);
    mf_put_number(json, "every", series->every);
}

static bool is_zero(const uint64_t *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (value[i] != 0)
            return false;
    return true;
}

/* Times count from the first one: the clock may have been set back since. */
static void write_memory(struct mf_recorded *recorded,
                         const struct mf_series *series)
{
    struct mf_json_out *json = recorded->json;
    const size_t count = series->points;
    uint64_t *const *value = series->value;

    begin_series(recorded, "memory", series);
    mf_json_key(json, "time");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < count; i++)
        mf_report_signed(json, (int64_t)(value[0][i] - value[0][0]));
    mf_json_end(json, ']');
    write_numbers(recorded, "resident", value[1], count);
    if (!is_zero(value[2], count))
        write_numbers(recorded, "kv_cache", value[2], count);
    write_numbers(recorded, "library", value[3], count);
    write_numbers(recorded, "other", value[4], count);
    mf_json_end(json, '}');
}

static void write_latency(struct mf_recorded *recorded,
                          const struct mf_series *series)
{
    begin_series(recorded, "samples", series);
    write_numbers(recorded, "wall", series->value[1], series->points);
    write_numbers(recorded, "kernel", series->value[2], series->points);
    write_numbers(recorded, "elements", series->value[3], series->points);
    mf_json_end(recorded->json, '}');
}

static void write_result(struct mf_json_out *json,
                         const struct mf_results *results, size_t row)
{
    mf_json_begin(json, '{');
    mf_put_text(json, mf_results_columns[0], results->setting[row]);
    for (size_t i = 1; mf_results_columns[i]; i++) {
        double value = results->value[row][i - 1];

        if (value != value)
            continue;
        mf_json_key(json, mf_results_columns[i]);
        mf_json_f64(json, value);
    }
    mf_json_end(json, '}');
}

static void write_results(struct mf_recorded *recorded,
                          const struct mf_results *results)
{
    struct mf_json_out *json = recorded->json;

    mf_put_number(json, "result_count", results->count);
    mf_json_key(json, "results");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < results->kept; i++)
        write_result(json, results, i);
    mf_json_end(json, ']');
}

static void write_problems(struct mf_json_out *json,
                           const struct mf_problems *problems)
{
    mf_put_number(json, "problem_count", problems->count);
    mf_json_key(json, "problems");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < problems->count && i < MF_PROBLEMS; i++)
        mf_json_string(json, problems->text[i], strlen(problems->text[i]));
    mf_json_end(json, ']');
}

static void write_folder(struct mf_recorded *recorded,
                         const struct folder *folder)
{
    struct mf_json_out *json = recorded->json;

    mf_json_key(json, "recorded");
    mf_json_begin(json, '{');
    mf_put_string(json, "kind", "folder");
    if (folder->has[MF_RECORD_RUN])
        mf_run_write(recorded, folder->run);
    if (folder->has[MF_RECORD_MEMORY])
        write_memory(recorded, &folder->memory);
    if (folder->has[MF_RECORD_LATENCY])
        write_latency(recorded, &folder->latency);
    if (folder->has[MF_RECORD_RESULTS])
        write_results(recorded, &folder->results);
    write_problems(json, &folder->problems);
    mf_json_end(json, '}');
}

enum mf_status mf_recorded_folder(struct mf_recorded *recorded)
{
    struct folder *folder = mf_arena_take(&recorded->arena, sizeof(*folder));

    if (!folder)
        return recorded->env->error.status;
    memset(folder, 0, sizeof(*folder));
    if (read_all(recorded, folder) != MF_OK)
        return recorded->env->error.status;
    write_folder(recorded, folder);
    return MF_OK;
}

/* ---- all kinds ---- */

enum mf_status mf_report_recorded(struct mf_env *env,
                                  const struct mf_report_options *options,
                                  struct mf_json_out *json)
{
    struct mf_recorded recorded = { .env = env,
                                    .options = options,
                                    .json = json };
    struct mf_source source = { 0 };
    bool is_folder = false;
    enum mf_status status;

    if (!options->recorded)
        return MF_OK;
    mf_arena_init(&recorded.arena, env);
    status = mf_source_open_file(env, options->recorded, &source, &is_folder);
    if (status == MF_OK) {
        status = mf_recorded_document(&recorded, &source);
        mf_source_close(&source);
    } else if (is_folder) {
        mf_clear_error(env);
        status = mf_recorded_folder(&recorded);
    }
    mf_arena_release(&recorded.arena);
    return status == MF_OK ? MF_OK : mf_error_about(env, options->recorded);
}
