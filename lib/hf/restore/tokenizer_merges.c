/* SPDX-License-Identifier: MIT
 *
 * tokenizer_merges.c - merges of a vocabulary that lost them
 *
 * Where the converter had tokenizer.json only, the tokens of SentencePiece have
 * neither scores nor merges.  Its trainer numbers tokens in the order in which
 * it made them, so that is the order of the merges: for each token all pairs of
 * tokens that it can be made of.
 */
#include "lib/base/names.h"
#include "lib/base/text.h"
#include "lib/hf/restore/tokenizer.h"

/* Of a token that is taken apart, and so its bytes: a long one takes the square
 * of its length, and real ones have at most some hundred. */
#define PAIRS 512

struct slot {
    uint32_t hash; /* upper half; the lower is where the slot is, nearly */
    uint32_t id;   /* + 1; 0: free */
};

struct pair {
    uint32_t left, right;
    uint32_t size; /* bytes of the left one */
};

struct merges {
    const struct mf_tokenizer_facts *facts;
    struct mf_json_out *json;
    struct slot *slot; /* which texts are tokens */
    size_t mask;       /* slots - 1; slots are a power of two */
    struct pair pair[PAIRS];
};

static enum mf_status failed(const struct merges *merges)
{
    return merges->facts->env->error.status;
}

static uint64_t hash_of(const struct merges *merges, struct mf_str text)
{
    return mf_text_hash(text, merges->facts->env->hash_seed);
}

/* The slot of a text, or the free one where it belongs. */
static struct slot *find(const struct merges *merges, struct mf_str text)
{
    uint64_t hash = hash_of(merges, text);
    size_t at = (size_t)hash & merges->mask;

    while (merges->slot[at].id &&
           merges->slot[at].hash != (uint32_t)(hash >> 32))
        at = (at + 1) & merges->mask;
    return &merges->slot[at];
}

/* Control tokens and bytes are never part of a word. */
static bool is_part(const struct mf_token_walk *walk)
{
    return walk->type == MF_TOKEN_NORMAL && walk->id < walk->facts->base;
}

static enum mf_status fill(struct merges *merges)
{
    struct mf_token_walk *walk = mf_token_walk_open(merges->facts);
    enum mf_status status;

    while (walk && mf_token_walk_next(walk)) {
        struct slot *slot;

        if (!is_part(walk))
            continue;
        slot = find(merges, walk->text);
        slot->hash = (uint32_t)(hash_of(merges, walk->text) >> 32);
        slot->id = (uint32_t)walk->id + 1;
    }
    status = failed(merges);
    mf_token_walk_close(walk);
    return status;
}

/* Keeps the pairs in the order of their ids. */
static void insert(struct merges *merges, size_t count, struct pair pair)
{
    struct pair *at = &merges->pair[count];

    for (; at > merges->pair; at--) {
        if (at[-1].left < pair.left ||
            (at[-1].left == pair.left && at[-1].right < pair.right))
            break;
        *at = at[-1];
    }
    *at = pair;
}

/* All pairs of tokens that make this one. */
static size_t take_apart(struct merges *merges, struct mf_str text)
{
    size_t count = 0;
    uint32_t code;

    for (size_t at = 0; at < text.size;) {
        const struct slot *left, *right;

        at += mf_utf8_next(text.at + at, text.size - at, &code);
        if (at == text.size)
            break;
        left = find(merges, (struct mf_str){ text.at, at });
        right = find(merges, (struct mf_str){ text.at + at, text.size - at });
        if (left->id && right->id)
            insert(merges, count++,
                   (struct pair){ left->id, right->id, (uint32_t)at });
    }
    return count;
}

static void put_pairs(struct merges *merges, struct mf_str text)
{
    size_t count = take_apart(merges, text);

    for (size_t i = 0; i < count; i++) {
        size_t size = merges->pair[i].size;

        mf_json_begin(merges->json, '[');
        mf_json_string(merges->json, text.at, size);
        mf_json_string(merges->json, text.at + size, text.size - size);
        mf_json_end(merges->json, ']');
    }
}

static enum mf_status put_all(struct merges *merges)
{
    struct mf_token_walk *walk = mf_token_walk_open(merges->facts);
    enum mf_status status;

    while (walk && mf_token_walk_next(walk))
        if (is_part(walk) && walk->text.size <= PAIRS)
            put_pairs(merges, walk->text);
    status = failed(merges);
    mf_token_walk_close(walk);
    return status;
}

enum mf_status mf_tokenizer_write_merges(const struct mf_tokenizer_facts *facts,
                                         struct mf_json_out *json)
{
    struct mf_env *env = facts->env;
    struct merges *merges = mf_alloc(env, sizeof(*merges));
    uint64_t slots = 16;
    enum mf_status status;

    if (!merges)
        return env->error.status;
    while (slots < facts->count + facts->count / 4)
        slots *= 2;
    *merges = (struct merges){ .facts = facts,
                               .json = json,
                               .mask = (size_t)slots - 1,
                               .slot = mf_alloc(env, (size_t)slots *
                                                         sizeof(struct slot)) };
    status = merges->slot ? MF_OK : env->error.status;
    if (status == MF_OK) {
        memset(merges->slot, 0, (size_t)slots * sizeof(struct slot));
        status = fill(merges);
    }
    if (status == MF_OK)
        status = put_all(merges);
    mf_release(env, merges->slot, (size_t)slots * sizeof(struct slot));
    mf_release(env, merges, sizeof(*merges));
    return status;
}
