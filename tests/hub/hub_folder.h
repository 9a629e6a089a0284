/* SPDX-License-Identifier: MIT
 *
 * hub_folder.h - small folders of Hugging Face, as tests list them
 *
 *     config JSON             config.json
 *     file NAME TEXT          another file
 *     in NAME TYPE SHAPE      a tensor of model.safetensors, slowest first;
 * "=0" after a type: all are 0
 *
 * The number i of tensor k is ((37 i + 101 k) % 251 - 125) / 16, an integer
 * (37 i + 101 k) % 100: exact in every type.
 */
#ifndef MF_TESTS_HUB_FOLDER_H
#define MF_TESTS_HUB_FOLDER_H

#include "tests/with_scratch.h"

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
} folder_types[] = {
    { "bf16", "BF16", 2, true }, { "f16", "F16", 2, true },
    { "f32", "F32", 4, true },   { "f64", "F64", 8, true },
    { "i32", "I32", 4, false },  { "i64", "I64", 8, false },
    { "u8", "U8", 1, false },
};

/* Little-endian; the value has few bits, so that it fits all. */
static inline void put_number(uint8_t *out, const char *type, size_t size,
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

static inline void add_tensor(struct folder *folder, char *name, char *type,
                              char *shape)
{
    char *zero = strstr(type, "=0");
    size_t row = 0, count = 1, start = folder->data_size;
    char dims[64] = "";

    if (zero)
        *zero = '\0';
    while (strcmp(folder_types[row].name, type) != 0)
        assert_true(++row < COUNT(folder_types));
    for (char *part = strtok(shape, "x"); part; part = strtok(NULL, "x")) {
        count *= strtoul(part, NULL, 10);
        snprintf(dims + strlen(dims), sizeof(dims) - strlen(dims), "%s%s",
                 *dims ? "," : "", part);
    }
    assert_true(count * folder_types[row].size <= sizeof(folder->data) - start);
    for (size_t i = 0; i < count; i++) {
        size_t mixed = i * 37 + folder->tensors * 101u;
        int64_t number = folder_types[row].is_float
                             ? (int64_t)(mixed % 251) - 125
                             : (int64_t)(mixed % 100);

        put_number(folder->data + folder->data_size, type,
                   folder_types[row].size, folder_types[row].is_float,
                   zero ? 0 : number);
        folder->data_size += folder_types[row].size;
    }
    folder->header_size += (size_t)snprintf(
        folder->header + folder->header_size,
        sizeof(folder->header) - folder->header_size,
        "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],"
        "\"data_offsets\":[%zu,%zu]}",
        folder->tensors++ > 0 ? "," : "{", name, folder_types[row].dtype, dims,
        start, folder->data_size);
}

static inline void write_tensors(struct folder *folder)
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

/* ---- rows ---- */

/* What follows the word at the line's start; NULL: another word. */
static inline char *after_word(char *line, const char *word)
{
    size_t size = strlen(word);

    return strncmp(line, word, size) == 0 && strchr(" ", line[size])
               ? line + size + (line[size] == ' ')
               : NULL;
}

static inline void begin_folder(struct folder *folder, const char *name)
{
    empty_scratch();
    memset(folder, 0, sizeof(*folder));
    snprintf(folder->name, sizeof(folder->name), "%s", name);
}

static inline void read_folder_row(struct folder *folder, char *line)
{
    char *rest = after_word(line, "config"), *name, *type, *shape;

    if (rest) {
        save(scratch_path("config.json"), rest, strlen(rest));
        return;
    }
    rest = after_word(line, "file");
    if (rest) {
        name = strtok(rest, " ");
        rest = strtok(NULL, "");
        save(scratch_path(name), rest, strlen(rest));
        return;
    }
    rest = after_word(line, "in");
    if (rest) {
        name = strtok(rest, " ");
        type = strtok(NULL, " ");
        shape = strtok(NULL, " ");
        add_tensor(folder, name, type, shape);
    }
}

#endif
