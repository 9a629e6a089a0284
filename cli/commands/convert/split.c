/* SPDX-License-Identifier: MIT
 *
 * split.c - modelfile split: split a model into shards
 */
#include "cli/commands/convert/write.h"
#include "cli/missing.h"
#include "cli/output.h"
#include "cli/report.h"

static struct {
    uint64_t max_size, max_tensors;
    bool empty_first;
} options;

/* The names are llama-gguf-split's. */
static const struct option table[] = {
    OPTION_SIZE("--max-size", options.max_size,
                "at most SIZE of tensors in each file (5G, 500M)"),
    OPTION_SIZE("--split-max-size", options.max_size, NULL),
    OPTION_COUNT("--max-tensors", "N", options.max_tensors,
                 "at most N tensors in each file"),
    OPTION_COUNT("--split-max-tensors", "N", options.max_tensors, NULL),
    OPTION_FLAG("--no-tensor-first-split", options.empty_first,
                "no tensors in the first file, only metadata (GGUF)"),
    OPTION_RESUME,
    OPTION_PART,
    OPTION_ALLOW_MISSING,
    OPTIONS_WRITE,
    { 0 },
};

static void split(struct run *run)
{
    const struct mf_convert_options how = {
        .size = sizeof(struct mf_convert_options),
        .shard_size = options.max_size,
        .shard_tensors = options.max_tensors,
        .empty_first = options.empty_first,
        .names = MF_NAMING_AUTO,
        .allow_nonfinite = true, /* bytes are moved, not changed */
    };

    if (options.max_size == 0 && options.max_tensors == 0)
        report_usage(run, "missing option: --max-size SIZE or --max-tensors N");
    else
        write_model(run, &how);
}

/* Shards are next to a folder that has the name PREFIX. */
static void allow_out(struct run *run)
{
    write_allow_out(run);
    sandbox_allow_file(&run->sandbox, output_path(run->operand[1]));
}

const struct command command_split = {
    .name = "split",
    .sub = "",
    .operands = "IN PREFIX",
    .operands_min = 2,
    .operands_max = 2,
    .summary = "split a model into shards",
    .about = "Writes the model IN as several files "
             "PREFIX-00001-of-0000N, with the suffix of IN, as "
             "llama-gguf-split and transformers expect them; for "
             "safetensors with an index.\n",
    .examples = "modelfile split model.gguf model --max-size 4G\n"
                "modelfile split model.safetensors model --max-tensors 100\n",
    .options = table,
    .shared = true,
    .execute = split,
    .writes = allow_out,
};
