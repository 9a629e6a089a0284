/* SPDX-License-Identifier: MIT
 *
 * spm_file.c - a tokenizer of SentencePiece: tokenizer.model
 *
 * As the library of protocol buffers reads it: of a field that is there twice
 * the last counts, of a message that is there twice each field; a field in an
 * unknown form, and a value that an enumeration lacks, are as if missing.
 */
#include "lib/hf/tokenizer/spm_file.h"

#include <math.h>

#include "lib/base/little.h"
#include "lib/base/names.h"
#include "lib/vocab/token_set.h"

/* ---- the fields of a message ---- */

void mf_proto_init(struct mf_proto *proto, struct mf_reader *reader,
                   struct mf_span span)
{
    *proto = (struct mf_proto){ .reader = reader,
                                .next = span.offset,
                                .end = span.offset + span.size };
}

static bool refuse_field(struct mf_proto *proto, const char *what)
{
    struct mf_reader *reader = proto->reader;

    mf_fail(reader->env, MF_ERR_CORRUPT, proto->next, "%s", what);
    return false;
}

/* How many bytes of the message are left. */
static uint64_t left(const struct mf_proto *proto)
{
    return proto->end - mf_reader_offset(proto->reader);
}

/* Seven bits a byte, the lowest first; 64 bits take ten bytes. */
static bool take_varint(struct mf_proto *proto, uint64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < 10 && left(proto) > 0; i++) {
        uint8_t byte = mf_take_u8(proto->reader);

        *out |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return !proto->reader->failed;
    }
    return refuse_field(proto, left(proto) > 0
                                   ? "a number has more than 64 bits"
                                   : "the message ends inside a field");
}

static bool take_fixed(struct mf_proto *proto, struct mf_field *field)
{
    if (left(proto) < (field->wire == MF_WIRE_64 ? 8 : 4))
        return refuse_field(proto, "the message ends inside a field");
    field->value = field->wire == MF_WIRE_64 ? mf_take_u64(proto->reader)
                                             : mf_take_u32(proto->reader);
    return !proto->reader->failed;
}

static bool take_bytes(struct mf_proto *proto, struct mf_field *field)
{
    uint64_t size;

    if (!take_varint(proto, &size))
        return false;
    if (size > left(proto)) {
        mf_fail(proto->reader->env, MF_ERR_CORRUPT, proto->next,
                "field %" PRIu32 " claims %" PRIu64 " bytes; %" PRIu64
                " are left",
                field->number, size, left(proto));
        return false;
    }
    field->span = (struct mf_span){ mf_reader_offset(proto->reader), size };
    return true;
}

static bool take_value(struct mf_proto *proto, struct mf_field *field)
{
    switch ((unsigned)field->wire) {
    case MF_WIRE_VARINT:
        return take_varint(proto, &field->value);
    case MF_WIRE_BYTES:
        return take_bytes(proto, field);
    case MF_WIRE_64:
    case MF_WIRE_32:
        return take_fixed(proto, field);
    default:
        return refuse_field(proto, "unknown kind of field");
    }
}

bool mf_proto_next(struct mf_proto *proto, struct mf_field *field)
{
    uint64_t tag;

    if (proto->reader->failed || proto->next >= proto->end)
        return false;
    if (mf_reader_offset(proto->reader) != proto->next)
        mf_reader_seek(proto->reader, proto->next);
    if (!take_varint(proto, &tag))
        return false;
    if (tag >> 32 != 0 || tag >> 3 == 0)
        return refuse_field(proto, "the number of a field is out of range");
    *field = (struct mf_field){ .number = (uint32_t)(tag >> 3),
                                .wire = (enum mf_wire)(tag & 7) };
    if (!take_value(proto, field))
        return false;
    proto->next = field->wire == MF_WIRE_BYTES
                      ? field->span.offset + field->span.size
                      : mf_reader_offset(proto->reader);
    return true;
}

/* ---- a tokenizer of SentencePiece: tokenizer.model ---- */

/* Where fields are, by sentencepiece_model.proto. */
enum { PIECES = 1, TRAINER, NORMALIZER };
enum { TEXT = 1, SCORE, TYPE };
enum {
    MODEL_TYPE = 3,
    BYTE_FALLBACK = 35,
    BOS_PIECE = 46,
    EOS_PIECE,
    PAD_PIECE
};
enum { CHARSMAP = 2, ADD_PREFIX, REMOVE_SPACES };

/* A hash must not show where the window cuts a text. */
#define HASH_PART 1024

static enum mf_status failed(const struct mf_reader *reader)
{
    return reader->env->error.status;
}

/* ---- the pieces ---- */

static float float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof(value));
    return value;
}

/* An enumeration has 32 bits. */
static uint32_t enum_of(const struct mf_field *field)
{
    return (uint32_t)field->value;
}

static void read_piece(struct mf_proto *message, struct mf_spm_piece *piece)
{
    struct mf_field field;

    while (mf_proto_next(message, &field)) {
        if (mf_field_is(&field, TEXT, MF_WIRE_BYTES))
            piece->text = field.span;
        else if (mf_field_is(&field, SCORE, MF_WIRE_32))
            piece->score = float_of(field.value);
        else if (mf_field_is(&field, TYPE, MF_WIRE_VARINT) &&
                 enum_of(&field) >= MF_SPM_PIECE_NORMAL &&
                 enum_of(&field) <= MF_SPM_PIECE_BYTE)
            piece->type = (enum mf_spm_piece_type)enum_of(&field);
    }
}

void mf_spm_begin(struct mf_proto *file, struct mf_reader *reader)
{
    mf_proto_init(file, reader, (struct mf_span){ 0, reader->limit });
}

bool mf_spm_next(struct mf_proto *file, struct mf_spm_piece *piece)
{
    struct mf_proto message;
    struct mf_field field;

    *piece = (struct mf_spm_piece){ .type = MF_SPM_PIECE_NORMAL };
    while (mf_proto_next(file, &field))
        if (mf_field_is(&field, PIECES, MF_WIRE_BYTES)) {
            mf_proto_init(&message, file->reader, field.span);
            read_piece(&message, piece);
            return failed(file->reader) == MF_OK;
        }
    return false;
}

/* ---- settings of the trainer and the normalizer ---- */

static void read_trainer(struct mf_proto *message, struct mf_spm *spm)
{
    struct mf_field field;

    while (mf_proto_next(message, &field)) {
        if (mf_field_is(&field, MODEL_TYPE, MF_WIRE_VARINT) &&
            enum_of(&field) >= MF_SPM_UNIGRAM && enum_of(&field) <= MF_SPM_CHAR)
            spm->algorithm = (enum mf_spm_algorithm)enum_of(&field);
        else if (mf_field_is(&field, BYTE_FALLBACK, MF_WIRE_VARINT))
            spm->byte_fallback = field.value != 0;
        else if (mf_field_is(&field, BOS_PIECE, MF_WIRE_BYTES))
            spm->bos = field.span;
        else if (mf_field_is(&field, EOS_PIECE, MF_WIRE_BYTES))
            spm->eos = field.span;
        else if (mf_field_is(&field, PAD_PIECE, MF_WIRE_BYTES))
            spm->pad = field.span;
    }
}

static void read_normalizer(struct mf_proto *message, struct mf_spm *spm)
{
    struct mf_field field;

    while (mf_proto_next(message, &field)) {
        if (mf_field_is(&field, CHARSMAP, MF_WIRE_BYTES))
            spm->charsmap = field.span;
        else if (mf_field_is(&field, ADD_PREFIX, MF_WIRE_VARINT))
            spm->add_prefix = field.value != 0;
        else if (mf_field_is(&field, REMOVE_SPACES, MF_WIRE_VARINT))
            spm->remove_spaces = field.value != 0;
    }
}

static enum mf_status read_facts(struct mf_reader *reader, struct mf_spm *spm)
{
    struct mf_proto file, message;
    struct mf_field field;

    mf_spm_begin(&file, reader);
    while (mf_proto_next(&file, &field)) {
        mf_proto_init(&message, reader, field.span);
        if (mf_field_is(&field, PIECES, MF_WIRE_BYTES))
            spm->count++;
        else if (mf_field_is(&field, TRAINER, MF_WIRE_BYTES))
            read_trainer(&message, spm);
        else if (mf_field_is(&field, NORMALIZER, MF_WIRE_BYTES))
            read_normalizer(&message, spm);
    }
    if (failed(reader) == MF_OK && spm->count > MF_SPM_MAX)
        return mf_fail(reader->env, MF_ERR_LIMIT, MF_NO_OFFSET,
                       "%" PRIu64 " pieces, at most %" PRIu64 " are supported",
                       spm->count, MF_SPM_MAX);
    return failed(reader);
}

/* ---- checks ---- */

struct checking {
    struct mf_reader *reader;
    const struct mf_spm *spm;
    struct mf_token_set seen;
    uint64_t id;
    uint64_t unknown;  /* pieces of that type */
    uint8_t bytes[32]; /* bit sets of the bytes that have a piece */
    bool first;        /* the first pass of the set */
};

static enum mf_status refuse(const struct checking *checking,
                             const struct mf_spm_piece *piece, const char *what)
{
    return mf_fail(checking->reader->env, MF_ERR_CORRUPT, piece->text.offset,
                   "piece %" PRIu64 " %s", checking->id, what);
}

/* "<0x4A>" is byte 0x4A, and is written so only; -1: something else. */
static int byte_of(const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *high = memchr(digits, text[3], 16);
    const char *low = memchr(digits, text[4], 16);

    return memcmp(text, "<0x", 3) == 0 && text[5] == '>' && high && low
               ? (int)((high - digits) * 16 + (low - digits))
               : -1;
}

static enum mf_status check_byte(struct checking *checking,
                                 const struct mf_spm_piece *piece)
{
    struct mf_reader *reader = checking->reader;
    const char *text;
    int byte;

    if (!checking->spm->byte_fallback)
        return refuse(checking, piece,
                      "is a byte, but 'byte_fallback' is false");
    mf_reader_seek(reader, piece->text.offset);
    text = piece->text.size == 6 ? (const char *)mf_take(reader, 6) : NULL;
    byte = text ? byte_of(text) : -1;
    if (byte < 0)
        return failed(reader)
                   ? failed(reader)
                   : refuse(checking, piece, "is not the name of a byte");
    checking->bytes[byte / 8] |= (uint8_t)(1 << byte % 8);
    return MF_OK;
}

static enum mf_status check_piece(struct checking *checking,
                                  const struct mf_spm_piece *piece)
{
    struct mf_reader *reader = checking->reader;
    bool has_nul;

    if (piece->text.size == 0)
        return refuse(checking, piece, "is empty");
    if (!isfinite(piece->score))
        return refuse(checking, piece, "has a score that is NaN or infinite");
    mf_reader_seek(reader, piece->text.offset);
    if (!mf_pass_text(reader, piece->text.size, &has_nul))
        return refuse(checking, piece, "is not UTF-8");
    if (piece->type == MF_SPM_PIECE_BYTE &&
        check_byte(checking, piece) != MF_OK)
        return failed(reader);
    checking->unknown += piece->type == MF_SPM_PIECE_UNKNOWN;
    return failed(reader);
}

static uint64_t hash_of(struct mf_reader *reader, struct mf_span text)
{
    uint64_t hash = reader->env->hash_seed;

    mf_reader_seek(reader, text.offset);
    for (uint64_t left = text.size; left > 0;) {
        size_t size = left < HASH_PART ? (size_t)left : HASH_PART;
        const char *part = (const char *)mf_take(reader, size);

        if (!part)
            break;
        hash = mf_text_hash((struct mf_str){ part, size }, hash);
        left -= size;
    }
    return hash;
}

static enum mf_status check_pass(struct checking *checking)
{
    struct mf_reader *reader = checking->reader;
    struct mf_spm_piece piece;
    struct mf_proto file;
    uint64_t hash;

    mf_spm_begin(&file, reader);
    for (checking->id = 0; mf_spm_next(&file, &piece); checking->id++) {
        if (checking->first && check_piece(checking, &piece) != MF_OK)
            return failed(reader);
        hash = hash_of(reader, piece.text);
        if (mf_token_set_takes(&checking->seen, hash) &&
            !mf_token_set_add(&checking->seen, hash))
            return refuse(checking, &piece, "has the text of an earlier one");
    }
    return failed(reader);
}

static enum mf_status check_pieces(struct checking *checking)
{
    enum mf_status status = MF_OK;

    for (uint32_t pass = 0; pass < checking->seen.passes && status == MF_OK;
         pass++) {
        checking->first = pass == 0;
        mf_token_set_begin(&checking->seen, pass);
        status = check_pass(checking);
    }
    return status;
}

static enum mf_status check_all(struct checking *checking)
{
    struct mf_env *env = checking->reader->env;

    if (checking->unknown != 1)
        return mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                       "%" PRIu64 " pieces of type 'unknown', not 1",
                       checking->unknown);
    for (int byte = 0; byte < 256 && checking->spm->byte_fallback; byte++)
        if (!(checking->bytes[byte / 8] & 1 << byte % 8))
            return mf_fail(env, MF_ERR_CORRUPT, MF_NO_OFFSET,
                           "'byte_fallback' is true, but no piece is "
                           "byte 0x%02X",
                           (unsigned)byte);
    return MF_OK;
}

/* The size of a trie, the trie, and the texts that it leads to. */
static enum mf_status check_charsmap(struct mf_reader *reader,
                                     struct mf_span charsmap)
{
    const uint8_t *size;

    if (charsmap.size == 0)
        return MF_OK;
    mf_reader_seek(reader, charsmap.offset);
    size = charsmap.size > 4 ? mf_take(reader, 4) : NULL;
    if (failed(reader))
        return failed(reader);
    if (size && mf_little_32(size) < charsmap.size - 4)
        return MF_OK;
    return mf_fail(reader->env, MF_ERR_CORRUPT, charsmap.offset,
                   "'precompiled_charsmap' is cut off");
}

enum mf_status mf_spm_read(struct mf_reader *reader, struct mf_spm *out)
{
    struct mf_env *env = reader->env;
    struct checking checking = { .reader = reader, .spm = out };
    enum mf_status status;

    *out = (struct mf_spm){ .algorithm = MF_SPM_UNIGRAM,
                            .add_prefix = true,
                            .remove_spaces = true };
    if (read_facts(reader, out) != MF_OK ||
        mf_token_set_init(&checking.seen, env, out->count, MF_WINDOW) != MF_OK)
        return env->error.status;
    status = check_pieces(&checking);
    mf_token_set_release(&checking.seen);
    if (status == MF_OK)
        status = check_all(&checking);
    return status == MF_OK ? check_charsmap(reader, out->charsmap) : status;
}
