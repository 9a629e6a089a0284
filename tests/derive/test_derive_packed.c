/* SPDX-License-Identifier: MIT
 *
 * test_derive_packed.c - what compressed checkpoints are unpacked to: every
 * part is what the obvious loop gives
 */
#include "lib/derive/derive.h"
#include "tests/image.h"
#include "tests/with_env.h"

static uint64_t seed;

static uint64_t pick(uint64_t below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33) % below;
}

/* ---- a model of four tensors ---- */

struct part {
    const char *type;
    size_t size;
    uint32_t rank;
    uint64_t dim[4];
};

static uint64_t count_of(const struct part *part)
{
    uint64_t count = 1;

    for (uint32_t i = 0; i < part->rank; i++)
        count *= part->dim[i];
    return count;
}

/* Where each tensor's bytes are in the image. */
static size_t start[4];

static struct mf_model *open_parts(const struct part parts[4])
{
    char header[1024] = "{";
    size_t used = 1, end = 0;
    struct mf_model *model;

    for (size_t i = 0; i < 4; i++) {
        start[i] = end;
        end += (size_t)count_of(&parts[i]) * parts[i].size;
        used += (size_t)sprintf(header + used,
                                "%s\"t%zu\":{\"dtype\":\"%s\",\"shape\":[",
                                i > 0 ? "," : "", i, parts[i].type);
        for (uint32_t d = 0; d < parts[i].rank; d++)
            used += (size_t)sprintf(header + used, "%s%zu", d > 0 ? "," : "",
                                    (size_t)parts[i].dim[d]);
        used += (size_t)sprintf(header + used, "],\"data_offsets\":[%zu,%zu]}",
                                start[i], end);
    }
    header[used++] = '}';
    image.size = 0;
    put_number(used, 8);
    put(header, used);
    for (size_t i = 0; i < 4; i++)
        start[i] += image.size;
    for (size_t i = 0; i < 4; i++)
        for (uint64_t at = 0; at < count_of(&parts[i]); at++) {
            float value = (float)pick(1000) / 64 + 1;
            uint32_t bits;

            memcpy(&bits, &value, sizeof(bits));
            if (strcmp(parts[i].type, "F32") == 0)
                put_number(bits, 4);
            else if (i == 3) /* places of the scales */
                put_number(pick(parts[1].dim[parts[1].rank - 1]), 4);
            else
                put_number(pick(UINT32_MAX), parts[i].size);
        }
    assert_int_equal(
        mf_model_open_memory(env, "m", image.at, image.size, NULL, &model),
        MF_OK);
    return model;
}

/* All of it, and parts of any size. */
static void check(const struct mf_derived *node, const void *expected,
                  size_t size)
{
    struct mf_source source;
    uint8_t *bytes = malloc(size + 1);

    if (!node)
        fail_msg("%s", mf_env_error(env)->message);
    assert_non_null(bytes);
    mf_derived_open(node, "made", &source);
    assert_int_equal(source.size, size);
    for (size_t i = 0; i < 12; i++) {
        size_t from = i == 0 ? 0 : (size_t)pick(size);
        size_t some = i == 0       ? size
                      : i % 2 == 0 ? (size_t)pick(size - from) + 1
                                   : (size_t)pick((size - from) % 80 + 1);

        bytes[some] = 0xA5;
        assert_int_equal(mf_source_read(env, &source, from, bytes, some),
                         MF_OK);
        assert_memory_equal(bytes, (const uint8_t *)expected + from, some);
        assert_int_equal(bytes[some], 0xA5);
    }
    free(bytes);
}

static struct mf_arena arena;

static struct mf_derivation begin(void)
{
    struct mf_derivation d;

    mf_arena_init(&arena, env);
    assert_int_equal(mf_derivation_init(&d, env, &arena), MF_OK);
    d.name = (struct mf_str){ "made", 4 };
    return d;
}

/* ---- scales ---- */

static float float_at(size_t part, uint64_t at)
{
    return mf_little_float(image.at + start[part] + at * 4);
}

/* One round: weights of a shape, and scales of blocks. */
struct scaling {
    struct part parts[4]; /* weight, scale, zero, place */
    struct mf_scaling how;
    bool zero, placed;
};

static struct scaling any_scaling(void)
{
    struct scaling s = { .parts = { { "U8", 1, 0, { 0 } },
                                    { "F32", 4, 0, { 0 } },
                                    { "U8", 1, 0, { 0 } },
                                    { "I32", 4, 1, { 0 } } } };
    uint32_t rank = 1 + (uint32_t)pick(3);

    s.zero = pick(2) == 0;
    s.placed = pick(3) == 0;
    s.how.zero_shift = (float)pick(3);
    s.how.divide = pick(4) == 0;
    for (uint32_t i = 0; i < rank; i++) {
        uint64_t dim = 1 + pick(i + 1 == rank ? 400 : 12);
        uint64_t block = pick(3) == 0 ? 0 : 1 + pick(dim + 3), places;

        s.how.block[i] = block;
        places = block == 0 ? 1 : (dim + block - 1) / block;
        if (s.placed && i + 1 == rank)
            places = 1 + pick(40);
        s.parts[3].dim[0] = dim;
        s.parts[0].dim[i] = dim;
        s.parts[1].dim[i] = s.parts[2].dim[i] = places;
    }
    s.parts[0].rank = s.parts[1].rank = s.parts[2].rank = rank;
    return s;
}

static float expected_at(const struct scaling *s, uint64_t at)
{
    uint64_t scale = 0, left = at, stride = 1;
    uint32_t rank = s->parts[0].rank;
    float value;

    for (uint32_t i = rank; i-- > 0; left /= s->parts[0].dim[i]) {
        uint64_t place = left % s->parts[0].dim[i], block = s->how.block[i];

        if (s->placed && i + 1 == rank)
            place = image.at[start[3] + place * 4]; /* below 256 */
        else
            place = block == 0 ? 0 : place / block;
        scale += place * stride;
        stride *= s->parts[1].dim[i];
    }
    value = (float)image.at[start[0] + at] - s->how.zero_shift;
    if (s->zero)
        value -= (float)image.at[start[2] + scale];
    return s->how.divide ? value / float_at(1, scale)
                         : value * float_at(1, scale);
}

static void weights_get_their_scales(void **state)
{
    (void)state;
    for (size_t round = 0; round < 400; round++) {
        struct mf_derivation d = begin();
        struct mf_model *model;
        struct scaling s;
        float *expected;
        uint64_t count;

        seed = round * 7919 + 3;
        s = any_scaling();
        model = open_parts(s.parts);
        s.how.weight = mf_derive_tensor(&d, model, 0);
        s.how.scale = mf_derive_tensor(&d, model, 1);
        s.how.zero = s.zero ? mf_derive_tensor(&d, model, 2) : NULL;
        s.how.place = s.placed ? mf_derive_tensor(&d, model, 3) : NULL;
        count = count_of(&s.parts[0]);
        expected = malloc((size_t)count * sizeof(*expected));
        assert_non_null(expected);
        for (uint64_t at = 0; at < count; at++)
            expected[at] = expected_at(&s, at);
        in_file_order(expected, (size_t)count, sizeof(*expected));
        check(mf_derive_scaled(&d, &s.how), expected,
              (size_t)count * sizeof(*expected));
        free(expected);
        mf_model_close(model);
        mf_arena_release(&arena);
    }
}

/* ---- integers ---- */

static void integers_are_unpacked(void **state)
{
    static const struct {
        const char *type;
        size_t size;
        unsigned bits, count;
    } kinds[] = { { "I32", 4, 4, 8 },  { "I32", 4, 8, 4 }, { "I32", 4, 2, 16 },
                  { "I32", 4, 3, 10 }, { "U8", 1, 2, 4 },  { "I32", 4, 5, 6 },
                  { "I16", 2, 4, 4 },  { "U8", 1, 4, 2 } };

    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct part parts[4] = {
            { kinds[i].type, kinds[i].size, 2, { 9, 901 } },
            { "U8", 1, 1, { 1 } },
            { "U8", 1, 1, { 1 } },
            { "I32", 4, 1, { 1 } }
        };
        size_t count = 9 * 901 * kinds[i].count;
        uint8_t *expected = malloc(count);
        struct mf_derivation d = begin();
        struct mf_model *model;

        seed = i + 5;
        assert_non_null(expected);
        model = open_parts(parts);
        for (size_t at = 0; at < count; at++) {
            uint32_t value = (uint32_t)get_number(
                image.at + start[0] + at / kinds[i].count * kinds[i].size,
                kinds[i].size);

            value >>= at % kinds[i].count * kinds[i].bits;
            expected[at] = (uint8_t)(value & ((1U << kinds[i].bits) - 1));
        }
        check(mf_derive_unpack(&d, mf_derive_tensor(&d, model, 0),
                               kinds[i].bits, kinds[i].count),
              expected, count);
        free(expected);
        mf_model_close(model);
        mf_arena_release(&arena);
    }
}

/* ---- blocks of 4 bits ---- */

static unsigned nibble(size_t at)
{
    return image.at[start[0] + at / 2] >> at % 2 * 4 & 15;
}

/* By the definition of the block: element j of a group of `size` is in the low
 * or the high half of byte j % (size / 2). */
static uint8_t *blocks(size_t groups, size_t of, size_t size, uint8_t mask)
{
    uint8_t *out = calloc(groups, size / 2 + 1), *into = out;

    assert_non_null(out);
    for (size_t first = 0; first < groups; first += of) {
        for (size_t g = first; g < first + of; g++)
            *into++ = image.at[start[1] + g] & mask;
        for (size_t g = first; g < first + of; g++, into += size / 2)
            for (size_t j = 0; j < size; j++)
                into[j % (size / 2)] |=
                    (uint8_t)(nibble(g * size + j) << j / (size / 2) * 4);
    }
    return out;
}

/* What the blocks were made of. */
static void check_parts(const struct mf_derivation *d,
                        const struct mf_derived *node)
{
    const struct mf_derived *packed = mf_derive_mxfp4_packed(d, node);
    const struct mf_derived *scales = mf_derive_mxfp4_scales(d, node);

    check(packed, image.at + start[0], 3 * 50 * 12 * 16);
    check(scales, image.at + start[1], 3 * 50 * 12);
    assert_int_equal(packed->rank, 4);
    assert_int_equal(packed->dim[3], 16);
    assert_int_equal(scales->rank, 3);
    assert_int_equal(scales->dim[2], 12);
    assert_true(packed->print != scales->print);
}

static void numbers_of_4_bits_become_blocks(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        bool apart = i == 1; /* a dimension for the bytes of a group */
        size_t size = i < 2 ? 32 : 16, last = size / 2;
        struct part parts[4] = { { "U8", 1, 3, { 3, 50, 12 * last } },
                                 { "U8", 1, 3, { 3, 50, 12 } },
                                 { "U8", 1, 1, { 1 } },
                                 { "I32", 4, 1, { 1 } } };
        struct mf_derivation d = begin();
        const struct mf_derived *packed, *scale, *node;
        struct mf_model *model;
        uint8_t *expected;

        if (apart)
            parts[0] = (struct part){ "U8", 1, 4, { 3, 50, 12, last } };
        seed = i + 11;
        model = open_parts(parts);
        packed = mf_derive_tensor(&d, model, 0);
        scale = mf_derive_tensor(&d, model, 1);
        node = i < 2 ? mf_derive_mxfp4(&d, packed, scale)
                     : mf_derive_nvfp4(&d, packed, scale);
        expected = i < 2 ? blocks(3 * 50 * 12, 1, 32, 0xff)
                         : blocks(3 * 50 * 12, 4, 16, 0x7f);
        check(node, expected, 3 * 50 * 12 * (size / 2 + 1));
        assert_int_equal(node->dim[2], 12 * size);
        if (i < 2)
            check_parts(&d, node);
        free(expected);
        mf_model_close(model);
        mf_arena_release(&arena);
    }
}

/* Whole rows of blocks, in another order. */
static void rows_of_blocks_are_reordered(void **state)
{
    struct part parts[4] = { { "U8", 1, 2, { 24, 64 } },
                             { "U8", 1, 2, { 24, 4 } },
                             { "U8", 1, 1, { 1 } },
                             { "I32", 4, 1, { 1 } } };
    const size_t row = 4 * 17;
    struct mf_derivation d = begin();
    struct mf_model *model = open_parts(parts);
    const struct mf_derived *node = mf_derive_mxfp4(
        &d, mf_derive_tensor(&d, model, 0), mf_derive_tensor(&d, model, 1));
    uint8_t *rows = blocks(24 * 4, 1, 32, 0xff), *moved = malloc(24 * row);

    (void)state;
    assert_non_null(moved);
    for (size_t i = 0; i < 24; i++) /* head, half, row: to head, row, half */
        memcpy(moved + i * row,
               rows + (i / 6 * 6 + i % 2 * 3 + i % 6 / 2) * row, row);
    node = mf_derive_reshape(&d, node, 4, (uint64_t[]){ 4, 2, 3, 128 });
    assert_null(mf_derive_swap(&d, node, 2, 3));
    mf_clear_error(env);
    node = mf_derive_swap(&d, node, 1, 2);
    check(mf_derive_reshape(&d, node, 2, (uint64_t[]){ 24, 128 }), moved,
          24 * row);
    free(moved);
    free(rows);
    mf_model_close(model);
    mf_arena_release(&arena);
}

/* ---- what does not fit ---- */

static const struct mf_derived *misfit(const struct mf_derivation *d,
                                       const struct mf_derived *const t[4],
                                       size_t which)
{
    struct mf_scaling how = { .weight = t[0], .scale = t[1] };

    switch (which) {
    case 0: /* 64 columns of 4 scales */
        how.block[0] = 1;
        how.block[1] = 15;
        return mf_derive_scaled(d, &how);
    case 1:
        how.block[0] = 1;
        how.block[1] = 16;
        how.zero = t[2];
        return mf_derive_scaled(d, &how);
    case 2:
        how.block[0] = 1;
        how.place = t[3]; /* 63 of 64 */
        return mf_derive_scaled(d, &how);
    case 6: /* places that are not there: bytes of the weights */
        how.weight = mf_derive_reshape(d, t[0], 2, (uint64_t[]){ 1, 640 });
        how.scale = mf_derive_reshape(d, t[1], 2, (uint64_t[]){ 1, 40 });
        how.place = mf_derive_reshape(d, t[0], 1, (uint64_t[]){ 640 });
        return mf_derive_scaled(d, &how);
    case 3:
        return mf_derive_mxfp4(d, t[0], t[1]);
    case 4:
        return mf_derive_nvfp4(d, t[0], t[0]);
    case 7:
        return mf_derive_mxfp4_packed(d, t[0]);
    default:
        return mf_derive_unpack(d, t[0], 4, 4);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    static const struct part parts[4] = { { "U8", 1, 2, { 10, 64 } },
                                          { "F32", 4, 2, { 10, 4 } },
                                          { "U8", 1, 2, { 5, 8 } },
                                          { "I32", 4, 1, { 63 } } };
    struct mf_derivation d = begin();
    struct mf_model *model = open_parts(parts);
    const struct mf_derived *t[4];

    (void)state;
    for (size_t i = 0; i < 4; i++)
        t[i] = mf_derive_tensor(&d, model, i);
    for (size_t i = 0; i < 8; i++) {
        assert_null(misfit(&d, t, i));
        assert_int_equal(mf_env_error(env)->status, MF_ERR_CORRUPT);
        mf_clear_error(env);
    }
    mf_model_close(model);
    mf_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(weights_get_their_scales),
        WITH_ENV(integers_are_unpacked),
        WITH_ENV(numbers_of_4_bits_become_blocks),
        WITH_ENV(rows_of_blocks_are_reordered),
        WITH_ENV(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
