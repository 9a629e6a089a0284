/* SPDX-License-Identifier: MIT
 *
 * part.c - one attempt at a part of the outputs
 *
 * A record is written when the bytes that it is about are on the disk: so
 * whatever a log says is so after a power failure, too.  To wait for the disk
 * after each unit would halve the speed of a copy, so records wait for each
 * other: some units, or a second.  That is what a kill costs.
 *
 * The digest of a unit is of what is read back.  Units are small enough to be
 * in the system's memory still.
 */
#include "lib/write/part.h"

#include <string.h>

#include "lib/base/timings.h"
#include "lib/io/path.h"
#include "lib/write/resume.h"

/* Of a unit: large enough for sums and records to be few, and small enough for
 * parts to be of one size, and for little to be lost by a kill. */
#define UNIT_LEAST ((uint64_t)64 * 1024)
#define UNIT_MOST  ((uint64_t)32 * 1024 * 1024)
#define UNIT_WORK  ((uint64_t)64 * 1024 * 1024) /* that it is made of */
#define UNITS      256                          /* at least, between these */

#define WAIT_SECONDS 1

/* ---- whether it can be done ---- */

enum mf_status mf_outputs_divide(struct mf_outputs *outputs, const char *path,
                                 const struct mf_convert_options *options)
{
    struct mf_env *env = outputs->env;
    const char *what = options->resume          ? "work to be resumed"
                       : options->dry_run       ? "a dry run"
                       : options->delete_inputs ? "inputs to be removed"
                       : options->output        ? "what functions take"
                       : outputs->stage.env     ? "a folder"
                       : outputs->together      ? "several models at once"
                       : env->ranks             ? "what ranks share"
                                                : NULL;

    if (options->part == 0 && options->parts == 0)
        return MF_OK;
    if (options->part == 0 || options->part > options->parts ||
        options->parts > MF_PARTS_MAX)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "there is no part %" PRIu32 " of %" PRIu32
                       ": parts are 1 to their number, which is at most %d",
                       options->part, options->parts, MF_PARTS_MAX);
    if (what)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%s cannot be done in parts", what);
    outputs->named = path;
    outputs->part_number = options->part;
    outputs->parts = options->parts;
    return MF_OK;
}

/* ---- opening ---- */

static void choose_unit(struct mf_part_plan *plan, uint64_t work)
{
    uint64_t total = 0;

    for (size_t i = 0; i < plan->files; i++)
        total += plan->file[i].size;
    plan->unit = UNIT_MOST;
    while (plan->unit > UNIT_LEAST && (total / plan->unit < UNITS ||
                                       work / (total / plan->unit) > UNIT_WORK))
        plan->unit /= 2;
}

static enum mf_status plan_units(struct mf_attempt *attempt)
{
    const struct mf_outputs *outputs = attempt->outputs;
    struct mf_part_plan *plan = &attempt->plan;

    plan->parts = outputs->parts;
    plan->files = outputs->count + (outputs->index_path != NULL);
    plan->file =
        mf_arena_take(&attempt->arena, plan->files * sizeof(*plan->file));
    if (!plan->file)
        return outputs->env->error.status;
    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_draft *draft = &outputs->output[i].draft;
        uint64_t end = draft->data_offset + draft->data_size;

        plan->file[i] = (struct mf_part_file){
            .path = outputs->output[i].path,
            .size = draft->file_size,
            .filled = outputs->verbatim ? draft->file_size : end,
        };
    }
    if (outputs->index_path) {
        uint64_t size = mf_outputs_index_size(outputs);

        plan->file[outputs->count] = (struct mf_part_file){
            .path = outputs->index_path,
            .size = size,
            .filled = size,
            .is_index = true,
        };
    }
    choose_unit(plan, mf_outputs_work(outputs));
    return mf_part_lay_out(plan)
               ? MF_OK
               : mf_fail(outputs->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                         "the outputs are too large for %" PRIu32 " parts",
                         plan->parts);
}

static struct mf_target *target_of(const struct mf_attempt *attempt,
                                   size_t file)
{
    struct mf_outputs *outputs = attempt->outputs;

    return file < outputs->count ? &outputs->output[file].target
                                 : &outputs->index;
}

static enum mf_status open_targets(const struct mf_attempt *attempt,
                                   bool replace)
{
    const struct mf_part_plan *plan = &attempt->plan;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < plan->files && status == MF_OK; i++)
        status =
            mf_shared_open(attempt->outputs->env, plan->file[i].path,
                           plan->file[i].size, replace, target_of(attempt, i));
    return status;
}

static enum mf_status reserve(const struct mf_attempt *attempt)
{
    const struct mf_part_plan *plan = &attempt->plan;
    enum mf_status status = MF_OK;
    uint64_t others = 0;

    for (size_t i = 1; i < plan->files; i++)
        others += plan->file[i].size;
    for (size_t i = 0; i < plan->files && status == MF_OK; i++)
        status = mf_shared_reserve(target_of(attempt, i), i == 0 ? others : 0);
    return status;
}

static enum mf_status take_done(struct mf_attempt *attempt,
                                struct mf_part_log *log)
{
    struct mf_work_record record;
    struct mf_part_unit unit;
    bool found = true;
    size_t sums;

    while (found) {
        if (mf_part_next(log, &record, &found) != MF_OK)
            return log->log.env->error.status;
        if (!found || record.kind != MF_PART_UNIT)
            continue;
        if (!mf_part_take_unit(&attempt->plan, log->part, &record, &unit,
                               &sums))
            return mf_part_refuse_log(log, "names places that cannot be");
        attempt->done[mf_part_unit(&attempt->plan, unit.file, unit.from) -
                      attempt->first] = true;
    }
    return MF_OK;
}

/* All logs of this part are read, and one of the others.  If an input was
 * touched since an attempt, what that finished is done again: it may have been
 * killed before it saw that its input changes. */
static enum mf_status compare(void *user, struct mf_part_log *log, bool *stop)
{
    struct mf_attempt *attempt = user;
    bool is_own = strcmp(log->suffix, attempt->log.suffix) == 0;
    bool is_ours = log->part == attempt->log.part;

    (void)stop;
    if (is_own || (!is_ours && attempt->compared))
        return MF_OK;
    attempt->compared = true;
    if (mf_part_same(&attempt->log, log) != MF_OK)
        return log->log.env->error.status;
    return is_ours && !mf_resume_touched(&log->head, &attempt->log.head)
               ? take_done(attempt, log)
               : MF_OK;
}

static enum mf_status take_room(struct mf_attempt *attempt)
{
    struct mf_env *env = attempt->outputs->env;
    size_t size = MF_PART_WAITING * sizeof(*attempt->waiting);
    size_t units = (size_t)(attempt->end - attempt->first);

    attempt->done = mf_arena_take(&attempt->arena, units);
    attempt->waiting = mf_arena_take(&attempt->arena, size);
    if (!attempt->done || !attempt->waiting)
        return env->error.status;
    memset(attempt->done, 0, units);
    return MF_OK;
}

static enum mf_status open_all(struct mf_attempt *attempt, bool replace)
{
    struct mf_outputs *outputs = attempt->outputs;
    struct mf_env *env = outputs->env;

    if (mf_resume_check_files(outputs) != MF_OK ||
        mf_resume_describe(outputs, replace, &attempt->log.head) != MF_OK ||
        plan_units(attempt) != MF_OK)
        return env->error.status;
    attempt->log.part = outputs->part_number;
    attempt->first = mf_part_first(&attempt->plan, outputs->part_number);
    attempt->end = mf_part_first(&attempt->plan, outputs->part_number + 1);
    mf_part_fill_head(&attempt->log, &attempt->plan);
    if (take_room(attempt) != MF_OK ||
        open_targets(attempt, replace) != MF_OK ||
        mf_part_begin(env, outputs->named, &attempt->plan, &attempt->log) !=
            MF_OK ||
        mf_part_logs(env, outputs->named, compare, attempt) != MF_OK)
        return env->error.status;
    return reserve(attempt);
}

enum mf_status mf_part_open(struct mf_attempt *attempt,
                            struct mf_outputs *outputs, bool replace)
{
    *attempt = (struct mf_attempt){ .outputs = outputs };
    attempt->log.log = (struct mf_worklog)MF_WORKLOG_NONE;
    mf_arena_init(&attempt->arena, outputs->env);
    if (open_all(attempt, replace) == MF_OK)
        return MF_OK;
    for (size_t i = 0; i < attempt->plan.files; i++)
        mf_shared_forget(target_of(attempt, i));
    return outputs->env->error.status;
}

void mf_part_close(struct mf_attempt *attempt)
{
    mf_worklog_close(&attempt->log.log);
    mf_arena_release(&attempt->arena);
}

/* ---- records ---- */

static enum mf_status write_records(struct mf_attempt *attempt)
{
    struct mf_env *env = attempt->outputs->env;
    size_t flushed = SIZE_MAX;

    for (size_t i = 0; i < attempt->count; i++) {
        size_t file = attempt->waiting_file[i];

        if (file != flushed &&
            mf_target_flush(env, target_of(attempt, file)) != MF_OK)
            return env->error.status;
        flushed = file;
    }
    for (size_t i = 0; i < attempt->count; i++)
        if (mf_worklog_add(&attempt->log.log, &attempt->waiting[i]) != MF_OK)
            return env->error.status;
    if (attempt->count > 0)
        mf_worklog_keep(&attempt->log.log);
    attempt->count = 0;
    clock_gettime(CLOCK_MONOTONIC, &attempt->written);
    return MF_OK;
}

static bool is_time(const struct mf_attempt *attempt)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return attempt->count == MF_PART_WAITING ||
           now.tv_sec - attempt->written.tv_sec > WAIT_SECONDS;
}

/* The unit that was filled is complete. */
static enum mf_status leave(struct mf_transfer *transfer)
{
    const struct mf_outputs *outputs = transfer->outputs;
    struct mf_attempt *attempt = outputs->attempt;
    struct mf_part_unit *place = &attempt->place;
    struct mf_work_record *record = &attempt->waiting[attempt->count];

    if (!attempt->is_open)
        return MF_OK;
    attempt->is_open = false;
    if (mf_transfer_run(transfer) != MF_OK ||
        mf_part_digest(transfer->crew, target_of(attempt, place->file),
                       place->from, place->to, false, place->digest) != MF_OK)
        return outputs->env->error.status;
    mf_part_put_unit(place, record);
    attempt->waiting_file[attempt->count] = place->file;
    mf_work_put_sums(outputs->deviation, record);
    attempt->count++;
    return is_time(attempt) ? write_records(attempt) : MF_OK;
}

/* ---- while pieces are listed ---- */

size_t mf_part_piece(const struct mf_attempt *attempt)
{
    return attempt->plan.unit < MF_RESUME_PIECE ? (size_t)attempt->plan.unit
                                                : MF_RESUME_PIECE;
}

static bool is_wanted(const struct mf_attempt *attempt, uint64_t unit)
{
    return unit >= attempt->first && unit < attempt->end &&
           !attempt->done[unit - attempt->first];
}

static size_t file_of(const struct mf_attempt *attempt,
                      const struct mf_output *output)
{
    return (size_t)(output - attempt->outputs->output);
}

bool mf_part_wants(const struct mf_outputs *outputs,
                   const struct mf_output *output,
                   const struct mf_draft_tensor *tensor)
{
    const struct mf_attempt *attempt = outputs->attempt;
    uint64_t from = output->draft.data_offset + tensor->offset, unit, last;

    if (!attempt || tensor->size == 0)
        return true;
    unit = mf_part_unit(&attempt->plan, file_of(attempt, output), from);
    last = mf_part_unit(&attempt->plan, file_of(attempt, output),
                        from + tensor->size - 1);
    unit = unit < attempt->first ? attempt->first : unit;
    while (unit <= last && unit < attempt->end && !is_wanted(attempt, unit))
        unit++;
    return unit <= last && unit < attempt->end;
}

/* Bytes of a file from there on come next.  What is made again, to be compared,
 * makes no records. */
static enum mf_status enter(struct mf_transfer *transfer, size_t file,
                            uint64_t at, bool *taken)
{
    struct mf_outputs *outputs = transfer->outputs;
    struct mf_attempt *attempt = outputs->attempt;
    uint64_t unit = mf_part_unit(&attempt->plan, file, at);

    *taken = is_wanted(attempt, unit);
    if (outputs->again || (attempt->is_open && attempt->unit == unit))
        return MF_OK;
    if (leave(transfer) != MF_OK || !*taken)
        return outputs->env->error.status;
    attempt->is_open = true;
    attempt->unit = unit;
    attempt->place =
        (struct mf_part_unit){ .file = file, .from = at, .to = at };
    if (outputs->deviation)
        memset(outputs->deviation, 0,
               MF_TYPE_COUNT * sizeof(*outputs->deviation));
    return MF_OK;
}

enum mf_status mf_part_place(struct mf_transfer *transfer,
                             const struct mf_piece *piece, bool *taken)
{
    const struct mf_attempt *attempt = transfer->outputs->attempt;

    *taken = true;
    return attempt && !piece->measured
               ? enter(transfer, file_of(attempt, piece->output), piece->to,
                       taken)
               : MF_OK;
}

bool mf_part_continues(const struct mf_transfer *transfer,
                       const struct mf_piece *piece)
{
    const struct mf_attempt *attempt = transfer->outputs->attempt;

    return attempt->is_open &&
           attempt->unit == mf_part_unit(&attempt->plan,
                                         file_of(attempt, piece->output),
                                         piece->to);
}

void mf_part_added(const struct mf_transfer *transfer, uint64_t to)
{
    struct mf_attempt *attempt = transfer->outputs->attempt;

    if (attempt && attempt->is_open)
        attempt->place.to = to;
}

enum mf_status mf_part_header(struct mf_transfer *transfer,
                              struct mf_output *output)
{
    size_t file = file_of(transfer->outputs->attempt, output);
    bool taken;

    if (output->draft.data_offset == 0 ||
        enter(transfer, file, 0, &taken) != MF_OK || !taken)
        return transfer->outputs->env->error.status;
    mf_part_added(transfer, output->draft.data_offset);
    return transfer->outputs->again ? mf_output_compare_header(output)
                                    : mf_output_write_header(output);
}

enum mf_status mf_part_listed(struct mf_transfer *transfer)
{
    struct mf_outputs *outputs = transfer->outputs;
    struct mf_attempt *attempt = outputs->attempt;
    bool taken;

    if (outputs->again)
        return MF_OK;
    if (outputs->index_path) {
        if (enter(transfer, outputs->count, 0, &taken) != MF_OK)
            return outputs->env->error.status;
        mf_part_added(transfer, attempt->plan.file[outputs->count].size);
        if (taken && mf_outputs_fill_index(outputs) != MF_OK)
            return outputs->env->error.status;
    }
    return leave(transfer);
}

/* ---- all of it ---- */

/* What was made of an input that changed is as good as not done. */
static enum mf_status check_inputs(struct mf_attempt *attempt,
                                   struct mf_crew *crew)
{
    struct mf_env *env = attempt->outputs->env;

    if (mf_outputs_steady(attempt->outputs, crew) == MF_OK)
        return MF_OK;
    attempt->log.log.kept = false;
    return env->error.status;
}

static enum mf_status record_end(struct mf_attempt *attempt)
{
    const struct mf_work_record record = { .kind = MF_PART_DONE };

    if (write_records(attempt) != MF_OK ||
        mf_worklog_add(&attempt->log.log, &record) != MF_OK)
        return attempt->outputs->env->error.status;
    mf_worklog_keep(&attempt->log.log);
    return mf_worklog_flush(attempt->outputs->env, &attempt->log.log);
}

enum mf_status mf_part_move(struct mf_attempt *attempt, struct mf_crew *crew)
{
    struct mf_outputs *outputs = attempt->outputs;

    crew->work /= outputs->parts;
    if (mf_outputs_transfer(outputs, crew) != MF_OK ||
        check_inputs(attempt, crew) != MF_OK)
        return outputs->env->error.status;
    if (outputs->deviation) /* the end has the sums */
        memset(outputs->deviation, 0,
               MF_TYPE_COUNT * sizeof(*outputs->deviation));
    return record_end(attempt);
}
