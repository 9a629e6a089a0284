/* SPDX-License-Identifier: MIT
 *
 * planner.c - the numbers of a model and of its blocks
 *
 * The rows of lib/arch give them.  What they leave open is decided here: a
 * number of 0 or below where there must be something makes no sense, and the
 * metadata that it comes from is kept as the reason.
 */
#include "lib/plan/devices.h"
#include "lib/plan/graph.h"

#include <stdio.h>
#include <string.h>

/* Kinds of blocks that are remembered. */
#define PLANNER_KINDS 8

#define LOADED_MAX 512 /* blocks, of which llama.cpp takes no more */

struct mf_planner {
    struct mf_model *model; /* the outline's, if there is one */
    struct mf_model *asked;
    struct mf_plan_outline outline;
    struct mf_arch_run *rows;
    uint64_t blocks;
    struct mf_graph_kinds *kinds;
    struct mf_plan_placed placed;
    uint64_t v_plain; /* of every block, without flash attention */
    /* Blocks that were asked for, from the first on, and what is known of them:
     * most models have few kinds. */
    uint64_t seen;
    size_t kind_count;
    struct mf_plan_block kind[PLANNER_KINDS];
    uint8_t kind_of[MF_ARCH_BLOCKS_MAX];
    char reason[200];
    bool refused; /* a folder: the reason says why */
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

uint64_t mf_planner_ask(struct mf_planner *planner, const char *name,
                        uint64_t block)
{
    int64_t value;

    if (mf_arch_value(planner->rows, name, block, &value) && value >= 0)
        return (uint64_t)value;
    return mf_arch_overflowed(planner->rows) ? MF_PLAN_HUGE : MF_PLAN_UNKNOWN;
}

uint64_t mf_planner_number(struct mf_planner *planner, const char *name,
                           uint64_t block)
{
    uint64_t number = mf_planner_ask(planner, name, block);

    if (number == MF_PLAN_UNKNOWN)
        mf_planner_note_key(planner, NULL);
    return number;
}

/* What loaders would refuse is not planned, as validate says of such a file. */
static bool has_too_many(struct mf_planner *planner)
{
    uint64_t blocks = mf_planner_ask(planner, "blocks", 0);
    size_t size;

    if (!mf_plan_is_number(blocks) || blocks <= LOADED_MAX)
        return false;
    if (!*planner->reason) {
        mf_planner_note_key(planner, "block_count");
        size = strlen(planner->reason);
        snprintf(planner->reason + size, sizeof(planner->reason) - size,
                 ", llama.cpp takes at most %d", LOADED_MAX);
    }
    return true;
}

/* Some are run several times; more than MF_ARCH_BLOCKS_MAX make no sense, and
 * nothing is repeated for them. */
static void count_blocks(struct mf_planner *planner)
{
    uint64_t blocks = mf_planner_number(planner, "run_blocks", 0);

    if (has_too_many(planner))
        return;
    if (mf_plan_is_number(blocks) && blocks > 0 && blocks <= MF_ARCH_BLOCKS_MAX)
        planner->blocks = blocks;
    else
        mf_planner_note_key(planner, "block_count");
}

/* Of a folder whose family is not converted, or that the conversion refuses,
 * nothing is known but the size of the weights, and why. */
static enum mf_status open_rows(struct mf_planner *planner, const char *as)
{
    struct mf_env *env = planner->model->env;
    enum mf_status status =
        mf_plan_outline_open(planner->model, as, &planner->outline);

    if (status == MF_ERR_MEMORY || (status != MF_OK && as) ||
        (status != MF_OK && planner->model->bare))
        return status;
    planner->refused = status != MF_OK;
    if (planner->refused)
        mf_planner_note(planner, "%s", env->error.message);
    mf_clear_error(env);
    if (planner->outline.model)
        planner->model = planner->outline.model;
    return mf_arch_open(planner->model, planner->outline.keys, &planner->rows);
}

/* Loaders take these lists as they are, and 0 for blocks that they lack; models
 * have a number for each block. */
static void check_lists(struct mf_planner *planner)
{
    static const char *const keys[] = { "attention.sliding_window_pattern",
                                        "attention.indexer.types" };
    uint64_t layers = mf_planner_ask(planner, "layers", 0);

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (planner->blocks > 0)
            mf_arch_expect_count(planner->rows, keys[i], layers,
                                 planner->blocks);
}

enum mf_status mf_planner_open(struct mf_model *model, const char *as,
                               struct mf_planner **out)
{
    struct mf_planner *planner;
    enum mf_status status;

    if (mf_table_refuse(model) != MF_OK)
        return model->env->error.status;
    planner = mf_alloc(model->env, sizeof(*planner));
    if (!planner)
        return model->env->error.status;
    memset(planner, 0, sizeof(*planner));
    planner->model = planner->asked = model;
    status = open_rows(planner, as);
    if (status != MF_OK) {
        mf_planner_close(planner);
        return status;
    }
    count_blocks(planner);
    check_lists(planner);
    planner->v_plain = mf_planner_ask(planner, "cache_v_plain", 0);
    *out = planner;
    return MF_OK;
}

void mf_planner_close(struct mf_planner *planner)
{
    struct mf_env *env;

    if (!planner)
        return;
    env = planner->asked->env;
    mf_graph_kinds_free(env, planner->kinds);
    mf_arch_close(planner->rows);
    mf_plan_outline_close(&planner->outline);
    mf_release(env, planner, sizeof(*planner));
}

struct mf_model *mf_planner_model(const struct mf_planner *planner)
{
    return planner->model;
}

/* A bare model has no tensors of its own. */
struct mf_model *mf_planner_asked(const struct mf_planner *planner)
{
    return planner->asked->bare ? planner->model : planner->asked;
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

struct mf_plan_placed *mf_planner_placed(struct mf_planner *planner)
{
    return &planner->placed;
}

bool mf_planner_is_known(const struct mf_planner *planner)
{
    return mf_arch_is_known(planner->rows);
}

bool mf_planner_is_unsure(const struct mf_planner *planner)
{
    return planner->outline.unsure;
}

uint64_t mf_planner_blocks(const struct mf_planner *planner)
{
    return planner->blocks;
}

bool mf_planner_is_refused(const struct mf_planner *planner)
{
    return planner->refused;
}

const char *mf_planner_reason(const struct mf_planner *planner)
{
    return planner->reason;
}

/* ---- metadata that makes no sense ---- */

struct positive {
    const char *key;
    bool required;
};

/* Whether no key is 0 that must not be.  A key with a number for each block may
 * have some that are: those blocks are of another kind. */
static bool are_positive(struct mf_planner *planner, const struct positive *row,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mf_arch_is_zero(planner->rows, row[i].key) &&
            (row[i].required || mf_arch_has_key(planner->rows, row[i].key))) {
            mf_planner_note_key(planner, row[i].key);
            return false;
        }
    return true;
}

static bool are_heads_sane(struct mf_planner *planner, uint64_t block)
{
    static const struct positive rows[] = {
        { "embedding_length", true },         { "attention.head_count", true },
        { "attention.head_count_kv", false }, { "attention.key_length", false },
        { "attention.value_length", false },
    };
    uint64_t heads, heads_kv;

    if (!are_positive(planner, rows, sizeof(rows) / sizeof(*rows)))
        return false;
    heads = mf_planner_number(planner, "heads", block);
    heads_kv = mf_planner_number(planner, "heads_kv", block);
    if (heads == 0 || heads_kv == MF_PLAN_UNKNOWN || heads_kv <= heads)
        return true;
    mf_planner_note_key(planner, "attention.head_count_kv");
    return false;
}

static bool is_state_sane(struct mf_planner *planner)
{
    static const struct positive rows[] = {
        { "ssm.conv_kernel", false }, { "ssm.state_size", false },
        { "ssm.inner_size", false },  { "wkv.head_size", false },
        { "kda.head_dim", false },    { "shortconv.l_cache", false },
        { "embedding_length", true },
    };

    return are_positive(planner, rows, sizeof(rows) / sizeof(*rows));
}

/* Every how many blocks one is not recurrent. */
static bool is_interval_sane(struct mf_planner *planner)
{
    static const struct positive row = { "full_attention_interval", false };

    return are_positive(planner, &row, 1);
}

/* ---- a block ---- */

/* Keys and values of a block that keeps some. */
static void put_cells(struct mf_planner *planner, uint64_t block,
                      struct mf_plan_block *out)
{
    out->k = mf_planner_number(planner, "cache_k", block);
    out->v = mf_planner_number(planner, "cache_v", block);
    out->v_plain = planner->v_plain;
    out->head_k = mf_planner_ask(planner, "head_k", block);
    out->head_v = mf_planner_ask(planner, "head_v", block);
    if (out->window && mf_planner_number(planner, "window", block) == 0) {
        mf_planner_note_key(planner, "attention.sliding_window");
        out->k = MF_PLAN_UNKNOWN;
    }
    if (out->k == MF_PLAN_UNKNOWN || !are_heads_sane(planner, block))
        out->k = out->v = out->v_plain = MF_PLAN_UNKNOWN;
}

static void put_cell(struct mf_planner *planner, uint64_t block,
                     const char *tokens, const char *k, const char *v,
                     struct mf_plan_cell *out)
{
    out->tokens = mf_planner_number(planner, tokens, block);
    if (out->tokens == 0)
        return;
    out->k = mf_planner_number(planner, k, block);
    out->v = mf_planner_number(planner, v, block);
}

static void compute_block(struct mf_planner *planner, uint64_t block,
                          struct mf_plan_block *out)
{
    uint64_t cached = mf_planner_number(planner, "cached", block);
    uint64_t window = mf_planner_number(planner, "swa", block);
    uint64_t recurrent = mf_planner_number(planner, "recurrent", block);

    if (cached == MF_PLAN_UNKNOWN || recurrent == MF_PLAN_UNKNOWN)
        is_interval_sane(planner);
    memset(out, 0, sizeof(*out));
    out->cached = cached != 0;
    out->window = window != 0;
    out->recurrent = recurrent != 0;
    if (out->cached)
        put_cells(planner, block, out);
    if (cached == MF_PLAN_UNKNOWN || window == MF_PLAN_UNKNOWN)
        out->k = out->v = out->v_plain = MF_PLAN_UNKNOWN;
    put_cell(planner, block, "packed", "packed_k", "packed_v", &out->packed);
    put_cell(planner, block, "indexed", "index_k", "index_v", &out->index);
    if (out->recurrent) {
        out->conv = mf_planner_number(planner, "state_conv", block);
        out->ssm = mf_planner_number(planner, "state_ssm", block);
    }
    if (recurrent == MF_PLAN_UNKNOWN ||
        (out->recurrent && !is_state_sane(planner)))
        out->conv = out->ssm = MF_PLAN_UNKNOWN;
}

/* Keeps what is known of the next block, if it is of one of the kinds that
 * there is room for. */
static void keep_block(struct mf_planner *planner,
                       const struct mf_plan_block *block)
{
    size_t kind = 0;

    while (kind < planner->kind_count &&
           memcmp(&planner->kind[kind], block, sizeof(*block)) != 0)
        kind++;
    if (kind == planner->kind_count && kind < PLANNER_KINDS)
        planner->kind[planner->kind_count++] = *block;
    planner->kind_of[planner->seen++] = (uint8_t)kind;
}

/* A plan asks for each block several times, and a search for what fits makes
 * many plans. */
void mf_planner_block(struct mf_planner *planner, uint64_t block,
                      struct mf_plan_block *out)
{
    if (block < planner->seen && planner->kind_of[block] < PLANNER_KINDS) {
        *out = planner->kind[planner->kind_of[block]];
        return;
    }
    compute_block(planner, block, out);
    if (block == planner->seen && block < planner->blocks)
        keep_block(planner, out);
}
