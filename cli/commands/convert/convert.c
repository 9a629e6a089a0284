/* SPDX-License-Identifier: MIT
 *
 * convert.c - modelfile convert: write a model in another format
 */
#include "cli/commands/convert/write.h"

#include <math.h>
#include <stdlib.h>

#include "cli/report.h"

static struct {
    const char *to;
    unsigned names; /* enum mf_naming */
    unsigned type;  /* index in types */
    uint64_t shard_size, shard_tensors, reserve;
    unsigned version;
    bool lossy, allow_nonfinite;
    const char *lora, *lora_scale, *base;
} options;

static const struct option table[] = {
    OPTION_TO(options.to),
    OPTION_CHOICE("--names", "gguf|hf", MF_NAMING_GGUF, options.names,
                  "rename and reorder tensors for llama.cpp or Hugging Face"),
    OPTION_CHOICE("--type", "f32|f16|bf16|keep|auto|q8_0|tq1_0|tq2_0", 1,
                  options.type,
                  "type of float tensors; f16, bf16: of matrices only; keep: "
                  "also of norms"),
    OPTION_SIZE("--shard-size", options.shard_size,
                "split into files with at most SIZE of tensors (5G, 500M)"),
    OPTION_COUNT("--shard-tensors", "N", options.shard_tensors,
                 "split into files with at most N tensors"),
    OPTION_SIZE("--reserve", options.reserve,
                "leave room in the header for later edits in place"),
    OPTION_CHOICE("--gguf-version", "2|3", 2, options.version,
                  "for old readers"),
    OPTION_TEXT("--lora", "ADAPTER", options.lora,
                "add a LoRA adapter, a folder or a GGUF file, to the model"),
    OPTION_TEXT("--lora-scale", "X", options.lora_scale,
                "add the adapter X times; default: 1"),
    OPTION_TEXT("--base", "FOLDER", options.base,
                "where IN is an adapter: the model that it was made for"),
    OPTION_LOSSY(options.lossy),
    OPTION_NONFINITE(options.allow_nonfinite),
    OPTION_RESUME,
    OPTIONS_WRITE,
    { 0 },
};

static const char *const types[] = { NULL,   "f32",  "f16",   "bf16", "keep",
                                     "auto", "q8_0", "tq1_0", "tq2_0" };

/* 0 for none; false after report_usage. */
static bool read_scale(struct run *run, double *out)
{
    const char *text = options.lora_scale;
    char *end;

    *out = 0;
    if (!text)
        return true;
    *out = strtod(text, &end);
    if (!options.lora)
        report_usage(run, "'--lora-scale' requires '--lora'");
    else if (*end || end == text || !isfinite(*out) || *out == 0)
        report_usage(run,
                     "invalid value '%.60s' for '--lora-scale': not a number "
                     "other than 0",
                     text);
    else
        return true;
    return false;
}

static void convert(struct run *run)
{
    double scale;

    if (!read_scale(run, &scale))
        return;

    const struct mf_convert_options how = {
        .size = sizeof(struct mf_convert_options),
        .format = options.to,
        .type = types[options.type],
        .lossy = options.lossy,
        .shard_size = options.shard_size,
        .shard_tensors = options.shard_tensors,
        .reserve = options.reserve,
        .version = options.version,
        .names = (enum mf_naming)options.names,
        .allow_nonfinite = options.allow_nonfinite,
        .lora = options.lora,
        .lora_scale = scale,
        .base = options.base,
    };

    if (options.to || write_suffix_is_known(run))
        write_model(run, &how);
}

const struct command command_convert = {
    .name = "convert",
    .sub = "",
    .operands = "IN OUT",
    .operands_min = 2,
    .operands_max = 2,
    .summary = "write a model in another format",
    .examples =
        "modelfile convert model.safetensors model.gguf\n"
        "modelfile convert model.gguf model.apr\n"
        "modelfile convert Llama-3-8B/ model.gguf --names gguf\n"
        "modelfile convert big.gguf part.safetensors --shard-size 5G\n"
        "modelfile convert model.gguf - --to safetensors | zstd >model.zst\n",
    .options = table,
    .execute = convert,
    .writes = write_allow_out,
};
