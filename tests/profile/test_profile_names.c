/* SPDX-License-Identifier: MIT
 *
 * test_profile_names.c - names of addresses, from objects whole and damaged
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "lib/profile/object.h"
#include "tests/with_scratch.h"

#define ADDRESSES 5

/* Some of this program's functions, from small to large addresses. */
static struct mf_address address[ADDRESSES];
static const struct mf_addresses addresses = { address, ADDRESSES };

static void set_addresses(void)
{
    uint64_t at[ADDRESSES] = {
        (uint64_t)(uintptr_t)mf_objects_find,
        (uint64_t)(uintptr_t)mf_object_name,
        (uint64_t)(uintptr_t)mf_debug_name,
        (uint64_t)(uintptr_t)mf_lines_read,
        (uint64_t)(uintptr_t)mf_ranges_next,
    };

    for (int i = 0; i < ADDRESSES; i++)
        for (int j = i + 1; j < ADDRESSES; j++)
            if (at[j] < at[i]) {
                uint64_t other = at[i];

                at[i] = at[j];
                at[j] = other;
            }
    for (int i = 0; i < ADDRESSES; i++)
        address[i] = (struct mf_address){ .at = at[i] };
}

/* Names them from a file in place of this program's. */
static void name_from(const char *path, struct mf_arena *arena)
{
    struct mf_objects objects = { 0 };

    set_addresses();
    assert_true(mf_objects_find(env, arena, &addresses, &objects));
    assert_int_equal(objects.count, 1);
    assert_true(objects.at[0].is_program);
    objects.at[0].path = path;
    assert_true(mf_object_name(env, arena, &objects.at[0], &addresses));
    mf_release(env, objects.at, objects.room * sizeof(*objects.at));
}

/* Each function begins in its file, at a line of its own. */
static bool all_named(void)
{
    size_t named = 0;

    for (int i = 0; i < ADDRESSES; i++)
        named += address[i].function && address[i].file &&
                 address[i].line > 10 && strstr(address[i].file, ".c") &&
                 strncmp(address[i].function, "mf_", 3) == 0;
    return named == ADDRESSES;
}

static void whole_objects_name_all(void **state)
{
    struct mf_arena arena;

    (void)state;
    mf_arena_init(&arena, env);
    name_from("/proc/self/exe", &arena);
    assert_true(all_named());
    mf_arena_release(&arena);
}

/* Reads all that a name has: the sanitizer sees where it leads. */
static size_t length_of_names(void)
{
    size_t length = 0;

    for (int i = 0; i < ADDRESSES; i++) {
        length += address[i].function ? strlen(address[i].function) : 0;
        length += address[i].file ? strlen(address[i].file) : 0;
        for (struct mf_inlined *at = address[i].inlined; at; at = at->outer)
            length += strlen(at->function) + (at->file ? strlen(at->file) : 0);
    }
    return length;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 4;
}

static void copy_of_self(const char *path, size_t *size)
{
    uint8_t *bytes = load("/proc/self/exe", size);
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, *size, file), *size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

/* Overwrites bytes everywhere after the code; most are of debug information.
 */
static void damage(int fd, size_t size, uint32_t *seed)
{
    for (int i = 0; i < 300; i++) {
        uint8_t byte = (uint8_t)next_random(seed);
        size_t at = size / 4 + next_random(seed) % (size - size / 4);

        assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    }
}

#define ROUNDS 12

static void damaged_objects_do_no_harm(void **state)
{
    const char *path = scratch_path("self");
    uint32_t seed = 1;
    size_t size;
    int fd;

    (void)state;
    copy_of_self(path, &size);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct mf_arena arena;

        damage(fd, size, &seed);
        mf_arena_init(&arena, env);
        name_from(path, &arena);
        (void)length_of_names();
        mf_arena_release(&arena);
    }
    close(fd);
    assert_int_equal(unlink(path), 0);
}

static void cut_objects_do_no_harm(void **state)
{
    const char *path = scratch_path("self");
    size_t size;

    (void)state;
    copy_of_self(path, &size);
    for (size_t left = size; left > 0; left = left / 3) {
        struct mf_arena arena;

        assert_int_equal(truncate(path, (off_t)left - 1), 0);
        mf_arena_init(&arena, env);
        name_from(path, &arena);
        assert_false(all_named());
        mf_arena_release(&arena);
    }
    assert_int_equal(unlink(path), 0);
}

/* Each form, one that is only named by the bytes among them, and bytes that
 * end anywhere in it. */
static void cut_values_do_no_harm(void **state)
{
    static const uint8_t indirect[] = { 0x16, 0x16, 0x16 };
    const struct mf_unit unit = { .address_size = 8, .offset_size = 4 };

    (void)state;
    for (uint64_t form = 0; form < 64; form++)
        for (size_t left = 0; left <= sizeof(indirect); left++) {
            struct mf_bytes cut = { indirect, left }, missing = { 0 };

            (void)mf_dwarf_read(&unit, &cut, form, 0);
            assert_true(cut.left <= left);
            assert_int_equal(mf_dwarf_read(&unit, &missing, form, 0).kind,
                             MF_DWARF_OTHER);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_objects_name_all),
        cmocka_unit_test(damaged_objects_do_no_harm),
        cmocka_unit_test(cut_objects_do_no_harm),
        cmocka_unit_test(cut_values_do_no_harm),
    };

    if (access("/proc/self/exe", R_OK) != 0) {
        puts("1..0 # SKIP there is no /proc to find the program by");
        return 0;
    }
    return RUN_WITH_SCRATCH(tests);
}
