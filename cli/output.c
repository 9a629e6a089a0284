/* SPDX-License-Identifier: MIT
 *
 * output.c - the operand OUT: a file, or standard output
 */
#include "cli/output.h"

#include <string.h>

#include "cli/report.h"

bool output_is_stdout(const char *operand)
{
    static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1",
                                         "/proc/self/fd/1" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(operand, names[i]) == 0)
            return true;
    return false;
}

const char *output_path(const char *operand)
{
    return output_is_stdout(operand) ? "-" : operand;
}

bool output_fits(struct run *run, const char *operand)
{
    if (!output_is_stdout(operand) || !run->options->json ||
        run->options->dry_run)
        return true;
    report_usage(run, "'--json' and '%s' cannot both write to standard output",
                 operand);
    return false;
}
