/* SPDX-License-Identifier: MIT
 *
 * rename_table.h - rename.def: architectures, and the names of their tensors
 */
#ifndef MF_LIB_RENAME_TABLE_H
#define MF_LIB_RENAME_TABLE_H

#include "lib/base/error.h"

/* ---- architectures ---- */

/* What sets an architecture apart beyond its tensors; see rename.def. */
enum mf_hub_trait {
    MF_HUB_PLAIN = 0,
    MF_HUB_KV_IS_HEADS = 1 << 0,
    MF_HUB_LLAMA3_ROPE = 1 << 1,
    MF_HUB_PHI3_ROPE = 1 << 2
};

/* A CLASS row of rename.def. */
struct mf_hub_class {
    const char *hf, *type, *gguf;
    unsigned family;
    unsigned traits; /* enum mf_hub_trait */
};

/* The row for what config.json says: its class hf, or where that is missing (at
 * NULL) its model_type.  NULL where no row fits. */
const struct mf_hub_class *mf_hub_class_find(struct mf_str hf,
                                             struct mf_str type);

/* The row for a general.architecture; NULL where no row fits. */
const struct mf_hub_class *mf_hub_class_named(struct mf_str name);

/* The error that no row fits. */
enum mf_status mf_hub_class_unknown(struct mf_env *env, struct mf_str name);

/* ---- names ---- */

enum mf_name_side { MF_SIDE_GGUF, MF_SIDE_HF };

enum mf_row_order {
    MF_ROWS_KEEP,
    MF_ROWS_Q,
    MF_ROWS_K,
    MF_ROWS_DROP,
    MF_ROWS_LOSE
};

/* A TENSOR row of rename.def. */
struct mf_rename_row {
    const char *name[2]; /* on each side; "": it has no name there */
    bool block;
    enum mf_row_order rows;
    unsigned families;
};

/* "blk." and "model.layers.", by enum mf_name_side. */
extern const char *const mf_block_prefix[2];

/* The row for a name, NULL where no row fits; *block is the block number's
 * digits in it (at NULL: it has none). */
const struct mf_rename_row *mf_rename_row_find(unsigned family,
                                               enum mf_name_side side,
                                               struct mf_str name,
                                               struct mf_str *block);

/* The digits of a block number; at NULL where the name has none. */
struct mf_str mf_rename_block(struct mf_str name, enum mf_name_side side);

#endif
