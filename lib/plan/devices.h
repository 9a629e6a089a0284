/* SPDX-License-Identifier: MIT
 *
 * devices.h - which block is on which device
 *
 * As llama.cpp splits a model by layers: the last blocks go to the devices, in
 * their order, and each device gets a share of them that is as large as its
 * share of all devices' memory.
 */
#ifndef MF_LIB_PLAN_DEVICES_H
#define MF_LIB_PLAN_DEVICES_H

#include "lib/plan/plan.h"

/* Tokens of which ggml lets a device compute what the host has. */
#define MF_PLAN_LARGE_BATCH 32

struct mf_plan_split {
    uint64_t blocks; /* of the model; 0: unknown */
    uint64_t first;  /* the first block that is on a device */
    uint64_t count;  /* blocks on devices, and the output if it is there */
    size_t devices;
    /* Where the next device begins, of 1.  Not double: a block on the border
     * would be on another device than llama.cpp puts it. */
    float end[MF_PLAN_DEVICES];
};

void mf_plan_split_of(uint64_t blocks, const struct mf_plan_options *options,
                      struct mf_plan_split *out);

/* The place of a block in mf_plan.device; the output's, if block is the
 * number of blocks. */
size_t mf_plan_device_of(const struct mf_plan_split *split, uint64_t block);

/* Where the tensors of a model are (weights.c). */
struct mf_plan_places {
    struct mf_plan_split split;
    uint64_t layers; /* blocks that are loaded */
    bool cpu_experts;
    bool norm_is_last;   /* the norm of the embedding is the output's, too */
    struct mf_str tied;  /* the embedding that is the output, too; or NULL */
    uint32_t everywhere; /* devices that have what all blocks read */
};

void mf_plan_places_of(struct mf_planner *planner,
                       const struct mf_plan_options *options,
                       struct mf_plan_places *out);

/* A bit for tensors of the host that the first device fetches to compute large
 * batches: it needs room for one of them, the largest. */
#define MF_PLAN_LOAN (1 + MF_PLAN_DEVICES)

/* What the tensors take at these places. */
struct mf_plan_placed {
    bool done;
    struct mf_plan_places places;
    uint64_t weights[1 + MF_PLAN_DEVICES]; /* of each of mf_plan.device */
    uint64_t loan; /* the largest tensor of those that are lent */
};

/* Of the last plan; the planner keeps them (planner.c). */
struct mf_plan_placed *mf_planner_placed(struct mf_planner *planner);

/* The devices that have the tensor: bits 1 << place in mf_plan.device, and
 * perhaps 1 << MF_PLAN_LOAN. */
uint32_t mf_plan_place(const struct mf_plan_places *places, struct mf_str name);

/* What each of mf_plan.device needs while tokens are computed (graph.c); false
 * if the architecture's graph is not known. */
bool mf_plan_compute_on(struct mf_planner *planner,
                        const struct mf_plan_settings *settings,
                        const struct mf_plan_split *split, uint64_t *bytes);

/* The largest tensor of those that are lent; 0 if tokens are too few. */
uint64_t mf_plan_loan(struct mf_planner *planner,
                      const struct mf_plan_places *places, uint64_t tokens);

/* The weights of each device: the tensors that it has. */
void mf_plan_weights(struct mf_planner *planner,
                     const struct mf_plan_places *places, struct mf_plan *plan);

#endif
