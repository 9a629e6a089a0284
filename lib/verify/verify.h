/* SPDX-License-Identifier: MIT
 *
 * verify.h - whether a model was made from another one
 *
 * A quantized model is a function of its source: the types of its tensors are
 * known, and encoders give the same bytes everywhere.  So a claim of origin can
 * be tested, by encoding the source once more and comparing bytes.
 *
 * In: two open models and maybe an importance matrix.  Out: what became of each
 * tensor and metadata key, and a statement to be signed.
 *
 *     verify     the public function
 *     claims     which tensor of the source each tensor should come from
 *     compare    encodes the source and compares, on all threads
 *     part       one thread's part of that
 *     apart      how far numbers of a tensor that differs are from the source's
 *     keys       the metadata
 *     statement  an in-toto statement about all of it
 *
 * Invariants.
 *   - Source and model are read once, side by side; only tensors that differ
 *     are read again, for what another encoder would have made, and for their
 *     errors.  Nothing is written but the statement.
 *   - Types are the model's: no rule of a mix decides anything here.
 *   - Nothing depends on the number of threads.
 *   - What a file says is a claim, never a reason to believe it.
 */
#ifndef MF_LIB_VERIFY_H
#define MF_LIB_VERIFY_H

#include "lib/compare/diff.h"
#include "lib/quantize/imatrix.h"
#include "lib/write/piece.h"

/* A tensor of the model. */
struct mf_claim {
    /* What the source makes of its name, with the type that the model has;
     * NULL: nothing. */
    struct mf_draft_tensor *from;
    const char *reason; /* why it cannot follow from the source; or NULL */
    enum mf_verdict verdict;
    const char *version; /* of the encoder, if it is not today's; else NULL */
    bool weighted;       /* encoded with importance weights */
    bool head_differs;   /* the one scale of the whole tensor */
    bool refused;        /* a row of the source has no encoding */
    uint64_t differ;     /* blocks */
    uint64_t first;      /* of them */
    struct mf_apart *apart; /* NULL: not measured */
};

/* A metadata key that is not as in the source. */
struct mf_changed_key {
    struct mf_verified_key key;
    struct mf_changed_key *next;
};

struct mf_verification {
    struct mf_env *env;
    struct mf_model *model, *source;
    const struct mf_verify_options *options;
    const struct mf_isa *isa; /* chosen once: asking the processor is slow */
    struct mf_arena arena;
    struct mf_imatrix *imatrix; /* NULL: none */
    struct mf_weights weights;
    int effort; /* of the model's encoders; 0: its search is not known */
    struct mf_draft draft; /* the source under the model's names */
    struct mf_renaming renaming;
    struct mf_claim *claim; /* of each tensor of the model */
    size_t count;
    struct mf_changed_key *changed, **changed_end;
    struct mf_verify_result result;
};

/* ---- claims.c ---- */

/* Fills in draft and claims; fails where the models cannot be compared at
 * all. */
enum mf_status mf_verify_claims(struct mf_verification *work);

/* Makes the env's error, if there is one, the reason why a claim does not hold.
 * Fails if the error says nothing about the tensor, as a failed read does. */
enum mf_status mf_claim_explain(struct mf_verification *work,
                                struct mf_claim *claim);

/* The next tensor of the draft, from number *at on, that the model lacks; NULL:
 * no more. */
const struct mf_draft_tensor *
mf_verify_missing(const struct mf_verification *work, size_t *at);

/* The model's tensor of a claim. */
static inline const struct mf_record *
mf_claim_record(const struct mf_verification *work,
                const struct mf_claim *claim)
{
    return &work->model->index.tensor[claim - work->claim];
}

/* All bytes that the claim's tensor comes from. */
struct mf_piece mf_claim_piece(const struct mf_verification *work,
                               const struct mf_claim *claim);

/* ---- compare.c ---- */

/* Sets the verdict of each claim. */
enum mf_status mf_verify_compare(struct mf_verification *work);

/* ---- apart.c ---- */

/* Sets claim->apart, if both tensors can be decoded. */
enum mf_status mf_verify_measure(struct mf_verification *work,
                                 struct mf_crew *crew, const struct mf_isa *isa,
                                 struct mf_claim *claim);

/* ---- keys.c ---- */

/* Finds the changed keys. */
enum mf_status mf_verify_keys(struct mf_verification *work);

/* ---- statement.c ---- */

/* Whether a statement could be written now. */
enum mf_status mf_verify_check_statement(const struct mf_verification *work);

/* Hashes all files, and writes it. */
enum mf_status mf_verify_write_statement(struct mf_verification *work);

/* ---- a tensor of the model compared with the source's, part by part ---- */

struct mf_verify_found {
    uint64_t differ, first; /* blocks; the first of them */
    bool refused;           /* a row of the source has no encoding */
    float largest;          /* magnitude, of a piece that is measured */
};

struct mf_verify_part {
    struct mf_piece piece; /* of the source */
    struct mf_claim *claim;
    const struct mf_source *file; /* of the model */
    uint64_t place;               /* of its bytes there */
    uint64_t block;               /* number of its first block */
    struct mf_verify_found found;
};

struct mf_comparison {
    struct mf_verification *work;
    struct mf_crew crew;
    const struct mf_isa *isa;
    struct mf_verify_part *part;
    size_t count, room;
    struct mf_weight_buffer weights;
    float largest;       /* magnitude in a tensor with one scale */
    bool tries;          /* one difference is enough */
    atomic_bool refuted; /* and was found */
    bool explains;       /* a row without an encoding is an error */
};

/* Bytes of a block; of an unknown type each byte counts as one. */
static inline size_t mf_verify_block(const struct mf_draft_tensor *tensor)
{
    return tensor->type == MF_TYPE_UNKNOWN ? 1 : mf_types[tensor->type].bytes;
}

/* For mf_crew_run: compares part `task` of the comparison, the context. */
mf_task mf_verify_compare_part;

#endif
