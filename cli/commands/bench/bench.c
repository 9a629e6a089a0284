/* SPDX-License-Identifier: MIT
 *
 * bench.c - modelfile bench: how fast this machine is at the library's work
 */
#include "cli/commands/bench/bench.h"

#define ROUNDS_MAX 1000
#define SIZE_MOST  ((uint64_t)1 << 40)

const struct option bench_options[] = {
    { "--type", OPTION_LIST, "TYPE", 0, offsetof(struct options, types),
      "kernels of which; all if not given; may be repeated" },
    { "--isa", OPTION_TEXT, "NAME", 0, offsetof(struct options, isa),
      "kernels of one instruction set: portable, avx2, avx512" },
    { "--threads", OPTION_COUNT, "N", 0, offsetof(struct options, threads),
      "and kernels on one, too; one per processor if not given" },
    { "--rounds", OPTION_COUNT, "N", 0, offsetof(struct options, rounds),
      "how often each is measured; 7 if not given" },
    { "--size", OPTION_SIZE, "SIZE", 0, offsetof(struct options, floats),
      "of the kernels' floats; 64MiB if not given" },
    { "--quantize", OPTION_LIST, "TYPE", 0, offsetof(struct options, mixes),
      "MODEL to it; Q8_0, Q6_K and Q4_K_M if not given" },
    { "--csv", OPTION_FLAG, NULL, 0, offsetof(struct options, csv),
      "lines of comma-separated values instead of tables" },
    { 0 },
};

/* ---- what its parts share ---- */

uint64_t bench_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool go_on(void *user, const struct mf_progress *progress)
{
    (void)user;
    (void)progress;
    return progress_signal() == 0;
}

struct mf_env *bench_env(struct run *run, size_t threads)
{
    struct mf_options options = { .threads = (unsigned)threads,
                                  .progress = go_on };
    struct mf_env *env = mf_env_new(&options);

    if (!env)
        report_start(run);
    return env;
}

void bench_env_free(struct run *run, struct mf_env *env)
{
    struct mf_io_stats io;

    if (!env)
        return;
    mf_env_io(env, &io);
    run->elsewhere.bytes_read += io.bytes_read;
    run->elsewhere.bytes_written += io.bytes_written;
    mf_env_free(env);
}

void bench_failure(struct run *run, struct mf_env *env, const char *file)
{
    struct mf_env *kept = run->env;

    run->env = env;
    report_failure(run, file);
    run->env = kept;
}

/* Shell's method, with Knuth's gaps: no memory, and there are some thousands
 * of numbers at most. */
void bench_sort(double *number, size_t count)
{
    size_t gap = 1;

    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            double moving = number[i];
            size_t j = i;

            for (; j >= gap && number[j - gap] > moving; j -= gap)
                number[j] = number[j - gap];
            number[j] = moving;
        }
}

double bench_percentile(const double *sorted, size_t count, unsigned percent)
{
    return count > 0 ? sorted[(count * percent + 99) / 100 - 1] : 0;
}

void bench_times(struct bench_row *row, double *times, size_t count)
{
    bench_sort(times, count);
    row->operations = count;
    row->p50 = bench_percentile(times, count, 50);
    row->p95 = bench_percentile(times, count, 95);
    row->p99 = bench_percentile(times, count, 99);
}

/* ---- the command ---- */

static bool kernels_are_known(struct run *run)
{
    const struct text_list *types = &run->options.types;
    struct mf_kernel kernel;

    for (size_t i = 0; i < types->count; i++)
        if (!mf_kernel_find(types->at[i], NULL, &kernel)) {
            report_usage(run,
                         "'--type' cannot be '%.60s'; it is a type that can "
                         "be decoded, such as q4_k%s",
                         types->at[i], types_hint(types->at[i]).text);
            return false;
        }
    if (!run->options.isa || mf_kernel_find("f32", run->options.isa, &kernel))
        return true;
    report_usage(run, "'--isa' cannot be '%.60s'; no such one runs here",
                 run->options.isa);
    return false;
}

static bool mixes_are_known(struct run *run)
{
    const struct text_list *mixes = &run->options.mixes;

    for (size_t i = 0; i < mixes->count; i++)
        if (!types_quantize_known(run, mixes->at[i]))
            return false;
    return true;
}

static bool is_usable(struct run *run)
{
    const struct options *options = &run->options;

    if (options->json && options->csv)
        report_usage(run, "'--json' and '--csv' cannot both be given");
    else if (options->rounds > ROUNDS_MAX)
        report_usage(run, "'--rounds' cannot be more than %d", ROUNDS_MAX);
    else if (options->floats > SIZE_MOST)
        report_usage(run, "'--size' cannot be more than %s",
                     size_text(SIZE_MOST).at);
    else if (run->operand_count == 0 && options->mixes.count > 0)
        report_usage(run, "'--quantize' what? MODEL is missing");
    else
        return kernels_are_known(run) && mixes_are_known(run);
    return false;
}

static void measure_model(struct run *run, struct mf_model *model)
{
    if (run->options.csv)
        bench_csv_heading(run);
    if (run->options.types.count > 0)
        bench_kernels(run);
    if (run->code == EXIT_DONE)
        bench_model(run, model);
}

static void measure_kernels(struct run *run)
{
    report_begin(run);
    if (run->options.csv)
        bench_csv_heading(run);
    bench_kernels(run);
    report_end(run);
    if (run->options.json)
        out_text(&run->out, "\n");
    out_flush(&run->out);
    /* Of a run that looks at no file nobody else tells the cost. */
    if (run->code == EXIT_DONE && !run->out.closed)
        report_close(run);
}

void command_bench(struct run *run)
{
    struct options *options = &run->options;

    if (!is_usable(run))
        return;
    if (options->rounds == 0)
        options->rounds = 7;
    if (options->mixes.count == 0)
        options->mixes = (struct text_list){ { "Q8_0", "Q6_K", "Q4_K_M" }, 3 };
    if (run->operand_count > 0)
        inputs_one(run, false, measure_model);
    else
        measure_kernels(run);
}
