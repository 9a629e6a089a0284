/* SPDX-License-Identifier: MIT
 *
 * bare.c - what config.json says about weights that are not there
 */
#include "lib/hf/hub/bare.h"

#include <assert.h>
#include <string.h>

#include "lib/arch/arch.h"
#include "lib/hf/hub/hub.h"
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

/* ---- a folder as the GGUF file that is made of it ---- */

/* What config.json means is known to the rows that convert a folder.  They make
 * the header of the file, in memory, and that is what is shown, planned and
 * checked: a folder and its file cannot differ. */

/* ---- weights that are not there ---- */

struct bare {
    struct mf_draft *draft;
    struct mf_model *model;
    struct mf_hub_bare facts;
    bool unsure; /* a tensor may be there, or not */
};

static bool has_name(const struct mf_draft *draft, struct mf_str name)
{
    for (size_t i = draft->tensor_count; i > 0; i--)
        if (mf_str_same(draft->tensor[i - 1].name, name))
            return true;
    return false;
}

static enum mf_status add_row(struct bare *bare,
                              const struct mf_arch_tensor_row *row)
{
    struct mf_draft *draft = bare->draft;
    struct mf_draft_tensor *tensor = mf_draft_add_tensor(draft);
    enum mf_type type =
        mf_hub_bare_type(&bare->facts, row->name, row->dim, row->rank);
    uint64_t *dim = mf_arena_take(&draft->arena, sizeof(row->dim));
    uint64_t count = 1;

    if (!tensor || !dim)
        return draft->env->error.status;
    memcpy(dim, row->dim, sizeof(row->dim));
    tensor->name = mf_draft_text(draft, row->name);
    if (!tensor->name.at)
        return draft->env->error.status;
    tensor->dim = dim;
    tensor->rank = row->rank;
    tensor->from = tensor->type = type;
    tensor->type_id = draft->format->type_id(type);
    tensor->made = &bare->model->file[0].source;
    if (mf_elements(dim, row->rank, &count) &&
        mf_type_size(type, count, &tensor->size))
        return MF_OK;
    return mf_fail(draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'config.json': tensor '%s' would be too large, or not in "
                   "whole blocks of %s",
                   mf_quote(row->name).text, mf_types[type].name);
}

/* Queries, keys or values of a block in which one tensor has all three. */
static bool is_joined(const struct bare *bare,
                      const struct mf_arch_tensor_row *row)
{
    static const char joined[] = "qkv";
    const struct mf_draft *draft = bare->draft;
    const char *part = strstr(row->name.at, ".attn_");
    size_t head, tail;

    if (!part || !strchr(joined, part[6]) || part[7] != '.')
        return false;
    head = (size_t)(part + 6 - row->name.at);
    tail = row->name.size - head - 1;
    for (size_t i = draft->tensor_count; i > 0; i--) {
        const struct mf_str *name = &draft->tensor[i - 1].name;

        if (name->size == head + 3 + tail &&
            memcmp(name->at, row->name.at, head) == 0 &&
            memcmp(name->at + head, joined, 3) == 0 &&
            memcmp(name->at + head + 3, part + 7, tail) == 0)
            return true;
    }
    return false;
}

/* What a loader does not demand is there if config.json says so. */
static enum mf_status take_row(void *user, const struct mf_arch_tensor_row *row)
{
    struct bare *bare = user;
    enum mf_bare_answer has = MF_BARE_YES;

    if (has_name(bare->draft, row->name) || is_joined(bare, row))
        return MF_OK;
    if (row->optional || mf_hub_bare_is_tied(&bare->facts, row->pattern))
        has = mf_hub_bare_has(&bare->facts, row->pattern);
    bare->unsure = bare->unsure || has == MF_BARE_UNKNOWN;
    if (has != MF_BARE_YES)
        return MF_OK;
    if (!row->known)
        return mf_fail(bare->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "'config.json' of '%s' does not give the shape of '%s': "
                       "the weights are required",
                       mf_quote(bare->facts.arch).text,
                       mf_quote(row->name).text);
    return add_row(bare, row);
}

static enum mf_status refuse_packed(struct bare *bare)
{
    return bare->facts.packing.size == 0
               ? MF_OK
               : mf_fail(bare->draft->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'config.json': weights compressed by '%s' have "
                         "shapes that only their files give",
                         mf_quote(bare->facts.packing).text);
}

/* Adds what the rows of the architecture demand, as the keys of the draft,
 * which has no tensors but those made of config.json, imply it. */
static enum mf_status list_bare(struct bare *bare)
{
    struct mf_env *env = bare->draft->env;
    struct mf_model *keys = NULL;
    enum mf_status status = refuse_packed(bare);
    bool sure = false;

    if (status == MF_OK)
        status =
            mf_draft_as_model(bare->draft, bare->model->file[0].path, &keys);
    if (status == MF_OK)
        status = mf_arch_list(keys, take_row, bare, &sure);
    mf_model_close(keys);
    if (status == MF_OK && !sure)
        status = mf_fail(env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                         "'config.json' does not give the tensors of models "
                         "of '%s': the weights are required",
                         mf_quote(bare->facts.arch).text);
    return status;
}

/* ---- all of it ---- */

enum mf_status mf_hf_outline_bare(struct mf_model *model, struct mf_model **out,
                                  bool *unsure)
{
    struct mf_draft draft;
    struct bare bare = { .draft = &draft, .model = model };
    const struct mf_hf_options options = { .bare = &bare.facts };
    enum mf_status status;

    mf_draft_init(&draft, model->env, mf_format_with_values(MF_VALUES_TYPED));
    status = mf_hf_outline(&draft, model, &options);
    if (status == MF_OK)
        status = list_bare(&bare);
    if (status == MF_OK)
        status = mf_draft_as_model(&draft, model->file[0].path, out);
    mf_draft_release(&draft);
    *unsure = bare.unsure || !bare.facts.type_known ||
              !mf_hub_bare_is_proven(&bare.facts);
    return status;
}
