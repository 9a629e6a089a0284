/* SPDX-License-Identifier: MIT
 *
 * recorded_table.c - the tables of a record, line by line
 *
 * How many samples there are is not known before the end.  So buckets begin
 * with one sample each; when all are full, two become one, and all that follow
 * have twice as many.  The largest numbers stay whatever becomes of a bucket.
 */
#include <math.h>

#include "lib/base/decimal.h"
#include "lib/base/str.h"
#include "lib/report/recorded.h"

#define LINE_MAX_SIZE ((size_t)1024)
#define NUMBER_MAX    ((size_t)40) /* as in JSON */

const char *const mf_memory_columns[] = {
    "timestamp_us",     "peak_rss_bytes",    "kv_cache_bytes",
    "activation_bytes", "temp_buffer_bytes", NULL
};
const char *const mf_latency_columns[] = { "sample_id", "wall_time_us",
                                           "kernel_time_us", "seq_len", NULL };
const char *const mf_results_columns[] = { "setting",
                                           "coherence_delta",
                                           "kv_cache_reduction",
                                           "peak_mem_reduction",
                                           "energy_reduction",
                                           "p95_latency_us",
                                           "accuracy",
                                           NULL };

/* ---- lines ---- */

struct lines {
    struct mf_env *env;
    struct mf_reader reader;
    const char *const *columns;
    uint64_t offset, number; /* of the line, from 1 on */
    bool cut;                /* the file ends within it */
    size_t size;
    size_t at; /* the next field begins there */
    char text[LINE_MAX_SIZE];
};

static enum mf_status fail_line(const struct lines *lines, const char *what,
                                struct mf_str text, const char *bound)
{
    return mf_fail(lines->env, MF_ERR_CORRUPT, lines->offset,
                   "line %" PRIu64 ": %s is '%s', not %s", lines->number, what,
                   mf_quote(text).text, bound);
}

/* *more false: there is none, or the file ends within it. */
static enum mf_status next_line(struct lines *lines, bool *more)
{
    struct mf_reader *reader = &lines->reader;
    int byte = mf_peek(reader);

    lines->offset = mf_reader_offset(reader);
    lines->number++;
    lines->at = lines->size = 0;
    lines->cut = byte >= 0;
    for (; byte >= 0 && byte != '\n'; byte = mf_peek(reader)) {
        if (lines->size == sizeof(lines->text))
            return mf_fail(lines->env, MF_ERR_CORRUPT, lines->offset,
                           "line %" PRIu64
                           " has more than %zu bytes, which no record has",
                           lines->number, sizeof(lines->text));
        lines->text[lines->size++] = (char)mf_take_u8(reader);
    }
    *more = byte == '\n';
    if (*more) {
        mf_skip(reader, 1);
        lines->cut = false;
    }
    return mf_reader_check(reader, "a table");
}

/* The text of a field up to the next comma; a column that the line does not
 * have is empty. */
static struct mf_str take_field(struct lines *lines)
{
    struct mf_str field = { lines->text + lines->at, 0 };

    while (lines->at + field.size < lines->size && field.at[field.size] != ',')
        field.size++;
    lines->at += field.size;
    if (lines->at < lines->size)
        lines->at++;
    return field;
}

/* As many fields as there are columns: counted by their commas. */
static enum mf_status check_width(const struct lines *lines)
{
    size_t fields = 1, columns = 0;

    for (size_t i = 0; i < lines->size; i++)
        fields += lines->text[i] == ',';
    while (lines->columns[columns])
        columns++;
    return fields == columns
               ? MF_OK
               : mf_fail(lines->env, MF_ERR_CORRUPT, lines->offset,
                         "line %" PRIu64 " has %zu fields, not %zu",
                         lines->number, fields, columns);
}

static enum mf_status check_head(struct lines *lines)
{
    bool more;

    if (next_line(lines, &more) != MF_OK)
        return lines->env->error.status;
    if (!more)
        return MF_OK;
    if (check_width(lines) != MF_OK)
        return lines->env->error.status;
    for (size_t i = 0; lines->columns[i]; i++) {
        struct mf_str name = take_field(lines);

        if (!mf_str_is(name, lines->columns[i]))
            return fail_line(lines, "a column", name, lines->columns[i]);
    }
    return MF_OK;
}

/* take: one line, whose number of fields is right. */
static enum mf_status
read_lines(struct mf_recorded *recorded, const struct mf_source *source,
           const char *const *columns,
           enum mf_status (*take)(struct lines *lines, void *user), void *user,
           bool *cut)
{
    struct mf_env *env = recorded->env;
    struct lines *lines = mf_arena_take(&recorded->arena, sizeof(*lines));
    bool more = true;
    enum mf_status status;

    if (!lines)
        return env->error.status;
    *lines = (struct lines){ .env = env, .columns = columns };
    status = mf_reader_init(&lines->reader, env, source, NULL, 0);
    if (status == MF_OK)
        status = check_head(lines);
    while (status == MF_OK && !lines->cut) {
        status = next_line(lines, &more);
        if (status != MF_OK || !more)
            break;
        status = check_width(lines);
        if (status == MF_OK)
            status = take(lines, user);
    }
    *cut = lines->cut;
    mf_reader_release(&lines->reader);
    return status;
}

/* ---- numbers ---- */

/* Below 2^63: differences of two have a sign. */
static enum mf_status take_integer(struct lines *lines, const char *column,
                                   uint64_t *out)
{
    struct mf_str text = take_field(lines);
    uint64_t value = 0;
    bool fits = text.size > 0;

    for (size_t i = 0; i < text.size && fits; i++) {
        unsigned digit = (unsigned char)text.at[i] - (unsigned)'0';

        fits = digit <= 9 && value <= ((uint64_t)INT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    *out = value;
    return fits ? MF_OK
                : fail_line(lines, column, text,
                            "an integer from 0 to 9223372036854775807");
}

/* NaN is a value that is missing. */
static enum mf_status take_real(struct lines *lines, const char *column,
                                double *out)
{
    struct mf_str text = take_field(lines);
    char digits[NUMBER_MAX + 1];
    size_t size = text.size < NUMBER_MAX ? text.size : NUMBER_MAX;

    *out = NAN;
    if (mf_str_is(text, "NaN"))
        return MF_OK;
    memcpy(digits, text.at, size);
    digits[size] = 0;
    if (size == text.size && strlen(digits) == size &&
        !mf_json_number_error(digits))
        *out = mf_decimal_read(digits);
    return isfinite(*out) ? MF_OK
                          : fail_line(lines, column, text,
                                      "NaN or a number that a double has");
}

/* ---- samples ---- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void halve(struct mf_series *series)
{
    for (size_t column = 0; column < series->columns; column++) {
        uint64_t *value = series->value[column];

        for (size_t i = 0; i < MF_POINTS / 2; i++)
            value[i] = column == 0 ? value[2 * i]
                                   : larger(value[2 * i], value[2 * i + 1]);
    }
    series->points /= 2;
    series->every *= 2;
}

static enum mf_status take_sample(struct lines *lines, void *user)
{
    struct mf_series *series = user;
    bool opens = series->samples % series->every == 0;

    if (opens && series->points == MF_POINTS) {
        halve(series);
        opens = series->samples % series->every == 0;
    }
    series->points += opens;
    for (size_t i = 0; i < series->columns; i++) {
        uint64_t *last = &series->value[i][series->points - 1], value;

        if (take_integer(lines, lines->columns[i], &value) != MF_OK)
            return lines->env->error.status;
        if (opens || (i > 0 && value > *last))
            *last = value;
    }
    series->samples++;
    return MF_OK;
}

enum mf_status mf_series_read(struct mf_recorded *recorded,
                              const struct mf_source *source,
                              const char *const *columns, struct mf_series *out,
                              bool *cut)
{
    *out = (struct mf_series){ .every = 1 };
    for (; columns[out->columns]; out->columns++) {
        uint64_t *value =
            mf_arena_take(&recorded->arena, MF_POINTS * sizeof(*value));

        if (!value)
            return recorded->env->error.status;
        out->value[out->columns] = value;
    }
    return read_lines(recorded, source, columns, take_sample, out, cut);
}

/* ---- results ---- */

struct results {
    struct mf_recorded *recorded;
    struct mf_results *out;
};

/* Further settings are only checked. */
static enum mf_status take_result(struct lines *lines, void *user)
{
    struct results *results = user;
    struct mf_results *out = results->out;
    struct mf_str setting = take_field(lines);
    bool keep = out->kept < MF_RESULTS;
    double value;
    char *text;

    if (setting.size > 0 && setting.at[0] == '"')
        return fail_line(lines, lines->columns[0], setting,
                         "a name without quotes");
    for (size_t i = 1; lines->columns[i]; i++) {
        if (take_real(lines, lines->columns[i], &value) != MF_OK)
            return lines->env->error.status;
        if (keep)
            out->value[out->kept][i - 1] = value;
    }
    out->count++;
    if (!keep)
        return MF_OK;
    text = mf_arena_text(&results->recorded->arena, setting.size);
    if (!text)
        return lines->env->error.status;
    memcpy(text, setting.at, setting.size);
    out->setting[out->kept++] = (struct mf_str){ text, setting.size };
    return MF_OK;
}

enum mf_status mf_results_read(struct mf_recorded *recorded,
                               const struct mf_source *source,
                               struct mf_results *out, bool *cut)
{
    struct results results = { recorded, out };

    return read_lines(recorded, source, mf_results_columns, take_result,
                      &results, cut);
}
