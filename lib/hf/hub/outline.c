/* SPDX-License-Identifier: MIT
 *
 * outline.c - a folder of Hugging Face as the GGUF file that is made of it
 *
 * What config.json means is known to the rows that convert a folder.  They make
 * the header of the file, in memory, and that is what is shown, planned and
 * checked: a folder and its file cannot differ.
 */
#include "lib/hf/hub/hub.h"

#include <string.h>

#include "lib/arch/arch.h"
#include "lib/hf/hub/bare.h"

/* ---- weights that are not there ---- */

struct bare {
    struct mf_draft *draft;
    struct mf_model *model;
    struct mf_hub_bare facts;
    bool unsure; /* a tensor may be there, or not */
};

static bool has_name(const struct mf_draft *draft, struct mf_str name)
{
    for (size_t i = draft->tensor_count; i > 0; i--)
        if (mf_str_same(draft->tensor[i - 1].name, name))
            return true;
    return false;
}

static enum mf_status add_row(struct bare *bare,
                              const struct mf_arch_tensor_row *row)
{
    struct mf_draft *draft = bare->draft;
    struct mf_draft_tensor *tensor = mf_draft_add_tensor(draft);
    enum mf_type type =
        mf_hub_bare_type(&bare->facts, row->name, row->dim, row->rank);
    uint64_t *dim = mf_arena_take(&draft->arena, sizeof(row->dim));
    uint64_t count = 1;

    if (!tensor || !dim)
        return draft->env->error.status;
    memcpy(dim, row->dim, sizeof(row->dim));
    tensor->name = mf_draft_text(draft, row->name);
    if (!tensor->name.at)
        return draft->env->error.status;
    tensor->dim = dim;
    tensor->rank = row->rank;
    tensor->from = tensor->type = type;
    tensor->type_id = draft->format->type_id(type);
    tensor->made = &bare->model->file[0].source;
    if (mf_elements(dim, row->rank, &count) &&
        mf_type_size(type, count, &tensor->size))
        return MF_OK;
    return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'config.json': tensor '%s' would be too large, or not in "
                   "whole blocks of %s",
                   mf_quote(row->name).text, mf_types[type].name);
}

/* Queries, keys or values of a block in which one tensor has all three. */
static bool is_joined(const struct bare *bare,
                      const struct mf_arch_tensor_row *row)
{
    static const char joined[] = "qkv";
    const struct mf_draft *draft = bare->draft;
    const char *part = strstr(row->name.at, ".attn_");
    size_t head, tail;

    if (!part || !strchr(joined, part[6]) || part[7] != '.')
        return false;
    head = (size_t)(part + 6 - row->name.at);
    tail = row->name.size - head - 1;
    for (size_t i = draft->tensor_count; i > 0; i--) {
        const struct mf_str *name = &draft->tensor[i - 1].name;

        if (name->size == head + 3 + tail &&
            memcmp(name->at, row->name.at, head) == 0 &&
            memcmp(name->at + head, joined, 3) == 0 &&
            memcmp(name->at + head + 3, part + 7, tail) == 0)
            return true;
    }
    return false;
}

/* What a loader does not demand is there if config.json says so. */
static enum mf_status take_row(void *user, const struct mf_arch_tensor_row *row)
{
    struct bare *bare = user;
    enum mf_bare_answer has = MF_BARE_YES;

    if (has_name(bare->draft, row->name) || is_joined(bare, row))
        return MF_OK;
    if (row->optional || mf_hub_bare_is_tied(&bare->facts, row->pattern))
        has = mf_hub_bare_has(&bare->facts, row->pattern);
    bare->unsure = bare->unsure || has == MF_BARE_UNKNOWN;
    if (has != MF_BARE_YES)
        return MF_OK;
    if (!row->known)
        return mf_fail(bare->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'config.json' of '%s' does not give the shape of '%s': "
                       "the weights are required",
                       mf_quote(bare->facts.arch).text,
                       mf_quote(row->name).text);
    return add_row(bare, row);
}

static enum mf_status refuse_packed(struct bare *bare)
{
    return bare->facts.packing.size == 0
               ? MF_OK
               : mf_fail(bare->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'config.json': weights compressed by '%s' have "
                         "shapes that only their files give",
                         mf_quote(bare->facts.packing).text);
}

/* Adds what the rows of the architecture demand, as the keys of the draft,
 * which has no tensors but those made of config.json, imply it. */
static enum mf_status list_bare(struct bare *bare)
{
    struct mf_env *env = bare->draft->env;
    struct mf_model *keys = NULL;
    enum mf_status status = refuse_packed(bare);
    bool sure = false;

    if (status == MF_OK)
        status =
            mf_draft_as_model(bare->draft, bare->model->file[0].path, &keys);
    if (status == MF_OK)
        status = mf_arch_list(keys, take_row, bare, &sure);
    mf_model_close(keys);
    if (status == MF_OK && !sure)
        status = mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'config.json' does not give the tensors of models "
                         "of '%s': the weights are required",
                         mf_quote(bare->facts.arch).text);
    return status;
}

/* ---- all of it ---- */

enum mf_status mf_hf_outline_bare(struct mf_model *model, struct mf_model **out,
                                  bool *unsure)
{
    struct mf_draft draft;
    struct bare bare = { .draft = &draft, .model = model };
    const struct mf_hf_options options = { .bare = &bare.facts };
    enum mf_status status;

    mf_draft_init(&draft, model->env, mf_format_with_values(MF_VALUES_TYPED));
    status = mf_hf_outline(&draft, model, &options);
    if (status == MF_OK)
        status = list_bare(&bare);
    if (status == MF_OK)
        status = mf_draft_as_model(&draft, model->file[0].path, out);
    mf_draft_release(&draft);
    *unsure = bare.unsure || !bare.facts.type_known ||
              !mf_hub_bare_is_proven(&bare.facts);
    return status;
}
