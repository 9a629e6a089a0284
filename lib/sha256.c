/* SPDX-License-Identifier: MIT
 *
 * sha256.c - SHA-256 by the system's libcrypto, loaded when it is asked for
 */
#include "lib/sha256.h"

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

static bool find_all(struct mf_sha256 *sha256)
{
    void *library = sha256->library;

    return find(library, "SHA256_Init", &sha256->begin) &&
           find(library, "SHA256_Update", &sha256->update) &&
           find(library, "SHA256_Final", &sha256->end);
}

/* glibc tells it in words alone: "failed to map segment", "cannot allocate
 * ...", "cannot change memory protections". */
static bool is_memory(const char *why)
{
    return strstr(why, " map ") || strstr(why, "allocate") ||
           strstr(why, "memory");
}

enum mf_status mf_sha256_init(struct mf_sha256 *sha256, struct mf_env *env)
{
    *sha256 =
        (struct mf_sha256){ .library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
    if (!sha256->library || !find_all(sha256)) {
        const char *why = dlerror();
        bool memory;

        why = why ? why : "no reason given";
        memory = is_memory(why);
        mf_fail(env, memory ? MF_ERR_MEMORY : MF_ERR_IO, MF_NO_OFFSET,
                "sha256 needs " LIBRARY ", which cannot be loaded%s: %s",
                memory ? "" : " (Debian has it in the package libssl3)",
                mf_quote((struct mf_str){ why, strlen(why) }).text);
        mf_sha256_release(sha256);
        return env->error.status;
    }
    return MF_OK;
}

void mf_sha256_release(struct mf_sha256 *sha256)
{
    if (sha256->library)
        dlclose(sha256->library);
    *sha256 = (struct mf_sha256){ 0 };
}

void mf_sha256_restart(struct mf_sha256 *sha256)
{
    sha256->failed = !sha256->begin(sha256->state);
}

void mf_sha256_add(struct mf_sha256 *sha256, const void *bytes, size_t size)
{
    if (!sha256->failed)
        sha256->failed = !sha256->update(sha256->state, bytes, size);
}

size_t mf_sha256_finish(const struct mf_sha256 *sha256,
                        uint8_t out[MF_SHA256_SIZE])
{
    struct mf_sha256 ended = *sha256; /* the end of one ends it */

    return !sha256->failed && ended.end(out, ended.state) ? MF_SHA256_SIZE : 0;
}
