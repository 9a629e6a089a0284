/* SPDX-License-Identifier: MIT
 *
 * data_pieces.h - pieces of tensor data: scanned in threads, merged in order
 */
#ifndef MF_LIB_DATA_PIECES_H
#define MF_LIB_DATA_PIECES_H

#include "lib/base/parallel.h"
#include "lib/check/data_report.h"
#include "lib/model/model.h"

/* What a piece is read for. */
enum data_kind {
    PIECE_TENSOR,
    PIECE_PADDING, /* should be zeros */
    PIECE_OTHER,   /* only for a checksum */
    PIECE_MEMBER,  /* no bytes: one of an archive is over */
    PIECE_FOOTER   /* the file's checksum itself */
};

/* What one thread reads and scans at once. */
struct data_piece {
    const struct mf_record *record; /* the tensor, or the one before padding */
    uint64_t offset, done;          /* in the file; in its span */
    size_t size;
    uint32_t shard;
    uint32_t storage; /* as of a record: what it lies in, or 0 */
    enum data_kind kind;
    bool last;    /* of its span */
    bool in_crc;  /* part of the checksum */
    uint64_t row; /* of a tensor whose rows are compared, or 0 */
    /* results */
    struct mf_data_found found;
    bool broken;  /* it cannot be unpacked */
    bool differs; /* not all rows are the same */
    uint32_t crc; /* of a footer: what it says */
};

struct data_scanner {
    struct mf_model *model;
    struct mf_index *index;
    const struct mf_isa *isa;
    struct mf_crew crew;
    struct data_piece *piece;
    size_t piece_count, piece_room;
    /* while cutting */
    struct {
        uint64_t next, end;
        uint32_t storage; /* the member of these bytes, or 0 */
    } covered;            /* by a checksum, and in no piece yet */
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

#endif
