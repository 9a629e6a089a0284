/* SPDX-License-Identifier: MIT
 *
 * resume.c - stopped work goes on: the records of its log
 *
 * A record is written after its batch, but when the bytes of the batch reach
 * the disk is up to the kernel: to wait for that each time would halve the
 * speed of a copy.  So one worker syncs now and then, while the others move the
 * next batch, and each record says how many records before it are known to be
 * on the disk.  A kill loses the batch that ran.  After a power failure the
 * later records may be about bytes that never arrived: verifying finds out, and
 * drops these records.  Where a record fails that was on the disk, the file was
 * changed, and the work does not continue.
 *
 * When a sync fails, Linux forgets which bytes were lost, and a later sync
 * succeeds.  So all records since the last sync that succeeded are dropped then
 * (mf_resume_lost), although their bytes may still be read back.
 */
#include "lib/write/resume_parts.h"

#include <errno.h>
#include <string.h>

#include "lib/base/little.h"
#include "lib/base/timings.h"
#include "lib/io/path.h"
#include "lib/io/system.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What a kill can cost: a batch of so many bytes that are written, or read. */
#define BATCH_OUT ((uint64_t)32 * 1024 * 1024)
#define BATCH_IN  ((uint64_t)64 * 1024 * 1024)

/* Requests that were sent ahead are lost as well. */
#define BATCH_FETCHED ((uint64_t)48 * 1024 * 1024)

/* Between two syncs.  Each costs what a disk takes to write its cache, some
 * milliseconds. */
#define FLUSH_SECONDS 0.25
#define FLUSH_RECORDS 8

/* ---- opening ---- */

static enum mf_status compare_work(struct mf_resume *resume,
                                   const struct mf_work_record *now)
{
    struct mf_work_record begun;
    bool found;

    if (mf_resume_same(&resume->log, now, &begun, &found) != MF_OK || !found)
        return resume->outputs->env->error.status;
    resume->first = resume->log.at;
    resume->touched = mf_resume_touched(&begun, now);
    if (mf_resume_read(resume) != MF_OK)
        return resume->outputs->env->error.status;
    resume->going_on = resume->records > 0;
    resume->may_replace =
        mf_resume_replaces(&begun, now, resume->inode[0] != 0);
    return MF_OK;
}

static enum mf_status open_log(struct mf_resume *resume)
{
    struct mf_outputs *outputs = resume->outputs;
    struct mf_work_record now;

    if (mf_resume_describe(outputs, resume->restart, &now) != MF_OK ||
        mf_worklog_open(outputs->env, outputs->output->path, MF_WORKLOG_SUFFIX,
                        resume->restart, &resume->log) != MF_OK)
        return outputs->env->error.status;
    if (!resume->restart && resume->log.size > 0 &&
        compare_work(resume, &now) != MF_OK)
        return outputs->env->error.status;
    atomic_store(&outputs->env->resumable,
                 resume->going_on || outputs->env->measured);
    if (resume->going_on)
        return MF_OK;
    resume->may_replace = resume->restart;
    if (mf_worklog_begin(&resume->log, &now) != MF_OK)
        return outputs->env->error.status;
    resume->first = resume->log.at;
    mf_resume_forget(resume);
    return mf_resume_next(resume);
}

enum mf_status mf_resume_open(struct mf_resume *resume,
                              struct mf_outputs *outputs, bool replace)
{
    *resume = (struct mf_resume){ .outputs = outputs,
                                  .log = MF_WORKLOG_NONE,
                                  .restart = replace };
    if (mf_resume_check_files(outputs) != MF_OK)
        return outputs->env->error.status;
    resume->inode =
        mf_alloc(outputs->env, outputs->count * sizeof(*resume->inode));
    if (!resume->inode)
        return outputs->env->error.status;
    memset(resume->inode, 0, outputs->count * sizeof(*resume->inode));
    return open_log(resume);
}

enum mf_status mf_resume_target(struct mf_resume *resume, size_t number)
{
    struct mf_outputs *outputs = resume->outputs;
    struct mf_output *output = &outputs->output[number];
    uint64_t inode = resume->inode[number];
    enum mf_partial partial =
        resume->going_on ? MF_PARTIAL_KEPT : MF_PARTIAL_NEW;
    bool complete = false;

    if (resume->restart)
        partial = MF_PARTIAL_FORCED;
    if (inode != 0) {
        partial = MF_PARTIAL_NAMING;
        if (mf_target_open_complete(outputs->env, output->path,
                                    output->draft.file_size, inode,
                                    &output->target, &complete) != MF_OK ||
            complete)
            return outputs->env->error.status;
    }
    return mf_target_open_partial(outputs->env, output->path,
                                  output->draft.file_size, resume->may_replace,
                                  partial, inode, &output->target);
}

/* Where all other outputs have their names, it may have got its own. */
enum mf_status mf_resume_index(struct mf_resume *resume, uint64_t size)
{
    struct mf_outputs *outputs = resume->outputs;
    bool all = true, complete = false;

    for (size_t i = 0; i < outputs->count; i++)
        all = all && outputs->output[i].target.complete;
    if (all && !resume->may_replace &&
        (mf_target_open_complete(outputs->env, outputs->index_path, size, 0,
                                 &outputs->index, &complete) != MF_OK ||
         complete))
        return outputs->env->error.status;
    /* A kill may have left one with its final mode; it is not kept. */
    return mf_target_open_partial(outputs->env, outputs->index_path, size,
                                  resume->may_replace, MF_PARTIAL_FORCED, 0,
                                  &outputs->index);
}

/* ---- while pieces are listed ---- */

static struct mf_place_done start_of(const struct mf_resume *resume,
                                     const struct mf_piece *piece)
{
    if (resume->outputs->together)
        return (struct mf_place_done){ 0, piece->number };
    return (struct mf_place_done){
        (size_t)(piece->output - resume->outputs->output), piece->to
    };
}

static struct mf_place_done end_of(const struct mf_resume *resume,
                                   const struct mf_piece *piece)
{
    struct mf_place_done place = start_of(resume, piece);

    place.to += resume->outputs->together ? 1 : mf_piece_written(piece);
    return place;
}

/* Every record ended at the end of a piece, and so it must now. */
enum mf_status mf_resume_place(const struct mf_resume *resume,
                               struct mf_piece *piece)
{
    struct mf_place_done start = start_of(resume, piece);

    piece->kept = mf_place_is_before(start, resume->done);
    piece->inputs = piece->kept && resume->touched && mf_piece_has_input(piece);
    if (piece->kept &&
        (!mf_place_is_before(start, resume->next) ||
         mf_place_is_before(resume->next, end_of(resume, piece))))
        return mf_resume_refuse_log(resume);
    return MF_OK;
}

bool mf_resume_added(struct mf_resume *resume, const struct mf_piece *piece)
{
    resume->batch_in += piece->rides ? 0 : piece->size;
    resume->batch_out += mf_piece_written(piece);
    if (piece->kept)
        return !mf_place_is_before(end_of(resume, piece), resume->next);
    return resume->batch_in >= BATCH_IN || resume->batch_out >= BATCH_OUT ||
           (resume->batch_in >= BATCH_FETCHED && mf_piece_is_fetched(piece));
}

enum mf_status mf_resume_scale(struct mf_resume *resume,
                               const struct mf_piece *piece, const void *bytes,
                               size_t size)
{
    struct mf_target *target = &piece->output->target;
    uint8_t found[16];
    uint64_t digest[2] = { 0 };

    if (piece->kept) {
        if (size > sizeof(found) ||
            mf_target_read(resume->outputs->env, target, piece->to, found,
                           size) != MF_OK)
            return resume->outputs->env->error.status;
        bytes = found;
    }
    digest[0] = XXH3_64bits(bytes, size);
    mf_piece_digest_join(resume->digest, digest);
    return MF_OK;
}

/* ---- after a batch ---- */

static void keep_all(struct mf_resume *resume)
{
    struct mf_outputs *outputs = resume->outputs;

    for (size_t i = 0; i < outputs->count; i++)
        mf_target_keep(&outputs->output[i].target);
    mf_worklog_keep(&resume->log);
    atomic_store(&outputs->env->resumable, true);
}

static enum mf_status add_record(struct mf_resume *resume,
                                 struct mf_place_done place, float largest)
{
    struct mf_work_record record;

    mf_resume_fill(resume, place, largest, &record);
    if (mf_worklog_add(&resume->log, &record) != MF_OK)
        return resume->outputs->env->error.status;
    resume->reached =
        resume->outputs->together ? resume->outputs->count - 1 : place.output;
    if (resume->records++ == 0)
        keep_all(resume);
    return MF_OK;
}

/* The record that is verified is about other bytes than the file has. */
static enum mf_status fail_record(struct mf_resume *resume,
                                  const struct mf_piece *piece)
{
    const struct mf_outputs *outputs = resume->outputs;
    bool complete = false;

    for (size_t i = 0; i < outputs->count; i++)
        complete |= outputs->output[i].target.complete;
    if (resume->verified >= resume->on_disk && !complete) {
        if (mf_resume_drop(resume, resume->verified) != MF_OK)
            return outputs->env->error.status;
        resume->again = true;
    }
    return mf_worklog_refuse(outputs->env, piece->output->path,
                             "its content before 0x%" PRIx64
                             " differs from the bytes that were written",
                             piece->to + mf_piece_written(piece));
}

static enum mf_status verify_record(struct mf_resume *resume,
                                    const struct mf_piece *piece)
{
    if (memcmp(resume->digest, resume->next_digest, sizeof(resume->digest)) !=
        0)
        return fail_record(resume, piece);
    if (!resume->touched) /* what follows goes on from there */
        memcpy(resume->input, resume->next_input, sizeof(resume->input));
    if (memcmp(resume->input, resume->next_input, sizeof(resume->input)) != 0)
        return mf_worklog_refuse(
            resume->outputs->env, piece->output->path,
            "the input differs from the one it began with: the output before "
            "0x%" PRIx64 " was made from other bytes",
            piece->to + mf_piece_written(piece));
    resume->verified++;
    return mf_resume_next(resume);
}

enum mf_status mf_resume_recheck(struct mf_resume *resume)
{
    resume->touched = true;
    return mf_resume_read(resume);
}

enum mf_status mf_resume_ran(struct mf_resume *resume,
                             const struct mf_piece *piece, size_t count,
                             float largest)
{
    const struct mf_piece *last = NULL;

    for (size_t i = 0; i < count; i++) {
        if (piece[i].measured)
            continue;
        last = &piece[i];
        if (last->result.differs)
            return fail_record(resume, last);
        if (!mf_piece_is_digested(last))
            continue;
        mf_piece_digest_join(resume->digest, last->result.digest);
        if (mf_piece_has_input(last) && (!last->kept || last->inputs))
            mf_piece_digest_join(resume->input, last->result.input);
    }
    resume->batch_in = resume->batch_out = 0;
    if (!last)
        return MF_OK;
    if (!last->kept)
        return add_record(resume, end_of(resume, last), largest);
    return mf_place_is_before(end_of(resume, last), resume->next)
               ? MF_OK
               : verify_record(resume, last);
}

enum mf_status mf_resume_listed(struct mf_resume *resume)
{
    return resume->verified < resume->records && resume->next.output != SIZE_MAX
               ? mf_resume_refuse_log(resume)
               : MF_OK;
}

bool mf_resume_again(struct mf_resume *resume)
{
    struct mf_env *env = resume->outputs->env;

    if (!resume->again)
        return false;
    resume->again = false;
    mf_clear_error(env);
    return mf_resume_read(resume) == MF_OK;
}

/* ---- onto the disk ---- */

static double seconds_since(const struct timespec *then)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) +
           (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

/* Clocks of ranks differ, and all of them must sync at the same place. */
bool mf_resume_flush_due(struct mf_resume *resume)
{
    uint64_t waiting = resume->records - resume->on_disk;
    bool due = resume->outputs->env->ranks
                   ? waiting >= FLUSH_RECORDS
                   : waiting > 0 &&
                         seconds_since(&resume->flush_time) >= FLUSH_SECONDS;

    if (!due)
        return false;
    resume->flushing = resume->records;
    return true;
}

enum mf_status mf_resume_flush(struct mf_resume *resume, struct mf_env *env)
{
    const struct mf_outputs *outputs = resume->outputs;
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_SYNC);
    enum mf_status status = MF_OK;

    for (size_t i = resume->flushed; i <= resume->reached && status == MF_OK;
         i++)
        status = mf_target_flush(env, &outputs->output[i].target);
    if (status == MF_OK)
        status = mf_worklog_flush(env, &resume->log);
    mf_timed_end(env, timed);
    atomic_store(status == MF_OK ? &resume->flush_succeeded
                                 : &resume->flush_failed,
                 true);
    return status;
}

void mf_resume_flushed(struct mf_resume *resume)
{
    if (atomic_load(&resume->flush_failed))
        mf_resume_lost(resume);
    if (!atomic_exchange(&resume->flush_succeeded, false))
        return; /* the run was stopped before */
    resume->on_disk = resume->flushing;
    resume->flushed = resume->outputs->together ? 0 : resume->reached;
    clock_gettime(CLOCK_MONOTONIC, &resume->flush_time);
}

/* The error that is set already is the one to report. */
void mf_resume_lost(struct mf_resume *resume)
{
    struct mf_outputs *outputs = resume->outputs;
    struct mf_error error = outputs->env->error;

    mf_resume_drop(resume, resume->on_disk);
    for (size_t i = 0; i < outputs->count; i++)
        mf_target_go_back(&outputs->output[i].target);
    outputs->env->error = error;
}

enum mf_status mf_resume_naming(struct mf_resume *resume)
{
    struct mf_outputs *outputs = resume->outputs;

    for (size_t i = 0; i < outputs->count; i++) {
        const struct mf_target *target = &outputs->output[i].target;
        struct mf_work_record record = { .kind = MF_WORK_NAMING, .count = 2 };
        struct stat status;

        if (target->complete)
            continue;
        if (fstat(target->fd, &status) != 0)
            return mf_fail_system(
                outputs->env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
                "'%s' cannot be examined: %s",
                mf_quote((struct mf_str){ target->path, strlen(target->path) })
                    .text,
                mf_errno_text(errno));
        record.word[0] = i;
        record.word[1] = status.st_ino;
        if (mf_worklog_add(&resume->log, &record) != MF_OK)
            return outputs->env->error.status;
    }
    return mf_worklog_flush(outputs->env, &resume->log);
}

void mf_resume_close(struct mf_resume *resume, enum mf_status status)
{
    struct mf_env *env = resume->outputs->env;
    bool kept = (resume->log.fd >= 0 && resume->log.kept) || env->measured;

    atomic_store(&env->resumable,
                 status != MF_OK && kept && mf_work_may_succeed(env));
    if (status == MF_OK)
        mf_worklog_remove(&resume->log);
    else
        mf_worklog_close(&resume->log);
    mf_release(env, resume->inode,
               resume->outputs->count * sizeof(*resume->inode));
}
