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

/* The key of the next `key` row; "" at the end of the text. */
static struct mf_str next_row(struct mf_known_keys *keys)
{
    struct mf_str rows = { keys->rows, keys->size }, name = { "", 0 };

    while (rows.size > 0 && name.size == 0) {
        struct mf_str row = mf_arch_take_line(&rows);

        if (!mf_str_is(mf_arch_word(&row), "key"))
            continue;
        mf_arch_word(&row); /* its type */
        name = mf_arch_word(&row);
    }
    keys->rows = rows.at;
    keys->size = rows.size;
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
    while (name.size == 0 && keys->index - OTHERS < mf_arch_text_count) {
        keys->rows = mf_arch_text_rows(&mf_arch_texts[keys->index++ - OTHERS]);
        keys->size = strlen(keys->rows);
        name = next_row(keys);
    }
    return name.size > 0 ? put_key(keys, name) : NULL;
}
