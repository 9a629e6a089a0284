/* SPDX-License-Identifier: MIT
 *
 * tensors_emit.c - a tensor's name and type in GGUF
 *
 * The type follows the rules of outtype.h; what is quantized already keeps it.
 */
#include <stdio.h>

#include "lib/hf/hub/outtype.h"
#include "lib/hf/hub/tensors_work.h"

/* ---- joined tensors ---- */

/* Three parts of attention and two of experts, and what they become. */
struct joined {
    const char *whole;
    const char *part[3];
    uint32_t axis;
};

static const struct joined joined_qkv = {
    "blk.#.attn_qkv", { "blk.#.attn_q", "blk.#.attn_k", "blk.#.attn_v" }, 0
};
static const struct joined joined_gate_up = { "blk.#.ffn_gate_up_exps",
                                              { "blk.#.ffn_gate_exps",
                                                "blk.#.ffn_up_exps", NULL },
                                              1 };

static size_t part_count(const struct joined *joined)
{
    return joined->part[2] ? 3 : 2;
}

static size_t tensor_of(const struct mf_tensor_work *work, const char *name)
{
    return mf_naming_tensor(work->arch, (struct mf_str){ name, strlen(name) });
}

/* Which of its parts the tensor is; SIZE_MAX: none. */
static size_t part_of(const struct mf_tensor_work *work,
                      const struct joined *joined, size_t tensor)
{
    for (size_t i = 0; i < part_count(joined); i++)
        if (tensor_of(work, joined->part[i]) == tensor)
            return i;
    return SIZE_MAX;
}

static bool is_bias(const struct mf_named_tensor *named)
{
    return mf_str_is(named->suffix, ".bias");
}

static bool is_weight(const struct mf_named_tensor *named)
{
    return mf_str_is(named->suffix, ".weight");
}

static enum mf_status note_qkv(struct mf_tensor_work *work, size_t record)
{
    struct mf_named_tensor named;
    size_t part;

    (void)record;
    if (work->use == MF_COMPRESSED_FIRST || /* its blocks are kept */
        !mf_naming_find(work->arch, work->blocks,
                        mf_tensor_name_text(&work->name), &named) ||
        named.block < 0 || (!is_weight(&named) && !is_bias(&named)))
        return MF_OK;
    part = part_of(work, &joined_qkv, named.tensor);
    if (part != SIZE_MAX)
        work->qkv[named.block] |= (uint8_t)(1 << part << (is_bias(&named) * 3));
    return MF_OK;
}

enum mf_status mf_tensor_find_qkv(struct mf_tensor_work *work)
{
    if (!work->hub->fuse_qkv || tensor_of(work, joined_qkv.whole) == SIZE_MAX)
        return MF_OK;
    work->qkv = mf_arena_take(work->derive.arena, MF_NAMING_BLOCKS);
    if (!work->qkv)
        return mf_work_failed(work);
    memset(work->qkv, 0, MF_NAMING_BLOCKS);
    return mf_tensor_each(work, note_qkv);
}

/* All three weights of the block are there, and all biases or none. */
static bool joins_qkv(const struct mf_tensor_work *work,
                      const struct mf_named_tensor *named)
{
    unsigned has;

    if (!work->qkv || named->block < 0)
        return false;
    has = work->qkv[named->block];
    return is_bias(named) ? has == 077 : has == 077 || has == 07;
}

/* ---- types ---- */

static enum mf_type type_of_row(enum mf_row_type row, enum mf_type file)
{
    if (row == MF_ROW_FILE)
        return file;
    return row == MF_ROW_F16 || (row == MF_ROW_HALF && file == MF_TYPE_F16)
               ? MF_TYPE_F16
               : MF_TYPE_F32;
}

/* What rows say about its name in the folder, or in GGUF. */
static enum mf_type forced_by_rows(const struct mf_tensor_work *work,
                                   struct mf_str name)
{
    struct mf_glob_match match;

    for (const struct mf_tensor_row *row = work->rows.first; row;
         row = row->next) {
        bool gguf = row->kind == MF_ROW_GGUF_TYPE;

        if ((gguf || row->kind == MF_ROW_TYPE) &&
            mf_tensor_row_fits(
                row, gguf ? name : mf_tensor_name_text(&work->name), &match))
            return type_of_row(row->type, work->hub->type);
    }
    return MF_TYPE_UNKNOWN;
}

static enum mf_type forced_type(const struct mf_tensor_work *work,
                                struct mf_str name,
                                const struct mf_derived *node)
{
    enum mf_type type = forced_by_rows(work, name);

    return type == MF_TYPE_UNKNOWN && work->is_q8 && node->rank > 1
               ? MF_TYPE_Q8_0
               : type;
}

/* The flags of a tensor count where the number of its block is the first one
 * in its name in the folder.  named NULL: it has none. */
static enum mf_type type_of(const struct mf_tensor_work *work,
                            const struct mf_named_tensor *named,
                            struct mf_str name, const struct mf_derived *node)
{
    bool counts = named && named->block == work->bid && is_weight(named);
    unsigned flags = counts ? mf_naming_flags(named) : 0;
    const struct mf_outtype_tensor tensor = {
        .name = name,
        .rank = node->rank,
        .dim = node->dim,
        .always_f32 = (flags & MF_NAMED_F32) != 0,
        .never_ternary = (flags & MF_NAMED_WIDE) != 0,
        .forced = forced_type(work, name, node),
    };

    return work->hub->keep_types ||
                   mf_type_is_quantized((enum mf_type)node->type)
               ? (enum mf_type)node->type
               : mf_outtype_of(work->hub->type, &tensor);
}

/* ---- adding ---- */

static void count(struct mf_tensor_work *work, struct mf_str name,
                  const struct mf_derived *node)
{
    struct mf_hub_tensors *hub = work->hub;
    uint32_t axis = mf_str_holds(name, ".bias") ? 2 : 3;
    uint64_t experts;

    hub->total += node->count; /* together they fit: a file holds them */
    if (!mf_str_holds(name, "_exps.") || node->rank < 3) {
        hub->shared += node->count;
        return;
    }
    experts = node->dim[node->rank - axis];
    hub->expert += experts > 0 ? node->count / experts : 0;
    work->expert_sum += experts;
    work->expert_tensors++;
    hub->expert_count = work->expert_sum / work->expert_tensors;
}

/* What is neither a float that GGUF's readers compute with nor quantized
 * becomes f32, as in the reference. */
static const struct mf_derived *as_floats(struct mf_tensor_work *work,
                                          const struct mf_derived *node)
{
    bool fine = node->type == MF_TYPE_F32 || node->type == MF_TYPE_F16 ||
                node->type == MF_TYPE_BF16 ||
                mf_type_is_quantized((enum mf_type)node->type);

    return fine ? node : mf_derive_cast(&work->derive, node, MF_TYPE_F32);
}

static enum mf_status add_as(struct mf_tensor_work *work, struct mf_str name,
                             const struct mf_derived *node, enum mf_type type)
{
    count(work, name, node);
    return mf_derived_add(work->hub->draft, name, node, type);
}

/* ---- pairs of an adapter ---- */

static enum mf_status refuse_part(struct mf_tensor_work *work,
                                  struct mf_str name, const char *why)
{
    return mf_fail(work->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "tensor '%s' of the adapter %s", mf_quote(name).text, why);
}

static enum mf_status add_half(struct mf_tensor_work *work, struct mf_str name,
                               const char *end, const struct mf_derived *node)
{
    char text[MF_TENSOR_NAME_MAX + 16];
    struct mf_outtype_tensor tensor = { .name = { text, 0 } };

    tensor.name.size = (size_t)snprintf(text, sizeof(text), "%.*s%s",
                                        (int)name.size, name.at, end);
    tensor.forced = forced_by_rows(work, tensor.name);
    node = node ? as_floats(work, node) : NULL;
    if (!node)
        return mf_work_failed(work);
    tensor.rank = node->rank;
    tensor.dim = node->dim;
    return mf_derived_add(work->hub->draft, tensor.name, node,
                          mf_outtype_of(work->hub->type, &tensor));
}

/* A of the embedding is turned: llama.cpp looks rows up in it. */
static enum mf_status add_pair(struct mf_tensor_work *work, struct mf_str name,
                               const struct mf_derived *a,
                               const struct mf_derived *b)
{
    struct mf_derived whole = *b;

    if (mf_str_holds(name, "_norm"))
        return refuse_part(work, name,
                           "is half of a pair, but a vector in "
                           "the model");
    if (mf_str_holds(name, "token_embd.weight"))
        a = mf_derive_swap(&work->derive, a, 0, 1);
    if (!a || add_half(work, name, ".lora_a", a) != MF_OK ||
        add_half(work, name, ".lora_b", b) != MF_OK)
        return mf_work_failed(work);
    /* It counts once, as the matrix that the pair is. */
    whole.dim[whole.rank - 1] = a->dim[a->rank - 1];
    if (!mf_elements(whole.dim, whole.rank, &whole.count))
        return refuse_part(work, name, "is too large");
    count(work, name, &whole);
    return MF_OK;
}

/* named NULL: the name is not one that the table has. */
static enum mf_status add_named(struct mf_tensor_work *work,
                                const struct mf_named_tensor *named,
                                struct mf_str name,
                                const struct mf_derived *node)
{
    enum mf_type type = MF_TYPE_UNKNOWN;
    const struct mf_derived *a, *b;

    work->derive.name = name;
    if (mf_derived_is_lowrank(node, &a, &b))
        return add_pair(work, name, a, b);
    if (work->hub->adapter && !mf_str_holds(name, "_norm"))
        return refuse_part(work, name, "is not half of a pair");
    if (work->hub->lora && work->hub->lora->adapter.gguf)
        node = mf_lora_merge(work->hub->lora, &work->derive, name, node);
    node = node ? as_floats(work, node) : NULL;
    if (node)
        type = type_of(work, named, name, node);
    if (node && work->hub->rounded && type != MF_TYPE_F32 && node->type != type)
        node = mf_derive_cast(&work->derive, node, type);
    return node ? add_as(work, name, node, type) : mf_work_failed(work);
}

static enum mf_status add(struct mf_tensor_work *work,
                          const struct mf_named_tensor *named,
                          const struct mf_derived *node)
{
    char text[MF_TENSOR_NAME_MAX + 1];
    struct mf_str name = { text, mf_naming_put(named, text, sizeof(text)) };

    return add_named(work, named, name, node);
}

enum mf_status mf_tensor_emit_exactly(struct mf_tensor_work *work,
                                      struct mf_str name,
                                      const struct mf_derived *node)
{
    return add_named(work, NULL, name, node);
}

enum mf_status mf_tensor_add_floats(struct mf_tensor_work *work,
                                    struct mf_str name, const float *values,
                                    size_t count)
{
    const struct mf_derived *node;

    work->derive.name = name;
    node = mf_derive_floats(&work->derive, values, count);
    return node ? add_as(work, name, node, MF_TYPE_F32) : mf_work_failed(work);
}

/* Joins what is complete.  row: a number that no row has. */
static enum mf_status join(struct mf_tensor_work *work,
                           const struct joined *joined,
                           const struct mf_named_tensor *named, size_t row,
                           size_t part, const struct mf_derived *node)
{
    struct mf_named_tensor whole = *named;
    struct mf_tensor_group *group;

    if (mf_group_put(work, row, named->block, part_count(joined), part, node,
                     &group) != MF_OK)
        return mf_work_failed(work);
    if (!group)
        return MF_OK;
    whole.tensor = tensor_of(work, joined->whole);
    if (whole.tensor == SIZE_MAX)
        return mf_decline(work->env, MF_REASON_NAMES_UNKNOWN, MF_NO_OFFSET,
                          "tensors of this architecture cannot be joined: it "
                          "has no '%s'",
                          joined->whole);
    node =
        mf_derive_join(&work->derive, joined->axis, group->node, group->total);
    mf_group_give_back(work, group);
    return node ? add(work, &whole, node) : mf_work_failed(work);
}

enum mf_status mf_tensor_emit(struct mf_tensor_work *work, struct mf_str name,
                              const struct mf_derived *node)
{
    struct mf_named_tensor named;
    size_t part;

    if (!mf_naming_find(work->arch, work->blocks, name, &named))
        return mf_decline(work->env, MF_REASON_NAMES_UNKNOWN, MF_NO_OFFSET,
                          "tensor '%s' has no name in GGUF for a model of "
                          "architecture '%.*s' with %" PRIu64 " blocks",
                          mf_quote(name).text, (int)work->hub->arch.size,
                          work->hub->arch.at, work->blocks);
    if (mf_type_is_quantized((enum mf_type)node->type)) /* kept, by itself */
        return add(work, &named, node);
    part = part_of(work, &joined_gate_up, named.tensor);
    if (work->hub->fuse_gate_up && part != SIZE_MAX && is_weight(&named) &&
        named.block == work->bid)
        return join(work, &joined_gate_up, &named, work->rows.count, part,
                    node);
    part = part_of(work, &joined_qkv, named.tensor);
    if (part != SIZE_MAX && joins_qkv(work, &named))
        return join(work, &joined_qkv, &named,
                    work->rows.count + 1 + is_bias(&named), part, node);
    return add(work, &named, node);
}
