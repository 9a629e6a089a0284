/* SPDX-License-Identifier: MIT
 *
 * test_data_rows.c - matrices of one row, over and over
 *
 * What is found must depend neither on the number of threads, which decides how
 * large pieces are, nor on how long a row is compared with them.
 */
#include "tests/image.h"

enum { F32 = 0, Q8_0 = 8 };

struct matrix {
    uint32_t type;
    uint64_t columns, rows;
    size_t row; /* bytes */
};

static const struct matrix matrices[] = {
    { F32, 16, 2, 64 },          { F32, 100, 9000, 400 },
    { F32, 16, 100000, 64 },     { F32, 300000, 3, 1200000 },
    { F32, 131071, 4, 524284 },  { F32, 131072, 4, 524288 },
    { Q8_0, 96, 20000, 3 * 34 }, { Q8_0, 524288, 2, 16384 * 34 },
};

static void put_string(const char *text)
{
    put_number(strlen(text), 8);
    put(text, strlen(text));
}

/* Returns the start of the data. */
static uint8_t *make(const struct matrix *matrix)
{
    uint8_t *data;

    image.size = 0;
    put("GGUF\3\0\0\0", 8);
    put_number(1, 8);
    put_number(0, 8);
    put_string("m");
    put_number(2, 4);
    put_number(matrix->columns, 8);
    put_number(matrix->rows, 8);
    put_number(matrix->type, 4);
    put_number(0, 8);
    put_number(0, (32 - image.size % 32) % 32);
    data = image.at + image.size;
    for (uint64_t i = 0; i < matrix->rows; i++)
        for (size_t k = 0; k < matrix->row; k++)
            put(&(uint8_t){ (uint8_t)(k * 7 % 60) }, 1);
    put_number(0, (32 - image.size % 32) % 32);
    return data;
}

static bool is_constant(unsigned threads)
{
    struct mf_env *env = mf_env_new(&(struct mf_options){
        .size = sizeof(struct mf_options), .threads = threads });
    struct mf_model *model;
    struct mf_finding finding;
    bool constant = false;

    assert_int_equal(
        mf_model_open_memory(env, "memory", image.at, image.size, NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        constant = constant || strcmp(finding.rule, "DATA-CONSTANT") == 0;
    mf_model_close(model);
    mf_env_free(env);
    return constant;
}

/* With one thread, some, and so many that pieces get small. */
static void expect(const struct matrix *matrix, bool constant, const char *what)
{
    static const unsigned threads[] = { 1, 2, 7, 64 };

    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
        if (is_constant(threads[i]) != constant)
            fail_msg("%d x %d, %u threads: %s", (int)matrix->columns,
                     (int)matrix->rows, threads[i], what);
}

static void rows_are_compared_to_the_last_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(matrices) / sizeof(*matrices); i++) {
        const struct matrix *matrix = &matrices[i];
        uint8_t *data = make(matrix);
        size_t size = (size_t)matrix->rows * matrix->row;

        expect(matrix, true, "all the same");
        data[size - 1] ^= 1;
        expect(matrix, false, "the last byte differs");
        data[size - 1] ^= 1;
        data[0] ^= 1;
        expect(matrix, false, "the first byte differs");
        data[0] ^= 1;
        data[size / 2] ^= 1;
        expect(matrix, false, "a byte in the middle differs");
    }
}

static void other_tensors_are_left_alone(void **state)
{
    static const struct matrix others[] = {
        { F32, 15, 40, 60 }, /* rows too short */
        { F32, 4000, 1, 16000 },
        { 26, 64, 64, 64 * 4 } /* i32 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        make(&others[i]);
        expect(&others[i], false, "not compared");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_compared_to_the_last_byte),
        cmocka_unit_test(other_tensors_are_left_alone),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
