/* SPDX-License-Identifier: MIT
 *
 * test_asking.c - what the parser takes of the process that talks to the
 * network
 *
 * The test is that process: it writes an answer, and then the parser, a process
 * of its own, asks.
 */
#include "cli/remote/asking.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/room.h"
#include "tests/support.h"

#define PLACES     4
#define PLACE      ((size_t)4096)
#define SHELF_SIZE (PLACES * PLACE)
#define ASKED      ((size_t)100)

static struct shelf shelf;

/* Without the rest of the program. */
int progress_signal(void)
{
    return 0;
}

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 7 + i / 256);
}

static int make_shelf(void **state)
{
    (void)state;
    shelf_make(&shelf, SHELF_SIZE, PLACE);
    assert_non_null(shelf.at);
    for (size_t i = 0; i < SHELF_SIZE; i++)
        shelf.at[i] = byte_at(i);
    return 0;
}

/* Whether the parser, which exits with 0 then, has found what it expects. */
static bool parser_agrees(int (*parser)(const void *row), const void *row,
                          int helper)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        close(helper);
        room_only_read(shelf.at, shelf.size);
        _exit(parser(row));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

static void make_pair(int pair[2], const struct shelf *on)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    asking_begin(pair[0], on);
}

static void put(int fd, const void *bytes, size_t size)
{
    assert_true(wire_write(fd, bytes, size, NULL));
}

struct answered {
    int32_t reason;
    uint64_t size, found;
    int64_t got; /* what asking_read returns */
    bool has_no_shelf;
};

static int read_once(const void *row)
{
    const struct answered *answered = row;
    uint8_t buffer[ASKED];
    int64_t got = asking_read(1, 5000, buffer, sizeof(buffer));

    if (got != answered->got)
        return 1;
    for (int64_t i = 0; i < got; i++)
        if (buffer[i] !=
            byte_at((size_t)i +
                    (answered->found > 0 ? answered->found - 1 : 0)))
            return 2;
    return 0;
}

static void test_answers(void **state)
{
    static const struct answered row[] = {
        { 0, ASKED, 0, ASKED, false },
        { 0, 1, 0, 1, false },
        { 0, ASKED, 1, ASKED, false },
        { 0, PLACE, 1, ASKED, false }, /* more than was asked for */
        { 0, SHELF_SIZE, 1, ASKED, false },
        { 0, PLACE, SHELF_SIZE - PLACE + 1, ASKED, false },
        { 0, 1, SHELF_SIZE, 1, false },
        /* What no helper says that keeps to the rules. */
        { 0, 0, 0, -EIO, false },
        { 0, 0, 1, -EIO, false },
        { 0, ASKED + 1, 0, -EIO, false },
        { 0, UINT64_MAX, 0, -EIO, false },
        { 0, SHELF_SIZE + 1, 1, -EIO, false },
        { 0, SHELF_SIZE, 2, -EIO, false },
        { 0, 1, SHELF_SIZE + 1, -EIO, false },
        { 0, 1, UINT64_MAX, -EIO, false },
        { 0, UINT64_MAX, 1, -EIO, false },
        { 0, UINT64_MAX, 2, -EIO, false },
        { 0, UINT64_MAX, UINT64_MAX, -EIO, false },
        { 0, 1, 1, -EIO, true },
        { -1, 0, 0, -EIO, false },
        { ENOENT, WIRE_TEXT_MAX, 0, -EIO, false },
        { ENOENT, 10, 0, -ENOENT, false },
    };
    static const struct shelf none;
    int pair[2];

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct wire_answer answer = { .reason = row[i].reason,
                                      .size = row[i].size,
                                      .found = row[i].found };
        bool follows = row[i].found == 0 && row[i].size <= SHELF_SIZE;

        make_pair(pair, row[i].has_no_shelf ? &none : &shelf);
        put(pair[1], &answer, sizeof(answer));
        if (follows)
            put(pair[1], shelf.at, (size_t)row[i].size);
        if (!parser_agrees(read_once, &row[i], pair[1]))
            fail_msg("row %zu", i);
        close(pair[0]);
        close(pair[1]);
    }
}

/* ---- what is lent ---- */

static bool reads(uint32_t file, uint64_t offset, size_t count, int64_t got,
                  size_t place)
{
    uint8_t buffer[PLACE];

    if (asking_read(file, offset, buffer, count) != got)
        return false;
    for (int64_t i = 0; i < got; i++)
        if (buffer[i] != byte_at(place + (size_t)i))
            return false;
    return true;
}

static int read_on(const void *row)
{
    (void)row;
    return !(reads(1, 5000, ASKED, ASKED, PLACE) &&
             reads(1, 5100, 300, 300, PLACE + 100) && /* without a question */
             reads(1, 5000, 1, 1, PLACE) &&
             reads(1, 5000 + PLACE - 1, ASKED, 1, 2 * PLACE - 1) &&
             reads(1, 5000 + PLACE, 10, 10, 0) && /* asks again */
             reads(1, 5000, 10, 10, 10) &&        /* the other is over */
             reads(2, 5000, 10, 10, 20));
}

static void test_lent(void **state)
{
    static const struct wire_answer answer[] = {
        { .size = PLACE, .found = PLACE + 1 },
        { .size = 10, .found = 1 },
        { .size = 10, .found = 11 },
        { .size = 10, .found = 21 },
    };
    static const struct wire_ask expected[] = {
        { WIRE_READ, 1, 5000, ASKED, 0 },
        { WIRE_READ, 1, 5000 + PLACE, 10, ASKED + 300 + 1 + 1 },
        { WIRE_READ, 1, 5000, 10, 10 },
        { WIRE_READ, 2, 5000, 10, 10 },
    };
    struct wire_ask ask;
    int pair[2];

    (void)state;
    make_pair(pair, &shelf);
    for (size_t i = 0; i < COUNT(answer); i++)
        put(pair[1], &answer[i], sizeof(answer[i]));
    assert_true(parser_agrees(read_on, NULL, pair[1]));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_true(wire_read(pair[1], &ask, sizeof(ask), NULL));
        assert_memory_equal(&ask, &expected[i], sizeof(ask));
    }
    close(pair[0]);
    assert_false(wire_read(pair[1], &ask, 1, NULL)); /* no more questions */
    close(pair[1]);
}

/* ---- the shelf ---- */

static void test_places(void **state)
{
    uint8_t *at[PLACES];
    struct shelf large;

    (void)state;
    shelf_make(&large, SHELF_PLACES * PLACE, PLACE);
    assert_non_null(large.at);
    shelf_make(&large, (SHELF_PLACES + 1) * PLACE, PLACE);
    assert_null(large.at);
    assert_null(shelf_take(&large, PLACE));
    assert_null(shelf_take(&shelf, PLACE - 1));
    for (size_t i = 0; i < PLACES; i++) {
        at[i] = shelf_take(&shelf, PLACE);
        assert_non_null(at[i]);
        assert_int_equal(shelf_find(&shelf, at[i]), i * PLACE + 1);
    }
    assert_null(shelf_take(&shelf, PLACE));
    assert_true(shelf_give_back(&shelf, at[2] + PLACE - 1));
    assert_ptr_equal(shelf_take(&shelf, PLACE), at[2]);
    assert_false(shelf_give_back(&shelf, at[0] + SHELF_SIZE));
    assert_false(shelf_give_back(&shelf, at[0] - 1));
    assert_int_equal(shelf.used, PLACES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_lent),
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests(tests, make_shelf, NULL);
}
