/* SPDX-License-Identifier: MIT
 *
 * find.c - which command the command line names
 *
 * Options may come before the command, so the first word that is not an option
 * has to be found before the options of its command are known.
 */
#include "cli/find.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/nearest.h"
#include "cli/ollama.h"
#include "cli/remote/remote.h"
#include "cli/report.h"

/* ---- what people type for a command ---- */

static const struct word {
    const char *after; /* the command that it follows, or "" */
    const char *word;
    const char *name, *sub; /* NULL if no command does it */
} words[] = {
#define WORD(word, name, sub) { "", word, name, sub },
#define SUB(name, word, sub)  { name, word, name, sub },
#define NONE(word)            { "", word, NULL, NULL },
#include "cli/words.def"
#undef WORD
#undef SUB
#undef NONE
};
#define WORDS (sizeof(words) / sizeof(*words))

static const struct word *find(const char *after, const char *word)
{
    for (size_t i = 0; i < WORDS; i++)
        if (strcmp(words[i].after, after) == 0 &&
            strcmp(words[i].word, word) == 0)
            return &words[i];
    return NULL;
}

static bool is_for(const struct word *word, const struct command *command)
{
    return !*word->after && word->name &&
           strcmp(word->name, command->name) == 0 &&
           strcmp(word->sub, command->sub) == 0;
}

bool words_find(const char *after, const char *word, const char **name,
                const char **sub)
{
    const struct word *found = find(after, word);

    if (!found || !found->name)
        return false;
    *name = found->name;
    *sub = found->sub;
    return true;
}

bool words_is_refused(const char *word)
{
    const struct word *found = find("", word);

    return found && !found->name;
}

const char *words_next(size_t *at)
{
    while (*at < WORDS) {
        const struct word *word = &words[(*at)++];

        if (!*word->after && word->name)
            return word->word;
    }
    return NULL;
}

struct words_of words_of(const struct command *command)
{
    struct words_of all = { "" };
    size_t size = 0;

    for (size_t i = 0; i < WORDS && size < sizeof(all.text); i++)
        if (is_for(&words[i], command))
            size +=
                (size_t)snprintf(all.text + size, sizeof(all.text) - size,
                                 "%s%s", size > 0 ? ", " : "", words[i].word);
    return all;
}

/* ---- which command the command line names ---- */

const struct command *find_command(const struct command *const *list,
                                   const char *name, const char *sub)
{
    const struct command *first = NULL;

    for (; *list; list++)
        if (strcmp((*list)->name, name) == 0) {
            if (sub && strcmp((*list)->sub, sub) == 0)
                return *list;
            first = first ? first : *list;
        }
    return first;
}

static bool file_exists(const char *path)
{
    struct stat status;

    return strcmp(path, "-") == 0 || stat(path, &status) == 0 ||
           ollama_is_name(path);
}

/* ---- mistyped words ---- */

struct each_name {
    const struct command *const *list;
    size_t word; /* of words_next, after the commands */
};

static const char *next_name(void *state)
{
    struct each_name *each = state;

    return *each->list ? (*each->list++)->name : words_next(&each->word);
}

static void unknown_command(struct run *run, const char *name)
{
    struct each_name each = { run->commands, 0 };
    struct nearest nearest = nearest_word(name, next_name, &each);

    if (args_is_option(name)) {
        report_usage(run, "missing command; see: modelfile help");
        return;
    }
    if (words_is_refused(name)) {
        report_usage(run,
                     "no command '%s': models are not run here, but by a "
                     "runtime such as llama.cpp; see: modelfile help",
                     name);
        return;
    }
    report_usage(run, "unknown command%s '%.60s'%s",
                 strpbrk(name, "./") ? " or file" : "", name,
                 *nearest.hint ? nearest.hint : "; see: modelfile help");
}

struct each_sub {
    const struct command *const *list;
    const char *name;
};

static const char *next_sub(void *state)
{
    struct each_sub *each = state;

    while (*each->list) {
        const struct command *command = *each->list++;

        if (strcmp(command->name, each->name) == 0)
            return command->sub;
    }
    return NULL;
}

/* The word after `tensors` or `meta` is a sub-command or a file; false after
 * report_usage if it looks like a mistyped sub-command. */
static bool is_sub_or_file(struct run *run, const char *word, const char *next)
{
    const struct command *command = run->command;
    struct each_sub each = { run->commands, command->name };
    struct nearest nearest = nearest_word(word, next_sub, &each);

    if (!*command->sub || !*word || file_exists(word) || remote_is_url(word) ||
        strcmp(find_command(run->commands, command->name, word)->sub, word) ==
            0 ||
        (!*nearest.hint && !(next && file_exists(next))))
        return true;
    report_usage(run, "unknown command '%s %.60s'%s%s", command->name, word,
                 *nearest.hint ? nearest.hint : "; see: modelfile help ",
                 *nearest.hint ? "" : command->name);
    return false;
}

/* ---- words among options ---- */

/* --version and --help are what people try first. */
static const char *command_name(const char *word)
{
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return "version";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    return word;
}

/* Options of one name are of one kind in all commands. */
bool find_takes_next(const struct run *run, const char *argument)
{
    bool takes = args_takes_next(common_options, argument);

    for (size_t i = 0; !takes && run->commands[i]; i++)
        takes = args_takes_next(run->commands[i]->options, argument);
    return takes;
}

/* Moves the first word from index at on that is neither an option nor the value
 * of one to at; the others keep their order.  False if there is none. */
static bool word_first(const struct run *run, int at, int count,
                       char **arguments)
{
    char *word;
    int i = at;

    while (i < count && args_is_option(arguments[i]) &&
           (at > 0 || command_name(arguments[i]) == arguments[i]))
        i += find_takes_next(run, arguments[i]) ? 2 : 1;
    if (i >= count || strcmp(arguments[i], "--") == 0)
        return false;
    word = arguments[i];
    memmove(arguments + at + 1, arguments + at,
            (size_t)(i - at) * sizeof(*arguments));
    arguments[at] = word;
    return true;
}

/* A word of words_find, or a name and such a sub-command: run->command is what
 * they mean.  How many words that are, or 0. */
static int find_word(struct run *run, const char *name, const char *sub)
{
    bool alone = words_find("", name, &name, &sub);

    if (!alone && !words_find(name, sub, &name, &sub))
        return 0;
    run->command = find_command(run->commands, name, sub);
    return alone ? 1 : 2;
}

int find_in_arguments(struct run *run, int count, char **arguments)
{
    const char *name = "help", *sub = "";
    int taken = 0, meant;

    if (word_first(run, 0, count, arguments) || count > 0)
        name = command_name(arguments[taken++]);
    if (word_first(run, 1, count, arguments))
        sub = arguments[1];
    meant = find_word(run, name, sub);
    if (meant > 0)
        return meant;
    run->command = find_command(run->commands, name, sub);
    if (!run->command && (file_exists(name) || remote_is_url(name))) {
        run->command = find_command(run->commands, "info", NULL);
        taken = 0; /* modelfile model.gguf */
    }
    if (!run->command) {
        unknown_command(run, name);
        return -1;
    }
    if (!is_sub_or_file(run, sub, count > 2 ? arguments[2] : NULL))
        return -1;
    return taken + (*run->command->sub && strcmp(run->command->sub, sub) == 0);
}
