/* SPDX-License-Identifier: MIT
 *
 * finish.c - what parts wrote gets its name
 *
 * Nothing is known here of the work but what the logs say.  All bytes of the
 * files are read once: each unit must have the digest that its record has.
 * Then they are what was written, on whatever machine, and the name can be
 * given.  Where a unit differs, the logs of its part are removed, so that the
 * part is done again.
 *
 * A stop between the names of several files leaves some that have theirs.  The
 * next call verifies those under their names.  Logs are removed last.
 */
#include "lib/write/finish.h"

#include <errno.h>
#include <string.h>

#include "lib/base/options.h"
#include "lib/base/timings.h"
#include "lib/write/resume.h"

static struct mf_quoted quoted(const char *text)
{
    return mf_quote((struct mf_str){ text, strlen(text) });
}

/* ---- the files ---- */

static enum mf_status open_target(struct mf_finish *finish, size_t number,
                                  bool replace, struct mf_target *out)
{
    const struct mf_part_file *file = &finish->plan.file[number];
    struct mf_env *env = finish->env;
    bool found = false;

    if (mf_shared_is_there(env, file->path))
        return mf_shared_join(env, file->path, file->size, replace, out);
    if (env->error.status != MF_OK ||
        mf_shared_join_complete(env, file->path, file->size, out, &found) !=
            MF_OK ||
        found)
        return env->error.status;
    return mf_shared_refuse(env, finish->path,
                            "what they wrote of '%s' is missing",
                            quoted(file->path).text);
}

static enum mf_status make_outputs(struct mf_finish *finish,
                                   struct mf_outputs *outputs)
{
    const struct mf_part_plan *plan = &finish->plan;
    size_t size;

    *outputs = (struct mf_outputs){ .env = finish->env,
                                    .count = finish->first.outputs,
                                    .index = MF_TARGET_NONE };
    size = outputs->count * sizeof(*outputs->output);
    outputs->output = mf_arena_take(&finish->arena, size);
    if (!outputs->output)
        return finish->env->error.status;
    for (size_t i = 0; i < outputs->count; i++)
        outputs->output[i] = (struct mf_output){ .path = plan->file[i].path,
                                                 .target = MF_TARGET_NONE };
    if (plan->files > outputs->count) {
        char *path = mf_arena_text(&finish->arena,
                                   strlen(plan->file[outputs->count].path) + 1);

        if (!path)
            return finish->env->error.status;
        outputs->index_path = strcpy(path, plan->file[outputs->count].path);
    }
    return MF_OK;
}

static void close_outputs(struct mf_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        mf_target_abort(&outputs->output[i].target);
    mf_target_abort(&outputs->index);
}

static struct mf_target *target_at(struct mf_outputs *outputs, size_t number)
{
    return number < outputs->count ? &outputs->output[number].target
                                   : &outputs->index;
}

/* Files are replaced where the parts were allowed to, and if they are the ones
 * that were there. */
static enum mf_status open_outputs(struct mf_finish *finish,
                                   struct mf_outputs *outputs)
{
    struct mf_work_record now;
    enum mf_status status = mf_resume_describe_old(outputs, &now);
    bool replace =
        status == MF_OK && mf_resume_replaces(&finish->first.head, &now, false);

    for (size_t i = 0; i < finish->plan.files && status == MF_OK; i++)
        status = open_target(finish, i, replace, target_at(outputs, i));
    return status;
}

/* ---- whether they are whole ---- */

static enum mf_status start_again(struct mf_finish *finish)
{
    struct mf_env *env = finish->env;
    struct mf_error error;
    bool *of = mf_arena_take(&finish->arena, finish->plan.parts + 1);

    if (!of)
        return env->error.status;
    of[0] = false;
    for (uint32_t i = 0; i < finish->plan.parts; i++)
        of[i + 1] = finish->part[i].unsound;
    error = env->error;
    mf_clear_error(env);
    if (mf_part_remove_logs(env, finish->path, of) == MF_OK)
        env->error = error;
    return env->error.status;
}

static enum mf_status verify(struct mf_finish *finish,
                             struct mf_outputs *outputs, struct mf_crew *crew)
{
    const struct mf_target **target;
    size_t size = finish->plan.files * sizeof(*target);

    target = mf_arena_take(&finish->arena, size);
    if (!target)
        return finish->env->error.status;
    for (size_t i = 0; i < finish->plan.files; i++)
        target[i] = target_at(outputs, i);
    return mf_finish_verify(finish, target, crew) == MF_OK
               ? mf_finish_check_parts(finish)
               : finish->env->error.status;
}

static enum mf_status add_checksums(const struct mf_finish *finish,
                                    struct mf_outputs *outputs,
                                    struct mf_crew *crew)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < finish->plan.files && status == MF_OK; i++) {
        const struct mf_part_file *file = &finish->plan.file[i];

        if (file->filled < file->size)
            status = mf_target_write_crc(target_at(outputs, i), crew);
    }
    return status;
}

static enum mf_status check_outputs(struct mf_finish *finish,
                                    struct mf_outputs *outputs)
{
    uint64_t size = finish->result->file_size;
    struct mf_crew crew = { 0 };
    enum mf_status status = mf_crew_init(&crew, finish->env, size, size, 1);

    crew.work = size;
    if (status == MF_OK)
        status = mf_finish_cover(finish);
    if (status == MF_OK)
        status = verify(finish, outputs, &crew);
    if (status != MF_OK && finish->unsound > 0)
        status = start_again(finish);
    if (status == MF_OK)
        status = add_checksums(finish, outputs, &crew);
    mf_crew_release(&crew);
    return status;
}

/* No other process finishes until the logs are gone, too. */
static enum mf_status name_outputs(struct mf_finish *finish,
                                   struct mf_outputs *outputs)
{
    int lock = mf_shared_hold(&outputs->output->target);
    enum mf_status status = mf_outputs_commit(outputs);

    if (status == MF_OK)
        status = mf_part_remove_logs(finish->env, finish->path, NULL);
    if (lock >= 0)
        close(lock);
    return status;
}

static enum mf_status nothing(const struct mf_finish *finish, const char *what)
{
    struct mf_quoted path = quoted(finish->path);

    if (mf_shared_is_there(finish->env, finish->path))
        return mf_decline(finish->env, MF_REASON_PARTS_MISSING, MF_NO_OFFSET,
                          "no part of '%s' has finished anything", path.text);
    return mf_fail(finish->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "there are no parts of '%s' to be %s", path.text, what);
}

static enum mf_status read_logs(struct mf_finish *finish)
{
    if (mf_finish_read(finish) != MF_OK)
        return finish->env->error.status;
    return finish->found ? MF_OK : nothing(finish, "finished");
}

/* The logs are read once more when no part is at work any more: another process
 * may have finished it meanwhile. */
static enum mf_status finish_files(struct mf_finish *finish)
{
    struct mf_outputs outputs;
    enum mf_status status = make_outputs(finish, &outputs);

    if (status != MF_OK)
        return status;
    status = open_outputs(finish, &outputs);
    if (status == MF_OK)
        status = read_logs(finish);
    if (status == MF_OK)
        status = check_outputs(finish, &outputs);
    if (status == MF_OK)
        status = name_outputs(finish, &outputs);
    if (status == MF_OK)
        mf_finish_add_sums(finish);
    close_outputs(&outputs);
    return status;
}

static enum mf_status finish_all(struct mf_finish *finish)
{
    if (read_logs(finish) != MF_OK)
        return finish->env->error.status;
    return mf_finish_check_parts(finish) == MF_OK ? finish_files(finish)
                                                  : finish->env->error.status;
}

/* ---- discarding ---- */

/* The files that a log names, unless the first one names the same. */
static enum mf_status discard_files(void *user, struct mf_part_log *log,
                                    bool *stop)
{
    struct mf_finish *finish = user;
    struct mf_part_plan plan;
    bool whole;

    (void)stop;
    finish->result->attempts++;
    if (finish->found && mf_part_same(log, &finish->first) == MF_OK)
        return MF_OK;
    mf_clear_error(finish->env);
    if (mf_part_take_files(log, &finish->arena, &plan, &whole) != MF_OK ||
        !whole)
        return finish->env->error.status;
    finish->first = *log;
    finish->found = true;
    for (size_t i = 0; i < plan.files; i++)
        if (mf_shared_remove(finish->env, plan.file[i].path, MF_PARTS_SUFFIX) !=
            MF_OK)
            return finish->env->error.status;
    return MF_OK;
}

static enum mf_status discard_all(struct mf_finish *finish)
{
    struct mf_env *env = finish->env;
    bool is_there = mf_shared_is_there(env, finish->path);

    if (env->error.status != MF_OK ||
        mf_part_logs(env, finish->path, discard_files, finish) != MF_OK ||
        mf_shared_remove(env, finish->path, MF_PARTS_SUFFIX) != MF_OK)
        return env->error.status;
    return is_there || finish->result->attempts > 0
               ? mf_part_remove_logs(env, finish->path, NULL)
               : nothing(finish, "discarded");
}

/* ---- both ---- */

enum mf_status mf_parts_finish(struct mf_env *env, const char *path,
                               const struct mf_finish_options *options,
                               struct mf_finish_result *out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);

    struct mf_finish_result result = { 0 };
    struct mf_finish finish = { .env = env, .path = path, .result = &result };
    struct mf_timed timed;
    enum mf_status status;

    if (mf_options_take(env, &finish.options, sizeof(finish.options),
                        options) != MF_OK)
        return MF_ERR_ARGUMENT;
    timed = mf_timed_begin(env, MF_PHASE_REST);
    mf_arena_init(&finish.arena, env);
    status =
        finish.options.discard ? discard_all(&finish) : finish_all(&finish);
    mf_release(env, finish.unit, finish.unit_count * sizeof(*finish.unit));
    mf_arena_release(&finish.arena);
    mf_timed_end(env, timed);
    if (out)
        *out = result;
    return status;
}
