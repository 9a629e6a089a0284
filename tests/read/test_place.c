/* SPDX-License-Identifier: MIT
 *
 * test_place.c - mapping the file that a model reads, whatever its path names
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/with_scratch.h"

static void copy_file(const char *from, const char *to)
{
    size_t size;
    uint8_t *bytes = load(from, &size);
    FILE *file = fopen(to, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

/* The bytes of the tensor are in what the descriptor maps. */
static void check_mapped(struct mf_model *model, size_t index)
{
    struct mf_file_span place;
    struct stat status;
    uint8_t *bytes, *map;
    int fd;

    assert_true(mf_tensor_place(model, index, &place));
    fd = mf_shard_fd(model, place.shard);
    assert_int_equal(fstat(fd, &status), 0);
    assert_true(place.data.size <= (uint64_t)status.st_size);
    map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(map != MAP_FAILED);
    bytes = malloc((size_t)place.data.size + 1);
    assert_non_null(bytes);
    assert_int_equal(
        mf_tensor_bytes(model, index, 0, (size_t)place.data.size, bytes),
        MF_OK);
    assert_memory_equal(map + place.data.offset, bytes,
                        (size_t)place.data.size);
    free(bytes);
    munmap(map, (size_t)status.st_size);
}

static void test_replaced(void **state)
{
    char path[512], next[512];
    struct stat held, named;
    struct mf_model *model;

    (void)state;
    snprintf(path, sizeof(path), "%s", scratch_path("a.gguf"));
    snprintf(next, sizeof(next), "%s", scratch_path("b.gguf"));
    copy_file(fixture_path("good-llama.gguf"), path);
    copy_file(fixture_path("good-base.gguf"), next);
    model = open_model(path);
    assert_int_equal(rename(next, path), 0);
    assert_int_equal(fstat(mf_shard_fd(model, 0), &held), 0);
    assert_int_equal(stat(path, &named), 0);
    assert_true(held.st_ino != named.st_ino);
    for (size_t i = 0; i < mf_model_info(model)->tensor_count; i++)
        check_mapped(model, i);
    mf_model_close(model);
    unlink(path);
}

static void test_shards(void **state)
{
    struct mf_model *model = open_fixture("good-split-00001-of-00003.gguf");
    size_t count = mf_model_info(model)->shard_count;

    (void)state;
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        struct stat held, named;
        struct mf_shard shard;

        assert_true(mf_shard_at(model, i, &shard));
        assert_int_equal(fstat(mf_shard_fd(model, i), &held), 0);
        assert_int_equal(stat(shard.path, &named), 0);
        assert_true(held.st_ino == named.st_ino && held.st_dev == named.st_dev);
    }
    for (size_t i = 0; i < mf_model_info(model)->tensor_count; i++)
        check_mapped(model, i);
    assert_int_equal(mf_shard_fd(model, count), -1);
    assert_int_equal(mf_shard_fd(model, SIZE_MAX), -1);
    mf_model_close(model);
}

/* The model's own is closed with it, even if a reader stays. */
static void test_closed(void **state)
{
    struct mf_model *model = open_fixture("good-llama.gguf");
    struct mf_tensor_reader *reader;
    int fd = mf_shard_fd(model, 0);

    (void)state;
    assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(mf_tensor_reader_open(model, &reader), MF_OK);
    mf_model_close(model);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    mf_tensor_reader_close(reader);
}

static int64_t read_bytes(void *user, uint64_t offset, void *buffer,
                          size_t count)
{
    const uint8_t *bytes = user;

    memcpy(buffer, bytes + offset, count);
    return (int64_t)count;
}

/* Memory, a source of the program, its own descriptor. */
static void test_kinds(void **state)
{
    size_t size;
    uint8_t *bytes = load(fixture_path("good-llama.gguf"), &size);
    struct mf_byte_source source = { .size = sizeof(source),
                                     .name = "a.gguf",
                                     .bytes = size,
                                     .read = read_bytes,
                                     .user = bytes };
    int fd = open(fixture_path("good-llama.gguf"), O_RDONLY | O_CLOEXEC);
    struct mf_model *model;

    (void)state;
    assert_int_equal(
        mf_model_open_memory(env, "a.gguf", bytes, size, NULL, &model), MF_OK);
    assert_int_equal(mf_shard_fd(model, 0), -1);
    mf_model_close(model);
    assert_int_equal(mf_model_open_source(env, &source, NULL, &model), MF_OK);
    assert_int_equal(mf_shard_fd(model, 0), -1);
    mf_model_close(model);
    assert_int_equal(mf_model_open_fd(env, "a.gguf", fd, NULL, &model), MF_OK);
    assert_int_equal(mf_shard_fd(model, 0), fd);
    mf_model_close(model);
    close(fd);
    free(bytes);
}

static size_t files_seen;

/* Whatever a file has, the descriptor is of that file. */
static void check_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *model;
    struct mf_shard shard;

    (void)bytes, (void)size;
    if (mf_model_open(env, fixture_path(name), NULL, &model) != MF_OK)
        return;
    for (size_t i = 0; mf_shard_at(model, i, &shard); i++) {
        struct stat held, named;

        assert_int_equal(fstat(mf_shard_fd(model, i), &held), 0);
        assert_int_equal(stat(shard.path, &named), 0);
        assert_true(held.st_ino == named.st_ino);
        assert_int_equal(held.st_size, shard.size);
        files_seen++;
    }
    mf_model_close(model);
}

static void test_every_fixture(void **state)
{
    (void)state;
    each_fixture("", check_fixture);
    assert_true(files_seen > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replaced),      cmocka_unit_test(test_shards),
        cmocka_unit_test(test_closed),        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_every_fixture),
    };

    return RUN_WITH_SCRATCH(tests);
}
