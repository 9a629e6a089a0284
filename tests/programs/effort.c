/* SPDX-License-Identifier: MIT
 *
 * effort.c - by how much each effort lowers the error, and what it takes
 *
 *     effort [TYPE...]
 *
 * A row for each type, with an importance matrix and without one: by how many
 * percent the sum of squared errors is lower than with effort 1, for normal
 * numbers and for Student's t with four degrees of freedom, and nanoseconds of
 * one thread for each number, the reference's encoding included.
 *
 * MODELFILE_ISA=avx2 is for that instruction set.
 * MODELFILE_GGML=libggml-base.so adds the time of ggml_quantize_chunk, and has
 * its decoders decode the blocks of effort 3: any difference ends the program.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/codec/codecs.h"
#include "lib/codec/grid_maps.h"

enum { COLUMNS = 4096, ROWS = 24, NUMBERS = ROWS * COLUMNS, REPEATS = 3 };

typedef size_t quantize_chunk(int type, const float *from, void *to,
                              int64_t start, int64_t rows, int64_t columns,
                              const float *matrix);
typedef void dequantize_row(const void *from, float *to, int64_t count);

/* ggml's number of a type, and the name of its decoder. */
static const struct subject {
    enum mf_type type;
    int number;
    const char *decoder;
} subjects[] = {
    { MF_TYPE_Q4_0, 2, "q4_0" },        { MF_TYPE_Q4_1, 3, "q4_1" },
    { MF_TYPE_Q5_0, 6, "q5_0" },        { MF_TYPE_Q5_1, 7, "q5_1" },
    { MF_TYPE_Q8_0, 8, "q8_0" },        { MF_TYPE_IQ4_NL, 20, "iq4_nl" },
    { MF_TYPE_IQ4_XS, 23, "iq4_xs" },   { MF_TYPE_Q2_K, 10, "q2_K" },
    { MF_TYPE_Q3_K, 11, "q3_K" },       { MF_TYPE_Q4_K, 12, "q4_K" },
    { MF_TYPE_Q5_K, 13, "q5_K" },       { MF_TYPE_Q6_K, 14, "q6_K" },
    { MF_TYPE_IQ1_S, 19, "iq1_s" },     { MF_TYPE_IQ2_XXS, 16, "iq2_xxs" },
    { MF_TYPE_IQ2_XS, 17, "iq2_xs" },   { MF_TYPE_IQ2_S, 22, "iq2_s" },
    { MF_TYPE_IQ3_XXS, 18, "iq3_xxs" }, { MF_TYPE_IQ3_S, 21, "iq3_s" },
    { MF_TYPE_TQ1_0, 34, "tq1_0" },     { MF_TYPE_TQ2_0, 35, "tq2_0" },
    { MF_TYPE_Q1_0, -1, NULL },         { MF_TYPE_Q2_0, -1, NULL },
};

static float numbers[2][NUMBERS], weights[COLUMNS], decoded[NUMBERS],
    theirs[NUMBERS];
static uint8_t blocks[4 * NUMBERS];
static struct mf_env *env;
static const struct mf_isa *isa;
static void *ggml;

/* ---- numbers */

static double uniform(void)
{
    static uint64_t state = 88172645463325252;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static double student(void)
{
    double squares = 0;

    for (int i = 0; i < 4; i++) {
        double part = normal();

        squares += part * part;
    }
    return normal() / sqrt(squares / 4);
}

static void make_numbers(void)
{
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[0][i] = (float)(0.02 * normal());
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[1][i] = (float)(0.02 * student());
    for (size_t i = 0; i < COLUMNS; i++)
        weights[i] = (float)exp(normal());
}

/* ---- a type */

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static size_t row_size(enum mf_type type)
{
    return (size_t)COLUMNS / mf_types[type].block * mf_types[type].bytes;
}

/* Nanoseconds for each number. */
static double encode(enum mf_type type, const float *from, const float *matrix,
                     int effort)
{
    const struct mf_codec *codec = mf_codec_of(isa, type);
    const struct mf_makeup *makeup = mf_codec_of(mf_isas, type)->makeup;
    double start = now();

    for (size_t i = 0; i < ROWS; i++) {
        const float *row = from + i * COLUMNS;
        uint8_t *out = blocks + i * row_size(type);

        if (codec->encode)
            codec->encode(row, matrix, out, COLUMNS);
        else
            mf_encode_on_grid(codec, mf_grid_map_of(env, codec->grid), row,
                              matrix, out, COLUMNS);
        if (effort > MF_EFFORT_LEAST)
            codec->further(codec, makeup, effort, row, matrix, out, COLUMNS);
    }
    return (now() - start) / NUMBERS * 1e9;
}

static double error_of(enum mf_type type, const float *from,
                       const float *matrix)
{
    double sum = 0;

    mf_codec_of(isa, type)->decode(blocks, decoded, NUMBERS);
    for (size_t i = 0; i < NUMBERS; i++) {
        double off = (double)from[i] - (double)decoded[i];

        sum += off * off * (matrix ? (double)matrix[i % COLUMNS] : 1);
    }
    return sum;
}

static void check_decoder(const struct subject *subject)
{
    dequantize_row *function;
    char name[64];
    void *found;

    snprintf(name, sizeof(name), "dequantize_row_%s", subject->decoder);
    found = dlsym(ggml, name);
    if (!found) {
        fprintf(stderr, "effort: ggml has no %s\n", name);
        exit(1);
    }
    memcpy(&function, &found, sizeof(function));
    function(blocks, theirs, NUMBERS);
    mf_codec_of(isa, subject->type)->decode(blocks, decoded, NUMBERS);
    if (memcmp(theirs, decoded, sizeof(decoded)) != 0) {
        fprintf(stderr, "effort: ggml decodes %s to other numbers\n",
                subject->decoder);
        exit(1);
    }
}

static double time_of_ggml(const struct subject *subject, const float *matrix)
{
    void *found = dlsym(ggml, "ggml_quantize_chunk");
    quantize_chunk *function;
    double least = INFINITY;

    memcpy(&function, &found, sizeof(function));
    for (int i = 0; i < REPEATS; i++) {
        double start = now();

        function(subject->number, numbers[0], blocks, 0, ROWS, COLUMNS, matrix);
        least = fmin(least, (now() - start) / NUMBERS * 1e9);
    }
    return least;
}

static void measure(const struct subject *subject, const float *matrix)
{
    double gain[2][MF_EFFORT_MOST], took[MF_EFFORT_MOST];

    for (int e = 0; e < MF_EFFORT_MOST; e++) {
        took[e] = INFINITY;
        for (int d = 1; d >= 0; d--) {
            for (int i = 0; i < (e == 3 ? 1 : REPEATS); i++)
                took[e] = fmin(
                    took[e], encode(subject->type, numbers[d], matrix, 1 + e));
            gain[d][e] = error_of(subject->type, numbers[d], matrix);
        }
        if (ggml && subject->decoder && e == 2)
            check_decoder(subject);
    }
    printf("%-7s %-7s", mf_types[subject->type].name, matrix ? "matrix" : "");
    for (int d = 0; d < 2; d++) {
        for (int e = 1; e < MF_EFFORT_MOST; e++)
            printf(" %6.2f", 100 * (1 - gain[d][e] / gain[d][0]));
        printf(" |");
    }
    for (int e = 0; e < MF_EFFORT_MOST; e++)
        printf(" %8.2f", took[e]);
    if (ggml && subject->decoder)
        printf(" %8.2f", time_of_ggml(subject, matrix));
    puts("");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const struct mf_options how = { .size = sizeof(how),
                                    .isa = getenv("MODELFILE_ISA") };
    const char *library = getenv("MODELFILE_GGML");

    env = mf_env_new(&how);
    if (!env || !(isa = mf_isa_choose(env)))
        return 1;
    if (library && !(ggml = dlopen(library, RTLD_NOW))) {
        fprintf(stderr, "effort: %s\n", dlerror());
        return 1;
    }
    make_numbers();
    printf("%s: percent lower with effort 2, 3, 4, normal | Student | ns for a "
           "number, effort 1 to 4%s\n",
           isa->name, ggml ? ", ggml" : "");
    for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
        const struct subject *subject = &subjects[i];
        bool wanted = argc < 2;

        for (int j = 1; j < argc; j++)
            wanted |= strcmp(argv[j], mf_types[subject->type].name) == 0;
        if (wanted && !mf_codec_of(isa, subject->type)->needs_weights)
            measure(subject, NULL);
        if (wanted)
            measure(subject, weights);
    }
    mf_env_free(env);
    return 0;
}
