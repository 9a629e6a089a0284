/* SPDX-License-Identifier: MIT
 *
 * test_projector.c - projectors become what llama.cpp's converter makes of them
 *
 * tests/data/projectors.txt lists a small folder for each class, and the size
 * and CRC-32 of the whole file.
 */
#include <sys/stat.h>
#include <zlib.h>

#include "tests/hub/hub_folder.h"

/* The name of the folder is in the files. */
static int setup(void **state)
{
    if (make_scratch(state) != 0)
        return -1;
    snprintf(scratch_folder + strlen(scratch_folder),
             sizeof(scratch_folder) - strlen(scratch_folder), "/tiny");
    return mkdir(scratch_folder, 0700) == 0 ? env_setup(state) : -1;
}

static int teardown(void **state)
{
    env_teardown(state);
    if (remove_scratch(state) != 0)
        return -1;
    scratch_folder[strlen(scratch_folder) - strlen("/tiny")] = '\0';
    return rmdir(scratch_folder);
}

struct reading {
    FILE *file;
    char line[1 << 14];
    struct folder folder;
    bool written;
    size_t converted, refused;
};

static enum mf_status convert_in(struct mf_env *own, const char *type)
{
    const struct mf_convert_options options = { .size = sizeof(options),
                                                .names = MF_NAMING_GGUF,
                                                .type = type,
                                                .projector = true };
    struct mf_model *model;
    enum mf_status status =
        mf_model_open(own, scratch_path("model.safetensors"), NULL, &model);

    if (status != MF_OK)
        return status;
    status = mf_model_convert(model, scratch_path("out.gguf"), &options, NULL);
    mf_model_close(model);
    return status;
}

static enum mf_status convert_as(const char *type)
{
    return convert_in(env, type);
}

/* With a heap that fails at that call, and after it; true if there were fewer
 * calls. */
static bool try_failing(uint64_t call, bool after)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *own = test_env(&heap);

    unlink(scratch_path("out.gguf"));
    if (own) {
        enum mf_status status = convert_in(own, "auto");

        check_refused(&heap, status);
        assert_int_equal(access(scratch_path("out.gguf"), F_OK) == 0,
                         status == MF_OK);
        mf_env_free(own);
    }
    assert_int_equal(heap.live, 0);
    return heap.calls < call;
}

static void fail_every_allocation(void)
{
    for (int after = 0; after < 2; after++) {
        uint64_t call = 1;

        while (!try_failing(call, after))
            call++;
        assert_true(call > 20);
    }
}

static void compare(struct reading *reading, char *rest)
{
    char *type = strtok(rest, " "), *size = strtok(NULL, " ");
    char *crc = strtok(NULL, " "), found[64];
    size_t bytes_size;
    uint8_t *bytes;

    unlink(scratch_path("out.gguf"));
    if (convert_as(type) != MF_OK)
        fail_msg("%s %s: %s", reading->folder.name, type,
                 mf_env_error(env)->message);
    bytes = load(scratch_path("out.gguf"), &bytes_size);
    snprintf(found, sizeof(found), "%08lx",
             crc32_z(0, bytes, (z_size_t)bytes_size));
    free(bytes);
    if (bytes_size != strtoul(size, NULL, 10) || strcmp(found, crc) != 0)
        fail_msg("%s %s: %zu bytes with %s, expected %s with %s",
                 reading->folder.name, type, bytes_size, found, size, crc);
    reading->converted++;
}

/* "refused TYPE TEXT": the text is in the message. */
static void compare_refusal(struct reading *reading, char *rest)
{
    char *type = strtok(rest, " "), *text = strtok(NULL, "");

    assert_non_null(text);
    if (convert_as(type) == MF_OK)
        fail_msg("%s %s is converted", reading->folder.name, type);
    if (!strstr(mf_env_error(env)->message, text))
        fail_msg("%s %s: '%s' lacks '%s'", reading->folder.name, type,
                 mf_env_error(env)->message, text);
    reading->refused++;
}

static void read_row(struct reading *reading)
{
    char *name = after_word(reading->line, "folder");
    char *converted = after_word(reading->line, "convert");
    char *refused = after_word(reading->line, "refused");
    bool starved = strcmp(reading->line, "starved") == 0;

    if (name) {
        begin_folder(&reading->folder, name);
        reading->written = false;
    } else if (!converted && !refused && !starved) {
        read_folder_row(&reading->folder, reading->line);
    } else {
        if (!reading->written)
            write_tensors(&reading->folder);
        reading->written = true;
        if (starved)
            fail_every_allocation();
        else if (converted)
            compare(reading, converted);
        else
            compare_refusal(reading, refused);
    }
}

static void projectors_are_as_in_the_converter(void **state)
{
    static struct reading reading;

    (void)state;
    reading.file = fopen("tests/data/projectors.txt", "r");
    assert_non_null(reading.file);
    while (fgets(reading.line, sizeof(reading.line), reading.file)) {
        assert_non_null(strchr(reading.line, '\n'));
        *strchr(reading.line, '\n') = '\0';
        read_row(&reading);
    }
    fclose(reading.file);
    assert_true(reading.converted > 30);
    assert_true(reading.refused > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projectors_are_as_in_the_converter),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
