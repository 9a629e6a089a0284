/* SPDX-License-Identifier: MIT
 *
 * main.c - the modelfile command: finds the command, runs it, ends honestly
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static struct run run; /* holds the output buffer: too large for the stack */

static void write_json(void *user, const char *at, size_t size)
{
    out_bytes(user, at, size);
}

/* What is printed does not stand behind the progress. */
static void clear_progress(void *user)
{
    progress_clear(user);
}

static const char *next_name(void *state)
{
    const struct command **command = state;

    return (*command)->name ? (*command)++->name : NULL;
}

static void no_command(const char *name)
{
    const struct command *each = commands;
    struct args_hint hint = args_hint(name, next_name, &each);

    if (args_is_option(name)) {
        report_usage(&run, "no command is given; see: modelfile help");
        return;
    }
    report_usage(&run, "there is no command%s '%.60s'%s",
                 strpbrk(name, "./") ? " and no file" : "", name,
                 *hint.text ? hint.text : "; see: modelfile help");
}

static const char *next_sub(void *state)
{
    const struct command **command = state;
    const char *name = command[0]->name;

    if (!name || strcmp(name, command[1]->name) != 0)
        return NULL;
    return (*command)++->sub;
}

static bool is_there(const char *path)
{
    struct stat status;

    return strcmp(path, "-") == 0 || stat(path, &status) == 0;
}

/* A word behind `tensors` or `meta` is a file, or a mistyped sub-command. */
static bool is_sub_or_file(const struct command *command, const char *word,
                           const char *next)
{
    const struct command *each[2] = { command, command };
    struct args_hint hint = args_hint(word, next_sub, each);

    if (!*command->sub || !*word || is_there(word) ||
        strcmp(command_find(command->name, word)->sub, word) == 0 ||
        (!*hint.text && !(next && is_there(next))))
        return true;
    report_usage(&run, "there is no command '%s %.60s'%s%s", command->name,
                 word, *hint.text ? hint.text : "; see: modelfile help ",
                 *hint.text ? "" : command->name);
    return false;
}

/* --version and --help are what people try first. */
static const char *command_name(const char *word)
{
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    return word;
}

static void set_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");

    run.out.colour = run.options.colour == COLOUR_ALWAYS ||
                     (run.options.colour == COLOUR_AUTO && run.out.terminal &&
                      !out_is_dumb() && !(no_colour && *no_colour));
}

/* Before there is a thread or an open file. */
static void enter_sandbox(void)
{
    const struct options *options = &run.options;

    sandbox_begin(&run.sandbox, options->no_sandbox ? "--no-sandbox" : NULL);
    if (run.command->writes && !options->help && !options->dry_run)
        run.command->writes(&run);
    sandbox_enter(&run.sandbox);
}

/* As the options say. */
static bool make_env(void)
{
    struct mf_options options = { 0 };

    options.threads = run.options.threads < UINT_MAX
                          ? (unsigned)run.options.threads
                          : UINT_MAX;
    options.heap_limit = (size_t)run.options.max_memory;
    options.progress = progress_tell;
    options.progress_user = &run;
    options.pending_edit = report_pending_edit;
    options.pending_edit_user = &run;
    run.progress_at = run.started;
    run.env = mf_env_new(&options);
    if (!run.env) {
        report_start(&run);
        return false;
    }
    progress_catch_signals(&run);
    if (run.options.help || mf_isa_check(run.env) == MF_OK)
        return true;
    report_usage(&run, "%s", mf_env_error(run.env)->message);
    return false;
}

/* Moves the first word from at on that is neither an option nor the value of
 * one to at; the others keep their order.  False where there is none. */
static bool word_first(int at, int count, char **arguments)
{
    char *word;
    int i = at;

    while (i < count && args_is_option(arguments[i]) &&
           (at > 0 || command_name(arguments[i]) == arguments[i]))
        i += args_takes_next(arguments[i]) ? 2 : 1;
    if (i >= count || strcmp(arguments[i], "--") == 0)
        return false;
    word = arguments[i];
    memmove(arguments + at + 1, arguments + at,
            (size_t)(i - at) * sizeof(*arguments));
    arguments[at] = word;
    return true;
}

static int execute(int count, char **arguments)
{
    const char *name = "help", *sub = "";
    int words = 0;

    /* Options may stand before the command, too. */
    if (word_first(0, count, arguments) || count > 0)
        name = command_name(arguments[words++]);
    if (word_first(1, count, arguments))
        sub = arguments[1];
    run.command = command_find(name, sub);
    if (!run.command && is_there(name)) {
        run.command = command_find("info", ""); /* modelfile m.gguf */
        words = 0;
    }
    if (!run.command) {
        no_command(name);
        return run.code;
    }
    if (!is_sub_or_file(run.command, sub, count > 2 ? arguments[2] : NULL))
        return run.code;
    words += *run.command->sub && strcmp(run.command->sub, sub) == 0;
    run.operand = arguments; /* operands move to the front of it */
    if (!args_parse(&run, count - words, arguments + words))
        return run.code;
    enter_sandbox();
    if (!make_env())
        return run.code;
    set_colour();
    if (run.options.help)
        help_command(&run, run.command);
    else
        run.command->execute(&run);
    return run.code;
}

/* A full disk is an error; a reader that went away (| head) is none. */
static int finish(void)
{
    out_flush(&run.out);
    if (run.out.error)
        report_lost(&run);
    else if (run.out.stopped)
        report_stopped(&run);
    else if (run.env && !run.out.closed && run.size + (uint64_t)run.code > 0 &&
             run.code != EXIT_USAGE)
        report_close(&run);
    return run.code;
}

int main(int count, char **arguments)
{
    struct mf_env *env;

    clock_gettime(CLOCK_MONOTONIC, &run.started);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file's limit is an error like others */
    if (!out_hold_standard()) {
        report_no_null(&run);
        return run.code;
    }
    out_init(&run.out, STDOUT_FILENO);
    run.out.before = clear_progress;
    run.out.user = &run;
    run.json.write = write_json;
    run.json.user = &run.out;
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "--json") == 0)
            run.options.json = true; /* errors of the command line, too */
    run.code = execute(count > 0 ? count - 1 : 0, arguments + 1);
    run.code = finish();
    env = run.env;
    run.env = NULL; /* a signal may still come */
    mf_env_free(env);
    return run.code;
}
