/* SPDX-License-Identifier: MIT
 *
 * test_output.c - files whose bytes a program takes itself
 *
 * They are those that go to the disk, whether the program takes them in any
 * order or forward only; each function that fails ends the call, and a file
 * that has begun ends once.
 */
#include <errno.h>
#include <pthread.h>

#include "tests/with_scratch.h"

/* ---- a place in memory ---- */

#define FILES_MAX 32

struct place {
    struct {
        char name[512];
        uint8_t *bytes, *written; /* of each byte: whether it was */
        size_t size, next;
    } file[FILES_MAX];
    pthread_mutex_t lock;
    size_t count, ended, complete, read_back;
    unsigned calls, fail_at; /* the call that fails, from 1 on; 0: none */
    int reason;
    bool forward;
};

static int answer(struct place *place)
{
    unsigned call;

    pthread_mutex_lock(&place->lock);
    call = ++place->calls;
    pthread_mutex_unlock(&place->lock);
    return call == place->fail_at ? place->reason : 0;
}

static int begin(void *user, const char *name, uint64_t bytes, void **file)
{
    struct place *place = user;
    int result = answer(place);

    if (result != 0)
        return result;
    assert_true(place->count < FILES_MAX);
    snprintf(place->file[place->count].name, sizeof(place->file->name), "%s",
             name);
    place->file[place->count].size = (size_t)bytes;
    place->file[place->count].next = 0;
    place->file[place->count].bytes = calloc(1, (size_t)bytes + 1);
    place->file[place->count].written = calloc(1, (size_t)bytes + 1);
    *file = &place->file[place->count++];
    return 0;
}

static int put(void *user, void *file, uint64_t offset, const void *bytes,
               size_t count)
{
    struct place *place = user;
    size_t i = 0;

    while (&place->file[i] != file)
        i++;
    assert_true(offset <= place->file[i].size &&
                count <= place->file[i].size - offset && count > 0);
    if (place->forward)
        assert_int_equal(offset, place->file[i].next);
    place->file[i].next = (size_t)offset + count;
    memcpy(place->file[i].bytes + offset, bytes, count);
    memset(place->file[i].written + offset, 1, count);
    return answer(place);
}

static int get(void *user, void *file, uint64_t offset, void *bytes,
               size_t count)
{
    struct place *place = user;
    size_t i = 0;

    while (&place->file[i] != file)
        i++;
    memcpy(bytes, place->file[i].bytes + offset, count);
    place->read_back += count;
    return answer(place);
}

static int end(void *user, void *file, bool complete)
{
    struct place *place = user;

    assert_non_null(file);
    place->ended++;
    place->complete += complete;
    return answer(place);
}

static struct mf_output_ops ops_of(struct place *place)
{
    return (struct mf_output_ops){ .size = sizeof(struct mf_output_ops),
                                   .begin = begin,
                                   .write = put,
                                   .read = place->forward ? NULL : get,
                                   .end = end,
                                   .user = place };
}

static void empty_place(struct place *place)
{
    for (size_t i = 0; i < place->count; i++) {
        free(place->file[i].bytes);
        free(place->file[i].written);
    }
    pthread_mutex_init(&place->lock, NULL);
    place->count = place->ended = place->complete = 0;
    place->calls = 0;
}

static void same_as_disk(const struct place *place)
{
    for (size_t i = 0; i < place->count; i++) {
        size_t size;
        uint8_t *bytes = load(place->file[i].name, &size);

        assert_int_equal(size, place->file[i].size);
        assert_memory_equal(bytes, place->file[i].bytes, size);
        for (size_t k = 0; k < size; k++)
            assert_true(place->file[i].written[k]);
        free(bytes);
    }
}

/* ---- work ---- */

struct job {
    const char *model, *path, *quantize;
    struct mf_convert_options how;
};

static enum mf_status run(const struct job *job,
                          const struct mf_output_ops *output)
{
    struct mf_quantize_options quantize = { .size = sizeof(quantize),
                                            .type = job->quantize };
    struct mf_convert_options how = job->how;
    struct mf_model *model = open_fixture(job->model);
    enum mf_status status;

    how.size = sizeof(how);
    how.output = output;
    how.replace = output == NULL;
    status = job->quantize
                 ? mf_model_quantize(model, scratch_path(job->path), &quantize,
                                     &how, NULL)
                 : mf_model_convert(model, scratch_path(job->path), &how, NULL);
    mf_model_close(model);
    return status;
}

static const struct job jobs[] = {
    { .model = "good-llama.gguf", .path = "copy.gguf" },
    { .model = "good-llama.gguf",
      .path = "floats.apr",
      .how = { .type = "f16", .dequantize = true, .lossy = true } },
    { .model = "good-types.gguf",
      .path = "many.gguf",
      .how = { .shard_tensors = 4 } },
    { .model = "good-dtypes.safetensors",
      .path = "listed.safetensors",
      .how = { .shard_tensors = 5 } },
    { .model = "good-hf-llama",
      .path = "hf.gguf",
      .how = { .names = MF_NAMING_GGUF } },
    { .model = "good-hf-llama",
      .path = "q8.gguf",
      .quantize = "Q8_0",
      .how = { .names = MF_NAMING_GGUF } },
};

static void check_job(const struct job *job, bool forward)
{
    struct place place = { .forward = forward };
    struct mf_output_ops ops = ops_of(&place);

    empty_place(&place);
    assert_int_equal(run(job, NULL), MF_OK);
    if (run(job, &ops) != MF_OK)
        fail_msg("%s: %s", job->path, mf_env_error(env)->message);
    assert_true(place.count > 0);
    assert_int_equal(place.ended, place.count);
    assert_int_equal(place.complete, place.count);
    same_as_disk(&place);
    if (strstr(job->path, ".apr")) /* it has a checksum of all */
        assert_int_equal(place.read_back > 0, !forward);
    empty_place(&place);
}

static void test_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(jobs); i++) {
        check_job(&jobs[i], false);
        check_job(&jobs[i], true);
    }
}

/* Whatever call fails, the error is its, and each file that began ends. */
static void check_failures(const struct job *job, bool forward, int reason,
                           enum mf_status wanted)
{
    struct place place = { .forward = forward, .reason = reason };
    struct mf_output_ops ops = ops_of(&place);
    unsigned all;

    empty_place(&place);
    assert_int_equal(run(job, &ops), MF_OK);
    all = place.calls;
    for (unsigned i = 1; i <= all; i++) {
        empty_place(&place);
        place.fail_at = i;
        assert_int_equal(run(job, &ops), wanted);
        assert_int_equal(place.ended, place.count);
    }
    empty_place(&place);
}

static void test_failures(void **state)
{
    (void)state;
    check_failures(&jobs[0], true, ENOSPC, MF_ERR_OUTPUT);
    check_failures(&jobs[1], false, EIO, MF_ERR_OUTPUT);
    check_failures(&jobs[3], false, EIO, MF_ERR_OUTPUT);
    check_failures(&jobs[5], false, ECANCELED, MF_ERR_STOPPED);
    check_failures(&jobs[0], true, -ECANCELED, MF_ERR_STOPPED);
}

static void check_argument(const char *says)
{
    assert_int_equal(mf_env_error(env)->status, MF_ERR_ARGUMENT);
    if (!strstr(mf_env_error(env)->message, says))
        fail_msg("no '%s' in '%s'", says, mf_env_error(env)->message);
}

static void test_refused(void **state)
{
    struct place place = { .forward = true };
    struct mf_output_ops ops = ops_of(&place);
    struct job job = jobs[0];

    (void)state;
    empty_place(&place);
    job.how.resume = true;
    run(&job, &ops);
    check_argument("work to be resumed needs files as output");
    job = jobs[0];
    ops.write = NULL;
    run(&job, &ops);
    check_argument("has no function to write with");
    ops = ops_of(&place);
    ops.size = 0;
    run(&job, &ops);
    check_argument("size of the options is 0");
    assert_int_equal(place.calls, 0);
}

/* ---- a writer ---- */

static void test_writer(void **state)
{
    const float numbers[] = { 1, 2, 3, 4, 5, 6 };
    const struct mf_new_tensor tensor = {
        { "w", 1 }, "f32", 1, (const uint64_t[]){ COUNT(numbers) }
    };
    struct place place = { .forward = true };
    struct mf_output_ops ops = ops_of(&place);
    struct mf_writer_options options = { .size = sizeof(options),
                                         .format = "gguf",
                                         .output = &ops };
    struct mf_writer *writer;
    struct mf_model *model;
    float again[COUNT(numbers)];
    uint8_t stored[sizeof(numbers)];

    (void)state;
    empty_place(&place);
    assert_int_equal(mf_writer_new(env, &options, &writer), MF_OK);
    assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    assert_int_equal(mf_writer_open(writer, "in memory"), MF_OK);
    memcpy(stored, numbers, sizeof(stored));
    in_file_order(stored, COUNT(numbers), sizeof(*numbers));
    assert_int_equal(mf_writer_push(writer, stored, sizeof(stored)), MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
    assert_string_equal(place.file[0].name, "in memory");
    assert_int_equal(place.complete, 1);
    assert_int_equal(mf_model_open_memory(env, "in memory", place.file[0].bytes,
                                          place.file[0].size, NULL, &model),
                     MF_OK);
    assert_int_equal(
        mf_tensor_read(model, 0, 0, COUNT(numbers), MF_READ_F32, again), MF_OK);
    assert_memory_equal(numbers, again, sizeof(numbers));
    mf_model_close(model);

    /* One that is given up. */
    empty_place(&place);
    assert_int_equal(mf_writer_new(env, &options, &writer), MF_OK);
    assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_OK);
    assert_int_equal(mf_writer_open(writer, "in memory"), MF_OK);
    mf_writer_free(writer);
    assert_int_equal(place.ended, 1);
    assert_int_equal(place.complete, 0);
    empty_place(&place);
}

/* "-" is a name like any other. */
static void test_dash(void **state)
{
    struct mf_model *model = open_fixture("good-llama.gguf");
    const struct mf_convert_options options = { .size = sizeof(options),
                                                .format = "gguf" };
    char here[512];

    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(scratch_folder), 0);
    assert_int_equal(mf_model_convert(model, "-", &options, NULL), MF_OK);
    assert_int_equal(access("-", F_OK), 0);
    assert_int_equal(unlink("-"), 0);
    assert_int_equal(chdir(here), 0);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(test_same_bytes), WITH_ENV(test_failures),
        WITH_ENV(test_refused),    WITH_ENV(test_writer),
        WITH_ENV(test_dash),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
