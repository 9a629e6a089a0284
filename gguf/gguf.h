/* SPDX-License-Identifier: MIT
 *
 * gguf.h - what the files of this folder share
 */
#ifndef MF_GGUF_GGUF_H
#define MF_GGUF_GGUF_H

#include "lib/model/format.h"

/* Version 1 counts with 32 bits what later ones count with 64: entries,
 * lengths, dimensions. */
static inline uint64_t mf_gguf_take_count(struct mf_reader *reader,
                                          uint32_t version)
{
    return version == 1 ? mf_take_u32(reader) : mf_take_u64(reader);
}

/* Bytes of such a count. */
static inline uint64_t mf_gguf_count_size(uint32_t version)
{
    return version == 1 ? 4 : 8;
}

/* Bytes of a number or bool; 0 for a string, an array, an unknown type. */
size_t mf_gguf_number_size(uint32_t type);

/* The number, or bool as it should be: *odd is its byte where that is neither
 * 0 nor 1, else 0. */
union mf_number mf_gguf_take_number(struct mf_reader *reader, uint32_t type,
                                    uint8_t *odd);

/* The type for GGUF's number; MF_TYPE_UNKNOWN where lib/model/types.def lacks
 * it. */
enum mf_type mf_gguf_type_of(uint32_t id);

/* The type that most tensors of a model with that general.file_type have;
 * MF_TYPE_UNKNOWN where it says nothing. */
enum mf_type mf_gguf_file_type_of(uint64_t file_type);

/* The name of such a mix, guessed or not; NULL for an unknown number. */
const char *mf_gguf_file_type_name(uint64_t file_type);

/* The name of a removed or a fork's type; NULL where id is neither. */
const char *mf_gguf_fork_type(uint32_t id, bool *removed);

enum mf_status mf_gguf_parse(struct mf_reader *reader, struct mf_index *index,
                             struct mf_part *part);
/* What the keys that the reader itself needs said so far; begins as all zero.
 */
struct gguf_special {
    bool aligned; /* general.alignment was read */
    struct mf_split_keys split;
};

#define GGUF_ALIGNMENT 32 /* where general.alignment is missing */

/* Looks at a metadata key that was just read. */
enum mf_status mf_gguf_take_special(struct mf_index *index,
                                    struct mf_part *part,
                                    const struct mf_meta *meta,
                                    struct gguf_special *special);
enum mf_status mf_gguf_read_meta(struct mf_reader *reader,
                                 struct mf_index *index, struct mf_part *part,
                                 uint64_t count);
enum mf_status mf_gguf_read_tensors(struct mf_reader *reader,
                                    struct mf_index *index,
                                    const struct mf_part *part, uint64_t count);
void mf_gguf_validate(struct mf_index *index, const struct mf_part *parts,
                      size_t part_count);
enum mf_status mf_gguf_revisit(struct mf_reader *reader, struct mf_index *index,
                               const struct mf_meta *rows, size_t count);
extern const struct mf_format_out mf_gguf_out; /* in write.c */
enum mf_status mf_gguf_value_next(struct mf_values *values,
                                  struct mf_value *out);

#endif
