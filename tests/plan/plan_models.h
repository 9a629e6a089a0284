/* SPDX-License-Identifier: MIT
 *
 * plan_models.h - headers of ten real models in memory, without their data
 *
 * The same as ../shared/tools/real_headers.py makes as files.
 */
#ifndef TESTS_PLAN_MODELS_H
#define TESTS_PLAN_MODELS_H

#include "tests/plan/plan_image.h"

struct real_model {
    const char *name, *arch;
    unsigned embd, ff, blocks, heads, heads_kv, vocab, context;
    unsigned head; /* 0: embd / heads */
    unsigned experts, used, expert_ff;
    bool tied, biased, fused, normed, post_normed;
    const char *more;
};

static const struct real_model real_models[] = {
    { "llama-2-7b", "llama", 4096, 11008, 32, 32, 32, 32000, 4096, .more = "" },
    { "llama-3.1-8b", "llama", 4096, 14336, 32, 32, 8, 128256, 131072,
      .more = "" },
    { "mistral-7b", "llama", 4096, 14336, 32, 32, 8, 32768, 32768, .more = "" },
    { "mixtral-8x7b", "llama", 4096, 14336, 32, 32, 8, 32000, 32768,
      .experts = 8, .used = 2, .expert_ff = 14336 },
    { "qwen2.5-7b", "qwen2", 3584, 18944, 28, 28, 4, 152064, 131072,
      .biased = true },
    { "qwen3-30b-a3b", "qwen3moe", 2048, 6144, 48, 32, 4, 151936, 40960,
      .head = 128, .normed = true, .experts = 128, .used = 8, .expert_ff = 768,
      .more = "expert_feed_forward_length=768" },
    { "gemma-2-9b", "gemma2", 3584, 14336, 42, 16, 8, 256000, 8192, .head = 256,
      .tied = true, .post_normed = true,
      .more = "attention.sliding_window=4096 attn_logit_softcapping=50.0 "
              "final_logit_softcapping=30.0" },
    { "gemma-3-27b", "gemma3", 5376, 21504, 62, 32, 16, 262208, 131072,
      .head = 128, .tied = true, .normed = true, .post_normed = true,
      .more = "attention.sliding_window=1024" },
    { "phi-3-mini", "phi3", 3072, 8192, 32, 32, 32, 32064, 4096, .fused = true,
      .more = "rope.scaling.original_context_length=4096 "
              "attention.sliding_window=2047" },
    { "qwen2-0.5b", "qwen2", 896, 4864, 24, 14, 2, 151936, 32768, .tied = true,
      .biased = true },
};

/* ---- tensors ---- */

static uint64_t real_offset, real_count;

/* block -1: the tensor is of none. */
static inline void put_tensor(int block, const char *tail, uint64_t a,
                              uint64_t b, uint64_t c)
{
    const uint64_t dim[3] = { a, b, c };
    unsigned rank = c ? 3 : b ? 2 : 1;
    bool exact = rank == 1 || strstr(tail, "gate_inp");
    uint64_t bytes = a * (b ? b : 1) * (c ? c : 1) * (exact ? 4 : 2);
    char name[80];

    snprintf(name, sizeof(name), block < 0 ? "%.0d%s" : "blk.%d.%s",
             block < 0 ? 0 : block, tail);
    put_text(name, strlen(name));
    put_number(rank, 4);
    for (unsigned i = 0; i < rank; i++)
        put_number(dim[i], 8);
    put_number(exact ? 0 : 30, 4); /* f32, bf16 */
    put_number(real_offset, 8);
    real_offset += (bytes + 31) / 32 * 32;
    real_count++;
}

static inline void put_attention(const struct real_model *m, int i, unsigned hd)
{
    unsigned q = m->heads * hd, kv = m->heads_kv * hd;

    put_tensor(i, "attn_norm.weight", m->embd, 0, 0);
    if (m->fused)
        put_tensor(i, "attn_qkv.weight", m->embd, q + 2 * kv, 0);
    else {
        put_tensor(i, "attn_k.weight", m->embd, kv, 0);
        put_tensor(i, "attn_q.weight", m->embd, q, 0);
        put_tensor(i, "attn_v.weight", m->embd, kv, 0);
    }
    if (m->biased) {
        put_tensor(i, "attn_k.bias", kv, 0, 0);
        put_tensor(i, "attn_q.bias", q, 0, 0);
        put_tensor(i, "attn_v.bias", kv, 0, 0);
    }
    if (m->normed) {
        put_tensor(i, "attn_q_norm.weight", hd, 0, 0);
        put_tensor(i, "attn_k_norm.weight", hd, 0, 0);
    }
    put_tensor(i, "attn_output.weight", q, m->embd, 0);
}

static inline void put_ffn(const struct real_model *m, int i)
{
    put_tensor(i, "ffn_norm.weight", m->embd, 0, 0);
    if (m->experts) {
        put_tensor(i, "ffn_gate_inp.weight", m->embd, m->experts, 0);
        put_tensor(i, "ffn_down_exps.weight", m->expert_ff, m->embd,
                   m->experts);
        put_tensor(i, "ffn_gate_exps.weight", m->embd, m->expert_ff,
                   m->experts);
        put_tensor(i, "ffn_up_exps.weight", m->embd, m->expert_ff, m->experts);
    } else {
        put_tensor(i, "ffn_down.weight", m->ff, m->embd, 0);
        put_tensor(i, "ffn_up.weight", m->embd, m->fused ? 2 * m->ff : m->ff,
                   0);
        if (!m->fused)
            put_tensor(i, "ffn_gate.weight", m->embd, m->ff, 0);
    }
    if (m->post_normed) {
        put_tensor(i, "post_attention_norm.weight", m->embd, 0, 0);
        put_tensor(i, "post_ffw_norm.weight", m->embd, 0, 0);
    }
}

static inline void put_tensors(const struct real_model *m, unsigned hd)
{
    real_offset = real_count = 0;
    put_tensor(-1, "token_embd.weight", m->embd, m->vocab, 0);
    put_tensor(-1, "output_norm.weight", m->embd, 0, 0);
    if (!m->tied)
        put_tensor(-1, "output.weight", m->embd, m->vocab, 0);
    for (unsigned i = 0; i < m->blocks; i++) {
        put_attention(m, (int)i, hd);
        put_ffn(m, (int)i);
    }
}

/* ---- models ---- */

/* The model of that name, or NULL; close it. */
static inline struct mf_model *open_real(const char *name)
{
    const struct real_model *m = real_models;
    char keys[700];
    unsigned hd;

    while (m < real_models + COUNT(real_models) && strcmp(m->name, name) != 0)
        m++;
    if (m == real_models + COUNT(real_models))
        return NULL;
    hd = m->head ? m->head : m->embd / m->heads;
    snprintf(keys, sizeof(keys),
             "block_count=%u context_length=%u embedding_length=%u "
             "feed_forward_length=%u attention.head_count=%u "
             "attention.head_count_kv=%u rope.dimension_count=%u "
             "attention.key_length=%u attention.value_length=%u "
             "attention.layer_norm_rms_epsilon=0.00001 vocab_size=%u "
             "expert_count=%u expert_used_count=%u %s",
             m->blocks, m->context, m->embd, m->ff, m->heads, m->heads_kv, hd,
             hd, hd, m->vocab, m->experts, m->used, m->more ? m->more : "");
    make_header(m->arch, keys);
    put_tensors(m, hd);
    set_number(image.at + 8, real_count, sizeof(real_count));
    return open_image();
}

#endif
