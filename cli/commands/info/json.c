/* SPDX-License-Identifier: MIT
 *
 * json.c - the summary of a model, as JSON
 */
#include "cli/json.h"

#include "cli/commands/info/info.h"
#include "cli/describe.h"
#include "cli/kinds.h"
#include "cli/value.h"

double info_bits_per_weight(const struct mf_model_info *info)
{
    return 8 * (double)info->data_size / (double)info->parameters;
}

struct totals info_totals(const struct mf_model *model)
{
    struct totals totals = { 0 };
    struct mf_tensor tensor;

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        totals_add(&totals, &tensor);
    return totals;
}

struct mf_model *info_fact(struct mf_model *model, struct mf_model *outline,
                           enum mf_fact fact, struct mf_meta *meta, size_t *at)
{
    if (mf_model_fact(model, fact, meta, at))
        return model;
    return outline && mf_model_fact(outline, fact, meta, at) ? outline : NULL;
}

static void fact_json(struct run *run, struct mf_model *model,
                      struct mf_model *outline, enum mf_fact fact)
{
    struct mf_meta meta;
    size_t at;

    model = info_fact(model, outline, fact, &meta, &at);
    mf_json_key(&run->json, mf_fact_name(fact));
    if (!model)
        mf_json_null(&run->json);
    else if (fact == MF_FACT_VOCAB_SIZE && meta.type == MF_VALUE_ARRAY)
        mf_json_u64(&run->json, meta.count);
    else if (meta.type == MF_VALUE_STRING) /* a file type, by name */
        mf_json_string(&run->json, meta.text.at, meta.text.size);
    else
        value_json_whole(run, model, at);
}

static void findings_json(struct run *run, const struct mf_model *model)
{
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_finding finding;

    json_number(run, "errors", info->error_count);
    json_number(run, "warnings", info->warning_count);
    json_bool(run, "pending_edit", info->pending_edit);
    mf_json_key(&run->json, "findings");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++) {
        mf_json_begin(&run->json, '{');
        json_text(run, "id", finding.rule);
        json_text(run, "severity", mf_severity_name(finding.severity));
        if (finding.offset != MF_NO_OFFSET)
            json_number(run, "offset", finding.offset);
        json_number(run, "shard", finding.shard);
        json_text(run, "message", finding.message);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

static void shards_json(struct run *run, const struct mf_model *model)
{
    struct mf_shard shard;

    mf_json_key(&run->json, "shards");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; mf_shard_at(model, i, &shard); i++) {
        mf_json_begin(&run->json, '{');
        json_str(run, "file", str_of(shard.path));
        json_number(run, "bytes", shard.size);
        json_number(run, "data_offset", shard.data_offset);
        json_number(run, "tensors", shard.tensor_count);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
}

void info_json(struct run *run, struct mf_model *model,
               struct mf_model *outline)
{
    const struct mf_model_info *info = mf_model_info(model);
    struct totals totals = info_totals(model);

    json_text(run, "format", info->format);
    json_text(run, "variant", info->variant);
    json_number(run, "version", info->version);
    byte_order_json(run, info->byte_order);
    json_number(run, "parameters", info->parameters);
    mf_json_key(&run->json, "bits_per_weight");
    if (info->parameters > 0)
        mf_json_f64(&run->json, info_bits_per_weight(info));
    else
        mf_json_null(&run->json);
    json_number(run, "tensor_count", info->tensor_count);
    json_number(run, "metadata_count", info->metadata_count);
    json_number(run, "file_bytes", info->file_size);
    json_number(run, "data_offset", info->data_offset);
    json_number(run, "data_bytes", info->data_size);
    json_number(run, "alignment", info->alignment);
    for (int fact = 0; fact < MF_FACT_COUNT; fact++)
        fact_json(run, model, outline, (enum mf_fact)fact);
    json_bool(run, "config_json", outline);
    for (size_t i = 0; i < KINDS_COUNT; i++)
        kind_json(run, model, &kinds[i]);
    adapter_json(run, model);
    table_json(run, model);
    totals_show(run, &totals);
    shards_json(run, model);
    findings_json(run, model);
}
