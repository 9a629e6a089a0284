/* SPDX-License-Identifier: MIT
 *
 * verify.c - whether a model was made from another one
 */
#include "lib/verify/verify.h"

#include "lib/base/options.h"
#include "lib/base/timings.h"
#include "lib/model/steady.h"

const char *mf_verdict_name(enum mf_verdict verdict)
{
    static const char *const names[] = {
        [MF_VERDICT_SAME] = "same",
        [MF_VERDICT_DIFFERS] = "differs",
        [MF_VERDICT_OTHER_VERSION] = "other_version",
        [MF_VERDICT_NOT_DERIVABLE] = "not_derivable",
        [MF_VERDICT_MISSING] = "missing",
    };

    return (unsigned)verdict < sizeof(names) / sizeof(*names) ? names[verdict]
                                                              : NULL;
}

/* ---- the importance matrix ---- */

static enum mf_status read_weights(void *user, struct mf_str name, float *out,
                                   size_t count, bool *found)
{
    const struct mf_verification *work = user;

    return mf_imatrix_read(work->imatrix, name, out, count, found);
}

static enum mf_status open_imatrix(struct mf_verification *work)
{
    const struct mf_imatrix_choice all = { 0 };

    if (!work->options->imatrix)
        return MF_OK;
    if (mf_imatrix_open(work->env, work->options->imatrix, &all,
                        &work->imatrix) != MF_OK)
        return work->env->error.status;
    work->weights = (struct mf_weights){ read_weights, work };
    return MF_OK;
}

/* ---- the result ---- */

/* Where a tensor differs first, in its file. */
static uint64_t offset_of(const struct mf_record *record,
                          const struct mf_claim *claim)
{
    bool encoded = claim->from->from != claim->from->type;
    size_t block =
        record->type == MF_TYPE_UNKNOWN ? 1 : mf_types[record->type].bytes;

    if (claim->head_differs)
        return record->offset;
    return record->offset + claim->first * block +
           (encoded ? mf_type_head((enum mf_type)record->type) : 0);
}

static struct mf_verified_tensor describe(const struct mf_verification *work,
                                          size_t index)
{
    const struct mf_record *record = &work->model->index.tensor[index];
    const struct mf_claim *claim = &work->claim[index];
    size_t block =
        record->type == MF_TYPE_UNKNOWN ? 1 : mf_types[record->type].bytes;
    struct mf_verified_tensor out = {
        .name = { record->name, record->name_size },
        .model = index,
        .source = SIZE_MAX,
        .verdict = claim->verdict,
        .version = claim->version,
        .reason = claim->reason,
        .weighted = claim->weighted,
        .blocks = record->size / block,
    };

    if (claim->from && !claim->from->made)
        out.source = claim->from->record;
    if (claim->verdict == MF_VERDICT_DIFFERS) {
        out.differ = claim->differ;
        out.block = claim->first;
        out.offset = offset_of(record, claim);
        out.errors = claim->apart ? &claim->apart->errors : NULL;
    }
    return out;
}

static void report(struct mf_verification *work,
                   const struct mf_verified_tensor *tensor)
{
    work->result.tensors[tensor->verdict]++;
    if (work->options->tensor)
        work->options->tensor(work->options->user, tensor);
}

static void report_all(struct mf_verification *work)
{
    const struct mf_verify_options *options = work->options;
    const struct mf_draft_tensor *missing;
    size_t at = 0;

    for (const struct mf_changed_key *key = work->changed; key; key = key->next)
        if (options->key)
            options->key(options->user, &key->key);
    for (size_t i = 0; i < work->count; i++) {
        struct mf_verified_tensor tensor = describe(work, i);

        report(work, &tensor);
    }
    while ((missing = mf_verify_missing(work, &at)) != NULL) {
        struct mf_verified_tensor tensor = {
            .name = missing->name,
            .model = SIZE_MAX,
            .source = missing->made ? SIZE_MAX : missing->record,
            .verdict = MF_VERDICT_MISSING,
        };

        report(work, &tensor);
    }
}

/* ---- all of it ---- */

static bool follows(const struct mf_verification *work)
{
    const struct mf_verify_options *options = work->options;
    size_t at = 0;

    for (size_t i = 0; i < work->count; i++)
        if (work->claim[i].verdict != MF_VERDICT_SAME &&
            work->claim[i].verdict != MF_VERDICT_OTHER_VERSION)
            return false;
    return !options->strict ||
           (!work->changed && !mf_verify_missing(work, &at));
}

/* Compares all tensors, until the files are those that were read. */
static enum mf_status compare(struct mf_verification *work)
{
    struct mf_model *models[] = { work->model, work->source, NULL };
    size_t count = 2;

    if (work->imatrix)
        models[count++] = work->imatrix->model;
    for (unsigned round = 0; mf_steady_next(work->env, models, count, &round);)
        mf_verify_compare(work);
    return work->env->error.status;
}

static enum mf_status begin(struct mf_verification *work)
{
    size_t count = work->model->index.tensor_count;
    size_t size = (count + 1) * sizeof(*work->claim);

    if (mf_table_refuse(work->model) != MF_OK ||
        mf_table_refuse(work->source) != MF_OK || open_imatrix(work) != MF_OK ||
        mf_verify_check_statement(work) != MF_OK)
        return work->env->error.status;
    work->claim = mf_alloc(work->env, size);
    if (!work->claim)
        return work->env->error.status;
    memset(work->claim, 0, size);
    work->count = count;
    if (mf_verify_claims(work) != MF_OK)
        return work->env->error.status;
    return mf_verify_keys(work);
}

static enum mf_status verify(struct mf_verification *work)
{
    struct mf_timed timed = mf_timed_begin(work->env, MF_PHASE_PLAN);
    enum mf_status status = begin(work);

    mf_timed_end(work->env, timed);
    if (status == MF_OK)
        status = compare(work);
    if (status != MF_OK)
        return status;
    work->result.follows = follows(work);
    if (work->options->statement && work->result.follows) {
        if (mf_verify_write_statement(work) != MF_OK)
            return work->env->error.status;
        work->result.stated = true;
    }
    report_all(work);
    return MF_OK;
}

static void release(struct mf_verification *work)
{
    mf_release(work->env, work->claim,
               (work->model->index.tensor_count + 1) * sizeof(*work->claim));
    mf_draft_release(&work->draft);
    mf_renaming_release(&work->renaming);
    mf_imatrix_close(work->imatrix);
    mf_arena_release(&work->arena);
}

enum mf_status mf_verify(struct mf_model *model, struct mf_model *source,
                         const struct mf_verify_options *options,
                         struct mf_verify_result *out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, source);

    struct mf_env *env = model->env;
    struct mf_verify_options known;
    struct mf_verification work = {
        .env = env, .model = model, .source = source, .options = &known
    };
    enum mf_status status;

    if (mf_options_take(env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;
    mf_clear_error(env);
    if (source->env != env)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "both models must belong to one env");
    work.changed_end = &work.changed;
    mf_arena_init(&work.arena, env);
    mf_draft_init(&work.draft, env, model->format);
    status = verify(&work);
    if (status == MF_OK && out)
        *out = work.result;
    release(&work);
    return status;
}
