/* SPDX-License-Identifier: MIT
 *
 * fast_slow.c - a tokenizer of vocab.json and merges.txt
 *
 * Without tokenizer.json transformers loads the slow tokenizer of the class and
 * converts it: what tokenizer.json would say depends on the class alone.
 */
#include "lib/hf/encode/fast.h"

#define BYTES(regex)                                                           \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"                      \
    "\"trim_offsets\":true,\"use_regex\":" regex "}"
#define MODEL "\"decoder\":" BYTES("true") ",\"model\":{\"type\":\"BPE\"}}"

static const char gpt2[] = "{\"pre_tokenizer\":" BYTES("true") "," MODEL;

static const char qwen2[] =
    "{\"normalizer\":{\"type\":\"NFC\"},"
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":["
    "{\"type\":\"Split\",\"behavior\":\"Isolated\",\"invert\":false,"
    "\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}|"
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"
    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}}," BYTES(
        "false") "]}," MODEL;

static const char qwen_flagged[] = "bos eos unk pad";
static const char all_flagged[] = "bos eos unk sep pad cls mask";

static const struct mf_slow rows[] = {
    { "Bart", gpt2, all_flagged, MF_ENDS_PAIR, false },
    { "CodeGen", gpt2, qwen_flagged, MF_ENDS_NONE, false },
    { "GPT2", gpt2, qwen_flagged, MF_ENDS_BOS, false },
    { "LED", gpt2, all_flagged, MF_ENDS_PAIR, false },
    { "Longformer", gpt2, all_flagged, MF_ENDS_PAIR, false },
    { "Qwen2", qwen2, qwen_flagged, MF_ENDS_NONE, true },
    { "Roberta", gpt2, all_flagged, MF_ENDS_PAIR, false },
};

static enum mf_status parse(struct mf_fast *fast)
{
    const char *text = fast->slow->json;
    struct mf_source source;
    struct mf_reader reader;
    struct mf_json json;
    enum mf_status status;

    mf_source_open_memory("tokenizer.json", text, strlen(text), &source);
    status = mf_reader_init(&reader, fast->env, &source, NULL, 0);
    if (status == MF_OK) {
        mf_json_init(&json, &reader);
        status =
            mf_tree_read(&json, fast->arena, MF_SIDECAR_LIMIT, &fast->json);
        mf_reader_release(&reader);
    }
    mf_source_close(&source);
    return status;
}

enum mf_status mf_fast_slow(struct mf_fast *fast)
{
    struct mf_sidecar file;
    enum mf_status status;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (strcmp(rows[i].class, fast->class->name) == 0)
            fast->slow = &rows[i];
    if (!fast->slow)
        return mf_fail(fast->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "missing file 'tokenizer.json': a %sTokenizer cannot be "
                       "built from vocab.json and merges.txt",
                       fast->class->name);
    fast->file = "vocab.json";
    status = mf_sidecar_open(&file, fast->model, fast->arena, fast->file);
    fast->file_size = file.source.size;
    if (mf_sidecar_close(&file, status) != MF_OK)
        return fast->env->error.status;
    return parse(fast);
}
