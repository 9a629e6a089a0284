/* SPDX-License-Identifier: MIT
 *
 * get.c - modelfile meta get: print metadata values
 *
 * One value of one file is printed as it is.  Of several, each has a line, with
 * its key, and its file if there are several, and text is in quotes.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/files_from.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/names.h"
#include "cli/report.h"
#include "cli/value.h"

static struct {
    bool full;
} options;

static const struct option table[] = {
    OPTION_FLAG("--full", options.full, "print arrays and strings in full"),
    OPTION_FLAG("--one-file", shared_options.one_file,
                "this file only, not the first shard of its model"),
    OPTION_FILES_FROM,
    { 0 },
};

static bool find(const struct mf_model *model, const char *key, size_t *at)
{
    struct mf_meta meta;

    return mf_meta_find(model, key, strlen(key), &meta, at);
}

/* Keys that the model does not have; for one there is a suggestion. */
static void report_missing(struct run *run, const struct mf_model *model)
{
    const char *last = NULL;
    char text[800] = "";
    size_t count = 0, size = 0, at;

    for (size_t i = 1; i < run->operand_count; i++) {
        const char *key = run->operand[i];

        if (find(model, key, &at))
            continue;
        last = key;
        if (size < sizeof(text))
            size += (size_t)snprintf(text + size, sizeof(text) - size,
                                     "%s'%.200s'", count > 0 ? ", " : "", key);
        count++;
    }
    if (count == 1)
        names_missing(run, model, NAMED_KEY, last);
    else if (count > 1)
        report_absent(run, "%.200s: no metadata keys %s", run->operand[0],
                      text);
}

static void show_json(struct run *run, struct mf_model *model)
{
    size_t at;

    json_text(run, "format", mf_model_info(model)->format);
    mf_json_key(&run->json, "metadata");
    mf_json_begin(&run->json, '[');
    for (size_t i = 1; i < run->operand_count; i++)
        if (find(model, run->operand[i], &at))
            value_entry_json(run, model, at, options.full);
    mf_json_end(&run->json, ']');
}

static void show_line(struct run *run, struct mf_model *model, const char *key,
                      size_t at)
{
    bool several = files_from_several(run);

    if (several) {
        out_escaped(&run->out, str_of(run->operand[0]), "");
        out_text(&run->out, ": ");
    }
    if (!several && run->operand_count == 2) {
        value_plain(run, model, at, options.full);
    } else {
        out_escaped(&run->out, str_of(key), "");
        out_text(&run->out, ": ");
        value_text(run, model, at, options.full);
    }
    out_text(&run->out, "\n");
}

static void show_get(struct run *run, struct mf_model *model)
{
    size_t at;

    if (run->options->json)
        show_json(run, model);
    else
        for (size_t i = 1; i < run->operand_count; i++)
            if (find(model, run->operand[i], &at))
                show_line(run, model, run->operand[i], at);
    report_missing(run, model);
}

static void meta_get(struct run *run)
{
    inputs_listed(run, true, show_get);
}

const struct command command_meta_get = {
    .name = "meta",
    .sub = "get",
    .operands = "FILE KEY...",
    .operands_min = 2,
    .operands_max = SIZE_MAX,
    .summary = "print the values of metadata keys",
    .about = "Prints the values of the keys: a string as it is, a number "
             "as it is written, an array shortened unless --full is "
             "given. With several keys, or several files, each line "
             "begins with what it is about.\n",
    .examples = "modelfile meta get model.gguf general.architecture\n"
                "modelfile meta get model.gguf tokenizer.chat_template\n"
                "modelfile meta get model.gguf tokenizer.ggml.tokens --full\n"
                "modelfile meta get model.gguf general.name general.license\n"
                "find . -name '*.gguf' | modelfile meta get --files-from - "
                "general.name\n",
    .exit_no = "a file lacks one of the keys",
    .options = table,
    .remote = true,
    .execute = meta_get,
    /* Keys look like names of files: all but the first operand are keys. */
    .check_operands = files_from_first,
};
