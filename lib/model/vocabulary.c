/* SPDX-License-Identifier: MIT
 *
 * vocabulary.c - types, lengths and ids of a tokenizer's metadata
 *
 * No element of an array is read.
 */
#include "lib/model/vocabulary.h"

#include <inttypes.h>
#include <string.h>

#include "lib/model/format.h"

enum { TOKENS }; /* row of the tokens in array[] */

static void check_array(struct mf_index *index,
                        const struct mf_vocabulary *vocabulary, size_t row)
{
    const char *key = vocabulary->array[row].key;
    const struct mf_meta *meta = mf_index_meta(index, key);
    const struct mf_meta *tokens =
        mf_index_meta(index, vocabulary->array[TOKENS].key);
    bool is_array;

    if (!meta)
        return;
    is_array = meta->type == MF_VALUE_ARRAY;
    if (!is_array || !(vocabulary->array[row].takes >> meta->of & 1))
        mf_index_note(index, meta->shard, MF_WARNING, vocabulary->type,
                      meta->span.offset,
                      "'%s' is %s %s; readers expect an array of %s", key,
                      is_array ? "an array of" : "of type",
                      mf_value_type_name(is_array ? meta->of : meta->type),
                      vocabulary->array[row].expects);
    if (vocabulary->array[row].for_each && is_array && tokens &&
        tokens->type == MF_VALUE_ARRAY && meta->count != tokens->count)
        mf_index_note(index, meta->shard, MF_WARNING, vocabulary->length,
                      meta->span.offset,
                      "'%s' has %" PRIu64 " elements, but there are %" PRIu64
                      " tokens",
                      key, meta->count, tokens->count);
}

static bool is_id(struct mf_str key, const char *head)
{
    static const char tail[] = "_token_id";
    size_t size = strlen(head);

    return key.size > size + sizeof(tail) - 1 &&
           memcmp(key.at, head, size) == 0 &&
           memcmp(key.at + key.size - (sizeof(tail) - 1), tail,
                  sizeof(tail) - 1) == 0;
}

/* null: the model has no such token. */
static void check_id(struct mf_index *index,
                     const struct mf_vocabulary *vocabulary,
                     const struct mf_meta *meta, uint64_t tokens)
{
    struct mf_quoted key = mf_quote(meta->key);
    uint64_t id;

    if (meta->type == MF_VALUE_NULL)
        return;
    if (!mf_meta_is_integer(meta))
        mf_index_note(index, meta->shard, MF_WARNING, vocabulary->type,
                      meta->span.offset,
                      "'%s' is of type %s; readers expect an integer", key.text,
                      mf_value_type_name(meta->type));
    else if (!mf_meta_unsigned(meta, &id))
        mf_index_note(index, meta->shard, MF_WARNING, vocabulary->id,
                      meta->span.offset,
                      "'%s' is %" PRId64 ", but token ids are not negative",
                      key.text, meta->number.i64);
    else if (tokens == 0)
        mf_index_note(
            index, meta->shard, MF_WARNING, vocabulary->id, meta->span.offset,
            "'%s' is %" PRIu64 ", but there are no tokens", key.text, id);
    else if (id >= tokens)
        mf_index_note(
            index, meta->shard, MF_WARNING, vocabulary->id, meta->span.offset,
            "'%s' is %" PRIu64 ", out of range: the last token is %" PRIu64,
            key.text, id, tokens - 1);
}

void mf_vocabulary_check(struct mf_index *index,
                         const struct mf_vocabulary *vocabulary)
{
    const struct mf_meta *tokens =
        mf_index_meta(index, vocabulary->array[TOKENS].key);
    const size_t arrays =
        sizeof(vocabulary->array) / sizeof(*vocabulary->array);

    for (size_t row = 0; row < arrays; row++)
        check_array(index, vocabulary, row);
    if (!tokens || tokens->type != MF_VALUE_ARRAY)
        return;
    for (size_t i = 0; i < index->meta_count; i++)
        if (is_id(index->meta[i].key, vocabulary->ids))
            check_id(index, vocabulary, &index->meta[i], tokens->count);
}
