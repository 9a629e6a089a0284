/* SPDX-License-Identifier: MIT
 *
 * table.c - what modelfile quantize does to each tensor
 *
 * The library calls table_show when every type is decided and nothing is
 * written yet.  A dry run lists all tensors; warnings about an importance
 * matrix come with and without one, before the work that it is for.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/quantize/quantize.h"
#include "cli/describe.h"
#include "cli/json.h"
#include "cli/report.h"

/* ---- a tensor ---- */

/* Why a tensor gets another type than the one intended. */
struct reason_text {
    char at[128];
};

static struct reason_text
fallback_text(const struct mf_quantized_tensor *tensor)
{
    struct reason_text text = { "" };
    struct number_text row = number_text(tensor->row);

    if (tensor->intended)
        snprintf(text.at, sizeof(text.at),
                 "row length %s is not a multiple of %u (%s)", row.at,
                 tensor->intended_block, tensor->intended);
    return text;
}

/* What shapes are printed of. */
static struct mf_tensor shaped(const struct mf_quantized_tensor *tensor)
{
    return (struct mf_tensor){ .rank = tensor->rank, .dim = tensor->dim };
}

/* ---- text ---- */

struct widths {
    size_t name, shape, from, type, bytes;
};

static void widen(size_t *width, size_t to)
{
    *width = to > *width ? to : *width;
}

static void measure(const struct mf_quantize_plan *plan, struct widths *widths)
{
    struct mf_quantized_tensor tensor;

    for (size_t i = 0; mf_quantize_plan_at(plan, i, &tensor); i++) {
        struct mf_tensor shape = shaped(&tensor);

        widen(&widths->name, out_width(tensor.name));
        widen(&widths->shape, strlen(shape_text(&shape).at));
        widen(&widths->from, strlen(tensor.from));
        widen(&widths->type, strlen(tensor.type));
        widen(&widths->bytes, strlen(number_text(tensor.bytes).at));
    }
}

/* On a narrow terminal names are shortened, to 8 columns if need be. */
static void narrow(struct widths *widths, size_t columns)
{
    size_t rest = widths->shape + widths->from + widths->type + widths->bytes +
                  4 * strlen("  ");

    if (columns >= rest + 8 && widths->name > columns - rest)
        widths->name = columns - rest;
}

static void head_cell(struct out *out, const char *text, size_t width)
{
    out_bold(out, text);
    out_spaces(out, width - strlen(text) + 2);
}

static void head_text(struct out *out, const struct widths *widths)
{
    head_cell(out, "name", widths->name);
    head_cell(out, "shape", widths->shape);
    head_cell(out, "type", widths->from);
    head_cell(out, "new type", widths->type);
    out_spaces(out, widths->bytes - strlen("bytes"));
    out_bold(out, "bytes");
    out_text(out, "\n");
}

static void tensor_text(struct out *out, const struct widths *widths,
                        const struct mf_quantized_tensor *tensor)
{
    struct mf_tensor shape = shaped(tensor);

    out_column(out, tensor->name, widths->name, out->columns > 0);
    out_text(out, "  ");
    out_column(out, str_of(shape_text(&shape).at), widths->shape, false);
    out_text(out, "  ");
    out_column(out, str_of(tensor->from), widths->from, false);
    out_text(out, "  ");
    out_column(out, str_of(tensor->type), widths->type, false);
    out_text(out, "  ");
    out_number(out, tensor->bytes, widths->bytes);
    if (tensor->intended) {
        out_text(out, "  ");
        out_text(out, fallback_text(tensor).at);
    }
    if (tensor->needs_weights)
        out_text(out, "  requires an importance matrix");
    out_text(out, "\n");
}

static void list_text(struct run *run, const struct mf_quantize_plan *plan)
{
    struct widths widths = { strlen("name"), strlen("shape"), strlen("type"),
                             strlen("new type"), strlen("bytes") };
    struct mf_quantized_tensor tensor;

    measure(plan, &widths);
    narrow(&widths, run->out.columns);
    head_text(&run->out, &widths);
    for (size_t i = 0; mf_quantize_plan_at(plan, i, &tensor); i++)
        tensor_text(&run->out, &widths, &tensor);
    out_text(&run->out, "\n");
}

/* ---- JSON ---- */

static void tensor_json(struct run *run,
                        const struct mf_quantized_tensor *tensor)
{
    struct mf_tensor shape = shaped(tensor);

    mf_json_begin(&run->json, '{');
    json_str(run, "name", tensor->name);
    shape_json(run, &shape);
    json_text(run, "from", tensor->from);
    json_text(run, "type", tensor->type);
    json_number(run, "bytes", tensor->bytes);
    mf_json_key(&run->json, "fallback");
    if (tensor->intended)
        mf_json_string(&run->json, fallback_text(tensor).at,
                       strlen(fallback_text(tensor).at));
    else
        mf_json_null(&run->json);
    mf_json_end(&run->json, '}');
}

static void list_json(struct run *run, const struct mf_quantize_plan *plan)
{
    struct mf_quantized_tensor tensor;

    mf_json_key(&run->json, "tensors");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_quantize_plan_at(plan, i, &tensor); i++)
        tensor_json(run, &tensor);
    mf_json_end(&run->json, ']');
}

/* ---- warnings ---- */

#define NAMED 3

/* The names of some tensors: "a, b, c and 4 more". */
struct names_text {
    char at[400];
    size_t count;
};

static void add_name(struct names_text *names, struct mf_str name)
{
    size_t size = strlen(names->at);

    if (names->count++ < NAMED)
        snprintf(names->at + size, sizeof(names->at) - size, "%s%.100s",
                 size > 0 ? ", " : "", name.at);
}

static void add_rest(struct names_text *names)
{
    size_t size = strlen(names->at);

    if (names->count > NAMED)
        snprintf(names->at + size, sizeof(names->at) - size, " and %zu more",
                 names->count - NAMED);
}

static void warn_of_unweighted(struct run *run, size_t changed,
                               struct names_text *without)
{
    char text[480];

    add_rest(without);
    snprintf(text, sizeof(text),
             "warning: weighted %zu of %zu tensors: the importance matrix has "
             "no values for %s",
             changed - without->count, changed, without->at);
    report_remark(run, run->operand[0], text);
}

static void warn_of_need(struct run *run, struct names_text *need)
{
    char text[600];

    add_rest(need);
    snprintf(text, sizeof(text),
             "warning: this quantization requires %s: without it %s would be "
             "useless",
             run->imatrix ? "an importance matrix with values for more tensors"
                          : "an importance matrix (--imatrix)",
             need->at);
    report_remark(run, run->operand[0], text);
}

static void warn(struct run *run, const struct mf_quantize_plan *plan)
{
    struct names_text without = { "", 0 }, need = { "", 0 };
    struct mf_quantized_tensor tensor;
    size_t changed = 0;

    for (size_t i = 0; mf_quantize_plan_at(plan, i, &tensor); i++) {
        changed += tensor.changed;
        if (tensor.changed && !tensor.weighted)
            add_name(&without, tensor.name);
        if (tensor.needs_weights)
            add_name(&need, tensor.name);
    }
    if (run->imatrix && without.count > 0)
        warn_of_unweighted(run, changed, &without);
    if (need.count > 0)
        warn_of_need(run, &need);
}

void table_show(void *user, const struct mf_quantize_plan *plan)
{
    struct run *run = user;

    if (run->options->dry_run && run->options->json)
        list_json(run, plan);
    else if (run->options->dry_run)
        list_text(run, plan);
    warn(run, plan);
}
