/* SPDX-License-Identifier: MIT
 *
 * tokenizer_tokens.c - the tokens of a vocabulary, one after the other
 */
#include <stdio.h>

#include "lib/base/str.h"
#include "lib/base/text.h"
#include "lib/hf/restore/tokenizer.h"

static enum mf_status failed(const struct mf_token_walk *walk)
{
    return walk->facts->env->error.status;
}

/* Opens the array of that key, up to its first element; *out stays NULL where
 * there is no key. */
static enum mf_status open_array(const struct mf_tokenizer_facts *facts,
                                 size_t key, struct mf_values **out)
{
    struct mf_value begin;

    if (key == MF_NO_KEY)
        return MF_OK;
    if (mf_values_open(facts->model, key, out) != MF_OK)
        return facts->env->error.status;
    return mf_values_next(*out, &begin);
}

struct mf_token_walk *mf_token_walk_open(const struct mf_tokenizer_facts *facts)
{
    struct mf_token_walk *walk = mf_alloc(facts->env, sizeof(*walk));
    struct mf_error error;

    if (!walk)
        return NULL;
    walk->facts = facts;
    walk->texts = walk->types = walk->scores = NULL;
    walk->next = 0;
    if (open_array(facts, facts->tokens, &walk->texts) == MF_OK &&
        open_array(facts, facts->types, &walk->types) == MF_OK &&
        open_array(facts, facts->scores, &walk->scores) == MF_OK)
        return walk;
    error = facts->env->error;
    mf_token_walk_close(walk);
    facts->env->error = error;
    return NULL;
}

void mf_token_walk_close(struct mf_token_walk *walk)
{
    struct mf_env *env;

    if (!walk)
        return;
    env = walk->facts->env;
    if (walk->texts)
        mf_values_close(walk->texts);
    if (walk->types)
        mf_values_close(walk->types);
    if (walk->scores)
        mf_values_close(walk->scores);
    mf_release(env, walk, sizeof(*walk));
}

static enum mf_status take_text(struct mf_token_walk *walk)
{
    struct mf_value piece;
    size_t size = 0;

    do {
        if (mf_values_next(walk->texts, &piece) != MF_OK)
            return failed(walk);
        if (piece.text.size > sizeof(walk->buffer) - size)
            return mf_fail(walk->facts->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                           "token %" PRIu64 " is longer than %zu bytes",
                           walk->id, sizeof(walk->buffer));
        if (piece.text.size > 0)
            memcpy(walk->buffer + size, piece.text.at, piece.text.size);
        size += piece.text.size;
    } while (piece.more);
    walk->text = (struct mf_str){ walk->buffer, size };
    return MF_OK;
}

static enum mf_status take_type(struct mf_token_walk *walk)
{
    struct mf_value value;
    bool valid;

    walk->type = MF_TOKEN_NORMAL;
    if (!walk->types)
        return MF_OK;
    if (mf_values_next(walk->types, &value) != MF_OK)
        return failed(walk);
    valid = value.type == MF_VALUE_I32 ? value.number.i64 >= MF_TOKEN_NORMAL &&
                                             value.number.i64 <= MF_TOKEN_BYTE
                                       : value.number.u64 >= MF_TOKEN_NORMAL &&
                                             value.number.u64 <= MF_TOKEN_BYTE;
    if (!valid)
        return mf_fail(walk->facts->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "token %" PRIu64 " has an unknown type (%" PRIi64 ")",
                       walk->id, value.number.i64);
    walk->type = (enum mf_token_type)value.number.u64;
    return MF_OK;
}

bool mf_token_walk_next(struct mf_token_walk *walk)
{
    struct mf_value score;

    if (walk->next == walk->facts->count)
        return false;
    walk->id = walk->next++;
    walk->score = 0;
    if (take_text(walk) != MF_OK || take_type(walk) != MF_OK)
        return false;
    if (!walk->scores)
        return true;
    if (mf_values_next(walk->scores, &score) != MF_OK)
        return false;
    walk->score = score.number.f64;
    return true;
}

bool mf_token_is_filler(const struct mf_token_walk *walk)
{
    bool marked = mf_str_is(walk->facts->kind, "bert");
    uint64_t number = walk->id - (walk->facts->shifted && walk->id > 3);
    char name[40];

    if (walk->type != MF_TOKEN_UNUSED)
        return false;
    snprintf(name, sizeof(name), "%s[PAD%" PRIu64 "]", marked ? "\u2581" : "",
             number);
    return mf_str_is(walk->text, name);
}

bool mf_token_is_added(const struct mf_token_walk *walk)
{
    return walk->score == MF_SCORE_LOST &&
           (walk->type == MF_TOKEN_CONTROL ||
            walk->type == MF_TOKEN_USER_DEFINED);
}

bool mf_token_is_listed(const struct mf_token_walk *walk)
{
    return mf_token_is_added(walk) && walk->type == MF_TOKEN_USER_DEFINED &&
           (mf_str_is(walk->facts->kind, "t5") ||
            mf_token_looks_special(walk->text));
}
