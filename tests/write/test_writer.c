/* SPDX-License-Identifier: MIT
 *
 * test_writer.c - files that a program makes are read again as they were meant
 */
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/with_env.h"

static const char *const formats[] = { "gguf", "apr", "safetensors" };

static char folder[] = "/tmp/modelfile-writer.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

/* Fails where a test has left something there. */
static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *path_in(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static size_t files_there(void)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(dir);
    return count;
}

static struct mf_str text(const char *at)
{
    return (struct mf_str){ at, strlen(at) };
}

/* ---- a model ---- */

/* Sizes that no alignment divides, a scalar, and an empty tensor. */
static const struct {
    const char *name, *type;
    uint32_t rank;
    uint64_t dim[3];
    size_t size;
} tensors[] = {
    { "b.weight", "f16", 2, { 3, 5 }, 30 },
    { "a.weight", "f32", 3, { 2, 3, 7 }, 168 },
    { "empty", "f32", 2, { 0, 4 }, 0 },
    { "c.bytes", "i8", 1, { 300001 }, 300001 },
    { "scalar", "f32", 0, { 0 }, 4 },
};

static uint8_t byte_of(size_t tensor, uint64_t at)
{
    return (uint8_t)((at * 31 + tensor * 7) & 0x3f);
}

static const struct mf_edit values[] = {
    { .key = "general.architecture",
      .type = MF_VALUE_STRING,
      .text = { "tiny", 4 } },
    { .key = "x.u8", .type = MF_VALUE_U8, .number.u64 = 255 },
    { .key = "x.i64", .type = MF_VALUE_I64, .number.i64 = INT64_MIN },
    { .key = "x.f32", .type = MF_VALUE_F32, .number.f64 = 0.1f },
    { .key = "x.f64", .type = MF_VALUE_F64, .number.f64 = 1e300 },
    { .key = "x.bool", .type = MF_VALUE_BOOL, .number.boolean = true },
    { .key = "x.text",
      .type = MF_VALUE_STRING,
      .text = { "a\"\n\xc3\xa4", 5 } },
    { .key = "x.numbers",
      .type = MF_VALUE_ARRAY,
      .of = MF_VALUE_I16,
      .count = 3,
      .elements = (const union mf_number[]){ { .i64 = -1 },
                                             { .i64 = 0 },
                                             { .i64 = 32767 } } },
    { .key = "x.words",
      .type = MF_VALUE_ARRAY,
      .of = MF_VALUE_STRING,
      .count = 2,
      .elements = (const struct mf_str[]){ { "one", 3 }, { "", 0 } } },
    { .key = "x.none",
      .type = MF_VALUE_ARRAY,
      .of = MF_VALUE_U32,
      .elements = "" },
};

static enum mf_status list(struct mf_writer *writer)
{
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < COUNT(values) && status == MF_OK; i++)
        status = mf_writer_set(writer, &values[i]);
    for (size_t i = 0; i < COUNT(tensors) && status == MF_OK; i++)
        status = mf_writer_add(
            writer,
            &(struct mf_new_tensor){ .name = text(tensors[i].name),
                                     .type = tensors[i].type,
                                     .rank = tensors[i].rank,
                                     .dim = tensors[i].dim },
            NULL);
    return status;
}

static enum mf_status produce(void *user, size_t tensor, uint64_t offset,
                              void *buffer, size_t size)
{
    (void)user;
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)buffer)[i] = byte_of(tensor, offset + i);
    return MF_OK;
}

/* With all tensors and keys, ready for bytes. */
static void open_listed(struct mf_writer *writer, const char *path)
{
    assert_int_equal(list(writer), MF_OK);
    assert_int_equal(mf_writer_open(writer, path), MF_OK);
}

/* ---- what was written ---- */

static void check_tensors(const struct mf_model *model, const char *path)
{
    size_t size;
    uint8_t *bytes = load(path, &size);

    assert_int_equal(mf_model_info(model)->tensor_count, COUNT(tensors));
    for (size_t i = 0; i < COUNT(tensors); i++) {
        bool turned = mf_model_info(model)->fastest_first;
        struct mf_tensor tensor;

        assert_true(mf_tensor_find(model, tensors[i].name,
                                   strlen(tensors[i].name), &tensor, NULL));
        assert_string_equal(tensor.type, tensors[i].type);
        assert_int_equal(tensor.data.size, tensors[i].size);
        for (uint32_t d = 0; d < tensors[i].rank; d++)
            assert_int_equal(
                tensor.dim[d],
                tensors[i].dim[turned ? tensors[i].rank - 1 - d : d]);
        for (size_t at = 0; at < tensors[i].size; at++)
            assert_int_equal(bytes[tensor.data.offset + at], byte_of(i, at));
    }
    free(bytes);
}

/* With the types that they were given. */
static void check_values(struct mf_model *model)
{
    struct mf_meta meta;

    for (size_t i = 0; i < COUNT(values); i++) {
        const struct mf_edit *value = &values[i];

        if (!mf_meta_find(model, value->key, strlen(value->key), &meta, NULL))
            fail_msg("%s is missing", value->key);
        assert_int_equal(meta.type, value->type);
        if (value->type == MF_VALUE_ARRAY) {
            assert_int_equal(meta.of, value->of);
            assert_int_equal(meta.count, value->count);
        } else if (value->type == MF_VALUE_STRING) {
            assert_int_equal(meta.text.size, value->text.size);
            assert_memory_equal(meta.text.at, value->text.at, meta.text.size);
        } else {
            assert_memory_equal(&meta.number, &value->number,
                                value->type == MF_VALUE_BOOL ? 1 : 8);
        }
    }
}

static void check_file(const char *path)
{
    struct mf_finding finding;
    struct mf_model *model;

    assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
    assert_int_equal(mf_model_validate_data(model), MF_OK);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        if (finding.severity == MF_ERROR)
            fail_msg("%s: %s %s", path, finding.rule, finding.message);
    check_tensors(model, path);
    mf_model_close(model);
}

/* ---- tests ---- */

static void every_format(void **state)
{

    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct mf_writer *writer = start_writer(env, formats[i]);
        char path[256], back[256];
        struct mf_model *model;

        snprintf(path, sizeof(path), "%s", path_in(formats[i]));
        snprintf(back, sizeof(back), "%s", path_in("back.gguf"));
        open_listed(writer, path);
        assert_int_equal(mf_writer_fill(writer, produce, NULL), MF_OK);
        assert_int_equal(mf_writer_commit(writer), MF_OK);
        mf_writer_free(writer);
        check_file(path);
        assert_int_equal(mf_model_open(env, path, NULL, &model), MF_OK);
        if (strcmp(formats[i], "gguf") != 0) {
            assert_int_equal(mf_model_convert(model, back, NULL, NULL), MF_OK);
            mf_model_close(model);
            assert_int_equal(mf_model_open(env, back, NULL, &model), MF_OK);
        }
        check_values(model);
        mf_model_close(model);
        remove(path);
        remove(back);
    }
}

struct part { /* of all bytes, written by one thread */
    struct mf_writer *writer;
    pthread_t thread;
    size_t number;
};

enum { PARTS = 5, STEP = 1000 };

static void *write_part(void *context)
{
    struct part *part = context;
    struct mf_env *own = mf_env_new(NULL);
    size_t turn = 0;
    uint8_t bytes[STEP];

    for (size_t i = COUNT(tensors); i-- > 0;)
        for (uint64_t at = 0; at < tensors[i].size; at += STEP, turn++) {
            uint64_t left = tensors[i].size - at;
            size_t size = left < STEP ? (size_t)left : STEP;

            if (turn % PARTS != part->number)
                continue;
            produce(NULL, i, at, bytes, size);
            if (mf_writer_write_at(part->writer, own, i, at, bytes, size) !=
                MF_OK)
                return part;
        }
    mf_env_free(own);
    return NULL;
}

static void many_threads(void **state)
{

    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct mf_writer *writer = start_writer(env, formats[i]);
        const char *path = path_in(formats[i]);
        struct part part[PARTS];
        void *failed;

        open_listed(writer, path);
        for (size_t t = 0; t < PARTS; t++) {
            part[t] = (struct part){ .writer = writer, .number = t };
            assert_int_equal(
                pthread_create(&part[t].thread, NULL, write_part, &part[t]), 0);
        }
        for (size_t t = 0; t < PARTS; t++) {
            pthread_join(part[t].thread, &failed);
            assert_null(failed);
        }
        assert_int_equal(mf_writer_commit(writer), MF_OK);
        mf_writer_free(writer);
        check_file(path);
        remove(path);
    }
}

static void *read_pipe(void *path)
{
    FILE *pipe = fopen(path, "rb"), *copy = fopen(path_in("copy"), "wb");
    char bytes[5000];
    size_t got;

    while ((got = fread(bytes, 1, sizeof(bytes), pipe)) > 0)
        fwrite(bytes, 1, got, copy);
    fclose(pipe);
    fclose(copy);
    return NULL;
}

static void into_a_pipe(void **state)
{

    (void)state;
    for (size_t i = 0; i < COUNT(formats); i++) {
        struct mf_writer *writer = start_writer(env, formats[i]);
        char path[256];
        pthread_t reader;

        snprintf(path, sizeof(path), "%s", path_in("pipe"));
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_int_equal(pthread_create(&reader, NULL, read_pipe, path), 0);
        open_listed(writer, path);
        assert_int_equal(mf_writer_fill(writer, produce, NULL), MF_OK);
        assert_int_equal(mf_writer_commit(writer), MF_OK);
        mf_writer_free(writer);
        pthread_join(reader, NULL);
        check_file(path_in("copy"));
        remove(path_in("copy"));
        remove(path);
    }
}

static void nothing_half(void **state)
{
    struct mf_env *other = mf_env_new(NULL);
    struct mf_writer *writer = start_writer(env, "gguf");
    const char *path = path_in("half.gguf");

    (void)state;
    open_listed(writer, path);
    assert_int_equal(mf_writer_push(writer, "12345", 5), MF_OK);
    assert_int_equal(mf_writer_write_at(writer, other, 0, 28, "abc", 3),
                     MF_ERR_ARGUMENT);
    assert_int_equal(mf_writer_write_at(writer, other, 99, 0, "abc", 3),
                     MF_ERR_ARGUMENT);
    assert_int_equal(mf_writer_set(writer, &values[0]), MF_ERR_ARGUMENT);
    assert_int_equal(mf_writer_commit(writer), MF_ERR_ARGUMENT);
    assert_non_null(strstr(mf_env_error(env)->message, "b.weight"));
    mf_writer_free(writer);
    assert_int_equal(files_there(), 0);
    mf_env_free(other);
}

static void what_is_refused(void **state)
{
    struct mf_writer *writer;
    struct mf_new_tensor tensor = { .name = { "t", 1 },
                                    .type = "q4_k",
                                    .rank = 1,
                                    .dim = (const uint64_t[]){ 100 } };

    (void)state;
    assert_int_equal(mf_writer_new(env,
                                   &(struct mf_writer_options){
                                       .size = sizeof(struct mf_writer_options),
                                       .format = "zip" },
                                   &writer),
                     MF_ERR_ARGUMENT);
    writer = start_writer(env, "safetensors");
    assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_ERR_UNSUPPORTED);
    mf_writer_free(writer);
    writer = start_writer(env, "gguf");
    assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_ERR_ARGUMENT);
    tensor.type = "f32";
    tensor.dim = (const uint64_t[]){ UINT64_MAX };
    assert_int_equal(mf_writer_add(writer, &tensor, NULL), MF_ERR_ARGUMENT);
    assert_int_equal(mf_writer_commit(writer), MF_ERR_ARGUMENT);
    assert_int_equal(mf_writer_push(writer, "x", 1), MF_ERR_ARGUMENT);
    mf_writer_free(writer);
}

/* Each allocation fails once, and from then on: nothing leaks, nothing stays.
 */
static void every_allocation_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT(formats); i++) {
        enum mf_status status = MF_ERR_MEMORY;

        for (uint64_t k = 1; status != MF_OK; k++) {
            struct test_heap heap = { .fail_at = k, .fail_after = i % 2 };
            struct mf_env *own = test_env(&heap);
            struct mf_writer *writer = NULL;
            const char *path = path_in("k");

            if (!own)
                continue;
            status = mf_writer_new(own,
                                   &(struct mf_writer_options){
                                       .size = sizeof(struct mf_writer_options),
                                       .format = formats[i / 2],
                                       .replace = true },
                                   &writer);
            if (status == MF_OK)
                status = list(writer);
            if (status == MF_OK)
                status = mf_writer_open(writer, path);
            if (status == MF_OK)
                status = mf_writer_fill(writer, produce, NULL);
            if (status == MF_OK)
                status = mf_writer_commit(writer);
            mf_writer_free(writer);
            mf_env_free(own);
            assert_int_equal(heap.live, 0);
            assert_int_equal(files_there(), status == MF_OK);
            assert_true(k < 1000);
        }
        remove(path_in("k"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(every_format),    WITH_ENV(many_threads),
        WITH_ENV(into_a_pipe),     WITH_ENV(nothing_half),
        WITH_ENV(what_is_refused), WITH_ENV(every_allocation_fails),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
