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

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/rows/codes.h"

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

/* ---- lib/hf/hub/names as tables, made by lib/rows/maker ---- */

/* A text is its place in mf_naming_text. */

extern const char mf_naming_text[];

struct mf_naming_tensor {
    uint32_t name; /* in GGUF; "#" for the number of a block */
    uint32_t flags;
};
extern const struct mf_naming_tensor mf_naming_tensors[];
extern const uint16_t mf_naming_sorted[]; /* the tensors by that name */
extern const size_t mf_naming_tensor_count;

/* What names begin with, up to their last dot; sorted. */
struct mf_naming_prefix {
    uint32_t text;
    uint16_t first, count; /* rows, sorted */
};
extern const struct mf_naming_prefix mf_naming_prefixes[];
extern const size_t mf_naming_prefix_count;

struct mf_naming_row { /* the rest of a name */
    uint32_t rest;
    uint16_t count, tensor[MF_NAMING_MEANINGS];
};
extern const struct mf_naming_row mf_naming_rows[];

/* A whole name that means something else in one architecture. */
struct mf_naming_only {
    uint32_t name;
    uint16_t tensor;
};
extern const struct mf_naming_only mf_naming_onlys[];

struct mf_naming_arch {
    uint32_t name;
    uint16_t only, only_count;
    uint16_t has[MF_NAMING_WORDS];
};
extern const struct mf_naming_arch mf_naming_archs[];
extern const size_t mf_naming_arch_count;

#endif
