/* SPDX-License-Identifier: MIT
 *
 * merges.c - which two tokens become which third one
 *
 * "a b": the tokens a and b may become ab.  A loader cuts the text at the first
 * space after its first byte.
 */
#include <inttypes.h>

#include "lib/vocab/parts.h"

/* Joined parts longer than this are not looked up. */
#define JOINED_MAX 1024

enum part { LEFT, RIGHT, JOINED };

static void note_unknown(struct mf_merges *merges, const struct mf_items *merge,
                         enum part part, struct mf_str text)
{
    struct mf_tally *unknown = &merges->unknown;
    bool first = unknown->count == 0 || merge->at < unknown->at ||
                 (merge->at == unknown->at && (unsigned)part < merges->part);

    mf_tally_add(unknown, merge);
    if (!first)
        return;
    merges->part = part;
    merges->unknown_text = mf_quote(text);
}

/* A part that belongs to another pass is left to it. */
static void check_part(struct mf_merges *merges, const struct mf_items *merge,
                       const struct mf_token_set *set, enum part part,
                       struct mf_str text)
{
    uint64_t hash = mf_item_hash(text, merge->seed);

    if (mf_token_set_takes(set, hash) && !mf_token_set_has(set, hash))
        note_unknown(merges, merge, part, text);
}

static void check_merge(struct mf_merges *merges, const struct mf_items *merge,
                        const struct mf_token_set *set)
{
    const char *text = merge->text.at, *space = NULL;
    struct mf_str left, right;
    char joined[JOINED_MAX];

    if (!merge->whole) /* no token is that long */
        return;
    if (merge->size > 1)
        space = memchr(text + 1, ' ', (size_t)merge->size - 1);
    if (!space || space + 1 == text + merge->size) {
        if (set->pass == 0)
            mf_tally_add(&merges->malformed, merge);
        return;
    }
    left = (struct mf_str){ text, (size_t)(space - text) };
    right = (struct mf_str){ space + 1, (size_t)merge->size - left.size - 1 };
    check_part(merges, merge, set, LEFT, left);
    check_part(merges, merge, set, RIGHT, right);
    if (merge->size > sizeof(joined))
        return;
    memcpy(joined, left.at, left.size);
    memcpy(joined + left.size, right.at, right.size);
    check_part(merges, merge, set, JOINED,
               (struct mf_str){ joined, left.size + right.size });
}

enum mf_status mf_merges_scan(struct mf_merges *merges,
                              const struct mf_vocab *vocab,
                              const struct mf_token_set *set)
{
    struct mf_items merge;

    if (mf_items_open(&merge, vocab->model, vocab->array[MF_VOCAB_MERGES]) !=
        MF_OK)
        return vocab->model->env->error.status;
    while (mf_items_next(&merge))
        check_merge(merges, &merge, set);
    mf_items_close(&merge);
    return vocab->model->env->error.status;
}

void mf_merges_report(const struct mf_merges *merges,
                      const struct mf_vocab *vocab)
{
    const struct mf_tally *at = &merges->malformed;
    uint32_t shard = vocab->array[MF_VOCAB_MERGES]
                         ? vocab->array[MF_VOCAB_MERGES]->shard
                         : 0;

    if (at->count > 0)
        mf_index_note(vocab->index, shard, MF_ERROR, MF_RULE_TOKENS_MERGES,
                      at->offset,
                      "merge %" PRIu64 " ('%s') is not two tokens with a space "
                      "between them%s",
                      at->at, at->text.text, mf_tally_rest(at, "merges").text);
    at = &merges->unknown;
    if (at->count > 0)
        mf_index_note(
            vocab->index, shard, MF_WARNING, MF_RULE_TOKENS_MERGES, at->offset,
            "merge %" PRIu64 " ('%s'): %s'%s' is not a token%s", at->at,
            at->text.text, merges->part == JOINED ? "the result " : "",
            merges->unknown_text.text,
            mf_tally_rest(at, "parts of merges").text);
}
