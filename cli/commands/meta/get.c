/* SPDX-License-Identifier: MIT
 *
 * get.c - modelfile meta get: print one metadata value
 */
#include <string.h>

#include "cli/cli.h"
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
    { 0 },
};

static void show_get(struct run *run, struct mf_model *model)
{
    const char *key = run->operand[1];
    struct mf_meta meta;
    size_t at;

    if (!mf_meta_find(model, key, strlen(key), &meta, &at)) {
        names_missing(run, model, NAMED_KEY, key);
    } else if (run->options->json) {
        json_text(run, "format", mf_model_info(model)->format);
        mf_json_key(&run->json, "metadata");
        mf_json_begin(&run->json, '[');
        value_entry_json(run, model, at, options.full);
        mf_json_end(&run->json, ']');
    } else {
        value_plain(run, model, at, options.full);
        out_text(&run->out, "\n");
    }
}

static void meta_get(struct run *run)
{
    inputs_one(run, true, show_get);
}

const struct command command_meta_get = {
    .name = "meta",
    .sub = "get",
    .operands = "FILE KEY",
    .operands_min = 2,
    .operands_max = 2,
    .summary = "print the value of one metadata key",
    .examples = "modelfile meta get model.gguf general.architecture\n"
                "modelfile meta get model.gguf tokenizer.chat_template\n"
                "modelfile meta get model.gguf tokenizer.ggml.tokens --full\n",
    .exit_no = "the file has no such key",
    .options = table,
    .execute = meta_get,
};
