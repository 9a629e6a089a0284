/* SPDX-License-Identifier: MIT
 *
 * torch.h - checkpoints of PyTorch: declarations of this folder
 *
 * A checkpoint is a pickle that describes tensors, and the bytes of their
 * storages: members of a zip archive (PyTorch 1.6 and later), or after five
 * pickles in a row (before).
 *
 *     torch.c    the row of zip archives: detection, members, byte order
 *     legacy.c   the row of files of before 1.6
 *     storages.c which storage a persistent id means, and whether it fits
 *     walk.c     the values of a pickle, one after the other, with their names
 *     tensor.c   tensors among them
 *     arguments.c what the calls say that make a tensor
 *     meta.c     numbers and texts among them: metadata
 *     values.c   a metadata value that is read later
 *     pickle.h   the machine that reads a pickle
 *
 * Hard parts.  A pickle can have a value in many places, also within itself:
 * the walk ends where it comes back to a value that it is in, and counts what
 * it makes against a limit that grows with the pickle, so that a short one
 * cannot fill the memory.
 */
#ifndef MF_TORCH_TORCH_H
#define MF_TORCH_TORCH_H

#include "torch/pickle.h"

/* A storage, as a persistent id describes it. */
struct torch_storage {
    uint32_t row;   /* of index->stored */
    uint8_t dtype;  /* of enum pickle_dtype */
    uint64_t whole; /* elements of the row */
    uint64_t count; /* of them, in the storage */
    uint64_t from;  /* element where it begins in the row's bytes */
    uint32_t part;  /* node of the part's key; PICKLE_NIL: all of the row */
};

/* Memory that reading a file takes where the program has set no limit of its
 * own: enough for a checkpoint of 100,000 tensors. */
#define TORCH_HEAP_MAX ((size_t)64 << 20)

/* Sets that limit until mf_torch_end, which gets what this returns. */
bool mf_torch_begin(struct mf_env *env);
void mf_torch_end(struct mf_env *env, bool bound);

/* Names longer than this are not listed. */
#define TORCH_NAME_MAX 4096

/* How many values can be within each other. */
#define TORCH_DEPTH_MAX 64

/* A value whose items are visited one after the other. */
struct torch_level {
    uint32_t node, item; /* item: the next one, PICKLE_NIL at the end */
    uint32_t position;   /* of it */
    uint32_t name_size;  /* of the value's own name */
    uint8_t way;         /* enum torch_way */
    bool is_added;       /* of a call: items were added to it, */
    uint32_t added;      /* in this way: PICKLE_ADDED_STATE, ... */
};

struct torch_walk {
    struct mf_env *env;
    struct mf_index *index;
    struct mf_part *part;
    struct pickle *pickle;
    const struct mf_names *keys;        /* of storages: rows by key */
    bool swapped;                       /* elements are big-endian */
    bool filling;                       /* else only counting */
    bool full;                          /* the limit was met */
    uint64_t left;                      /* bytes that may still be made */
    uint64_t steps_left;                /* values that may still be visited */
    uint64_t tensors, name_bytes, dims; /* counted */
    uint8_t *width; /* of numbers for each row of index->stored, as PyTorch
                       turns them around; NULL unless swapped */
    size_t width_size;
    bool resting; /* what the values do not have is looked at */
    unsigned depth;
    unsigned unproven; /* from this depth on nothing is known of how the
                          values are used; 0: it is */
    struct torch_level level[TORCH_DEPTH_MAX];
    size_t name_size;
    char name[TORCH_NAME_MAX + 1];
};

/* Adds what the pickle describes to the index: tensors, metadata, findings.
 * keys: rows of index->stored by the key of a storage. */
enum mf_status mf_torch_walk(struct mf_index *index, struct mf_part *part,
                             struct pickle *pickle, const struct mf_names *keys,
                             bool swapped);

/* The name of the value being visited. */
struct mf_str mf_torch_name(const struct torch_walk *walk);

/* Offset of a node in the file. */
static inline uint64_t mf_torch_at(const struct pickle *pickle, uint32_t node)
{
    return pickle->span.offset + pickle->node[node].at;
}

/* Counts so many bytes against the limit; false once it is met. */
bool mf_torch_spend(struct torch_walk *walk, uint64_t bytes);

/* mf_index_miss of the value being visited. */
void mf_torch_miss(struct torch_walk *walk, const char *format, ...)
    MF_PRINTF(2, 3);

/* ---- arguments.c ---- */

/* A tensor, as the calls that make it describe it. */
struct torch_tensor {
    uint32_t node;
    struct torch_storage storage;
    struct mf_str key;
    uint64_t offset;
    uint32_t shape, strides; /* nodes; PICKLE_NIL: all of the storage */
    uint32_t rank;
    uint8_t dtype;
};

enum torch_fault {
    TORCH_NO_FAULT,
    TORCH_UNREAD, /* PyTorch makes a tensor that is not read here */
    TORCH_REFUSED /* it makes none */
};

/* Finds out what the node, a tensor or a storage, is.  After a fault *what
 * says it, or is NULL for a call of a kind that is not read, and out->node is
 * the call. */
enum torch_fault mf_torch_describe(struct pickle *pickle, uint32_t node,
                                   struct torch_tensor *out, const char **what);

/* Reads a shape or strides of at most MF_RANK_MAX numbers, which
 * mf_torch_describe has checked. */
void mf_torch_numbers(const struct pickle *pickle, uint32_t node,
                      uint64_t *out);

/* ---- tensor.c ---- */

/* Sets walk->width. */
enum mf_status mf_torch_widths(struct torch_walk *walk);

/* Whether the node is a tensor of any kind, or a storage by itself. */
bool mf_torch_is_tensor(const struct pickle *pickle, uint32_t node);

/* Adds the tensor of that name. */
enum mf_status mf_torch_tensor(struct torch_walk *walk, uint32_t node);

/* ---- storages.c ---- */

/* What the persistent id of a storage says; a fault of it, or NULL. */
const char *mf_torch_storage(const struct pickle *pickle, uint32_t node,
                             struct torch_storage *out, struct mf_str *key);

/* ---- meta.c ---- */

/* Adds a number, a text or a list of numbers as metadata; *done: false where
 * the node is something else. */
enum mf_status mf_torch_meta(struct torch_walk *walk, uint32_t node,
                             bool *done);

/* ---- values.c ---- */

enum mf_status mf_torch_value_next(struct mf_values *values,
                                   struct mf_value *out);

/* ---- torch.c ---- */

uint32_t mf_torch_type_id(enum mf_type type);
const char *mf_torch_type_name(uint32_t type_id);

/* What the rows of both kinds of checkpoint have in common. */
#define TORCH_MEMBERS                                                          \
    .name = "pytorch", .suffix = ".pt", .layout = MF_LAYOUT_SHARED,            \
    .values = MF_VALUES_JSON, .naming = MF_NAMING_HF,                          \
    .allows_nonfinite = true, .unlisted = true, .is_source = true,             \
    .rules = "PICKLE-", .value_next = mf_torch_value_next,                     \
    .open_stored = mf_stored_open, .type_name = mf_torch_type_name,            \
    .type_id = mf_torch_type_id

#endif
