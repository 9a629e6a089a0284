/* SPDX-License-Identifier: MIT
 *
 * sha.h - the blocks of SHA-1 and SHA-256, plain and by the processor
 *
 * x86-64 has instructions for both, which not every processor with AVX2 has,
 * nor every one without lacks: isa.h does not choose here.
 */
#ifndef MF_LIB_SHA_BLOCKS_H
#define MF_LIB_SHA_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MF_SHA_BLOCK 64 /* bytes */

/* Adds count blocks to the words of a state: SHA-1 has 5, SHA-256 8. */
typedef void mf_sha_blocks(uint32_t *state, const uint8_t *blocks,
                           size_t count);

/* By what this processor has. */
mf_sha_blocks mf_sha1_blocks, mf_sha256_blocks;

/* Whether it has instructions for it; without them, the second do not run. */
bool mf_sha_has_instructions(void);
mf_sha_blocks mf_sha1_portable, mf_sha256_portable;
mf_sha_blocks mf_sha1_x86, mf_sha256_x86;

/* The first 32 bits of the fractional parts of the cube roots of the first 64
 * primes (FIPS 180-4, section 4.2.2). */
extern const uint32_t mf_sha256_constants[64];

#endif
