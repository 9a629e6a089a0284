/* SPDX-License-Identifier: MIT
 *
 * journal.c - fuzz target: any bytes as the journal of an edit
 *
 * It lies next to a sound model, which is opened, and then recovered.  -DREPLAY
 * adds a main, see replay.h.
 *
 * Apart from crashes and sanitizer reports it stops on a broken promise:
 * opening changes a byte of the model, recovering changes its size or its
 * tensors, or something is left on the heap.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/digest.h"
#include "lib/io/journal.h"
#include "lib/program.h"
#include "tests/fuzz/replay.h"

#define DIGEST_SIZE 16 /* of the XXH3 that a journal ends with */
#define MODEL_MAX   4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], model_path[96], journal_path[128];
static uint8_t model[MODEL_MAX];
static size_t model_size;

static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    abort();
}

static void put(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
        stop("a file cannot be written");
}

static void take_away(void)
{
    unlink(model_path);
    unlink(journal_path);
    rmdir(folder);
}

static void make_folder(void)
{
    const char *tmp = getenv("TMPDIR"), *fixtures = getenv("FIXTURES");
    char from[512];
    FILE *file;

    snprintf(folder, sizeof(folder), "%.32s/modelfile-fuzz.XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        stop("no folder for the input");
    snprintf(model_path, sizeof(model_path), "%s/m.gguf", folder);
    snprintf(journal_path, sizeof(journal_path), "%s" MF_JOURNAL_SUFFIX,
             model_path);
    atexit(take_away);
    snprintf(from, sizeof(from), "%s/good-base.gguf",
             fixtures ? fixtures : "fixtures");
    file = fopen(from, "rb");
    if (!file)
        stop("no fixture: run this in the top folder");
    model_size = fread(model, 1, sizeof(model), file);
    fclose(file);
}

/* Mutated bytes would nearly always fail the checksum and hide what
 * follows: three of four inputs get a right one. */
static void mend_checksum(struct mf_env *env, uint8_t *bytes, size_t size)
{
    struct mf_digest *digest;
    uint8_t sum[MF_DIGEST_MAX];

    if (size < DIGEST_SIZE || bytes[size - 1] % 4 == 0)
        return;
    digest = mf_digest_new(env, MF_XXH3_128);
    if (!digest)
        abort();
    mf_digest_add(digest, bytes, size - DIGEST_SIZE);
    mf_digest_finish(digest, sum);
    mf_digest_free(digest);
    memcpy(bytes + size - DIGEST_SIZE, sum, DIGEST_SIZE);
}

/* The bytes of the model's file now; free them. */
static uint8_t *read_model(size_t *size)
{
    uint8_t *bytes = malloc(2 * MODEL_MAX);
    FILE *file = fopen(model_path, "rb");

    if (!file || !bytes)
        stop("the model is gone");
    *size = fread(bytes, 1, 2 * MODEL_MAX, file);
    fclose(file);
    return bytes;
}

/* Gives back where the tensors begin. */
static uint64_t open_model(struct mf_env *env)
{
    struct mf_model *opened = NULL;
    uint64_t data_offset = model_size;
    uint8_t *bytes;
    size_t size;

    if (mf_model_open(env, model_path, NULL, &opened) == MF_OK)
        for (size_t i = 0; i < mf_model_info(opened)->metadata_count; i++) {
            struct mf_meta meta;

            if (!mf_meta_at(opened, i, &meta) || meta.key.at[meta.key.size])
                stop("a key does not end");
        }
    mf_model_close(opened);
    bytes = read_model(&size);
    if (size != model_size || memcmp(bytes, model, size) != 0)
        stop("opening has changed the model");
    free(bytes);
    unlink(journal_path);
    if (mf_model_open(env, model_path, NULL, &opened) == MF_OK)
        data_offset = mf_model_info(opened)->data_offset;
    mf_model_close(opened);
    return data_offset;
}

static void recover(struct mf_env *env, uint64_t data_offset, bool force)
{
    struct mf_recover_options options = { .size =
                                              sizeof(struct mf_recover_options),
                                          .force = force };
    uint8_t *bytes;
    size_t size;

    mf_file_recover(env, model_path, &options, NULL);
    bytes = read_model(&size);
    if (size != model_size || memcmp(bytes + data_offset, model + data_offset,
                                     size - (size_t)data_offset) != 0)
        stop("recovering has changed the tensors");
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mf_options one = { .size = sizeof(struct mf_options), .threads = 1 };
    struct mf_env *env = mf_env_new(&one);
    struct mf_heap_stats before, after;
    uint8_t *copy = malloc(size ? size : 1);
    uint64_t data_offset;

    if (!env || !copy)
        abort();
    if (!*folder)
        make_folder();
    memcpy(copy, data, size);
    mend_checksum(env, copy, size);
    put(model_path, model, model_size);
    put(journal_path, copy, size);
    mf_env_heap(env, &before);
    data_offset = open_model(env);
    for (int force = 0; force < 2; force++) {
        put(journal_path, copy, size);
        recover(env, data_offset, force);
    }
    mf_env_heap(env, &after);
    if (after.live != before.live)
        stop("something is left on the heap");
    mf_env_free(env);
    free(copy);
    return 0;
}
