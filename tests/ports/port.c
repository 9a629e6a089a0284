/* SPDX-License-Identifier: MIT
 *
 * port.c - the library on another system: what it reads, decodes and writes
 *
 *     port FILE TENSOR           opens FILE and decodes one tensor
 *     port FILE TENSOR PREFIX    opens FILE in three ways, and writes a file
 *
 * whose path begins with PREFIX and goes on with letters that are not in every
 * code page; it is replaced while it is open, edited and locked.
 *
 * tests/ports/port_build.sh compiles this for each system, and for this one;
 * what they print has to be the same.  It uses the public header and the C
 * library alone.
 *
 * In WebAssembly the bytes of the third way come from the host, as the bytes of
 * a file that a browser has open do: it imports host.size and host.read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/modelfile.h"

/* FNV-1a: short enough to be here. */
static uint64_t digest_of(const void *bytes, size_t size, uint64_t sum)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ at[i]) * UINT64_C(0x100000001B3);
    return sum;
}

#define DIGEST_START UINT64_C(0xCBF29CE484222325)

static int fail(struct mf_env *env, const char *what)
{
    printf("%s: %s\n", what, mf_env_error(env)->message);
    return 1;
}

/* ---- what a model has ---- */

static int decode(struct mf_model *model, const char *name)
{
    uint64_t sum = DIGEST_START;
    struct mf_tensor tensor;
    float part[1024];
    size_t index, some;

    if (!mf_tensor_find(model, name, strlen(name), &tensor, &index))
        return 1;
    for (uint64_t at = 0; at < tensor.parameters; at += some) {
        some = tensor.parameters - at < 1024 ? (size_t)(tensor.parameters - at)
                                             : 1024;
        if (mf_tensor_read(model, index, at, some, MF_READ_F32, part) != MF_OK)
            return 1;
        sum = digest_of(part, some * sizeof(*part), sum);
    }
    printf("  %s %s: %" PRIu64 " floats, digest %016" PRIx64 "\n", name,
           tensor.type, tensor.parameters, sum);
    return 0;
}

static int report(struct mf_env *env, struct mf_model *model, const char *name)
{
    struct mf_validate_options options = { .size = sizeof(options),
                                           .data = true };
    const struct mf_model_info *info = mf_model_info(model);
    struct mf_finding finding;

    if (mf_model_validate_with(model, &options) != MF_OK)
        return fail(env, "validating");
    printf("  %s, %zu tensors, %zu metadata, %zu errors, %zu warnings\n",
           info->format, info->tensor_count, info->metadata_count,
           info->error_count, info->warning_count);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
        printf("  %s %s: %s\n", mf_severity_name(finding.severity),
               finding.rule, finding.message);
    if (*name && decode(model, name) != 0)
        return fail(env, "decoding");
    return 0;
}

/* One tensor, wherever it is in a file of any size. */
static int only_decode(struct mf_env *env, const char *path, const char *name)
{
    struct mf_model *model;
    int code;

    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return fail(env, "opening");
    printf("%" PRIu64 " bytes\n", mf_model_info(model)->file_size);
    code = decode(model, name);
    mf_model_close(model);
    return code != 0 ? fail(env, "decoding") : 0;
}

/* ---- three ways to open it ---- */

static int from_file(struct mf_env *env, const char *path, const char *tensor)
{
    struct mf_model *model;
    int code;

    printf("by its path\n");
    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return fail(env, "opening");
    code = report(env, model, tensor);
    mf_model_close(model);
    return code;
}

static int from_memory(struct mf_env *env, const void *bytes, size_t size,
                       const char *tensor)
{
    struct mf_model *model;
    int code;

    printf("from memory\n");
    if (mf_model_open_memory(env, "memory", bytes, size, NULL, &model) != MF_OK)
        return fail(env, "opening");
    code = report(env, model, tensor);
    mf_model_close(model);
    return code;
}

struct text {
    const char *bytes;
    size_t size;
};

#if defined(__wasi__)

#define IMPORT(name) __attribute__((import_module("host"), import_name(name)))

IMPORT("size") double host_size(void);
IMPORT("read") int host_read(double offset, void *into, int size);

static uint64_t source_size(const struct text *text)
{
    (void)text;
    return (uint64_t)host_size();
}

static int64_t source_read(void *user, uint64_t offset, void *into, size_t size)
{
    (void)user;
    return host_read((double)offset, into, (int)size);
}

#else

static uint64_t source_size(const struct text *text)
{
    return text->size;
}

static int64_t source_read(void *user, uint64_t offset, void *into, size_t size)
{
    const struct text *text = user;

    size = size < text->size - offset ? size : (size_t)(text->size - offset);
    memcpy(into, text->bytes + offset, size);
    return (int64_t)size;
}

#endif

static int from_source(struct mf_env *env, struct text text, const char *tensor)
{
    struct mf_byte_source source = { .size = sizeof(source),
                                     .name = "source",
                                     .read = source_read,
                                     .user = &text,
                                     .bytes = source_size(&text) };
    struct mf_model *model;
    int code;

    printf("through functions\n");
    if (mf_model_open_source(env, &source, NULL, &model) != MF_OK)
        return fail(env, "opening");
    code = report(env, model, tensor);
    mf_model_close(model);
    return code;
}

/* ---- writing ---- */

/* Not fopen: on Windows it takes paths in the code page of the machine. */
static int print_written(struct mf_env *env, const char *path)
{
    struct mf_model *model;
    struct mf_tensor tensor;
    uint64_t sum = DIGEST_START;
    unsigned char part[1024];
    size_t some;

    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return fail(env, "opening what was written");
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        for (uint64_t at = 0; at < tensor.data.size; at += some) {
            some = tensor.data.size - at < sizeof(part)
                       ? (size_t)(tensor.data.size - at)
                       : sizeof(part);
            if (mf_tensor_bytes(model, i, at, some, part) != MF_OK)
                return fail(env, "reading what was written");
            sum = digest_of(part, some, sum);
        }
    printf("  %s, %zu tensors, digest %016" PRIx64 "\n",
           mf_model_info(model)->format, mf_model_info(model)->tensor_count,
           sum);
    mf_model_close(model);
    return 0;
}

static enum mf_status convert(struct mf_model *model, const char *out,
                              const char *type, bool replace)
{
    struct mf_convert_options options = { .size = sizeof(options),
                                          .type = type,
                                          .dequantize = true,
                                          .replace = replace };

    return mf_model_convert(model, out, &options, NULL);
}

/* The second output takes the place of the first, which is open meanwhile and
 * goes on being what it was. */
static int write_twice(struct mf_env *env, const char *path, const char *out)
{
    struct mf_model *model, *first;

    printf("written\n");
    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return fail(env, "opening");
    if (convert(model, out, "f16", false) != MF_OK)
        return fail(env, "converting");
    if (print_written(env, out) != 0)
        return 1;
    if (convert(model, out, "f16", false) != MF_OK)
        printf("  refused: %s\n", mf_env_error(env)->rule);
    if (mf_model_open(env, out, NULL, &first) != MF_OK)
        return fail(env, "opening what was written");
    if (convert(model, out, "f32", true) != MF_OK)
        return fail(env, "replacing");
    if (report(env, first, "output.weight") != 0)
        return 1;
    mf_model_close(first);
    mf_model_close(model);
    return print_written(env, out);
}

/* ---- editing ---- */

/* Whether a second editor has to wait for the first one.  It asks whether to go
 * on then, and stops. */
static bool stop(void *user, const struct mf_progress *progress)
{
    (void)user, (void)progress;
    return false;
}

static int lock(struct mf_env *env, const char *path)
{
    const struct mf_options impatient = { .size = sizeof(impatient),
                                          .progress = stop };
    struct mf_env *other = mf_env_new(&impatient);
    struct mf_editor *first, *second = NULL;
    enum mf_status status;

    if (!other || mf_editor_open(env, path, NULL, &first) != MF_OK)
        return fail(env, "locking");
    status = mf_editor_open(other, path, NULL, &second);
    printf("a second editor %s\n", status == MF_OK            ? "is let in"
                                   : status == MF_ERR_STOPPED ? "has to wait"
                                                              : "fails");
    mf_editor_close(second);
    mf_editor_close(first);
    mf_env_free(other);
    return 0;
}

static int edit(struct mf_env *env, const char *path)
{
    const struct mf_edit edits[] = {
        { .key = "general.name",
          .type = MF_VALUE_STRING,
          .text = { "llama-port", 10 } },
    };
    struct mf_edit_result result;
    struct mf_model *model;
    struct mf_meta meta;

    if (mf_file_edit(env, path, edits, 1, NULL, &result) != MF_OK)
        return fail(env, "editing");
    printf("edited%s%s\n", result.in_place ? " in place" : "",
           result.journalled ? ", with a journal" : "");
    if (mf_model_open(env, path, NULL, &model) != MF_OK)
        return fail(env, "opening what was edited");
    if (mf_meta_find(model, "general.name", 12, &meta, NULL))
        printf("  general.name: %.*s\n", (int)meta.text.size, meta.text.at);
    mf_model_close(model);
    return print_written(env, path);
}

/* ---- blocks ---- */

/* Each type that has an encoder, from a row of floats that is the same
 * everywhere. */
static int encode_all(struct mf_env *env)
{
    static unsigned char blocks[4096];
    static float row[256], weights[256];
    struct mf_type_info type;
    struct mf_kernel kernel;

    printf("blocks\n");
    for (int i = 0; i < 256; i++) {
        row[i] = (float)((i * 7919) % 1009 - 504) / 256;
        weights[i] = (float)(1 + i % 5);
    }
    for (size_t i = 0; mf_type_at(i, &type); i++) {
        size_t size;

        if (!mf_kernel_find(type.name, NULL, &kernel) ||
            !mf_kernel_encodes(&kernel, NULL))
            continue;
        if (mf_env_encode(env, &kernel, row, weights, blocks, 256) != MF_OK)
            return fail(env, type.name);
        size = 256 / kernel.block * kernel.size;
        printf("  %s %016" PRIx64 "\n", type.name,
               digest_of(blocks, size, DIGEST_START));
    }
    return 0;
}

static char *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;

    if (file && fseek(file, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(file);
        rewind(file);
        bytes = malloc(*size + 1);
        if (bytes && fread(bytes, 1, *size, file) != *size)
            *size = 0;
    }
    if (file)
        fclose(file);
    return bytes;
}

#define LETTERS                                                                \
    "-gr\xC3\xB6\xC3\x9F"                                                      \
    "er-\xE6\xA8\xA1\xE5\x9E\x8B.gguf"

int main(int argc, char **argv)
{
    char out[1024] = "";
    struct mf_env *env = mf_env_new(NULL);
    size_t size = 0;
    char *bytes;
    int code;

    if (!env || argc < 3 || argc > 4)
        return 2;
    if (argc == 3) {
        code = only_decode(env, argv[1], argv[2]);
        mf_env_free(env);
        return code;
    }
    if (*argv[3])
        snprintf(out, sizeof(out), "%s%s", argv[3], LETTERS);
    bytes = read_all(argv[1], &size);
    code = !bytes || from_file(env, argv[1], argv[2]) != 0 ||
           from_memory(env, bytes, size, argv[2]) != 0 ||
           from_source(env, (struct text){ bytes, size }, argv[2]) != 0 ||
           encode_all(env) != 0 ||
           (*out && (write_twice(env, argv[1], out) != 0 ||
                     edit(env, out) != 0 || lock(env, out) != 0));
    mf_env_free(env);
    free(bytes);
    return code;
}
