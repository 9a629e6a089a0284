/* SPDX-License-Identifier: MIT
 *
 * restored.h - a model with a vocabulary, and the files that it becomes
 */
#ifndef TESTS_RESTORED_H
#define TESTS_RESTORED_H

#include "lib/hf/restore/tokenizer.h"
#include "tests/tokenizer/tokenizer_folder.h"

struct word {
    const char *text;
    int type;
    float score;
};

static struct image image;

/* ---- a model with a vocabulary ---- */

static inline void put_words(const struct word *words, size_t count,
                             bool scores)
{
    gguf_array(&image, "tokenizer.ggml.tokens", MF_VALUE_STRING, count);
    for (size_t i = 0; i < count; i++)
        image_text(&image, words[i].text, strlen(words[i].text));
    if (scores)
        gguf_array(&image, "tokenizer.ggml.scores", MF_VALUE_F32, count);
    for (size_t i = 0; i < count && scores; i++) {
        uint32_t bits;

        memcpy(&bits, &words[i].score, sizeof(bits));
        image_int(&image, bits, 4);
    }
    gguf_array(&image, "tokenizer.ggml.token_type", MF_VALUE_I32, count);
    for (size_t i = 0; i < count; i++)
        image_int(&image, (uint64_t)words[i].type, 4);
}

static inline void begin_model(const char *kind, const char *pre,
                               const struct word *words, size_t count,
                               bool scores)
{
    gguf_start(&image);
    gguf_string(&image, "general.architecture", "llama");
    gguf_string(&image, "tokenizer.ggml.model", kind);
    if (pre)
        gguf_string(&image, "tokenizer.ggml.pre", pre);
    put_words(words, count, scores);
}

static inline void put_merges(const char *const *merges, size_t count)
{
    gguf_array(&image, "tokenizer.ggml.merges", MF_VALUE_STRING, count);
    for (size_t i = 0; i < count; i++)
        image_text(&image, merges[i], strlen(merges[i]));
}

static inline void put_u32(const char *key, uint64_t value)
{
    gguf_number(&image, key, MF_VALUE_U32, value, 4);
}

static inline void put_bool(const char *key, bool value)
{
    gguf_number(&image, key, MF_VALUE_BOOL, value, 1);
}

/* Moves the files of the stage into the scratch folder, which is a model's. */
static inline void take_files(const struct mf_stage *stage)
{
    static const char *const names[] = {
        "tokenizer.json",          "vocab.txt",
        "tokenizer.model",         "spiece.model",
        "sentencepiece.bpe.model", "added_tokens.json",
        "tokenizer_config.json"
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        char path[600];

        snprintf(path, sizeof(path), "%s%s", stage->inside, names[i]);
        if (rename(path, scratch_path(names[i])) != 0)
            assert_int_equal(errno, ENOENT);
    }
}

static inline enum mf_status restore(void)
{
    struct mf_stage stage = MF_STAGE_NONE;
    struct mf_model *gguf;
    enum mf_status status;

    begin_folder();
    gguf_save(&image, scratch_path("in.gguf"));
    gguf = open_model(scratch_path("in.gguf"));
    assert_int_equal(mf_stage_begin(env, scratch_path("out"), &stage), MF_OK);
    status = mf_restore_tokenizer(&stage, gguf);
    take_files(&stage);
    mf_stage_abort(&stage);
    mf_model_close(gguf);
    return status;
}

static inline void must_restore(void)
{
    if (restore() != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
}

static const struct word byte_words[] = {
    { "a", 1, 0 },     { "b", 1, 0 },         { "c", 1, 0 },
    { "ab", 1, 0 },    { "abc", 1, 0 },       { "\u0120", 1, 0 },
    { "<|s|>", 3, 0 }, { "two words", 4, 0 }, { "\u00e9", 4, 0 },
    { "[PAD9]", 5, 0 }
};
static const char *const byte_merges[] = { "a b", "ab c" };

#endif
