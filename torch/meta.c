/* SPDX-License-Identifier: MIT
 *
 * meta.c - numbers, texts and lists of numbers of a checkpoint: metadata
 */
#include "torch/torch.h"

/* Between two batches of a list's items there is "e(". */
#define BATCH_SIZE 2

static union mf_number number_of(const struct pickle_node *node,
                                 enum mf_value_type *type)
{
    union mf_number number = { 0 };

    if (node->kind == PICKLE_FLOAT) {
        *type = MF_VALUE_F64;
        number.f64 = node->is.real;
    } else if (node->is.number < 0) {
        *type = MF_VALUE_I64;
        number.i64 = node->is.number;
    } else {
        *type = MF_VALUE_U64;
        number.u64 = (uint64_t)node->is.number;
    }
    return number;
}

static bool is_number(const struct pickle_node *node)
{
    return node->kind == PICKLE_INT || node->kind == PICKLE_FLOAT;
}

/* Whether the items are numbers whose opcodes follow each other in the file, so
 * that they can be read again when they are wanted. */
static bool is_array(const struct torch_walk *walk,
                     const struct pickle_node *node, struct mf_meta *out)
{
    const struct pickle *pickle = walk->pickle;
    uint32_t at, seen = 0;
    uint64_t next = 0;

    if (node->kind != PICKLE_TUPLE && node->kind != PICKLE_LIST)
        return false;
    out->count = 0;
    for (at = node->is.items.first; at != PICKLE_NIL;
         at = pickle->item[at].next) {
        const struct pickle_node *item = &pickle->node[pickle->item[at].node];
        enum mf_value_type type;
        union mf_number number;

        if (!is_number(item) || (out->count > 0 && item->at != next &&
                                 item->at != next + BATCH_SIZE))
            return false;
        if (out->count++ == 0)
            out->span.offset = pickle->span.offset + item->at;
        next = (uint64_t)item->at + item->global;
        number = number_of(item, &type);
        seen |= mf_type_bit(type, number);
    }
    out->type = MF_VALUE_ARRAY;
    out->of = mf_common_type(seen);
    out->span.size = pickle->span.offset + next - out->span.offset;
    return out->count > 0;
}

/* Text that is not kept is read from the file when it is wanted. */
static void take_text(const struct torch_walk *walk,
                      const struct pickle_node *node, struct mf_meta *out)
{
    out->type = MF_VALUE_STRING;
    out->text = mf_pickle_text(walk->pickle, node);
    out->count = node->is.text.size;
    out->span.size = (uint64_t)node->global + node->is.text.size;
}

/* False where the node is not metadata. */
static bool describe(const struct torch_walk *walk, uint32_t at,
                     struct mf_meta *out, struct pickle_name *name)
{
    const struct pickle_node *node = &walk->pickle->node[at];

    *out = (struct mf_meta){ .span = { mf_torch_at(walk->pickle, at), 0 } };
    switch ((enum pickle_kind)node->kind) {
    case PICKLE_NONE:
        out->type = MF_VALUE_NULL;
        return true;
    case PICKLE_FALSE:
    case PICKLE_TRUE:
        out->type = MF_VALUE_BOOL;
        out->number.boolean = node->kind == PICKLE_TRUE;
        return true;
    case PICKLE_INT:
    case PICKLE_FLOAT:
        out->number = number_of(node, &out->type);
        out->span.size = node->global;
        return true;
    case PICKLE_TEXT:
        take_text(walk, node, out);
        return true;
    case PICKLE_GLOBAL:
        *name = mf_pickle_global_name(walk->pickle, node);
        out->type = MF_VALUE_STRING;
        out->text = (struct mf_str){ name->text, strlen(name->text) };
        out->count = out->text.size;
        return true;
    default:
        return is_array(walk, node, out);
    }
}

/* A copy in the arena of the index; at stays NULL for text that was not kept.
 */
static bool copy(struct torch_walk *walk, struct mf_str from,
                 struct mf_str *out)
{
    char *text;

    *out = from;
    if (!from.at)
        return true;
    text = mf_arena_text(&walk->index->arena, from.size);
    if (text && from.size > 0)
        memcpy(text, from.at, from.size);
    out->at = text;
    return text != NULL;
}

/* What an array holds is visited here, so it counts as visits. */
static void count_visits(struct torch_walk *walk, const struct mf_meta *meta)
{
    if (meta->type == MF_VALUE_ARRAY)
        walk->steps_left -=
            meta->count < walk->steps_left ? meta->count : walk->steps_left;
}

enum mf_status mf_torch_meta(struct torch_walk *walk, uint32_t node, bool *done)
{
    struct mf_str name = mf_torch_name(walk);
    struct pickle_name global;
    struct mf_meta found, *meta;

    *done = describe(walk, node, &found, &global);
    if (!*done)
        return MF_OK;
    count_visits(walk, &found);
    if (walk->index->tensors_only)
        return MF_OK;
    if (!mf_torch_spend(walk, sizeof(*meta) + name.size + found.text.size) ||
        !walk->filling)
        return MF_OK;
    if (name.size == 0)
        name = (struct mf_str){ "value", sizeof("value") - 1 };
    meta = mf_index_add_meta(walk->index, walk->part);
    if (!meta)
        return walk->env->error.status;
    found.shard = meta->shard;
    *meta = found;
    if (!copy(walk, name, &meta->key) || !copy(walk, found.text, &meta->text))
        return walk->env->error.status;
    return MF_OK;
}
