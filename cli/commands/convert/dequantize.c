/* SPDX-License-Identifier: MIT
 *
 * dequantize.c - modelfile dequantize: turn quantized tensors back into floats
 */
#include "cli/commands/convert/write.h"
#include "cli/missing.h"
#include "cli/output.h"

static struct {
    unsigned type; /* index in types */
    const char *to;
    unsigned names; /* enum names */
    unsigned order; /* of --endian */
    bool lossy, allow_nonfinite;
} options;

static const struct option table[] = {
    OPTION_CHOICE("--type", "f32|f16|bf16", 0, options.type,
                  "type to decode to (default f32)"),
    OPTION_NAMES(options.names),
    OPTION_ENDIAN(options.order),
    OPTION_TO(options.to),
    OPTION_LOSSY(options.lossy),
    OPTION_NONFINITE(options.allow_nonfinite),
    OPTION_TENSORS_ONLY,
    OPTION_ALLOW_MISSING,
    OPTION_WHOLE,
    OPTION_RESUME,
    OPTION_PART,
    OPTIONS_WRITE,
    { 0 },
};

static const char *const types[] = { "f32", "f16", "bf16" };

static void dequantize(struct run *run)
{
    const struct mf_convert_options how = {
        .size = sizeof(struct mf_convert_options),
        .format = options.to,
        .type = types[options.type],
        .dequantize = true,
        .names = output_naming(options.names),
        .byte_order = output_order(options.order),
        .lossy = options.lossy,
        .allow_nonfinite = options.allow_nonfinite,
    };

    if (options.to || write_suffix_is_known(run))
        write_model(run, &how);
}

const struct command command_dequantize = {
    .name = "dequantize",
    .sub = "",
    .operands = "IN OUT",
    .operands_min = 2,
    .operands_max = 2,
    .summary = "convert quantized tensors to floats",
    .about = "Decodes all quantized tensors of IN to floats and writes "
             "the model to OUT, in the format of OUT's suffix.\n",
    .examples =
        "modelfile dequantize model-q8_0.gguf model-f32.gguf\n"
        "modelfile dequantize model.gguf model.safetensors --type bf16\n",
    .options = table,
    .remote = true,
    .shared = true,
    .execute = dequantize,
    .writes = write_allow_out,
};
