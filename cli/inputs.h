/* SPDX-License-Identifier: MIT
 *
 * inputs.h - the files that operands name: files, folders and globs
 */
#ifndef MF_CLI_INPUTS_H
#define MF_CLI_INPUTS_H

#include "cli/cli.h"

/* What to open for an operand: "-" is standard input, which must be a file; of
 * a pipe see stream.h. */
const char *inputs_path(const char *operand);

/* The same for a model, which "ollama:NAME" may name. */
const char *inputs_model_path(struct run *run, const char *operand);

bool inputs_is_folder(const char *path);

typedef void inputs_show(struct run *run, const char *path,
                         enum mf_shards shards);

/* Calls show for every model that the operands name: files, globs, and folders
 * with everything below them.  Calls fail (report_failure, or one that reports
 * in another form), with the error in run->env, if a folder cannot be read or
 * has no model.  With --json the object of the file is open in both. */
void inputs_each(struct run *run, inputs_show *show,
                 void (*fail)(struct run *run, const char *path));

/* The same; calls sum after the files, in the document. */
void inputs_summed(struct run *run, inputs_show *show,
                   void (*fail)(struct run *run, const char *path),
                   void (*sum)(struct run *run));

/* The same for a command with one answer about all models: calls show for each
 * until run->code is raised, then done, in the document after the files. */
void inputs_together(struct run *run, inputs_show *show,
                     void (*fail)(struct run *run, const char *path),
                     void (*done)(struct run *run));

/* The same for commands that read any file: folders are not opened but passed
 * to show, which reports them. */
void inputs_files(struct run *run, inputs_show *show);

typedef void inputs_show_model(struct run *run, struct mf_model *model);

/* The one model of a command that takes a FILE: opens it and calls show. */
void inputs_one(struct run *run, bool metadata_only, inputs_show_model *show);

/* The same for operand[0] and each of run->listed, which becomes operand[0]. */
void inputs_listed(struct run *run, bool metadata_only,
                   inputs_show_model *show);

/* The same for a command that opens them itself. */
void inputs_listed_files(struct run *run, void (*show)(struct run *run));

/* The same for a command that writes the whole model: any shard means all of
 * them, even if only an index or the file names list them. */
void inputs_whole(struct run *run, inputs_show_model *show);

/* Opens a model as the options say; NULL after report_failure. */
struct mf_model *inputs_open(struct run *run, const char *path,
                             enum mf_shards shards, bool metadata_only);

/* The same without a report: the error is in run->env, and what is not read is
 * for missing_show. */
enum mf_status inputs_try(struct run *run, const char *path,
                          enum mf_shards shards, struct mf_model **out);

/* False after report_usage if the operand is not a file that can be edited. */
bool inputs_editable(struct run *run, const char *operand);

#endif
