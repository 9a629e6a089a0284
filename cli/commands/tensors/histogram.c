/* SPDX-License-Identifier: MIT
 *
 * histogram.c - tensors stats --histogram: numbers by sign and exponent
 *
 * A histogram lives only while its tensor is passed on, so what is printed of
 * it is kept as text until the numbers of all tensors are known.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/buffer.h"
#include "cli/chart.h"
#include "cli/commands/tensors/tensors.h"
#include "cli/json.h"

/* What a line has next to its bars: an indent, three powers of two, spaces and
 * brackets. */
#define BESIDE    32
#define SIDE_MIN  4
#define SIDE_MOST 32

static void put(struct histograms *to, const char *at, size_t size)
{
    if (!to->failed && !buffer_add(to->run, &to->text, at, size))
        to->failed = true;
}

static void put_text(struct histograms *to, const char *text)
{
    put(to, text, strlen(text));
}

static void put_number(struct histograms *to, uint64_t number)
{
    char digits[24];

    put(to, digits, put_decimal(digits, number));
}

static void put_integer(struct histograms *to, int number)
{
    char text[16];

    put(to, text, (size_t)snprintf(text, sizeof(text), "%d", number));
}

/* ---- text ---- */

struct sides {
    size_t columns; /* of each */
    size_t each;    /* powers of two in a column */
};

static struct sides sides_of(const struct run *run, size_t bins)
{
    size_t columns = out_columns(&run->out), most = SIDE_MIN;

    if (columns > BESIDE + 2 * SIDE_MIN)
        most = (columns - BESIDE) / 2;
    most = most < SIDE_MOST ? most : SIDE_MOST;
    return (struct sides){
        .each = (bins + most - 1) / most,
        .columns = bins > 0 ? (bins - 1) / ((bins + most - 1) / most) + 1 : 0
    };
}

/* Of both signs: the largest column is the highest. */
static uint64_t column_of(const uint64_t *bins, size_t count,
                          struct sides sides, size_t column)
{
    uint64_t sum = 0;

    for (size_t i = column * sides.each;
         i < (column + 1) * sides.each && i < count; i++)
        sum += bins[i];
    return sum;
}

static uint64_t highest(const struct mf_tensor_histogram *histogram,
                        struct sides sides)
{
    uint64_t most = 0;

    for (size_t i = 0; i < sides.columns; i++) {
        uint64_t a = column_of(histogram->negative, histogram->bins, sides, i);
        uint64_t b = column_of(histogram->positive, histogram->bins, sides, i);

        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    return most;
}

static void put_sides(struct histograms *to,
                      const struct mf_tensor_histogram *histogram)
{
    struct sides sides = sides_of(to->run, histogram->bins);
    uint64_t most = highest(histogram, sides);
    char end[16];

    snprintf(end, sizeof(end), "2^%d",
             histogram->first + (int)(sides.columns * sides.each));
    put_text(to, "    -");
    put_text(to, end);
    put_text(to, " [");
    for (size_t i = sides.columns; i-- > 0;)
        put_text(to, chart_height(column_of(histogram->negative,
                                            histogram->bins, sides, i),
                                  most));
    put_text(to, "] 2^");
    put_integer(to, histogram->first);
    put_text(to, " [");
    for (size_t i = 0; i < sides.columns; i++)
        put_text(to, chart_height(column_of(histogram->positive,
                                            histogram->bins, sides, i),
                                  most));
    put_text(to, "] ");
    put_text(to, end);
    put_text(to, "\n");
}

static void put_rows(struct histograms *to, const char *label, uint64_t rows,
                     uint64_t all, bool more)
{
    if (rows == 0)
        return;
    put_text(to, more ? "; " : "    ");
    put_text(to, label);
    put_text(to, number_text(rows).at);
    put_text(to, " of ");
    put_text(to, number_text(all).at);
}

/* Parts that are empty are left out. */
static void put_remarks(struct histograms *to,
                        const struct mf_tensor_histogram *histogram)
{
    bool outliers = histogram->outliers > 0, zero = histogram->zero_rows > 0;
    int exponent;

    if (outliers) {
        frexp(histogram->beyond, &exponent);
        put_text(to, "    outliers from 2^");
        put_integer(to, exponent - 1);
        put_text(to, " on: ");
        put_text(to, number_text(histogram->outliers).at);
    }
    put_rows(to, "zero rows: ", histogram->zero_rows, histogram->rows,
             outliers);
    put_rows(to, "constant rows: ", histogram->constant_rows, histogram->rows,
             outliers || zero);
    if (outliers || zero || histogram->constant_rows > 0)
        put_text(to, "\n");
}

static void add_text(struct histograms *to,
                     const struct mf_tensor_histogram *histogram)
{
    if (histogram->bins > 0)
        put_sides(to, histogram);
    put_remarks(to, histogram);
}

/* ---- for programs ---- */

static void add_list(struct histograms *to, const uint64_t *bins, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            put_text(to, ",");
        put_number(to, bins[i]);
    }
}

/* An infinite one is not a number of JSON. */
static void add_beyond(struct histograms *to, double beyond)
{
    char text[32];

    snprintf(text, sizeof(text), "%.17g", beyond);
    put_text(to, isfinite(beyond) ? text : to->tsv ? "" : "null");
}

static void add_json(struct histograms *to,
                     const struct mf_tensor_histogram *histogram)
{
    put_text(to, "{\"bins\":[");
    put_integer(to, histogram->first);
    put_text(to, ",[");
    add_list(to, histogram->negative, histogram->bins);
    put_text(to, "],[");
    add_list(to, histogram->positive, histogram->bins);
    put_text(to, "]],\"outliers\":");
    put_number(to, histogram->outliers);
    put_text(to, ",\"beyond\":");
    add_beyond(to, histogram->beyond);
    put_text(to, "}");
}

static void add_tsv(struct histograms *to,
                    const struct mf_tensor_histogram *histogram)
{
    const uint64_t counts[] = { histogram->rows, histogram->zero_rows,
                                histogram->constant_rows, histogram->outliers };

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        put_text(to, "\t");
        put_number(to, counts[i]);
    }
    put_text(to, "\t");
    add_beyond(to, histogram->beyond);
    put_text(to, "\t");
    put_integer(to, histogram->first);
    put_text(to, "\t");
    add_list(to, histogram->negative, histogram->bins);
    put_text(to, "\t");
    add_list(to, histogram->positive, histogram->bins);
}

/* ---- a tensor ---- */

/* Number 0 comes again where files may have changed meanwhile. */
static void keep(void *user, size_t number,
                 const struct mf_tensor_histogram *histogram)
{
    struct histograms *to = user;
    struct histogram_place *place = &to->place[number];

    if (number == 0)
        to->text.size = 0;
    to->found[number] = histogram->stats;
    *place = (struct histogram_place){
        .at = to->text.size,
        .rows = histogram->rows,
        .zero_rows = histogram->zero_rows,
        .constant_rows = histogram->constant_rows,
    };
    if (to->tsv)
        add_tsv(to, histogram);
    else if (to->run->options->json)
        add_json(to, histogram);
    else
        add_text(to, histogram);
    place->size = to->text.size - place->at;
}

enum mf_status histograms_measure(struct histograms *to, struct mf_model *model,
                                  const size_t *index, size_t count)
{
    if (!to->place)
        return mf_tensor_stats(model, index, count, to->found);
    return mf_tensor_histograms(model, index, count, keep, to);
}

void histogram_show(const struct histograms *from, size_t number)
{
    const struct histogram_place *place;
    const char *text;

    if (!from->place)
        return;
    place = &from->place[number];
    text = from->text.at + place->at;
    if (from->tsv || !from->run->options->json) {
        out_bytes(&from->run->out, text, place->size);
        return;
    }
    json_number(from->run, "rows", place->rows);
    json_number(from->run, "zero_rows", place->zero_rows);
    json_number(from->run, "constant_rows", place->constant_rows);
    mf_json_key(&from->run->json, "histogram");
    mf_json_digits(&from->run->json, text, place->size);
}

void histograms_scale(struct run *run)
{
    out_wrapped(&run->out,
                "Below each: how many numbers there are of each power of two, "
                "from the largest magnitude below zero, by the smallest, to "
                "the largest above zero; heights are logarithmic.",
                0);
}
