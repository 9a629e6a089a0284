/* SPDX-License-Identifier: MIT
 *
 * mix_sizes.h - how large a model would be in each mix, to the byte
 */
#ifndef MF_LIB_MIX_SIZES_H
#define MF_LIB_MIX_SIZES_H

#include "lib/draft/draft.h"
#include "lib/model/model.h"

/* More than mix.def has. */
#define MF_MIX_MAX 48

/* Devices that tensors are on, the host among them. */
#define MF_MIX_PLACES 17

/* Not a device: of these tensors the largest counts. */
#define MF_MIX_LOAN MF_MIX_PLACES

struct mf_mix_size {
    const char *name;
    bool needs_imatrix;
    bool known;                    /* false: the model cannot be quantized so */
    uint64_t file_size;            /* of one GGUF file */
    uint64_t data_size;            /* of its tensors, without padding */
    uint64_t place[MF_MIX_PLACES]; /* the same by device */
    uint64_t loan;                 /* the largest tensor of MF_MIX_LOAN */
};

struct mf_mix_sizes {
    uint64_t elements; /* of all tensors */
    size_t count;
    struct mf_mix_size mix[MF_MIX_MAX];
};

/* Which devices have a copy of the tensor: bits 1 << place, and 1 <<
 * MF_MIX_LOAN. */
typedef uint32_t mf_mix_place(void *user, struct mf_str name);

/* Sizes in every mix that the library can encode: of the file that
 * mf_model_quantize writes with allow_requantize and lossy set, under GGUF's
 * names where the model has Hugging Face's and they can be translated.  Two
 * things are not in it: the keys that name an importance matrix, and changes
 * that other options make.  The model may be damaged, and its data is not
 * read.  place NULL: all are on place 0. */
enum mf_status mf_mix_sizes(struct mf_model *model, mf_mix_place *place,
                            void *user, struct mf_mix_sizes *out);

#endif
