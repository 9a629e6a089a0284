/* SPDX-License-Identifier: MIT
 *
 * test_every_shape.c - long work ends: whatever the shape, threads, memory
 *
 * Every operation on tensor data over shapes from 1 x 1 up, around blocks,
 * pages and buffers.  What takes LONGEST seconds is taken to go on for ever.
 */
#include <signal.h>
#include <strings.h>
#include <unistd.h>

#include "lib/base/parallel.h"
#include "lib/model/types.h"

#include "tests/scratch.h"
#include "tests/support.h"

/* A thousand times as long as any case takes, sanitized and on a busy machine.
 */
enum { LONGEST = 60 };

/* ---- what is being done, for who waits for it ---- */

static char doing[256];

static void no_end(int number)
{
    static const char words[] = "# this does not end: ";

    (void)number;
    if (write(STDOUT_FILENO, words, sizeof(words) - 1) > 0 &&
        write(STDOUT_FILENO, doing, strlen(doing)) > 0 &&
        write(STDOUT_FILENO, "\n", 1) > 0)
        _exit(1);
    _exit(2);
}

/* How an operation is carried out. */
struct way {
    unsigned threads;
    size_t limit; /* of the heap; 0: none */
};

struct shape {
    uint64_t columns, rows;
    bool alone; /* there is no other tensor */
};

static void begin(const char *what, const char *detail, struct shape shape,
                  struct way way)
{
    snprintf(doing, sizeof(doing),
             "%s %s of %" PRIu64 " x %" PRIu64 "%s, %u threads, limit %zu",
             what, detail, shape.columns, shape.rows,
             shape.alone ? "" : " and a row", way.threads, way.limit);
    alarm(LONGEST);
}

/* ---- models ---- */

/* Of memory where there is such a folder: each file is brought to the disk. */
static int make_folder(void **state)
{
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    signal(SIGALRM, no_end);
    return make_scratch(state);
}

static struct mf_env *env_of(struct way way)
{
    return mf_env_new(&(struct mf_options){ .size = sizeof(struct mf_options),
                                            .threads = way.threads,
                                            .heap_limit = way.limit });
}

/* Noise without a number that is infinite, as two-byte floats. */
static void *make_noise(size_t numbers)
{
    uint16_t *out = malloc(numbers * sizeof(*out));
    uint32_t noise = 1;

    assert_non_null(out);
    for (size_t i = 0; i < numbers; i++) {
        noise = noise * 1664525 + 1013904223; /* of Numerical Recipes */
        out[i] = (uint16_t)(noise >> 16 & 0xbbff);
    }
    in_file_order(out, numbers, sizeof(*out));
    return out;
}

/* A matrix of f16, and a row of f32, which is not quantized. */
static void make_model(struct shape shape)
{
    const size_t sizes[] = { (size_t)(shape.columns * shape.rows) * 2,
                             (size_t)shape.columns * 4 };
    const uint64_t dims[] = { shape.rows, shape.columns };
    struct mf_env *env = env_of((struct way){ .threads = 1 });
    struct mf_new_tensor matrix = { .name = { "blk.0.ffn_up.weight", 19 },
                                    .type = "f16",
                                    .rank = 2,
                                    .dim = dims };
    struct mf_new_tensor row = { .name = { "b.weight", 8 },
                                 .type = "f32",
                                 .rank = 1,
                                 .dim = &shape.columns };
    uint8_t *noise = make_noise(sizes[0] + sizes[1]);
    struct mf_writer *writer;

    assert_int_equal(mf_writer_new(env,
                                   &(struct mf_writer_options){
                                       .size = sizeof(struct mf_writer_options),
                                       .format = "gguf",
                                       .replace = true },
                                   &writer),
                     MF_OK);
    assert_int_equal(mf_writer_add(writer, &matrix, NULL), MF_OK);
    if (!shape.alone)
        assert_int_equal(mf_writer_add(writer, &row, NULL), MF_OK);
    assert_int_equal(mf_writer_open(writer, scratch_path("in.gguf")), MF_OK);
    assert_int_equal(mf_writer_push(writer, noise, sizes[0]), MF_OK);
    if (!shape.alone)
        assert_int_equal(mf_writer_push(writer, noise, sizes[1]), MF_OK);
    assert_int_equal(mf_writer_commit(writer), MF_OK);
    mf_writer_free(writer);
    mf_env_free(env);
    free(noise);
}

/* ---- operations ---- */

/* Each on the model at `in`; `argument` is the row's. */
typedef enum mf_status operation(struct mf_env *env, struct mf_model *model,
                                 const char *argument);

static enum mf_status validate(struct mf_env *env, struct mf_model *model,
                               const char *argument)
{
    enum mf_status status = mf_model_validate_data(model);
    struct mf_finding finding;

    (void)env, (void)argument;
    /* The model is of no architecture. */
    for (size_t i = 0; status == MF_OK && mf_finding_at(model, i, &finding);
         i++)
        if (finding.severity == MF_ERROR)
            assert_string_equal(finding.rule, "MODEL-ARCHITECTURE");
    return status;
}

static enum mf_status hash(struct mf_env *env, struct mf_model *model,
                           const char *argument)
{
    uint8_t digests[2 * MF_DIGEST_MAX];
    struct mf_digest_info info;
    enum mf_status status = MF_OK;

    (void)env, (void)argument;
    for (size_t i = 0; mf_digest_at(i, &info) && status == MF_OK; i++) {
        if (info.kind >= MF_SHA1)
            continue; /* by a library that may be missing */
        status = mf_model_hash_tensors(model, info.kind, digests);
        if (status == MF_OK)
            status = mf_model_hash_data(model, info.kind, digests);
    }
    return status;
}

static enum mf_status stats(struct mf_env *env, struct mf_model *model,
                            const char *argument)
{
    struct mf_tensor_stats out[2];

    (void)env, (void)argument;
    return mf_tensor_stats(model, (const size_t[]){ 0, 1 },
                           mf_model_info(model)->tensor_count, out);
}

static enum mf_status export(struct mf_env *env, struct mf_model *model,
                             const char *argument) {
    (void)env;
    return mf_tensor_export(model, 0, scratch_path("out"),
                            &(struct mf_export_options){
                                .size = sizeof(struct mf_export_options),
                                .raw = strcmp(argument, "raw") == 0,
                                .replace = true });
}

static void no_matter(void *user, const struct mf_difference *difference)
{
    (void)user, (void)difference;
}

static enum mf_status diff(struct mf_env *env, struct mf_model *model,
                           const char *argument)
{
    struct mf_diff_options options = { .size = sizeof(struct mf_diff_options),
                                       .values = true };
    struct mf_model *other;
    enum mf_status status =
        mf_model_open(env, scratch_path(argument), NULL, &other);

    if (status != MF_OK)
        return status;
    status = mf_model_diff(model, other, &options, no_matter, NULL);
    mf_model_close(other);
    return status;
}

static enum mf_status convert(struct mf_env *env, struct mf_model *model,
                              const char *argument)
{
    (void)env;
    return mf_model_convert(
        model, scratch_path("out"),
        &(struct mf_convert_options){ .size = sizeof(struct mf_convert_options),
                                      .format = argument,
                                      .lossy = true,
                                      .replace = true },
        NULL);
}

static enum mf_status dequantize(struct mf_env *env, struct mf_model *model,
                                 const char *argument)
{
    (void)env;
    return mf_model_convert(
        model, scratch_path("out"),
        &(struct mf_convert_options){ .size = sizeof(struct mf_convert_options),
                                      .type = argument,
                                      .dequantize = true,
                                      .replace = true },
        NULL);
}

/* A file for each tensor, and one of them again. */
static enum mf_status split_and_merge(struct mf_env *env,
                                      struct mf_model *model,
                                      const char *argument)
{
    const struct mf_convert_options how = { .size = sizeof(
                                                struct mf_convert_options),
                                            .shard_tensors = 1,
                                            .replace = true };
    bool alone = mf_model_info(model)->tensor_count == 1;
    enum mf_status status =
        mf_model_convert(model, scratch_path("parts.gguf"), &how, NULL);
    struct mf_model *parts;

    if (status == MF_OK)
        status =
            mf_model_open(env,
                          scratch_path(alone ? "parts-00001-of-00001.gguf"
                                             : "parts-00001-of-00002.gguf"),
                          NULL, &parts);
    if (status != MF_OK)
        return status;
    status = convert(env, parts, argument);
    mf_model_close(parts);
    return status;
}

static size_t changed; /* tensors, by the last quantizing */

static enum mf_status quantize(struct mf_env *env, struct mf_model *model,
                               const char *argument)
{
    bool is_apr = strncmp(argument, "apr_", 4) == 0;
    struct mf_quantize_result result;
    enum mf_status status = mf_model_quantize(
        model, scratch_path(is_apr ? "q.apr" : "q.gguf"),
        &(struct mf_quantize_options){ .size =
                                           sizeof(struct mf_quantize_options),
                                       .type = argument,
                                       .report = true },
        &(struct mf_convert_options){ .size = sizeof(struct mf_convert_options),
                                      .replace = true },
        &result);

    (void)env;
    changed = status == MF_OK ? result.changed : 0;
    return status;
}

static enum mf_status try(operation *what, const char *name,
                          const char *argument, const char *in,
                          struct shape shape, struct way way)
{
    struct mf_env *env;
    struct mf_model *model;
    enum mf_status status;

    begin(name, argument, shape, way);
    env = env_of(way);
    if (!env)
        return MF_ERR_LIMIT;
    status = mf_model_open(env, scratch_path(in), NULL, &model);
    if (status == MF_OK) {
        status = what(env, model, argument);
        mf_model_close(model);
    }
    if (status != MF_OK && status != MF_ERR_UNSUPPORTED &&
        (status != MF_ERR_LIMIT || way.limit == 0))
        fail_msg("%s: %s", doing, mf_env_error(env)->message);
    /* A loop that could not go on is a mistake even if it is reported. */
    assert_null(strstr(mf_env_error(env)->message, "no progress"));
    mf_env_free(env);
    return status;
}

static const struct {
    operation *what;
    const char *name, *argument;
} operations[] = {
    { validate, "validate", "" },
    { hash, "hash", "" },
    { stats, "stats", "" },
    { export, "export", "npy" },
    { export, "export", "raw" },
    { diff, "diff", "in.gguf" },
    { convert, "convert", "gguf" },
    { convert, "convert", "safetensors" },
    { convert, "convert", "apr" },
    { dequantize, "dequantize", "f32" },
    { dequantize, "dequantize", "bf16" },
    { split_and_merge, "split and merge", "gguf" },
};

/* ---- every operation on a model ---- */

static void plain_operations(struct shape shape, struct way way)
{
    for (size_t i = 0; i < COUNT(operations); i++)
        if (try(operations[i].what, operations[i].name, operations[i].argument,
                "in.gguf", shape, way) != MF_OK)
            assert_true(way.limit > 0);
}

/* A name that is both a mix and a type is the mix. */
static bool mix_needs_matrix(const char *type)
{
    struct mf_mix_info mix;

    for (size_t i = 0; mf_mix_at(i, &mix); i++)
        if (strcasecmp(mix.name, type) == 0)
            return mix.needs_imatrix;
    return false;
}

/* Types with an encoder; those that are so slow only of few numbers. */
static bool is_tried(enum mf_type type, struct shape shape)
{
    const char *name = mf_types[type].name;
    struct mf_kernel kernel;

    bool weights_needed;

    return mf_kernel_find(name, NULL, &kernel) &&
           mf_kernel_encodes(&kernel, &weights_needed) && !weights_needed &&
           !mix_needs_matrix(name) &&
           (strncmp(name, "iq", 2) != 0 || shape.columns * shape.rows <= 4096);
}

static size_t made[MF_TYPE_COUNT]; /* so many tensors of each type */

static void quantizing(enum mf_type type, struct shape shape, struct way way)
{
    const char *name = mf_types[type].name;
    const char *path = strncmp(name, "apr_", 4) == 0 ? "q.apr" : "q.gguf";

    unlink(scratch_path(path));
    if (try(quantize, "quantize", name, "in.gguf", shape, way) != MF_OK)
        return;
    made[type] += changed;
    way.limit = 0;
    assert_int_equal(try(validate, "validate", name, path, shape, way), MF_OK);
    assert_int_equal(try(stats, "stats", name, path, shape, way), MF_OK);
    assert_int_equal(try(dequantize, "dequantize", "f32", path, shape, way),
                     MF_OK);
    assert_int_equal(try(diff, "diff", path, "in.gguf", shape, way), MF_OK);
}

static void every_operation(struct shape shape, struct way way)
{
    plain_operations(shape, way);
    for (size_t type = 0; type < MF_TYPE_COUNT; type++)
        if (is_tried((enum mf_type)type, shape))
            quantizing((enum mf_type)type, shape, way);
}

/* ---- the tests ---- */

/* One, and around blocks of 32 and 256, pages and what a piece of work is; some
 * of which went on for ever: 512 x 4, 1024 x 12, 4096 x 10. */
static void every_shape(void **state)
{
    static const uint64_t columns[] = { 1,   2,   31,  32,   33,   64,  255,
                                        256, 257, 512, 1024, 4096, 8192 };
    static const uint64_t rows[] = { 1, 2, 3, 4, 10, 12, 64 };

    (void)state;
    for (size_t i = 0; i < COUNT(columns) * COUNT(rows) * 2; i++) {
        struct shape shape = { columns[i / 2 / COUNT(rows)],
                               rows[i / 2 % COUNT(rows)], i % 2 == 0 };

        make_model(shape);
        every_operation(shape, (struct way){ .threads = 1 });
        if (!test_is_quick())
            every_operation(shape, (struct way){ .threads = 3 });
    }
    for (size_t type = 0; type < MF_TYPE_COUNT; type++)
        if (type != MF_TYPE_F16 &&
            is_tried((enum mf_type)type, (struct shape){ 1, 1, true }) &&
            made[type] == 0)
            fail_msg("nothing became %s", mf_types[type].name);
}

/* Memory page by page: what is too little is said, all else works. */
static void every_limit(void **state)
{
    static const struct shape shapes[] = { { 1, 1, true },
                                           { 256, 2, true },
                                           { 4096, 10, true },
                                           { 8192, 64, false } };
    static const enum mf_type types[] = { MF_TYPE_Q8_0, MF_TYPE_Q4_K,
                                          MF_TYPE_APR_Q8 };
    size_t step = test_is_quick() ? 16 * 1024 : 4 * 1024;

    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++) {
        make_model(shapes[s]);
        for (size_t limit = step; limit <= (size_t)512 * 1024; limit += step) {
            struct way way = { .threads = (unsigned)(limit / step % 3) + 1,
                               .limit = limit + limit / step % 7 * 512 };

            plain_operations(shapes[s], way);
            for (size_t t = 0; t < COUNT(types); t++)
                quantizing(types[t], shapes[s], way);
        }
    }
}

/* What a crew was asked for it has, whatever else was said. */
static void buffers_are_large_enough(void **state)
{
    static const size_t wanted[] = {
        0, 1, 4095, 4096, 4097, 5920, 8191, 8192, 12288, 131071, 524288, 3000001
    };
    static const uint64_t pieces[] = { 0,     1,     4095,   4096,
                                       4097,  5000,  8192,   20000,
                                       65536, 65537, 524288, UINT64_MAX };

    (void)state;
    for (size_t w = 0; w < COUNT(wanted); w++)
        for (size_t p = 0; p < COUNT(pieces); p++)
            for (size_t limit = 0; limit < (size_t)1 << 20; limit += 65000) {
                struct way way = { .threads = (unsigned)(w + p) % 4 + 1,
                                   .limit = limit };
                struct mf_env *env = env_of(way);
                struct mf_crew crew;

                if (mf_crew_init(&crew, env, pieces[p], pieces[p], wanted[w]) ==
                    MF_OK) {
                    assert_true(crew.buffer_size >= wanted[w]);
                    assert_true(crew.buffer_size >= MF_PAGE);
                    assert_int_equal(crew.buffer_size % MF_PAGE, 0);
                } else {
                    assert_true(limit > 0);
                }
                mf_crew_release(&crew);
                mf_env_free(env);
            }
}

static void *refuse_much(void *user, void *block, size_t old_size,
                         size_t new_size)
{
    (void)user, (void)old_size;
    if (new_size > (size_t)1 << 30)
        return NULL;
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

/* Sizes whose sum over all threads overflows. */
static void buffers_beyond_all_numbers(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 30; shift++)
        for (unsigned threads = 1; threads <= 64; threads *= 4) {
            struct mf_env *env = mf_env_new(
                &(struct mf_options){ .size = sizeof(struct mf_options),
                                      .threads = threads,
                                      .allocator.resize = refuse_much });
            struct mf_crew crew;

            assert_true(mf_crew_init(&crew, env, UINT64_MAX, UINT64_MAX,
                                     SIZE_MAX >> shift) != MF_OK);
            mf_crew_release(&crew);
            mf_env_free(env);
        }
}

/* The rule that all loops follow. */
static void a_part_is_never_nothing(void **state)
{
    struct mf_env *env = env_of((struct way){ .threads = 1 });

    (void)state;
    assert_int_equal(mf_next_part(env, 10, 3), 3);
    assert_int_equal(mf_next_part(env, 2, 3), 2);
    assert_int_equal(mf_next_part(env, UINT64_MAX, 1), 1);
    assert_int_equal(mf_env_error(env)->status, MF_OK);
    assert_int_equal(mf_next_part(env, 5, 0), 0);
    assert_int_equal(mf_env_error(env)->status, MF_ERR_LIMIT);
    mf_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_never_nothing),
        cmocka_unit_test(buffers_are_large_enough),
        cmocka_unit_test(buffers_beyond_all_numbers),
        cmocka_unit_test(every_shape),
        cmocka_unit_test(every_limit),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_scratch);
}
