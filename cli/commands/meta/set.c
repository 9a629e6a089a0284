/* SPDX-License-Identifier: MIT
 *
 * set.c - modelfile meta set, unset and recover: changing metadata in a
 * file
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/meta/edit_value.h"

const struct option meta_set_options[] = {
    { "--reserve", OPTION_SIZE, "SIZE", 0, offsetof(struct options, reserve),
      "writes the file anew, with room in its header for later edits" },
    { "--dry-run", OPTION_FLAG, NULL, 0, offsetof(struct options, dry_run),
      "says what would be done" },
    OPTIONS_LONG,
    { 0 },
};

static bool take_unset(struct editing *editing, char *key, struct mf_edit *edit)
{
    struct mf_meta meta;
    const char *type;

    *edit = (struct mf_edit){ .key = key, .unset = true };
    if (meta_named(editing, key, &meta, &type))
        return true;
    names_missing(editing->run, editing->model, NAMED_KEY, key);
    return false;
}

static void show(struct run *run, const struct mf_edit_result *result)
{
    if (run->options.json) {
        json_bool(run, "in_place", result->in_place);
        json_bool(run, "journalled", result->journalled);
        json_number(run, "changed_bytes", result->changed);
        json_bool(run, "written", !run->options.dry_run);
        return;
    }
    out_escaped(&run->out, str_of(run->operand[0]), "");
    if (result->in_place && result->changed == 0)
        out_line(&run->out, ": nothing to change");
    else if (result->in_place)
        out_format(&run->out, ": %s byte%s changed in place%s\n",
                   number_text(result->changed).at,
                   result->changed == 1 ? "" : "s",
                   run->options.dry_run ? " (not written)" : "");
    else
        out_format(&run->out, ": written anew, %s%s\n",
                   size_text(result->changed).at,
                   run->options.dry_run ? " (not written)" : "");
}

static void apply(struct editing *editing, struct mf_editor *editor)
{
    struct run *run = editing->run;
    struct mf_edit_result result;

    if (mf_editor_apply(editor, editing->edit, editing->count, &result) !=
        MF_OK) {
        report_failure(run, editing->path);
        return;
    }
    if (result.changed > 0)
        report_done(run, editing->path, "was changed");
    show(run, &result);
}

/* The types of what stands there are looked up before anything is done. */
static bool take_edits(struct editing *editing, struct mf_editor *editor)
{
    struct run *run = editing->run;
    bool unset = strcmp(run->command->sub, "unset") == 0, taken = true;

    editing->model = mf_editor_model(editor);
    run->size = mf_model_info(editing->model)->file_size;
    editing->format = mf_model_info(editing->model)->format;
    for (size_t i = 0; i < editing->count && taken; i++)
        taken =
            unset ? take_unset(editing, run->operand[1 + i], &editing->edit[i])
                  : meta_value_take(editing, run->operand[1 + i],
                                    &editing->edit[i], &editing->held[i]);
    return taken;
}

/* The file is locked from before it is looked at until it is changed. */
static void edit(struct editing *editing)
{
    struct run *run = editing->run;
    struct mf_edit_options options = { .reserve = run->options.reserve,
                                       .dry_run = run->options.dry_run };
    struct mf_editor *editor;

    if (mf_editor_open(run->env, editing->path, &options, &editor) != MF_OK) {
        report_failure(run, editing->path);
        return;
    }
    if (take_edits(editing, editor))
        apply(editing, editor);
    mf_editor_close(editor);
}

#define EDITS_MAX 256

void writes_edited(struct run *run)
{
    sandbox_allow_file(&run->sandbox, run->operand[0]);
}

void command_meta_set(struct run *run)
{
    static struct mf_edit edits[EDITS_MAX];
    static struct held held[EDITS_MAX];
    struct editing editing = { .run = run,
                               .path = run->operand[0],
                               .edit = edits,
                               .held = held,
                               .count = run->operand_count - 1 };

    if (!inputs_editable(run, editing.path))
        return;
    if (editing.count > EDITS_MAX) {
        report_usage(run, "at most %d keys can be changed at once", EDITS_MAX);
        return;
    }
    report_begin(run);
    if (run->options.json)
        json_str(run, "file", str_of(editing.path));
    edit(&editing);
    for (size_t i = 0; i < editing.count; i++)
        meta_value_release(&editing, &held[i]);
    report_end(run);
    if (run->options.json)
        out_text(&run->out, "\n");
}

/* ---- meta recover ---- */

const struct option meta_recover_options[] = {
    { "--force", OPTION_FLAG, NULL, 0, offsetof(struct options, force),
      "trusts the journal whoever owns it; for the file's owner and root" },
    { 0 },
};

static void show_recovery(struct run *run,
                          const struct mf_recover_result *result)
{
    static const struct {
        const char *word, *text;
    } rows[] = {
        [MF_RECOVERY_NONE] = { "none", "nothing to recover" },
        [MF_RECOVERY_UNBEGUN] = { "unbegun",
                                  "the edit had not changed the file; its "
                                  "journal was removed" },
        [MF_RECOVERY_COMPLETE] = { "complete",
                                   "the edit was complete; its journal was "
                                   "removed" },
        [MF_RECOVERY_FINISHED] = { "finished", "the edit was finished" },
        [MF_RECOVERY_FOREIGN] = { "foreign",
                                  "the journal of another file was removed" },
    };

    if (run->options.json) {
        json_text(run, "recovered", rows[result->found].word);
        json_number(run, "changed_bytes", result->changed);
        return;
    }
    out_escaped(&run->out, str_of(run->operand[0]), "");
    out_format(&run->out, ": %s\n", rows[result->found].text);
}

void command_meta_recover(struct run *run)
{
    const struct mf_recover_options options = { .force = run->options.force };
    const char *path = run->operand[0];
    struct mf_recover_result result;

    if (!inputs_editable(run, path))
        return;
    report_begin(run);
    if (run->options.json)
        json_str(run, "file", str_of(path));
    if (mf_file_recover(run->env, path, &options, &result) == MF_OK) {
        if (result.changed > 0)
            report_done(run, path, "was changed");
        show_recovery(run, &result);
    } else {
        report_failure(run, path);
    }
    report_end(run);
    if (run->options.json)
        out_text(&run->out, "\n");
}
