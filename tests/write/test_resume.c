/* SPDX-License-Identifier: MIT
 *
 * test_resume.c - stopped work goes on: a work log that is cut or damaged
 *
 * A small model is quantized to a type with one scale per tensor, which makes a
 * record of every tensor.  The work is stopped by the progress function, and
 * goes on with every prefix of its log and with every byte changed.  What comes
 * of it is always the file of one run, with its report, or a refusal that
 * changes nothing.
 */
#define _XOPEN_SOURCE 700 /* setenv */

#include <stdlib.h>
#include <sys/stat.h>

#include "tests/with_scratch.h"

#define TENSORS 5

/* ---- the work ---- */

static unsigned asked, stop_at;

static bool progress(void *user, const struct mf_progress *now)
{
    (void)user;
    (void)now;
    return stop_at == 0 || ++asked < stop_at;
}

static struct mf_env *own_env(void)
{
    const struct mf_options options = { .size = sizeof(options),
                                        .threads = 1,
                                        .progress = progress };
    struct mf_env *own = mf_env_new(&options);

    assert_non_null(own);
    return own;
}

static void must(struct mf_env *own, enum mf_status status)
{
    if (status != MF_OK)
        fail_msg("%s", mf_env_error(own)->message);
}

static void make_input(const char *path, float first)
{
    const struct mf_writer_options options = { .size = sizeof(options),
                                               .format = "gguf",
                                               .replace = true };
    static float numbers[64 * 32];
    struct mf_writer *writer;
    char name[32];

    must(env, mf_writer_new(env, &options, &writer));
    must(env,
         mf_writer_set(writer, &(struct mf_edit){ .key = "general.architecture",
                                                  .type = MF_VALUE_STRING,
                                                  .text = { "none", 4 } }));
    for (int i = 0; i < TENSORS; i++) {
        snprintf(name, sizeof(name), "blk.%d.ffn_up.weight", i);
        must(env, mf_writer_add(writer,
                                &(struct mf_new_tensor){
                                    .name = { name, strlen(name) },
                                    .type = "f32",
                                    .rank = 2,
                                    .dim = (const uint64_t[]){ 64, 32 } },
                                NULL));
    }
    must(env, mf_writer_open(writer, path));
    for (int i = 0; i < TENSORS; i++) {
        for (size_t k = 0; k < COUNT(numbers); k++)
            numbers[k] = first + (float)(k * 37 % 1009) / (float)(i + 3);
        mf_order_floats(numbers, COUNT(numbers));
        must(env, mf_writer_push(writer, numbers, sizeof(numbers)));
    }
    must(env, mf_writer_commit(writer));
    mf_writer_free(writer);
}

struct work {
    const char *type;
    bool report, replace;
};
static const struct work usual = { "apr_q8", true, false };

static struct mf_quantize_result result;

/* The error is in *out; the env is freed, as by a process that ends. */
static enum mf_status quantize(const struct work *work, const char *name,
                               bool resume, bool *resumable,
                               struct mf_error *out)
{
    const struct mf_quantize_options options = { .size = sizeof(options),
                                                 .type = work->type,
                                                 .report = work->report };
    const struct mf_convert_options how = { .size = sizeof(how),
                                            .replace = work->replace,
                                            .resume = resume };
    struct mf_env *own = own_env();
    struct mf_model *model;
    enum mf_status status;

    must(own, mf_model_open(own, scratch_path("in.gguf"), NULL, &model));
    memset(&result, 0, sizeof(result));
    status =
        mf_model_quantize(model, scratch_path(name), &options, &how, &result);
    *out = *mf_env_error(own);
    *resumable = mf_env_resumable(own);
    mf_model_close(model);
    mf_env_free(own);
    return status;
}

#define LOG     ".o.apr.resume"
#define PARTIAL ".o.apr.partial"

static bool exists(const char *name)
{
    return access(scratch_path(name), F_OK) == 0;
}

/* A file's bytes, to be put back. */
struct kept {
    uint8_t *bytes;
    size_t size;
};

static struct kept keep(const char *name)
{
    struct kept kept;

    kept.bytes = load(scratch_path(name), &kept.size);
    return kept;
}

static void put_back(const char *name, const struct kept *kept, size_t size)
{
    unlink(scratch_path(name));
    save(scratch_path(name), kept->bytes, size);
    assert_int_equal(chmod(scratch_path(name), 0600), 0);
}

static bool unchanged(const char *name, const struct kept *kept)
{
    struct kept now = keep(name);
    bool same =
        now.size == kept->size && memcmp(now.bytes, kept->bytes, now.size) == 0;

    free(now.bytes);
    return same;
}

/* ---- tests ---- */

static struct kept log_kept, partial_kept;
static struct mf_quantize_result whole;

static void nothing_is_left(void)
{
    assert_false(exists(LOG));
    assert_false(exists(PARTIAL));
}

static void ends_well(const char *what, size_t at)
{
    if (!same_files(scratch_path("o.apr"), scratch_path("whole.apr")))
        fail_msg("%s %zu: another file", what, at);
    if (memcmp(&result.type, &whole.type, sizeof(result.type)) != 0)
        fail_msg("%s %zu: another report", what, at);
    nothing_is_left();
    assert_int_equal(unlink(scratch_path("o.apr")), 0);
}

/* Stops the work when something was kept, and keeps that. */
static void begin(void)
{
    struct mf_error error;
    bool resumable = false;

    make_input(scratch_path("in.gguf"), 1);
    stop_at = 0;
    assert_int_equal(quantize(&usual, "whole.apr", false, &resumable, &error),
                     MF_OK);
    whole = result;
    for (stop_at = 1; !resumable; stop_at++) {
        assert_true(stop_at < 1000);
        asked = 0;
        assert_int_equal(quantize(&usual, "o.apr", true, &resumable, &error),
                         MF_ERR_STOPPED);
        if (!resumable)
            nothing_is_left();
    }
    /* A few tensors more. */
    log_kept = keep(LOG);
    for (stop_at++; log_kept.size < 600; stop_at++) {
        free(log_kept.bytes);
        asked = 0;
        assert_int_equal(quantize(&usual, "o.apr", true, &resumable, &error),
                         MF_ERR_STOPPED);
        assert_true(resumable);
        log_kept = keep(LOG);
    }
    stop_at = 0;
    partial_kept = keep(PARTIAL);
}

static void end(void)
{
    free(log_kept.bytes);
    free(partial_kept.bytes);
    empty_scratch();
}

static void any_prefix_of_the_log_will_do(void **state)
{
    struct mf_error error;
    bool resumable;

    (void)state;
    begin();
    for (size_t size = 0; size <= log_kept.size; size++) {
        put_back(LOG, &log_kept, size);
        put_back(PARTIAL, &partial_kept, partial_kept.size);
        if (quantize(&usual, "o.apr", true, &resumable, &error) != MF_OK)
            fail_msg("%zu bytes: %s", size, error.message);
        ends_well("bytes", size);
    }
    end();
}

static void is_refused(const char *what, size_t at, const struct work *work,
                       const char *words)
{
    struct kept log = keep(LOG), partial = keep(PARTIAL);
    struct mf_error error;
    bool resumable;

    if (quantize(work, "o.apr", true, &resumable, &error) != MF_ERR_OUTPUT ||
        strcmp(error.rule, "NOT-RESUMABLE") != 0 || resumable ||
        !strstr(error.message, words))
        fail_msg("%s %zu: %s", what, at, error.message);
    assert_true(unchanged(LOG, &log));
    assert_false(exists("o.apr"));
    free(log.bytes);
    free(partial.bytes);
}

static void no_changed_byte_of_the_log_will_do(void **state)
{
    (void)state;
    begin();
    for (size_t at = 0; at < log_kept.size; at++) {
        put_back(LOG, &log_kept, log_kept.size);
        put_back(PARTIAL, &partial_kept, partial_kept.size);
        log_kept.bytes[at] ^= (uint8_t)(1U << at % 8);
        put_back(LOG, &log_kept, log_kept.size);
        log_kept.bytes[at] ^= (uint8_t)(1U << at % 8);
        is_refused("changed byte", at, &usual, "cannot be resumed");
    }
    end();
}

/* The header is written again, what follows the kept data is written now, and
 * what was not flushed to the disk is done again; the rest is refused. */
static void changed_bytes_of_the_partial_file_are_never_kept(void **state)
{
    struct mf_error error;
    bool resumable;
    size_t refused = 0;

    (void)state;
    begin();
    for (size_t at = 0; at < partial_kept.size; at += 61) {
        put_back(LOG, &log_kept, log_kept.size);
        partial_kept.bytes[at] ^= 0x10;
        put_back(PARTIAL, &partial_kept, partial_kept.size);
        partial_kept.bytes[at] ^= 0x10;
        if (quantize(&usual, "o.apr", true, &resumable, &error) == MF_OK) {
            ends_well("changed byte", at);
            continue;
        }
        assert_string_equal(error.rule, "NOT-RESUMABLE");
        refused++;
    }
    assert_true(refused > 0);
    end();
}

/* After a power failure the log may end in zeros. */
static void zeros_at_the_end_of_the_log_are_dropped(void **state)
{
    struct mf_error error;
    bool resumable;

    (void)state;
    begin();
    for (size_t size = 0; size < log_kept.size; size += 8) {
        struct kept zeros = { calloc(log_kept.size + 100, 1),
                              log_kept.size + 100 };

        assert_non_null(zeros.bytes);
        memcpy(zeros.bytes, log_kept.bytes, size);
        put_back(LOG, &zeros, zeros.size);
        put_back(PARTIAL, &partial_kept, partial_kept.size);
        free(zeros.bytes);
        if (quantize(&usual, "o.apr", true, &resumable, &error) == MF_OK)
            ends_well("zeros from", size);
        else
            assert_string_equal(error.rule, "NOT-RESUMABLE");
    }
    end();
}

static void only_the_same_work_goes_on(void **state)
{
    const struct work without_report = { "apr_q8", false, false };
    const struct work other_type = { "apr_q4", true, false };
    const struct work forced = { "apr_q8", true, true };
    struct mf_error error;
    bool resumable;

    (void)state;
    begin();
    is_refused("no report", 0, &without_report, "other options");
    is_refused("another type", 0, &other_type, "with other options");
    make_input(scratch_path("in.gguf"), 2);
    is_refused("another input", 0, &usual, "the input is not the one");
    make_input(scratch_path("in.gguf"), 1);
    if (quantize(&forced, "o.apr", true, &resumable, &error) != MF_OK)
        fail_msg("%s", error.message);
    ends_well("forced", 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_prefix_of_the_log_will_do),
        cmocka_unit_test(no_changed_byte_of_the_log_will_do),
        cmocka_unit_test(changed_bytes_of_the_partial_file_are_never_kept),
        cmocka_unit_test(zeros_at_the_end_of_the_log_are_dropped),
        cmocka_unit_test(only_the_same_work_goes_on),
    };

    /* Thousands of syncs take minutes on a disk. */
    if (access("/dev/shm", W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    return RUN_WITH_SCRATCH(tests);
}
