/* SPDX-License-Identifier: MIT
 *
 * effort_bound.c - what part of all that can be gained each effort gains
 *
 *     effort_bound FILE [TYPE...]
 *
 * Of real weights: ROWS rows of COLUMNS adjacent numbers, spread over all
 * tensors of FILE that have two dimensions or more.  For each type, with an
 * importance matrix of lognormal numbers and without one: by how many percent
 * the error is lower than with effort 1, for efforts 2 to 4 and at best, and
 * what part of the best efforts 3 and 4 gain.
 *
 * At best: of a type whose blocks have a scale of their own, the least error of
 * all scales of 16 bits, of both signs, each with the codes that suit it best;
 * with a minimum, of all minimums, too.  Of a type with super-blocks, the least
 * if each block had any scale, and any minimum, of the signs that the blocks of
 * a super-block share; of a type on a grid, likewise, with the best codes.  No
 * file can have less than that, and mostly none has as little: less ends the
 * program.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/codec/codecs.h"
#include "lib/codec/grid_maps.h"
#include "tests/programs/effort_bound_affine.h"
#include "tests/programs/effort_bound_grid.h"

enum {
    COLUMNS = 768, /* whole super-blocks */
    ROWS = 64,
    NUMBERS = ROWS * COLUMNS,
};

/* Scales: of 16 bits, or any.  Minimums likewise. */
enum layout { SCALE, AFFINE, ANY_SCALE, ANY_AFFINE, GRID };

/* Codes that are not whole numbers in a row. */
static const float nonlinear[] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                   1,    13,   25,  38,  53,  69,  89,  113 };
static const float signs[] = { -1, 1 };

static const struct subject {
    enum mf_type type;
    enum layout layout;
    int group, first, last; /* numbers with one scale; codes; of a grid its
                               number is first */
    int super;              /* numbers whose blocks share signs */
    const float *codes;     /* NULL: first to last; else numbers 0 to last */
} subjects[] = {
    { MF_TYPE_Q4_0, SCALE, 32, -8, 7, 0, NULL },
    { MF_TYPE_Q4_1, AFFINE, 32, 0, 15, 0, NULL },
    { MF_TYPE_Q5_0, SCALE, 32, -16, 15, 0, NULL },
    { MF_TYPE_Q5_1, AFFINE, 32, 0, 31, 0, NULL },
    { MF_TYPE_Q8_0, SCALE, 32, -128, 127, 0, NULL },
    { MF_TYPE_IQ4_NL, SCALE, 32, 0, 15, 0, nonlinear },
    { MF_TYPE_IQ4_XS, ANY_SCALE, 32, 0, 15, 0, nonlinear },
    { MF_TYPE_Q2_K, ANY_AFFINE, 16, 0, 3, 256, NULL },
    { MF_TYPE_Q3_K, ANY_SCALE, 16, -4, 3, 0, NULL },
    { MF_TYPE_Q4_K, ANY_AFFINE, 32, 0, 15, 256, NULL },
    { MF_TYPE_Q5_K, ANY_AFFINE, 32, 0, 31, 256, NULL },
    { MF_TYPE_Q6_K, ANY_SCALE, 16, -32, 31, 0, NULL },
    { MF_TYPE_TQ1_0, SCALE, 256, -1, 1, 0, NULL },
    { MF_TYPE_TQ2_0, SCALE, 256, -1, 2, 0, NULL },
    { MF_TYPE_Q1_0, SCALE, 128, 0, 1, 0, signs },
    { MF_TYPE_Q2_0, SCALE, 64, -1, 2, 0, NULL },
    { MF_TYPE_IQ2_XXS, GRID, 32, 0, 0, 0, NULL },
    { MF_TYPE_IQ2_XS, GRID, 16, 1, 0, 0, NULL },
    { MF_TYPE_IQ2_S, GRID, 16, 2, 0, 0, NULL },
    { MF_TYPE_IQ3_XXS, GRID, 32, 3, 0, 0, NULL },
    { MF_TYPE_IQ3_S, GRID, 32, 4, 0, 0, NULL },
    { MF_TYPE_IQ1_S, GRID, 32, 5, 0, 0, NULL },
};

static float numbers[NUMBERS], weights[COLUMNS], ones[COLUMNS];
static float decoded[NUMBERS];
static uint8_t blocks[4 * NUMBERS];
static struct mf_env *env;
static const struct mf_isa *isa;

static double greatest(const struct group *group)
{
    double most = 0;

    for (int i = 0; i < group->count; i++)
        most = fmax(most, fabs((double)group->x[i]));
    return most;
}

/* ---- a scale ---- */

struct codes {
    const float *code; /* ascending; NULL: whole numbers from first to last */
    int count, first, last;
};

static struct codes codes_of(const struct subject *subject)
{
    struct codes codes = { .first = subject->first, .last = subject->last };

    if (subject->codes) {
        codes.code = subject->codes;
        codes.count = subject->last + 1;
        codes.first = (int)codes.code[0];
        codes.last = (int)codes.code[subject->last];
    }
    return codes;
}

/* The code next to it. */
static float nearest(const struct codes *codes, float number)
{
    float first = (float)codes->first, last = (float)codes->last;
    int best = 0;

    if (!codes->code) {
        number = rintf(number);
        return number < first ? first : number > last ? last : number;
    }
    for (int i = 1; i < codes->count; i++)
        best += number > 0.5F * (codes->code[i - 1] + codes->code[i]);
    return codes->code[best];
}

/* The error with that scale; and with the one that suits its codes best. */
static double error_at(const struct group *group, const struct codes *codes,
                       float scale, double *fitted)
{
    double error = 0, products = 0, squares = 0;
    float inverse = 1 / scale;

    for (int i = 0; i < group->count; i++) {
        float code = nearest(codes, group->x[i] * inverse);

        error += (double)group->w[i] *
                 square((double)group->x[i] - (double)(code * scale));
        products += (double)group->w[i] * (double)group->x[i] * (double)code;
        squares += (double)group->w[i] * square((double)code);
    }
    if (squares > 0)
        *fitted = error - square(products - (double)scale * squares) / squares;
    else
        *fitted = error;
    return error;
}

/* All scales of 16 bits: infinite and NaN ones come after 0x7c00. */
static double of_16_bits(const struct group *group, const struct codes *codes)
{
    double least = INFINITY, unused;

    for (unsigned bits = 1; bits < 0x7c00; bits++) {
        float scale = mf_half_to_float((uint16_t)bits);

        least = fmin(least, error_at(group, codes, scale, &unused));
        least = fmin(least, error_at(group, codes, -scale, &unused));
    }
    return least;
}

/* Any scale: many, each fitted to its codes. */
static double of_any_scale(const struct group *group, const struct codes *codes)
{
    double most = greatest(group), least = INFINITY, fitted;
    double reach = fmax(-codes->first, codes->last);

    if (most == 0)
        return 0;
    for (int i = -4 * PER_OCTAVE; i <= 2 * PER_OCTAVE; i++) {
        float scale = (float)(most / reach * exp2((double)i / PER_OCTAVE));

        error_at(group, codes, scale, &fitted);
        least = fmin(least, fitted);
        error_at(group, codes, -scale, &fitted);
        least = fmin(least, fitted);
    }
    return fmax(least, 0);
}

/* ---- a type ---- */

static struct group group_at(const struct subject *subject, size_t at,
                             const float *matrix)
{
    return (struct group){ numbers + at, matrix + at % COLUMNS,
                           subject->group };
}

static double best_super(const struct subject *subject, size_t begin,
                         const float *matrix)
{
    double sum[4] = { 0 };

    for (int at = 0; at < subject->super; at += subject->group) {
        struct group group = group_at(subject, begin + (size_t)at, matrix);
        struct least mirrored,
            least = of_both_signs(&group, subject->last, false, &mirrored);

        sum[0] += least.negative;
        sum[1] += least.positive;
        sum[2] += mirrored.negative;
        sum[3] += mirrored.positive;
    }
    return fmin(fmin(sum[0], sum[1]), fmin(sum[2], sum[3]));
}

static double best_of(const struct subject *subject, const float *matrix)
{
    struct codes codes = codes_of(subject);
    size_t step = (size_t)(subject->super ? subject->super : subject->group);
    double sum = 0;

    for (size_t at = 0; at < NUMBERS; at += step) {
        struct group group = group_at(subject, at, matrix);
        struct least mirrored, least;

        switch (subject->layout) {
        case SCALE:
            sum += of_16_bits(&group, &codes);
            break;
        case AFFINE:
            least = of_both_signs(&group, subject->last, true, &mirrored);
            sum += fmin(least.half, mirrored.half);
            break;
        case ANY_SCALE:
            sum += of_any_scale(&group, &codes);
            break;
        case ANY_AFFINE:
            sum += best_super(subject, at, matrix);
            break;
        case GRID:
            sum += of_grid(&grids[subject->first], group.x, group.w);
            break;
        }
    }
    return sum;
}

static double error_of(enum mf_type type, const float *given, int effort)
{
    const struct mf_codec *codec = mf_codec_of(isa, type);
    const struct mf_makeup *makeup = mf_codec_of(mf_isas, type)->makeup;
    size_t size = (size_t)COLUMNS / mf_types[type].block * mf_types[type].bytes;
    double sum = 0;

    for (size_t i = 0; i < ROWS; i++) {
        const float *row = numbers + i * COLUMNS;
        uint8_t *out = blocks + i * size;

        if (codec->encode)
            codec->encode(row, given, out, COLUMNS);
        else
            mf_encode_on_grid(codec, mf_grid_map_of(env, codec->grid), row,
                              given, out, COLUMNS);
        if (effort > MF_EFFORT_LEAST)
            codec->further(codec, makeup, effort, row, given, out, COLUMNS);
        codec->decode(out, decoded, COLUMNS);
        for (size_t k = 0; k < COLUMNS; k++)
            sum += (given ? (double)given[k] : 1) *
                   square((double)row[k] - (double)decoded[k]);
    }
    return sum;
}

static void measure(const struct subject *subject, const float *given)
{
    double error[MF_EFFORT_MOST + 1];
    double best = best_of(subject, given ? given : ones);

    for (int effort = 1; effort <= MF_EFFORT_MOST; effort++) {
        error[effort] = error_of(subject->type, given, effort);
        if (error[effort] < best * (1 - 1e-5)) {
            fprintf(stderr, "effort_bound: %s has less than the bound\n",
                    mf_types[subject->type].name);
            exit(1);
        }
    }
    printf("%-7s %-7s", mf_types[subject->type].name, given ? "matrix" : "");
    for (int effort = 2; effort <= MF_EFFORT_MOST; effort++)
        printf(" %6.2f", 100 * (1 - error[effort] / error[1]));
    printf(" %6.2f |", 100 * (1 - best / error[1]));
    for (int effort = 2; effort <= MF_EFFORT_MOST; effort++)
        printf(" %5.2f", (error[1] - error[effort]) / (error[1] - best));
    puts("");
    fflush(stdout);
}

/* ---- real weights ---- */

static double uniform(void)
{
    static uint64_t state = 88172645463325252;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

/* Of a matrix that is not small; else 0. */
static uint64_t numbers_of(const struct mf_tensor *tensor)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < tensor->rank; i++)
        count *= tensor->dim[i];
    return tensor->rank >= 2 && count >= 64 * COLUMNS ? count : 0;
}

/* Rows at places that are drawn, of each tensor as many as its share. */
static bool read_rows(struct mf_model *model)
{
    struct mf_tensor tensor;
    uint64_t all = 0, passed = 0;
    size_t row = 0;

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        all += numbers_of(&tensor);
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        uint64_t rows = numbers_of(&tensor) / COLUMNS;

        passed += numbers_of(&tensor);
        for (; row < ROWS && (double)row < (double)passed / (double)all * ROWS;
             row++) {
            uint64_t at = (uint64_t)(uniform() * (double)rows);

            if (mf_tensor_read(model, i, at * COLUMNS, COLUMNS, MF_READ_F32,
                               numbers + row * COLUMNS) != MF_OK)
                return false;
        }
    }
    return row == ROWS;
}

static bool is_wanted(const struct subject *subject, int argc, char **argv)
{
    bool wanted = argc < 3;

    for (int i = 2; i < argc; i++)
        wanted |= strcmp(argv[i], mf_types[subject->type].name) == 0;
    return wanted;
}

int main(int argc, char **argv)
{
    struct mf_model *model;

    env = mf_env_new(NULL);
    if (argc < 2 || !env || !(isa = mf_isa_choose(env)))
        return 2;
    if (mf_model_open(env, argv[1], NULL, &model) != MF_OK ||
        !read_rows(model)) {
        fprintf(stderr, "effort_bound: %s\n", mf_env_error(env)->message);
        return 1;
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        weights[i] = (float)exp(sqrt(-2 * log(uniform())) *
                                cos(6.283185307179586 * uniform()));
        ones[i] = 1;
    }
    puts("type            percent lower: efforts 2, 3, 4, at best | part of "
         "the best: efforts 2, 3, 4");
    for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++)
        if (is_wanted(&subjects[i], argc, argv)) {
            if (!mf_codec_of(isa, subjects[i].type)->needs_weights)
                measure(&subjects[i], NULL);
            measure(&subjects[i], weights);
        }
    mf_model_close(model);
    mf_env_free(env);
    return 0;
}
