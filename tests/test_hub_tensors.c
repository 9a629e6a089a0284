/* SPDX-License-Identifier: MIT
 *
 * test_hub_tensors.c - folders become the tensors that llama.cpp's converter
 * makes of them
 *
 * tests/hub_tensors.txt lists small folders, one or two for each operation of
 * the rows about tensors.  Each is written, listed, and read tensor by tensor.
 * The number i of tensor k is ((37 i + 101 k) % 251 - 125) / 16, an integer
 * (37 i + 101 k) % 100: exact in every type.
 */
#include <zlib.h>

#include "lib/base/str.h"
#include "lib/hub/keys.h"
#include "lib/hub/tensors.h"
#include "tests/with_scratch.h"

static struct mf_str str(const char *text)
{
    return (struct mf_str){ text, strlen(text) };
}

/* ---- writing a folder ---- */

struct folder {
    char name[64];
    char header[1 << 16];
    size_t header_size;
    uint8_t data[1 << 21];
    size_t data_size;
    unsigned tensors;
};

static const struct {
    const char *name, *dtype;
    size_t size;
    bool is_float;
} types[] = {
    { "bf16", "BF16", 2, true }, { "f16", "F16", 2, true },
    { "f32", "F32", 4, true },   { "f64", "F64", 8, true },
    { "i32", "I32", 4, false },  { "i64", "I64", 8, false },
    { "u8", "U8", 1, false },
};

/* Little-endian; the value has few bits, so that it fits all. */
static void put_number(uint8_t *out, const char *type, size_t size,
                       bool is_float, int64_t number)
{
    double value = (double)number / 16;
    float single = (float)value;
    uint64_t bits = (uint64_t)number;
    uint32_t half;

    if (strcmp(type, "f64") == 0) {
        memcpy(&bits, &value, sizeof(bits));
    } else if (is_float) {
        memcpy(&half, &single, sizeof(half));
        bits = strcmp(type, "bf16") == 0 ? half >> 16 : half;
        assert_string_not_equal(type, "f16"); /* none so far */
    }
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(bits >> 8 * i);
}

static void add_tensor(struct folder *folder, char *name, char *type,
                       char *shape)
{
    char *zero = strstr(type, "=0");
    size_t row = 0, count = 1, start = folder->data_size;
    char dims[64] = "";

    if (zero)
        *zero = '\0';
    while (strcmp(types[row].name, type) != 0)
        assert_true(++row < COUNT(types));
    for (char *part = strtok(shape, "x"); part; part = strtok(NULL, "x")) {
        count *= strtoul(part, NULL, 10);
        snprintf(dims + strlen(dims), sizeof(dims) - strlen(dims), "%s%s",
                 *dims ? "," : "", part);
    }
    assert_true(count * types[row].size <= sizeof(folder->data) - start);
    for (size_t i = 0; i < count; i++) {
        size_t mixed = i * 37 + folder->tensors * 101u;
        int64_t number = types[row].is_float ? (int64_t)(mixed % 251) - 125
                                             : (int64_t)(mixed % 100);

        put_number(folder->data + folder->data_size, type, types[row].size,
                   types[row].is_float, zero ? 0 : number);
        folder->data_size += types[row].size;
    }
    folder->header_size +=
        (size_t)snprintf(folder->header + folder->header_size,
                         sizeof(folder->header) - folder->header_size,
                         "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],"
                         "\"data_offsets\":[%zu,%zu]}",
                         folder->tensors++ > 0 ? "," : "{", name,
                         types[row].dtype, dims, start, folder->data_size);
}

static void write_tensors(struct folder *folder)
{
    uint8_t size[8] = { 0 };
    FILE *file = fopen(scratch_path("model.safetensors"), "wb");

    folder->header[folder->header_size++] = '}';
    while (folder->header_size % 8 != 0)
        folder->header[folder->header_size++] = ' ';
    for (size_t i = 0; i < sizeof(size); i++)
        size[i] = (uint8_t)(folder->header_size >> 8 * i);
    assert_non_null(file);
    assert_int_equal(fwrite(size, 1, 8, file), 8);
    assert_int_equal(fwrite(folder->header, 1, folder->header_size, file),
                     folder->header_size);
    assert_int_equal(fwrite(folder->data, 1, folder->data_size, file),
                     folder->data_size);
    assert_int_equal(fclose(file), 0);
}

/* ---- listing its tensors ---- */

struct listing {
    struct mf_model *model;
    struct mf_draft draft;
    struct mf_recipe recipe;
    struct mf_hub_tensors tensors;
};

static enum mf_status take_arch(struct mf_recipe *recipe, struct mf_str word,
                                struct mf_str rest, void *user)
{
    struct listing *listing = user;

    (void)recipe;
    if (mf_str_is(word, "arch"))
        listing->tensors.arch = rest;
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
    struct mf_node *file;
    struct mf_str class;

    memset(listing, 0, sizeof(*listing));
    listing->model = open_as(scratch_path("model.safetensors"), NULL);
    mf_draft_init(&listing->draft, env, mf_format_to_write("gguf"));
    *recipe = (struct mf_recipe){ .env = env,
                                  .arena = &listing->draft.arena,
                                  .model = listing->model };
    if (mf_hub_config(recipe, &file, &class) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    recipe->family = mf_recipe_find("family", class);
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
    uint64_t offset = tensor->made ? 0 : record->offset, size = 1;
    bool is_f32 = tensor->from == MF_TYPE_F32;
    uint32_t crc = 0;
    uint8_t *bytes;

    assert_true(is_f32 || tensor->from == MF_TYPE_BF16);
    for (uint32_t i = 0; i < tensor->rank; i++)
        size *= tensor->dim[i];
    size *= is_f32 ? 4 : 2;
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
    size_t size = strlen(word);

    return strncmp(reading->line, word, size) == 0 &&
                   strchr(" ", reading->line[size])
               ? reading->line + size + (reading->line[size] == ' ')
               : NULL;
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

static void begin_folder(struct reading *reading, const char *name)
{
    empty_scratch();
    memset(&reading->folder, 0, sizeof(reading->folder));
    snprintf(reading->folder.name, sizeof(reading->folder.name), "%s", name);
}

static void read_row(struct reading *reading)
{
    char *rest = after(reading, "config"), *name;

    if (rest) {
        save(scratch_path("config.json"), rest, strlen(rest));
        return;
    }
    rest = after(reading, "file");
    if (rest) {
        name = strtok(rest, " ");
        rest = strtok(NULL, "");
        save(scratch_path(name), rest, strlen(rest));
        return;
    }
    rest = after(reading, "in");
    if (rest) {
        char *type, *shape;

        name = strtok(rest, " ");
        type = strtok(NULL, " ");
        shape = strtok(NULL, " ");
        add_tensor(&reading->folder, name, type, shape);
    }
}

static void folders_become_what_the_converter_makes(void **state)
{
    static struct reading reading;
    bool more;

    (void)state;
    reading.file = fopen("tests/hub_tensors.txt", "r");
    assert_non_null(reading.file);
    more = next_line(&reading);
    while (more) {
        char options[64];

        if (after(&reading, "folder")) {
            begin_folder(&reading, after(&reading, "folder"));
        } else if (after(&reading, "convert")) {
            if (access(scratch_path("model.safetensors"), F_OK) != 0)
                write_tensors(&reading.folder);
            snprintf(options, sizeof(options), " %s",
                     after(&reading, "convert"));
            more = compare(&reading, options);
            continue;
        } else {
            read_row(&reading);
        }
        more = next_line(&reading);
    }
    fclose(reading.file);
    assert_true(reading.conversions > 50);
    assert_true(reading.tensors > 600);
}

/* ---- families ---- */

/* A paragraph that no family has would never be used. */
static void every_paragraph_has_a_family(void **state)
{
    (void)state;
    for (size_t i = 0; i < mf_recipe_text_count; i++) {
        const struct mf_recipe_text *text = &mf_recipe_texts[i];
        struct mf_str words = str(text->words);

        if (strcmp(text->kind, "tensors") != 0)
            continue;
        while (words.size > 0) {
            struct mf_str word = mf_recipe_word(&words);
            struct mf_str name = { word.at, word.size };
            bool found = false;

            for (size_t j = 0; j < mf_recipe_text_count && !found; j++) {
                struct mf_str names = str(mf_recipe_texts[j].words);

                if (strcmp(mf_recipe_texts[j].kind, "family") != 0)
                    continue;
                while (names.size > 0 && !found)
                    found = mf_str_same(mf_recipe_word(&names), name);
            }
            if (!found)
                fail_msg("no family %.*s", (int)name.size, name.at);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_become_what_the_converter_makes),
        cmocka_unit_test(every_paragraph_has_a_family),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
