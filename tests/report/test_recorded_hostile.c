/* SPDX-License-Identifier: MIT
 *
 * test_recorded_hostile.c - files of recorded runs that are cut or changed,
 * and memory that is refused
 */
#include "tests/report/recorded.h"

/* ---- anything at all ---- */

static void every_prefix_is_refused(void **state)
{
    static const char *const texts[] = { profile_text, answer_text };
    const char *path = scratch_path("p");

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t size = 0; size < strlen(texts[i]); size++) {
            const struct mf_error *error = mf_env_error(env);

            save(path, texts[i], size);
            assert_int_equal(record(path, false), MF_ERR_CORRUPT);
            assert_true(error->offset <= size);
        }
}

static void every_prefix_of_a_record_is_a_problem(void **state)
{
    struct mf_arena arena;

    (void)state;
    for (size_t i = 0; i < COUNT(record_names); i++) {
        save_record();
        for (size_t size = 0; size < strlen(record_texts[i]); size++) {
            save(scratch_path(record_names[i]), record_texts[i], size);
            if (record(scratch_folder, false) != MF_OK)
                continue;
            assert_null(strstr(document.at, "\"problem_count\":0"));
            read_document(&arena);
            mf_arena_release(&arena);
        }
    }
    save_record();
    for (size_t size = 0; size + 1 < sums_size; size++) {
        save(scratch_path("SHA256SUMS"), sums_text, size);
        assert_int_equal(record(scratch_folder, false), MF_OK);
        assert_null(strstr(document.at, "\"problem_count\":0"));
    }
}

/* What is still read must be a document. */
static void flip_each(const char *name, const char *path, const char *text,
                      uint8_t mask)
{
    static char bytes[4096];
    size_t size = strlen(text);
    struct mf_arena arena;

    for (size_t i = 0; i < size; i++) {
        memcpy(bytes, text, size);
        bytes[i] = (char)((uint8_t)bytes[i] ^ mask);
        save(scratch_path(name), bytes, size);
        if (record(path, i % 2 > 0) != MF_OK)
            continue;
        read_document(&arena);
        mf_arena_release(&arena);
    }
}

static void every_byte_is_changed(void **state)
{
    static const uint8_t masks[] = { 0x01, 0x80 };

    (void)state;
    for (size_t k = 0; k < COUNT(masks); k++) {
        flip_each("p", scratch_path("p"), profile_text, masks[k]);
        flip_each("p", scratch_path("p"), answer_text, masks[k]);
        for (size_t i = 0; i < COUNT(record_names); i++) {
            save_record();
            flip_each(record_names[i], scratch_folder, record_texts[i],
                      masks[k]);
        }
        save_record();
        flip_each("SHA256SUMS", scratch_folder, sums_text, masks[k]);
    }
}

static void check_refusals(const char *path, bool all)
{
    uint64_t calls = UINT64_MAX;

    for (uint64_t i = 1; i <= calls; i++) {
        enum mf_status status;

        env_heap.calls = 0;
        env_heap.fail_at = i;
        env_heap.fail_after = all;
        status = record(path, true);
        check_refused(&env_heap, status);
        if (env_heap.calls < i)
            calls = 0;
    }
    env_heap.fail_at = 0;
}

static void every_allocation_may_be_refused(void **state)
{
    static const char *const texts[] = { profile_text, answer_text };
    size_t live;

    (void)state;
    save_record();
    assert_int_equal(record(scratch_folder, false), MF_OK);
    live = env_heap.live;
    for (int all = 0; all < 2; all++) {
        save_record();
        save_text("csv", "x"); /* more problems need memory */
        unlink(scratch_path("latency.csv"));
        check_refusals(scratch_folder, all);
        for (size_t i = 0; i < COUNT(texts); i++) {
            save_text("p", texts[i]);
            check_refusals(scratch_path("p"), all);
        }
    }
    assert_int_equal(env_heap.live, live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_prefix_is_refused),
        WITH_ENV(every_prefix_of_a_record_is_a_problem),
        WITH_ENV(every_byte_is_changed),
        WITH_ENV(every_allocation_may_be_refused),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
