/* SPDX-License-Identifier: MIT
 *
 * stored.h - bytes of tensors that do not lie in the file as they are read
 *
 * A member of an archive can be compressed, and a tensor can be a view of a
 * storage: elements at strides, big-endian, or a part that others share.  What
 * reads tensors does not want to know.  So such bytes get offsets of their own,
 * from MF_STORED_BASE on, and the file's source is wrapped in one that computes
 * what is there while it is read: hash, convert and all others read a
 * record's offset and size as ever.
 *
 * A format adds a row for each storage (a member, or what PyTorch calls so) and
 * a view for each tensor that is not simply a piece of its storage.  An offset
 * contains the number of its row, so that no table is searched:
 *
 *     bit 62        MF_STORED_BASE
 *     bit 61        a view, else the unpacked bytes of a storage
 *     bits 40..60   the row
 *     bits 0..39    where in it
 *
 * Inflating goes forward only.  The source keeps as many streams as threads
 * read at once; a read goes on with a stream that is at its place, or not far
 * before it, so that reading in order costs what inflating costs.
 */
#ifndef MF_LIB_STORED_H
#define MF_LIB_STORED_H

#include "lib/io/source.h"

#define MF_STORED_ROW_SHIFT 40
#define MF_STORED_SIZE_MAX  (((uint64_t)1 << MF_STORED_ROW_SHIFT) - 1)
#define MF_STORED_ROWS_MAX  ((size_t)1 << 21)

enum mf_method {
    MF_METHOD_PLAIN,   /* the bytes are in the file */
    MF_METHOD_DEFLATED /* raw deflate, as in zip */
};

/* A storage: bytes that tensors lie in. */
struct mf_stored {
    struct mf_str name;  /* terminated */
    struct mf_span file; /* its bytes in the file, packed or not */
    uint64_t size;       /* unpacked */
    uint32_t crc;        /* of the unpacked bytes, CRC-32 of zip */
    uint32_t tensors;    /* how many lie in it, counted by mf_index_check */
    uint16_t shard;
    uint8_t method;  /* enum mf_method */
    bool has_crc;    /* crc is stated by the file */
    bool unreadable; /* a finding says why; its tensors are damaged */
    bool broken;     /* it was tried, and cannot be unpacked */
    bool covered;    /* while data is checked: its checksum will be */
    uint8_t begun;   /* how often it was begun to be unpacked, up to a limit;
                        guarded by the lock of streams.c */
};

/* Elements of a storage in C order, little-endian. */
struct mf_stored_view {
    uint64_t from;          /* where in the storage the first element is */
    const uint64_t *dim;    /* slowest first; in an arena of the index */
    const uint64_t *stride; /* of each, in elements; likewise */
    uint64_t size;          /* bytes of all elements; set when it is added */
    uint32_t stored;        /* the storage's row */
    uint8_t rank, element;  /* dimensions; bytes of an element */
    uint8_t swap;           /* bytes that change their order: 2, 4, 8; else 1 */
};

struct mf_stored_tables {
    struct mf_stored *stored;
    size_t stored_count, stored_room;
    struct mf_stored_view *view;
    size_t view_count, view_room;
};

struct mf_index;
struct mf_part;
struct mf_record;

/* ---- for formats, while they parse ---- */

/* A new row of the shard, otherwise all zero; its number is *row.  NULL after
 * mf_fail.  Rows move when more are added. */
struct mf_stored *mf_index_add_stored(struct mf_index *index,
                                      const struct mf_part *part,
                                      uint32_t *row);

/* Where a source reads the storage's first byte: for mf_record.offset. */
uint64_t mf_stored_offset(const struct mf_index *index, uint32_t row);

/* The bytes of all elements, and where in the storage the last one ends, which
 * must be at most its size; false if one is more than MF_STORED_SIZE_MAX.
 * A view without elements ends at 0. */
bool mf_stored_view_extent(const struct mf_stored_view *view, uint64_t *size,
                           uint64_t *end);

/* Keeps a copy of a view within its storage; *offset is for mf_record.offset.
 */
enum mf_status mf_index_add_view(struct mf_index *index,
                                 const struct mf_stored_view *view,
                                 uint64_t *offset);

/* Whether elements lie in the storage as they are read: strides of C order (a
 * dimension of 1 may have any), and none is swapped.  Then no view is
 * needed. */
bool mf_stored_view_is_plain(const struct mf_stored_view *view);

/* ---- for the index ---- */

void mf_stored_release(struct mf_env *env, struct mf_stored_tables *tables);

/* Where in the file the bytes at an offset are: where a compressed storage
 * begins, the first element of a view, or the offset itself. */
uint64_t mf_stored_place(const struct mf_index *index, uint64_t offset);

/* Whether the record's bytes have to be unpacked, which goes forward only. */
bool mf_record_is_packed(const struct mf_index *index,
                         const struct mf_record *record);

/* Where in the file the record's bytes are, and what flags and strides say of
 * them; nothing for a record that lies in the file as it is. */
void mf_stored_describe(const struct mf_index *index,
                        const struct mf_record *record, struct mf_tensor *out);

/* ---- reading ---- */

/* Wraps the source of a shard's file, which the new one owns and closes; the
 * index must live as long.  *file is left alone after an error. */
enum mf_status mf_stored_open(struct mf_env *env, struct mf_source *file,
                              const struct mf_index *index, uint32_t shard);

/* True if any storage of the shard has to be unpacked, or any view be read, or
 * the file is big-endian. */
bool mf_stored_needed(const struct mf_index *index, uint32_t shard);

#endif
