/* SPDX-License-Identifier: MIT
 *
 * test_outtype.c - the type that each tensor of a converted folder gets
 */
#include "lib/hf/hf.h"
#include "lib/hf/hub/outtype.h"
#include "tests/support.h"

#define NONE MF_TYPE_UNKNOWN

/* As llama.cpp's converter v0.5.0 has it. */
static const struct {
    const char *name;
    uint32_t rank;
    uint64_t dim[3]; /* slowest first */
    bool f32, wide;
    enum mf_type forced, wanted, type;
} cases[] = {
    { "blk.0.attn_q.weight",
      2,
      { 8, 256 },
      0,
      0,
      NONE,
      MF_TYPE_F32,
      MF_TYPE_F32 },
    { "blk.0.attn_q.weight",
      2,
      { 8, 256 },
      0,
      0,
      NONE,
      MF_TYPE_BF16,
      MF_TYPE_BF16 },
    { "blk.0.attn_q.weight",
      2,
      { 8, 256 },
      0,
      0,
      NONE,
      MF_TYPE_Q8_0,
      MF_TYPE_Q8_0 },
    { "blk.0.attn_q.weight",
      2,
      { 8, 255 },
      0,
      0,
      NONE,
      MF_TYPE_Q8_0,
      MF_TYPE_F16 },
    { "blk.0.attn_q.weight",
      2,
      { 8, 255 },
      0,
      0,
      NONE,
      MF_TYPE_BF16,
      MF_TYPE_BF16 },
    { "blk.0.attn_q.weight",
      2,
      { 8, 256 },
      0,
      0,
      NONE,
      MF_TYPE_TQ1_0,
      MF_TYPE_TQ1_0 },
    { "blk.0.attn_q.weight",
      2,
      { 8, 128 },
      0,
      0,
      NONE,
      MF_TYPE_TQ2_0,
      MF_TYPE_F16 },
    { "blk.0.attn_q.bias",
      2,
      { 8, 256 },
      0,
      0,
      NONE,
      MF_TYPE_F16,
      MF_TYPE_F32 },
    { "blk.0.attn_q.weight",
      1,
      { 256 },
      0,
      0,
      MF_TYPE_Q8_0,
      MF_TYPE_F16,
      MF_TYPE_F32 },
    { "blk.0.x_norm.weight",
      2,
      { 8, 256 },
      0,
      0,
      MF_TYPE_F16,
      MF_TYPE_F16,
      MF_TYPE_F32 },
    { "blk.0.ffn_gate_inp.weight",
      2,
      { 8, 256 },
      1,
      0,
      NONE,
      MF_TYPE_F16,
      MF_TYPE_F32 },
    { "blk.0.ffn_gate_inp.weight",
      2,
      { 8, 256 },
      1,
      0,
      MF_TYPE_Q8_0,
      MF_TYPE_F16,
      MF_TYPE_Q8_0 },
    { "token_embd.weight",
      2,
      { 8, 256 },
      0,
      1,
      NONE,
      MF_TYPE_TQ1_0,
      MF_TYPE_F16 },
    { "token_embd.weight",
      2,
      { 8, 256 },
      0,
      1,
      NONE,
      MF_TYPE_Q8_0,
      MF_TYPE_Q8_0 },
    { "blk.0.ffn_up_exps.weight",
      3,
      { 4, 8, 33 },
      0,
      0,
      NONE,
      MF_TYPE_Q8_0,
      MF_TYPE_F16 },
    { "scale", 0, { 0 }, 0, 0, NONE, MF_TYPE_Q8_0, MF_TYPE_F32 },
};

static void types_are_as_in_the_converter(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mf_outtype_tensor tensor = {
            .name = { cases[i].name, strlen(cases[i].name) },
            .rank = cases[i].rank,
            .dim = cases[i].dim,
            .always_f32 = cases[i].f32,
            .never_ternary = cases[i].wide,
            .forced = cases[i].forced,
        };

        assert_int_equal(mf_outtype_of(cases[i].wanted, &tensor),
                         cases[i].type);
    }
}

/* The first matrix of 16 bits says what auto is, whatever comes before. */
static void a_matrix_says_what_auto_is(void **state)
{
    enum mf_type type = MF_TYPE_F16;

    (void)state;
    assert_false(mf_outtype_guess(MF_TYPE_BF16, 1, &type));
    assert_false(mf_outtype_guess(MF_TYPE_F32, 2, &type));
    assert_false(mf_outtype_guess(MF_TYPE_F8_E4M3, 2, &type));
    assert_int_equal(type, MF_TYPE_F16);
    assert_true(mf_outtype_guess(MF_TYPE_BF16, 2, &type));
    assert_int_equal(type, MF_TYPE_BF16);
    assert_true(mf_outtype_guess(MF_TYPE_F16, 3, &type));
    assert_int_equal(type, MF_TYPE_F16);
}

static void names_and_numbers(void **state)
{
    static const struct {
        const char *name;
        uint32_t number;
    } rows[] = { { "f32", 0 },  { "f16", 1 },    { "bf16", 32 },
                 { "q8_0", 7 }, { "tq1_0", 36 }, { "tq2_0", 37 } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(mf_hf_file_type(mf_hf_type(rows[i].name)),
                         rows[i].number);
    assert_int_equal(mf_hf_type("auto"), MF_TYPE_UNKNOWN);
    assert_int_equal(mf_hf_type("q4_0"), MF_TYPE_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_as_in_the_converter),
        cmocka_unit_test(a_matrix_says_what_auto_is),
        cmocka_unit_test(names_and_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
