/* SPDX-License-Identifier: MIT
 *
 * tokenizer.h - tokenizer files of Hugging Face as metadata of GGUF
 *
 * In: the folder of an open model.  Out: the keys tokenizer.* of a draft, in
 * the order and with the values that llama.cpp's converter gives them.
 *
 *     tokenizer        which procedure a `vocab` row names
 *     special          special tokens, and whether they are added to texts
 *     added            tokens that are added to the vocabulary
 *     base             tokens and types of tokenizer.json: BPE and WordPiece
 *     chat             chat templates
 *     tekken, mistral  vocabularies of Mistral's own format
 *
 * A row is `vocab PROCEDURE [WORD...] [| PROCEDURE [WORD...]]...`: the first
 * procedure whose files exist is run.  Words, for what add_to_gguf writes:
 *
 *     TYPE=ID          the id of a special token where no file gives one:
 *                      prefix=67
 *     TYPE=TOKEN       the same, by the text of an added token: eot=<|user|>
 *     TYPE:=ID         whatever the files say
 *     types=A,B        the types that are looked for, else bos, eos, unk, sep,
 *                      pad, cls, mask
 *     no-template      without chat template
 *     no-merges        without merges
 *     plain-added      added tokens as the file has them: neither decoded, nor
 *                      control tokens because of what they look like
 *
 * A vocabulary stays in its file and is streamed from there each time a header
 * is written; what is kept of it is at most four bytes for each token.
 */
#ifndef MF_LIB_TOKENIZER_H
#define MF_LIB_TOKENIZER_H

#include "lib/draft/draft.h"
#include "lib/vocab/known.h"

struct mf_fast; /* lib/hf/encode/fast.h */
struct mf_node; /* lib/json/tree.h */

struct mf_tokenizer_request {
    struct mf_env *env;
    const struct mf_model *model;
    struct mf_arena *arena;       /* lives as long as the draft */
    const struct mf_node *config; /* with text_config merged over it */
    const struct mf_node *file;   /* config.json as it is; NULL: missing */
    bool own_format;              /* Mistral's, which has params.json */
    bool no_community_template;   /* of it: no chat template of llama.cpp's */
    const char *arch;             /* general.architecture */
    uint64_t vocab_size;          /* vocab_size of config; 0: missing */
    /* tokenizer.json, once a procedure has opened it for the others; NULL: each
     * opens it for itself. */
    struct mf_fast **fast;
};

struct mf_special_id { /* an id that a procedure sets */
    const char *type;  /* "eot" */
    uint64_t id;
    bool always; /* also where a file gives one; its place stays */
};

struct mf_special_options { /* zero: what SpecialVocab(folder) does */
    uint64_t vocab_size;    /* ids from here on are left out; 0: none is */
    bool merges;            /* load and write them */
    bool no_template;
    bool plain_added;
    const char *const *types; /* NULL after the last; NULL: the usual seven */
    const struct mf_special_id *set;
    size_t set_count;
};

/* What a `vocab` row names.  *missing is set, and nothing added, where the
 * files are not there, so that the next procedure of the row is run. */
typedef enum mf_status
mf_tokenizer_procedure(struct mf_draft *draft,
                       const struct mf_tokenizer_request *request,
                       const struct mf_special_options *options, bool *missing);

/* Runs the procedure that words, the rest of a `vocab` row, say. */
enum mf_status mf_tokenizer_put(struct mf_draft *draft,
                                const struct mf_tokenizer_request *request,
                                struct mf_str words);

/* No more than its keys that need no tokenizer: what config.json says. */
enum mf_status
mf_tokenizer_put_outline(struct mf_draft *draft,
                         const struct mf_tokenizer_request *request,
                         struct mf_str words);

/* Adds the keys of the special tokens, and the chat templates.  options NULL:
 * all zero. */
enum mf_status mf_special_put(struct mf_draft *draft,
                              const struct mf_tokenizer_request *request,
                              const struct mf_special_options *options);

/* Whether the text belongs to a control token that files often mark as an
 * ordinary one. */
bool mf_token_looks_special(struct mf_str text);

/* Writes text with a space for each U+2581 into out, which may be text.at;
 * returns its size. */
size_t mf_token_spaces(struct mf_str text, char *out);

#endif
