/* SPDX-License-Identifier: MIT
 *
 * test_mix_sizes.c - the size of a model in each mix matches the file which
 * quantizing writes
 */
#include <sys/stat.h>

#include "lib/quantize/mix_sizes.h"
#include "tests/quantize/mix.h"
#include "tests/with_models.h"
#include "tests/with_scratch.h"

static size_t compared, renamed;

static uint64_t data_of(const struct mf_quantize_result *result)
{
    uint64_t data = 0;

    for (size_t i = 0; i < MF_QUANTIZED_MAX; i++)
        data += result->type[i].bytes;
    return data;
}

static enum mf_status quantize(struct mf_model *model, const char *mix,
                               const char *matrix, enum mf_naming names,
                               bool dry_run, struct mf_quantize_result *out)
{
    struct mf_quantize_options options = { .size = sizeof(options),
                                           .type = mix,
                                           .imatrix = matrix,
                                           .allow_requantize = true };
    struct mf_convert_options how = { .size = sizeof(how),
                                      .format = "gguf",
                                      .names = names,
                                      .dry_run = dry_run,
                                      .replace = true,
                                      .lossy = true };

    return mf_model_quantize(model, scratch_path("out.gguf"), &options, &how,
                             out);
}

/* GGUF's names, for a model with others that can be translated. */
static enum mf_naming names_of(struct mf_model *model)
{
    struct mf_quantize_result planned;

    if (model->format->naming != MF_NAMING_HF ||
        quantize(model, "F16", NULL, MF_NAMING_GGUF, true, &planned) != MF_OK)
        return MF_NAMING_KEEP;
    renamed++;
    return MF_NAMING_GGUF;
}

static void same_as_planned(struct mf_model *model, const char *path,
                            enum mf_naming names,
                            const struct mf_mix_size *size)
{
    struct mf_quantize_result planned;
    enum mf_status status;

    if (size->needs_imatrix)
        return;
    status = quantize(model, size->name, NULL, names, true, &planned);
    if (size->known != (status == MF_OK))
        fail_msg("%s as %s: known is %d, but %s", path, size->name, size->known,
                 mf_env_error(env)->message);
    if (status != MF_OK)
        return;
    compared++;
    if (size->file_size != planned.file_size ||
        size->data_size != data_of(&planned) ||
        size->place[0] != size->data_size)
        fail_msg("%s as %s: %" PRIu64 " bytes, but %" PRIu64 " are written",
                 path, size->name, size->file_size, planned.file_size);
}

static void compare(const char *path)
{
    struct mf_mix_sizes sizes;
    struct mf_model *model;
    enum mf_naming names;

    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return;
    names = names_of(model);
    assert_int_equal(mf_mix_sizes(model, NULL, NULL, &sizes), MF_OK);
    assert_true(sizes.count > 20 && sizes.count <= MF_MIX_MAX);
    for (size_t i = 0; i < sizes.count; i++)
        same_as_planned(model, path, names, &sizes.mix[i]);
    mf_model_close(model);
}

/* In all formats, of all types, with names of both kinds. */
static void every_fixture(void **state)
{
    (void)state;
    each_good_model(compare);
    assert_true(compared > 1000);
    assert_true(renamed > 0);
}

/* ---- files that are written ---- */

static void same_as_written(const char *name)
{
    char matrix[512], from[512];
    struct mf_quantize_result result;
    struct mf_mix_sizes sizes;
    struct mf_model *model;
    struct stat status;

    strcpy(matrix, scratch_path("m.dat"));
    strcpy(from, scratch_path("in.gguf"));
    make_model(name, from, matrix);
    model = open_model(from);
    assert_int_equal(mf_mix_sizes(model, NULL, NULL, &sizes), MF_OK);
    for (size_t i = 0; i < sizes.count; i++) {
        const struct mf_mix_size *size = &sizes.mix[i];
        uint64_t more;

        assert_int_equal(quantize(model, size->name,
                                  size->needs_imatrix ? matrix : NULL,
                                  MF_NAMING_KEEP, false, &result),
                         MF_OK);
        assert_int_equal(stat(scratch_path("out.gguf"), &status), 0);
        assert_int_equal(size->data_size, data_of(&result));
        more = (uint64_t)status.st_size - size->file_size;
        /* the keys that name the matrix, and its path */
        if (size->needs_imatrix ? more > 512 || more % 32 != 0 : more != 0)
            fail_msg("%s: %" PRIu64 " bytes more", size->name, more);
    }
    mf_model_close(model);
    empty_scratch();
}

static void every_mix(void **state)
{
    (void)state;
    same_as_written("grouped");
    same_as_written("tied");
}

/* ---- devices ---- */

static uint32_t by_name(void *user, struct mf_str name)
{
    (void)user;
    if (name.size > 4 && memcmp(name.at, "blk.", 4) == 0)
        return 1 << 1;
    return memcmp(name.at, "token_embd", 10) == 0 ? 1 << 0 | 1 << 2 : 1 << 0;
}

/* A tensor may be on several devices. */
static void places(void **state)
{
    char from[512];
    struct mf_mix_sizes sizes;
    struct mf_model *model;

    (void)state;
    strcpy(from, scratch_path("in.gguf"));
    make_model("grouped", from, NULL);
    model = open_model(from);
    assert_int_equal(mf_mix_sizes(model, by_name, NULL, &sizes), MF_OK);
    for (size_t i = 0; i < sizes.count; i++) {
        const struct mf_mix_size *size = &sizes.mix[i];

        assert_int_equal(size->place[0] + size->place[1], size->data_size);
        assert_true(size->place[2] > 0 && size->place[2] < size->place[0]);
        assert_int_equal(size->place[3], 0);
    }
    mf_model_close(model);
    empty_scratch();
}

/* ---- models that cannot be quantized ---- */

/* A tensor of a type that is not a float: its file cannot be had in any mix but
 * the one that changes nothing. */
static void unknown_sizes(void **state)
{
    struct mf_mix_sizes sizes;
    struct mf_model *model;
    size_t known = 0;

    (void)state;
    model = open_model(fixture_path("unsupported-type-1234.gguf"));
    assert_int_equal(mf_mix_sizes(model, NULL, NULL, &sizes), MF_OK);
    for (size_t i = 0; i < sizes.count; i++)
        known += sizes.mix[i].known;
    assert_int_equal(known, 1);
    mf_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fixture),
        cmocka_unit_test(every_mix),
        cmocka_unit_test(places),
        cmocka_unit_test(unknown_sizes),
    };

    return RUN_WITH_SCRATCH(tests);
}
