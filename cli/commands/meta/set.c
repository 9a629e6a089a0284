/* SPDX-License-Identifier: MIT
 *
 * set.c - modelfile meta set and unset: change metadata in a file
 */
#include <string.h>
#include <unistd.h>

#include "cli/commands/meta/meta.h"
#include "cli/files_from.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/report.h"

static struct {
    uint64_t reserve;
    bool force;
} options;

static const struct option table[] = {
    OPTION_SIZE("--reserve", options.reserve,
                "rewrite the file with room for later edits in its header"),
    OPTION_FLAG("--force", options.force, "also if it adds an error"),
    OPTION_FLAG("--dry-run", shared_options.dry_run, "show what would be done"),
    OPTIONS_WORK,
    OPTION_FILES_FROM,
    { 0 },
};

static bool parse_unset(struct editing *editing, const char *key,
                        struct mf_edit *edit)
{
    struct mf_meta meta;
    const char *type;
    size_t at;

    *edit = (struct mf_edit){ .key = key, .unset = true };
    if (edit_value_find(editing, key, &meta, &at, &type))
        return true;
    names_missing(editing->run, editing->model, NAMED_KEY, key);
    return false;
}

static void show(struct run *run, const struct mf_edit_result *result)
{
    if (run->options->json) {
        json_bool(run, "in_place", result->in_place);
        json_bool(run, "journalled", result->journalled);
        json_number(run, "changed_bytes", result->changed);
        json_bool(run, "written", !run->options->dry_run);
        return;
    }
    out_escaped(&run->out, str_of(run->operand[0]), "");
    if (result->in_place && result->changed == 0)
        out_line(&run->out, ": nothing to change");
    else if (result->in_place)
        out_format(&run->out, ": %s byte%s changed in place%s\n",
                   number_text(result->changed).at,
                   result->changed == 1 ? "" : "s",
                   run->options->dry_run ? " (not written)" : "");
    else
        out_format(&run->out, ": rewritten, %s%s\n",
                   size_text(result->changed).at,
                   run->options->dry_run ? " (not written)" : "");
}

static void applied(struct editing *editing,
                    const struct mf_edit_result *result)
{
    struct run *run = editing->run;

    if (!result->in_place)
        output_name_left(run, editing->path, NULL, 0);
    if (result->changed > 0)
        report_done(run, editing->path, "was changed");
    show(run, result);
}

static void apply(struct editing *editing, struct mf_editor *editor)
{
    struct run *run = editing->run;
    struct mf_edit_result result;
    struct buffer changes = { 0 };
    bool shown = changes_show(editing, &changes);

    if (shown && mf_editor_apply(editor, editing->edit, editing->count,
                                 &result) != MF_OK) {
        report_failure(run, editing->path);
        shown = false;
    }
    if (shown) {
        out_bytes(&run->out, changes.at ? changes.at : "", changes.size);
        applied(editing, &result);
    }
    buffer_release(run, &changes);
}

/* All edits are parsed before anything is changed: the types of new values
 * depend on the old ones. */
static bool parse_edits(struct editing *editing, struct mf_editor *editor)
{
    struct run *run = editing->run;
    bool unset = strcmp(run->command->sub, "unset") == 0, parsed = true;
    struct mf_format_info format;

    editing->model = mf_editor_model(editor);
    run->size += mf_model_info(editing->model)->file_size;
    if (formats_find(mf_model_info(editing->model)->format, &format))
        editing->values = format.values;
    for (size_t i = 0; i < editing->count && parsed; i++)
        parsed =
            unset ? parse_unset(editing, run->operand[1 + i], &editing->edit[i])
                  : edit_value_parse(editing, run->operand[1 + i],
                                     &editing->edit[i], &editing->held[i]);
    return parsed;
}

/* The editor locks the file before it is read, until it is changed. */
static void edit(struct editing *editing)
{
    struct run *run = editing->run;
    struct mf_edit_options how = { .size = sizeof(struct mf_edit_options),
                                   .reserve = options.reserve,
                                   .dry_run = run->options->dry_run,
                                   .force = options.force };
    struct mf_editor *editor;

    if (mf_editor_open(run->env, editing->path, &how, &editor) != MF_OK) {
        report_failure(run, editing->path);
        return;
    }
    if (parse_edits(editing, editor)) {
        changes_warn(editing);
        apply(editing, editor);
    } else if (files_from_several(run)) {
        report_remark(run, editing->path, "not changed");
    }
    mf_editor_close(editor);
}

#define EDITS_MAX 256

/* Of meta_set, which has EDITS_MAX of each. */
static struct mf_edit *edits;
static struct held *held;

/* Each file is changed as a whole, or not; one that cannot be does not stop the
 * others. */
static void edit_file(struct run *run)
{
    struct editing editing = { .run = run,
                               .path = run->operand[0],
                               .edit = edits,
                               .held = held,
                               .count = run->operand_count - 1 };

    edit(&editing);
    for (size_t i = 0; i < editing.count; i++)
        edit_value_release(run, &held[i], false);
}

/* Before any file is changed. */
static bool are_editable(struct run *run)
{
    bool editable = inputs_editable(run, run->operand[0]);

    for (size_t i = 0; i < run->listed_count && editable; i++)
        editable = inputs_editable(run, run->listed[i]);
    return editable;
}

static void meta_set(struct run *run)
{
    struct mf_edit all_edits[EDITS_MAX] = { 0 };
    struct held all_held[EDITS_MAX] = { 0 };

    if (!are_editable(run))
        return;
    if (run->operand_count - 1 > EDITS_MAX) {
        report_usage(run, "too many keys: at most %d can be changed at once",
                     EDITS_MAX);
        return;
    }
    edits = all_edits;
    held = all_held;
    inputs_listed_files(run, edit_file);
    for (size_t i = 0; i < run->operand_count - 1; i++)
        edit_value_release(run, &held[i], true);
    edits = NULL;
    held = NULL;
}

static void writes(struct run *run)
{
    sandbox_allow_file(&run->sandbox, run->operand[0]);
    for (size_t i = 0; i < run->listed_count; i++)
        sandbox_allow_file(&run->sandbox, run->listed[i]);
}

/* ---- files and edits ---- */

/* The first operand is a file unless it can only be an edit. */
static bool is_file(const struct run *run, size_t index)
{
    const char *operand = run->operand[index];
    bool edit = strchr(operand, '=') != NULL;

    return index == 0 ? !edit || access(operand, F_OK) == 0
                      : !edit && access(operand, F_OK) == 0;
}

static bool is_an_edit(const struct run *run, size_t index)
{
    return strchr(run->operand[index], '=') != NULL;
}

static bool sort_set(struct run *run)
{
    bool any = run->options->files_from != NULL;

    for (size_t i = 0; i < run->operand_count; i++)
        any = any || is_an_edit(run, i);
    return !any || files_from_sort(run, is_file);
}

const struct command command_meta_set = {
    .name = "meta",
    .sub = "set",
    .operands = "FILE... KEY=VALUE...",
    .operands_min = 2,
    .operands_max = SIZE_MAX,
    .summary = "change metadata, in place if it fits",
    .about = "Changes or adds metadata in each FILE. KEY=VALUE keeps the "
             "type that the key has, or takes one that fits the value; "
             "KEY:TYPE=VALUE gives one, such as u32, f32, bool, string "
             "or string[]; KEY=@FILE takes the contents of FILE.\n\n"
             "Where the new header fits into the space of the old one, "
             "only the bytes that differ are written; a journal in "
             "the same folder makes that safe: after a crash every command "
             "reads the file as if the edit were finished. Otherwise a "
             "new file takes the place of the old one when it is "
             "complete. An edit that makes a file invalid is refused "
             "unless --force is given.\n",
    .examples =
        "modelfile meta set model.gguf general.name='My model'\n"
        "modelfile meta set model.gguf llama.context_length:u32=8192\n"
        "modelfile meta set model.gguf "
        "tokenizer.chat_template=@template.jinja\n"
        "modelfile meta set model.gguf 'general.tags:string[]=chat,small'\n"
        "modelfile meta set *.gguf general.license=mit\n",
    .options = table,
    .execute = meta_set,
    .check_operands = sort_set,
    .writes = writes,
};

const struct command command_meta_unset = {
    .name = "meta",
    .sub = "unset",
    .operands = "FILE KEY...",
    .operands_min = 2,
    .operands_max = SIZE_MAX,
    .summary = "remove metadata",
    .about = "Removes keys from the metadata, as safely as modelfile "
             "meta set changes them.\n",
    .examples =
        "modelfile meta unset model.gguf general.url general.source.url\n",
    .exit_no = "a file has no such key",
    .options = table,
    .execute = meta_set,
    /* Keys look like names of files: all but the first operand are keys. */
    .check_operands = files_from_first,
    .writes = writes,
};
