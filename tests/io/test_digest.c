/* SPDX-License-Identifier: MIT
 *
 * test_digest.c - checksums: known ones, fed in pieces, and by outsiders
 */
#include <inttypes.h>
#include <unistd.h>
#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/base/heap.h"
#include "lib/io/digest.h"
#include "lib/io/sha_own.h"
#include "lib/lanes/isa.h"
#include "lib/lanes/sha.h"
#include "tests/with_env.h"

/* The same bytes everywhere, without a pattern that a digest could like. */
static uint8_t *noise(size_t size)
{
    uint8_t *bytes = malloc(size + !size);
    uint32_t number = 1;

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        number = number * 1664525 + 1013904223; /* of Numerical Recipes */
        bytes[i] = (uint8_t)(number >> 24);
    }
    return bytes;
}

/* Fed `step` bytes at a time, in hex. */
static const char *digest_of(enum mf_digest_kind kind, const void *bytes,
                             size_t size, size_t step)
{
    static char text[2][2 * MF_DIGEST_MAX + 1];
    static unsigned turn;
    struct mf_digest *digest = mf_digest_new(env, kind);
    char *out = text[turn++ % 2];
    uint8_t raw[MF_DIGEST_MAX];
    size_t length;

    assert_non_null(digest);
    for (size_t at = 0; at < size; at += step)
        mf_digest_add(digest, (const uint8_t *)bytes + at,
                      step < size - at ? step : size - at);
    mf_digest_add(digest, NULL, 0);
    length = mf_digest_finish(digest, raw);
    for (size_t i = 0; i < length; i++)
        sprintf(out + 2 * i, "%02x", raw[i]);
    mf_digest_free(digest);
    return out;
}

static void known_texts_have_known_digests(void **state)
{
    static const struct {
        enum mf_digest_kind kind;
        const char *text, *digest;
    } rows[] = {
        { MF_CRC32, "", "00000000" },
        { MF_CRC32, "a", "e8b7be43" },
        { MF_CRC32, "123456789", "cbf43926" },
        { MF_CRC32, "The quick brown fox jumps over the lazy dog", "414fa339" },
        { MF_XXH64, "", "ef46db3751d8e999" },
        { MF_XXH64, "a", "d24ec4f1a98c6e5b" },
        { MF_XXH64, "abc", "44bc2cf5ad770999" },
        { MF_XXH64, "The quick brown fox jumps over the lazy dog",
          "0b242d361fda71bc" },
        { MF_XXH3_64, "", "2d06800538d394c2" },
        { MF_XXH3_64, "a", "e6c632b61e964e1f" },
        { MF_XXH3_64, "abc", "78af5f94892f3950" },
        { MF_XXH3_64, "The quick brown fox jumps over the lazy dog",
          "ce7d19a5418fb365" },
        { MF_XXH3_128, "", "99aa06d3014798d86001c324468d497f" },
        { MF_XXH3_128, "a", "a96faf705af16834e6c632b61e964e1f" },
        { MF_XXH3_128, "abc", "06b05ab6733a618578af5f94892f3950" },
        { MF_XXH3_128, "The quick brown fox jumps over the lazy dog",
          "ddd650205ca3e7fa24a1cc2e3a8a7651" },
        /* of FIPS 180-1 */
        { MF_SHA1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
        { MF_SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
        /* of FIPS 180-2 and its first appendix */
        { MF_SHA256, "",
          "e3b0c44298fc1c149afbf4c8996fb924"
          "27ae41e4649b934ca495991b7852b855" },
        { MF_SHA256, "abc",
          "ba7816bf8f01cfea414140de5dae2223"
          "b00361a396177a9cb410ff61f20015ad" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_string_equal(
            digest_of(rows[i].kind, rows[i].text, strlen(rows[i].text), 100),
            rows[i].digest);
}

/* Sizes around the borders of xxHash: its short forms, blocks and stripes. */
static void pieces_give_the_digest_of_the_whole(void **state)
{
    static const size_t sizes[] = { 0,   1,   3,   4,    8,    9,    16,  17,
                                    31,  32,  33,  64,   128,  129,  240, 241,
                                    255, 256, 257, 1023, 1024, 1025, 4099 };
    static const size_t steps[] = { 1, 2, 7, 31, 32, 63, 64, 65, 255, 1024 };
    uint8_t *bytes = noise(4099);

    (void)state;
    for (int kind = MF_CRC32; kind <= MF_SHA256; kind++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
            for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++)
                assert_string_equal(digest_of((enum mf_digest_kind)kind, bytes,
                                              sizes[i], steps[k]),
                                    digest_of((enum mf_digest_kind)kind, bytes,
                                              sizes[i], SIZE_MAX / 2));
    free(bytes);
}

static void finishing_changes_nothing(void **state)
{
    (void)state;
    for (int kind = MF_CRC32; kind <= MF_SHA256; kind++) {
        struct mf_digest *digest =
            mf_digest_new(env, (enum mf_digest_kind)kind);
        uint8_t first[MF_DIGEST_MAX] = { 0 }, again[MF_DIGEST_MAX] = { 0 };
        size_t size;
        char text[2 * MF_DIGEST_MAX + 1] = "";

        mf_digest_add(digest, "ab", 2);
        size = mf_digest_finish(digest, first);
        assert_int_equal(mf_digest_finish(digest, again), size);
        assert_memory_equal(first, again, sizeof(first));
        mf_digest_add(digest, "c", 1);
        mf_digest_finish(digest, again);
        for (size_t i = 0; i < size; i++)
            sprintf(text + 2 * i, "%02x", again[i]);
        assert_string_equal(text,
                            digest_of((enum mf_digest_kind)kind, "abc", 3, 3));
        mf_digest_free(digest);
    }
}

/* ---- outside checks ---- */

static void checksums_are_as_in_zlib(void **state)
{
    uint8_t *bytes = noise(3000);

    (void)state;
    for (size_t size = 0; size < 3000; size += 1 + size / 9) {
        uint32_t whole = mf_crc32(0, bytes, size);
        size_t half = size / 2;

        assert_int_equal(whole, crc32(crc32(0, NULL, 0), bytes, (uInt)size));
        assert_int_equal(whole, mf_crc32(mf_crc32(0, bytes, half), bytes + half,
                                         size - half));
    }
    assert_int_equal(mf_crc32(0x1234, NULL, 0), 0x1234);
    assert_int_equal(mf_crc32(0x1234, bytes, 0), 0x1234);
    free(bytes);
}

/* The first word that a command says of bytes. */
static void ask(const char *command, const uint8_t *bytes, size_t size,
                char word[80])
{
    const char *folder = getenv("TMPDIR");
    char name[512], line[600];
    FILE *file;

    snprintf(name, sizeof(name), "%s/modelfile-digest.%ld",
             folder ? folder : "/tmp", (long)getpid());
    file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    snprintf(line, sizeof(line), "%s <'%s'", command, name);
    file = popen(line, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%79s", word), 1);
    assert_int_equal(pclose(file), 0);
    remove(name);
}

static void same_as(const char *command, enum mf_digest_kind kind)
{
    static const size_t sizes[] = { 0, 5, 55, 56, 64, 240, 241, 100000 };
    uint8_t *bytes = noise(100000);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char word[80];

        ask(command, bytes, sizes[i], word);
        assert_string_equal(word, digest_of(kind, bytes, sizes[i], 1000));
    }
    free(bytes);
}

static void digests_are_as_in_xxhsum(void **state)
{
    (void)state;
    if (system("xxhsum --version >/dev/null 2>&1") != 0)
        skip(); /* it is not installed here */
    same_as("xxhsum -H1 -", MF_XXH64);
    same_as("xxhsum -H2 -", MF_XXH3_128);
}

static void digests_are_as_in_coreutils(void **state)
{
    (void)state;
    same_as("sha1sum", MF_SHA1);
    same_as("sha256sum", MF_SHA256);
}

static void in_hex(const uint8_t *digest, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++)
        sprintf(out + 2 * i, "%02x", digest[i]);
}

/* Where there is a libcrypto, digest_of asks it: fed in pieces, and ended in
 * the middle, ours say the same. */
static void own_digests_are_as_libcryptos(void **state)
{
    uint8_t *bytes = noise(700), out[32];
    char text[65];

    (void)state;
    for (size_t size = 0; size < 700; size++) {
        struct mf_sha1 sha1;
        struct mf_sha256 sha256;
        size_t step = 1 + size % 150;

        mf_sha1_begin(&sha1);
        mf_sha256_begin(&sha256);
        for (size_t at = 0; at < size; at += step) {
            size_t part = step < size - at ? step : size - at;

            mf_sha1_add(&sha1, bytes + at, part);
            mf_sha256_add(&sha256, bytes + at, part);
            mf_sha1_end(&sha1, out);
            mf_sha256_end(&sha256, out);
        }
        mf_sha1_end(&sha1, out);
        in_hex(out, 20, text);
        assert_string_equal(text, digest_of(MF_SHA1, bytes, size, 4096));
        mf_sha256_end(&sha256, out);
        in_hex(out, 32, text);
        assert_string_equal(text, digest_of(MF_SHA256, bytes, size, 4096));
    }
    free(bytes);
}

#if defined(MF_X86_64)
static void instructions_change_nothing(void **state)
{
    uint8_t *bytes = noise(40 * MF_SHA_BLOCK);
    uint32_t plain[8], fast[8];

    (void)state;
    if (!mf_sha_has_instructions())
        skip(); /* this processor has none for SHA */
    for (size_t count = 0; count <= 40; count++) {
        for (uint32_t i = 0; i < 8; i++)
            plain[i] = fast[i] = (uint32_t)count * 0x9e3779b1 + i * 0x85ebca77;
        mf_sha1_portable(plain, bytes, count);
        mf_sha1_x86(fast, bytes, count);
        assert_memory_equal(plain, fast, sizeof(plain));
        mf_sha256_portable(plain, bytes, count);
        mf_sha256_x86(fast, bytes, count);
        assert_memory_equal(plain, fast, sizeof(plain));
    }
    free(bytes);
}
#endif

/* Whatever vectors XXH3 uses, it says what a plain call of xxHash does. */
static void vectors_change_nothing(void **state)
{
    uint8_t *bytes = noise(70000);

    (void)state;
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++) {
        char text[33];

        if (!mf_isa_runs(isa))
            continue;
        env->isa = isa->name;
        for (size_t size = 0; size < 70000; size += 1 + size / 5) {
            XXH128_hash_t wide = XXH3_128bits(bytes, size);

            snprintf(text, sizeof(text), "%016" PRIx64,
                     (uint64_t)XXH3_64bits(bytes, size));
            assert_string_equal(digest_of(MF_XXH3_64, bytes, size, 4096), text);
            snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64,
                     (uint64_t)wide.high64, (uint64_t)wide.low64);
            assert_string_equal(digest_of(MF_XXH3_128, bytes, size, 999), text);
        }
    }
    env->isa = "nothing";
    assert_null(mf_digest_new(env, MF_XXH3_64));
    assert_int_equal(mf_env_error(env)->status, MF_ERR_ARGUMENT);
    env->isa = NULL;
    free(bytes);
}

/* ---- the heap ---- */

/* Blocks wherever a heap may put them: aligned for numbers, no further. */
static size_t off_by;

static void *crooked_resize(void *user, void *block, size_t old_size,
                            size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(block ? (char *)block - off_by : NULL);
        return NULL;
    }
    assert_null(block);
    block = malloc(new_size + off_by);
    return block ? (char *)block + off_by : NULL;
}

static void any_block_of_the_heap_will_do(void **state)
{
    (void)state;
    for (off_by = 0; off_by < 128; off_by += 16) {
        struct mf_options options = { .size = sizeof(struct mf_options),
                                      .allocator.resize = crooked_resize };
        struct mf_env *crooked = mf_env_new(&options);
        struct mf_digest *digest = mf_digest_new(crooked, MF_XXH3_128);
        uint8_t out[MF_DIGEST_MAX];

        assert_non_null(digest);
        assert_int_equal((uintptr_t)digest % 64, 0); /* as XXH3 wants it */
        mf_digest_add(digest, "abc", 3);
        assert_int_equal(mf_digest_finish(digest, out), 16);
        assert_memory_equal(out, "\x06\xb0\x5a\xb6\x73\x3a\x61\x85", 8);
        mf_digest_free(digest);
        mf_env_free(crooked);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    struct test_heap heap = { 0 };
    struct mf_env *failing = test_env(&heap);

    (void)state;
    assert_null(mf_digest_new(env, (enum mf_digest_kind)(MF_SHA256 + 1)));
    assert_int_equal(mf_env_error(env)->status, MF_ERR_ARGUMENT);
    heap.fail_at = heap.calls + 1;
    assert_null(mf_digest_new(failing, MF_XXH64));
    assert_int_equal(mf_env_error(failing)->status, MF_ERR_MEMORY);
    mf_digest_free(NULL);
    mf_env_free(failing);
    assert_int_equal(heap.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(known_texts_have_known_digests),
        WITH_ENV(pieces_give_the_digest_of_the_whole),
        WITH_ENV(finishing_changes_nothing),
        WITH_ENV(checksums_are_as_in_zlib),
        WITH_ENV(digests_are_as_in_xxhsum),
        WITH_ENV(digests_are_as_in_coreutils),
        WITH_ENV(own_digests_are_as_libcryptos),
#if defined(MF_X86_64)
        WITH_ENV(instructions_change_nothing),
#endif
        WITH_ENV(vectors_change_nothing),
        WITH_ENV(any_block_of_the_heap_will_do),
        WITH_ENV(what_cannot_be_is_refused),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
