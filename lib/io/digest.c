/* SPDX-License-Identifier: MIT
 *
 * digest.c - checksums and content digests, fed piece by piece
 */
#include "lib/io/digest.h"

#include <stdalign.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/base/heap.h"
#include "lib/io/sha_own.h"
#include "lib/io/system.h"
#include "lib/lanes/isa.h"
#include "lib/program.h"

/* ---- SHA-1 and SHA-256 by the system's libcrypto, loaded when needed ---- */

/* Building does not need OpenSSL, and a program that uses neither digest runs
 * without it.  Where it is missing, or there is no memory to load it, sha_own.c
 * computes them: with the same result, and slower on processors without
 * instructions for it. */

struct mf_sha {
    void *library;
    bool failed; /* a call of libcrypto has failed */
    size_t size; /* of the digest */
    /* From OpenSSL's manual SHA256_Init(3).  These calls allocate nothing;
     * EVP_DigestInit(3) would load a configuration and providers first, which
     * take 80 KB outside of the env's limits. */
    int (*begin)(void *state);
    int (*update)(void *state, const void *bytes, size_t size);
    int (*end)(unsigned char *out, void *state);
    uint64_t state[32]; /* a SHA256_CTX has 112 bytes, a SHA_CTX 96 */
};

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

static void mf_sha_release(struct mf_sha *sha)
{
    if (sha->library)
        mf_system_unload(sha->library);
    *sha = (struct mf_sha){ 0 };
}

/* kind: MF_SHA1 or MF_SHA256. */
static void mf_sha_init(struct mf_sha *sha, enum mf_digest_kind kind)
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

static void mf_sha_restart(struct mf_sha *sha)
{
    sha->failed = !sha->begin(sha->state);
}

static void mf_sha_add(struct mf_sha *sha, const void *bytes, size_t size)
{
    if (!sha->failed)
        sha->failed = !sha->update(sha->state, bytes, size);
}

/* Returns the digest's size; 0 where libcrypto has failed, now or since the
 * start. */
static size_t mf_sha_finish(const struct mf_sha *sha,
                            uint8_t out[MF_DIGEST_MAX])
{
    struct mf_sha ended = *sha; /* the end of one ends it */

    return !sha->failed && ended.end(out, ended.state) ? sha->size : 0;
}

/* ---- checksums and content digests, fed piece by piece ---- */

struct mf_digest {
    union {
        uint32_t crc;
        XXH64_state_t xxh64;
        XXH3_state_t xxh3; /* wants to be aligned to 64 bytes */
        struct mf_sha sha;
    } state;
    enum mf_digest_kind kind;
    const struct mf_isa *isa;
    struct mf_env *env;
    void *block; /* as the heap gave it */
};

static const struct digest_row {
    const char *name;
    size_t size;
} rows[] = {
    [MF_CRC32] = { "crc32", 4 },  [MF_XXH64] = { "xxh64", 8 },
    [MF_XXH3_64] = { "xxh3", 8 }, [MF_XXH3_128] = { "xxh128", 16 },
    [MF_SHA1] = { "sha1", 20 },   [MF_SHA256] = { "sha256", 32 },
};

/* The heap aligns for any number, no further; the rest is on us. */
#define BLOCK_SIZE (sizeof(struct mf_digest) + alignof(struct mf_digest) - 1)

bool mf_digest_at(size_t index, struct mf_digest_info *out)
{
    if (!out)
        return false;

    if (index >= sizeof(rows) / sizeof(*rows))
        return false;
    *out = (struct mf_digest_info){ .name = rows[index].name,
                                    .kind = (enum mf_digest_kind)index,
                                    .size = rows[index].size };
    return true;
}

size_t mf_digest_size(enum mf_digest_kind kind)
{
    return rows[kind].size;
}

static bool is_sha(enum mf_digest_kind kind)
{
    return kind == MF_SHA1 || kind == MF_SHA256;
}

void mf_digest_restart(struct mf_digest *digest)
{
    switch (digest->kind) {
    case MF_CRC32:
        digest->state.crc = 0;
        break;
    case MF_XXH64:
        XXH64_reset(&digest->state.xxh64, 0);
        break;
    case MF_XXH3_64:
        XXH3_64bits_reset(&digest->state.xxh3);
        break;
    case MF_XXH3_128:
        XXH3_128bits_reset(&digest->state.xxh3);
        break;
    case MF_SHA1:
    case MF_SHA256:
        mf_sha_restart(&digest->state.sha);
        break;
    }
}

struct mf_digest *mf_digest_new(struct mf_env *env, enum mf_digest_kind kind)
{
    if (!env)
        return NULL;

    const struct mf_isa *isa;
    struct mf_digest *digest;
    uintptr_t over;
    char *block;

    mf_clear_error(env);
    if ((size_t)kind >= sizeof(rows) / sizeof(*rows)) {
        mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET, "unknown digest kind %d",
                (int)kind);
        return NULL;
    }
    isa = mf_isa_choose(env);
    block = isa ? mf_alloc(env, BLOCK_SIZE) : NULL;
    if (!block)
        return NULL;
    over = (uintptr_t)block % alignof(struct mf_digest);
    digest = (void *)(block + (over ? alignof(struct mf_digest) - over : 0));
    digest->kind = kind;
    digest->isa = isa;
    digest->env = env;
    digest->block = block;
    if (is_sha(kind))
        mf_sha_init(&digest->state.sha, kind);
    mf_digest_restart(digest);
    return digest;
}

void mf_digest_add(struct mf_digest *digest, const void *bytes, size_t size)
{
    if (!digest || !bytes)
        return;

    if (size == 0)
        return;
    switch (digest->kind) {
    case MF_CRC32:
        digest->state.crc = mf_crc32(digest->state.crc, bytes, size);
        break;
    case MF_XXH64:
        XXH64_update(&digest->state.xxh64, bytes, size);
        break;
    case MF_XXH3_64:
    case MF_XXH3_128:
        mf_xxh3_add_of(digest->isa)(&digest->state.xxh3, bytes, size);
        break;
    case MF_SHA1:
    case MF_SHA256:
        mf_sha_add(&digest->state.sha, bytes, size);
        break;
    }
}

/* The size lowest bytes of value, the highest of them first. */
static size_t put(uint64_t value, size_t size, uint8_t *out)
{
    for (size_t i = size; i-- > 0; value >>= 8)
        out[i] = (uint8_t)value;
    return size;
}

size_t mf_digest_finish(const struct mf_digest *digest,
                        uint8_t out[MF_DIGEST_MAX])
{
    if (!digest || !out)
        return 0;

    XXH128_hash_t wide;

    switch (digest->kind) {
    case MF_CRC32:
        return put(digest->state.crc, 4, out);
    case MF_XXH64:
        return put(XXH64_digest(&digest->state.xxh64), 8, out);
    case MF_XXH3_64:
        return put(XXH3_64bits_digest(&digest->state.xxh3), 8, out);
    case MF_XXH3_128:
        wide = XXH3_128bits_digest(&digest->state.xxh3);
        return put(wide.high64, 8, out) + put(wide.low64, 8, out + 8);
    case MF_SHA1:
    case MF_SHA256:
        return mf_sha_finish(&digest->state.sha, out);
    }
    return 0;
}

void mf_digest_free(struct mf_digest *digest)
{
    if (!digest)
        return;
    if (is_sha(digest->kind))
        mf_sha_release(&digest->state.sha);
    mf_release(digest->env, digest->block, BLOCK_SIZE);
}
