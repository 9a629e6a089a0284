/* SPDX-License-Identifier: MIT
 *
 * spm.c - fuzz target: a tokenizer.model, or the tokens that are added to one
 *
 * -DTARGET=spm|spm_added says which: the bytes are tokenizer.model under all
 * the names that it has, or added_tokens.json, tokenizer_config.json and
 * tokenizer.json next to a good one.  Every procedure that reads them is run,
 * and the vocabulary streamed twice.  -DREPLAY adds a main, see replay.h.
 *
 * Apart from crashes and sanitizer reports it stops on an array that is not as
 * long as was said, or is another one the second time, and on memory that
 * leaks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/model/formats.h"
#include "lib/tokenizer/spm.h"
#include "tests/fuzz/replay.h"

#ifndef TARGET
#define TARGET spm
#endif
#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const pieces[] = { "tokenizer.model", "spiece.model",
                                      "sentencepiece.bpe.model" };
static const char *const added[] = { "added_tokens.json",
                                     "tokenizer_config.json",
                                     "tokenizer.json" };
static mf_vocab_procedure *const procedures[] = {
    mf_spm_put,           mf_spm_put_phi3,   mf_spm_put_internlm2,
    mf_spm_put_internlm3, mf_unigram_put_t5, mf_unigram_put_xlm
};

static char folder[64];

static bool adds(void)
{
    return strcmp(TEXT(TARGET), "spm_added") == 0;
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

static void remove_folder(void)
{
    for (size_t i = 0; i < 3; i++) {
        unlink(path_in(pieces[i]));
        unlink(path_in(added[i]));
    }
    unlink(path_in("model.safetensors"));
    unlink(path_in("config.json"));
    rmdir(folder);
}

/* Six pieces: <unk> and s, t, u, v, w. */
static void put_pieces(void)
{
    uint8_t bytes[64] = { 10, 9, 10, 5, '<', 'u', 'n', 'k', '>', 24, 2 };
    size_t size = 11;

    for (uint8_t i = 0; i < 5; i++) {
        const uint8_t piece[] = { 10, 3, 10, 1, (uint8_t)('s' + i) };

        memcpy(bytes + size, piece, sizeof(piece));
        size += sizeof(piece);
    }
    for (size_t i = 0; i < 3; i++)
        put_file(pieces[i], bytes, size);
}

static void make_folder(void)
{
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],"
                                 "\"data_offsets\":[0,4]}}";
    static const char config[] = "{\"eos_token_id\": 2}";
    uint8_t model[8 + sizeof(header) + 3] = { sizeof(header) - 1 };
    const char *tmp = getenv("TMPDIR");

    snprintf(folder, sizeof(folder), "%.32s/modelfile-fuzz.XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        stop(folder, "cannot be created");
    atexit(remove_folder);
    memcpy(model + 8, header, sizeof(header) - 1);
    put_file("model.safetensors", model, sizeof(model));
    put_file("config.json", config, strlen(config));
    if (adds())
        put_pieces();
}

/* ---- using it ---- */

struct sum {
    uint64_t items, hash;
};

static enum mf_status add_event(void *user, const struct mf_value *value)
{
    struct sum *sum = user;

    if (value->event != MF_EVENT_ITEM)
        return MF_OK;
    sum->items += !value->more;
    sum->hash = sum->hash * 31 + value->number.u64;
    for (size_t i = 0; i < value->text.size; i++)
        sum->hash = sum->hash * 31 + (uint8_t)value->text.at[i];
    return MF_OK;
}

static void stream(struct mf_env *env, const struct mf_entry *entry)
{
    struct sum sum[2] = { { 0 } };

    if (entry->type != MF_VALUE_ARRAY)
        return;
    for (int i = 0; i < 2; i++)
        if (mf_entry_read(env, entry, add_event, &sum[i]) != MF_OK)
            stop(entry->key.at, mf_env_error(env)->message);
    if (sum[0].items != entry->count)
        stop(entry->key.at, "not as many elements as were said");
    if (memcmp(&sum[0], &sum[1], sizeof(*sum)) != 0)
        stop(entry->key.at, "another value the second time");
}

static void run(struct mf_env *env, mf_vocab_procedure *procedure,
                uint64_t vocab_size)
{
    struct mf_model *model;
    struct mf_draft draft;
    struct mf_vocab_request request = { .env = env,
                                        .arch = "llama",
                                        .vocab_size = vocab_size };
    bool missing;

    if (mf_model_open(env, path_in("model.safetensors"), NULL, &model) != MF_OK)
        stop("model.safetensors", mf_env_error(env)->message);
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    request.model = model;
    request.arena = &draft.arena;
    if (procedure(&draft, &request, NULL, &missing) == MF_OK)
        for (size_t i = 0; i < draft.entry_count; i++)
            stream(env, &draft.entry[i]);
    mf_draft_release(&draft);
    mf_model_close(model);
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
    for (size_t i = 0; i < 3; i++)
        put_file(adds() ? added[i] : pieces[i], data, size);
    mf_env_heap(env, &before);
    for (size_t i = 0; i < sizeof(procedures) / sizeof(*procedures); i++) {
        run(env, procedures[i], 0);
        run(env, procedures[i], 9);
    }
    mf_env_heap(env, &after);
    if (after.live != before.live)
        stop("heap", "memory leaked");
    mf_env_free(env);
    return 0;
}
