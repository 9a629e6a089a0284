/* SPDX-License-Identifier: MIT
 *
 * commands.c - the list of commands
 */
#include <string.h>

#include "cli/cli.h"

/* A new command adds its row here. */
const struct command commands[] = {
    { "detect", "", "FILE...", 1, SIZE_MAX,
      "which format, version and byte order",
      "modelfile detect model.gguf\n"
      "modelfile detect --json downloads/*\n",
      NULL, command_detect, NULL },
    { "info", "", "FILE...", 1, SIZE_MAX, "what is this model, on one screen",
      "modelfile info model.gguf\n"
      "modelfile info models/            every model of a folder\n"
      "modelfile info --json a.gguf b.safetensors\n",
      info_options, command_info, NULL },
    { "tensors", "info", "FILE [PATTERN]", 1, 2,
      "name, type, shape, offset and bytes of each tensor",
      "modelfile tensors info model.gguf\n"
      "modelfile tensors model.gguf 'blk.0.*'\n"
      "modelfile tensors model.gguf --top 10\n"
      "modelfile tensors model.gguf --totals --json\n",
      tensors_options, command_tensors_info, NULL },
    { "tensors", "stats", "FILE [PATTERN]", 1, 2,
      "least, largest, mean and more of each tensor's numbers",
      "modelfile tensors stats model.gguf\n"
      "modelfile tensors stats model.gguf 'blk.0.*' --json\n",
      tensors_stats_options, command_tensors_stats, NULL },
    { "tensors", "export", "FILE NAME OUT", 3, 3,
      "one tensor as an array of numpy, or its bytes",
      "modelfile tensors export model.gguf output_norm.weight norm.npy\n"
      "modelfile tensors export model.gguf output.weight - --raw | sha256sum\n",
      tensors_export_options, command_tensors_export, writes_export },
    { "meta", "list", "FILE [PATTERN]", 1, 2, "metadata: key, type and value",
      "modelfile meta list model.gguf\n"
      "modelfile meta model.gguf 'tokenizer.*'\n"
      "modelfile meta list model.apr --json --full\n",
      meta_options, command_meta_list, NULL },
    { "meta", "get", "FILE KEY", 2, 2, "the value of one key",
      "modelfile meta get model.gguf general.architecture\n"
      "modelfile meta get model.gguf tokenizer.chat_template\n"
      "modelfile meta get model.gguf tokenizer.ggml.tokens --full\n",
      meta_options, command_meta_get, NULL },
    { "meta", "set", "FILE KEY=VALUE...", 2, SIZE_MAX,
      "changes metadata, in place where it fits",
      "modelfile meta set model.gguf general.name='My model'\n"
      "modelfile meta set model.gguf llama.context_length:u32=8192\n"
      "modelfile meta set model.gguf tokenizer.chat_template=@template.jinja\n"
      "modelfile meta set model.gguf 'general.tags:string[]=chat,small'\n",
      meta_set_options, command_meta_set, writes_edited },
    { "meta", "unset", "FILE KEY...", 2, SIZE_MAX, "removes metadata",
      "modelfile meta unset model.gguf general.url general.source.url\n",
      meta_set_options, command_meta_set, writes_edited },
    { "meta", "recover", "FILE", 1, 1, "finishes an edit that was cut short",
      "modelfile meta recover model.gguf\n", meta_recover_options,
      command_meta_recover, writes_edited },
    { "validate", "", "FILE...", 0, SIZE_MAX, "may this file be shipped",
      "modelfile validate model.gguf\n"
      "modelfile validate --data --strict models/\n"
      "modelfile validate --format sarif *.gguf >findings.sarif\n"
      "modelfile validate --explain TENSOR-OVERLAP\n",
      validate_options, command_validate, NULL },
    { "convert", "", "IN OUT", 2, 2, "the same model in another format",
      "modelfile convert model.safetensors model.gguf\n"
      "modelfile convert model.gguf model.apr\n"
      "modelfile convert Llama-3-8B/ model.gguf --names gguf\n"
      "modelfile convert big.gguf part.safetensors --shard-size 5G\n"
      "modelfile convert model.gguf - --to safetensors | zstd >model.zst\n",
      convert_options, command_convert, writes_out },
    { "quantize", "", "IN [OUT] TYPE [THREADS]", 3, 4, "smaller weights",
      "modelfile quantize model-f16.gguf model-q4_k_m.gguf Q4_K_M\n"
      "modelfile quantize model.gguf Q6_K           as ggml-model-Q6_K.gguf\n"
      "modelfile quantize model.gguf small.gguf IQ4_XS --imatrix matrix.gguf\n"
      "modelfile quantize model.gguf - Q6_K --dry-run\n"
      "modelfile quantize model.gguf out.gguf Q4_K_M "
      "--tensor-type attn_v=q8_0\n",
      quantize_options, command_quantize, writes_quantized },
    { "dequantize", "", "IN OUT", 2, 2, "blocks back to floats",
      "modelfile dequantize model-q8_0.gguf model-f32.gguf\n"
      "modelfile dequantize model.gguf model.safetensors --type bf16\n",
      dequantize_options, command_dequantize, writes_out },
    { "split", "", "IN PREFIX", 2, 2, "one model as several files",
      "modelfile split model.gguf model --max-size 4G\n"
      "modelfile split model.safetensors model --max-tensors 100\n",
      split_options, command_split, writes_out },
    { "merge", "", "FIRST OUT", 2, 2, "several files as one",
      "modelfile merge model-00001-of-00005.gguf model.gguf\n"
      "modelfile merge model.safetensors.index.json model.safetensors\n",
      merge_options, command_merge, writes_out },
    { "hash", "", "FILE...", 1, SIZE_MAX,
      "digest of each tensor and of the whole model",
      "modelfile hash model.gguf >manifest\n"
      "modelfile hash --check manifest model.safetensors\n"
      "modelfile hash --algo sha256 --json model.gguf\n"
      "modelfile hash --duplicates model.gguf\n",
      hash_options, command_hash, NULL },
    { "diff", "", "A B", 2, 2, "what differs between two models",
      "modelfile diff base.gguf tuned.gguf\n"
      "modelfile diff model.safetensors model.gguf\n"
      "modelfile diff --no-data old/ new/           headers only\n"
      "modelfile diff --values model.gguf model-q8_0.gguf\n"
      "modelfile diff --json a.gguf b.gguf\n",
      diff_options, command_diff, NULL },
    { "bench", "", "[MODEL]", 0, 1,
      "how fast this machine is at the library's work",
      "modelfile bench --type q4_k --type q8_0\n"
      "modelfile bench --csv >figures.csv     every type and instruction set\n"
      "modelfile bench model-f16.gguf --quantize Q4_K_M\n"
      "MODELFILE_LLAMA_QUANTIZE=./llama-quantize modelfile bench model.gguf\n",
      bench_options, command_bench, writes_bench },
    { "help", "", "[COMMAND]", 0, 2, "this list, or how to use a command",
      "modelfile help tensors info\n", NULL, command_help, NULL },
    { "version", "", "", 0, 0, "version, formats and tensor types",
      "modelfile version --json\n", NULL, command_version, NULL },
    { 0 },
};

const struct command *command_find(const char *name, const char *sub)
{
    const struct command *first = NULL;

    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0) {
            if (sub && strcmp(command->sub, sub) == 0)
                return command;
            first = first ? first : command;
        }
    return first;
}
