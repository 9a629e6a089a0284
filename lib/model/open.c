/* SPDX-License-Identifier: MIT
 *
 * open.c - opening and closing a model, wherever its bytes are
 */
#include <string.h>

#include "lib/base/options.h"
#include "lib/base/timings.h"
#include "lib/io/given.h"
#include "lib/model/open_parts.h"
#include "lib/model/steady.h"

/* Copies path: messages and mf_shard_at need it later. */
static const char *keep_path(struct mf_model *model, const char *path)
{
    size_t size = strlen(path);
    char *copy = mf_arena_reserve(&model->paths, size + 1) == MF_OK
                     ? mf_arena_text(&model->paths, size)
                     : NULL;

    if (copy)
        memcpy(copy, path, size);
    return copy;
}

static struct mf_model *model_new(struct mf_env *env,
                                  const struct mf_open_options *options)
{
    struct mf_model *model = mf_alloc(env, sizeof(*model));

    if (!model)
        return NULL;
    mf_env_hold(env);
    *model = (struct mf_model){ .env = env };
    mf_index_init(&model->index, env);
    mf_arena_init(&model->paths, env);
    model->index.metadata_only = options && options->metadata_only;
    model->index.tensors_only = options && options->tensors_only;
    model->index.missing.allowed = options && options->allow_missing;
    model->may_be_bare = options && options->bare;
    if (options && options->findings_max > 0)
        model->index.findings_max = options->findings_max;
    return model;
}

static void count_findings(struct mf_model *model)
{
    for (size_t i = 0; i < MF_RULE_COUNT; i++) {
        const uint32_t *found = model->index.tally[i];

        model->info.error_count += found[MF_ERROR];
        model->info.warning_count += found[MF_WARNING];
        model->info.note_count += found[MF_NOTE];
    }
}

/* Damaged tensors may claim any size: the sum stops at UINT64_MAX. */
static void add_saturated(uint64_t *sum, uint64_t more)
{
    if (!mf_add(*sum, more, sum))
        *sum = UINT64_MAX;
}

void mf_model_count(struct mf_model *model)
{
    const struct mf_index *index = &model->index;
    struct mf_model_info *info = &model->info;

    info->tensor_count = index->tensor_count;
    info->missing_count = index->missing.count;
    info->parameters = info->data_size = 0;
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        uint64_t elements = 0;

        mf_elements(record->dim, record->rank, &elements);
        add_saturated(&info->parameters, elements);
        add_saturated(&info->data_size, record->size);
    }
}

static void fill_info(struct mf_model *model)
{
    const struct mf_index *index = &model->index;
    struct mf_model_info *info = &model->info;

    *info = (struct mf_model_info){
        .format = model->format->name,
        .variant = index->kind.variant,
        .version = index->kind.version,
        .version_minor = index->kind.version_minor,
        .byte_order = index->kind.byte_order,
        .fastest_first = model->format->fastest_first != index->reversed,
        .has_tensors = !index->metadata_only,
        .metadata_count = index->meta_count,
        .shard_count = model->file_count,
        .data_offset = model->part[0].data_offset,
        .alignment = model->part[0].alignment,
    };
    count_findings(model);
    for (size_t i = 0; i < model->file_count; i++) {
        info->file_size += model->file[i].source.size;
        info->pending_edit |= model->file[i].source.overlay.count > 0;
    }
    mf_model_count(model);
}

/* What all formats share, once all headers have been parsed. */
static enum mf_status finish(struct mf_model *model)
{
    struct mf_index *index = &model->index;

    if (mf_index_check(index, model->part, model->file_count,
                       model->format->layout) != MF_OK ||
        (!index->tensor_names.slot && mf_index_build_names(index) != MF_OK))
        return model->env->error.status;
    fill_info(model);
    index->opened = true;
    return index->status;
}

/* Ends opening: *out becomes the model, or it is closed, with which the path
 * may go. */
static enum mf_status complete(struct mf_model *model, const char *path,
                               enum mf_status status, struct mf_model **out)
{
    struct mf_timed timed = mf_timed_begin(model->env, MF_PHASE_INDEX);

    if (status == MF_OK)
        status = finish(model);
    mf_timed_end(model->env, timed);
    if (status == MF_OK) {
        *out = model;
        return MF_OK;
    }
    mf_error_about(model->env, path);
    mf_model_close(model);
    return status;
}

/* memory: what is only about bytes in memory counts. */
static enum mf_status take_options(struct mf_env *env,
                                   struct mf_open_options *out,
                                   const struct mf_open_options *given,
                                   bool memory)
{
    if (mf_options_take(env, out, sizeof(*out), given) != MF_OK)
        return env->error.status;
    if ((unsigned)out->shards > MF_SHARDS_BY_NAME)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%u is not a choice of shards", (unsigned)out->shards);
    if (out->file_size > 0 && !memory)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "file_size is about bytes in memory");
    return MF_OK;
}

/* Opens the files that path leads to. */
static enum mf_status open_path(struct mf_model *model, const char *path,
                                enum mf_shards shards, struct mf_model **out)
{
    struct mf_env *env = model->env;
    struct mf_timed timed = mf_timed_begin(env, MF_PHASE_OPEN);
    const char *kept = keep_path(model, path);
    enum mf_status status = complete(
        model, path,
        kept ? mf_model_open_path(model, kept, shards) : env->error.status,
        out);

    mf_timed_end(env, timed);
    return status;
}

enum mf_status mf_model_open(struct mf_env *env, const char *path,
                             const struct mf_open_options *options,
                             struct mf_model **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, path);
    MF_NEED(env, out);

    struct mf_open_options known;
    struct mf_model *model;

    if (take_options(env, &known, options, false) != MF_OK)
        return MF_ERR_ARGUMENT;
    model = model_new(env, &known);
    return model ? open_path(model, path, known.shards, out)
                 : env->error.status;
}

enum mf_status mf_model_open_view(struct mf_env *env, const char *name,
                                  const struct mf_source *source,
                                  const struct mf_open_options *options,
                                  struct mf_model **out)
{
    struct mf_model *model = model_new(env, options);
    struct mf_source kept = *source;
    enum mf_status status;

    if (model)
        kept.name = keep_path(model, name);
    if (!model || !kept.name)
        mf_source_close(&kept);
    if (!model)
        return env->error.status;
    status = kept.name ? mf_model_add_source(model, &kept, kept.name)
                       : env->error.status;
    if (status == MF_OK && !model->format->parse)
        status =
            mf_decline(env, MF_REASON_SHARD_LIST_ALONE, MF_NO_OFFSET,
                       "this is only a list of shards, which need a folder");
    return complete(model, NULL, status, out);
}

/* Opens what has no files next to it. */
static enum mf_status open_alone(struct mf_env *env, const char *name,
                                 const struct mf_source *source,
                                 const struct mf_open_options *options,
                                 struct mf_model **out)
{
    struct mf_model *model;
    enum mf_status status =
        mf_model_open_view(env, name, source, options, &model);

    if (status != MF_OK)
        return status;
    model->alone = true;
    *out = model;
    return MF_OK;
}

enum mf_status mf_model_open_memory(struct mf_env *env, const char *name,
                                    const void *bytes, size_t size,
                                    const struct mf_open_options *options,
                                    struct mf_model **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, name);
    MF_NEED(env, bytes || size == 0);
    MF_NEED(env, out);

    struct mf_open_options known;
    struct mf_source source;

    if (take_options(env, &known, options, true) != MF_OK)
        return MF_ERR_ARGUMENT;
    if (mf_source_open_beginning(env, name, bytes, size,
                                 known.file_size > 0 ? known.file_size : size,
                                 &source) != MF_OK)
        return env->error.status;
    return open_alone(env, name, &source, &known, out);
}

enum mf_status mf_model_open_fd(struct mf_env *env, const char *name, int fd,
                                const struct mf_open_options *options,
                                struct mf_model **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, name);
    MF_NEED(env, out);

    struct mf_open_options known;
    struct mf_source source;

    if (take_options(env, &known, options, false) != MF_OK)
        return MF_ERR_ARGUMENT;
    if (mf_source_check_fd(env, fd) != MF_OK)
        return env->error.status;
    mf_source_open_fd(name, fd, &source);
    return open_alone(env, name, &source, &known, out);
}

enum mf_status mf_model_open_source(struct mf_env *env,
                                    const struct mf_byte_source *source,
                                    const struct mf_open_options *options,
                                    struct mf_model **out)
{
    MF_NEED(NULL, env);
    MF_NEED(env, source);
    MF_NEED(env, out);

    struct mf_open_options known;
    struct mf_given *given;
    struct mf_model *model;

    if (take_options(env, &known, options, false) != MF_OK ||
        mf_given_new(env, source, &given) != MF_OK)
        return env->error.status;
    model = model_new(env, &known);
    if (!model) {
        mf_given_close(given);
        return env->error.status;
    }
    model->given = given;
    return open_path(model, mf_given_name(given), known.shards, out);
}

static void release(struct mf_model *model)
{
    struct mf_env *env = model->env;

    if (model->digests)
        model->release_digests(model);
    mf_model_close(model->scan);
    if (model->reader)
        model->release_reader(model->reader);
    for (size_t i = 0; i < model->file_count; i++)
        mf_source_close(&model->file[i].source);
    mf_release(env, model->file, model->file_room * sizeof(*model->file));
    mf_release(env, model->part, model->part_room * sizeof(*model->part));
    mf_seen_forget(model);
    mf_given_close(model->given);
    mf_index_release(&model->index);
    mf_arena_release(&model->paths);
    mf_release(env, model->owned, model->owned_size);
    mf_release(env, model, sizeof(*model));
    mf_env_leave(env);
}

static void release_unused(struct mf_model *model)
{
    if (model->closed && model->users == 0)
        release(model);
}

void mf_model_close(struct mf_model *model)
{
    if (!model)
        return;
    model->closed = true;
    for (size_t i = 0; model->users > 0 && i < model->file_count; i++)
        mf_source_shut(&model->file[i].source);
    if (model->users > 0) {
        mf_given_close(model->given);
        model->given = NULL;
    }
    release_unused(model);
}

void mf_model_hold(struct mf_model *model)
{
    model->users++;
}

void mf_model_leave(struct mf_model *model)
{
    model->users--;
    release_unused(model);
}
