/* SPDX-License-Identifier: MIT
 *
 * imatrix.c - an importance matrix: its entries, and their values
 */
#include "lib/quantize/imatrix.h"

#include <assert.h>
#include <math.h>

#include "lib/base/little.h"
#include "lib/base/str.h"

/* ---- entries ---- */

static bool is_chosen(const struct mf_imatrix_choice *choice,
                      struct mf_str name)
{
    for (size_t i = 0; i < choice->exclude_count; i++)
        if (mf_str_holds(name, choice->exclude[i]))
            return false;
    for (size_t i = 0; i < choice->include_count; i++)
        if (mf_str_holds(name, choice->include[i]))
            return true;
    return choice->include_count == 0;
}

enum mf_status mf_imatrix_add(struct mf_imatrix *imatrix,
                              const struct mf_imatrix_entry *entry,
                              const struct mf_imatrix_choice *choice)
{
    size_t room = imatrix->room > 0 ? imatrix->room * 2 : 64;
    struct mf_imatrix_entry *moved;

    if (!is_chosen(choice, entry->name))
        return MF_OK;
    if (imatrix->count == imatrix->room) {
        moved = mf_env_resize(imatrix->env, imatrix->entry,
                              imatrix->room * sizeof(*moved),
                              room * sizeof(*moved));
        if (!moved)
            return imatrix->env->error.status;
        imatrix->entry = moved;
        imatrix->room = room;
    }
    imatrix->entry[imatrix->count++] = *entry;
    return MF_OK;
}

static struct mf_str name_at(const void *table, size_t row)
{
    const struct mf_imatrix *imatrix = table;

    return imatrix->entry[row].name;
}

static enum mf_status build_names(struct mf_imatrix *imatrix)
{
    imatrix->names.seed = imatrix->env->hash_seed;
    imatrix->names.name_at = name_at;
    imatrix->names.table = imatrix;
    if (mf_names_init(&imatrix->names, &imatrix->arena, imatrix->count) !=
        MF_OK)
        return imatrix->env->error.status;
    for (size_t i = 0; i < imatrix->count; i++)
        if (mf_names_add(&imatrix->names, i) != MF_NOT_FOUND)
            return mf_fail(imatrix->env, MF_ERR_CORRUPT,
                           imatrix->entry[i].offset,
                           "the importance matrix has two entries for tensor "
                           "'%s'",
                           mf_quote(imatrix->entry[i].name).text);
    return MF_OK;
}

/* ---- opening ---- */

static enum mf_status open_file(struct mf_imatrix *imatrix, const char *path,
                                const struct mf_imatrix_choice *choice)
{
    struct mf_source source;

    mf_clear_error(imatrix->env);
    if (mf_source_open_file(imatrix->env, path, &source, NULL) != MF_OK ||
        mf_model_open_view(imatrix->env, path, &source, NULL,
                           &imatrix->model) != MF_OK)
        return imatrix->env->error.status;
    return mf_imatrix_list(imatrix, choice);
}

/* Marks an error as one in this file, not in the model. */
static enum mf_status mark_error(struct mf_env *env, enum mf_status status)
{
    if (status != MF_OK)
        env->error.file = MF_ERROR_IN_IMATRIX;
    return status;
}

static enum mf_status none_left(struct mf_env *env,
                                const struct mf_imatrix_choice *choice)
{
    return choice->exclude_count > 0
               ? mf_decline(env, MF_REASON_IMATRIX_ENTRIES, MF_NO_OFFSET,
                            "no entry of the importance matrix is left: all "
                            "are excluded")
               : mf_decline(env, MF_REASON_NOTHING_MATCHED, MF_NO_OFFSET,
                            "no entry of the importance matrix is left: no "
                            "name matches");
}

enum mf_status mf_imatrix_open(struct mf_env *env, const char *path,
                               const struct mf_imatrix_choice *choice,
                               struct mf_imatrix **out)
{
    struct mf_imatrix *imatrix;
    enum mf_status status;

    if (choice->include_count > 0 && choice->exclude_count > 0)
        return mf_decline(
            env, MF_REASON_IMATRIX_ENTRIES, MF_NO_OFFSET,
            "entries of an importance matrix are either included or "
            "excluded, not both");
    imatrix = mf_alloc(env, sizeof(*imatrix));
    if (!imatrix)
        return env->error.status;
    *imatrix = (struct mf_imatrix){ .env = env };
    mf_arena_init(&imatrix->arena, env);
    status = open_file(imatrix, path, choice);
    if (status == MF_OK && imatrix->count == 0)
        status = none_left(env, choice);
    if (status == MF_OK)
        status = build_names(imatrix);
    if (status == MF_OK)
        *out = imatrix;
    else
        mf_imatrix_close(imatrix);
    return mark_error(env, status);
}

void mf_imatrix_close(struct mf_imatrix *imatrix)
{
    if (!imatrix)
        return;
    mf_model_close(imatrix->model);
    mf_release(imatrix->env, imatrix->entry,
               imatrix->room * sizeof(*imatrix->entry));
    mf_arena_release(&imatrix->arena);
    mf_release(imatrix->env, imatrix, sizeof(*imatrix));
}

/* ---- values ---- */

const struct mf_imatrix_entry *mf_imatrix_find(const struct mf_imatrix *imatrix,
                                               struct mf_str name)
{
    size_t row = mf_names_find(&imatrix->names, name);

    return row == MF_NOT_FOUND ? NULL : &imatrix->entry[row];
}

static enum mf_status read_floats(const struct mf_imatrix *imatrix,
                                  uint64_t offset, float *out, size_t count)
{
    if (mf_source_read(imatrix->env, mf_imatrix_source(imatrix), offset, out,
                       count * sizeof(*out)) != MF_OK)
        return imatrix->env->error.status;
    mf_order_floats(out, count);
    return MF_OK;
}

enum mf_status mf_imatrix_sums(const struct mf_imatrix *imatrix,
                               const struct mf_imatrix_entry *entry,
                               uint64_t first, float *out, size_t count)
{
    assert(first <= entry->count && count <= entry->count - first);
    return read_floats(imatrix, entry->offset + first * sizeof(*out), out,
                       count);
}

enum mf_status mf_imatrix_counts(const struct mf_imatrix *imatrix,
                                 const struct mf_imatrix_entry *entry,
                                 uint64_t first, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)entry->calls;
    return entry->counts == 0
               ? MF_OK
               : read_floats(imatrix, entry->counts + first * sizeof(*out), out,
                             count);
}

/* Sums become means.  For a matrix that was never used, as a rare expert may
 * be, all columns have the same value; in an old file the values are means
 * then. */
static enum mf_status divide(const struct mf_imatrix *imatrix,
                             const struct mf_imatrix_entry *entry, float *out)
{
    uint64_t matrices = mf_imatrix_matrices(entry);
    float counts[64];
    uint64_t some = sizeof(counts) / sizeof(*counts);

    assert(matrices * entry->columns == entry->count); /* checked on opening */
    for (uint64_t matrix = 0; matrix < matrices; matrix++) {
        uint64_t left = matrices - matrix;
        float *row = out + matrix * entry->columns, used;

        if (matrix % some == 0 &&
            mf_imatrix_counts(imatrix, entry, matrix, counts,
                              (size_t)(left < some ? left : some)) != MF_OK)
            return imatrix->env->error.status;
        used = counts[matrix % some];
        for (uint64_t i = 0; i < entry->columns; i++)
            row[i] = used > 0 ? row[i] / used : imatrix->old ? row[i] : 1;
    }
    return MF_OK;
}

static enum mf_status read_entry(const struct mf_imatrix *imatrix,
                                 const struct mf_imatrix_entry *entry,
                                 struct mf_str name, float *out, size_t count)
{
    if (entry->count != count)
        return mf_decline(imatrix->env, MF_REASON_IMATRIX_MISMATCH,
                          entry->offset,
                          "the importance matrix has %" PRIu64
                          " numbers for tensor '%s', not %zu",
                          entry->count, mf_quote(name).text, count);
    if (mf_imatrix_sums(imatrix, entry, 0, out, count) != MF_OK ||
        divide(imatrix, entry, out) != MF_OK)
        return imatrix->env->error.status;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(out[i]))
            return mf_fail(imatrix->env, MF_ERR_CORRUPT,
                           entry->offset + i * sizeof(*out),
                           "importance value %zu of tensor '%s' is NaN or "
                           "infinite",
                           i, mf_quote(name).text);
    return MF_OK;
}

enum mf_status mf_imatrix_read(const struct mf_imatrix *imatrix,
                               struct mf_str name, float *out, size_t count,
                               bool *found)
{
    const struct mf_imatrix_entry *entry = mf_imatrix_find(imatrix, name);

    *found = entry != NULL;
    if (!entry)
        return MF_OK;
    return mark_error(imatrix->env,
                      read_entry(imatrix, entry, name, out, count));
}
