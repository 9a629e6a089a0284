/* SPDX-License-Identifier: MIT
 *
 * fingerprint.h - what was measured, as one digest
 *
 * Two runs with the same fingerprint have measured the same thing: the same
 * program, settings, weights and instruction set.
 */
#ifndef MF_CLI_FINGERPRINT_H
#define MF_CLI_FINGERPRINT_H

#include "cli/measure/sha256.h"
#include "lib/program.h"

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
