/* SPDX-License-Identifier: MIT
 *
 * adapter_scale.c - what an adapter's products are multiplied with
 *
 * PEFT looks for the first key of alpha_pattern, or of rank_pattern, that
 * matches the end of a module's name, as a regular expression after a dot or
 * at the begin.  Of these only names, alternatives of names and a dot for any
 * letter are understood; other keys are refused where they are looked at.
 */
#include <math.h>

#include "lib/base/str.h"
#include "lib/folder/adapter.h"

/* Letters of keys that are compared with names, of all tensors together: they
 * take seconds. */
#define COMPARISONS ((uint64_t)1 << 30)

static struct mf_env *env_of(const struct mf_adapter *adapter)
{
    return adapter->model->env;
}

bool mf_adapter_is_true(const struct mf_adapter *adapter, const char *key)
{
    const struct mf_node *node = mf_node_at(adapter->config, key);

    return node && node->kind == MF_NODE_TRUE;
}

/* ---- ranks ---- */

/* A length of the tensor, the contiguous one first. */
static uint64_t length(const struct mf_adapter *adapter,
                       const struct mf_record *record, unsigned axis)
{
    return record
        ->dim[adapter->model->info.fastest_first ? axis
                                                 : record->rank - 1U - axis];
}

bool mf_adapter_rank(const struct mf_adapter *adapter, size_t place,
                     uint64_t *of_a, uint64_t *of_b)
{
    const struct mf_record *a = mf_adapter_record(adapter, place);
    const struct mf_record *b = mf_adapter_record(adapter, place + 1);
    bool turned = adapter->gguf && mf_adapter_at(adapter, place)->embedding;

    *of_a = *of_b = 0;
    if (a->rank < 2 || b->rank < 2)
        return false;
    *of_a = length(adapter, a, turned ? 0 : 1);
    *of_b = length(adapter, b, 0);
    return *of_a == *of_b && *of_a > 0;
}

/* ---- patterns ---- */

/* One letter of a key, and how many characters it took; 0: one that has a
 * meaning which is not understood. */
static size_t letter(struct mf_str key, size_t at, bool *any, char *out)
{
    bool escaped = key.at[at] == '\\';
    char c = escaped && at + 1 < key.size ? key.at[at + 1] : key.at[at];
    bool name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                (c >= '0' && c <= '9');

    if (escaped ? name || c == '\\' : strchr("\\^$*+?{}[]()", c) != NULL)
        return 0;
    *any = !escaped && c == '.';
    *out = c;
    return escaped ? 2 : 1;
}

/* Whether one alternative matches the end of the name; *bad: it is unknown. */
static bool matches_one(struct mf_str key, struct mf_str name, bool *bad)
{
    bool whole = key.size > 0 && key.at[0] == '^', same = true;
    size_t size = 0, from;

    for (size_t pass = 0; pass < 2; pass++) {
        from = name.size - size;
        for (size_t at = whole, i = 0; at < key.size; i++) {
            bool any;
            char c;
            size_t step = letter(key, at, &any, &c);

            *bad = *bad || step == 0;
            if (*bad)
                return false;
            if (pass == 1)
                same = same && (any || name.at[from + i] == c);
            else
                size++;
            at += step;
        }
        if (size > name.size)
            return false;
    }
    return same && (from == 0 || (!whole && name.at[from - 1] == '.'));
}

/* Whether PEFT finds the key at the end of the name. */
static bool matches(struct mf_str key, struct mf_str name, bool *bad)
{
    size_t from = 0;
    bool found = false;

    for (size_t i = 0; i <= key.size; i++)
        if (i == key.size || key.at[i] == '|') {
            struct mf_str one = { key.at + from, i - from };

            found = matches_one(one, name, bad) || found;
            from = i + 1;
        }
    return found;
}

static enum mf_status refuse(const struct mf_adapter *adapter,
                             const char *pattern, const struct mf_node *node,
                             const char *what)
{
    return mf_fail(env_of(adapter), MF_ERR_UNSUPPORTED, node->offset,
                   "'" MF_ADAPTER_CONFIG "': '%s' has '%s', %s", pattern,
                   mf_quote(node->key).text, what);
}

/* The value for the module of that tensor; NULL: the pattern has none. */
static enum mf_status find_value(const struct mf_adapter *adapter,
                                 const char *pattern, struct mf_str name,
                                 const struct mf_node **out)
{
    const struct mf_node *list = mf_node_at(adapter->config, pattern);

    *out = NULL;
    if (!list || list->kind == MF_NODE_NULL)
        return MF_OK;
    if (list->kind != MF_NODE_OBJECT)
        return mf_fail(env_of(adapter), MF_ERR_CORRUPT, list->offset,
                       "'" MF_ADAPTER_CONFIG
                       "': '%s' is %s, expected an object",
                       pattern, mf_node_kind_name(list));
    if (mf_str_ends(name, ".weight"))
        name.size -= strlen(".weight");
    for (const struct mf_node *node = list->first; node; node = node->next) {
        bool bad = false, found = matches(node->key, name, &bad);

        if (bad)
            return refuse(adapter, pattern, node,
                          "a regular expression that is not supported");
        if (!found)
            continue;
        if (node->kind != MF_NODE_NUMBER)
            return refuse(adapter, pattern, node, "which is not a number");
        *out = node;
        return MF_OK;
    }
    return MF_OK;
}

static enum mf_status check_effort(const struct mf_adapter *adapter,
                                   const char *pattern)
{
    const struct mf_node *list = mf_node_at(adapter->config, pattern);
    uint64_t tensors = adapter->model->index.tensor_count, letters = 0;

    if (!list || list->kind != MF_NODE_OBJECT)
        return MF_OK;
    for (const struct mf_node *node = list->first; node; node = node->next)
        letters += node->key.size + 1;
    if (tensors == 0 || letters <= COMPARISONS / tensors)
        return MF_OK;
    return mf_fail(env_of(adapter), MF_ERR_LIMIT, list->offset,
                   "'" MF_ADAPTER_CONFIG "': the keys of '%s' have %" PRIu64
                   " letters, at most %" PRIu64 " are compared with %" PRIu64
                   " tensors",
                   pattern, letters, COMPARISONS / tensors, tensors);
}

enum mf_status mf_adapter_check_effort(const struct mf_adapter *adapter)
{
    return check_effort(adapter, "alpha_pattern") == MF_OK
               ? check_effort(adapter, "rank_pattern")
               : env_of(adapter)->error.status;
}

/* ---- numbers ---- */

/* A number of either kind; false: it is something else. */
static bool as_double(enum mf_value_type type, union mf_number number,
                      double *out)
{
    switch (type) {
    case MF_VALUE_F32:
    case MF_VALUE_F64:
        *out = number.f64;
        return true;
    case MF_VALUE_I8:
    case MF_VALUE_I16:
    case MF_VALUE_I32:
    case MF_VALUE_I64:
        *out = (double)number.i64;
        return true;
    case MF_VALUE_U8:
    case MF_VALUE_U16:
    case MF_VALUE_U32:
    case MF_VALUE_U64:
        *out = (double)number.u64;
        return true;
    default:
        return false;
    }
}

static bool number_of(const struct mf_node *node, double *out)
{
    return node && node->kind == MF_NODE_NUMBER &&
           as_double(node->type, node->number, out) && isfinite(*out);
}

static enum mf_status alpha_of_gguf(const struct mf_adapter *adapter,
                                    double *out)
{
    static const char key[] = "adapter.lora.alpha";
    const struct mf_meta *meta = mf_index_meta(&adapter->model->index, key);

    if (!meta || !as_double(meta->type, meta->number, out))
        return mf_fail(env_of(adapter), MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "'%s' is %s", key, meta ? "not a number" : "missing");
    return isfinite(*out)
               ? MF_OK
               : mf_fail(env_of(adapter), MF_ERR_CORRUPT, meta->span.offset,
                         "'%s' is %s", key, isnan(*out) ? "NaN" : "infinite");
}

enum mf_status mf_adapter_alpha(const struct mf_adapter *adapter, double *out)
{
    const struct mf_node *alpha;

    if (adapter->gguf)
        return alpha_of_gguf(adapter, out);
    alpha = mf_node_at(adapter->config, "lora_alpha");
    if (number_of(alpha, out))
        return MF_OK;
    return mf_fail(
        env_of(adapter), MF_ERR_CORRUPT, alpha ? alpha->offset : MF_NO_OFFSET,
        "'" MF_ADAPTER_CONFIG "': 'lora_alpha' is %s, expected a finite number",
        !alpha                          ? "missing"
        : alpha->kind == MF_NODE_NUMBER ? "not finite"
                                        : mf_node_kind_name(alpha));
}

enum mf_status mf_adapter_claim(const struct mf_adapter *adapter,
                                struct mf_str name, uint64_t *rank)
{
    const struct mf_node *node;
    double number;

    *rank = 0;
    if (find_value(adapter, "rank_pattern", name, &node) != MF_OK)
        return env_of(adapter)->error.status;
    if (!node)
        node = mf_node_at(adapter->config, "r");
    if (number_of(node, &number) && number >= 1 && number <= 1e15)
        *rank = (uint64_t)number;
    return MF_OK;
}

enum mf_status mf_adapter_scale(const struct mf_adapter *adapter,
                                struct mf_str name, uint64_t rank,
                                double factor, double *out)
{
    const struct mf_node *own;
    double alpha, r = (double)rank;

    if (mf_adapter_alpha(adapter, &alpha) != MF_OK ||
        find_value(adapter, "alpha_pattern", name, &own) != MF_OK)
        return env_of(adapter)->error.status;
    if (adapter->gguf) { /* llama.cpp's order of f32 */
        float scale = (float)factor * (float)alpha / (float)rank;

        *out = alpha == 0 ? factor : (double)scale;
        return MF_OK;
    }
    if (own && !number_of(own, &alpha))
        return refuse(adapter, "alpha_pattern", own, "which is not finite");
    *out = factor * alpha /
           (mf_adapter_is_true(adapter, "use_rslora") ? sqrt(r) : r);
    return MF_OK;
}
