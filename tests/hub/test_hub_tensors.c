/* SPDX-License-Identifier: MIT
 *
 * test_hub_tensors.c - folders become the tensors that llama.cpp's converter
 * makes of them
 *
 * tests/data/hub_tensors.txt lists small folders, one or two for each operation
 * of the rows about tensors.  Each is written, listed, and read tensor by
 * tensor.
 */
#include <zlib.h>

#include "lib/base/str.h"
#include "lib/hf/hub/keys.h"
#include "lib/hf/hub/tensors.h"
#include "tests/hub/hub_folder.h"

/* ---- listing its tensors ---- */

struct listing {
    struct mf_model *model;
    struct mf_draft draft;
    struct mf_recipe recipe;
    struct mf_hub_tensors tensors;
};

static enum mf_status take_arch(struct mf_recipe *recipe, enum mf_code_row word,
                                struct mf_code row, void *user)
{
    struct listing *listing = user;

    (void)recipe;
    if (word == MF_DO_ARCH)
        listing->tensors.arch = mf_code_text(&row);
    return MF_OK;
}

static bool has_option(const char *options, const char *option)
{
    return strstr(options, option) != NULL;
}

static enum mf_status list(struct listing *listing, const char *options,
                           bool typed)
{
    struct mf_recipe *recipe = &listing->recipe;
    struct mf_node *file = NULL;
    struct mf_str class;

    memset(listing, 0, sizeof(*listing));
    listing->model = open_as(scratch_path("model.safetensors"), NULL);
    mf_draft_init(&listing->draft, env, mf_format_to_write("gguf"));
    *recipe = (struct mf_recipe){ .env = env,
                                  .arena = &listing->draft.arena,
                                  .model = listing->model };
    if (mf_hub_config(recipe, &file, &class) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    recipe->family = mf_recipe_find(MF_ROWS_family, class);
    assert_non_null(recipe->family);
    mf_recipe_give(recipe, "file", file);
    mf_recipe_give(recipe, "class", mf_node_of_text(recipe->arena, class));
    mf_recipe_give(recipe, "no_mtp",
                   mf_node_of_bool(has_option(options, "no_mtp")));
    mf_recipe_give(recipe, "mtp_only",
                   mf_node_of_bool(has_option(options, "mtp_only")));
    listing->tensors =
        (struct mf_hub_tensors){ .recipe = recipe,
                                 .draft = &listing->draft,
                                 .type = MF_TYPE_F32,
                                 .typed = typed,
                                 .fuse_qkv = has_option(options, "fuse_qkv"),
                                 .fuse_gate_up =
                                     has_option(options, "fuse_gate_up") };
    if (mf_recipe_walk(recipe, take_arch, listing) != MF_OK)
        return mf_env_error(env)->status;
    return mf_hub_tensors(&listing->tensors);
}

static void end(struct listing *listing)
{
    mf_draft_release(&listing->draft);
    mf_model_close(listing->model);
}

/* ---- what is in them ---- */

/* The CRC-32 of the tensor's numbers as f32. */
static uint32_t crc_of(const struct listing *listing,
                       const struct mf_draft_tensor *tensor)
{
    const struct mf_record *record =
        &listing->model->index.tensor[tensor->record];
    const struct mf_source *source =
        tensor->made ? tensor->made : &listing->model->file[0].source;
    uint64_t offset = tensor->made ? 0 : record->offset;
    bool is_f32 = tensor->from == MF_TYPE_F32;
    size_t size = is_f32 ? 4 : 2;
    uint32_t crc = 0;
    uint8_t *bytes;

    assert_true(is_f32 || tensor->from == MF_TYPE_BF16);
    for (uint32_t i = 0; i < tensor->rank; i++)
        size *= (size_t)tensor->dim[i];
    bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(mf_source_read(env, source, offset, bytes, size), MF_OK);
    for (size_t i = 0; i < size; i += is_f32 ? 4 : 2) {
        static const uint8_t zeros[2];

        if (!is_f32)
            crc = (uint32_t)crc32(crc, zeros, 2);
        crc = (uint32_t)crc32(crc, bytes + i, is_f32 ? 4 : 2);
    }
    free(bytes);
    return crc;
}

/* As a row of the list has it. */
static void describe(char *out, size_t room, const struct listing *as_f32,
                     const struct listing *as_is, size_t i)
{
    const struct mf_draft_tensor *tensor = &as_f32->draft.tensor[i];
    char shape[64] = "";

    for (uint32_t d = 0; d < tensor->rank; d++)
        snprintf(shape + strlen(shape), sizeof(shape) - strlen(shape),
                 "%s%" PRIu64, d > 0 ? "x" : "", tensor->dim[d]);
    snprintf(out, room, "%s %s %s %08" PRIx32, tensor->name.at,
             mf_types[as_is->draft.tensor[i].type].name, shape,
             crc_of(as_f32, tensor));
}

/* ---- the list ---- */

struct reading {
    FILE *file;
    char line[1 << 14];
    struct folder folder;
    size_t conversions, tensors;
};

static bool next_line(struct reading *reading)
{
    if (!fgets(reading->line, sizeof(reading->line), reading->file))
        return false;
    assert_non_null(strchr(reading->line, '\n'));
    *strchr(reading->line, '\n') = '\0';
    return true;
}

/* What follows the word at the line's start; NULL: another word. */
static char *after(struct reading *reading, const char *word)
{
    return after_word(reading->line, word);
}

/* The rows after a `convert`; the line after them is read. */
static bool compare(struct reading *reading, const char *options)
{
    static struct listing as_f32, as_is;
    enum mf_status status;
    bool more = next_line(reading);
    size_t i = 0;

    env_setup(NULL);
    status = list(&as_is, options, false);
    if (more && after(reading, "refused")) {
        if (status == MF_OK)
            fail_msg("%s%s is converted", reading->folder.name, options);
        more = next_line(reading);
    } else {
        if (status != MF_OK || list(&as_f32, options, true) != MF_OK)
            fail_msg("%s%s: %s", reading->folder.name, options,
                     mf_env_error(env)->message);
        for (; more && after(reading, "out"); more = next_line(reading)) {
            char text[512] = "(none)";

            if (i < as_f32.draft.tensor_count)
                describe(text, sizeof(text), &as_f32, &as_is, i++);
            if (strcmp(text, after(reading, "out")) != 0)
                fail_msg("%s%s: %s, expected %s", reading->folder.name, options,
                         text, after(reading, "out"));
        }
        if (i != as_f32.draft.tensor_count)
            fail_msg("%s%s: %s is one too many", reading->folder.name, options,
                     as_f32.draft.tensor[i].name.at);
        reading->tensors += i;
        end(&as_f32);
    }
    end(&as_is);
    env_teardown(NULL);
    reading->conversions++;
    return more;
}

static void folders_become_what_the_converter_makes(void **state)
{
    static struct reading reading;
    bool more;

    (void)state;
    reading.file = fopen("tests/data/hub_tensors.txt", "r");
    assert_non_null(reading.file);
    more = next_line(&reading);
    while (more) {
        char options[64];

        if (after(&reading, "folder")) {
            begin_folder(&reading.folder, after(&reading, "folder"));
        } else if (after(&reading, "convert")) {
            if (access(scratch_path("model.safetensors"), F_OK) != 0)
                write_tensors(&reading.folder);
            snprintf(options, sizeof(options), " %s",
                     after(&reading, "convert"));
            more = compare(&reading, options);
            continue;
        } else {
            read_folder_row(&reading.folder, reading.line);
        }
        more = next_line(&reading);
    }
    fclose(reading.file);
    assert_true(reading.conversions > 50);
    assert_true(reading.tensors > 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_become_what_the_converter_makes),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
