/* SPDX-License-Identifier: MIT
 *
 * test_part.c - outputs that are written in parts: logs that are cut, damaged
 * or lie, and a heap that fails
 *
 * A small model is quantized in two parts to a type with one scale per tensor,
 * with the error measured.  Then the log of one part is changed.  The end is
 * the file of one run, after the parts that are named have run again; or
 * a refusal that changes nothing.
 */
#define _XOPEN_SOURCE 700 /* setenv */

#include <sys/stat.h>

#include "lib/io/worklog.h"
#include "tests/with_scratch.h"

#define TENSORS 5
#define ROWS    64
#define COLUMNS 512
#define PARTS   2

/* ---- the work ---- */

static void must(struct mf_env *own, enum mf_status status)
{
    if (status != MF_OK)
        fail_msg("%s", mf_env_error(own)->message);
}

static void make_input(void)
{
    const struct mf_writer_options options = { .size = sizeof(options),
                                               .format = "gguf" };
    static float numbers[ROWS * COLUMNS];
    struct mf_writer *writer;
    char name[32];

    must(env, mf_writer_new(env, &options, &writer));
    must(env,
         mf_writer_set(writer, &(struct mf_edit){ .key = "general.architecture",
                                                  .type = MF_VALUE_STRING,
                                                  .text = { "none", 4 } }));
    for (int i = 0; i < TENSORS; i++) {
        snprintf(name, sizeof(name), "blk.%d.ffn_up.weight", i);
        must(env,
             mf_writer_add(writer,
                           &(struct mf_new_tensor){
                               .name = { name, strlen(name) },
                               .type = "f32",
                               .rank = 2,
                               .dim = (const uint64_t[]){ COLUMNS, ROWS } },
                           NULL));
    }
    must(env, mf_writer_open(writer, scratch_path("in.gguf")));
    for (int i = 0; i < TENSORS; i++) {
        for (size_t k = 0; k < COUNT(numbers); k++)
            numbers[k] = 1 + (float)(k * 37 % 1009) / (float)(i + 3);
        mf_order_floats(numbers, COUNT(numbers));
        must(env, mf_writer_push(writer, numbers, sizeof(numbers)));
    }
    must(env, mf_writer_commit(writer));
    mf_writer_free(writer);
}

static struct mf_error error;

/* part 0: all of it.  The error is kept. */
static enum mf_status quantize(struct mf_env *own, const char *name,
                               uint32_t part)
{
    const struct mf_quantize_options options = { .size = sizeof(options),
                                                 .type = "apr_q8",
                                                 .report = true };
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .part = part,
                                            .parts = part > 0 ? PARTS : 0 };
    struct mf_model *model;
    enum mf_status status =
        mf_model_open(own, scratch_path("in.gguf"), NULL, &model);

    if (status == MF_OK) {
        status =
            mf_model_quantize(model, scratch_path(name), &options, &how, NULL);
        mf_model_close(model);
    }
    error = *mf_env_error(own);
    return status;
}

static bool again[PARTS + 1];

static void note_missing(void *user, const struct mf_missing_part *part)
{
    (void)user;
    assert_true(part->part >= 1 && part->part <= PARTS);
    again[part->part] = true;
}

static struct mf_finish_result result;

static enum mf_status end_parts(struct mf_env *own, bool discard)
{
    const struct mf_finish_options options = { .size = sizeof(options),
                                               .discard = discard,
                                               .missing = note_missing };
    enum mf_status status;

    memset(again, 0, sizeof(again));
    status = mf_parts_finish(own, scratch_path("o.apr"), &options, &result);
    error = *mf_env_error(own);
    return status;
}

/* ---- files ---- */

#define COMMON ".o.apr.parts"
#define LOG    ".o.apr.part-1-of-2.0123456789abcdef"

/* A file's bytes, to be put back. */
struct kept {
    uint8_t *bytes;
    size_t size;
};

static struct kept log_of[PARTS + 1], common;
static struct mf_finish_result whole;

static struct kept keep(const char *name)
{
    struct kept kept;

    kept.bytes = load(scratch_path(name), &kept.size);
    return kept;
}

static void put(const char *name, const struct kept *kept, size_t size)
{
    unlink(scratch_path(name));
    save(scratch_path(name), kept->bytes, size);
    assert_int_equal(chmod(scratch_path(name), 0600), 0);
}

static const char *log_name(uint32_t part)
{
    static char name[64];

    snprintf(name, sizeof(name), ".o.apr.part-%u-of-2.0123456789abcdef",
             (unsigned)part);
    return name;
}

/* Whatever the name of the only log of that part is. */
static struct kept take_log(uint32_t part)
{
    struct kept kept = { NULL, 0 };
    struct mf_entries entries;
    char start[64];
    const char *entry;

    snprintf(start, sizeof(start), ".o.apr.part-%u-of-2.", (unsigned)part);
    mf_entries_begin(&entries, open(scratch_path("."), O_RDONLY));
    while (!kept.bytes && (entry = mf_entries_next(&entries)) != NULL)
        if (strncmp(entry, start, strlen(start)) == 0)
            kept = keep(entry);
    mf_entries_end(&entries);
    assert_non_null(kept.bytes);
    return kept;
}

static size_t files_left(void)
{
    struct mf_entries entries;
    const char *entry;
    size_t count = 0;

    mf_entries_begin(&entries, open(scratch_path("."), O_RDONLY));
    while ((entry = mf_entries_next(&entries)) != NULL)
        count += strncmp(entry, ".o.apr.", 7) == 0;
    mf_entries_end(&entries);
    return count;
}

static void begin(void)
{
    make_input();
    must(env, quantize(env, "whole.apr", 0));
    for (uint32_t part = 1; part <= PARTS; part++) {
        must(env, quantize(env, "o.apr", part));
        log_of[part] = take_log(part);
    }
    common = keep(COMMON);
    must(env, end_parts(env, false));
    whole = result;
    assert_true(same_files(scratch_path("o.apr"), scratch_path("whole.apr")));
    assert_int_equal(files_left(), 0);
    assert_int_equal(unlink(scratch_path("o.apr")), 0);
}

static void put_all(void)
{
    put(COMMON, &common, common.size);
    for (uint32_t part = 1; part <= PARTS; part++)
        put(log_name(part), &log_of[part], log_of[part].size);
}

static void end(void)
{
    for (uint32_t part = 1; part <= PARTS; part++)
        free(log_of[part].bytes);
    free(common.bytes);
    empty_scratch();
}

/* ---- how it ends ---- */

/* Runs what finish has named, until it is done. */
static void goes_on(const char *what, size_t at, enum mf_status status)
{
    for (int tries = 3; status != MF_OK && tries > 0; tries--) {
        if (strcmp(error.rule, "PARTS-MISSING") != 0)
            fail_msg("%s %zu: %s", what, at, error.message);
        for (uint32_t part = 1; part <= PARTS; part++)
            if (again[part])
                must(env, quantize(env, "o.apr", part));
        status = end_parts(env, false);
    }
    if (status != MF_OK)
        fail_msg("%s %zu: %s", what, at, error.message);
    if (!same_files(scratch_path("o.apr"), scratch_path("whole.apr")))
        fail_msg("%s %zu: another file", what, at);
    if (memcmp(&result.type, &whole.type, sizeof(result.type)) != 0)
        fail_msg("%s %zu: another report", what, at);
    assert_int_equal(files_left(), 0);
    assert_int_equal(unlink(scratch_path("o.apr")), 0);
}

static void ends_well(const char *what, size_t at)
{
    goes_on(what, at, end_parts(env, false));
}

/* Where a log is not refused only the report may differ. */
static void refused_or_well(const char *what, size_t at)
{
    const struct mf_finish_result honest = whole;
    enum mf_status status = end_parts(env, false);

    if (status == MF_OK)
        whole = result;
    if (status == MF_OK || strcmp(error.rule, "PARTS-MISSING") == 0) {
        goes_on(what, at, status);
        whole = honest;
        return;
    }
    if (strcmp(error.rule, "PARTS-UNFIT") != 0)
        fail_msg("%s %zu: %s", what, at, error.message);
    assert_int_equal(access(scratch_path("o.apr"), F_OK), -1);
}

/* ---- tests ---- */

/* All of them take half a minute, for each waits for the disk. */
static size_t step(void)
{
    return test_is_quick() ? 11 : 1;
}

static void any_prefix_of_a_log_will_do(void **state)
{
    (void)state;
    begin();
    for (size_t size = 0; size <= log_of[1].size; size += step()) {
        put_all();
        put(LOG, &log_of[1], size);
        ends_well("bytes", size);
    }
    end();
}

static void no_changed_byte_of_a_log_will_do(void **state)
{
    (void)state;
    begin();
    for (size_t at = 0; at < log_of[1].size; at += step()) {
        put_all();
        log_of[1].bytes[at] ^= (uint8_t)(1U << at % 8);
        put(LOG, &log_of[1], log_of[1].size);
        log_of[1].bytes[at] ^= (uint8_t)(1U << at % 8);
        assert_int_equal(end_parts(env, false), MF_ERR_OUTPUT);
        assert_string_equal(error.rule, "PARTS-UNFIT");
        assert_int_equal(quantize(env, "o.apr", 1), MF_ERR_OUTPUT);
        assert_string_equal(error.rule, "PARTS-UNFIT");
        assert_int_equal(files_left(), 1 + PARTS);
    }
    end();
}

static void changed_bytes_are_made_again(void **state)
{
    (void)state;
    begin();
    for (size_t at = 0; at < common.size - 4; at += 997) {
        put_all();
        common.bytes[at] ^= 0x10;
        put(COMMON, &common, common.size);
        common.bytes[at] ^= 0x10;
        assert_int_equal(end_parts(env, false), MF_ERR_OUTPUT);
        assert_string_equal(error.rule, "PARTS-MISSING");
        assert_true(again[1] != again[2]);
        ends_well("changed byte", at);
    }
    end();
}

/* ---- logs that lie ---- */

#define RECORDS 64

static struct mf_work_record record[RECORDS];
static size_t records;
static uint32_t liar; /* the part whose log it is */

static void read_records(void)
{
    struct mf_worklog log;
    bool found;

    must(env, mf_worklog_look(env, scratch_path("o.apr"), &log_name(liar)[6],
                              &log, &found));
    assert_true(found);
    for (records = 0; found && records < RECORDS; records += found)
        must(env, mf_worklog_read(&log, &record[records], &found));
    assert_true(records > 3 && records < RECORDS);
    mf_worklog_close(&log);
}

static void write_records(void)
{
    struct mf_worklog log;
    bool found;

    must(env, mf_worklog_look(env, scratch_path("o.apr"), &log_name(liar)[6],
                              &log, &found));
    must(env, mf_worklog_cut(&log, 0));
    for (size_t i = 0; i < records; i++)
        must(env, mf_worklog_add(&log, &record[i]));
    mf_worklog_close(&log);
}

static void lie(struct mf_work_record *about, uint64_t *word, uint64_t value)
{
    uint64_t before = *word;

    if (value == before)
        return;
    *word = value;
    put_all();
    write_records();
    *word = before;
    refused_or_well("record", (size_t)(about - record));
}

static void lie_in_each_word(void)
{
    put_all();
    read_records();
    for (size_t i = 0; i < records; i++) {
        lie(&record[i], &record[i].kind, record[i].kind + 1);
        for (size_t k = 0; k < record[i].count; k++) {
            uint64_t *word = &record[i].word[k];
            const uint64_t values[] = {
                0,
                *word + 1,
                *word - 1,
                UINT64_MAX,
                *word ^ UINT64_C(1) << 40,
                UINT64_C(1) << 63,
            };

            for (size_t v = 0; v < COUNT(values); v++)
                lie(&record[i], word, values[v]);
        }
    }
}

static void logs_that_lie_do_no_harm(void **state)
{
    (void)state;
    begin();
    for (liar = 1; liar <= PARTS; liar++)
        lie_in_each_word();
    end();
}

/* ---- a heap that fails ---- */

static void sweep(enum mf_status (*act)(struct mf_env *own, bool discard),
                  bool after)
{
    bool refused = true;

    for (uint64_t call = 1; refused; call++) {
        struct test_heap heap = { .fail_at = call, .fail_after = after };
        struct mf_env *own = test_env(&heap);

        if (!own)
            continue;
        check_refused(&heap, act(own, false));
        mf_env_free(own);
        assert_int_equal(heap.live, 0);
        refused = heap.calls >= heap.fail_at;
    }
}

static enum mf_status write_part(struct mf_env *own, bool discard)
{
    (void)discard;
    return quantize(own, "o.apr", 2);
}

static enum mf_status finish_again(struct mf_env *own, bool discard)
{
    put_all();
    unlink(scratch_path("o.apr"));
    return end_parts(own, discard);
}

static enum mf_status discard_again(struct mf_env *own, bool discard)
{
    (void)discard;
    put_all();
    return end_parts(own, true);
}

static void failed_allocations_are_errors(void **state)
{
    (void)state;
    begin();
    for (int after = 0; after < 2; after++) {
        sweep(write_part, after);
        must(env, quantize(env, "o.apr", 1));
        ends_well("after failed allocations", (size_t)after);
        sweep(finish_again, after);
        assert_true(
            same_files(scratch_path("o.apr"), scratch_path("whole.apr")));
        assert_int_equal(unlink(scratch_path("o.apr")), 0);
        sweep(discard_again, after);
        assert_int_equal(files_left(), 0);
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_prefix_of_a_log_will_do),
        cmocka_unit_test(no_changed_byte_of_a_log_will_do),
        cmocka_unit_test(changed_bytes_are_made_again),
        cmocka_unit_test(logs_that_lie_do_no_harm),
        cmocka_unit_test(failed_allocations_are_errors),
    };

    return RUN_WITH_SCRATCH(tests);
}
