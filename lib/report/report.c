/* SPDX-License-Identifier: MIT
 *
 * report.c - the whole document, section by section
 */
#include "lib/base/options.h"
#include "lib/model/model.h"
#include "lib/report/document.h"
#include "lib/report/put.h"

static enum mf_status model_put(struct mf_model *model,
                                const struct mf_report_options *options,
                                struct mf_json_out *json)
{
    static mf_report_section *const sections[] = {
        mf_report_head,     mf_report_verdict,   mf_report_tensors,
        mf_report_metadata, mf_report_tokenizer, mf_report_plan,
        mf_report_data,     mf_report_imatrix,   mf_report_type_errors,
    };
    enum mf_status status = MF_OK;
    struct mf_shard shard;

    mf_json_begin(json, '{');
    if (options->paths && mf_shard_at(model, 0, &shard))
        mf_put_string(json, "file", shard.path);
    for (size_t i = 0;
         status == MF_OK && i < sizeof(sections) / sizeof(*sections); i++)
        status = sections[i](model, options, json);
    mf_json_end(json, '}');
    return status;
}

static enum mf_status models_put(const struct mf_report *report,
                                 struct mf_json_out *json)
{
    enum mf_status status = MF_OK;

    mf_json_key(json, "models");
    mf_json_begin(json, '[');
    for (size_t i = 0; status == MF_OK && i < report->count; i++)
        status = model_put(report->model[i], &report->options, json);
    mf_json_end(json, ']');
    return status;
}

/* The first model against each of the others. */
static enum mf_status pairs_put(const struct mf_report *report,
                                struct mf_json_out *json)
{
    enum mf_status status = MF_OK;

    mf_json_key(json, "compare");
    mf_json_begin(json, '[');
    for (size_t i = 1; status == MF_OK && i < report->count; i++)
        status = mf_report_pair(report->model, 0, i, &report->options, json);
    mf_json_end(json, ']');
    return status;
}

enum mf_status mf_report_document(const struct mf_report *report,
                                  struct mf_json_out *json)
{
    struct mf_env *env = report->model[0]->env;
    enum mf_status status;

    mf_json_begin(json, '{');
    mf_put_number(json, "report", 1);
    mf_put_string(json, "modelfile", MF_VERSION_STRING);
    status = models_put(report, json);
    if (status == MF_OK && report->count > 1)
        status = pairs_put(report, json);
    if (status == MF_OK && report->options.recorded)
        status = mf_report_recorded(env, &report->options, json);
    mf_json_end(json, '}');
    return status;
}

enum mf_status mf_report_check(struct mf_model *const *models, size_t count,
                               const struct mf_report_options *options,
                               struct mf_report *out)
{
    MF_NEED(NULL, models);
    MF_NEED(NULL, count > 0);
    MF_NEED(NULL, models[0]);
    struct mf_env *env = models[0]->env;
    enum mf_status status;

    mf_clear_error(env);
    *out = (struct mf_report){ .model = models, .count = count };
    status = mf_options_take(env, &out->options, sizeof(out->options), options);
    for (size_t i = 1; status == MF_OK && i < count; i++)
        if (!models[i] || models[i]->env != env)
            status = mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                             "models of a report belong to one env");
    return status;
}

enum mf_status mf_report_json(struct mf_model *const *models, size_t count,
                              const struct mf_report_options *options,
                              void (*write)(void *user, const char *at,
                                            size_t size),
                              void *user)
{
    struct mf_json_out json = { .write = write, .user = user };
    struct mf_report report;
    enum mf_status status = mf_report_check(models, count, options, &report);

    if (status != MF_OK)
        return status;
    MF_NEED(models[0]->env, write);
    return mf_report_document(&report, &json);
}
