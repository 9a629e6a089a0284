/* SPDX-License-Identifier: MIT
 *
 * test_source.c - models of bytes that the program brings
 *
 * A model that is read through functions, from a descriptor or from the
 * beginning of a file is the one that its path opens.
 */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/io/source.h"
#include "tests/with_scratch.h"

/* ---- a store ---- */

/* Where files come from, and what is asked of it. */
static struct {
    atomic_uint reads;
    unsigned opened, closed;
    unsigned fail_at; /* the read that fails, from 1 on; 0: none */
    bool unusable;    /* what is opened after the first has no read */
    int reason;       /* for which it does */
    atomic_int inside, most_inside;
    bool alone;             /* one thread at a time */
    bool small;             /* reads give a few bytes each */
    uint64_t expected;      /* bytes, from the start on, of the last file */
    unsigned expected_data; /* how often others were */
} store;

struct stored_file {
    uint8_t *bytes;
    size_t size;
};

static int64_t store_read(void *user, uint64_t offset, void *buffer,
                          size_t count)
{
    const struct stored_file *file = user;
    int inside = atomic_fetch_add(&store.inside, 1) + 1;

    if (inside > store.most_inside)
        store.most_inside = inside;
    assert_true(offset < file->size && count > 0 &&
                count <= file->size - offset);
    if (store.small && count > 7)
        count = 7;
    memcpy(buffer, file->bytes + offset, count);
    atomic_fetch_sub(&store.inside, 1);
    return atomic_fetch_add(&store.reads, 1) + 1 == store.fail_at
               ? -store.reason
               : (int64_t)count;
}

static void store_expect(void *user, uint64_t offset, uint64_t size)
{
    const struct stored_file *file = user;

    assert_true(offset <= file->size && size <= file->size - offset);
    if (offset == 0)
        store.expected = size;
    store.expected_data += offset > 0;
}

static void store_close(void *user)
{
    struct stored_file *file = user;

    store.closed++;
    free(file->bytes);
    free(file);
}

static int store_open(void *user, const char *name, struct mf_byte_source *out)
{
    struct stat status;
    struct stored_file *file;

    (void)user;
    if (stat(name, &status) != 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return EISDIR;
    file = malloc(sizeof(*file));
    assert_non_null(file);
    file->bytes = load(name, &file->size);
    store.opened++;
    *out = (struct mf_byte_source){ .size = sizeof(*out),
                                    .name = name,
                                    .bytes = file->size,
                                    .read = store_read,
                                    .user = file,
                                    .open = store_open,
                                    .close = store_close,
                                    .expect = store_expect,
                                    .one_at_a_time = store.alone };
    if (store.unusable && store.opened > store.closed + 1)
        out->read = NULL;
    return 0;
}

static enum mf_status open_stored(struct mf_env *own, const char *path,
                                  struct mf_model **out)
{
    struct mf_byte_source source;

    assert_int_equal(store_open(NULL, path, &source), 0);
    return mf_model_open_source(own, &source, NULL, out);
}

static void nothing_left(void)
{
    assert_int_equal(store.opened, store.closed);
}

/* ---- the same model ---- */

static void same_digests(struct mf_model *a, struct mf_model *b)
{
    size_t count = mf_model_info(a)->tensor_count;
    uint8_t *of_a = malloc(count * MF_DIGEST_MAX + 1);
    uint8_t *of_b = malloc(count * MF_DIGEST_MAX + 1);
    uint8_t digest_a[MF_DIGEST_MAX], digest_b[MF_DIGEST_MAX];
    enum mf_status status = mf_model_hash_tensors(a, MF_XXH3_128, of_a);

    assert_true(of_a && of_b);
    assert_int_equal(mf_model_hash_tensors(b, MF_XXH3_128, of_b), status);
    if (status == MF_OK)
        assert_memory_equal(of_a, of_b, count * 16);
    status = mf_model_hash_metadata(a, MF_XXH3_128, digest_a);
    assert_int_equal(mf_model_hash_metadata(b, MF_XXH3_128, digest_b), status);
    if (status == MF_OK)
        assert_memory_equal(digest_a, digest_b, 16);
    free(of_a);
    free(of_b);
}

static void same_header(const struct mf_model *a, const struct mf_model *b)
{
    const struct mf_model_info *of_a = mf_model_info(a);
    const struct mf_model_info *of_b = mf_model_info(b);
    struct mf_tensor tensor, other;

    assert_string_equal(of_a->format, of_b->format);
    assert_int_equal(of_a->tensor_count, of_b->tensor_count);
    assert_int_equal(of_a->metadata_count, of_b->metadata_count);
    assert_int_equal(of_a->shard_count, of_b->shard_count);
    assert_int_equal(of_a->file_size, of_b->file_size);
    assert_int_equal(of_a->error_count, of_b->error_count);
    assert_int_equal(of_a->warning_count, of_b->warning_count);
    for (size_t i = 0; mf_tensor_at(a, i, &tensor); i++) {
        assert_true(mf_tensor_at(b, i, &other));
        assert_string_equal(tensor.name.at, other.name.at);
        assert_int_equal(tensor.data.offset, other.data.offset);
        assert_int_equal(tensor.data.size, other.data.size);
        assert_int_equal(tensor.flags, other.flags);
    }
}

/* What a path opens, a source of the same name does, error for error. */
static void check_same(const char *path)
{
    struct mf_model *model, *stored;
    enum mf_status status = mf_model_open(env, path, NULL, &model);
    char message[512];

    snprintf(message, sizeof(message), "%s", mf_env_error(env)->message);
    assert_int_equal(open_stored(env, path, &stored), status);
    assert_string_equal(mf_env_error(env)->message, message);
    if (status == MF_OK) {
        same_header(model, stored);
        same_digests(model, stored);
        mf_model_validate(model);
        mf_model_validate(stored);
        assert_int_equal(mf_model_info(model)->error_count,
                         mf_model_info(stored)->error_count);
        mf_model_close(model);
        mf_model_close(stored);
    }
    nothing_left();
}

static void check_fixture(const char *name, const uint8_t *bytes, size_t size)
{
    (void)bytes, (void)size;
    check_same(fixture_path(name));
}

static void test_every_fixture(void **state)
{
    (void)state;
    assert_true(each_fixture("", check_fixture) > 300);
    store.small = true;
    assert_true(each_fixture("good-", check_fixture) > 30);
    store.small = false;
}

static void test_shards_and_lists(void **state)
{
    const char *const lists[] = { "total-size",    "unlisted", "duplicate",
                                  "missing-shard", "path",     "wrong-shard" };

    (void)state;
    check_same(fixture_path("good-split-00002-of-00003.gguf"));
    for (size_t i = 0; i < COUNT(lists); i++) {
        char name[128];

        snprintf(name, sizeof(name),
                 "bad-index-%s/model.safetensors.index.json", lists[i]);
        check_same(fixture_path(name));
    }
}

/* ---- files next to it ---- */

static bool has_config(struct mf_model *model)
{
    struct mf_model *outline;

    assert_int_equal(mf_model_outline(model, MF_OUTLINE_FACTS, &outline),
                     MF_OK);
    mf_model_close(outline);
    return outline != NULL;
}

static void test_sidecars(void **state)
{
    const char *path = fixture_path("good-hf-llama/model.safetensors");
    const char *from_disk = scratch_path("disk.gguf");
    const char *from_store = scratch_path("store.gguf");
    struct mf_convert_options to_gguf = { .size = sizeof(to_gguf),
                                          .names = MF_NAMING_GGUF };
    struct mf_byte_source source;
    struct mf_model *model;

    (void)state;
    model = open_model(path);
    assert_int_equal(mf_model_convert(model, from_disk, &to_gguf, NULL), MF_OK);
    mf_model_close(model);
    assert_int_equal(open_stored(env, path, &model), MF_OK);
    assert_true(has_config(model));
    assert_int_equal(mf_model_convert(model, from_store, &to_gguf, NULL),
                     MF_OK);
    mf_model_close(model);
    assert_true(same_files(from_disk, from_store));
    nothing_left();

    /* A source without others has no file next to it, whatever the disk has
     * there. */
    assert_int_equal(store_open(NULL, path, &source), 0);
    source.open = NULL;
    assert_int_equal(mf_model_open_source(env, &source, NULL, &model), MF_OK);
    assert_false(has_config(model));
    mf_model_close(model);
    nothing_left();
}

/* ---- what fails ---- */

/* Opens, checks and reads all; the first status that is not MF_OK. */
static enum mf_status use(struct mf_env *own, const char *path)
{
    uint8_t digest[MF_DIGEST_MAX];
    struct mf_model *model = NULL;
    enum mf_status status = open_stored(own, path, &model);

    if (status == MF_OK)
        status = mf_model_validate_data(model);
    if (status == MF_OK)
        status = mf_model_hash_data(model, MF_XXH3_64, digest);
    mf_model_close(model);
    return status;
}

static void check_reads(const char *path, int reason, enum mf_status wanted)
{
    unsigned all;

    store.fail_at = 0;
    store.reads = 0;
    assert_int_equal(use(env, path), MF_OK);
    all = store.reads;
    assert_true(all > 3);
    for (unsigned i = 1; i <= all; i++) {
        store.reads = 0;
        store.fail_at = i;
        store.reason = reason;
        assert_int_equal(use(env, path), wanted);
        nothing_left();
    }
    store.fail_at = 0;
}

static void test_read_fails(void **state)
{
    const char *const names[] = { "good-llama.gguf",
                                  "good-split-00001-of-00003.gguf",
                                  "good-dtypes.apr", "good-deflated.npz",
                                  "good-torch-deflated.pt" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        check_reads(fixture_path(names[i]), EIO, MF_ERR_IO);
        check_reads(fixture_path(names[i]), ENOSPC, MF_ERR_IO);
        check_reads(fixture_path(names[i]), EBADMSG, MF_ERR_IO);
        check_reads(fixture_path(names[i]), ECANCELED, MF_ERR_STOPPED);
        check_reads(fixture_path(names[i]), ENOMEM, MF_ERR_MEMORY);
    }
}

static void test_no_memory(void **state)
{
    const char *path = fixture_path("good-split-00002-of-00003.gguf");
    struct test_heap heap = { 0 };
    enum mf_status status;

    (void)state;
    do {
        struct mf_env *own;
        struct mf_model *model = NULL;

        heap.fail_at++;
        heap.calls = 0;
        own = test_env(&heap);
        if (!own) {
            status = MF_ERR_MEMORY;
            continue;
        }
        status = open_stored(own, path, &model);
        check_refused(&heap, status);
        mf_model_close(model);
        mf_env_free(own);
        assert_int_equal(heap.live, 0);
        nothing_left();
    } while (heap.calls >= heap.fail_at || status != MF_OK);
}

static void test_refused(void **state)
{
    struct mf_byte_source source;
    struct mf_model *model;

    (void)state;
    assert_int_equal(store_open(NULL, fixture_path("good-llama.gguf"), &source),
                     0);
    source.read = NULL;
    assert_int_equal(mf_model_open_source(env, &source, NULL, &model),
                     MF_ERR_ARGUMENT);
    source.read = store_read;
    source.name = NULL;
    assert_int_equal(mf_model_open_source(env, &source, NULL, &model),
                     MF_ERR_ARGUMENT);
    source.name = "x.gguf";
    source.bytes = UINT64_MAX;
    assert_int_equal(mf_model_open_source(env, &source, NULL, &model),
                     MF_ERR_ARGUMENT);
    source.size = 0;
    assert_int_equal(mf_model_open_source(env, &source, NULL, &model),
                     MF_ERR_ARGUMENT);
    assert_int_equal(store.closed, store.opened - 1);
    store_close(source.user);
}

/* A source that was taken over is closed, whatever the status; and no other. */
static void test_unusable(void **state)
{
    const char *path = fixture_path("good-split-00002-of-00003.gguf");
    const struct mf_open_options odd = { .size = sizeof(odd), .shards = 99 };
    const struct mf_open_options sized = { .size = sizeof(sized),
                                           .file_size = 1 };
    struct mf_model *model;

    (void)state;
    store.unusable = true;
    assert_int_equal(open_stored(env, path, &model), MF_ERR_IO);
    assert_non_null(strstr(mf_env_error(env)->message, "cannot be used"));
    store.unusable = false;
    nothing_left();
    assert_int_equal(mf_model_open(env, path, &odd, &model), MF_ERR_ARGUMENT);
    assert_int_equal(mf_model_open(env, path, &sized, &model), MF_ERR_ARGUMENT);
}

/* What failed once is read another time. */
static void check_again(const char *path, int reason, unsigned fail_at)
{
    struct mf_tensor_reader *reader;
    struct mf_model *model;
    size_t failed = 0;

    assert_int_equal(open_stored(env, path, &model), MF_OK);
    store.reads = 0;
    store.fail_at = fail_at;
    store.reason = reason;
    for (int round = 0; round < 4; round++)
        for (size_t i = 0; i < mf_model_info(model)->tensor_count; i++) {
            struct mf_tensor tensor;
            uint8_t byte;

            assert_true(mf_tensor_at(model, i, &tensor));
            for (uint64_t at = tensor.data.size; at-- > 0;) {
                enum mf_status status = mf_tensor_bytes(model, i, at, 1, &byte);

                failed += status != MF_OK;
                if (status != MF_OK)
                    assert_true(round == 0);
            }
        }
    assert_true(failed <= 1);
    store.fail_at = 0;
    assert_int_equal(mf_tensor_reader_open(model, &reader), MF_OK);
    mf_model_close(model);
    nothing_left(); /* a reader does not keep the bytes */
    mf_tensor_reader_close(reader);
}

static void test_again(void **state)
{
    const char *const names[] = { "good-deflated.npz", "good-torch-deflated.pt",
                                  "good-fortran.npy",
                                  "good-split-00001-of-00003.gguf" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        for (unsigned at = 1; at < 12; at++) {
            check_again(fixture_path(names[i]), EIO, at);
            check_again(fixture_path(names[i]), ECANCELED, at);
        }
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    store.alone = true;
    store.most_inside = 0;
    for (int i = 0; i < 5; i++)
        assert_int_equal(use(env, fixture_path("good-llama.gguf")), MF_OK);
    assert_int_equal(store.most_inside, 1);
    store.alone = false;
}

/* ---- descriptors ---- */

static void test_descriptor(void **state)
{
    size_t size;
    uint8_t *bytes = load(fixture_path("good-llama.gguf"), &size);
    int fd = memfd_create("model", MFD_CLOEXEC), pipes[2];
    struct mf_tensor_reader *reader;
    float number;
    struct mf_model *model, *other;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(mf_model_open_fd(env, "memfd", fd, NULL, &model), MF_OK);
    other = open_fixture("good-llama.gguf");
    same_header(model, other);
    same_digests(model, other);
    assert_int_equal(mf_tensor_reader_open(model, &reader), MF_OK);
    mf_model_close(model);
    mf_model_close(other);
    /* The descriptor may belong to another file by now. */
    assert_int_equal(
        mf_tensor_reader_read(reader, 0, 0, 1, MF_READ_F32, &number),
        MF_ERR_ARGUMENT);
    mf_tensor_reader_close(reader);
    assert_int_equal(fcntl(fd, F_GETFD) >= 0, 1); /* it is still open */
    close(fd);
    assert_int_equal(mf_model_open_fd(env, "closed", fd, NULL, &model),
                     MF_ERR_ARGUMENT);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(mf_model_open_fd(env, "pipe", pipes[0], NULL, &model),
                     MF_ERR_ARGUMENT);
    close(pipes[0]);
    close(pipes[1]);
    fd = open(fixture_path("good-hf-llama/model.safetensors"),
              O_RDONLY | O_CLOEXEC);
    assert_int_equal(
        mf_model_open_fd(env, "model.safetensors", fd, NULL, &model), MF_OK);
    assert_false(has_config(model));
    mf_model_close(model);
    close(fd);
    free(bytes);
}

/* ---- the beginning of a file ---- */

static enum mf_status open_beginning(const uint8_t *bytes, size_t size,
                                     uint64_t file_size, struct mf_model **out)
{
    struct mf_open_options options = { .size = sizeof(options),
                                       .file_size = file_size };
    uint8_t *copy = malloc(size + 1); /* so that a read beyond is noticed */
    enum mf_status status;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    *out = NULL;
    status = mf_model_open_memory(env, "memory", copy, size, &options, out);
    if (status == MF_OK) {
        mf_model_close(*out);
        *out = NULL;
        status =
            mf_model_open_memory(env, "memory", bytes, size, &options, out);
    }
    free(copy);
    return status;
}

static size_t beginnings;

/* As a program does: what is needed, until it is enough. */
static void check_beginning(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_model *whole = NULL, *model;
    enum mf_status status =
        mf_model_open_memory(env, name, bytes, size, NULL, &whole);
    enum mf_status now;
    size_t have = 0;

    if (size == 0)
        return;
    while ((now = open_beginning(bytes, have, size, &model)) == MF_NEED_MORE) {
        uint64_t needed = mf_env_error(env)->needed;

        assert_true(needed > have && needed <= size);
        have = (size_t)needed;
    }
    assert_int_equal(now, status);
    if (now == MF_OK) {
        same_header(whole, model);
        mf_model_close(model);
        beginnings += have < size;
    }
    mf_model_close(whole);
}

/* With any number of bytes the answer matches the whole, or that more are
 * needed. */
static void check_every_length(const char *name)
{
    size_t size;
    uint8_t *bytes = load(fixture_path(name), &size);
    struct mf_model *whole, *model;

    assert_int_equal(mf_model_open_memory(env, name, bytes, size, NULL, &whole),
                     MF_OK);
    for (size_t have = 0; have <= size; have++) {
        enum mf_status status = open_beginning(bytes, have, size, &model);

        if (status == MF_NEED_MORE) {
            assert_true(mf_env_error(env)->needed > have);
            assert_true(mf_env_error(env)->needed <= size);
            continue;
        }
        assert_int_equal(status, MF_OK);
        same_header(whole, model);
        mf_model_close(model);
    }
    mf_model_close(whole);
    free(bytes);
}

/* Data that has to be ordered or turned, too, is there or needed. */
static void check_data_lengths(const char *name)
{
    size_t size;
    uint8_t *bytes = load(fixture_path(name), &size), data[64];
    struct mf_model *model;
    struct mf_tensor tensor;
    bool there;

    for (size_t have = 0; have < size; have++) {
        if (open_beginning(bytes, have, size, &model) != MF_OK)
            continue;
        assert_true(mf_tensor_at(model, 0, &tensor));
        there = have >= tensor.data.offset + tensor.data.size;
        assert_int_equal(
            mf_tensor_bytes(model, 0, 0, (size_t)tensor.data.size, data),
            there ? MF_OK : MF_NEED_MORE);
        assert_true(there || mf_env_error(env)->needed > have);
        assert_true(there || mf_env_error(env)->needed <= size);
        mf_model_close(model);
    }
    free(bytes);
}

static void test_beginnings(void **state)
{
    (void)state;
    each_fixture("", check_beginning);
    assert_true(beginnings > 50);
    check_every_length("good-types.gguf");
    check_every_length("good-dtypes.safetensors");
    check_every_length("good-array.npy");
    check_data_lengths("good-fortran.npy");
    check_data_lengths("good-big.npy");
    check_every_length("good-blocks-big.gguf");
    check_data_lengths("good-big-endian.gguf");
}

/* What a file is, of its first bytes as of all of it. */
static void check_detection(const char *name, const uint8_t *bytes, size_t size)
{
    struct mf_detection whole, out;
    enum mf_status status = mf_file_detect(env, fixture_path(name), &whole);
    size_t have = size < 64 ? size : 64;
    enum mf_status now = mf_bytes_detect(env, bytes, have, size, &out);

    if (now == MF_NEED_MORE) {
        assert_int_equal(mf_env_error(env)->needed, size);
        now = mf_bytes_detect(env, bytes, size, size, &out);
    }
    assert_int_equal(now, status);
    if (status != MF_OK)
        return;
    assert_string_equal(out.format, whole.format);
    assert_string_equal(out.variant, whole.variant);
    assert_int_equal(out.version, whole.version);
    assert_int_equal(out.size, whole.size);
    if (have > 0)
        assert_int_equal(mf_bytes_detect(env, bytes, have - 1, size, &out),
                         have - 1 < size ? MF_NEED_MORE : MF_OK);
}

static void test_detection(void **state)
{
    (void)state;
    assert_true(each_fixture("", check_detection) > 300);
}

static void test_data_beyond(void **state)
{
    size_t size;
    uint8_t *bytes = load(fixture_path("good-types.gguf"), &size);
    struct mf_model *model = open_fixture("good-types.gguf");
    struct mf_tensor tensor;
    size_t index, have;
    float number;

    (void)state;
    assert_true(mf_tensor_by_offset(
        model, mf_model_info(model)->tensor_count - 1, &tensor));
    assert_true(mf_tensor_find(model, tensor.name.at, tensor.name.size, &tensor,
                               &index));
    have = (size_t)(tensor.data.offset + tensor.data.size) - 1;
    mf_model_close(model);
    assert_int_equal(open_beginning(bytes, have, have - 1, &model),
                     MF_ERR_ARGUMENT);
    assert_int_equal(open_beginning(bytes, have, size, &model), MF_OK);
    assert_true(mf_tensor_at(model, index, &tensor));
    assert_int_equal(mf_tensor_read(model, index, 0, tensor.parameters,
                                    MF_READ_F32, &number),
                     MF_NEED_MORE);
    assert_int_equal(mf_env_error(env)->needed, have + 1);
    mf_model_close(model);
    free(bytes);
}

/* A header of safetensors begins with its length. */
static void test_expected(void **state)
{
    struct mf_model *model;

    (void)state;
    store.expected = 0;
    assert_int_equal(
        open_stored(env, fixture_path("good-base.safetensors"), &model), MF_OK);
    assert_int_equal(store.expected, mf_model_info(model)->data_offset);
    store.expected_data = 0;
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    assert_true(store.expected_data > 0);
    mf_model_close(model);
    nothing_left();
}

/* ---- all bytes or none ---- */

static void test_all_or_none(void **state)
{
    char bytes[4] = "";
    int fd;

    (void)state;
    save(scratch_path("three"), "abc", 3);
    fd = open(scratch_path("three"), O_RDONLY);
    assert_true(fd >= 0);
    assert_true(mf_fd_read(fd, 0, bytes, 3));
    assert_string_equal(bytes, "abc");
    assert_true(mf_fd_read(fd, 3, bytes, 0));
    errno = 0;
    assert_false(mf_fd_read(fd, 1, bytes, 3));
    assert_int_equal(errno, EIO);
    close(fd);
    assert_false(mf_fd_read(fd, 0, bytes, 3));
    assert_int_equal(errno, EBADF);
    unlink(scratch_path("three"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(test_every_fixture), WITH_ENV(test_shards_and_lists),
        WITH_ENV(test_sidecars),      WITH_ENV(test_read_fails),
        WITH_ENV(test_no_memory),     WITH_ENV(test_refused),
        WITH_ENV(test_unusable),      WITH_ENV(test_again),
        WITH_ENV(test_one_at_a_time), WITH_ENV(test_descriptor),
        WITH_ENV(test_beginnings),    WITH_ENV(test_detection),
        WITH_ENV(test_data_beyond),   WITH_ENV(test_expected),
        WITH_ENV(test_all_or_none),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
