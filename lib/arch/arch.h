/* SPDX-License-Identifier: MIT
 *
 * arch.h - the room that knows what each architecture's loader demands
 *
 * In: an open model.  Out: findings.  For GGUF they are errors: what is
 * reported here makes llama.cpp refuse the file, abort or compute something
 * else.  Models of other formats are compared with the same rows, as far
 * as names.def and facts say what they call the same.
 *
 * An architecture is a paragraph of lib/arch/tables: rows that say which
 * metadata is read, with which type; what must hold of it; which tensors are
 * looked up, and the shape of each.  The room runs these rows as the loader
 * would, from the first to the last: `if` rows choose, `each` rows repeat for
 * every block, `let` rows name a number.  run.c, keys.c and tensors.c explain
 * them.
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

/* Blocks that rows are repeated for; loaders take at most 512. */
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

#endif
