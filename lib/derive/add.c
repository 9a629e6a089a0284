/* SPDX-License-Identifier: MIT
 *
 * add.c - a node becomes a tensor of a draft
 */
#include "lib/derive/derive.h"

/* Dimensions in the draft's order. */
static const uint64_t *dims_of(struct mf_draft *draft,
                               const struct mf_derived *node)
{
    /* For a number, too: where there is no pointer, there was no memory. */
    size_t count = node->rank > 0 ? node->rank : 1;
    uint64_t *dim = mf_arena_take(&draft->arena, count * sizeof(*dim));

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

enum mf_status mf_derived_add(const struct mf_derivation *d,
                              struct mf_draft *draft,
                              const struct mf_derived *node, enum mf_type type,
                              bool cast)
{
    struct mf_draft_tensor *tensor;

    if (cast && node->type != type)
        node = mf_derive_cast(d, node, type);
    tensor = node ? mf_draft_add_tensor(draft) : NULL;
    if (!tensor)
        return draft->env->error.status;
    tensor->name = mf_draft_text(draft, d->name);
    tensor->dim = dims_of(draft, node);
    tensor->rank = node->rank;
    if (!tensor->name.at || !tensor->dim)
        return draft->env->error.status;
    tensor->from = node->type;
    tensor->type = type;
    tensor->type_id = draft->format->type_id(type);
    if (!mf_type_size(type, node->count, &tensor->size))
        return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "tensor '%s' cannot be stored as %s",
                       mf_quote(d->name).text, mf_types[type].name);
    return set_source(draft, tensor, node);
}
