/* SPDX-License-Identifier: MIT
 *
 * test_gguf_faults.c - the complete list of what is found in each GGUF fixture
 *
 * fixtures/README.md says what is wrong with each file.
 */
#include "tests/faults.h"

static const struct fault faults[] = {
    /* clang-format off */
    { "bad-alignment-24.gguf", "GGUF-ALIGNMENT", MF_ERROR, 0x61 },
    { "bad-alignment-2g.gguf", "GGUF-ALIGNMENT", MF_WARNING, 0x61 },
    { "bad-alignment-2g.gguf", "TENSOR-ALIGNMENT", MF_ERROR, 0x95 },
    { "bad-alignment-2g.gguf", "TENSOR-BOUNDS", MF_ERROR, 0x80000000 },
    { "bad-alignment-2m.gguf", "GGUF-ALIGNMENT", MF_WARNING, 0x61 },
    { "bad-alignment-twice.gguf", "META-DUPLICATE", MF_ERROR, 0x82 },
    { "bad-array-elements.gguf", "GGUF-ARRAY-NESTED", MF_ERROR, 0x5b },
    { "bad-array-elements.gguf", "GGUF-ARRAY-NESTED", MF_ERROR, 0xa9 },
    { "bad-bool-2.gguf", "GGUF-BOOL", MF_ERROR, 0x5a },
    { "bad-bool-array.gguf", "GGUF-BOOL", MF_ERROR, 0x69 },
    { "bad-bytes-overflow.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x74 },
    { "bad-data-missing.gguf", "TENSOR-BOUNDS", MF_ERROR, 0xa0 },
    { "bad-dimension-0-huge.gguf", "GGUF-DIM-ZERO", MF_WARNING, 0x44 },
    { "bad-dimension-0-huge.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x44 },
    { "bad-dimension-0.gguf", "GGUF-DIM-ZERO", MF_WARNING, 0x74 },
    { "bad-dimension-2p32.gguf", "TENSOR-BOUNDS", MF_ERROR, 0xe0 },
    { "bad-dimension-negative.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x74 },
    { "bad-dimensions-wrap.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x74 },
    { "bad-elements-overflow.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x74 },
    { "bad-endian-v2.gguf", "GGUF-ENDIAN", MF_ERROR, 0x4 },
    { "bad-gap.gguf", "DATA-GAP", MF_ERROR, 0xc0 },
    { "bad-key-control.gguf", "GGUF-KEY-CHARS", MF_ERROR, 0x44 },
    { "bad-key-dots.gguf", "GGUF-KEY-STYLE", MF_WARNING, 0x44 },
    { "bad-key-dots.gguf", "GGUF-KEY-STYLE", MF_WARNING, 0x5f },
    { "bad-key-duplicate.gguf", "META-DUPLICATE", MF_ERROR, 0x74 },
    { "bad-key-length.gguf", "GGUF-KEY-LENGTH", MF_ERROR, 0x44 },
    { "bad-key-not-ascii.gguf", "GGUF-KEY-CHARS", MF_ERROR, 0x44 },
    { "bad-key-nul.gguf", "GGUF-KEY-CHARS", MF_ERROR, 0x44 },
    { "bad-key-style.gguf", "GGUF-KEY-STYLE", MF_WARNING, 0x44 },
    { "bad-name-65.gguf", "GGUF-NAME-LENGTH", MF_ERROR, 0x74 },
    { "bad-name-control.gguf", "GGUF-NAME-CHARS", MF_WARNING, 0x74 },
    { "bad-name-duplicate-63.gguf", "GGUF-NAME-64", MF_ERROR, 0x44 },
    { "bad-name-duplicate-63.gguf", "GGUF-NAME-64", MF_ERROR, 0xac },
    { "bad-name-duplicate.gguf", "TENSOR-DUPLICATE", MF_ERROR, 0x74 },
    { "bad-name-empty.gguf", "GGUF-NAME", MF_WARNING, 0x74 },
    { "bad-name-nul.gguf", "GGUF-NAME-CHARS", MF_ERROR, 0x44 },
    { "bad-name-utf8.gguf", "GGUF-NAME-CHARS", MF_ERROR, 0x74 },
    { "bad-offset-past-end.gguf", "TENSOR-BOUNDS", MF_ERROR, 0x10a0 },
    { "bad-offset-unaligned.gguf", "TENSOR-ALIGNMENT", MF_ERROR, 0x74 },
    { "bad-offset-wrap.gguf", "TENSOR-BOUNDS", MF_ERROR, 0x74 },
    { "bad-overlap.gguf", "TENSOR-OVERLAP", MF_ERROR, 0xc0 },
    { "bad-padding-overflow.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x74 },
    { "bad-rank-5.gguf", "GGUF-RANK", MF_ERROR, 0x74 },
    { "bad-row-block.gguf", "TENSOR-ROW", MF_ERROR, 0xa0 },
    { "bad-size-past-end.gguf", "TENSOR-BOUNDS", MF_ERROR, 0xc0 },
    { "bad-split-alone.gguf", "GGUF-SPLIT", MF_WARNING, 0x58 },
    { "bad-split-count-00001-of-00002.gguf", "SHARD-TENSORS", MF_ERROR, 0x66 },
    { "bad-split-count-00002-of-00002.gguf", "SHARD-TENSORS", MF_ERROR, 0x66 },
    { "bad-split-foreign-00002-of-00002.gguf", "SHARD-NAME", MF_ERROR, MF_NO_OFFSET },
    { "bad-split-metadata-00001-of-00002.gguf", "SHARD-TENSORS", MF_ERROR, 0x66 },
    { "bad-split-metadata-00002-of-00002.gguf", "SHARD-TENSORS", MF_ERROR, 0x66 },
    { "bad-split-name-00001-of-00002.gguf", "TENSOR-DUPLICATE", MF_ERROR, 0x6a },
    { "bad-split-name-00002-of-00002.gguf", "TENSOR-DUPLICATE", MF_ERROR, 0x6a },
    { "bad-split-negative.gguf", "GGUF-SPLIT", MF_ERROR, 0x58 },
    { "bad-split-range.gguf", "GGUF-SPLIT", MF_ERROR, 0x71 },
    { "bad-split-unnumbered.gguf", "GGUF-SPLIT", MF_ERROR, 0x5b },
    { "bad-string-nul.gguf", "GGUF-TEXT-UTF8", MF_WARNING, 0x62 },
    { "bad-string-utf8.gguf", "GGUF-TEXT-UTF8", MF_WARNING, 0x62 },
    { "bad-sum-wraps.gguf", "TENSOR-BOUNDS", MF_ERROR, 0xa0 },
    { "bad-sum-wraps.gguf", "TENSOR-BOUNDS", MF_ERROR, 0x80000000000000a0 },
    { "bad-type-removed.gguf", "GGUF-TYPE", MF_ERROR, 0x74 },
    { "bad-array-nested.gguf", "GGUF-ARRAY-NESTED", MF_ERROR, 0x5a },
    { "bad-array-nested.gguf", "GGUF-ARRAY-NESTED", MF_ERROR, 0xae },
    { "bad-array-nested.gguf", "GGUF-ARRAY-NESTED", MF_ERROR, 0xfd },
    { "bad-order-empty.gguf", "GGUF-DIM-ZERO", MF_WARNING, 0x9c },
    { "bad-name-64.gguf", "GGUF-NAME-64", MF_ERROR, 0x9c },
    { "good-rank-0.gguf", "GGUF-RANK", MF_WARNING, 0x9c },
    { "bad-type-iq4_ks.gguf", "GGUF-TYPE-FORK", MF_ERROR, 0xc8 },
    { "unsupported-type-1234.gguf", "GGUF-TYPE", MF_ERROR, 0x9c },
    /* clang-format on */
};

static const struct refusal refusals[] = {
    /* clang-format off */
    { "bad-alignment-0.gguf", "GGUF-ALIGNMENT", MF_ERR_CORRUPT, 0x61,
      "general.alignment is 0, must be a power of two or a multiple of "
      "8" },
    { "bad-alignment-5.gguf", "GGUF-ALIGNMENT", MF_ERR_CORRUPT, 0x61,
      "general.alignment is 5, must be a power of two or a multiple of "
      "8" },
    { "bad-alignment-i32.gguf", "GGUF-ALIGNMENT", MF_ERR_CORRUPT, 0x61,
      "general.alignment is of type i32, must be u32" },
    { "bad-array-2p63.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x67,
      "an array of 'tiny.values' claims 9223372036854775808 elements" },
    { "bad-four-bytes.gguf", "FILE-TRUNCATED", MF_ERR_CORRUPT, 0x0,
      "the file ends inside the header (it has 4 bytes)" },
    { "bad-token-2p31.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x79,
      "an element of 'tokenizer.ggml.tokens' claims 2147483648 bytes" },
    { "bad-alignment-type.gguf", "GGUF-ALIGNMENT", MF_ERR_CORRUPT, 0x61,
      "general.alignment is of type u64, must be u32" },
    { "bad-array-bomb.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x67,
      "an array of 'tiny.values' claims 1099511627776 elements, but only 185 bytes "
      "are left" },
    { "bad-array-count.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x67,
      "an array of 'tiny.values' claims 4611686018427387905 elements, but only 185 "
      "bytes are left" },
    { "bad-array-depth.gguf", "FILE-NESTING", MF_ERR_LIMIT, 0x35b,
      "arrays of 'tiny.values' are nested more than 64 deep" },
    { "bad-array-strings.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x67,
      "an array of 'tiny.values' claims 2305843009213693952 elements, but only 153 "
      "bytes are left" },
    { "bad-array-type-13.gguf", "FILE-VALUE-TYPE", MF_ERR_CORRUPT, 0x67,
      "'tiny.values' is an array of unknown type 13 (0 to 12 are valid)" },
    { "bad-count-metadata.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x18,
      "the header claims 18446744073709551615 metadata keys of at "
      "least 14 bytes each, but only 200 bytes are left" },
    { "bad-count-tensors.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x18,
      "the header claims 2305843009213693952 tensors of at least 24 bytes "
      "each, but only 200 bytes are left" },
    { "bad-empty.gguf", "FILE-FORMAT", MF_ERR_FORMAT, 0x0,
      "the file is empty" },
    { "bad-endian-mixed.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x18,
      "the header claims 72057594037927936 metadata keys of at "
      "least 14 bytes each, but only 200 bytes are left" },
    { "bad-entry-zeros.gguf", "GGUF-ENTRY-EMPTY", MF_ERR_CORRUPT, 0x74,
      "the tensor list is all zeros from here" },
    { "bad-key-empty.gguf", "GGUF-ENTRY-EMPTY", MF_ERR_CORRUPT, 0x44,
      "a metadata key is empty" },
    { "bad-key-past-end.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x44,
      "a metadata key claims 18446744073709551615 bytes, but only 180 are left" },
    { "bad-magic-fugg.gguf", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format gguf-reversed:" },
    { "bad-rank-huge.gguf", "FILE-RANK", MF_ERR_LIMIT, 0x74,
      "tensor 'b.weight' has 536870912 dimensions, but GGUF allows 4" },
    { "bad-split-foreign-00001-of-00002.gguf", "SHARD-FOREIGN", MF_ERR_CORRUPT, MF_NO_OFFSET,
      "shard 'bad-split-foreign-00002-of-00002.gguf': expected shard "
      "2 of 2, but this file is shard 2 of 3" },
    { "bad-split-missing-00001-of-00002.gguf", "SHARD-MISSING", MF_ERR_CORRUPT, MF_NO_OFFSET,
      "shard 'bad-split-missing-00002-of-00002.gguf': cannot be opened" },
    { "bad-split-order-00001-of-00002.gguf", "SHARD-FOREIGN", MF_ERR_CORRUPT, 0x4,
      "shard 'bad-split-order-00002-of-00002.gguf': this shard is "
      "big-endian, version 3, but the previous ones are little-endian, "
      "version 3" },
    { "bad-split-order-00002-of-00002.gguf", "SHARD-FOREIGN", MF_ERR_CORRUPT, 0x4,
      "shard 'bad-split-order-00002-of-00002.gguf': this shard is "
      "big-endian, version 3, but the previous ones are little-endian, "
      "version 3" },
    { "bad-string-past-end.gguf", "FILE-COUNT", MF_ERR_CORRUPT, 0x62,
      "the string of 'tiny.value' claims 18446744073709551615 bytes, but only 158 "
      "bytes are left" },
    { "bad-three-bytes.gguf", "FILE-FORMAT", MF_ERR_FORMAT, 0x0,
      "not a recognized model format; the first bytes are 47 47 55" },
    { "bad-truncated.gguf", "FILE-TRUNCATED", MF_ERR_CORRUPT, 0x90,
      "the file ends inside the tensor list (it has 146 bytes)" },
    { "bad-value-type-13.gguf", "FILE-VALUE-TYPE", MF_ERR_CORRUPT, 0x56,
      "'tiny.value' has unknown type 13 (0 to 12 are valid)" },
    { "bad-version-0.gguf", "FILE-VERSION", MF_ERR_UNSUPPORTED, 0x4,
      "gguf version 0 is not supported: versions 1 to 3 are" },
    { "bad-version-4.gguf", "FILE-VERSION", MF_ERR_UNSUPPORTED, 0x4,
      "gguf version 4 is not supported: versions 1 to 3 are" },
    { "unsupported-html.gguf", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format html:" },
    { "unsupported-lfs-pointer.gguf", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format git-lfs-pointer:" },
    { "unsupported-zip.gguf", "FILE-FOREIGN", MF_ERR_UNSUPPORTED, 0x0,
      "unsupported format zip:" },
    /* clang-format on */
};

static const struct faults all = FAULTS_OF(".gguf");

/* The third of three bools is 255, which is an error; so is 2, but not 1. */
static void bools_are_0_or_1(void **state)
{
    const size_t third = 0x69;
    struct mf_finding finding;
    struct mf_model *model;
    uint8_t *bytes;
    size_t size;

    (void)state;
    bytes = load(fixture_path("bad-bool-array.gguf"), &size);
    assert_int_equal(bytes[third], 255);
    for (uint8_t byte = 1; byte <= 2; byte++) {
        bytes[third] = byte;
        assert_int_equal(
            mf_model_open_memory(env, "made.gguf", bytes, size, NULL, &model),
            MF_OK);
        assert_int_equal(find_rule(model, "GGUF-BOOL", &finding), byte == 2);
        if (byte == 2)
            assert_int_equal(finding.offset, third);
        mf_model_close(model);
    }
    free(bytes);
}

static size_t place_of(const char *text, const uint8_t *bytes, size_t size)
{
    size_t length = strlen(text), at = 0;

    while (memcmp(bytes + at, text, length) != 0)
        assert_true(++at + length <= size);
    return at;
}

/* The only finding is about that key. */
static void check_key(const uint8_t *bytes, size_t size, const char *message)
{
    struct mf_finding finding;
    struct mf_model *model;

    assert_int_equal(
        mf_model_open_memory(env, "made.gguf", bytes, size, NULL, &model),
        MF_OK);
    assert_int_equal(mf_model_validate(model), MF_OK);
    assert_int_equal(mf_model_info(model)->error_count, 1);
    assert_true(find_rule(model, "GGUF-IMATRIX-KEY", &finding));
    if (strncmp(finding.message, message, strlen(message)) != 0)
        fail_msg("'%s', not '%s'", finding.message, message);
    mf_model_close(model);
}

/* Each key under another name, and each number as an i32. */
static void keys_of_an_importance_matrix(void **state)
{
    static const char *const keys[] = { "imatrix.datasets",
                                        "imatrix.chunk_count",
                                        "imatrix.chunk_size" };
    size_t size;
    uint8_t *bytes = load(fixture_path("good-imatrix.gguf"), &size);

    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        size_t at = place_of(keys[i], bytes, size);
        uint8_t *type = bytes + at + strlen(keys[i]);
        char message[80];

        bytes[at] = 'j';
        snprintf(message, sizeof(message), "'%s' is missing", keys[i]);
        check_key(bytes, size, message);
        bytes[at] = 'i';
        if (i == 0) /* is a list */
            continue;
        assert_int_equal(*type, 4);
        *type = 5;
        snprintf(message, sizeof(message), "'%s' is of type i32, not u32",
                 keys[i]);
        check_key(bytes, size, message);
        *type = 4;
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAULT_TESTS,
        WITH_ENV(bools_are_0_or_1),
        WITH_ENV(keys_of_an_importance_matrix),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
