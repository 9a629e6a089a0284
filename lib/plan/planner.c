/* SPDX-License-Identifier: MIT
 *
 * planner.c - the numbers of a model and of its blocks
 *
 * The rows of lib/arch give them.  What they leave open is decided here: a
 * number of 0 or below where there must be something makes no sense, and the
 * metadata that it comes from is kept as the reason.
 */
#include "lib/plan/graph.h"

#include "lib/hub/fields.h"

#include <stdio.h>
#include <string.h>

struct mf_planner {
    struct mf_model *model;
    struct mf_arch_run *rows;
    struct mf_arena arena; /* of what the rows take from elsewhere */
    uint64_t blocks;
    struct mf_graph_kinds *kinds;
    char reason[200];
};

void mf_planner_note(struct mf_planner *planner, const char *format, ...)
{
    va_list arguments;

    if (*planner->reason)
        return;
    va_start(arguments, format);
    vsnprintf(planner->reason, sizeof(planner->reason), format, arguments);
    va_end(arguments);
}

/* NULL: those that the last number depends on. */
void mf_planner_note_key(struct mf_planner *planner, const char *key)
{
    if (!*planner->reason)
        mf_arch_explain(planner->rows, key, planner->reason,
                        sizeof(planner->reason));
}

uint64_t mf_planner_number(struct mf_planner *planner, const char *name,
                           uint64_t block)
{
    int64_t value;

    if (mf_arch_value(planner->rows, name, block, &value) && value >= 0)
        return (uint64_t)value;
    if (mf_arch_overflowed(planner->rows))
        return MF_PLAN_HUGE;
    mf_planner_note_key(planner, NULL);
    return MF_PLAN_UNKNOWN;
}

/* Loaders take at most 512 blocks; more than MF_ARCH_BLOCKS_MAX make no sense,
 * and nothing is repeated for them. */
static void count_blocks(struct mf_planner *planner)
{
    uint64_t blocks = mf_planner_number(planner, "blocks", 0);

    if (mf_plan_is_number(blocks) && blocks > 0 && blocks <= MF_ARCH_BLOCKS_MAX)
        planner->blocks = blocks;
    else
        mf_planner_note_key(planner, "block_count");
}

/* Other formats than GGUF have numbers under other names, or in a config.json,
 * without which there is no more than the size of the weights. */
static enum mf_status open_rows(struct mf_planner *planner)
{
    struct mf_model *model = planner->model;
    struct mf_arch_fields fields;
    enum mf_status status;

    if (model->format->naming == MF_NAMING_GGUF)
        return mf_arch_open(model, NULL, &planner->rows);
    status = mf_hub_fields(model, &planner->arena, &fields, NULL);
    if (status == MF_ERR_MEMORY)
        return status;
    if (status != MF_OK)
        mf_planner_note(planner, "%s", model->env->error.message);
    mf_clear_error(model->env);
    return mf_arch_open(model, &fields, &planner->rows);
}

enum mf_status mf_planner_open(struct mf_model *model, struct mf_planner **out)
{
    struct mf_planner *planner = mf_alloc(model->env, sizeof(*planner));
    enum mf_status status;

    if (!planner)
        return model->env->error.status;
    memset(planner, 0, sizeof(*planner));
    planner->model = model;
    mf_arena_init(&planner->arena, model->env);
    status = open_rows(planner);
    if (status != MF_OK) {
        mf_planner_close(planner);
        return status;
    }
    count_blocks(planner);
    *out = planner;
    return MF_OK;
}

void mf_planner_close(struct mf_planner *planner)
{
    if (!planner)
        return;
    mf_graph_kinds_free(planner->model->env, planner->kinds);
    mf_arch_close(planner->rows);
    mf_arena_release(&planner->arena);
    mf_release(planner->model->env, planner, sizeof(*planner));
}

struct mf_model *mf_planner_model(const struct mf_planner *planner)
{
    return planner->model;
}

struct mf_env *mf_planner_env(const struct mf_planner *planner)
{
    return planner->model->env;
}

const struct mf_graph_kinds *mf_planner_kinds(struct mf_planner *planner)
{
    if (!planner->kinds)
        planner->kinds = mf_graph_kinds_new(planner);
    return planner->kinds;
}

struct mf_arch_run *mf_planner_rows(struct mf_planner *planner)
{
    return planner->rows;
}

bool mf_planner_is_known(const struct mf_planner *planner)
{
    return mf_arch_is_known(planner->rows);
}

uint64_t mf_planner_blocks(const struct mf_planner *planner)
{
    return planner->blocks;
}

const char *mf_planner_reason(const struct mf_planner *planner)
{
    return planner->reason;
}

/* ---- a block ---- */

/* Whether the heads of a block make sense.  A block may have none, in a model
 * whose metadata has a number for each block, but not all of them. */
static bool are_heads_sane(struct mf_planner *planner, uint64_t block)
{
    static const struct {
        const char *key;
        bool required;
    } rows[] = {
        { "embedding_length", true },         { "attention.head_count", true },
        { "attention.head_count_kv", false }, { "attention.key_length", false },
        { "attention.value_length", false },
    };
    uint64_t heads, heads_kv;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (mf_arch_is_zero(planner->rows, rows[i].key) &&
            (rows[i].required || mf_arch_has_key(planner->rows, rows[i].key))) {
            mf_planner_note_key(planner, rows[i].key);
            return false;
        }
    heads = mf_planner_number(planner, "heads", block);
    heads_kv = mf_planner_number(planner, "heads_kv", block);
    if (heads > 0 && mf_plan_is_number(heads) && mf_plan_is_number(heads_kv) &&
        heads_kv > heads) {
        mf_planner_note_key(planner, "attention.head_count_kv");
        return false;
    }
    return true;
}

void mf_planner_block(struct mf_planner *planner, uint64_t block,
                      struct mf_plan_block *out)
{
    uint64_t cached = mf_planner_number(planner, "cached", block);
    uint64_t window = mf_planner_number(planner, "swa", block);
    uint64_t recurrent = mf_planner_number(planner, "recurrent", block);

    memset(out, 0, sizeof(*out));
    out->cached = cached != 0;
    out->window = window != 0;
    out->recurrent = recurrent != 0;
    if (cached != 0) {
        out->k = mf_planner_number(planner, "cache_k", block);
        out->v = mf_planner_number(planner, "cache_v", block);
        if (cached == MF_PLAN_UNKNOWN || window == MF_PLAN_UNKNOWN ||
            !are_heads_sane(planner, block))
            out->k = out->v = MF_PLAN_UNKNOWN;
    }
    if (recurrent != 0) {
        out->conv = mf_planner_number(planner, "state_conv", block);
        out->ssm = mf_planner_number(planner, "state_ssm", block);
    }
    if (recurrent == MF_PLAN_UNKNOWN)
        out->conv = out->ssm = MF_PLAN_UNKNOWN;
}
