/* SPDX-License-Identifier: MIT
 *
 * devices.c - weights, the output buffer, and what is where
 */
#include "lib/plan/devices.h"

#include <stdio.h>
#include <string.h>

/* ---- which block is where ---- */

static void share(const struct mf_plan_options *options,
                  struct mf_plan_split *out)
{
    uint64_t most = 1;
    float sum = 0.0F;

    for (size_t i = 0; i < options->device_count; i++)
        if (options->device_limits[i] > most)
            most = options->device_limits[i];
    for (size_t i = 0; i < out->devices; i++) {
        uint64_t limit =
            i < options->device_count ? options->device_limits[i] : 0;

        /* A device without a limit counts as much as the largest one. */
        sum += (float)(limit > 0 ? limit : most);
        out->end[i] = sum;
    }
    for (size_t i = 0; i < out->devices; i++)
        out->end[i] /= sum;
}

void mf_plan_split_of(uint64_t blocks, const struct mf_plan_options *options,
                      struct mf_plan_split *out)
{
    uint64_t asked = 0;

    memset(out, 0, sizeof(*out));
    out->blocks = blocks;
    out->devices = options->device_count;
    if (options->offloaded)
        asked = options->offload;
    else if (out->devices > 0)
        asked = blocks + 1;
    if (asked > 0 && out->devices == 0)
        out->devices = 1;
    out->first = asked < blocks ? blocks - asked : 0;
    out->count = asked < blocks + 1 ? asked : blocks + 1;
    share(options, out);
}

size_t mf_plan_device_of(const struct mf_plan_split *split, uint64_t block)
{
    float place;
    size_t device = 0;

    if (block < split->first || block - split->first >= split->count)
        return 0;
    place = (float)(block - split->first) / (float)split->count;
    while (device + 1 < split->devices && split->end[device] <= place)
        device++;
    return 1 + device;
}

/* ---- what is where ---- */

/* Logits of one token for each sequence. */
static uint64_t output_bytes(struct mf_planner *planner,
                             const struct mf_plan_settings *settings)
{
    return mf_plan_mul(
        mf_plan_mul(mf_planner_number(planner, "output_row", 0), sizeof(float)),
        settings->sequences);
}

/* Keys, values and states are where their blocks are. */
static void add_blocks(struct mf_planner *planner,
                       const struct mf_plan_settings *settings,
                       const struct mf_plan_split *split, struct mf_plan *plan)
{
    for (uint64_t i = 0; i < split->blocks; i++) {
        struct mf_plan_device *device =
            &plan->device[mf_plan_device_of(split, i)];
        struct mf_plan_block block;
        struct mf_plan_bytes bytes;

        mf_planner_block(planner, i, &block);
        bytes = mf_plan_kv_bytes(settings, &block);
        device->kv = mf_plan_add(device->kv, mf_plan_add(bytes.k, bytes.v));
        device->state =
            mf_plan_add(device->state, mf_plan_state_bytes(settings, &block));
    }
}

/* Whether a device computes anything. */
static bool computes(const struct mf_plan_split *split, size_t device)
{
    for (uint64_t i = 0; i <= split->blocks; i++)
        if (mf_plan_device_of(split, i) == device)
            return true;
    return false;
}

/* Of an architecture without a graph: each device that computes needs what one
 * that computes all does; the host at least looks up the embedding. */
static void estimate_compute(struct mf_planner *planner,
                             const struct mf_plan_settings *settings,
                             const struct mf_plan_split *split, uint64_t *bytes)
{
    uint64_t embedding =
        mf_plan_mul(mf_planner_number(planner, "embd", 0), sizeof(float));
    bool estimated;
    uint64_t one = mf_plan_compute(planner, settings, &estimated);

    for (size_t i = 0; i <= split->devices; i++)
        bytes[i] = computes(split, i) ? one : 0;
    if (bytes[0] == 0)
        bytes[0] = mf_plan_mul(mf_plan_mul(embedding, settings->tokens), 2);
}

/* Keys and values of blocks of the host that a device has computed come back;
 * the embedding has left its place by then. */
static uint64_t returned(struct mf_planner *planner,
                         const struct mf_plan_settings *settings,
                         const struct mf_plan_split *split)
{
    uint64_t embd = mf_planner_number(planner, "embd", 0);
    uint64_t kv = mf_plan_add(mf_planner_number(planner, "k_gqa", 0),
                              mf_planner_number(planner, "v_gqa", 0));

    if (split->count == 0 || split->first == 0 ||
        settings->tokens < MF_PLAN_LARGE_BATCH || !mf_plan_is_number(embd) ||
        !mf_plan_is_number(kv) || kv <= embd)
        return 0;
    return mf_plan_mul(mf_plan_mul(kv - embd, sizeof(float)), settings->tokens);
}

/* Always estimated: drivers of devices need room of their own, and llama.cpp
 * may let a device compute what lies on the host. */
static void add_compute(struct mf_planner *planner,
                        const struct mf_plan_settings *settings,
                        const struct mf_plan_places *places,
                        struct mf_plan *plan)
{
    const struct mf_plan_split *split = &places->split;
    uint64_t bytes[1 + MF_PLAN_DEVICES];

    if (!mf_plan_compute_on(planner, settings, split, bytes))
        estimate_compute(planner, settings, split, bytes);
    bytes[1] =
        mf_plan_add(bytes[1], mf_plan_loan(planner, places, settings->tokens));
    for (size_t i = 0; i < plan->device_count; i++)
        plan->device[i].compute = bytes[i];
    plan->device[0].compute =
        mf_plan_add(bytes[0], returned(planner, settings, split));
    plan->estimated |= UINT32_C(1) << MF_PLAN_COMPUTE;
}

static void name_devices(const struct mf_plan_options *options,
                         const struct mf_plan_split *split,
                         struct mf_plan *plan)
{
    plan->device_count = 1 + split->devices;
    memset(plan->device, 0, sizeof(plan->device));
    snprintf(plan->device[0].name, sizeof(plan->device[0].name), "host");
    for (size_t i = 0; i < split->devices; i++) {
        struct mf_plan_device *device = &plan->device[1 + i];

        snprintf(device->name, sizeof(device->name), "device%hhu",
                 (unsigned char)i);
        if (i < options->device_count)
            device->limit = options->device_limits[i];
    }
}

/* Sums up over the devices, and each of them. */
static void add_devices(struct mf_plan *plan)
{
    uint64_t weights = 0, compute = 0;

    for (size_t i = 0; i < plan->device_count; i++) {
        struct mf_plan_device *device = &plan->device[i];

        weights = mf_plan_add(weights, device->weights);
        compute = mf_plan_add(compute, device->compute);
        device->total = mf_plan_add(
            mf_plan_add(mf_plan_add(device->weights, device->kv),
                        mf_plan_add(device->state, device->compute)),
            device->output);
    }
    plan->line[MF_PLAN_WEIGHTS] = weights;
    plan->line[MF_PLAN_COMPUTE] = compute;
    plan->mapped = plan->device[0].weights;
}

/* Without the number of blocks it is unknown what is where. */
static void nothing_is_known(struct mf_planner *planner, struct mf_plan *plan)
{
    const struct mf_model_info *info = &mf_planner_model(planner)->info;

    plan->line[MF_PLAN_WEIGHTS] =
        info->has_tensors ? info->data_size : MF_PLAN_UNKNOWN;
    plan->line[MF_PLAN_COMPUTE] = plan->mapped = MF_PLAN_UNKNOWN;
    for (size_t i = 0; i < plan->device_count; i++) {
        struct mf_plan_device *device = &plan->device[i];

        device->weights = device->kv = device->state = MF_PLAN_UNKNOWN;
        device->compute = device->total = MF_PLAN_UNKNOWN;
    }
}

void mf_plan_devices(struct mf_planner *planner,
                     const struct mf_plan_options *options,
                     const struct mf_plan_settings *settings,
                     struct mf_plan *plan)
{
    struct mf_plan_places places;
    const struct mf_plan_split *split = &places.split;
    bool estimated = false;

    plan->line[MF_PLAN_OUTPUT] = output_bytes(planner, settings);
    mf_plan_places_of(planner, options, &places);
    name_devices(options, split, plan);
    if (split->blocks == 0 && split->devices > 0) {
        nothing_is_known(planner, plan);
        return;
    }
    mf_plan_weights(planner, &places, plan);
    plan->device[0].output = plan->line[MF_PLAN_OUTPUT];
    if (plan->device_count > 1) {
        add_blocks(planner, settings, split, plan);
        add_compute(planner, settings, &places, plan);
    } else {
        plan->device[0].kv = plan->line[MF_PLAN_KV];
        plan->device[0].state = plan->line[MF_PLAN_STATE];
        plan->device[0].compute =
            mf_plan_compute(planner, settings, &estimated);
        if (estimated)
            plan->estimated |= UINT32_C(1) << MF_PLAN_COMPUTE;
    }
    add_devices(plan);
}
