/* SPDX-License-Identifier: MIT
 *
 * test_core.c - heap, arena, source, reader, names and geometry, each alone
 */
#include <errno.h>

#include "lib/io/reader.h"
#include "lib/model/index.h"
#include "tests/with_env.h"

static void heap_counts_live_and_peak(void **state)
{
    struct mf_heap_stats before, now;
    void *block;

    (void)state;
    mf_env_heap(env, &before);
    block = mf_alloc(env, 1000);
    block = mf_env_resize(env, block, 1000, 3000);
    block = mf_env_resize(env, block, 3000, 10);
    mf_env_heap(env, &now);
    assert_int_equal(now.live - before.live, 10);
    assert_int_equal(now.peak - before.live, 3000);
    assert_int_equal(now.allocations - before.allocations, 3);
    mf_release(env, block, 10);
    mf_env_heap(env, &now);
    assert_int_equal(now.live, before.live);
}

static void heap_counts_blocks_and_all_bytes(void **state)
{
    struct mf_heap_stats before, now;
    void *one, *two;

    (void)state;
    mf_env_heap(env, &before);
    one = mf_alloc(env, 1000);
    two = mf_alloc(env, 500);
    two = mf_env_resize(env, two, 500, 5000);
    mf_release(env, one, 1000);
    one = mf_alloc(env, 600);
    mf_env_heap(env, &now);
    assert_int_equal(now.total_bytes - before.total_bytes, 7100);
    assert_int_equal(now.live_blocks - before.live_blocks, 2);
    assert_int_equal(now.peak - before.live, 6000);
    assert_int_equal(now.peak_blocks - before.live_blocks, 2);
    mf_release(env, one, 600);
    one = mf_alloc(env, 400);
    two = mf_env_resize(env, two, 5000, 5599);
    mf_env_heap(env, &now); /* one byte below the peak */
    assert_int_equal(now.peak - before.live, 6000);
    two = mf_env_resize(env, two, 5599, 5500);
    {
        void *three = mf_alloc(env, 100); /* the peak again, in three blocks */

        mf_env_heap(env, &now);
        assert_int_equal(now.peak - before.live, 6000);
        assert_int_equal(now.peak_blocks - before.live_blocks, 3);
        mf_release(env, three, 100);
    }
    mf_release(env, one, 400);
    mf_release(env, two, 5500);
    mf_env_heap(env, &now);
    assert_int_equal(now.live_blocks, before.live_blocks);
}

static void first_error_stays(void **state)
{
    (void)state;
    assert_int_equal(mf_fail(env, MF_ERR_CORRUPT, 7, "first"), MF_ERR_CORRUPT);
    assert_int_equal(mf_fail(env, MF_ERR_IO, 8, "second"), MF_ERR_CORRUPT);
    assert_string_equal(mf_env_error(env)->message, "first");
    assert_int_equal(mf_env_error(env)->offset, 7);
    assert_string_equal(mf_env_error(env)->rule, "");
    assert_int_equal(mf_refuse(env, MF_RULE_FILE_RANK, 9, "third"),
                     MF_ERR_CORRUPT);
    assert_int_equal(mf_env_error(env)->offset, 7);
}

static void a_refusal_has_its_rules_id_and_status(void **state)
{
    (void)state;
    assert_int_equal(mf_refuse(env, MF_RULE_FILE_RANK, 9, "%d", 65),
                     MF_ERR_LIMIT);
    assert_string_equal(mf_env_error(env)->message, "65");
    assert_string_equal(mf_env_error(env)->rule, "FILE-RANK");
    mf_clear_error(env);
    assert_int_equal(mf_refuse(env, MF_RULE_APR_FLAGS, 9, "also a finding"),
                     MF_ERR_CORRUPT);
    assert_string_equal(mf_env_error(env)->rule, "APR-FLAGS");
}

static void quoted_names_are_printable_and_short(void **state)
{
    char name[1000];
    struct mf_quoted quoted;

    (void)state;
    memset(name, '\x1b', sizeof(name));
    quoted = mf_quote((struct mf_str){ name, sizeof(name) });
    assert_int_equal(mf_text_clean(quoted.text, strlen(quoted.text)),
                     strlen(quoted.text));
    assert_true(strlen(quoted.text) <= 104);
    assert_memory_equal(quoted.text, "\\x1b\\x1b", 8);
}

static size_t told(void *user)
{
    return *(const size_t *)user;
}

/* Of two limits the lower one counts, and both refuse in the same words. */
static void memory_left_is_what_both_limits_leave(void **state)
{
    size_t program = SIZE_MAX;
    struct mf_options options = { .size = sizeof(options) };
    struct mf_env *limited = mf_env_new(&options);
    size_t live = limited->heap.live;
    void *block;

    (void)state;
    assert_int_equal(mf_heap_left(limited), SIZE_MAX);
    mf_env_free(limited);
    options.memory_left = told;
    options.memory_left_user = &program;
    options.heap_limit = live + 5000;
    limited = mf_env_new(&options);
    assert_int_equal(mf_heap_left(limited), 5000);
    program = 700;
    assert_int_equal(mf_heap_left(limited), 700);
    assert_null(mf_alloc(limited, 701));
    assert_int_equal(mf_env_error(limited)->status, MF_ERR_LIMIT);
    assert_string_equal(mf_env_error(limited)->rule, "HEAP-LIMIT");
    block = mf_alloc(limited, 700);
    assert_non_null(block);
    program = 0;
    mf_release(limited, block, 700);
    program = SIZE_MAX;
    assert_int_equal(mf_heap_left(limited), 5000);
    mf_clear_error(limited);
    assert_null(mf_alloc(limited, 5001));
    assert_string_equal(mf_env_error(limited)->rule, "HEAP-LIMIT");
    mf_env_free(limited);
}

static void arena_keeps_blocks_apart(void **state)
{
    struct mf_arena arena;
    uint64_t *blocks[200];

    (void)state;
    mf_arena_init(&arena, env);
    for (size_t i = 0; i < 200; i++) {
        char *text = mf_arena_text(&arena, i);

        blocks[i] = mf_arena_take(&arena, 8 * (i + 1));
        assert_non_null(text);
        assert_int_equal((uintptr_t)blocks[i] % 8, 0);
        memset(text, 0xee, i);
        for (size_t k = 0; k <= i; k++)
            blocks[i][k] = i;
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t k = 0; k <= i; k++)
            assert_int_equal(blocks[i][k], i);
    mf_arena_release(&arena);
}

/* A source that ends, or fails, before its size says. */
struct faulty {
    uint64_t ends;
    int error; /* errno instead of an end */
};
static struct faulty faulty;

static int64_t faulty_read(const struct mf_source *source, uint64_t offset,
                           void *buffer, size_t size, struct mf_io_stats *io)
{
    (void)source, (void)io;
    if (offset >= faulty.ends) {
        errno = faulty.error;
        return faulty.error ? -1 : 0;
    }
    if (size > faulty.ends - offset)
        size = (size_t)(faulty.ends - offset);
    if (size > 3) /* short reads are not an end */
        size = 3;
    memset(buffer, 'x', size);
    return (int64_t)size;
}

static uint64_t faulty_size(const struct mf_source *source)
{
    return source->size;
}

static const struct mf_source_ops faulty_ops = { .read = faulty_read,
                                                 .size_now = faulty_size,
                                                 .close = NULL };

static void a_shrinking_file_is_an_error_with_an_offset(void **state)
{
    struct mf_source source = { .ops = &faulty_ops, .size = 100 };
    struct mf_reader reader;

    (void)state;
    faulty = (struct faulty){ .ends = 50 };
    assert_int_equal(mf_reader_init(&reader, env, &source, NULL, 0), MF_OK);
    assert_int_equal(mf_take_u64(&reader), 0);
    assert_true(reader.failed);
    assert_int_equal(mf_reader_check(&reader, "a field"), MF_ERR_IO);
    assert_int_equal(mf_env_error(env)->offset, 50);
    assert_non_null(strstr(mf_env_error(env)->message, "truncated"));
    mf_reader_release(&reader);
}

static void a_read_error_is_an_error_with_an_offset(void **state)
{
    struct mf_source source = { .ops = &faulty_ops, .size = 100 };
    uint8_t buffer[60];

    (void)state;
    faulty = (struct faulty){ .ends = 20, .error = EIO };
    assert_int_equal(mf_source_read(env, &source, 5, buffer, 60), MF_ERR_IO);
    assert_int_equal(mf_env_error(env)->offset, 20);
    assert_non_null(strstr(mf_env_error(env)->message, mf_errno_text(EIO)));
}

static void reader_takes_fields_in_both_byte_orders(void **state)
{
    static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8,
                                     9, 1, 2, 3, 4, 5, 6, 7 };
    struct mf_source source;
    struct mf_reader reader;

    (void)state;
    mf_source_open_memory("memory", bytes, sizeof(bytes), &source);
    assert_int_equal(mf_reader_init(&reader, env, &source, bytes, 4), MF_OK);
    assert_int_equal(mf_take_u8(&reader), 1);
    assert_int_equal(mf_take_u16(&reader), 0x0302);
    assert_int_equal(mf_take_u32(&reader), 0x07060504);
    reader.big_endian = true;
    assert_int_equal(mf_take_u16(&reader), 0x0809);
    assert_int_equal(mf_take_u32(&reader), 0x01020304);
    assert_int_equal(mf_peek(&reader), 5);
    mf_skip(&reader, 3);
    assert_int_equal(mf_peek(&reader), -1);
    assert_false(reader.failed);
    assert_int_equal(mf_take_u8(&reader), 0);
    assert_true(reader.failed);
    assert_int_equal(mf_reader_check(&reader, "the end"), MF_ERR_CORRUPT);
    assert_int_equal(mf_env_error(env)->offset, 16);
    mf_reader_release(&reader);
}

static void reader_never_passes_its_limit(void **state)
{
    static const uint8_t bytes[100] = { 0 };
    struct mf_source source;
    struct mf_reader reader, ahead;
    struct mf_io_stats io;

    (void)state;
    mf_source_open_memory("memory", bytes, sizeof(bytes), &source);
    assert_int_equal(mf_reader_init(&reader, env, &source, bytes, 64), MF_OK);
    mf_reader_seek(&reader, 10);
    mf_reader_limit(&reader, 70);
    ahead = mf_reader_ahead(&reader);
    mf_env_io(env, &io);
    assert_int_equal(io.bytes_read, 6); /* 64 to 70, the rest was there */
    mf_skip(&ahead, 60);
    assert_false(ahead.failed);
    mf_take_u8(&ahead);
    assert_true(ahead.failed);
    assert_false(reader.failed);
    mf_skip(&reader, 61);
    assert_true(reader.failed);
    mf_reader_release(&reader);
}

static void skipping_reads_nothing(void **state)
{
    size_t size = 10 * MF_WINDOW;
    uint8_t *bytes = calloc(1, size);
    struct mf_source source;
    struct mf_reader reader;
    struct mf_io_stats io;

    (void)state;
    assert_non_null(bytes);
    bytes[9 * MF_WINDOW] = 7;
    mf_source_open_memory("memory", bytes, size, &source);
    assert_int_equal(mf_reader_init(&reader, env, &source, NULL, 0), MF_OK);
    mf_skip(&reader, 9 * MF_WINDOW);
    assert_int_equal(mf_take_u8(&reader), 7);
    mf_env_io(env, &io);
    assert_int_equal(io.bytes_read, MF_WINDOW);
    mf_reader_release(&reader);
    free(bytes);
}

static struct mf_str number_name(const void *table, size_t row)
{
    const char(*names)[8] = (const char(*)[8])table;

    return (struct mf_str){ names[row], strlen(names[row]) };
}

static void names_are_found_and_duplicates_reported(void **state)
{
    static char table[1000][8];
    struct mf_names names = { .name_at = number_name, .table = table };
    struct mf_arena arena;

    (void)state;
    mf_arena_init(&arena, env);
    for (int i = 0; i < 1000; i++)
        snprintf(table[i], sizeof(table[i]), "n%d", i % 990);
    assert_int_equal(mf_names_init(&names, &arena, 1000), MF_OK);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(mf_names_add(&names, i),
                         i < 990 ? MF_NOT_FOUND : i - 990);
    assert_int_equal(mf_names_find(&names, (struct mf_str){ "n5", 2 }), 5);
    assert_int_equal(mf_names_find(&names, (struct mf_str){ "n5", 1 }),
                     MF_NOT_FOUND);
    mf_arena_release(&arena);
}

/* ---- geometry ---- */

struct shape {
    uint64_t offset, size; /* size 0: from the shape */
    enum mf_type type;
    uint64_t dim[2];
};

/* Checks tensors in data of so many bytes; the rule of the only finding, "" if
 * nothing was found, "several" if there are more. */
static const char *check(const struct shape *shapes, size_t count,
                         uint64_t data_size, enum mf_layout layout,
                         uint64_t *last_size)
{
    static char rule[32];
    struct mf_part part = { .data_offset = 64,
                            .data_end = 64 + data_size,
                            .alignment = layout == MF_LAYOUT_TILED ? 1 : 32,
                            .count = count };
    struct mf_index index;

    mf_index_init(&index, env);
    for (size_t i = 0; i < count; i++) {
        struct mf_record record = { .name = &"abcdefgh"[i],
                                    .name_size = 1,
                                    .offset = shapes[i].offset,
                                    .size = shapes[i].size,
                                    .type = (uint16_t)shapes[i].type,
                                    .dim = shapes[i].dim,
                                    .rank = 2 };

        if (record.size > 0)
            record.flags = MF_RECORD_SIZED;
        assert_int_equal(mf_index_add(&index, &record), MF_OK);
    }
    assert_int_equal(mf_index_check(&index, &part, 1, layout), MF_OK);
    if (last_size)
        *last_size = index.tensor[count - 1].size;
    snprintf(rule, sizeof(rule), "%s",
             index.finding_count > 1   ? "several"
             : index.finding_count > 0 ? index.finding[0].rule
                                       : "");
    mf_index_release(&index);
    return rule;
}

static void geometry_finds_what_is_wrong(void **state)
{
    const uint64_t big = (uint64_t)1 << 62;
    const struct shape fine[] = { { 0, 0, MF_TYPE_F32, { 8, 1 } },
                                  { 32, 0, MF_TYPE_F16, { 4, 2 } } };
    const struct shape swapped[] = { { 32, 0, MF_TYPE_F32, { 8, 1 } },
                                     { 0, 0, MF_TYPE_F16, { 4, 2 } } };
    const struct shape same[] = { { 0, 0, MF_TYPE_F32, { 8, 1 } },
                                  { 0, 0, MF_TYPE_F32, { 8, 1 } } };
    const struct shape gap[] = { { 0, 0, MF_TYPE_F32, { 8, 1 } },
                                 { 64, 0, MF_TYPE_F32, { 8, 1 } } };
    const struct {
        struct shape shape;
        uint64_t data_size;
        const char *rule;
    } one[] = {
        { { 0, 0, MF_TYPE_F32, { big, 4 } }, 64, "TENSOR-OVERFLOW" },
        { { 0, 0, MF_TYPE_F32, { big, 1 } }, 64, "TENSOR-OVERFLOW" },
        { { 0, 0, MF_TYPE_Q8_0, { 16, 2 } }, 64, "TENSOR-ROW" },
        { { 0, 40, MF_TYPE_F32, { 8, 1 } }, 64, "TENSOR-SIZE" },
        { { 8, 0, MF_TYPE_F32, { 8, 1 } }, 64, "TENSOR-ALIGNMENT" },
        { { UINT64_MAX - 31, 0, MF_TYPE_F32, { 8, 1 } }, 64, "TENSOR-BOUNDS" },
        { { 0, 0, MF_TYPE_F32, { 8, 2 } }, 32, "TENSOR-BOUNDS" },
    };

    (void)state;
    assert_string_equal(check(fine, 2, 64, MF_LAYOUT_PADDED, NULL), "");
    assert_string_equal(check(fine, 2, 48, MF_LAYOUT_TILED, NULL), "");
    assert_string_equal(check(swapped, 2, 64, MF_LAYOUT_PADDED, NULL), "");
    assert_string_equal(check(same, 2, 32, MF_LAYOUT_PADDED, NULL),
                        "TENSOR-OVERLAP");
    assert_string_equal(check(gap, 2, 96, MF_LAYOUT_PADDED, NULL), "DATA-GAP");
    assert_string_equal(check(gap, 2, 96, MF_LAYOUT_FREE, NULL), "DATA-GAP");
    for (size_t i = 0; i < COUNT(one); i++)
        assert_string_equal(
            check(&one[i].shape, 1, one[i].data_size, MF_LAYOUT_PADDED, NULL),
            one[i].rule);
}

static void unknown_types_take_the_room_to_their_neighbour(void **state)
{
    const struct shape shapes[] = { { 0, 0, MF_TYPE_F32, { 8, 1 } },
                                    { 96, 0, MF_TYPE_F32, { 8, 1 } },
                                    { 32, 0, MF_TYPE_UNKNOWN, { 7, 3 } } };
    uint64_t size;

    (void)state;
    assert_string_equal(check(shapes, 3, 128, MF_LAYOUT_PADDED, &size), "");
    assert_int_equal(size, 64);
    assert_string_equal(check(&shapes[2], 1, 128, MF_LAYOUT_PADDED, &size),
                        "DATA-GAP");
    assert_int_equal(size, 96);
}

/* A million tensors in the worst order must not take a million squared. */
static void any_order_is_sorted_quickly(void **state)
{
    enum { TENSORS = 200000 };
    static const uint64_t dim = 8;
    struct mf_part part = { .data_end = 32 * (uint64_t)TENSORS,
                            .alignment = 32,
                            .count = TENSORS };
    struct mf_index index;

    (void)state;
    mf_index_init(&index, env);
    for (uint64_t i = 0; i < TENSORS; i++) {
        struct mf_record record = { .name = "a",
                                    .name_size = 1,
                                    .offset = i * 7919 % TENSORS * 32,
                                    .type = MF_TYPE_F32,
                                    .dim = &dim,
                                    .rank = 1 };

        assert_int_equal(mf_index_add(&index, &record), MF_OK);
    }
    assert_int_equal(mf_index_check(&index, &part, 1, MF_LAYOUT_PADDED), MF_OK);
    assert_int_equal(index.finding_count, 0);
    for (size_t i = 0; i < TENSORS; i++)
        assert_int_equal(index.tensor[index.by_offset[i]].offset, 32 * i);
    mf_index_release(&index);
}

static void findings_are_bounded(void **state)
{
    struct mf_index index;

    (void)state;
    mf_index_init(&index, env);
    for (int i = 0; i < 2 * MF_FINDINGS_MAX; i++)
        mf_index_note(&index, 0, MF_ERROR, MF_RULE_DATA_GAP, 0, "number %d", i);
    assert_int_equal(index.finding_count, MF_FINDINGS_MAX);
    assert_int_equal(index.tally[MF_RULE_DATA_GAP][MF_ERROR],
                     2 * MF_FINDINGS_MAX);
    assert_string_equal(index.finding[999].message, "number 999");
    mf_index_release(&index);
}

static void claims_are_not_believed(void **state)
{
    struct mf_heap_stats before, after;
    struct mf_index index;

    (void)state;
    mf_index_init(&index, env);
    mf_env_heap(env, &before);
    assert_int_equal(mf_index_reserve(&index, MF_TENSORS_MAX, 10, 200, 20),
                     MF_OK);
    mf_env_heap(env, &after);
    assert_int_equal(index.tensor_room, 10 * MF_TRUST);
    assert_true(after.live - before.live < 32 * 1024);
    assert_int_equal(mf_index_reserve(&index, UINT64_MAX, 10, 200, 20),
                     MF_ERR_LIMIT);
    mf_index_release(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(heap_counts_live_and_peak),
        WITH_ENV(heap_counts_blocks_and_all_bytes),
        WITH_ENV(first_error_stays),
        WITH_ENV(a_refusal_has_its_rules_id_and_status),
        WITH_ENV(quoted_names_are_printable_and_short),
        cmocka_unit_test(memory_left_is_what_both_limits_leave),
        WITH_ENV(arena_keeps_blocks_apart),
        WITH_ENV(a_shrinking_file_is_an_error_with_an_offset),
        WITH_ENV(a_read_error_is_an_error_with_an_offset),
        WITH_ENV(reader_takes_fields_in_both_byte_orders),
        WITH_ENV(reader_never_passes_its_limit),
        WITH_ENV(skipping_reads_nothing),
        WITH_ENV(names_are_found_and_duplicates_reported),
        WITH_ENV(geometry_finds_what_is_wrong),
        WITH_ENV(unknown_types_take_the_room_to_their_neighbour),
        WITH_ENV(any_order_is_sorted_quickly),
        WITH_ENV(findings_are_bounded),
        WITH_ENV(claims_are_not_believed),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
