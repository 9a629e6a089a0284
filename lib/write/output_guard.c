/* SPDX-License-Identifier: MIT
 *
 * output_guard.c - no output replaces a file that is read
 *
 * Every output is made from the inputs, and quantizing loses information: a
 * mistyped OUT, or a shell pattern that also matches a shard, would destroy the
 * only copy of the weights.  `quantize m.gguf m.gguf` did, when it was allowed
 * to overwrite.  A comparison of paths does not find this: links, other names
 * of a file, mounts and standard output all lead there.  So files are compared
 * by device and inode.  Inputs are all files of the model, its index.json, the
 * files next to it that are read with it, the same of an adapter and of the
 * model that it was made for, an importance matrix, and what the program has
 * read itself (lib/base/kept.h).
 *
 * Two outputs may not be one file either: when the name of a shard is a link to
 * another shard's name, the later would replace the earlier.  Two names of one
 * existing file (hard links) are no such case, since each name gets a file of
 * its own.
 *
 * An edit is the exception, as it replaces its own input; target_commit.c makes
 * sure that it replaces nothing else.
 */
#include <errno.h>
#include <string.h>

#include "lib/base/kept.h"
#include "lib/folder/sidecar.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/write/convert.h"

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

enum mf_status mf_output_guard_read(struct mf_env *env, const char *path)
{
    struct stat file;

    if (stat(path, &file) != 0 ||
        !mf_inputs_have(env, file.st_dev, file.st_ino))
        return MF_OK;
    return mf_decline(env, MF_REASON_OUTPUT_IS_INPUT, MF_NO_OFFSET,
                      "'%s' is a file that an option names: choose another "
                      "name",
                      mf_quote((struct mf_str){ path, strlen(path) }).text);
}

bool mf_path_is_source(const char *path, const struct mf_source *source)
{
    bool dash = strcmp(path, "-") == 0;
    struct stat file;

    return (dash ? fstat(STDOUT_FILENO, &file) : stat(path, &file)) == 0 &&
           S_ISREG(file.st_mode) && is_source(&file, source);
}

static bool is_path(const struct stat *file, const char *path)
{
    struct stat status;

    return path && stat(path, &status) == 0 && same_file(file, &status);
}

static bool is_in_folder(const struct stat *file, const char *path)
{
    struct mf_entries entries;
    struct stat status;
    const char *name;
    bool found = false;

    mf_entries_begin(&entries, path ? mf_open_directory(path) : -1);
    while (!found && (name = mf_entries_next(&entries)) != NULL)
        found = fstatat(entries.folder, name, &status, 0) == 0 &&
                same_file(file, &status);
    mf_entries_end(&entries);
    return found;
}

/* Whether it is one of those that are read with a model of that place. */
static bool is_sidecar(const struct stat *file, const struct mf_model *model,
                       struct mf_arena *arena)
{
    for (size_t i = 0; mf_sidecar_names[i]; i++)
        if (is_path(file, mf_sidecar_path(model, arena, mf_sidecar_names[i])))
            return true;
    return is_in_folder(file, mf_sidecar_path(model, arena, MF_SIDECAR_FOLDER));
}

static bool is_of_base(const struct mf_outputs *outputs,
                       const struct stat *file, struct mf_arena *arena)
{
    struct mf_file first = { .path = outputs->base };
    const struct mf_model base = { .env = outputs->env,
                                   .file = &first,
                                   .file_count = 1 };

    for (size_t i = 0; outputs->of_base && i < outputs->of_base->file_count;
         i++)
        if (is_source(file, &outputs->of_base->file[i].source))
            return true;
    return outputs->base && is_sidecar(file, &base, arena);
}

/* What the file is to the model; NULL: not an input. */
static const char *part_of(const struct mf_outputs *outputs,
                           const struct stat *file, struct mf_arena *arena)
{
    const struct mf_model *model = outputs->model, *lora = outputs->lora.model;

    for (size_t i = 0; i < model->file_count; i++)
        if (is_source(file, &model->file[i].source))
            return "one of the input files";
    for (size_t i = 0; lora && i < lora->file_count; i++)
        if (is_source(file, &lora->file[i].source))
            return "a file of the adapter";
    if (is_path(file, model->list))
        return "the index of the model's files";
    if (is_source(file, outputs->imatrix))
        return "the importance matrix";
    if (is_path(file, outputs->metadata))
        return "the file of metadata";
    if (mf_inputs_have(outputs->env, file->st_dev, file->st_ino))
        return "a file that an option names";
    if (is_sidecar(file, model, arena))
        return "a file that is read with the model";
    if (lora && is_sidecar(file, lora, arena))
        return "a file of the adapter";
    if (is_of_base(outputs, file, arena))
        return "a file of the model that the adapter was made for";
    return NULL;
}

static enum mf_status guard_path(const struct mf_outputs *outputs,
                                 const char *path, struct mf_arena *arena)
{
    bool dash = strcmp(path, "-") == 0;
    struct stat file;
    const char *what;

    /* What cannot be found is not an input; if it cannot be written, the target
     * says why. */
    if ((dash ? fstat(STDOUT_FILENO, &file) : stat(path, &file)) != 0)
        return MF_OK;
    if (outputs->deletes && (dash || !S_ISREG(file.st_mode)))
        return mf_decline(
            outputs->env, MF_REASON_OUTPUT_NOT_FILE, MF_NO_OFFSET,
            "'%s' is not a regular file: the inputs would be lost",
            mf_quote((struct mf_str){ path, strlen(path) }).text);
    if (outputs->together && !S_ISREG(file.st_mode))
        return mf_fail(outputs->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                       "'%s' is not a regular file: each of several outputs "
                       "has to be one",
                       mf_quote((struct mf_str){ path, strlen(path) }).text);
    if (!S_ISREG(file.st_mode))
        return MF_OK;
    what = part_of(outputs, &file, arena);
    if (!what)
        return outputs->env->error.status; /* of memory */
    return mf_decline(outputs->env, MF_REASON_OUTPUT_IS_INPUT, MF_NO_OFFSET,
                      "'%s' is %s: choose another name",
                      mf_quote((struct mf_str){ path, strlen(path) }).text,
                      what);
}

/* ---- two outputs in one place ---- */

/* The index.json, where there is one, is the last. */
static const char *path_of(const struct mf_outputs *outputs, size_t number)
{
    return number < outputs->count ? outputs->output[number].path
                                   : outputs->index_path;
}

static bool folder_status(const char *path, struct stat *out)
{
    int folder = mf_open_folder(path);
    bool known = folder >= 0 && fstat(folder, out) == 0;

    if (folder >= 0)
        close(folder);
    return known;
}

/* The same name in the same folder. */
static bool same_place(const char *a, const char *b)
{
    struct stat of_a, of_b;

    return strcmp(a + mf_folder_size(a), b + mf_folder_size(b)) == 0 &&
           folder_status(a, &of_a) && folder_status(b, &of_b) &&
           same_file(&of_a, &of_b);
}

static enum mf_status fail_same(const struct mf_outputs *outputs,
                                const char *path, const char *other,
                                const char *what)
{
    return mf_fail(outputs->env, MF_ERR_OUTPUT, MF_NO_OFFSET,
                   "'%s' and '%s' are %s the same file",
                   mf_quote((struct mf_str){ path, strlen(path) }).text,
                   mf_quote((struct mf_str){ other, strlen(other) }).text,
                   what);
}

/* Fails where that output's name is a symbolic link that leads to the place of
 * another output, whether a file exists there or not.  (The names of shards
 * differ, those of outputs that are models may not.) */
static enum mf_status check_link(const struct mf_outputs *outputs,
                                 size_t number, size_t count)
{
    const char *path = path_of(outputs, number), *other;
    char end[PATH_MAX], other_end[PATH_MAX];
    struct stat status;
    bool is_link;

    is_link = lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
    if ((!is_link && !outputs->together) || !mf_follow_links(path, end))
        return MF_OK; /* the target says why */
    for (size_t i = 0; i < count; i++) {
        other = path_of(outputs, i);
        if (i != number && mf_follow_links(other, other_end) &&
            same_place(end, other_end))
            return fail_same(outputs, path, other,
                             is_link ? "links to" : "names of");
    }
    return MF_OK;
}

static enum mf_status check_links(const struct mf_outputs *outputs)
{
    size_t count = outputs->count + (outputs->index_path ? 1 : 0);
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < count && count > 1 && status == MF_OK; i++)
        status = check_link(outputs, i, count);
    return status;
}

/* ---- all of it ---- */

enum mf_status mf_outputs_guard_inputs(const struct mf_outputs *outputs)
{
    enum mf_status status = MF_OK;
    struct mf_arena arena;

    if (outputs->replaces || outputs->given.write)
        return MF_OK;
    mf_arena_init(&arena, outputs->env);
    for (size_t i = 0; i < outputs->count && status == MF_OK; i++)
        status = guard_path(outputs, outputs->output[i].path, &arena);
    if (status == MF_OK && outputs->index_path)
        status = guard_path(outputs, outputs->index_path, &arena);
    mf_arena_release(&arena);
    return status == MF_OK ? check_links(outputs) : status;
}

/* ---- what exists already ---- */

static enum mf_status check_absent(const struct mf_outputs *outputs)
{
    size_t count = outputs->count + (outputs->index_path ? 1 : 0);
    struct stat status;

    for (size_t i = 0; i < count; i++) {
        const char *path = path_of(outputs, i);

        if (!mf_target_is_dash(outputs->env, path) &&
            stat(path, &status) == 0 && S_ISREG(status.st_mode))
            return mf_decline(
                outputs->env, MF_REASON_OUTPUT_EXISTS, MF_NO_OFFSET,
                "'%s' already exists",
                mf_quote((struct mf_str){ path, strlen(path) }).text);
    }
    return MF_OK;
}

enum mf_status mf_outputs_check(const struct mf_outputs *outputs, bool replace)
{
    enum mf_status status = mf_outputs_guard_inputs(outputs);
    size_t buffer;

    if (status == MF_OK) /* and whether there are codecs */
        status = mf_outputs_buffer_need(outputs, &buffer);
    return status == MF_OK && !replace && !outputs->given.write
               ? check_absent(outputs)
               : status;
}

/* ---- deleting the inputs ---- */

/* A file that was renamed over the input meanwhile was not read and stays. */
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
    if (unlinkat(AT_FDCWD, path, 0) == 0)
        return MF_OK;
    return mf_fail_system(
        env, MF_ERR_OUTPUT, MF_NO_OFFSET, errno,
        "'%s' is written; '%s' cannot be removed: %s",
        mf_quote((struct mf_str){ new_path, strlen(new_path) }).text,
        mf_quote((struct mf_str){ path, strlen(path) }).text,
        mf_errno_text(errno));
}

enum mf_status mf_outputs_delete_inputs(const struct mf_outputs *outputs)
{
    const struct mf_model *model = outputs->model;
    enum mf_status status = mf_check_change(outputs->env);

    for (size_t i = 0; i < model->file_count && status == MF_OK; i++)
        status = remove_file(outputs->env, model->file[i].path,
                             &model->file[i].source, outputs->output->path);
    if (status == MF_OK && model->list)
        status =
            remove_file(outputs->env, model->list, NULL, outputs->output->path);
    return status;
}
