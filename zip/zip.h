/* SPDX-License-Identifier: MIT
 *
 * zip.h - zip archives: the directory at their end, and what each member says
 *
 * What torch/ and npy/ have in common.  Members become rows of index->stored.
 * An archive is read from its end: the end record, the directory before it, and
 * of each member the local header, which alone says where its data begins.
 *
 *     mf_zip_open      the end and the directory; a row for each member
 *     mf_zip_member    the local header of one; every one has to be asked for
 *     mf_zip_close     what only all together show: overlaps and gaps
 *
 * Whatever two readers of zip could understand differently is a finding: local
 * against central header, two end records, bytes that belong to nothing.  A
 * member that cannot be read is marked so, and the others are still listed.
 */
#ifndef MF_ZIP_ZIP_H
#define MF_ZIP_ZIP_H

#include "lib/model/format.h"

/* What is read of each member: its local header, some bytes before it and what
 * comes after it. */
#define MF_ZIP_START 512

struct mf_zip_entry;

struct mf_zip {
    struct mf_reader *reader;
    struct mf_index *index;
    const struct mf_part *part;
    uint32_t first; /* its rows of index->stored */
    size_t count;
    struct mf_zip_entry *entry; /* as many */
    size_t entry_room;
    struct mf_span directory;
    uint64_t end;           /* offset of the end record */
    enum mf_severity fault; /* of a member that cannot be read */
};

/* The first bytes of a member's data, as they are in the file. */
struct mf_zip_start {
    uint8_t bytes[MF_ZIP_START];
    size_t header;
    size_t at, size; /* data is from bytes[at] to bytes[size - 1] */
};

/* "PK\3\4" and "PK\5\6", for mf_format.tail_after. */
extern const char *const mf_zip_magics[];

/* True where the file ends in an archive that has a member whose name ends in
 * `name`, as far as the tail shows: for probe. */
bool mf_zip_tail_has(const struct mf_head *head, const char *name);

/* The part is all of the file; it must live as long.  fault: the severity of
 * findings about a member that cannot be read, MF_ERROR, or MF_ERROR_MISSED
 * where the format misses it. */
enum mf_status mf_zip_open(struct mf_zip *zip, struct mf_reader *reader,
                           struct mf_index *index, struct mf_part *part,
                           enum mf_severity fault);

/* Reads the local header of member i < count and sets where the data of its row
 * begins.  What is wrong is a finding; an error if the file cannot be read. */
enum mf_status mf_zip_member(struct mf_zip *zip, size_t i,
                             struct mf_zip_start *start);

/* Also after an error of one of the others; then without findings. */
enum mf_status mf_zip_close(struct mf_zip *zip);

/* Why member i is unreadable, in a few words. */
const char *mf_zip_fault(const struct mf_zip *zip, size_t i);

static inline struct mf_stored *mf_zip_row(const struct mf_zip *zip, size_t i)
{
    return &zip->index->stored.stored[zip->first + i];
}

#endif
