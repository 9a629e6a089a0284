/* SPDX-License-Identifier: MIT
 *
 * adapter_check.c - what is wrong with a LoRA adapter
 *
 * For GGUF the judge is llama.cpp's loader: an error is what it refuses, aborts
 * on, or that makes every token NaN.  For a folder it is PEFT, which fails
 * where a rank differs from its configuration, and passes over tensors that it
 * does not know.
 */
#include <math.h>
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/folder/adapter.h"
#include "lib/model/nearby.h"

#define ALPHA  "adapter.lora.alpha"
#define TOKENS "adapter.alora.invocation_tokens"

static struct mf_index *index_of(const struct mf_adapter *adapter)
{
    return &adapter->model->index;
}

/* ---- metadata of GGUF ---- */

static bool note_meta(struct mf_index *index, const struct mf_meta *meta,
                      const char *key, const char *wanted)
{
    mf_index_note(
        index, meta ? meta->shard : 0, MF_ERROR, MF_RULE_ADAPTER_CONFIG,
        meta ? meta->span.offset : MF_NO_OFFSET, "'%s' %s", key, wanted);
    return false;
}

/* Whether the file is an adapter of a kind that has pairs. */
static bool check_type(struct mf_index *index)
{
    const struct mf_meta *type = mf_index_meta(index, "adapter.type");

    if (!type)
        return note_meta(index, NULL, "adapter.type",
                         "is missing, which must be 'lora'");
    if (type->type != MF_VALUE_STRING || !type->text.at ||
        !mf_str_is(type->text, "lora"))
        return note_meta(index, type, "adapter.type", "is not 'lora'");
    return true;
}

static void check_alpha(struct mf_index *index)
{
    const struct mf_meta *alpha = mf_index_meta(index, ALPHA);

    if (!alpha || (alpha->type == MF_VALUE_F32 && alpha->number.f64 == 0))
        mf_index_note(
            index, 0, MF_WARNING, MF_RULE_ADAPTER_CONFIG,
            alpha ? alpha->span.offset : MF_NO_OFFSET,
            "'" ALPHA
            "' is %s: changes are added unscaled, not divided by the rank",
            alpha ? "0" : "missing");
    else if (alpha->type != MF_VALUE_F32)
        note_meta(index, alpha, ALPHA, "is not an f32");
    else if (!isfinite(alpha->number.f64))
        note_meta(index, alpha, ALPHA, "is NaN or infinite");
}

static void check_tokens(struct mf_index *index)
{
    const struct mf_meta *tokens = mf_index_meta(index, TOKENS);

    if (tokens &&
        (tokens->type != MF_VALUE_ARRAY || tokens->of != MF_VALUE_U32))
        note_meta(index, tokens, TOKENS, "is not an array of u32");
}

/* ---- adapter_config.json ---- */

static bool note_config(const struct mf_adapter *adapter,
                        const struct mf_node *node, const char *what)
{
    mf_index_note(index_of(adapter), 0, MF_ERROR, MF_RULE_ADAPTER_CONFIG,
                  MF_NO_OFFSET, "%s in " MF_ADAPTER_CONFIG " is %s", what,
                  node ? mf_node_kind_name(node) : "missing");
    return false;
}

/* The reason why a call failed becomes a finding; false if that cannot be. */
static bool note_failure(struct mf_index *index, struct mf_env *env,
                         enum mf_rule rule)
{
    struct mf_error error = env->error;

    if (error.status != MF_ERR_CORRUPT && error.status != MF_ERR_UNSUPPORTED &&
        error.status != MF_ERR_FORMAT && error.status != MF_ERR_LIMIT)
        return false;
    mf_clear_error(env);
    mf_index_note(index, 0, MF_ERROR, rule, MF_NO_OFFSET, "%s", error.message);
    return true;
}

/* Whether pairs are expected. */
static bool check_config(const struct mf_adapter *adapter)
{
    struct mf_env *env = adapter->model->env;
    const struct mf_node *config = adapter->config;
    const struct mf_node *type = mf_node_at(config, "peft_type");
    const struct mf_node *rank = mf_node_at(config, "r");
    double alpha;

    if (!config || config->kind != MF_NODE_OBJECT)
        return note_config(adapter, config, "the object");
    if (!type || type->kind != MF_NODE_STRING)
        return note_config(adapter, type, "'peft_type'");
    if (!mf_str_is(type->text, "LORA"))
        return false;
    if (rank && (rank->kind != MF_NODE_NUMBER || rank->type != MF_VALUE_U64 ||
                 rank->number.u64 == 0))
        mf_index_note(index_of(adapter), 0, MF_ERROR, MF_RULE_ADAPTER_CONFIG,
                      MF_NO_OFFSET,
                      "'r' in " MF_ADAPTER_CONFIG " is not a positive integer");
    if (mf_adapter_alpha(adapter, &alpha) != MF_OK)
        note_failure(index_of(adapter), env, MF_RULE_ADAPTER_CONFIG);
    return true;
}

/* ---- tensors ---- */

static void note_tensor(const struct mf_adapter *adapter, size_t place,
                        enum mf_severity severity, enum mf_rule rule,
                        const char *what)
{
    const struct mf_record *record = mf_adapter_record(adapter, place);

    mf_index_note_of(index_of(adapter), record, severity, rule, record->entry,
                     "tensor '%s' %s", mf_record_name(record).text, what);
}

/* llama.cpp passes over norms, PEFT over what it does not know. */
static void check_whole(const struct mf_adapter *adapter, size_t place)
{
    struct mf_str name = mf_adapter_at(adapter, place)->name;

    if (adapter->gguf && !mf_str_ends(name, "_norm.weight"))
        note_tensor(adapter, place, MF_ERROR, MF_RULE_ADAPTER_TENSOR,
                    "is neither half of a pair nor a norm");
    else if (!adapter->gguf &&
             (mf_str_holds(name, ".lora_A.") ||
              mf_str_holds(name, ".lora_B.")) &&
             !mf_str_ends(name, ".bias"))
        note_tensor(adapter, place, MF_WARNING, MF_RULE_ADAPTER_TENSOR,
                    "has a name that PEFT does not know, and passes over");
}

static void check_claim(const struct mf_adapter *adapter, size_t place,
                        uint64_t rank)
{
    struct mf_env *env = adapter->model->env;
    uint64_t claim;

    /* A pattern that is not understood is not a fault of the file. */
    if (mf_adapter_claim(adapter, mf_adapter_at(adapter, place)->name,
                         &claim) != MF_OK)
        mf_clear_error(env);
    else if (claim > 0 && claim != rank)
        mf_index_note_of(index_of(adapter), mf_adapter_record(adapter, place),
                         MF_ERROR, MF_RULE_ADAPTER_SHAPE,
                         mf_adapter_record(adapter, place)->entry,
                         "tensor '%s' has rank %" PRIu64 ", and %" PRIu64
                         " in " MF_ADAPTER_CONFIG,
                         mf_record_name(mf_adapter_record(adapter, place)).text,
                         rank, claim);
}

static void check_pair(const struct mf_adapter *adapter, size_t place)
{
    const struct mf_record *a = mf_adapter_record(adapter, place);
    const struct mf_record *b = mf_adapter_record(adapter, place + 1);
    uint64_t rank, other;

    if (a->flags & MF_TENSOR_DAMAGED || b->flags & MF_TENSOR_DAMAGED)
        return;
    if (a->rank < 2 || b->rank < 2)
        note_tensor(adapter, a->rank < 2 ? place : place + 1, MF_ERROR,
                    MF_RULE_ADAPTER_SHAPE, "is not a matrix");
    else if (!mf_adapter_rank(adapter, place, &rank, &other))
        mf_index_note_of(
            index_of(adapter), a, MF_ERROR, MF_RULE_ADAPTER_SHAPE, a->entry,
            "tensor '%s' has rank %" PRIu64 ", its other half %" PRIu64,
            mf_record_name(a).text, rank, other);
    else if (!adapter->gguf)
        check_claim(adapter, place, rank);
}

static void check_tensors(const struct mf_adapter *adapter)
{
    size_t count = index_of(adapter)->tensor_count, pairs = 0;

    for (size_t i = 0; i < count; i++) {
        enum mf_adapter_part part = mf_adapter_at(adapter, i)->part;

        if (part == MF_ADAPTER_WHOLE) {
            check_whole(adapter, i);
        } else if (part == MF_ADAPTER_A && mf_adapter_is_pair(adapter, i)) {
            check_pair(adapter, i++);
            pairs++;
        } else if (part != MF_ADAPTER_BASE) {
            note_tensor(adapter, i, MF_ERROR, MF_RULE_ADAPTER_PAIR,
                        "does not have exactly one other half");
            pairs++;
        }
    }
    if (pairs == 0)
        mf_index_note(index_of(adapter), 0, MF_WARNING, MF_RULE_ADAPTER_PAIR,
                      MF_NO_OFFSET, "the adapter has no pairs of matrices");
}

enum mf_status mf_adapter_check(struct mf_model *model)
{
    struct mf_index *index = &model->index;
    struct mf_adapter adapter;
    struct mf_arena arena;
    enum mf_status status;

    mf_arena_init(&arena, model->env);
    status = mf_adapter_read(&adapter, model, &arena);
    if (status != MF_OK) {
        if (note_failure(index, model->env, MF_RULE_CONFIG_JSON))
            status = MF_OK;
    } else if (adapter.gguf) {
        if (check_type(index)) {
            check_alpha(index);
            check_tokens(index);
            check_tensors(&adapter);
        }
    } else if (!mf_nearby_any(model) || check_config(&adapter)) {
        check_tensors(&adapter);
    }
    mf_arena_release(&arena);
    return status;
}
