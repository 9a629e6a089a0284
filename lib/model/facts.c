/* SPDX-License-Identifier: MIT
 *
 * facts.c - architecture, layers, heads: wherever a format keeps them
 *
 * A format's row lists under which keys it has a fact; the first key that is
 * present with a value of a fitting type wins.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/model/facts.h"
#include "lib/model/model.h"

const char *mf_detail_name(int fact)
{
    static const char *const names[MF_DETAIL_COUNT] = {
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
        [MF_FACT_EXPERT_COUNT] = "expert_count",
        [MF_FACT_EXPERT_USED_COUNT] = "expert_used_count",
        [MF_FACT_SLIDING_WINDOW] = "sliding_window",
        [MF_FACT_SLIDING_WINDOW_PATTERN] = "sliding_window_pattern",
        [MF_FACT_STATE_SIZE] = "state_size",
        [MF_DETAIL_EXPERT_LENGTH] = "expert_feed_forward_length",
    };

    return fact >= 0 && fact < MF_DETAIL_COUNT ? names[fact] : "unknown";
}

const char *mf_fact_name(enum mf_fact fact)
{
    return (unsigned)fact < MF_FACT_COUNT ? mf_detail_name((int)fact)
                                          : "unknown";
}

/* Whether the value has a type that the fact can have.  A number may also be an
 * array, with a value for each block; a vocabulary's size is an array's length.
 */
static bool fits(int fact, const struct mf_meta *meta)
{
    switch (fact) {
    case MF_FACT_ARCHITECTURE:
    case MF_FACT_NAME:
    case MF_FACT_LICENSE:
        return meta->type == MF_VALUE_STRING && meta->text.at;
    case MF_FACT_FILE_TYPE:
        return mf_meta_is_integer(meta) ||
               (meta->type == MF_VALUE_STRING && meta->text.at);
        return meta->type == MF_VALUE_F32 || meta->type == MF_VALUE_F64;
    default:
        return mf_meta_is_integer(meta) || meta->type == MF_VALUE_ARRAY;
    }
}

/* Looks up the row's key, with the architecture for its "*". */
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

bool mf_model_has_fact(const struct mf_model *model, int fact)
{
    const struct mf_fact_row *row = model->format->facts;

    for (; row && row->key; row++)
        if (row->fact == fact)
            return true;
    return false;
}

int mf_fact_of_key(const struct mf_model *model, struct mf_str key)
{
    for (size_t i = 0; model->env->formats[i]; i++) {
        const struct mf_fact_row *row = model->env->formats[i]->facts;

        if (model->env->formats[i]->naming != MF_NAMING_GGUF)
            continue;
        for (; row && row->key; row++)
            if (mf_str_is(key, row->key + (*row->key == '*' ? 2 : 0)))
                return row->fact;
    }
    return -1;
}

struct mf_key_text mf_detail_key(const struct mf_model *model, int fact)
{
    const struct mf_fact_row *row = model->format->facts;
    struct mf_key_text out;
    struct mf_meta architecture;

    while (row && row->key && row->fact != fact)
        row++;
    if (!row || !row->key)
        snprintf(out.text, sizeof(out.text), "%s", mf_detail_name(fact));
    else if (*row->key != '*')
        snprintf(out.text, sizeof(out.text), "%s", row->key);
    else if (mf_model_fact(model, MF_FACT_ARCHITECTURE, &architecture, NULL))
        snprintf(out.text, sizeof(out.text), "%s%s",
                 mf_quote(architecture.text).text, row->key + 1);
    else
        snprintf(out.text, sizeof(out.text), "%s", row->key + strlen("*."));
    return out;
}

/* Replaces a file type that is a number by its name. */
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

bool mf_model_detail(const struct mf_model *model, int fact,
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

bool mf_model_fact(const struct mf_model *model, enum mf_fact fact,
                   struct mf_meta *out, size_t *at)
{
    /* From MF_FACT_COUNT on are details, which only the library asks for. */
    if (!model || !out || (unsigned)fact >= MF_FACT_COUNT)
        return false;

    return mf_model_detail(model, (int)fact, out, at);
}

bool mf_model_is_imatrix(const struct mf_model *model)
{
    if (!model)
        return false;

    const struct mf_meta *type = mf_index_meta(&model->index, "general.type");

    return model->format->accessory ||
           (type && type->type == MF_VALUE_STRING && type->text.at &&
            mf_str_is(type->text, "imatrix")) ||
           mf_index_meta(&model->index, "imatrix.chunk_count");
}
