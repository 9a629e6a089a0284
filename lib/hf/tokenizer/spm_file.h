/* SPDX-License-Identifier: MIT
 *
 * spm_file.h - a tokenizer of SentencePiece: tokenizer.model
 *
 * A message of Protocol Buffers (sentencepiece_model.proto): the pieces, whose
 * place is their id, and settings of the trainer and the normalizer.  The
 * pieces, megabytes of them, are never kept: users go over the file.
 */
#ifndef MF_LIB_SPM_FILE_H
#define MF_LIB_SPM_FILE_H

#include "lib/hf/tokenizer/proto.h"

/* The types that SentencePiece and llama.cpp number alike. */
enum mf_spm_piece_type {
    MF_SPM_PIECE_NORMAL = 1,
    MF_SPM_PIECE_UNKNOWN,
    MF_SPM_PIECE_CONTROL,
    MF_SPM_PIECE_USER_DEFINED,
    MF_SPM_PIECE_UNUSED,
    MF_SPM_PIECE_BYTE
};

enum mf_spm_algorithm {
    MF_SPM_UNIGRAM = 1,
    MF_SPM_BPE,
    MF_SPM_WORD,
    MF_SPM_CHAR
};

/* All but the pieces. */
struct mf_spm {
    uint64_t count; /* of pieces, at most MF_SPM_MAX */
    enum mf_spm_algorithm algorithm;
    bool byte_fallback;
    bool add_prefix;         /* a space before a text */
    bool remove_spaces;      /* those that follow a space */
    struct mf_span charsmap; /* in the file; size 0: none */
    /* The trainer's names of the pieces before and after a text, and those that
     * fill a batch, likewise; size 0: as usual. */
    struct mf_span bos, eos, pad;
};

/* Four times as many as the largest vocabulary has that we know of. */
#define MF_SPM_MAX ((uint64_t)1 << 22)

/* Reads the file, which begins at the reader's first byte and ends at its
 * limit, and checks what SentencePiece checks before it uses one: above all
 * that every piece is there, is UTF-8 and is there once. */
enum mf_status mf_spm_read(struct mf_reader *reader, struct mf_spm *out);

struct mf_spm_piece {
    struct mf_span text; /* in the file */
    float score;
    enum mf_spm_piece_type type;
};

/* The pieces of a file that was read before.  false at the end, or after
 * mf_fail. */
void mf_spm_begin(struct mf_proto *file, struct mf_reader *reader);
bool mf_spm_next(struct mf_proto *file, struct mf_spm_piece *piece);

#endif
