/* SPDX-License-Identifier: MIT
 *
 * page.c - pages of the manual: a command, and the program
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/help/manual.h"
#include "cli/commands/help/roff.h"
#include "cli/exits.h"
#include "cli/find.h"

#define NAME_SIZE    64
#define EXAMPLE_LINE 70 /* columns; a page indents by 7 */

/* ---- rows of environment.def and files.def ---- */

enum whose { EVERY, WORK, MEASURE, READ, REMOTE, WRITE, RESUME };

static const struct remark {
    const char *name;
    enum whose whose;
    const char *text;
} variables[] = {
#define VARIABLE(name, whose, text) { name, whose, text },
#include "cli/commands/help/environment.def"
#undef VARIABLE
    { NULL, EVERY, NULL },
}, files[] = {
#define FILES(name, whose, text) { name, whose, text },
#include "cli/commands/help/files.def"
#undef FILES
    { NULL, EVERY, NULL },
};

static bool has_option(const struct command *command, const char *name)
{
    return option_named(command->options, name) != NULL;
}

/* command: NULL for the program. */
static bool concerns(const struct remark *remark, const struct command *command)
{
    if (!command)
        return true;
    switch (remark->whose) {
    case WORK:
        return has_option(command, "--threads");
    case MEASURE:
        return has_option(command, "--leak-check");
    case READ:
        return !command->no_input;
    case REMOTE:
        return command->remote;
    case WRITE:
        return has_option(command, "--force");
    case RESUME:
        return has_option(command, "--resume");
    default:
        return true;
    }
}

static void remarks(struct run *run, const struct command *command,
                    const char *heading, const struct remark *remark)
{
    bool any = false;

    for (; remark->name; remark++) {
        if (!concerns(remark, command))
            continue;
        if (!any)
            roff_heading(&run->out, heading);
        any = true;
        roff_tag(&run->out, remark->name, remark->text);
    }
}

/* ---- sections ---- */

/* "modelfile-tensors-info" */
static const char *page_name(char *name, const struct command *command)
{
    snprintf(name, NAME_SIZE, "modelfile-%s%s%s", command->name,
             *command->sub ? "-" : "", command->sub);
    return name;
}

static void synopsis(struct run *run, const struct command *command)
{
    struct out *out = &run->out;

    roff_heading(out, "SYNOPSIS");
    out_format(out, ".B modelfile %s%s%s\n", command->name,
               *command->sub ? " " : "", command->sub);
    out_text(out, "[\\fIOPTION\\fR...]");
    if (*command->operands)
        out_text(out, " ");
    roff_part(out, command->operands);
    out_text(out, "\n");
}

static void option_tag(struct out *out, const char *macro,
                       const struct option *option)
{
    const char *letter = option_letter(option);

    out_line(out, macro);
    if (letter) {
        out_text(out, "\\fB");
        roff_part(out, letter);
        out_text(out, "\\fR, ");
    }
    out_text(out, "\\fB");
    roff_part(out, option->name);
    out_text(out, "\\fR");
    if (option->value) {
        if (option->kind != KIND_OPTIONAL)
            out_text(out, " ");
        out_text(out, "\\fI");
        roff_part(out, option_value(option).text);
        out_text(out, "\\fR");
    }
    out_text(out, "\n");
}

/* A row without help is another name of the one above. */
static void option_tags(struct run *run, const struct option *option)
{
    while (option && option->name) {
        const char *help = option->help;

        option_tag(&run->out, ".TP", option++);
        while (option->name && !option->help)
            option_tag(&run->out, ".TQ", option++);
        roff_text(&run->out, help);
    }
}

static void exit_section(struct run *run, const struct command *command)
{
    const struct exit_meaning *exit = exit_meanings;
    char code[16];

    roff_heading(&run->out, "EXIT STATUS");
    for (; exit->meaning; exit++) {
        if (!exit_can_be(command, exit->code))
            continue;
        snprintf(code, sizeof(code), "%d", exit->code);
        roff_tag(&run->out, code, exit_meaning(command, exit));
    }
}

/* What follows several spaces explains the example. */
static void example(struct out *out, const char *text, size_t size)
{
    char line[300];
    const char *remark = strstr(text, "   ");
    size_t most = size, at = 0;

    if (remark && remark < text + size) {
        const char *words = remark + strspn(remark, " ");

        snprintf(line, sizeof(line), "# %.*s",
                 (int)(size - (size_t)(words - text)), words);
        roff_line(out, line, strlen(line));
        most = (size_t)(remark - text);
    }
    while (at < most) {
        size_t end = most;

        if (end - at > EXAMPLE_LINE)
            for (end = at + EXAMPLE_LINE; end > at && text[end] != ' ';)
                end--;
        snprintf(line, sizeof(line), "%s%.*s%s", at > 0 ? "    " : "",
                 (int)(end - at), text + at, end < most ? " \\" : "");
        roff_line(out, line, strlen(line));
        at = end + (end < most);
    }
}

static void examples(struct run *run, const char *text)
{
    roff_heading(&run->out, "EXAMPLES");
    roff_lines_begin(&run->out);
    while (*text) {
        size_t size = strcspn(text, "\n");

        example(&run->out, text, size);
        text += size + 1;
    }
    roff_lines_end(&run->out);
}

/* Commands of one group are about one thing. */
static const struct command_group *group_of(const struct run *run,
                                            const struct command *command)
{
    const struct command_group *group = run->groups, *found = group;

    for (size_t i = 0; run->commands[i]; i++) {
        if (group->title && group->first == run->commands[i])
            found = group++;
        if (run->commands[i] == command)
            break;
    }
    return found;
}

static void see_also(struct run *run, const struct command *command)
{
    const struct command_group *group = group_of(run, command);
    char name[NAME_SIZE];

    roff_heading(&run->out, "SEE ALSO");
    roff_reference(&run->out, "modelfile", 1, ",");
    for (size_t i = 0; run->commands[i]; i++)
        if (run->commands[i] != command &&
            group_of(run, run->commands[i]) == group)
            roff_reference(&run->out, page_name(name, run->commands[i]), 1,
                           ",");
    roff_reference(&run->out, "modelfile-rules", 7, ",");
    roff_reference(&run->out, "modelfile-types", 7, "");
}

/* ---- pages ---- */

void manual_command(struct run *run, const struct command *command)
{
    char name[NAME_SIZE];

    roff_name(&run->out, page_name(name, command), 1, command->summary);
    synopsis(run, command);
    roff_heading(&run->out, "DESCRIPTION");
    roff_text(&run->out, command->about);
    if (command->remote)
        out_text(&run->out,
                 ".PP\nA model can also be on a server: "
                 "\\fBhttps://\\fR\\fIHOST\\fR/\\fIPATH\\fR,\nor "
                 "\\fBhf://\\fR\\fIOWNER\\fR/\\fINAME\\fR of the Hub.\n");
    if (*words_of(command).text) {
        out_text(&run->out, ".PP\nAlso typed: ");
        roff_part(&run->out, words_of(command).text);
        out_text(&run->out, ".\n");
    }
    roff_heading(&run->out, "OPTIONS");
    option_tags(run, command->options);
    roff_subheading(&run->out, "options of every command");
    option_tags(run, common_options);
    exit_section(run, command);
    examples(run, command->examples);
    remarks(run, command, "ENVIRONMENT", variables);
    remarks(run, command, "FILES", files);
    see_also(run, command);
}

static void command_tags(struct run *run)
{
    const struct command_group *group = NULL;
    char tag[NAME_SIZE];

    roff_heading(&run->out, "COMMANDS");
    for (size_t i = 0; run->commands[i]; i++) {
        const struct command *command = run->commands[i];

        if (group_of(run, command) != group) {
            group = group_of(run, command);
            roff_subheading(&run->out, group->title);
        }
        snprintf(tag, sizeof(tag), "%s%s%s %s", command->name,
                 *command->sub ? " " : "", command->sub, command->operands);
        roff_tag(&run->out, tag, command->summary);
    }
}

void manual_program(struct run *run)
{
    roff_name(&run->out, "modelfile", 1,
              "inspect, check, convert and quantize model files");
    roff_heading(&run->out, "SYNOPSIS");
    out_text(&run->out, ".B modelfile\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] "
                        "\\fIFILE\\fR...\n");
    roff_heading(&run->out, "DESCRIPTION");
    roff_text(
        &run->out,
        "modelfile reads and writes files of models: GGUF, safetensors, APR "
        "and folders as Hugging Face has them; it reads PyTorch checkpoints, "
        "NumPy arrays and the footers of Parquet files as well. It reads no "
        "more of a file than a question needs, and prints after each command, "
        "on standard error, what that took.\n\n"
        "FILE is a file, a folder, or - for standard input if that is a file. "
        "A shard of a model, an index and a folder of shards stand for the "
        "whole model. Data goes to standard output, everything else to "
        "standard error. Options may be anywhere; after -- there are none.\n\n"
        "A page explains each command: modelfile-quantize(1), say; modelfile "
        "help COMMAND prints the short form.\n");
    command_tags(run);
    roff_heading(&run->out, "OPTIONS");
    option_tags(run, common_options);
    exit_section(run, NULL);
    remarks(run, NULL, "ENVIRONMENT", variables);
    remarks(run, NULL, "FILES", files);
    roff_heading(&run->out, "SEE ALSO");
    roff_reference(&run->out, "modelfile-rules", 7, ",");
    roff_reference(&run->out, "modelfile-types", 7, ",");
    roff_reference(&run->out, "modelfile", 3, "");
}

void manual_list(struct run *run)
{
    char name[NAME_SIZE];

    out_text(&run->out, "modelfile.1\n");
    for (size_t i = 0; run->commands[i]; i++) {
        const struct command *command = run->commands[i];

        out_format(&run->out, "%s.1 %s%s%s\n", page_name(name, command),
                   command->name, *command->sub ? " " : "", command->sub);
    }
    out_text(&run->out, "modelfile-rules.7 rules\nmodelfile-types.7 types\n");
}
