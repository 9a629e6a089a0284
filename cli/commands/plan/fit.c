/* SPDX-License-Identifier: MIT
 *
 * fit.c - what fits into memory of a given size: text and JSON
 */
#include "cli/commands/plan/plan.h"
#include "cli/json.h"
#include "cli/report.h"

/* ---- text ---- */

static const char *word(enum mf_fit_answer answer)
{
    return answer == MF_FIT_YES  ? "yes"
           : answer == MF_FIT_NO ? "no"
                                 : "not known";
}

#define MIXES_SHOWN 10

static size_t count_mixes(const struct mf_fit *fit, enum mf_fit_answer answer)
{
    size_t count = 0;

    for (size_t i = 0; i < fit->mix_count; i++)
        count +=
            amount_known(fit->mix[i].file_size) && fit->mix[i].fits == answer;
    return count;
}

/* Those that the answer is about, most bits first. */
static void mixes_of(struct out *out, const struct mf_fit *fit,
                     enum mf_fit_answer answer)
{
    size_t shown = 0;

    for (size_t i = 0; i < fit->mix_count && shown < MIXES_SHOWN; i++) {
        const struct mf_fit_mix *mix = &fit->mix[i];

        if (!amount_known(mix->file_size) || mix->fits != answer)
            continue;
        out_format(out, "%-12s %10.4f %20s %12s%s\n", mix->name,
                   mix->bits_per_weight, number_text(mix->file_size).at,
                   amount_mib(mix->file_size).at,
                   mix->needs_imatrix ? "  with an imatrix" : "");
        shown++;
    }
}

static void smallest_text(struct out *out, const struct mf_fit *fit)
{
    size_t last = fit->mix_count;

    while (last > 0 && !amount_known(fit->mix[last - 1].file_size))
        last--;
    if (last > 0)
        out_format(out,
                   "\nno quantization fits; the smallest file, %s, has %s "
                   "MiB\n",
                   fit->mix[last - 1].name,
                   amount_mib(fit->mix[last - 1].file_size).at);
    else
        out_text(out, "\nquantizations: unknown; plan --as Q4_K_M says why\n");
}

static void mixes_text(struct out *out, const struct mf_fit *fit)
{
    enum mf_fit_answer answer =
        fit->fits == MF_FIT_UNKNOWN ? MF_FIT_UNKNOWN : MF_FIT_YES;
    size_t count = count_mixes(fit, answer);

    if (count == 0) {
        smallest_text(out, fit);
        return;
    }
    out_format(out, "\n%-12s       bits                bytes          MiB\n",
               answer == MF_FIT_YES ? "best that fit" : "best");
    mixes_of(out, fit, answer);
    if (count > MIXES_SHOWN)
        out_format(out, "and %zu with fewer bits (all: --json)\n",
                   count - MIXES_SHOWN);
}

#define CONTEXT_MOST 4294967040 /* the last multiple of 256 that is a u32 */

/* The longest context as text; 0 is "none".  An unknown one is "impossible" if
 * the plan is known: then the type of the cache does not suit the model. */
static struct amount_text context_text(const struct mf_fit *fit,
                                       uint64_t context)
{
    struct amount_text none = { "none" }, refused = { "impossible" },
                       any = { "any" };

    if (context == 0)
        return none;
    if (context == CONTEXT_MOST)
        return any;
    return context == MF_PLAN_UNKNOWN && fit->fits != MF_FIT_UNKNOWN
               ? refused
               : amount_count(context);
}

/* devices: with limits of their own. */
static void offload_text(struct out *out, const struct mf_fit *fit,
                         bool devices)
{
    if (fit->offload_count == 0)
        return;
    out_text(out, "\nlayers on devices     host MiB   devices MiB  "
                  "largest context  fits\n");
    for (size_t i = 0; i < fit->offload_count; i++) {
        const struct mf_fit_offload *each = &fit->offload[i];

        out_format(out, "%17s %12s %13s %16s  %s\n",
                   number_text(each->blocks).at, amount_mib(each->host).at,
                   amount_mib(each->devices).at,
                   context_text(fit, each->context).at, word(each->fits));
    }
    if (!devices)
        out_text(out, "(the limit applies to one device; the host has none)\n");
}

static void longest_text(struct out *out, const struct mf_fit *fit)
{
    const struct mf_fit_context *longest = &fit->longest;

    if (longest->context == 0)
        out_text(out, "\nno context fits");
    else
        out_format(out, "\nlargest context %s",
                   context_text(fit, longest->context).at);
    if (longest->type)
        out_format(out, " (cache of %s)", longest->type);
    out_text(out, longest->exceeds_model ? ", above the model's own\n" : "\n");
}

/* devices: their limits are in the table. */
static void verdict_text(struct out *out, const struct mf_fit *fit,
                         bool devices)
{
    uint64_t left = fit->limit > fit->margin ? fit->limit - fit->margin : 0;

    out_bold(out, "fits as asked: ");
    out_bold(out, word(fit->fits));
    if (amount_known(fit->needed))
        out_format(out, "; %s MiB needed", amount_mib(fit->needed).at);
    if (fit->limit > 0 && !devices)
        out_format(out, ", %s available%s", amount_mib(left).at,
                   fit->margin > 0 ? " (limit less margin)" : "");
    out_text(out, "\n");
}

void fit_text(struct run *run, const struct plan_answer *answer)
{
    const struct mf_fit *fit = &answer->fit;
    struct out *out = &run->out;
    bool devices = answer->request->options.device_count > 0;

    mixes_text(out, fit);
    if (devices || answer->request->options.offloaded)
        offload_text(out, fit, devices);
    longest_text(out, fit);
    verdict_text(out, fit, devices);
}

/* ---- JSON ---- */

static void answer_json(struct run *run, const char *key,
                        enum mf_fit_answer answer)
{
    mf_json_key(&run->json, key);
    if (answer == MF_FIT_UNKNOWN)
        mf_json_null(&run->json);
    else
        mf_json_bool(&run->json, answer == MF_FIT_YES);
}

static void mixes_json(struct run *run, const struct mf_fit *fit)
{
    mf_json_key(&run->json, "mixes");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < fit->mix_count; i++) {
        const struct mf_fit_mix *mix = &fit->mix[i];

        mf_json_begin(&run->json, '{');
        json_text(run, "name", mix->name);
        amount_json(run, "bytes", mix->file_size);
        mf_json_key(&run->json, "bits_per_weight");
        if (mix->bits_per_weight > 0)
            mf_json_f64(&run->json, mix->bits_per_weight);
        else
            mf_json_null(&run->json);
        answer_json(run, "fits", mix->fits);
        json_bool(run, "needs_imatrix", mix->needs_imatrix);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void contexts_json(struct run *run, const struct mf_fit *fit)
{
    mf_json_key(&run->json, "ctx");
    mf_json_begin(&run->json, '{');
    for (size_t i = 0; i < MF_FIT_TYPES; i++)
        amount_json(run, fit->context[i].type, fit->context[i].context);
    mf_json_end(&run->json, '}');
    mf_json_key(&run->json, "exceeds_model");
    mf_json_begin(&run->json, '{');
    for (size_t i = 0; i < MF_FIT_TYPES; i++)
        json_bool(run, fit->context[i].type, fit->context[i].exceeds_model);
    mf_json_end(&run->json, '}');
}

static void offload_json(struct run *run, const struct mf_fit *fit)
{
    mf_json_key(&run->json, "offload");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; i < fit->offload_count; i++) {
        const struct mf_fit_offload *each = &fit->offload[i];

        mf_json_begin(&run->json, '{');
        json_number(run, "layers", each->blocks);
        answer_json(run, "fits", each->fits);
        amount_json(run, "host_bytes", each->host);
        amount_json(run, "devices_bytes", each->devices);
        amount_json(run, "ctx", each->context);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

void fit_json(struct run *run, const struct mf_fit *fit)
{
    mf_json_key(&run->json, "fit");
    if (!fit) {
        mf_json_null(&run->json);
        return;
    }
    mf_json_begin(&run->json, '{');
    amount_json(run, "limit_bytes", fit->limit);
    amount_json(run, "margin_bytes", fit->margin);
    answer_json(run, "fits", fit->fits);
    amount_json(run, "needed_bytes", fit->needed);
    amount_json(run, "largest_ctx", fit->longest.context);
    contexts_json(run, fit);
    mixes_json(run, fit);
    offload_json(run, fit);
    mf_json_end(&run->json, '}');
}
