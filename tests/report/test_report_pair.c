/* SPDX-License-Identifier: MIT
 *
 * test_report_pair.c - two models, and an importance matrix, are what
 * mf_model_diff, mf_verify and mf_model_imatrix_coverage say
 */
#include "tests/report/report_document.h"

static const char source_name[] = "llama/llama-wide.gguf";
static const char mix_name[] = "llama/llama-wide-Q4_K_M.gguf";
static const char matrix_name[] = "llama/llama-wide.imatrix.dat";

static enum mf_status write_pair(struct mf_model *const *models,
                                 const struct mf_report_options *options)
{
    struct mf_json_out out = begin_writing();

    return mf_report_pair(models, 0, 1, options, &out);
}

static const struct mf_node *pair_of(struct mf_model *const *models,
                                     const struct mf_report_options *options)
{
    if (write_pair(models, options) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    return read_written();
}

/* ---- differences ---- */

/* What is left to be compared of a list of the document. */
struct left {
    const struct mf_node *key, *tensor;
};

static void check_number(const struct mf_node *node, const char *path,
                         size_t number)
{
    if (number == SIZE_MAX)
        assert_null(mf_node_at(node, path));
    else
        assert_int_equal(number_at(node, path), number);
}

static void check_values(const struct mf_node *node,
                         const struct mf_difference *difference)
{
    const struct mf_value_errors *values = difference->values;

    assert_int_equal(mf_node_at(node, "values") != NULL, values != NULL);
    assert_int_equal(mf_node_at(node, "no_values") != NULL,
                     difference->no_values != NULL);
    if (!values)
        return;
    assert_int_equal(number_at(node, "values.count"), values->count);
    assert_int_equal(number_at(node, "values.from_zero"), values->from_zero);
    assert_int_equal(number_at(node, "values.nan_b"), values->nan_b);
    assert_true(mf_node_at(node, "values.rmse")->number.f64 == values->rmse);
}

static void compare_difference(void *user,
                               const struct mf_difference *difference)
{
    struct left *left = user;
    const struct mf_node **at =
        difference->is_tensor ? &left->tensor : &left->key;
    const struct mf_node *node = *at;

    assert_non_null(node);
    if (difference->is_tensor) {
        check_number(node, "a", difference->a);
        check_number(node, "b", difference->b);
        check_values(node, difference);
    } else {
        assert_int_equal(mf_node_at(node, "a") != NULL,
                         difference->a != SIZE_MAX);
        assert_int_equal(mf_node_at(node, "b") != NULL,
                         difference->b != SIZE_MAX);
    }
    if (difference->what & MF_DIFFERS_DATA)
        assert_int_equal(number_at(node, "first"), difference->first);
    *at = node->next;
}

static void check_pair(const char *a, const char *b)
{
    struct mf_model *models[] = { open_fixture(a), open_fixture(b) };
    const struct mf_diff_options how = { .size = sizeof(how), .values = true };
    const struct mf_node *pair = pair_of(models, NULL);
    struct left left = { .key = mf_node_at(pair, "metadata")->first,
                         .tensor = mf_node_at(pair, "tensors")->first };

    assert_int_equal(
        mf_model_diff(models[0], models[1], &how, compare_difference, &left),
        MF_OK);
    assert_null(left.key);
    assert_null(left.tensor);
    mf_model_close(models[1]);
    mf_model_close(models[0]);
}

static void differences_are_as_diff_has_them(void **state)
{
    (void)state;
    check_pair(source_name, mix_name);
    check_pair(mix_name, source_name);
    check_pair("good-base.gguf", "good-llama.gguf");
    check_pair("good-base.gguf", "good-base.safetensors");
    check_pair("good-llama.gguf", "good-llama.gguf");
    check_pair("good-empty.safetensors", "good-scalar.safetensors");
}

/* ---- verdicts ---- */

static void compare_verdict(void *user, const struct mf_verified_tensor *tensor)
{
    const struct mf_node **at = user;

    assert_non_null(*at);
    check_number(*at, "tensor", tensor->model);
    assert_string_equal(mf_node_text(*at, "verdict").at,
                        mf_verdict_name(tensor->verdict));
    if (tensor->verdict == MF_VERDICT_DIFFERS)
        assert_int_equal(number_at(*at, "differ"), tensor->differ);
    *at = (*at)->next;
}

static void verdicts_are_as_verify_has_them(void **state)
{
    struct mf_model *models[] = { open_fixture(source_name),
                                  open_fixture(mix_name) };
    const struct mf_node *pair = pair_of(models, NULL), *at;
    struct mf_verify_options how = { .size = sizeof(how),
                                     .tensor = compare_verdict,
                                     .user = &at };

    (void)state;
    assert_int_equal(number_at(pair, "verify.model"), 1);
    assert_int_equal(number_at(pair, "verify.source"), 0);
    at = mf_node_at(pair, "verify.tensors")->first;
    assert_non_null(at);
    assert_int_equal(mf_verify(models[1], models[0], &how, NULL), MF_OK);
    assert_null(at);
    mf_model_close(models[1]);
    mf_model_close(models[0]);
}

/* ---- what cannot be compared ---- */

static void gives_reason(const char *a, const char *b, const char *reason)
{
    struct mf_model *models[] = { open_fixture(a), open_fixture(b) };
    const struct mf_node *pair = pair_of(models, NULL);
    struct mf_str found = mf_node_text(pair, "reason");

    if (!found.at || !strstr(found.at, reason))
        fail_msg("%s and %s: %s", a, b, found.at ? found.at : "no reason");
    assert_null(mf_node_at(pair, "same"));
    assert_int_equal(mf_node_at(pair, "data")->kind, MF_NODE_FALSE);
    assert_int_equal(mf_env_error(env)->status, MF_OK);
    mf_model_close(models[1]);
    mf_model_close(models[0]);
}

static void what_cannot_be_compared_is_a_reason(void **state)
{
    (void)state;
    gives_reason("good-table.parquet", "good-base.gguf", "is a table");
    gives_reason("good-base.gguf", "good-table.parquet", "is a table");
    gives_reason("bad-overlap.gguf", "bad-overlap.gguf",
                 "the first model: tensor 'a.weight' cannot be read");
}

/* The second attempt, without data, has the keys of the first one. */
static void a_key_is_listed_once(void **state)
{
    const char *path = fixture_path("bad-overlap.gguf");
    uint8_t bytes[1024];
    FILE *file = fopen(path, "rb");
    struct mf_model *models[] = { open_model(path), NULL };
    const struct mf_node *pair;
    size_t size, at = 0;

    (void)state;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    while (memcmp(bytes + at, "tiny", 4) != 0)
        assert_true(++at < size - 4);
    bytes[at] = 'T';
    assert_int_equal(
        mf_model_open_memory(env, "b.gguf", bytes, size, NULL, &models[1]),
        MF_OK);
    pair = pair_of(models, NULL);
    assert_int_equal(mf_node_at(pair, "metadata")->count, 1);
    assert_string_equal(mf_node_text(pair, "metadata.0.b.value").at, "Tiny");
    assert_non_null(mf_node_text(pair, "reason").at);
    assert_int_equal(mf_node_at(pair, "same")->kind, MF_NODE_FALSE);
    mf_model_close(models[1]);
    mf_model_close(models[0]);
}

static void what_is_not_read_is_counted(void **state)
{
    struct mf_model *models[] = { open_fixture("bad-torch-unread.pt"),
                                  open_fixture("good-base.gguf") };
    const struct mf_node *pair = pair_of(models, NULL);

    (void)state;
    assert_int_equal(number_at(pair, "unread.a"),
                     mf_model_info(models[0])->missing_count);
    assert_int_equal(number_at(pair, "unread.b"), 0);
    assert_int_equal(mf_node_at(pair, "same")->kind, MF_NODE_FALSE);
    /* What other calls refuse, they refuse after the report as before. */
    assert_int_equal(mf_missing_refuse(models[0]), MF_ERR_UNSUPPORTED);
    mf_model_close(models[1]);
    mf_model_close(models[0]);
}

static void any_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *models[2];

    if (mf_model_open_memory(env, name, bytes, size, NULL, &models[0]) != MF_OK)
        return;
    models[1] = open_fixture(source_name);
    if (write_pair(models, NULL) != MF_OK)
        fail_msg("%s: %s", name, mf_env_error(env)->message);
    read_written();
    mf_model_close(models[1]);
    mf_model_close(models[0]);
}

static void every_fixture_can_be_one(void **state)
{
    (void)state;
    assert_true(each_fixture("", any_fixture) > 100);
}

/* ---- work that stops ---- */

static bool stop(void *user, const struct mf_progress *progress)
{
    (void)user, (void)progress;
    return false;
}

static void stopping_ends_it(void **state)
{
    struct mf_options options = { .size = sizeof(options), .progress = stop };
    struct mf_env *own = mf_env_new(&options);
    struct mf_model *models[2];

    (void)state;
    assert_int_equal(
        mf_model_open(own, fixture_path(source_name), NULL, &models[0]), MF_OK);
    assert_int_equal(
        mf_model_open(own, fixture_path(mix_name), NULL, &models[1]), MF_OK);
    assert_int_equal(write_pair(models, NULL), MF_ERR_STOPPED);
    mf_model_close(models[1]);
    mf_model_close(models[0]);
    mf_env_free(own);
}

/* ---- importance matrices ---- */

static void compare_cover(void *user, const struct mf_imatrix_tensor *tensor)
{
    const struct mf_node **at = user;

    assert_non_null(*at);
    check_number(*at, "tensor", tensor->tensor);
    assert_string_equal(mf_node_text(*at, "name").at, tensor->name.at);
    *at = (*at)->next;
}

static void matrices_cover_what_coverage_says(void **state)
{
    struct mf_model *model = open_fixture(source_name);
    char *path = strdup(fixture_path(matrix_name));
    const struct mf_report_options options = { .size = sizeof(options),
                                               .imatrix = path };
    struct mf_imatrix_coverage sum;
    const struct mf_node *part, *at;

    (void)state;
    assert_int_equal(write_section(mf_report_imatrix, model, NULL), MF_OK);
    assert_int_equal(written.size, 2);
    assert_int_equal(write_section(mf_report_imatrix, model, &options), MF_OK);
    part = mf_node_at(read_written(), "imatrix");
    at = mf_node_at(part, "entries")->first;
    assert_non_null(at);
    assert_int_equal(
        mf_model_imatrix_coverage(model, path, compare_cover, &at, &sum),
        MF_OK);
    assert_null(at);
    assert_int_equal(number_at(part, "of.all"), sum.of[MF_COVER_ALL]);
    assert_int_equal(number_at(part, "chunks"), sum.chunks);
    mf_model_close(model);
    free(path);
}

static void another_file_than_a_matrix_is_an_error(void **state)
{
    struct mf_model *model = open_fixture(source_name);
    struct mf_report_options options = { .size = sizeof(options),
                                         .imatrix = "missing.dat" };

    (void)state;
    assert_int_equal(write_section(mf_report_imatrix, model, &options),
                     MF_ERR_IO);
    mf_model_close(model);
}

/* ---- memory ---- */

static bool try_failing(uint64_t call, bool after, const char *matrix)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    const struct mf_report_options options = { .size = sizeof(options),
                                               .imatrix = matrix };
    struct mf_env *own = test_env(&heap);
    struct mf_model *models[2] = { NULL, NULL };
    enum mf_status status = MF_ERR_MEMORY;

    if (own &&
        mf_model_open(own, fixture_path(source_name), NULL, &models[0]) ==
            MF_OK &&
        mf_model_open(own, fixture_path(mix_name), NULL, &models[1]) == MF_OK)
        status = write_section(mf_report_imatrix, models[0], &options);
    if (status == MF_OK)
        status = write_pair(models, &options);
    mf_model_close(models[1]);
    mf_model_close(models[0]);
    mf_env_free(own);
    assert_int_equal(heap.live, 0);
    check_refused(&heap, status);
    return heap.calls < call;
}

static void every_allocation_failed(void **state)
{
    char *matrix = strdup(fixture_path(matrix_name));

    (void)state;
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (!try_failing(call, after, matrix))
            call++;
        assert_true(call > 20);
    }
    free(matrix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DOCUMENT(differences_are_as_diff_has_them),
        WITH_DOCUMENT(verdicts_are_as_verify_has_them),
        WITH_DOCUMENT(what_cannot_be_compared_is_a_reason),
        WITH_DOCUMENT(a_key_is_listed_once),
        WITH_DOCUMENT(what_is_not_read_is_counted),
        WITH_DOCUMENT(every_fixture_can_be_one),
        cmocka_unit_test(stopping_ends_it),
        WITH_DOCUMENT(matrices_cover_what_coverage_says),
        WITH_DOCUMENT(another_file_than_a_matrix_is_an_error),
        cmocka_unit_test(every_allocation_failed),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    free(written.at);
    return failed;
}
