/* SPDX-License-Identifier: MIT
 *
 * sha.c - SHA-1 and SHA-256 by the system's libcrypto, loaded when needed
 *
 * Where it is missing, or there is no memory to load it, SHA-256 is computed by
 * sha256.c: slower, and with the same result.
 */
#include "lib/io/sha.h"

#include <string.h>

#include "lib/io/system.h"
#include "lib/program.h"

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

/* glibc reports it only in words: "failed to map segment", "cannot allocate
 * ...", "cannot change memory protections". */
static bool is_memory(const char *why)
{
    return strstr(why, " map ") || strstr(why, "allocate") ||
           strstr(why, "cannot create") || strstr(why, "memory");
}

/* ---- without libcrypto ---- */

static int own_begin(void *state)
{
    mf_sha256_begin(state);
    return 1;
}

static int own_update(void *state, const void *bytes, size_t size)
{
    mf_sha256_add(state, bytes, size);
    return 1;
}

static int own_end(unsigned char *out, void *state)
{
    mf_sha256_end(state, out);
    return 1;
}

static void use_own(struct mf_sha *sha)
{
    _Static_assert(sizeof(struct mf_sha256) <= sizeof(sha->state),
                   "the state has room");
    *sha = (struct mf_sha){ .size = mf_digest_size(MF_SHA256),
                            .begin = own_begin,
                            .update = own_update,
                            .end = own_end };
}

static enum mf_status refuse_sha1(struct mf_env *env)
{
    const char *why = mf_system_load_error();
    bool memory;

    why = why ? why : "no reason given";
    memory = is_memory(why);
    return mf_fail(env, memory ? MF_ERR_MEMORY : MF_ERR_IO, MF_NO_OFFSET,
                   "sha1 needs " LIBRARY ", which cannot be loaded%s: %s",
                   memory ? "" : " (Debian has it in the package libssl3)",
                   mf_quote((struct mf_str){ why, strlen(why) }).text);
}

enum mf_status mf_sha_init(struct mf_sha *sha, struct mf_env *env,
                           enum mf_digest_kind kind)
{
    static const struct calls sha1 = { "SHA1_Init", "SHA1_Update",
                                       "SHA1_Final" };
    static const struct calls sha256 = { "SHA256_Init", "SHA256_Update",
                                         "SHA256_Final" };
    enum mf_status status = MF_OK;

    *sha = (struct mf_sha){ .library = mf_system_load(LIBRARY),
                            .size = mf_digest_size(kind) };
    if (sha->library && find_all(sha, kind == MF_SHA1 ? &sha1 : &sha256))
        return MF_OK;
    if (kind == MF_SHA1)
        status = refuse_sha1(env);
    mf_sha_release(sha);
    if (kind == MF_SHA256)
        use_own(sha);
    return status;
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
