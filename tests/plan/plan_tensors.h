/* SPDX-License-Identifier: MIT
 *
 * plan_tensors.h - headers with tensors in memory, but without their data
 */
#ifndef TESTS_PLAN_TENSORS_H
#define TESTS_PLAN_TENSORS_H

#include "tests/plan/plan_image.h"

#define COUNT_AT 8 /* in the header: how many tensors */

static uint64_t tensor_count, tensor_end;

/* "*" in the name is the block; f16, but vectors and routers are f32. */
static inline void put_tensor(const char *pattern, unsigned block, uint64_t a,
                              uint64_t b, uint64_t c)
{
    const char *star = strchr(pattern, '*');
    uint64_t rank = c ? 3 : b ? 2 : 1;
    bool half = rank > 1 && !strstr(pattern, "gate_inp");
    uint64_t size = a * (b ? b : 1) * (c ? c : 1) * (half ? 2 : 4);
    char name[64];

    if (star)
        snprintf(name, sizeof(name), "%.*s%u%s", (int)(star - pattern), pattern,
                 block, star + 1);
    else
        snprintf(name, sizeof(name), "%s", pattern);
    put_text(name, strlen(name));
    put_number(rank, 4);
    put_number(a, 8);
    if (b)
        put_number(b, 8);
    if (c)
        put_number(c, 8);
    put_number(half, 4); /* GGUF's f32 is 0, its f16 1 */
    put_number(tensor_end, 8);
    tensor_end += (size + 31) / 32 * 32;
    tensor_count++;
}

/* What a model of test consists of. */
struct shape {
    unsigned blocks;
    uint64_t embd, kv, ff, vocab, experts;
    bool tied;
};

static inline void put_network(unsigned block, const struct shape *shape)
{
    uint64_t e = shape->embd, f = shape->ff, n = shape->experts;

    put_tensor("blk.*.ffn_norm.weight", block, e, 0, 0);
    if (n > 0) {
        put_tensor("blk.*.ffn_gate_inp.weight", block, e, n, 0);
        put_tensor("blk.*.ffn_gate_exps.weight", block, e, f, n);
        put_tensor("blk.*.ffn_up_exps.weight", block, e, f, n);
        put_tensor("blk.*.ffn_down_exps.weight", block, f, e, n);
    } else {
        put_tensor("blk.*.ffn_gate.weight", block, e, f, 0);
        put_tensor("blk.*.ffn_up.weight", block, e, f, 0);
        put_tensor("blk.*.ffn_down.weight", block, f, e, 0);
    }
}

static inline struct mf_model *open_shape(const char *keys,
                                          const struct shape *shape)
{
    uint64_t e = shape->embd;

    make_header("llama", keys);
    tensor_count = tensor_end = 0;
    put_tensor("token_embd.weight", 0, e, shape->vocab, 0);
    for (unsigned i = 0; i < shape->blocks; i++) {
        put_tensor("blk.*.attn_norm.weight", i, e, 0, 0);
        put_tensor("blk.*.attn_q.weight", i, e, e, 0);
        put_tensor("blk.*.attn_k.weight", i, e, shape->kv, 0);
        put_tensor("blk.*.attn_v.weight", i, e, shape->kv, 0);
        put_tensor("blk.*.attn_output.weight", i, e, e, 0);
        put_network(i, shape);
    }
    put_tensor("output_norm.weight", 0, e, 0, 0);
    if (!shape->tied)
        put_tensor("output.weight", 0, e, shape->vocab, 0);
    put_tensor("rope_freqs.weight", 0, 64, 0, 0);
    set_number(image.at + COUNT_AT, tensor_count, sizeof(tensor_count));
    return open_image();
}

#endif
