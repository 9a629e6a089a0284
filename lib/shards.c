/* SPDX-License-Identifier: MIT
 *
 * shards.c - the files that make up a model
 */
#include <stdio.h>
#include <string.h>

#include "lib/model.h"

const char *mf_path_beside(struct mf_arena *arena, const char *path,
                           struct mf_str name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    char *joined = mf_arena_text(arena, folder + name.size);

    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, name.at, name.size);
    return joined;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* An error while reading a shard that the user did not name says which. */
static enum mf_status blame(struct mf_env *env, const char *path)
{
    struct mf_error error = env->error;
    const char *name = base_name(path);

    mf_clear_error(env);
    return mf_fail(env, error.status, error.offset, "shard '%s': %s",
                   mf_quote((struct mf_str){ name, strlen(name) }).text,
                   error.message);
}

static enum mf_status make_room(struct mf_model *model)
{
    size_t room = model->file_room ? model->file_room * 2 : 1;
    struct mf_file *file;
    struct mf_part *part;

    if (model->file_count < model->file_room)
        return MF_OK;
    file = mf_resize(model->env, model->file, model->file_room * sizeof(*file),
                     room * sizeof(*file));
    if (!file)
        return model->env->error.status;
    model->file = file;
    part = mf_resize(model->env, model->part, model->file_room * sizeof(*part),
                     room * sizeof(*part));
    if (!part) {
        /* Shrinking never fails, so the two tables keep one size. */
        model->file = mf_resize(model->env, file, room * sizeof(*file),
                                model->file_room * sizeof(*file));
        return model->env->error.status;
    }
    model->part = part;
    model->file_room = room;
    return MF_OK;
}

/* What detection said of this file, held against the first one's. */
static enum mf_status accept_kind(struct mf_model *model,
                                  const struct mf_format *format,
                                  const struct mf_detection *kind)
{
    struct mf_env *env = model->env;

    if (env->error.status != MF_OK)
        return env->error.status;
    if (!kind->supported)
        return mf_fail(env, MF_ERR_UNSUPPORTED, 0,
                       "this is %s, not a model "
                       "that can be read here: %s",
                       kind->format, kind->note);
    if (!model->format) {
        model->format = format;
        model->index.kind = *kind;
    } else if (model->format != format) {
        return mf_fail(env, MF_ERR_CORRUPT, 0,
                       "this is a %s file, the other shards are %s",
                       kind->format, model->format->name);
    }
    return MF_OK;
}

/* Runs the format's parser over the newest file. */
static enum mf_status parse(struct mf_model *model, const struct mf_head *head)
{
    struct mf_index *index = &model->index;
    size_t at = model->file_count - 1;
    const struct mf_source *source = &model->file[at].source;
    struct mf_reader reader;
    enum mf_status status;

    index->shard = (uint32_t)at;
    index->part = &model->part[at];
    *index->part = (struct mf_part){ .data_end = source->size,
                                     .alignment = 1,
                                     .first = index->tensor_count };
    status = mf_reader_init(&reader, model->env, source, head->at, head->size);
    if (status == MF_OK)
        status = model->format->parse(&reader, index);
    mf_reader_release(&reader);
    if (status == MF_OK)
        status = mf_source_unchanged(model->env, source);
    index->part->count = index->tensor_count - index->part->first;
    return status;
}

enum mf_status mf_model_add_source(struct mf_model *model,
                                   const struct mf_source *source,
                                   const char *path)
{
    uint8_t bytes[MF_HEAD_SIZE];
    const struct mf_format *format;
    struct mf_detection kind;
    struct mf_head head;

    if (model->file_count == UINT16_MAX || make_room(model) != MF_OK) {
        struct mf_source unused = *source;

        mf_source_close(&unused);
        return mf_fail(model->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "the model has more than %d shards", UINT16_MAX);
    }
    model->file[model->file_count] =
        (struct mf_file){ .source = *source, .path = path };
    model->file[model->file_count].source.name = path;
    model->file_count++;
    if (mf_head_read(model->env, source, bytes, &head) != MF_OK)
        return model->env->error.status;
    format = mf_format_of(model->env, &head, &kind);
    if (accept_kind(model, format, &kind) != MF_OK)
        return model->env->error.status;
    return model->format->parse ? parse(model, &head) : MF_OK;
}

enum mf_status mf_model_add_file(struct mf_model *model, const char *path)
{
    struct mf_source source;

    if (mf_source_open_file(model->env, path, &source, NULL) != MF_OK)
        return model->env->error.status;
    return mf_model_add_source(model, &source, path);
}

/* Closes all files and empties the index, to read the shards in their order
 * after one of them has told how many there are. */
static void start_over(struct mf_model *model)
{
    bool metadata_only = model->index.metadata_only;

    while (model->file_count > 0)
        mf_source_close(&model->file[--model->file_count].source);
    mf_index_release(&model->index);
    model->index.metadata_only = metadata_only;
    model->format = NULL;
}

/* ---- shards by the pattern of their names ---- */

struct pattern { /* PREFIX-00002-of-00005SUFFIX */
    const char *name;
    size_t prefix_size; /* with the first hyphen */
    unsigned number, count;
    const char *suffix;
};

static bool five_digits(const char *at, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 5; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        *out = *out * 10 + (unsigned)(at[i] - '0');
    }
    return true;
}

/* Splits the last component of path; false where it is not of that pattern. */
static bool match_pattern(const char *path, struct pattern *out)
{
    const char *name = base_name(path), *dot = strrchr(name, '.');
    size_t tail = strlen("00001-of-00001");
    const char *numbers;

    if (!dot || (size_t)(dot - name) < tail + 1)
        return false;
    numbers = dot - tail;
    *out = (struct pattern){ .name = name,
                             .prefix_size = (size_t)(numbers - name),
                             .suffix = dot };
    return numbers[-1] == '-' && five_digits(numbers, &out->number) &&
           memcmp(numbers + 5, "-of-", 4) == 0 &&
           five_digits(numbers + 9, &out->count) && out->number >= 1 &&
           out->number <= out->count;
}

/* The path of shard number (from 1 on) beside path. */
static const char *shard_path(struct mf_model *model, const char *path,
                              const struct pattern *pattern, unsigned number)
{
    char numbers[32];
    size_t size = (size_t)snprintf(numbers, sizeof(numbers), "%05u-of-%05u",
                                   number, pattern->count);
    size_t suffix = strlen(pattern->suffix);
    char *name =
        mf_arena_text(&model->paths, pattern->prefix_size + size + suffix);

    if (!name)
        return NULL;
    memcpy(name, pattern->name, pattern->prefix_size);
    memcpy(name + pattern->prefix_size, numbers, size);
    memcpy(name + pattern->prefix_size + size, pattern->suffix, suffix);
    return mf_path_beside(
        &model->paths, path,
        (struct mf_str){ name, pattern->prefix_size + size + suffix });
}

/* Shard i must say itself that it is number i of count. */
static enum mf_status check_place(struct mf_model *model, size_t i,
                                  unsigned count)
{
    const struct mf_part *part = &model->part[i];

    if (part->is_split && part->split_number == i && part->split_count == count)
        return MF_OK;
    if (!part->is_split)
        return mf_fail(model->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "does not belong here: it does not say that it is part "
                       "of a split model, shard %zu of %u was expected",
                       i + 1, count);
    return mf_fail(model->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                   "does not belong here: it says that it is shard %" PRIu64
                   " of %" PRIu64 ", shard %zu of %u was expected",
                   part->split_number + 1, part->split_count, i + 1, count);
}

/* Opens every shard of the pattern in order.  split: each must say itself
 * which one it is. */
static enum mf_status open_pattern(struct mf_model *model, const char *path,
                                   const struct pattern *pattern, bool split)
{
    /* Metadata stand in the first shard. */
    unsigned count = model->index.metadata_only ? 1 : pattern->count;

    start_over(model);
    for (unsigned i = 0; i < count; i++) {
        const char *shard = shard_path(model, path, pattern, i + 1);

        if (!shard)
            return model->env->error.status;
        if (mf_model_add_file(model, shard) != MF_OK ||
            (split && check_place(model, i, pattern->count) != MF_OK))
            return blame(model->env, shard);
    }
    return MF_OK;
}

static void check_split_total(struct mf_model *model)
{
    const struct mf_part *first = &model->part[0];

    if (model->index.metadata_only ||
        first->split_tensors == model->index.tensor_count)
        return;
    model->index.shard = 0;
    mf_index_note(&model->index, MF_ERROR, "SHARD-TENSORS", MF_NO_OFFSET,
                  "the shards hold %zu tensors, split.tensors.count says "
                  "%" PRIu64,
                  model->index.tensor_count, first->split_tensors);
}

/* path is open as the only file and says that it is a shard. */
static enum mf_status gather_split(struct mf_model *model, const char *path)
{
    const struct mf_part *part = &model->part[0];
    struct pattern pattern;

    if (!match_pattern(path, &pattern) || pattern.count != part->split_count ||
        pattern.number - 1 != part->split_number) {
        mf_index_note(&model->index, MF_WARNING, "SHARD-NAME", MF_NO_OFFSET,
                      "the file says that it is shard %" PRIu64 " of %" PRIu64
                      ", but its name does not end in -%05" PRIu64
                      "-of-%05" PRIu64 ": the others cannot be found",
                      part->split_number + 1, part->split_count,
                      part->split_number + 1, part->split_count);
        return MF_OK;
    }
    if (open_pattern(model, path, &pattern, true) == MF_OK)
        check_split_total(model);
    return model->env->error.status;
}

/* ---- shards that a file lists ---- */

enum mf_status mf_shard_names_add(struct mf_shard_names *names,
                                  struct mf_str name, size_t *at)
{
    size_t room = names->room ? names->room * 2 : 8;
    struct mf_str *moved;
    char *copy;

    if (names->count == names->room) {
        moved = mf_resize(names->arena->env, names->name,
                          names->room * sizeof(*moved), room * sizeof(*moved));
        if (!moved)
            return names->arena->env->error.status;
        names->name = moved;
        names->room = room;
    }
    copy = mf_arena_text(names->arena, name.size);
    if (!copy)
        return names->arena->env->error.status;
    memcpy(copy, name.at, name.size);
    *at = names->count;
    names->name[names->count++] = (struct mf_str){ copy, name.size };
    return MF_OK;
}

static enum mf_status open_listed(struct mf_model *model, const char *path,
                                  const struct mf_shard_names *names)
{
    size_t count = names->count;

    if (model->index.metadata_only && count > 1)
        count = 1;
    for (size_t i = 0; i < count; i++) {
        const char *shard = mf_path_beside(&model->paths, path, names->name[i]);

        if (!shard)
            return model->env->error.status;
        if (mf_model_add_file(model, shard) != MF_OK)
            return blame(model->env, shard);
        if (model->format->list) {
            mf_fail(model->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                    "is itself a list of shards");
            return blame(model->env, shard);
        }
    }
    return MF_OK;
}

/* Reads the list, opens what it names, and reads it again to hold it against
 * what was found: only then is there a table to look names up in. */
static enum mf_status list_and_open(struct mf_model *model,
                                    const struct mf_format *format,
                                    const struct mf_source *source,
                                    const char *path,
                                    struct mf_shard_names *names)
{
    struct mf_reader reader;
    enum mf_status status =
        mf_reader_init(&reader, model->env, source, NULL, 0);

    if (status == MF_OK)
        status = format->list(&reader, names);
    mf_reader_release(&reader);
    if (status != MF_OK || open_listed(model, path, names) != MF_OK)
        return model->env->error.status;
    if (model->index.metadata_only)
        return MF_OK;
    if (mf_index_build_names(&model->index) != MF_OK)
        return model->env->error.status;
    status = mf_reader_init(&reader, model->env, source, NULL, 0);
    if (status == MF_OK)
        status = format->verify(&reader, &model->index, names);
    mf_reader_release(&reader);
    return status;
}

/* path is open as the only file and lists others. */
static enum mf_status gather_listed(struct mf_model *model, const char *path)
{
    const struct mf_format *format = model->format;
    struct mf_source source = model->file[0].source;
    struct mf_shard_names names = { .arena = &model->paths };
    enum mf_status status;

    model->file_count = 0; /* the list is not a shard */
    model->format = NULL;
    status = list_and_open(model, format, &source, path, &names);
    mf_release(model->env, names.name, names.room * sizeof(*names.name));
    mf_source_close(&source);
    return status;
}

/* ---- a folder ---- */

struct only_model { /* what a folder's listing found */
    struct mf_model *model;
    const char *path;
    enum mf_shards shards;
    size_t count;
};

static enum mf_status count_model(void *user, const char *path,
                                  enum mf_shards shards)
{
    struct only_model *only = user;
    size_t size = strlen(path);
    char *copy;

    if (only->count++ > 0)
        return MF_OK;
    copy = mf_arena_text(&only->model->paths, size);
    if (!copy)
        return only->model->env->error.status;
    memcpy(copy, path, size);
    only->path = copy;
    only->shards = shards;
    return MF_OK;
}

static enum mf_status open_folder(struct mf_model *model, const char *path)
{
    struct only_model only = { .model = model };

    mf_clear_error(model->env);
    if (mf_folder_list(model->env, path, count_model, &only) != MF_OK)
        return model->env->error.status;
    if (only.count == 0)
        return mf_fail(model->env, MF_ERR_FORMAT, MF_NO_OFFSET,
                       "this folder holds no .gguf, .safetensors or .apr file");
    if (only.count > 1)
        return mf_fail(
            model->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
            "this folder holds %zu models: name one of them, for "
            "instance '%s'",
            only.count,
            mf_quote((struct mf_str){ only.path, strlen(only.path) }).text);
    return mf_model_open_path(model, only.path, only.shards);
}

enum mf_status mf_model_open_path(struct mf_model *model, const char *path,
                                  enum mf_shards shards)
{
    bool is_folder = false;
    struct mf_source source;
    struct pattern pattern;

    if (mf_source_open_file(model->env, path, &source, &is_folder) != MF_OK)
        return is_folder ? open_folder(model, path) : model->env->error.status;
    if (mf_model_add_source(model, &source, path) != MF_OK)
        return model->env->error.status;
    if (model->format->list)
        return gather_listed(model, path);
    if (shards == MF_SHARDS_ALONE)
        return MF_OK;
    if (model->part[0].is_split && model->part[0].split_count > 1)
        return gather_split(model, path);
    if (shards == MF_SHARDS_BY_NAME && match_pattern(path, &pattern))
        return open_pattern(model, path, &pattern, false);
    return MF_OK;
}
