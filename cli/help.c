/* SPDX-License-Identifier: MIT
 *
 * help.c - help made from the rows of commands and options
 */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/exits.h"
#include "cli/find.h"
#include "cli/json.h"

#define OPTION_COLUMN  29 /* where the explanation of an option begins */
#define COMMAND_COLUMN 31 /* where a command's summary begins */
#define EXIT_COLUMN    17 /* where an exit code's meaning begins */

/* ---- text ---- */

static const char *space_before(const struct command *command)
{
    return *command->sub ? " " : "";
}

/* A row of two columns; the second is wrapped. */
static void row(struct run *run, const char *first, size_t column,
                const char *second)
{
    size_t width = strlen(first);

    out_text(&run->out, first);
    if (width >= column) {
        out_text(&run->out, "\n");
        width = 0;
    }
    out_spaces(&run->out, column - width);
    out_wrapped(&run->out, second, column);
}

/* all: also those that measure. */
static void option_rows(struct run *run, const struct option *option, bool all)
{
    char first[200];

    for (; option && option->name; option++) {
        const char *letter = option_letter(option);

        if (!option->help || (option->measures && !all))
            continue;
        snprintf(first, sizeof(first), "  %s%s%s%s%s", letter ? letter : "",
                 letter ? ", " : "", option->name,
                 option->value && option->kind != KIND_OPTIONAL ? " " : "",
                 option_value(option).text);
        row(run, first, OPTION_COLUMN, option->help);
    }
}

static void example_lines(struct run *run, const char *examples)
{
    while (*examples) {
        size_t size = strcspn(examples, "\n");

        out_text(&run->out, "  ");
        out_bytes(&run->out, examples, size);
        out_text(&run->out, "\n");
        examples += size + 1;
    }
}

static void exit_rows(struct run *run, const struct command *command)
{
    const struct exit_meaning *exit = exit_meanings;
    char first[EXIT_COLUMN];

    out_text(&run->out, "\nexit codes:\n");
    for (; exit->code < EXIT_SIGNAL; exit++) {
        if (!exit_can_be(command, exit->code))
            continue;
        snprintf(first, sizeof(first), "  %d", exit->code);
        row(run, first, EXIT_COLUMN, exit_meaning(command, exit));
    }
    row(run, "  129, 130, 143", EXIT_COLUMN,
        "ended by SIGHUP, SIGINT (Ctrl-C), SIGTERM");
}

void help_command(struct run *run, const struct command *command)
{
    struct out *out = &run->out;

    if (run->options->json) {
        help_json(run, command->name, command->sub);
        return;
    }
    out_format(out, "%s%s%s - %s\n\n", command->name, space_before(command),
               command->sub, command->summary);
    example_lines(run, command->examples);
    out_format(out, "\nusage: modelfile %s%s%s %s\n", command->name,
               space_before(command), command->sub, command->operands);
    if (*words_of(command).text)
        out_format(out, "also typed: %s\n", words_of(command).text);
    if (command->remote)
        out_text(out, "a model can also be on a server: https://HOST/PATH, or "
                      "hf://OWNER/NAME\n");
    if (command->more_help)
        command->more_help(run);
    if (command->options) {
        out_text(out, "\noptions:\n");
        option_rows(run, command->options, true);
    }
    out_text(out, "\ncommon options:\n");
    option_rows(run, common_options, true);
    exit_rows(run, command);
}

/* "Words of other programs work, too: inspect, show, ..." */
static void words_line(struct run *run)
{
    char text[400] = "Words from elsewhere work, too: ";
    size_t at = 0, size = strlen(text);
    const char *word, *comma = "";

    while ((word = words_next(&at)) != NULL && size < sizeof(text)) {
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s",
                                 comma, word);
        comma = ", ";
    }
    out_text(&run->out, "\n");
    out_wrapped(&run->out, text, 0);
}

/* The title of the group that begins with the command, or NULL. */
static const char *group_title(const struct run *run,
                               const struct command *command)
{
    const struct command_group *group = run->groups;

    while (group->title && group->first != command)
        group++;
    return group->title;
}

void help_list(struct run *run, bool all)
{
    struct out *out = &run->out;
    char first[100];

    out_text(out,
             "modelfile - inspect, check, convert and quantize model files\n\n"
             "  modelfile info model.gguf\n"
             "  modelfile tensors model.safetensors --top 10\n"
             "  modelfile meta get model.apr architecture\n");
    for (size_t i = 0; run->commands[i]; i++) {
        const struct command *command = run->commands[i];
        const char *title = group_title(run, command);

        if (command->unlisted && !all)
            continue;
        if (title)
            out_format(out, "\n%s:\n", title);
        snprintf(first, sizeof(first), "  %s%s%s %s", command->name,
                 space_before(command), command->sub, command->operands);
        row(run, first, COMMAND_COLUMN, command->summary);
    }
    words_line(run);
    out_text(out, "\ncommon options:\n");
    option_rows(run, common_options, all);
    if (!all)
        out_text(out, "\nWhat measures time, memory and energy is listed by: "
                      "modelfile help --all\n");
    out_text(out, "\nFILE can be '-' for standard input, a file or a pipe.  "
                  "Where a\nmodel is only read, it can also be "
                  "https://HOST/PATH.\n");
    exit_rows(run, NULL);
}

/* ---- JSON ---- */

/* The parts of a text that the character separates. */
static void parts_json(struct run *run, const char *key, const char *text,
                       char separator)
{
    const char separators[] = { separator, 0 };

    mf_json_key(&run->json, key);
    mf_json_begin(&run->json, '[');
    while (*text) {
        size_t size = strcspn(text, separators);

        mf_json_string(&run->json, text, size);
        text += size + (text[size] != 0);
    }
    mf_json_end(&run->json, ']');
}

static void option_json(struct run *run, const struct option *option,
                        const char *help)
{
    static const char *const kinds[] = { [KIND_FLAG] = "flag",
                                         [KIND_CHOICE] = "choice",
                                         [KIND_FORMAT] = "choice",
                                         [KIND_COUNT] = "number",
                                         [KIND_SIZE] = "size",
                                         [KIND_TEXT] = "text",
                                         [KIND_OPTIONAL] = "text_or_none",
                                         [KIND_LIST] = "text" };

    mf_json_begin(&run->json, '{');
    json_text(run, "name", option->name);
    json_text(run, "kind", kinds[option->kind]);
    if (option->kind == KIND_CHOICE || option->kind == KIND_FORMAT)
        parts_json(run, "choices", option_value(option).text, '|');
    else if (option->value)
        json_text(run, "value", option->value);
    json_bool(run, "repeatable", option->kind == KIND_LIST);
    json_text(run, "help", help);
    mf_json_end(&run->json, '}');
}

/* A second name of an option has the help of the first. */
static void options_json(struct run *run, const struct option *option)
{
    const char *help = "";

    mf_json_key(&run->json, "options");
    mf_json_begin(&run->json, '[');
    for (; option && option->name; option++) {
        help = option->help ? option->help : help;
        if (option->name[0] == '-')
            option_json(run, option, help);
    }
    mf_json_end(&run->json, ']');
}

/* What else people type for it. */
static void words_json(struct run *run, const struct command *command)
{
    const struct words_of words = words_of(command);
    const char *text = words.text;

    mf_json_key(&run->json, "words");
    mf_json_begin(&run->json, '[');
    while (*text) {
        size_t size = strcspn(text, ",");

        mf_json_string(&run->json, text, size);
        text += size;
        text += strspn(text, ", ");
    }
    mf_json_end(&run->json, ']');
}

static void command_json(struct run *run, const struct command *command)
{
    mf_json_begin(&run->json, '{');
    json_text(run, "name", command->name);
    mf_json_key(&run->json, "sub_command");
    if (*command->sub)
        mf_json_string(&run->json, command->sub, strlen(command->sub));
    else
        mf_json_null(&run->json);
    json_text(run, "operands", command->operands);
    json_number(run, "operands_least", command->operands_min);
    mf_json_key(&run->json, "operands_most");
    if (command->operands_max == SIZE_MAX)
        mf_json_null(&run->json);
    else
        mf_json_u64(&run->json, command->operands_max);
    json_text(run, "summary", command->summary);
    parts_json(run, "examples", command->examples, '\n');
    words_json(run, command);
    options_json(run, command->options);
    mf_json_key(&run->json, "exit_codes");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; exit_meanings[i].meaning; i++)
        if (exit_can_be(command, exit_meanings[i].code))
            mf_json_u64(&run->json, (uint64_t)exit_meanings[i].code);
    mf_json_end(&run->json, ']');
    mf_json_end(&run->json, '}');
}

void help_json(struct run *run, const char *name, const char *sub)
{
    const struct exit_meaning *exit = exit_meanings;

    answer_begin(run);
    mf_json_key(&run->json, "commands");
    mf_json_begin(&run->json, '[');
    for (size_t i = 0; run->commands[i]; i++)
        if ((!name || strcmp(name, run->commands[i]->name) == 0) &&
            (!sub || strcmp(sub, run->commands[i]->sub) == 0))
            command_json(run, run->commands[i]);
    mf_json_end(&run->json, ']');
    options_json(run, common_options);
    mf_json_key(&run->json, "exit_codes");
    mf_json_begin(&run->json, '[');
    for (; exit->meaning; exit++) {
        mf_json_begin(&run->json, '{');
        json_number(run, "code", (uint64_t)exit->code);
        json_text(run, "meaning", exit->meaning);
        mf_json_end(&run->json, '}');
    }
    mf_json_end(&run->json, ']');
    answer_end(run);
}
