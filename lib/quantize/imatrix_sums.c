/* SPDX-License-Identifier: MIT
 *
 * imatrix_sums.c - the values of a merged entry, piece by piece
 *
 * An old file has means, times how many chunks of text they are of; both become
 * sums over tokens when they are multiplied with the size of a chunk.
 *
 * The operations and their order are llama-imatrix's: sums are added as f32,
 * counts as whole numbers.
 */
#include <assert.h>
#include <math.h>

#include "lib/quantize/imatrix_merge.h"

/* Above it, a float does not count one by one any more, and nor could the tool
 * that made the file. */
#define COUNT_MAX 0x1p53F

static enum mf_status add_part(struct mf_sums *sums,
                               const struct mf_sum_part *part, uint64_t first,
                               float *out, size_t count)
{
    const struct mf_imatrix *imatrix = sums->input[part->input];
    float factor = imatrix->old ? (float)sums->chunk_size : 1;

    sums->at = part->input;
    if (mf_imatrix_sums(imatrix, part->entry, first, sums->more, count) !=
        MF_OK)
        return sums->env->error.status;
    for (size_t i = 0; i < count; i++)
        out[i] += sums->more[i] * factor;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(out[i]))
            return mf_fail(sums->env, MF_ERR_CORRUPT,
                           part->entry->offset + (first + i) * sizeof(*out),
                           "the sum of importance values %" PRIu64
                           " of tensor '%s' is NaN or infinite",
                           first + i, mf_quote(part->entry->name).text);
    return MF_OK;
}

enum mf_status mf_sums_values(struct mf_sums *sums, const struct mf_sum *sum,
                              uint64_t first, float *out, size_t count)
{
    assert(count <= MF_SUM_PIECE);
    for (size_t i = 0; i < count; i++)
        out[i] = 0;
    for (size_t i = 0; i < sum->count; i++)
        if (add_part(sums, &sums->part[sum->first + i], first, out, count) !=
            MF_OK)
            return sums->env->error.status;
    return MF_OK;
}

static enum mf_status bad_count(struct mf_sums *sums,
                                const struct mf_imatrix_entry *entry,
                                uint64_t number)
{
    return mf_fail(sums->env, MF_ERR_CORRUPT, entry->offset,
                   "count %" PRIu64 " of tensor '%s' is not a number of uses",
                   number, mf_quote(entry->name).text);
}

/* A file that has one count has it for all matrices. */
static enum mf_status add_counts(struct mf_sums *sums,
                                 const struct mf_sum_part *part, uint64_t first,
                                 int64_t *out, size_t count)
{
    const struct mf_imatrix *imatrix = sums->input[part->input];
    const struct mf_imatrix_entry *entry = part->entry;
    bool one = mf_imatrix_matrices(entry) == 1;

    sums->at = part->input;
    if (imatrix->old && entry->calls < 0)
        return bad_count(sums, entry, 0);
    if (!imatrix->old &&
        mf_imatrix_counts(imatrix, entry, one ? 0 : first, sums->more,
                          one ? 1 : count) != MF_OK)
        return sums->env->error.status;
    for (size_t i = 0; i < count; i++) {
        float uses = imatrix->old ? 0 : sums->more[one ? 0 : i];

        if (!(uses >= 0 && uses < COUNT_MAX))
            return bad_count(sums, entry, first + i);
        out[i] += imatrix->old ? (int64_t)entry->calls * sums->chunk_size
                               : (int64_t)roundf(uses);
    }
    return MF_OK;
}

enum mf_status mf_sums_counts(struct mf_sums *sums, const struct mf_sum *sum,
                              uint64_t first, int64_t *out, size_t count)
{
    assert(count <= MF_SUM_PIECE);
    for (size_t i = 0; i < count; i++)
        out[i] = 0;
    for (size_t i = 0; i < sum->count; i++)
        if (add_counts(sums, &sums->part[sum->first + i], first, out, count) !=
            MF_OK)
            return sums->env->error.status;
    return MF_OK;
}
