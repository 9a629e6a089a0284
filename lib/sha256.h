/* SPDX-License-Identifier: MIT
 *
 * sha256.h - SHA-256 by the system's libcrypto, loaded when it is asked for
 *
 * Building needs nothing of OpenSSL; a program that never asks for SHA-256 runs
 * without it, too.
 */
#ifndef MF_LIB_SHA256_H
#define MF_LIB_SHA256_H

#include "lib/heap.h"

#define MF_SHA256_SIZE 32

struct mf_sha256 {
    void *library;
    bool failed; /* libcrypto has, since the start */
    /* From OpenSSL's manual SHA256_Init(3).  These calls allocate nothing;
     * those of EVP_DigestInit(3) load a configuration and providers first,
     * which take 80 KB that no limit of the env's would know of. */
    int (*begin)(void *state);
    int (*update)(void *state, const void *bytes, size_t size);
    int (*end)(unsigned char *out, void *state);
    uint64_t state[32]; /* a SHA256_CTX, which has 112 bytes */
};

enum mf_status mf_sha256_init(struct mf_sha256 *sha256, struct mf_env *env);
void mf_sha256_release(struct mf_sha256 *sha256);

void mf_sha256_restart(struct mf_sha256 *sha256);
void mf_sha256_add(struct mf_sha256 *sha256, const void *bytes, size_t size);

/* Returns MF_SHA256_SIZE; 0 where libcrypto has failed, now or since the
 * start. */
size_t mf_sha256_finish(const struct mf_sha256 *sha256,
                        uint8_t out[MF_SHA256_SIZE]);

#endif
