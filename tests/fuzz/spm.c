/* SPDX-License-Identifier: MIT
 *
 * spm.c - fuzz target: a file that a vocabulary is made of
 *
 * -DTARGET=spm|spm_added|spm_json|base|slow|base_config|tekken says which: the
 * bytes are
 *     spm          tokenizer.model under all the names that it has
 *     spm_added    added_tokens.json, tokenizer_config.json and tokenizer.json
 *                  next to a good tokenizer.model
 *     spm_json     tokenizer.json in the place of tokenizer.model
 *     base         tokenizer.json, and merges.txt
 *     slow         vocab.json and merges.txt
 *     base_config  the files next to a good tokenizer.json
 *     tekken       tekken.json
 * Every procedure that reads them is run, and the vocabulary streamed twice.
 * -DREPLAY adds a main, see replay.h.
 *
 * Apart from crashes and sanitizer reports it stops on an array that is not as
 * long as was said, or is another one the second time, and on memory that
 * leaks.
 */
#include "lib/hf/tokenizer/spm.h"
#include "lib/draft/put.h"
#include "lib/folder/sidecar.h"
#include "lib/hf/tokenizer/parts.h"
#include "lib/hf/tokenizer/tekken.h"
#include "lib/model/formats.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/replay.h"

#ifndef TARGET
#define TARGET spm
#endif
#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const pieces[] = { "tokenizer.model", "spiece.model",
                                      "sentencepiece.bpe.model", NULL };
static const char *const added[] = { "added_tokens.json",
                                     "tokenizer_config.json", "tokenizer.json",
                                     NULL };
static const char *const json_only[] = { "tokenizer.json", NULL };
static const char *const base[] = { "tokenizer.json", "merges.txt", NULL };
static const char *const slow[] = { "vocab.json", "merges.txt", NULL };
static const char *const base_config[] = {
    "added_tokens.json",  "tokenizer_config.json", "special_tokens_map.json",
    "chat_template.json", "config.json",           NULL
};
static const char *const tekken[] = { "tekken.json", NULL };

static enum mf_status put_base(struct mf_draft *draft,
                               const struct mf_tokenizer_request *request,
                               const struct mf_special_options *options,
                               bool *missing)
{
    const struct mf_special_options merges = { .merges = true };

    (void)options;
    *missing = false;
    return mf_base_put(draft, request, &merges, "gpt2", "x");
}

/* The tokenizer is run, too. */
static enum mf_status put_slow(struct mf_draft *draft,
                               const struct mf_tokenizer_request *request,
                               const struct mf_special_options *options,
                               bool *missing)
{
    const struct mf_special_options merges = { .merges = true };

    (void)options;
    return mf_base_put_gpt2(draft, request, &merges, missing);
}

static enum mf_status put_bert(struct mf_draft *draft,
                               const struct mf_tokenizer_request *request,
                               const struct mf_special_options *options,
                               bool *missing)
{
    (void)options;
    *missing = false;
    return mf_base_put(draft, request, &(struct mf_special_options){ 0 },
                       "bert", "x");
}

static mf_tokenizer_procedure *const of_pieces[] = { mf_spm_put,
                                                     mf_spm_put_phi3,
                                                     mf_spm_put_internlm2,
                                                     mf_spm_put_internlm3,
                                                     mf_mistral_put_pieces,
                                                     mf_unigram_put_t5,
                                                     mf_unigram_put_xlm,
                                                     NULL };
static mf_tokenizer_procedure *const of_json[] = { mf_llama_hf_put,
                                                   mf_llama_hf_put_gemma4,
                                                   mf_llama_hf_put_xverse,
                                                   mf_unigram_put_xlm, NULL };
static mf_tokenizer_procedure *const of_base[] = { put_base, put_bert, NULL };
static mf_tokenizer_procedure *const of_slow[] = { put_base, put_slow, NULL };
static mf_tokenizer_procedure *const of_tekken[] = { mf_tekken_put, NULL };

static const struct target {
    const char *name;
    const char *const *files; /* that are the bytes */
    mf_tokenizer_procedure *const *procedures;
} targets[] = {
    { "spm", pieces, of_pieces },       { "spm_added", added, of_pieces },
    { "spm_json", json_only, of_json }, { "base", base, of_base },
    { "slow", slow, of_slow },          { "base_config", base_config, of_base },
    { "tekken", tekken, of_tekken },
};

static const struct target *target(void)
{
    size_t i = 0;

    while (strcmp(targets[i].name, TEXT(TARGET)) != 0)
        i++;
    return &targets[i];
}

/* ---- the folder ---- */

static void remove_folder(void)
{
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        for (const char *const *name = targets[i].files; *name; name++)
            unlink(path_in(*name));
    unlink(path_in("model.safetensors"));
    unlink(path_in("config.json"));
    unlink(path_in("tokenizer_config.json"));
    rmdir(fuzz_folder);
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
    for (const char *const *name = pieces; *name; name++)
        put_file(*name, bytes, size);
}

static void make_folder(void)
{
    static const char config[] = "{\"eos_token_id\": 2}";
    static const char class[] = "{\"tokenizer_class\":\"GPT2Tokenizer\"}";
    static const char json[] =
        "{\"added_tokens\":[{\"id\":2,\"content\":\"<s>\","
        "\"normalized\":false}],\"post_processor\":{\"type\":"
        "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":"
        "\"<s>\"}},{\"Sequence\":{\"id\":\"A\"}}]},\"decoder\":{\"type\":"
        "\"ByteLevel\"},\"model\":{\"vocab\":{\"a\":0,\"b\":1},"
        "\"merges\":[\"a b\"]}}";

    begin_folder(remove_folder);
    put_file("config.json", config, strlen(config));
    if (target()->files == base || target()->files == slow)
        put_file("tokenizer_config.json", class, strlen(class));
    if (target()->files == added)
        put_pieces();
    if (target()->files == base_config)
        put_file("tokenizer.json", json, strlen(json));
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

static void run(struct mf_env *env, mf_tokenizer_procedure *procedure,
                uint64_t vocab_size)
{
    struct mf_model *model;
    struct mf_draft draft;
    struct mf_tokenizer_request request = { .env = env,
                                            .arch = "llama",
                                            .vocab_size = vocab_size };
    const struct mf_str arch = { "llama", 5 };
    struct mf_node *config;
    bool missing;

    if (mf_model_open(env, path_in("model.safetensors"), NULL, &model) != MF_OK)
        stop("model.safetensors", mf_env_error(env)->message);
    mf_draft_init(&draft, env, mf_format_to_write("gguf"));
    request.model = model;
    request.arena = &draft.arena;
    if (mf_sidecar_tree(model, &draft.arena, "config.json", MF_SIDECAR_LIMIT,
                        &config) != MF_OK)
        mf_clear_error(env);
    else if (config && config->kind == MF_NODE_OBJECT)
        request.file = config;
    if (mf_set_text(&draft, "general.architecture", arch) != MF_OK)
        stop("memory", mf_env_error(env)->message);
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
    if (!*fuzz_folder)
        make_folder();
    for (const char *const *name = target()->files; *name; name++)
        put_file(*name, data, size);
    mf_env_heap(env, &before);
    for (mf_tokenizer_procedure *const *at = target()->procedures; *at; at++) {
        run(env, *at, 0);
        run(env, *at, 9);
    }
    mf_env_heap(env, &after);
    if (after.live != before.live)
        stop("heap", "memory leaked");
    mf_env_free(env);
    return 0;
}
