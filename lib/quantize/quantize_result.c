/* SPDX-License-Identifier: MIT
 *
 * quantize_result.c - what a program learns of a model that is quantized: the
 * plan, and the result
 */
#include <stdio.h>

#include "lib/quantize/quantizing.h"

/* ---- the result ---- */

static void add_file(const struct mf_draft *draft,
                     struct mf_quantize_result *out)
{
    out->file_size += draft->file_size;
    for (size_t t = 0; t < draft->tensor_count; t++) {
        const struct mf_draft_tensor *tensor = &draft->tensor[t];
        struct mf_quantized *sum = &out->type[tensor->type];
        uint64_t elements = 0;

        mf_elements(tensor->dim, tensor->rank, &elements);
        sum->tensors++;
        sum->parameters += elements;
        sum->bytes += tensor->size;
    }
}

static void name_types(const struct mf_output *output,
                       struct mf_quantize_result *out)
{
    for (size_t i = 0; i <= MF_TYPE_COUNT; i++) {
        out->type[i].name = i < MF_TYPE_COUNT ? mf_types[i].name : "unknown";
        if (output->deviation && i < MF_TYPE_COUNT)
            mf_deviation_sum(&output->deviation[i], &out->type[i]);
    }
}

_Static_assert(MF_TYPE_COUNT < MF_QUANTIZED_MAX,
               "mf_quantize_result has a row for each type and one more");

void mf_quantizing_result(const struct mf_quantizing *work, size_t first,
                          size_t count, const struct mf_mix_result *mix,
                          struct mf_quantize_result *out)
{
    const struct mf_output *output = &work->outputs.output[first];

    *out = (struct mf_quantize_result){
        .format = output->draft.format->name,
        .file_count = count,
        .changed = mix->changed,
        .fallbacks = mix->fallbacks,
        .effort = mix->effort,
        .weighted = mix->weighted,
        .unweighted = mix->unweighted,
        .left_out = work->outputs.left_out,
    };
    for (size_t i = 0; i < count; i++)
        add_file(&output[i].draft, out);
    name_types(output, out);
}

/* ---- the plan ---- */

struct mf_quantize_plan {
    const struct mf_model *model;
    const struct mf_output *output; /* its files */
    size_t count;
};

/* A type that the library does not know has the name that the model gives it.
 */
static void name_type(const struct mf_quantize_plan *plan,
                      const struct mf_draft_tensor *tensor, uint32_t type,
                      char (*out)[24])
{
    struct mf_tensor source;
    const char *name = "unknown";

    if (type < MF_TYPE_COUNT)
        name = mf_types[type].name;
    else if (mf_tensor_at(plan->model, tensor->record, &source))
        name = source.type;
    snprintf(*out, sizeof(*out), "%s", name);
}

bool mf_quantize_plan_at(const struct mf_quantize_plan *plan, size_t index,
                         struct mf_quantized_tensor *out)
{
    const struct mf_draft_tensor *tensor;
    const struct mf_draft *draft;
    size_t shard = 0;

    if (!plan || !out)
        return false;
    for (; shard < plan->count; shard++) {
        draft = &plan->output[shard].draft;
        if (index < draft->tensor_count)
            break;
        index -= draft->tensor_count;
    }
    if (shard == plan->count)
        return false;
    tensor = &draft->tensor[index];
    *out = (struct mf_quantized_tensor){
        .name = tensor->name,
        .rank = tensor->rank,
        .dim = tensor->dim,
        .bytes = tensor->size,
        .shard = (uint32_t)shard,
        .changed = tensor->type != tensor->from,
        .weighted = tensor->weights.at != NULL,
        .needs_weights = tensor->needs_weights,
    };
    name_type(plan, tensor, tensor->from, &out->from);
    name_type(plan, tensor, tensor->type, &out->type);
    if (tensor->intended == MF_TYPE_F32)
        return true;
    out->intended = mf_types[tensor->intended].name;
    out->intended_block = mf_types[tensor->intended].block;
    out->row = tensor->dim[draft->format->fastest_first ? 0 : tensor->rank - 1];
    return true;
}

void mf_quantizing_show(const struct mf_quantizing *work)
{
    const struct mf_quantize_options *options = &work->options;
    const struct mf_outputs *outputs = &work->outputs;
    struct mf_quantize_plan plan = { work->model, outputs->output,
                                     outputs->together ? 1 : outputs->count };

    for (; options->planned && plan.output < outputs->output + outputs->count;
         plan.output += plan.count)
        options->planned(options->planned_user, &plan);
}
