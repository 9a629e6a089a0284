/* SPDX-License-Identifier: MIT
 *
 * sha.c - SHA-1 and SHA-256 by the system's libcrypto, loaded when needed
 *
 * Where it is missing, or there is no memory to load it, sha_own.c computes
 * them: with the same result, and slower on processors without instructions for
 * it.
 */
#include "lib/io/sha.h"

#include <string.h>

#include "lib/io/sha_own.h"
#include "lib/io/system.h"

/* The version that belongs to the calls below. */
#define LIBRARY "libcrypto.so.3"

/* Looks name up; place is a pointer to a function of the right type.  C has no
 * cast from what that returns, POSIX promises that the bytes are the same. */
static bool find(void *library, const char *name, void *place)
{
    void *symbol = mf_system_symbol(library, name);

    memcpy(place, &symbol, sizeof(symbol));
    return symbol != NULL;
}

struct calls {
    const char *begin, *update, *end;
};

static bool find_all(struct mf_sha *sha, const struct calls *calls)
{
    void *library = sha->library;

    return find(library, calls->begin, &sha->begin) &&
           find(library, calls->update, &sha->update) &&
           find(library, calls->end, &sha->end);
}

/* ---- without libcrypto ---- */

static int begin_1(void *state)
{
    mf_sha1_begin(state);
    return 1;
}

static int update_1(void *state, const void *bytes, size_t size)
{
    mf_sha1_add(state, bytes, size);
    return 1;
}

static int end_1(unsigned char *out, void *state)
{
    mf_sha1_end(state, out);
    return 1;
}

static int begin_256(void *state)
{
    mf_sha256_begin(state);
    return 1;
}

static int update_256(void *state, const void *bytes, size_t size)
{
    mf_sha256_add(state, bytes, size);
    return 1;
}

static int end_256(unsigned char *out, void *state)
{
    mf_sha256_end(state, out);
    return 1;
}

static void use_own(struct mf_sha *sha, enum mf_digest_kind kind)
{
    _Static_assert(sizeof(struct mf_sha1) <= sizeof(sha->state) &&
                       sizeof(struct mf_sha256) <= sizeof(sha->state),
                   "the state has room");
    *sha = (struct mf_sha){ .size = mf_digest_size(kind),
                            .begin = kind == MF_SHA1 ? begin_1 : begin_256,
                            .update = kind == MF_SHA1 ? update_1 : update_256,
                            .end = kind == MF_SHA1 ? end_1 : end_256 };
}

void mf_sha_init(struct mf_sha *sha, enum mf_digest_kind kind)
{
    static const struct calls sha1 = { "SHA1_Init", "SHA1_Update",
                                       "SHA1_Final" };
    static const struct calls sha256 = { "SHA256_Init", "SHA256_Update",
                                         "SHA256_Final" };

    *sha = (struct mf_sha){ .library = mf_system_load(LIBRARY),
                            .size = mf_digest_size(kind) };
    if (sha->library && find_all(sha, kind == MF_SHA1 ? &sha1 : &sha256))
        return;
    mf_sha_release(sha);
    use_own(sha, kind);
}

void mf_sha_release(struct mf_sha *sha)
{
    if (sha->library)
        mf_system_unload(sha->library);
    *sha = (struct mf_sha){ 0 };
}

void mf_sha_restart(struct mf_sha *sha)
{
    sha->failed = !sha->begin(sha->state);
}

void mf_sha_add(struct mf_sha *sha, const void *bytes, size_t size)
{
    if (!sha->failed)
        sha->failed = !sha->update(sha->state, bytes, size);
}

size_t mf_sha_finish(const struct mf_sha *sha, uint8_t out[MF_DIGEST_MAX])
{
    struct mf_sha ended = *sha; /* the end of one ends it */

    return !sha->failed && ended.end(out, ended.state) ? sha->size : 0;
}
