/* SPDX-License-Identifier: MIT
 *
 * scratch.h - a folder for what a test writes, and small models to put there
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "tests/support.h"

/* ---- the folder ---- */

static char scratch_folder[256];

static inline int make_scratch(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(scratch_folder, sizeof(scratch_folder), "%s/modelfile-test.XXXXXX",
             base ? base : "/tmp");
    return mkdtemp(scratch_folder) ? 0 : -1;
}

static inline const char *scratch_path(const char *name)
{
    static char path[8][512];
    static unsigned turn;
    char *out = path[turn++ % 8];

    snprintf(out, sizeof(path[0]), "%s/%s", scratch_folder, name);
    return out;
}

/* Removes what lies in the folder; returns how many files there were. */
static inline size_t empty_scratch(void)
{
    DIR *folder = opendir(scratch_folder);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0) {
            assert_int_equal(unlink(scratch_path(entry->d_name)), 0);
            count++;
        }
    closedir(folder);
    return count;
}

static inline int remove_scratch(void **state)
{
    (void)state;
    empty_scratch();
    return rmdir(scratch_folder);
}

static inline void save(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline bool same_files(const char *path, const char *other)
{
    size_t size, other_size;
    uint8_t *bytes = load(path, &size), *others = load(other, &other_size);
    bool same = size == other_size && memcmp(bytes, others, size) == 0;

    free(bytes);
    free(others);
    return same;
}

/* ---- bytes that grow ---- */

struct image {
    uint8_t bytes[1 << 16];
    size_t size;
    uint64_t count; /* of metadata */
};

static inline void image_put(struct image *image, const void *bytes,
                             size_t size)
{
    assert_true(size <= sizeof(image->bytes) - image->size);
    memcpy(image->bytes + image->size, bytes, size);
    image->size += size;
}

/* The lowest size bytes of value, least significant first. */
static inline void image_int(struct image *image, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        image_put(image, &(uint8_t){ (uint8_t)(i < 8 ? value >> 8 * i : 0) },
                  1);
}

static inline void image_text(struct image *image, const char *text,
                              size_t size)
{
    image_int(image, size, 8);
    image_put(image, text, size);
}

static inline void image_save(const struct image *image, const char *path)
{
    save(path, image->bytes, image->size);
}

/* ---- GGUF ---- */

static inline void gguf_start(struct image *image)
{
    image->size = 0;
    image->count = 0;
    image_put(image, "GGUF", 4);
    image_int(image, 3, 4);
    image_int(image, 1, 8); /* tensor */
    image_int(image, 0, 8); /* metadata, see gguf_save */
}

static inline void gguf_key(struct image *image, const char *key,
                            enum mf_value_type type)
{
    image_text(image, key, strlen(key));
    image_int(image, type, 4);
    image->count++;
}

static inline void gguf_array(struct image *image, const char *key,
                              enum mf_value_type of, uint64_t count)
{
    gguf_key(image, key, MF_VALUE_ARRAY);
    image_int(image, of, 4);
    image_int(image, count, 8);
}

static inline void gguf_string(struct image *image, const char *key,
                               const char *text)
{
    gguf_key(image, key, MF_VALUE_STRING);
    image_text(image, text, strlen(text));
}

/* A number of that many bytes. */
static inline void gguf_number(struct image *image, const char *key,
                               enum mf_value_type type, uint64_t bits,
                               size_t size)
{
    gguf_key(image, key, type);
    image_int(image, bits, size);
}

/* With one tensor, an f32 of 1. */
static inline void gguf_save(struct image *image, const char *path)
{
    uint64_t count = image->count;

    image_text(image, "t", 1);
    image_int(image, 1, 4);
    image_int(image, 1, 8);
    image_int(image, 0, 4);
    image_int(image, 0, 8);
    while (image->size % 32 != 0)
        image_int(image, 0, 1);
    image_int(image, 0x3f800000, 4);
    image_int(image, 0, 28);
    for (size_t i = 0; i < 8; i++)
        image->bytes[16 + i] = (uint8_t)(count >> 8 * i);
    image_save(image, path);
}

/* ---- safetensors ---- */

/* A header, as JSON, and so many bytes of ones after it. */
static inline void safetensors_save(const char *header, size_t data,
                                    const char *path)
{
    static struct image image;

    image.size = 0;
    image_text(&image, header, strlen(header));
    for (size_t i = 0; i < data; i++)
        image_int(&image, 1, 1);
    image_save(&image, path);
}

/* ---- writing ---- */

/* One file from another; the status, the env's words stay. */
static inline enum mf_status convert_file(struct mf_env *own, const char *from,
                                          const char *to,
                                          const struct mf_convert_options *how,
                                          struct mf_convert_result *out)
{
    struct mf_model *model;
    enum mf_status status = mf_model_open(own, from, NULL, &model);

    if (status == MF_OK) {
        status = mf_model_convert(model, to, how, out);
        mf_model_close(model);
    }
    return status;
}

static inline void must_convert(struct mf_env *own, const char *from,
                                const char *to,
                                const struct mf_convert_options *how)
{
    if (convert_file(own, from, to, how, NULL) != MF_OK)
        fail_msg("%s as %s: %s", from, to, mf_env_error(own)->message);
}

/* It is refused with that status and in words that have that part. */
static inline void must_refuse(struct mf_env *own, const char *from,
                               const char *to,
                               const struct mf_convert_options *how,
                               enum mf_status status, const char *part)
{
    if (convert_file(own, from, to, how, NULL) != status ||
        !strstr(mf_env_error(own)->message, part))
        fail_msg("%s as %s: %s, not '%s'", from, to, mf_env_error(own)->message,
                 part);
}

#endif
