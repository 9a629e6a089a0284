/* SPDX-License-Identifier: MIT
 *
 * curves.c - memory for many contexts and types of the cache, for the picture
 */
#include <stdio.h>
#include <string.h>

#include "cli/buffer.h"
#include "cli/commands/plan/plan.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/svg.h"

/* To the largest context of interest: the model's, or the largest that was
 * asked for. */
static void choose_contexts(const struct plan_answer *answer,
                            struct picture *picture)
{
    uint64_t most = answer->plan[0].model_context;

    if (!amount_known(most))
        most = 0;
    for (size_t i = 0; i < answer->count; i++)
        if (answer->plan[i].context > most)
            most = answer->plan[i].context;
    picture->points = mf_plan_contexts(most, picture->context);
}

/* Bytes of all that has a limit, or else of everything. */
static double bytes_of(const struct plan_request *request,
                       const struct mf_plan *plan, double *limit)
{
    double bytes = 0;

    *limit = 0;
    for (size_t i = 0; i < plan->device_count; i++)
        if (plan_limit(request, plan, i) > 0) {
            bytes += (double)plan->device[i].total;
            *limit += (double)plan_limit(request, plan, i);
        }
    return *limit > 0 ? bytes : (double)plan->total;
}

/* Adds the curve of these types, unless they do not suit the model; false after
 * a report. */
static bool add_curve(struct run *run, struct mf_model *model,
                      const struct plan_request *request, const char *type_k,
                      const char *type_v, struct picture *picture)
{
    struct curve *curve = &picture->curve[picture->curve_count];
    struct mf_plan_options options = request->options;
    bool same = strcmp(type_k, type_v) == 0;
    static struct mf_plan plan;

    options.type_k = type_k;
    options.type_v = type_v;
    snprintf(curve->name, sizeof(curve->name), "%s%s%s", type_k,
             same ? "" : "/", same ? "" : type_v);
    for (size_t i = 0; i < picture->points; i++) {
        options.context = picture->context[i];
        if (!plan_compute(run, model, &options, &plan))
            return false;
        if (!amount_known(plan.total))
            return true;
        curve->bytes[i] = bytes_of(request, &plan, &picture->limit);
    }
    picture->curve_count++;
    return true;
}

/* The highest first. */
static void sort_curves(struct picture *picture)
{
    size_t last = picture->points - 1;

    for (size_t i = 1; i < picture->curve_count; i++)
        for (size_t j = i; j > 0 && picture->curve[j - 1].bytes[last] <
                                        picture->curve[j].bytes[last];
             j--) {
            struct curve other = picture->curve[j];

            picture->curve[j] = picture->curve[j - 1];
            picture->curve[j - 1] = other;
        }
}

/* Those types that --fit compares, and the one that was asked for. */
static bool compute_all(struct run *run, struct mf_model *model,
                        const struct plan_answer *answer,
                        struct picture *picture)
{
    static const char *const types[] = { "f16", "q8_0", "q4_0" };
    const struct mf_plan *plan = &answer->plan[0];
    bool listed = false;

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        bool asked = strcmp(plan->type_k, types[i]) == 0 &&
                     strcmp(plan->type_v, types[i]) == 0;

        listed = listed || asked;
        /* Quantized values need flash attention. */
        if (i > 0 && answer->request->options.flash == MF_FLASH_OFF)
            continue;
        if (!add_curve(run, model, answer->request, types[i], types[i],
                       picture))
            return false;
    }
    return listed || add_curve(run, model, answer->request, plan->type_k,
                               plan->type_v, picture);
}

static bool write_picture(struct run *run, struct mf_model *model,
                          const struct picture *picture, const char *path)
{
    struct buffer buffer = { 0 };
    bool drawn = picture_draw(run, picture, &buffer);
    bool done = drawn && svg_write(run, model, &buffer, path);

    if (!drawn)
        report_failure(run, path);
    buffer_release(run, &buffer);
    if (done && run->options->json)
        json_str(run, "plot", str_of(path));
    return done;
}

/* False after a report unless what was asked can be drawn. */
static bool is_known(struct run *run, const struct plan_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct mf_plan *plan = &answer->plan[i];

        if (amount_known(plan->total))
            continue;
        report_input(run, run->operand[0], "cannot be drawn: %s",
                     plan->total == MF_PLAN_HUGE ? "more than 16 EiB"
                                                 : plan->reason);
        return false;
    }
    return true;
}

bool plot_write(struct run *run, struct mf_model *model,
                const struct plan_answer *answer)
{
    struct picture picture = { 0 };
    const struct plan_request *request = answer->request;

    picture = (struct picture){
        .title = svg_title(run->operand[0]),
        .asked = request->context[0] > 0 ? (double)answer->plan[0].context : 0,
    };
    if (!is_known(run, answer))
        return false;
    choose_contexts(answer, &picture);
    if (!compute_all(run, model, answer, &picture))
        return false;
    sort_curves(&picture);
    return write_picture(run, model, &picture, request->plot);
}
