/* SPDX-License-Identifier: MIT
 *
 * spare.c - no file that is read is written over
 *
 * Under whatever name: files are compared by device and inode.  What is written
 * comes from what is read, so a crash, a mistaken OUT or a pattern of the shell
 * that gives two files of one model could leave nothing of either.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/beside.h"
#include "lib/convert.h"

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_source(const struct stat *file, const struct mf_source *source)
{
    struct stat status;

    return source && source->fd >= 0 && fstat(source->fd, &status) == 0 &&
           same_file(file, &status);
}

static bool is_path(const struct stat *file, const char *path)
{
    struct stat status;

    return path && stat(path, &status) == 0 && same_file(file, &status);
}

static bool is_in_folder(const struct stat *file, const char *path)
{
    DIR *folder = path ? opendir(path) : NULL;
    struct dirent *entry;
    struct stat status;
    bool found = false;

    if (!folder)
        return false;
    while (!found && (entry = readdir(folder)) != NULL)
        found = fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
                same_file(file, &status);
    closedir(folder);
    return found;
}

/* What the file is to the model; NULL: nothing. */
static const char *part_of(const struct mf_outputs *outputs,
                           const struct stat *file, struct mf_arena *arena)
{
    const struct mf_model *model = outputs->model;

    for (size_t i = 0; i < model->file_count; i++)
        if (is_source(file, &model->file[i].source))
            return "a file of the model itself";
    if (is_path(file, model->list))
        return "the list of the model's files";
    if (is_source(file, outputs->imatrix))
        return "the importance matrix";
    for (size_t i = 0; mf_beside_names[i]; i++)
        if (is_path(file, mf_beside_path(model, arena, mf_beside_names[i])))
            return "a file that is read with the model";
    if (is_in_folder(file, mf_beside_path(model, arena, MF_BESIDE_FOLDER)))
        return "a file that is read with the model";
    return NULL;
}

static enum mf_status spare(const struct mf_outputs *outputs, const char *path,
                            struct mf_arena *arena)
{
    bool dash = strcmp(path, "-") == 0;
    struct stat file;
    const char *what;

    /* What cannot be looked at cannot be written: the target says why. */
    if ((dash ? fstat(STDOUT_FILENO, &file) : stat(path, &file)) != 0)
        return MF_OK;
    if (outputs->deletes && (dash || !S_ISREG(file.st_mode)))
        return mf_fail(outputs->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "'%s' is no regular file: the inputs would be lost",
                       mf_quote((struct mf_str){ path, strlen(path) }).text);
    if (!S_ISREG(file.st_mode))
        return MF_OK;
    what = part_of(outputs, &file, arena);
    if (!what)
        return outputs->env->error.status; /* of memory */
    return mf_fail(outputs->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "'%s' is %s: choose another name",
                   mf_quote((struct mf_str){ path, strlen(path) }).text, what);
}

enum mf_status mf_outputs_spare_inputs(const struct mf_outputs *outputs)
{
    enum mf_status status = MF_OK;
    struct mf_arena arena;

    if (outputs->replaces)
        return MF_OK;
    mf_arena_init(&arena, outputs->env);
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        status = spare(outputs, outputs->output[i].path, &arena);
    if (status == MF_OK && outputs->index_path)
        status = spare(outputs, outputs->index_path, &arena);
    mf_arena_release(&arena);
    return status;
}

/* ---- what was read is removed ---- */

/* A file that has taken the place of the one that was read stays. */
static enum mf_status remove_file(struct mf_env *env, const char *path,
                                  const struct mf_source *source,
                                  const char *new_path)
{
    struct stat status;

    if (source && (stat(path, &status) != 0 || !is_source(&status, source)))
        return mf_fail(
            env, MF_ERR_OUTPUT, MF_NO_OFFSET,
            "'%s' is written; '%s' is not removed: it is no longer "
            "the file that was read",
            mf_quote((struct mf_str){ new_path, strlen(new_path) }).text,
            mf_quote((struct mf_str){ path, strlen(path) }).text);
    if (unlink(path) == 0)
        return MF_OK;
    return mf_fail(env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "'%s' is written; '%s' cannot be removed: %s",
                   mf_quote((struct mf_str){ new_path, strlen(new_path) }).text,
                   mf_quote((struct mf_str){ path, strlen(path) }).text,
                   strerror(errno));
}

enum mf_status mf_outputs_delete_inputs(const struct mf_outputs *outputs)
{
    const struct mf_model *model = outputs->model;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < model->file_count && status == MF_OK; i++)
        status = remove_file(outputs->env, model->file[i].path,
                             &model->file[i].source, outputs->output->path);
    if (status == MF_OK && model->list)
        status =
            remove_file(outputs->env, model->list, NULL, outputs->output->path);
    return status;
}
