/* SPDX-License-Identifier: MIT
 *
 * judge.c - how much a finding matters to the readers that were asked for
 *
 * A check finds a fault once, with the severity that it has for all readers
 * together.  Only here a severity depends on a reader, by the columns of
 * rules.def: a caller that names a reader wants to know what it refuses.
 */
#include "lib/base/options.h"
#include "lib/base/timings.h"
#include "lib/check/check.h"
#include "lib/model/model.h"

/* Zero: all readers. */
static uint32_t asked_readers(const struct mf_validate_options *options)
{
    return options->readers == MF_READERS_ALL ? 0 : options->readers;
}

/* Whether one of them may read the GGUF file that the model becomes. */
static bool reads_gguf(const struct mf_validate_options *options)
{
    uint32_t readers = asked_readers(options);

    return readers == 0 || readers & MF_READER_LLAMA;
}

static enum mf_severity judge(enum mf_rule rule, enum mf_severity usual,
                              const struct mf_validate_options *options)
{
    const struct mf_rule_info *row = &mf_rules[rule];
    uint32_t readers = asked_readers(options);

    if (rule == MF_RULE_MODEL_UNKNOWN && options->require_known)
        return MF_ERROR;
    if (row->when_asked && row->severity == usual && row->readers & readers)
        return MF_ERROR;
    if (usual == MF_ERROR && readers != 0 && !(row->readers & readers))
        return MF_NOTE;
    return usual;
}

static void judge_all(struct mf_model *model,
                      const struct mf_validate_options *options)
{
    struct mf_index *index = &model->index;
    size_t count[MF_ERROR + 1] = { 0 };

    for (size_t i = 0; i < index->finding_count; i++) {
        struct mf_finding *finding = &index->finding[i];

        finding->severity =
            judge(mf_rule_of(finding->rule), finding->usual, options);
    }
    for (size_t i = 0; i < MF_RULE_COUNT; i++)
        for (int usual = MF_NOTE; usual <= MF_ERROR; usual++)
            count[judge((enum mf_rule)i, (enum mf_severity)usual, options)] +=
                index->tally[i][usual];
    model->readers = asked_readers(options);
    mf_coverage_update(model);
    model->info.error_count = count[MF_ERROR];
    model->info.warning_count = count[MF_WARNING];
    model->info.note_count = count[MF_NOTE];
}

/* Whether one of the readers asked for reads this format at all. */
static enum mf_status check_readers(const struct mf_model *model,
                                    const struct mf_validate_options *options)
{
    uint32_t readers = asked_readers(options);
    const char *name = mf_readers_name((enum mf_readers)readers);

    if (readers > MF_READERS_ALL)
        return mf_fail(model->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "unknown readers %" PRIu32, readers);
    if (readers == 0 || readers & (model->format->readers | MF_READER_SPEC))
        return MF_OK;
    return mf_decline(model->env, MF_REASON_READER_FORMAT, MF_NO_OFFSET,
                      "%s files are not checked for %s", model->format->name,
                      name ? name : "these readers");
}

enum mf_status mf_model_validate_with(struct mf_model *model,
                                      const struct mf_validate_options *options)
{
    MF_NEED(NULL, model);

    struct mf_validate_options known;
    struct mf_timed timed;
    enum mf_status status;

    mf_clear_error(model->env);
    status = mf_options_take(model->env, &known, sizeof(known), options);
    if (status == MF_OK)
        status = check_readers(model, &known);
    timed = mf_timed_begin(model->env, MF_PHASE_CHECK);
    if (status == MF_OK)
        status = mf_header_check(model);
    if (status == MF_OK && known.outline && reads_gguf(&known))
        status = mf_outline_check(model, known.outline);
    if (status == MF_OK && known.data)
        status = mf_data_check(model);
    if (status == MF_OK)
        judge_all(model, &known);
    mf_timed_end(model->env, timed);
    return status;
}

enum mf_status mf_model_validate(struct mf_model *model)
{
    return mf_model_validate_with(model, NULL);
}

enum mf_status mf_model_validate_data(struct mf_model *model)
{
    const struct mf_validate_options options = {
        .size = sizeof(struct mf_validate_options), .data = true
    };

    return mf_model_validate_with(model, &options);
}
