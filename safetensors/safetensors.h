/* SPDX-License-Identifier: MIT
 *
 * safetensors.h - the format of Hugging Face: declarations of this folder
 *
 * A file is 8 bytes with the size of the header, a JSON object that describes
 * each tensor, and the tensor data without any gap.  There is no magic, no
 * version and no count of tensors.  A large model is several such files and a
 * model.safetensors.index.json that says which one has which tensor.
 *
 * Hard parts.  Without a count, memory for the tables is only known once the
 * whole header was read: it is read twice, see struct st_walk.  The first pass
 * finds every error that ends an open, so nothing is allocated for a bad file.
 * Nearly all headers come from one writer, so a description in its exact form
 * is scanned directly (tensor.c); any other goes through the JSON tokenizer.
 *
 * Invariants.  The passes run the same code; if the second one finds more than
 * was counted, the file has changed, which is an I/O error.  Names in an
 * index.json are names in its own folder, never paths (index.c).
 */
#ifndef MF_SAFETENSORS_H
#define MF_SAFETENSORS_H

#include "lib/model/format.h"

/* Bytes of the header's size, little-endian, at the start of a file. */
#define ST_LENGTH_SIZE 8

/* The format's limit for a header. */
#define ST_HEADER_MAX ((uint64_t)100000000)

/* One pass over the header: the first one checks and counts, the second one
 * (filling) fills the tables and adds findings. */
struct st_walk {
    struct mf_json json;
    struct mf_json after; /* the tokenizer's state after a tensor */
    struct mf_index *index;
    struct mf_part *part; /* the file */
    bool filling;
    bool metadata_seen;
    uint64_t tensor_count, name_size, dim_count;
    char *name; /* room for the next name; NULL: use preview */
    size_t name_room;
    uint64_t *dim; /* room for the next shape */
    uint64_t dim_room;
    uint64_t shape[MF_RANK_MAX]; /* of the current tensor */
    char preview[128];           /* enough of a name for a message */
};

/* In read.c. */
enum mf_status mf_safetensors_parse(struct mf_reader *reader,
                                    struct mf_index *index,
                                    struct mf_part *part);

/* In tensor.c: reads the description of a tensor, after its name, into *record
 * and walk->shape. */
enum mf_status mf_safetensors_tensor(struct st_walk *walk,
                                     struct mf_record *record);

/* In safetensors.c: the type for a dtype of dtypes.def; MF_TYPE_UNKNOWN for any
 * other. */
enum mf_type mf_safetensors_type(struct mf_str dtype);

/* The dtype for a type; NULL if the format does not have it. */
const char *mf_safetensors_dtype(uint32_t type);

/* In write.c. */
extern const struct mf_format_out mf_safetensors_out;

static inline enum mf_status st_failed(const struct st_walk *walk)
{
    return walk->index->env->error.status;
}

#endif
