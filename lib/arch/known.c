/* SPDX-License-Identifier: MIT
 *
 * known.c - the metadata keys of GGUF that some program reads
 *
 * Those of the rows of all architectures, under the name of the model's own,
 * and those that no row needs: of the tokenizer and of a model's origin.
 */
#include <stdio.h>
#include <string.h>

#include "lib/arch/run.h"
#include "lib/program.h"

static const char *const others[] = {
    "general.alignment",
    "general.architecture",
    "general.author",
    "general.base_model.count",
    "general.basename",
    "general.datasets",
    "general.description",
    "general.doi",
    "general.file_type",
    "general.finetune",
    "general.languages",
    "general.license",
    "general.license.link",
    "general.license.name",
    "general.name",
    "general.organization",
    "general.quantization_version",
    "general.quantized_by",
    "general.repo_url",
    "general.size_label",
    "general.source.doi",
    "general.source.repo_url",
    "general.source.url",
    "general.source.uuid",
    "general.tags",
    "general.type",
    "general.url",
    "general.uuid",
    "general.version",
    "general.sampling.sequence",
    "general.sampling.top_k",
    "general.sampling.top_p",
    "general.sampling.min_p",
    "general.sampling.temp",
    "general.sampling.mirostat",
    "general.sampling.mirostat_eta",
    "general.sampling.mirostat_tau",
    "general.sampling.penalty_last_n",
    "general.sampling.penalty_repeat",
    "general.sampling.xtc_probability",
    "general.sampling.xtc_threshold",
    "tokenizer.chat_template",
    "tokenizer.chat_templates",
    "tokenizer.ggml.add_bos_token",
    "tokenizer.ggml.add_eos_token",
    "tokenizer.ggml.add_sep_token",
    "tokenizer.ggml.add_space_prefix",
    "tokenizer.ggml.bos_token_id",
    "tokenizer.ggml.cls_token_id",
    "tokenizer.ggml.eom_token_id",
    "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.fim_mid_token_id",
    "tokenizer.ggml.fim_pad_token_id",
    "tokenizer.ggml.fim_pre_token_id",
    "tokenizer.ggml.fim_rep_token_id",
    "tokenizer.ggml.fim_sep_token_id",
    "tokenizer.ggml.fim_suf_token_id",
    "tokenizer.ggml.mask_token_id",
    "tokenizer.ggml.merges",
    "tokenizer.ggml.padding_token_id",
    "tokenizer.ggml.pre",
    "tokenizer.ggml.precompiled_charsmap",
    "tokenizer.ggml.remove_extra_whitespaces",
    "tokenizer.ggml.scores",
    "tokenizer.ggml.seperator_token_id",
    "tokenizer.ggml.token_type",
    "tokenizer.ggml.unknown_token_id",
    "tokenizer.huggingface.json",
    "split.count",
    "split.no",
    "split.tensors.count",
};
#define OTHERS (sizeof(others) / sizeof(*others))

/* The name of the next row KEY, in the order of the program, also among rows
 * of a condition; its size is 0 at the end. */
static struct mf_str next_row(struct mf_known_keys *keys)
{
    struct mf_code code = {
        mf_loader_rows.code + keys->at,
        mf_loader_rows.code + mf_loader_rows.part[mf_loader_rows.count - 1].end,
        &mf_loader_rows
    };
    struct mf_str name = { "", 0 };

    while (mf_code_left(&code) && name.size == 0) {
        enum mf_code_row word;
        struct mf_code row = mf_code_row(&code, &word);

        if (word == MF_DO_IF) { /* goes on with its rows */
            mf_code_expression(&row);
            mf_code_two(&row);
            code.at = row.at;
        } else if (word == MF_DO_KEY) {
            mf_code_bytes(&row, 4); /* its type */
            name = mf_code_text(&row);
        }
    }
    keys->at = (size_t)(code.at - mf_loader_rows.code);
    return name;
}

static const char *put_key(struct mf_known_keys *keys, struct mf_str name)
{
    bool whole = mf_arch_is_whole_key(name);
    struct mf_meta architecture = { 0 };

    if (!whole)
        mf_model_fact(keys->model, MF_FACT_ARCHITECTURE, &architecture, NULL);
    snprintf(keys->key, sizeof(keys->key), "%.*s%s%.*s",
             (int)architecture.text.size,
             architecture.text.at ? architecture.text.at : "", whole ? "" : ".",
             (int)name.size, name.at);
    return keys->key;
}

const char *mf_known_key_next(struct mf_known_keys *keys)
{
    struct mf_str name = { "", 0 };

    if (strcmp(mf_model_info(keys->model)->format, "gguf") != 0)
        return NULL;
    if (keys->index < OTHERS)
        return others[keys->index++];
    name = next_row(keys);
    return name.size > 0 ? put_key(keys, name) : NULL;
}
