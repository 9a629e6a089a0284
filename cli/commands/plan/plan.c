/* SPDX-License-Identifier: MIT
 *
 * plan.c - modelfile plan: the memory that a model needs, and what fits
 */
#include "cli/commands/plan/plan.h"

#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/report.h"

static struct plan_options options;
static struct plan_request request; /* must not move: see its device_limit */

static const struct option table[] = {
    OPTION_TEXT("--ctx", "N,...", options.contexts,
                "tokens, as 4096, 32k or 1M, or a list (default: the model's "
                "context_length)"),
    OPTION_TEXT("--type-k", "TYPE", options.type_k,
                "type of the cached keys (default f16)"),
    OPTION_TEXT("--type-v", "TYPE", options.type_v,
                "type of the cached values (default f16)"),
    OPTION_COUNT("--parallel", "N", options.sequences,
                 "sequences, which share the context (default 1)"),
    OPTION_COUNT("--ubatch", "N", options.ubatch,
                 "tokens that are computed at once (default 512)"),
    OPTION_CHOICE("--fa", "auto|on|off", MF_FLASH_AUTO, options.flash,
                  "flash attention; auto: on where it can be"),
    OPTION_FLAG("--swa-full", options.full_windows,
                "layers with a sliding window keep the whole context"),
    OPTION_FLAG("--kv-unified", options.unified,
                "one cache that all sequences share"),
    OPTION_TEXT("--offload", "N", options.offload,
                "layers on devices, from the last one back; one more than "
                "there are: the output, too"),
    OPTION_TEXT("--devices", "SIZE,...", options.devices,
                "devices and their memory, as 24G,24G"),
    OPTION_TEXT("--gpu", "SIZE,...", options.gpu,
                "GPUs and their memory, as 24GB or 8,8: the same as --devices, "
                "and what fits, as with --fit"),
    OPTION_TEXT("--vram", "SIZE,...", options.gpu, "the same as --gpu"),
    OPTION_TEXT("--as", "TYPE", options.as,
                "as if the model were quantized so, as to Q4_K_M"),
    OPTION_FLAG("--cpu-moe", options.cpu_experts, "experts stay on the host"),
    OPTION_TEXT("--fit", "SIZE", options.fit,
                "what fits into SIZE: the largest context, and the best "
                "quantizations; exit code 1 if it does not fit as asked"),
    OPTION_TEXT("--margin", "SIZE", options.margin,
                "memory of each device that stays unused (default 1GiB)"),
    OPTION_TEXT("--plot", "FILE.svg", options.plot,
                "draw memory against context"),
    OPTION_FORCE,
    OPTION_CHOICE("--formula", "zigllama", 1, options.formula,
                  "compare with a calculator that is often quoted"),
    OPTION_CHOICE("--kv", "f16|f32", 1, options.formula_kv,
                  "type of the cache in that formula (default f32)"),
    OPTION_ONE_FILE,
    { 0 },
};

static bool compute_all(struct run *run, struct mf_model *model,
                        struct plan_answer *answer)
{
    struct mf_plan_options how = request.options;

    for (size_t i = 0; i < request.context_count; i++) {
        how.context = request.context[i];
        if (!plan_compute(run, model, &how, &answer->plan[i]))
            return false;
        answer->count++;
    }
    return true;
}

static void show(struct run *run, struct mf_model *model)
{
    struct plan_answer answer = { 0 };
    bool picture_only = request.plot && output_is_stdout(request.plot);

    if (request.formula) {
        zigllama_show(run, model, &request);
        return;
    }
    answer.request = &request;
    if (!compute_all(run, model, &answer) ||
        (request.fits && !plan_fit(run, model, &answer)))
        return;
    plan_warn(run, &answer);
    if (run->options->json)
        plan_json(run, &answer);
    else if (!picture_only)
        plan_text(run, model, &answer);
    if (answer.fits && answer.fit.fits == MF_FIT_UNKNOWN)
        report_input(run, run->operand[0], "whether it fits is not known: %s",
                     answer.plan[0].reason);
    else if (request.plot)
        plot_write(run, model, &answer);
}

static void plan(struct run *run)
{
    run->may_be_bare = true;
    if (plan_request_make(run, &options, &request))
        inputs_one(run, false, show);
}

static void writes(struct run *run)
{
    if (options.plot && *options.plot)
        sandbox_allow_file(&run->sandbox, output_path(options.plot));
}

static void more_help(struct run *run)
{
    out_text(&run->out,
             "\nSizes are counted as memory is sold: 24, 24G, 24GB and 24GiB "
             "are all 24 GiB\n(24 x 1024^3 bytes), 512M is 512 MiB. A number "
             "alone is GiB, or bytes from\n1000000 on.\n");
}

const struct command command_plan = {
    .name = "plan",
    .sub = "",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "show what memory a model needs, and what fits",
    .about = "Computes from the header of a model, or from a config.json "
             "alone, how much memory llama.cpp needs for it: weights, "
             "cache for each length of context and type of cache, and "
             "buffers. --fit and --gpu show what fits into a size, --as "
             "what a quantized model would need, --offload and --devices "
             "how layers are placed.\n",
    .examples = "modelfile plan model.gguf --ctx 8k\n"
                "modelfile plan model.gguf --ctx 4k,32k,128k --type-k q8_0 "
                "--type-v q8_0\n"
                "modelfile plan model.gguf --fit 16GB\n"
                "modelfile plan model.gguf --gpu 24GB --ctx 32k\n"
                "modelfile plan model.gguf --as Q4_K_M\n"
                "modelfile plan model.gguf --offload 20 --devices 8G,8G\n"
                "modelfile plan model.gguf --fit 16G --plot memory.svg\n",
    .exit_no = "--fit, --gpu: it does not fit as asked",
    .options = table,
    .remote = true,
    .execute = plan,
    .more_help = more_help,
    .writes = writes,
};
