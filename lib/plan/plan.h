/* SPDX-License-Identifier: MIT
 *
 * plan.h - the room that knows what memory a model needs to be run
 *
 * In: an open model, and how it will be run.  Out: bytes, part by part.  They
 * are what llama.cpp v0.5.0 allocates, found from the header alone.
 *
 *     plan       the public function
 *     planner    numbers of the model and of its blocks, from the rows of its
 *                architecture (lib/arch)
 *     outline    what is planned as a GGUF file that is not there: a folder, a
 *                model as it would be quantized
 *     settings   options, as llama.cpp rounds and refuses them
 *     cache      keys and values; also the state of recurrent blocks
 *     graph      what lives while tokens are computed
 *     devices    weights, the output buffer, and what is where
 *     contexts   those that curves are computed for
 *     fit        what fits into a given size: contexts, mixes, blocks
 *
 * What always holds:
 * - What an architecture does with its blocks is said by rows of lib/arch, not
 *   by code here.
 * - A number that depends on metadata which is missing or makes no sense is
 *   unknown, and so is what is made of it; nothing else is (see below).
 * - Loops end at MF_ARCH_BLOCKS_MAX; nothing is allocated by a number of a
 *   file.
 */
#ifndef MF_LIB_PLAN_H
#define MF_LIB_PLAN_H

#include "lib/arch/arch.h"
#include "lib/base/heap.h"
#include "lib/model/types.h"

/* ---- numbers of a model (planner.c) ---- */

struct mf_planner;

/* as: see mf_plan_options. */
enum mf_status mf_planner_open(struct mf_model *model, const char *as,
                               struct mf_planner **out);
void mf_planner_close(struct mf_planner *planner);

/* The model whose numbers count, and the one that was asked for. */
struct mf_model *mf_planner_model(const struct mf_planner *planner);
struct mf_model *mf_planner_asked(const struct mf_planner *planner);
struct mf_env *mf_planner_env(const struct mf_planner *planner);

/* Which of its blocks are alike, for graphs (kinds.c): made when first asked
 * for, and kept.  NULL after mf_fail. */
struct mf_graph_kinds;
const struct mf_graph_kinds *mf_planner_kinds(struct mf_planner *planner);

/* For mf_planner_close; kinds may be NULL. */
void mf_graph_kinds_free(struct mf_env *env, struct mf_graph_kinds *kinds);

/* The rows of the architecture, for graphs. */
struct mf_arch_run *mf_planner_rows(struct mf_planner *planner);

/* Whether there are rows for the architecture; else every block is full
 * attention. */
bool mf_planner_is_known(const struct mf_planner *planner);

/* Whether the weights, which are not there, may be others. */
bool mf_planner_is_unsure(const struct mf_planner *planner);

/* Blocks, with those for speculative decoding; 0 if unknown. */
uint64_t mf_planner_blocks(const struct mf_planner *planner);

/* A `let` or a key of the rows, as the block sees it; MF_PLAN_UNKNOWN also for
 * what is negative.  The second one keeps no reason: the number may well be
 * unknown. */
uint64_t mf_planner_number(struct mf_planner *planner, const char *name,
                           uint64_t block);
uint64_t mf_planner_ask(struct mf_planner *planner, const char *name,
                        uint64_t block);

/* Elements of one cell, and of how many tokens it is. */
struct mf_plan_cell {
    uint64_t k, v;
    uint64_t tokens; /* 0: the block has no such cells */
};

struct mf_plan_block {
    bool cached;                /* it keeps keys and values of its own */
    bool window;                /* of the last tokens only */
    bool recurrent;             /* it has a state */
    uint64_t k, v;              /* elements, a cell */
    uint64_t v_plain;           /* v without flash attention */
    uint64_t head_k, head_v;    /* elements of a head */
    struct mf_plan_cell packed; /* older tokens, several in a cell */
    struct mf_plan_cell index;  /* keys that choose which cells are read */
    uint64_t conv, ssm;         /* elements of the state, a sequence */
};

/* All members are unknown numbers, cached, if the block is unknown. */
void mf_planner_block(struct mf_planner *planner, uint64_t block,
                      struct mf_plan_block *out);

/* Why the last number was not known; "" if it was.  The first reason since
 * mf_planner_open stays. */
const char *mf_planner_reason(const struct mf_planner *planner);

/* Whether the model is a folder whose config.json gives no plan; the reason
 * says why, and only the weights are known. */
bool mf_planner_is_refused(const struct mf_planner *planner);

/* Keeps a reason, unless there is one; the second one, that the value of a key
 * of the rows makes no sense. */
void mf_planner_note(struct mf_planner *planner, const char *format, ...)
    MF_PRINTF(2, 3);
void mf_planner_note_key(struct mf_planner *planner, const char *key);

/* ---- the GGUF file that is planned (outline.c) ---- */

struct mf_plan_outline {
    struct mf_model *model; /* its header: without vocabulary and data */
    struct mf_model *keys;  /* of another format: its metadata as GGUF's keys */
    bool unsure; /* without weights: some tensors may be there, or not */
};

/* as: the name of a mix that it is quantized to; or NULL.  Without it, model
 * NULL: it is not a folder that becomes a GGUF file.  To be closed after an
 * error, too. */
enum mf_status mf_plan_outline_open(struct mf_model *model, const char *as,
                                    struct mf_plan_outline *out);
void mf_plan_outline_close(struct mf_plan_outline *outline);

/* ---- how it will be run (settings.c) ---- */

/* Cells of a cache come in groups of so many. */
#define MF_PLAN_CELLS 256

/* llama.cpp counts tokens in 32 bits: the last multiple of the group. */
#define MF_PLAN_TOKENS_MAX (UINT64_C(0x100000000) - MF_PLAN_CELLS)

struct mf_plan_settings {
    uint64_t asked;   /* tokens, as in the options or the metadata */
    uint64_t context; /* of all sequences together, as llama.cpp rounds it */
    uint64_t streams; /* caches: one for each sequence, or one */
    uint64_t cells;   /* of one stream */
    uint64_t window_cells; /* likewise, of blocks with a sliding window */
    uint64_t sequences, ubatch;
    uint64_t tokens; /* that are computed at once */
    enum mf_type type_k, type_v;
    bool flash, full_windows, unified;
};

/* MF_ERR_ARGUMENT for what llama.cpp refuses. */
enum mf_status mf_plan_settings_of(struct mf_planner *planner,
                                   const struct mf_plan_options *options,
                                   struct mf_plan_settings *out);

/* ---- caches and states (cache.c) ---- */

struct mf_plan_bytes {
    uint64_t k, v;
};

/* Keys and values of one block, of all its kinds of cells and of all streams; 0
 * if it keeps none. */
struct mf_plan_bytes mf_plan_kv_bytes(const struct mf_plan_settings *settings,
                                      const struct mf_plan_block *block);

/* The state of one block, of all sequences. */
uint64_t mf_plan_state_bytes(const struct mf_plan_settings *settings,
                             const struct mf_plan_block *block);

/* Fills in the caches, the state and their lines. */
void mf_plan_caches(struct mf_planner *planner,
                    const struct mf_plan_settings *settings,
                    struct mf_plan *plan);

/* ---- what lives while tokens are computed (graph.c) ---- */

/* Bytes on one device; *estimated: they may be off. */
uint64_t mf_plan_compute(struct mf_planner *planner,
                         const struct mf_plan_settings *settings,
                         bool *estimated);

/* ---- what is where (devices.c) ---- */

/* Fills in the weights, what computing takes, the output buffer, what is mapped
 * and the devices; caches and states are there. */
void mf_plan_devices(struct mf_planner *planner,
                     const struct mf_plan_options *options,
                     const struct mf_plan_settings *settings,
                     struct mf_plan *plan);

/* ---- all of it (plan.c) ---- */

/* A copy of the options, which are checked. */
enum mf_status mf_plan_options_take(struct mf_env *env,
                                    struct mf_plan_options *to,
                                    const struct mf_plan_options *options);

/* mf_plan with a planner that is open. */
enum mf_status mf_plan_with(struct mf_planner *planner,
                            const struct mf_plan_options *options,
                            struct mf_plan *out);

/* ---- sums and products that never wrap ---- */

/* An amount is a number below MF_PLAN_HUGE, MF_PLAN_HUGE or MF_PLAN_UNKNOWN.
 * What is made of something unknown is unknown; else what is made of something
 * huge is huge. */

static inline uint64_t mf_plan_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    return mf_add(a, b, &sum) && sum < MF_PLAN_HUGE ? sum : MF_PLAN_HUGE;
}

static inline uint64_t mf_plan_mul(uint64_t a, uint64_t b)
{
    uint64_t product;

    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    return mf_mul(a, b, &product) && product < MF_PLAN_HUGE ? product
                                                            : MF_PLAN_HUGE;
}

/* The smaller one; unknown if one of them is. */
static inline uint64_t mf_plan_min(uint64_t a, uint64_t b)
{
    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    return a < b ? a : b;
}

/* a / b, rounded down; b is not 0. */
static inline uint64_t mf_plan_div(uint64_t a, uint64_t b)
{
    if (a == MF_PLAN_UNKNOWN || b == MF_PLAN_UNKNOWN)
        return MF_PLAN_UNKNOWN;
    return a == MF_PLAN_HUGE ? MF_PLAN_HUGE : a / b;
}

/* Up to the next multiple of step. */
static inline uint64_t mf_plan_round(uint64_t a, uint64_t step)
{
    uint64_t over = a < MF_PLAN_HUGE ? a % step : 0;

    return mf_plan_add(a, over ? step - over : 0);
}

static inline bool mf_plan_is_number(uint64_t amount)
{
    return amount < MF_PLAN_HUGE;
}

#endif
