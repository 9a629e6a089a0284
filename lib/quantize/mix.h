/* SPDX-License-Identifier: MIT
 *
 * mix.h - the type of every tensor of a model that is quantized
 *
 * Only the header of a model is looked at: what is decided here stands before a
 * byte of its tensors is read.  Tables are in mix.def.
 */
#ifndef MF_LIB_MIX_H
#define MF_LIB_MIX_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"
#include "lib/quantize/imatrix.h"
#include "lib/quantize/pattern.h"

struct mf_mix_result {
    uint32_t file_type; /* what the file says of itself */
    size_t changed;     /* tensors whose type is another one now */
    size_t fallbacks;   /* whose rows are not whole blocks of the type that
                           they were to have */
    size_t weighted;    /* that the importance matrix has an entry for */
    enum mf_type type;  /* of most; MF_TYPE_UNKNOWN: all stay */
};

/* The drafts list tensors and metadata of a model: all of it in the
 * first one or, with keep_split, the tensors of each shard in one of its own,
 * with the metadata in the first.  Brings their tensors into the order that
 * llama-quantize writes, gives each its type, size and weights, and leaves the
 * metadata as llama-quantize does.  imatrix: NULL for none. */
enum mf_status mf_mix_apply(struct mf_draft *const *drafts, size_t count,
                            struct mf_model *model,
                            const struct mf_quantize_options *options,
                            const struct mf_imatrix *imatrix,
                            struct mf_mix_result *out);

/* Of files whose tensors have a type that general.file_type has no number for.
 */
#define MF_NO_FILE_TYPE UINT32_MAX

/* ---- mix.c ---- */

/* The number of a block: of a name "blk.5.attn_q.weight". */
bool mf_block_of(struct mf_str name, uint64_t *out);

/* ---- mix_names.c ---- */

/* What a type depends on, beside the tensor itself. */
struct mf_mix {
    struct mf_env *env;
    const struct mf_quantize_options *options;
    size_t row; /* of the mixes; MF_NOT_FOUND: one type for all */
    bool copy;
    uint32_t file_type;
    enum mf_type type;              /* of tensors that no rule is about */
    enum mf_type output, embedding; /* MF_TYPE_UNKNOWN: the mix says */
    struct mf_pattern *pattern;     /* as many as options has */
    enum mf_type *pattern_type;
    /* the model */
    unsigned facts; /* that hold for each tensor */
    uint64_t blocks, experts;
    bool tied, has_output;
    /* how many there are, and have been */
    uint64_t value_count, values, downs, gates, ups;
    size_t fallbacks;
};

/* Which mix is asked for, and which types for which tensors. */
enum mf_status mf_mix_init(struct mf_mix *mix, struct mf_arena *arena,
                           const struct mf_quantize_options *options);

/* True of the mix that changes no type. */
bool mf_mix_is_copy(const char *name);

/* Refuses a mix that needs an importance matrix where there is none. */
enum mf_status mf_mix_need(const struct mf_mix *mix, bool has_imatrix);

/* What a file calls itself most of whose tensors are of a type. */
uint32_t mf_mix_file_type(enum mf_type type);

/* ---- mix_type.c ---- */

/* What metadata tell of the model, as GGUF has them, and then each tensor's
 * name. */
enum mf_status mf_mix_learn(struct mf_mix *mix, const struct mf_draft *facts,
                            bool has_imatrix);
void mf_mix_count(struct mf_mix *mix, struct mf_str name);

/* True where the tensor is one of those that are quantized. */
bool mf_mix_takes(const struct mf_mix *mix,
                  const struct mf_draft_tensor *tensor, bool fastest_first);

/* The type of the next tensor: to be asked of each that is taken, in order. */
enum mf_status mf_mix_type(struct mf_mix *mix,
                           const struct mf_draft_tensor *tensor,
                           bool fastest_first, enum mf_type *out);

bool mf_mix_is_embedding(struct mf_str name);

/* A type that is garbage where nobody knows which columns matter. */
bool mf_mix_needs_weights(const struct mf_mix *mix, struct mf_str name,
                          enum mf_type type);

/* ---- mix_meta.c ---- */

/* A metadatum; "*" in key stands for the architecture.  NULL: there is none. */
struct mf_entry *mf_draft_find_of(const struct mf_draft *draft,
                                  const char *key);

/* The number that it is, or the first of a list; 0 where there is none. */
enum mf_status mf_draft_number(const struct mf_draft *draft, const char *key,
                               uint64_t *number);

/* The number under that key, at the end; where the draft's format has another
 * key for it, under that. */
enum mf_status mf_draft_put_number(struct mf_draft *draft, const char *key,
                                   enum mf_value_type type, uint64_t number);

/* The metadata as llama-quantize leaves them. */
enum mf_status mf_mix_metadata(struct mf_draft *draft,
                               const struct mf_quantize_options *options,
                               const struct mf_imatrix *imatrix,
                               uint32_t file_type);

/* Which of several files each is. */
enum mf_status mf_mix_split(struct mf_draft *const *drafts, size_t count);

/* ---- prune.c ---- */

/* Leaves out blocks, and moves up the others: tensors and what metadata say of
 * each block.  facts as for mf_mix_learn. */
enum mf_status mf_prune(struct mf_draft *const *drafts, size_t count,
                        const struct mf_draft *facts, const uint32_t *blocks,
                        size_t block_count);

#endif
