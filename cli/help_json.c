/* SPDX-License-Identifier: MIT
 *
 * help_json.c - modelfile help --json: commands and options for programs
 */
#include <string.h>

#include "cli/help.h"

const struct exit_meaning exit_meanings[] = {
    { EXIT_DONE, "done" },
    { EXIT_NO, "the answer is no: validate, diff, hash --check" },
    { EXIT_USAGE, "the command line is wrong" },
    { EXIT_INPUT, "an input cannot be read" },
    { EXIT_OUTPUT, "an output cannot be written" },
    { EXIT_MEMORY, "out of memory: --max-memory, or the system's limit" },
    { EXIT_SIGNAL + SIGHUP, "ended by SIGHUP" },
    { EXIT_SIGNAL + SIGINT, "ended by SIGINT (Ctrl-C)" },
    { EXIT_SIGNAL + SIGTERM, "ended by SIGTERM" },
    { 0 },
};

/* The parts of a text between such characters. */
static void parts_json(struct run *run, const char *key, const char *text,
                       char between)
{
    const char stops[] = { between, 0 };

    mf_json_key(&run->json, key);
    mf_json_begin(&run->json, '[');
    while (*text) {
        size_t size = strcspn(text, stops);

        mf_json_string(&run->json, text, size);
        text += size + (text[size] != 0);
    }
    mf_json_end(&run->json, ']');
}

static void option_json(struct run *run, const struct option *option,
                        const char *help)
{
    static const char *const kinds[] = {
        [OPTION_FLAG] = "flag",    [OPTION_CHOICE] = "choice",
        [OPTION_COUNT] = "number", [OPTION_AT_ALL] = "number",
        [OPTION_SIZE] = "size",    [OPTION_TEXT] = "text",
        [OPTION_LIST] = "text"
    };

    mf_json_begin(&run->json, '{');
    json_text(run, "name", option->name);
    json_text(run, "kind", kinds[option->kind]);
    if (option->kind == OPTION_CHOICE)
        parts_json(run, "choices", option->choices, '|');
    else if (option->choices)
        json_text(run, "value", option->choices);
    json_bool(run, "repeatable", option->kind == OPTION_LIST);
    json_text(run, "help", help);
    mf_json_end(&run->json, '}');
}

/* Another name for an option has the help of the one before. */
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
    json_number(run, "operands_least", command->least);
    mf_json_key(&run->json, "operands_most");
    if (command->most == SIZE_MAX)
        mf_json_null(&run->json);
    else
        mf_json_u64(&run->json, command->most);
    json_text(run, "summary", command->summary);
    parts_json(run, "examples", command->examples, '\n');
    options_json(run, command->options);
    mf_json_end(&run->json, '}');
}

void help_json(struct run *run, const char *name, const char *sub)
{
    const struct exit_meaning *exit = exit_meanings;

    report_begin(run);
    mf_json_key(&run->json, "commands");
    mf_json_begin(&run->json, '[');
    for (const struct command *each = commands; each->name; each++)
        if ((!name || strcmp(name, each->name) == 0) &&
            (!sub || strcmp(sub, each->sub) == 0))
            command_json(run, each);
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
    report_end(run);
    out_text(&run->out, "\n");
}
