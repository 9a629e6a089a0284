/* SPDX-License-Identifier: MIT
 *
 * data_once.c - tensor data that can be read only once: from a pipe
 *
 * How long a pipe is shows at its end, after all data has passed; but opening a
 * model takes the length, to find tensors that a file has lost and what follows
 * the last one.  So there are two models of one header.  The first believes the
 * header, and its data is scanned as it comes, until it ends; the second is
 * opened with the true length, and takes from the first what was found in
 * tensors that are whole.
 *
 * Rows are compared by digests, since a tensor cannot be read again.
 */
#include <string.h>

#include "lib/check/check.h"
#include "lib/check/data_parts.h"
#include "lib/io/digest.h"
#include "lib/program.h"

/* ---- rows ---- */

/* After a whole row.  Only digests of libcrypto can fail to finish. */
static void end_row(struct data_rows *rows)
{
    uint8_t digest[MF_DIGEST_MAX] = { 0 };

    mf_digest_finish(rows->digest, digest);
    mf_digest_restart(rows->digest);
    rows->at = 0;
    if (!rows->has_first)
        memcpy(rows->first, digest, sizeof(digest));
    rows->differs = memcmp(rows->first, digest, sizeof(digest)) != 0;
    rows->has_first = true;
}

static bool rows_differ(struct data_rows *rows, const struct data_piece *piece,
                        const uint8_t *bytes, size_t size)
{
    if (piece->done == 0) {
        mf_digest_restart(rows->digest);
        rows->has_first = false;
        rows->at = 0;
        rows->differs = false;
    }
    /* Shows in nearly all tensors, and takes less time. */
    rows->differs =
        rows->differs || mf_data_row_differs(bytes, size, piece->row);
    while (size > 0 && !rows->differs) {
        uint64_t left = piece->row - rows->at;
        size_t some = left < size ? (size_t)left : size;

        mf_digest_add(rows->digest, bytes, some);
        rows->at += some;
        bytes += some;
        size -= some;
        if (rows->at == piece->row)
            end_row(rows);
    }
    return rows->differs;
}

/* ---- the model whose data is read ---- */

enum mf_status mf_model_scan_once(struct mf_model *model)
{
    MF_NEED(NULL, model);

    struct mf_env *env = model->env;
    struct data_rows rows = { .differ = rows_differ };
    struct data_scanner scanner = { .model = model,
                                    .index = &model->index,
                                    .isa = mf_isa_choose(env),
                                    .rows = &rows };

    mf_clear_error(env);
    if (!scanner.isa)
        return env->error.status;
    rows.digest = mf_digest_new(env, MF_XXH3_128);
    if (!rows.digest)
        return env->error.status;
    model->scan_from = model->index.finding_count;
    mf_data_scan(&scanner);
    mf_digest_free(rows.digest);
    return env->error.status == MF_OK ? model->index.status : env->error.status;
}

void mf_model_take_scan(struct mf_model *model, struct mf_model *scan)
{
    model->scan = scan;
}

/* ---- the model that takes what was found ---- */

/* The number of the tensor that a finding of the scan is about; the count of
 * tensors: of none. */
static size_t tensor_of(const struct mf_index *index,
                        const struct mf_finding *finding)
{
    size_t i = mf_names_find(&index->tensor_names, finding->tensor);

    return finding->tensor.at && i != MF_NOT_FOUND ? i : index->tensor_count;
}

static void take_finding(struct mf_model *model,
                         const struct mf_finding *finding, enum mf_rule rule,
                         size_t padded)
{
    struct mf_index *index = &model->index;
    size_t i = tensor_of(&model->scan->index, finding);
    const struct mf_record *record = &index->tensor[i];

    if (i == index->tensor_count)
        mf_index_note(index, finding->shard, finding->severity, rule,
                      finding->offset, "%s", finding->message);
    else if (!(record->flags & MF_TENSOR_DAMAGED) &&
             (rule != MF_RULE_DATA_PADDING || padded == 0 ||
              record != mf_record_by_offset(index, padded - 1)))
        mf_index_note_of(index, record, finding->severity, rule,
                         finding->offset, "%s", finding->message);
}

static enum mf_rule rule_of(const struct mf_finding *finding)
{
    size_t i = 0;

    while (i + 1 < MF_RULE_COUNT && mf_rules[i].id != finding->rule)
        i++;
    return (enum mf_rule)i;
}

/* The finding about the checksum at the end; or all others, except about the
 * padding that is scanned again. */
static void take_findings(struct mf_model *model, bool footer, size_t padded)
{
    const struct mf_model *scan = model->scan;
    const struct mf_part *part = &model->part[0];

    for (size_t i = scan->scan_from; i < scan->index.finding_count; i++) {
        const struct mf_finding *finding = &scan->index.finding[i];
        enum mf_rule rule = rule_of(finding);
        bool is_footer = scan->part[0].has_footer && !finding->tensor.at &&
                         rule == scan->part[0].footer_rule;

        if (is_footer == footer && (!footer || part->has_footer))
            take_finding(model, finding, rule, padded);
    }
}

/* The scan took tensors for damaged that are whole, since it did not know where
 * the file ends, or a checksum is elsewhere than it was expected. */
static bool scan_fits(const struct mf_model *model)
{
    const struct mf_model *scan = model->scan;

    for (size_t i = 0; i < model->index.tensor_count; i++)
        if (scan->index.tensor[i].flags & ~model->index.tensor[i].flags &
            MF_TENSOR_DAMAGED)
            return false;
    return !model->part[0].has_footer ||
           (scan->part[0].has_footer &&
            scan->file[0].source.size == model->file[0].source.size);
}

enum mf_status mf_data_take(struct mf_model *model)
{
    struct data_scanner scanner = { .model = model,
                                    .index = &model->index,
                                    .isa = mf_isa_choose(model->env) };
    size_t padded = mf_data_last_padded(model);

    if (!scanner.isa)
        return model->env->error.status;
    if (model->scan->index.tensor_count != model->index.tensor_count ||
        !scan_fits(model))
        return mf_decline(
            model->env, MF_REASON_READ_ONCE, MF_NO_OFFSET,
            "which tensors are whole depends on the length of the "
            "file, and its data has passed");
    take_findings(model, false, padded);
    if (padded > 0 && mf_data_scan_padding(&scanner, padded - 1) != MF_OK)
        return model->env->error.status;
    take_findings(model, true, padded);
    model->data_validated = true;
    return model->index.status;
}
