/* SPDX-License-Identifier: MIT
 *
 * imatrix_entries.c - the entries of an importance matrix, in its index
 *
 * In a GGUF file, which llama-imatrix writes since 2025, an entry is two
 * tensors:
 *
 *     NAME.in_sum2   f32 [columns, matrices]   sums for each column
 *     NAME.counts    f32 [1, matrices]         how often each matrix was used
 *
 * Experts are used less often than the other tensors and not equally often, so
 * each matrix has its own count; the format before it had one for the whole
 * tensor: there an entry is a tensor of its name, and imatrix.calls an array of
 * the counts.  Both say imatrix.datasets and imatrix.chunk_count.
 */
#include "lib/base/str.h"
#include "lib/quantize/imatrix.h"

static const char sums_tail[] = ".in_sum2", counts_tail[] = ".counts";
static const char calls_key[] = "imatrix.calls";

/* ---- GGUF ---- */

/* The tensor NAME.counts for NAME.in_sum2; NULL where it is missing. */
static const struct mf_record *counts_of(const struct mf_imatrix *imatrix,
                                         struct mf_str name)
{
    char full[MF_TEXT_KEPT];
    size_t tail = strlen(counts_tail), at;
    struct mf_tensor tensor;

    if (name.size > sizeof(full) - tail)
        return NULL;
    memcpy(full, name.at, name.size);
    memcpy(full + name.size, counts_tail, tail);
    return mf_tensor_find(imatrix->model, full, name.size + tail, &tensor, &at)
               ? &imatrix->model->index.tensor[at]
               : NULL;
}

static enum mf_status add_sums(struct mf_imatrix *imatrix,
                               const struct mf_record *sums,
                               const struct mf_imatrix_choice *choice)
{
    size_t tail = strlen(sums_tail);
    struct mf_imatrix_entry entry = { .name = { sums->name,
                                                sums->name_size - tail } };
    const struct mf_record *counts = counts_of(imatrix, entry.name);
    uint64_t matrices;

    if (!counts || counts->type != MF_TYPE_F32 || sums->type != MF_TYPE_F32)
        return mf_fail(imatrix->env, MF_ERR_CORRUPT, sums->entry,
                       "not an importance matrix: tensor '%s' must be f32 and "
                       "have a matching counts tensor",
                       mf_record_name(sums).text);
    entry.count = sums->size / sizeof(float);
    matrices = counts->size / sizeof(float);
    if (entry.count == 0 || matrices == 0 || entry.count % matrices != 0)
        return mf_fail(imatrix->env, MF_ERR_CORRUPT, sums->entry,
                       "not an importance matrix: tensor '%s' has %" PRIu64
                       " values, not a multiple of its %" PRIu64 " counts",
                       mf_record_name(sums).text, entry.count, matrices);
    entry.columns = entry.count / matrices;
    entry.offset = mf_record_data(imatrix->model, sums);
    entry.counts = mf_record_data(imatrix->model, counts);
    return mf_imatrix_add(imatrix, &entry, choice);
}

static enum mf_status list_sums(struct mf_imatrix *imatrix,
                                const struct mf_imatrix_choice *choice)
{
    const struct mf_index *index = &imatrix->model->index;
    size_t sums = 0, counts = 0;

    for (size_t i = 0; i < index->tensor_count; i++) {
        struct mf_str name = { index->tensor[i].name,
                               index->tensor[i].name_size };

        counts += mf_str_ends(name, counts_tail);
        if (!mf_str_ends(name, sums_tail))
            continue;
        sums++;
        if (add_sums(imatrix, &index->tensor[i], choice) != MF_OK)
            return imatrix->env->error.status;
    }
    if (sums == 0 || sums != counts)
        return mf_fail(imatrix->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "not an importance matrix: %zu tensors end with "
                       "\"%s\", and %zu with \"%s\"",
                       sums, sums_tail, counts, counts_tail);
    return MF_OK;
}

/* ---- old files ---- */

static enum mf_status no_calls(const struct mf_imatrix *imatrix)
{
    return mf_fail(
        imatrix->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
        "not an importance matrix: '%s' is not an array of an i32 for "
        "each entry",
        calls_key);
}

static enum mf_status next_calls(struct mf_imatrix *imatrix,
                                 struct mf_values *values, int32_t *out)
{
    struct mf_value value;
    enum mf_status status = mf_values_next(values, &value);

    if (status == MF_OK &&
        (value.event != MF_EVENT_ITEM || value.type != MF_VALUE_I32))
        status = no_calls(imatrix);
    if (status == MF_OK)
        *out = (int32_t)value.number.i64;
    return status;
}

static enum mf_status list_old(struct mf_imatrix *imatrix,
                               const struct mf_imatrix_choice *choice)
{
    const struct mf_index *index = &imatrix->model->index;
    struct mf_imatrix_entry entry = { 0 };
    struct mf_values *values;
    struct mf_value begin;
    struct mf_meta calls;
    enum mf_status status;
    size_t at;

    imatrix->old = true;
    if (!mf_meta_find(imatrix->model, calls_key, strlen(calls_key), &calls,
                      &at))
        return no_calls(imatrix);
    if (mf_values_open(imatrix->model, at, &values) != MF_OK)
        return imatrix->env->error.status;
    status = mf_values_next(values, &begin);
    for (size_t i = 0; i < index->tensor_count && status == MF_OK; i++) {
        const struct mf_record *record = &index->tensor[i];

        entry.name = (struct mf_str){ record->name, record->name_size };
        entry.count = entry.columns = record->size / sizeof(float);
        entry.offset = record->offset;
        status = next_calls(imatrix, values, &entry.calls);
        if (status == MF_OK)
            status = mf_imatrix_add(imatrix, &entry, choice);
    }
    mf_values_close(values);
    return status;
}

/* ---- both ---- */

/* The first of the texts that it was made from. */
static enum mf_status read_dataset(struct mf_imatrix *imatrix)
{
    static const char key[] = "imatrix.datasets";
    struct mf_values *values;
    struct mf_value value;
    struct mf_meta meta;
    enum mf_status status;
    char *text;
    size_t at;

    if (!mf_meta_find(imatrix->model, key, sizeof(key) - 1, &meta, &at))
        return MF_OK;
    if (mf_values_open(imatrix->model, at, &values) != MF_OK)
        return imatrix->env->error.status;
    do
        status = mf_values_next(values, &value);
    while (status == MF_OK && value.event == MF_EVENT_BEGIN);
    if (status == MF_OK && value.event == MF_EVENT_ITEM &&
        value.type == MF_VALUE_STRING && value.text.size > 0) {
        text = mf_arena_text(&imatrix->arena, value.text.size);
        if (text)
            memcpy(text, value.text.at, value.text.size);
        else
            status = imatrix->env->error.status;
        imatrix->dataset = (struct mf_str){ text, value.text.size };
    }
    mf_values_close(values);
    return status;
}

static enum mf_status check_file(const struct mf_imatrix *imatrix)
{
    const struct mf_model *model = imatrix->model;

    if (model->format->values != MF_VALUES_TYPED)
        return mf_fail(imatrix->env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "not an importance matrix: a %s file",
                       model->format->name);
    if (model->index.damage_count > 0)
        return mf_decline(imatrix->env, MF_REASON_INPUT_INVALID, MF_NO_OFFSET,
                          "the importance matrix has %zu error%s",
                          model->index.damage_count,
                          model->index.damage_count == 1 ? "" : "s");
    return MF_OK;
}

enum mf_status mf_imatrix_list(struct mf_imatrix *imatrix,
                               const struct mf_imatrix_choice *choice)
{
    const struct mf_index *index = &imatrix->model->index;
    enum mf_status status = check_file(imatrix);

    if (status == MF_OK)
        status = imatrix->model->format->accessory ? list_old(imatrix, choice)
                                                   : list_sums(imatrix, choice);
    if (status != MF_OK)
        return status;
    if (!mf_meta_unsigned(mf_index_meta(index, "imatrix.chunk_count"),
                          &imatrix->chunks) ||
        imatrix->chunks > INT32_MAX)
        imatrix->chunks = 0;
    return read_dataset(imatrix);
}
