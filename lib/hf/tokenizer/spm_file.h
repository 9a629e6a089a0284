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

#include "lib/io/reader.h"

/* ---- the fields of a message ---- */

/* The wire format only: what a field means is for its reader.  A message's
 * length was checked against the message around it, so no field leaves it.
 * Groups, which were given up before SentencePiece existed, are refused. */

enum mf_wire { MF_WIRE_VARINT, MF_WIRE_64, MF_WIRE_BYTES, MF_WIRE_32 = 5 };

struct mf_proto {
    struct mf_reader *reader;
    uint64_t next, end; /* offsets of the next field and of the message's end */
};

struct mf_field {
    uint32_t number;
    enum mf_wire wire;
    uint64_t value;      /* a number, or the bits of a float */
    struct mf_span span; /* of MF_WIRE_BYTES; the reader is at its start */
};

/* The message is what lies in that span. */
void mf_proto_init(struct mf_proto *proto, struct mf_reader *reader,
                   struct mf_span span);

/* The next field; false at the end, or after mf_fail.  The bytes of a field
 * may be read or left. */
bool mf_proto_next(struct mf_proto *proto, struct mf_field *field);

/* Whether it is that field, in that form; one in another form is unknown. */
static inline bool mf_field_is(const struct mf_field *field, uint32_t number,
                               enum mf_wire wire)
{
    return field->number == number && field->wire == wire;
}

/* ---- a tokenizer of SentencePiece: tokenizer.model ---- */

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
