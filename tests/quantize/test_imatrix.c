/* SPDX-License-Identifier: MIT
 *
 * test_imatrix.c - importance matrices are read, and broken ones are refused
 */
#include <math.h>

#include "lib/quantize/imatrix.h"
#include "tests/quantize/mix.h"
#include "tests/with_env.h"

static const struct mf_imatrix_choice all;
static char path[512];

static int set_up(void **state)
{
    int failed = make_scratch(state);

    strcpy(path, scratch_path("matrix"));
    return failed;
}

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

static struct mf_imatrix *open_matrix(const char *file)
{
    struct mf_imatrix *imatrix;

    if (mf_imatrix_open(env, file, &all, &imatrix) != MF_OK)
        fail_msg("%s: %s", file, mf_env_error(env)->message);
    return imatrix;
}

/* The facts of a whole matrix. */
static void check_matrix(const struct mf_imatrix *imatrix, size_t count,
                         uint64_t chunks, const char *dataset)
{
    assert_int_equal(imatrix->count, count);
    assert_int_equal(imatrix->chunks, chunks);
    assert_int_equal(imatrix->dataset.size, strlen(dataset));
    assert_memory_equal(imatrix->dataset.at, dataset, strlen(dataset));
}

static void check_values(const struct mf_imatrix *imatrix, const char *name,
                         const float *expected, size_t count)
{
    float got[64];
    bool found;

    assert_true(count <= COUNT(got));
    assert_int_equal(mf_imatrix_read(imatrix, str(name), got, count, &found),
                     MF_OK);
    assert_true(found);
    for (size_t i = 0; i < count; i++)
        assert_true(got[i] == expected[i]);
}

/* ---- old ones ---- */

/* Two entries, and with tail what later versions wrote after them; returns the
 * bytes before that. */
static size_t write_old(bool tail)
{
    FILE *file = fopen(path, "wb");
    size_t size;

    assert_non_null(file);
    write_number(file, 2);
    write_entry(file, "blk.0.attn_q.weight", 3, 4, 4);
    write_entry(file, "output.weight", 0, 2, 5);
    size = (size_t)ftell(file);
    if (tail) {
        write_number(file, 10);
        write_text(file, "some.txt");
    }
    assert_int_equal(fclose(file), 0);
    return size;
}

static void old_ones_are_read(void **state)
{
    static const float third[] = { 4.0f / 3, 4.0f / 3, 4.0f / 3, 4.0f / 3 };
    static const float five[] = { 5, 5 }; /* a count of 0 divides nothing */
    struct mf_imatrix *imatrix;
    float value;
    bool found;

    (void)state;
    write_old(true);
    imatrix = open_matrix(path);
    check_matrix(imatrix, 2, 10, "some.txt");
    check_values(imatrix, "blk.0.attn_q.weight", third, 4);
    check_values(imatrix, "output.weight", five, 2);
    assert_int_equal(
        mf_imatrix_read(imatrix, str("blk.0.attn_q"), &value, 1, &found),
        MF_OK);
    assert_false(found);
    assert_int_equal(
        mf_imatrix_read(imatrix, str("output.weight"), &value, 1, &found),
        MF_ERR_ARGUMENT);
    mf_imatrix_close(imatrix);
    write_old(false);
    imatrix = open_matrix(path);
    assert_int_equal(imatrix->chunks, 0);
    assert_int_equal(imatrix->dataset.size, 0);
    check_values(imatrix, "output.weight", five, 2);
    mf_imatrix_close(imatrix);
}

static void entries_are_chosen_by_their_names(void **state)
{
    const char *parts[] = { "attn", "out" };
    struct mf_imatrix_choice choice = { .include = parts, .include_count = 1 };
    struct mf_imatrix *imatrix;

    (void)state;
    write_old(true);
    assert_int_equal(mf_imatrix_open(env, path, &choice, &imatrix), MF_OK);
    assert_int_equal(imatrix->count, 1);
    assert_non_null(mf_imatrix_find(imatrix, str("blk.0.attn_q.weight")));
    mf_imatrix_close(imatrix);
    choice = (struct mf_imatrix_choice){ .exclude = parts, .exclude_count = 2 };
    assert_int_equal(mf_imatrix_open(env, path, &choice, &imatrix),
                     MF_ERR_ARGUMENT);
    assert_non_null(strstr(mf_env_error(env)->message,
                           "entry of the importance matrix is left"));
    assert_int_equal(mf_env_error(env)->file, MF_ERROR_IN_IMATRIX);
    choice.exclude_count = 1;
    assert_int_equal(mf_imatrix_open(env, path, &choice, &imatrix), MF_OK);
    assert_int_equal(imatrix->count, 1);
    assert_non_null(mf_imatrix_find(imatrix, str("output.weight")));
    mf_imatrix_close(imatrix);
}

/* ---- new ones ---- */

struct sums {
    const char *name, *type;
    uint64_t columns, rows;
    const float *values;
};

static enum mf_status give(void *user, size_t tensor, uint64_t offset,
                           void *buffer, size_t size)
{
    const struct sums *sums = user;

    memcpy(buffer, (const char *)sums[tensor].values + offset, size);
    mf_order_floats(buffer, size / sizeof(float));
    return MF_OK;
}

/* keys: whether it says what it was made with. */
static void write_new(const struct sums *sums, size_t count, bool keys)
{
    static const struct mf_str texts[] = { { "a.txt", 5 }, { "b.txt", 5 } };
    const struct mf_edit edits[] = {
        { .key = "general.type",
          .type = MF_VALUE_STRING,
          .text = { "imatrix", 7 } },
        { .key = "imatrix.datasets",
          .type = MF_VALUE_ARRAY,
          .of = MF_VALUE_STRING,
          .count = 2,
          .elements = texts },
        { .key = "imatrix.chunk_count", .type = MF_VALUE_U32, .number.u64 = 9 },
        { .key = "imatrix.chunk_size", .type = MF_VALUE_U32, .number.u64 = 8 },
    };
    struct mf_writer_options options = { .size =
                                             sizeof(struct mf_writer_options),
                                         .format = "gguf",
                                         .replace = true };
    struct mf_writer *writer;

    assert_int_equal(mf_writer_new(env, &options, &writer), MF_OK);
    for (size_t i = 0; keys && i < COUNT(edits); i++)
        assert_int_equal(mf_writer_set(writer, &edits[i]), MF_OK);
    for (size_t i = 0; i < count; i++) {
        struct mf_new_tensor tensor = { .name = str(sums[i].name),
                                        .type = sums[i].type,
                                        .rank = 2,
                                        .dim = (const uint64_t[]){
                                            sums[i].rows, sums[i].columns } };

        assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    }
    assert_int_equal(mf_writer_open(writer, path), MF_OK);
    assert_int_equal(mf_writer_fill(writer, give, (void *)(uintptr_t)sums),
                     MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
}

static const float sixes[] = { 6, 12, 18, 24, 30, 36 };
static const float uses[] = { 3, 0, 6, 1 };
static const struct sums sums[] = {
    { "down.weight.in_sum2", "f32", 2, 3, sixes },
    { "down.weight.counts", "f32", 1, 3, uses },
    { "up.weight.counts", "f32", 1, 1, uses },
    { "up.weight.in_sum2", "f32", 6, 1, sixes },
    { "up.weight.other", "f32", 6, 1, sixes },
};

static void new_ones_are_read(void **state)
{
    /* Experts have counts of their own; one that was never used is worth as
     * much in each column. */
    static const float down[] = { 2, 4, 1, 1, 5, 6 };
    static const float up[] = { 2, 4, 6, 8, 10, 12 };
    struct mf_imatrix *imatrix;

    (void)state;
    write_new(sums, COUNT(sums), true);
    imatrix = open_matrix(path);
    check_matrix(imatrix, 2, 9, "a.txt");
    check_values(imatrix, "down.weight", down, 6);
    check_values(imatrix, "up.weight", up, 6);
    mf_imatrix_close(imatrix);
    write_new(sums, COUNT(sums), false);
    imatrix = open_matrix(path);
    assert_int_equal(imatrix->chunks, 0);
    assert_int_equal(imatrix->dataset.size, 0);
    mf_imatrix_close(imatrix);
}

/* More experts than counts are read at once. */
static void many_experts_are_read(void **state)
{
    static float values[200], counts[200], got[200];
    const struct sums many[] = {
        { "w.in_sum2", "f32", 1, 200, values },
        { "w.counts", "f32", 1, 200, counts },
    };
    struct mf_imatrix *imatrix;
    bool found;

    (void)state;
    for (size_t i = 0; i < 200; i++) {
        counts[i] = (float)(i + 1);
        values[i] = (float)((i + 1) * (i + 2));
    }
    write_new(many, 2, true);
    imatrix = open_matrix(path);
    assert_int_equal(mf_imatrix_read(imatrix, str("w"), got, 200, &found),
                     MF_OK);
    for (size_t i = 0; i < 200; i++)
        assert_true(got[i] == (float)(i + 2));
    mf_imatrix_close(imatrix);
}

/* ---- files that are refused ---- */

static void refuse(enum mf_status status, const char *message)
{
    struct mf_imatrix *imatrix = NULL;

    assert_int_equal(mf_imatrix_open(env, path, &all, &imatrix), status);
    assert_null(imatrix);
    if (!strstr(mf_env_error(env)->message, message))
        fail_msg("the message is: %s", mf_env_error(env)->message);
}

/* validate finds what quantize refuses. */
static void refuse_new(const char *message)
{
    struct mf_model *model;
    struct mf_finding finding;
    size_t entries = 0;

    refuse(MF_ERR_CORRUPT, message);
    assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        entries += finding.severity == MF_ERROR &&
                   strcmp(finding.rule, "GGUF-IMATRIX-ENTRY") == 0;
    mf_model_close(model);
    if (entries == 0)
        fail_msg("not found: %s", message);
}

static void new_ones_that_do_not_fit_are_refused(void **state)
{
    struct sums bad[COUNT(sums)];

    (void)state;
    memcpy(bad, sums, sizeof(sums));
    bad[1].name = "down.weight.count";
    write_new(bad, COUNT(bad), true);
    refuse_new("have a matching counts tensor");
    write_new(bad + 2, 1, true);
    refuse_new("0 tensors end with \".in_sum2\", and 1 with");
    bad[1] = sums[1];
    bad[1].rows = 4;
    write_new(bad, COUNT(bad), true);
    refuse_new("'down.weight.in_sum2' has 6 values, not a "
               "multiple of its 4 counts");
    bad[1] = sums[1];
    bad[1].type = "i32";
    write_new(bad, COUNT(bad), true);
    refuse_new("'down.weight.in_sum2' must be f32");
    bad[1] = sums[1];
    bad[0].columns = 0;
    bad[1].rows = 1;
    bad[0].rows = 1;
    write_new(bad, 2, true);
    refuse_new("'down.weight.in_sum2' has 0 values");
    write_new(sums, 0, true);
    refuse_new("0 tensors end with");
}

static void old_ones_that_lie_are_refused(void **state)
{
    static const struct lie {
        size_t at;
        uint32_t number;
        const char *message;
    } lies[] = {
        { 0, 0, "not a recognized model format" },
        { 0, 99, "the count of entries is 99, but" },
        { 0, UINT32_MAX, "not a recognized model format" },
        { 0, 3, "the name '\\x08\\x00\\x00\\x00some.t' has a control" },
        { 4, 65536, "not a recognized model format" },
        { 4, 200, "not a recognized model format" },
        { 4, 0, "not a recognized model format" },
        { 8, 0, "not a recognized model format" },
        { 31, 0, "entry 'blk.0.attn_q.weight' has no values" },
        { 31, UINT32_MAX, "the count of an entry's values is 4294967295, but" },
        { 31, 1000, "the count of an entry's values is 1000, but" },
        { 51, 0, "a name has 0 bytes, expected 1 to 65535" },
        { 55, 0, "' has a control character" },
        { 51, 200, "the length of a name is 200, but" },
        { 88, 99, "the length of the text's name is 99, but" },
    };
    size_t size;
    uint8_t *bytes;

    (void)state;
    write_old(true);
    bytes = load(path, &size);
    for (size_t i = 0; i < COUNT(lies); i++) {
        uint32_t was;

        memcpy(&was, bytes + lies[i].at, 4);
        set_number(bytes + lies[i].at, lies[i].number, 4);
        save(path, bytes, size);
        refuse(strncmp(lies[i].message, "not a", 5) == 0 ? MF_ERR_FORMAT
                                                         : MF_ERR_CORRUPT,
               lies[i].message);
        memcpy(bytes + lies[i].at, &was, 4);
    }
    bytes[size] = 0;
    save(path, bytes, size + 1);
    refuse(MF_ERR_CORRUPT, "1 bytes follow the end of the matrix");
    free(bytes);
}

static void names_are_there_once(void **state)
{
    FILE *file = fopen(path, "wb");

    (void)state;
    write_number(file, 2);
    write_entry(file, "a.weight", 1, 1, 1);
    write_entry(file, "a.weight", 1, 1, 1);
    fclose(file);
    refuse(MF_ERR_CORRUPT, "the importance matrix has 1 error");
}

static void values_are_numbers(void **state)
{
    struct mf_imatrix *imatrix;
    FILE *file = fopen(path, "wb");
    float value[2];
    bool found;

    (void)state;
    write_number(file, 1);
    write_entry(file, "a.weight", 1, 2, INFINITY);
    fclose(file);
    imatrix = open_matrix(path);
    assert_int_equal(
        mf_imatrix_read(imatrix, str("a.weight"), value, 2, &found),
        MF_ERR_CORRUPT);
    assert_non_null(
        strstr(mf_env_error(env)->message, "importance value 0 of"));
    mf_imatrix_close(imatrix);
}

/* Opens what lies at path and reads all of it; true where it opened.  Nothing
 * may stay on the heap. */
static bool try(uint64_t fail_at)
{
    struct test_heap heap = { .fail_at = fail_at };
    struct mf_env *own = test_env(&heap);
    struct mf_imatrix *imatrix = NULL;
    float values[64];
    bool opened = false, found;

    if (own) {
        opened = mf_imatrix_open(own, path, &all, &imatrix) == MF_OK;
        for (size_t i = 0; opened && i < imatrix->count; i++)
            if (imatrix->entry[i].count <= COUNT(values))
                mf_imatrix_read(imatrix, imatrix->entry[i].name, values,
                                (size_t)imatrix->entry[i].count, &found);
        if (!opened)
            assert_true(mf_env_error(own)->message[0] != 0);
        mf_imatrix_close(imatrix);
        mf_env_free(own);
    }
    assert_int_equal(heap.live, 0);
    return opened;
}

static void sweep(const uint8_t *bytes, size_t size, size_t whole)
{
    uint8_t *copy = malloc(size);

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    for (size_t cut = 0; cut < size; cut++) {
        save(path, bytes, cut);
        if (try(0) && cut != whole)
            fail_msg("its first %zu bytes pass as a whole file", cut);
    }
    for (size_t at = 0; at < size; at++) {
        static const uint8_t masks[] = { 0xff, 0x01, 0x80, 0x20 };

        for (size_t m = 0; m < COUNT(masks); m++) {
            copy[at] = bytes[at] ^ masks[m];
            save(path, copy, size);
            try(0);
        }
        copy[at] = bytes[at];
    }
    free(copy);
    save(path, bytes, size);
    for (uint64_t call = 1; !try(call); call++)
        assert_true(call < 1000);
}

/* Every prefix, every flipped byte, every failed allocation. */
static void any_input_is_survived(void **state)
{
    size_t whole = write_old(true), size;
    uint8_t *bytes = load(path, &size);

    (void)state;
    sweep(bytes, size, whole); /* without its tail it is one, too */
    free(bytes);
    write_new(sums, COUNT(sums), true);
    bytes = load(path, &size);
    sweep(bytes, size - 8, size); /* but for the padding of the last tensor */
    free(bytes);
}

/* ---- fixtures/llama ---- */

static void one_that_llama_quantize_has_read_is_read(void **state)
{
    const char *file = fixture_path("llama/llama-wide.imatrix.dat");
    struct mf_imatrix *imatrix;
    float values[512];
    bool found;

    (void)state;
    imatrix = open_matrix(file);
    check_matrix(imatrix, 13, 10, "synthetic.txt");
    for (size_t i = 0; i < imatrix->count; i++)
        assert_int_equal(
            mf_imatrix_read(imatrix, imatrix->entry[i].name, values,
                            (size_t)imatrix->entry[i].count, &found),
            MF_OK);
    mf_imatrix_close(imatrix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(old_ones_are_read),
        WITH_ENV(entries_are_chosen_by_their_names),
        WITH_ENV(new_ones_are_read),
        WITH_ENV(many_experts_are_read),
        WITH_ENV(new_ones_that_do_not_fit_are_refused),
        WITH_ENV(old_ones_that_lie_are_refused),
        WITH_ENV(names_are_there_once),
        WITH_ENV(values_are_numbers),
        WITH_ENV(any_input_is_survived),
        WITH_ENV(one_that_llama_quantize_has_read_is_read),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, remove_scratch);
}
