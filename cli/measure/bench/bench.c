/* SPDX-License-Identifier: MIT
 *
 * bench.c - modelfile bench: measure the speed of codecs and operations
 */
#include "cli/measure/bench/bench.h"

#include "cli/answer.h"
#include "cli/inputs.h"
#include "cli/measure/bench/grid.h"
#include "cli/measure/record.h"
#include "cli/report.h"
#include "cli/types.h"

#define ROUNDS_MAX 1000
#define SIZE_LIMIT ((uint64_t)1 << 40)

#define OPTION_RATE(name, variable, help)                                      \
    {                                                                          \
        name, KIND_SIZE, "RATE", 0, { .number = &(variable) }, help, false     \
    }

static const struct option table[] = {
    OPTION_LIST("--type", "TYPE", bench_options.types,
                "measure codecs of this type only; can be repeated"),
    OPTION_TEXT("--isa", "NAME", bench_options.isa,
                "measure one instruction set: portable, avx2, avx512"),
    OPTION_TEXT("--threads", "N", bench_options.threads,
                "measure with N threads and with one; default: one per "
                "processor; with --record also a list: 1,2,4"),
    OPTION_COUNT("--rounds", "N", bench_options.rounds,
                 "measure each N times (default 7)"),
    OPTION_SIZE("--size", bench_options.size,
                "size of the float data for codecs (default 64MiB); with "
                "--scale of the model (default 10T)"),
    OPTION_LIST("--quantize", "TYPE", bench_options.mixes,
                "quantize MODEL to TYPE (default Q8_0, Q6_K and Q4_K_M); can "
                "be repeated"),
    OPTION_TEXT("--imatrix", "FILE", bench_options.imatrix,
                "quantize with this importance matrix"),
    OPTION_FLAG("--leak-check", bench_options.leak_check,
                "use MODEL over and over, 100 rounds or --rounds, and see "
                "whether memory, open files or threads grow"),
    OPTION_LIST("--work", "WORK", bench_options.works,
                "what a round of --leak-check does: open, validate, hash, "
                "convert, quantize (default all); can be repeated"),
    OPTION_FLAG("--alloc", bench_options.alloc,
                "count what single operations allocate, on models of 16 to "
                "4096 tensors that it makes"),
    OPTION_FLAG("--scale", bench_options.scale,
                "compute how long ranks take to quantize a model, from what "
                "this machine takes; MODEL: what it is like"),
    OPTION_COUNT("--ranks", "N", bench_options.ranks,
                 "--scale: up to so many, 1, 2, 4 ... (default 1000)"),
    OPTION_RATE("--disk", bench_options.disk,
                "--scale: bytes per second of each node's disk (default: as "
                "measured)"),
    OPTION_RATE("--shared", bench_options.shared,
                "--scale: bytes per second of the file system that all nodes "
                "share (default 100G)"),
    OPTION_TEXT("--plot", "FILE.svg", bench_options.plot,
                "--scale: draw time against ranks"),
    OPTION_TEXT("--verify", "DIR", bench_options.verify,
                "find changes in the record DIR"),
    OPTION_FORCE,
    OPTION_FLAG("--csv", bench_options.csv,
                "print comma-separated values instead of tables"),
    { 0 },
};

static bool kernels_are_known(struct run *run)
{
    const struct text_list *types = &bench_options.types;
    struct mf_kernel kernel;

    for (size_t i = 0; i < types->count; i++)
        if (!mf_kernel_find(types->at[i], NULL, &kernel)) {
            report_usage(run,
                         "invalid value '%.60s' for '--type': not a type that "
                         "can be decoded%s",
                         types->at[i], types_nearest(types->at[i]).hint);
            return false;
        }
    if (!bench_options.isa || mf_kernel_find("f32", bench_options.isa, &kernel))
        return true;
    report_usage(run,
                 "instruction set '%.60s' is not supported by this processor",
                 bench_options.isa);
    return false;
}

static bool mixes_are_known(struct run *run)
{
    const struct text_list *mixes = &bench_options.mixes;

    for (size_t i = 0; i < mixes->count; i++)
        if (!types_check_mix(run, mixes->at[i]))
            return false;
    return true;
}

static bool is_usable(struct run *run)
{
    const struct bench_options *options = &bench_options;

    if (options->verify && (run->operand_count > 0 || run->options->record))
        report_usage(run, "'--verify' is for a record: remove %s",
                     run->operand_count > 0 ? "MODEL" : "'--record'");
    else if (run->options->json && options->csv)
        report_usage(run, "'--json' and '--csv' cannot both be given");
    else if (!options->scale && options->plot)
        report_usage(run, "'--plot' requires '--scale'");
    else if (!options->scale &&
             (options->ranks > 0 || options->disk > 0 || options->shared > 0))
        report_usage(run, "'%s' requires '--scale'",
                     options->ranks > 0  ? "--ranks"
                     : options->disk > 0 ? "--disk"
                                         : "--shared");
    else if (options->works.count > 0 && !options->leak_check)
        report_usage(run, "'--work' is for '--leak-check'");
    else if (options->scale)
        return kernels_are_known(run) && bench_scale_is_usable(run) &&
               grid_is_usable(run);
    else if (options->leak_check && options->alloc)
        report_usage(run, "'--leak-check' and '--alloc' cannot both be given");
    else if (options->leak_check)
        return grid_is_usable(run) && bench_leak_is_usable(run) &&
               mixes_are_known(run);
    else if (options->rounds > ROUNDS_MAX)
        report_usage(run, "'--rounds' is too large: at most %d", ROUNDS_MAX);
    else if (options->size > SIZE_LIMIT)
        report_usage(run, "'--size' is too large: at most %s",
                     size_text(SIZE_LIMIT).at);
    else if (run->operand_count == 0 && options->mixes.count > 0)
        report_usage(run, "'--quantize' requires the argument MODEL");
    else if (run->operand_count == 0 && options->imatrix)
        report_usage(run, "'--imatrix' requires the argument MODEL");
    else if (run->operand_count > 0 && options->alloc)
        report_usage(run, "'--alloc' makes its own models: remove '%.60s'",
                     run->operand[0]);
    else
        return kernels_are_known(run) && mixes_are_known(run) &&
               grid_is_usable(run);
    return false;
}

static void measure_model(struct run *run, struct mf_model *model)
{
    if (bench_options.scale) {
        bench_scale(run, model);
        return;
    }
    if (bench_options.csv)
        bench_csv_heading(run);
    if (bench_options.types.count > 0)
        bench_kernels(run);
    if (run->code == EXIT_DONE)
        (record_is_on() ? grid_measure : bench_model)(run, model);
}

static void measure_kernels(struct run *run)
{
    answer_begin(run);
    if (bench_options.scale) {
        bench_scale(run, NULL);
    } else if (bench_options.alloc) {
        bench_alloc(run);
    } else {
        if (bench_options.csv)
            bench_csv_heading(run);
        bench_kernels(run);
    }
    answer_end(run);
    out_flush(&run->out);
}

static void bench(struct run *run)
{
    static const char *usual[] = { "Q8_0", "Q6_K", "Q4_K_M" };
    struct bench_options *options = &bench_options;

    if (!is_usable(run))
        return;
    if (options->rounds == 0)
        options->rounds = options->leak_check ? 100 : 7;
    if (options->mixes.count == 0)
        options->mixes = (struct text_list){ .at = usual, .count = 3 };
    if (options->verify)
        verify_record(run, options->verify);
    else if (options->leak_check)
        bench_leak(run);
    else if (run->operand_count > 0)
        inputs_one(run, false, measure_model);
    else
        measure_kernels(run);
}

static bool scales(void)
{
    return bench_options.scale;
}

const struct command command_bench = {
    .name = "bench",
    .sub = "",
    .operands = "[MODEL]",
    .operands_max = 1,
    .summary = "measure the speed of codecs and operations",
    .about = "Without MODEL measures how fast each type is decoded and "
             "encoded on each instruction set. With MODEL measures "
             "opening, converting and quantizing it, in rounds, beside "
             "other programs if the environment names them. --leak-check "
             "sees whether memory grows from round to round. --scale "
             "computes how long many ranks take (docs/scale.md).\n",
    .examples = "modelfile bench --type q4_k --type q8_0\n"
                "modelfile bench --csv >results.csv     every type and "
                "instruction set\n"
                "modelfile bench model-f16.gguf --quantize Q4_K_M\n"
                "modelfile bench model.gguf --leak-check --rounds 1000\n"
                "modelfile bench --alloc\n"
                "modelfile bench --scale --size 10T --ranks 1000 --shared "
                "200G\n"
                "modelfile bench model.gguf --record out --threads 1,2\n"
                "modelfile bench --verify out\n"
                "MODELFILE_LLAMA_QUANTIZE=./llama-quantize modelfile bench "
                "model.gguf\n",
    .exit_no = "--leak-check: something grows from round to round; --verify: "
               "a file was changed",
    .options = table,
    .gathers = scales,
    .once = true,
    .unlisted = true,
    .execute = bench,
    .check_operands = grid_read_threads,
    .writes = bench_allow_writes,
};
