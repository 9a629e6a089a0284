/* SPDX-License-Identifier: MIT
 *
 * inputs.c - what operands name: files, folders, globs, standard output
 */
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

const char *inputs_path(const char *operand)
{
    return strcmp(operand, "-") == 0 ? "/dev/stdin" : operand;
}

bool output_is_stdout(const char *operand)
{
    static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1",
                                         "/proc/self/fd/1" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(operand, names[i]) == 0)
            return true;
    return false;
}

const char *output_path(const char *operand)
{
    return output_is_stdout(operand) ? "-" : operand;
}

bool output_fits(struct run *run, const char *operand)
{
    if (!output_is_stdout(operand) || !run->options.json ||
        run->options.dry_run)
        return true;
    report_usage(run, "what is written and --json cannot both go to standard "
                      "output");
    return false;
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A pattern that the shell has not put names for; a file of that very name is
 * no pattern. */
static bool is_glob(const char *operand)
{
    struct stat status;

    return strpbrk(operand, "*?[") && lstat(operand, &status) != 0;
}

struct each {
    struct run *run;
    void (*show)(struct run *run, const char *path, enum mf_shards shards);
    void (*fail)(struct run *run, const char *path);
    bool files;   /* folders are not looked into */
    size_t shown; /* or failed */
};

static void show_one(struct each *each, const char *path, enum mf_shards shards)
{
    struct run *run = each->run;

    report_begin(run);
    each->show(run, path, shards);
    report_end(run);
    each->shown++;
}

static enum mf_status show_found(void *user, const char *path,
                                 enum mf_shards shards)
{
    show_one(user, path, shards);
    return MF_OK;
}

static void fail_one(struct each *each, const char *path)
{
    struct run *run = each->run;

    report_begin(run);
    each->fail(run, path);
    report_end(run);
    each->shown++;
}

static enum mf_status show_tree(void *user, const char *folder, bool link);

/* Its models, then those of the folders in it. */
static void show_all_of(struct each *each, const char *folder)
{
    struct mf_env *env = each->run->env;

    if (mf_folder_list(env, folder, show_found, each) != MF_OK ||
        mf_folder_subfolders(env, folder, show_tree, each) != MF_OK)
        fail_one(each, folder);
}

/* A link may lead back to where we come from. */
static enum mf_status show_tree(void *user, const char *folder, bool link)
{
    struct each *each = user;

    if (link)
        report_remark(each->run, folder,
                      "a symbolic link to a folder, which is not followed");
    else
        show_all_of(each, folder);
    return MF_OK;
}

static void show_folder(struct each *each, const char *folder)
{
    size_t before = each->shown;
    struct mf_model *model;

    show_all_of(each, folder);
    if (each->shown == before &&
        /* which says that there is none, in the library's words */
        mf_model_open(each->run->env, folder, NULL, &model) != MF_OK)
        fail_one(each, folder);
}

static void show_operand(struct each *each, const char *operand)
{
    if (!each->files && is_folder(operand))
        show_folder(each, operand);
    else
        show_one(each, operand, MF_SHARDS_AUTO);
}

static void show_glob(struct each *each, const char *pattern)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0) {
        show_one(each, pattern, MF_SHARDS_AUTO); /* says that it is missing */
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        show_operand(each, found.gl_pathv[i]);
    globfree(&found);
}

static void show_operands(struct each *each)
{
    struct run *run = each->run;
    bool many = run->operand_count > 1;

    for (size_t i = 0; i < run->operand_count; i++)
        many = many || is_folder(run->operand[i]) || is_glob(run->operand[i]);
    if (run->options.json && many)
        mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < run->operand_count; i++)
        if (is_glob(run->operand[i]))
            show_glob(each, run->operand[i]);
        else
            show_operand(each, run->operand[i]);
    if (run->options.json && many)
        mf_json_end(&run->json, ']');
    if (run->options.json)
        out_text(&run->out, "\n");
}

void inputs_each(struct run *run,
                 void (*show)(struct run *run, const char *path,
                              enum mf_shards shards),
                 void (*fail)(struct run *run, const char *path))
{
    struct each each = { .run = run, .show = show, .fail = fail };

    show_operands(&each);
}

void inputs_files(struct run *run,
                  void (*show)(struct run *run, const char *path,
                               enum mf_shards shards))
{
    struct each each = { .run = run, .show = show, .files = true };

    show_operands(&each);
}

static enum mf_status try_open(struct run *run, const char *path,
                               enum mf_shards shards, bool metadata_only,
                               struct mf_model **out)
{
    struct mf_open_options options = { .metadata_only = metadata_only,
                                       .shards = run->options.one_file
                                                     ? MF_SHARDS_ALONE
                                                     : shards,
                                       .findings_max = run->findings_kept };
    enum mf_status status =
        mf_model_open(run->env, inputs_path(path), &options, out);

    if (status == MF_OK)
        run->size += mf_model_info(*out)->file_size;
    return status;
}

enum mf_status inputs_try(struct run *run, const char *path,
                          enum mf_shards shards, struct mf_model **out)
{
    return try_open(run, path, shards, false, out);
}

struct mf_model *inputs_open(struct run *run, const char *path,
                             enum mf_shards shards, bool metadata_only)
{
    struct mf_model *model;

    if (try_open(run, path, shards, metadata_only, &model) == MF_OK)
        return model;
    report_failure(run, path);
    return NULL;
}

static void show_model(struct run *run, enum mf_shards shards,
                       bool metadata_only,
                       void (*show)(struct run *run, struct mf_model *model))
{
    struct mf_model *model;

    report_begin(run);
    model = inputs_open(run, run->operand[0], shards, metadata_only);
    if (model) {
        if (run->options.json)
            json_str(run, "file", str_of(run->operand[0]));
        show(run, model);
        mf_model_close(model);
    }
    report_end(run);
    if (run->options.json)
        out_text(&run->out, "\n");
}

void inputs_one(struct run *run, bool metadata_only,
                void (*show)(struct run *run, struct mf_model *model))
{
    show_model(run, MF_SHARDS_AUTO, metadata_only, show);
}

void inputs_whole(struct run *run,
                  void (*show)(struct run *run, struct mf_model *model))
{
    show_model(run, MF_SHARDS_BY_NAME, false, show);
}

bool inputs_editable(struct run *run, const char *operand)
{
    if (strcmp(operand, "-") == 0)
        report_usage(run, "standard input cannot be changed: name the file");
    else if (is_folder(operand))
        report_usage(run,
                     "'%.200s' is a folder: name the file that is to be "
                     "changed",
                     operand);
    else
        return true;
    return false;
}
