/* SPDX-License-Identifier: MIT
 *
 * test_stored.c - bytes that are computed while they are read: unpacked by
 * inflating, gathered by strides, swapped
 *
 * One storage is in the file twice, plain and deflated.  Whatever is read of it
 * is compared with what the obvious loop over elements gives.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/base/parallel.h"
#include "lib/model/index.h"
#include "tests/image.h"
#include "tests/with_env.h"

#define STORAGE 300000
#define BEFORE  64 /* bytes of the file before the storages */

enum row { PLAIN, DEFLATED, ROWS };

#define SLICE 1000

static uint8_t storage[STORAGE];
static struct mf_index table;
static const struct mf_part part;
static struct mf_source source;

static uint64_t seed;

static uint64_t pick(uint64_t below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33) % below;
}

/* ---- a file ---- */

/* Bytes that deflate makes something of: runs and repetitions. */
static void fill_storage(void)
{
    for (size_t at = 0; at < STORAGE;) {
        size_t run = 1 + (size_t)pick(40);
        uint8_t byte = (uint8_t)pick(256);

        for (; run > 0 && at < STORAGE; run--)
            storage[at++] = pick(4) > 0 ? byte : (uint8_t)pick(256);
    }
}

static size_t deflated(uint8_t *out, size_t room)
{
    z_stream z = { .next_in = storage,
                   .avail_in = STORAGE,
                   .next_out = out,
                   .avail_out = (uInt)room };

    assert_int_equal(
        deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static struct mf_stored *add_row(struct mf_span file, enum mf_method method)
{
    struct mf_stored *stored;
    uint32_t row;

    stored = mf_index_add_stored(&table, &part, &row);
    assert_non_null(stored);
    stored->name = (struct mf_str){ "s", 1 };
    stored->file = file;
    stored->size = STORAGE;
    stored->method = (uint8_t)method;
    return stored;
}

static void make_file(void)
{
    size_t size;

    seed = 7;
    fill_storage();
    image.size = 0;
    for (size_t i = 0; i < BEFORE; i++)
        put_number(0xee, 1);
    put(storage, STORAGE);
    size = deflated(image.at + image.size, sizeof(image.at) - image.size);
    add_row((struct mf_span){ BEFORE, STORAGE }, MF_METHOD_PLAIN);
    add_row((struct mf_span){ image.size, size }, MF_METHOD_DEFLATED);
    image.size += size;
}

static void open_source(struct mf_env *own)
{
    mf_source_open_memory("stored", image.at, image.size, &source);
    assert_int_equal(mf_stored_open(own, &source, &table, 0), MF_OK);
}

static int file_setup(void **state)
{
    if (env_setup(state) != 0)
        return -1;
    mf_index_init(&table, env);
    make_file();
    open_source(env);
    return 0;
}

static int file_teardown(void **state)
{
    mf_source_close(&source);
    mf_index_release(&table);
    return env_teardown(state);
}

#define WITH_FILE(test)                                                        \
    cmocka_unit_test_setup_teardown(test, file_setup, file_teardown)

/* What reading that many bytes from there gives must be these. */
static void check_read(struct mf_env *own, uint64_t offset, const uint8_t *want,
                       size_t size)
{
    uint8_t *got = malloc(size + 1);

    assert_non_null(got);
    if (mf_source_read(own, &source, offset, got, size) != MF_OK)
        fail_msg("%s", mf_env_error(own)->message);
    assert_memory_equal(got, want, size);
    free(got);
}

/* ---- unpacking ---- */

static void file_is_read_as_it_is(void **state)
{
    (void)state;
    check_read(env, 0, image.at, image.size);
    assert_int_equal(mf_stored_offset(&table, PLAIN), BEFORE);
    check_read(env, mf_stored_offset(&table, PLAIN) + 5, storage + 5, 1000);
    assert_true(mf_stored_needed(&table, 0));
    assert_false(mf_stored_needed(&table, 1));
}

static void unpacked_in_order(void **state)
{
    uint64_t offset = mf_stored_offset(&table, DEFLATED);

    (void)state;
    for (size_t at = 0, size; at < STORAGE; at += size) {
        size = 1 + (size_t)pick(20000);
        if (size > STORAGE - at)
            size = STORAGE - at;
        check_read(env, offset + at, storage + at, size);
    }
}

static void unpacked_anywhere(void **state)
{
    uint64_t offset = mf_stored_offset(&table, DEFLATED);

    (void)state;
    for (int i = 0; i < 200; i++) {
        size_t at = (size_t)pick(STORAGE);
        size_t size = (size_t)pick(STORAGE - at < 5000 ? STORAGE - at : 5000);

        check_read(env, offset + at, storage + at, size);
    }
}

/* The last match of deflate goes on when all input is used. */
static void last_run_byte_by_byte(void **state)
{
    struct mf_stored *stored;
    uint64_t offset;
    size_t size;

    (void)state;
    memset(storage, 0, STORAGE);
    size = deflated(image.at + image.size, sizeof(image.at) - image.size);
    stored = add_row((struct mf_span){ image.size, size }, MF_METHOD_DEFLATED);
    image.size += size;
    offset = mf_stored_offset(&table, DEFLATED + 1);
    mf_source_close(&source);
    open_source(env);
    for (size_t at = STORAGE - 1000; at < stored->size; at++)
        check_read(env, offset + at, storage + at, 1);
}

/* Reading in order must cost one pass: what is read of the file is little more
 * than the packed bytes. */
static void one_pass(void **state)
{
    uint64_t offset = mf_stored_offset(&table, DEFLATED);
    struct mf_heap_stats before, after;
    struct mf_io_stats unread, read;

    (void)state;
    mf_env_heap(env, &before);
    mf_env_io(env, &unread);
    for (size_t at = 0; at + 1000 <= STORAGE; at += 1000)
        check_read(env, offset + at, storage + at, 1000);
    mf_env_heap(env, &after);
    mf_env_io(env, &read);
    assert_true(read.bytes_read > unread.bytes_read);
    assert_true(read.bytes_read - unread.bytes_read <=
                table.stored.stored[DEFLATED].file.size);
    assert_true(after.live - before.live <= (size_t)48 * 1024);
    assert_true(after.peak - before.live <= (size_t)48 * 1024);
    assert_true(after.allocations - before.allocations <= 3);
}

/* ---- in any order ---- */

static uint64_t bytes_read(void)
{
    struct mf_io_stats io;

    mf_env_io(env, &io);
    return io.bytes_read;
}

/* Slices from the last to the first: the file is read a few times at most. */
static void read_backwards(void)
{
    uint64_t offset = mf_stored_offset(&table, DEFLATED);
    uint64_t before = bytes_read();

    for (size_t at = STORAGE / SLICE * SLICE; at > 0; at -= SLICE)
        check_read(env, offset + at - SLICE, storage + at - SLICE, SLICE);
    assert_true(bytes_read() - before <=
                4 * table.stored.stored[DEFLATED].file.size);
}

static void backwards_in_a_few_passes(void **state)
{
    (void)state;
    read_backwards();
    assert_true(env->scratch.own && env->scratch.users == 1);
    mf_source_close(&source);
    assert_int_equal(env->scratch.users, 0);
    assert_int_equal(env->scratch.end, 0);
}

/* The same where the heap has no room: through the program's file, which is
 * empty again when the source is closed. */
static void backwards_through_a_file(void **state)
{
    FILE *file = tmpfile();
    struct mf_options options = { .size = sizeof(options) };
    struct stat status;

    (void)state;
    assert_non_null(file);
    file_teardown(state);
    options.scratch_file = fileno(file);
    options.heap_limit = STORAGE / 2;
    env = mf_env_new(&options);
    assert_non_null(env);
    mf_index_init(&table, env);
    make_file();
    open_source(env);
    read_backwards();
    assert_int_equal(fstat(fileno(file), &status), 0);
    assert_int_equal(status.st_size, STORAGE);
    mf_source_close(&source);
    assert_int_equal(fstat(fileno(file), &status), 0);
    assert_int_equal(status.st_size, 0);
    fclose(file);
}

/* A full disk is a refusal that says so. */
static void no_room_for_the_file(void **state)
{
    int full = open("/dev/full", O_RDWR);
    struct mf_options options = { .size = sizeof(options) };
    uint64_t offset = mf_stored_offset(&table, DEFLATED);
    enum mf_status status = MF_OK;
    uint8_t bytes[SLICE];

    (void)state;
    file_teardown(state);
    options.scratch_file = full;
    options.heap_limit = STORAGE / 2;
    env = mf_env_new(&options);
    assert_non_null(env);
    mf_index_init(&table, env);
    make_file();
    open_source(env);
    for (size_t i = 1; i < 5 && status == MF_OK; i++)
        status = mf_source_read(env, &source, offset + STORAGE - i * SLICE,
                                bytes, SLICE);
    assert_int_equal(status, MF_ERR_LIMIT);
    assert_string_equal(mf_env_error(env)->rule, "SCRATCH-SPACE");
    close(full);
}

/* What comes before damage is read as ever, and what comes after it is not. */
static void damage_read_backwards(void **state)
{
    struct mf_stored *stored = &table.stored.stored[DEFLATED];
    uint64_t offset = mf_stored_offset(&table, DEFLATED);
    uint8_t bytes[SLICE];
    size_t bad = 0, good = 0;

    (void)state;
    memset(image.at + stored->file.offset + stored->file.size / 2, 0xff, 64);
    for (size_t at = STORAGE / SLICE * SLICE; at > 0; at -= SLICE) {
        enum mf_status status =
            mf_source_read(env, &source, offset + at - SLICE, bytes, SLICE);

        assert_true(good == 0 || status == MF_OK);
        assert_true(status == MF_OK || status == MF_ERR_CORRUPT);
        *(status == MF_OK ? &good : &bad) += 1;
    }
    assert_true(good > 0 && bad > 0);
    check_read(env, offset, storage, SLICE);
}

/* ---- where it ends ---- */

static void ends_where_the_storage_does(void **state)
{
    uint64_t offset = mf_stored_offset(&table, DEFLATED);
    uint8_t bytes[8];

    (void)state;
    assert_int_equal(
        mf_source_read(env, &source, offset + STORAGE - 4, bytes, 8),
        MF_ERR_IO);
    mf_clear_error(env);
    assert_int_equal(mf_source_read(env, &source, offset + STORAGE, bytes, 1),
                     MF_ERR_IO);
}

/* ---- views ---- */

#define RANK 5

struct shape {
    uint64_t dim[RANK], stride[RANK];
};

/* A view at random that is within the storage; strides may be 0. */
static struct mf_stored_view random_view(struct shape *shape, enum row row)
{
    static const uint8_t elements[] = { 1, 2, 4, 8, 16, 3 };
    struct mf_stored_view view = { .dim = shape->dim,
                                   .stride = shape->stride,
                                   .stored = row };
    uint64_t size, end;

    do {
        uint64_t reach = pick(3) == 0 ? 40000 : 200;

        view.rank = (uint8_t)pick(RANK + 1);
        view.element = elements[pick(COUNT(elements))];
        view.swap = view.element < 16 && view.element != 3 && pick(2)
                        ? view.element
                        : 1;
        view.from = pick(1000);
        for (uint32_t i = 0; i < view.rank; i++) {
            shape->dim[i] = pick(12);
            if (pick(6) > 0)
                shape->dim[i]++;
            shape->stride[i] = pick(5) == 0 ? i : pick(reach);
        }
    } while (!mf_stored_view_extent(&view, &size, &end) || end > STORAGE);
    return view;
}

/* The obvious loop. */
static uint8_t *elements_of(const struct mf_stored_view *view, size_t *size)
{
    uint64_t count = 1;
    uint8_t *out;

    for (uint32_t i = 0; i < view->rank; i++)
        count *= view->dim[i];
    *size = (size_t)count * view->element;
    out = malloc(*size + 1);
    assert_non_null(out);
    for (uint64_t n = 0; n < count; n++) {
        uint64_t left = n, at = 0;

        for (uint32_t i = view->rank; i-- > 0;) {
            at += left % view->dim[i] * view->stride[i];
            left /= view->dim[i];
        }
        for (size_t b = 0; b < view->element; b++)
            out[n * view->element + b] =
                storage[view->from + at * view->element +
                        (view->swap > 1 ? view->element - 1 - b : b)];
    }
    return out;
}

static void check_view(struct mf_env *own, uint64_t offset,
                       const struct mf_stored_view *view)
{
    size_t size;
    uint8_t *want = elements_of(view, &size);

    check_read(own, offset, want, size);
    for (int i = 0; i < 5 && size > 0; i++) {
        size_t at = (size_t)pick(size);

        check_read(own, offset + at, want + at, (size_t)pick(size - at) + 1);
    }
    free(want);
}

static void views(enum row row, int count)
{
    struct shape shape;

    for (int i = 0; i < count; i++) {
        struct mf_stored_view view = random_view(&shape, row);
        uint64_t offset;

        assert_int_equal(mf_index_add_view(&table, &view, &offset), MF_OK);
        check_view(env, offset, &view);
    }
}

static void views_of_plain_bytes(void **state)
{
    (void)state;
    views(PLAIN, 3000);
}

static void views_of_packed_bytes(void **state)
{
    (void)state;
    views(DEFLATED, 150);
}

/* Large enough for several windows: rows, columns and a transposed matrix. */
static void large_views(void **state)
{
    uint64_t dim[] = { 200, 300 };
    uint64_t strides[][2] = { { 300, 1 }, { 1, 200 }, { 2, 150 }, { 0, 1 } };

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(strides); i++) {
        struct mf_stored_view view = { .dim = dim,
                                       .stride = strides[i / 2],
                                       .stored = (uint32_t)i % 2,
                                       .rank = 2,
                                       .element = 4,
                                       .swap = 1 };
        uint64_t offset;

        assert_int_equal(mf_index_add_view(&table, &view, &offset), MF_OK);
        check_view(env, offset, &view);
    }
}

static void plain_views(void **state)
{
    static const struct {
        uint64_t dim[3], stride[3];
        uint8_t swap;
        bool plain;
    } rows[] = {
        { { 2, 3, 4 }, { 12, 4, 1 }, 1, true },
        { { 2, 3, 4 }, { 12, 4, 1 }, 4, false },
        { { 2, 1, 4 }, { 4, 99, 1 }, 1, true },
        { { 1, 3, 1 }, { 0, 1, 7 }, 1, true },
        { { 2, 3, 4 }, { 12, 1, 3 }, 1, false },
        { { 2, 3, 4 }, { 0, 4, 1 }, 1, false },
        { { 2, 3, 4 }, { 24, 8, 2 }, 1, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_stored_view view = { .dim = rows[i].dim,
                                       .stride = rows[i].stride,
                                       .rank = 3,
                                       .element = 4,
                                       .swap = rows[i].swap };

        assert_int_equal(mf_stored_view_is_plain(&view), rows[i].plain);
    }
}

/* Numbers that overflow, or end one byte after the storage. */
static void views_out_of_bounds(void **state)
{
    static const struct {
        uint64_t dim[2], stride[2], from;
        bool inside;
    } rows[] = {
        { { 1, 1 }, { 0, 0 }, STORAGE - 4, true },
        { { 1, 1 }, { 0, 0 }, STORAGE - 3, false },
        { { 2, 3 }, { STORAGE / 8, 1 }, STORAGE / 2 - 12, true },
        { { 2, 3 }, { STORAGE / 8, 1 }, STORAGE / 2 - 11, false },
        { { 2, 1 }, { (uint64_t)1 << 62, 1 }, 0, false },
        { { 2, 1 }, { UINT64_MAX / 4 + 1, 1 }, 0, false },
        { { 3, 1 }, { (uint64_t)1 << 63, 1 }, 0, false },
        { { (uint64_t)1 << 32, (uint64_t)1 << 32 }, { 0, 0 }, 0, false },
        { { (uint64_t)1 << 38, 1 }, { 0, 0 }, 0, false },
        { { ((uint64_t)1 << 38) - 1, 1 }, { 0, 0 }, 0, true },
        { { 0, UINT64_MAX }, { UINT64_MAX, UINT64_MAX }, UINT64_MAX, true },
        { { 1, 1 }, { 0, 0 }, UINT64_MAX, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mf_stored_view view = { .from = rows[i].from,
                                       .dim = rows[i].dim,
                                       .stride = rows[i].stride,
                                       .rank = 2,
                                       .element = 4,
                                       .swap = 1 };
        uint64_t offset;

        mf_clear_error(env);
        if (mf_index_add_view(&table, &view, &offset) !=
            (rows[i].inside ? MF_OK : MF_ERR_ARGUMENT))
            fail_msg("view %zu", i);
    }
}

/* ---- threads ---- */

#define TASKS 64

static enum mf_status read_part(struct mf_worker *worker, void *context,
                                size_t task)
{
    const uint64_t *offset = context;
    size_t at = task * (STORAGE / TASKS);
    size_t size = STORAGE / TASKS;

    check_read(&worker->env, offset[task % 2] + at, storage + at, size);
    return MF_OK;
}

static void threads(void **state)
{
    uint64_t offset[2] = { mf_stored_offset(&table, DEFLATED) };
    const struct mf_stored *stored = &table.stored.stored[DEFLATED];
    struct mf_options options = { .size = sizeof(options), .threads = 4 };
    struct mf_env *many = mf_env_new(&options);
    struct mf_heap_stats before, after;
    struct mf_crew crew;

    (void)state;
    assert_non_null(many);
    add_row(stored->file, MF_METHOD_DEFLATED);
    offset[1] = mf_stored_offset(&table, DEFLATED + 1);
    mf_env_heap(env, &before);
    assert_int_equal(mf_crew_init(&crew, many, STORAGE, STORAGE, 0), MF_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(mf_crew_run(&crew, read_part, offset, TASKS), MF_OK);
    mf_crew_release(&crew);
    mf_env_heap(env, &after);
    assert_true(after.live - before.live <= (size_t)4 * 48 * 1024);
    mf_env_free(many);
}

/* ---- damage ---- */

/* Whether all of the packed storage can be read.  The source is opened again:
 * what was unpacked as a whole is kept, and the file has changed. */
static enum mf_status read_packed(void)
{
    static uint8_t bytes[STORAGE + 1];
    struct mf_stored *stored = &table.stored.stored[DEFLATED];

    mf_source_close(&source);
    stored->begun = 0;
    open_source(env);
    mf_clear_error(env);
    return mf_source_read(env, &source, mf_stored_offset(&table, DEFLATED),
                          bytes, (size_t)stored->size);
}

static void damaged_data(void **state)
{
    struct mf_stored *stored = &table.stored.stored[DEFLATED];
    const struct mf_span file = stored->file;
    unsigned refused = 0;

    (void)state;
    stored->file.size--; /* its end is missing */
    assert_int_equal(read_packed(), MF_ERR_CORRUPT);
    stored->file.size = 0;
    assert_int_equal(read_packed(), MF_ERR_CORRUPT);
    stored->file.size = file.size + 1; /* one byte too many */
    stored->file.offset--;
    assert_int_equal(read_packed(), MF_ERR_CORRUPT);
    stored->file = file;
    stored->size = STORAGE + 1; /* it unpacks to less */
    assert_int_equal(read_packed(), MF_ERR_CORRUPT);
    stored->size = STORAGE - 1; /* or to more */
    assert_int_equal(read_packed(), MF_ERR_CORRUPT);
    stored->size = STORAGE;
    assert_int_equal(read_packed(), MF_OK);
    for (size_t i = 0; i < 300; i++) {
        uint8_t *byte = &image.at[file.offset + pick(file.size)];
        uint8_t was = *byte;

        *byte ^= (uint8_t)(1 + pick(255));
        refused += read_packed() == MF_ERR_CORRUPT;
        *byte = was;
    }
    assert_true(refused > 100);
    assert_int_equal(read_packed(), MF_OK);
}

static void file_ends_early(void **state)
{
    struct mf_stored *stored = &table.stored.stored[DEFLATED];

    (void)state;
    stored->file.offset = image.size - 100;
    assert_int_not_equal(read_packed(), MF_OK);
    stored->file.offset = image.size;
    assert_int_equal(read_packed(), MF_ERR_IO);
}

/* ---- memory ---- */

/* Adds rows, opens and reads, with a heap that fails at that call. */
static bool try_failing(uint64_t call, bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *own = test_env(&heap);
    struct mf_source file;
    uint8_t bytes[100];
    enum mf_status status = MF_ERR_MEMORY;

    if (own) {
        mf_source_open_memory("stored", image.at, image.size, &file);
        status = mf_stored_open(own, &file, &table, 0);
        for (uint64_t at = 0; at < STORAGE && status == MF_OK; at += 90000)
            status = mf_source_read(own, &file,
                                    mf_stored_offset(&table, DEFLATED) + at,
                                    bytes, sizeof(bytes));
        mf_source_close(&file);
        mf_env_free(own);
    }
    check_refused(&heap, status);
    assert_int_equal(heap.live, 0);
    return heap.calls < call;
}

static void failed_allocations(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (!try_failing(call, after))
            call++;
        assert_true(call > 4);
    }
}

static bool try_adding(uint64_t call)
{
    struct test_heap heap = { .fail_at = call };
    struct mf_env *own = test_env(&heap);
    struct mf_index rows;
    bool all = own != NULL;

    if (own) {
        mf_index_init(&rows, own);
        for (int i = 0; i < 100 && all; i++) {
            struct mf_stored_view view = { .element = 1, .swap = 1 };
            struct mf_stored *stored =
                mf_index_add_stored(&rows, &part, &view.stored);
            uint64_t offset;

            all = stored != NULL;
            if (!all)
                break;
            stored->size = 1;
            all = mf_index_add_view(&rows, &view, &offset) == MF_OK;
        }
        if (!all)
            assert_int_equal(mf_env_error(own)->status, MF_ERR_MEMORY);
        mf_index_release(&rows);
        mf_env_free(own);
    }
    assert_int_equal(heap.live, 0);
    return all;
}

static void failed_tables(void **state)
{
    uint64_t call = 1;

    (void)state;
    while (!try_adding(call))
        call++;
    assert_true(call > 4);
}

/* ---- how a tensor is described ---- */

static void described(void **state)
{
    uint64_t dim[] = { 3, 4 }, stride[] = { 1, 3 };
    struct mf_record record = { .storage = DEFLATED + 1, .size = 48 };
    struct mf_stored_view view = { .from = 8,
                                   .dim = dim,
                                   .stride = stride,
                                   .rank = 2,
                                   .element = 4,
                                   .swap = 4 };
    struct mf_tensor tensor = { .data = { 0, 48 } };

    (void)state;
    record.offset = mf_stored_offset(&table, DEFLATED);
    mf_stored_describe(&table, &record, &tensor);
    assert_int_equal(tensor.flags, MF_TENSOR_PACKED);
    assert_int_equal(tensor.data.offset,
                     table.stored.stored[DEFLATED].file.offset);
    assert_null(tensor.stride);

    tensor = (struct mf_tensor){ .data = { 0, 48 } };
    record.storage = PLAIN + 1;
    assert_int_equal(mf_index_add_view(&table, &view, &record.offset), MF_OK);
    mf_stored_describe(&table, &record, &tensor);
    assert_int_equal(tensor.flags, MF_TENSOR_STRIDED | MF_TENSOR_SWAPPED);
    assert_int_equal(tensor.data.offset, BEFORE + 8);
    assert_memory_equal(tensor.stride, stride, sizeof(stride));
    assert_int_equal(mf_stored_place(&table, record.offset + 20), BEFORE + 8);
    assert_int_equal(mf_stored_place(&table, MF_NO_OFFSET), MF_NO_OFFSET);
    assert_int_equal(mf_stored_place(&table, 9), 9);

    tensor = (struct mf_tensor){ .data = { 77, 48 } };
    record.offset = 77;
    record.storage = 0;
    mf_stored_describe(&table, &record, &tensor);
    assert_int_equal(tensor.flags, 0);
    assert_int_equal(tensor.data.offset, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(file_is_read_as_it_is),
        WITH_FILE(unpacked_in_order),
        WITH_FILE(unpacked_anywhere),
        WITH_FILE(last_run_byte_by_byte),
        WITH_FILE(one_pass),
        WITH_FILE(backwards_in_a_few_passes),
        WITH_FILE(backwards_through_a_file),
        WITH_FILE(no_room_for_the_file),
        WITH_FILE(damage_read_backwards),
        WITH_FILE(ends_where_the_storage_does),
        WITH_FILE(views_of_plain_bytes),
        WITH_FILE(views_of_packed_bytes),
        WITH_FILE(large_views),
        WITH_FILE(plain_views),
        WITH_FILE(views_out_of_bounds),
        WITH_FILE(threads),
        WITH_FILE(damaged_data),
        WITH_FILE(file_ends_early),
        WITH_FILE(failed_allocations),
        WITH_FILE(failed_tables),
        WITH_FILE(described),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
