/* SPDX-License-Identifier: MIT
 *
 * data.c - the member "data": what the numbers of each tensor are
 *
 * The document has columns, but tensors are measured one after the other: so
 * rows are kept, with their histograms packed, until all are known.
 */
#include <math.h>
#include <string.h>

#include "lib/base/heap.h"
#include "lib/compare/stats.h"
#include "lib/model/model.h"
#include "lib/report/report.h"

/* Of a tensor; all zero if it has no numbers. */
struct row {
    struct mf_tensor_histogram is; /* but for negative and positive: */
    const uint8_t *packed; /* these counters, of negative numbers first */
};

struct table {
    struct mf_model *model;
    struct mf_arena arena;
    struct row *row;
    size_t count;
    size_t *index; /* of the tensors that can be decoded */
    size_t fit;
    const size_t *now; /* the first one that is measured now */
    size_t passed;     /* and how many are done */
};

/* ---- packing ---- */

/* Seven bits of a number in each byte, the low ones first; the last byte is
 * below 128. */
static size_t packed_size(uint64_t number)
{
    size_t size = 1;

    while (number >>= 7)
        size++;
    return size;
}

static uint8_t *pack(uint8_t *at, uint64_t number)
{
    for (; number > 127; number >>= 7)
        *at++ = (uint8_t)(number | 128);
    *at = (uint8_t)number;
    return at + 1;
}

static const uint8_t *unpack(const uint8_t *at, uint64_t *number)
{
    unsigned shift = 0;

    for (*number = 0; *at > 127; shift += 7)
        *number |= (uint64_t)(*at++ & 127) << shift;
    *number |= (uint64_t)*at << shift;
    return at + 1;
}

/* NULL after mf_fail. */
static const uint8_t *pack_bins(struct table *table,
                                const struct mf_tensor_histogram *histogram)
{
    size_t size = 1;
    uint8_t *packed, *at;

    for (size_t i = 0; i < histogram->bins; i++)
        size += packed_size(histogram->negative[i]) +
                packed_size(histogram->positive[i]);
    packed = at = (void *)mf_arena_text(&table->arena, size);
    for (size_t i = 0; at && i < histogram->bins; i++)
        at = pack(at, histogram->negative[i]);
    for (size_t i = 0; at && i < histogram->bins; i++)
        at = pack(at, histogram->positive[i]);
    return packed;
}

/* ---- measuring ---- */

static void keep(void *user, size_t number,
                 const struct mf_tensor_histogram *histogram)
{
    struct table *table = user;
    struct row *row = &table->row[table->now[number]];

    table->passed = number + 1;
    if (histogram->rows == 0)
        return;
    row->is = *histogram;
    row->packed = pack_bins(table, histogram);
}

/* Whether the error is about the bytes of a tensor, such as a damaged member of
 * an archive, and not about all of them. */
static bool is_of_tensor(enum mf_status status)
{
    return status == MF_ERR_CORRUPT || status == MF_ERR_UNSUPPORTED;
}

/* All that fit, but for those that turn out to be damaged: which one it was is
 * found by halving. */
static enum mf_status measure(struct table *table)
{
    size_t some = table->fit;

    for (size_t at = 0; at < table->fit;) {
        enum mf_status status;

        table->now = table->index + at;
        table->passed = 0;
        status =
            mf_tensor_histograms(table->model, table->now, some, keep, table);
        if (status != MF_OK && !is_of_tensor(status))
            return status;
        at += table->passed;
        some -= table->passed;
        if (status != MF_OK && some == 1)
            at++;
        some = status != MF_OK && some > 1 ? some / 2 : table->fit - at;
    }
    return MF_OK;
}

/* The error of a tensor that was left out is not one of the report. */
static enum mf_status measure_fitting(struct table *table, bool *fits)
{
    struct mf_env *env = table->arena.env;
    enum mf_status status = mf_tensor_stats_fit(table->model, fits);

    for (size_t i = 0; i < table->count; i++)
        if (fits[i])
            table->index[table->fit++] = i;
    if (status == MF_OK)
        status = measure(table);
    if (status == MF_OK)
        mf_clear_error(env);
    return status;
}

static enum mf_status make_table(struct table *table)
{
    size_t count = table->count;
    bool *fits;

    table->row = mf_arena_take(&table->arena, (count + 1) * sizeof(struct row));
    table->index = mf_arena_take(&table->arena, (count + 1) * sizeof(size_t));
    fits = mf_arena_take(&table->arena, count + 1);
    if (!table->row || !table->index || !fits)
        return table->arena.env->error.status;
    memset(table->row, 0, count * sizeof(struct row));
    memset(fits, 0, count);
    return measure_fitting(table, fits);
}

/* ---- writing ---- */

static void put_double(struct mf_json_out *json, double number)
{
    if (isfinite(number))
        mf_json_f64(json, number);
    else
        mf_json_null(json);
}

static void put_extreme(struct mf_json_out *json, enum mf_value_type kind,
                        union mf_number number)
{
    if (kind == MF_VALUE_U64)
        mf_report_number(json, number.u64);
    else if (kind == MF_VALUE_F64 || kind == MF_VALUE_F32)
        mf_json_f64(json, number.f64);
    else
        mf_report_signed(json, number.i64);
}

enum kind { COUNT, LEAST, GREATEST, DOUBLE, HISTOGRAM };

struct column {
    const char *key;
    enum kind kind;
    size_t at; /* in struct mf_tensor_histogram, of a count or a double */
};

#define IN_STATS(member) offsetof(struct mf_tensor_histogram, stats.member)
#define IN_ROW(member)   offsetof(struct mf_tensor_histogram, member)

static const struct column columns[] = {
    { "count", COUNT, IN_STATS(count) },
    { "min", LEAST, 0 },
    { "max", GREATEST, 0 },
    { "mean", DOUBLE, IN_STATS(mean) },
    { "std", DOUBLE, IN_STATS(std) },
    { "l2", DOUBLE, IN_STATS(l2) },
    { "zeros", COUNT, IN_STATS(zeros) },
    { "nans", COUNT, IN_STATS(nans) },
    { "infinities", COUNT, IN_STATS(infinities) },
    { "rows", COUNT, IN_ROW(rows) },
    { "zero_rows", COUNT, IN_ROW(zero_rows) },
    { "constant_rows", COUNT, IN_ROW(constant_rows) },
    { "histogram", HISTOGRAM, 0 },
};

static void put_bins(struct mf_json_out *json, const struct row *row)
{
    const uint8_t *at = row->packed;
    uint64_t number;

    mf_json_key(json, "bins");
    mf_json_begin(json, '[');
    mf_json_i64(json, row->is.first);
    for (int sign = 0; sign < 2; sign++) {
        mf_json_begin(json, '[');
        for (size_t i = 0; i < row->is.bins; i++) {
            at = unpack(at, &number);
            mf_report_number(json, number);
        }
        mf_json_end(json, ']');
    }
    mf_json_end(json, ']');
}

static void put_histogram(struct mf_json_out *json, const struct row *row)
{
    mf_json_begin(json, '{');
    put_bins(json, row);
    mf_json_key(json, "outliers");
    mf_report_number(json, row->is.outliers);
    mf_json_key(json, "beyond");
    put_double(json, row->is.beyond);
    mf_json_end(json, '}');
}

static void put_cell(struct mf_json_out *json, const struct column *column,
                     const struct row *row)
{
    const struct mf_tensor_stats *stats = &row->is.stats;
    const char *member = (const char *)&row->is + column->at;

    if (!row->packed || (column->kind != COUNT && column->kind != HISTOGRAM &&
                         stats->count == 0))
        mf_json_null(json);
    else if (column->kind == COUNT)
        mf_report_number(json, *(const uint64_t *)(const void *)member);
    else if (column->kind == DOUBLE)
        put_double(json, *(const double *)(const void *)member);
    else if (column->kind == HISTOGRAM)
        put_histogram(json, row);
    else
        put_extreme(json, stats->kind,
                    column->kind == LEAST ? stats->least : stats->greatest);
}

static void put_table(struct mf_json_out *json, const struct table *table)
{
    mf_json_key(json, "data");
    mf_json_begin(json, '{');
    for (size_t k = 0; k < sizeof(columns) / sizeof(*columns); k++) {
        mf_json_key(json, columns[k].key);
        mf_json_begin(json, '[');
        for (size_t i = 0; i < table->count; i++)
            put_cell(json, &columns[k], &table->row[i]);
        mf_json_end(json, ']');
    }
    mf_json_end(json, '}');
}

enum mf_status mf_report_data(struct mf_model *model,
                              const struct mf_report_options *options,
                              struct mf_json_out *json)
{
    const struct mf_model_info *info = mf_model_info(model);
    struct table table = { .model = model, .count = info->tensor_count };
    struct mf_table_info of_columns;
    enum mf_status status;

    if (!options->data || !info->has_tensors ||
        mf_model_table(model, &of_columns))
        return MF_OK;
    mf_arena_init(&table.arena, model->env);
    status = make_table(&table);
    if (status == MF_OK)
        put_table(json, &table);
    mf_arena_release(&table.arena);
    return status;
}
