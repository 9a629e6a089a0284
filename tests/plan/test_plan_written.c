/* SPDX-License-Identifier: MIT
 *
 * test_plan_written.c - what is planned against files that are written
 */
#include <stdio.h>

#include "lib/program.h"
#include "tests/quantize/mix.h"

/* After it: the env of a test would shadow its parameters. */
#include "tests/plan/plan_fit.h"
#include "tests/with_models.h"
#include "tests/with_scratch.h"

/* ---- mixes ---- */

static uint64_t limited_total(const struct mf_plan *plan)
{
    return plan->device[plan->device_count - 1].total;
}

/* The mix fits into what the plan of its file needs, and not into less. */
static void fits_as_planned(struct mf_model *model, const char *path,
                            const char *name,
                            const struct mf_plan_options *options)
{
    struct mf_model *written = open_model(path);
    const struct mf_fit_mix *mix;
    struct mf_plan plan;
    struct mf_fit fit;

    assert_int_equal(mf_plan(written, options, &plan), MF_OK);
    fit = fit_of(model, options, limited_total(&plan), &none);
    mix = mix_of(&fit, name);
    assert_int_equal(mix->fits, MF_FIT_YES);
    assert_int_equal(mix->data_size, mf_model_info(written)->data_size);
    if (plan.device_count == 1)
        assert_int_equal(mix->data_size, plan.line[MF_PLAN_WEIGHTS]);
    fit = fit_of(model, options, limited_total(&plan) - 1, &none);
    assert_int_equal(mix_of(&fit, name)->fits, MF_FIT_NO);
    mf_model_close(written);
}

static void write_and_compare(const char *name)
{
    char matrix[512], from[512], to[512];
    struct mf_convert_options how = { .size = sizeof(how), .replace = true };
    struct mf_mix_info mix;
    struct mf_model *model;

    strcpy(matrix, scratch_path("m.dat"));
    strcpy(from, scratch_path("in.gguf"));
    strcpy(to, scratch_path("out.gguf"));
    make_model(name, from, matrix);
    model = open_model(from);
    for (size_t i = 0; mf_mix_at(i, &mix); i++) {
        struct mf_quantize_options options = { .size = sizeof(options),
                                               .type = mix.name,
                                               .imatrix = mix.needs_imatrix
                                                              ? matrix
                                                              : NULL };

        if (!mix.available)
            continue;
        assert_int_equal(mf_model_quantize(model, to, &options, &how, NULL),
                         MF_OK);
        fits_as_planned(model, to, mix.name, OPTIONS(.context = 256));
        fits_as_planned(
            model, to, mix.name,
            OPTIONS(.context = 512, .offloaded = true, .offload = 7));
        fits_as_planned(
            model, to, mix.name,
            OPTIONS(.context = 512, .offloaded = true, .offload = 99));
    }
    mf_model_close(model);
    empty_scratch();
}

static void as_written(void **state)
{
    (void)state;
    write_and_compare("grouped");
}

/* ---- weights ---- */

static size_t compared;

/* The bytes of tensors; of a folder, those of the GGUF file that it becomes. */
static uint64_t data_size_of(struct mf_model *model)
{
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .format = "gguf",
                                            .names = MF_NAMING_GGUF,
                                            .replace = true };
    const char *path = scratch_path("folder.gguf");
    struct mf_model *written;
    uint64_t size;

    if (!mf_converts_folder(model, &how) ||
        mf_model_convert(model, path, &how, NULL) != MF_OK) {
        mf_clear_error(env);
        return mf_model_info(model)->data_size;
    }
    written = open_model(path);
    size = mf_model_info(written)->data_size;
    mf_model_close(written);
    return size;
}

static void compare(const char *path)
{
    struct mf_model *model;
    struct mf_plan plan;
    uint64_t size;

    if (is_table(path) || mf_model_open(env, path, NULL, &model) != MF_OK)
        return;
    assert_int_equal(mf_plan(model, NULL, &plan), MF_OK);
    size = data_size_of(model);
    if (plan.line[MF_PLAN_WEIGHTS] != size)
        fail_msg("%s: %" PRIu64 " bytes of weights, but %" PRIu64, path,
                 plan.line[MF_PLAN_WEIGHTS], size);
    mf_model_close(model);
    compared++;
}

/* The weights are the tensor data of the file, whatever its format, or of the
 * file that a folder becomes. */
static void weights_are_the_data(void **state)
{
    (void)state;
    each_good_model(compare);
    assert_true(compared > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_written),
        cmocka_unit_test(weights_are_the_data),
    };

    return RUN_WITH_SCRATCH(tests);
}
