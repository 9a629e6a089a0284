/* SPDX-License-Identifier: MIT
 *
 * tokenize.c - fuzz target: any bytes as a tokenizer that is run over a text
 *
 * -DTARGET=tokenize|class|regex: tokenizer.json next to a valid model,
 * tokenizer_config.json next to that, or a line with a regular expression and a
 * text after it.  -DREPLAY adds a main, see replay.h.
 *
 * Apart from crashes and sanitizer reports it stops on memory that leaks, or
 * that grows beyond what a tokenizer may take.
 */
#include "lib/base/heap.h"
#include "lib/hf/encode/encode.h"
#include "lib/hf/encode/pieces.h"
#include "tests/encode/pre_of.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/replay.h"

#ifndef TARGET
#define TARGET tokenize
#endif
#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

/* Of an input of a megabyte: it may list that many tokens. */
#define HEAP_MOST ((size_t)64 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is next to the input. */
static const char plain_class[] =
    "{\"tokenizer_class\":\"PreTrainedTokenizerFast\"}";
static const char plain_tokenizer[] =
    "{\"added_tokens\":[{\"id\":3,\"content\":\"<s>\",\"special\":true,"
    "\"normalized\":false,\"lstrip\":false,\"rstrip\":false,"
    "\"single_word\":false}],\"normalizer\":{\"type\":\"BertNormalizer\","
    "\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":null,"
    "\"lowercase\":true},\"pre_tokenizer\":{\"type\":\"ByteLevel\","
    "\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},"
    "\"post_processor\":null,\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,"
    "\"b\":1,\"ab\":2},\"merges\":[[\"a\",\"b\"]]}}";

static bool input_is(const char *target)
{
    return strcmp(TEXT(TARGET), target) == 0;
}

static void remove_folder(void)
{
    unlink(path_in("model.safetensors"));
    unlink(path_in("tokenizer.json"));
    unlink(path_in("tokenizer_config.json"));
    rmdir(fuzz_folder);
}

static void make_folder(void)
{
    begin_folder(remove_folder);
    put_file("tokenizer_config.json", plain_class, sizeof(plain_class) - 1);
    put_file("tokenizer.json", plain_tokenizer, sizeof(plain_tokenizer) - 1);
}

static void run_tokenizer(struct mf_env *env)
{
    struct mf_model *opened = NULL;
    const char *pre = NULL;

    if (mf_model_open(env, path_in("model.safetensors"), NULL, &opened) !=
        MF_OK)
        stop(fuzz_folder, mf_env_error(env)->message);
    if (pre_of(opened, &pre) == MF_OK && !pre)
        stop("a tokenizer", "it has no name");
    mf_model_close(opened);
}

static void run_regex(struct mf_env *env, const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    struct mf_str pattern = { (const char *)data,
                              end ? (size_t)(end - data) : size };
    struct mf_str text = { end ? (const char *)end + 1 : "",
                           end ? size - pattern.size - 1 : 0 };
    const struct mf_str none = { NULL, 0 };
    struct mf_pieces pieces;
    struct mf_arena arena;
    struct mf_regex *regex;
    uint32_t last = 0;

    mf_arena_init(&arena, env);
    if (mf_pieces_init(&pieces, env, &arena) != MF_OK)
        abort();
    regex = mf_regex_make(env, &arena, pattern);
    if (regex && mf_match_all(&pieces, text, regex, none) == MF_OK)
        for (size_t i = 0; i < pieces.match_count; i++) {
            if (pieces.match[i].start != last)
                stop("a match", "it does not follow the one before");
            last = pieces.match[i].end;
        }
    if (regex && mf_env_error(env)->status == MF_OK && last != text.size)
        stop("the last match", "it does not end with the text");
    mf_pieces_release(&pieces);
    mf_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mf_options one = { .size = sizeof(struct mf_options), .threads = 1 };
    struct mf_env *env = mf_env_new(&one);
    struct mf_heap_stats before, after;

    if (!env)
        abort();
    if (!*fuzz_folder)
        make_folder();
    mf_env_heap(env, &before);
    if (input_is("regex")) {
        run_regex(env, data, size);
    } else {
        put_file(input_is("class") ? "tokenizer_config.json" : "tokenizer.json",
                 data, size);
        run_tokenizer(env);
    }
    mf_env_heap(env, &after);
    if (after.live != before.live)
        stop("heap", "memory leaked");
    if (after.peak > HEAP_MOST)
        stop("heap", "too much");
    mf_env_free(env);
    return 0;
}
