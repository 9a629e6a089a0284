/* SPDX-License-Identifier: MIT
 *
 * output.c - the operand OUT: a file, or standard output
 */
#include "cli/output.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
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

bool output_can_resume(struct run *run, const char *operand)
{
    if (run->options->resume && run->options->dry_run)
        report_usage(run, "'--resume' and '--dry-run' cannot both be given");
    else if (run->options->resume && output_is_stdout(operand))
        report_usage(run, "'--resume' requires a file as OUT: standard output "
                          "cannot be resumed");
    else
        return true;
    return false;
}

static bool is_gone(long process)
{
    return (long)(pid_t)process == process && kill((pid_t)process, 0) != 0 &&
           errno == ESRCH;
}

static void name_left(void *user, const char *path,
                      const struct mf_left_file *file)
{
    char text[512];

    if (file->process > 0 && !is_gone(file->process))
        return;
    if (file->process > 0)
        snprintf(text, sizeof(text),
                 "'%s' in its folder was left by process %ld, which was "
                 "killed; it can be removed",
                 file->name, file->process);
    else
        snprintf(text, sizeof(text),
                 "'%s' in its folder is kept of work that was stopped; "
                 "--resume goes on with it, otherwise it can be removed",
                 file->name);
    report_remark(user, path, text);
}

void output_name_left(struct run *run, const char *path, const char *format,
                      size_t count)
{
    static char shard[PATH_MAX + 64];

    if (output_is_stdout(path) || run->options->dry_run)
        return;
    mf_left_files(path, name_left, run);
    for (size_t i = 0; i < count; i++)
        if (mf_shard_path(path, format, i, count, shard, sizeof(shard)))
            mf_left_files(shard, name_left, run);
}
