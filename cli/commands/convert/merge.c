/* SPDX-License-Identifier: MIT
 *
 * merge.c - modelfile merge: join the shards of a model into one file
 */
#include "cli/commands/convert/write.h"
#include "cli/output.h"
#include "cli/report.h"

static struct {
    bool delete_inputs;
} options;

static const struct option table[] = {
    OPTION_FLAG("--delete-inputs", options.delete_inputs,
                "delete the shards once OUT is on the disk"),
    OPTION_RESUME,
    OPTIONS_WRITE,
    { 0 },
};

/* Often a pattern of the shell for all shards. */
static bool check_operands(struct run *run)
{
    if (run->operand_count <= run->command->operands_max)
        return true;
    report_usage(run,
                 "unexpected argument '%.200s'; usage: modelfile merge FIRST "
                 "OUT (FIRST is any one of the shards)",
                 run->operand[2]);
    return false;
}

static void writes(struct run *run)
{
    write_allow_out(run);
    if (options.delete_inputs) {
        sandbox_allow_file(&run->sandbox, run->operand[0]);
        sandbox_allow_folder(&run->sandbox, run->operand[0]);
    }
}

static void merge(struct run *run)
{
    const struct mf_convert_options how = {
        .size = sizeof(struct mf_convert_options),
        .delete_inputs = options.delete_inputs,
        .allow_nonfinite = true, /* bytes are moved, not changed */
    };

    if (options.delete_inputs && output_is_stdout(run->operand[1]))
        report_usage(run, "'--delete-inputs' requires a file as OUT: output to "
                          "a pipe may be lost");
    else if (write_suffix_is_known(run))
        write_model(run, &how);
}

const struct command command_merge = {
    .name = "merge",
    .sub = "",
    .operands = "FIRST OUT",
    .operands_min = 2,
    .operands_max = 2,
    .summary = "join the shards of a model into one file",
    .examples =
        "modelfile merge model-00001-of-00005.gguf model.gguf\n"
        "modelfile merge model.safetensors.index.json model.safetensors\n",
    .options = table,
    .execute = merge,
    .writes = writes,
    .check_operands = check_operands,
};
