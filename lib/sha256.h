/* SPDX-License-Identifier: MIT
 *
 * sha256.h - SHA-256 by the system's libcrypto, loaded when it is asked for
 *
 * Building needs nothing of OpenSSL; a program that never asks for SHA-256 runs
 * without it, too.  What libcrypto allocates is not the env's.
 */
#ifndef MF_LIB_SHA256_H
#define MF_LIB_SHA256_H

#include "lib/heap.h"

#define MF_SHA256_SIZE 32

struct mf_sha256 {
    void *library;
    void *running, *ended; /* EVP_MD_CTX; ended: for a digest in between */
    bool failed;           /* libcrypto has, since the start */
    /* OpenSSL's names and types for them, from its manual EVP_DigestInit(3) */
    void *(*ctx_new)(void);
    void (*ctx_free)(void *ctx);
    int (*ctx_copy)(void *to, const void *from);
    const void *(*sha256)(void);
    int (*begin)(void *ctx, const void *type, void *engine);
    int (*update)(void *ctx, const void *bytes, size_t size);
    int (*end)(void *ctx, unsigned char *out, unsigned *size);
};

enum mf_status mf_sha256_init(struct mf_sha256 *sha256, struct mf_env *env);
void mf_sha256_release(struct mf_sha256 *sha256);

void mf_sha256_restart(struct mf_sha256 *sha256);
void mf_sha256_add(struct mf_sha256 *sha256, const void *bytes, size_t size);

/* Returns MF_SHA256_SIZE; 0 where libcrypto found no memory, now or since the
 * start. */
size_t mf_sha256_finish(const struct mf_sha256 *sha256,
                        uint8_t out[MF_SHA256_SIZE]);

#endif
