/* SPDX-License-Identifier: MIT
 *
 * fingerprint.h - what was measured, as one digest
 *
 * Two runs with the same fingerprint have measured the same thing: the same
 * program, settings, weights and instruction set.
 */
#ifndef MF_CLI_FINGERPRINT_H
#define MF_CLI_FINGERPRINT_H

#include "lib/program.h"

/* ---- SHA-256 as text ---- */

/* 64 lower-case digits. */
struct sha256_text {
    char at[65];
};

/* May be called more than once, with more bytes in between. */
struct sha256_text sha256_end(const struct mf_sha256 *sha);

struct sha256_text sha256_of(const void *bytes, size_t size);

/* ---- what was measured, as one digest ---- */

/* The members, and their order, are ruvector-profiler's. */
struct fingerprint_config {
    const char *model_commit, *weights_hash;
    float lambda;
    uint64_t tau;
    float eps;
    const char *compiler_flags;
};

/* An object of compact JSON. */
void fingerprint_json(struct mf_json_out *json,
                      const struct fingerprint_config *config);

/* The SHA-256 of that text. */
struct sha256_text fingerprint_of(const struct fingerprint_config *config);

#endif
