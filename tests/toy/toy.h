/* SPDX-License-Identifier: MIT
 *
 * toy.h - a format that only the tests know, as small as one can be
 *
 * It shows what a format has to supply (docs/adding.md follows it) and proves
 * that nothing else is needed: tests/project/toy.t adds its rows to formats.def
 * and writers.def, and every command works with it.  All numbers are
 * little-endian:
 *
 *     "TOY!"  u32 version  u64 keys  u64 tensors  u64 where data begins
 *     each key:     u64 size, name, u8 type (enum mf_value_type), value
 *     each tensor:  u64 size, name, u8 type, u8 rank, u64 for each dimension,
 *                   the contiguous one last, u64 offset, u64 size
 *     zeros up to the data; each tensor on a multiple of 64 from there
 *
 * A value is 8 bytes for a number or bool, u64 size and bytes for a string, and
 * u8 type, u64 count and the elements for an array, which may not nest.
 */
#ifndef MF_TESTS_TOY_H
#define MF_TESTS_TOY_H

#include "lib/draft/draft.h"
#include "lib/model/format.h"

#define TOY_HEADER_SIZE 32
#define TOY_ALIGNMENT   64

/* In toy.c: the type for a byte of the file; MF_TYPE_UNKNOWN for others. */
enum mf_type toy_type_of(uint32_t id);

/* In read.c. */
enum mf_status toy_parse(struct mf_reader *reader, struct mf_index *index,
                         struct mf_part *part);
enum mf_status toy_value_next(struct mf_values *values, struct mf_value *out);

/* In write.c. */
extern const struct mf_format_out toy_out;

#endif
