/* SPDX-License-Identifier: MIT
 *
 * grid_3_search.h - the code that fits four numbers best, side by side
 */
#ifndef MF_LIB_QUANT_GRID_3_SEARCH_H
#define MF_LIB_QUANT_GRID_3_SEARCH_H

#include "lib/quant/grid_3.h"

/* Four numbers in each lane, the roots of their weights, and a scale. */
struct mf_g3_lanes {
    mf_floats x[4], root[4], scale, inverse;
};

/* Rows of lanes that are searched together: what takes long to arrive for one
 * is waited for while others are at work. */
#define MF_G3_ROWS 8

struct mf_g3_rows {
    size_t count;
    struct mf_g3_lanes in[MF_G3_ROWS];
    uint32_t cell[MF_G3_ROWS][MF_LANES];
    uint32_t close[MF_G3_ROWS]; /* bits of lanes to search one at a time */
};

/* What is found for a row. */
struct mf_g3_found {
    mf_floats least;
    mf_ints code;
};

/* The lanes from lane first on are given the value. */
static inline mf_ints mf_ints_from(mf_ints lanes, unsigned first, int32_t value)
{
#if MF_LANES == 16
    return (mf_ints)_mm512_mask_set1_epi32(
        (__m512i)lanes, (__mmask16)(0xffffu << first), value);
#else
#if MF_LANES == 8
    const mf_ints lane = { 0, 1, 2, 3, 4, 5, 6, 7 };
#else
    const mf_ints lane = { 0, 1, 2, 3 };
#endif

    return (mf_ints)mf_lanes_select(lane > (int32_t)first - 1,
                                    (mf_floats)mf_ints_all(value),
                                    (mf_floats)lanes);
#endif
}

/* What the first three bits of each lane stand for. */
static inline mf_floats mf_g3_level(mf_ints digit)
{
#if MF_LANES == 16
    const __m512 table =
        _mm512_setr_ps(1, 3, 5, 7, 9, 11, 13, 15, 1, 3, 5, 7, 9, 11, 13, 15);

    return (mf_floats)_mm512_permutexvar_ps((__m512i)digit, table);
#elif MF_LANES == 8
    const __m256 table = _mm256_setr_ps(1, 3, 5, 7, 9, 11, 13, 15);

    return (mf_floats)_mm256_permutevar8x32_ps(table, (__m256i)digit);
#else
    return mf_lanes_of((digit << 1 & 14) | 1);
#endif
}

/* Takes the code at the lowest bits where it is better. */
static inline void mf_g3_offer(const struct mf_g3_lanes *in, mf_ints code,
                               struct mf_g3_found *found)
{
    mf_floats sum = { 0 };

    for (int i = 0; i < 4; i++) {
        mf_floats off = in->scale * mf_g3_level(code >> 3 * i) - in->x[i];

        off = in->root[i] * off * off;
        sum = i == 0 ? off : sum + off;
    }
#if MF_LANES == 16
    __mmask16 less =
        _mm512_cmp_ps_mask((__m512)sum, (__m512)found->least, _CMP_LT_OQ);

    found->least =
        (mf_floats)_mm512_mask_mov_ps((__m512)found->least, less, (__m512)sum);
    found->code = (mf_ints)_mm512_mask_mov_epi32((__m512i)found->code, less,
                                                 (__m512i)code);
#else
    mf_ints less = sum < found->least;

    found->least = mf_lanes_min(sum, found->least);
    found->code =
        (mf_ints)mf_lanes_select(less, (mf_floats)code, (mf_floats)found->code);
#endif
}

static inline void mf_g3_offer_two(const struct mf_g3_lanes *in, mf_ints word,
                                   struct mf_g3_found *found)
{
    mf_g3_offer(in, word, found);
    mf_g3_offer(in, word >> MF_CELL_SECOND, found);
}

/* Steps of 2^-16 that a number is away from a whole one, below which rounding
 * errors may decide in which cell it is, or which level is nearer. */
#define MF_G3_CLOSE 2

/* The cell of each lane; *close: the lanes where a number is close to a whole
 * one. */
static inline mf_ints mf_g3_cell(const struct mf_g3_lanes *in, uint32_t *close)
{
    mf_floats inverse = in->inverse * 65536.0f;
    mf_ints cell = { 0 }, far = { 0 };

    for (int i = 0; i < 4; i++) {
        mf_floats x =
            mf_lanes_min(inverse * in->x[i], mf_lanes_all(14.5f * 65536.0f));
        mf_ints n =
            mf_lanes_truncate(mf_lanes_max(x, mf_lanes_all(0.5f * 65536.0f)));
        /* Less than twice MF_G3_CLOSE above the last bit that can be. */
        mf_ints off = (-MF_G3_CLOSE - 1 - n) & 0xffff;

        far = i == 0 ? off : mf_ints_max(far, off);
        cell |= i == 0 ? n >> 16 : n >> (16 - 4 * i) & 15 << 4 * i;
    }
    *close = mf_lanes_signs(far > 0xffff - 2 * MF_G3_CLOSE);
    return cell;
}

static inline void mf_g3_find_cells(struct mf_g3_rows *rows)
{
    for (size_t row = 0; row < rows->count; row++) {
        mf_ints cell = mf_g3_cell(&rows->in[row], &rows->close[row]);

        memcpy(rows->cell[row], &cell, sizeof(cell));
    }
}

static inline const uint32_t *mf_g3_list(const struct mf_grid_cells *cells,
                                         uint32_t cell)
{
    return cells->part[cells->start[cell]];
}

/* Of four vectors the first numbers, the second ones and so on, of each part of
 * four. */
#if defined(__SSE2__)
#if MF_LANES == 16
#define MF_G3_LOW_32(a, b)  _mm512_unpacklo_epi32(a, b)
#define MF_G3_HIGH_32(a, b) _mm512_unpackhi_epi32(a, b)
#define MF_G3_LOW_64(a, b)  _mm512_unpacklo_epi64(a, b)
#define MF_G3_HIGH_64(a, b) _mm512_unpackhi_epi64(a, b)
#elif MF_LANES == 8
#define MF_G3_LOW_32(a, b)  _mm256_unpacklo_epi32(a, b)
#define MF_G3_HIGH_32(a, b) _mm256_unpackhi_epi32(a, b)
#define MF_G3_LOW_64(a, b)  _mm256_unpacklo_epi64(a, b)
#define MF_G3_HIGH_64(a, b) _mm256_unpackhi_epi64(a, b)
#else
#define MF_G3_LOW_32(a, b)  _mm_unpacklo_epi32(a, b)
#define MF_G3_HIGH_32(a, b) _mm_unpackhi_epi32(a, b)
#define MF_G3_LOW_64(a, b)  _mm_unpacklo_epi64(a, b)
#define MF_G3_HIGH_64(a, b) _mm_unpackhi_epi64(a, b)
#endif

/* The first parts of the lists of lanes at, at + 4 and so on. */
static inline mf_ints mf_g3_load_parts(const struct mf_grid_cells *cells,
                                       const uint32_t *cell)
{
    __m128i part[MF_LANES / 4];

    for (size_t i = 0; i < MF_LANES / 4; i++)
        part[i] = _mm_loadu_si128(
            (const __m128i *)(const void *)mf_g3_list(cells, cell[4 * i]));
#if MF_LANES == 16
    __m512i all = _mm512_castsi128_si512(part[0]);

    all = _mm512_inserti32x4(all, part[1], 1);
    all = _mm512_inserti32x4(all, part[2], 2);
    return (mf_ints)_mm512_inserti32x4(all, part[3], 3);
#elif MF_LANES == 8
    return (mf_ints)_mm256_inserti128_si256(_mm256_castsi128_si256(part[0]),
                                            part[1], 1);
#else
    return (mf_ints)part[0];
#endif
}

#endif

/* The words of the first parts of lists, in all lanes. */
static inline void mf_g3_load_lists(const struct mf_grid_cells *cells,
                                    const uint32_t *cell,
                                    mf_ints word[MF_CELL_WORDS])
{
#if MF_LANES == 16
    typedef __m512i vector;
#elif MF_LANES == 8
    typedef __m256i vector;
#elif defined(__SSE2__)
    typedef __m128i vector;
#endif
#if defined(__SSE2__)
    vector a = (vector)mf_g3_load_parts(cells, cell);
    vector b = (vector)mf_g3_load_parts(cells, cell + 1);
    vector c = (vector)mf_g3_load_parts(cells, cell + 2);
    vector d = (vector)mf_g3_load_parts(cells, cell + 3);
    vector low_ab = MF_G3_LOW_32(a, b), low_cd = MF_G3_LOW_32(c, d);
    vector high_ab = MF_G3_HIGH_32(a, b), high_cd = MF_G3_HIGH_32(c, d);

    word[0] = (mf_ints)MF_G3_LOW_64(low_ab, low_cd);
    word[1] = (mf_ints)MF_G3_HIGH_64(low_ab, low_cd);
    word[2] = (mf_ints)MF_G3_LOW_64(high_ab, high_cd);
    word[3] = (mf_ints)MF_G3_HIGH_64(high_ab, high_cd);
#else
    for (int i = 0; i < MF_LANES; i++)
        for (int j = 0; j < MF_CELL_WORDS; j++)
            word[j][i] = (int32_t)mf_g3_list(cells, cell[i])[j];
#endif
}

/* Codes of lists after their first part, in those lanes. */
static inline void mf_g3_offer_longer(const struct mf_grid_cells *cells,
                                      const struct mf_g3_lanes *in,
                                      const uint32_t *cell, mf_ints first,
                                      uint32_t lanes, struct mf_g3_found *found)
{
    mf_ints all;

    memcpy(&all, cell, sizeof(all));
    while (lanes != 0) {
        uint32_t one = cell[__builtin_ctz(lanes)];
        const uint32_t *list = mf_g3_list(cells, one);
        unsigned words = ((list[0] >> MF_CELL_COUNT) + 1) / 2;
        mf_ints here = all == mf_ints_all((int32_t)one);

        for (unsigned i = MF_CELL_WORDS; i < words; i++) {
            mf_ints word = mf_ints_all((int32_t)list[i]);

            /* Others are offered once more what they have been. */
            word = (mf_ints)mf_lanes_select(here, (mf_floats)word,
                                            (mf_floats)first);
            mf_g3_offer_two(in, word, found);
        }
        lanes &= ~mf_lanes_signs(here);
    }
}

/* The lanes whose list has more codes. */
static inline uint32_t mf_g3_has_more(mf_ints word, unsigned codes)
{
    uint32_t next = (codes + 1) << MF_CELL_COUNT;

    return mf_lanes_signs(word > mf_ints_all((int32_t)(next - 1)));
}

/* The codes of a row, and MF_G3_OFF; *none: the lanes where nothing fits. */
static inline mf_ints mf_g3_find_codes(const struct mf_grid_cells *cells,
                                       const struct mf_g3_lanes *in,
                                       const uint32_t *cell, uint32_t *none)
{
    struct mf_g3_found found;
    mf_ints word[MF_CELL_WORDS], off;

    mf_g3_load_lists(cells, cell, word);
    found.code = word[0];
    found.least = mf_lanes_all(FLT_MAX);
    off = word[0] & (int32_t)MF_CELL_OFF;
    for (int j = 0; j < MF_CELL_WORDS - 1; j++)
        mf_g3_offer_two(in, word[j], &found);
    if (mf_g3_has_more(word[0], 2 * (MF_CELL_WORDS - 1))) {
        uint32_t longer = mf_g3_has_more(word[0], 2 * MF_CELL_WORDS);

        mf_g3_offer_two(in, word[MF_CELL_WORDS - 1], &found);
        if (longer)
            mf_g3_offer_longer(cells, in, cell, word[0], longer, &found);
    }
    *none = mf_lanes_signs((found.least == mf_lanes_all(FLT_MAX)) & (off != 0));
    return (found.code & 0xfff) | off >> 12;
}

/* Finds codes of close lanes; false where there is none. */
static inline bool mf_g3_find_close(const struct mf_grid_map *map,
                                    const struct mf_g3_lanes *in,
                                    uint32_t close, mf_ints *codes)
{
    for (; close != 0; close &= close - 1) {
        int lane = __builtin_ctz(close);
        float x[4], root[4];
        uint16_t code;

        for (int i = 0; i < 4; i++) {
            x[i] = in->x[i][lane];
            root[i] = in->root[i][lane];
        }
        if (!mf_g3_four(map, x, root, in->scale[lane], in->inverse[lane],
                        &code))
            return false;
        (*codes)[lane] = code;
    }
    return true;
}

/* The codes for four numbers in each lane of a row, after mf_g3_find_cells;
 * false where nothing fits. */
static inline bool mf_g3_search(const struct mf_grid_map *map,
                                const struct mf_g3_rows *rows, size_t row,
                                mf_ints *codes)
{
    uint32_t none, close = rows->close[row];

    *codes =
        mf_g3_find_codes(map->cells, &rows->in[row], rows->cell[row], &none);
    return (none & ~close) == 0 &&
           (close == 0 || mf_g3_find_close(map, &rows->in[row], close, codes));
}

#endif
