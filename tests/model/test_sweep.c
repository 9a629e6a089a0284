/* SPDX-License-Identifier: MIT
 *
 * test_sweep.c - every prefix, every flipped byte, every failed allocation
 *
 * Loops over the fixtures, so a new fixture is swept before its author writes
 * a test.  Under sanitizers, where it earns its keep, at every place of a file;
 * else at a few of them.
 */
#include "tests/support.h"

#if TEST_SANITIZED
#define EACH 1
#else
#define EACH 7
#endif

/* Opens bytes in memory and looks at everything.  An error must name a place
 * within the bytes and be fit to print; nothing may stay on the heap. */
static enum mf_status try(const uint8_t *bytes, size_t size,
                          struct mf_model_info *info)
{
    struct test_heap heap = { 0 };
    struct mf_env *env = test_env(&heap);
    struct mf_model *model = NULL;
    uint8_t *exact = malloc(size ? size : 1); /* so that ASan sees the end */
    enum mf_status status;

    assert_non_null(exact);
    memcpy(exact, bytes, size);
    status = mf_model_open_memory(env, "memory", exact, size, NULL, &model);
    if (status == MF_OK) {
        *info = *mf_model_info(model);
        walk_model(model);
    } else {
        const struct mf_error *error = mf_env_error(env);

        assert_null(model);
        assert_int_equal(error->status, status);
        assert_true(error->offset == MF_NO_OFFSET || error->offset <= size);
        assert_true(error->message[0] != 0);
        assert_true(mf_text_clean(error->message, strlen(error->message)) ==
                    strlen(error->message));
    }
    mf_model_close(model);
    mf_env_free(env);
    free(exact);
    assert_int_equal(heap.live, 0);
    return status;
}

/* The end of the last byte that a tensor of the whole file claims. */
static uint64_t data_end(const uint8_t *bytes, size_t size)
{
    struct mf_env *env = mf_env_new(NULL);
    struct mf_model *model;
    struct mf_tensor tensor;
    uint64_t end = 0;

    if (mf_model_open_memory(env, "memory", bytes, size, NULL, &model) ==
        MF_OK) {
        for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
            if (tensor.data.size > 0 &&
                tensor.data.offset + tensor.data.size > end)
                end = tensor.data.offset + tensor.data.size;
        mf_model_close(model);
    }
    mf_env_free(env);
    return end;
}

/* The place to try after `at`: within a long run of equal bytes one place shows
 * what the next one does, so only those near its ends are tried. */
static size_t next_place(const uint8_t *bytes, size_t size, size_t at)
{
    const size_t near = 256;
    size_t end = at;

    if (at < near ||
        memcmp(&bytes[at - near], &bytes[at - near + 1], near) != 0)
        return at + 1;
    while (end < size && bytes[end] == bytes[at])
        end++;
    return end - at > near ? end - near : at + 1;
}

static void sweep_prefixes(const char *name, const uint8_t *bytes, size_t size)
{
    bool good = strncmp(name, "good-", 5) == 0;
    uint64_t end = good ? data_end(bytes, size) : 0;
    struct mf_model_info info;
    size_t turn = 0;

    for (size_t cut = 0; cut < size; cut = next_place(bytes, size, cut))
        if (turn++ % EACH == 0 && try(bytes, cut, &info) == MF_OK &&
            cut < end && info.error_count == 0)
            fail_msg("%s: its first %zu bytes pass as a whole file", name, cut);
}

static void flip_bytes(const char *name, const uint8_t *bytes, size_t size)
{
    /* Under sanitizers the highest or the lowest bit of each byte, in turn. */
    static const uint8_t in_turn[] = { 0x80, 0x01 };
    static const uint8_t all[] = { 0xff, 0x20 };
    uint8_t *copy = malloc(size + 1);
    struct mf_model_info info = { 0 };
    /* All archives have most of their bytes in common. */
    size_t count = EACH == 1 || strncmp(name, "bad-zip", 7) == 0 ? 1 : 2;
    size_t end = size, turn = 0;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    /* Data bytes are not read: flipping them would test nothing. */
    if (try(bytes, size, &info) == MF_OK && info.data_offset > 0 &&
        info.data_offset < size)
        end = (size_t)info.data_offset;
    for (size_t at = 0; at < end; at = next_place(bytes, end, at)) {
        if (turn++ % EACH != 0)
            continue;
        for (size_t m = 0; m < count; m++) {
            copy[at] = bytes[at] ^ (EACH == 1 ? in_turn[at % 2] : all[m]);
            try(copy, size, &info);
            copy[at] = bytes[at];
        }
    }
    free(copy);
}

/* With a heap that fails at that call; true if there were fewer calls. */
static bool try_failing(const uint8_t *bytes, size_t size, uint64_t call,
                        bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *env = test_env(&heap);
    struct mf_model *model = NULL;

    if (env) {
        enum mf_status status =
            mf_model_open_memory(env, "memory", bytes, size, NULL, &model);

        if (status == MF_OK)
            walk_model(model);
        else if (heap.calls >= call)
            assert_int_equal(status, MF_ERR_MEMORY);
        mf_model_close(model);
        mf_env_free(env);
    }
    assert_int_equal(heap.live, 0);
    return heap.calls < call;
}

static void fail_allocations(const char *name, const uint8_t *bytes,
                             size_t size)
{
    (void)name;
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (!try_failing(bytes, size, call, after))
            call++;
        assert_true(call > 3);
    }
}

static void every_prefix(void **state)
{
    (void)state;
    assert_true(each_fixture("", sweep_prefixes) > 50);
}

static void every_byte_flipped(void **state)
{
    (void)state;
    assert_true(each_fixture("", flip_bytes) > 50);
}

static void every_allocation_failed(void **state)
{
    (void)state;
    assert_true(each_fixture("good-", fail_allocations) > 10);
}

static void heap_limits(void **state)
{
    size_t size;
    uint8_t *bytes = load(fixture_path("good-llama.gguf"), &size);
    bool opened = false;

    (void)state;
    for (size_t limit = 1; !opened && limit < 1 << 20; limit += 509) {
        struct mf_options options = { .size = sizeof(struct mf_options),
                                      .heap_limit = limit };
        struct mf_env *env = mf_env_new(&options);
        struct mf_heap_stats stats;
        struct mf_model *model = NULL;
        enum mf_status status;

        if (!env)
            continue;
        status = mf_model_open_memory(env, "memory", bytes, size, NULL, &model);
        opened = status == MF_OK;
        if (!opened)
            assert_int_equal(status, MF_ERR_LIMIT);
        mf_env_heap(env, &stats);
        assert_true(stats.peak <= limit);
        mf_model_close(model);
        mf_env_free(env);
    }
    assert_true(opened);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(every_byte_flipped),
        cmocka_unit_test(every_allocation_failed),
        cmocka_unit_test(heap_limits),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
