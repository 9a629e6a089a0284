/* SPDX-License-Identifier: MIT
 *
 * cache.c - keys and values of attention, and the state of recurrent blocks
 *
 * A cell holds what one token leaves in one block.  Blocks with as many cells
 * each are one cache, as llama.cpp has them.
 */
#include "lib/plan/plan.h"

#include <string.h>

/* Bytes of one cell's elements. */
static uint64_t row_bytes(enum mf_type type, uint64_t elements)
{
    const struct mf_type_row *row = &mf_types[type];

    if (!mf_plan_is_number(elements))
        return elements;
    if (elements % row->block != 0)
        return MF_PLAN_UNKNOWN;
    return mf_plan_mul(elements / row->block, row->bytes);
}

struct mf_plan_bytes mf_plan_kv_bytes(const struct mf_plan_settings *settings,
                                      const struct mf_plan_block *block)
{
    uint64_t cells =
        mf_plan_mul(block->window ? settings->window_cells : settings->cells,
                    settings->streams);
    struct mf_plan_bytes out = { 0, 0 };

    if (!block->cached)
        return out;
    out.k = mf_plan_mul(row_bytes(settings->type_k, block->k), cells);
    out.v = mf_plan_mul(row_bytes(settings->type_v, block->v), cells);
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

/* The elements of a type with blocks must be whole blocks. */
static void note_type(struct mf_planner *planner, enum mf_type type,
                      uint64_t elements)
{
    if (mf_plan_is_number(elements) && elements % mf_types[type].block != 0)
        mf_planner_note(planner,
                        "blocks of %s have %u elements, and %" PRIu64
                        " are not whole blocks",
                        mf_types[type].name, mf_types[type].block, elements);
}

static struct mf_plan_cache *cache_of(struct mf_plan *plan,
                                      const struct mf_plan_settings *settings,
                                      const struct mf_plan_block *block)
{
    struct mf_plan_cache *cache = plan->cache;

    for (; cache < plan->cache + plan->cache_count; cache++)
        if (cache->window == block->window)
            return cache;
    plan->cache_count++;
    memset(cache, 0, sizeof(*cache));
    cache->window = block->window;
    cache->cells = block->window ? settings->window_cells : settings->cells;
    return cache;
}

static void add_block(struct mf_planner *planner,
                      const struct mf_plan_settings *settings,
                      const struct mf_plan_block *block, struct mf_plan *plan)
{
    struct mf_plan_bytes bytes = mf_plan_kv_bytes(settings, block);
    struct mf_plan_cache *cache;

    plan->state_conv =
        mf_plan_add(plan->state_conv, state_bytes(settings, block->conv));
    plan->state_ssm =
        mf_plan_add(plan->state_ssm, state_bytes(settings, block->ssm));
    if (!block->cached)
        return;
    note_type(planner, settings->type_k, block->k);
    note_type(planner, settings->type_v, block->v);
    cache = cache_of(plan, settings, block);
    cache->layers++;
    cache->k_bytes = mf_plan_add(cache->k_bytes, bytes.k);
    cache->v_bytes = mf_plan_add(cache->v_bytes, bytes.v);
}

void mf_plan_caches(struct mf_planner *planner,
                    const struct mf_plan_settings *settings,
                    struct mf_plan *plan)
{
    uint64_t blocks = mf_planner_blocks(planner), kv = 0;
    struct mf_plan_block block;

    plan->cache_count = 0;
    plan->state_conv = plan->state_ssm = blocks ? 0 : MF_PLAN_UNKNOWN;
    for (uint64_t i = 0; i < blocks; i++) {
        mf_planner_block(planner, i, &block);
        add_block(planner, settings, &block, plan);
    }
    for (size_t i = 0; i < plan->cache_count; i++)
        kv = mf_plan_add(
            kv, mf_plan_add(plan->cache[i].k_bytes, plan->cache[i].v_bytes));
    plan->line[MF_PLAN_KV] = blocks ? kv : MF_PLAN_UNKNOWN;
    plan->line[MF_PLAN_STATE] = mf_plan_add(plan->state_conv, plan->state_ssm);
}
