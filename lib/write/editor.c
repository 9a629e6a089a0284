/* SPDX-License-Identifier: MIT
 *
 * editor.c - a file that is locked to be edited, and recovery
 *
 * The file is locked before it is read: what an edit is computed from must be
 * what it is applied to.  An interrupted edit is finished first, with its
 * journal, and only by the holder of the lock.
 */
#include "lib/base/kept.h"
#include "lib/base/options.h"
#include "lib/io/system.h"
#include "lib/model/pending.h"
#include "lib/write/convert.h"

/* ---- editors ---- */

struct mf_editor {
    struct mf_env *env;
    struct mf_lock lock; /* in a dry run only its status and name are set */
    struct mf_model *model;
    struct mf_edit_options options;
    bool applied;
};

static enum mf_status open_locked(struct mf_editor *editor, const char *path,
                                  struct mf_source *out)
{
    struct mf_env *env = editor->env;
    struct mf_pending pending;
    uint64_t changed;

    if (mf_lock_open(env, path, &editor->lock) != MF_OK ||
        mf_pending_resolve(env, path, &editor->lock, false, &pending,
                           &changed) != MF_OK)
        return env->error.status;
    if (pending.state == MF_PENDING_MIXED)
        mf_pending_report(env, path, &pending, MF_PENDING_FINISHED);
    mf_source_open_fd(path, editor->lock.fd, out);
    return MF_OK;
}

static enum mf_status open_to_read(struct mf_editor *editor, const char *path,
                                   struct mf_source *out)
{
    if (mf_pending_open_file(editor->env, path, out, NULL) != MF_OK)
        return editor->env->error.status;
    if (fstat(out->fd, &editor->lock.status) == 0 &&
        mf_place_find(path, out->fd, &editor->lock.place))
        mf_place_close(&editor->lock.place);
    return MF_OK;
}

static enum mf_status open_editor(struct mf_editor *editor, const char *path)
{
    struct mf_source source;
    enum mf_status status = editor->options.dry_run
                                ? open_to_read(editor, path, &source)
                                : open_locked(editor, path, &source);

    return status == MF_OK ? mf_model_open_view(editor->env, path, &source,
                                                NULL, &editor->model)
                           : status;
}

enum mf_status mf_editor_open(struct mf_env *env, const char *path,
                              const struct mf_edit_options *options,
                              struct mf_editor **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);
    MF_NEED(env, out);

    struct mf_edit_options known;
    struct mf_editor *editor;
    enum mf_status status;

    if (mf_options_take(env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;
    editor = mf_alloc(env, sizeof(*editor));
    if (!editor)
        return env->error.status;
    mf_env_hold(env);
    *editor = (struct mf_editor){ .env = env,
                                  .lock = MF_LOCK_NONE,
                                  .options = known };
    status = open_editor(editor, path);
    if (status == MF_OK)
        *out = editor;
    else
        mf_editor_close(editor);
    return status;
}

struct mf_model *mf_editor_model(const struct mf_editor *editor)
{
    return editor ? editor->model : NULL;
}

/* A key cannot be set to the bytes of its own file. */
static enum mf_status refuse_input(const struct mf_editor *editor)
{
    const struct mf_source *source = &editor->model->file[0].source;
    struct mf_source_id id = mf_source_identify(source);

    if (!mf_inputs_have(editor->env, id.device, id.file))
        return MF_OK;
    return mf_decline(editor->env, MF_REASON_OUTPUT_IS_INPUT, MF_NO_OFFSET,
                      "a value was read from this file, which is not changed");
}

enum mf_status mf_editor_apply(struct mf_editor *editor,
                               const struct mf_edit *edits, size_t count,
                               struct mf_edit_result *out)
{
    MF_NEED(NULL, editor);
    if (mf_edits_check(editor->env, edits, count) != MF_OK)
        return MF_ERR_ARGUMENT;

    struct mf_edit_result result = { 0 };
    enum mf_status status;

    mf_clear_error(editor->env);
    if (editor->applied)
        return mf_fail(editor->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "an editor can apply edits only once");
    if (refuse_input(editor) != MF_OK)
        return editor->env->error.status;
    status = mf_edit_model(editor->model, &editor->lock, edits, count,
                           &editor->options, &result);
    editor->applied = status == MF_OK;
    if (status == MF_OK && out)
        *out = result;
    return status;
}

void mf_editor_close(struct mf_editor *editor)
{
    struct mf_env *env;

    if (!editor)
        return;
    env = editor->env;
    mf_model_close(editor->model);
    mf_lock_close(&editor->lock);
    mf_release(env, editor, sizeof(*editor));
    mf_env_leave(env);
}

enum mf_status mf_file_edit(struct mf_env *env, const char *path,
                            const struct mf_edit *edits, size_t count,
                            const struct mf_edit_options *options,
                            struct mf_edit_result *out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);
    if (mf_edits_check(env, edits, count) != MF_OK)
        return MF_ERR_ARGUMENT;

    struct mf_editor *editor;
    enum mf_status status = mf_editor_open(env, path, options, &editor);

    if (status != MF_OK)
        return status;
    status = mf_editor_apply(editor, edits, count, out);
    mf_editor_close(editor);
    return status;
}

/* ---- recovery ---- */

/* Forcing is for those who could change the file's mode as well. */
static enum mf_status check_owner(struct mf_env *env,
                                  const struct mf_lock *lock)
{
    if (geteuid() == 0 || geteuid() == lock->status.st_uid)
        return MF_OK;
    return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "only the file's owner can apply a journal that is not "
                   "trusted");
}

enum mf_status mf_file_recover(struct mf_env *env, const char *path,
                               const struct mf_recover_options *options,
                               struct mf_recover_result *out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);

    static const enum mf_recovery found[] = {
        [MF_PENDING_NONE] = MF_RECOVERY_NONE,
        [MF_PENDING_FOREIGN] = MF_RECOVERY_FOREIGN,
        [MF_PENDING_OLD] = MF_RECOVERY_UNBEGUN,
        [MF_PENDING_NEW] = MF_RECOVERY_COMPLETE,
        [MF_PENDING_MIXED] = MF_RECOVERY_FINISHED,
    };
    struct mf_recover_result result = { 0 };
    struct mf_recover_options known;
    bool force;
    struct mf_pending pending;
    struct mf_lock lock;
    enum mf_status status;

    if (mf_options_take(env, &known, sizeof(known), options) != MF_OK)
        return MF_ERR_ARGUMENT;
    force = known.force;
    status = mf_lock_open(env, path, &lock);
    if (status != MF_OK)
        return status;
    if (force)
        status = check_owner(env, &lock);
    if (status == MF_OK)
        status = mf_pending_resolve(env, path, &lock, force, &pending,
                                    &result.changed);
    mf_lock_close(&lock);
    if (status != MF_OK)
        return status;
    result.found = found[pending.state];
    if (out)
        *out = result;
    return MF_OK;
}
