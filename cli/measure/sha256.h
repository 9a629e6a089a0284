/* SPDX-License-Identifier: MIT
 *
 * sha256.h - SHA-256 as text
 */
#ifndef MF_CLI_SHA256_H
#define MF_CLI_SHA256_H

#include "lib/program.h"

/* 64 lower-case digits. */
struct sha256_text {
    char at[65];
};

/* May be called more than once, with more bytes in between. */
struct sha256_text sha256_end(const struct mf_sha256 *sha);

struct sha256_text sha256_of(const void *bytes, size_t size);

#endif
