/* SPDX-License-Identifier: MIT
 *
 * settings.c - options as llama.cpp rounds and refuses them
 */
#include "lib/plan/plan.h"
#include "lib/program.h"

#include <stdio.h>
#include <string.h>

#define UBATCH_USUAL  512
#define SEQUENCES_MAX 256 /* that llama.cpp takes */

static const enum mf_type cache_types[] = {
    MF_TYPE_F32,  MF_TYPE_F16,  MF_TYPE_BF16, MF_TYPE_Q8_0,   MF_TYPE_Q4_0,
    MF_TYPE_Q4_1, MF_TYPE_Q5_0, MF_TYPE_Q5_1, MF_TYPE_IQ4_NL,
};

#define CACHE_TYPES (sizeof(cache_types) / sizeof(*cache_types))

const char *mf_plan_cache_type(size_t index)
{
    return index < CACHE_TYPES ? mf_types[cache_types[index]].name : NULL;
}

/* ---- types ---- */

static enum mf_status unknown_type(struct mf_env *env, const char *name)
{
    char known[160] = "";
    size_t used = 0;

    for (size_t i = 0; i < CACHE_TYPES; i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i > 0 ? ", " : "", mf_plan_cache_type(i));
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "unknown cache type %s; known are %s",
                   mf_quote((struct mf_str){ name, strlen(name) }).text, known);
}

static enum mf_status find_type(struct mf_env *env, const char *name,
                                enum mf_type *out)
{
    *out = MF_TYPE_F16;
    if (!name)
        return MF_OK;
    for (size_t i = 0; i < CACHE_TYPES; i++)
        if (strcmp(name, mf_plan_cache_type(i)) == 0) {
            *out = cache_types[i];
            return MF_OK;
        }
    return unknown_type(env, name);
}

/* Without flash attention values are read along cells, across the blocks of
 * a quantized type. */
static enum mf_status choose_flash(struct mf_planner *planner,
                                   enum mf_flash flash,
                                   struct mf_plan_settings *out)
{
    struct mf_env *env = mf_planner_env(planner);
    bool possible = mf_planner_ask(planner, "flash", 0) != 0;

    out->flash = flash != MF_FLASH_OFF && possible;
    if (out->flash || !mf_type_is_quantized(out->type_v))
        return MF_OK;
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "values of type %s need flash attention%s",
                   mf_types[out->type_v].name,
                   possible ? "" : ", which this architecture cannot have");
}

/* ---- cells ---- */

/* The blocks of a model that have a window have the same one. */
static uint64_t window_cells(struct mf_planner *planner,
                             const struct mf_plan_settings *settings)
{
    uint64_t window = mf_planner_ask(planner, "window", 0), cells;

    if (settings->full_windows || window == 0)
        return settings->cells;
    cells =
        mf_plan_mul(window, settings->streams == 1 ? settings->sequences : 1);
    cells = mf_plan_add(cells, settings->ubatch);
    return mf_plan_round(mf_plan_min(cells, settings->cells), MF_PLAN_CELLS);
}

static void choose_cells(struct mf_planner *planner,
                         struct mf_plan_settings *out)
{
    uint64_t shares = out->unified ? 1 : out->sequences;

    out->context = mf_plan_round(out->asked, MF_PLAN_CELLS);
    out->cells = mf_plan_div(out->context, shares);
    out->cells = mf_plan_round(out->cells, MF_PLAN_CELLS);
    out->context = mf_plan_mul(out->cells, shares);
    out->streams = mf_planner_ask(planner, "split_streams", 0) == 1
                       ? out->sequences
                       : shares;
    out->window_cells = window_cells(planner, out);
    out->tokens = mf_plan_min(out->context, out->ubatch);
}

/* A number of the options; MF_PLAN_UNKNOWN: not given. */
static uint64_t given(uint64_t number, uint64_t usual)
{
    if (number == 0)
        return usual;
    return number < MF_PLAN_HUGE ? number : MF_PLAN_HUGE;
}

enum mf_status mf_plan_settings_of(struct mf_planner *planner,
                                   const struct mf_plan_options *options,
                                   struct mf_plan_settings *out)
{
    struct mf_env *env = mf_planner_env(planner);
    enum mf_status status;

    if (options->sequences > SEQUENCES_MAX)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%" PRIu64 " sequences are more than %d",
                       options->sequences, SEQUENCES_MAX);
    memset(out, 0, sizeof(*out));
    out->full_windows = options->full_windows;
    out->unified = options->unified;
    out->sequences = given(options->sequences, 1);
    out->asked = options->context ? given(options->context, 0)
                                  : mf_planner_number(planner, "ctx", 0);
    if (out->asked == 0) { /* of the model */
        out->asked = MF_PLAN_UNKNOWN;
        mf_planner_note_key(planner, "context_length");
    }
    out->ubatch = given(options->ubatch, UBATCH_USUAL);
    if (out->asked != MF_PLAN_UNKNOWN &&
        mf_planner_ask(planner, "causal", 0) != 0)
        out->ubatch = mf_plan_min(out->asked, out->ubatch);
    status = find_type(env, options->type_k, &out->type_k);
    if (status == MF_OK)
        status = find_type(env, options->type_v, &out->type_v);
    if (status == MF_OK)
        status = choose_flash(planner, options->flash, out);
    if (status == MF_OK)
        choose_cells(planner, out);
    return status;
}
