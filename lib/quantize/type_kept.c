/* SPDX-License-Identifier: MIT
 *
 * type_kept.c - errors that were measured are kept until the output is complete
 *
 * Next to the output is a log (worklog.h).  Its first record says what was
 * measured, in the way of the work log (resume_print.c): inputs, importance
 * matrix, names and header of the plan; and as a part of the plan's choice
 * which types, and which rows.  A record for each tensor follows, in
 * their order, with the bits of its errors and a digest of the first record:
 * records of two logs cannot be mixed.  So the types that are chosen by them
 * are the same, and the output's own work goes on.
 *
 * Where an input was touched though it has its size and time, its data may be
 * other data: all errors are measured again.
 */
#include <string.h>

#include "lib/base/little.h"
#include "lib/io/digest.h"
#include "lib/quantize/type_errors.h"

/* "MFERRS1\n" in the file. */
#define KIND_HEAD UINT64_C(0x0a3153525245464d)

/* A record after the first, and its words. */
#define KIND_TENSOR 1
enum word {
    KEPT_FOR,
    NUMBER,
    MEASURED, /* rows */
    WEIGHTED,
    SQUARES,
    ERRORS, /* error and variance, of each type */
};
_Static_assert(ERRORS + 2 * MF_TYPES_MAX <= MF_WORKLOG_WORDS,
               "a tensor's errors are one record");

static bool is_open(const struct mf_type_work *work)
{
    return work->log.fd >= 0;
}

/* ---- what is measured ---- */

/* Which types and rows: adds them to the digest of what else was chosen.  How
 * rows are drawn follows from the version, which the record has. */
static enum mf_status digest_choice(struct mf_type_work *work)
{
    struct mf_digest *digest = mf_digest_new(work->env, MF_XXH3_64);
    uint64_t *choice = &work->quantizing.outputs.choice;
    uint8_t bytes[MF_DIGEST_MAX];

    if (!digest)
        return work->env->error.status;
    mf_put_little_64(bytes, *choice);
    bytes[8] = work->what.all;
    mf_digest_add(digest, bytes, 9);
    for (size_t i = 0; i < work->errors.types; i++)
        mf_digest_add(digest, work->errors.type_name[i],
                      strlen(work->errors.type_name[i]) + 1);
    mf_digest_finish(digest, bytes);
    mf_digest_free(digest);
    *choice = mf_little_64(bytes);
    return MF_OK;
}

/* ---- records ---- */

static void fill(const struct mf_type_work *work, size_t number,
                 struct mf_work_record *out)
{
    const struct mf_tensor_errors *tensor = &work->errors.tensor[number];
    size_t types = work->errors.types;

    out->kind = KIND_TENSOR;
    out->count = ERRORS + 2 * types;
    out->word[KEPT_FOR] = work->kept_for;
    out->word[NUMBER] = number;
    out->word[MEASURED] = tensor->measured;
    out->word[WEIGHTED] = tensor->weighted;
    memcpy(&out->word[SQUARES], &tensor->squares, sizeof(tensor->squares));
    for (size_t i = 0; i < types; i++) {
        uint64_t *word = &out->word[ERRORS + 2 * i];

        memcpy(&word[0], &tensor->type[i].error, sizeof(*word));
        memcpy(&word[1], &tensor->type[i].variance, sizeof(*word));
    }
}

/* Sets the errors; false where no measuring can have such. */
static bool take_errors(const struct mf_work_record *record, size_t types,
                        struct mf_tensor_errors *tensor)
{
    /* They are the work's own. */
    struct mf_type_error *type = (struct mf_type_error *)tensor->type;

    memcpy(&tensor->squares, &record->word[SQUARES], sizeof(tensor->squares));
    if (!(tensor->squares >= 0))
        return false;
    for (size_t i = 0; i < types; i++) {
        const uint64_t *word = &record->word[ERRORS + 2 * i];

        memcpy(&type[i].error, &word[0], sizeof(*word));
        memcpy(&type[i].variance, &word[1], sizeof(*word));
        if (!(type[i].error >= 0) || !(type[i].variance >= 0))
            return false;
    }
    return true;
}

static enum mf_status take(struct mf_type_work *work,
                           const struct mf_work_record *record)
{
    struct mf_tensor_errors *tensor = &work->errors.tensor[work->kept];
    size_t types = work->errors.types;

    if (work->kept == work->errors.count || record->kind != KIND_TENSOR ||
        record->count != ERRORS + 2 * types ||
        record->word[KEPT_FOR] != work->kept_for ||
        record->word[NUMBER] != work->kept ||
        record->word[MEASURED] > tensor->rows ||
        !take_errors(record, types, tensor))
        return mf_worklog_refuse(work->env, work->log.path,
                                 "what was measured does not fit the model");
    tensor->measured = record->word[MEASURED];
    tensor->weighted = record->word[WEIGHTED] != 0;
    work->kept++;
    return MF_OK;
}

static enum mf_status take_all(struct mf_type_work *work)
{
    struct mf_work_record record;
    bool found = true;

    while (found) {
        if (mf_worklog_read(&work->log, &record, &found) != MF_OK ||
            (found && take(work, &record) != MF_OK))
            return work->env->error.status;
    }
    return MF_OK;
}

/* ---- the log ---- */

/* There is something that a later call goes on with. */
static void keep(struct mf_type_work *work)
{
    mf_worklog_keep(&work->log);
    work->env->measured = true;
    atomic_store(&work->env->resumable, true);
}

static enum mf_status set_kept_for(struct mf_type_work *work,
                                   const struct mf_work_record *first)
{
    struct mf_digest *digest = mf_digest_new(work->env, MF_XXH3_64);
    uint8_t bytes[MF_DIGEST_MAX];

    if (!digest)
        return work->env->error.status;
    for (size_t i = 0; i < first->count; i++) {
        mf_put_little_64(bytes, first->word[i]);
        mf_digest_add(digest, bytes, 8);
    }
    mf_digest_finish(digest, bytes);
    mf_digest_free(digest);
    work->kept_for = mf_little_64(bytes);
    return MF_OK;
}

static enum mf_status begin(struct mf_type_work *work,
                            const struct mf_work_record *first)
{
    return set_kept_for(work, first) == MF_OK
               ? mf_worklog_begin(&work->log, first)
               : work->env->error.status;
}

static enum mf_status go_on(struct mf_type_work *work,
                            const struct mf_work_record *now)
{
    struct mf_work_record begun;
    bool found;

    if (mf_resume_same(&work->log, now, &begun, &found) != MF_OK)
        return work->env->error.status;
    if (!found || mf_resume_touched(&begun, now))
        return MF_OK;
    return set_kept_for(work, &begun) == MF_OK ? take_all(work)
                                               : work->env->error.status;
}

/* An output that is there and was not the work's would be refused after all has
 * been measured, and what was measured would stay next to it. */
static enum mf_status check_free(struct mf_type_work *work, bool replace)
{
    const struct mf_outputs *outputs = &work->quantizing.outputs;

    if (mf_worklog_is_there(work->env, outputs->output->path,
                            MF_WORKLOG_SUFFIX))
        return MF_OK;
    return work->env->error.status == MF_OK ? mf_outputs_check(outputs, replace)
                                            : work->env->error.status;
}

enum mf_status mf_type_kept_open(struct mf_type_work *work)
{
    const struct mf_outputs *outputs = &work->quantizing.outputs;
    bool restart = work->quantizing.how.replace;
    struct mf_work_record now;

    if (!work->quantizing.how.resume)
        return MF_OK;
    if (mf_resume_check_files(outputs) != MF_OK ||
        check_free(work, restart) != MF_OK || digest_choice(work) != MF_OK ||
        mf_resume_describe(outputs, restart, &now) != MF_OK ||
        mf_worklog_open(work->env, outputs->output->path, MF_MEASURED_SUFFIX,
                        restart, &work->log) != MF_OK)
        return work->env->error.status;
    now.kind = KIND_HEAD;
    if (!restart && work->log.size > 0 && go_on(work, &now) != MF_OK)
        return work->env->error.status;
    if (work->kept == 0)
        return begin(work, &now);
    keep(work);
    return MF_OK;
}

enum mf_status mf_type_kept_add(struct mf_type_work *work, size_t number)
{
    struct mf_work_record record;

    if (!is_open(work))
        return MF_OK;
    fill(work, number, &record);
    if (mf_worklog_add(&work->log, &record) == MF_OK)
        keep(work);
    return work->env->error.status;
}

enum mf_status mf_type_kept_all(struct mf_type_work *work)
{
    return is_open(work) ? mf_worklog_flush(work->env, &work->log) : MF_OK;
}

void mf_type_kept_failed(struct mf_type_work *work)
{
    atomic_store(&work->env->resumable,
                 work->env->measured && mf_work_may_succeed(work->env));
}

void mf_type_kept_close(struct mf_type_work *work)
{
    work->env->measured = false;
    mf_worklog_close(&work->log);
}

void mf_type_errors_forget(struct mf_type_errors *errors)
{
    struct mf_type_work *work = (struct mf_type_work *)errors;

    work->env->measured = false;
    mf_worklog_remove(&work->log);
}
