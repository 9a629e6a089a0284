/* SPDX-License-Identifier: MIT
 *
 * test_roff.c - text of a manual page: nothing in it is a request or an escape
 */
#include <unistd.h>

#include "cli/commands/help/roff.h"
#include "tests/support.h"

static char buffer[OUT_BUFFER];
static struct out out;

static int begin(void **state)
{
    (void)state;
    out_init(&out, STDOUT_FILENO, buffer);
    return 0;
}

/* What was written since then, which is never flushed. */
static void expect(const char *source)
{
    buffer[out.filled] = 0;
    assert_string_equal(buffer, source);
    out.filled = 0;
}

static void lines_are_as_they_are(void **state)
{
    (void)state;
    roff_line(&out, ".SH x", 5);
    roff_line(&out, "'so y", 5);
    roff_line(&out, "\\fB \"-\" `^~'", 12);
    expect("\\&.SH x\n"
           "\\&\\(aqso y\n"
           "\\efB \\(dq\\-\\(dq \\(ga\\(ha\\(ti\\(aq\n");
}

/* Wherever a line of the source ends, what follows it is guarded. */
static void paragraphs_are_guarded(void **state)
{
    (void)state;
    roff_text(&out, ".TH one 'two' \\n three\n.four\n\n.five\n");
    expect("\\&.TH one \\(aqtwo\\(aq \\en three .four\n.PP\n\\&.five\n");
    roff_text(&out,
              "0123456789012345678901234567890123456789012345678901234 .x "
              "'y\n");
    expect("0123456789012345678901234567890123456789012345678901234\n"
           "\\&.x \\(aqy\n");
}

static void options_and_backticks_are_bold(void **state)
{
    (void)state;
    roff_text(&out, "with --top, or --a-b=c; not -- or --1 or a--b.\n");
    expect("with \\fB\\-\\-top\\fR, or \\fB\\-\\-a\\-b\\fR=c; not \\-\\- or "
           "\\-\\-1 or a\\-\\-b.\n");
    roff_text(&out, "see `mf --x`.\n");
    expect("see \\fBmf \\-\\-x\\fR.\n");
}

static void names_are_guarded(void **state)
{
    (void)state;
    roff_name(&out, "a-b", 7, ".profile and \"more\"");
    buffer[out.filled] = 0;
    assert_non_null(strstr(buffer, ".TH A\\-B 7 \""));
    assert_non_null(strstr(buffer, "\na\\-b \\-\n\\&.profile and "
                                   "\\(dqmore\\(dq\n"));
    out.filled = 0;
    roff_tag(&out, ".x", "'y\n");
    expect(".TP\n\\fB.x\\fR\n\\&\\(aqy\n");
    roff_subheading(&out, "rules \"a\"");
    expect(".SS Rules \\(dqa\\(dq\n");
    roff_reference(&out, "a-b", 1, ",");
    expect(".BR a\\-b (1),\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lines_are_as_they_are, begin),
        cmocka_unit_test_setup(paragraphs_are_guarded, begin),
        cmocka_unit_test_setup(options_and_backticks_are_bold, begin),
        cmocka_unit_test_setup(names_are_guarded, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
