/* SPDX-License-Identifier: MIT
 *
 * main.c - from the command line to the exit code
 *
 * The order matters: signals and standard streams before any file is opened,
 * the sandbox before there is an env (its threads inherit the sandbox) and
 * before a file is read; and before that the process that talks to the network,
 * if there is one.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/budget.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/dhat.h"
#include "cli/find.h"
#include "cli/held.h"
#include "cli/help.h"
#include "cli/jobs.h"
#include "cli/measure/measure.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/remote/remote.h"
#include "cli/report.h"
#include "cli/scratch.h"
#include "cli/start.h"
#include "cli/stream.h"

static struct run run;

static void write_json(void *user, const char *at, size_t size)
{
    out_bytes(user, at, size);
}

/* Output does not go on the line of the progress. */
static void clear_progress(void *user)
{
    progress_clear(user);
}

static bool is_stopped(void)
{
    return progress_signal() != 0;
}

static void enter_sandbox(void)
{
    const struct options *options = run.options;

    ranks_begin_sandbox(&run.sandbox,
                        options->no_sandbox ? "--no-sandbox" : NULL);
    if (run.command->writes && !options->help && !options->dry_run)
        run.command->writes(&run);
    if (run.command->tries && !options->help && options->dry_run)
        run.command->tries(&run);
    record_allow(&run.sandbox);
    dhat_allow(&run);
    budget_allow(&run);
    sandbox_enter(&run.sandbox);
}

static void execute(int count, char **arguments)
{
    int words = find_in_arguments(&run, count, arguments);

    if (words < 0)
        return;
    /* As they were typed: parsing moves them. */
    scratch_open(count, arguments);
    run.operand = arguments; /* operands move to the front of it */
    if (!args_parse(&run, count - words, arguments + words) ||
        (!run.options->help && !dhat_check(&run)))
        return;
    if (!ranks_check(&run) || (!run.options->help && !jobs_begin(&run)))
        return;
    if (!stream_begin(&run))
        return;
    budget_begin(&run);
    if (!run.trial && !record_open(&run))
        return;
    if (!remote_begin(&run))
        return;
    enter_sandbox();
    if (!start_env(&run) || !ranks_join(&run))
        return;
    record_begin(&run);
    run.out.colour = out_wants_colour(run.options->colour, run.out.terminal);
    if (run.options->help)
        help_command(&run, run.command);
    else
        run.command->execute(&run);
}

/* The words are in memory one after the other, and stay so when options and
 * operands are put in order. */
static struct mf_str command_line(int count, char **arguments)
{
    const char *end = count > 0 ? arguments[0] : "";

    for (int i = 0; i < count && arguments[i] == end; i++)
        end += strlen(end) + 1;
    return count > 0
               ? (struct mf_str){ arguments[0], (size_t)(end - arguments[0]) }
               : (struct mf_str){ "", 0 };
}

static int run_program(int count, char **arguments, char *buffer)
{
    struct mf_env *env;

    clock_gettime(CLOCK_MONOTONIC, &run.started);
    run.commands = commands;
    run.groups = command_groups;
    run.options = &shared_options;
    run.command_line = command_line(count, arguments);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error like others */
    if (!out_hold_standard()) {
        report_no_null(&run);
        return run.code;
    }
    out_init(&run.out, STDOUT_FILENO, buffer);
    run.out.is_stopped = is_stopped;
    run.out.before = clear_progress;
    run.out.user = &run;
    run.json.write = write_json;
    run.json.user = &run.out;
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "--json") == 0)
            run.options->json = true; /* for errors of the command line, too */
    execute(count > 0 ? count - 1 : 0, arguments + 1);
    budget_end_trial(&run);
    start_finish(&run);
    stream_end();
    env = run.env;
    run.env = NULL; /* a signal may still come */
    dhat_env_ends(env);
    remote_end();
    mf_env_free(env);
    scratch_close();
    return run.code;
}

/* Before the constructors of other libraries. */
__attribute__((constructor(101))) static void watch_the_exit(void)
{
    atexit(budget_at_exit);
    atexit(held_print); /* before it, and after a profile of the heap */
}

int main(int count, char **arguments)
{
    char buffer[OUT_BUFFER]; /* of standard output */
    int code;

    ranks_begin(&count, &arguments);
    code = run_program(count, arguments, buffer);
    budget_end();
    return ranks_end(code);
}
