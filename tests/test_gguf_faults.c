/* SPDX-License-Identifier: MIT
 *
 * test_gguf_faults.c - the complete list of what is found in each bad GGUF
 *
 * fixtures/README.md says what is wrong with each file.
 */
#include "tests/support.h"

static struct mf_env *env;

static const struct fault {
    const char *file, *rule;
    enum mf_severity severity;
    uint64_t offset;
} faults[] = {
    /* clang-format off */
    { "bad-alignment-24.gguf", "GGUF-ALIGNMENT", MF_WARNING, 0x61 },
    { "bad-alignment-2g.gguf", "TENSOR-ALIGNMENT", MF_ERROR, 0x95 },
    { "bad-alignment-2g.gguf", "TENSOR-BOUNDS", MF_ERROR, 0x80000000 },
    { "bad-alignment-twice.gguf", "META-DUPLICATE", MF_ERROR, 0x82 },
    { "bad-bool-2.gguf", "GGUF-BOOL", MF_ERROR, 0x5a },
    { "bad-bool-array.gguf", "GGUF-BOOL", MF_ERROR, 0x69 },
    { "bad-bytes-overflow.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x74 },
    { "bad-data-missing.gguf", "TENSOR-BOUNDS", MF_ERROR, 0xa0 },
    { "bad-data-missing.gguf", "TENSOR-BOUNDS", MF_ERROR, 0xc0 },
    { "bad-dimension-0.gguf", "GGUF-DIM-ZERO", MF_WARNING, 0x74 },
    { "bad-dimension-negative.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x74 },
    { "bad-elements-overflow.gguf", "TENSOR-OVERFLOW", MF_ERROR, 0x74 },
    { "bad-endian-v2.gguf", "GGUF-ENDIAN", MF_WARNING, 0x4 },
    { "bad-gap.gguf", "DATA-GAP", MF_WARNING, 0xc0 },
    { "bad-key-control.gguf", "GGUF-KEY-CHARS", MF_ERROR, 0x44 },
    { "bad-key-duplicate.gguf", "META-DUPLICATE", MF_ERROR, 0x74 },
    { "bad-key-length.gguf", "GGUF-KEY-LENGTH", MF_ERROR, 0x44 },
    { "bad-key-not-ascii.gguf", "GGUF-KEY-CHARS", MF_ERROR, 0x44 },
    { "bad-key-nul.gguf", "GGUF-KEY-CHARS", MF_ERROR, 0x44 },
    { "bad-key-style.gguf", "GGUF-KEY-STYLE", MF_WARNING, 0x44 },
    { "bad-name-65.gguf", "GGUF-NAME-LENGTH", MF_ERROR, 0x74 },
    { "bad-name-control.gguf", "GGUF-NAME-CHARS", MF_WARNING, 0x74 },
    { "bad-name-duplicate-63.gguf", "GGUF-NAME-LENGTH", MF_WARNING, 0x44 },
    { "bad-name-duplicate-63.gguf", "GGUF-NAME-LENGTH", MF_WARNING, 0xac },
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
    { "bad-string-nul.gguf", "GGUF-TEXT-UTF8", MF_WARNING, 0x62 },
    { "bad-string-utf8.gguf", "GGUF-TEXT-UTF8", MF_WARNING, 0x62 },
    { "bad-trailing-zip.gguf", "DATA-GAP", MF_WARNING, 0xe0 },
    { "bad-trailing.gguf", "DATA-GAP", MF_WARNING, 0xe0 },
    { "bad-type-removed.gguf", "GGUF-TYPE", MF_ERROR, 0x74 },
    { "unsupported-type-1234.gguf", "GGUF-TYPE", MF_ERROR, 0x9c },
    /* clang-format on */
};

static const struct refusal {
    const char *file;
    enum mf_status status;
    uint64_t offset;
} refusals[] = {
    /* clang-format off */
    { "bad-alignment-0.gguf", MF_ERR_CORRUPT, 0x61 },
    { "bad-alignment-5.gguf", MF_ERR_CORRUPT, 0x61 },
    { "bad-alignment-type.gguf", MF_ERR_CORRUPT, 0x61 },
    { "bad-array-bomb.gguf", MF_ERR_CORRUPT, 0x67 },
    { "bad-array-count.gguf", MF_ERR_CORRUPT, 0x67 },
    { "bad-array-depth.gguf", MF_ERR_LIMIT, 0x35b },
    { "bad-array-strings.gguf", MF_ERR_CORRUPT, 0x67 },
    { "bad-array-type-13.gguf", MF_ERR_CORRUPT, 0x67 },
    { "bad-count-metadata.gguf", MF_ERR_CORRUPT, 0x18 },
    { "bad-count-tensors.gguf", MF_ERR_CORRUPT, 0x18 },
    { "bad-empty.gguf", MF_ERR_FORMAT, 0x0 },
    { "bad-endian-mixed.gguf", MF_ERR_CORRUPT, 0x18 },
    { "bad-key-empty.gguf", MF_ERR_CORRUPT, 0x44 },
    { "bad-key-past-end.gguf", MF_ERR_CORRUPT, 0x44 },
    { "bad-magic-fugg.gguf", MF_ERR_UNSUPPORTED, 0x0 },
    { "bad-rank-huge.gguf", MF_ERR_CORRUPT, 0x74 },
    { "bad-string-past-end.gguf", MF_ERR_CORRUPT, 0x62 },
    { "bad-three-bytes.gguf", MF_ERR_FORMAT, 0x0 },
    { "bad-value-type-13.gguf", MF_ERR_CORRUPT, 0x56 },
    { "bad-version-0.gguf", MF_ERR_UNSUPPORTED, 0x0 },
    { "bad-version-4.gguf", MF_ERR_UNSUPPORTED, 0x0 },
    /* clang-format on */
};

#define FAULTS   (sizeof(faults) / sizeof(*faults))
#define REFUSALS (sizeof(refusals) / sizeof(*refusals))

static const struct mf_open_options alone = { .shards = MF_SHARDS_ALONE };

/* The findings of faults[first]'s file are the rows from there on, no more. */
static size_t check_file(size_t first)
{
    const char *file = faults[first].file;
    struct mf_finding finding;
    struct mf_model *model;
    size_t i = first, found = 0;

    assert_int_equal(mf_open(env, fixture_path(file), &alone, &model), MF_OK);
    for (; i < FAULTS && strcmp(faults[i].file, file) == 0; i++, found++) {
        if (!mf_finding_at(model, found, &finding))
            fail_msg("%s: %s was not found", file, faults[i].rule);
        assert_string_equal(finding.rule, faults[i].rule);
        assert_int_equal(finding.severity, faults[i].severity);
        assert_int_equal(finding.offset, faults[i].offset);
    }
    if (mf_finding_at(model, found, &finding))
        fail_msg("%s: %s, too", file, finding.rule);
    mf_close(model);
    return i;
}

static void faults_are_found_where_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < FAULTS;)
        i = check_file(i);
}

static void what_cannot_be_read_says_where(void **state)
{
    struct mf_model *model;

    (void)state;
    for (size_t i = 0; i < REFUSALS; i++) {
        assert_int_equal(
            mf_open(env, fixture_path(refusals[i].file), &alone, &model),
            refusals[i].status);
        assert_int_equal(mf_env_error(env)->offset, refusals[i].offset);
    }
}

static int begin(void **state)
{
    (void)state;
    env = mf_env_new(NULL);
    return env ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mf_env_free(env);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_found_where_they_are),
        cmocka_unit_test(what_cannot_be_read_says_where),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
