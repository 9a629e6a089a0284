/* SPDX-License-Identifier: MIT
 *
 * apr.h - what the files of this folder share
 */
#ifndef MF_APR_APR_H
#define MF_APR_APR_H

#include "lib/model/format.h"

#define APR_HEADER    64 /* bytes of a version 2 header */
#define APR_V1_HEADER 32
#define APR_TYPE_JSON UINT32_C(256) /* no byte: a tensor of a JSON index */

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
    bool reserved; /* a reserved byte is not zero */
};

/* From the 64 bytes at `at`. */
struct apr_header mf_apr_header_of(const uint8_t *at);

/* CRC-32 of a header's bytes, its checksum field left out. */
uint32_t mf_apr_header_crc(const uint8_t *at);

/* value, in the size bytes at `at`. */
static inline void apr_set(uint8_t *at, uint64_t value, size_t size)
{
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

/* Whether aprender accepts a value of that type, as JSON has it, under the key.
 */
bool mf_apr_key_takes(struct mf_str key, enum mf_value_type type);

/* Whether aprender or realizar know the key. */
bool mf_apr_key_owned(struct mf_str key);

/* Whether known objects of the metadata have their fields, and no object a key
 * twice; after an open. */
enum mf_status mf_apr_revisit(struct mf_reader *reader, struct mf_index *index,
                              const struct mf_meta *rows, size_t count);

/* The packed index between the reader's place and its limit; *end is where it
 * ended. */
enum mf_status mf_apr_read_index(struct mf_reader *reader,
                                 struct mf_index *index,
                                 const struct mf_part *part, uint32_t count);
/* The same as JSON, as realizar writes models of f32. */
enum mf_status mf_apr_read_json_index(struct mf_reader *reader,
                                      struct mf_index *index,
                                      const struct mf_part *part);

/* Sets record->type by the dtype byte in record->type_id and, where a byte
 * has two meanings, by record->size; notes where neither fits. */
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
