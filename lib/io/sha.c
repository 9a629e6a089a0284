/* SPDX-License-Identifier: MIT
 *
 * sha.c - SHA-1 and SHA-256 by the system's libcrypto, loaded when needed
 */
#include "lib/io/sha.h"

#include <dlfcn.h>
#include <string.h>

/* The version that belongs to the calls below. */
#define LIBRARY "libcrypto.so.3"

/* Looks name up; place is a pointer to a function of the right type.  C has no
 * cast from what dlsym returns, POSIX promises that the bytes are the same. */
static bool find(void *library, const char *name, void *place)
{
    void *symbol = dlsym(library, name);

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

enum mf_status mf_sha_init(struct mf_sha *sha, struct mf_env *env,
                           enum mf_digest_kind kind)
{
    static const struct calls sha1 = { "SHA1_Init", "SHA1_Update",
                                       "SHA1_Final" };
    static const struct calls sha256 = { "SHA256_Init", "SHA256_Update",
                                         "SHA256_Final" };
    bool short_one = kind == MF_SHA1;

    *sha = (struct mf_sha){ .library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL),
                            .size = mf_digest_size(kind) };
    if (!sha->library || !find_all(sha, short_one ? &sha1 : &sha256)) {
        const char *why = dlerror();
        bool memory;

        why = why ? why : "no reason given";
        memory = is_memory(why);
        mf_fail(env, memory ? MF_ERR_MEMORY : MF_ERR_IO, MF_NO_OFFSET,
                "%s needs " LIBRARY ", which cannot be loaded%s: %s",
                short_one ? "sha1" : "sha256",
                memory ? "" : " (Debian has it in the package libssl3)",
                mf_quote((struct mf_str){ why, strlen(why) }).text);
        mf_sha_release(sha);
        return env->error.status;
    }
    return MF_OK;
}

void mf_sha_release(struct mf_sha *sha)
{
    if (sha->library)
        dlclose(sha->library);
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
