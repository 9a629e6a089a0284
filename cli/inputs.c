/* SPDX-License-Identifier: MIT
 *
 * inputs.c - the files that operands name: files, folders and globs
 *
 * A folder means all models below it, each with its shards; a symbolic
 * link to a folder is not followed, since it may lead back to where we came
 * from.  The shell expands globs for most users; we do for those who quote
 * them, unless a file of that very name exists.
 */
#include "cli/inputs.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/answer.h"
#include "cli/jobs.h"
#include "cli/measure/measure.h"
#include "cli/missing.h"
#include "cli/ollama.h"
#include "cli/remote/remote.h"
#include "cli/report.h"
#include "cli/stream.h"

const char *inputs_path(const char *operand)
{
    return strcmp(operand, "-") == 0 ? STREAM_PATH : operand;
}

const char *inputs_model_path(struct run *run, const char *operand)
{
    return ollama_is_name(operand) ? ollama_path(run, operand)
                                   : inputs_path(operand);
}

bool inputs_is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A pattern that the shell has not expanded. */
static bool is_glob(const char *operand)
{
    struct stat status;

    return strpbrk(operand, "*?[") && lstat(operand, &status) != 0 &&
           !remote_is_url(operand);
}

struct each {
    struct run *run;
    inputs_show *show;
    void (*fail)(struct run *run, const char *path);
    void (*done)(struct run *run); /* one answer for all: ends it; or NULL */
    void (*sum)(struct run *run);  /* follows the files; or NULL */
    bool files;                    /* folders are passed to show */
    size_t shown;                  /* calls of show and fail */
};

/* After an error in one file, one answer for all would be wrong. */
static bool is_over(const struct each *each)
{
    return each->done && each->run->code != EXIT_DONE;
}

/* Each file is a sample, unless the answer is about all of them. */
static void begin_one(struct each *each, const char *path)
{
    each->shown++;
    if (!each->done)
        record_sample_begin();
    answer_file_begin(each->run, path);
}

static void end_one(struct each *each)
{
    answer_file_end(each->run);
    if (!each->done)
        record_sample_end(each->run);
}

/* A model that was found, or a folder that cannot be read: then run->env has
 * the error. */
struct found {
    const char *path;
    enum mf_shards shards;
    bool failed;
};

static void answer_here(struct each *each, const struct found *found)
{
    begin_one(each, found->path);
    if (found->failed)
        each->fail(each->run, found->path);
    else
        each->show(each->run, found->path, found->shards);
    end_one(each);
}

/* ---- a file for a process of its own ---- */

static void begin_answer(struct run *run)
{
    answer_begin(run);
    answer_files_begin(run);
}

static void end_answer(struct each *each)
{
    answer_files_end(each->run);
    if (each->done)
        each->done(each->run);
    if (each->sum)
        each->sum(each->run);
    answer_end(each->run);
}

struct alone {
    struct each *each;
    const struct found *found;
};

static void answer_alone(void *user)
{
    const struct alone *alone = user;

    begin_answer(alone->each->run);
    answer_here(alone->each, alone->found);
    end_answer(alone->each);
}

static void answer_one(struct each *each, const struct found *found)
{
    struct alone alone = { each, found };
    struct jobs_act act = { answer_alone, &alone, found->failed };

    if (jobs_are_used()) {
        each->shown++;
        jobs_give(each->run, found->path, &act);
    } else if (!is_over(each)) {
        answer_here(each, found);
    }
}

/* ---- each file ---- */

static void show_one(struct each *each, const char *path, enum mf_shards shards)
{
    answer_one(each, &(struct found){ path, shards, false });
}

static enum mf_status show_found(void *user, const char *path,
                                 enum mf_shards shards)
{
    show_one(user, path, shards);
    return MF_OK;
}

static void fail_one(struct each *each, const char *path)
{
    answer_one(each, &(struct found){ path, MF_SHARDS_AUTO, true });
}

static enum mf_status show_tree(void *user, const char *folder, bool link);

/* Its models, then the models of the folders in it. */
static void show_below(struct each *each, const char *folder)
{
    struct mf_env *env = each->run->env;

    if (mf_folder_list(env, folder, show_found, each) != MF_OK ||
        mf_folder_subfolders(env, folder, show_tree, each) != MF_OK)
        fail_one(each, folder);
}

static enum mf_status show_tree(void *user, const char *folder, bool link)
{
    struct each *each = user;

    if (link)
        report_remark(each->run, folder,
                      "skipped: a symbolic link to a folder");
    else
        show_below(each, folder);
    return MF_OK;
}

static void show_folder(struct each *each, const char *folder)
{
    size_t before = each->shown;
    struct mf_model *model;

    show_below(each, folder);
    if (each->shown == before &&
        /* fails with the library's message about a folder without models */
        mf_model_open(each->run->env, folder, NULL, &model) != MF_OK)
        fail_one(each, folder);
}

static void show_operand(struct each *each, const char *operand)
{
    if (!each->files && inputs_is_folder(operand))
        show_folder(each, operand);
    else
        show_one(each, operand, MF_SHARDS_AUTO);
}

static void show_glob(struct each *each, const char *pattern)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0) {
        show_one(each, pattern, MF_SHARDS_AUTO); /* reports it missing */
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        show_operand(each, found.gl_pathv[i]);
    globfree(&found);
}

static void show_operands(struct each *each)
{
    struct run *run = each->run;
    bool jobs = jobs_are_used();

    if (!jobs)
        begin_answer(run);
    for (size_t i = 0; i < run->operand_count; i++)
        if (is_glob(run->operand[i]))
            show_glob(each, run->operand[i]);
        else
            show_operand(each, run->operand[i]);
    if (jobs)
        jobs_end(run);
    else
        end_answer(each);
}

void inputs_each(struct run *run, inputs_show *show,
                 void (*fail)(struct run *run, const char *path))
{
    struct each each = { .run = run, .show = show, .fail = fail };

    show_operands(&each);
}

void inputs_summed(struct run *run, inputs_show *show,
                   void (*fail)(struct run *run, const char *path),
                   void (*sum)(struct run *run))
{
    struct each each = { .run = run, .show = show, .fail = fail, .sum = sum };

    show_operands(&each);
}

void inputs_together(struct run *run, inputs_show *show,
                     void (*fail)(struct run *run, const char *path),
                     void (*done)(struct run *run))
{
    struct each each = { .run = run, .show = show, .fail = fail, .done = done };

    show_operands(&each);
}

void inputs_files(struct run *run, inputs_show *show)
{
    struct each each = { .run = run, .show = show, .files = true };

    show_operands(&each);
}

static enum mf_status try_open(struct run *run, const char *path,
                               enum mf_shards shards, bool metadata_only,
                               struct mf_model **out)
{
    struct mf_open_options options = {
        .size = sizeof(struct mf_open_options),
        .metadata_only = metadata_only,
        .shards = run->options->one_file ? MF_SHARDS_ALONE : shards,
        .findings_max = run->findings_max,
        .tensors_only = run->options->tensors_only,
        .allow_missing = run->options->allow_missing,
        .bare = run->may_be_bare,
    };
    const char *name = inputs_model_path(run, path);
    enum mf_status status =
        remote_is_url(path)    ? remote_open(run, path, &options, out)
        : stream_is(run, path) ? stream_open(&options, out)
                               : mf_model_open(run->env, name, &options, out);

    if (status == MF_OK) {
        if (!stream_is(run, path)) /* whose size is not known */
            run->size += mf_model_info(*out)->file_size;
        record_model(*out);
        stream_show_length(run, path);
    } else if (ollama_is_name(path)) {
        report_remark(run, name, "is what Ollama's name leads to");
    }
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

    if (try_open(run, path, shards, metadata_only, &model) != MF_OK) {
        report_failure(run, path);
        return NULL;
    }
    if (!run->chooses_missing)
        missing_show(run, path, model);
    return model;
}

static void open_model(struct run *run, enum mf_shards shards,
                       bool metadata_only, inputs_show_model *show)
{
    struct mf_model *model =
        inputs_open(run, run->operand[0], shards, metadata_only);

    if (model)
        show(run, model);
    mf_model_close(model);
}

static void show_model(struct run *run, enum mf_shards shards,
                       bool metadata_only, inputs_show_model *show)
{
    answer_one_begin(run, run->operand[0]);
    open_model(run, shards, metadata_only, show);
    answer_one_end(run);
}

/* Whichever of the two functions is given. */
struct listed {
    struct run *run;
    bool metadata_only;
    inputs_show_model *show;
    void (*show_file)(struct run *run);
};

static void show_listed(const struct listed *listed)
{
    struct run *run = listed->run;

    record_sample_begin();
    answer_file_begin(run, run->operand[0]);
    if (listed->show_file)
        listed->show_file(run);
    else
        open_model(run, MF_SHARDS_AUTO, listed->metadata_only, listed->show);
    answer_file_end(run);
    record_sample_end(run);
}

static void show_listed_alone(void *user)
{
    const struct listed *listed = user;

    begin_answer(listed->run);
    show_listed(listed);
    answer_files_end(listed->run);
    answer_end(listed->run);
}

static void give_listed(struct listed *listed)
{
    struct jobs_act act = { show_listed_alone, listed, false };

    jobs_give(listed->run, listed->run->operand[0], &act);
}

static void each_listed(struct listed *listed)
{
    struct run *run = listed->run;
    bool jobs = jobs_are_used();

    if (!jobs)
        begin_answer(run);
    for (size_t i = 0; i <= run->listed_count; i++) {
        if (i > 0)
            run->operand[0] = run->listed[i - 1];
        if (jobs)
            give_listed(listed);
        else
            show_listed(listed);
    }
    if (jobs) {
        jobs_end(run);
        return;
    }
    answer_files_end(run);
    answer_end(run);
}

void inputs_listed(struct run *run, bool metadata_only, inputs_show_model *show)
{
    struct listed listed = { run, metadata_only, show, NULL };

    each_listed(&listed);
}

void inputs_listed_files(struct run *run, void (*show)(struct run *run))
{
    struct listed listed = { run, false, NULL, show };

    each_listed(&listed);
}

void inputs_one(struct run *run, bool metadata_only, inputs_show_model *show)
{
    show_model(run, MF_SHARDS_AUTO, metadata_only, show);
}

void inputs_whole(struct run *run, inputs_show_model *show)
{
    show_model(run, MF_SHARDS_BY_NAME, false, show);
}

bool inputs_editable(struct run *run, const char *operand)
{
    if (strcmp(operand, "-") == 0)
        report_usage(run, "cannot edit standard input: name the file");
    else if (ollama_is_name(operand))
        report_usage(run, "cannot edit a model of Ollama, whose files are "
                          "named by their digest: copy it with 'modelfile "
                          "convert'");
    else if (inputs_is_folder(operand))
        report_usage(run, "cannot edit folder '%.200s': name the file",
                     operand);
    else
        return true;
    return false;
}
