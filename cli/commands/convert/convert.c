/* SPDX-License-Identifier: MIT
 *
 * convert.c - modelfile convert: write a model in another format
 */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/commands/convert/write.h"
#include "cli/inputs.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/missing.h"
#include "cli/output.h"
#include "cli/remote/remote.h"
#include "cli/report.h"
#include "cli/room.h"
#include "lib/program.h"

static struct {
    const char *to;
    unsigned names; /* enum names */
    unsigned type;  /* index in types */
    unsigned order; /* of --endian */
    uint64_t shard_size, shard_tensors, reserve;
    unsigned version;
    bool lossy, allow_nonfinite;
    const char *lora, *lora_scale, *base;
    const char *outfile, *model_name, *metadata;
    bool empty_first, vocab_only, no_mtp, mtp, fuse_qkv, fuse_gate_up;
    bool fp8_as_q8, mmproj, big_endian, remote, mistral, no_template;
    bool no_effect, supported;
    const char *mix; /* a type that only quantize makes, given to --type */
    struct text_list only, skip, strip;
    bool default_name; /* neither OUT nor --outfile: OUT is a folder */
} options;

static const struct option table[] = {
    OPTION_TO(options.to),
    OPTION_NAMES(options.names),
    OPTION_CHOICE("--type", "f32|f16|bf16|keep|auto|q8_0|tq1_0|tq2_0", 1,
                  options.type,
                  "type of float tensors; f16, bf16: of matrices only; keep: "
                  "also of norms"),
    OPTION_CHOICE("--outtype", "f32|f16|bf16|keep|auto|q8_0|tq1_0|tq2_0", 1,
                  options.type, NULL),
    OPTION_TEXT("--outfile", "FILE", options.outfile,
                "the same as OUT; {ftype} is the type"),
    OPTION_TEXT("--model-name", "NAME", options.model_name,
                "general.name of a folder; default: as the folder says"),
    OPTION_TEXT("--metadata", "FILE", options.metadata,
                "JSON object of general.* keys that go before the folder's"),
    OPTION_FLAG("--vocab-only", options.vocab_only,
                "of a folder, metadata and vocabulary without tensors"),
    OPTION_FLAG("--mtp", options.mtp,
                "of a folder, only the layers that predict more tokens"),
    OPTION_FLAG("--no-mtp", options.no_mtp, "of a folder, without them"),
    OPTION_FLAG("--no-nextn", options.no_mtp, NULL),
    OPTION_FLAG("--fuse-qkv", options.fuse_qkv,
                "of a folder, one tensor for queries, keys and values"),
    OPTION_FLAG("--fuse-gate-up-exps", options.fuse_gate_up,
                "of a folder, one tensor for gate and up of the experts"),
    OPTION_FLAG("--fp8-as-q8", options.fp8_as_q8,
                "of a folder, 8-bit floats become q8_0"),
    OPTION_FLAG("--mmproj", options.mmproj,
                "of a folder, the projector for images or sound"),
    OPTION_ENDIAN(options.order),
    OPTION_FLAG("--bigendian", options.big_endian,
                "of a folder, a file for big-endian machines"),
    OPTION_SIZE("--shard-size", options.shard_size,
                "split into files with at most SIZE of tensors (5G, 500M)"),
    OPTION_SIZE("--split-max-size", options.shard_size, NULL),
    OPTION_COUNT("--shard-tensors", "N", options.shard_tensors,
                 "split into files with at most N tensors"),
    OPTION_COUNT("--split-max-tensors", "N", options.shard_tensors, NULL),
    OPTION_FLAG("--no-tensor-first-split", options.empty_first,
                "the first of these files has only metadata"),
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
    OPTION_LIST("--only", "PATTERN", options.only,
                "only tensors that match; may be repeated, as the next two"),
    OPTION_LIST("--skip", "PATTERN", options.skip, "not those that match"),
    OPTION_LIST("--strip-prefix", "TEXT", options.strip,
                "cut TEXT off names that begin with it"),
    OPTION_LOSSY(options.lossy),
    OPTION_NONFINITE(options.allow_nonfinite),
    OPTION_FLAG("--print-supported-models", options.supported,
                "list the classes of config.json that can be converted; with "
                "--mmproj those with a projector"),
    OPTION_FLAG("--remote", options.remote,
                "IN is a model of the Hub: OWNER/NAME, as hf://OWNER/NAME"),
    OPTION_FLAG("--mistral-format", options.mistral,
                "of a folder, params.json and consolidated*.safetensors"),
    OPTION_FLAG("--disable-mistral-community-chat-template",
                options.no_template,
                "with it, no chat template but the folder's"),
    OPTION_FLAG("--no-lazy", options.no_effect,
                "accepted, without effect, as the next two"),
    OPTION_FLAG("--use-temp-file", options.no_effect, NULL),
    OPTION_FLAG("--verbose", options.no_effect, NULL),
    OPTION_TENSORS_ONLY,
    OPTION_WHOLE,
    OPTION_ALLOW_MISSING,
    OPTION_RESUME,
    OPTION_PART,
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

/* ---- the list of classes ---- */

static void show_supported(struct run *run)
{
    struct mf_str name = { NULL, 0 };

    if (!run->options->json) {
        while (mf_class_after(&name, options.mmproj)) {
            out_bytes(&run->out, name.at, name.size);
            out_text(&run->out, "\n");
        }
        return;
    }
    answer_begin(run);
    mf_json_key(&run->json, "classes");
    mf_json_begin(&run->json, '[');
    while (mf_class_after(&name, options.mmproj))
        mf_json_string(&run->json, name.at, name.size);
    mf_json_end(&run->json, ']');
    answer_end(run);
}

/* ---- operands ---- */

/* The folder of a model that names itself: of a folder of Hugging Face.  NULL
 * for other files, which OUT is required for. */
static const char *own_folder(const char *in, char folder[PATH_MAX])
{
    static const char *const suffixes[] = { ".safetensors", ".json" };
    const char *slash = strrchr(in, '/');
    size_t size = strlen(in);

    if (inputs_is_folder(in))
        return in;
    for (size_t i = 0; i < 2; i++) {
        size_t tail = strlen(suffixes[i]);

        if (size > tail && strcmp(in + size - tail, suffixes[i]) == 0 &&
            size < PATH_MAX) {
            snprintf(folder, PATH_MAX, "%.*s",
                     slash ? (int)(slash - in + 1) : 1, slash ? in : ".");
            return folder;
        }
    }
    return NULL;
}

/* Without OUT, llama.cpp's converter is meant, whose names the tensors then
 * get.  The command's own name is among the arguments, so there is room for one
 * operand more. */
static bool add_out(struct run *run)
{
    static char path[PATH_MAX];
    char folder[PATH_MAX];
    const char *out = options.outfile;

    if (!out && !options.to && !remote_is_url(run->operand[0]) &&
        (options.names == NAMES_DEFAULT || options.names == NAMES_GGUF))
        out = own_folder(run->operand[0], folder);
    if (!out)
        return true; /* it is counted */
    if (strlen(out) >= sizeof(path)) {
        report_usage(run, "the path of --outfile is too long");
        return false;
    }
    options.default_name = !options.outfile;
    run->operand[run->operand_count++] = strcpy(path, out);
    for (size_t i = strlen(path);
         i > 1 && path[i - 1] == '/' && inputs_is_folder(path); i--)
        path[i - 1] = 0;
    if (!options.to && !write_suffix_of(path))
        options.to = "gguf";
    return true;
}

/* Options that only mean something with llama.cpp's names. */
static bool is_converter(void)
{
    return options.mmproj || options.vocab_only || options.mtp ||
           options.no_mtp || options.fuse_qkv || options.fuse_gate_up ||
           options.fp8_as_q8 || options.big_endian || options.model_name ||
           options.metadata || options.mistral;
}

static bool take_mix(const struct option *option, const char *value)
{
    const char *mix = mf_mix_name(value);

    if (option->set.choice != &options.type || !mix ||
        isdigit((unsigned char)*value))
        return false;
    options.mix = mix;
    return true;
}

static void explain_mix(struct run *run)
{
    const char *in = run->operand_count > 0 ? run->operand[0] : "IN";
    const char *out = run->operand_count > 1 ? run->operand[1]
                      : options.outfile      ? options.outfile
                                             : "";

    report_usage(run,
                 "'%s' is a type of quantize: modelfile quantize %.200s "
                 "%.200s%s%s",
                 options.mix, in, out, *out ? " " : "", options.mix);
}

static bool check_operands(struct run *run)
{
    if (options.supported && run->operand_count == 0)
        return true;
    if (options.remote && run->operand_count > 0)
        run->operand[0] = remote_named(run->operand[0]);
    if (options.mix)
        explain_mix(run);
    else if (options.supported)
        report_usage(run, "--print-supported-models takes no IN");
    else if (run->operand_count == 0)
        args_missing(run);
    else if (options.no_template && !options.mistral)
        report_usage(run, "--disable-mistral-community-chat-template requires "
                          "--mistral-format");
    else if (options.mistral && (options.lora || options.base))
        report_usage(run, "--mistral-format excludes --lora and --base");
    else if (options.mtp && options.no_mtp)
        report_usage(run, "--mtp and --no-mtp exclude each other");
    else if (options.mmproj && (options.vocab_only || options.mtp ||
                                options.no_mtp || options.lora || options.base))
        report_usage(run, "--mmproj excludes --vocab-only, --mtp, --no-mtp, "
                          "--lora and --base");
    else if (options.order && options.big_endian)
        report_usage(run, "--endian and --bigendian exclude each other");
    else if (options.outfile && run->operand_count > 1)
        report_usage(run, "OUT and --outfile exclude each other");
    else if (run->operand_count == 1 && !add_out(run))
        return false;
    else if (run->operand_count == 1)
        report_usage(run, "missing argument OUT; only a Hugging Face folder "
                          "that becomes GGUF has a name of its own");
    else {
        if (is_converter() && options.names == NAMES_DEFAULT)
            options.names = NAMES_GGUF;
        return true;
    }
    return false;
}

/* ---- Mistral's own format ---- */

/* Such a folder often has the model in Hugging Face's format, too. */
static enum mf_status take_consolidated(void *user, const char *path,
                                        enum mf_shards shards)
{
    static const char stem[] = "consolidated";
    const char *slash = strrchr(path, '/');
    char *out = user;

    (void)shards;
    if (!*out && strlen(path) < PATH_MAX &&
        strncmp(slash ? slash + 1 : path, stem, strlen(stem)) == 0)
        strcpy(out, path);
    return MF_OK;
}

/* Of a folder, the operand becomes the model in it that has this format. */
static bool find_consolidated(struct run *run)
{
    char *path;

    if (!inputs_is_folder(run->operand[0]))
        return true;
    path = room_take(PATH_MAX);
    if (!path) {
        report_memory(run, run->operand[0]);
        return false;
    }
    if (mf_folder_list(run->env, run->operand[0], take_consolidated, path) !=
        MF_OK)
        report_failure(run, run->operand[0]);
    else if (!*path)
        report_usage(run,
                     "'%.200s' is not in Mistral's own format: it has no "
                     "consolidated*.safetensors",
                     run->operand[0]);
    else
        run->operand[0] = path;
    return *path;
}

/* ---- converting ---- */

static const char *find_name(struct run *run, struct mf_model *model,
                             const struct mf_convert_options *how)
{
    static char path[PATH_MAX];
    const char *out = run->operand[1];

    if (!mf_converts_folder(model, how)) {
        if (mf_env_error(run->env)->status != MF_OK)
            report_failure(run, run->operand[0]);
        else if (options.default_name)
            report_usage(run,
                         "OUT is required: '%.200s' has no config.json "
                         "that says what the model is",
                         run->operand[0]);
        else if (strpbrk(out, "{}"))
            report_usage(run,
                         "'%.200s': braces in --outfile require a Hugging "
                         "Face folder as IN",
                         out);
        else
            return out;
        return NULL;
    }
    if (mf_convert_path(model, out, how, path, sizeof(path)) != MF_OK) {
        report_failure(run, run->operand[0]);
        return NULL;
    }
    return path;
}

/* What a big-endian machine reads wrong: the converter has it so. */
static void remark_big_endian(struct run *run)
{
    const char *type = types[options.type];

    if (options.big_endian &&
        (!type || (strcmp(type, "f32") != 0 && strcmp(type, "f16") != 0)))
        report_remark(run, run->operand[0],
                      "as llama.cpp's converter has it, only f32 and f16 "
                      "become big-endian: --endian big makes a file that a "
                      "big-endian machine reads");
}

/* By --only, --skip and --strip-prefix. */
static void choose_tensors(void)
{
    static struct mf_selection selection;

    selection = (struct mf_selection){ .only = options.only.at,
                                       .only_count = options.only.count,
                                       .skip = options.skip.at,
                                       .skip_count = options.skip.count,
                                       .strip = options.strip.at,
                                       .strip_count = options.strip.count };
    if (options.only.count + options.skip.count + options.strip.count > 0)
        write_select(&selection);
}

static void convert(struct run *run)
{
    double scale;

    if (options.supported) {
        show_supported(run);
        return;
    }
    if (!read_scale(run, &scale))
        return;
    run->adapter = options.lora;
    record_content(options.lora);
    record_content(options.metadata);

    const struct mf_convert_options how = {
        .size = sizeof(struct mf_convert_options),
        .format = options.to,
        .type = types[options.type],
        .lossy = options.lossy,
        .shard_size = options.shard_size,
        .shard_tensors = options.shard_tensors,
        .reserve = options.reserve,
        .version = options.version,
        .names = output_naming(options.names),
        .allow_nonfinite = options.allow_nonfinite,
        .lora = options.lora,
        .lora_scale = scale,
        .base = options.base,
        .empty_first = options.empty_first,
        .model_name = options.model_name,
        .metadata = options.metadata,
        .vocab_only = options.vocab_only,
        .without_mtp = options.no_mtp,
        .only_mtp = options.mtp,
        .fuse_qkv = options.fuse_qkv,
        .fuse_gate_up = options.fuse_gate_up,
        .fp8_as_q8 = options.fp8_as_q8,
        .projector = options.mmproj,
        .big_endian = options.big_endian,
        .byte_order = output_order(options.order),
        .mistral_format = options.mistral,
        .no_community_template = options.no_template,
    };

    if (options.mistral && !find_consolidated(run))
        return;
    choose_tensors();
    remark_big_endian(run);
    if (options.outfile || options.default_name)
        write_model_named(run, &how, find_name);
    else if (options.to || write_suffix_is_known(run))
        write_model(run, &how);
}

/* --print-supported-models writes no file. */
static void allow_out(struct run *run)
{
    if (!options.supported)
        write_allow_out(run);
}

const struct command command_convert = {
    .name = "convert",
    .sub = "",
    .operands = "IN [OUT]",
    .operands_max = 2,
    .summary = "write a model in another format",
    .about = "Writes the model IN to OUT, in the format that the suffix "
             "of OUT or --to names: GGUF, APR or safetensors, or, if OUT "
             "ends in /, a folder as Hugging Face has it. A folder of "
             "Hugging Face becomes the GGUF file that the converter of "
             "llama.cpp makes of it, tokenizer included. --type changes "
             "the type of floats, --shard-size writes several files.\n\n"
             "All is planned and checked before anything is written; OUT "
             "gets its name when it is complete. An existing file is not "
             "overwritten unless --force is given. What OUT cannot carry "
             "without loss is refused unless --lossy is given.\n",
    .examples =
        "modelfile convert Llama-3-8B/ model.gguf\n"
        "modelfile convert model.safetensors model.gguf\n"
        "modelfile convert model.gguf model.apr\n"
        "modelfile convert Llama-3-8B/ --outtype bf16\n"
        "modelfile convert Llama-3-8B/ --outfile model-{ftype}.gguf\n"
        "modelfile convert big.gguf part.safetensors --shard-size 5G\n"
        "modelfile convert model.gguf Llama-3-8B/\n"
        "modelfile convert DeepSeek-V3/ DeepSeek-V3-bf16/ --type bf16\n"
        "modelfile convert state.npz state.safetensors --skip 'labels*'\n"
        "modelfile convert model.gguf - --to safetensors | zstd >model.zst\n",
    .exit_no = "--only, --skip, --strip-prefix: a pattern matches nothing",
    .options = table,
    .remote = true,
    .shared = true,
    .execute = convert,
    .check_operands = check_operands,
    .other_choice = take_mix,
    .tries = write_allow_tried,
    .writes = allow_out,
};
