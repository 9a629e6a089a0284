/* SPDX-License-Identifier: MIT
 *
 * shards.c - adding one file to a model that is being opened
 *
 * Each file goes the same way, first or fifth: its head is read and the format
 * detected, the format and version are compared with the first file's, and the
 * format's parser adds its rows to the index.  Which files those are is decided
 * in open_path.c and by what it calls: a model's own path, numbered names
 * (split.c), a list (index_json.c).
 *
 * Two things are easy to get wrong.  The model owns a source from the moment
 * it is given to mf_model_add_source, so that every error path closes it
 * exactly once, in mf_model_close.  And an error in a shard that the user did
 * not name must say which file it is about: mf_shard_add_context does that,
 * and turns "cannot be opened" into SHARD-MISSING if it is the model that is at
 * fault, not the system.
 */
#include "lib/model/open_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/base/timings.h"
#include "lib/io/path.h"
#include "lib/io/system.h"
#include "lib/model/formats.h"
#include "lib/model/model.h"
#include "lib/model/nearby.h"
#include "lib/model/pending.h"

/* The model is at fault if it names a shard that does not exist or is not a
 * file; the system is if we may not look. */
static bool is_missing(const struct mf_model *model, const char *path,
                       const struct mf_error *error)
{
    struct stat status;

    if (model->given)
        return error->system == ENOENT;
    if (error->status != MF_ERR_IO && error->status != MF_ERR_ARGUMENT)
        return false;
    if (stat(path, &status) != 0)
        return errno == ENOENT;
    return !S_ISREG(status.st_mode);
}

enum mf_status mf_shard_add_context(struct mf_model *model, const char *path)
{
    struct mf_env *env = model->env;
    struct mf_error error = env->error;
    const char *name = mf_base_name(path);
    struct mf_quoted quoted = mf_quote((struct mf_str){ name, strlen(name) });

    mf_clear_error(env);
    if (is_missing(model, path, &error))
        return mf_refuse(env, MF_RULE_SHARD_MISSING, error.offset,
                         "shard '%s': %s", quoted.text, error.message);
    mf_fail(env, error.status, error.offset, "shard '%s': %s", quoted.text,
            error.message);
    env->error.rule = error.rule;
    env->error.system = error.system;
    env->error.file = MF_ERROR_IN_SHARD;
    mf_error_about(env, path);
    return error.status;
}

/* One file needs one row, a split model some; both tables together have 300
 * bytes for each. */
static size_t next_room(size_t room)
{
    if (room < 16)
        return room > 0 ? 2 * room : 1;
    return room + 8 + room / 8;
}

/* The second table may be refused when the first was not: each has a size of
 * its own. */
static enum mf_status make_room(struct mf_model *model)
{
    size_t room = next_room(model->file_count);
    struct mf_file *file = model->file;
    struct mf_part *part = model->part;

    if (model->file_count == model->file_room) {
        file = mf_env_resize(model->env, file, model->file_room * sizeof(*file),
                             room * sizeof(*file));
        if (!file)
            return model->env->error.status;
        model->file = file;
        model->file_room = room;
    }
    if (model->file_count == model->part_room) {
        part = mf_env_resize(model->env, part, model->part_room * sizeof(*part),
                             room * sizeof(*part));
        if (!part)
            return model->env->error.status;
        model->part = part;
        model->part_room = room;
    }
    return MF_OK;
}

static const char *byte_order_name(enum mf_byte_order order)
{
    return order == MF_BIG_ENDIAN ? "big-endian" : "little-endian";
}

/* A pickle is a program: one with the name of a model is meant to be taken for
 * it. */
static enum mf_status refuse_foreign(struct mf_model *model,
                                     const struct mf_detection *kind)
{
    const char *path = model->file[model->file_count - 1].path;
    const struct mf_format *named = path && strcmp(kind->format, "pickle") == 0
                                        ? mf_format_of_name(model->env, path)
                                        : NULL;

    return mf_refuse(model->env, MF_RULE_FILE_FOREIGN, 0,
                     "unsupported format %s%s%s%s: %s", kind->format,
                     named ? ", although the name ends in '" : "",
                     named ? named->suffix : "", named ? "'" : "", kind->note);
}

/* Compares what was detected with the files before this one; sets the model's
 * format if it is the first. */
static enum mf_status check_kind(struct mf_model *model,
                                 const struct mf_format *format,
                                 const struct mf_detection *kind)
{
    struct mf_env *env = model->env;

    if (env->error.status != MF_OK)
        return env->error.status;
    if (!kind->supported && format && strcmp(kind->format, format->name) == 0)
        return mf_refuse(env, MF_RULE_FILE_VERSION, 4,
                         "%s version %" PRIu32 " is not supported: %s",
                         kind->format, kind->version, kind->note);
    if (!kind->supported)
        return refuse_foreign(model, kind);
    if (!model->format) {
        model->format = format;
        model->index.kind = *kind;
    } else if (model->format != format) {
        return mf_refuse(env, MF_RULE_SHARD_FOREIGN, 0,
                         "this shard is a %s file, but the others are %s",
                         kind->format, model->format->name);
    } else if (kind->byte_order != model->index.kind.byte_order ||
               kind->version != model->index.kind.version) {
        return mf_refuse(env, MF_RULE_SHARD_FOREIGN, 4,
                         "this shard is %s, version %" PRIu32 ", but the "
                         "previous ones are %s, version %" PRIu32,
                         byte_order_name(kind->byte_order), kind->version,
                         byte_order_name(model->index.kind.byte_order),
                         model->index.kind.version);
    }
    return MF_OK;
}

/* Runs the format's parser over the file that was added last. */
static enum mf_status parse(struct mf_model *model, const struct mf_head *head)
{
    struct mf_index *index = &model->index;
    size_t at = model->file_count - 1;
    const struct mf_source *source = &model->file[at].source;
    struct mf_part *part = &model->part[at];
    struct mf_reader reader;
    struct mf_timed timed;
    enum mf_status status;

    *part = (struct mf_part){ .shard = (uint32_t)at,
                              .data_end = source->size,
                              .alignment = 1,
                              .split_at = MF_NO_OFFSET,
                              .first = index->tensor_count };
    timed = mf_timed_begin(model->env, MF_PHASE_INDEX);
    /* A tail is most of what such a format wants to read. */
    status =
        head->tail
            ? mf_reader_init_span(&reader, model->env, source,
                                  (struct mf_span){ 0, source->size },
                                  MF_WINDOW - MF_TAIL_SIZE / 2)
            : mf_reader_init(&reader, model->env, source, head->at, head->size);
    if (status == MF_OK) {
        mf_reader_tail(&reader, head->tail, head->tail_size);
        status = model->format->parse(&reader, index, part);
    }
    if (status != MF_OK)
        model->env->error.offset =
            mf_stored_place(index, model->env->error.offset);
    mf_reader_release(&reader);
    mf_timed_end(model->env, timed);
    if (status == MF_OK)
        status = mf_source_unchanged(model->env, source);
    part->count = index->tensor_count - part->first;
    if (status == MF_OK && model->format->open_stored &&
        mf_stored_needed(index, part->shard))
        status = model->format->open_stored(model->env, &model->file[at].source,
                                            index, part->shard);
    return status;
}

enum mf_status mf_model_add_source(struct mf_model *model,
                                   const struct mf_source *source,
                                   const char *path)
{
    uint8_t bytes[MF_HEAD_SIZE];
    const struct mf_format *format;
    struct mf_detection kind;
    enum mf_status status;
    struct mf_head head;

    if (model->file_count == UINT16_MAX || make_room(model) != MF_OK) {
        struct mf_source unused = *source;

        mf_source_close(&unused);
        return mf_refuse(model->env, MF_RULE_FILE_LIMIT, MF_NO_OFFSET,
                         "the model has more than %d shards", UINT16_MAX);
    }
    model->file[model->file_count] =
        (struct mf_file){ .source = *source, .path = path };
    model->file[model->file_count].source.name = path;
    model->file_count++;
    if (mf_head_read(model->env, source, bytes, &head) != MF_OK)
        return model->env->error.status;
    format = mf_format_detect(model->env, &head, &kind);
    status = check_kind(model, format, &kind);
    if (status == MF_OK && model->format->parse)
        status = parse(model, &head);
    mf_head_release(model->env, &head);
    return status;
}

enum mf_status mf_model_add_bare(struct mf_model *model,
                                 const struct mf_source *source,
                                 const char *path)
{
    const struct mf_format *const *formats = model->env->formats;
    struct mf_source unused = *source;

    if (make_room(model) != MF_OK) {
        mf_source_close(&unused);
        return model->env->error.status;
    }
    for (size_t i = 0; formats[i] && !model->format; i++)
        if (formats[i]->written && formats[i]->naming == MF_NAMING_HF)
            model->format = formats[i];
    if (!model->format) {
        mf_source_close(&unused);
        return mf_fail(model->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "this env does not know safetensors, whose folders have "
                       "a config.json");
    }
    model->part[0] = (struct mf_part){ .alignment = 1 };
    model->file[0] = (struct mf_file){ .source = *source, .path = path };
    model->file[0].source.name = path;
    model->file_count = 1;
    model->bare = true;
    return MF_OK;
}

enum mf_status mf_model_add_file(struct mf_model *model, const char *path)
{
    struct mf_source source;

    if (mf_nearby_open_own(model, path, &source, NULL) != MF_OK)
        return model->env->error.status;
    return mf_model_add_source(model, &source, path);
}

/* ---- metadata of later shards, compared with the first one's ---- */

/* Readers use the metadata of the first shard.  A later one may repeat a key of
 * it, but with the same value. */

/* Keys that differ from shard to shard; opening has checked them. */
static bool is_per_shard(struct mf_str key)
{
    static const char head[] = "split.";

    return key.size >= strlen(head) && memcmp(key.at, head, strlen(head)) == 0;
}

/* By shard and key, and then in the order of the file. */
static bool earlier(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_meta *left = (const struct mf_meta *)table + a;
    const struct mf_meta *right = (const struct mf_meta *)table + b;
    bool shorter = left->key.size < right->key.size;
    int order;

    if (left->shard != right->shard)
        return left->shard < right->shard;
    order = memcmp(left->key.at, right->key.at,
                   shorter ? left->key.size : right->key.size);
    if (order != 0)
        return order < 0;
    return left->key.size != right->key.size ? shorter : a < b;
}

static bool same_key(const struct mf_meta *a, const struct mf_meta *b)
{
    return a->shard == b->shard && mf_str_same(a->key, b->key);
}

static enum mf_status check_duplicates(struct mf_index *index)
{
    size_t count = index->later_meta_count;
    uint32_t *row = mf_alloc(index->env, count * sizeof(*row));

    if (!row)
        return index->env->error.status;
    for (size_t i = 0; i < count; i++)
        row[i] = (uint32_t)i;
    mf_sort(row, count, earlier, index->later_meta);
    for (size_t i = 1; i < count; i++)
        if (same_key(&index->later_meta[row[i - 1]],
                     &index->later_meta[row[i]]))
            mf_index_note_duplicate(index, &index->later_meta[row[i - 1]],
                                    &index->later_meta[row[i]]);
    mf_release(index->env, row, count * sizeof(*row));
    return MF_OK;
}

/* Values that are still in the file count as equal if type and length are. */
static bool contradicts(const struct mf_meta *first,
                        const struct mf_meta *later)
{
    bool in_file = later->type == MF_VALUE_ARRAY ||
                   later->type == MF_VALUE_OBJECT ||
                   (later->type == MF_VALUE_STRING && !later->text.at);

    if (in_file)
        return first->type != later->type || first->of != later->of ||
               first->count != later->count;
    return !mf_meta_same(first, later);
}

enum mf_status mf_shards_check_metadata(struct mf_model *model)
{
    struct mf_index *index = &model->index;
    enum mf_status status = MF_OK;

    if (index->later_meta_count > 1)
        status = check_duplicates(index);
    for (size_t i = 0; i < index->later_meta_count && status == MF_OK; i++) {
        const struct mf_meta *later = &index->later_meta[i];
        size_t first = mf_names_find(&index->meta_names, later->key);

        if (is_per_shard(later->key) || first == MF_NOT_FOUND ||
            !contradicts(&index->meta[first], later))
            continue;
        mf_index_note(index, later->shard, MF_WARNING, MF_RULE_SHARD_METADATA,
                      later->span.offset,
                      "the value of '%s' differs from the first shard's",
                      mf_quote(later->key).text);
    }
    return status;
}
