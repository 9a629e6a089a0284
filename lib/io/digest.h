/* SPDX-License-Identifier: MIT
 *
 * digest.h - checksums for formats and for the digests of tensors
 */
#ifndef MF_LIB_DIGEST_H
#define MF_LIB_DIGEST_H

#include "lib/modelfile.h"

/* crc, continued over size more bytes; start with 0.  The CRC-32 of zip, PNG
 * and gzip: "123456789" gives 0xcbf43926. */
uint32_t mf_crc32(uint32_t crc, const void *bytes, size_t size);

/* The checksum of bytes with the checksum `first` and behind them `size` bytes
 * with the checksum `second`. */
uint32_t mf_crc32_join(uint32_t first, uint32_t second, size_t size);

/* Bytes of a digest of that kind. */
size_t mf_digest_size(enum mf_digest_kind kind);

/* As it was when it was new. */
void mf_digest_restart(struct mf_digest *digest);

#endif
