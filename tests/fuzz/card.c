/* SPDX-License-Identifier: MIT
 *
 * card.c - fuzz target: files that say where a model comes from
 *
 * -DTARGET=card|metadata|sampling says which: README.md, a file for
 * --metadata, or generation_config.json.  -DREPLAY adds a main, see replay.h.
 *
 * Apart from crashes and sanitizer reports it stops on memory that leaks, or
 * that grows beyond what such a file may take.
 */
#include "lib/hf/card/card.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/model/formats.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/replay.h"

#ifndef TARGET
#define TARGET card
#endif
#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

/* Of an input of a megabyte, all of it tiny values. */
#define HEAP_MOST ((size_t)128 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_metadata(void)
{
    return strcmp(TEXT(TARGET), "metadata") == 0;
}

/* The file that the input becomes. */
static const char *file(void)
{
    return is_metadata()                           ? "metadata.json"
           : strcmp(TEXT(TARGET), "sampling") == 0 ? "generation_config.json"
                                                   : "README.md";
}

static void remove_folder(void)
{
    unlink(path_in(file()));
    unlink(path_in("model.safetensors"));
    rmdir(fuzz_folder);
}

static void run(struct mf_env *env, const char *metadata)
{
    struct mf_card_request request = { .metadata = metadata,
                                       .folder = "Name-7B-chat" };
    const struct mf_str arch = { "llama", 5 };
    struct mf_card_names names;
    struct mf_model *model;
    struct mf_draft draft;

    if (mf_model_open(env, path_in("model.safetensors"), NULL, &model) != MF_OK)
        stop("model.safetensors", mf_env_error(env)->message);
    request.model = model;
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    if (mf_set_text(&draft, "general.architecture", arch) != MF_OK)
        stop("memory", mf_env_error(env)->message);
    if (mf_card_put(&draft, &request, &names) != MF_OK &&
        !*mf_env_error(env)->message)
        stop("an error", "it says nothing");
    mf_draft_release(&draft);
    mf_model_close(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mf_options one = { .size = sizeof(struct mf_options), .threads = 1 };
    struct mf_env *env = mf_env_new(&one);
    struct mf_heap_stats before, after;
    char metadata[128];

    if (!env)
        abort();
    if (!*fuzz_folder)
        begin_folder(remove_folder);
    put_file(file(), data, size);
    snprintf(metadata, sizeof(metadata), "%s", path_in(file()));
    mf_env_heap(env, &before);
    run(env, is_metadata() ? metadata : NULL);
    mf_env_heap(env, &after);
    if (after.live != before.live)
        stop("heap", "memory leaked");
    if (after.peak > HEAP_MOST)
        stop("heap", "too much");
    mf_env_free(env);
    return 0;
}
