/* SPDX-License-Identifier: MIT
 *
 * text_vocab.c - those tokens and merges of a vocabulary that are parts of a
 * text
 */
#include "lib/hf/encode/text_vocab.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/sort.h"
#include "lib/base/str.h"

#define SEPARATOR '\xff' /* between texts: UTF-8 has no such byte */

static enum mf_status failed(const struct mf_text_vocab *vocab)
{
    return vocab->env->error.status;
}

enum mf_status mf_text_vocab_init(struct mf_text_vocab *vocab,
                                  struct mf_encoder *tokenizer)
{
    struct mf_env *env = tokenizer->env;

    *vocab = (struct mf_text_vocab){ .tokenizer = tokenizer,
                                     .env = env,
                                     .unk = MF_NO_TOKEN };
    for (size_t i = 0; i < 256; i++)
        vocab->byte[i] = MF_NO_TOKEN;
    vocab->pool = mf_alloc(env, MF_POOL_MAX);
    vocab->suffix = mf_alloc(env, MF_POOL_MAX * sizeof(*vocab->suffix));
    vocab->text = mf_alloc(env, 2 * MF_TEXT_MAX + 2);
    return failed(vocab);
}

void mf_text_vocab_release(struct mf_text_vocab *vocab)
{
    struct mf_env *env = vocab->env;

    mf_release(env, vocab->pool, MF_POOL_MAX);
    mf_release(env, vocab->suffix, MF_POOL_MAX * sizeof(*vocab->suffix));
    mf_release(env, vocab->text, 2 * MF_TEXT_MAX + 2);
    mf_release(env, vocab->parts.slot,
               vocab->parts.slots * sizeof(struct mf_text_vocab_part));
    mf_release(env, vocab->merges.slot,
               vocab->merges.slots * sizeof(struct mf_text_vocab_merge));
}

/* ---- the pool ---- */

enum mf_status mf_text_vocab_add(struct mf_text_vocab *vocab,
                                 struct mf_str text)
{
    for (size_t at = 0; at < vocab->size;) {
        const char *end = memchr(vocab->pool + at, SEPARATOR, vocab->size - at);
        struct mf_str other = { vocab->pool + at,
                                (size_t)(end - vocab->pool) - at };

        if (mf_str_same(other, text))
            return MF_OK;
        at += other.size + 1;
    }
    if (text.size >= MF_POOL_MAX - vocab->size)
        return mf_fail(vocab->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the texts for the model have more than %zu bytes",
                       MF_POOL_MAX);
    memcpy(vocab->pool + vocab->size, text.at, text.size);
    vocab->size += text.size;
    vocab->pool[vocab->size++] = SEPARATOR;
    return MF_OK;
}

static bool suffix_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_text_vocab *vocab = table;
    size_t a_left = vocab->size - a, b_left = vocab->size - b;
    size_t size = a_left < b_left ? a_left : b_left;
    int order = memcmp(vocab->pool + a, vocab->pool + b, size);

    return order ? order < 0 : a_left < b_left;
}

static void sort_pool(struct mf_text_vocab *vocab)
{
    for (size_t i = 0; i < vocab->size; i++)
        vocab->suffix[i] = (uint32_t)i;
    mf_sort(vocab->suffix, vocab->size, suffix_before, vocab);
}

/* The first suffix that begins with the text; UINT32_MAX: none. */
static uint32_t find_suffix(const struct mf_text_vocab *vocab,
                            struct mf_str text)
{
    size_t low = 0, high = vocab->size;

    while (low < high) {
        size_t middle = (low + high) / 2;
        size_t left = vocab->size - vocab->suffix[middle];
        int order = memcmp(vocab->pool + vocab->suffix[middle], text.at,
                           left < text.size ? left : text.size);

        if (order < 0 || (order == 0 && left < text.size))
            low = middle + 1;
        else
            high = middle;
    }
    return low < vocab->size && vocab->size - vocab->suffix[low] >= text.size &&
                   memcmp(vocab->pool + vocab->suffix[low], text.at,
                          text.size) == 0
               ? (uint32_t)low
               : UINT32_MAX;
}

/* ---- tables ---- */

static size_t hash(uint64_t a, uint64_t b)
{
    uint64_t mixed =
        (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b * UINT64_C(0xc2b2ae3d27d4eb4f));

    return (size_t)(mixed ^ mixed >> 29);
}

static struct mf_text_vocab_part *
part_slot(const struct mf_text_vocab_table *table, uint32_t suffix,
          uint32_t size, bool continues)
{
    struct mf_text_vocab_part *part = table->slot;
    size_t at = hash(suffix, 2 * (uint64_t)size + continues);

    for (at &= table->slots - 1; part[at].id != MF_NO_TOKEN;
         at = (at + 1) & (table->slots - 1))
        if (part[at].suffix == suffix && part[at].size == size &&
            part[at].continues == continues)
            break;
    return &part[at];
}

static struct mf_text_vocab_merge *
merge_slot(const struct mf_text_vocab_table *table, uint32_t left,
           uint32_t right)
{
    struct mf_text_vocab_merge *merge = table->slot;
    size_t at = hash(left, right);

    for (at &= table->slots - 1; merge[at].left != MF_NO_TOKEN;
         at = (at + 1) & (table->slots - 1))
        if (merge[at].left == left && merge[at].right == right)
            break;
    return &merge[at];
}

/* A table of twice as many slots, all free, or of the first ones. */
static enum mf_status make_table(struct mf_text_vocab *vocab,
                                 const struct mf_text_vocab_table *old,
                                 struct mf_text_vocab_table *out, size_t each)
{
    if (old->count >= MF_FOUND_MAX)
        return mf_fail(vocab->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "more than %zu tokens or merges are parts of one text",
                       MF_FOUND_MAX);
    *out = (struct mf_text_vocab_table){ .slots =
                                             old->slots ? 2 * old->slots : 1024,
                                         .count = old->count };
    out->slot = mf_alloc(vocab->env, out->slots * each);
    if (!out->slot)
        return failed(vocab);
    memset(out->slot, 0xff, out->slots * each); /* MF_NO_TOKEN everywhere */
    return MF_OK;
}

static enum mf_status grow_parts(struct mf_text_vocab *vocab)
{
    struct mf_text_vocab_part *old = vocab->parts.slot;
    struct mf_text_vocab_table table;

    if (make_table(vocab, &vocab->parts, &table, sizeof(*old)) != MF_OK)
        return failed(vocab);
    for (size_t i = 0; i < vocab->parts.slots; i++)
        if (old[i].id != MF_NO_TOKEN)
            *part_slot(&table, old[i].suffix, old[i].size, old[i].continues) =
                old[i];
    mf_release(vocab->env, old, vocab->parts.slots * sizeof(*old));
    vocab->parts = table;
    return MF_OK;
}

static enum mf_status grow_merges(struct mf_text_vocab *vocab)
{
    struct mf_text_vocab_merge *old = vocab->merges.slot;
    struct mf_text_vocab_table table;

    if (make_table(vocab, &vocab->merges, &table, sizeof(*old)) != MF_OK)
        return failed(vocab);
    for (size_t i = 0; i < vocab->merges.slots; i++)
        if (old[i].left != MF_NO_TOKEN)
            *merge_slot(&table, old[i].left, old[i].right) = old[i];
    mf_release(vocab->env, old, vocab->merges.slots * sizeof(*old));
    vocab->merges = table;
    return MF_OK;
}

static enum mf_status put_part(struct mf_text_vocab *vocab, uint32_t suffix,
                               uint32_t size, bool continues, uint32_t id)
{
    struct mf_text_vocab_part *part;

    if (2 * vocab->parts.count >= vocab->parts.slots &&
        grow_parts(vocab) != MF_OK)
        return failed(vocab);
    part = part_slot(&vocab->parts, suffix, size, continues);
    vocab->parts.count += part->id == MF_NO_TOKEN;
    *part = (struct mf_text_vocab_part){ suffix, size, id, continues };
    return MF_OK;
}

static enum mf_status put_merge(struct mf_text_vocab *vocab, uint32_t left,
                                uint32_t right, uint32_t id, uint64_t rank)
{
    struct mf_text_vocab_merge *merge;

    if (2 * vocab->merges.count >= vocab->merges.slots &&
        grow_merges(vocab) != MF_OK)
        return failed(vocab);
    merge = merge_slot(&vocab->merges, left, right);
    /* Where a merge is there twice, the last one counts, but the first one of
     * a merges.txt. */
    if (vocab->tokenizer->fast->slow && merge->left != MF_NO_TOKEN)
        return MF_OK;
    vocab->merges.count += merge->left == MF_NO_TOKEN;
    *merge = (struct mf_text_vocab_merge){ left, right, id, rank };
    return MF_OK;
}

uint32_t mf_text_vocab_find(const struct mf_text_vocab *vocab,
                            struct mf_str text, bool continues)
{
    uint32_t suffix =
        vocab->parts.count > 0 ? find_suffix(vocab, text) : UINT32_MAX;

    return suffix == UINT32_MAX ? MF_NO_TOKEN
                                : part_slot(&vocab->parts, suffix,
                                            (uint32_t)text.size, continues)
                                      ->id;
}

const struct mf_text_vocab_merge *
mf_text_vocab_merge(const struct mf_text_vocab *vocab, uint32_t left,
                    uint32_t right)
{
    const struct mf_text_vocab_merge *merge =
        vocab->merges.count > 0 ? merge_slot(&vocab->merges, left, right)
                                : NULL;

    return merge && merge->left != MF_NO_TOKEN ? merge : NULL;
}

/* ---- the vocabulary ---- */

/* Without the prefix of tokens that continue a word; true: it had it. */
static bool cut_prefix(const struct mf_text_vocab *vocab, struct mf_str *text)
{
    struct mf_str prefix = vocab->tokenizer->part.prefix;

    if (prefix.size == 0 || text->size <= prefix.size ||
        memcmp(text->at, prefix.at, prefix.size) != 0)
        return false;
    text->at += prefix.size;
    text->size -= prefix.size;
    return true;
}

/* <0x00> to <0xFF> stand for bytes. */
static void note_byte(struct mf_text_vocab *vocab, struct mf_str text,
                      uint32_t id)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *high, *low;

    if (text.size != 6 || memcmp(text.at, "<0x", 3) != 0 || text.at[5] != '>')
        return;
    high = memchr(digits, text.at[3], 16);
    low = memchr(digits, text.at[4], 16);
    if (high && low)
        vocab->byte[(high - digits) * 16 + (low - digits)] = id;
}

static enum mf_status note_token(void *user, struct mf_str text, uint64_t id)
{
    struct mf_text_vocab *vocab = user;
    bool continues;
    uint32_t suffix;

    if (mf_str_same(text, vocab->tokenizer->part.unk))
        vocab->unk = (uint32_t)id;
    note_byte(vocab, text, (uint32_t)id);
    continues = cut_prefix(vocab, &text);
    suffix = text.size > 0 ? find_suffix(vocab, text) : UINT32_MAX;
    return suffix == UINT32_MAX ? MF_OK
                                : put_part(vocab, suffix, (uint32_t)text.size,
                                           continues, (uint32_t)id);
}

enum mf_status mf_text_vocab_read(struct mf_text_vocab *vocab)
{
    sort_pool(vocab);
    mf_release(vocab->env, vocab->parts.slot,
               vocab->parts.slots * sizeof(struct mf_text_vocab_part));
    vocab->parts = (struct mf_text_vocab_table){ NULL, 0, 0 };
    return mf_fast_read(vocab->tokenizer->fast, note_token, vocab);
}

enum mf_status mf_text_vocab_note_merge(struct mf_text_vocab *vocab,
                                        const struct mf_str half[2],
                                        uint64_t rank, uint64_t offset)
{
    struct mf_str left = half[0], right = half[1], both;
    bool left_continues = cut_prefix(vocab, &left);
    bool right_continues = cut_prefix(vocab, &right);
    uint32_t left_id = mf_text_vocab_find(vocab, left, left_continues),
             right_id, id;

    if (left_id == MF_NO_TOKEN)
        return MF_OK;
    right_id = mf_text_vocab_find(vocab, right, right_continues);
    if (right_id == MF_NO_TOKEN)
        return MF_OK;
    /* They are neighbours in the buffer after this. */
    memmove((char *)left.at + left.size, right.at, right.size);
    both = (struct mf_str){ left.at, left.size + right.size };
    if (find_suffix(vocab, both) == UINT32_MAX)
        return MF_OK;
    id = mf_text_vocab_find(vocab, both, left_continues);
    if (id == MF_NO_TOKEN)
        return mf_fail(vocab->env, MF_ERR_CORRUPT, offset,
                       "a merge makes a token that the vocabulary lacks");
    return put_merge(vocab, left_id, right_id, id, rank);
}
