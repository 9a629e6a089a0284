/* SPDX-License-Identifier: MIT
 *
 * folder_shards.c - shards next to a model's own, and shards that are unlike
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/folder/folder.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/nearby.h"
#include "lib/model/open_parts.h"

bool mf_folder_is_whole(const struct mf_model *model)
{
    struct mf_shard_name name;

    return !model->incomplete &&
           (model->list || !mf_shard_name_match(model->file[0].path, &name) ||
            name.count == model->file_count);
}

/* ---- other files ---- */

static bool is_own(const struct mf_model *model, const char *name)
{
    for (size_t i = 0; i < model->file_count; i++)
        if (strcmp(mf_base_name(model->file[i].path), name) == 0)
            return true;
    return false;
}

/* Whether the name belongs to a shard, with the prefix and suffix of a shard of
 * the model. */
static bool is_alike(const struct mf_model *model, const char *name)
{
    struct mf_shard_name a, b;

    return mf_shard_name_match(name, &a) &&
           mf_shard_name_match(model->file[0].path, &b) &&
           a.prefix_size == b.prefix_size &&
           memcmp(name, b.name, a.prefix_size) == 0 &&
           strcmp(a.suffix, b.suffix) == 0;
}

/* The file that transformers prefers to a list of shards. */
static bool is_preferred(const struct mf_model *model, const char *name)
{
    return model->list && strcmp(name, "model.safetensors") == 0;
}

struct strays {
    uint64_t count;
    char first[NAME_MAX + 1]; /* in alphabetical order */
};

static void add_stray(struct strays *strays, const char *name)
{
    if (strays->count++ == 0 || strcmp(name, strays->first) < 0)
        snprintf(strays->first, sizeof(strays->first), "%s", name);
}

static void note_strays(struct mf_index *index, const struct strays *strays)
{
    struct mf_str name = { strays->first, strlen(strays->first) };

    if (strays->count == 1)
        mf_index_note(index, 0, MF_WARNING, MF_RULE_SHARD_LEFTOVER,
                      MF_NO_OFFSET,
                      "'%s' in the folder is not part of this model",
                      mf_quote(name).text);
    else if (strays->count > 1)
        mf_index_note(index, 0, MF_WARNING, MF_RULE_SHARD_LEFTOVER,
                      MF_NO_OFFSET,
                      "%" PRIu64 " shards in the folder are not part of this "
                      "model, the first is '%s'",
                      strays->count, mf_quote(name).text);
}

/* A folder that cannot be listed has nothing to report. */
static void check_strays(const struct mf_model *model, struct mf_index *index)
{
    int folder = mf_nearby_folder_of(model, model->file[0].path);
    struct strays strays = { 0 };
    struct mf_entries entries;
    const char *name;

    if (folder < 0)
        return;
    mf_entries_begin(&entries, folder);
    while ((name = mf_entries_next(&entries)) != NULL)
        if (!is_own(model, name)) {
            if (is_alike(model, name))
                add_stray(&strays, name);
            else if (is_preferred(model, name))
                mf_index_note(index, 0, MF_WARNING, MF_RULE_SHARD_LEFTOVER,
                              MF_NO_OFFSET,
                              "'%s' is next to a list of shards: transformers "
                              "loads that file instead",
                              name);
        }
    mf_entries_end(&entries);
    note_strays(index, &strays);
}

/* ---- types ---- */

#define TYPE_NONE  (-1)
#define TYPE_MIXED (-2)

/* Quantized models mix types on purpose. */
static bool is_float(uint16_t type)
{
    return type == MF_TYPE_F32 || type == MF_TYPE_F16 || type == MF_TYPE_BF16;
}

/* The type of all matrices of a shard that has at least two. */
static int type_of_part(const struct mf_index *index,
                        const struct mf_part *part)
{
    int type = TYPE_NONE;
    size_t count = 0;

    for (size_t i = part->first; i < part->first + part->count; i++) {
        const struct mf_record *record = &index->tensor[i];

        if (record->rank < 2)
            continue;
        if (!is_float(record->type) ||
            (type != TYPE_NONE && type != record->type))
            return TYPE_MIXED;
        type = record->type;
        count++;
    }
    return count < 2 ? TYPE_NONE : type;
}

/* One shard whose matrices have another type than all others, which have one in
 * common. */
static void check_types(const struct mf_model *model, struct mf_index *index)
{
    int usual = TYPE_NONE, other = TYPE_NONE;
    size_t usual_count = 0, other_count = 0, at[2] = { 0 }, odd;

    for (size_t i = 0; i < model->file_count; i++) {
        int type = type_of_part(index, &model->part[i]);

        if (type == TYPE_NONE)
            continue;
        if (usual == TYPE_NONE || type == usual) {
            usual = type;
            at[0] = i;
            usual_count++;
        } else if (other == TYPE_NONE || type == other) {
            other = type;
            at[1] = i;
            other_count++;
        } else {
            return;
        }
    }
    if (usual < 0 || other < 0 || (usual_count > 1 && other_count > 1))
        return;
    odd = other_count == 1;
    mf_index_note(index, (uint32_t)at[odd], MF_WARNING, MF_RULE_SHARD_UNLIKE,
                  MF_NO_OFFSET,
                  "all matrices of this shard are of type %s, in other "
                  "shards of type %s",
                  mf_types[odd ? other : usual].name,
                  mf_types[odd ? usual : other].name);
}

enum mf_status mf_folder_check_shards(struct mf_folder *folder)
{
    struct mf_model *model = folder->model;

    if (mf_nearby_on_disk(model) && mf_folder_is_whole(model))
        check_strays(model, &model->index);
    if (model->file_count > 1)
        check_types(model, &model->index);
    return model->index.status;
}
