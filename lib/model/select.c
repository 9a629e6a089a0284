/* SPDX-License-Identifier: MIT
 *
 * select.c - some tensors of a model, under shorter names
 *
 * Tensors are taken out of the index itself, before anything is planned: so it
 * is the same for every format, and what a format cannot carry is never asked
 * for.  Rows move up; the tables that count rows or refer to them are made
 * again.  What the file has and is not read is chosen by name likewise.
 */
#include <assert.h>
#include <string.h>

#include "lib/io/system.h"
#include "lib/model/model.h"
#include "lib/program.h"

#define GONE UINT32_MAX

struct selecting {
    struct mf_model *model;
    struct mf_index *index;
    const struct mf_selection *selection;
    struct mf_arena arena; /* of what follows */
    uint32_t *row;         /* of each tensor afterwards, or GONE */
    uint16_t *cut;         /* bytes that the name of each row has lost */
    bool *used;            /* of only, skip, strip in this order: it fits */
};

/* ---- which ---- */

/* Whether one of them matches; marks all that do. */
static bool matches(const char *const *pattern, size_t count, bool *used,
                    const char *name)
{
    bool found = false;

    for (size_t i = 0; i < count; i++)
        if (fnmatch(pattern[i], name, 0) == 0)
            found = used[i] = true;
    return found;
}

static bool is_wanted(struct selecting *work, const char *name)
{
    const struct mf_selection *selection = work->selection;
    bool only =
        matches(selection->only, selection->only_count, work->used, name);
    bool skip = matches(selection->skip, selection->skip_count,
                        work->used + selection->only_count, name);

    return (only || selection->only_count == 0) && !skip;
}

static enum mf_status unused(const struct selecting *work, const char *what,
                             const char *text)
{
    return mf_decline(work->model->env, MF_REASON_NOTHING_MATCHED, MF_NO_OFFSET,
                      "no %s '%s'", what,
                      mf_quote((struct mf_str){ text, strlen(text) }).text);
}

static enum mf_status check_used(const struct selecting *work)
{
    const struct mf_selection *selection = work->selection;
    const bool *used = work->used;

    for (size_t i = 0; i < selection->only_count; i++)
        if (!*used++)
            return unused(work, "tensor matches", selection->only[i]);
    for (size_t i = 0; i < selection->skip_count; i++)
        if (!*used++)
            return unused(work, "tensor matches", selection->skip[i]);
    for (size_t i = 0; i < selection->strip_count; i++)
        if (!*used++)
            return unused(work, "tensor's name begins with",
                          selection->strip[i]);
    return MF_OK;
}

/* ---- taking them out ---- */

static void choose_rows(struct selecting *work, struct mf_selected *out)
{
    uint32_t next = 0;

    for (size_t i = 0; i < work->index->tensor_count; i++)
        work->row[i] =
            is_wanted(work, work->index->tensor[i].name) ? next++ : GONE;
    out->skipped = work->index->tensor_count - next;
}

/* A name that a pattern cannot see all of stays. */
static bool is_missed(struct selecting *work, size_t row)
{
    const struct mf_missing_table *missing = &work->index->missing;
    const struct mf_missed *missed = &missing->row[row];

    return is_wanted(work, missed->name.at) || row + 1 == missing->rest ||
           strlen(missed->name.at) != missed->name.size;
}

/* Unwanted rows go after the others. */
static enum mf_status choose_missing(struct selecting *work,
                                     struct mf_selected *out)
{
    struct mf_missing_table *missing = &work->index->missing;
    struct mf_missed *gone =
        mf_arena_take(&work->arena, (missing->count + 1) * sizeof(*gone));
    size_t count = missing->count, kept = 0;

    if (!gone)
        return work->model->env->error.status;
    for (size_t i = 0; i < count; i++)
        if (is_missed(work, i))
            missing->row[kept++] = missing->row[i];
        else
            gone[out->unread++] = missing->row[i];
    if (out->unread > 0)
        memcpy(missing->row + kept, gone, out->unread * sizeof(*gone));
    missing->count = kept;
    missing->skipped = out->unread;
    out->skipped += out->unread;
    return MF_OK;
}

/* Of a tensor that goes, its errors go, too. */
static void forget_damage(struct mf_index *index, const char *name)
{
    for (struct mf_damage **at = &index->damage; *at;)
        if ((*at)->name == name) {
            index->damaged_by[(*at)->rule]--;
            index->damage_count--;
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
        }
}

static void move_rows(struct selecting *work)
{
    struct mf_index *index = work->index;
    size_t count = index->tensor_count, kept = 0;

    for (size_t i = 0; index->by_offset && i < count; i++)
        if (work->row[index->by_offset[i]] != GONE)
            index->by_offset[kept++] = work->row[index->by_offset[i]];
    for (size_t s = 0, first = 0; s < work->model->file_count; s++) {
        struct mf_part *part = &work->model->part[s];
        size_t end = part->first + part->count;

        part->count = 0;
        for (size_t i = part->first; i < end; i++)
            part->count += work->row[i] != GONE;
        part->first = first;
        first += part->count;
    }
    kept = 0;
    for (size_t i = 0; i < count; i++)
        if (work->row[i] == GONE)
            forget_damage(index, index->tensor[i].name);
        else
            index->tensor[kept++] = index->tensor[i];
    index->tensor_count = kept;
}

/* ---- names ---- */

static enum mf_status strip_name(struct selecting *work, size_t row,
                                 struct mf_selected *out)
{
    const struct mf_selection *selection = work->selection;
    struct mf_record *record = &work->index->tensor[row];
    bool *used = work->used + selection->only_count + selection->skip_count;

    for (size_t i = 0; i < selection->strip_count; i++) {
        size_t size = strlen(selection->strip[i]);

        if (record->name_size < size ||
            memcmp(record->name, selection->strip[i], size) != 0)
            continue;
        if (record->name_size == size)
            return mf_fail(work->model->env, MF_ERR_ARGUMENT, record->entry,
                           "of the name of tensor '%s' nothing would be left",
                           mf_record_name(record).text);
        used[i] = true;
        record->name += size;
        record->name_size = (uint16_t)(record->name_size - size);
        work->cut[row] = (uint16_t)size;
        out->renamed++;
        break;
    }
    return MF_OK;
}

/* As it was before. */
static struct mf_quoted old_name(const struct selecting *work, size_t row)
{
    const struct mf_record *record = &work->index->tensor[row];
    size_t cut = work->cut[row];

    return mf_quote(
        (struct mf_str){ record->name - cut, record->name_size + cut });
}

/* Two that had one name before are an error of the file. */
static enum mf_status name_tensors(struct selecting *work)
{
    size_t first, second;

    if (mf_index_rename(work->index, &first, &second) != MF_OK)
        return work->model->env->error.status;
    if (first == MF_NOT_FOUND)
        return MF_OK;
    return mf_fail(work->model->env, MF_ERR_ARGUMENT,
                   work->index->tensor[second].entry,
                   "tensors '%s' and '%s' would have the same name, '%s'",
                   old_name(work, first).text, old_name(work, second).text,
                   mf_record_name(&work->index->tensor[second]).text);
}

/* ---- all of it ---- */

static enum mf_status take_memory(struct selecting *work)
{
    const struct mf_selection *selection = work->selection;
    size_t count = work->index->tensor_count;
    size_t patterns =
        selection->only_count + selection->skip_count + selection->strip_count;

    work->row = mf_arena_take(&work->arena, (count + 1) * sizeof(*work->row));
    work->cut = mf_arena_take(&work->arena, (count + 1) * sizeof(*work->cut));
    work->used = mf_arena_take(&work->arena, patterns + 1);
    if (!work->row || !work->cut || !work->used)
        return work->model->env->error.status;
    memset(work->cut, 0, (count + 1) * sizeof(*work->cut));
    memset(work->used, 0, patterns + 1);
    return MF_OK;
}

static enum mf_status select_tensors(struct selecting *work,
                                     struct mf_selected *out)
{
    enum mf_status status = take_memory(work);

    if (status != MF_OK)
        return status;
    choose_rows(work, out);
    move_rows(work);
    status = choose_missing(work, out);
    for (size_t i = 0; i < work->index->tensor_count && status == MF_OK; i++)
        status = strip_name(work, i, out);
    if (status == MF_OK)
        status = check_used(work);
    if (status == MF_OK && work->index->tensor_count == 0)
        status = mf_missing_refuse(work->model);
    if (status == MF_OK && work->index->tensor_count == 0)
        status = mf_decline(work->model->env, MF_REASON_NOTHING_MATCHED,
                            MF_NO_OFFSET, "no tensor is left");
    return status == MF_OK ? name_tensors(work) : status;
}

enum mf_status mf_model_select(struct mf_model *model,
                               const struct mf_selection *selection,
                               struct mf_selected *out)
{
    struct selecting work = { .model = model,
                              .index = &model->index,
                              .selection = selection };
    enum mf_status status;

    assert(!model->validated && !model->selected);
    *out = (struct mf_selected){ 0 };
    mf_clear_error(model->env);
    mf_arena_init(&work.arena, model->env);
    status = select_tensors(&work, out);
    mf_arena_release(&work.arena);
    model->selected = true;
    if (status == MF_OK)
        mf_model_count(model);
    return status;
}
