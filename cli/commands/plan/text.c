/* SPDX-License-Identifier: MIT
 *
 * text.c - plans as text: a block for each context, tables, the verdict
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/plan/plan.h"

/* ---- the block of one context ---- */

/* A line: bytes, MiB and share of the total; note: what follows, or "". */
static void line_text(struct out *out, const char *label, uint64_t bytes,
                      uint64_t total, const char *note)
{
    bool shares = amount_known(bytes) && amount_known(total) && total > 0;
    int width = (int)strlen(label);

    out_format(out, "%-10s %*s", label, width > 10 ? 28 - width : 18,
               amount_bytes(bytes).at);
    if (amount_known(bytes) || *note)
        out_format(out, " %12s",
                   amount_known(bytes) ? amount_mib(bytes).at : "");
    if (shares)
        out_format(out, " %6.1f %%", 100 * (double)bytes / (double)total);
    else if (*note)
        out_spaces(out, 9);
    out_format(out, "%s%s\n", *note ? "  " : "", note);
}

static const char *note_of(const struct mf_plan *plan, enum mf_plan_line line)
{
    return plan->estimated >> line & 1 && amount_known(plan->line[line])
               ? "estimated"
               : "";
}

/* "  keys" of the ordinary cache, "  window K" of one with a name. */
static void cache_line(struct out *out, const struct mf_plan *plan, size_t i,
                       bool values, const char *note)
{
    const struct mf_plan_cache *cache = &plan->cache[i];
    char label[20];

    if (strcmp(cache->name, "full") == 0)
        snprintf(label, sizeof(label), "  %s", values ? "values" : "keys");
    else
        snprintf(label, sizeof(label), "  %.12s %c", cache->name,
                 values ? 'V' : 'K');
    line_text(out, label, values ? cache->v_bytes : cache->k_bytes, plan->total,
              note);
}

static void cache_lines(struct out *out, const struct mf_plan *plan)
{
    char note[80];

    for (size_t i = 0; i < plan->cache_count; i++) {
        const struct mf_plan_cache *cache = &plan->cache[i];

        snprintf(note, sizeof(note), "%s cells x %s layer%s",
                 amount_count(cache->cells).at, amount_count(cache->layers).at,
                 cache->layers == 1 ? "" : "s");
        cache_line(out, plan, i, false, note);
        cache_line(out, plan, i, true, "");
    }
}

static void state_lines(struct out *out, const struct mf_plan *plan)
{
    const enum mf_plan_line line = MF_PLAN_STATE;

    if (plan->line[line] == 0)
        return;
    line_text(out, "state", plan->line[line], plan->total, note_of(plan, line));
    if (!amount_known(plan->line[line]))
        return;
    line_text(out, "  R", plan->state_conv, plan->total, "convolution, shift");
    line_text(out, "  S", plan->state_ssm, plan->total, "recurrence");
}

static void total_lines(struct out *out, const struct mf_plan *plan)
{
    uint64_t own = amount_known(plan->total) && amount_known(plan->mapped)
                       ? plan->total - plan->mapped
                       : plan->total;

    line_text(out, "total", plan->total, plan->total, "");
    if (plan->mapped == 0)
        return;
    line_text(out, "  mapped", plan->mapped, plan->total, "pages of the file");
    line_text(out, "  own", own, plan->total, "the process's memory");
}

static void plan_lines(struct run *run, const struct mf_plan *plan)
{
    struct out *out = &run->out;
    static const struct {
        enum mf_plan_line line;
        const char *label;
    } rest[] = { { MF_PLAN_COMPUTE, "compute" }, { MF_PLAN_OUTPUT, "output" } };

    out_format(out, "%-10s %18s %11s %8s\n", "", "bytes", "MiB", "share");
    line_text(out, "weights", plan->line[MF_PLAN_WEIGHTS], plan->total,
              note_of(plan, MF_PLAN_WEIGHTS));
    line_text(out, "kv cache", plan->line[MF_PLAN_KV], plan->total,
              note_of(plan, MF_PLAN_KV));
    cache_lines(out, plan);
    state_lines(out, plan);
    for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
        line_text(out, rest[i].label, plan->line[rest[i].line], plan->total,
                  note_of(plan, rest[i].line));
    total_lines(out, plan);
}

/* ---- what it was computed with ---- */

static void context_line(struct run *run, const struct mf_plan *plan)
{
    struct out *out = &run->out;
    bool known = amount_known(plan->model_context);

    out_bold(out, "context ");
    out_bold(out, amount_count(plan->context).at);
    if (plan->context != plan->asked)
        out_format(out, " (rounded up from %s%s", amount_count(plan->asked).at,
                   known ? "; " : ")");
    else if (known)
        out_text(out, " (");
    if (known && plan->asked == plan->model_context)
        out_text(out, "the model's)");
    else if (known)
        out_format(out, "the model's: %s)",
                   amount_count(plan->model_context).at);
    out_text(out, "\n");
}

/* The same for every context. */
static void settings_lines(struct run *run, const struct plan_answer *answer)
{
    const struct mf_plan *plan = &answer->plan[0];
    const struct mf_plan_options *options = &answer->request->options;
    struct out *out = &run->out;

    out_format(out, "%s sequence%s", amount_count(plan->sequences).at,
               plan->sequences == 1 ? "" : "s");
    out_text(out, options->unified ? " with one cache" : "");
    if (amount_known(plan->ubatch))
        out_format(out, ", ubatch %s", amount_count(plan->ubatch).at);
    out_format(out, ", keys %s, values %s\n", plan->type_k, plan->type_v);
    out_format(out, "flash attention %s%s, window caches %s\n",
               plan->flash ? "on" : "off",
               options->flash == MF_FLASH_AUTO ? " (auto)" : "",
               options->full_windows ? "full" : "not full");
}

/* ---- devices ---- */

/* A block for each, without lines of 0; shares are of everything. */
static void device_blocks(struct out *out, const struct mf_plan *plan)
{
    for (size_t i = 0; i < plan->device_count; i++) {
        const struct mf_plan_device *device = &plan->device[i];
        const struct {
            const char *label;
            uint64_t bytes;
        } lines[] = { { "  weights", device->weights },
                      { "  kv cache", device->kv },
                      { "  state", device->state },
                      { "  compute", device->compute },
                      { "  output", device->output } };

        line_text(out, device->name, device->total, plan->total, "");
        for (size_t j = 0; j < sizeof(lines) / sizeof(*lines); j++)
            if (lines[j].bytes > 0)
                line_text(out, lines[j].label, lines[j].bytes, plan->total, "");
    }
}

/* Whether it fits below the limit, less the margin of --fit. */
static void limit_line(struct out *out, const struct mf_plan_device *device,
                       uint64_t limit, uint64_t margin)
{
    uint64_t total = device->total, room = limit > margin ? limit - margin : 0;

    out_format(out, "%s: ", device->name);
    if (!amount_known(total)) {
        out_text(out, "not known whether it fits\n");
        return;
    }
    out_bold(out, total <= room ? "fits" : "does not fit");
    out_format(out, ", %s of %s MiB, %s %s\n", amount_mib(total).at,
               amount_mib(room).at,
               amount_mib(total <= room ? room - total : total - room).at,
               total <= room ? "left" : "too much");
}

static void device_lines(struct run *run, const struct plan_answer *answer,
                         const struct mf_plan *plan)
{
    uint64_t margin = answer->request->fits ? answer->request->margin : 0;

    if (plan->device_count < 2)
        return;
    out_text(&run->out, "\n");
    device_blocks(&run->out, plan);
    for (size_t i = 0; i < plan->device_count; i++) {
        uint64_t limit = plan_limit(answer->request, plan, i);

        if (limit > 0)
            limit_line(&run->out, &plan->device[i], limit, margin);
    }
}

/* ---- several contexts ---- */

static void contexts_table(struct run *run, const struct plan_answer *answer)
{
    struct out *out = &run->out;

    if (answer->count < 2)
        return;
    out_format(out, "\n%10s %11s %11s %9s %10s %7s %11s%s\n", "context",
               "weights", "kv", "state", "compute", "output", "total",
               answer->fits ? "  fits" : "");
    for (size_t i = 0; i < answer->count; i++) {
        const struct mf_plan *plan = &answer->plan[i];

        out_format(out, "%10s %11s %11s %9s %10s %7s %11s",
                   amount_count(plan->context).at,
                   amount_mib(plan->line[MF_PLAN_WEIGHTS]).at,
                   amount_mib(plan->line[MF_PLAN_KV]).at,
                   amount_mib(plan->line[MF_PLAN_STATE]).at,
                   amount_mib(plan->line[MF_PLAN_COMPUTE]).at,
                   amount_mib(plan->line[MF_PLAN_OUTPUT]).at,
                   amount_mib(plan->total).at);
        if (answer->fits)
            out_text(out, plan_fits(answer->request, plan) ? "  yes" : "  no");
        out_text(out, "\n");
    }
}

/* ---- all of it ---- */

/* What a reader must know about the numbers above. */
static void notes(struct run *run, const struct mf_plan *plan)
{
    struct out *out = &run->out;

    if (plan->full_attention)
        out_wrapped(out,
                    "note: how this architecture uses its layers is not known: "
                    "full attention is counted in each",
                    6);
    if (*plan->reason) {
        out_text(out, "not known: ");
        out_escaped(out, str_of(plan->reason), "");
        out_text(out, "\n");
    }
}

void plan_text(struct run *run, struct mf_model *model,
               const struct plan_answer *answer)
{
    struct out *out = &run->out;

    (void)model;
    out_escaped(out, str_of(run->operand[0]), "");
    if (answer->request->options.as)
        out_format(out, ", quantized as %s", answer->request->options.as);
    out_text(out, "\n");
    settings_lines(run, answer);
    for (size_t i = 0; i < answer->count; i++) {
        const struct mf_plan *plan = &answer->plan[i];

        out_text(out, "\n");
        context_line(run, plan);
        plan_lines(run, plan);
        notes(run, plan);
        device_lines(run, answer, plan);
    }
    contexts_table(run, answer);
    if (answer->fits)
        fit_text(run, answer);
}
