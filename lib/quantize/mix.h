/* SPDX-License-Identifier: MIT
 *
 * mix.h - which type each tensor of a quantized model gets
 *
 * This room decides, lib/write writes.  In: an open model, drafts of its output
 * files, options, maybe an importance matrix.  Out: the drafts with tensors in
 * order, each with its type, size and importance values, and the metadata.
 *
 *     quantize     the public function: options, plan, result
 *     mix          the decisions for a whole model
 *     mix_sizes    how large a model would be in each mix
 *     mix.def      tables of llama-quantize: mixes, types, rules
 *     mix_names    which mix a name means
 *     mix_facts    what the rules depend on: experts, heads, layers
 *     mix_type     the type of one tensor
 *     mix_meta     the metadata
 *     prune        leaving out blocks
 *     pattern*     regular expressions for names of tensors
 *     imatrix*     importance matrices, of both file generations
 *     type_errors  the error of each tensor in each type, by some rows of it
 *                  (type_rows)
 *     choose*      one type for each tensor within a size, by numbers alone
 *
 * Invariants.
 *   - Only headers are read: everything is decided, or refused, before a byte
 *     of tensor data is read or an output is opened.
 *   - The files are the same as llama-quantize's (llama.cpp v0.5.0), byte for
 *     byte: also the order of tensors and metadata, and its counts
 *     (mix_type.c).  docs/quantize.md lists where they differ on purpose.
 *   - Decisions depend on metadata as GGUF has it, whatever format is written:
 *     the same model gets the same types everywhere.
 *   - A fact that cannot be read is an error.  It was 0 once, after a failed
 *     allocation, and silently chose another mix.
 *   - An importance matrix that applies to nothing is an error: it belongs to
 *     another model.  It used to be ignored without a word, as llama-quantize
 *     does.
 *
 * It knows no format by name, nor how blocks are encoded (lib/codec) or files
 * are written.
 */
#ifndef MF_LIB_MIX_H
#define MF_LIB_MIX_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"
#include "lib/quantize/imatrix.h"
#include "lib/quantize/pattern.h"

struct mf_mix_result {
    uint32_t file_type; /* general.file_type */
    uint32_t effort;    /* that metadata says; the least: it says none */
    size_t changed;     /* tensors that get another type */
    size_t fallbacks;   /* of those, how many have rows that are not whole
                           blocks of the type intended for them */
    size_t weighted;    /* of those, how many have importance values */
    size_t unweighted;  /* tensors that require importance values and have
                           none: only in a dry run */
    enum mf_type type;  /* of most tensors; MF_TYPE_UNKNOWN: all stay */
};

/* The drafts list tensors and metadata of a model: one draft with everything
 * or, with keep_split, a draft for each shard, the first of which has the
 * metadata. Sorts their tensors as llama-quantize does, gives each its type,
 * size and importance values, and completes the metadata.  imatrix may be NULL;
 * a tensor that requires importance values and has none is refused, unless it
 * is a dry run. */
enum mf_status mf_mix_apply(struct mf_draft *const *drafts, size_t count,
                            struct mf_model *model,
                            const struct mf_quantize_options *options,
                            const struct mf_imatrix *imatrix, bool dry_run,
                            struct mf_mix_result *out);

/* Where general.file_type has no number for the type of most tensors. */
#define MF_NO_FILE_TYPE UINT32_MAX

/* ---- mix_names.c ---- */

/* Rules of a mix at most. */
#define MF_MIX_RULES 96

/* What a type depends on, apart from the tensor itself. */
struct mf_mix {
    struct mf_env *env;
    const struct mf_quantize_options *options;
    size_t row; /* of mix.def; MF_NOT_FOUND: one type for all */
    bool copy;
    uint8_t rule[MF_MIX_RULES]; /* of mix.def, those for the row */
    size_t rule_count;
    uint32_t file_type;
    enum mf_type type;              /* of tensors without a rule */
    enum mf_type output, embedding; /* requested; MF_TYPE_UNKNOWN: the mix's */
    struct mf_pattern *pattern;     /* options->tensor_type_count of each */
    enum mf_type *pattern_type;
    /* the model */
    unsigned conditions; /* of mix_facts.h, those true for every tensor */
    uint64_t layers, experts;
    bool has_output;
    uint64_t value_count; /* tensors that count as attn_v */
    /* counted so far, see mix_type.c */
    uint64_t values, downs, gates, ups;
    size_t fallbacks;
    enum mf_type intended; /* before the last fallback */
    bool dry_run; /* nothing is refused for lack of importance values */
};

/* Finds the mix and the types that options name. */
enum mf_status mf_mix_init(struct mf_mix *mix, struct mf_arena *arena,
                           const struct mf_quantize_options *options);

/* Whether that is the mix that changes no type. */
bool mf_mix_is_copy(const char *name);

/* general.file_type where most tensors have this type. */
uint32_t mf_mix_file_type(enum mf_type type);

/* Whether the type is useless without importance values. */
bool mf_mix_type_needs_imatrix(enum mf_type type);

/* ---- mix.c ---- */

/* 5 for "blk.5.attn_q.weight"; false for names without a block. */
bool mf_block_number(struct mf_str name, uint64_t *out);

/* The order of tensors: by block, those without one first, then by name. */
bool mf_mix_is_before(struct mf_str first, struct mf_str second);

/* Fails for a tensor that cannot be quantized, or may not be. */
enum mf_status mf_mix_check_source(const struct mf_mix *mix,
                                   const struct mf_draft_tensor *tensor);

/* The importance matrix has a value for each column of each matrix in the
 * tensor.  A different count means the matrix of another model, except for an
 * embedding, which then gets no weights: what the matrix has under its name may
 * be for the output that it is tied to. */
enum mf_status mf_mix_check_weights(const struct mf_draft *draft,
                                    struct mf_draft_tensor *tensor,
                                    const struct mf_imatrix *imatrix);

/* ---- mix_facts.c ---- */

/* The metadata, as GGUF has it; after that, the name of every tensor. */
enum mf_status mf_mix_read_facts(struct mf_mix *mix,
                                 const struct mf_draft *facts,
                                 bool has_imatrix);

/* The same of another mix for the same model, tensors included. */
void mf_mix_share_facts(struct mf_mix *mix, const struct mf_mix *known,
                        bool has_imatrix);

/* ---- mix_type.c ---- */

/* Keeps which rules are for the mix: it is asked for each tensor. */
void mf_mix_find_rules(struct mf_mix *mix);

/* Takes the name of a tensor into account; call it for all before asking. */
void mf_mix_count(struct mf_mix *mix, struct mf_str name);

/* Whether the tensor is one that is quantized. */
bool mf_mix_selects(const struct mf_mix *mix,
                    const struct mf_draft_tensor *tensor, bool fastest_first);

/* What the type of a tensor depends on, apart from the mix. */
struct mf_mix_kind {
    uint8_t part; /* enum part of mix_type.c */
    bool several; /* matrices in one tensor, as experts are */
    uint64_t row; /* elements */
};

/* Of a selected tensor, after all names were counted. */
struct mf_mix_kind mf_mix_kind_of(const struct mf_mix *mix,
                                  const struct mf_draft_tensor *tensor,
                                  bool fastest_first);

/* The type of a tensor.  Counts: call it once for each selected tensor, in
 * order. */
enum mf_status mf_mix_type(struct mf_mix *mix, struct mf_str name,
                           const struct mf_mix_kind *kind, enum mf_type *out);

bool mf_mix_is_embedding(struct mf_str name);

/* Whether this tensor must not get the type without importance values. */
bool mf_mix_needs_weights(const struct mf_mix *mix, struct mf_str name,
                          enum mf_type type);

/* ---- mix_meta.c ---- */

/* The value of that key (as in mf_draft_find_of), or the first element of an
 * array; 0 where it is missing. */
enum mf_status mf_draft_number(const struct mf_draft *draft, const char *key,
                               uint64_t *number);

/* Sets the number at the end of the metadata, under the key that the draft's
 * format has for it. */
enum mf_status mf_draft_put_number(struct mf_draft *draft, const char *key,
                                   enum mf_value_type type, uint64_t number);

/* Changes the metadata as llama-quantize does. */
enum mf_status mf_mix_metadata(struct mf_draft *draft,
                               const struct mf_quantize_options *options,
                               const struct mf_imatrix *imatrix,
                               uint32_t file_type);

/* How far encoders searched, and of which version that search was. */
#define MF_EFFORT_KEY         "modelfile.effort"
#define MF_EFFORT_VERSION_KEY "modelfile.effort.version"

/* Once types are known: says so, or no longer.  *effort is the least where no
 * tensor is searched. */
enum mf_status mf_mix_put_effort(struct mf_draft *const *drafts, size_t count,
                                 uint32_t *effort);

/* Numbers the shards: split.no and the like. */
enum mf_status mf_mix_split(struct mf_draft *const *drafts, size_t count);

/* ---- prune.c ---- */

/* Leaves out blocks and renumbers those after them: tensors, and metadata that
 * has a value for each block.  facts: as for mf_mix_read_facts. */
enum mf_status mf_prune(struct mf_draft *const *drafts, size_t count,
                        const struct mf_draft *facts, const uint32_t *blocks,
                        size_t block_count);

/* ---- quantize.c ---- */

/* Fails for a model of which mf_model_quantize makes none. */
enum mf_status mf_quantize_refuse(struct mf_model *model);

#endif
