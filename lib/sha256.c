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

    return find(library, "EVP_MD_CTX_new", &sha256->ctx_new) &&
           find(library, "EVP_MD_CTX_free", &sha256->ctx_free) &&
           find(library, "EVP_MD_CTX_copy_ex", &sha256->ctx_copy) &&
           find(library, "EVP_sha256", &sha256->sha256) &&
           find(library, "EVP_DigestInit_ex", &sha256->begin) &&
           find(library, "EVP_DigestUpdate", &sha256->update) &&
           find(library, "EVP_DigestFinal_ex", &sha256->end);
}

enum mf_status mf_sha256_init(struct mf_sha256 *sha256, struct mf_env *env)
{
    *sha256 =
        (struct mf_sha256){ .library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
    if (!sha256->library || !find_all(sha256)) {
        const char *why = dlerror();

        why = why ? why : "no reason given";
        mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
                "sha256 needs " LIBRARY ", which cannot be loaded (Debian has "
                "it in the package libssl3): %s",
                mf_quote((struct mf_str){ why, strlen(why) }).text);
        mf_sha256_release(sha256);
        return env->error.status;
    }
    sha256->running = sha256->ctx_new();
    sha256->ended = sha256->ctx_new();
    if (sha256->running && sha256->ended &&
        sha256->begin(sha256->running, sha256->sha256(), NULL))
        return MF_OK;
    mf_sha256_release(sha256);
    return mf_fail(env, MF_ERR_MEMORY, MF_NO_OFFSET,
                   LIBRARY " could not begin a sha256");
}

void mf_sha256_release(struct mf_sha256 *sha256)
{
    if (sha256->running)
        sha256->ctx_free(sha256->running);
    if (sha256->ended)
        sha256->ctx_free(sha256->ended);
    if (sha256->library)
        dlclose(sha256->library);
    *sha256 = (struct mf_sha256){ 0 };
}

void mf_sha256_restart(struct mf_sha256 *sha256)
{
    sha256->failed = !sha256->begin(sha256->running, NULL, NULL);
}

void mf_sha256_add(struct mf_sha256 *sha256, const void *bytes, size_t size)
{
    if (!sha256->failed)
        sha256->failed = !sha256->update(sha256->running, bytes, size);
}

size_t mf_sha256_finish(const struct mf_sha256 *sha256,
                        uint8_t out[MF_SHA256_SIZE])
{
    unsigned size = 0;

    /* The end of one ends it: that is left to a copy. */
    if (sha256->failed || !sha256->ctx_copy(sha256->ended, sha256->running) ||
        !sha256->end(sha256->ended, out, &size))
        return 0;
    return size;
}
