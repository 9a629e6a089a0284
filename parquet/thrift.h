/* SPDX-License-Identifier: MIT
 *
 * thrift.h - Thrift's compact protocol, read field by field
 *
 * A struct is fields, each with a number and a type, until a byte of 0; numbers
 * are varints, lists have a count and a type.  A reader of a struct asks for
 * the next field and takes its value by its type; fields that are not known are
 * passed over by their types.  A count is compared with the bytes that are left
 * before anything is done so often.
 */
#ifndef MF_PARQUET_THRIFT_H
#define MF_PARQUET_THRIFT_H

#include "lib/model/format.h"

/* Structs, lists and maps within each other, in what is passed over. */
#define THRIFT_DEPTH_MAX 64

enum thrift_type {
    THRIFT_STOP,
    THRIFT_TRUE,
    THRIFT_FALSE,
    THRIFT_I8,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT,
    THRIFT_UUID,
    THRIFT_TYPES
};

/* A field of another type than its struct's, which was passed over. */
struct thrift_stray {
    const char *name; /* of the struct; NULL if there was none */
    uint64_t at;
    int id;
    uint8_t type;
};

struct thrift {
    struct mf_reader *reader;
    struct thrift_stray stray; /* the first one */
    uint64_t stray_count;
};

/* Fields of a struct below this one have a type here, a number's being I64
 * whatever its width, and a truth value's TRUE. */
#define THRIFT_FIELDS 16

struct thrift_shape {
    const char *name; /* for messages */
    uint64_t needed;  /* a bit for each field that it has to have */
    uint8_t type[THRIFT_FIELDS];
};

/* A struct that is being read. */
struct thrift_struct {
    const char *name; /* for messages */
    uint64_t at;
    uint64_t seen; /* a bit for each field below 64 */
    int id;        /* of the field that was read last */
    uint8_t type;
};

struct thrift_list {
    uint64_t count;
    uint8_t type;
};

/* Takes, or passes over, the value of the field that was read last. */
typedef enum mf_status mf_thrift_take(void *user,
                                      const struct thrift_struct *in);

/* Reads a struct field by field to its end.  It has to have the fields that are
 * needed; one that is there twice is refused.  A field of another type is one
 * of another version of the schema: as the readers that Thrift generates do,
 * this one passes over it, and refuses the struct if it is needed.  `in` is
 * what take gets. */
enum mf_status mf_thrift_read(struct thrift *thrift,
                              const struct thrift_shape *shape,
                              mf_thrift_take *take, void *user,
                              struct thrift_struct *in);

/* The value of the field that was read last.  These refuse another type. */
enum mf_status mf_thrift_integer(struct thrift *thrift,
                                 const struct thrift_struct *in, int64_t *out);
enum mf_status mf_thrift_bool(struct thrift *thrift,
                              const struct thrift_struct *in, bool *out);
enum mf_status mf_thrift_open_struct(struct thrift *thrift,
                                     const struct thrift_struct *in);
enum mf_status mf_thrift_list(struct thrift *thrift,
                              const struct thrift_struct *in, uint8_t type,
                              struct thrift_list *out);

/* The size of a binary field, whose bytes come next. */
enum mf_status mf_thrift_binary(struct thrift *thrift,
                                const struct thrift_struct *in, uint64_t *size);

/* An element of a list: the same without a field. */
enum mf_status mf_thrift_varint(struct thrift *thrift, uint64_t *out);
enum mf_status mf_thrift_zigzag(struct thrift *thrift, int64_t *out);
enum mf_status mf_thrift_bytes(struct thrift *thrift, uint64_t *size);

/* Passes over the value of the field that was read last. */
enum mf_status mf_thrift_skip(struct thrift *thrift,
                              const struct thrift_struct *in);

#endif
