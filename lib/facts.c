/* SPDX-License-Identifier: MIT
 *
 * facts.c - what people ask of a model, wherever its format keeps it
 */
#include <string.h>

#include "lib/model.h"

const char *mf_fact_name(enum mf_fact fact)
{
    static const char *const names[MF_FACT_COUNT] = {
        [MF_FACT_ARCHITECTURE] = "architecture",
        [MF_FACT_NAME] = "name",
        [MF_FACT_LICENSE] = "license",
        [MF_FACT_FILE_TYPE] = "file_type",
        [MF_FACT_CONTEXT_LENGTH] = "context_length",
        [MF_FACT_EMBEDDING_LENGTH] = "embedding_length",
        [MF_FACT_BLOCK_COUNT] = "block_count",
        [MF_FACT_HEAD_COUNT] = "head_count",
        [MF_FACT_HEAD_COUNT_KV] = "head_count_kv",
        [MF_FACT_VOCAB_SIZE] = "vocab_size",
        [MF_FACT_FEED_FORWARD_LENGTH] = "feed_forward_length",
        [MF_FACT_KEY_LENGTH] = "key_length",
        [MF_FACT_VALUE_LENGTH] = "value_length",
    };

    return (unsigned)fact < MF_FACT_COUNT ? names[fact] : "unknown";
}

static bool is_integer(enum mf_value_type type)
{
    return (type <= MF_VALUE_I32) || type == MF_VALUE_U64 ||
           type == MF_VALUE_I64;
}

/* A fact that is text must be text; a number may also be a list of numbers,
 * and a vocabulary's size the length of a list. */
static bool fits(enum mf_fact fact, const struct mf_meta *meta)
{
    switch (fact) {
    case MF_FACT_ARCHITECTURE:
    case MF_FACT_NAME:
    case MF_FACT_LICENSE:
        return meta->type == MF_VALUE_STRING && meta->text.at;
    case MF_FACT_FILE_TYPE:
        return is_integer(meta->type) ||
               (meta->type == MF_VALUE_STRING && meta->text.at);
    default:
        return is_integer(meta->type) || meta->type == MF_VALUE_ARRAY;
    }
}

/* The row's key with the architecture in the place of its "*". */
static bool find_key(const struct mf_model *model, const char *key,
                     struct mf_meta *out, size_t *at)
{
    const char *star = strchr(key, '*');
    struct mf_meta architecture;
    size_t before = star ? (size_t)(star - key) : 0;
    char full[256];
    size_t size;

    if (!star)
        return mf_meta_find(model, key, strlen(key), out, at);
    if (!mf_model_fact(model, MF_FACT_ARCHITECTURE, &architecture, NULL) ||
        architecture.text.size > sizeof(full) - strlen(key))
        return false;
    size = before + architecture.text.size + strlen(star + 1);
    memcpy(full, key, before);
    memcpy(full + before, architecture.text.at, architecture.text.size);
    memcpy(full + before + architecture.text.size, star + 1, strlen(star + 1));
    return mf_meta_find(model, full, size, out, at);
}

/* A file type that is a number becomes the name of the mix. */
static bool name_file_type(const struct mf_model *model, struct mf_meta *meta)
{
    const char *name;

    if (meta->type == MF_VALUE_STRING)
        return true;
    name = model->format->file_type_name
               ? model->format->file_type_name(meta->number.u64)
               : NULL;
    if (!name)
        return false;
    meta->type = MF_VALUE_STRING;
    meta->count = strlen(name);
    meta->text = (struct mf_str){ name, strlen(name) };
    return true;
}

bool mf_model_fact(const struct mf_model *model, enum mf_fact fact,
                   struct mf_meta *out, size_t *at)
{
    const struct mf_fact_row *row = model->format->facts;
    struct mf_meta meta;
    size_t found;

    for (; row && row->key; row++)
        if (row->fact == fact && find_key(model, row->key, &meta, &found) &&
            fits(fact, &meta) &&
            (fact != MF_FACT_FILE_TYPE || name_file_type(model, &meta))) {
            *out = meta;
            if (at)
                *at = found;
            return true;
        }
    return false;
}
