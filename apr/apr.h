/* SPDX-License-Identifier: MIT
 *
 * apr.h - APR, the format of aprender and realizar: declarations of this folder
 *
 * Version 2 is a header of 64 bytes with a CRC, a JSON object of metadata, a
 * packed index sorted by name, and the tensor data; the header has the offset
 * of each section.  Version 1 ("APRN") is MessagePack metadata before one
 * serialized Rust value, so its tensors cannot be listed.
 *
 * Hard parts.  Several projects use the letters APR for layouts of their own:
 * the header's CRC decides, see apr.c.  A dtype byte means one type to aprender
 * and another to realizar: the tensor's size decides, see dtypes.c.  realizar
 * writes the index as JSON or with reversed dimensions.  aprender reads some
 * metadata keys into typed fields and refuses the whole file if one has another
 * type: known.def lists them.
 *
 * Invariants.  Sections are checked against the size of the file before any is
 * read.  Objects of the metadata are skipped by an open and checked by
 * validation (revisit.c).  Only version 2 is written.
 */
#ifndef MF_APR_APR_H
#define MF_APR_APR_H

#include <assert.h>

#include "lib/model/format.h"

#define APR_HEADER    64 /* bytes of a version 2 header */
#define APR_V1_HEADER 32
#define APR_TYPE_JSON UINT32_C(256) /* only in a JSON index: no dtype byte */

/* Flags of a version 2 header. */
enum apr_flag {
    APR_LZ4 = 0x0001,
    APR_ZSTD = 0x0002,
    APR_ENCRYPTED = 0x0004,
    APR_SIGNED = 0x0008,
    APR_ROW_MAJOR = 0x0400,
    APR_COLUMN_MAJOR = 0x0800,
    APR_UNDEFINED = 0xf000
};

/* A version 2 header, in the order of its fields. */
struct apr_header {
    uint8_t major, minor;
    uint16_t flags;
    uint32_t tensor_count;
    struct mf_span metadata;
    uint64_t index_offset, data_offset;
    uint32_t checksum;
    bool reserved; /* some reserved byte is not zero */
};

/* From the 64 bytes at `at`. */
struct apr_header mf_apr_header_of(const uint8_t *at);

/* CRC-32 of a header's bytes without its checksum field. */
uint32_t mf_apr_header_crc(const uint8_t *at);

/* Stores value at `at`, little-endian, in size bytes. */
static inline void apr_set(uint8_t *at, uint64_t value, size_t size)
{
    assert(size <= sizeof(value));
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

extern const struct mf_format_out mf_apr_out; /* in write.c */

enum mf_status mf_apr_parse(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part);
enum mf_status mf_apr_read_metadata(struct mf_reader *reader,
                                    struct mf_index *index,
                                    const struct mf_part *part,
                                    struct mf_span span);

/* Whether aprender accepts a value of that JSON type under the key. */
bool mf_apr_key_takes(struct mf_str key, enum mf_value_type type);

/* Adds a finding if the value does not fit aprender's field of that key. */
void mf_apr_check_range(struct mf_index *index, const struct mf_meta *meta);

/* Whether the key has a meaning to aprender or realizar. */
bool mf_apr_key_owned(struct mf_str key);

/* Checks objects in the metadata, after an open: required fields of known ones,
 * duplicate keys of all. */
enum mf_status mf_apr_revisit(struct mf_reader *reader, struct mf_index *index,
                              const struct mf_meta *rows, size_t count);

/* Reads the packed index from the reader's place up to its limit. */
enum mf_status mf_apr_read_index(struct mf_reader *reader,
                                 struct mf_index *index,
                                 const struct mf_part *part, uint32_t count);
/* Reads an index in JSON, as realizar writes it for models in f32. */
enum mf_status mf_apr_read_json_index(struct mf_reader *reader,
                                      struct mf_index *index,
                                      const struct mf_part *part);

/* Sets record->type from the dtype byte in record->type_id and, if the byte has
 * two meanings, from record->size; adds a finding if the size fits no type. */
void mf_apr_resolve_type(struct mf_index *index, struct mf_record *record);

const char *mf_apr_type_name(uint32_t type_id);
uint32_t mf_apr_type_id(enum mf_type type);

enum mf_status mf_apr_v1_parse(struct mf_reader *reader, struct mf_index *index,
                               struct mf_part *part);

/* MessagePack: the metadata of version 1, from the reader's place to end. */
enum mf_status mf_apr_msgpack_metadata(struct mf_reader *reader,
                                       struct mf_index *index,
                                       const struct mf_part *part,
                                       uint64_t end);
enum mf_status mf_apr_msgpack_next(struct mf_values *values,
                                   struct mf_value *out);

#endif
