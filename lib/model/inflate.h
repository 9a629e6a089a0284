/* SPDX-License-Identifier: MIT
 *
 * inflate.h - raw deflate, unpacked by zlib in memory of the env
 *
 * zlib asks for its state when it begins and for its window of 32 KiB when a
 * stream goes on over several calls: some 40 KiB, which count and are limited
 * like all others.
 *
 * A build with MF_NO_ZLIB unpacks nothing: members that are compressed are a
 * finding of their archive, and this is never called.
 */
#ifndef MF_LIB_INFLATE_H
#define MF_LIB_INFLATE_H

#if !defined(MF_NO_ZLIB)
#include <zlib.h>
#endif

#include "lib/base/heap.h"

#define MF_INFLATE_BLOCKS 4 /* zlib needs two */

/* All zero: not begun. */
struct mf_inflate {
    struct mf_env *env;
#if !defined(MF_NO_ZLIB)
    z_stream z;
#endif
    struct {
        void *at;
        size_t size;
    } block[MF_INFLATE_BLOCKS];
};

enum mf_inflated {
    MF_INFLATE_MORE, /* all input is used, or all output is full */
    MF_INFLATE_END,
    MF_INFLATE_BAD,
    MF_INFLATE_NO_MEMORY
};

/* Begins a stream, or another one with the same memory.  False if there is no
 * memory; the env's error is left as it was.  Any thread may call it. */
bool mf_inflate_begin(struct mf_inflate *own, struct mf_env *env);

/* From in[*in_size] to out[*out_size], which get how many were used. */
enum mf_inflated mf_inflate_step(struct mf_inflate *own, const uint8_t *in,
                                 size_t *in_size, uint8_t *out,
                                 size_t *out_size);

void mf_inflate_end(struct mf_inflate *own);

#endif
