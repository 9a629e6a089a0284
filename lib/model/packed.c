/* SPDX-License-Identifier: MIT
 *
 * packed.c - texts of the program that pack.sh has packed
 */
#include "lib/base/error.h"
#include "lib/model/stored_parts.h"
#include "lib/program.h"

enum mf_status
mf_packed_put(struct mf_env *env, const struct mf_packed *packed,
              void (*put)(void *user, const void *at, size_t size), void *user)
{
    enum mf_inflated step = MF_INFLATE_MORE;
    struct mf_inflate inflate = { .env = NULL };
    const uint8_t *at = packed->at;
    size_t left = packed->size;

    if (!packed->deflated) {
        put(user, at, left);
        return MF_OK;
    }
    if (!mf_inflate_begin(&inflate, env))
        step = MF_INFLATE_NO_MEMORY;
    while (step == MF_INFLATE_MORE) {
        uint8_t piece[2048];
        size_t in = left, out = sizeof(piece);

        step = mf_inflate_step(&inflate, at, &in, piece, &out);
        put(user, piece, out);
        at += in;
        left -= in;
    }
    mf_inflate_end(&inflate);
    return step == MF_INFLATE_END ? MF_OK
                                  : mf_fail(env, MF_ERR_MEMORY, MF_NO_OFFSET,
                                            "there is no memory to unpack a "
                                            "text of the program");
}
