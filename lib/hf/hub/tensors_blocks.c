/* SPDX-License-Identifier: MIT
 *
 * tensors_blocks.c - weights whose blocks of 4 bits are kept as they are
 *
 * The converter adds them before all others.  NVFP4 weights come with numbers
 * by which their products are multiplied: these become tensors, too, unless
 * they are 1.
 */
#include <math.h>
#include <stdio.h>

#include "lib/base/sort.h"
#include "lib/hf/hub/tensors_work.h"

/* Experts of a layer that wait for the others. */
struct waiting {
    struct waiting *next;
    int64_t block;
    size_t part; /* gate, up or down */
    size_t count;
    struct expert {
        struct expert *next;
        uint64_t number;
        size_t place; /* in the order of the folder's tensors */
        const struct mf_derived *node;
        float scale, input;
    } * last; /* that came, and those before it */
};

struct blocks {
    struct mf_tensor_work *work;
    struct waiting *first, **last;
    uint64_t experts; /* of a layer; 0: not known */
};

static const char *const parts[] = { "gate_proj", "up_proj", "down_proj" };

/* ---- numbers beside blocks ---- */

/* The name in GGUF, with another word instead of "weight". */
static enum mf_status add_scales(struct mf_tensor_work *work,
                                 struct mf_str name, const char *word,
                                 const float *values, size_t count)
{
    char text[MF_TENSOR_NAME_MAX + 16];
    struct mf_named_tensor named;
    size_t size;

    if (!mf_naming_find(work->arch, work->blocks, name, &named))
        return MF_OK; /* the weights were refused */
    named.suffix = (struct mf_str){ word, strlen(word) };
    size = mf_naming_put(&named, text, sizeof(text));
    return mf_tensor_add_floats(work, (struct mf_str){ text, size }, values,
                                count);
}

/* As NumPy's allclose has it, with 1e-6 of tolerance and 1e-5 of 1. */
static bool is_one(double value)
{
    return fabs(value - 1) <= 1e-6 + 1e-5;
}

/* ---- experts ---- */

static struct waiting *waiting_of(struct blocks *blocks, int64_t block,
                                  size_t part)
{
    struct waiting *waiting = blocks->first;

    while (waiting && (waiting->block != block || waiting->part != part))
        waiting = waiting->next;
    if (waiting)
        return waiting;
    waiting = mf_arena_take(blocks->work->derive.arena, sizeof(*waiting));
    if (!waiting)
        return NULL;
    *waiting = (struct waiting){ .block = block, .part = part };
    *blocks->last = waiting;
    blocks->last = &waiting->next;
    return waiting;
}

static void forget(struct blocks *blocks, const struct waiting *waiting)
{
    struct waiting **at = &blocks->first;

    while (*at != waiting)
        at = &(*at)->next;
    *at = waiting->next;
    if (!*at)
        blocks->last = at;
}

static bool is_before(const void *table, uint32_t a, uint32_t b)
{
    const struct expert *const *experts = table;
    const struct expert *x = experts[a], *y = experts[b];

    return x->number != y->number ? x->number < y->number : x->place < y->place;
}

/* The experts by their numbers; NULL after mf_fail. */
static const struct expert **sorted(struct mf_arena *arena,
                                    const struct waiting *waiting)
{
    size_t count = waiting->count, i = 0;
    const struct expert **experts =
        mf_arena_take(arena, count * sizeof(*experts));
    const struct expert **out = mf_arena_take(arena, count * sizeof(*out));
    uint32_t *order = mf_arena_take(arena, count * sizeof(*order));

    if (!experts || !out || !order)
        return NULL;
    for (const struct expert *expert = waiting->last; expert;
         expert = expert->next, i++) {
        experts[i] = expert;
        order[i] = (uint32_t)i;
    }
    mf_sort(order, count, is_before, experts);
    for (i = 0; i < count; i++)
        out[i] = experts[order[i]];
    return out;
}

/* The experts as one tensor, and their numbers. */
static enum mf_status give(struct blocks *blocks, const struct waiting *waiting)
{
    struct mf_tensor_work *work = blocks->work;
    size_t count = waiting->count;
    const struct expert **experts = sorted(work->derive.arena, waiting);
    const struct mf_derived **nodes =
        mf_arena_take(work->derive.arena, count * sizeof(*nodes));
    float *scales =
        mf_arena_take(work->derive.arena, 2 * count * sizeof(*scales));
    const struct mf_derived *node;
    bool one[2] = { true, true };
    char text[128];
    struct mf_str name = { text, 0 };

    if (!experts || !nodes || !scales)
        return mf_work_failed(work);
    for (size_t i = 0; i < count; i++) {
        nodes[i] = experts[i]->node;
        scales[i] = experts[i]->scale;
        scales[count + i] = experts[i]->input;
        one[0] = one[0] && is_one((double)scales[i]);
        one[1] = one[1] && is_one((double)scales[count + i]);
    }
    name.size = (size_t)snprintf(
        text, sizeof(text), "model.layers.%" PRId64 ".mlp.experts.%s.weight",
        waiting->block, parts[waiting->part]);
    work->derive.name = name;
    node = mf_derive_stack(&work->derive, nodes, count);
    if (!node || mf_tensor_emit(work, name, node) != MF_OK)
        return mf_work_failed(work);
    if (!one[0] && add_scales(work, name, ".scale", scales, count) != MF_OK)
        return mf_work_failed(work);
    return one[1]
               ? MF_OK
               : add_scales(work, name, ".input_scale", scales + count, count);
}

static float sum(const struct mf_compressed_scales *scales)
{
    float total = 0;

    for (size_t i = 0; i < scales->count; i++)
        total += scales->value[i];
    return total;
}

/* Puts the expert among those of its layer. */
static enum mf_status add_expert(struct blocks *blocks,
                                 const struct mf_glob_match *match,
                                 const struct mf_derived *node,
                                 const struct mf_compressed_scales scales[2])
{
    struct mf_tensor_work *work = blocks->work;
    struct waiting *waiting =
        waiting_of(blocks, work->bid < 0 ? 0 : work->bid, match->chosen[0]);
    struct mf_str digits = match->digits[0];
    struct expert *expert =
        waiting ? mf_arena_take(work->derive.arena, sizeof(*expert)) : NULL;

    if (!expert)
        return mf_work_failed(work);
    *expert = (struct expert){ .next = waiting->last,
                               .place = waiting->count,
                               .node = node,
                               .scale = sum(&scales[0]),
                               .input = sum(&scales[1]) };
    for (size_t i = 0; i < digits.size && expert->number < INT32_MAX; i++)
        expert->number = expert->number * 10 + (uint64_t)(digits.at[i] - '0');
    waiting->last = expert;
    if (++waiting->count < blocks->experts || blocks->experts == 0)
        return MF_OK;
    forget(blocks, waiting);
    return give(blocks, waiting);
}

/* ---- tensors ---- */

/* Those that are one number, and 1, are left out. */
static bool is_trivial(const struct mf_compressed_scales *scales)
{
    return scales->count <= 1 && fabs((double)sum(scales) - 1) < 1e-6;
}

static enum mf_status add_weights(struct mf_tensor_work *work,
                                  const struct mf_derived *node,
                                  const struct mf_compressed_scales scales[2])
{
    struct mf_tensor_name name = work->name;
    struct mf_str text = mf_tensor_name_text(&name);

    if (mf_tensor_flow(work, work->rows.first, &name, node) != MF_OK)
        return mf_work_failed(work);
    if (!is_trivial(&scales[0]) &&
        add_scales(work, text, ".scale", scales[0].value, scales[0].count) !=
            MF_OK)
        return mf_work_failed(work);
    return is_trivial(&scales[1])
               ? MF_OK
               : add_scales(work, text, ".input_scale", scales[1].value,
                            scales[1].count);
}

static enum mf_status add_nvfp4(struct mf_tensor_work *work, size_t record)
{
    static const struct mf_str pattern = {
        "*.experts.#.{gate_proj,up_proj,down_proj}.weight", 48
    };
    struct blocks *blocks = work->user;
    struct mf_compressed_scales scales[2];
    const struct mf_derived *node;
    struct mf_glob_match match;

    if (work->use != MF_COMPRESSED_FIRST)
        return MF_OK;
    work->derive.name = mf_tensor_name_text(&work->name);
    node = mf_compressed_node(&work->compressed, &work->derive, record);
    if (!node)
        return mf_work_failed(work);
    for (size_t i = 0; i < 2; i++)
        if (!mf_compressed_scales(&work->compressed, &work->derive, record,
                                  i == 1, &scales[i]))
            return mf_work_failed(work);
    return mf_glob_fits(pattern, mf_tensor_name_text(&work->name), &match)
               ? add_expert(blocks, &match, node, scales)
               : add_weights(work, node, scales);
}

static enum mf_status add_mxfp4(struct mf_tensor_work *work, size_t record)
{
    const struct mf_derived *node;

    if (work->use != MF_COMPRESSED_FIRST)
        return MF_OK;
    work->derive.name = mf_tensor_name_text(&work->name);
    node = mf_compressed_node(&work->compressed, &work->derive, record);
    if (node && work->hub->decode)
        node = mf_derive_decoded(&work->derive, node);
    return node ? mf_tensor_flow(work, work->rows.first, &work->name, node)
                : mf_work_failed(work);
}

/* The number of experts that config.json says; 0: it does not. */
static uint64_t experts_of(const struct mf_recipe *recipe)
{
    static const char *const names[] = { "num_local_experts", "num_experts" };

    for (size_t i = 0; i < 2; i++) {
        const struct mf_node *node = mf_recipe_field(
            recipe, (struct mf_str){ names[i], strlen(names[i]) });
        int64_t count;

        if (node)
            return mf_node_is_int(node) && mf_node_int(node, &count) &&
                           count > 0
                       ? (uint64_t)count
                       : 0;
    }
    return 0;
}

enum mf_status mf_tensor_add_blocks(struct mf_tensor_work *work)
{
    struct blocks blocks = { .work = work,
                             .last = &blocks.first,
                             .experts = experts_of(work->hub->recipe) };
    enum mf_status status = MF_OK;

    work->hub->kept_nvfp4 = work->compressed.nvfp4 && !work->hub->decode;
    work->hub->kept_mxfp4 =
        work->compressed.method == MF_COMPRESSION_MXFP4 && !work->hub->decode;
    if (work->compressed.mxfp4) {
        work->pass = MF_ROW_EARLY;
        status = mf_tensor_each(work, add_mxfp4);
    }
    work->pass = MF_ROW_TENSOR;
    work->user = &blocks;
    if (status == MF_OK && work->compressed.nvfp4)
        status = mf_tensor_each(work, add_nvfp4);
    while (status == MF_OK && blocks.first) {
        const struct waiting *waiting = blocks.first;

        forget(&blocks, waiting);
        status = give(&blocks, waiting);
    }
    work->user = NULL;
    return status == MF_OK ? mf_group_check(work) : status;
}
