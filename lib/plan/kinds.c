/* SPDX-License-Identifier: MIT
 *
 * kinds.c - which blocks of a model are alike
 *
 * A digest of each block, made once for a model: of the names and shapes of its
 * tensors, and of what lib/arch says of it.
 */
#include "lib/plan/graph.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The number between dots in a tensor's name; *rest: what follows it. */
static bool block_of(const struct mf_record *record, uint64_t *block,
                     size_t *rest)
{
    const char *name = record->name;

    for (size_t at = 0; at + 1 < record->name_size; at++) {
        size_t digit = at + 1;

        if (name[at] != '.')
            continue;
        *block = 0;
        while (digit < record->name_size && digit < at + 6 &&
               name[digit] >= '0' && name[digit] <= '9')
            *block = *block * 10 + (uint64_t)(name[digit++] - '0');
        if (digit > at + 1 && digit < record->name_size && name[digit] == '.') {
            *rest = digit;
            return true;
        }
    }
    return false;
}

/* In whatever order the tensors are. */
static void add_tensors(struct mf_graph_kinds *kinds,
                        const struct mf_index *index)
{
    uint64_t block;
    size_t rest;

    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        uint64_t hash = record->rank;

        if (!block_of(record, &block, &rest) || block >= kinds->blocks)
            continue;
        for (; rest < record->name_size; rest++)
            hash = (hash ^ (unsigned char)record->name[rest]) *
                   UINT64_C(0x100000001b3); /* of FNV-1a */
        for (unsigned j = 0; j < record->rank; j++)
            hash = mix(hash, record->dim[j]);
        kinds->digest[block] += mix(hash, 0);
    }
}

static uint64_t number_of(struct mf_arch_run *run, const char *name)
{
    struct mf_arch_number number =
        mf_arch_name_value(run, (struct mf_str){ name, strlen(name) });

    return number.known && number.value >= 0 ? (uint64_t)number.value
                                             : MF_PLAN_UNKNOWN;
}

static void add_numbers(struct mf_graph_kinds *kinds, struct mf_arch_run *run)
{
    static const char *const names[] = { "recurrent", "heads", "heads_kv", "ff",
                                         "used" };

    for (run->block = 0; run->block < kinds->blocks; run->block++) {
        uint64_t *digest = &kinds->digest[run->block];
        uint64_t window = number_of(run, "swa"), v = number_of(run, "v_gqa");

        kinds->windows = kinds->windows || window == 1;
        if (v > kinds->v_most) /* what is unknown is most */
            kinds->v_most = v;
        *digest = mix(mix(*digest, window), v);
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
            *digest = mix(*digest, number_of(run, names[i]));
    }
    run->block = 0;
}

struct mf_graph_kinds *mf_graph_kinds_new(struct mf_planner *planner)
{
    uint64_t blocks = mf_planner_blocks(planner);
    size_t size =
        sizeof(struct mf_graph_kinds) + (size_t)blocks * sizeof(uint64_t);
    struct mf_graph_kinds *kinds = mf_alloc(mf_planner_env(planner), size);

    if (!kinds)
        return NULL;
    memset(kinds, 0, size);
    kinds->blocks = blocks;
    add_tensors(kinds, &mf_planner_model(planner)->index);
    add_numbers(kinds, mf_planner_rows(planner));
    return kinds;
}

void mf_graph_kinds_free(struct mf_env *env, struct mf_graph_kinds *kinds)
{
    if (kinds)
        mf_release(env, kinds,
                   sizeof(*kinds) + (size_t)kinds->blocks * sizeof(uint64_t));
}

uint64_t mf_graph_kind(struct mf_graph *graph, uint64_t end)
{
    uint64_t block = graph->run->block;
    uint64_t hash =
        block < graph->kinds->blocks ? graph->kinds->digest[block] : 0;

    hash = mix(mix(hash, block == 0), block + 1 == end);
    for (size_t i = 0; i < graph->vary_count; i++) {
        struct mf_arch_number number =
            mf_arch_number_of(graph->run, graph->vary[i]);

        hash = mix(mix(hash, number.known), (uint64_t)number.value);
    }
    for (size_t name = 0; name < graph->shared_count; name++)
        for (size_t i = 0; i < 4; i++)
            hash = mix(hash, graph->name[name].value.dim[i]);
    return hash | 1; /* 0: not of a block */
}
