/* SPDX-License-Identifier: MIT
 *
 * weights.c - the tensors that each device has
 *
 * Every tensor of the file is somewhere, so that without devices the weights
 * are the file's tensor data.  Tensors that llama.cpp does not load (blocks for
 * speculative decoding) are on the host: pages of the file that nobody reads.
 */
#include "lib/plan/devices.h"

#include "lib/arch/run.h"
#include "lib/base/str.h"

enum where { MF_PART_OUTPUT, MF_PART_INPUT, MF_PART_FIRST, MF_PART_EVERY };

static const struct {
    const char *name;
    enum where where;
} parts[] = {
#define PART(name, where) { name, MF_PART_##where },
#include "lib/plan/parts.def"
};

/* The number that is the first whole component of a name, such as 3 in
 * "blk.3.attn_q.weight"; false if there is none. */
static bool take_block(struct mf_str name, uint64_t *out)
{
    size_t start = 0;

    for (size_t i = 0; i <= name.size; i++) {
        uint64_t block = 0;
        size_t at = start;

        if (i < name.size && name.at[i] != '.')
            continue;
        while (at < i && name.at[at] >= '0' && name.at[at] <= '9' &&
               block <= MF_ARCH_BLOCKS_MAX)
            block = block * 10 + (uint64_t)(name.at[at++] - '0');
        if (at == i && at > start) {
            *out = block;
            return true;
        }
        start = i + 1;
    }
    return false;
}

/* Matrices of all experts, which llama.cpp's --cpu-moe keeps on the host; also
 * their scales and biases. */
static bool is_expert(struct mf_str name)
{
    static const char *const kinds[] = {
        ".ffn_up_exps",     ".ffn_down_exps",
        ".ffn_gate_exps",   ".ffn_gate_up_exps",
        ".ffn_up_chexps",   ".ffn_down_chexps",
        ".ffn_gate_chexps", ".ffn_gate_up_chexps",
        ".experts.", /* of Hugging Face's models */
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (mf_str_holds(name, kinds[i]))
            return true;
    return false;
}

static enum where part_of(struct mf_str name)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (mf_str_begins(name, parts[i].name))
            return parts[i].where;
    return MF_PART_OUTPUT;
}

/* What all tensors of a model have in common. */
struct weights {
    struct mf_planner *planner;
    const struct mf_plan_split *split;
    struct mf_plan *plan;
    uint64_t layers; /* blocks that are loaded */
    bool cpu_experts;
    bool norm_is_last; /* the norm of the embedding is that of the output */
};

static void add(const struct weights *weights, size_t device, uint64_t size)
{
    struct mf_plan_device *row = &weights->plan->device[device];

    row->weights = mf_plan_add(row->weights, size);
}

/* Once on each device that has a block which reads it. */
static void add_everywhere(const struct weights *weights, uint64_t size)
{
    size_t last = SIZE_MAX;

    for (uint64_t i = 0; i < weights->layers; i++) {
        size_t device = mf_plan_device_of(weights->split, i);

        if (device == last ||
            mf_planner_number(weights->planner, "rope_shared", i) == 0)
            continue;
        add(weights, device, size);
        last = device;
    }
    if (last == SIZE_MAX)
        add(weights, 0, size);
}

static size_t device_of(const struct weights *weights, struct mf_str name,
                        enum where where)
{
    uint64_t block = 0;

    if (where == MF_PART_INPUT || (weights->cpu_experts && is_expert(name)))
        return 0;
    if (where == MF_PART_FIRST && !weights->norm_is_last)
        return mf_plan_device_of(weights->split, 0);
    if (where != MF_PART_OUTPUT || !take_block(name, &block))
        block = weights->split->blocks;
    else if (block >= weights->layers)
        return 0;
    return mf_plan_device_of(weights->split, block);
}

static void add_tensor(const struct weights *weights,
                       const struct mf_record *record)
{
    struct mf_str name = { record->name, record->name_size };
    enum where where = part_of(name);

    if (where == MF_PART_EVERY)
        add_everywhere(weights, record->size);
    else
        add(weights, device_of(weights, name, where), record->size);
}

/* The embedding is the output too if there is no other: a device that computes
 * the output has a copy. */
static void add_tied(const struct weights *weights)
{
    static const char embedding[] = "token_embd.weight";
    static const char output[] = "output.weight";
    struct mf_arch_run *rows = mf_planner_rows(weights->planner);
    size_t device = mf_plan_device_of(weights->split, weights->split->blocks);
    const struct mf_record *record;

    if (device == 0 || mf_planner_number(weights->planner, "tied", 0) == 0 ||
        mf_arch_tensor(rows, (struct mf_str){ output, sizeof(output) - 1 }))
        return;
    record = mf_arch_tensor(
        rows, (struct mf_str){ embedding, sizeof(embedding) - 1 });
    if (record)
        add(weights, device, record->size);
}

void mf_plan_weights(struct mf_planner *planner,
                     const struct mf_plan_options *options,
                     const struct mf_plan_split *split, struct mf_plan *plan)
{
    const struct mf_index *index = &mf_planner_model(planner)->index;
    struct weights weights = { planner, split, plan, 0, options->cpu_experts,
                               false };

    weights.layers =
        mf_plan_min(mf_planner_number(planner, "layers", 0), split->blocks);
    weights.norm_is_last = mf_planner_number(planner, "embd_norm_last", 0) == 1;
    if (!mf_planner_model(planner)->info.has_tensors)
        plan->device[0].weights = MF_PLAN_UNKNOWN;
    for (size_t i = 0; i < index->tensor_count; i++)
        add_tensor(&weights, &index->tensor[i]);
    add_tied(&weights);
}
