/* SPDX-License-Identifier: MIT
 *
 * export.c - modelfile tensors export: one tensor as a file
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/report.h"

static struct {
    bool raw;
} options;

static const struct option table[] = {
    OPTION_FLAG("--raw", options.raw,
                "write the tensor's bytes, without a header"),
    OPTION_FORCE,
    OPTIONS_WORK,
    OPTION_TENSORS_ONLY,
    OPTION_WHOLE,
    { 0 },
};

static void export_tensor(struct run *run, struct mf_model *model)
{
    const char *name = run->operand[1], *path = output_path(run->operand[2]);
    struct mf_export_options how = { .size = sizeof(struct mf_export_options),
                                     .raw = options.raw,
                                     .replace = run->options->force };
    struct mf_tensor tensor;
    size_t index;

    if (!mf_tensor_find(model, name, strlen(name), &tensor, &index)) {
        names_missing(run, model, NAMED_TENSOR, name);
        return;
    }
    if (mf_tensor_export(model, index, path, &how) != MF_OK) {
        report_failure(run, run->operand[0]);
        return;
    }
    output_name_left(run, path, NULL, 0);
    report_done(run, path, "was written");
    if (run->options->json) {
        json_str(run, "tensor", tensor.name);
        json_str(run, "output", str_of(path));
    }
}

static void writes(struct run *run)
{
    sandbox_allow_file(&run->sandbox, output_path(run->operand[2]));
}

static void tensors_export(struct run *run)
{
    if (output_fits(run, run->operand[2]))
        inputs_one(run, false, export_tensor);
}

const struct command command_tensors_export = {
    .name = "tensors",
    .sub = "export",
    .operands = "FILE NAME OUT",
    .operands_min = 3,
    .operands_max = 3,
    .summary = "write one tensor to a numpy or raw file",
    .about = "Writes the tensor NAME to the file OUT: as .npy with its "
             "own type, or as float32 where NumPy has none like it, or "
             "with --raw as its bytes. OUT can be - for standard output.\n",
    .examples =
        "modelfile tensors export model.gguf output_norm.weight norm.npy\n"
        "modelfile tensors export model.gguf output.weight - --raw | "
        "sha256sum\n",
    .exit_no = "the model has no tensor NAME",
    .options = table,
    .remote = true,
    .execute = tensors_export,
    .writes = writes,
};
