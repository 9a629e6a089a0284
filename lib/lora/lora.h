/* SPDX-License-Identifier: MIT
 *
 * lora.h - the room lora: adapters, and what they add to a model
 *
 * In: an adapter, that is a folder of adapter_config.json and safetensors as
 * PEFT saves it, or a GGUF file that llama.cpp's converter made of one.  Out:
 * the names of what it changes, and for each of a model's tensors the node that
 * it is after the change.
 *
 * Invariants.
 *   - What the adapter changes and the model lacks is refused, and so is what
 *     would be left out: DoRA, new tokens, biases of the pairs.
 *   - Numbers stay in their files; heap grows with the number of tensors alone.
 *
 * The room does not know how a model's tensors are named in another format, nor
 * how an adapter becomes one (lib/hf/hub/adapter.c).
 *
 * Rounding: the result has the type of the model's tensor, as PEFT has it when
 * it merges and saves.  A recipe, and any --type, begin with that.
 */
#ifndef MF_LIB_LORA_H
#define MF_LIB_LORA_H

#include "lib/derive/derive.h"
#include "lib/folder/adapter.h"

struct mf_lora {
    struct mf_env *env;
    struct mf_arena arena;
    struct mf_model *model; /* the adapter */
    struct mf_adapter adapter;
    bool owned;    /* close it */
    double factor; /* what the caller wants of it, mostly 1 */
};

/* Opens an adapter.  Must be closed even after a failure. */
enum mf_status mf_lora_open(struct mf_lora *lora, struct mf_env *env,
                            const char *path);
/* The same for a model that is open, and stays so. */
enum mf_status mf_lora_read(struct mf_lora *lora, struct mf_model *model);
void mf_lora_close(struct mf_lora *lora);

/* The pair that the adapter's tensor is half of. */
enum mf_status mf_lora_pair(struct mf_lora *lora,
                            const struct mf_derivation *derivation,
                            size_t tensor, const struct mf_derived **a,
                            const struct mf_derived **b);

/* Refuses an adapter that changes more than matrices by pairs, and tensors as a
 * whole. */
enum mf_status mf_lora_check(struct mf_lora *lora);

/* The model's tensor of that name after the change: the node itself without a
 * change, NULL after mf_fail. */
const struct mf_derived *mf_lora_merge(struct mf_lora *lora,
                                       const struct mf_derivation *derivation,
                                       struct mf_str name,
                                       const struct mf_derived *node);

/* The tensors of a draft that are the model's, unchanged by names and rows. */
enum mf_status mf_lora_apply(struct mf_lora *lora, struct mf_draft *draft,
                             const struct mf_model *model);

/* Refuses an adapter of which something was not used. */
enum mf_status mf_lora_check_used(const struct mf_lora *lora);

/* Returns the status; where it is a failure, it is in a file of the adapter. */
enum mf_status mf_lora_set_file(const struct mf_lora *lora,
                                enum mf_status status);

#endif
