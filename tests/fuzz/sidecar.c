/* SPDX-License-Identifier: MIT
 *
 * sidecar.c - fuzz target: any bytes as a file next to a model
 *
 * -DTARGET=config|tokenizer|tokenizer_config|template|index|matrix says which.
 * All but the last are put into a folder with a valid model, which is then
 * converted to GGUF, or opened by its index; an importance matrix is opened and
 * all of it read.  -DREPLAY adds a main, see replay.h.
 *
 * Apart from crashes and sanitizer reports it stops on memory that leaks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/program.h"
#include "lib/quantize/imatrix.h"
#include "tests/fuzz/replay.h"

#ifndef TARGET
#define TARGET config
#endif
#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const copied[] = { "model.safetensors", "config.json",
                                      "tokenizer.json",
                                      "tokenizer_config.json" };
#define COPIED (sizeof(copied) / sizeof(*copied))

static char folder[64];

static bool input_is(const char *format)
{
    return strcmp(TEXT(TARGET), format) == 0;
}

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

/* ---- the folder ---- */

static const char *path_in(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const void *bytes, size_t size)
{
    int fd =
        open(path_in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
        stop(name, "cannot be written");
}

static void copy_fixture(const char *name)
{
    static uint8_t bytes[1 << 16];
    const char *fixtures = getenv("FIXTURES");
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/good-hf-llama/%s",
             fixtures ? fixtures : "fixtures", name);
    file = fopen(path, "rb");
    if (!file)
        stop(path, "cannot be read: run this in the top folder");
    put_file(name, bytes, fread(bytes, 1, sizeof(bytes), file));
    fclose(file);
}

/* The name of the input in the folder. */
static const char *input_name(void)
{
    return input_is("config")             ? "config.json"
           : input_is("tokenizer")        ? "tokenizer.json"
           : input_is("tokenizer_config") ? "tokenizer_config.json"
           : input_is("template")         ? "chat_template.json"
           : input_is("index")            ? "model.safetensors.index.json"
                                          : "matrix";
}

static void remove_folder(void)
{
    for (size_t i = 0; i < COPIED; i++)
        unlink(path_in(copied[i]));
    unlink(path_in(input_name()));
    rmdir(folder);
}

static void make_folder(void)
{
    static const char bos[] = "{\"bos_token\": \"<|begin_of_text|>\"}";
    const char *tmp = getenv("TMPDIR");

    snprintf(folder, sizeof(folder), "%.32s/modelfile-fuzz.XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        stop(folder, "cannot be created");
    atexit(remove_folder);
    for (size_t i = 0; i < COPIED; i++)
        copy_fixture(copied[i]);
    if (input_is("template")) /* the file is only read where no other has one */
        put_file("tokenizer_config.json", bos, strlen(bos));
}

/* ---- using it ---- */

static void convert(struct mf_env *env, bool lossy)
{
    struct mf_convert_options options = { .size =
                                              sizeof(struct mf_convert_options),
                                          .format = "gguf",
                                          .lossy = lossy,
                                          .names = MF_NAMING_GGUF };
    struct mf_model *model = NULL;

    if (mf_model_open(env, path_in("model.safetensors"), NULL, &model) == MF_OK)
        mf_model_convert(model, "/dev/null", &options, NULL);
    mf_model_close(model);
}

static void open_index(struct mf_env *env, bool metadata_only)
{
    struct mf_open_options options = { .size = sizeof(struct mf_open_options),
                                       .metadata_only = metadata_only };
    struct mf_model *model = NULL;
    struct mf_finding finding;
    struct mf_tensor tensor;

    if (mf_model_open(env, path_in(input_name()), &options, &model) == MF_OK) {
        for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
            if (tensor.name.at[tensor.name.size] != 0)
                stop("a tensor", "its name is not terminated");
        for (size_t i = 0; mf_finding_at(model, i, &finding); i++)
            if (finding.message[mf_text_clean(finding.message,
                                              strlen(finding.message))])
                stop("a message", "contains control characters");
    }
    mf_model_close(model);
    /* The same from the shard: finding the index that lists it. */
    model = NULL;
    options.shards = MF_SHARDS_BY_NAME;
    if (mf_model_open(env, path_in("model.safetensors"), &options, &model) ==
        MF_OK)
        mf_model_close(model);
}

static void read_imatrix(struct mf_env *env)
{
    struct mf_imatrix_choice all = { 0 };
    struct mf_imatrix *imatrix;

    if (mf_imatrix_open(env, path_in(input_name()), &all, &imatrix) != MF_OK)
        return;
    for (size_t i = 0; i < imatrix->count; i++) {
        const struct mf_imatrix_entry *entry = &imatrix->entry[i];
        float *values;
        bool found;

        if (entry->count > 1 << 20)
            stop("an entry", "larger than the file");
        values = malloc((size_t)entry->count * sizeof(*values));
        if (!values)
            abort();
        if (mf_imatrix_read(imatrix, entry->name, values, (size_t)entry->count,
                            &found) == MF_OK &&
            !found)
            stop("an entry", "not found");
        mf_clear_error(env);
        free(values);
    }
    mf_imatrix_close(imatrix);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mf_options one = { .size = sizeof(struct mf_options), .threads = 1 };
    struct mf_env *env = mf_env_new(&one);
    struct mf_heap_stats before, after;

    if (!env)
        abort();
    if (!*folder)
        make_folder();
    put_file(input_name(), data, size);
    mf_env_heap(env, &before);
    if (input_is("matrix")) {
        read_imatrix(env);
    } else if (input_is("index")) {
        open_index(env, false);
        open_index(env, true);
    } else {
        convert(env, false);
        convert(env, true);
    }
    mf_env_heap(env, &after);
    if (after.live != before.live)
        stop("heap", "memory leaked");
    mf_env_free(env);
    return 0;
}
