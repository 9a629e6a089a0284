/* SPDX-License-Identifier: MIT
 *
 * bare.c - what config.json says about weights that are not there
 */
#include "lib/hf/hub/bare.h"

#include <assert.h>

#include "lib/hf/hub/naming.h"
#include "lib/hf/hub/outtype.h"

/* ---- config.json ---- */

static const struct mf_node *field(const struct mf_hub *hub, const char *name)
{
    const struct mf_node *node =
        mf_recipe_field(&hub->recipe, (struct mf_str){ name, strlen(name) });

    return node && node->kind != MF_NODE_NULL ? node
                                              : mf_node_at(hub->file, name);
}

/* The first of the fields that is a boolean. */
static enum mf_bare_answer answer(const struct mf_hub *hub,
                                  const char *const *names)
{
    for (; *names; names++) {
        const struct mf_node *node = field(hub, *names);

        if (node && node->kind == MF_NODE_TRUE)
            return MF_BARE_YES;
        if (node && node->kind == MF_NODE_FALSE)
            return MF_BARE_NO;
    }
    return MF_BARE_UNKNOWN;
}

static enum mf_bare_answer other(enum mf_bare_answer is)
{
    return is == MF_BARE_UNKNOWN ? is
           : is == MF_BARE_YES   ? MF_BARE_NO
                                 : MF_BARE_YES;
}

static void put_type(const struct mf_hub *hub, struct mf_hub_bare *out)
{
    static const enum mf_type types[] = { MF_TYPE_BF16, MF_TYPE_F16,
                                          MF_TYPE_F32 };
    static const char *const names[] = { "torch_dtype", "dtype" };

    out->type = MF_TYPE_F16;
    for (size_t i = 0; i < 2 && !out->type_known; i++) {
        const struct mf_node *node = field(hub, names[i]);

        for (size_t j = 0; node && j < sizeof(types) / sizeof(*types); j++)
            if (node->kind == MF_NODE_STRING &&
                mf_str_is(node->text, mf_type_torch(types[j]))) {
                mf_outtype_guess(types[j], 2, &out->type);
                out->type_known = true;
            }
    }
}

void mf_hub_bare_of(const struct mf_hub *hub, struct mf_hub_bare *out)
{
    static const char *const tied[] = { "tie_word_embeddings", NULL };
    static const char *const attention[] = { "attention_bias",
                                             "qkv_bias",
                                             "use_qkv_bias",
                                             "add_qkv_bias",
                                             "use_bias",
                                             "bias",
                                             NULL };
    static const char *const mlp[] = { "mlp_bias", "use_bias", "bias", NULL };
    const struct mf_node *node = field(hub, "block_count");
    const struct mf_node *packing = field(hub, "quantization_config");
    int64_t blocks;

    *out = (struct mf_hub_bare){ .arch = hub->arch };
    if (node && mf_node_int(node, &blocks) && blocks > 0)
        out->blocks = (uint64_t)blocks;
    put_type(hub, out);
    out->generates = mf_str_ends(hub->class, "ForCausalLM");
    if (packing && packing->kind == MF_NODE_OBJECT) {
        out->packing = mf_node_text(packing, "quant_method");
        if (!out->packing.at)
            out->packing = (struct mf_str){ "quantization_config", 19 };
    }
    out->output = other(answer(hub, tied));
    out->attention_bias = answer(hub, attention);
    out->mlp_bias = answer(hub, mlp);
}

/* ---- tensors ---- */

enum mf_type mf_hub_bare_type(const struct mf_hub_bare *bare,
                              struct mf_str name, const uint64_t *dim,
                              uint32_t rank)
{
    const struct mf_naming_arch *arch = mf_naming_arch_find(bare->arch);
    struct mf_outtype_tensor tensor = { .name = name,
                                        .rank = rank,
                                        .forced = MF_TYPE_UNKNOWN };
    uint64_t slowest_first[4];
    struct mf_named_tensor named;

    assert(rank <= 4);
    for (uint32_t i = 0; i < rank; i++)
        slowest_first[i] = dim[rank - 1 - i];
    tensor.dim = slowest_first;
    if (arch && mf_naming_find(arch, bare->blocks, name, &named) &&
        mf_str_is(named.suffix, ".weight")) {
        unsigned flags = mf_naming_flags(&named);

        tensor.always_f32 = (flags & MF_NAMED_F32) != 0;
        tensor.never_ternary = (flags & MF_NAMED_WIDE) != 0;
    }
    return mf_outtype_of(bare->type, &tensor);
}

/* What config.json need not say, since the class has it so: ARCH, "" for all of
 * them, a part of the tensor's name in rows of lib/arch, and whether it is
 * there.  The first row that fits counts. */
static const struct {
    const char *arch, *part;
    enum mf_bare_answer has;
} defaults[] = {
#define BARE(arch, part, has) { arch, part, MF_BARE_##has },
#include "lib/hf/hub/bare.def"
#undef BARE
};

static enum mf_bare_answer by_default(const struct mf_hub_bare *bare,
                                      struct mf_str pattern)
{
    for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
        if ((!*defaults[i].arch || mf_str_is(bare->arch, defaults[i].arch)) &&
            mf_str_holds(pattern, defaults[i].part))
            return defaults[i].has;
    return MF_BARE_UNKNOWN;
}

bool mf_hub_bare_is_proven(const struct mf_hub_bare *bare)
{
    for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
        if (mf_str_is(bare->arch, defaults[i].arch))
            return true;
    return false;
}

bool mf_hub_bare_is_tied(const struct mf_hub_bare *bare, struct mf_str pattern)
{
    return bare->output == MF_BARE_NO && mf_str_is(pattern, "output.weight");
}

enum mf_bare_answer mf_hub_bare_has(const struct mf_hub_bare *bare,
                                    struct mf_str pattern)
{
    enum mf_bare_answer has = MF_BARE_UNKNOWN;

    if (mf_str_is(pattern, "output.weight"))
        has = bare->output;
    else if (bare->generates && (mf_str_begins(pattern, "cls.") ||
                                 mf_str_begins(pattern, "dense_")))
        has = MF_BARE_NO;
    else if (mf_str_holds(pattern, ".bias"))
        has = mf_str_holds(pattern, ".attn_")  ? bare->attention_bias
              : mf_str_holds(pattern, ".ffn_") ? bare->mlp_bias
                                               : has;
    return has == MF_BARE_UNKNOWN ? by_default(bare, pattern) : has;
}
