/* SPDX-License-Identifier: MIT
 *
 * detect.c - modelfile detect: format, version and byte order
 */
#include "cli/cli.h"
#include "cli/describe.h"
#include "cli/files_from.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/report.h"

static void show_json(struct run *run, const struct mf_detection *found)
{
    json_text(run, "format", found->format);
    json_text(run, "variant", found->variant);
    mf_json_key(&run->json, "version");
    if (found->version == 0)
        mf_json_null(&run->json);
    else
        mf_json_u64(&run->json, found->version);
    if (found->version_minor > 0)
        json_number(run, "version_minor", found->version_minor);
    byte_order_json(run, found->byte_order);
    json_number(run, "size", found->size);
    json_bool(run, "supported", found->supported);
    json_text(run, "note", found->note);
}

static void show_text(struct run *run, const char *path,
                      const struct mf_detection *found)
{
    struct out *out = &run->out;

    out_escaped(out, str_of(path), "");
    out_text(out, ": ");
    out_bold(out, found->format);
    dialect_text(out, found->variant, found->version, found->version_minor,
                 found->byte_order);
    out_format(out, ", %s", size_text(found->size).at);
    if (*found->note)
        out_format(out, " (%s)", found->note);
    out_text(out, "\n");
}

static void show(struct run *run, const char *path, enum mf_shards shards)
{
    struct mf_detection found;

    (void)shards;
    if (mf_file_detect(run->env, inputs_model_path(run, path), &found) !=
        MF_OK) {
        report_failure(run, path);
        return;
    }
    run->size += found.size;
    if (run->options->json)
        show_json(run, &found);
    else
        show_text(run, path, &found);
}

static const struct option table[] = {
    OPTION_FILES_FROM,
    { 0 },
};

static void detect(struct run *run)
{
    inputs_each(run, show, report_failure);
}

const struct command command_detect = {
    .name = "detect",
    .sub = "",
    .operands = "FILE...",
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .summary = "show the format, version and byte order",
    .about = "Prints the format, the version of it and the byte order of "
             "each FILE, with one read of at most 64 bytes; of a zip "
             "archive or a Parquet file with another one, of its last 64 "
             "KiB. Of a folder every model in it and its subfolders is "
             "shown.\n",
    .examples = "modelfile detect model.gguf\n"
                "modelfile detect --json downloads/*\n",
    .options = table,
    .execute = detect,
    .check_operands = files_from_operands,
};
