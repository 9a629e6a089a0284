/* SPDX-License-Identifier: MIT
 *
 * npy.h - arrays of NumPy, alone or in an archive: declarations of this folder
 *
 *     header.c  what precedes the elements of an array
 *     array.c   an array as a tensor
 *     npy.c     the row of .npy, one array
 *     npz.c     the row of .npz, a zip archive of them
 */
#ifndef MF_NPY_NPY_H
#define MF_NPY_NPY_H

#include "lib/model/format.h"

/* Magic, version, and a length of 2 bytes in version 1, else of 4. */
#define NPY_MAGIC      "\x93NUMPY"
#define NPY_MAGIC_SIZE 6
#define NPY_START      12

/* numpy.load reads 10,000 bytes unless it is asked to trust the file. */
#define NPY_HEADER_MAX ((size_t)64 * 1024)

/* Kinds of elements that tensors do not have; each has a name. */
enum npy_kind {
    NPY_NUMBER, /* a type of tensors */
    NPY_BYTES,
    NPY_TEXT,
    NPY_VOID,
    NPY_RECORD,
    NPY_OBJECT,
    NPY_TIME,
    NPY_SPAN,
    NPY_C128,
    NPY_F128,
    NPY_C256,
    NPY_KINDS
};

struct npy_header {
    enum mf_type type; /* MF_TYPE_UNKNOWN: see kind */
    enum npy_kind kind;
    uint64_t element; /* bytes of one */
    uint8_t swap;     /* bytes whose order changes; 1: none */
    bool fortran;     /* the first dimension is contiguous */
    uint32_t rank;
    uint64_t dim[MF_RANK_MAX];
    struct mf_str descr; /* its type as the header has it */
    size_t data;         /* offset of the elements from the magic */
};

/* What is wrong with a header. */
struct npy_fault {
    enum mf_rule rule;
    size_t at; /* from the magic */
    const char *what;
};

bool mf_npy_is_magic(const uint8_t *start);

/* How many bytes precede the elements, by the first NPY_START; 0, and *fault,
 * where that cannot be. */
size_t mf_npy_header_size(const uint8_t *start, struct npy_fault *fault);

/* Reads a whole header; descr points into it.  False, and *fault. */
bool mf_npy_header(const uint8_t *bytes, size_t size, struct npy_header *out,
                   struct npy_fault *fault);

/* ---- array.c ---- */

/* Where an array is. */
struct npy_place {
    struct mf_str name; /* of the tensor; terminated */
    uint64_t entry;     /* offset of its header in the file */
    uint64_t size;      /* bytes from the magic on */
    uint32_t row;       /* of index->stored */
};

/* Adds the tensor of a header, and findings about it. */
enum mf_status mf_npy_add(struct mf_index *index, const struct mf_part *part,
                          const struct npy_header *header,
                          const struct npy_place *place);

uint32_t mf_npy_type_id(enum mf_type type);
const char *mf_npy_type_name(uint32_t type_id);

enum mf_status mf_npy_value_next(struct mf_values *values,
                                 struct mf_value *out);

/* What the rows of an array and of an archive have in common. */
#define NPY_MEMBERS                                                            \
    .variant = "", .layout = MF_LAYOUT_SHARED, .values = MF_VALUES_STRINGS,    \
    .allows_nonfinite = true, .unlisted = true, .is_source = true,             \
    .rules = "NPY-", .value_next = mf_npy_value_next,                          \
    .open_stored = mf_stored_open, .type_name = mf_npy_type_name,              \
    .type_id = mf_npy_type_id

#endif
