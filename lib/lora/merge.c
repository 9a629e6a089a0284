/* SPDX-License-Identifier: MIT
 *
 * merge.c - what an adapter adds to a model's tensors
 */
#include <assert.h>
#include <math.h>

#include "lib/base/str.h"
#include "lib/lora/lora.h"

static size_t count_of(const struct mf_lora *lora)
{
    return lora->model->index.tensor_count;
}

static struct mf_lora_entry *entry_at(const struct mf_lora *lora, size_t place)
{
    return &lora->entry[lora->order[place]];
}

static int compare(struct mf_str a, struct mf_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.at, b.at, size) : 0;

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* The first place whose name is not before that one. */
static size_t find(const struct mf_lora *lora, struct mf_str name)
{
    size_t low = 0, high = count_of(lora);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(entry_at(lora, middle)->name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct mf_lora *lora, size_t place, struct mf_str name,
                  enum mf_lora_part part)
{
    return place < count_of(lora) && entry_at(lora, place)->part == part &&
           compare(entry_at(lora, place)->name, name) == 0;
}

/* ---- what cannot be merged ---- */

static enum mf_status refuse(const struct mf_lora *lora, const char *why)
{
    return mf_fail(lora->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                   "'adapter_config.json': %s, which cannot be merged", why);
}

static enum mf_status check_config(const struct mf_lora *lora)
{
    struct mf_str type = mf_node_text(lora->config, "peft_type");
    const struct mf_node *dora = mf_node_at(lora->config, "use_dora");
    const struct mf_node *alphas = mf_node_at(lora->config, "alpha_pattern");

    if (type.at && !mf_str_is(type, "LORA"))
        return refuse(lora, "'peft_type' is not LORA");
    if (dora && dora->kind == MF_NODE_TRUE)
        return refuse(lora, "'use_dora' is true: rows have lengths of their "
                            "own");
    if (alphas && alphas->count > 0)
        return refuse(lora, "'alpha_pattern' has an alpha for some modules");
    return MF_OK;
}

/* At that place A of a pair begins, and B comes next, of which there is one. */
static bool is_pair(const struct mf_lora *lora, size_t place)
{
    struct mf_str name = entry_at(lora, place)->name;

    return is_at(lora, place, name, MF_LORA_A) &&
           is_at(lora, place + 1, name, MF_LORA_B) &&
           !is_at(lora, place + 2, name, MF_LORA_B);
}

static enum mf_status refuse_half(const struct mf_lora *lora, size_t place)
{
    const struct mf_record *record =
        &lora->model->index.tensor[lora->order[place]];

    return mf_fail(lora->env, MF_ERR_CORRUPT, record->entry,
                   "the adapter has tensor '%s', but not exactly one other "
                   "half",
                   mf_record_name(record).text);
}

enum mf_status mf_lora_pair(struct mf_lora *lora, const struct mf_derivation *d,
                            size_t tensor, const struct mf_derived **a,
                            const struct mf_derived **b)
{
    size_t place = find(lora, lora->entry[tensor].name);

    if (!is_pair(lora, place))
        return refuse_half(lora, place);
    entry_at(lora, place)->used = entry_at(lora, place + 1)->used = true;
    *a = mf_derive_tensor(d, lora->model, lora->order[place]);
    *b = *a ? mf_derive_tensor(d, lora->model, lora->order[place + 1]) : NULL;
    return *b ? MF_OK : lora->env->error.status;
}

enum mf_status mf_lora_check(struct mf_lora *lora)
{
    size_t pairs = 0;

    if (lora->config && check_config(lora) != MF_OK)
        return lora->env->error.status;
    for (size_t i = 0; i < count_of(lora); i++) {
        const struct mf_lora_entry *entry = entry_at(lora, i);
        const struct mf_record *record =
            &lora->model->index.tensor[lora->order[i]];

        if (entry->part == MF_LORA_OTHER)
            return mf_fail(lora->env, MF_ERR_UNSUPPORTED, record->entry,
                           "the adapter has tensor '%s', which is not half of "
                           "a pair: it was trained as a whole and cannot be "
                           "added",
                           mf_record_name(record).text);
        if (entry->part == MF_LORA_BASE)
            continue;
        if (!is_pair(lora, i))
            return refuse_half(lora, i);
        pairs++;
        i++;
    }
    return pairs > 0 ? MF_OK
                     : mf_fail(lora->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                               "the adapter changes no tensor");
}

enum mf_status mf_lora_check_used(const struct mf_lora *lora)
{
    for (size_t i = 0; i < count_of(lora); i++) {
        const struct mf_lora_entry *entry = entry_at(lora, i);

        if (entry->part == MF_LORA_A && !entry->used)
            return mf_fail(lora->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                           "the adapter changes tensor '%s', which the model "
                           "does not have",
                           mf_quote(entry->name).text);
    }
    return MF_OK;
}

/* ---- merging ---- */

static bool is_true(const struct mf_lora *lora, const char *key)
{
    const struct mf_node *node =
        lora->config ? mf_node_at(lora->config, key) : NULL;

    return node && node->kind == MF_NODE_TRUE;
}

/* By alpha and the rank that the pair has, as PEFT and llama.cpp compute it. */
static float scale_of(const struct mf_lora *lora, uint64_t rank)
{
    double r = (double)rank;

    return (float)(lora->factor *
                   (lora->alpha / (is_true(lora, "use_rslora") ? sqrt(r) : r)));
}

static const struct mf_derived *flip(const struct mf_derivation *d,
                                     const struct mf_derived *node)
{
    return node ? mf_derive_swap(d, node, 0, 1) : NULL;
}

static const struct mf_derived *refuse_shape(const struct mf_derivation *d,
                                             struct mf_str name)
{
    mf_fail(d->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "the adapter's pair for tensor '%s' is not two matrices of equal "
            "rank",
            mf_quote(name).text);
    return NULL;
}

/* Puts the pair in the order in which B A is the model's matrix. */
static bool turn(const struct mf_lora *lora, const struct mf_derivation *d,
                 const struct mf_lora_entry *entry, const struct mf_derived **a,
                 const struct mf_derived **b)
{
    const struct mf_derived *old_a = *a, *old_b = *b;

    if (entry->embedding) { /* in GGUF A is turned already */
        *a = flip(d, old_b);
        *b = lora->gguf ? old_a : flip(d, old_a);
    } else if (is_true(lora, "fan_in_fan_out")) {
        *a = flip(d, old_b);
        *b = flip(d, old_a);
    }
    return *a && *b;
}

const struct mf_derived *mf_lora_merge(struct mf_lora *lora,
                                       const struct mf_derivation *d,
                                       struct mf_str name,
                                       const struct mf_derived *node)
{
    size_t place = find(lora, name);
    struct mf_lora_entry *entry;
    const struct mf_derived *a, *b;
    uint64_t rank;

    if (!is_at(lora, place, name, MF_LORA_A))
        return node;
    entry = entry_at(lora, place);
    entry->used = true;
    if (mf_type_is_quantized((enum mf_type)node->type)) {
        mf_fail(d->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "tensor '%s' is %s: an adapter is added to floats, before they "
                "are quantized",
                mf_quote(name).text, mf_types[node->type].name);
        return NULL;
    }
    a = mf_derive_tensor(d, lora->model, lora->order[place]);
    b = a ? mf_derive_tensor(d, lora->model, lora->order[place + 1]) : NULL;
    if (!b)
        return NULL;
    if (a->rank != 2 || b->rank != 2)
        return refuse_shape(d, name);
    rank = b->dim[1];
    if (rank == 0 || !turn(lora, d, entry, &a, &b))
        return rank == 0 ? refuse_shape(d, name) : NULL;
    return mf_derive_lowrank(d, node, a, b, scale_of(lora, rank));
}

/* ---- a whole draft ---- */

static enum mf_status apply(struct mf_lora *lora, struct mf_draft *draft,
                            const struct mf_model *model,
                            struct mf_derivation *d,
                            struct mf_draft_tensor *tensor)
{
    const struct mf_record *record = &model->index.tensor[tensor->record];
    const struct mf_derived *plain, *node;
    struct mf_source *source;

    d->name = (struct mf_str){ record->name, record->name_size };
    if (!is_at(lora, find(lora, d->name), d->name, MF_LORA_A))
        return MF_OK;
    if (tensor->rows.size > 0)
        return mf_fail(lora->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "tensor '%s': its rows change their order, before which "
                       "the adapter must be merged",
                       mf_quote(d->name).text);
    plain = mf_derive_tensor(d, model, tensor->record);
    node = plain ? mf_lora_merge(lora, d, d->name, plain) : NULL;
    source = node ? mf_arena_take(&draft->arena, sizeof(*source)) : NULL;
    if (!source)
        return lora->env->error.status;
    mf_derived_open(node, record->name, source);
    tensor->made = source;
    return MF_OK;
}

enum mf_status mf_lora_apply(struct mf_lora *lora, struct mf_draft *draft,
                             const struct mf_model *model)
{
    struct mf_derivation d;
    enum mf_status status = mf_derivation_init(&d, lora->env, &draft->arena);

    for (size_t i = 0; i < draft->tensor_count && status == MF_OK; i++)
        if (!draft->tensor[i].made)
            status = apply(lora, draft, model, &d, &draft->tensor[i]);
    return status;
}
