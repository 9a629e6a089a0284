/* SPDX-License-Identifier: MIT
 *
 * model.c - opening, converting and quantizing a model
 *
 * Every operation has an env of its own, and includes opening and closing the
 * model.
 */
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/measure/bench/bench.h"
#include "cli/progress.h"
#include "cli/report.h"

/* ---- one operation ---- */

struct operation {
    const char *work, *mix;
    uint64_t bytes; /* of tensors; 0: it only opens the model */
};

static enum mf_status write_model(struct mf_model *model, const char *path,
                                  const char *mix, bool report,
                                  struct mf_quantize_result *result)
{
    const char *format = mf_model_info(model)->format;
    struct mf_convert_options how = { .size = sizeof(struct mf_convert_options),
                                      .format = format,
                                      .replace = true };
    struct mf_quantize_options what = { .size =
                                            sizeof(struct mf_quantize_options),
                                        .type = mix,
                                        .report = report,
                                        .imatrix = bench_options.imatrix,
                                        .allow_requantize = true };

    if (!mix)
        return mf_model_convert(model, path, &how, NULL);
    if (!formats_holds_blocks(format))
        how.format = formats_name(FORMATS_BLOCKS, 0);
    return mf_model_quantize(model, path, &what, &how, result);
}

enum mf_status bench_write(struct mf_model *model, const char *path,
                           const char *mix)
{
    return write_model(model, path, mix, false, NULL);
}

enum mf_status bench_write_measured(struct mf_model *model, const char *path,
                                    const char *mix,
                                    struct mf_quantize_result *result)
{
    return write_model(model, path, mix, true, result);
}

static enum mf_status operate(const struct operation *operation,
                              struct mf_env *env, const char *in,
                              const char *out)
{
    struct mf_model *model;
    enum mf_status status = mf_model_open(env, in, NULL, &model);

    if (status != MF_OK)
        return status;
    if (operation->bytes > 0)
        status = bench_write(model, out, operation->mix);
    mf_model_close(model);
    return status;
}

/* In JSON the error is an element of its own. */
static void report_operation(struct run *run, struct mf_env *env,
                             const struct operation *operation)
{
    if (run->options->json) {
        mf_json_begin(&run->json, '{');
        json_text(run, "work", operation->work);
        if (operation->mix)
            json_text(run, "type", operation->mix);
    }
    bench_failure(run, env, run->operand[0]);
    if (run->options->json)
        mf_json_end(&run->json, '}');
}

/* Nanoseconds; below 0 after a report. */
static double time_one(struct run *run, const struct operation *operation,
                       const char *out, struct bench_row *row)
{
    struct mf_env *env = bench_env(run, row->threads);
    struct mf_heap_stats before, after;
    double elapsed = -1;
    uint64_t start;

    if (!env)
        return elapsed;
    bench_folder_env(env);
    mf_env_heap(env, &before);
    start = bench_now();
    if (operate(operation, env, inputs_model_path(run, run->operand[0]), out) ==
        MF_OK)
        elapsed = (double)(bench_now() - start);
    else
        report_operation(run, env, operation);
    mf_env_heap(env, &after);
    row->allocations = after.allocations - before.allocations;
    row->peak = after.peak;
    bench_folder_env(NULL);
    bench_env_free(run, env);
    return elapsed;
}

static void time_operation(struct run *run, const struct operation *operation,
                           const char *out, double *times)
{
    struct bench_row row = { .work = operation->work,
                             .type = operation->mix,
                             .threads = mf_env_threads(run->env),
                             .has_cost = true };
    uint64_t started = bench_now();
    size_t runs = 0;

    for (; bench_goes_on(runs, started); runs++) {
        times[runs] = time_one(run, operation, out, &row);
        if (times[runs] < 0)
            return;
    }
    bench_times(&row, times, runs);
    row.rate = (double)operation->bytes / row.p50;
    bench_print(run, BENCH_MODEL, &row);
}

/* ---- all of them ---- */

static void time_all(struct run *run, uint64_t bytes, const char *out,
                     double *times)
{
    const struct text_list *mixes = &bench_options.mixes;
    struct operation operation = { .work = "open" };

    bench_begin(run, BENCH_MODEL);
    time_operation(run, &operation, out, times);
    operation = (struct operation){ .work = "convert", .bytes = bytes };
    if (progress_signal() == 0)
        time_operation(run, &operation, out, times);
    for (size_t i = 0; i < mixes->count && progress_signal() == 0; i++) {
        operation = (struct operation){ "quantize", mixes->at[i], bytes };
        time_operation(run, &operation, out, times);
    }
    bench_end(run);
}

void bench_model(struct run *run, struct mf_model *model)
{
    size_t runs = (size_t)bench_options.rounds;
    size_t room = runs > BENCH_RUNS ? runs : BENCH_RUNS;
    size_t size = 2 * room * sizeof(double);
    double *times = mf_env_resize(run->env, NULL, 0, size);
    const struct bench_folder *folder;

    if (!times) {
        report_failure(run, NULL);
        return;
    }
    folder = bench_folder_begin(run);
    if (folder) {
        time_all(run, mf_model_info(model)->file_size, folder->ours, times);
        if (progress_signal() == 0)
            bench_peers(run, folder, times, room);
        bench_folder_end(run);
    }
    if (progress_signal() != 0) /* in our work or a peer's */
        report_code(run, EXIT_SIGNAL + progress_signal());
    mf_env_resize(run->env, times, size, 0);
}
