/* SPDX-License-Identifier: MIT
 *
 * test_torch_names.c - what tensors of PyTorch are called
 */
#include "tests/with_scratch.h"

static void keys_are_as_python_prints_them(void **state)
{
    static const char *const names[] = { "0.5.weight", "-3.weight" };
    struct mf_model *model = open_model(fixture_path("good-torch-numbers.pt"));
    struct mf_tensor tensor;

    (void)state;
    assert_int_equal(mf_model_info(model)->tensor_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_true(
            mf_tensor_find(model, names[i], strlen(names[i]), &tensor, NULL));
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(keys_are_as_python_prints_them),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
