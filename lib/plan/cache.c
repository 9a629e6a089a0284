/* SPDX-License-Identifier: MIT
 *
 * cache.c - keys and values of attention, and the state of recurrent blocks
 *
 * A cell holds what one token leaves in one block.  Blocks with as many cells
 * each are one cache, as llama.cpp has them.
 */
#include "lib/plan/plan.h"

#include <string.h>

/* Elements of a cell, and of a head if that must be whole blocks, too: flash
 * attention takes heads one by one. */
struct elements {
    uint64_t count, head;
};

/* The number that is not whole blocks of the type; 0 if both are. */
static uint64_t misfit(enum mf_type type, struct elements elements)
{
    uint64_t block = mf_types[type].block;

    if (!mf_plan_is_number(elements.count) || elements.count == 0)
        return 0;
    if (elements.count % block != 0)
        return elements.count;
    return mf_plan_is_number(elements.head) && elements.head % block != 0
               ? elements.head
               : 0;
}

/* Bytes of one cell's elements. */
static uint64_t row_bytes(enum mf_type type, struct elements elements)
{
    const struct mf_type_row *row = &mf_types[type];

    if (!mf_plan_is_number(elements.count))
        return elements.count;
    if (misfit(type, elements) != 0)
        return MF_PLAN_UNKNOWN;
    return mf_plan_mul(elements.count / row->block, row->bytes);
}

/* ---- the cells of a block ---- */

/* In the order of llama.cpp's log. */
enum kind { FULL, WINDOW, PACKED, PACKED_MORE, INDEX, KINDS };

static const char *const names[KINDS] = { "full", "window", "compressed",
                                          "compressed", "indexer" };

struct cells {
    enum kind kind;
    uint64_t count; /* of one stream */
    struct elements k, v;
};

#define CELLS_MAX 3 /* of one block */

/* Cells that hold several tokens each. */
static uint64_t packed_cells(uint64_t cells, uint64_t tokens)
{
    if (!mf_plan_is_number(tokens))
        return MF_PLAN_UNKNOWN;
    return mf_plan_round(mf_plan_div(mf_plan_add(cells, tokens - 1), tokens),
                         MF_PLAN_CELLS);
}

/* Returns how many kinds of cells the block has. */
static size_t cells_of(const struct mf_plan_settings *settings,
                       const struct mf_plan_block *block,
                       struct cells out[CELLS_MAX])
{
    size_t count = 0;

    if (block->cached)
        out[count++] = (struct cells){
            block->window ? WINDOW : FULL,
            block->window ? settings->window_cells : settings->cells,
            { block->k, settings->flash ? block->head_k : 0 },
            settings->flash ? (struct elements){ block->v, block->head_v }
                            : (struct elements){ block->v_plain, 0 }
        };
    if (block->packed.tokens > 0)
        out[count++] =
            (struct cells){ block->packed.tokens > 4 ? PACKED_MORE : PACKED,
                            packed_cells(settings->cells, block->packed.tokens),
                            { block->packed.k, 0 },
                            { block->packed.v, 0 } };
    if (block->index.tokens > 0)
        out[count++] =
            (struct cells){ INDEX,
                            packed_cells(settings->cells, block->index.tokens),
                            { block->index.k, 0 },
                            { block->index.v, 0 } };
    return count;
}

static struct mf_plan_bytes bytes_of(const struct mf_plan_settings *settings,
                                     const struct cells *cells)
{
    uint64_t count = mf_plan_mul(cells->count, settings->streams);

    return (struct mf_plan_bytes){
        mf_plan_mul(row_bytes(settings->type_k, cells->k), count),
        mf_plan_mul(row_bytes(settings->type_v, cells->v), count)
    };
}

struct mf_plan_bytes mf_plan_kv_bytes(const struct mf_plan_settings *settings,
                                      const struct mf_plan_block *block)
{
    struct cells cells[CELLS_MAX];
    size_t count = cells_of(settings, block, cells);
    struct mf_plan_bytes out = { 0, 0 };

    for (size_t i = 0; i < count; i++) {
        struct mf_plan_bytes bytes = bytes_of(settings, &cells[i]);

        out.k = mf_plan_add(out.k, bytes.k);
        out.v = mf_plan_add(out.v, bytes.v);
    }
    return out;
}

static uint64_t state_bytes(const struct mf_plan_settings *settings,
                            uint64_t elements)
{
    return mf_plan_mul(mf_plan_mul(elements, sizeof(float)),
                       settings->sequences);
}

uint64_t mf_plan_state_bytes(const struct mf_plan_settings *settings,
                             const struct mf_plan_block *block)
{
    return mf_plan_add(state_bytes(settings, block->conv),
                       state_bytes(settings, block->ssm));
}

/* ---- all blocks ---- */

static void note_type(struct mf_planner *planner, enum mf_type type,
                      struct elements elements)
{
    uint64_t count = misfit(type, elements);

    if (count != 0)
        mf_planner_note(planner,
                        "blocks of %s have %u elements, and %" PRIu64
                        " are not whole blocks",
                        mf_types[type].name, mf_types[type].block, count);
}

/* Adds a block's cells to the cells of the same kind. */
static void add_block(struct mf_planner *planner,
                      const struct mf_plan_settings *settings,
                      const struct mf_plan_block *block,
                      struct mf_plan_cache cache[KINDS])
{
    struct cells cells[CELLS_MAX];
    size_t count = cells_of(settings, block, cells);

    for (size_t i = 0; i < count; i++) {
        struct mf_plan_cache *out = &cache[cells[i].kind];
        struct mf_plan_bytes bytes = bytes_of(settings, &cells[i]);

        note_type(planner, settings->type_k, cells[i].k);
        note_type(planner, settings->type_v, cells[i].v);
        out->cells = cells[i].count;
        out->layers++;
        out->k_bytes = mf_plan_add(out->k_bytes, bytes.k);
        out->v_bytes = mf_plan_add(out->v_bytes, bytes.v);
    }
}

/* Keeps the kinds that there are.  A model with windows has the full cache,
 * too, even if no block uses it. */
static void put_caches(const struct mf_plan_settings *settings,
                       struct mf_plan_cache cache[KINDS], struct mf_plan *plan)
{
    plan->cache_count = 0;
    plan->line[MF_PLAN_KV] = 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (cache[i].layers == 0 && (i != FULL || cache[WINDOW].layers == 0))
            continue;
        if (i == FULL)
            cache[i].cells = settings->cells;
        cache[i].window = i == WINDOW;
        cache[i].name = names[i];
        plan->cache[plan->cache_count++] = cache[i];
        plan->line[MF_PLAN_KV] =
            mf_plan_add(plan->line[MF_PLAN_KV],
                        mf_plan_add(cache[i].k_bytes, cache[i].v_bytes));
    }
}

void mf_plan_caches(struct mf_planner *planner,
                    const struct mf_plan_settings *settings,
                    struct mf_plan *plan)
{
    uint64_t blocks = mf_planner_blocks(planner);
    struct mf_plan_cache cache[KINDS] = { { .layers = 0 } };
    struct mf_plan_block block;

    plan->state_conv = plan->state_ssm = blocks ? 0 : MF_PLAN_UNKNOWN;
    for (uint64_t i = 0; i < blocks; i++) {
        mf_planner_block(planner, i, &block);
        add_block(planner, settings, &block, cache);
        plan->state_conv =
            mf_plan_add(plan->state_conv, state_bytes(settings, block.conv));
        plan->state_ssm =
            mf_plan_add(plan->state_ssm, state_bytes(settings, block.ssm));
    }
    put_caches(settings, cache, plan);
    if (blocks == 0)
        plan->line[MF_PLAN_KV] = MF_PLAN_UNKNOWN;
    plan->line[MF_PLAN_STATE] = mf_plan_add(plan->state_conv, plan->state_ssm);
}
