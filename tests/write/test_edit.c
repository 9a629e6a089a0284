/* SPDX-License-Identifier: MIT
 *
 * test_edit.c - edits of a file's metadata by the library
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/with_scratch.h"

/* ---- files and edits ---- */

#define TENSORS 5

static struct mf_edit text_edit(const char *key, const char *text)
{
    return (struct mf_edit){ .key = key,
                             .type = MF_VALUE_STRING,
                             .text = { text, strlen(text) } };
}

static struct mf_edit number_edit(const char *key, enum mf_value_type type,
                                  uint64_t number)
{
    return (struct mf_edit){ .key = key,
                             .type = type,
                             .number = { .u64 = number } };
}

static struct mf_edit unset_edit(const char *key)
{
    return (struct mf_edit){ .key = key, .unset = true };
}

/* Tensors of odd sizes, each of other bytes.  alignment 0: the usual one, which
 * no key says.  text: of a key whose length decides how much an edit moves. */
static void write_aligned(const char *path, uint64_t alignment,
                          const char *text, uint64_t reserve)
{
    struct mf_writer_options options = { .size =
                                             sizeof(struct mf_writer_options),
                                         .format = "gguf",
                                         .reserve = reserve,
                                         .replace = true };
    struct mf_edit name = text_edit("general.name", text);
    struct mf_edit kind = text_edit("general.architecture", "tiny");
    struct mf_edit key =
        number_edit("general.alignment", MF_VALUE_U32, alignment);
    struct mf_writer *writer;
    uint8_t bytes[TENSORS * 7];

    assert_int_equal(mf_writer_new(env, &options, &writer), MF_OK);
    if (alignment > 0)
        assert_int_equal(mf_writer_set(writer, &key), MF_OK);
    assert_int_equal(mf_writer_set(writer, &kind), MF_OK);
    assert_int_equal(mf_writer_set(writer, &name), MF_OK);
    for (unsigned i = 0; i < TENSORS; i++) {
        struct mf_new_tensor tensor = {
            .name = { &"abcde"[i], 1 },
            .type = "i8",
            .rank = 1,
            .dim = (const uint64_t[]){ 7 * i + 1 },
        };

        assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    }
    assert_int_equal(mf_writer_open(writer, path), MF_OK);
    for (unsigned i = 0; i < TENSORS; i++) {
        memset(bytes, (int)i + 1, 7 * i + 1);
        assert_int_equal(mf_writer_push(writer, bytes, 7 * i + 1), MF_OK);
    }
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
}

/* With force: where an alignment is below 32, an edit may put the data where
 * llama.cpp does not map it. */
static struct mf_edit_result edit_file(const char *path, struct mf_edit edit)
{
    struct mf_edit_options options = { .size = sizeof(options), .force = true };
    struct mf_edit_result result = { 0 };

    if (mf_file_edit(env, path, &edit, 1, &options, &result) != MF_OK)
        fail_msg("%s: %s", edit.key, mf_env_error(env)->message);
    return result;
}

/* Where the data begins. */
static uint64_t tensor_offset(const struct mf_model *model)
{
    struct mf_tensor tensor;

    assert_true(mf_tensor_at(model, 0, &tensor));
    return tensor.data.offset;
}

/* The tensors are those that write_aligned wrote, and lie as the file says. */
static void check_tensors(const char *path, uint64_t alignment)
{
    struct mf_model *model;
    struct mf_tensor tensor;
    size_t size;
    uint8_t *bytes = load(path, &size);

    assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    assert_int_equal(mf_model_info(model)->error_count > 0,
                     alignment < 32 && tensor_offset(model) % 32 != 0);
    assert_int_equal(mf_model_info(model)->alignment, alignment);
    assert_int_equal(mf_model_info(model)->tensor_count, TENSORS);
    for (unsigned i = 0; i < TENSORS; i++) {
        assert_true(mf_tensor_at(model, i, &tensor));
        assert_int_equal(tensor.data.size, 7 * i + 1);
        assert_int_equal(tensor.data.offset % alignment, 0);
        for (uint64_t k = 0; k < tensor.data.size; k++)
            if (bytes[tensor.data.offset + k] != i + 1)
                fail_msg("tensor %u has other bytes", i);
    }
    mf_model_close(model);
    free(bytes);
}

/* ---- alignments ---- */

/* Longer than any buffer on the way. */
static char long_text[9000];

static void from_one_to_another(uint64_t from, uint64_t to, const char *text,
                                uint64_t reserve)
{
    const char *path = scratch_path("aligned.gguf");
    uint64_t was = from > 0 ? from : 32, is = to > 0 ? to : 32;
    struct mf_edit edit =
        to > 0 ? number_edit("general.alignment", MF_VALUE_U32, to)
               : unset_edit("general.alignment");
    struct mf_edit_result result;

    write_aligned(path, from, text, reserve);
    check_tensors(path, was);
    result = edit_file(path, edit);
    check_tensors(path, is);
    if (was != is)
        assert_false(result.in_place);
    /* The key may come or go where nothing moves, given the room. */
    if (was == is && reserve > 0) {
        assert_true(result.in_place);
        assert_int_equal(result.journalled, from != to);
    }
    result = edit_file(path, text_edit("general.name", "other"));
    check_tensors(path, is);
}

static void alignments(void **state)
{
    (void)state;
    memset(long_text, 'x', sizeof(long_text) - 1);
    /* 4: without a key. */
    for (uint64_t from = 4; from <= 4096; from *= 2)
        for (uint64_t to = 4; to <= 4096; to *= 2) {
            bool comes_or_goes = from == 4 || to == 4 || from == to;
            unsigned ways = comes_or_goes                      ? 4
                            : from == 2 * to || 2 * from == to ? 1
                                                               : 0;

            for (unsigned way = 0; way < ways; way++)
                from_one_to_another(from > 4 ? from : 0, to > 4 ? to : 0,
                                    way & 1 ? long_text : "name",
                                    way & 2 ? 300 : 0);
        }
}

/* Several edits: what counts is where they lead. */
static void alignment_there_and_back(void **state)
{
    const char *path = scratch_path("aligned.gguf");
    struct mf_edit edits[] = {
        unset_edit("general.alignment"),
        number_edit("general.alignment", MF_VALUE_U32, 256),
    };
    struct mf_edit_result result;

    (void)state;
    write_aligned(path, 64, "name", 0);
    assert_int_equal(mf_file_edit(env, path, edits, 2, NULL, &result), MF_OK);
    check_tensors(path, 256);
    edits[1].number.u64 = 64;
    write_aligned(path, 64, "name", 0);
    assert_int_equal(mf_file_edit(env, path, edits, 2, NULL, &result), MF_OK);
    assert_true(result.in_place);
    check_tensors(path, 64);
}

/* ---- errors ---- */

/* How many errors there are after `validate`. */
static size_t count_errors(const char *path,
                           enum mf_status (*validate)(struct mf_model *))
{
    struct mf_model *model = open_model(path);
    size_t count;

    assert_int_equal(validate(model), MF_OK);
    count = mf_model_info(model)->error_count;
    mf_model_close(model);
    return count;
}

static size_t errors_in(const char *path)
{
    return count_errors(path, mf_model_validate);
}

static size_t data_errors_in(const char *path)
{
    return count_errors(path, mf_model_validate_data);
}

static void copy_fixture(const char *name)
{
    size_t size;
    uint8_t *bytes = load(fixture_path(name), &size);

    save(scratch_path(name), bytes, size);
    free(bytes);
}

static void must_not_edit(const char *path, struct mf_edit edit,
                          uint64_t reserve, const char *rule)
{
    struct mf_edit_options options = { .size = sizeof(struct mf_edit_options),
                                       .reserve = reserve };
    size_t size, now_size;
    uint8_t *bytes = load(path, &size), *now;

    if (mf_file_edit(env, path, &edit, 1, &options, NULL) !=
            MF_ERR_UNSUPPORTED ||
        !strstr(mf_env_error(env)->message, rule))
        fail_msg("%s of %s: %s", edit.key, path, mf_env_error(env)->message);
    now = load(path, &now_size);
    assert_int_equal(now_size, size);
    assert_memory_equal(now, bytes, size);
    free(bytes);
    free(now);
}

/* Whether a file is edited in place or rewritten, mf_model_validate finds no
 * error in it. */
static void no_edit_makes_an_error(void **state)
{
    const char *gguf = scratch_path("aligned.gguf");
    char apr[512];

    (void)state;
    copy_fixture("good-metadata.apr");
    snprintf(apr, sizeof(apr), "%s", scratch_path("good-metadata.apr"));
    for (uint64_t reserve = 0; reserve <= 100; reserve += 100) {
        write_aligned(gguf, 0, "name", 100);
        must_not_edit(gguf, number_edit("split.count", MF_VALUE_U16, 3),
                      reserve, "GGUF-SPLIT");
        must_not_edit(apr, number_edit("architecture", MF_VALUE_U64, 4),
                      reserve, "APR-METADATA-TYPE");
        must_not_edit(apr, text_edit("quantization", "int4"), reserve,
                      "APR-METADATA-TYPE");
    }
    /* Long values are looked at where they lie. */
    write_aligned(gguf, 0, long_text, 100);
    must_not_edit(gguf, number_edit("split.count", MF_VALUE_U16, 3), 0,
                  "GGUF-SPLIT");
    edit_file(gguf, number_edit("a", MF_VALUE_U16, 3));
    check_tensors(gguf, 32);
}

/* Errors that are there already stay, or are mended. */
static void errors_can_be_mended(void **state)
{
    static const struct {
        const char *file, *key;
        size_t before;
    } rows[] = {
        { "bad-key-duplicate.gguf", "tiny.value", 1 },
        { "bad-metadata-duplicate.apr", "name", 1 },
        { "bad-metadata-type.apr", "hidden_size", 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *path;

        copy_fixture(rows[i].file);
        path = scratch_path(rows[i].file);
        assert_int_equal(errors_in(path), rows[i].before);
        edit_file(path, text_edit(rows[i].key, ""));
        assert_int_equal(errors_in(path), rows[i].before);
        edit_file(path, unset_edit(rows[i].key));
        assert_int_equal(errors_in(path), rows[i].before - 1);
    }
}

/* Whichever allocation fails: the old file, or the new one, and nothing else.
 * The long value is not in memory. */
static void every_allocation_fails(void **state)
{
    struct mf_edit edit = text_edit("general.description", "x");
    char path[512];

    (void)state;
    empty_scratch();
    snprintf(path, sizeof(path), "%s", scratch_path("aligned.gguf"));
    for (unsigned way = 0; way < 4; way++) {
        struct mf_edit_options options = { .size =
                                               sizeof(struct mf_edit_options),
                                           .reserve = way / 2 };
        enum mf_status status = MF_ERR_MEMORY;

        write_aligned(scratch_path("old"), 0, long_text, 100);
        write_aligned(path, 0, long_text, 100);
        for (uint64_t k = 1; status != MF_OK; k++) {
            struct test_heap heap = { .fail_at = k, .fail_after = way % 2 };
            struct mf_env *own = test_env(&heap);

            if (!own)
                continue;
            status = mf_file_edit(own, path, &edit, 1, &options, NULL);
            mf_env_free(own);
            assert_int_equal(heap.live, 0);
            assert_int_equal(mf_file_recover(env, path, NULL, NULL), MF_OK);
            check_tensors(path, 32);
            if (status != MF_OK && !same_files(path, scratch_path("old")))
                write_aligned(path, 0, long_text, 100);
            assert_true(k < 1000);
        }
        assert_false(same_files(path, scratch_path("old")));
        assert_int_equal(empty_scratch(), 2);
    }
}

/* A wrong checksum is a sign of damage: an edit must not correct it. */
static void damage_stays_known(void **state)
{
    struct mf_convert_options roomy = { .size =
                                            sizeof(struct mf_convert_options),
                                        .reserve = 100 };
    struct mf_edit_options rewrite = { .size = sizeof(struct mf_edit_options),
                                       .reserve = 100 };
    struct mf_edit edit = text_edit("a", "1");
    struct mf_edit_result result;
    const char *path;

    (void)state;
    copy_fixture("bad-footer.apr");
    path = scratch_path("bad-footer.apr");
    assert_int_equal(data_errors_in(path), 1);
    assert_int_equal(mf_file_edit(env, path, &edit, 1, &rewrite, NULL),
                     MF_ERR_CORRUPT);
    assert_true(same_files(path, fixture_path("bad-footer.apr")));
    must_refuse(env, path, scratch_path("o.apr"), &roomy, MF_ERR_CORRUPT,
                "checksum");
    assert_int_equal(access(scratch_path("o.apr"), F_OK), -1);
    result = edit_file(path, text_edit("name", ""));
    assert_true(result.in_place);
    assert_int_equal(data_errors_in(path), 1);

    copy_fixture("good-metadata.apr");
    assert_int_equal(mf_file_edit(env, scratch_path("good-metadata.apr"), &edit,
                                  1, &rewrite, NULL),
                     MF_OK);
    assert_int_equal(data_errors_in(scratch_path("good-metadata.apr")), 0);
}

/* ---- a file that is written to meanwhile ---- */

/* What another program writes to while ours waits for the disk; NULL: none. */
static const char *written_to;

/* The library's calls come here. */
int fsync(int fd)
{
    const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
    int other = written_to ? open(written_to, O_WRONLY) : -1;

    if (other >= 0) {
        assert_int_equal(pwrite(other, "new", 3, 0), 3);
        assert_int_equal(futimens(other, times), 0);
        close(other);
        written_to = NULL;
    }
    return fdatasync(fd);
}

static void check_kept(const char *path)
{
    size_t size;
    uint8_t *bytes;

    assert_null(written_to);
    bytes = load(path, &size);
    assert_memory_equal(bytes, "new", 3);
    free(bytes);
    assert_int_equal(empty_scratch(), 1); /* and nothing else is left */
}

/* What is written to a file goes not away with it. */
static void nothing_written_is_lost(void **state)
{
    const struct mf_edit_options rewrite = { .size =
                                                 sizeof(struct mf_edit_options),
                                             .reserve = 100 };
    const struct mf_edit edit = text_edit("general.name", "other");
    const struct mf_convert_options moved = {
        .size = sizeof(struct mf_convert_options), .delete_inputs = true
    };
    struct mf_model *model;
    char path[512];

    (void)state;
    snprintf(path, sizeof(path), "%s", scratch_path("good-base.gguf"));
    empty_scratch();
    copy_fixture("good-base.gguf");
    written_to = path;
    assert_int_equal(mf_file_edit(env, path, &edit, 1, &rewrite, NULL),
                     MF_ERR_IO);
    check_kept(path);

    copy_fixture("good-base.gguf");
    assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    written_to = path;
    assert_int_equal(
        mf_model_convert(model, scratch_path("o.gguf"), &moved, NULL),
        MF_ERR_IO);
    mf_model_close(model);
    check_kept(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alignments),
        cmocka_unit_test(alignment_there_and_back),
        cmocka_unit_test(no_edit_makes_an_error),
        cmocka_unit_test(errors_can_be_mended),
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(damage_stays_known),
        cmocka_unit_test(nothing_written_is_lost),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
