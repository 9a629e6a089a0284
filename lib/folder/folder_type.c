/* SPDX-License-Identifier: MIT
 *
 * folder_type.c - the model's type, and the values of config.json
 */
#include <inttypes.h>
#include <string.h>

#include "lib/folder/families.h"

#define FAMILY(NAME)

static const struct mf_folder_type types[] = {
#define TYPE(type, FAMILY, tied, head, kv) { type, FAMILY, tied, head, kv },
#define TENSOR(name, rows, columns, when, which)
#include "lib/folder/families.def"
#undef TYPE
#undef TENSOR
};

const struct mf_folder_type *mf_folder_type(const struct mf_folder *folder)
{
    const struct mf_folder_value *type = &folder->value[MF_FIELD_TYPE];

    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (type->given && strcmp(types[i].name, type->text) == 0)
            return &types[i];
    return NULL;
}

static bool is_converted(const struct mf_folder_value *name)
{
    const char *at = mf_folder_converted;

    while (*at && strcmp(at, name->text) != 0)
        at = strchr(at, 0) + 1;
    return name->given && *at;
}

static void note_type(struct mf_folder *folder)
{
    const struct mf_folder_value *type = &folder->value[MF_FIELD_TYPE];
    struct mf_index *index = &folder->model->index;
    struct mf_str text = { type->text, strlen(type->text) };

    if (!type->given)
        mf_index_note(index, 0, MF_NOTE, MF_RULE_CONFIG_MISSING, MF_NO_OFFSET,
                      "config.json has no 'model_type', which transformers "
                      "needs");
    else if (is_converted(type) || is_converted(&folder->value[MF_FIELD_CLASS]))
        mf_index_note(index, 0, MF_NOTE, MF_RULE_MODEL_GENERIC, MF_NO_OFFSET,
                      "model type '%s' is known, but not what transformers "
                      "needs of its tensors: generic checks only",
                      mf_quote(text).text);
    else
        mf_index_note(index, 0, MF_NOTE, MF_RULE_MODEL_UNKNOWN, MF_NO_OFFSET,
                      "model type '%s' is not known here: generic checks only",
                      mf_quote(text).text);
}

static void check_values(struct mf_folder *folder,
                         const struct mf_folder_type *type)
{
    static const struct {
        enum mf_folder_field field;
        bool usual;
    } fields[] = {
#define FIELD(NAME, path, KIND, usual) { MF_FIELD_##NAME, usual },
#include "lib/folder/config.def"
#undef FIELD
    };
    struct mf_index *index = &folder->model->index;
    const struct mf_folder_value *heads = &folder->value[MF_FIELD_HEADS],
                                 *kv = &folder->value[MF_FIELD_HEADS_KV];

    for (size_t i = 0; i < MF_FIELD_COUNT; i++) {
        const struct mf_folder_value *value = &folder->value[fields[i].field];
        struct mf_str text = { value->text, strlen(value->text) };
        const char *key = mf_folder_key(fields[i].field);

        if (value->wrong)
            mf_index_note(index, 0, MF_ERROR, MF_RULE_CONFIG_VALUE,
                          MF_NO_OFFSET,
                          "'%s' in config.json is %s: wrong type or out of "
                          "range",
                          key, text.size > 0 ? mf_quote(text).text : "invalid");
        else if (fields[i].usual && !value->given)
            mf_index_note(index, 0, MF_WARNING, MF_RULE_CONFIG_VALUE,
                          MF_NO_OFFSET,
                          "missing key '%s' in config.json: transformers takes "
                          "the usual number of model type '%s'",
                          key, type->name);
    }
    if (heads->given && kv->given && heads->number % kv->number != 0)
        mf_index_note(index, 0, MF_ERROR, MF_RULE_CONFIG_VALUE, MF_NO_OFFSET,
                      "'num_attention_heads' in config.json is %" PRIu64
                      ", not a multiple of 'num_key_value_heads', %" PRIu64,
                      heads->number, kv->number);
}

/* Of any type of model. */
static void check_list(struct mf_folder *folder)
{
    const struct mf_folder_value *list = &folder->value[MF_FIELD_LAYER_TYPES],
                                 *layers = &folder->value[MF_FIELD_LAYERS];

    if (list->given && layers->given && list->number < layers->number)
        mf_index_note(
            &folder->model->index, 0, MF_WARNING, MF_RULE_MODEL_CACHE,
            MF_NO_OFFSET,
            "'%s' in config.json has %" PRIu64 " elements for %" PRIu64
            " blocks: the size of the cache is not known",
            mf_folder_key(MF_FIELD_LAYER_TYPES), list->number, layers->number);
}

void mf_folder_check_values(struct mf_folder *folder)
{
    const struct mf_folder_type *type = mf_folder_type(folder);

    if (folder->value[MF_FIELD_DIFFUSERS].given)
        return; /* a part of an image model, with a config of its own */
    check_list(folder);
    if (type)
        check_values(folder, type);
    else
        note_type(folder);
}
