/* SPDX-License-Identifier: MIT
 *
 * sha_own.h - SHA-1 without libcrypto; lib/program.h has SHA-256
 */
#ifndef MF_LIB_SHA_OWN_H
#define MF_LIB_SHA_OWN_H

#include "lib/program.h"

/* It counts and pads as SHA-256 does, and uses five of the eight words. */
struct mf_sha1 {
    struct mf_sha256 parts;
};

void mf_sha1_begin(struct mf_sha1 *sha);
void mf_sha1_add(struct mf_sha1 *sha, const void *bytes, size_t size);
void mf_sha1_end(const struct mf_sha1 *sha, uint8_t out[20]);

#endif
