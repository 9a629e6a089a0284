/* SPDX-License-Identifier: MIT
 *
 * leak.c - modelfile bench --leak-check: the same work again and again in one
 * env, and what grows with it
 *
 * After the first rounds, which fill what is kept for good (tables of the C
 * library, threads), nothing may grow: see mf_watch_open in modelfile.h.
 */
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/malloc_count.h"
#include "cli/measure/bench/bench.h"
#include "cli/measure/bench/leak.h"
#include "cli/progress.h"
#include "cli/report.h"

/* ---- the work of a round ---- */

struct place {
    struct mf_env *env;
    const char *out; /* where models are written to */
    uint64_t size;   /* of the model's files, after the first round */
    const char *at;  /* the work that was begun last */
};

typedef enum mf_status do_work(const struct place *place,
                               struct mf_model *model);

static enum mf_status validate(const struct place *place,
                               struct mf_model *model)
{
    (void)place;
    return mf_model_validate_data(model);
}

static enum mf_status hash(const struct place *place, struct mf_model *model)
{
    const size_t size = (mf_model_info(model)->tensor_count + 1) * 8;
    uint8_t *digests = mf_env_resize(place->env, NULL, 0, size);
    uint8_t all[MF_DIGEST_MAX];
    enum mf_status status;

    if (!digests)
        return mf_env_error(place->env)->status;
    status = mf_model_hash_tensors(model, MF_XXH3_64, digests);
    if (status == MF_OK)
        status = mf_model_hash(model, MF_XXH3_64, digests, all, NULL, NULL);
    mf_env_resize(place->env, digests, size, 0);
    return status;
}

static enum mf_status convert(const struct place *place, struct mf_model *model)
{
    return bench_write(model, place->out, NULL);
}

static enum mf_status quantize(const struct place *place,
                               struct mf_model *model)
{
    const struct text_list *mixes = &bench_options.mixes;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < mixes->count && status == MF_OK; i++)
        status = bench_write(model, place->out, mixes->at[i]);
    return status;
}

/* A round opens and closes the model, and does these in between. */
static const struct {
    const char *name;
    do_work *work; /* NULL: nothing more */
} works[] = {
    { "open", NULL },       { "validate", validate }, { "hash", hash },
    { "convert", convert }, { "quantize", quantize },
};
#define WORKS (sizeof(works) / sizeof(*works))
_Static_assert(WORKS <= LEAK_WORKS_MAX, "struct leak has no room for all");

static bool is_work(const char *name)
{
    for (size_t i = 0; i < WORKS; i++)
        if (strcmp(name, works[i].name) == 0)
            return true;
    return false;
}

/* All if none was named. */
static bool is_wanted(const char *name)
{
    const struct text_list *wanted = &bench_options.works;

    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->at[i], name) == 0)
            return true;
    return wanted->count == 0;
}

static enum mf_status do_round(struct place *place, const char *in)
{
    struct mf_model *model;
    enum mf_status status = mf_model_open(place->env, in, NULL, &model);

    place->at = NULL;
    if (status != MF_OK)
        return status;
    place->size = mf_model_info(model)->file_size;
    for (size_t i = 0; i < WORKS && status == MF_OK; i++)
        if (works[i].work && is_wanted(works[i].name)) {
            place->at = works[i].name;
            status = works[i].work(place, model);
        }
    mf_model_close(model);
    return status;
}

/* ---- what is counted after each ---- */

static bool count_process(void *user, uint64_t *now, uint64_t *most)
{
    struct process_heap process;

    (void)user;
    if (!process_heap(&process))
        return false;
    *now = process.live;
    *most = process.peak;
    return true;
}

static void begin(struct run *run, struct leak *leak, const struct place *place)
{
    uint64_t memory = run->options->max_memory,
             machine = mf_self_memory_limit();
    const uint64_t limit[MF_WATCH_KINDS] = {
        [MF_WATCH_HEAP] = memory,
        [MF_WATCH_OWN] = memory > 0 && memory < machine ? memory : machine,
        [MF_WATCH_RESIDENT] = memory,
    };
    const struct mf_watch_options options = { .size = sizeof(options),
                                              .rounds = bench_options.rounds,
                                              .warm_up = LEAK_WARM_UP,
                                              .limits = limit,
                                              .limit_count = MF_WATCH_KINDS,
                                              .own = count_process };

    *leak = (struct leak){ .rounds = bench_options.rounds };
    for (size_t i = 0; i < WORKS; i++)
        if (is_wanted(works[i].name))
            leak->work[leak->work_count++] = works[i].name;
    if (mf_watch_open(place->env, &options, &leak->watch) != MF_OK)
        bench_failure(run, place->env, run->operand[0]);
}

/* A sanitizer keeps what was freed for a while, so that the resident memory
 * grows: where malloc is not ours neither of the two is looked at. */
static void judge(struct leak *leak)
{
    for (size_t i = 0; i < MF_WATCH_KINDS; i++) {
        struct mf_watch_count *count = &leak->count[i];

        mf_watch_count_at(leak->watch, i, count);
        if (i == MF_WATCH_RESIDENT && !leak->count[MF_WATCH_OWN].known)
            *count = (struct mf_watch_count){ .name = count->name };
    }
}

/* ---- all rounds ---- */

/* The work, or the type, that failed may be a default. */
static void fail_round(struct run *run, const struct place *place)
{
    bool refused = mf_env_error(place->env)->status == MF_ERR_UNSUPPORTED;
    char text[128];

    bench_failure(run, place->env, run->operand[0]);
    if (!refused || !place->at)
        return;
    snprintf(text, sizeof(text),
             "that was '%s', which each round does; '--work' chooses other "
             "work",
             place->at);
    report_remark(run, run->operand[0], text);
}

static bool do_rounds(struct run *run, struct place *place, struct leak *leak)
{
    const char *in = inputs_model_path(run, run->operand[0]);

    while (mf_watch_begin(leak->watch)) {
        if (progress_signal() != 0)
            return false;
        if (do_round(place, in) != MF_OK) {
            fail_round(run, place);
            return false;
        }
        mf_watch_end(leak->watch);
    }
    judge(leak);
    return true;
}

/* An env with a leak cannot be freed: the library insists on its blocks. */
static void free_env(struct run *run, struct mf_env *env, size_t before)
{
    struct mf_heap_stats heap;

    mf_env_heap(env, &heap);
    bench_env_done(run, env);
    if (heap.live == before)
        mf_env_free(env);
}

static void check(struct run *run, const struct bench_folder *folder)
{
    struct place place = { .env = bench_env(run, mf_env_threads(run->env)),
                           .out = folder->ours };
    struct mf_heap_stats heap;
    struct leak leak;

    if (!place.env)
        return;
    mf_env_heap(place.env, &heap);
    bench_folder_env(place.env);
    begin(run, &leak, &place);
    if (leak.watch && do_rounds(run, &place, &leak))
        bench_leak_print(run, &leak);
    mf_watch_close(leak.watch);
    bench_folder_env(NULL);
    run->size += place.size;
    free_env(run, place.env, heap.live);
}

/* The model is opened in that env only: a leak in opening would be one of
 * run->env as well, which is always freed. */
void bench_leak(struct run *run)
{
    const struct bench_folder *folder;

    answer_one_begin(run, run->operand[0]);
    folder = bench_folder_begin(run);
    if (folder) {
        check(run, folder);
        bench_folder_end(run);
    }
    if (progress_signal() != 0)
        report_code(run, EXIT_SIGNAL + progress_signal());
    answer_one_end(run);
}

bool bench_leak_is_usable(struct run *run)
{
    const struct bench_options *options = &bench_options;

    for (size_t i = 0; i < options->works.count; i++)
        if (!is_work(options->works.at[i])) {
            report_usage(run,
                         "invalid value '%.60s' for '--work': use open, "
                         "validate, hash, convert or quantize",
                         options->works.at[i]);
            return false;
        }
    if (run->operand_count == 0)
        report_usage(run, "'--leak-check' requires the argument MODEL");
    else if (options->types.count > 0 || options->isa || options->size > 0)
        report_usage(run, "'--leak-check' measures no codecs: leave out "
                          "'--type', '--isa' and '--size'");
    else if (options->rounds > LEAK_ROUNDS_MAX)
        report_usage(run, "'--rounds' is too large: at most %d",
                     LEAK_ROUNDS_MAX);
    else if (options->rounds > 0 && options->rounds < MF_WATCH_LEAST)
        report_usage(run,
                     "'--rounds' is too small for '--leak-check': at "
                     "least %d",
                     MF_WATCH_LEAST);
    else
        return true;
    return false;
}
