/* SPDX-License-Identifier: MIT
 *
 * charsmap.c - the table of replacements of a unigram tokenizer
 *
 * Sentencepiece's precompiled_charsmap: the size of a trie in bytes, the trie,
 * and the replacements, each ended by a NUL.  The trie is a double array of
 * 32-bit entries, little-endian whatever the file is:
 *   bits 10-30  base, the distance to the children, in steps of 256 if bit 9
 *               is set; the child for a byte is at own base XOR byte
 *   bit 8       texts may end here: entry `base` has the replacement's offset
 *   bits 0-7    the byte that leads here
 */
#include <inttypes.h>

#include "lib/base/little.h"
#include "lib/vocab/parts.h"

#define BLOCK   256  /* entries: all children of an entry are in one block */
#define PENDING 4096 /* entries to be followed; a real trie needs some 500 */

struct trie {
    const struct mf_vocab *vocab;
    const struct mf_meta *meta;
    const struct mf_source *source;
    uint64_t offset;  /* of the first entry in the file */
    uint64_t entries; /* of the trie */
    uint64_t texts;   /* bytes of replacements */
    uint64_t visited;
    uint32_t pending[PENDING]; /* bases whose children are due */
    size_t count;
    bool wrong;
};

static uint64_t base_of(uint32_t entry)
{
    return (uint64_t)(entry >> 10) << ((entry & 1U << 9) >> 6);
}

static void note(struct trie *trie, const char *what, uint64_t value,
                 uint64_t bound)
{
    if (trie->wrong)
        return;
    trie->wrong = true;
    mf_index_note(trie->vocab->index, trie->meta->shard, MF_ERROR,
                  MF_RULE_TOKENS_CHARSMAP, trie->meta->span.offset,
                  "'%s': %s %" PRIu64 " is out of range: there are %" PRIu64,
                  mf_quote(trie->meta->key).text, what, value, bound);
}

/* What a text is replaced with that ends at an entry with this base. */
static void check_leaf(struct trie *trie, uint64_t base, const uint8_t *block,
                       uint64_t block_at, uint64_t block_entries)
{
    uint32_t value;

    if (base >= trie->entries) {
        note(trie, "entry", base, trie->entries);
        return;
    }
    if (base < block_at || base - block_at >= block_entries)
        return;
    value = mf_little_32(block + (base - block_at) * 4) & INT32_MAX;
    if (value >= trie->texts)
        note(trie, "replacement", value, trie->texts);
}

/* The children of an entry with this base: `leaf`, its texts may end there. */
static enum mf_status follow(struct trie *trie, uint64_t base, bool leaf)
{
    uint64_t at = base / BLOCK * BLOCK, left;
    uint8_t block[BLOCK * 4];

    if (at >= trie->entries) {
        note(trie, "entry", base, trie->entries);
        return MF_OK;
    }
    left = trie->entries - at < BLOCK ? trie->entries - at : BLOCK;
    if (mf_source_read(trie->vocab->model->env, trie->source,
                       trie->offset + at * 4, block, (size_t)left * 4) != MF_OK)
        return trie->vocab->model->env->error.status;
    if (leaf)
        check_leaf(trie, base, block, at, left);
    for (uint32_t byte = 1; byte < BLOCK; byte++) {
        uint64_t child = base ^ byte;
        uint32_t entry;

        if (child - at >= left) { /* XOR stays within the block */
            note(trie, "entry", child, trie->entries);
            return MF_OK;
        }
        entry = mf_little_32(block + (child - at) * 4);
        if ((entry & (1U << 31 | 0xff)) != byte ||
            ++trie->visited > trie->entries || trie->count == PENDING)
            continue;
        trie->pending[trie->count++] =
            (uint32_t)(child ^ base_of(entry)) << 1 | (entry >> 8 & 1);
    }
    return MF_OK;
}

static enum mf_status walk(struct trie *trie)
{
    uint8_t root[4];
    struct mf_env *env = trie->vocab->model->env;

    if (trie->entries == 0)
        return MF_OK;
    if (mf_source_read(env, trie->source, trie->offset, root, sizeof(root)) !=
            MF_OK ||
        follow(trie, base_of(mf_little_32(root)), false) != MF_OK)
        return env->error.status;
    while (trie->count > 0 && !trie->wrong) {
        uint32_t next = trie->pending[--trie->count];

        if (follow(trie, next >> 1, next & 1) != MF_OK)
            return env->error.status;
    }
    return MF_OK;
}

/* The last replacement must end, too. */
static enum mf_status check_end(struct trie *trie)
{
    struct mf_env *env = trie->vocab->model->env;
    uint64_t last = trie->meta->span.offset + trie->meta->span.size - 1;
    uint8_t byte;

    if (mf_source_read(env, trie->source, last, &byte, 1) != MF_OK)
        return env->error.status;
    if (byte != 0)
        mf_index_note(trie->vocab->index, trie->meta->shard, MF_ERROR,
                      MF_RULE_TOKENS_CHARSMAP, last,
                      "'%s': the last replacement does not end with a NUL",
                      mf_quote(trie->meta->key).text);
    return MF_OK;
}

enum mf_status mf_vocab_check_charsmap(struct mf_vocab *vocab)
{
    const struct mf_meta *meta = vocab->array[MF_VOCAB_CHARSMAP];
    struct mf_env *env = vocab->model->env;
    struct trie trie = { .vocab = vocab, .meta = meta };
    uint8_t head[4];
    uint64_t first, size;

    if (!meta || !mf_vocab_is(vocab, MF_TOKENIZER_UGM))
        return MF_OK;
    first = meta->span.offset + meta->span.size - meta->count;
    trie.source = &vocab->model->file[meta->shard].source;
    if (meta->count < sizeof(head)) {
        mf_index_note(vocab->index, meta->shard, MF_ERROR,
                      MF_RULE_TOKENS_CHARSMAP, meta->span.offset,
                      "'%s' has %" PRIu64 " bytes, too few for the size of "
                      "its trie",
                      mf_quote(meta->key).text, meta->count);
        return MF_OK;
    }
    if (mf_source_read(env, trie.source, first, head, sizeof(head)) != MF_OK)
        return env->error.status;
    size = mf_little_32(head);
    if (size + sizeof(head) >= meta->count) {
        mf_index_note(vocab->index, meta->shard, MF_ERROR,
                      MF_RULE_TOKENS_CHARSMAP, first,
                      "'%s' has %" PRIu64 " bytes, too few for a trie of "
                      "%" PRIu64 " bytes and a replacement",
                      mf_quote(meta->key).text, meta->count, size);
        return MF_OK;
    }
    trie.offset = first + sizeof(head);
    trie.entries = size / 4;
    trie.texts = meta->count - sizeof(head) - size;
    return walk(&trie) != MF_OK || check_end(&trie) != MF_OK ? env->error.status
                                                             : MF_OK;
}
