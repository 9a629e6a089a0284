/* SPDX-License-Identifier: MIT
 *
 * toy.c - the toy format's row: detection, types, facts
 */
#include "tests/toy/toy.h"

static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    if (head->size < 8 || memcmp(head->at, "TOY!", 4) != 0)
        return false;
    out->version = head->at[4];
    if (out->version != 1) {
        out->supported = false;
        out->note = "only version 1 is supported";
    }
    return true;
}

/* A type's number is its place here. */
static const enum mf_type types[] = {
    MF_TYPE_F32, MF_TYPE_F16,  MF_TYPE_BF16, MF_TYPE_I8,
    MF_TYPE_I32, MF_TYPE_Q8_0, MF_TYPE_Q4_K, MF_TYPE_Q6_K,
};

enum mf_type toy_type_of(uint32_t id)
{
    return id < sizeof(types) / sizeof(*types) ? types[id] : MF_TYPE_UNKNOWN;
}

static uint32_t type_id(enum mf_type type)
{
    for (uint32_t id = 0; id < sizeof(types) / sizeof(*types); id++)
        if (types[id] == type)
            return id;
    return MF_NO_TYPE_ID;
}

static const struct mf_fact_row facts[] = {
    { MF_FACT_ARCHITECTURE, "general.architecture" },
    { MF_FACT_NAME, "general.name" },
    { MF_FACT_BLOCK_COUNT, "*.block_count" },
    { 0, NULL },
};

const struct mf_format mf_format_toy = {
    .name = "toy",
    .variant = "",
    .suffix = ".toy",
    .description = "a format of the tests",
    .layout = MF_LAYOUT_FREE,
    .values = MF_VALUES_TYPED,
    .sharding = MF_SHARDING_NUMBERED,
    .probe = probe,
    .parse = toy_parse,
    .value_next = toy_value_next,
    .type_id = type_id,
    .written = true,
    .facts = facts,
};
