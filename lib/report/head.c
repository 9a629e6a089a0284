/* SPDX-License-Identifier: MIT
 *
 * head.c - sections "head" and "verdict": what a model is, what is wrong with
 * it
 */
#include <string.h>

#include "lib/report/put.h"

/* ---- head ---- */

static void shards_put(const struct mf_model *model, struct mf_json_out *json)
{
    struct mf_shard shard;

    mf_json_key(json, "shards");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_shard_at(model, i, &shard); i++) {
        mf_json_begin(json, '{');
        mf_put_number(json, "bytes", shard.size);
        mf_put_number(json, "data_offset", shard.data_offset);
        mf_put_number(json, "tensors", shard.tensor_count);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

static void missing_put(const struct mf_model *model, struct mf_json_out *json)
{
    struct mf_missed missed;

    mf_json_key(json, "missing");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_missing_at(model, i, &missed); i++) {
        mf_json_begin(json, '{');
        mf_put_text(json, "name", missed.name);
        mf_put_string(json, "reason", missed.reason);
        mf_put_number(json, "shard", missed.shard);
        mf_json_end(json, '}');
    }
    mf_json_end(json, ']');
}

static enum mf_status fact_put(struct mf_model *model, enum mf_fact fact,
                               struct mf_json_out *json)
{
    struct mf_meta meta;
    size_t at;

    if (!mf_model_fact(model, fact, &meta, &at))
        return MF_OK;
    mf_json_key(json, mf_fact_name(fact));
    if (fact == MF_FACT_VOCAB_SIZE && meta.type == MF_VALUE_ARRAY) {
        mf_report_number(json, meta.count);
        return MF_OK;
    }
    if (meta.type == MF_VALUE_STRING && meta.text.at) { /* a mix, by its name */
        mf_json_string(json, meta.text.at, meta.text.size);
        return MF_OK;
    }
    return mf_report_whole(model, at, json);
}

/* A folder of Hugging Face has in config.json what others have in their
 * metadata.  One that cannot be read has no facts, and the reason. */
static enum mf_status facts_put(struct mf_model *model,
                                struct mf_json_out *json)
{
    struct mf_model *outline = NULL;
    enum mf_status status = MF_OK;
    struct mf_meta meta;

    if (!mf_model_fact(model, MF_FACT_ARCHITECTURE, &meta, NULL))
        status = mf_model_outline(model, MF_OUTLINE_FACTS, &outline);
    if (status == MF_ERR_MEMORY || status == MF_ERR_STOPPED)
        return status;
    if (status != MF_OK)
        mf_put_string(json, "facts_unread",
                      mf_env_error(mf_report_env(model))->message);
    status = MF_OK;
    mf_json_key(json, "facts");
    mf_json_begin(json, '{');
    for (int fact = 0; status == MF_OK && fact < MF_FACT_COUNT; fact++) {
        bool own = mf_model_fact(model, (enum mf_fact)fact, &meta, NULL);

        if (own || outline)
            status = fact_put(own ? model : outline, (enum mf_fact)fact, json);
    }
    mf_json_end(json, '}');
    mf_model_close(outline);
    return status;
}

enum mf_status mf_report_head(struct mf_model *model,
                              const struct mf_report_options *options,
                              struct mf_json_out *json)
{
    const struct mf_model_info *info = mf_model_info(model);
    enum mf_status status;

    (void)options;
    mf_json_key(json, "head");
    mf_json_begin(json, '{');
    mf_put_string(json, "format", info->format);
    mf_put_string(json, "variant", info->variant);
    mf_put_number(json, "version", info->version);
    mf_put_number(json, "version_minor", info->version_minor);
    mf_put_string(json, "byte_order",
                  info->byte_order == MF_BIG_ENDIAN ? "big" : "little");
    mf_put_number(json, "parameters", info->parameters);
    mf_put_number(json, "file_bytes", info->file_size);
    mf_put_number(json, "data_offset", info->data_offset);
    mf_put_number(json, "data_bytes", info->data_size);
    mf_put_number(json, "alignment", info->alignment);
    mf_put_number(json, "tensor_count", info->tensor_count);
    mf_put_number(json, "metadata_count", info->metadata_count);
    mf_put_bool(json, "pending_edit", info->pending_edit);
    status = facts_put(model, json);
    shards_put(model, json);
    missing_put(model, json);
    mf_json_end(json, '}');
    return status;
}

/* ---- verdict ---- */

static const char *meaning_of(const char *rule)
{
    struct mf_rule_info info;

    for (size_t i = 0; mf_rule_at(i, &info); i++)
        if (strcmp(info.id, rule) == 0)
            return info.meaning;
    return "";
}

/* The message of this rule is about the name that the file has. */
static bool names_file(const struct mf_finding *finding)
{
    return strcmp(finding->rule, "FILE-NAME") == 0;
}

static void finding_put(const struct mf_model *model,
                        const struct mf_finding *finding, bool paths,
                        struct mf_json_out *json)
{
    bool said = paths || !names_file(finding);
    struct mf_str about = mf_finding_subject(finding);
    struct mf_tensor tensor;
    size_t at;

    mf_json_begin(json, '{');
    mf_put_string(json, "id", finding->rule);
    mf_put_string(json, "severity", mf_severity_name(finding->severity));
    if (finding->offset != MF_NO_OFFSET)
        mf_put_number(json, "offset", finding->offset);
    mf_put_number(json, "shard", finding->shard);
    if (finding->tensor.at &&
        mf_tensor_find(model, finding->tensor.at, finding->tensor.size, &tensor,
                       &at))
        mf_put_number(json, "tensor", at);
    if (said && about.at)
        mf_put_text(json, "about", about);
    mf_put_string(json, "message",
                  said ? finding->message : meaning_of(finding->rule));
    mf_put_string(json, "meaning", meaning_of(finding->rule));
    mf_json_end(json, '}');
}

/* Judges as `validate` does: a folder also by the GGUF file that it becomes. */
static enum mf_status judge(struct mf_model *model, bool data)
{
    struct mf_validate_options how = { .size = sizeof(how), .data = data };
    enum mf_status status;

    status = mf_model_outline(model, MF_OUTLINE_HEADER, &how.outline);
    if (status == MF_ERR_MEMORY || status == MF_ERR_STOPPED)
        return status;
    status = mf_model_validate_with(model, &how);
    mf_model_close(how.outline);
    return status;
}

enum mf_status mf_report_verdict(struct mf_model *model,
                                 const struct mf_report_options *options,
                                 struct mf_json_out *json)
{
    const struct mf_model_info *info = mf_model_info(model);
    bool data = options && options->data;
    struct mf_finding finding;

    if (judge(model, data) != MF_OK)
        return mf_env_error(mf_report_env(model))->status;

    mf_json_key(json, "verdict");
    mf_json_begin(json, '{');
    mf_put_bool(json, "valid", info->error_count == 0);
    mf_put_string(json, "level", data ? "data" : "header");
    mf_put_number(json, "errors", info->error_count);
    mf_put_number(json, "warnings", info->warning_count);
    mf_put_number(json, "notes", info->note_count);
    mf_json_key(json, "findings");
    mf_json_begin(json, '[');
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        finding_put(model, &finding, options && options->paths, json);
    mf_json_end(json, ']');
    mf_json_end(json, '}');
    return MF_OK;
}
