/* SPDX-License-Identifier: MIT
 *
 * spm_added.h - tokens that other files put in the place of pieces
 *
 * What trainers add to a finished tokenizer.model is listed in
 * added_tokens.json, in tokenizer_config.json or in tokenizer.json; of an id
 * that is there more than once the last counts.  Kept of each token is what its
 * type will be and where its text is: 16 bytes.
 */
#ifndef MF_LIB_SPM_ADDED_H
#define MF_LIB_SPM_ADDED_H

#include "lib/hf/tokenizer/tokenizer.h"

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

#endif
