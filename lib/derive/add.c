/* SPDX-License-Identifier: MIT
 *
 * add.c - a node becomes a tensor of a draft
 */
#include "lib/derive/derive.h"

/* Dimensions in the draft's order. */
static const uint64_t *dims_of(struct mf_draft *draft,
                               const struct mf_derived *node)
{
    size_t count = node->rank > 0 ? node->rank : 1;
    uint64_t *dim = mf_arena_take(&draft->arena, count * sizeof(*dim));

    if (dim)
        dim[0] = 1; /* a number, where the format has no such thing */
    for (uint32_t i = 0; dim && i < node->rank; i++)
        dim[i] =
            node->dim[draft->format->fastest_first ? node->rank - 1 - i : i];
    return dim;
}

/* Where its bytes are. */
static enum mf_status set_source(struct mf_draft *draft,
                                 struct mf_draft_tensor *tensor,
                                 const struct mf_derived *node)
{
    struct mf_source *source;

    if (mf_derived_is_plain(node, &tensor->record))
        return MF_OK;
    source = mf_arena_take(&draft->arena, sizeof(*source));
    if (!source)
        return draft->env->error.status;
    mf_derived_open(node, tensor->name.at, source);
    tensor->made = source;
    return MF_OK;
}

enum mf_status mf_derived_add(struct mf_draft *draft, struct mf_str name,
                              const struct mf_derived *node, enum mf_type type)
{
    struct mf_draft_tensor *tensor = mf_draft_add_tensor(draft);

    if (!tensor)
        return draft->env->error.status;
    tensor->name = mf_draft_text(draft, name);
    tensor->dim = dims_of(draft, node);
    tensor->rank = node->rank == 0 && draft->out->implied_ones ? 1 : node->rank;
    if (!tensor->name.at || !tensor->dim)
        return draft->env->error.status;
    tensor->from = node->type;
    tensor->type = type;
    tensor->type_id = draft->format->type_id(type);
    if (!mf_type_size(type, node->count, &tensor->size))
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "tensor '%s' cannot be stored as %s",
                       mf_quote(name).text, mf_types[type].name);
    return set_source(draft, tensor, node);
}
