/* SPDX-License-Identifier: MIT
 *
 * test_hub_centre.c - sums as PyTorch computes them
 *
 * What is expected was made by PyTorch 2.11, torch.sum of the same vectors.
 */
#include "lib/hf/hub/pytorch.h"
#include "tests/support.h"

static const struct {
    size_t count;
    float sum;
} known[] = {
    { 1, -0x1.4820000000000p+17f },   { 2, -0x1.47e5560000000p+17f },
    { 5, -0x1.47ce580000000p+17f },   { 7, -0x1.f158840000000p+17f },
    { 8, -0x1.f10eac0000000p+17f },   { 9, -0x1.f0de580000000p+17f },
    { 31, -0x1.12762a0000000p+17f },  { 64, 0x1.e454a80000000p+16f },
    { 77, 0x1.21f0100000000p+13f },   { 128, -0x1.027ad80000000p+17f },
    { 160, -0x1.5509d40000000p+18f }, { 255, -0x1.890d480000000p+15f },
    { 256, -0x1.9f469c0000000p+16f }, { 384, 0x1.2c97f80000000p+15f },
    { 1000, 0x1.feca100000000p+16f }, { 4096, 0x1.c965500000000p+16f },
};

/* Numbers of different sizes, so that their order matters. */
static void sums_are_as_in_pytorch(void **state)
{
    static float x[MF_CENTRE_MAX];

    (void)state;
    for (size_t i = 0; i < MF_CENTRE_MAX; i++)
        x[i] = (float)((int)(i * 7919 % 1009) - 504) / 3 *
               (i % 5 == 0 ? 1000.0f : 1.0f);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (mf_hub_sum(x, known[i].count) != known[i].sum)
            fail_msg("%zu numbers: %a, expected %a", known[i].count,
                     (double)mf_hub_sum(x, known[i].count),
                     (double)known[i].sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_as_in_pytorch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
