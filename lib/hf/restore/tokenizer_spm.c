/* SPDX-License-Identifier: MIT
 *
 * tokenizer_spm.c - tokenizer.model: a vocabulary as SentencePiece has it
 *
 * A message of Protocol Buffers (sentencepiece_model.proto).  A token that
 * tokenizer_config.json added has a piece, too, so that ids have no holes; what
 * that piece says does not count.
 */
#include "lib/base/str.h"
#include "lib/hf/restore/tokenizer.h"
#include "lib/hf/tokenizer/spm_file.h"

enum { PIECES = 1, TRAINER, NORMALIZER };
enum { TEXT = 1, SCORE, TYPE };
enum {
    MODEL_TYPE = 3,
    VOCAB_SIZE,
    BYTE_FALLBACK = 35,
    UNK_ID = 40,
    BOS_ID,
    EOS_ID,
    PAD_ID,
    UNK_PIECE = 45,
    BOS_PIECE,
    EOS_PIECE,
    PAD_PIECE
};
enum { NAME = 1, CHARSMAP, ADD_PREFIX, REMOVE_SPACES, ESCAPE_SPACES };

static enum mf_status failed(const struct mf_tokenizer_facts *facts)
{
    return facts->env->error.status;
}

/* ---- the wire format ---- */

static size_t varint_size(uint64_t value)
{
    size_t size = 1;

    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}

static void put_varint(struct mf_sink *sink, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        mf_put_u8(sink, (uint8_t)(value | 0x80));
    mf_put_u8(sink, (uint8_t)value);
}

static void put_tag(struct mf_sink *sink, uint32_t field, enum mf_wire wire)
{
    put_varint(sink, (uint64_t)field << 3 | (uint64_t)wire);
}

static void put_number(struct mf_sink *sink, uint32_t field, uint64_t value)
{
    put_tag(sink, field, MF_WIRE_VARINT);
    put_varint(sink, value);
}

static void put_string(struct mf_sink *sink, uint32_t field, struct mf_str text)
{
    put_tag(sink, field, MF_WIRE_BYTES);
    put_varint(sink, text.size);
    mf_put(sink, text.at, text.size);
}

/* ---- pieces ---- */

static float score_of(const struct mf_token_walk *walk)
{
    return mf_token_is_added(walk) ? 0 : (float)walk->score;
}

static void put_piece(struct mf_sink *sink, struct mf_str text, float score,
                      enum mf_spm_piece_type type)
{
    uint64_t inner = 1 + varint_size(text.size) + text.size + 5 +
                     (type != MF_SPM_PIECE_NORMAL ? 2 : 0);
    uint32_t bits;

    memcpy(&bits, &score, sizeof(bits));
    put_tag(sink, PIECES, MF_WIRE_BYTES);
    put_varint(sink, inner);
    put_string(sink, TEXT, text);
    put_tag(sink, SCORE, MF_WIRE_32);
    for (int shift = 0; shift < 32; shift += 8)
        mf_put_u8(sink, (uint8_t)(bits >> shift));
    if (type != MF_SPM_PIECE_NORMAL)
        put_number(sink, TYPE, type);
}

/* fairseq has others at these ids, which transformers puts there. */
static void put_first_pieces(struct mf_sink *sink)
{
    put_piece(sink, (struct mf_str){ "<unk>", 5 }, 0, MF_SPM_PIECE_UNKNOWN);
    put_piece(sink, (struct mf_str){ "<s>", 3 }, 0, MF_SPM_PIECE_CONTROL);
    put_piece(sink, (struct mf_str){ "</s>", 4 }, 0, MF_SPM_PIECE_CONTROL);
}

static enum mf_status put_pieces(const struct mf_tokenizer_facts *facts,
                                 uint64_t unknown, struct mf_sink *sink)
{
    struct mf_token_walk *walk = mf_token_walk_open(facts);
    enum mf_status status;

    if (facts->shifted)
        put_first_pieces(sink);
    while (walk && mf_token_walk_next(walk) && walk->id < facts->end)
        if (!facts->shifted || walk->id > 3)
            put_piece(sink, walk->text, score_of(walk),
                      walk->id == unknown ? MF_SPM_PIECE_UNKNOWN
                                          : (enum mf_spm_piece_type)walk->type);
    status = failed(facts);
    mf_token_walk_close(walk);
    return status;
}

/* ---- settings of the trainer and the normalizer ---- */

static void put_id(struct mf_sink *sink, uint32_t field,
                   const struct mf_named_token *named)
{
    put_number(sink, field, named->given ? named->id : UINT64_MAX); /* -1 */
}

static void put_name(struct mf_sink *sink, uint32_t field,
                     const struct mf_named_token *named)
{
    if (named->given)
        put_string(sink, field, named->text);
}

static void put_trainer(const struct mf_tokenizer_facts *facts,
                        const struct mf_named_token *unknown,
                        struct mf_sink *sink)
{
    bool unigram = mf_str_is(facts->kind, "t5");

    put_number(sink, MODEL_TYPE, unigram ? MF_SPM_UNIGRAM : MF_SPM_BPE);
    put_number(sink, VOCAB_SIZE, facts->end - facts->shifted);
    put_number(sink, BYTE_FALLBACK, facts->of_type[MF_TOKEN_BYTE] > 0);
    if (facts->shifted) /* the usual ids and texts */
        return;
    put_id(sink, UNK_ID, unknown);
    put_id(sink, BOS_ID, &facts->named[MF_NAMED_BOS]);
    put_id(sink, EOS_ID, &facts->named[MF_NAMED_EOS]);
    put_id(sink, PAD_ID, &facts->named[MF_NAMED_PAD]);
    put_name(sink, UNK_PIECE, unknown);
    put_name(sink, BOS_PIECE, &facts->named[MF_NAMED_BOS]);
    put_name(sink, EOS_PIECE, &facts->named[MF_NAMED_EOS]);
    put_name(sink, PAD_PIECE, &facts->named[MF_NAMED_PAD]);
}

static enum mf_status put_charsmap(const struct mf_tokenizer_facts *facts,
                                   struct mf_sink *sink)
{
    struct mf_values *values;
    enum mf_status status;
    struct mf_value value;
    uint64_t count;

    if (mf_values_open(facts->model, facts->charsmap, &values) != MF_OK)
        return failed(facts);
    status = mf_values_next(values, &value);
    count = value.count;
    put_tag(sink, CHARSMAP, MF_WIRE_BYTES);
    put_varint(sink, count);
    for (uint64_t i = 0; i < count && status == MF_OK; i++) {
        status = mf_values_next(values, &value);
        mf_put_u8(sink, (uint8_t)value.number.u64);
    }
    mf_values_close(values);
    return status;
}

/* Where no key says so, as llama.cpp does: a space is put before a text. */
static enum mf_status put_normalizer(const struct mf_tokenizer_facts *facts,
                                     struct mf_sink *sink)
{
    bool unigram = mf_str_is(facts->kind, "t5");
    bool gemma = mf_str_begins(facts->arch, "gemma");
    const char *name = facts->charsmap == MF_NO_KEY ? "identity" : "nmt_nfkc";

    put_string(sink, NAME, (struct mf_str){ name, strlen(name) });
    if (facts->charsmap != MF_NO_KEY && put_charsmap(facts, sink) != MF_OK)
        return failed(facts);
    put_number(sink, ADD_PREFIX,
               facts->prefix.given ? facts->prefix.value : !gemma);
    put_number(sink, REMOVE_SPACES,
               facts->squeeze.given ? facts->squeeze.value : unigram);
    put_number(sink, ESCAPE_SPACES, true);
    return failed(facts);
}

/* A message whose size is not known before it is written once. */
static enum mf_status
put_message(const struct mf_tokenizer_facts *facts, uint32_t field,
            enum mf_status (*put)(const struct mf_tokenizer_facts *facts,
                                  struct mf_sink *sink),
            struct mf_sink *sink)
{
    struct mf_sink *count = mf_alloc(facts->env, sizeof(*count));
    enum mf_status status;

    if (!count)
        return failed(facts);
    mf_sink_init(count, facts->env);
    status = put(facts, count);
    put_tag(sink, field, MF_WIRE_BYTES);
    put_varint(sink, count->offset);
    mf_release(facts->env, count, sizeof(*count));
    return status == MF_OK ? put(facts, sink) : status;
}

/* ---- all of it ---- */

/* The token that stands for what no other does: SentencePiece has exactly one
 * of that type, and a converter may have made it a control token. */
static enum mf_status find_unknown(const struct mf_tokenizer_facts *facts,
                                   struct mf_named_token *out)
{
    struct mf_token_walk *walk = mf_token_walk_open(facts);
    uint64_t id = facts->unknown < facts->count ? facts->unknown
                  : facts->named[MF_NAMED_UNK].given
                      ? facts->named[MF_NAMED_UNK].id
                      : 0;
    enum mf_status status = failed(facts);

    *out = (struct mf_named_token){ .given = false };
    while (walk && mf_token_walk_next(walk)) {
        bool called =
            facts->unknown == facts->count && mf_str_is(walk->text, "<unk>");

        if (walk->id != id && !called)
            continue;
        if (walk->type == MF_TOKEN_UNKNOWN || mf_token_is_added(walk)) {
            char *copy = mf_arena_text(facts->arena, walk->text.size);

            if (copy)
                memcpy(copy, walk->text.at, walk->text.size);
            *out = (struct mf_named_token){ .given = copy != NULL,
                                            .id = walk->id,
                                            .text = { copy, walk->text.size } };
            break;
        }
    }
    status = failed(facts);
    mf_token_walk_close(walk);
    if (status == MF_OK && !out->given)
        return mf_fail(facts->env, MF_ERR_UNSUPPORTED, MF_NO_OFFSET,
                       "no token has the type 'unknown', which SentencePiece "
                       "needs");
    return status;
}

static enum mf_status put_trainer_of(const struct mf_tokenizer_facts *facts,
                                     struct mf_sink *sink)
{
    put_trainer(facts, &facts->stand_in, sink);
    return MF_OK;
}

enum mf_status mf_tokenizer_write_spm(struct mf_tokenizer_facts *facts,
                                      struct mf_sink *sink)
{
    if (find_unknown(facts, &facts->stand_in) != MF_OK ||
        put_pieces(facts, facts->stand_in.id, sink) != MF_OK ||
        put_message(facts, TRAINER, put_trainer_of, sink) != MF_OK)
        return failed(facts);
    return put_message(facts, NORMALIZER, put_normalizer, sink);
}
