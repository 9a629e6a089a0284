/* SPDX-License-Identifier: MIT
 *
 * naming_table.h - lib/hf/hub/names as tables, made by lib/rows/maker
 *
 * A text is its place in mf_naming_text.
 */
#ifndef MF_LIB_NAMING_TABLE_H
#define MF_LIB_NAMING_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/rows/codes.h"

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
