/* SPDX-License-Identifier: MIT
 *
 * sha256.h - SHA-256 (FIPS 180-4) of a few kilobytes
 *
 * For records, which must not need libcrypto: loading it would take more memory
 * than many commands that are measured.  `hash --algo sha256` uses libcrypto,
 * which is faster.
 */
#ifndef MF_CLI_SHA256_H
#define MF_CLI_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[64];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t size);

/* 64 lower-case digits. */
struct sha256_text {
    char at[65];
};

/* May be called more than once, with more bytes in between. */
struct sha256_text sha256_end(const struct sha256 *sha);

struct sha256_text sha256_of(const void *bytes, size_t size);

#endif
