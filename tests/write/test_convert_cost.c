/* SPDX-License-Identifier: MIT
 *
 * test_convert_cost.c - what writing takes of the heap, and that threads and
 * failing allocations do not show
 */
#include "tests/same_model.h"

/* ---- the heap ---- */

/* One try with the heap failing at that call; true when it no longer got
 * there. */
static bool try_failing(const char *from, const char *to, uint64_t call,
                        bool after)
{
    struct test_heap heap = { 0 };
    struct mf_env *own = test_env(&heap);
    struct mf_convert_options options = { .size =
                                              sizeof(struct mf_convert_options),
                                          .shard_tensors = after ? 0 : 1 };
    struct mf_model *model;
    enum mf_status status;
    size_t live;

    assert_int_equal(mf_model_open(own, from, NULL, &model), MF_OK);
    live = heap.live;
    heap.calls = 0;
    heap.fail_at = call;
    heap.fail_after = after;
    if (has_suffix(to, ".apr"))
        options.shard_tensors = 0; /* has no shards */
    status = mf_model_convert(model, to, &options, NULL);
    assert_int_equal(heap.live, live);
    mf_model_close(model);
    mf_env_free(own);
    assert_int_equal(heap.live, 0);
    check_refused(&heap, status);
    if (status == MF_OK)
        assert_true(empty_scratch() > 0);
    else
        assert_int_equal(empty_scratch(), 0);
    return heap.calls < call;
}

static void every_allocation_failed(void **state)
{
    static const char *const names[] = { "good-base.safetensors",
                                         "good-arrays.gguf", "good-base.apr",
                                         "good-strings.gguf" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t f = 0; f < COUNT(formats); f++)
            for (int after = 0; after < 2; after++) {
                uint64_t call = 1;

                while (!try_failing(fixture_path(names[i]),
                                    output("o", formats[f]), call, after))
                    call++;
                assert_true(call > 3);
            }
}

/* A model of a few tensors that together have so many bytes, all of them a
 * hole. */
static void make_hollow(const char *path, uint64_t size)
{
    char header[8192];
    size_t at = 1;
    const uint64_t count = 80;
    struct image length = { .size = 0 };
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    header[0] = '{';
    for (uint64_t i = 0; i < count; i++)
        at += (size_t)snprintf(header + at, sizeof(header) - at,
                               "%s\"t.%02" PRIu64
                               "\":{\"dtype\":\"U8\",\"shape\":[%" PRIu64 "],"
                               "\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
                               i ? "," : "", i, size / count,
                               i * (size / count), (i + 1) * (size / count));
    header[at++] = '}';
    while (at % 8 != 0)
        header[at++] = ' ';
    image_int(&length, at, 8);
    fwrite(length.bytes, 1, 8, file);
    fwrite(header, 1, at, file);
    fflush(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)(8 + at + size)), 0);
    fclose(file);
}

static size_t peak_of(const char *from, const char *to, bool dry_run)
{
    struct mf_options how = { .size = sizeof(struct mf_options), .threads = 4 };
    struct mf_env *own = mf_env_new(&how);
    struct mf_convert_options options = { .size =
                                              sizeof(struct mf_convert_options),
                                          .replace = true,
                                          .dry_run = dry_run };
    struct mf_heap_stats stats;
    struct mf_io_stats io;

    must_convert(own, from, to, &options);
    mf_env_heap(own, &stats);
    mf_env_io(own, &io);
    if (!dry_run) {
        struct stat written;

        assert_int_equal(stat(to, &written), 0);
        assert_true(io.bytes_written >= (uint64_t)written.st_size);
    } else {
        assert_int_equal(io.bytes_written, 0);
        assert_int_not_equal(access(to, F_OK), 0);
    }
    mf_env_free(own);
    return stats.peak;
}

/* 40 GB need no more than 80 MB, and neither need more than 8 MiB and 2 MiB for
 * each thread. */
static void heap_does_not_grow_with_tensors(void **state)
{
    const char *huge = scratch_path("huge.safetensors");
    const char *large = scratch_path("large.safetensors");
    size_t peak[3];

    (void)state;
    make_hollow(huge, 40000000000);
    make_hollow(large, 80000000);
    for (size_t i = 1; i < COUNT(formats); i++) {
        peak[0] = peak_of(large, output("o", formats[i]), true);
        peak[1] = peak_of(huge, output("o", formats[i]), true);
        peak[2] = peak_of(large, output("o", formats[i]), false);
        assert_true(peak[1] < peak[0] + 16384);
        assert_true(peak[1] < (size_t)1 << 20);
        assert_true(peak[2] < ((size_t)8 << 20) + 4 * ((size_t)2 << 20));
        unlink(output("o", formats[i]));
    }
    empty_scratch();
}

/* A vocabulary is read when the file is opened, to know how large its JSON is,
 * and to write that. */
static void metadata_is_read_three_times(void **state)
{
    static struct image image;
    const size_t size = 4000000;
    const char *path = scratch_path("vocabulary.gguf");

    (void)state;
    gguf_start(&image);
    gguf_array(&image, "tokenizer.ggml.scores", MF_VALUE_F32, size / 4);
    image.bytes[8] = 0;  /* tensors */
    image.bytes[16] = 1; /* metadata */
    image_save(&image, path);
    assert_int_equal(truncate(path, (off_t)(image.size + size)), 0);
    for (size_t i = 1; i < COUNT(formats); i++) {
        struct test_heap heap = { 0 };
        struct mf_env *own = test_env(&heap);
        struct mf_io_stats io = { 0 };

        must_convert(own, path, output("o", formats[i]), NULL);
        mf_env_io(own, &io);
        assert_true(io.bytes_read < 3 * (size + 40000));
        mf_env_free(own);
    }
    empty_scratch();
}

/* ---- threads ---- */

/* Noise, so that a piece in the wrong place is seen. */
static void make_noise(const char *path)
{
    static const char header[] =
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[9000001],"
        "\"data_offsets\":[0,9000001]},\"b\":{\"dtype\":\"U8\",\"shape\":"
        "[4999999],\"data_offsets\":[9000001,14000000]}}   ";
    struct image length = { .size = 0 };
    FILE *file = fopen(path, "wb");
    uint32_t state = 1;

    assert_non_null(file);
    image_int(&length, sizeof(header) - 1, 8);
    fwrite(length.bytes, 1, 8, file);
    fwrite(header, 1, sizeof(header) - 1, file);
    for (size_t i = 0; i < 14000000; i++) {
        state = state * 1664525 + 1013904223;
        putc((int)(state >> 24), file);
    }
    fclose(file);
}

static void threads_do_not_show(void **state)
{
    static const unsigned counts[] = { 1, 2, 3, 7 };
    char from[512]; /* scratch_path keeps the last eight only */

    (void)state;
    snprintf(from, sizeof(from), "%s", scratch_path("noise.safetensors"));
    make_noise(from);
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct mf_options how = { .size = sizeof(struct mf_options),
                                  .threads = counts[i] };
        struct mf_convert_options options = {
            .size = sizeof(struct mf_convert_options), .replace = true
        };
        struct mf_env *own = mf_env_new(&how);
        struct mf_model *a, *b;

        must_convert(own, from, scratch_path(i ? "o.apr" : "one.apr"),
                     &options);
        mf_env_free(own);
        if (i > 0)
            assert_true(
                same_files(scratch_path("one.apr"), scratch_path("o.apr")));
        if (i > 0)
            continue;
        a = open_model(from);
        b = open_model(scratch_path("one.apr"));
        same_tensors(a, b);
        nothing_new("noise", a, b); /* its checksum among others */
        mf_model_close(a);
        mf_model_close(b);
    }
    empty_scratch();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_failed),
        cmocka_unit_test(heap_does_not_grow_with_tensors),
        cmocka_unit_test(metadata_is_read_three_times),
        cmocka_unit_test(threads_do_not_show),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return RUN_WITH_SCRATCH(tests);
}
