/* SPDX-License-Identifier: MIT
 *
 * merges.h - the merges of a byte-pair encoding, streamed from their file
 *
 * From tokenizer.json, in either of its forms ("a b", and since 2024 ["a",
 * "b"]), else from merges.txt.
 */
#ifndef MF_LIB_MERGES_H
#define MF_LIB_MERGES_H

#include "lib/draft/draft.h"
#include "lib/json/tree.h"

/* Adds tokenizer.ggml.merges where there are merges.  json: tokenizer.json, of
 * which model.merges stayed in the file; NULL: missing. */
enum mf_status mf_merges_put(struct mf_draft *draft,
                             const struct mf_model *model,
                             const struct mf_node *json);

#endif
