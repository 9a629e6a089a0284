/* SPDX-License-Identifier: MIT
 *
 * zigllama.c - the calculator of the ZigLlama manual, next to what plan says
 *
 * The manual counts every head for keys and values, takes the square of the
 * embedding length for the parameters, and adds 0.2 GB.  docs/plan.md says
 * where its own figures do not follow from its formulas.  Its GB are 10^9.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/plan/plan.h"
#include "cli/json.h"
#include "cli/report.h"

#define OVERHEAD 0.2e9

/* The numbers of the manual, by its letters. */
struct formula {
    double layers;  /* L */
    double length;  /* d, of the embedding */
    double heads;   /* H */
    double head;    /* d_h, the length of a head */
    double context; /* n */
    double bits;    /* b, of a weight */
    unsigned size;  /* of a number in the cache: 4 or 2 bytes */
};

static double parameters(const struct formula *f)
{
    return 12 * f->layers * f->length * f->length;
}

static double weights(const struct formula *f)
{
    return parameters(f) * f->bits / 8;
}

static double scores(const struct formula *f)
{
    return 4 * f->heads * f->context * f->context;
}

static double projections(const struct formula *f)
{
    return 12 * f->context * f->length;
}

static double feed_forward(const struct formula *f)
{
    return 32.0 / 3 * f->context * f->length;
}

static double activations(const struct formula *f)
{
    return scores(f) + projections(f) + feed_forward(f);
}

static double cache(const struct formula *f)
{
    return 2 * f->layers * f->context * f->head * f->heads * f->size;
}

static double total(const struct formula *f)
{
    return weights(f) + cache(f) + OVERHEAD;
}

/* ---- numbers of the model ---- */

/* The manual has one number for all blocks: false for an array, too. */
static bool read_fact(const struct mf_model *model,
                      const struct mf_model *outline, enum mf_fact fact,
                      double *out)
{
    struct mf_meta meta;

    if (!mf_model_fact(model, fact, &meta, NULL) &&
        !(outline && mf_model_fact(outline, fact, &meta, NULL)))
        return false;
    *out = (double)meta.number.u64;
    return meta.type != MF_VALUE_ARRAY && meta.number.u64 > 0;
}

static bool read_facts(struct run *run, const struct mf_model *model,
                       const struct mf_model *outline, struct formula *out)
{
    const struct {
        enum mf_fact fact;
        double *to;
    } needed[] = { { MF_FACT_BLOCK_COUNT, &out->layers },
                   { MF_FACT_EMBEDDING_LENGTH, &out->length },
                   { MF_FACT_HEAD_COUNT, &out->heads },
                   { MF_FACT_CONTEXT_LENGTH, &out->context } };
    const struct mf_model_info *info = mf_model_info(model);

    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (!read_fact(model, outline, needed[i].fact, needed[i].to)) {
            report_input(run, run->operand[0],
                         "the formula requires %s, one number for all layers",
                         mf_fact_name(needed[i].fact));
            return false;
        }
    if (!read_fact(model, outline, MF_FACT_KEY_LENGTH, &out->head))
        out->head = out->length / out->heads;
    out->bits = info->parameters > 0
                    ? 8 * (double)info->data_size / (double)info->parameters
                    : 0;
    return true;
}

/* ---- text ---- */

struct cell {
    char at[32];
};

static struct cell gb_text(double bytes)
{
    struct cell cell;

    snprintf(cell.at, sizeof(cell.at), bytes < 1e15 ? "%.2f GB" : "%.3g GB",
             bytes / 1e9);
    return cell;
}

static struct cell plan_text_of(uint64_t bytes)
{
    struct cell cell = { "not known" };

    return amount_known(bytes) ? gb_text((double)bytes) : cell;
}

static void row(struct out *out, const char *label, const char *formula,
                struct cell gives, struct cell plan)
{
    out_format(out, "%-14s %-30s %14s", label, formula, gives.at);
    if (*plan.at)
        out_format(out, " %14s", plan.at);
    out_text(out, "\n");
}

/* Working memory, the manual's overhead. */
static uint64_t rest_of(const struct mf_plan *plan)
{
    uint64_t compute = plan->line[MF_PLAN_COMPUTE],
             output = plan->line[MF_PLAN_OUTPUT];

    return amount_known(compute) && amount_known(output) ? compute + output
                                                         : MF_PLAN_UNKNOWN;
}

static void rows(struct run *run, const struct formula *f,
                 const struct mf_plan *plan, uint64_t count)
{
    struct out *out = &run->out;
    const struct cell none = { "" };
    struct cell by_formula, exact;
    bool wide = f->size == 4;

    snprintf(by_formula.at, sizeof(by_formula.at),
             parameters(f) < 1e15 ? "%.2f B" : "%.3g B", parameters(f) / 1e9);
    snprintf(exact.at, sizeof(exact.at), "%.2f B", (double)count / 1e9);
    row(out, "", "formula", (struct cell){ "gives" }, (struct cell){ "plan" });
    row(out, "parameters", "P = 12 L d^2", by_formula, exact);
    row(out, "weights", "P b / 8", gb_text(weights(f)),
        plan_text_of(plan->line[MF_PLAN_WEIGHTS]));
    row(out, wide ? "kv cache, f32" : "kv cache, f16",
        wide ? "2 L n d_h H 4" : "2 L n d_h H 2", gb_text(cache(f)),
        plan_text_of(plan->line[MF_PLAN_KV]));
    row(out, "overhead", "", gb_text(OVERHEAD), plan_text_of(rest_of(plan)));
    row(out, "total", "", gb_text(total(f)), plan_text_of(plan->total));
    row(out, "one layer", "4 H n^2 + 12 n d + 32/3 n d",
        gb_text(activations(f)), none);
    row(out, "  scores", "4 H n^2", gb_text(scores(f)), none);
    row(out, "  q, k, v", "12 n d", gb_text(projections(f)), none);
    row(out, "  ffn", "32/3 n d", gb_text(feed_forward(f)), none);
    row(out, "peak", "total + one layer", gb_text(total(f) + activations(f)),
        none);
}

static void show_text(struct run *run, const struct formula *f,
                      const struct mf_plan *plan, uint64_t count)
{
    struct out *out = &run->out;

    out_format(out,
               "L = %.15g, d = %.15g, H = %.15g, d_h = %.15g, n = %.15g, "
               "b = %.4g\n",
               f->layers, f->length, f->heads, f->head, f->context, f->bits);
    rows(run, f, plan, count);
}

/* ---- JSON ---- */

static void show_json(struct run *run, const struct formula *f,
                      const struct mf_plan *plan)
{
    const struct {
        const char *key;
        uint64_t bytes;
    } planned[] = { { "plan_weights_bytes", plan->line[MF_PLAN_WEIGHTS] },
                    { "plan_kv_bytes", plan->line[MF_PLAN_KV] },
                    { "plan_total_bytes", plan->total } };

    mf_json_begin(&run->json, '{');
    json_double(run, "ctx", f->context);
    json_double(run, "parameters", parameters(f));
    json_double(run, "weights_bytes", weights(f));
    json_double(run, "kv_bytes", cache(f));
    json_double(run, "overhead_bytes", OVERHEAD);
    json_double(run, "total_bytes", total(f));
    json_double(run, "scores_bytes", scores(f));
    json_double(run, "qkv_bytes", projections(f));
    json_double(run, "ffn_bytes", feed_forward(f));
    json_double(run, "layer_bytes", activations(f));
    json_double(run, "peak_bytes", total(f) + activations(f));
    for (size_t i = 0; i < sizeof(planned) / sizeof(*planned); i++)
        amount_json(run, planned[i].key, planned[i].bytes);
    mf_json_end(&run->json, '}');
}

static void begin(struct run *run, const struct formula *f)
{
    if (!run->options->json) {
        out_escaped(&run->out, str_of(run->operand[0]), "");
        out_text(&run->out, ": the calculator of the ZigLlama manual\n");
        return;
    }
    json_text(run, "formula", "zigllama");
    json_text(run, "kv_type", f->size == 4 ? "f32" : "f16");
    json_double(run, "layers", f->layers);
    json_double(run, "embedding_length", f->length);
    json_double(run, "head_count", f->heads);
    json_double(run, "head_length", f->head);
    json_double(run, "bits_per_weight", f->bits);
    mf_json_key(&run->json, "contexts");
    mf_json_begin(&run->json, '[');
}

void zigllama_show(struct run *run, struct mf_model *model,
                   const struct plan_request *request)
{
    struct mf_plan_options options = request->options;
    /* The formula is of f32. */
    struct formula f = { .size = request->formula_kv == 1 ? 2 : 4 };
    struct mf_model *outline = NULL;
    struct mf_plan plan;
    bool found;

    mf_model_outline(model, MF_OUTLINE_FACTS, &outline);
    found = read_facts(run, model, outline, &f);
    mf_model_close(outline);
    if (!found)
        return;
    begin(run, &f);
    for (size_t i = 0; i < request->context_count; i++) {
        options.context = request->context[i];
        if (!plan_compute(run, model, &options, &plan))
            break;
        if (options.context > 0)
            f.context = (double)options.context;
        if (run->options->json) {
            show_json(run, &f, &plan);
        } else {
            out_text(&run->out, i > 0 ? "\n" : "");
            show_text(run, &f, &plan, mf_model_info(model)->parameters);
        }
    }
    if (run->options->json)
        mf_json_end(&run->json, ']');
}
