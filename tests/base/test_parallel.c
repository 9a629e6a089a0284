/* SPDX-License-Identifier: MIT
 *
 * test_parallel.c - results do not depend on the number of threads
 */
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/parallel.h"
#include "tests/apr/apr_image.h"

static const unsigned thread_counts[] = { 1, 2, 3, 7, 16, 64 };

static struct mf_env *env_with(unsigned threads)
{
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .threads = threads };
    struct mf_env *made = mf_env_new(&options);

    assert_non_null(made);
    return made;
}

/* ---- the crew ---- */

#define TASKS 1000

struct work {
    atomic_uint done[TASKS];
    size_t fails_from;
};

static enum mf_status note(struct mf_worker *worker, void *context, size_t task)
{
    struct work *work = context;

    atomic_fetch_add(&work->done[task], 1);
    worker->env.io.reads++;
    worker->env.io.bytes_read += 3;
    worker->env.io.bytes_written += 5;
    memset(worker->buffer, (int)task, worker->buffer_size + MF_PAGE);
    return task >= work->fails_from
               ? mf_fail(&worker->env, MF_ERR_IO, task, "task %zu", task)
               : MF_OK;
}

static void every_task_runs_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(thread_counts); i++) {
        struct mf_env *own = env_with(thread_counts[i]);
        struct work work = { .fails_from = SIZE_MAX };
        struct mf_io_stats io;
        struct mf_crew crew;

        assert_int_equal(mf_crew_init(&crew, own, UINT64_MAX, UINT64_MAX, 0),
                         MF_OK);
        assert_true(crew.count <= thread_counts[i]);
        /* A second run adds its own to what was counted, and that alone. */
        for (unsigned runs = 1; runs <= 2; runs++) {
            assert_int_equal(mf_crew_run(&crew, note, &work, TASKS), MF_OK);
            for (size_t task = 0; task < TASKS; task++)
                assert_int_equal(work.done[task], runs);
            mf_env_io(own, &io);
            assert_int_equal(io.reads, runs * TASKS);
            assert_int_equal(io.bytes_read, runs * TASKS * 3);
            assert_int_equal(io.bytes_written, runs * TASKS * 5);
        }
        mf_crew_release(&crew);
        mf_env_free(own);
    }
}

/* Rows of ten tasks. */
#define ROW 10

struct rows {
    const struct mf_worker *by[TASKS];
    atomic_uint done[TASKS / ROW];
    size_t fails_at;
};

static bool is_in_row(const void *context, size_t task)
{
    (void)context;
    return task % ROW > 0;
}

static enum mf_status add_to_row(struct mf_worker *worker, void *context,
                                 size_t task)
{
    struct rows *rows = context;

    if (task == rows->fails_at)
        return mf_fail(&worker->env, MF_ERR_IO, task, "task %zu", task);
    if (atomic_fetch_add(&rows->done[task / ROW], 1) == task % ROW)
        rows->by[task] = worker;
    return MF_OK;
}

static void a_row_is_one_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(thread_counts); i++) {
        struct mf_env *own = env_with(thread_counts[i]);
        struct rows rows = { .fails_at = SIZE_MAX };
        struct mf_crew crew;

        assert_int_equal(mf_crew_init(&crew, own, UINT64_MAX, UINT64_MAX, 0),
                         MF_OK);
        assert_int_equal(
            mf_crew_run_rows(&crew, add_to_row, is_in_row, &rows, TASKS),
            MF_OK);
        for (size_t task = 0; task < TASKS; task++) {
            assert_non_null(rows.by[task]);
            assert_ptr_equal(rows.by[task], rows.by[task - task % ROW]);
        }
        /* All before the one that fails are done. */
        rows = (struct rows){ .fails_at = 515 };
        assert_int_equal(
            mf_crew_run_rows(&crew, add_to_row, is_in_row, &rows, TASKS),
            MF_ERR_IO);
        for (size_t row = 0; row <= 51; row++)
            assert_int_equal(rows.done[row], row < 51 ? ROW : 5);
        mf_crew_release(&crew);
        mf_env_free(own);
    }
}

static volatile sig_atomic_t taken;

static void take(int number)
{
    taken = number;
}

/* A program that waits for a signal holds it back until then: no thread of ours
 * may take it in the meantime. */
static void signals_are_left_to_the_program(void **state)
{
    struct mf_env *own = env_with(2);
    const struct timespec while_another_wakes = { .tv_nsec = 20000000 };
    struct sigaction action = { .sa_handler = take }, usual;
    struct work work = { .fails_from = SIZE_MAX };
    sigset_t held, before, pending;
    struct mf_crew crew;

    (void)state;
    assert_int_equal(mf_crew_init(&crew, own, UINT64_MAX, UINT64_MAX, 0),
                     MF_OK);
    assert_int_equal(mf_crew_run(&crew, note, &work, TASKS), MF_OK);
    assert_int_equal(sigaction(SIGCHLD, &action, &usual), 0);
    sigemptyset(&held);
    sigaddset(&held, SIGCHLD);
    assert_int_equal(sigprocmask(SIG_BLOCK, &held, &before), 0);
    assert_int_equal(sigismember(&before, SIGCHLD), 0);
    assert_int_equal(kill(getpid(), SIGCHLD), 0);
    nanosleep(&while_another_wakes, NULL);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGCHLD), 1);
    assert_int_equal(taken, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(taken, SIGCHLD);
    sigaction(SIGCHLD, &usual, NULL);
    mf_crew_release(&crew);
    mf_env_free(own);
}

static void first_failure_wins(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(thread_counts); i++) {
        struct mf_env *own = env_with(thread_counts[i]);
        struct work work = { .fails_from = 37 };
        struct mf_crew crew;

        assert_int_equal(mf_crew_init(&crew, own, UINT64_MAX, UINT64_MAX, 0),
                         MF_OK);
        assert_int_equal(mf_crew_run(&crew, note, &work, TASKS), MF_ERR_IO);
        assert_string_equal(mf_env_error(own)->message, "task 37");
        mf_crew_release(&crew);
        mf_env_free(own);
    }
}

static void buffers_share_a_budget(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 64; threads++) {
        struct mf_env *own = env_with(threads);
        struct mf_heap_stats heap;
        struct mf_crew crew;

        assert_int_equal(mf_crew_init(&crew, own, UINT64_MAX, UINT64_MAX, 0),
                         MF_OK);
        mf_env_heap(own, &heap);
        assert_true(heap.live < 4 * 1024 * 1024);
        assert_true(crew.buffer_size >= 48 * 1024);
        for (size_t i = 0; i < crew.count; i++)
            assert_int_equal((uintptr_t)crew.worker[i].buffer % MF_PAGE, 0);
        mf_crew_release(&crew);
        mf_env_free(own);
    }
}

static void small_work_takes_little(void **state)
{
    struct mf_env *own = env_with(16);
    struct mf_heap_stats heap;
    struct mf_crew crew;

    (void)state;
    assert_int_equal(mf_crew_init(&crew, own, 100, 100, 0), MF_OK);
    mf_env_heap(own, &heap);
    assert_int_equal(crew.count, 1);
    assert_true(heap.live < 20 * 1024);
    mf_crew_release(&crew);
    mf_env_free(own);
}

/* ---- turns ---- */

enum { TURNS = 5000 };

struct order {
    atomic_size_t turn;
    size_t next, fails; /* the task that does */
    bool in_order;
};

static enum mf_status take_turn(struct mf_worker *worker, void *context,
                                size_t task)
{
    struct order *order = context;

    if (task == order->fails)
        return mf_fail(&worker->env, MF_ERR_IO, task, "this one fails");
    if (!mf_worker_wait(worker, &order->turn, task))
        return MF_OK;
    order->in_order &= order->next++ == task;
    atomic_store(&order->turn, task + 1);
    return MF_OK;
}

static void turns_come_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(thread_counts); i++)
        for (size_t fails = TURNS; fails <= TURNS; fails -= TURNS / 2) {
            struct order order = { .fails = fails, .in_order = true };
            struct mf_env *own = env_with(thread_counts[i]);
            struct mf_crew crew;

            assert_int_equal(mf_crew_init(&crew, own, UINT64_MAX, 1, 0), MF_OK);
            assert_int_equal(mf_crew_run(&crew, take_turn, &order, TURNS),
                             fails < TURNS ? MF_ERR_IO : MF_OK);
            assert_true(order.in_order);
            /* A task that waits when one fails need not get its turn. */
            assert_true(order.next <= fails);
            assert_true(fails < TURNS || order.next == TURNS);
            mf_crew_release(&crew);
            mf_env_free(own);
        }
}

/* 20 MB in one tensor, which all workers hash together. */
static void one_large_tensor(void **state)
{
    static const char header[] =
        "{\"w\":{\"dtype\":\"U8\",\"shape\":[20000003],"
        "\"data_offsets\":[0,20000003]}}";
    const size_t length = sizeof(header) - 1, size = 8 + length + 20000003;
    uint8_t *file = malloc(size), first[MF_DIGEST_MAX], out[MF_DIGEST_MAX];

    (void)state;
    assert_non_null(file);
    set_number(file, length, 8);
    memcpy(file + 8, header, length);
    for (uint64_t i = 8 + length; i < size; i++)
        file[i] = (uint8_t)(i * i >> 7);
    for (enum mf_digest_kind kind = MF_XXH3_64; kind <= MF_XXH3_128; kind++)
        for (size_t i = 0; i < COUNT(thread_counts); i++) {
            struct mf_env *own = env_with(thread_counts[i]);
            struct mf_model *model;

            assert_int_equal(mf_model_open_memory(own, "w.safetensors", file,
                                                  size, NULL, &model),
                             MF_OK);
            assert_int_equal(mf_model_hash_tensors(model, kind, out), MF_OK);
            if (i == 0)
                memcpy(first, out, sizeof(first));
            assert_memory_equal(out, first, mf_digest_size(kind));
            mf_model_close(model);
            mf_env_free(own);
        }
    free(file);
}

/* ---- validation ---- */

enum { F32 = 0, TENSORS = 5, ELEMENTS = 300007, FOOTER = 4 };

/* Five tensors of some 1.2 MB, which no buffer divides, and a footer. */
static size_t put_model(void)
{
    const char *metadata = "{\"model_type\":\"x\",\"name\":\"x\"}";
    size_t data, crc_at;

    begin(ROW_MAJOR, TENSORS, metadata);
    for (uint64_t i = 0; i < TENSORS; i++) {
        char name[] = "a";
        struct entry entry = { .name = name,
                               .dtype = F32,
                               .rank = 1,
                               .dim = { ELEMENTS },
                               .offset = i * ((ELEMENTS * 4 + 63) / 64 * 64),
                               .size = ELEMENTS * 4 };

        name[0] = (char)('a' + i);
        put_entry(&entry);
    }
    end(TENSORS * ((ELEMENTS * 4 + 63) / 64 * 64));
    data = (size_t)get_number(image.at + AT_DATA, sizeof(data));
    for (size_t i = data; i < image.size; i++)
        image.at[i] = (uint8_t)(i * 7 & 0x3f);
    for (size_t i = 1; i <= TENSORS; i++) { /* the padding after each */
        size_t end = data + i * ((ELEMENTS * 4 + 63) / 64 * 64);

        memset(image.at + end - 36, 0, 36);
    }
    crc_at = image.size;
    put_number(0, FOOTER);
    return crc_at;
}

static void set_crc(size_t at)
{
    set(at, mf_crc32(0, image.at, at), FOOTER);
}

/* All findings in one text. */
static void findings(unsigned threads, char *out, size_t size)
{
    struct mf_env *own = env_with(threads);
    struct mf_finding finding;
    struct mf_model *model;
    size_t filled = 0;

    assert_int_equal(mf_model_open_memory(own, "made.apr", image.at, image.size,
                                          NULL, &model),
                     MF_OK);
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    *out = 0;
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (strncmp(finding.rule, "DATA", 4) == 0 ||
            strcmp(finding.rule, "APR-FOOTER") == 0)
            filled += (size_t)snprintf(out + filled, size - filled,
                                       "%s %" PRIu64 " %s\n", finding.rule,
                                       finding.offset, finding.message);
    mf_model_close(model);
    mf_env_free(own);
}

static void expect_findings(const char *expected)
{
    char text[4096];

    for (size_t i = 0; i < COUNT(thread_counts); i++) {
        findings(thread_counts[i], text, sizeof(text));
        assert_string_equal(text, expected);
    }
}

static void checksum_in_pieces(void **state)
{
    size_t crc_at = put_model();
    char expected[256];

    (void)state;
    set_crc(crc_at);
    expect_findings("");
    image.at[crc_at - 1000000] ^= 1;
    snprintf(expected, sizeof(expected),
             "APR-FOOTER %zu checksum mismatch: the footer has %08x, the "
             "file's bytes give %08x\n",
             crc_at, (uint32_t)get_number(image.at + crc_at, 4),
             mf_crc32(0, image.at, crc_at));
    expect_findings(expected);
}

/* NaN in the first, a middle and the last piece of tensors. */
static void numbers_in_pieces(void **state)
{
    static const size_t elements[] = { 0, 140000, 299999, ELEMENTS - 1 };
    size_t crc_at = put_model(), data, second;
    char expected[512];

    (void)state;
    data = (size_t)get_number(image.at + AT_DATA, sizeof(data));
    second = data + (ELEMENTS * 4 + 63) / 64 * 64;
    for (size_t i = 0; i < COUNT(elements); i++)
        set(data + 4 * elements[i], 0x7fc00000, 4);
    set(second + 4 * 299998, 0xff800000, 4);
    memset(image.at + crc_at - ELEMENTS * 4 - 64, 0, ELEMENTS * 4 + 64);
    set_crc(crc_at);
    snprintf(expected, sizeof(expected),
             "DATA-NOT-FINITE %zu tensor 'a' has 4 NaN or infinite elements, "
             "the first at element 0\n"
             "DATA-NOT-FINITE %zu tensor 'b' has 1 NaN or infinite element, "
             "the first at element 299998\n"
             "DATA-ZERO %zu tensor 'e' is all zeros\n",
             data, second + 4 * 299998, data + 4 * (second - data));
    expect_findings(expected);
}

/* ---- how far it is ---- */

static bool keep_progress(void *user, const struct mf_progress *progress)
{
    *(struct mf_progress *)user = *progress;
    return true;
}

static void no_difference(void *user, const struct mf_difference *difference)
{
    (void)user;
    fail_msg("what %u", difference->what);
}

static void long_work_reports_progress(void **state)
{
    size_t crc_at = put_model();
    struct mf_progress told;
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .threads = 1,
                                  .progress = keep_progress,
                                  .progress_user = &told };
    uint8_t digests[TENSORS * MF_DIGEST_MAX];
    struct mf_env *own = mf_env_new(&options);
    struct mf_model *model[2];

    (void)state;
    set_crc(crc_at);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(mf_model_open_memory(own, "made.apr", image.at,
                                              image.size, NULL, &model[i]),
                         MF_OK);
    for (int work = 0; work < 3; work++) {
        told = (struct mf_progress){ 0 };
        assert_int_equal(
            work == 0 ? mf_model_validate_data(model[0])
            : work == 1
                ? mf_model_hash_tensors(model[0], MF_XXH3_64, digests)
                : mf_model_diff(model[0], model[1], NULL, no_difference, NULL),
            MF_OK);
        assert_true(told.total >= (uint64_t)TENSORS * ELEMENTS * 4);
        assert_int_equal(told.done, told.total);
    }
    mf_model_close(model[0]);
    mf_model_close(model[1]);
    mf_env_free(own);
}

/* ---- a look that is stopped ---- */

/* More than are looked at in one run. */
#define ZEROS 3000

/* Tensors of two zeros each: a single one is not a finding. */
static size_t put_zeros(char *file, size_t room)
{
    size_t size = 8;

    for (int i = 0; i < ZEROS; i++)
        size += (size_t)snprintf(file + size, room - size,
                                 "%c\"t%d\":{\"dtype\":\"F32\",\"shape\":[2],"
                                 "\"data_offsets\":[%d,%d]}",
                                 i == 0 ? '{' : ',', i, 8 * i, 8 * i + 8);
    file[size++] = '}';
    for (int i = 0; i < 8; i++)
        file[i] = (char)((size - 8) >> 8 * i);
    memset(file + size, 0, 8 * ZEROS);
    return size + (size_t)8 * ZEROS;
}

static bool until(void *user, const struct mf_progress *progress)
{
    const uint64_t *end = user;

    return progress->done < *end;
}

static size_t findings_of(const struct mf_model *model)
{
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_finding finding;
    size_t count = 0;

    while (mf_finding_at(model, count, &finding))
        count++;
    assert_int_equal(count, info->error_count + info->warning_count +
                                info->note_count);
    return count;
}

static void a_stopped_look_has_found_nothing(void **state)
{
    static char file[ZEROS * 80];
    size_t size = put_zeros(file, sizeof(file));
    uint64_t end = (uint64_t)8 * ZEROS * 9 / 10;
    struct mf_options options = { .size = sizeof(struct mf_options),
                                  .progress = until,
                                  .progress_user = &end };
    struct mf_open_options open = { .size = sizeof(struct mf_open_options),
                                    .findings_max = 2 * ZEROS };
    struct mf_env *own;
    struct mf_model *model;
    size_t before;

    (void)state;
    own = mf_env_new(&options);
    assert_int_equal(mf_model_open_memory(own, "zeros.safetensors", file, size,
                                          &open, &model),
                     MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    before = findings_of(model);
    assert_int_equal(mf_model_validate_data(model), MF_ERR_STOPPED);
    assert_int_equal(findings_of(model), before);
    end = UINT64_MAX;
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    assert_int_equal(findings_of(model), before + ZEROS);
    mf_model_close(model);
    mf_env_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once),
        cmocka_unit_test(a_row_is_one_threads),
        cmocka_unit_test(signals_are_left_to_the_program),
        cmocka_unit_test(first_failure_wins),
        cmocka_unit_test(buffers_share_a_budget),
        cmocka_unit_test(small_work_takes_little),
        cmocka_unit_test(turns_come_in_order),
        cmocka_unit_test(one_large_tensor),
        cmocka_unit_test(long_work_reports_progress),
        cmocka_unit_test(a_stopped_look_has_found_nothing),
        WITH_ENV(checksum_in_pieces),
        WITH_ENV(numbers_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
