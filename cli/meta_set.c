/* SPDX-License-Identifier: MIT
 *
 * meta_set.c - modelfile meta set and unset: changing metadata in a file
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/meta_value.h"

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

static void apply(struct editing *editing)
{
    struct run *run = editing->run;
    struct mf_edit_options options = { .reserve = run->options.reserve,
                                       .dry_run = run->options.dry_run };
    struct mf_edit_result result;

    if (mf_edit_file(run->env, editing->path, editing->edit, editing->count,
                     &options, &result) != MF_OK) {
        report_failure(run, editing->path);
        return;
    }
    if (result.changed > 0)
        report_done(run, editing->path, "was changed");
    show(run, &result);
}

/* The types of what stands there are looked up before anything is done. */
static bool take_edits(struct editing *editing)
{
    struct mf_open_options options = { .shards = MF_SHARDS_ALONE,
                                       .metadata_only = true };
    struct run *run = editing->run;
    bool unset = strcmp(run->command->sub, "unset") == 0, taken = true;

    if (mf_open(run->env, editing->path, &options, &editing->model) != MF_OK) {
        report_failure(run, editing->path);
        return false;
    }
    run->size = mf_model_info(editing->model)->file_size;
    editing->format = mf_model_info(editing->model)->format;
    for (size_t i = 0; i < editing->count && taken; i++)
        taken =
            unset ? take_unset(editing, run->operand[1 + i], &editing->edit[i])
                  : meta_value_take(editing, run->operand[1 + i],
                                    &editing->edit[i], &editing->held[i]);
    mf_close(editing->model);
    return taken;
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
    if (take_edits(&editing))
        apply(&editing);
    for (size_t i = 0; i < editing.count; i++)
        meta_value_release(&editing, &held[i]);
    report_end(run);
    if (run->options.json)
        out_text(&run->out, "\n");
}
