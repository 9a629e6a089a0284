/* SPDX-License-Identifier: MIT
 *
 * test_data_once.c - tensor data that can be read only once, in order
 *
 * What is found is what is found in the same bytes in memory, whatever the
 * length that was believed; nothing is read again but the header, and padding
 * and what follows it at the end.
 */
#include "tests/support.h"

/* What passed last can be read again. */
#define LAST 256

/* ---- bytes that pass ---- */

static struct {
    const uint8_t *bytes;
    uint64_t size;   /* where they end */
    uint64_t header; /* what can be read again */
    uint64_t tail;   /* likewise from here on */
    uint64_t there;  /* of bytes; zeros follow */
    uint64_t at;     /* where those begin that have not passed */
    bool ended;      /* more was wanted than there is */
} stream;

static int64_t read_stream(void *user, uint64_t offset, void *buffer,
                           size_t count)
{
    uint64_t left = offset < stream.size ? stream.size - offset : 0;

    if (offset >= stream.header && offset < stream.tail &&
        offset + LAST < stream.at)
        fail_msg("%s: %zu bytes at %zu are read again, %zu have passed",
                 (const char *)user, count, (size_t)offset, (size_t)stream.at);
    stream.ended = stream.ended || left == 0;
    count = count < left ? count : (size_t)left;
    memset(buffer, 0, count);
    if (offset < stream.there)
        memcpy(buffer, stream.bytes + offset,
               count < stream.there - offset ? count
                                             : (size_t)(stream.there - offset));
    if (offset + count > stream.at)
        stream.at = offset + count;
    return (int64_t)count;
}

static enum mf_status open_stream(struct mf_env *env, const char *name,
                                  uint64_t length, struct mf_model **out)
{
    struct mf_byte_source source = { .size = sizeof(source),
                                     .name = name,
                                     .bytes = length,
                                     .read = read_stream,
                                     .user = (void *)(uintptr_t)name };

    struct mf_open_options alone = { .size = sizeof(alone),
                                     .shards = MF_SHARDS_ALONE };

    return mf_model_open_source(env, &source, &alone, out);
}

static struct mf_env *one_thread(struct test_heap *heap)
{
    struct mf_options options = { .size = sizeof(options),
                                  .threads = 1,
                                  .allocator = { .resize = test_resize,
                                                 .user = heap } };

    return mf_env_new(&options);
}

/* Where the last tensor ends. */
static uint64_t data_end(const struct mf_model *model)
{
    uint64_t end = mf_model_info(model)->data_offset;
    struct mf_tensor tensor;

    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        if (!(tensor.flags & MF_TENSOR_DAMAGED) &&
            tensor.data.offset + tensor.data.size > end)
            end = tensor.data.offset + tensor.data.size;
    return end;
}

/* ---- the same findings ---- */

static void same_findings(const char *name, const struct mf_model *a,
                          const struct mf_model *b)
{
    struct mf_finding one, two;
    size_t i = 0;

    for (; mf_finding_at(a, i, &one); i++) {
        if (!mf_finding_at(b, i, &two))
            fail_msg("%s: %s is not found", name, one.message);
        if (strcmp(one.rule, two.rule) != 0 || one.offset != two.offset ||
            one.severity != two.severity ||
            strcmp(one.message, two.message) != 0 ||
            one.tensor.size != two.tensor.size)
            fail_msg("%s: '%s', not '%s'", name, two.message, one.message);
    }
    if (mf_finding_at(b, i, &two))
        fail_msg("%s: %s, too", name, two.message);
    assert_int_equal(mf_model_info(a)->error_count,
                     mf_model_info(b)->error_count);
    assert_int_equal(mf_model_info(a)->warning_count,
                     mf_model_info(b)->warning_count);
}

/* The model of so many bytes, its data scanned as one of another length. */
static enum mf_status check_once(struct mf_env *env, const char *name,
                                 const uint8_t *bytes, size_t size,
                                 uint64_t believed, struct mf_model **out)
{
    struct mf_model *scan;
    enum mf_status status;

    stream.bytes = bytes;
    stream.there = size;
    /* A window takes what is after the header, too. */
    stream.size = believed > size ? believed : size;
    stream.header = stream.tail = size; /* until it is known */
    status = open_stream(env, name, believed, &scan);
    if (status != MF_OK)
        return status;
    stream.header = mf_model_info(scan)->data_offset;
    stream.tail = data_end(scan);
    stream.at = 0;
    stream.size = size;
    stream.ended = false;
    status = mf_model_scan_once(scan);
    if (status == MF_OK || (status == MF_ERR_IO && stream.ended))
        status = open_stream(env, name, size, out);
    if (status != MF_OK) {
        mf_model_close(scan);
        return status;
    }
    mf_model_take_scan(*out, scan);
    status = mf_model_validate_data(*out);
    if (status != MF_OK)
        mf_model_close(*out);
    return status;
}

static size_t compared, declined;

static void compare(const char *name, const uint8_t *bytes, size_t size,
                    uint64_t believed)
{
    struct test_heap heap = { 0 };
    struct mf_env *env = one_thread(&heap);
    struct mf_model *wanted, *found;
    enum mf_status status, usual;

    if (mf_model_open_memory(env, name, bytes, size, NULL, &wanted) == MF_OK) {
        usual = mf_model_validate_data(wanted);
        if (usual != MF_OK)
            fail_msg("%s of %zu bytes: %s", name, size,
                     mf_env_error(env)->message);
        status = check_once(env, name, bytes, size, believed, &found);
        declined += status == MF_ERR_UNSUPPORTED;
        if (status == MF_OK) {
            same_findings(name, wanted, found);
            compared++;
            mf_model_close(found);
        } else if (status != MF_ERR_UNSUPPORTED) {
            fail_msg("%s of %zu bytes, not %zu: %s", name, size,
                     (size_t)believed, mf_env_error(env)->message);
        }
        mf_model_close(wanted);
    }
    mf_env_free(env);
    assert_int_equal(heap.live, 0);
}

/* Those whose tensors are in the order of their data, without views. */
static bool is_in_order(const char *name)
{
    return has_suffix(name, ".gguf") || has_suffix(name, ".safetensors") ||
           has_suffix(name, ".apr");
}

static uint64_t implied_end(const uint8_t *bytes, size_t size, uint64_t *data)
{
    struct test_heap heap = { 0 };
    struct mf_env *env = one_thread(&heap);
    struct mf_model *model;
    uint64_t end = 0;

    if (mf_model_open_memory(env, "model", bytes, size, NULL, &model) ==
        MF_OK) {
        end = data_end(model);
        *data = mf_model_info(model)->data_offset;
        mf_model_close(model);
    }
    mf_env_free(env);
    return end;
}

/* All of it; believed to end with its last tensor; cut off; with more. */
static void check_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    uint64_t data = 0, end = implied_end(bytes, size, &data);
    uint8_t *more = malloc(size + 200);

    if (!is_in_order(name) || end == 0 || data > size) {
        free(more);
        return;
    }
    assert_non_null(more);
    memcpy(more, bytes, size);
    memset(more + size, 'x', 200);
    compare(name, bytes, size, size);
    if (!has_suffix(name, ".apr")) {
        compare(name, bytes, size, end);
        compare(name, more, size + 1, end);
        compare(name, more, size + 200, end);
        /* What ends in its header is read as a whole. */
        for (size_t cut = 1; cut + data <= size && cut < 100; cut += 3)
            compare(name, bytes, size - cut, end);
    }
    free(more);
}

static void the_same_is_found_as_in_memory(void **state)
{
    (void)state;
    assert_true(each_fixture("", check_fixture) > 100);
    assert_true(compared > 1000);
    assert_true(declined < compared / 10);
}

/* ---- refused memory ---- */

static void refused_memory_is_an_error(void **state)
{
    size_t size;
    uint8_t *bytes = load(fixture_path("bad-data-constant.gguf"), &size);
    bool refused = true;

    (void)state;
    for (uint64_t call = 1; refused; call++) {
        struct test_heap heap = { .fail_at = call };
        struct mf_env *env = one_thread(&heap);
        struct mf_model *model;
        enum mf_status status = MF_ERR_MEMORY;

        if (env) {
            status = check_once(env, "model", bytes, size, size, &model);
            check_refused(&heap, status);
            if (status == MF_OK)
                mf_model_close(model);
            mf_env_free(env);
        }
        refused = heap.calls >= call;
        assert_int_equal(heap.live, 0);
    }
    free(bytes);
}

static void a_digest_that_is_expected_is_compared(void **state)
{
    static const char path[] = "good-llama.gguf";
    uint8_t digest[MF_DIGEST_MAX];
    bool refused = true;

    (void)state;
    for (uint64_t call = 0; refused; call++) {
        struct test_heap heap = { .fail_at = call };
        struct mf_env *env = one_thread(&heap);
        struct mf_finding finding;
        struct mf_model *model = NULL;
        enum mf_status status = MF_ERR_MEMORY;

        if (env && call == 0)
            assert_int_equal(
                mf_file_hash(env, fixture_path(path), MF_SHA256, digest),
                MF_OK);
        if (env)
            status = mf_model_open(env, fixture_path(path), NULL, &model);
        digest[31] ^= (uint8_t)(call & 1);
        if (status == MF_OK)
            status = mf_model_expect_sha256(model, 0, digest);
        if (status == MF_OK)
            status = mf_model_validate_data(model);
        check_refused(&heap, status);
        if (status == MF_OK)
            assert_true(
                mf_finding_at(model, 0, &finding) == ((call & 1) != 0) &&
                (call % 2 == 0 || strcmp(finding.rule, "FILE-DIGEST") == 0));
        digest[31] ^= (uint8_t)(call & 1);
        mf_model_close(model);
        mf_env_free(env);
        assert_int_equal(heap.live, 0);
        refused = call == 0 || heap.calls >= call;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_found_as_in_memory),
        cmocka_unit_test(refused_memory_is_an_error),
        cmocka_unit_test(a_digest_that_is_expected_is_compared),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
