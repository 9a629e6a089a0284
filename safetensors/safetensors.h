/* SPDX-License-Identifier: MIT
 *
 * safetensors.h - what the files of this folder share
 */
#ifndef MF_SAFETENSORS_H
#define MF_SAFETENSORS_H

#include "lib/model/format.h"

/* A file: 8 bytes of the header's size, least significant first; the
 * header, a JSON object; the tensors' data, end to end. */
#define ST_LENGTH_SIZE 8

/* The format's own limit. */
#define ST_HEADER_MAX ((uint64_t)100000000)

/* A walk over the header.  It is walked twice by the same code: once to check
 * it and to count, once, filling, to keep and to note. */
struct st_walk {
    struct mf_json json;
    struct mf_json after; /* as it was after the first tensor */
    struct mf_index *index;
    struct mf_part *part; /* the file */
    bool filling;
    bool metadata_seen;
    uint64_t tensor_count, name_size, dim_count;
    char *name; /* where the next one goes; NULL: into preview */
    size_t name_room;
    uint64_t *dim; /* where the next shape goes */
    uint64_t dim_room;
    uint64_t shape[MF_RANK_MAX]; /* of the tensor that is being read */
    char preview[128];           /* enough of a name for a message */
};

/* In read.c: a row of the format. */
enum mf_status mf_safetensors_parse(struct mf_reader *reader,
                                    struct mf_index *index,
                                    struct mf_part *part);

/* In tensor.c: the description of a tensor, whose name was just read, into
 * *record and walk->shape. */
enum mf_status mf_safetensors_tensor(struct st_walk *walk,
                                     struct mf_record *record);

/* In safetensors.c: the type that a word of dtypes.def stands for;
 * MF_TYPE_UNKNOWN for any other. */
enum mf_type mf_safetensors_type(struct mf_str dtype);

/* The word for a type; NULL for any other type. */
const char *mf_safetensors_dtype(uint32_t type);

/* In write.c. */
extern const struct mf_format_out mf_safetensors_out;

static inline enum mf_status st_failed(const struct st_walk *walk)
{
    return walk->index->env->error.status;
}

#endif
