/* SPDX-License-Identifier: MIT
 *
 * sample.c - types compared by their errors on weights like a model's
 *
 *     sample types    each type that is encoded: its bits, its errors
 *     sample mixes    each mix: its type, and whether it needs a matrix
 *
 * The errors are relative to the root mean square of the weights; weighted
 * ones, which an importance matrix makes smaller, count each column as often as
 * the matrix does.  A field is empty where a type cannot do without a matrix.
 *
 * Real weights are nearly normal within a row.  Rows and columns differ in
 * size, single numbers are several times as large as most, and so are whole
 * columns.  All of this is made by additions and multiplications, so that
 * every machine makes the same numbers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/modelfile.h"

enum { ROWS = 512, COLUMNS = 4096 };

/* ---- random numbers */

/* The same numbers for the same place, in whatever order they are made. */
static uint64_t mixed(uint64_t place)
{
    place += 0x9E3779B97F4A7C15;
    place = (place ^ place >> 30) * 0xBF58476D1CE4E5B9;
    place = (place ^ place >> 27) * 0x94D049BB133111EB;
    return place ^ place >> 31;
}

/* From -6 to 6, nearly normal: the sum of twelve of even distribution. */
static double normal(uint64_t *place)
{
    uint64_t sum = 0;

    for (int i = 0; i < 3; i++) {
        uint64_t bits = mixed((*place)++);

        sum += (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) +
               (bits >> 48);
    }
    return ((double)sum - 6.0 * 65535.0) / 65536.0;
}

/* One of so many is true. */
static bool one_in(uint64_t *place, uint64_t many)
{
    return mixed((*place)++) % many == 0;
}

/* ---- weights */

static double size_of(uint64_t seed, uint64_t number, double spread)
{
    uint64_t place = mixed(seed) + number * 8;
    double size = 1.0 + spread * normal(&place);

    return (size > 0.25 ? size : 0.25) * (one_in(&place, 256) ? 3.0 : 1.0);
}

/* A row of the matrix that a seed stands for. */
static void make_row(uint64_t seed, uint64_t row, float *out, size_t columns)
{
    uint64_t place = mixed(mixed(seed) + row);
    double size = 0.02 * size_of(seed + 1, row, 0.25);

    for (size_t i = 0; i < columns; i++) {
        double number =
            size * normal(&place) * (one_in(&place, 32) ? 2.0 : 1.0);

        out[i] = (float)(number * size_of(seed + 2, i, 0.25));
    }
}

/* The mean squares of what the columns are multiplied with; a few of them are
 * very large in real models. */
static void make_importance(uint64_t seed, float *out, size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        uint64_t place = mixed(seed + 3) + i * 8;
        double number = normal(&place);

        out[i] = (float)((0.05 + number * number) *
                         (one_in(&place, 64) ? 30.0 : 1.0));
    }
}

/* ---- types */

/* The errors of one type: relative to the root mean square of the weights. */
struct errors {
    double error2, before2, after2, product, weighted2, weighted_before2;
};

static void add_errors(struct errors *sum, const float *before,
                       const float *after, const float *importance)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        double a = (double)before[i], b = (double)after[i];
        double apart = (a - b) * (a - b), weight = (double)importance[i];

        sum->error2 += apart;
        sum->before2 += a * a;
        sum->after2 += b * b;
        sum->product += a * b;
        sum->weighted2 += weight * apart;
        sum->weighted_before2 += weight * a * a;
    }
}

/* Three fields of a row. */
static void print_errors(struct mf_env *env, const struct mf_kernel *kernel,
                         const float *importance, bool weigh)
{
    static float before[COLUMNS], after[COLUMNS];
    static uint8_t blocks[COLUMNS * 8];
    struct errors sum = { 0 };

    for (uint64_t row = 0; row < ROWS; row++) {
        make_row(0, row, before, COLUMNS);
        if (mf_env_encode(env, kernel, before, weigh ? importance : NULL,
                          blocks, COLUMNS) != MF_OK) {
            fprintf(stderr, "sample: %s\n", mf_env_error(env)->message);
            exit(1);
        }
        kernel->decode(blocks, after, COLUMNS);
        add_errors(&sum, before, after, importance);
    }
    printf(",%.5f,%.6f,%.5f", sqrt(sum.error2 / sum.before2),
           sum.product / sqrt(sum.before2) / sqrt(sum.after2),
           sqrt(sum.weighted2 / sum.weighted_before2));
}

static void print_types(struct mf_env *env)
{
    static float importance[COLUMNS];
    struct mf_type_info type;

    make_importance(0, importance, COLUMNS);
    puts("type,bits,rmse,cosine,weighted,rmse_matrix,cosine_matrix,"
         "weighted_matrix");
    for (size_t i = 0; mf_type_at(i, &type); i++) {
        struct mf_kernel kernel;
        bool needed;

        if (!mf_kernel_find(type.name, NULL, &kernel) || kernel.prefix > 0 ||
            !mf_kernel_encodes(&kernel, &needed))
            continue;
        printf("%s,%g", type.name, 8.0 * type.size / type.block);
        if (needed)
            fputs(",,,", stdout);
        else
            print_errors(env, &kernel, importance, false);
        print_errors(env, &kernel, importance, true);
        putchar('\n');
    }
}

/* ---- mixes */

static void print_mixes(void)
{
    struct mf_mix_info mix;

    puts("mix,type,matrix");
    for (size_t i = 0; mf_mix_at(i, &mix); i++)
        printf("%s,%s,%s\n", mix.name, mix.type,
               mix.needs_imatrix ? "needed" : "");
}

int main(int count, char **argument)
{
    const char *what = count == 2 ? argument[1] : "";
    struct mf_env *env = mf_env_new(NULL);

    if (!env)
        return 1;
    if (strcmp(what, "types") == 0)
        print_types(env);
    else if (strcmp(what, "mixes") == 0)
        print_mixes();
    else
        fputs("usage: sample types|mixes\n", stderr);
    mf_env_free(env);
    return count == 2 ? 0 : 2;
}
