/* SPDX-License-Identifier: MIT
 *
 * gguf.h - GGUF, the format of llama.cpp and ggml: declarations of this folder
 *
 * A file is a header (counts, metadata, tensor infos), padding, and the tensor
 * data.  The header has no size of its own and no offsets of its parts: where
 * the infos begin is known only after every metadata value has been walked,
 * a vocabulary of 150,000 strings included.
 *
 * Hard parts.  Opening must be quick, so long strings and arrays are skipped
 * (meta.c) and only checked for valid UTF-8 and finite numbers when a model is
 * validated (revisit.c).  Three versions: version 1 counts with 32 bits. Two
 * byte orders: no flag says which, see probe() in gguf.c.  Type numbers include
 * removed ones and a fork's, whose block sizes are unknown: such tensors are
 * listed, not decoded.
 *
 * Invariants.  A count is compared with the bytes that are left before memory
 * is allocated or elements are skipped for it.  What parsing has walked is
 * trusted later: an inconsistency then means that the file has changed since,
 * which is an I/O error, not a finding.
 *
 * Rejected: checking every float of an array by itself (pieces of 1024 are
 * clearly faster on a large vocabulary), and comparing general.file_type with
 * one tensor (mixes have many types: their share decides).
 */
#ifndef MF_GGUF_GGUF_H
#define MF_GGUF_GGUF_H

#include "lib/model/format.h"

/* Counts of entries, lengths and dimensions have 32 bits in version 1, 64 in
 * later ones. */
static inline uint64_t mf_gguf_take_count(struct mf_reader *reader,
                                          uint32_t version)
{
    return version == 1 ? mf_take_u32(reader) : mf_take_u64(reader);
}

/* Size of such a count in bytes. */
static inline uint64_t mf_gguf_count_size(uint32_t version)
{
    return version == 1 ? 4 : 8;
}

/* Size of a number or bool in bytes; 0 for strings, arrays, unknown types. */
size_t mf_gguf_number_size(uint32_t type);

/* Reads a number or bool.  *odd is the byte of a bool that is not 0 or 1, else
 * 0. */
union mf_number mf_gguf_take_number(struct mf_reader *reader, uint32_t type,
                                    uint8_t *odd);

/* The type with GGUF's number id; MF_TYPE_UNKNOWN if lib/model/types.def lacks
 * it. */
enum mf_type mf_gguf_type_of(uint32_t id);

/* The type that most large tensors of a model with that general.file_type
 * have; MF_TYPE_UNKNOWN if the number does not imply one. */
enum mf_type mf_gguf_file_type_of(uint64_t file_type);

/* The name of that file_type, with or without the flag for a guessed one; NULL
 * if unknown. */
const char *mf_gguf_file_type_name(uint64_t file_type);

/* The name of a type that was removed or belongs to a fork; NULL for others. */
const char *mf_gguf_fork_type(uint32_t id, bool *removed);

enum mf_status mf_gguf_parse(struct mf_reader *reader, struct mf_index *index,
                             struct mf_part *part);

/* State of the keys that the parser itself needs; starts as all zero. */
struct gguf_special {
    bool aligned; /* general.alignment was read */
    struct mf_split_keys split;
};

#define GGUF_ALIGNMENT 32 /* if general.alignment is missing */

/* Checks of an importance matrix; nothing for any other file. */
void mf_gguf_imatrix_check(struct mf_index *index);

/* Applies a metadata key that was just read if it is such a key. */
enum mf_status mf_gguf_apply_special(struct mf_index *index,
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
