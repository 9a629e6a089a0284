/* SPDX-License-Identifier: MIT
 *
 * help.c - modelfile help
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/commands/help/manual.h"
#include "cli/find.h"
#include "cli/help.h"
#include "cli/report.h"

static struct {
    bool all, manual;
} options;

static const struct option table[] = {
    OPTION_FLAG("--all", options.all, "list what measures, too"),
    OPTION_FLAG("--man", options.manual,
                "print a page of the manual, for man -l -; also of \"rules\" "
                "and \"types\"; --all: list the pages"),
    { 0 },
};

/* `help meta` is about all commands that begin with it. */
static void help_name(struct run *run, const char *name)
{
    bool first = true;

    for (size_t i = 0; run->commands[i]; i++) {
        if (strcmp(run->commands[i]->name, name) != 0)
            continue;
        if (!first)
            out_text(&run->out, "\n");
        help_command(run, run->commands[i]);
        first = false;
    }
}

/* What is asked for. */
struct topic {
    const char *name, *sub;        /* NULL: not given */
    const struct command *command; /* NULL: there is none, or no name */
};

static void help(struct run *run, const struct topic *topic)
{
    if (topic->name && options.all)
        report_usage(run, "--all is for the list of all commands");
    else if (run->options->json)
        help_json(run, topic->name, topic->sub ? topic->command->sub : NULL);
    else if (!topic->name)
        help_list(run, options.all);
    else if (topic->sub)
        help_command(run, topic->command);
    else
        help_name(run, topic->name);
}

/* Pages that are not about a command. */
static void (*page_of(const char *name))(struct run *run)
{
    return strcmp(name, "rules") == 0   ? manual_rules
           : strcmp(name, "types") == 0 ? manual_types
                                        : NULL;
}

static void manual(struct run *run, const struct topic *topic)
{
    if (run->options->json)
        report_usage(run, "--man: a page has no form in JSON");
    else if (topic->name && options.all)
        report_usage(run, "--man --all lists the pages: leave out '%.60s'",
                     topic->name);
    else if (options.all)
        manual_list(run);
    else if (!topic->name)
        manual_program(run);
    else if (topic->command)
        manual_command(run, topic->command);
    else
        page_of(topic->name)(run);
}

static void explain(struct run *run)
{
    struct topic topic = { 0 };

    topic.name = run->operand_count > 0 ? run->operand[0] : NULL;
    topic.sub = run->operand_count > 1 ? run->operand[1] : NULL;
    if (topic.name && !words_find("", topic.name, &topic.name, &topic.sub) &&
        topic.sub)
        words_find(topic.name, topic.sub, &topic.name, &topic.sub);
    if (topic.name)
        topic.command = find_command(run->commands, topic.name, topic.sub);
    if (topic.name && !topic.command &&
        !(options.manual && page_of(topic.name)))
        report_usage(run, "unknown command '%.60s'; see: modelfile help",
                     topic.name);
    else
        (options.manual ? manual : help)(run, &topic);
}

const struct command command_help = {
    .name = "help",
    .sub = "",
    .operands = "[COMMAND]",
    .operands_max = 2,
    .summary = "list the commands, or explain one",
    .about = "Lists the commands, or explains one: examples first, then "
             "options and exit codes. --man prints a page of the manual "
             "in the macros of man(7); without COMMAND the page of the "
             "program.\n",
    .examples = "modelfile help tensors info\n"
                "modelfile help --all\n",
    .options = table,
    .no_input = true,
    .execute = explain,
};
