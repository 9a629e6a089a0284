/* SPDX-License-Identifier: MIT
 *
 * test_journal.c - edits that were cut short: what readers see, which damage
 * is noticed, and what finishes the edit
 */
#include <time.h>

#include "tests/io/journal_image.h"

static const char *const formats[] = { "gguf", "apr", "safetensors" };

/* Whatever part of it was written, in whatever pieces: a reader sees all of it
 * and changes nothing, and then it is finished. */
static void any_part(void **state)
{
    (void)state;
    for (size_t f = 0; f < COUNT(formats); f++) {
        char name[64];

        begin(formats[f]);
        for (unsigned way = 0; way < 40; way++) {
            for (size_t i = 0; i < pair.size; i++)
                pair.torn[i] = (i * 2654435761u >> 7) % 40 < way ? pair.new[i]
                                                                 : pair.old[i];
            if (memcmp(pair.torn, pair.old, pair.size) == 0 ||
                memcmp(pair.torn, pair.new, pair.size) == 0)
                continue;
            leave(pair.torn);
            notice_count = 0;
            assert_int_equal(read_name(pair.torn, name, sizeof(name)), MF_OK);
            assert_int_equal(notice_count, 1);
            assert_int_equal(notice_use, MF_PENDING_READ_THROUGH);
            assert_non_null(strstr(name, "a name that was not"));
            must_recover(false, MF_RECOVERY_FINISHED, pair.new);
        }
        free_pair(&pair);
    }
}

/* Nothing to say where the file is whole; what is left goes. */
static void all_or_nothing(void **state)
{
    char name[64];

    (void)state;
    begin("gguf");
    for (int made = 0; made < 2; made++) {
        const uint8_t *bytes = made ? pair.new : pair.old;

        leave(bytes);
        notice_count = 0;
        assert_int_equal(read_name(bytes, name, sizeof(name)), MF_OK);
        assert_int_equal(notice_count, 0);
        assert_int_equal(strstr(name, "a name") != NULL, made);
        must_recover(false, made ? MF_RECOVERY_COMPLETE : MF_RECOVERY_UNBEGUN,
                     bytes);
        must_recover(false, MF_RECOVERY_NONE, bytes);
    }
    free_pair(&pair);
}

/* The next edit finishes it first. */
static void next_edit(void **state)
{
    struct pair after;

    (void)state;
    begin("gguf");
    save(pair.path, pair.new, pair.size);
    edit_name(pair.path, "another");
    after = pair;
    after.new = load(pair.path, &after.size);
    leave(pair.torn);
    notice_count = 0;
    edit_name(pair.path, "another");
    assert_int_equal(notice_count, 1);
    assert_int_equal(notice_use, MF_PENDING_FINISHED);
    assert_true(has_bytes(&after, after.new));
    assert_false(has_journal(&pair));
    free(after.new);
    free_pair(&pair);
}

/* No damage is applied, however small. */
static void every_byte(void **state)
{
    (void)state;
    begin("apr");
    save(pair.path, pair.torn, pair.size);
    for (size_t i = 0; i < journal.size; i++) {
        journal.bytes[i] ^= (uint8_t)(1u << i % 8);
        save_journal(&pair, &journal);
        journal.bytes[i] ^= (uint8_t)(1u << i % 8);
        must_ignore(pair.torn, i < 8 ? "is not a journal" : "is damaged");
        must_not_recover(pair.torn, true,
                         i < 8 ? "is not a journal" : "is damaged");
    }
    free_pair(&pair);
}

static void every_prefix(void **state)
{
    size_t whole;

    (void)state;
    begin("apr");
    save(pair.path, pair.torn, pair.size);
    whole = journal.size;
    for (journal.size = 0; journal.size < whole; journal.size++) {
        save_journal(&pair, &journal);
        must_ignore(pair.torn, "is ");
        must_not_recover(pair.torn, true, "is ");
    }
    put(&journal, "", 1);
    save_journal(&pair, &journal);
    must_ignore(pair.torn, "is damaged");
    free_pair(&pair);
}

/* Numbers of any size, with a checksum that fits. */
static void hostile_numbers(void **state)
{
    static const uint64_t numbers[] = { 0,
                                        1,
                                        2,
                                        3,
                                        1 << 16,
                                        UINT32_MAX,
                                        INT64_MAX,
                                        UINT64_MAX,
                                        UINT64_MAX / 2,
                                        UINT64_MAX - 40 };
    static struct journal whole;

    (void)state;
    make_pair("apr", &pair);
    make_journal(&pair, &whole);
    save(pair.path, pair.torn, pair.size);
    for (size_t at = 8; at < 56; at += 8)
        for (size_t i = 0; i < COUNT(numbers); i++) {
            struct journal number = { .size = 0 };

            journal = whole;
            put_u64(&number, numbers[i]);
            if (memcmp(journal.bytes + at, number.bytes, 8) == 0)
                continue;
            memcpy(journal.bytes + at, number.bytes, 8);
            journal.size -= 16;
            put_digest(&journal);
            save_journal(&pair, &journal);
            must_ignore(pair.torn, "");
            /* Of another size or place it is another file's. */
            if (at % 16 == 0 || (at > 8 && numbers[i] > pair.size))
                must_not_recover(pair.torn, true, "is damaged");
        }
    free_pair(&pair);
}

/* A journal that is sound and changes tensor data. */
static void tensor_data(void **state)
{
    (void)state;
    for (size_t f = 0; f < COUNT(formats); f++) {
        struct span part[2];
        struct mf_model *model;
        size_t start;

        make_pair(formats[f], &pair);
        save(pair.path, pair.old, pair.size);
        assert_int_equal(mf_model_open(env, pair.path, NULL, &model), MF_OK);
        start = (size_t)mf_model_info(model)->data_offset;
        mf_model_close(model);
        part[0] = pair.part[0];
        part[1] = (struct span){ start, start + 4 };
        for (size_t i = part[1].from; i < part[1].to; i++)
            pair.new[i] ^= 0x55;
        save(pair.path, pair.torn, pair.size);
        /* As a patch of its own, and at the end of the header's. */
        make_journal_of(&pair, part, 2, &journal);
        save_journal(&pair, &journal);
        must_ignore(pair.torn, "more than the file's header");
        must_not_recover(pair.torn, true, "more than the file's header");
        part[0].to = part[1].to;
        make_journal_of(&pair, part, 1, &journal);
        save_journal(&pair, &journal);
        must_ignore(pair.torn, "more than the file's header");
        must_not_recover(pair.torn, true, "more than the file's header");
        free_pair(&pair);
    }
}

/* Of another file that had the name: passed over, and taken away by an edit. */
static void foreign(void **state)
{
    char name[64];

    (void)state;
    begin("gguf");
    pair.torn[pair.part[0].from + 3] ^= 0x20;
    save(pair.path, pair.old, pair.size);
    edit_name(pair.path, "something else of another length");
    free(pair.new);
    pair.new = load(pair.path, &pair.size);
    save_journal(&pair, &journal);
    must_ignore(pair.new, "belongs to another file");
    read_name(pair.new, name, sizeof(name));
    assert_non_null(strstr(name, "something else"));
    edit_name(pair.path, "third");
    assert_false(has_journal(&pair));
    leave(pair.new);
    must_recover(false, MF_RECOVERY_FOREIGN, pair.new);
    free_pair(&pair);
}

/* A hole costs no time, and detection never looks. */
static void sparse(void **state)
{
    struct mf_io_stats before, after;
    struct mf_detection found;
    struct timespec from, to;

    (void)state;
    make_pair("gguf", &pair);
    save(pair.path, pair.torn, pair.size);
    unlink(pair.journal_path);
    save(pair.journal_path, "MFEDIT\2\n", 8);
    assert_int_equal(chmod(pair.journal_path, 0600), 0);
    for (int shift = 20; shift <= 40; shift += 4) {
        assert_int_equal(truncate(pair.journal_path, (off_t)1 << shift), 0);
        clock_gettime(CLOCK_MONOTONIC, &from);
        must_ignore(pair.torn, shift < 29 ? "is damaged" : "is larger");
        clock_gettime(CLOCK_MONOTONIC, &to);
        assert_true(to.tv_sec - from.tv_sec < 3);
        notice_count = 0;
        mf_env_io(env, &before);
        assert_int_equal(mf_file_detect(env, pair.path, &found), MF_OK);
        mf_env_io(env, &after);
        assert_true(after.bytes_read - before.bytes_read <= 128);
        assert_int_equal(notice_count, 0);
    }
    free_pair(&pair);
}

/* Whichever allocation fails, nothing is lost. */
static void every_allocation_fails(void **state)
{
    enum mf_status status = MF_ERR_MEMORY;

    (void)state;
    begin("gguf");
    save_journal(&pair, &journal);
    save(pair.path, pair.torn, pair.size);
    for (uint64_t k = 1; status != MF_OK; k++) {
        struct test_heap heap = { .fail_at = k };
        struct mf_env *own = test_env(&heap);
        struct mf_model *model;

        if (!own)
            continue;
        status = mf_model_open(own, pair.path, NULL, &model);
        if (status == MF_OK)
            mf_model_close(model);
        assert_true(has_bytes(&pair, pair.torn));
        if (mf_file_recover(own, pair.path, NULL, NULL) != MF_OK)
            status = mf_env_error(own)->status;
        assert_true(status == MF_OK || status == MF_ERR_MEMORY);
        if (!has_journal(&pair)) {
            assert_true(has_bytes(&pair, pair.new));
            save_journal(&pair, &journal);
            save(pair.path, pair.torn, pair.size);
        }
        assert_true(has_bytes(&pair, pair.torn));
        mf_env_free(own);
        assert_int_equal(heap.live, 0);
        assert_true(k < 1000);
    }
    free_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_part),
        cmocka_unit_test(all_or_nothing),
        cmocka_unit_test(next_edit),
        cmocka_unit_test(every_byte),
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(hostile_numbers),
        cmocka_unit_test(tensor_data),
        cmocka_unit_test(foreign),
        cmocka_unit_test(sparse),
        cmocka_unit_test(every_allocation_fails),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, stop);
}
