/* SPDX-License-Identifier: MIT
 *
 * test_chunk.c - chunks that shrink where memory is refused, and grow again
 */
#include "lib/base/chunk.h"
#include "lib/base/parallel.h"
#include "lib/io/reader.h"
#include "tests/with_env.h"

/* ---- sizes ---- */

static void a_refused_chunk_is_halved_down_to_the_least(void **state)
{
    static const size_t expected[] = { 50, 25, 12, 7 };
    struct mf_chunk_size size = { .now = 100, .least = 7, .most = 100 };

    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_true(mf_chunk_refused(&size));
        assert_int_equal(size.now, expected[i]);
    }
    assert_false(mf_chunk_refused(&size));
    assert_int_equal(size.now, 7);
}

static void sixteen_that_fit_double_the_next(void **state)
{
    struct mf_chunk_size size = { .now = 7, .least = 7, .most = 30 };

    (void)state;
    for (size_t doubled = 14; doubled <= 28; doubled += 14) {
        for (int i = 1; i < MF_CHUNK_FITS; i++)
            assert_false(mf_chunk_fitted(&size));
        assert_true(mf_chunk_fitted(&size));
        assert_int_equal(size.now, doubled);
    }
    for (int i = 1; i < MF_CHUNK_FITS; i++)
        assert_false(mf_chunk_fitted(&size));
    assert_true(mf_chunk_fitted(&size));
    assert_int_equal(size.now, 30); /* no more than the most */
    for (int i = 0; i < 3 * MF_CHUNK_FITS; i++)
        assert_false(mf_chunk_fitted(&size));
}

static void one_refusal_starts_the_count_again(void **state)
{
    struct mf_chunk_size size = { .now = 64, .least = 1, .most = 64 };

    (void)state;
    mf_chunk_refused(&size);
    for (int i = 1; i < MF_CHUNK_FITS; i++)
        assert_false(mf_chunk_fitted(&size));
    mf_chunk_refused(&size);
    for (int i = 1; i < MF_CHUNK_FITS; i++)
        assert_false(mf_chunk_fitted(&size));
    assert_true(mf_chunk_fitted(&size));
    assert_int_equal(size.now, 32);
}

static struct mf_env *env_of(size_t limit)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .heap_limit = limit };
    struct mf_env *own = mf_env_new(&options);

    assert_non_null(own);
    return own;
}

static void a_chunk_takes_its_share(void **state)
{
    struct mf_env *own = env_of(100 * 1000);
    size_t left = mf_heap_left(own);

    (void)state;
    assert_int_equal(mf_chunk_size(own, 1, SIZE_MAX, 1, 4).now, left / 4);
    assert_int_equal(mf_chunk_size(own, 1, 100, 10, 4).now, 100);
    assert_int_equal(mf_chunk_size(own, 40000, 50000, 1, 4).now, 40000);
    mf_env_free(own);
    own = env_of(0);
    assert_int_equal(mf_chunk_size(own, 1, 100, 10, 4).now, 100);
    mf_env_free(own);
}

/* ---- memory ---- */

/* A heap that gives no block larger than this. */
static void *stingy(void *user, void *block, size_t old_size, size_t new_size)
{
    const size_t *most = user;

    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return new_size > *most ? NULL : realloc(block, new_size);
}

static struct mf_env *stingy_env(size_t *most)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .allocator = { .resize = stingy,
                                                 .user = most } };
    struct mf_env *own = mf_env_new(&options);

    assert_non_null(own);
    return own;
}

static void memory_is_tried_until_it_fits(void **state)
{
    size_t most = 4096;
    struct mf_env *own = stingy_env(&most);
    struct mf_chunk_size size = { .now = 1000, .least = 10, .most = 1000 };
    void *block = mf_chunk_alloc(own, &size, 16);

    (void)state;
    assert_non_null(block);
    assert_int_equal(size.now, 250);
    assert_int_equal(own->error.status, MF_OK);
    mf_release(own, block, 250 * 16);
    size.least = 300;
    size.now = 1000;
    assert_null(mf_chunk_alloc(own, &size, 16));
    assert_int_equal(own->error.status, MF_ERR_MEMORY);
    mf_env_free(own);
}

static void an_earlier_error_is_kept(void **state)
{
    size_t most = 4096;
    struct mf_env *own = stingy_env(&most);
    struct mf_chunk_size size = { .now = 8192, .least = 1, .most = 8192 };
    void *block;

    (void)state;
    mf_fail(own, MF_ERR_CORRUPT, 7, "before");
    block = mf_chunk_alloc(own, &size, 1);
    assert_int_equal(own->error.status, MF_ERR_CORRUPT);
    assert_string_equal(own->error.message, "before");
    mf_release(own, block, size.now);
    mf_env_free(own);
}

/* ---- windows ---- */

#define BYTES ((size_t)4 << 20)

static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)(at * 2654435761U >> 13);
}

static uint8_t *make_bytes(struct mf_source *source)
{
    uint8_t *bytes = malloc(BYTES);

    assert_non_null(bytes);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = byte_at(i);
    mf_source_open_memory("bytes", bytes, BYTES, source);
    return bytes;
}

static void a_window_shrinks_and_grows_again(void **state)
{
    struct mf_source source;
    uint8_t *bytes = make_bytes(&source);
    size_t most = 10000;
    struct mf_env *own = stingy_env(&most);
    struct mf_reader reader;

    (void)state;
    assert_int_equal(mf_reader_init(&reader, own, &source, NULL, 0), MF_OK);
    assert_int_equal(reader.capacity, 8192);
    for (size_t at = 0; at < BYTES; at++) {
        if (at == BYTES / 4)
            most = SIZE_MAX;
        assert_int_equal(mf_take_u8(&reader), byte_at(at));
    }
    assert_int_equal(reader.capacity, MF_WINDOW);
    assert_int_equal(own->error.status, MF_OK);
    mf_reader_release(&reader);
    mf_env_free(own);
    free(bytes);
}

static void a_window_is_not_smaller_than_a_page(void **state)
{
    struct mf_source source;
    uint8_t *bytes = make_bytes(&source);
    size_t most = MF_WINDOW_LEAST - 1;
    struct mf_env *own = stingy_env(&most);
    struct mf_reader reader;

    (void)state;
    assert_int_equal(mf_reader_init(&reader, own, &source, NULL, 0),
                     MF_ERR_MEMORY);
    mf_reader_release(&reader);
    mf_env_free(own);
    free(bytes);
}

static void a_window_grows_for_a_field(void **state)
{
    struct mf_source source;
    uint8_t *bytes = make_bytes(&source);
    size_t most = 30000;
    struct mf_env *own = stingy_env(&most);
    struct mf_reader reader;

    (void)state;
    assert_int_equal(mf_reader_init(&reader, own, &source, NULL, 0), MF_OK);
    mf_skip(&reader, 5);
    assert_memory_equal(mf_take(&reader, 20000), bytes + 5, 20000);
    assert_memory_equal(mf_take(&reader, 100), bytes + 20005, 100);
    assert_null(mf_take(&reader, 40000));
    assert_int_equal(own->error.status, MF_ERR_MEMORY);
    assert_int_equal(mf_reader_check(&reader, "it"), MF_ERR_MEMORY);
    mf_reader_release(&reader);
    mf_env_free(own);
    free(bytes);
}

/* ---- buffers ---- */

static enum mf_status fill_buffer(struct mf_worker *worker, void *context,
                                  size_t task)
{
    (void)context;
    memset(worker->buffer, (int)task, worker->buffer_size + MF_PAGE);
    return MF_OK;
}

static enum mf_status run(struct mf_crew *crew)
{
    return mf_crew_run(crew, fill_buffer, NULL, crew->room + 3);
}

static void buffers_shrink_and_grow_again(void **state)
{
    size_t most = 100 * 1000;
    struct mf_env *own = stingy_env(&most);
    struct mf_crew crew;

    (void)state;
    own->threads = 1;
    assert_int_equal(mf_crew_init(&crew, own, BYTES, BYTES, 0), MF_OK);
    assert_int_equal(crew.buffer_size, 64 * 1024);
    most = SIZE_MAX;
    for (int i = 0; i < 3 * MF_CHUNK_FITS; i++)
        assert_int_equal(run(&crew), MF_OK);
    assert_int_equal(crew.buffer_size, 512 * 1024);
    for (size_t size = 256; size >= 4; size /= 2) {
        assert_true(mf_crew_shrink(&crew));
        assert_int_equal(crew.buffer_size, size * 1024);
        assert_int_equal(run(&crew), MF_OK);
    }
    assert_false(mf_crew_shrink(&crew));
    assert_int_equal(crew.buffer_size, MF_PAGE);
    most = 100 * 1000;
    for (int i = 0; i < 20 * MF_CHUNK_FITS; i++)
        assert_int_equal(run(&crew), MF_OK);
    assert_int_equal(crew.buffer_size, 64 * 1024);
    assert_int_equal(own->error.status, MF_OK);
    mf_crew_release(&crew);
    mf_env_free(own);
}

static void a_crew_is_smaller_where_buffers_cannot_be(void **state)
{
    size_t most = 200 * 1000;
    struct mf_env *own = stingy_env(&most);
    struct mf_crew crew;

    (void)state;
    own->threads = 4;
    assert_int_equal(mf_crew_init(&crew, own, 16 * BYTES, BYTES, 100 * 1024),
                     MF_OK);
    assert_int_equal(crew.count, 1);
    assert_true(crew.buffer_size >= 100 * 1024);
    assert_int_equal(run(&crew), MF_OK);
    mf_crew_release(&crew);
    most = 90 * 1024;
    assert_int_equal(mf_crew_init(&crew, own, 16 * BYTES, BYTES, 100 * 1024),
                     MF_ERR_MEMORY);
    mf_crew_release(&crew);
    mf_env_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_chunk_is_halved_down_to_the_least),
        cmocka_unit_test(sixteen_that_fit_double_the_next),
        cmocka_unit_test(one_refusal_starts_the_count_again),
        cmocka_unit_test(a_chunk_takes_its_share),
        cmocka_unit_test(memory_is_tried_until_it_fits),
        cmocka_unit_test(an_earlier_error_is_kept),
        cmocka_unit_test(a_window_shrinks_and_grows_again),
        cmocka_unit_test(a_window_is_not_smaller_than_a_page),
        cmocka_unit_test(a_window_grows_for_a_field),
        cmocka_unit_test(buffers_shrink_and_grow_again),
        cmocka_unit_test(a_crew_is_smaller_where_buffers_cannot_be),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
