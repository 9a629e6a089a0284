/* SPDX-License-Identifier: MIT
 *
 * merge.c - what an adapter adds to a model's tensors
 */
#include <assert.h>

#include "lib/base/str.h"
#include "lib/lora/lora.h"

#define CONFIG "'" MF_ADAPTER_CONFIG "'"

/* Experts of a tensor at most, each of which is a node of its own. */
#define EXPERTS_MAX 65536

static size_t count_of(const struct mf_lora *lora)
{
    return lora->model->index.tensor_count;
}

static struct mf_adapter_entry *entry_at(const struct mf_lora *lora,
                                         size_t place)
{
    return mf_adapter_at(&lora->adapter, place);
}

/* ---- what cannot be merged ---- */

static enum mf_status refuse(const struct mf_lora *lora,
                             const struct mf_node *node, const char *why)
{
    return mf_fail(lora->env, MF_ERR_UNSUPPORTED, node->offset,
                   CONFIG ": '%s' is %s%s%s: %s", mf_quote(node->key).text,
                   node->kind == MF_NODE_STRING ? "\"" : "",
                   node->kind == MF_NODE_STRING ? mf_quote(node->text).text
                   : node->kind == MF_NODE_TRUE ? "true"
                                                : mf_node_kind_name(node),
                   node->kind == MF_NODE_STRING ? "\"" : "", why);
}

/* Ways of beginning the training that change the model, too. */
static bool changes_model(const struct mf_node *node)
{
    return node && node->kind == MF_NODE_STRING &&
           (mf_str_begins(node->text, "pissa") ||
            mf_str_begins(node->text, "corda") ||
            mf_str_is(node->text, "olora") || mf_str_is(node->text, "loftq"));
}

static enum mf_status check_config(const struct mf_lora *lora)
{
    static const struct {
        const char *key, *why;
    } flags[] = {
        { "use_dora", "rows have lengths of their own, which are not merged" },
        { "use_qalora", "A has groups of columns, which cannot be merged" },
    };
    const struct mf_node *config = lora->adapter.config;
    const struct mf_node *type = mf_node_at(config, "peft_type");
    const struct mf_node *begin = mf_node_at(config, "init_lora_weights");
    const struct mf_node *layers = mf_node_at(config, "layer_replication");

    if (type &&
        (type->kind != MF_NODE_STRING || !mf_str_is(type->text, "LORA")))
        return refuse(lora, type, "only \"LORA\" can be merged");
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (mf_adapter_is_true(&lora->adapter, flags[i].key))
            return refuse(lora, mf_node_at(config, flags[i].key), flags[i].why);
    if (changes_model(begin))
        return refuse(lora, begin,
                      "the adapter is not for the published model");
    if (layers && layers->kind != MF_NODE_NULL)
        return refuse(lora, layers,
                      "the adapter is for a model with more "
                      "layers");
    return MF_OK;
}

static enum mf_status refuse_half(const struct mf_lora *lora, size_t place)
{
    const struct mf_record *record = mf_adapter_record(&lora->adapter, place);

    return mf_fail(lora->env, MF_ERR_CORRUPT, record->entry,
                   "the adapter has tensor '%s', but not exactly one other "
                   "half",
                   mf_record_name(record).text);
}

enum mf_status mf_lora_pair(struct mf_lora *lora, const struct mf_derivation *d,
                            size_t tensor, const struct mf_derived **a,
                            const struct mf_derived **b)
{
    const struct mf_adapter *adapter = &lora->adapter;
    size_t place = mf_adapter_find(adapter, adapter->entry[tensor].name);

    if (!mf_adapter_is_pair(adapter, place))
        return refuse_half(lora, place);
    entry_at(lora, place)->used = entry_at(lora, place + 1)->used = true;
    *a = mf_derive_tensor(d, lora->model, adapter->order[place]);
    *b =
        *a ? mf_derive_tensor(d, lora->model, adapter->order[place + 1]) : NULL;
    return *b ? MF_OK : lora->env->error.status;
}

/* A tensor that is not half of a pair: one of the model's, and the only one of
 * its name. */
static enum mf_status check_whole(const struct mf_lora *lora, size_t place)
{
    const struct mf_adapter *adapter = &lora->adapter;
    const struct mf_record *record = mf_adapter_record(adapter, place);
    struct mf_str name = entry_at(lora, place)->name;
    size_t first = mf_adapter_find(adapter, name);

    if (mf_str_holds(name, ".lora_"))
        return mf_fail(lora->env, MF_ERR_UNSUPPORTED, record->entry,
                       "the adapter has tensor '%s', which is neither half of "
                       "a pair nor a tensor of a model",
                       mf_record_name(record).text);
    if (!mf_adapter_has(adapter, first, name, MF_ADAPTER_A) &&
        !mf_adapter_has(adapter, place + 1, name, MF_ADAPTER_WHOLE))
        return MF_OK;
    return mf_fail(lora->env, MF_ERR_CORRUPT, record->entry,
                   "the adapter has tensor '%s' more than once, or a pair that "
                   "changes it as well",
                   mf_record_name(record).text);
}

enum mf_status mf_lora_check(struct mf_lora *lora)
{
    size_t changes = 0;

    if (lora->adapter.config && check_config(lora) != MF_OK)
        return lora->env->error.status;
    for (size_t i = 0; i < count_of(lora); i++) {
        enum mf_adapter_part part = entry_at(lora, i)->part;

        if (part == MF_ADAPTER_BASE)
            continue;
        changes++;
        if (part == MF_ADAPTER_WHOLE && check_whole(lora, i) != MF_OK)
            return lora->env->error.status;
        if (part == MF_ADAPTER_WHOLE)
            continue;
        if (!mf_adapter_is_pair(&lora->adapter, i))
            return refuse_half(lora, i);
        i++;
    }
    return changes > 0 ? MF_OK
                       : mf_fail(lora->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                                 "the adapter changes no tensor");
}

enum mf_status mf_lora_check_used(const struct mf_lora *lora)
{
    for (size_t i = 0; i < count_of(lora); i++) {
        const struct mf_adapter_entry *entry = entry_at(lora, i);

        if (entry->used || entry->part == MF_ADAPTER_B ||
            entry->part == MF_ADAPTER_BASE)
            continue;
        mf_fail(lora->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "the adapter changes tensor '%s', which the model does not "
                "have",
                mf_quote(entry->name).text);
        return mf_lora_set_file(lora, lora->env->error.status);
    }
    return MF_OK;
}

/* ---- merging ---- */

static const struct mf_derived *flip(const struct mf_derivation *d,
                                     const struct mf_derived *node)
{
    return mf_derive_swap(d, node, 0, 1);
}

static const struct mf_derived *refuse_shape(const struct mf_derivation *d,
                                             struct mf_str name)
{
    mf_fail(d->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "tensor '%s': what the adapter changes of it is not a matrix",
            mf_quote(name).text);
    return NULL;
}

/* Whether B A has the shape of the node, or of the turned node. */
static bool fits(const struct mf_derived *node, const struct mf_derived *a,
                 const struct mf_derived *b, bool turned)
{
    return node->rank == 2 && b->dim[0] == node->dim[turned ? 1 : 0] &&
           a->dim[1] == node->dim[turned ? 0 : 1];
}

/* PEFT transposes for modules that keep the transposed matrix, whatever the
 * configuration says; where both would do, it is believed. */
static bool is_transposed(const struct mf_lora *lora,
                          const struct mf_derived *node,
                          const struct mf_derived *a,
                          const struct mf_derived *b)
{
    bool said = mf_adapter_is_true(&lora->adapter, "fan_in_fan_out");

    return fits(node, a, b, said) || !fits(node, a, b, !said) ? said : !said;
}

/* Puts the pair in the order in which B A is the model's matrix. */
static bool turn(const struct mf_lora *lora, const struct mf_derivation *d,
                 bool embedding, const struct mf_derived *node,
                 const struct mf_derived **a, const struct mf_derived **b)
{
    const struct mf_derived *old_a = *a, *old_b = *b;

    if (!embedding && !is_transposed(lora, node, *a, *b))
        return true;
    *a = flip(d, old_b);
    /* in GGUF A of an embedding is turned already */
    *b = lora->adapter.gguf ? old_a : flip(d, old_a);
    return *a && *b;
}

/* One expert of many, as a matrix. */
static const struct mf_derived *expert(const struct mf_derivation *d,
                                       const struct mf_derived *node,
                                       uint64_t number)
{
    const struct mf_derived_slice slice = { .axis = 0,
                                            .from = number,
                                            .count = 1 };
    const struct mf_derived *one = mf_derive_slice(d, node, slice);

    return one ? mf_derive_reshape(d, one, 2, node->dim + 1) : NULL;
}

/* The sum of matrix after matrix, where all have pairs of their own. */
static const struct mf_derived *
add_stack(const struct mf_derivation *d, const struct mf_derived *node,
          const struct mf_derived *a, const struct mf_derived *b, float scale)
{
    uint64_t count = node->dim[0];
    const struct mf_derived **sums;

    if (count == 0 || count > EXPERTS_MAX || a->dim[0] != count ||
        b->dim[0] != count)
        return refuse_shape(d, d->name);
    sums = mf_arena_take(d->arena, (size_t)count * sizeof(*sums));
    for (uint64_t i = 0; sums && i < count; i++) {
        const struct mf_derived *base = expert(d, node, i);
        const struct mf_derived *of_a = base ? expert(d, a, i) : NULL;
        const struct mf_derived *of_b = of_a ? expert(d, b, i) : NULL;

        sums[i] = of_b ? mf_derive_lowrank(d, base, of_a, of_b, scale) : NULL;
        if (!sums[i])
            return NULL;
    }
    return sums ? mf_derive_stack(d, sums, (size_t)count) : NULL;
}

/* The rank of the pair, and what its product is multiplied with. */
static bool scale_of(const struct mf_lora *lora, struct mf_str name,
                     size_t place, double *scale)
{
    uint64_t rank, other, claim = 0;

    if (!mf_adapter_rank(&lora->adapter, place, &rank, &other)) {
        mf_fail(lora->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                "the adapter changes tensor '%s' by A of rank %" PRIu64
                ", which does not fit B of rank %" PRIu64,
                mf_quote(name).text, rank, other);
        return false;
    }
    if (mf_adapter_claim(&lora->adapter, name, &claim) != MF_OK)
        return false;
    if (claim > 0 && claim != rank) {
        mf_fail(lora->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                CONFIG ": 'r' or 'rank_pattern' says rank %" PRIu64
                       ", but for tensor '%s' the adapter has rank %" PRIu64,
                claim, mf_quote(name).text, rank);
        return false;
    }
    return mf_adapter_scale(&lora->adapter, name, rank, lora->factor, scale) ==
           MF_OK;
}

static const struct mf_derived *add_pair(struct mf_lora *lora,
                                         const struct mf_derivation *d,
                                         struct mf_str name, size_t place,
                                         const struct mf_derived *node)
{
    const uint32_t *order = lora->adapter.order;
    const struct mf_derived *a, *b;
    double scale;

    a = mf_derive_tensor(d, lora->model, order[place]);
    b = a ? mf_derive_tensor(d, lora->model, order[place + 1]) : NULL;
    if (!b)
        return NULL;
    if (a->rank != b->rank || a->rank != node->rank || a->rank < 2 ||
        a->rank > 3)
        return refuse_shape(d, name);
    if (!scale_of(lora, name, place, &scale))
        return NULL;
    if (a->rank == 3)
        return add_stack(d, node, a, b, (float)scale);
    if (!turn(lora, d, entry_at(lora, place)->embedding, node, &a, &b))
        return NULL;
    return mf_derive_lowrank(d, node, a, b, (float)scale);
}

/* What the adapter has in place of the model's tensor. */
static const struct mf_derived *replace(const struct mf_lora *lora,
                                        const struct mf_derivation *d,
                                        size_t place,
                                        const struct mf_derived *node)
{
    const struct mf_derived *whole =
        mf_derive_tensor(d, lora->model, lora->adapter.order[place]);

    if (!whole)
        return NULL;
    if (whole->rank == node->rank &&
        memcmp(whole->dim, node->dim, node->rank * sizeof(*node->dim)) == 0)
        return whole->type == node->type
                   ? whole
                   : mf_derive_cast(d, whole, (enum mf_type)node->type);
    mf_fail(d->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
            "the adapter has tensor '%s' with %" PRIu64 " rows and %" PRIu64
            " elements, the model one with %" PRIu64 " and %" PRIu64,
            mf_quote(entry_at(lora, place)->name).text,
            whole->rank > 0 ? whole->dim[0] : 1, whole->count,
            node->rank > 0 ? node->dim[0] : 1, node->count);
    return NULL;
}

static bool find_exactly(const struct mf_lora *lora, struct mf_str name,
                         size_t *place)
{
    const struct mf_adapter *adapter = &lora->adapter;

    *place = mf_adapter_find(adapter, name);
    if (mf_adapter_has(adapter, *place, name, MF_ADAPTER_BASE))
        ++*place;
    return mf_adapter_has(adapter, *place, name, MF_ADAPTER_A) ||
           mf_adapter_has(adapter, *place, name, MF_ADAPTER_WHOLE);
}

/* The place of what the adapter has for a tensor of the model; false: nothing.
 * A checkpoint of a model without its head lacks the first part of the names,
 * which transformers adds or removes as it loads one for the other. */
static bool find_change(const struct mf_lora *lora, struct mf_str name,
                        size_t *place)
{
    static const char *const heads[] = { "transformer.", "model.",
                                         "gpt_neox." };
    char text[MF_TEXT_KEPT];

    if (find_exactly(lora, name, place))
        return true;
    if (lora->adapter.gguf)
        return false;
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
        size_t head = strlen(heads[i]);
        struct mf_str other = { text, head + name.size };

        if (mf_str_begins(name, heads[i]))
            other = (struct mf_str){ name.at + head, name.size - head };
        else if (other.size > sizeof(text))
            continue;
        else {
            memcpy(text, heads[i], head);
            if (name.size > 0)
                memcpy(text + head, name.at, name.size);
        }
        if (find_exactly(lora, other, place))
            return true;
    }
    return false;
}

const struct mf_derived *mf_lora_merge(struct mf_lora *lora,
                                       const struct mf_derivation *d,
                                       struct mf_str name,
                                       const struct mf_derived *node)
{
    const struct mf_derived *out;
    size_t place;

    if (!find_change(lora, name, &place))
        return node;
    entry_at(lora, place)->used = true;
    if (mf_type_is_quantized((enum mf_type)node->type)) {
        mf_fail(d->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                "tensor '%s' is %s: an adapter is added to floats, before they "
                "are quantized",
                mf_quote(name).text, mf_types[node->type].name);
        return NULL;
    }
    out = entry_at(lora, place)->part == MF_ADAPTER_WHOLE
              ? replace(lora, d, place, node)
              : add_pair(lora, d, name, place, node);
    if (!out)
        mf_lora_set_file(lora, lora->env->error.status);
    return out;
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
    size_t place;

    d->name = (struct mf_str){ record->name, record->name_size };
    if (!find_change(lora, d->name, &place))
        return MF_OK;
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
