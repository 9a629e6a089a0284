/* SPDX-License-Identifier: MIT
 *
 * index.h - the tables of a model: metadata, tensors, findings
 *
 * Parsers of formats fill them in, shard by shard; then mf_index_check makes
 * tensor offsets absolute and mf_index_build_names makes rows findable.
 *
 * A count in a header is a claim: 24 bytes can claim 2^60 tensors.  Tables
 * therefore never get room for more than MF_TRUST times the entries that were
 * seen in the file so far.  A reader that stops at a limit on the count instead
 * has to choose between refusing large models and reserving gigabytes for a
 * small hostile file.
 */
#ifndef MF_LIB_INDEX_H
#define MF_LIB_INDEX_H

#include "lib/base/error.h"
#include "lib/base/heap.h"
#include "lib/base/names.h"
#include "lib/base/rules.h"
#include "lib/model/stored.h"
#include "lib/model/types.h"

/* ---- what a file has and a reader leaves out ---- */

/* A member of an archive can be damaged, and a tensor of a kind that is not
 * read.  The others are read all the same, and what is missing is kept here by
 * name: else two files that differ in nothing but these would be called the
 * same.  Code whose answer covers a whole model calls mf_missing_refuse first.
 *
 * A tensor that is listed although its data cannot be read is not here: it has
 * MF_TENSOR_DAMAGED. */

struct mf_index;

struct mf_missing_table {
    struct mf_missed *row;
    size_t count, room;
    size_t skipped; /* rows after those: the caller does not want them */
    size_t rest;    /* number of a row that also stands for everything after it,
                       whose names are unknown, or 0 */
    bool allowed;   /* mf_open_options.allow_missing */
};

/* ---- for formats, while they parse ---- */

/* For the severity of a finding about what is missing: it is an error, and does
 * not keep the others from being copied once the caller allows that. */
#define MF_ERROR_MISSED MF_ERROR_ELSEWHERE

/* Keeps the name and why it is not read.  The reason follows a colon: "a sparse
 * tensor".  Out of memory is kept as mf_index_note does. */
void mf_index_miss(struct mf_index *index, uint32_t shard, struct mf_str name,
                   const char *format, ...) MF_PRINTF(4, 5);

void mf_missing_release(struct mf_env *env, struct mf_missing_table *table);

/* ---- for what needs all of a model ---- */

/* MF_ERR_UNSUPPORTED if anything is missing, unless the caller allows that. */
enum mf_status mf_missing_refuse(const struct mf_model *model);

/* ---- the columns of a file that is a table, not a model ---- */

/* A row of each column, and one of each chunk: the values of one column in one
 * group of rows.  A file has millions of chunks, so their row is small: it has
 * numbers only, and names by pointers to the format's own. */

struct mf_table_column {
    struct mf_str path; /* names joined by dots; terminated */
    const char *physical;
    struct mf_str logical; /* "" where it is the physical one */
    bool optional, repeated;
};

struct mf_table_chunk {
    uint64_t offset, bytes, unpacked, values;
    uint64_t nulls; /* UINT64_MAX: not stated */
    const char *codec;
    uint32_t encodings; /* a bit for each */
    uint32_t column, group;
    bool elsewhere; /* in another file */
};

struct mf_table {
    bool exists;
    uint64_t rows, bytes, unpacked;
    uint64_t group_count;
    struct mf_str created_by; /* terminated; "" where it is not stated */
    const char *const *encoding_names;
    size_t encoding_count;
    struct mf_table_column *column;
    size_t column_count, column_room;
    struct mf_table_chunk *chunk;
    size_t chunk_count, chunk_room;
};

/* Makes room for `count` rows more; tables grow by half where that is more. */
enum mf_status mf_table_reserve_columns(struct mf_env *env,
                                        struct mf_table *table, size_t count);
enum mf_status mf_table_reserve_chunks(struct mf_env *env,
                                       struct mf_table *table, size_t count);

void mf_table_release(struct mf_env *env, struct mf_table *table);

struct mf_model;

/* MF_ERR_UNSUPPORTED for a table, which has no tensors to work with. */
enum mf_status mf_table_refuse(struct mf_model *model);

/* ---- the index ---- */

#define MF_TRUST       16
#define MF_TENSORS_MAX ((uint64_t)1 << 24)
#define MF_META_MAX    ((uint64_t)1 << 20)
#define MF_NAME_MAX    65535 /* bytes of a tensor's name or a key */
#define MF_TEXT_KEPT   1024  /* longer strings stay in the file */
#define MF_NESTING_MAX 64    /* arrays within arrays */

/* Bits of mf_record.flags, in addition to enum mf_tensor_flag. */
enum mf_record_flag {
    MF_RECORD_SIZED = 16,       /* the file states the size; check it */
    MF_RECORD_SIZE_CHECKED = 32 /* the format has checked the size already */
};

/* One tensor. */
struct mf_record {
    const char *name; /* terminated; in the tensors' arena */
    const uint64_t *dim;
    uint64_t offset; /* in the data section; in the file after mf_index_check;
                        or one of stored.h */
    uint64_t size;   /* set by mf_index_check unless MF_RECORD_SIZED */
    uint64_t entry;  /* offset of its description in the header */
    uint32_t type_id;
    uint32_t storage; /* row of index->stored that it lies in, and 1; 0: none */
    uint16_t name_size, type, shard;
    uint8_t rank, flags;
};

/* One shard, as its header describes it. */
struct mf_part {
    uint32_t shard;           /* its number, from 0 on */
    uint64_t data_offset;     /* tensor offsets count from here */
    uint64_t data_end;        /* no tensor extends past this */
    uint64_t alignment;       /* of tensor offsets; 1: any offset */
    size_t first, count;      /* its tensors in the index */
    bool is_split;            /* split_number and split_count are set */
    bool has_footer;          /* the file's last 4 bytes are its CRC-32 */
    enum mf_rule footer_rule; /* of a finding that they are not */
    /* Padding before the data, which should be zeros, in file order; size 0
     * where there is less. */
    struct mf_span padding[2];
    /* Bytes after the last tensor and its padding that mf_model_validate has to
     * look at; size 0: no bytes. */
    struct mf_span trailing;
    uint32_t mode; /* for the format's own use */
    uint64_t split_number, split_count, split_tensors;
    uint64_t split_at; /* offset of split_tensors; MF_NO_OFFSET: not stated */
};

/* How a format lays tensor data out, which mf_index_check checks. */
enum mf_layout {
    MF_LAYOUT_PADDED, /* each tensor starts on the next multiple of the
                         alignment; a row is whole blocks; the first dimension
                         is contiguous */
    MF_LAYOUT_TILED,  /* end to end from data_offset to data_end */
    MF_LAYOUT_FREE,   /* anywhere without overlap */
    MF_LAYOUT_INLINE, /* each tensor follows its description, in a header that
                         ends where the file does */
    MF_LAYOUT_SHARED  /* anywhere, and several may have the same bytes; the
                         format checks the bounds of those that stored.h is
                         for */
};

/* An error about the tensor with this name, as in its record. */
struct mf_damage {
    const char *name;
    enum mf_rule rule;
    struct mf_damage *next;
};

struct mf_index {
    struct mf_env *env;
    struct mf_arena arena; /* keys, values, messages */
    /* Names and shapes of tensors.  Apart, because every shard reserves exactly
     * what it needs: in one arena, that would leave the rest of a chunk unused
     * for each shard. */
    struct mf_arena tensor_arena;
    struct mf_meta *meta;
    size_t meta_count, meta_room;
    struct mf_record *tensor;
    size_t tensor_count, tensor_room;
    struct mf_stored_tables stored;
    struct mf_missing_table missing;
    struct mf_table table;   /* of a file that has columns, not tensors */
    uint64_t tensor_claimed; /* by the headers of all shards so far */
    uint32_t *by_offset;     /* NULL: as in the table */
    struct mf_names meta_names, tensor_names;
    struct mf_finding *finding;
    size_t finding_count, finding_room, findings_max;
    /* findings of each rule and severity, kept or not */
    uint32_t tally[MF_RULE_COUNT][MF_ERROR + 1];
    /* errors that keep the file from being converted: those that were found
     * before the model was open, but for MF_ERROR_ELSEWHERE */
    uint32_t damaged_by[MF_RULE_COUNT]; /* of each rule */
    size_t damage_count;
    /* Those about a tensor, as far as findings are kept. */
    struct mf_damage *damage;
    bool opened;
    /* of all shards but the first: checked, never shown */
    struct mf_meta *later_meta;
    size_t later_meta_count, later_meta_room;
    bool metadata_only;       /* the caller wants no tensors */
    bool tensors_only;        /* as in struct mf_open_options */
    struct mf_detection kind; /* of the first shard */
    bool reversed; /* dimensions are in the opposite order of the format's */
    enum mf_status status; /* not MF_OK: a finding could not be stored */
};

/* The tensors in the order of their data, shard by shard. */
static inline struct mf_record *
mf_record_by_offset(const struct mf_index *index, size_t at)
{
    return &index->tensor[index->by_offset ? index->by_offset[at] : at];
}

void mf_index_init(struct mf_index *index, struct mf_env *env);
void mf_index_release(struct mf_index *index);

/* ---- for formats, while they parse ---- */

/* A new row of the shard, otherwise all zero; NULL after mf_fail.  Rows of
 * later shards are kept in a table of their own: they are compared with the
 * first shard's and never shown. */
struct mf_meta *mf_index_add_meta(struct mf_index *index,
                                  const struct mf_part *part);

/* An empty record for the tensor of the shard that the header describes at
 * offset entry. */
static inline struct mf_record mf_record_begin(const struct mf_part *part,
                                               uint64_t entry)
{
    return (struct mf_record){ .shard = (uint16_t)part->shard, .entry = entry };
}

/* Reserves memory for tensors.  The header claims `claimed` of them; `seen`
 * have been found in the reader's window, with names of name_bytes bytes and
 * shapes of dims dimensions in total. */
enum mf_status mf_index_reserve(struct mf_index *index, uint64_t claimed,
                                uint64_t seen, uint64_t name_bytes,
                                uint64_t dims);

/* Keeps a copy of *record, whose name and dim lie in the tensors' arena.
 * Tensors are added shard by shard. */
enum mf_status mf_index_add(struct mf_index *index,
                            const struct mf_record *record);

/* Room for rank dimensions, in the tensors' arena; NULL after mf_fail, and only
 * then. */
uint64_t *mf_index_dims(struct mf_index *index, uint32_t rank);

/* For the severity of a finding: an error of other readers.  Here the file is
 * read as it was meant, and can be converted. */
#define MF_ERROR_ELSEWHERE ((enum mf_severity)(MF_ERROR + 1))

/* Why a model with errors is not converted: MF_REASON_INPUT_INVALID, or one for
 * which there is another way. */
enum mf_reason mf_index_damage_reason(const struct mf_index *index);

/* Adds a finding about the shard of that number; offset is in its file.  Out
 * of memory is kept in index->status, which opening the model returns. */
void mf_index_note(struct mf_index *index, uint32_t shard,
                   enum mf_severity severity, enum mf_rule rule,
                   uint64_t offset, const char *format, ...) MF_PRINTF(6, 7);

/* The same about one tensor, in its shard; its name lives as long as the index.
 */
void mf_index_note_of(struct mf_index *index, const struct mf_record *record,
                      enum mf_severity severity, enum mf_rule rule,
                      uint64_t offset, const char *format, ...) MF_PRINTF(6, 7);

/* The name of a record for a message. */
struct mf_quoted mf_record_name(const struct mf_record *record);

/* ---- once all shards have been parsed ---- */

/* In geometry.c: checks sizes, bounds, alignment, order and overlap of the
 * tensors of every shard, and makes their offsets absolute. */
enum mf_status mf_index_check(struct mf_index *index, struct mf_part *parts,
                              size_t part_count, enum mf_layout layout);

/* True if both are certainly the same value; arrays and long strings, which
 * are still in the file, never are. */
bool mf_meta_same(const struct mf_meta *a, const struct mf_meta *b);

/* Adds the finding that two rows of one shard have the same key. */
void mf_index_note_duplicate(struct mf_index *index,
                             const struct mf_meta *first,
                             const struct mf_meta *second);

/* Builds the tables that find rows by name, and reports duplicates. */
enum mf_status mf_index_build_names(struct mf_index *index);

/* Builds the table of the tensors again.  Stops at the first whose name another
 * one has, with the rows of both; else they are MF_NOT_FOUND. */
enum mf_status mf_index_rename(struct mf_index *index, size_t *first,
                               size_t *second);

/* ---- metadata ---- */

/* The row of that key, after mf_index_build_names; NULL if it is missing. */
const struct mf_meta *mf_index_meta(const struct mf_index *index,
                                    const char *key);

/* Whether the value is an integer of any type. */
bool mf_meta_is_integer(const struct mf_meta *meta);

/* *out: the value of an integer that is not negative; false for any other value
 * and for NULL. */
bool mf_meta_unsigned(const struct mf_meta *meta, uint64_t *out);

#endif
