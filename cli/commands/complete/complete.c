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
 *     nospace      a candidate is not a whole word
 *
 * It ends with 0 whatever is in the line and in its files.
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
    const struct option *value; /* whose value the word is, or NULL */
};

static const struct option *find_option(const struct line *line,
                                        const char *word)
{
    const struct option *option =
        line->command ? option_named(line->command->options, word) : NULL;

    return option ? option : option_named(common_options, word);
}

static bool takes_next(const struct option *option, const char *word)
{
    return option && option->kind != KIND_FLAG &&
           option->kind != KIND_OPTIONAL && !strchr(word, '=');
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
        const struct option *option;

        if (!line->options_over && strcmp(word, "--") == 0) {
            line->options_over = true;
        } else if (line->options_over || !args_is_option(word)) {
            take_word(run, line, word);
        } else {
            option = find_option(line, word);
            if (!takes_next(option, word))
                continue;
            if (++i + 1 == run->operand_count)
                line->value = option;
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

static void offer_value(struct run *run, const struct line *line,
                        const struct option *option, const struct place *place)
{
    enum values values = values_of(line->command, option->name);

    if (option->kind == KIND_COUNT || option->kind == KIND_SIZE ||
        option->kind == KIND_FLAG)
        return;
    if (values == NOTHING)
        values = values_of(line->command, option->value);
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
    char before[100];
    struct place place = { before, word + size, line->first };

    if (!option || size >= sizeof(before))
        return;
    memcpy(before, word, size);
    before[size] = 0;
    offer_value(run, line, option, &place);
}

/* ---- operands ---- */

/* What help calls the operand at text, as in "[FILE...]": its size. */
static size_t operand_name(const char **text)
{
    *text += strspn(*text, " [");
    return strcspn(*text, " .]");
}

static bool repeats(const char *text, size_t size)
{
    return strncmp(text + size, "...", 3) == 0;
}

/* The operand that comes next.  One that repeats may go on, or end. */
static void offer_operand(struct run *run, const struct line *line,
                          const struct place *place)
{
    const char *text = line->command->operands;
    size_t index = 0;

    while (*text) {
        size_t size = operand_name(&text);
        bool again = repeats(text, size) && line->operands >= index;
        char name[32];

        if ((index == line->operands || again) && size < sizeof(name)) {
            memcpy(name, text, size);
            name[size] = 0;
            if (*name == '-') /* QUANT --from SOURCE */
                offer(run, place, str_of(name), "", "");
            values_offer(run, place, values_of(line->command, name));
            if (!again || line->operands == index)
                return;
        }
        index++;
        text += size;
        text += strcspn(text, " ");
    }
}

static void offer_subs(struct run *run, const struct line *line,
                       const struct place *place)
{
    if (line->has_sub || line->operands > 0 || !*line->command->sub)
        return;
    for (size_t i = 0; run->commands[i]; i++)
        if (strcmp(run->commands[i]->name, line->command->name) == 0)
            offer(run, place, str_of(run->commands[i]->sub), "",
                  run->commands[i]->summary);
}

static void complete(struct run *run)
{
    const char *word =
        run->operand_count > 0 ? run->operand[run->operand_count - 1] : "";
    struct line line = { 0 };
    struct place place = { "", word, NULL };

    take_words(run, &line);
    place.file = line.first;
    if (line.value) {
        offer_value(run, &line, line.value, &place);
    } else if (!line.options_over && *word == '-' && strchr(word, '=')) {
        offer_attached(run, &line, word);
    } else if (!line.options_over && *word == '-') {
        if (line.command)
            offer_options(run, &place, line.command->options);
        offer_options(run, &place, common_options);
    } else if (!line.command) {
        values_offer(run, &place, COMMANDS);
        values_offer(run, &place, MODELS); /* modelfile model.gguf */
    } else {
        offer_subs(run, &line, &place);
        offer_operand(run, &line, &place);
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
