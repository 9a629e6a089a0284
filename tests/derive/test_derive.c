/* SPDX-License-Identifier: MIT
 *
 * test_derive.c - derived tensors: every part of each is what a plain way of
 * computing it gives
 *
 * Trees of nodes are made at random.  Next to each node there is an array of
 * numbers, which is changed by the obvious loop.
 */
#include <errno.h>

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

/* Reads that give less than is asked for, and nothing from image_end on. */
#define AT_ONCE 700

static uint64_t image_end;

static int64_t read_image(void *user, uint64_t offset, void *buffer,
                          size_t size)
{
    uint64_t left = offset < image_end ? image_end - offset : 0;
    size_t some = size < AT_ONCE ? size : AT_ONCE;

    (void)user;
    some = some < left ? some : (size_t)left;
    memcpy(buffer, image.at + offset, some);
    return (int64_t)some;
}

static struct mf_model *open_image(void)
{
    struct mf_byte_source source = { .size = sizeof(source),
                                     .name = "m",
                                     .bytes = image.size,
                                     .read = read_image };
    struct mf_model *model;

    image_end = image.size;
    assert_int_equal(mf_model_open_source(env, &source, NULL, &model), MF_OK);
    return model;
}

static struct mf_model *open_tensors(void)
{
    char header[2048] = "{";
    size_t end = 0, used = 1;

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
    return open_image();
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
    struct mf_derived_slice part = { .axis = axis, .step = step };
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
    size_t count = 1 + (size_t)pick(4);
    struct pair pair;

    for (size_t i = 1; i < count; i++) {
        struct mf_derived_slice part = { .axis = axis };

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
    size_t count = 1 + (size_t)pick(3);
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
    assert_int_equal(source.ops->read(&source, source.size, &byte, 1, &env->io),
                     0);
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

/* ---- numbers ---- */

/* A file of one tensor. */
static struct mf_model *open_one(const char *type, const uint32_t *bits,
                                 size_t count, size_t size)
{
    char header[128];
    int used = snprintf(header, sizeof(header),
                        "{\"t\":{\"dtype\":\"%s\",\"shape\":[%zu],"
                        "\"data_offsets\":[0,%zu]}}",
                        type, count, count * size);
    struct mf_model *model;

    image.size = 0;
    put_number((uint64_t)used, 8);
    put(header, (size_t)used);
    for (size_t i = 0; i < count; i++)
        put_number(bits[i], size);
    assert_int_equal(
        mf_model_open_memory(env, "m", image.at, image.size, NULL, &model),
        MF_OK);
    return model;
}

/* What PyTorch 2.11 computes.  For e^x, what its sigmoid proves e^x to be in
 * its loops without MKL: numbers where that is not the nearest float. */
static const struct {
    const char *type;
    size_t size; /* of an element */
    enum mf_map map;
    double constant;
    size_t count;
    uint32_t before[8], after[8];
} computed[] = {
    { "F16",
      2,
      MF_MAP_ADD,
      1,
      8,
      { 0x2e66, 0x3555, 0xbbff, 0x4566, 0x2, 0x67ff, 0x8d3e, 0x7b53 },
      { 0x3c66, 0x3d55, 0x1000, 0x4666, 0x3c00, 0x6800, 0x3bff, 0x7b53 } },
    { "BF16",
      2,
      MF_MAP_ADD,
      1,
      4,
      { 0x3dcd, 0x3ea9, 0xbf7f, 0x40ad },
      { 0x3f8cd000, 0x3faa4000, 0x3b800000, 0x40cd0000 } },
    { "BF16",
      2,
      MF_MAP_MUL,
      0.7,
      4,
      { 0x3dcd, 0x3ea9, 0xbf7f, 0x40ad },
      { 0x3d8f8000, 0x3e6c9999, 0xbf328000, 0x40723333 } },
    { "F32",
      4,
      MF_MAP_EXP,
      0,
      8,
      { 1117153749, 1112444638, 1108301012, 1108105586, 1109910666, 1116851610,
        1065353216, 1109325001 },
      { 1974800333, 1689585521, 1498371905, 1489290329, 1572601119, 1947237097,
        1076754516, 1545669563 } },
    /* 0, -0, infinity, -infinity, 100.5, -105, 89, -103.5 */
    { "F32",
      4,
      MF_MAP_NEG_EXP,
      0,
      8,
      { 0, 0x80000000, 0x7f800000, 0xff800000, 0x42c90000, 0xc2d20000,
        0x42b20000, 0xc2cf0000 },
      { 0xbf800000, 0xbf800000, 0xff800000, 0x80000000, 0xff800000, 0x80000000,
        0xff800000, 0x80000001 } },
    /* the sixth is half of 0.7, the seventh the next float */
    { "F32",
      4,
      MF_MAP_TERNARY,
      1.4285714626312256,
      8,
      { 0x3dcd0000, 0x3ea90000, 0xbf7f0000, 0x40ad0000, 0x80000001, 0x3eb33333,
        0x3eb33334, 0x7fc00000 },
      { 0, 0, 0xbf333333, 0x3f333333, 0x80000000, 0, 0x3f333333, 0x7fc00000 } },
};

static void numbers_are_as_in_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(computed); i++) {
        struct mf_model *model = open_one(computed[i].type, computed[i].before,
                                          computed[i].count, computed[i].size);
        struct mf_arena arena;
        struct mf_derivation d;
        struct mf_source source;
        const struct mf_derived *node;
        size_t size = strcmp(computed[i].type, "F16") == 0 ? 2 : 4;

        mf_arena_init(&arena, env);
        assert_int_equal(mf_derivation_init(&d, env, &arena), MF_OK);
        node = mf_derive_map(&d, mf_derive_tensor(&d, model, 0),
                             computed[i].map, computed[i].constant);
        assert_non_null(node);
        mf_derived_open(node, "made", &source);
        assert_int_equal(source.size, size * computed[i].count);
        for (size_t k = 0; k < computed[i].count; k++) {
            uint8_t bits[4];

            assert_int_equal(mf_source_read(env, &source, k * size, bits, size),
                             MF_OK);
            assert_int_equal(get_number(bits, size), computed[i].after[k]);
        }
        mf_arena_release(&arena);
        mf_model_close(model);
    }
}

/* ---- what cannot be made ---- */

static const struct mf_derived *slice_of(const struct mf_derivation *d,
                                         const struct mf_derived *node,
                                         uint32_t axis, uint64_t from,
                                         uint64_t count)
{
    return mf_derive_slice(d, node,
                           (struct mf_derived_slice){
                               .axis = axis, .from = from, .count = count });
}

/* The tensors come from open_tensors. */
static const struct mf_derived *misfit(const struct mf_derivation *d,
                                       const struct mf_derived *const *t,
                                       size_t which)
{
    const struct mf_derived *node;

    switch (which) {
    case 0:
        return mf_derive_reshape(d, t[1], 2, (uint64_t[]){ 7, 100 });
    case 1:
        return mf_derive_swap(d, t[1], 0, 2);
    case 2:
        return slice_of(d, t[1], 1, 90, 11);
    case 3:
        return slice_of(d, t[1], 1, UINT64_MAX, 2);
    case 4:
        return mf_derive_join(d, 0, t, 2);
    case 5:
        return mf_derive_join(
            d, 0,
            (const struct mf_derived *[]){ t[1], slice_of(d, t[1], 1, 0, 9) },
            2);
    case 6:
        return mf_derive_stack(
            d,
            (const struct mf_derived *[]){ t[1], slice_of(d, t[1], 0, 0, 9) },
            2);
    case 7:
        return mf_derive_reshape(d, t[1], 2,
                                 (uint64_t[]){ UINT64_MAX, UINT64_MAX });
    case 8:
        return mf_derive_join(d, 2, t + 1, 1);
    default: /* a view that must be read through another, again and again */
        node = t[0];
        for (size_t i = 0; node && i < 20; i++) {
            node = mf_derive_reshape(d, node, 2, (uint64_t[]){ 60, 100 });
            if (node)
                node = mf_derive_swap(d, node, 0, 1);
            if (node)
                node = mf_derive_map(d, node, MF_MAP_ADD, 1);
        }
        return node;
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    struct mf_model *model = open_tensors();
    struct mf_arena arena;
    struct mf_derivation d;
    const struct mf_derived *t[COUNT(tensors)];

    (void)state;
    mf_arena_init(&arena, env);
    assert_int_equal(mf_derivation_init(&d, env, &arena), MF_OK);
    d.name = (struct mf_str){ "blk.0.x", 7 };
    for (size_t i = 0; i < COUNT(tensors); i++)
        t[i] = mf_derive_tensor(&d, model, i);
    for (size_t i = 0; i < 10; i++) {
        assert_null(misfit(&d, t, i));
        assert_int_equal(mf_env_error(env)->status, MF_ERR_CORRUPT);
        assert_non_null(strstr(mf_env_error(env)->message, "'blk.0.x'"));
        if (i < 4) /* of t[1] */
            assert_non_null(strstr(mf_env_error(env)->message, "[60 x 100]: "));
        mf_clear_error(env);
    }
    mf_arena_release(&arena);
    mf_model_close(model);
}

/* ---- plain tensors, and prints ---- */

static void a_whole_tensor_is_plain(void **state)
{
    struct mf_model *model = open_tensors();
    struct mf_arena arena;
    struct mf_derivation d;
    const struct mf_derived *t, *other;
    size_t record = 99;

    (void)state;
    mf_arena_init(&arena, env);
    assert_int_equal(mf_derivation_init(&d, env, &arena), MF_OK);
    t = mf_derive_tensor(&d, model, 1);
    assert_true(mf_derived_is_plain(t, &record));
    assert_int_equal(record, 1);
    other = mf_derive_reshape(&d, t, 3, (uint64_t[]){ 6, 50, 20 });
    assert_true(mf_derived_is_plain(other, &record));
    assert_true(other->print != t->print);
    other = mf_derive_swap(&d, mf_derive_swap(&d, t, 0, 1), 1, 0);
    assert_true(mf_derived_is_plain(other, &record));
    assert_false(mf_derived_is_plain(mf_derive_swap(&d, t, 0, 1), &record));
    assert_false(mf_derived_is_plain(slice_of(&d, t, 0, 1, 59), &record));
    assert_false(mf_derived_is_plain(slice_of(&d, t, 0, 0, 59), &record));
    assert_true(mf_derived_is_plain(mf_derive_join(&d, 0, &t, 1), &record));
    assert_true(mf_derived_is_plain(mf_derive_stack(&d, &t, 1), &record));
    other = mf_derive_stack(&d, (const struct mf_derived *[]){ t, t }, 2);
    assert_false(mf_derived_is_plain(other, &record));
    assert_true(slice_of(&d, t, 0, 0, 9)->print !=
                slice_of(&d, t, 0, 1, 9)->print);
    assert_true(mf_derive_map(&d, t, MF_MAP_ADD, 1)->print !=
                mf_derive_map(&d, t, MF_MAP_ADD, 2)->print);
    mf_arena_release(&arena);
    mf_model_close(model);
}

/* The last tensor has lost bytes since the model was opened. */
static void what_has_become_shorter_cannot_be_read(void **state)
{
    struct mf_model *model = open_tensors();
    const size_t last = COUNT(tensors) - 1;
    uint8_t bytes[2 * ELEMENTS];
    struct mf_arena arena;
    struct mf_derivation d;
    struct mf_source source;

    (void)state;
    mf_arena_init(&arena, env);
    assert_int_equal(mf_derivation_init(&d, env, &arena), MF_OK);
    mf_derived_open(mf_derive_tensor(&d, model, last), "made", &source);
    assert_int_equal(source.size, sizeof(bytes));
    image_end -= 1;
    errno = 0;
    assert_int_equal(mf_source_read(env, &source, 0, bytes, sizeof(bytes)),
                     MF_ERR_IO);
    if (!strstr(mf_env_error(env)->message, strerror(EIO)))
        fail_msg("%s", mf_env_error(env)->message);
    mf_clear_error(env);
    mf_source_close(&source);
    mf_arena_release(&arena);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(trees_are_what_their_nodes_say),
        WITH_ENV(numbers_are_as_in_pytorch),
        WITH_ENV(what_does_not_fit_is_refused),
        WITH_ENV(a_whole_tensor_is_plain),
        WITH_ENV(what_has_become_shorter_cannot_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
