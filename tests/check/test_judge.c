/* SPDX-License-Identifier: MIT
 *
 * test_judge.c - findings for one reader, and the columns of the rules
 */
#include "lib/base/rules.h"
#include "tests/support.h"
#include "tests/with_env.h"

/* The severity of the only finding of that rule. */
static enum mf_severity judged(struct mf_model *model, uint32_t readers,
                               const char *rule)
{
    struct mf_validate_options options = { .size = sizeof(options),
                                           .readers = readers };
    const struct mf_model_info *info = mf_model_info(model);
    size_t count[MF_ERROR + 1] = { 0 };
    struct mf_finding finding, out = { .rule = NULL };

    assert_int_equal(mf_model_validate_with(model, &options), MF_OK);
    for (size_t i = 0; mf_finding_at(model, i, &finding); i++) {
        count[finding.severity]++;
        if (strcmp(finding.rule, rule) == 0)
            out = finding;
    }
    assert_int_equal(count[MF_ERROR], info->error_count);
    assert_int_equal(count[MF_WARNING], info->warning_count);
    assert_int_equal(count[MF_NOTE], info->note_count);
    assert_non_null(out.rule);
    return out.severity;
}

static void error_of_another_reader_is_a_note(void **state)
{
    static const char rule[] = "GGUF-KEY-CHARS";
    struct mf_model *model = open_fixture("bad-key-nul.gguf");

    (void)state;
    assert_int_equal(judged(model, 0, rule), MF_ERROR);
    assert_int_equal(judged(model, MF_READER_LLAMA, rule), MF_NOTE);
    assert_int_equal(judged(model, MF_READER_SPEC, rule), MF_ERROR);
    assert_int_equal(judged(model, MF_READER_SPEC | MF_READER_LLAMA, rule),
                     MF_ERROR);
    assert_int_equal(judged(model, MF_READERS_ALL, rule), MF_ERROR);
    mf_model_close(model);
}

static void some_are_errors_when_asked(void **state)
{
    static const char rule[] = "GGUF-KEY-STYLE";
    struct mf_model *model = open_fixture("bad-key-style.gguf");

    (void)state;
    assert_int_equal(judged(model, MF_READER_SPEC, rule), MF_ERROR);
    assert_int_equal(judged(model, MF_READER_LLAMA, rule), MF_WARNING);
    assert_int_equal(judged(model, MF_READERS_ALL, rule), MF_WARNING);
    mf_model_close(model);
}

static void unknown_architecture_can_be_an_error(void **state)
{
    struct mf_validate_options options = { .size = sizeof(options),
                                           .require_known = true };
    struct mf_model *model = open_fixture("good-base.gguf");

    (void)state;
    assert_int_equal(judged(model, 0, "MODEL-UNKNOWN"), MF_NOTE);
    assert_int_equal(mf_model_validate_with(model, &options), MF_OK);
    assert_int_equal(mf_model_info(model)->error_count, 1);
    assert_int_equal(mf_model_validate(model), MF_OK);
    assert_int_equal(mf_model_info(model)->error_count, 0);
    mf_model_close(model);
}

static void reader_of_another_format_is_refused(void **state)
{
    struct mf_validate_options options = { .size = sizeof(options),
                                           .readers = MF_READER_TRANSFORMERS };
    struct mf_model *model = open_fixture("good-base.gguf");

    (void)state;
    assert_int_equal(mf_model_validate_with(model, &options),
                     MF_ERR_UNSUPPORTED);
    assert_string_equal(mf_env_error(env)->rule, "READER-FORMAT");
    options.readers |= MF_READER_LLAMA;
    assert_int_equal(mf_model_validate_with(model, &options), MF_OK);
    options.readers = 8;
    assert_int_equal(mf_model_validate_with(model, &options), MF_ERR_ARGUMENT);
    mf_model_close(model);
}

static void columns_make_sense(void **state)
{
    struct mf_rule_info rule;

    (void)state;
    for (size_t i = 0; mf_rule_at(i, &rule); i++) {
        assert_true(rule.readers <= MF_READERS_ALL);
        assert_true(!rule.when_asked ||
                    (rule.readers != 0 && rule.severity < MF_ERROR));
        assert_int_equal(mf_rule_of(rule.id), i);
    }
}

/* What only other readers refuse is an error, and no reason not to convert. */
static void damage_is_what_cannot_be_converted(void **state)
{
    struct mf_convert_options options = { .size = sizeof(options),
                                          .dry_run = true };
    struct mf_model *model = open_fixture("bad-overlap.gguf");

    (void)state;
    assert_int_equal(mf_model_convert(model, "unused.gguf", NULL, NULL),
                     MF_ERR_CORRUPT);
    assert_string_equal(mf_env_error(env)->rule, "INPUT-INVALID");
    mf_model_close(model);
    model = open_fixture("bad-gap.gguf");
    assert_int_equal(mf_model_info(model)->error_count, 1);
    assert_int_equal(mf_model_convert(model, "unused.gguf", &options, NULL),
                     MF_OK);
    mf_model_close(model);
}

/* What a message quotes first, but not what two apostrophes enclose. */
static void subject_is_what_is_quoted_first(void **state)
{
    static const struct {
        const char *message, *subject;
    } cases[] = {
        { "unknown architecture 'tiny': generic checks only", "tiny" },
        { "'num_layers' and 'n_layer' are one key", "num_layers" },
        { "the header's checksum is 1, the file's is 2", NULL },
        { "the array's header: 'descr' is missing", "descr" },
        { "key 'it's' is odd", "it's" },
        { "the name of tensor '' is empty", "" },
        { "this 'is not closed", NULL },
        { "'", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct mf_finding finding = { .message = cases[i].message };
        struct mf_str subject = mf_finding_subject(&finding);

        if (!cases[i].subject)
            assert_null(subject.at);
        else
            assert_true(
                subject.at && subject.size == strlen(cases[i].subject) &&
                memcmp(subject.at, cases[i].subject, subject.size) == 0);
        finding.tensor = (struct mf_str){ "blk.0", 5 };
        assert_ptr_equal(mf_finding_subject(&finding).at, finding.tensor.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ENV(error_of_another_reader_is_a_note),
        WITH_ENV(some_are_errors_when_asked),
        WITH_ENV(unknown_architecture_can_be_an_error),
        WITH_ENV(reader_of_another_format_is_refused),
        WITH_ENV(columns_make_sense),
        WITH_ENV(subject_is_what_is_quoted_first),
        WITH_ENV(damage_is_what_cannot_be_converted),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
