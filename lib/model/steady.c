/* SPDX-License-Identifier: MIT
 *
 * steady.c - whether a model's files are still those that were read
 */
#include "lib/model/steady.h"

#include "lib/base/ranks.h"
#include "lib/base/str.h"

/* The file as it is now; which closes nothing. */
static struct mf_source reopened(const struct mf_source *source)
{
    struct mf_source now;

    mf_source_open_fd(source->name, source->fd, &now);
    now.overlay = source->overlay;
    return now;
}

static bool same_meta(const struct mf_meta *a, const struct mf_meta *b)
{
    return mf_str_same(a->key, b->key) && a->type == b->type &&
           a->of == b->of && a->count == b->count &&
           a->number.u64 == b->number.u64 && a->span.offset == b->span.offset &&
           a->span.size == b->span.size && mf_str_same(a->text, b->text);
}

static bool same_metadata(const struct mf_index *a, const struct mf_index *b)
{
    if (a->meta_count != b->meta_count)
        return false;
    for (size_t i = 0; i < a->meta_count; i++)
        if (!same_meta(&a->meta[i], &b->meta[i]))
            return false;
    return true;
}

static bool same_tensor(const struct mf_record *a, const struct mf_record *b)
{
    return a->name_size == b->name_size && a->rank == b->rank &&
           a->type_id == b->type_id && a->type == b->type &&
           a->offset == b->offset && a->size == b->size &&
           memcmp(a->name, b->name, a->name_size) == 0 &&
           (a->rank == 0 ||
            memcmp(a->dim, b->dim, a->rank * sizeof(*a->dim)) == 0);
}

static bool same_tensors(const struct mf_model *model,
                         const struct mf_part *part, const struct mf_index *now)
{
    if (part->count != now->tensor_count)
        return false;
    for (size_t i = 0; i < part->count; i++)
        if (!same_tensor(&model->index.tensor[part->first + i],
                         &now->tensor[i]))
            return false;
    return true;
}

static enum mf_status changed(struct mf_env *env)
{
    mf_clear_error(env);
    return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                   "the file was written to while it was read, and its time "
                   "set back");
}

/* Parses the header of that file once more. */
static enum mf_status compare_header(struct mf_model *model, size_t file)
{
    const struct mf_source *source = &model->file[file].source;
    struct mf_open_options options = {
        .size = sizeof(options),
        .shards = MF_SHARDS_ALONE,
        .findings_max = 1,
        .metadata_only = model->index.metadata_only,
        .tensors_only = model->index.tensors_only,
    };
    struct mf_env *env = model->env;
    struct mf_source now = reopened(source);
    struct mf_model *again = NULL;
    bool same;

    if (mf_model_open_view(env, model->file[file].path, &now, &options,
                           &again) != MF_OK)
        return env->error.status == MF_ERR_CORRUPT ? changed(env)
                                                   : env->error.status;
    same = same_tensors(model, &model->part[file], &again->index) &&
           (file > 0 || same_metadata(&model->index, &again->index));
    mf_model_close(again);
    return same ? MF_OK : changed(env);
}

enum mf_status mf_model_steady(struct mf_model *model, bool *again)
{
    struct mf_env *env = model->env;
    bool touched;

    *again = false;
    for (size_t i = 0; i < model->file_count; i++) {
        struct mf_source *source = &model->file[i].source;

        if (mf_source_steady(env, source, &touched) != MF_OK)
            return env->error.status;
        if (!touched)
            continue;
        /* What was unpacked of it is kept, and would not be read again. */
        if (source->stored && model->index.stored.stored_count > 0)
            return mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                           "the file, or its mode or name, was changed while "
                           "it was unpacked");
        if (compare_header(model, i) != MF_OK)
            return env->error.status;
        *again = true;
    }
    return MF_OK;
}

enum mf_status mf_model_unchanged(struct mf_model *model)
{
    MF_NEED(NULL, model);

    struct mf_env *env = model->env;

    mf_clear_error(env);
    for (size_t i = 0; i < model->file_count; i++) {
        struct mf_source seen = model->file[i].source; /* its times stay */
        bool touched;

        if (mf_source_steady(env, &seen, &touched) == MF_OK && touched)
            mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                    "the file, or its mode or name, was changed since it was "
                    "opened");
        if (env->error.status != MF_OK)
            return mf_shard_error(env, model, i);
    }
    return MF_OK;
}

enum mf_status mf_shard_error(struct mf_env *env, const struct mf_model *model,
                              size_t shard)
{
    env->error.file = shard > 0 ? MF_ERROR_IN_SHARD : MF_ERROR_IN_MODEL;
    return mf_error_about(env, model->file[shard].path);
}

/* How often work is done for a file that changes again and again. */
#define ROUNDS 8

bool mf_steady_next(struct mf_env *env, struct mf_model *const *models,
                    size_t count, unsigned *round)
{
    bool again = *round == 0, touched;
    uint64_t any;

    if (again)
        mf_clear_error(env);
    if (env->error.status != MF_OK)
        return false;
    for (size_t i = 0; *round > 0 && i < count; i++) {
        if (mf_model_steady(models[i], &touched) != MF_OK ||
            mf_seen_check(models[i]) != MF_OK)
            return false;
        again |= touched;
    }
    any = again;
    if (mf_ranks_most(env, &any) != MF_OK) /* what one has seen, all do again */
        return false;
    again = any > 0;
    if (again && ++*round > ROUNDS) {
        mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                "the file, or its mode or name, was changed %d times while it "
                "was read",
                ROUNDS);
        return false;
    }
    return again;
}
