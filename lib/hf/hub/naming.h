/* SPDX-License-Identifier: MIT
 *
 * naming.h - what a tensor of a Hugging Face model is called in GGUF
 *
 * lib/hf/hub/names has the facts: tensors and their names in GGUF, their names
 * in Hugging Face's models, and which tensors an architecture has.  A new
 * family whose tensors have names that are known already needs no row there.
 */
#ifndef MF_LIB_NAMING_H
#define MF_LIB_NAMING_H

#include "lib/base/error.h"
#include "lib/hf/hub/naming_table.h"

/* Blocks of a model at most; readers of GGUF take 512. */
#define MF_NAMING_BLOCKS 4096

/* A tensor of an architecture. */
struct mf_named_tensor {
    size_t tensor;        /* row of the table */
    int32_t block;        /* -1: its name has no number */
    struct mf_str suffix; /* ".weight", ".bias" or "": a part of the name */
};

/* NULL: not an architecture of the table. */
const struct mf_naming_arch *mf_naming_arch_find(struct mf_str name);

/* Looks a name up: one of Hugging Face's models, or one of GGUF itself, which
 * may also end with ".scale".  False where the architecture, with so many
 * blocks, has no such tensor. */
bool mf_naming_find(const struct mf_naming_arch *arch, uint64_t blocks,
                    struct mf_str name, struct mf_named_tensor *out);

/* The tensor of the architecture with this name in GGUF, "#" for the block;
 * SIZE_MAX: it has none. */
size_t mf_naming_tensor(const struct mf_naming_arch *arch, struct mf_str name);

/* Puts the name in GGUF, cut if need be and terminated; returns its bytes. */
size_t mf_naming_put(const struct mf_named_tensor *named, char *out,
                     size_t room);

unsigned mf_naming_flags(const struct mf_named_tensor *named);

#endif
