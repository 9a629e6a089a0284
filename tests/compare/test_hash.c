/* SPDX-License-Identifier: MIT
 *
 * test_hash.c - digests of models: by whatever threads, in whatever order
 */
#include <inttypes.h>
#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/base/heap.h"
#include "lib/io/digest.h"
#include "lib/lanes/isa.h"
#include "tests/gguf/gguf_image.h"

/* ---- digests of tensors ---- */

/* One call over all the bytes, by xxHash and zlib themselves; sha1 and sha256
 * by our own stream of one piece, which test_digest.c compares with sha1sum and
 * sha256sum. */
static void digest_at_once(enum mf_digest_kind kind, const uint8_t *bytes,
                           size_t size, uint8_t out[MF_DIGEST_MAX])
{
    struct mf_env *env = env_with(1);
    struct mf_digest *digest;
    XXH128_canonical_t wide;
    XXH64_canonical_t narrow;
    uint32_t crc;

    switch (kind) {
    case MF_CRC32:
        crc = (uint32_t)crc32(0, bytes, (uInt)size);
        for (int i = 0; i < 4; i++)
            out[i] = (uint8_t)(crc >> (24 - 8 * i));
        break;
    case MF_XXH64:
    case MF_XXH3_64:
        XXH64_canonicalFromHash(&narrow, kind == MF_XXH64
                                             ? XXH64(bytes, size, 0)
                                             : XXH3_64bits(bytes, size));
        memcpy(out, narrow.digest, sizeof(narrow.digest));
        break;
    case MF_XXH3_128:
        XXH128_canonicalFromHash(&wide, XXH3_128bits(bytes, size));
        memcpy(out, wide.digest, sizeof(wide.digest));
        break;
    case MF_SHA1:
    case MF_SHA256:
        digest = mf_digest_new(env, kind);
        mf_digest_add(digest, bytes, size);
        assert_int_equal(mf_digest_finish(digest, out),
                         kind == MF_SHA1 ? 20 : 32);
        mf_digest_free(digest);
        break;
    }
    mf_env_free(env);
}

static void check_tensors(struct mf_model *model, struct mf_env *env,
                          const struct mf_digest_info *info)
{
    size_t count = mf_model_info(model)->tensor_count;
    uint8_t *digests = malloc(count * info->size), expected[MF_DIGEST_MAX];
    struct mf_tensor tensor;

    assert_non_null(digests);
    if (mf_model_hash_tensors(model, info->kind, digests) != MF_OK)
        fail_msg("%s", mf_env_error(env)->message);
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++) {
        digest_at_once(info->kind, image.at + tensor.data.offset,
                       (size_t)tensor.data.size, expected);
        assert_memory_equal(digests + i * info->size, expected, info->size);
    }
    free(digests);
}

static void any_number_of_threads_agrees(void **state)
{
    (void)state;
    for (size_t t = 0; t < COUNT(thread_counts); t++) {
        struct mf_env *env = env_with(thread_counts[t]);
        struct mf_model *model = open_image(env);
        struct mf_digest_info info;
        struct mf_heap_stats heap;

        for (size_t i = 0; mf_digest_at(i, &info); i++)
            check_tensors(model, env, &info);
        mf_env_heap(env, &heap);
        assert_true(heap.peak < 4 * MIB);
        mf_model_close(model);
        mf_env_free(env);
    }
}

static void any_vectors_agree(void **state)
{
    struct mf_env *env = env_with(2);
    struct mf_model *model = open_image(env);
    struct mf_digest_info info;

    (void)state;
    assert_true(mf_digest_at(MF_XXH3_64, &info));
    for (const struct mf_isa *isa = mf_isas; isa->name; isa++)
        if (mf_isa_runs(isa)) {
            env->isa = isa->name;
            check_tensors(model, env, &info);
        }
    env->isa = NULL;
    mf_model_close(model);
    mf_env_free(env);
}

/* llama-gguf-hash feeds one digest with tensor after tensor. */
static void whole_is_one_after_the_other(void **state)
{
    struct mf_env *env = env_with(2);
    struct mf_model *model = open_image(env);
    XXH64_state_t *all = XXH64_createState();
    XXH64_canonical_t expected;
    uint8_t out[MF_DIGEST_MAX];
    struct mf_tensor tensor;

    (void)state;
    XXH64_reset(all, 0);
    for (size_t i = 0; mf_tensor_at(model, i, &tensor); i++)
        XXH64_update(all, image.at + tensor.data.offset,
                     (size_t)tensor.data.size);
    XXH64_canonicalFromHash(&expected, XXH64_digest(all));
    assert_int_equal(mf_model_hash_data(model, MF_XXH64, out), MF_OK);
    assert_memory_equal(out, expected.digest, sizeof(expected.digest));
    XXH64_freeState(all);
    mf_model_close(model);
    mf_env_free(env);
}

/* ---- the digest of a model ---- */

struct text {
    char at[4096];
    size_t size;
};

static void keep_line(void *user, size_t tensor, const char *at, size_t size)
{
    struct text *text = user;

    (void)tensor;
    assert_int_equal(at[size - 1], '\n');
    memcpy(text->at + text->size, at, size);
    text->size += size;
    text->at[text->size] = 0;
}

/* Of the image; text may be NULL. */
static void hash_image(struct text *text, uint8_t out[8])
{
    struct mf_env *env = env_with(1);
    struct mf_model *model = open_image(env);
    uint8_t digests[16 * 8], all[MF_DIGEST_MAX];

    assert_int_equal(mf_model_hash_tensors(model, MF_XXH3_64, digests), MF_OK);
    if (text)
        text->size = 0;
    assert_int_equal(mf_model_hash(model, MF_XXH3_64, digests, all,
                                   text ? keep_line : NULL, text),
                     MF_OK);
    memcpy(out, all, 8);
    mf_model_close(model);
    mf_env_free(env);
}

static void order_of_tensors_does_not_count(void **state)
{
    struct piece turned[COUNT(pieces)];
    uint8_t first[8], second[8];
    struct text text;
    XXH64_canonical_t expected;

    (void)state;
    hash_image(&text, first);
    free(image.at);
    for (size_t i = 0; i < COUNT(pieces); i++)
        turned[i] = pieces[COUNT(pieces) - 1 - i];
    make_image(turned, COUNT(turned));
    hash_image(NULL, second);
    assert_memory_equal(first, second, 8);
    XXH64_canonicalFromHash(&expected, XXH3_64bits(text.at, text.size));
    assert_memory_equal(first, expected.digest, 8);
    assert_non_null(strstr(text.at, "  large\n"));
    assert_true(strstr(text.at, "  small\n") < strstr(text.at, "  small a"));
    assert_true(strstr(text.at, "  medium\n") < strstr(text.at, "  small\n"));
}

/* Two tensors, and one whose name would be the two lines of them. */
static void no_name_forges_a_line(void **state)
{
    static const struct piece honest[] = { { NAMED("a"), 32, 7 },
                                           { NAMED("b\\n"), 32, 8 } };
    static const struct piece other[] = { { NAMED("a"), 32, 7 },
                                          { NAMED("b\n"), 32, 8 } };
    struct piece forged = { .bytes = 32, .noise = 7 };
    uint8_t first[8], second[8], third[8];
    struct text text;
    char name[64];

    (void)state;
    free(image.at);
    make_image(honest, COUNT(honest));
    hash_image(&text, first);
    assert_string_equal(text.at + text.size - 7, "  b\\\\n\n");
    /* "a", a new line, the second digest, two spaces, "b\n" */
    forged.name_size =
        (size_t)snprintf(name, sizeof(name), "a\n%.22s", text.at + 20);
    forged.name = name;
    free(image.at);
    make_image(&forged, 1);
    hash_image(&text, second);
    assert_int_equal(
        memchr(text.at, '\n', text.size) == text.at + text.size - 1, true);
    assert_memory_not_equal(first, second, 8);
    free(image.at);
    make_image(other, COUNT(other));
    hash_image(&text, third);
    assert_string_equal(text.at + text.size - 6, "  b\\n\n");
    assert_memory_not_equal(first, third, 8);
}

/* ---- what cannot be ---- */

/* What llama-gguf-hash --uuid prints. */
static void uuid_is_as_in_llama_gguf_hash(void **state)
{
    static const uint8_t expected[] = { 0xfc, 0x6e, 0xf2, 0xdd, 0xd0, 0xf5,
                                        0x58, 0xaa, 0xb3, 0xb1, 0xea, 0x92,
                                        0xf0, 0x97, 0xc4, 0x75 };
    struct mf_env *env = env_with(2);
    struct mf_model *model;
    uint8_t out[16];

    (void)state;
    assert_int_equal(
        mf_model_open(env, fixture_path("good-names.gguf"), NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_uuid(model, out), MF_OK);
    assert_memory_equal(out, expected, sizeof(out));
    mf_model_close(model);
    mf_env_free(env);
}

/* Of all its bytes; what is in it does not matter. */
static void file_is_all_of_its_bytes(void **state)
{
    struct test_heap heap = { 0 };
    struct mf_env *env = test_env(&heap);
    struct mf_digest_info info;
    uint8_t out[MF_DIGEST_MAX], expected[MF_DIGEST_MAX];
    const char *path = fixture_path("good-llama.gguf");
    FILE *file = fopen(path, "rb");
    uint8_t bytes[64 * 1024];
    size_t size;

    (void)state;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    assert_true(size > 0 && size < sizeof(bytes));
    fclose(file);
    for (size_t i = 0; mf_digest_at(i, &info); i++) {
        assert_int_equal(mf_file_hash(env, path, info.kind, out), MF_OK);
        digest_at_once(info.kind, bytes, size, expected);
        assert_memory_equal(out, expected, info.size);
    }
    assert_int_equal(mf_file_hash(env, "nothing", MF_CRC32, out), MF_ERR_IO);
    assert_int_equal(mf_file_hash(env, ".", MF_CRC32, out), MF_ERR_ARGUMENT);
    assert_int_equal(mf_file_hash(env, path, MF_SHA256 + 1, out),
                     MF_ERR_ARGUMENT);
    heap.fail_after = true;
    for (uint64_t n = 1; n <= 3; n++) {
        heap.calls = 0;
        heap.fail_at = n;
        assert_int_equal(mf_file_hash(env, path, MF_CRC32, out), MF_ERR_MEMORY);
    }
    mf_env_free(env);
    assert_int_equal(heap.live, 0);
}

static void damaged_tensors_are_refused(void **state)
{
    struct mf_env *env = env_with(2);
    struct mf_model *model;
    uint8_t digests[64], out[MF_DIGEST_MAX];
    uint32_t same[8];

    (void)state;
    assert_int_equal(
        mf_model_open(env, fixture_path("bad-overlap.gguf"), NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_hash_tensors(model, MF_XXH64, digests),
                     MF_ERR_CORRUPT);
    assert_non_null(strstr(mf_env_error(env)->message, "tensor 'a.weight'"));
    assert_int_equal(mf_model_hash_data(model, MF_XXH64, out), MF_ERR_CORRUPT);
    assert_int_equal(mf_model_uuid(model, out), MF_ERR_CORRUPT);
    assert_int_equal(mf_model_duplicates(model, same), MF_ERR_CORRUPT);
    assert_int_equal(mf_model_hash_tensors(model, MF_SHA256 + 1, digests),
                     MF_ERR_ARGUMENT);
    assert_int_equal(mf_model_hash_data(model, MF_SHA256 + 1, out),
                     MF_ERR_ARGUMENT);
    mf_model_close(model);
    mf_env_free(env);
}

/* With a heap that fails at that call; true if there were fewer calls. */
static bool try_failing(uint64_t call, bool after, bool sha256)
{
    struct test_heap heap = { .fail_at = call, .fail_after = after };
    struct mf_env *env = test_env(&heap);
    uint8_t digests[COUNT(pieces) * MF_DIGEST_MAX], out[MF_DIGEST_MAX];
    uint32_t same[COUNT(pieces)];
    struct mf_model *model = NULL;
    enum mf_status status[4] = { MF_ERR_MEMORY };

    if (env && mf_model_open_memory(env, "made.gguf", image.at, image.size,
                                    NULL, &model) == MF_OK) {
        enum mf_digest_kind kind = sha256 ? MF_SHA256 : MF_CRC32;

        status[0] = mf_model_hash_tensors(model, kind, digests);
        if (status[0] == MF_OK)
            status[1] = mf_model_hash(model, kind, digests, out, NULL, NULL);
        status[2] = mf_model_hash_data(model, kind, out);
        status[3] = mf_model_duplicates(model, same);
    }
    mf_model_close(model);
    mf_env_free(env);
    assert_int_equal(heap.live, 0);
    for (int i = 0; i < 4; i++)
        assert_true(status[i] == MF_OK || status[i] == MF_ERR_MEMORY);
    /* After one refusal the work may have gone on with a smaller chunk. */
    if (after || heap.calls < call)
        assert_int_equal(status[0] || status[1] || status[2] || status[3],
                         heap.calls >= call);
    return heap.calls < call;
}

static void every_allocation_failed(void **state)
{
    static const struct piece few[] = { { NAMED("a"), 96, 1 },
                                        { NAMED("b"), 96, 1 } };
    (void)state;
    free(image.at);
    make_image(few, COUNT(few));
    for (int kind = 0; kind < 2; kind++)
        for (int after = 0; after < 2; after++) {
            uint64_t call = 1;

            while (!try_failing(call, after, kind == 1))
                call++;
            assert_true(call > 15);
        }
}

int main(void)
{
#define WITH_IMAGE(test) cmocka_unit_test_setup_teardown(test, make, unmake)
    const struct CMUnitTest tests[] = {
        WITH_IMAGE(any_number_of_threads_agrees),
        WITH_IMAGE(any_vectors_agree),
        WITH_IMAGE(whole_is_one_after_the_other),
        WITH_IMAGE(order_of_tensors_does_not_count),
        WITH_IMAGE(no_name_forges_a_line),
        cmocka_unit_test(uuid_is_as_in_llama_gguf_hash),
        cmocka_unit_test(file_is_all_of_its_bytes),
        cmocka_unit_test(damaged_tensors_are_refused),
        WITH_IMAGE(every_allocation_failed),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
