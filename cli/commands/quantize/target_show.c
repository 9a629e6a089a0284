/* SPDX-License-Identifier: MIT
 *
 * target_show.c - what types were chosen for a size, and what else there is
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/quantize/target.h"
#include "cli/json.h"
#include "cli/report.h"

/* ---- numbers ---- */

static double cost_of(const struct target *target, size_t tensor, size_t type)
{
    return target->errors->tensor[tensor].type[type].error *
           target->factor[tensor];
}

double target_sampling(const struct target *target)
{
    const struct mf_type_errors *errors = target->errors;
    double variance = 0;

    for (size_t i = 0; i < errors->count; i++)
        variance += errors->tensor[i].type[target->types[i]].variance *
                    target->factor[i] * target->factor[i];
    return target->chosen.error > 0 ? sqrt(variance) / target->chosen.error : 0;
}

bool target_mix_at(const struct target *target, size_t mix,
                   struct target_mix *out)
{
    const struct mf_type_errors *errors = target->errors;

    if (!errors->mix_known[mix])
        return false;
    *out = (struct target_mix){ .bytes = target->rest };
    for (size_t i = 0; i < errors->count; i++) {
        uint8_t type = errors->tensor[i].mix[mix];

        out->bytes += target->cost[i * errors->types + type].bytes;
        out->error += cost_of(target, i, type);
    }
    return out->error < (double)INFINITY;
}

static double bits_of(const struct target *target, const uint32_t *types)
{
    uint64_t bytes = target->errors->other_bytes;

    for (size_t i = 0; i < target->errors->count; i++)
        bytes += target->errors->tensor[i].bytes[types[i]];
    return target->errors->elements > 0
               ? (double)bytes * 8 / (double)target->errors->elements
               : 0;
}

static double part_below(double error, double bound)
{
    return error > 0 ? (error - bound) / error : 0;
}

/* ---- text ---- */

static void show_choice(const struct target *target)
{
    const struct mf_chosen *chosen = &target->chosen;
    struct out *out = &target->run->out;
    uint64_t used = target->rest + chosen->bytes;

    out_format(out, "\ntarget %s bytes%s: %s used, %s left",
               number_text(target->limit).at,
               target->padded ? "" : " of tensors", number_text(used).at,
               number_text(target->limit - used).at);
    if (chosen->next > 0)
        out_format(out, "; the cheapest better type would add %s",
                   number_text(chosen->next).at);
    out_format(out, "\n%.4f bits per weight, base mix %s\n",
               bits_of(target, target->types), target->base);
    out_format(out,
               "error %.6g, of which sampling leaves %.2g %% open (standard "
               "error)\n",
               chosen->error, 100 * target_sampling(target));
    out_format(out,
               "proven within %.2g %% of the least for the estimated errors; "
               "the linear\nprogram's bound is %.6g, %.2g %% below\n",
               100 * part_below(chosen->error, chosen->bound), chosen->relaxed,
               100 * part_below(chosen->error, chosen->relaxed));
}

static void show_mixes(const struct target *target)
{
    struct out *out = &target->run->out;
    struct target_mix mix;

    out_text(out, "\nmix                   bytes        error  least error of "
                  "that size\n");
    for (size_t i = 0; i < target->errors->mixes; i++) {
        if (!target_mix_at(target, i, &mix))
            continue;
        out_format(out, "%-9s %17s %12.6g", target->errors->mix_name[i],
                   number_text(mix.bytes).at, mix.error);
        if (target->least.known[i])
            out_format(out, " %12.6g %6.1f %%", target->least.mix[i],
                       mix.error > 0
                           ? 100 * (target->least.mix[i] / mix.error - 1)
                           : 0);
        out_text(out, "\n");
    }
}

static void show_curve(const struct target *target)
{
    struct out *out = &target->run->out;

    out_text(out, "\n               bytes  least error\n");
    for (size_t i = 0; i < TARGET_POINTS; i++) {
        const struct mf_chosen *point = &target->least.curve[i];

        out_format(out, "%20s %12.6g\n",
                   number_text(target->rest + point->bytes).at, point->error);
    }
}

void target_show(const struct target *target)
{
    struct run *run = target->run;

    if (run->options->json) {
        mf_json_key(&run->json, "target");
        mf_json_begin(&run->json, '{');
        target_json(target, &run->json);
        mf_json_end(&run->json, '}');
        return;
    }
    show_choice(target);
    if (!run->options->dry_run)
        return;
    show_mixes(target);
    show_curve(target);
}

/* ---- JSON ---- */

static void put_double(struct mf_json_out *json, const char *key, double number)
{
    mf_json_key(json, key);
    mf_json_f64(json, number);
}

static void put_choice(const struct target *target, struct mf_json_out *json)
{
    const struct mf_chosen *chosen = &target->chosen;

    json_member_text(json, "base", target->base);
    json_member_text(json, "counts", target->padded ? "file" : "tensors");
    json_member_number(json, "limit", target->limit);
    json_member_number(json, "rest", target->rest);
    json_member_number(json, "bytes", target->rest + chosen->bytes);
    json_member_number(json, "least_bytes", target->rest + chosen->least);
    json_member_number(json, "most_bytes", target->rest + chosen->most);
    json_member_number(json, "next_bytes", chosen->next);
    put_double(json, "bits_per_weight", bits_of(target, target->types));
    put_double(json, "error", chosen->error);
    put_double(json, "bound", chosen->bound);
    put_double(json, "linear_bound", chosen->relaxed);
    put_double(json, "standard_error", target_sampling(target) * chosen->error);
}

static void put_point(struct mf_json_out *json, uint64_t bytes, double error)
{
    json_member_number(json, "bytes", bytes);
    put_double(json, "error", error);
}

static void put_curves(const struct target *target, struct mf_json_out *json)
{
    struct target_mix mix;

    mf_json_key(json, "mixes");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < target->errors->mixes; i++) {
        if (!target_mix_at(target, i, &mix))
            continue;
        mf_json_begin(json, '{');
        json_member_text(json, "name", target->errors->mix_name[i]);
        put_point(json, mix.bytes, mix.error);
        if (target->least.known[i])
            put_double(json, "least_error", target->least.mix[i]);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
    mf_json_key(json, "curve");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < TARGET_POINTS; i++) {
        const struct mf_chosen *point = &target->least.curve[i];

        mf_json_begin(json, '{');
        put_point(json, target->rest + point->bytes, point->error);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

/* Every type that the tensor can have, as the choice saw it. */
static void put_costs(const struct target *target, struct mf_json_out *json,
                      size_t tensor)
{
    const struct mf_type_errors *errors = target->errors;

    mf_json_key(json, "types");
    mf_json_begin(json, '{');
    for (size_t t = 0; t < errors->types; t++) {
        const struct mf_type_cost *cost =
            &target->cost[tensor * errors->types + t];

        if (!(cost->error < (double)INFINITY))
            continue;
        mf_json_key(json, errors->type_name[t]);
        mf_json_begin(json, '{');
        put_point(json, cost->bytes, cost->error);
        put_double(json, "standard_error",
                   sqrt(errors->tensor[tensor].type[t].variance) *
                       target->factor[tensor]);
        mf_json_end(json, '}');
    }
    mf_json_end(json, '}');
}

static void put_tensor(const struct target *target, struct mf_json_out *json,
                       size_t number)
{
    const struct mf_tensor_errors *tensor = &target->errors->tensor[number];

    mf_json_begin(json, '{');
    mf_json_key(json, "name");
    mf_json_open_string(json);
    mf_json_piece(json, tensor->name.at, tensor->name.size);
    mf_json_close_string(json, false);
    json_member_text(json, "type",
                     target->errors->type_name[target->types[number]]);
    json_member_number(json, "elements", tensor->elements);
    json_member_number(json, "rows", tensor->rows);
    json_member_number(json, "measured_rows", tensor->measured);
    mf_json_key(json, "weighted");
    mf_json_bool(json, tensor->weighted);
    put_double(json, "factor", target->factor[number]);
    if (target->tied[number] != MF_CHOOSE_NONE)
        json_member_number(json, "tied", target->tied[number]);
    put_costs(target, json, number);
    mf_json_end(json, '}');
}

void target_json(const struct target *target, struct mf_json_out *json)
{
    put_choice(target, json);
    put_curves(target, json);
    mf_json_key(json, "tensors");
    mf_json_begin(json, '[');
    for (size_t i = 0; i < target->errors->count; i++)
        put_tensor(target, json, i);
    mf_json_end(json, ']');
}
