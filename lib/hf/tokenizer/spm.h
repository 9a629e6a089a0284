/* SPDX-License-Identifier: MIT
 *
 * spm.h - vocabularies of SentencePiece as metadata of GGUF
 *
 *     spm_file         reading tokenizer.model
 *     spm_added        tokens that other files put in the place of pieces
 *     spm_stream       tokens, scores and types, streamed from these files
 *     spm, unigram     the procedures: which files, which keys, in which order
 *     unigram_json     tokenizer.json of XLM-RoBERTa
 *     llama_hf         tokenizer.json of a SentencePiece model with byte
 *                      fallback, where tokenizer.model is missing
 *
 * The procedures follow llama.cpp's converter, some of which differ from each
 * other by an oddity: that is a field of struct mf_spm_list or struct
 * mf_spm_vocab, not a branch by a model's name.
 */
#ifndef MF_LIB_SPM_H
#define MF_LIB_SPM_H

#include "lib/hf/tokenizer/spm_file.h"
#include "lib/hf/tokenizer/tokenizer.h"

/* ---- tokens that other files put in the place of pieces ---- */

/* What trainers add to a finished tokenizer.model is listed in
 * added_tokens.json, in tokenizer_config.json or in tokenizer.json; of an id
 * that is there more than once the last counts.  Kept of each token is what its
 * type will be and where its text is: 16 bytes. */

/* Added tokens at most, four times what tokenizers of speech add. */
#define MF_SPM_ADDED_MAX ((size_t)1 << 18)

/* In the order in which they are read. */
enum mf_spm_added_file {
    MF_SPM_ADDED_JSON,      /* added_tokens.json: {"text": id} */
    MF_SPM_ADDED_CONFIG,    /* tokenizer_config.json, added_tokens_decoder */
    MF_SPM_ADDED_TOKENIZER, /* tokenizer.json, added_tokens */
    MF_SPM_ADDED_FIXED,     /* none: a text that the procedure has */
    MF_SPM_ADDED_FILES = MF_SPM_ADDED_FIXED
};

extern const char *const mf_spm_added_names[MF_SPM_ADDED_FILES];

struct mf_spm_added {
    uint64_t offset; /* of the text, a string, in its file; or its number */
    uint32_t id;
    uint8_t file, type; /* enum mf_spm_added_file, enum mf_token_type */
    bool spaces;        /* U+2581 of its text becomes a space */
};

/* What becomes of which file. */
enum mf_spm_added_use {
    MF_SPM_ADDED_LEAVE,  /* it is not read */
    MF_SPM_ADDED_PASS,   /* ids that are out of range are passed over */
    MF_SPM_ADDED_STRICT, /* and here they are refused */
    MF_SPM_ADDED_APPEND  /* the tokens come after the vocabulary, in their order
                          */
};

struct mf_spm_list {
    enum mf_spm_added_use use[MF_SPM_ADDED_FILES];
    bool looks; /* a token that looks like a control token is one, the others'
                   texts get their spaces: in tokenizer_config.json */
    uint64_t tokens; /* of the vocabulary; grows by those that are appended */
    const struct mf_spm_added *at; /* by rising ids */
    size_t count;
    /* The id of "<|im_end|>", which ends a turn of a chat: the last that is
     * listed, and the last of tokenizer_config.json that is special;
     * UINT64_MAX: it is not. */
    uint64_t chat_end, special_chat_end;
};

/* Reads the files that list->use names and that exist. */
enum mf_status mf_spm_list_read(struct mf_spm_list *list,
                                const struct mf_tokenizer_request *request);

/* ---- the vocabulary ---- */

mf_tokenizer_procedure mf_spm_put; /* tokenizer.model */
mf_tokenizer_procedure
    mf_spm_put_phi3; /* added tokens of tokenizer.json, too */
mf_tokenizer_procedure mf_spm_put_internlm2; /* ends a turn with <|im_end|> */
mf_tokenizer_procedure mf_spm_put_internlm3; /* likewise */
mf_tokenizer_procedure mf_unigram_put_t5;    /* spiece.model, with a charsmap */
/* sentencepiece.bpe.model, ids as transformers shifts them; else */
mf_tokenizer_procedure mf_unigram_put_xlm;
mf_tokenizer_procedure mf_unigram_put_json; /* tokenizer.json */

/* tokenizer.json with byte fallback, where tokenizer.model is missing. */
mf_tokenizer_procedure mf_llama_hf_put;
mf_tokenizer_procedure mf_llama_hf_put_gemma4; /* with merges */
mf_tokenizer_procedure mf_llama_hf_put_xverse; /* any vocabulary, no scores */

/* Rows of an embedding that belong to tokens, to which Gemma 3's is cut. */
enum mf_status mf_tokenizer_rows(const struct mf_model *model,
                                 struct mf_arena *arena,
                                 const struct mf_node *config, uint64_t *out);

/* ---- between spm*.c and unigram.c ---- */

struct mf_spm_vocab {
    struct mf_tokenizer_request request;
    const char *name;   /* of the file with the pieces */
    uint64_t file_size; /* when it was checked */
    struct mf_spm spm;
    uint64_t count;  /* of tokens */
    uint64_t pieces; /* that are used, from the first on */
    struct mf_spm_list list;
    /* Ids as transformers has them for models of fairseq: <s>, <pad>, </s> and
     * <unk> are before the fourth piece, and the last token is gone. */
    bool shifted;
    bool internlm; /* a NUL is written as a dragon; "[UNUSED..." is unused */
};

/* A vocabulary of the file of that name, checked, with everything that follows
 * from it but the number of tokens; NULL after mf_fail. */
struct mf_spm_vocab *
mf_spm_vocab_new(const struct mf_tokenizer_request *request, const char *name);

/* Sets the number of tokens; MF_ERR_LIMIT if there are too many. */
enum mf_status mf_spm_vocab_count(struct mf_spm_vocab *vocab, uint64_t count);

/* The error that there are more pieces than tokens, or fewer, where that may
 * not be. */
enum mf_status mf_spm_vocab_refuse(const struct mf_spm_vocab *vocab);

/* Sets tokenizer.ggml.model to that and adds tokens, scores and types, which
 * are streamed: the vocabulary lives as long as the draft. */
enum mf_status mf_spm_vocab_put(struct mf_draft *draft,
                                const struct mf_spm_vocab *vocab,
                                const char *model);

/* The kinds of segments that config.json says. */
enum mf_status
mf_unigram_put_type_count(struct mf_draft *draft,
                          const struct mf_tokenizer_request *request);

/* Special tokens and chat templates; ids from vocab->count on are left out. */
enum mf_status
mf_spm_vocab_put_special(struct mf_draft *draft,
                         const struct mf_spm_vocab *vocab,
                         const struct mf_special_options *options);

/* For struct mf_entry, whose elements is the vocabulary. */
mf_read_entry mf_spm_stream_tokens;
mf_read_entry mf_spm_stream_scores;
mf_read_entry mf_spm_stream_types;
mf_read_entry mf_spm_stream_charsmap;

#endif
