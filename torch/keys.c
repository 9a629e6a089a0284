/* SPDX-License-Identifier: MIT
 *
 * keys.c - keys of dicts and elements of sets that are one to Python
 *
 * 1, 1.0 and True are the same key, and the last value of it is the one that
 * stays.  So a dict with equal keys is not what its pickle lists.  Texts,
 * numbers, None and tuples of these are compared; keys of other kinds, which
 * programs do not save, are findings.
 */
#include "torch/pickle.h"

/* Bytes of an integer as large as the largest double, and its sign. */
#define WIDE_MAX 136

/* Something that equal keys have in common. */
struct keyed {
    uint8_t kind; /* of a node that is equal to it: INT for True and 1.0 */
    struct mf_str text;
    uint64_t bits;
    char wide[WIDE_MAX];
};

/* ---- numbers ---- */

/* The integer that a double above 2^63 is, as BIG has it: little-endian in
 * two's complement, without bytes that only repeat the sign. */
static size_t wide_of(double real, char *out)
{
    uint64_t bits, mantissa;
    unsigned shift, size, carry = 1;
    bool minus = real < 0;

    memcpy(&bits, &real, sizeof(bits));
    mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    shift = (unsigned)(bits >> 52 & 0x7ff) - 1075;
    size = (shift + 53) / 8 + 1;
    memset(out, 0, WIDE_MAX);
    for (unsigned i = 0; i < 53; i++)
        if (mantissa >> i & 1)
            out[(shift + i) / 8] |= (char)(1 << (shift + i) % 8);
    for (unsigned i = 0; minus && i < size; i++) {
        carry += (uint8_t)~out[i];
        out[i] = (char)carry;
        carry >>= 8;
    }
    return mf_pickle_long_size((struct mf_str){ out, size });
}

static void key_real(double real, struct keyed *out)
{
    const double end = 9223372036854775808.0; /* 2^63 */

    memcpy(&out->bits, &real, sizeof(real));
    if (real >= -end && real < end && (double)(int64_t)real == real) {
        out->kind = PICKLE_INT;
        out->bits = (uint64_t)(int64_t)real;
    } else if ((real >= end || real < -end) && real - real == 0) {
        out->kind = PICKLE_BIG;
        out->bits = 0;
        out->text.at = out->wide;
        out->text.size = wide_of(real, out->wide);
    }
}

/* ---- keys ---- */

static bool is_ascii(struct mf_str text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((uint8_t)text.at[i] >= 0x80)
            return false;
    return text.at != NULL;
}

/* Bytes that _codecs.encode makes of a text, as PyTorch writes them; NIL for
 * any other call. */
static uint32_t encoded_text(const struct pickle *pickle, uint32_t at)
{
    uint32_t text = mf_pickle_item(pickle, mf_pickle_item(pickle, at, 1), 0);

    return mf_pickle_makes(pickle, at) == PICKLE_MAKES_ENCODED &&
                   !pickle->node[at].bad &&
                   is_ascii(mf_pickle_text(pickle, &pickle->node[text]))
               ? text
               : PICKLE_NIL;
}

/* A key that is a text, a number or a constant; what else is equal only to
 * itself.  False for what may be equal to other keys, or cannot be one. */
static bool take_plain(const struct pickle *pickle, uint32_t at,
                       struct keyed *out)
{
    const struct pickle_node *node = &pickle->node[at];
    uint32_t text;

    *out = (struct keyed){ .kind = node->kind, .bits = at };
    switch ((enum pickle_kind)node->kind) {
    case PICKLE_FALSE:
    case PICKLE_TRUE:
        out->kind = PICKLE_INT;
        out->bits = node->kind == PICKLE_TRUE;
        return true;
    case PICKLE_INT:
        out->bits = (uint64_t)node->is.number;
        return true;
    case PICKLE_FLOAT:
        if (node->is.real == node->is.real) /* each NaN is a key of its own */
            key_real(node->is.real, out);
        return true;
    case PICKLE_TEXT:
    case PICKLE_BYTES:
    case PICKLE_BIG:
        out->text = mf_pickle_text(pickle, node);
        out->bits = out->text.at ? 0 : at;
        return true;
    case PICKLE_GLOBAL:
        out->bits = mf_pickle_makes(pickle, at) < PICKLE_MAKES_WRAPPED
                        ? node->global
                        : at;
        return true;
    case PICKLE_CALL:
        text = encoded_text(pickle, at);
        if (text == PICKLE_NIL)
            return mf_pickle_makes(pickle, at) >= PICKLE_MAKES_WRAPPED;
        out->kind = PICKLE_BYTES;
        out->text = mf_pickle_text(pickle, &pickle->node[text]);
        out->bits = 0;
        return true;
    default:
        return node->kind == PICKLE_NONE;
    }
}

static uint64_t hash_plain(const struct pickle *pickle, const struct keyed *key)
{
    char bytes[9];

    if (key->text.at)
        return mf_text_hash(key->text, pickle->env->hash_seed + key->kind);
    memcpy(bytes, &key->bits, 8);
    bytes[8] = (char)key->kind;
    return mf_text_hash((struct mf_str){ bytes, sizeof(bytes) },
                        pickle->env->hash_seed);
}

/* False where the key is of a kind that is not compared. */
static bool hash_key(struct pickle *pickle, uint32_t at, uint64_t *out)
{
    const struct pickle_node *node = &pickle->node[at];
    struct keyed key;

    if (node->kind != PICKLE_TUPLE) {
        if (!take_plain(pickle, at, &key))
            return false;
        *out = hash_plain(pickle, &key);
        return true;
    }
    *out = PICKLE_TUPLE;
    for (uint32_t item = node->is.items.first; item != PICKLE_NIL;
         item = pickle->item[item].next) {
        uint64_t hash;

        if (!mf_pickle_work(pickle, 1) ||
            !take_plain(pickle, pickle->item[item].node, &key))
            return false;
        hash = hash_plain(pickle, &key);
        *out = (*out ^ hash) * UINT64_C(0x9E3779B97F4A7C15);
        *out ^= *out >> 29;
    }
    return true;
}

static bool same_plain(const struct pickle *pickle, uint32_t a, uint32_t b)
{
    struct keyed one, other;

    take_plain(pickle, a, &one);
    take_plain(pickle, b, &other);
    return one.kind == other.kind && one.bits == other.bits &&
           (one.text.at == NULL) == (other.text.at == NULL) &&
           (!one.text.at || mf_str_same(one.text, other.text));
}

static bool same_key(struct pickle *pickle, uint32_t a, uint32_t b)
{
    uint32_t one, other;

    if (pickle->node[a].kind != PICKLE_TUPLE ||
        pickle->node[b].kind != PICKLE_TUPLE)
        return pickle->node[a].kind != PICKLE_TUPLE &&
               pickle->node[b].kind != PICKLE_TUPLE && same_plain(pickle, a, b);
    one = pickle->node[a].is.items.first;
    other = pickle->node[b].is.items.first;
    while (
        one != PICKLE_NIL && other != PICKLE_NIL && mf_pickle_work(pickle, 1) &&
        same_plain(pickle, pickle->item[one].node, pickle->item[other].node)) {
        one = pickle->item[one].next;
        other = pickle->item[other].next;
    }
    return one == PICKLE_NIL && other == PICKLE_NIL;
}

/* ---- the keys of one dict ---- */

struct keys {
    struct pickle *pickle;
    uint32_t owner; /* the dict or the set */
    uint64_t count;
    uint32_t *slot; /* node + 1 of a key; 0: free; NULL: only counting */
    uint64_t room;  /* slots, a power of two */
    uint64_t mask;  /* of those that are used for this dict */
};

static void note_key(const struct keys *keys, uint32_t key, const char *what)
{
    struct pickle *pickle = keys->pickle;
    const struct pickle_node *node = &pickle->node[key];
    /* True and its kind are not an opcode's own. */
    uint32_t place = node->at > 0 ? key : keys->owner;
    bool named = node->kind == PICKLE_TEXT && mf_pickle_text(pickle, node).at;

    mf_index_note(pickle->index, pickle->shard, MF_ERROR, MF_RULE_PICKLE_KEY,
                  pickle->span.offset + pickle->node[place].at,
                  "a dict or a set has %s%s%s%s", named ? "'" : "",
                  named ? mf_quote(mf_pickle_text(pickle, node)).text
                        : "a key ",
                  named ? "' " : "", what);
}

static bool take_key(struct keys *keys, uint32_t key)
{
    uint64_t hash;

    keys->count++;
    if (!mf_pickle_work(keys->pickle, 1))
        return false;
    if (!keys->slot)
        return true;
    if (!hash_key(keys->pickle, key, &hash)) {
        note_key(keys, key, "of a kind that is not compared with others");
        return keys->pickle->env->error.status == MF_OK;
    }
    for (uint64_t i = hash & keys->mask;; i = (i + 1) & keys->mask) {
        if (keys->slot[i] == 0) {
            keys->slot[i] = key + 1;
            return true;
        }
        if (same_key(keys->pickle, keys->slot[i] - 1, key)) {
            note_key(keys, key,
                     "twice: Python has only the last of these values");
            return keys->pickle->env->error.status == MF_OK;
        }
    }
}

/* Items from `at` on: keys, or keys and values in turn.  Up to a mark. */
static bool take_items(struct keys *keys, uint32_t *at, bool pairs)
{
    const struct pickle *pickle = keys->pickle;

    while (*at != PICKLE_NIL && pickle->item[*at].node != PICKLE_MARK) {
        if (!take_key(keys, pickle->item[*at].node))
            return false;
        *at = pickle->item[*at].next;
        if (pairs && *at != PICKLE_NIL)
            *at = pickle->item[*at].next;
    }
    return true;
}

/* The first argument of a call: a dict, or pairs; or elements. */
static bool take_first(struct keys *keys, uint32_t node, bool pairs)
{
    const struct pickle *pickle = keys->pickle;
    uint32_t at;

    if (node == PICKLE_NIL || !mf_pickle_has_items(&pickle->node[node]) ||
        pickle->node[node].kind == PICKLE_CALL)
        return true;
    at = pickle->node[node].is.items.first;
    if (!pairs || pickle->node[node].kind == PICKLE_DICT)
        return take_items(keys, &at, pairs);
    for (; at != PICKLE_NIL; at = pickle->item[at].next) {
        uint32_t key = mf_pickle_item(pickle, pickle->item[at].node, 0);

        if (key != PICKLE_NIL && !take_key(keys, key))
            return false;
    }
    return true;
}

/* All keys of a dict or of a set of any class. */
static bool take_all(struct keys *keys)
{
    const struct pickle *pickle = keys->pickle;
    const struct pickle_node *node = &pickle->node[keys->owner];
    uint32_t at = node->is.items.first;

    keys->count = 0;
    if (node->kind != PICKLE_CALL)
        return take_items(keys, &at, node->kind == PICKLE_DICT);
    if (!take_first(
            keys,
            mf_pickle_item(pickle, mf_pickle_item(pickle, keys->owner, 1), 0),
            mf_pickle_is_dict(pickle, keys->owner)))
        return false;
    at = pickle->item[pickle->item[at].next].next;
    while (at != PICKLE_NIL) {
        at = pickle->item[pickle->item[at].next].next; /* MARK, PAIRS */
        if (!take_items(keys, &at, true))
            return false;
    }
    return true;
}

static bool has_keys(const struct pickle *pickle, uint32_t node)
{
    return pickle->node[node].kind == PICKLE_SET ||
           mf_pickle_is_dict(pickle, node) ||
           (pickle->node[node].kind == PICKLE_CALL &&
            mf_pickle_makes(pickle, node) == PICKLE_MAKES_SET);
}

/* Counts the keys of the dict, or enters them into the table. */
static bool check_dict(struct keys *keys)
{
    uint32_t *slot = keys->slot;

    keys->slot = NULL;
    if (!take_all(keys))
        return false;
    keys->slot = slot;
    if (!slot) {
        while (keys->room < 2 * keys->count)
            keys->room *= 2;
        return true;
    }
    for (keys->mask = 1; keys->mask < 2 * keys->count;)
        keys->mask *= 2;
    memset(slot, 0, (size_t)keys->mask * sizeof(*slot));
    keys->mask--;
    return take_all(keys);
}

static bool check_dicts(struct keys *keys)
{
    struct pickle *pickle = keys->pickle;

    for (uint32_t i = 0; i < pickle->node_count; i++) {
        keys->owner = i;
        if (has_keys(pickle, i) && !pickle->node[i].bad && !check_dict(keys))
            return false;
    }
    return true;
}

enum mf_status mf_pickle_check_keys(struct pickle *pickle)
{
    struct keys keys = { .pickle = pickle, .room = 2 };
    size_t size;

    if (!check_dicts(&keys))
        return pickle->env->error.status;
    size = (size_t)keys.room * sizeof(*keys.slot);
    keys.slot = mf_alloc(pickle->env, size);
    if (keys.slot)
        check_dicts(&keys);
    mf_release(pickle->env, keys.slot, size);
    return pickle->env->error.status;
}
