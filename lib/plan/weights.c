/* SPDX-License-Identifier: MIT
 *
 * weights.c - the tensors that each device has
 *
 * Every tensor of the file is somewhere, so that without devices the weights
 * are the file's tensor data.  Tensors that llama.cpp does not load (blocks for
 * speculative decoding) are on the host: pages of the file that stay unread.
 */
#include "lib/plan/devices.h"

#include <string.h>

#include "lib/arch/run.h"
#include "lib/base/str.h"

enum where { MF_PART_OUTPUT, MF_PART_INPUT, MF_PART_FIRST, MF_PART_EVERY };

static const struct {
    struct mf_str name;
    enum where where;
} parts[] = {
#define PART(name, where) { { name, sizeof(name) - 1 }, MF_PART_##where },
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
    if (mf_str_begins(name, "blk."))
        return MF_PART_OUTPUT; /* as most do */
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (name.size >= parts[i].name.size && name.size > 0 &&
            name.at[0] == parts[i].name.at[0] &&
            memcmp(name.at, parts[i].name.at, parts[i].name.size) == 0)
            return parts[i].where;
    return MF_PART_OUTPUT;
}

#define PLACE(device) (UINT32_C(1) << (device))

_Static_assert(MF_PLAN_DEVICES < 32, "a set of devices is 32 bits");

/* Each device that has a block which reads the tensor. */
static uint32_t everywhere(struct mf_planner *planner,
                           const struct mf_plan_places *places)
{
    uint32_t found = 0;

    if (places->split.devices == 0)
        return PLACE(0);
    for (uint64_t i = 0; i < places->split.blocks && i < places->layers; i++)
        if (mf_planner_number(planner, "rope_shared", i) != 0)
            found |= PLACE(mf_plan_device_of(&places->split, i));
    return found ? found : PLACE(0);
}

/* The embedding is the output too if there is no other: a device that computes
 * the output has a copy. */
static void find_tied(struct mf_planner *planner, struct mf_plan_places *places)
{
    static const struct mf_str embedding = { "token_embd.weight", 17 };
    static const struct mf_str output = { "output.weight", 13 };
    struct mf_arch_run *rows = mf_planner_rows(planner);
    const struct mf_record *record;

    if (mf_planner_number(planner, "tied", 0) == 0 ||
        mf_arch_tensor(rows, output))
        return;
    record = mf_arch_tensor(rows, embedding);
    if (record)
        places->tied = (struct mf_str){ record->name, record->name_size };
}

void mf_plan_places_of(struct mf_planner *planner,
                       const struct mf_plan_options *options,
                       struct mf_plan_places *out)
{
    memset(out, 0, sizeof(*out));
    mf_plan_split_of(mf_planner_blocks(planner), options, &out->split);
    out->cpu_experts = options->cpu_experts;
    out->layers =
        mf_plan_min(mf_planner_number(planner, "layers", 0), out->split.blocks);
    out->norm_is_last = mf_planner_number(planner, "embd_norm_last", 0) == 1;
    out->everywhere = everywhere(planner, out);
    find_tied(planner, out);
}

static size_t device_of(const struct mf_plan_places *places, struct mf_str name,
                        enum where where)
{
    uint64_t block = 0;

    if (where == MF_PART_INPUT || (places->cpu_experts && is_expert(name)))
        return 0;
    if (where == MF_PART_FIRST && !places->norm_is_last)
        return mf_plan_device_of(&places->split, 0);
    if (where != MF_PART_OUTPUT || !take_block(name, &block))
        block = places->split.blocks;
    else if (block >= places->layers)
        return 0;
    return mf_plan_device_of(&places->split, block);
}

uint32_t mf_plan_place(const struct mf_plan_places *places, struct mf_str name)
{
    enum where where = part_of(name);
    size_t output = mf_plan_device_of(&places->split, places->split.blocks);
    bool tied, loaded = true;
    uint64_t block;
    uint32_t found;

    if (where == MF_PART_EVERY)
        return places->everywhere;
    found = PLACE(device_of(places, name, where));
    tied = mf_str_same(name, places->tied) ||
           (places->tied.at && mf_str_is(name, "token_embd.weight"));
    if (tied)
        found |= PLACE(output);
    if (where == MF_PART_OUTPUT && take_block(name, &block))
        loaded = block < places->layers;
    if (found == PLACE(0) && places->split.count > 0 && loaded &&
        (where != MF_PART_INPUT || tied))
        found |= PLACE(MF_PLAN_LOAN);
    return found;
}

/* One whose shape or type implies no size is not of 0 bytes, unless it has no
 * elements. */
static bool has_size(struct mf_planner *planner, const struct mf_record *record)
{
    uint64_t elements;

    if (record->size > 0 ||
        (mf_elements(record->dim, record->rank, &elements) && elements == 0))
        return true;
    mf_planner_note(planner, "tensor '%s' has no size that is known",
                    mf_record_name(record).text);
    return false;
}

static void add_tensor(struct mf_planner *planner,
                       const struct mf_record *record,
                       struct mf_plan_placed *out)
{
    uint32_t found = mf_plan_place(
        &out->places, (struct mf_str){ record->name, record->name_size });
    uint64_t size = has_size(planner, record) ? record->size : MF_PLAN_UNKNOWN;

    for (size_t d = 0; d <= MF_PLAN_DEVICES; d++)
        if (found & PLACE(d))
            out->weights[d] = mf_plan_add(out->weights[d], size);
    if (found & PLACE(MF_PLAN_LOAN) && record->size > out->loan)
        out->loan = record->size;
}

/* A planner makes many plans with the same places: they are kept. */
static const struct mf_plan_placed *
place_all(struct mf_planner *planner, const struct mf_plan_places *places)
{
    const struct mf_index *index = &mf_planner_model(planner)->index;
    struct mf_plan_placed *placed = mf_planner_placed(planner);

    if (placed->done && memcmp(&placed->places, places, sizeof(*places)) == 0)
        return placed;
    memset(placed, 0, sizeof(*placed));
    memcpy(&placed->places, places, sizeof(*places));
    placed->done = true;
    if (!mf_planner_model(planner)->info.has_tensors)
        placed->weights[0] = MF_PLAN_UNKNOWN;
    for (size_t i = 0; i < index->tensor_count; i++)
        add_tensor(planner, &index->tensor[i], placed);
    return placed;
}

uint64_t mf_plan_loan(struct mf_planner *planner,
                      const struct mf_plan_places *places, uint64_t tokens)
{
    return tokens < MF_PLAN_LARGE_BATCH ? 0 : place_all(planner, places)->loan;
}

void mf_plan_weights(struct mf_planner *planner,
                     const struct mf_plan_places *places, struct mf_plan *plan)
{
    const struct mf_plan_placed *placed = place_all(planner, places);

    for (size_t d = 0; d < plan->device_count; d++)
        plan->device[d].weights = placed->weights[d];
}
