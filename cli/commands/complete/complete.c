/* SPDX-License-Identifier: MIT
 *
 * complete.c - modelfile complete: what can follow on a command line
 *
 * The scripts that shells load (cli/complete) pass the words of the line up to
 * the one that is typed, which may be empty.  An answer is a line per
 * candidate, a tab and what is said about it; lines that begin with a tab say
 * what the shell has to do itself:
 *
 *     files        offer files
 *     folders      offer folders
 *     models       offer folders, and files with one of these suffixes:
 *     suffix SUFFIX
 *     after TEXT   files and folders begin after that part of the word
 *     nospace      a candidate is not a whole word
 *
 * It ends with 0 whatever is in the line and in its files.  Names in a file are
 * not to be trusted: scripts quote them; what looks like an option, or is not
 * printable, is not offered.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/complete/complete.h"
#include "cli/find.h"

/* What is on the line before the word. */
struct line {
    const struct command *command; /* NULL: not known yet */
    bool has_sub;                  /* its sub-command was given */
    bool options_over;             /* by "--" */
    size_t operands;
    const char *first;          /* operand */
    bool is_value;              /* of an option */
    const struct option *value; /* which; NULL: its command is not known */
};

static const struct option *find_option(const struct line *line,
                                        const char *word)
{
    const struct option *option =
        line->command ? option_named(line->command->options, word) : NULL;

    return option ? option : option_named(common_options, word);
}

/* The name of a command, its sub-command, or an operand. */
static void take_word(struct run *run, struct line *line, const char *word)
{
    const char *name = word, *sub = NULL;
    const struct command *command;

    if (!line->command) {
        words_find("", word, &name, &sub);
        line->command = find_command(run->commands, name, sub);
        line->has_sub = sub && *sub;
        if (line->command)
            return;
        line->command = find_command(run->commands, "info", NULL);
    } else if (!line->has_sub && *line->command->sub && line->operands == 0) {
        words_find(line->command->name, word, &name, &sub);
        sub = sub ? sub : word;
        command = find_command(run->commands, line->command->name, sub);
        line->has_sub = strcmp(command->sub, sub) == 0;
        line->command = command;
        if (line->has_sub)
            return;
    }
    if (line->operands++ == 0)
        line->first = word;
}

static void take_words(struct run *run, struct line *line)
{
    for (size_t i = 0; i + 1 < run->operand_count; i++) {
        const char *word = run->operand[i];

        if (!line->options_over && strcmp(word, "--") == 0) {
            line->options_over = true;
        } else if (line->options_over || !args_is_option(word)) {
            take_word(run, line, word);
        } else if (find_takes_next(run, word)) {
            line->is_value = ++i + 1 == run->operand_count;
            line->value = find_option(line, word);
        }
    }
}

/* ---- options and their values ---- */

/* "size|name|offset"; what is in capitals is not a word. */
static void offer_choices(struct run *run, const struct place *place,
                          const char *choices)
{
    while (*choices) {
        struct mf_str choice = { choices, strcspn(choices, "|") };

        if (!isupper((unsigned char)choices[choice.size - 1]))
            offer(run, place, choice, "", "");
        choices += choice.size + (choices[choice.size] != 0);
    }
}

static void offer_value(struct run *run, const struct option *option,
                        const struct place *place)
{
    enum values values;

    if (!option || option->kind == KIND_COUNT || option->kind == KIND_SIZE ||
        option->kind == KIND_FLAG)
        return;
    values = values_of(NULL, option->name);
    if (values == NOTHING)
        values = values_of(NULL, option->value);
    /* What a model's option calls a file is not always a model. */
    if (values == MODELS && strcmp(option->value, "FILE") == 0)
        values = FILES;
    if (values != NOTHING)
        values_offer(run, place, values);
    else if (option->kind == KIND_FORMAT || strchr(option->value, '|') ||
             option->kind == KIND_CHOICE)
        offer_choices(run, place, option_value(option).text);
}

static void offer_options(struct run *run, const struct place *place,
                          const struct option *option)
{
    const char *help = "";

    for (; option && option->name; option++) {
        help = option->help ? option->help : help;
        offer(run, place, str_of(option->name), "", help);
    }
}

/* "--type=q": the value of an option in the same word. */
static void offer_attached(struct run *run, const struct line *line,
                           const char *word)
{
    const struct option *option = find_option(line, word);
    size_t size = strcspn(word, "=") + 1;
    char before[100]; /* no option's name is longer */
    struct place place = { before, word + size, line->first, true };

    if (!option || size >= sizeof(before))
        return;
    memcpy(before, word, size);
    before[size] = 0;
    out_format(&run->out, "\tafter\t%s\n", before);
    offer_value(run, option, &place);
}

/* ---- operands ---- */

/* What help calls an operand, as in "[FILE...]". */
struct operand {
    char name[32];
    bool repeats, optional;
};

/* Returns what follows it. */
static const char *read_operand(const char *text, struct operand *operand)
{
    size_t size;

    operand->optional = *text == '[';
    text += operand->optional;
    size = strcspn(text, " .]");
    snprintf(operand->name, sizeof(operand->name), "%.*s", (int)size, text);
    operand->repeats = strncmp(text + size, "...", 3) == 0;
    text += strcspn(text, " ");
    return text + strspn(text, " ");
}

static void offer_named(struct run *run, const struct line *line,
                        const char *name, const struct place *place)
{
    if (*name == '-') /* QUANT --from SOURCE */
        offer(run, place, str_of(name), "", "");
    values_offer(run, place, values_of(line->command, name));
}

/* What the next operand can be: one that repeats may go on, or end; one that is
 * optional may be left out. */
static void offer_operand(struct run *run, const struct line *line,
                          const struct place *place)
{
    const char *text = line->command->operands;
    size_t least = 0; /* operands before this one */
    bool endless = false;

    for (size_t most = 0; *text && least <= line->operands; most++) {
        struct operand operand;

        text = read_operand(text, &operand);
        endless = endless || operand.repeats;
        if (endless || line->operands <= most)
            offer_named(run, line, operand.name, place);
        least += !operand.optional;
    }
}

static void offer_subs(struct run *run, const char *name,
                       const struct place *place)
{
    for (size_t i = 0; run->commands[i]; i++)
        if (strcmp(run->commands[i]->name, name) == 0)
            offer(run, place, str_of(run->commands[i]->sub), "",
                  run->commands[i]->summary);
}

/* No option and no value of one. */
static void offer_word(struct run *run, const struct line *line,
                       const struct place *place)
{
    const struct command *command = line->command;

    if (!command) {
        values_offer(run, place, COMMANDS);
        values_offer(run, place, MODELS); /* modelfile model.gguf */
        return;
    }
    if (!line->has_sub && line->operands == 0 && *command->sub)
        offer_subs(run, command->name, place);
    if (line->operands == 1 && strcmp(command->name, "help") == 0)
        offer_subs(run, line->first, place);
    offer_operand(run, line, place);
}

static void complete(struct run *run)
{
    const char *word =
        run->operand_count > 0 ? run->operand[run->operand_count - 1] : "";
    struct line line = { 0 };
    struct place place = { "", word, NULL, false };

    take_words(run, &line);
    place.file = line.first;
    place.any = line.options_over || line.is_value;
    if (line.is_value) {
        offer_value(run, line.value, &place);
    } else if (!line.options_over && *word == '-' && strchr(word, '=')) {
        offer_attached(run, &line, word);
    } else if (!line.options_over && *word == '-') {
        if (line.command)
            offer_options(run, &place, line.command->options);
        offer_options(run, &place, common_options);
    } else {
        offer_word(run, &line, &place);
    }
}

const struct command command_complete = {
    .name = "complete",
    .sub = "",
    .operands = "-- WORD...",
    .operands_max = SIZE_MAX,
    .summary = "list what can follow on a command line",
    .about = "For the scripts that complete a command line in a shell: prints "
             "what the last WORD can become. WORDs are those after modelfile; "
             "the last one is empty where a new one begins. Names of tensors "
             "and keys come from the header of the file that is on the "
             "line.\n",
    .examples = "modelfile complete -- tensors in\n"
                "modelfile complete -- meta get model.gguf general.\n",
    .no_input = true,
    .unlisted = true,
    .execute = complete,
};
