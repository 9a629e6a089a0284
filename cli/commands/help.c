/* SPDX-License-Identifier: MIT
 *
 * help.c - modelfile help
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/find.h"
#include "cli/help.h"
#include "cli/report.h"
#include "cli/words.h"

static bool all;

static const struct option table[] = {
    OPTION_FLAG("--all", all, "list what measures, too"),
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

static void help(struct run *run)
{
    const char *name = run->operand_count > 0 ? run->operand[0] : NULL;
    const char *sub = run->operand_count > 1 ? run->operand[1] : NULL;
    const struct command *command;

    if (name && !words_find("", name, &name, &sub) && sub)
        words_find(name, sub, &name, &sub);
    command = name ? find_command(run->commands, name, sub) : NULL;
    if (name && all)
        report_usage(run, "--all is for the list of all commands");
    else if (name && !command)
        report_usage(run, "unknown command '%.60s'; see: modelfile help", name);
    else if (run->options->json)
        help_json(run, name, sub ? command->sub : NULL);
    else if (!name)
        help_list(run, all);
    else if (sub)
        help_command(run, command);
    else
        help_name(run, name);
}

const struct command command_help = {
    .name = "help",
    .sub = "",
    .operands = "[COMMAND]",
    .operands_max = 2,
    .summary = "list the commands, or explain one",
    .examples = "modelfile help tensors info\n"
                "modelfile help --all\n",
    .options = table,
    .no_input = true,
    .execute = help,
};
