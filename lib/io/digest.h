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

/* The checksum of bytes with the checksum `first`, followed by `size` bytes
 * with the checksum `second`. */
uint32_t mf_crc32_join(uint32_t first, uint32_t second, uint64_t size);

/* Size of a digest of that kind, in bytes. */
size_t mf_digest_size(enum mf_digest_kind kind);

/* A digest of any bytes, in the order in which they are added.  The models'
 * digests in modelfile.h are made of these. */
struct mf_digest;

/* NULL, with the error set, when memory is missing. */
struct mf_digest *mf_digest_new(struct mf_env *env, enum mf_digest_kind kind);
void mf_digest_free(struct mf_digest *digest); /* NULL is allowed */

void mf_digest_add(struct mf_digest *digest, const void *bytes, size_t size);

/* Writes the digest of the bytes added so far, in its usual printed
 * (big-endian) order, and returns its size.  More bytes may be added
 * afterwards.  Returns 0 only when libcrypto runs out of memory. */
size_t mf_digest_finish(const struct mf_digest *digest,
                        uint8_t out[MF_DIGEST_MAX]);

/* Back to the state that mf_digest_new gave it. */
void mf_digest_restart(struct mf_digest *digest);

#endif
