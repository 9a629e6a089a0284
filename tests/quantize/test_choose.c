/* SPDX-License-Identifier: MIT
 *
 * test_choose.c - types for a size: the least error, what is proven, bad input
 *
 * Small problems are compared with all choices there are; of large ones the
 * bound, the limit and what is left are checked.  tests/cli/target.t compares
 * with an independent solver.
 */
#include <math.h>
#include <time.h>

#include "tests/support.h"
#include "tests/with_env.h"

#define TYPES_MOST   32
#define TENSORS_MOST 1200

static struct mf_type_cost cost[TENSORS_MOST * TYPES_MOST];
static uint32_t chosen[TENSORS_MOST], tied[TENSORS_MOST];

/* ---- problems ---- */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (uint32_t)(state >> 33) % below;
}

static double part(void)
{
    return draw(1 << 20) / (double)(1 << 20);
}

/* Bits of llama.cpp's types, and the errors that they roughly have. */
static void make(size_t tensors, size_t types, double giant)
{
    for (size_t i = 0; i < tensors; i++) {
        double elements = 256.0 * (1 + draw(64)) * (1 + draw(512));
        double scale = exp(4 * part() - 2);

        if (i == 0)
            elements *= giant;
        for (size_t t = 0; t < types; t++) {
            double bits = 1.1 + 15.0 * (double)t / (double)types + part();

            cost[i * types + t] = (struct mf_type_cost){
                (uint64_t)(elements * bits / 8) / 32 * 32,
                elements * scale * pow(4, -bits) * (0.6 + 0.8 * part())
            };
        }
    }
}

static struct mf_choose_options options_of(size_t tensors, size_t types,
                                           uint64_t limit)
{
    return (struct mf_choose_options){ .size = sizeof(struct mf_choose_options),
                                       .cost = cost,
                                       .tensors = tensors,
                                       .types = types,
                                       .limit = limit };
}

static struct mf_chosen range_of(const struct mf_choose_options *given)
{
    struct mf_choose_options options = *given;
    struct mf_chosen out;

    options.limit = UINT64_MAX;
    assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
    return out;
}

/* ---- what must hold of any answer ---- */

static void check(const struct mf_choose_options *options,
                  const struct mf_chosen *out)
{
    uint64_t bytes = 0, next = UINT64_MAX;
    double error = 0;

    for (size_t i = 0; i < options->tensors; i++) {
        const struct mf_type_cost *row = cost + i * options->types;
        const struct mf_type_cost *is = &row[chosen[i]];

        assert_true(chosen[i] < options->types);
        bytes += is->bytes;
        error += is->error;
        for (size_t t = 0; t < options->types && !options->tied; t++) {
            /* No larger type than one that is as good. */
            assert_false(row[t].bytes < is->bytes && row[t].error <= is->error);
            if (row[t].error < is->error && row[t].bytes - is->bytes < next)
                next = row[t].bytes - is->bytes;
        }
    }
    assert_int_equal(bytes, out->bytes);
    assert_true(bytes <= options->limit);
    assert_true(fabs(error - out->error) <= 1e-9 * error);
    assert_true(out->relaxed <= out->bound && out->bound <= out->error);
    if (options->tied)
        return;
    assert_int_equal(out->next, next == UINT64_MAX ? 0 : next);
    assert_true(next == UINT64_MAX || next > options->limit - bytes);
}

/* ---- all choices ---- */

static double least_of(const struct mf_choose_options *options, size_t from,
                       uint64_t left)
{
    double least = (double)INFINITY;

    if (from == options->tensors)
        return 0;
    for (size_t t = 0; t < options->types; t++) {
        const struct mf_type_cost *one = &cost[from * options->types + t];

        if (one->bytes <= left)
            least = fmin(least, one->error + least_of(options, from + 1,
                                                      left - one->bytes));
    }
    return least;
}

static void test_all_choices(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 400; round++) {
        struct mf_choose_options options;
        struct mf_chosen out;
        size_t tensors = 1 + draw(6), types = 1 + draw(6);
        double least;

        make(tensors, types, round % 3 == 0 ? 40 : 1);
        options = options_of(tensors, types, 0);
        out = range_of(&options);
        options.limit =
            out.least + (uint64_t)(part() * (double)(out.most - out.least));
        assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
        check(&options, &out);
        least = least_of(&options, 0, options.limit);
        if (out.error > least * 1.001 || out.bound > least * (1 + 1e-9))
            fail_msg("round %u: %.17g with a bound of %.17g, but %.17g is "
                     "possible",
                     round, out.error, out.bound, least);
    }
}

/* ---- the best choice for every number of bytes ---- */

#define BYTES_MOST 200000

static double table[2][BYTES_MOST + 1];

/* With few bytes in all, every number of them has its least error. */
static double least_in_table(const struct mf_choose_options *options)
{
    double *is = table[0], *next = table[1], *other;
    size_t room = options->limit + 1;

    memset(is, 0, room * sizeof(*is));
    for (size_t i = 0; i < options->tensors; i++) {
        for (size_t b = 0; b < room; b++)
            next[b] = (double)INFINITY;
        for (size_t t = 0; t < options->types; t++) {
            const struct mf_type_cost *one = &cost[i * options->types + t];

            for (size_t b = one->bytes; b < room; b++)
                next[b] = fmin(next[b], is[b - one->bytes] + one->error);
        }
        other = is;
        is = next;
        next = other;
    }
    return is[options->limit];
}

/* Few bytes, and errors that hardly say which types are better. */
static void make_hard(size_t tensors, size_t types, double giant)
{
    for (size_t i = 0; i < tensors; i++) {
        double size = (100 + draw(500)) * (i == 0 ? giant : 1);

        for (size_t t = 0; t < types; t++) {
            double part_of = (1.0 + (double)t + part()) / (double)(types + 1);

            cost[i * types + t] =
                (struct mf_type_cost){ (uint64_t)(size * part_of),
                                       size * (1.1 - part_of + 0.01 * part()) };
        }
    }
}

static void test_every_size(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 24; round++) {
        size_t tensors = 8 + draw(60), types = 4 + draw(12);
        struct mf_choose_options options = options_of(tensors, types, 0);
        struct mf_chosen out;
        double least;

        make_hard(tensors, types, round % 3 == 0 ? 30 : 1);
        out = range_of(&options);
        options.limit =
            out.least + (uint64_t)(part() * (double)(out.most - out.least));
        assert_true(options.limit <= BYTES_MOST);
        assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
        check(&options, &out);
        least = least_in_table(&options);
        if (out.error > least * 1.001 || out.bound > least * (1 + 1e-9))
            fail_msg("round %u: %.17g with a bound of %.17g, but %.17g is "
                     "possible",
                     round, out.error, out.bound, least);
    }
}

/* ---- proofs ---- */

static void prove(size_t tensors, size_t types, double giant)
{
    for (unsigned percent = 1; percent < 100; percent += 7) {
        struct mf_choose_options options = options_of(tensors, types, 0);
        struct mf_chosen out = range_of(&options);

        options.limit = out.least + (out.most - out.least) / 100 * percent;
        assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
        check(&options, &out);
        if (out.error - out.bound > 1e-3 * out.error)
            fail_msg("%zu tensors, %u %%: proven within %g %% only", tensors,
                     percent, 100 * (out.error / out.bound - 1));
        if (tensors >= 100 && giant <= 1 &&
            out.error - out.relaxed > 5e-3 * out.error)
            fail_msg("%zu tensors, %u %%: %g %% above the linear program",
                     tensors, percent, 100 * (out.error / out.relaxed - 1));
    }
}

static void test_proofs(void **unused)
{
    static const size_t sizes[] = { 1, 2, 3, 7, 15, 30, 60, 100, 291, 1100 };

    (void)unused;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        make(sizes[i], 25, 1);
        prove(sizes[i], 25, 1);
        make(sizes[i], 25, 300);
        prove(sizes[i], 25, 300);
    }
}

static void test_time(void **unused)
{
    struct mf_choose_options options = options_of(1100, 25, 0);
    struct mf_chosen out;
    clock_t begin, least = CLOCKS_PER_SEC;

    (void)unused;
    make(1100, 25, 1);
    out = range_of(&options);
    options.limit = out.least + (out.most - out.least) / 4;
    for (int i = 0; i < 5; i++) {
        begin = clock();
        assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
        if (clock() - begin < least)
            least = clock() - begin;
    }
    print_message("1,100 tensors in 25 types: %.1f ms\n",
                  1e3 * (double)least / CLOCKS_PER_SEC);
    assert_true(least < CLOCKS_PER_SEC / 4); /* 50 ms with optimization */
}

/* ---- ties ---- */

static void test_tied(void **unused)
{
    struct mf_choose_options options = options_of(30, 8, 0);
    struct mf_chosen out, loose;

    (void)unused;
    make(30, 8, 1);
    for (uint32_t i = 0; i < 30; i++)
        tied[i] = i % 3 == 0 ? MF_CHOOSE_NONE : i % 3;
    options.tied = tied;
    out = range_of(&options);
    options.limit = (out.least + out.most) / 2;
    assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
    check(&options, &out);
    for (size_t i = 0; i < 30; i++)
        if (i % 3 != 0)
            assert_int_equal(chosen[i], chosen[i % 3]);
    options.tied = NULL;
    assert_int_equal(mf_choose_types(env, &options, chosen, &loose), MF_OK);
    assert_true(loose.error <= out.error);
}

static void test_preferred(void **unused)
{
    static const uint32_t preferred[] = { 2, MF_CHOOSE_NONE };
    struct mf_choose_options options = options_of(2, 3, 100);
    struct mf_chosen out;

    (void)unused;
    for (size_t i = 0; i < 6; i++)
        cost[i] = (struct mf_type_cost){ 10, 1 };
    options.preferred = preferred;
    assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
    assert_int_equal(chosen[0], 2);
    assert_int_equal(chosen[1], 0);
    assert_int_equal(out.next, 0);
}

/* One tensor's error is so large that the other's does not change the sum, and
 * what is left is enough for a type that the relaxation never takes. */
static void test_small_with_large(void **unused)
{
    static const struct mf_type_cost costs[] = {
        { 10, 1e20 }, { 20, 9e19 },   { 30, (double)INFINITY },
        { 10, 2e-5 }, { 15, 1.9e-5 }, { 20, 1e-5 },
    };
    struct mf_choose_options options = options_of(2, 3, 36);
    struct mf_chosen out;

    (void)unused;
    memcpy(cost, costs, sizeof(costs));
    assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
    check(&options, &out);
    assert_int_equal(out.bytes, 35);
    assert_int_equal(out.next, 5);
}

/* ---- the ends ---- */

static void test_ends(void **unused)
{
    struct mf_choose_options options = options_of(9, 5, 0);
    struct mf_chosen out, range;

    (void)unused;
    make(9, 5, 1);
    range = range_of(&options);
    options.limit = range.least;
    assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
    assert_int_equal(out.bytes, range.least);
    options.limit = range.most;
    assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
    assert_true(out.bytes <= range.most);
    assert_int_equal(out.next, 0);
    options.limit = range.least - 1;
    assert_int_equal(mf_choose_types(env, &options, chosen, &out),
                     MF_ERR_LIMIT);
    options = options_of(0, 5, 0);
    assert_int_equal(mf_choose_types(env, &options, chosen, &out), MF_OK);
    assert_int_equal(out.bytes, 0);
}

/* ---- bad input ---- */

static void refused(const struct mf_choose_options *options,
                    enum mf_status status, const char *text)
{
    struct mf_chosen out = { .bytes = 77 };

    assert_int_equal(mf_choose_types(env, options, chosen, &out), status);
    if (!strstr(mf_env_error(env)->message, text))
        fail_msg("%s", mf_env_error(env)->message);
    assert_int_equal(out.bytes, 77);
}

static void test_bad(void **unused)
{
    static const uint32_t wrong[] = { 0, 9 };
    struct mf_choose_options options = options_of(2, 3, 1000);

    (void)unused;
    make(2, 3, 1);
    options.limit = UINT64_MAX;
    options.preferred = wrong;
    refused(&options, MF_ERR_ARGUMENT, "prefers type 9 of 3");
    options.preferred = NULL;
    cost[4].error = (double)NAN;
    refused(&options, MF_ERR_ARGUMENT, "tensor 1 in type 1 is NaN");
    cost[4].error = -1;
    refused(&options, MF_ERR_ARGUMENT, "below 0");
    for (size_t t = 3; t < 6; t++)
        cost[t].error = (double)INFINITY;
    refused(&options, MF_ERR_ARGUMENT, "tensor 1 can have none of the 3 types");
    make(2, 3, 1);
    cost[0].bytes = cost[3].bytes = UINT64_MAX / 2 + 1;
    cost[0].error = cost[3].error = 0;
    refused(&options, MF_ERR_LIMIT, "2^63");
    make(2, 3, 1);
    for (size_t t = 0; t < 6; t++)
        cost[t].error = 1.5e308;
    refused(&options, MF_ERR_ARGUMENT, "infinite");
    options.types = 65;
    refused(&options, MF_ERR_ARGUMENT, "65 types");
    options.types = 0;
    refused(&options, MF_ERR_ARGUMENT, "0 types");
    options.types = 3;
    options.tensors = MF_CHOOSE_TENSORS + 1;
    refused(&options, MF_ERR_ARGUMENT, "at most 1000000");
}

/* Types that tied tensors cannot all have. */
static void test_nothing_common(void **unused)
{
    struct mf_choose_options options = options_of(2, 2, UINT64_MAX);

    (void)unused;
    make(2, 2, 1);
    cost[0].error = cost[3].error = (double)INFINITY;
    tied[0] = tied[1] = 5;
    options.tied = tied;
    refused(&options, MF_ERR_ARGUMENT, "no type in common");
}

/* Every allocation fails once. */
static void test_memory(void **unused)
{
    struct mf_choose_options options = options_of(40, 20, 0);
    struct mf_chosen out;
    enum mf_status status;

    (void)unused;
    make(40, 20, 30);
    out = range_of(&options);
    options.limit = out.least + (out.most - out.least) / 3;
    do {
        env_heap.fail_at++;
        env_heap.calls = 0;
        status = mf_choose_types(env, &options, chosen, &out);
        check_refused(&env_heap, status);
    } while (status != MF_OK);
    assert_true(env_heap.fail_at > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(test_all_choices),
        WITH_ENV(test_every_size),
        WITH_ENV(test_proofs),
        WITH_ENV(test_time),
        WITH_ENV(test_tied),
        WITH_ENV(test_preferred),
        WITH_ENV(test_small_with_large),
        WITH_ENV(test_ends),
        WITH_ENV(test_bad),
        WITH_ENV(test_nothing_common),
        WITH_ENV(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
