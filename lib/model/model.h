/* SPDX-License-Identifier: MIT
 *
 * model.h - the room where files become a checked index
 *
 * In: a path, or bytes in memory.  Out: struct mf_model, that is the open files
 * and one index (index.h) of all their metadata and tensors.  Bytes are read
 * through lib/io; a format's parser (format.h) turns them into rows of the
 * index; what all formats share is done here, once: finding the other shards
 * (open_path.c), sizes and bounds of tensors (geometry.c), names, facts,
 * reading values (values.h).  No tensor data is read and nothing is written.
 *
 * What always holds:
 * - Bytes that cannot be read any further end opening with an error; any other
 *   fault is a finding, kept with the model, so that a damaged file can still
 *   be inspected.
 * - Once a model is open, no code computes an offset or parses a header again,
 *   except to stream a value that was left in the file.
 * - A tensor without MF_TENSOR_DAMAGED lies within its file, has the size of
 *   its type and shape, and overlaps no other.
 * - Metadata is the first shard's.  Metadata of later shards is kept apart,
 *   only to be compared with it.
 * - Memory is bounded by what was read, not by what a header claims.
 * - Opening never changes a file.  If an edit was interrupted, its journal is
 *   read as an overlay (pending.h).
 *
 * What was tried and rejected:
 * - The current shard as two fields of the index, set and reset around each
 *   check: findings then named whichever shard was handled last.  Findings
 *   take the number of their shard.
 * - Repairing an interrupted edit on opening: a planted journal could make
 *   `info` rewrite a model.  Readers never write.
 * - Treating a missing index.json as a model of one file: a shard of
 *   safetensors does not say that it is one, and 14 of 39 tensors were
 *   converted with exit code 0.
 */
#ifndef MF_LIB_MODEL_H
#define MF_LIB_MODEL_H

#include "lib/model/format.h"

struct mf_file { /* one shard */
    struct mf_source source;
    const char *path;
};

struct mf_model {
    struct mf_env *env;
    const struct mf_format *format;
    struct mf_index index;
    struct mf_arena paths;
    struct mf_file *file; /* as many as there are shards */
    struct mf_part *part; /* likewise */
    size_t file_count, file_room, part_room;
    struct mf_given *given; /* files of the program, or NULL */
    const char *list;       /* path of the list that names the files, or NULL */
    struct mf_model_info info;
    struct mf_tensor_reader *reader; /* of mf_tensor_read, or NULL */
    void (*release_reader)(struct mf_tensor_reader *reader);
    bool may_be_bare;      /* as in struct mf_open_options */
    bool alone;            /* nothing lies next to it */
    bool bare;             /* only config.json is there: no tensor is known */
    bool incomplete;       /* a shard whose name does not lead to the others */
    bool selected;         /* tensors were taken out or renamed: select.c */
    bool sidecar_template; /* a chat template next to the files was checked */
    uint32_t readers;      /* that findings were judged for last; 0: all */
    unsigned lacks; /* what rules need, once it was validated: coverage.c */
    bool validated, data_validated;  /* mf_model_validate(_data) has run */
    bool outline_validated;          /* with its outline */
    struct mf_file_digests *digests; /* that the files should have, or NULL */
    void (*release_digests)(struct mf_model *model);
    struct mf_model *scan; /* whose data was read in its place, or NULL */
    size_t scan_from;      /* of a scan: its first finding about data */
    size_t users; /* values and readers; the last to be closed releases it */
    bool closed;
    void *owned; /* memory that it was opened from, or NULL */
    size_t owned_size;
};

/* The model is read from these bytes of mf_alloc, and releases them. */
static inline void mf_model_own(struct mf_model *model, void *bytes,
                                size_t size)
{
    model->owned = bytes;
    model->owned_size = size;
}

/* For what reads the model, and may be closed after it. */
void mf_model_hold(struct mf_model *model);
void mf_model_leave(struct mf_model *model);

/* Opens a model of one file that a source reads, and closes the source with it
 * or after an error; name is copied. */
enum mf_status mf_model_open_view(struct mf_env *env, const char *name,
                                  const struct mf_source *source,
                                  const struct mf_open_options *options,
                                  struct mf_model **out);

/* The file has the tensor's numbers in big-endian order; also if its type is
 * unknown, which cannot be swapped. */
bool mf_record_is_swapped(const struct mf_model *model,
                          const struct mf_record *record);

/* Where the source of the tensor's shard has its bytes as a little-endian file
 * has them.  The bytes of an unknown type are where and as the file has
 * them. */
uint64_t mf_record_data(const struct mf_model *model,
                        const struct mf_record *record);

/* MF_ERR_UNSUPPORTED, after mf_fail, for one that cannot be swapped: for
 * callers that need values, not the file's bytes. */
enum mf_status mf_tensor_turnable(const struct mf_model *model, size_t tensor);

/* Counts the tensors, their elements and bytes, for mf_model_info. */
void mf_model_count(struct mf_model *model);

#endif
