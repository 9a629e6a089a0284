/* SPDX-License-Identifier: MIT
 *
 * sha256.c - SHA-256 as text
 */
#include "cli/measure/sha256.h"

struct sha256_text sha256_end(const struct mf_sha256 *sha)
{
    static const char digits[] = "0123456789abcdef";
    struct sha256_text text;
    uint8_t digest[32];

    mf_sha256_end(sha, digest);
    for (size_t i = 0; i < sizeof(digest); i++) {
        text.at[2 * i] = digits[digest[i] >> 4];
        text.at[2 * i + 1] = digits[digest[i] & 15];
    }
    text.at[64] = 0;
    return text;
}

struct sha256_text sha256_of(const void *bytes, size_t size)
{
    struct mf_sha256 sha;

    mf_sha256_begin(&sha);
    mf_sha256_add(&sha, bytes, size);
    return sha256_end(&sha);
}
