/* SPDX-License-Identifier: MIT
 *
 * parts.h - records of a zip archive: declarations of this folder
 */
#ifndef MF_ZIP_PARTS_H
#define MF_ZIP_PARTS_H

#include "zip/zip.h"

/* Sizes of records without the texts that follow them. */
#define ZIP_END_SIZE       22
#define ZIP_LOCATOR_SIZE   20
#define ZIP_END_64_SIZE    56
#define ZIP_DIRECTORY_SIZE 46
#define ZIP_LOCAL_SIZE     30

#define ZIP_SIGNATURE 4
#define ZIP_LOCAL     "PK\3\4"
#define ZIP_DIRECTORY "PK\1\2"
#define ZIP_END       "PK\5\6"
#define ZIP_END_64    "PK\6\6"
#define ZIP_LOCATOR   "PK\6\7"

/* What may follow the data of a member: a checksum and sizes of 32 or 64 bits,
 * with a signature or without. */
#define ZIP_DESCRIPTION    "PK\7\10"
#define ZIP_DESCRIPTOR_MAX 24

/* An extra field with 64-bit sizes. */
#define ZIP_EXTRA_64 1

#define ZIP_STORED   0
#define ZIP_DEFLATED 8

#define ZIP_DESCRIPTOR 0x0008 /* sizes come after the data */
/* These change nothing for a reader: how hard deflate tried, where sizes are,
 * and that names are UTF-8.  All others are of encryption, of patches, or of no
 * known meaning. */
#define ZIP_FLAGS (0x0006 | ZIP_DESCRIPTOR | 0x0800)

/* Deflate needs two bits at least for the 258 bytes of its longest match: a
 * member that is said to become more cannot. */
#define ZIP_RATIO_MAX 1032

/* What the directory says of a member and its row does not. */
struct mf_zip_entry {
    uint64_t local; /* offset of its own header */
    uint64_t end;   /* of its data; 0: its header could not be read */
    uint64_t at;    /* offset of its record in the directory */
    uint16_t flags, method;
    uint16_t fault; /* the rule that makes it unreadable; 0: none */
    bool described; /* the descriptor after it was compared */
    bool overlaps;
};

/* What both headers of a member have. */
struct zip_fields {
    uint16_t flags, method;
    uint32_t crc;
    uint64_t packed, size;
    uint64_t local; /* of the directory alone */
    uint16_t name_size, extra_size;
};

static inline bool zip_is(const uint8_t *at, const char *signature)
{
    return memcmp(at, signature, ZIP_SIGNATURE) == 0;
}

/* Takes the numbers that did not fit into 32 bits from the extra fields, in
 * their order: size, packed, local.  False where one of them is missing. */
bool mf_zip_take_64(struct zip_fields *fields, const uint8_t *extra,
                    bool has_local);

/* Finds members that overlap whatever their own headers say. */
enum mf_status mf_zip_check_directory(struct mf_zip *zip);

/* Whether that many bytes after the member can be its descriptor. */
bool mf_zip_is_descriptor(const struct mf_zip_entry *entry, uint64_t size);

/* Compares a descriptor of `size` bytes with the directory. */
void mf_zip_check_descriptor(struct mf_zip *zip, size_t i, const uint8_t *bytes,
                             size_t size);

/* Marks member i as one that cannot be read, with a finding of that rule. */
void mf_zip_spoil(struct mf_zip *zip, size_t i, enum mf_rule rule, uint64_t at,
                  const char *format, ...) MF_PRINTF(5, 6);

/* The name of member i for a message. */
struct mf_quoted mf_zip_name(const struct mf_zip *zip, size_t i);

#endif
