/* SPDX-License-Identifier: MIT
 *
 * families.c - the tables of lib/check/architecture.def
 */
#include "lib/check/families.h"

#include <string.h>

/* Traits: how families differ. */
enum {
    ALL = 1 << 0,          /* every family */
    FUSED = 1 << 1,        /* attn_qkv is the usual name */
    WIDE_NORMS = 1 << 2,   /* query and key norms span all heads */
    GRID_NORMS = 1 << 3,   /* and here each head has its own */
    DOUBLE_UP = 1 << 4,    /* ffn_up includes the gate */
    HALF = 1 << 5,         /* feed_forward_length counts gate and up */
    EXPERTS = 1 << 6,      /* in all blocks, or all but the first */
    ENCODER = 1 << 7,      /* norms come after attention and feed-forward */
    STATE_SPACES = 1 << 8, /* as in the first Mamba */
    COMPRESSED = 1 << 9,   /* queries, keys and values are decompressed */
    CODER = 1 << 10,       /* blocks of an encoder and of a decoder */
};

/* Parts, and common sets of them. */
enum {
    TOKENS = 1 << 0,
    TOKEN_NORM = 1 << 1,
    POSITIONS = 1 << 2,
    LAST_NORM = 1 << 3,
    LAST_BIAS = 1 << 4,
    NORM = 1 << 5,
    NORM_BIAS = 1 << 6,
    QUERY = 1 << 7,
    KEY = 1 << 8,
    VALUE = 1 << 9,
    ATTN_OUT = 1 << 10,
    OUT_BIAS = 1 << 11,
    QUERY_NORM = 1 << 12,
    KEY_NORM = 1 << 13,
    POST_NORM = 1 << 14,
    FFN_NORM = 1 << 15,
    FFN_BIAS = 1 << 16,
    FFN_POST_NORM = 1 << 17,
    GATE = 1 << 18,
    UP = 1 << 19,
    DOWN = 1 << 20,
    UP_BIAS = 1 << 21,
    DOWN_BIAS = 1 << 22,
    ROUTER = 1 << 23, /* tensors without experts fill it, too */
    MIXER = 1 << 24,  /* instead of attention */
    MIXER_OUT = 1 << 25,
    SINKS = 1 << 26,

    ENDS = TOKENS | LAST_NORM,
    BIASED_ENDS = LAST_BIAS,
    SPLIT_IN = QUERY | KEY | VALUE,
    SPLIT = SPLIT_IN | ATTN_OUT,
    HEAD_NORMS = QUERY_NORM | KEY_NORM,
    BIASED_NORMS = NORM | NORM_BIAS | FFN_NORM | FFN_BIAS,
    UNGATED = UP | DOWN,
    GATED = UNGATED | GATE,
    BIASES = OUT_BIAS | UP_BIAS | DOWN_BIAS,
};

const uint32_t mf_parts_once =
    TOKENS | TOKEN_NORM | POSITIONS | LAST_NORM | LAST_BIAS;

/* Keys, and common sets of them. */
#define KEY_OF(fact) (UINT64_C(1) << (fact))
#define BASE                                                                   \
    (KEY_OF(MF_FACT_CONTEXT_LENGTH) | KEY_OF(MF_FACT_EMBEDDING_LENGTH) |       \
     KEY_OF(MF_FACT_BLOCK_COUNT))
#define HEADED     (BASE | KEY_OF(MF_FACT_HEAD_COUNT))
#define FORWARD    KEY_OF(MF_FACT_FEED_FORWARD_LENGTH)
#define RMS        KEY_OF(MF_DETAIL_RMS_EPSILON)
#define EPSILON    KEY_OF(MF_DETAIL_NORM_EPSILON)
#define LATENT     KEY_OF(MF_DETAIL_KV_LORA_RANK)
#define MOE_LENGTH KEY_OF(MF_DETAIL_EXPERT_LENGTH)
#define MOE                                                                    \
    (KEY_OF(MF_DETAIL_EXPERT_COUNT) | KEY_OF(MF_DETAIL_EXPERT_USED_COUNT))
#define STATE_SPACE                                                            \
    (KEY_OF(MF_DETAIL_SSM_CONV_KERNEL) | KEY_OF(MF_DETAIL_SSM_INNER_SIZE) |    \
     KEY_OF(MF_DETAIL_SSM_STATE_SIZE) | KEY_OF(MF_DETAIL_SSM_STEP_RANK))

_Static_assert(MF_DETAIL_COUNT <= 64, "a fact is a bit of mf_family.keys");

enum {
#define FAMILY(name, keys, parts, traits) FAMILY_##name,
#include "lib/check/architecture.def"
};

static const struct mf_family families[] = {
#define FAMILY(name, keys, parts, traits) { keys, parts, (traits) | ALL },
#include "lib/check/architecture.def"
};

static const struct {
    const char *name;
    int family;
} architectures[] = {
#define KNOWN(name, family) { name, FAMILY_##family },
#include "lib/check/architecture.def"
};

const struct mf_tensor_row mf_tensor_rows[] = {
#define TENSOR(gguf, hf, trait, in, out, by, fills)                            \
    { gguf,                                                                    \
      hf,                                                                      \
      trait,                                                                   \
      { MF_LENGTH_##in, MF_LENGTH_##out, MF_LENGTH_##by },                     \
      fills },
#include "lib/check/architecture.def"
};

const size_t mf_tensor_row_count =
    sizeof(mf_tensor_rows) / sizeof(*mf_tensor_rows);

const struct mf_family *mf_family_of(struct mf_str architecture)
{
    for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++)
        if (strlen(architectures[i].name) == architecture.size &&
            memcmp(architectures[i].name, architecture.at, architecture.size) ==
                0)
            return &families[architectures[i].family];
    return NULL;
}
