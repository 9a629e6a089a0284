/* SPDX-License-Identifier: MIT
 *
 * bare.h - what config.json says about weights that are not there
 */
#ifndef MF_LIB_HUB_BARE_H
#define MF_LIB_HUB_BARE_H

#include "lib/hf/hub/hub.h"

enum mf_bare_answer { MF_BARE_UNKNOWN, MF_BARE_NO, MF_BARE_YES };

struct mf_hub_bare {
    struct mf_str arch;    /* in GGUF */
    uint64_t blocks;       /* those that predict further tokens included */
    enum mf_type type;     /* of matrices in the file */
    bool type_known;       /* config.json names it; else it is f16 */
    bool generates;        /* its class ends with "ForCausalLM" */
    struct mf_str packing; /* how the weights are compressed; or size 0 */
    /* Whether there is an output apart from the embeddings, and a bias of
     * queries, keys, values and their output, and of the feed-forward part. */
    enum mf_bare_answer output, attention_bias, mlp_bias;
};

/* Fills in all of it; the recipe is open. */
void mf_hub_bare_of(const struct mf_hub *hub, struct mf_hub_bare *out);

/* Whether what the rows say of this architecture was compared with weights. */
bool mf_hub_bare_is_proven(const struct mf_hub_bare *bare);

/* The type of a tensor in the file; dim: the contiguous one first, at most 4.
 */
enum mf_type mf_hub_bare_type(const struct mf_hub_bare *bare,
                              struct mf_str name, const uint64_t *dim,
                              uint32_t rank);

/* Whether the pattern is the output, and config.json says that the embeddings
 * take its place: then the folder lacks it, even if loaders demand it. */
bool mf_hub_bare_is_tied(const struct mf_hub_bare *bare, struct mf_str pattern);

/* Whether the file has a tensor that its loader does not demand. */
enum mf_bare_answer mf_hub_bare_has(const struct mf_hub_bare *bare,
                                    struct mf_str pattern);

#endif
