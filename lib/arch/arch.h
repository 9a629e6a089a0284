/* SPDX-License-Identifier: MIT
 *
 * arch.h - the room that knows what each architecture's loader demands
 *
 * In: an open model.  Out: findings.  For GGUF they are errors: what is
 * reported here makes llama.cpp refuse the file, abort or compute something
 * else.  Models of other formats are compared with the same rows, as far
 * as names.def and facts say what they call the same.
 *
 * An architecture is a paragraph in section `loader` of a file in lib/families:
 * rows that say which metadata is read, with which type; what must hold of it;
 * which tensors are looked up, and the shape of each.  The room runs these rows
 * as the loader would, from the first to the last: `if` rows choose, `each`
 * rows repeat for every block, `let` rows name a number.  docs/rows.md explains
 * them.
 *
 * The same rows answer another question: what a number of a block is, such as
 * the keys that its attention keeps (mf_arch_open).  Then only rows that read
 * metadata are run, and nothing is reported.
 *
 * What always holds:
 * - A tensor is expected only if a row was reached that names it, and a tensor
 *   that no row names is an error as well: the loader counts them.
 * - A number that depends on metadata which is missing or has the wrong type is
 *   unknown.  An unknown length fits any dimension, and a condition that is
 *   unknown skips its rows: one fault is reported once.
 * - The rows are trusted, the file is not: its numbers are at most compared,
 *   added and multiplied with checks for overflow, loops end at
 *   MF_ARCH_BLOCKS_MAX, and no name from a file is followed.
 *
 * What was tried or considered instead:
 * - One table of tensors for all architectures with sets of required parts.  It
 *   held for 75 of them; hybrids, shared keys and values and blocks for
 *   speculative decoding each wanted an exception.
 * - Architectures as C functions, as inference engines have them: 152 of them
 *   could be neither listed nor made into test models.
 */
#ifndef MF_LIB_ARCH_H
#define MF_LIB_ARCH_H

#include "lib/model/model.h"

/* Blocks that rows are repeated for; loaders take at most 512.  For more, rows
 * are not run at all: some of the blocks would be a wrong sum. */
#define MF_ARCH_BLOCKS_MAX 1024

/* The names in the tables, in their order; NULL after the last one. */
const char *mf_arch_name_at(size_t index);

/* The name in the tables of the architecture that the model says it is of; NULL
 * if there are no rows for it.  Formats other than GGUF may use other names. */
const char *mf_arch_of(const struct mf_model *model, struct mf_str name);

/* The known name that differs only in case or punctuation; NULL if there is
 * none. */
const char *mf_arch_similar(struct mf_str name);

/* Runs the rows of an architecture.  whole: no shard is missing, so that every
 * tensor must be there.  In a model of another format than GGUF findings are
 * warnings: its readers are other programs. */
enum mf_status mf_arch_check(struct mf_model *model, const char *name,
                             bool whole);

/* The numbers of an open model: its metadata as its architecture's rows read
 * it. */
struct mf_arch_run;

/* keys: of a model of another format, its metadata as a model of GGUF has them;
 * or NULL.  What they lack is looked for under the names that the format has
 * for facts. */
enum mf_status mf_arch_open(struct mf_model *model, struct mf_model *keys,
                            struct mf_arch_run **out);
void mf_arch_close(struct mf_arch_run *run);

/* Whether there are rows for the model's architecture.  Without them numbers
 * come from group "before". */
bool mf_arch_is_known(const struct mf_arch_run *run);

/* The value of a `let` or a key of the rows, as the block sees it.  False if it
 * depends on metadata that is missing or has the wrong type. */
bool mf_arch_value(struct mf_arch_run *run, const char *name, uint64_t block,
                   int64_t *out);

/* Whether the file has a key of the rows, of the right type. */
bool mf_arch_has_key(const struct mf_arch_run *run, const char *name);

/* From now on numbers that depend on the key are unknown, if it is an array
 * of fewer or more elements. */
void mf_arch_expect_count(struct mf_arch_run *run, const char *name,
                          uint64_t least, uint64_t most);

/* Whether a key of the rows is one number, and 0, or is missing and counts as
 * 0. */
bool mf_arch_is_zero(const struct mf_arch_run *run, const char *name);

/* Whether the last value that was not known does not fit 63 bits. */
bool mf_arch_overflowed(const struct mf_arch_run *run);

/* ---- the tensors that rows name ---- */

struct mf_arch_tensor_row {
    struct mf_str name;    /* terminated, until the callback returns */
    struct mf_str pattern; /* of the rows: "*" is the block */
    uint64_t dim[4];       /* the contiguous one first */
    uint32_t rank;         /* without dimensions of 1 at the end */
    bool known;            /* all lengths are; else ignore dim */
    bool optional;
};
typedef enum mf_status mf_arch_take(void *user,
                                    const struct mf_arch_tensor_row *row);

/* Gives each tensor that the rows of the model's architecture name, whether or
 * not the model has it; some more than once.  *sure: no rows were left out for
 * want of metadata, and there are rows. */
enum mf_status mf_arch_list(struct mf_model *model, mf_arch_take *take,
                            void *user, bool *sure);

/* What is the matter with the metadata that the last unknown value depends on:
 * "'llama.block_count' is missing".  name: a key of the rows whose value makes
 * no sense, or NULL.  Puts "" if nothing can be said. */
void mf_arch_explain(const struct mf_arch_run *run, const char *name, char *out,
                     size_t room);

#endif
