/* SPDX-License-Identifier: MIT
 *
 * test_derive.c - derived tensors: every part of each is what a plain way of
 * computing it gives
 *
 * Trees of nodes are made at random.  Beside each node there is an array of
 * numbers, which is changed by the obvious loop.
 */
#include "lib/derive/derive.h"
#include "lib/model/model.h"
#include "tests/image.h"
#include "tests/with_env.h"

/* ---- a model ---- */

#define ELEMENTS 6000 /* of each tensor */

static const struct {
    const char *name, *shape;
    size_t size;
    enum mf_type type;
} tensors[] = {
    { "U16", "[2,3,10,100]", 2, MF_TYPE_U16 },
    { "F32", "[60,100]", 4, MF_TYPE_F32 },
    { "U8", "[6000]", 1, MF_TYPE_U8 },
    { "I64", "[20,300]", 8, MF_TYPE_I64 },
    { "F16", "[300,20]", 2, MF_TYPE_F16 },
    { "BF16", "[40,150]", 2, MF_TYPE_BF16 },
};

static struct mf_model *open_tensors(void)
{
    char header[2048] = "{";
    size_t end = 0, used = 1;
    struct mf_model *model;

    for (size_t i = 0; i < COUNT(tensors); i++) {
        size_t begin = end;

        end += ELEMENTS * tensors[i].size;
        used += (size_t)snprintf(header + used, sizeof(header) - used,
                                 "%s\"t%zu\":{\"dtype\":\"%s\",\"shape\":%s,"
                                 "\"data_offsets\":[%zu,%zu]}",
                                 i > 0 ? "," : "", i, tensors[i].name,
                                 tensors[i].shape, begin, end);
    }
    header[used++] = '}';
    while (used % 8 > 0)
        header[used++] = ' ';
    image.size = 0;
    put_number(used, 8);
    put(header, used);
    for (uint64_t at = 0; at < end; at++)
        put_number((at * 2654435761U) >> 9, 1);
    assert_int_equal(
        mf_model_open_memory(env, "m", image.at, image.size, NULL, &model),
        MF_OK);
    return model;
}

/* ---- a node, and what it is ---- */

struct pair {
    const struct mf_derived *node;
    size_t size; /* of an element */
    uint8_t *bytes;
};

static uint64_t seed;

static uint64_t pick(uint64_t below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33) % below;
}

static struct pair fresh(const struct mf_derived *node, size_t size)
{
    struct pair pair = { node, size, NULL };

    if (!node)
        fail_msg("%s", mf_env_error(env)->message);
    pair.bytes = malloc((size_t)node->count * size + 1);
    assert_non_null(pair.bytes);
    return pair;
}

static void copy(struct pair *to, uint64_t at, const struct pair *from,
                 uint64_t from_at)
{
    memcpy(to->bytes + at * to->size, from->bytes + from_at * to->size,
           to->size);
}

/* The place of an element, along each dimension; and back. */
static void place_of(const struct mf_derived *node, uint64_t at,
                     uint64_t *place)
{
    for (uint32_t i = node->rank; i-- > 0; at /= node->dim[i])
        place[i] = at % node->dim[i];
}

static uint64_t at_of(const struct mf_derived *node, const uint64_t *place)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < node->rank; i++)
        at = at * node->dim[i] + place[i];
    return at;
}

static struct pair leaf(const struct mf_derivation *d,
                        const struct mf_model *model, size_t which)
{
    struct pair pair =
        fresh(mf_derive_tensor(d, model, which), tensors[which].size);
    size_t before = image.size;

    for (size_t i = COUNT(tensors); i-- > which;)
        before -= ELEMENTS * tensors[i].size;
    memcpy(pair.bytes, image.at + before, ELEMENTS * pair.size);
    return pair;
}

/* Dimensions are split and put together at random. */
static struct pair reshape(const struct mf_derivation *d, struct pair old)
{
    static const uint64_t factors[] = { 2, 3, 5, 2, 7 };
    uint64_t dim[MF_DERIVED_RANK], left = old.node->count;
    uint32_t rank = 0;
    struct pair pair;

    while (rank + 1 < MF_DERIVED_RANK && left > 1 && pick(5) > 0) {
        dim[rank] = 1;
        for (uint64_t tries = pick(5); tries-- > 0;) {
            uint64_t factor = factors[pick(COUNT(factors))];

            if (left % factor == 0) {
                dim[rank] *= factor;
                left /= factor;
            }
        }
        rank++;
    }
    dim[rank++] = left;
    pair = fresh(mf_derive_reshape(d, old.node, rank, dim), old.size);
    memcpy(pair.bytes, old.bytes, (size_t)old.node->count * old.size);
    return pair;
}

static struct pair swap(const struct mf_derivation *d, struct pair old)
{
    uint32_t a = (uint32_t)pick(old.node->rank);
    uint32_t b = (uint32_t)pick(old.node->rank);
    struct pair pair = fresh(mf_derive_swap(d, old.node, a, b), old.size);

    for (uint64_t at = 0; at < pair.node->count; at++) {
        uint64_t place[MF_DERIVED_RANK], other;

        place_of(pair.node, at, place);
        other = place[a];
        place[a] = place[b];
        place[b] = other;
        copy(&pair, at, &old, at_of(old.node, place));
    }
    return pair;
}

static struct pair slice(const struct mf_derivation *d, struct pair old)
{
    uint32_t axis = (uint32_t)pick(old.node->rank);
    uint64_t dim = old.node->dim[axis], step = pick(3);
    struct mf_slice part = { .axis = axis, .step = step };
    struct pair pair;

    part.from = pick(dim);
    step += step == 0;
    part.count = 1 + pick((dim - part.from - 1) / step + 1);
    pair = fresh(mf_derive_slice(d, old.node, part), old.size);
    for (uint64_t at = 0; at < pair.node->count; at++) {
        uint64_t place[MF_DERIVED_RANK];

        place_of(pair.node, at, place);
        place[axis] = part.from + place[axis] * step;
        copy(&pair, at, &old, at_of(old.node, place));
    }
    return pair;
}

/* With parts of itself. */
static struct pair join(const struct mf_derivation *d, struct pair old)
{
    uint32_t axis = (uint32_t)pick(old.node->rank);
    const struct mf_derived *nodes[4] = { old.node };
    uint64_t start[4] = { 0 }, end[4] = { old.node->dim[axis] };
    size_t count = 1 + pick(4);
    struct pair pair;

    for (size_t i = 1; i < count; i++) {
        struct mf_slice part = { .axis = axis };

        part.from = start[i] = pick(old.node->dim[axis]);
        part.count = 1 + pick(old.node->dim[axis] - part.from);
        end[i] = end[i - 1] + part.count;
        nodes[i] = mf_derive_slice(d, old.node, part);
        assert_non_null(nodes[i]);
    }
    pair = fresh(mf_derive_join(d, axis, nodes, count), old.size);
    for (uint64_t at = 0; at < pair.node->count; at++) {
        uint64_t place[MF_DERIVED_RANK];
        size_t which = 0;

        place_of(pair.node, at, place);
        while (place[axis] >= end[which])
            which++;
        place[axis] -= which > 0 ? end[which - 1] : 0;
        place[axis] += start[which];
        copy(&pair, at, &old, at_of(old.node, place));
    }
    return pair;
}

static struct pair stack(const struct mf_derivation *d, struct pair old)
{
    const struct mf_derived *nodes[3] = { old.node, old.node, old.node };
    size_t count = 1 + pick(3);
    struct pair pair;

    if (old.node->rank == MF_DERIVED_RANK)
        return reshape(d, old);
    pair = fresh(mf_derive_stack(d, nodes, count), old.size);
    for (uint64_t at = 0; at < pair.node->count; at++)
        copy(&pair, at, &old, at % old.node->count);
    return pair;
}

/* ---- the bytes ---- */

static void check_part(const struct mf_source *source, const struct pair *pair,
                       uint64_t from, size_t size)
{
    uint8_t *bytes = malloc(size + 1);

    assert_non_null(bytes);
    bytes[size] = 0xA5;
    assert_int_equal(mf_source_read(env, source, from, bytes, size), MF_OK);
    assert_memory_equal(bytes, pair->bytes + from, size);
    assert_int_equal(bytes[size], 0xA5);
    free(bytes);
}

static void check(const struct pair *pair)
{
    struct mf_source source;
    uint8_t byte;

    mf_derived_open(pair->node, "made", &source);
    assert_int_equal(source.size, pair->node->count * pair->size);
    check_part(&source, pair, 0, (size_t)source.size);
    for (size_t i = 0; i < 8 && source.size > 0; i++) {
        uint64_t from = pick(source.size);

        check_part(&source, pair, from, (size_t)pick(source.size - from) + 1);
        check_part(&source, pair, from,
                   (size_t)pick((source.size - from) % 40 + 1));
    }
    assert_int_equal(source.ops->read(&source, source.size, &byte, 1), 0);
    mf_source_close(&source);
}

static struct pair (*const steps[])(const struct mf_derivation *,
                                    struct pair) = { reshape, swap,  slice,
                                                     join,    stack, swap };

static void trees_are_what_their_nodes_say(void **state)
{
    struct mf_model *model = open_tensors();

    (void)state;
    for (size_t round = 0; round < 600; round++) {
        struct mf_arena arena;
        struct mf_derivation d;
        struct pair pair;

        seed = round * 7919 + 1;
        mf_arena_init(&arena, env);
        assert_int_equal(mf_derivation_init(&d, env, &arena), MF_OK);
        pair = leaf(&d, model, round % COUNT(tensors));
        for (uint64_t i = 1 + pick(5); i-- > 0;) {
            struct pair next = steps[pick(COUNT(steps))](&d, pair);

            if (next.node->count > 20000) {
                free(next.bytes);
                continue;
            }
            free(pair.bytes);
            pair = next;
        }
        check(&pair);
        free(pair.bytes);
        mf_arena_release(&arena);
    }
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(trees_are_what_their_nodes_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
