/* SPDX-License-Identifier: MIT
 *
 * data_parts.h - between the files that check tensor data
 */
#ifndef MF_LIB_CHECK_DATA_PARTS_H
#define MF_LIB_CHECK_DATA_PARTS_H

#include "lib/base/parallel.h"
#include "lib/check/scan.h"
#include "lib/model/model.h"

/* ---- what was found in the data of one tensor, as findings ---- */

struct mf_data_found {
    struct mf_scan_found values;
    bool nonzero;   /* a byte is not zero */
    bool bad_scale; /* of the whole tensor */
    uint64_t same;  /* rows, if all of them are the same; else 0 */
};

void mf_data_report(struct mf_model *model, const struct mf_record *record,
                    const struct mf_data_found *found);

/* ---- checksums of the members of an archive ---- */

/* Whether the data of a storage is compared with its checksum. */
bool mf_data_has_checksum(const struct mf_stored *stored);

/* Whether the record's bytes are a piece of such a storage, and no view of it:
 * then what is read for the one is read for the other. */
bool mf_data_is_in_member(const struct mf_index *index,
                          const struct mf_record *record);

/* Reports that the storage cannot be unpacked, or has another checksum. */
void mf_data_member_report(struct mf_index *index,
                           const struct mf_stored *stored, uint32_t crc);

/* Tensors of storages that cannot be unpacked are damaged from then on. */
void mf_data_members_end(struct mf_index *index);

/* ---- finding matrices whose rows are all the same ---- */

/* Bytes of a row; 0 if rows are not compared: of vectors, of integers, of rows
 * so short that some are the same by chance or design. */
uint64_t mf_data_row(const struct mf_model *model,
                     const struct mf_record *record);

/* Whether bytes, which are of one tensor and begin anywhere in it, show that
 * not all of its rows are the same. */
bool mf_data_row_differs(const uint8_t *bytes, size_t size, uint64_t row);

/* *out: how many rows, if they are all the same; else 0.  Reads the tensor, as
 * far as its rows are. */
enum mf_status mf_data_rows_same(struct mf_crew *crew,
                                 const struct mf_model *model,
                                 const struct mf_record *record, uint64_t row,
                                 uint64_t *out);

/* ---- pieces of tensor data: scanned in threads, merged in order ---- */

/* What a piece is read for. */
enum data_kind {
    PIECE_TENSOR,
    PIECE_PADDING, /* should be zeros */
    PIECE_OTHER,   /* only for a checksum */
    PIECE_MEMBER,  /* no bytes: one of an archive is over */
    PIECE_FOOTER   /* the file's checksum itself */
};

struct data_result {
    struct mf_data_found found;
    bool broken;  /* it cannot be unpacked */
    bool scanned; /* to its end */
    bool differs; /* not all rows are the same */
    uint32_t crc; /* of a footer: what it says */
};

/* What one thread reads and scans at once. */
struct data_piece {
    const struct mf_record *record; /* the tensor, or the one before padding */
    uint64_t offset, done;          /* in the file; in its span */
    size_t size;
    uint32_t shard;
    uint32_t storage; /* as of a record: what it lies in, or 0 */
    enum data_kind kind;
    bool last;     /* of its span */
    bool in_crc;   /* part of the checksum */
    bool digested; /* part of the file's digest */
    uint64_t row;  /* of a tensor whose rows are compared, or 0 */
    struct data_result result;
};

struct data_rows;
struct data_scanner;

/* The SHA-256 that files should have.  Pointers, so that a program that never
 * knows one is linked without digests. */
struct mf_file_digests {
    void (*restart)(struct mf_digest *digest);
    void (*add)(struct mf_digest *digest, const void *bytes, size_t size);
    /* After all bytes of the shard: a finding if they are others. */
    enum mf_status (*end)(struct data_scanner *scanner, uint32_t shard);
    struct mf_digest *digest; /* one shard after the other */
    size_t count;             /* of shards */
    struct {
        bool known;
        uint8_t sha256[32];
    } of[];
};

struct data_scanner {
    struct mf_model *model;
    struct mf_index *index;
    const struct mf_isa *isa;
    struct data_rows *rows; /* of data that is read once; or NULL */
    struct mf_crew crew;
    struct data_piece *piece;
    size_t piece_count, piece_room;
    /* while cutting */
    struct {
        uint64_t next, end;
        uint32_t storage; /* the member of these bytes, or 0 */
        bool by_crc, by_digest;
    } covered; /* by a checksum or digest, and in no piece yet */
    /* while scanning */
    atomic_size_t turn; /* the piece whose bytes are digested next */
    /* while merging */
    struct data_piece tensor; /* results of one tensor's pieces so far */
    uint32_t crc;             /* of what is covered so far */
};

/* One more piece, like *like; those that there are may be scanned and merged
 * before.  NULL after mf_fail. */
struct data_piece *mf_data_add(struct data_scanner *scanner,
                               const struct data_piece *like);

/* Scans the pieces that were added, reports what is found, and empties the
 * list. */
enum mf_status mf_data_run(struct data_scanner *scanner);

/* Cuts all of the model into pieces and scans them. */
enum mf_status mf_data_scan(struct data_scanner *scanner);

/* 1 + the number, by offset, of the tensor of a model of one file whose padding
 * depends on where the file ends: the last one that is whole.  0: none. */
size_t mf_data_last_padded(const struct mf_model *model);

/* Scans what pads that tensor. */
enum mf_status mf_data_scan_padding(struct data_scanner *scanner, size_t at);

/* ---- data that can be read only once, in order ---- */

/* Takes the place of mf_data_row_differs and mf_data_rows_same, which reads
 * tensors again.  A pointer, so that a program that never reads data in this
 * way is linked without digests. */
struct data_rows {
    /* Whether the rows of the tensor up to the end of this piece, which are
     * these bytes, are not all the same. */
    bool (*differ)(struct data_rows *rows, const struct data_piece *piece,
                   const uint8_t *bytes, size_t size);
    struct mf_digest *digest; /* of the row so far */
    uint64_t at;              /* how many bytes of it */
    uint8_t first[MF_DIGEST_MAX];
    bool has_first, differs;
};

/* For a model that was given a scan by mf_model_take_scan: adds its findings.
 */
enum mf_status mf_data_take(struct mf_model *model);

#endif
