/* SPDX-License-Identifier: MIT
 *
 * parquet.h - the footer of a Parquet file: declarations of this folder
 *
 *     thrift.h   Thrift's compact protocol, in which the footer is written
 *     names.c    physical and logical types, codecs, encodings
 *     schema.c   the tree of columns
 *     groups.c   groups of rows
 *     chunk.c    the values of a column in one of them
 *     footer.c   all of it, and key/value metadata
 *     parquet.c  the row of the format; chunks that overlap
 */
#ifndef MF_PARQUET_PARQUET_H
#define MF_PARQUET_PARQUET_H

#include "parquet/thrift.h"

#define PARQUET_MAGIC      "PAR1"
#define PARQUET_ENCRYPTED  "PARE"
#define PARQUET_MAGIC_SIZE 4
#define PARQUET_END_SIZE   8 /* the footer's length, and the magic */

/* A footer of up to so many bytes is read at once, a longer one window by
 * window. */
#define PARQUET_HELD_MAX ((size_t)1 << 20)

/* Elements of a schema within each other. */
#define PARQUET_DEPTH_MAX 64

/* Bytes that the paths of all columns may have: so many for each of the
 * footer's, and some that are always allowed. */
#define PARQUET_PATHS_SHARE 16
#define PARQUET_PATHS_LEAST (64 << 10)

/* A group above the next element of the schema. */
struct parquet_level {
    uint64_t children; /* still to come */
    size_t path_size;
    bool optional, repeated;
};

struct parquet {
    struct mf_index *index;
    struct mf_part *part;
    struct mf_table *table;
    struct thrift thrift;
    struct mf_span footer;
    struct parquet_level level[PARQUET_DEPTH_MAX];
    unsigned depth;
    size_t path_size, path_bytes; /* of this column, of all so far */
    char path[MF_TEXT_KEPT + 1];
    int64_t rows, group_rows; /* of the file; the sum of its groups */
    uint64_t encrypted;       /* chunks */
};

void mf_parquet_note(struct parquet *parquet, enum mf_severity severity,
                     enum mf_rule rule, uint64_t at, const char *format, ...)
    MF_PRINTF(5, 6);

/* A copy in the index, terminated. */
enum mf_status mf_parquet_keep(struct parquet *parquet, struct mf_str text,
                               struct mf_str *out);

/* ---- names.c ---- */

extern const char *const mf_parquet_encodings[];
extern const size_t mf_parquet_encoding_count;

/* NULL for a number that has no name. */
const char *mf_parquet_physical(int64_t type);
const char *mf_parquet_converted(int64_t type);
const char *mf_parquet_codec(int64_t codec);

/* Reads the union of a logical type into text, of `room` bytes. */
enum mf_status mf_parquet_logical(struct thrift *thrift, char *text,
                                  size_t room);

/* ---- schema.c ---- */

/* A list of so many elements. */
enum mf_status mf_parquet_schema(struct parquet *parquet, uint64_t count);

/* The path of the element that is being read, for messages. */
static inline struct mf_quoted mf_parquet_path(const struct parquet *parquet)
{
    return mf_quote((struct mf_str){ parquet->path, parquet->path_size });
}

/* ---- groups.c, chunk.c ---- */

/* A list of so many groups of rows. */
enum mf_status mf_parquet_groups(struct parquet *parquet, uint64_t count);

/* A ColumnChunk of a group with so many rows to come. */
enum mf_status mf_parquet_chunk(struct parquet *parquet, uint32_t column);

/* ---- footer.c ---- */

/* All that is between the thrift reader and its limit. */
enum mf_status mf_parquet_footer(struct parquet *parquet);

/* ---- parquet.c ---- */

/* Chunks that overlap. */
void mf_parquet_validate(struct mf_index *index, const struct mf_part *parts,
                         size_t part_count);

#endif
