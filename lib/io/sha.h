/* SPDX-License-Identifier: MIT
 *
 * sha.h - SHA-1 and SHA-256 by the system's libcrypto, loaded when needed
 *
 * Building does not need OpenSSL, and a program that uses neither digest runs
 * without it.
 */
#ifndef MF_LIB_SHA_H
#define MF_LIB_SHA_H

#include "lib/base/heap.h"
#include "lib/io/digest.h"

struct mf_sha {
    void *library;
    bool failed; /* a call of libcrypto has failed */
    size_t size; /* of the digest */
    /* From OpenSSL's manual SHA256_Init(3).  These calls allocate nothing;
     * EVP_DigestInit(3) would load a configuration and providers first, which
     * take 80 KB outside of the env's limits. */
    int (*begin)(void *state);
    int (*update)(void *state, const void *bytes, size_t size);
    int (*end)(unsigned char *out, void *state);
    uint64_t state[32]; /* a SHA256_CTX has 112 bytes, a SHA_CTX 96 */
};

/* kind: MF_SHA1 or MF_SHA256. */
void mf_sha_init(struct mf_sha *sha, enum mf_digest_kind kind);
void mf_sha_release(struct mf_sha *sha);

void mf_sha_restart(struct mf_sha *sha);
void mf_sha_add(struct mf_sha *sha, const void *bytes, size_t size);

/* Returns the digest's size; 0 where libcrypto has failed, now or since the
 * start. */
size_t mf_sha_finish(const struct mf_sha *sha, uint8_t out[MF_DIGEST_MAX]);

#endif
