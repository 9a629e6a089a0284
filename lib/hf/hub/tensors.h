/* SPDX-License-Identifier: MIT
 *
 * tensors.h - a Hugging Face model's tensors as a GGUF file has them
 *
 * The recipe's rows say what becomes of each (tensor_rows.h), lib/hf/hub/names
 * what it is called, lib/derive makes what is not plain bytes of the folder.
 * The order follows llama.cpp's converter: first what is made, then the
 * folder's tensors, file by file and in each by name; what several become is
 * where the last of them is.
 */
#ifndef MF_LIB_HUB_TENSORS_H
#define MF_LIB_HUB_TENSORS_H

#include "lib/derive/derive.h"
#include "lib/draft/draft.h"
#include "lib/hf/hub/recipe.h"
#include "lib/lora/lora.h"

struct mf_hub_tensors {
    struct mf_recipe *recipe; /* after a walk: its `let`s have their values */
    struct mf_draft *draft;   /* a GGUF file; its arena owns what is made */
    struct mf_str arch;       /* in GGUF */
    enum mf_type type;        /* of matrices, with `typed` */
    bool typed;               /* else bf16 or f16, as the folder's tensors are;
                                 `type` is what was found */
    bool keep_types;          /* each tensor has the type that it had */
    bool facts;               /* no more than those outside of blocks, from
                                 which the size of the vocabulary is known */
    bool fuse_qkv;            /* one tensor for the three of attention */
    bool fuse_gate_up;        /* one for two of a layer's experts */
    bool fp8_as_q8;           /* weights that were f8 become q8_0 */
    bool decode;              /* weights in blocks become floats, too */
    bool rounded;             /* they are rounded to their types, as if a file
                                 had been written and read again */

    struct mf_lora *lora;    /* an adapter that is merged; or NULL */
    struct mf_lora *adapter; /* one that is converted instead of the folder's
                                tensors; or NULL */

    /* What the folder's weights had already, and keep. */
    bool kept_nvfp4, kept_mxfp4;

    /* Numbers of elements, as the converter counts them for the size label. */
    uint64_t total, shared, expert;
    uint64_t expert_count; /* on average; `expert` is about one of them */
};

/* Adds all tensors to the draft. */
enum mf_status mf_hub_tensors(struct mf_hub_tensors *tensors);

/* The other way: takes each tensor of a GGUF file through the rows of the text,
 * and what becomes of it to `put`; node NULL: it is dropped.  One that no row
 * names is refused.  decode: quantized tensors become f32 before. */
typedef enum mf_status mf_hub_put(void *user, struct mf_str name,
                                  const struct mf_derived *node);
enum mf_status mf_hub_tensors_back(struct mf_recipe *recipe,
                                   const struct mf_rows_part *part, bool decode,
                                   mf_hub_put *put, void *user);

/* general.file_type, after that. */
uint32_t mf_hub_tensors_file_type(const struct mf_hub_tensors *tensors);

/* What the converter calls that, in the draft's arena: "F16"; NULL after
 * mf_fail. */
const char *mf_hub_tensors_type_name(const struct mf_hub_tensors *tensors);

#endif
