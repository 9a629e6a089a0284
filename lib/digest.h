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

#endif
