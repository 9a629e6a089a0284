/* SPDX-License-Identifier: MIT
 *
 * scale.c - modelfile bench --scale: how far quantizing by ranks carries
 */
#include <math.h>

#include "cli/measure/bench/scale.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/report.h"
#include "cli/room.h"

#define RANKS      1000
#define RANKS_MOST 1000000
#define SIZE       10000000000000 /* 10 TB */
#define TYPE       "q4_k"
#define SOURCE     "bf16"

/* What cannot be measured on one machine: docs/scale.md says where these come
 * from. */
#define SHARED       100e9  /* bytes per second of a shared file system */
#define OPENS        100e3  /* per second, of a metadata server */
#define GATHER       100e-6 /* seconds of a gather */
#define MESSAGE      1e-6   /* seconds of a message */
#define NETWORK      10e9   /* bytes per second, of a node */
#define TENSOR_BYTES 512e6  /* of a tensor, where no model is named */
#define FILE_BYTES   5e9    /* likewise of a file */

/* ---- options ---- */

static const struct text_list *types(void)
{
    static const char *usual[] = { TYPE };
    static const struct text_list one = { .at = usual, .count = 1 };

    return bench_options.types.count > 0 ? &bench_options.types : &one;
}

static bool types_are_usable(struct run *run)
{
    struct mf_kernel kernel;

    for (size_t i = 0; i < types()->count; i++)
        if (!mf_kernel_find(types()->at[i], bench_options.isa, &kernel) ||
            !mf_kernel_encodes(&kernel, NULL)) {
            report_usage(run,
                         "invalid value '%.60s' for '--type': not a type that "
                         "can be encoded here",
                         types()->at[i]);
            return false;
        }
    return true;
}

/* What is measured in another way, or not at all; NULL: nothing. */
static const char *refused(const struct run *run)
{
    const struct bench_options *options = &bench_options;
    const struct {
        bool is_given;
        const char *name;
    } others[] = {
        { options->csv, "--csv" },
        { options->leak_check, "--leak-check" },
        { options->alloc, "--alloc" },
        { options->mixes.count > 0, "--quantize" },
        { options->imatrix, "--imatrix" },
        { options->rounds > 0, "--rounds" },
        { options->verify, "--verify" },
        { run->options->record, "--record" },
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (others[i].is_given)
            return others[i].name;
    return NULL;
}

bool bench_scale_is_usable(struct run *run)
{
    struct bench_options *options = &bench_options;

    if (refused(run))
        report_usage(run, "'--scale' and '%s' cannot both be given",
                     refused(run));
    else if (options->ranks > RANKS_MOST)
        report_usage(run, "'--ranks' is too large: at most %d", RANKS_MOST);
    else if (types()->count > SCALE_TYPES)
        report_usage(run, "'--scale' takes at most %d types", SCALE_TYPES);
    else if (options->plot && !output_fits(run, options->plot))
        return false;
    else
        return types_are_usable(run) &&
               (!options->plot || output_is_free(run, options->plot));
    return false;
}

/* ---- what is computed ---- */

/* The type of most bytes of a model that codecs know, or what is usual. */
static void choose_source(struct scale *scale)
{
    struct mf_kernel kernel;
    struct mf_tensor tensor;
    uint64_t most = 0;

    mf_kernel_find(SOURCE, bench_options.isa, &scale->source);
    for (size_t i = 0; scale->model && mf_tensor_at(scale->model, i, &tensor);
         i++)
        if (tensor.data.size > most &&
            mf_kernel_find(tensor.type, bench_options.isa, &kernel) &&
            mf_kernel_encodes(&kernel, NULL)) {
            most = tensor.data.size;
            scale->source = kernel;
        }
}

/* As many as the part or multiple of the model that is computed would have. */
static uint64_t scaled(const struct scale *scale, size_t count)
{
    double whole = (double)mf_model_info(scale->model)->file_size;

    return (uint64_t)ceil((double)scale->work.in * (double)count / whole);
}

static void choose_work(struct scale *scale)
{
    struct scale_work *work = &scale->work;

    work->in = bench_options.size > 0 ? bench_options.size : SIZE;
    work->threads = mf_env_threads(scale->run->env);
    if (scale->model && mf_model_info(scale->model)->file_size > 0) {
        const struct mf_model_info *info = mf_model_info(scale->model);

        work->tensors = scaled(scale, info->tensor_count);
        work->files = scaled(scale, info->shard_count);
    } else {
        work->tensors = (uint64_t)ceil((double)work->in / TENSOR_BYTES);
        work->files = (uint64_t)ceil((double)work->in / FILE_BYTES);
    }
}

static void choose_curves(struct scale *scale)
{
    for (size_t i = 0; i < types()->count; i++) {
        struct scale_curve *curve = &scale->curve[scale->curves++];
        const struct mf_kernel *kernel = &curve->kernel;

        mf_kernel_find(types()->at[i], bench_options.isa, &curve->kernel);
        curve->out =
            (uint64_t)((double)scale->work.in / scale->source.size *
                       scale->source.block * kernel->size / kernel->block);
    }
}

static void choose_costs(struct scale *scale)
{
    struct scale_costs *costs = &scale->costs;
    const struct bench_options *options = &bench_options;

    costs->shared =
        1 / (options->shared > 0 ? (double)options->shared : SHARED);
    costs->open = 1 / OPENS;
    costs->message = MESSAGE;
    costs->network = 1 / NETWORK;
    costs->gather = ranks_gather_seconds();
    if (costs->gather > 0)
        scale->gather_ranks = ranks_count();
    else
        costs->gather = GATHER;
}

static void compute(struct scale *scale, struct scale_curve *curve)
{
    uint64_t most = bench_options.ranks > 0 ? bench_options.ranks : RANKS;
    struct scale_costs costs = scale->costs;
    struct scale_work work = scale->work;

    costs.encode = curve->encode;
    work.out = curve->out;
    for (uint64_t ranks = 1;; ranks *= 2) {
        struct scale_point *point = &curve->point[curve->count++];

        point->ranks = ranks < most ? ranks : most;
        point->time = scale_predict(&costs, &work, point->ranks);
        if (ranks >= most)
            return;
    }
}

/* ---- all of it ---- */

static void measure(struct scale *scale)
{
    bool is_given = bench_options.disk > 0;
    double disk = is_given ? 1 / (double)bench_options.disk : 0;

    if (!scale_measure(scale))
        return;
    if (is_given)
        scale->costs.disk_read = scale->costs.disk_write = disk;
    for (size_t i = 0; i < scale->curves; i++)
        compute(scale, &scale->curve[i]);
    if (bench_options.plot && !scale_plot(scale, bench_options.plot))
        return;
    if (!bench_options.plot || !output_is_stdout(bench_options.plot))
        scale_show(scale);
}

void bench_scale(struct run *run, struct mf_model *model)
{
    struct scale *scale = room_take(sizeof(*scale));

    if (!scale) {
        report_no_room(run);
        return;
    }
    *scale = (struct scale){ .run = run, .model = model };
    choose_source(scale);
    choose_work(scale);
    choose_curves(scale);
    choose_costs(scale);
    measure(scale);
    if (progress_signal() != 0)
        report_code(run, EXIT_SIGNAL + progress_signal());
}
