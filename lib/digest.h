/* SPDX-License-Identifier: MIT
 *
 * digest.h - the checksum that formats use inside their files
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

#endif
