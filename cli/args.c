/* SPDX-License-Identifier: MIT
 *
 * args.c - the command line: options from tables, and what was meant instead
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"

const struct option common_options[] = {
    { "--json", OPTION_FLAG, NULL, 0, offsetof(struct options, json),
      "one JSON document on standard output" },
    { "--quiet", OPTION_FLAG, NULL, 0, offsetof(struct options, quiet),
      "no closing line, no automatic progress" },
    { "--stats", OPTION_FLAG, NULL, 0, offsetof(struct options, stats),
      "the closing line as a table" },
    { "--color", OPTION_CHOICE, "auto|always|never", COLOUR_AUTO,
      offsetof(struct options, colour), "bold headings (also: NO_COLOR)" },
    { "--no-sandbox", OPTION_FLAG, NULL, 0,
      offsetof(struct options, no_sandbox),
      "do not give up rights first (docs/security.md)" },
    { "--help", OPTION_FLAG, NULL, 0, offsetof(struct options, help),
      "what this command does" },
    { 0 },
};

/* ---- the nearest word ---- */

#define WORD_MAX 64

/* Costs of a change; one of case costs nothing.  Marks are left out and put in
 * so often (q4km, --dryrun) that they count half. */
#define LETTER 2
#define MARK   1

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t cost_of(char letter)
{
    return letter == '_' || letter == '-' ? MARK : LETTER;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* What it costs to insert, delete and replace letters, or to swap them with
 * their neighbour. */
static size_t distance(const char *a, const char *b)
{
    size_t row[3][WORD_MAX + 1], wide = strlen(b);

    row[0][0] = 0;
    for (size_t j = 1; j <= wide; j++)
        row[0][j] = row[0][j - 1] + cost_of(b[j - 1]);
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *now = row[i % 3], *last = row[(i - 1) % 3];
        const size_t *before = row[(i + 1) % 3];

        now[0] = last[0] + cost_of(a[i - 1]);
        for (size_t j = 1; j <= wide; j++) {
            size_t replace =
                last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : LETTER);

            now[j] = least(replace, least(last[j] + cost_of(a[i - 1]),
                                          now[j - 1] + cost_of(b[j - 1])));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
                same(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + LETTER);
        }
    }
    return row[strlen(a) % 3][wide];
}

/* The word is how the candidate begins, and more than a letter of it. */
static bool begins(const char *word, const char *candidate)
{
    size_t size = strlen(word);

    return size > 1 + strspn(word, "-") &&
           strncasecmp(word, candidate, size) == 0;
}

struct args_hint args_hint(const char *word, const char *(*next)(void *state),
                           void *state)
{
    /* One letter may be wrong, and one more of each four: --jsno, --totls. */
    size_t best = LETTER * (1 + strlen(word) / 4) + 1;
    struct args_hint hint = { "" };
    const char *candidate;

    if (strlen(word) > WORD_MAX)
        return hint;
    while ((candidate = next(state)) != NULL) {
        size_t far;

        if (strlen(candidate) > WORD_MAX)
            continue;
        far = distance(word, candidate);
        if (begins(word, candidate))
            far = least(far, LETTER);
        if (far < best) {
            best = far;
            snprintf(hint.text, sizeof(hint.text), "; did you mean '%s'?",
                     candidate);
        }
    }
    return hint;
}

/* ---- options ---- */

struct each_option {
    const struct option *own, *common;
};

static const char *next_option(void *state)
{
    struct each_option *each = state;

    while (each->own && each->own->name)
        if (*each->own++->name == '-')
            return each->own[-1].name;
    return each->common->name ? each->common++->name : NULL;
}

/* "-t" and "-t=4" as "--threads", and so on; else the argument itself. */
static const char *long_name(const char *argument, size_t *size)
{
    static const struct {
        const char *letter, *name;
    } letters[] = {
        { "-h", "--help" },
        { "-q", "--quiet" },
        { "-t", "--threads" },
    };

    for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
        if (*size == 2 && memcmp(letters[i].letter, argument, 2) == 0) {
            *size = strlen(letters[i].name);
            return letters[i].name;
        }
    return argument;
}

static const struct option *find_option(const struct option *options,
                                        const char *name, size_t size)
{
    name = long_name(name, &size);
    for (; options && options->name; options++)
        if (strlen(options->name) == size &&
            memcmp(options->name, name, size) == 0)
            return options;
    return NULL;
}

/* -f, whose user may mean the first option of that letter. */
static struct args_hint hint_for_letter(const struct run *run, char letter)
{
    struct each_option each = { run->command->options, common_options };
    struct args_hint hint = { "" };
    const char *name;

    while (!*hint.text && (name = next_option(&each)) != NULL)
        if (name[strspn(name, "-")] == letter)
            snprintf(hint.text, sizeof(hint.text), "; did you mean '%s'?",
                     name);
    return hint;
}

static bool unknown_option(struct run *run, const char *argument, size_t size)
{
    struct each_option each = { run->command->options, common_options };
    struct args_hint hint = { "" };
    char name[WORD_MAX + 1];

    if (size < sizeof(name)) {
        memcpy(name, argument, size);
        name[size] = 0;
        hint = size == 2 ? hint_for_letter(run, name[1])
                         : args_hint(name, next_option, &each);
    }
    if (*hint.text)
        report_usage(run, "there is no option '%s'%s", name, hint.text);
    else
        report_usage(run,
                     "there is no option '%.60s'; see: modelfile help %s%s%s",
                     argument, run->command->name,
                     *run->command->sub ? " " : "", run->command->sub);
    return false;
}

struct each_choice {
    const char *rest; /* NULL at the end */
    unsigned number;  /* of the next one */
    char word[WORD_MAX + 1];
};

static const char *next_choice(void *state)
{
    struct each_choice *each = state;
    size_t size;

    if (!each->rest)
        return NULL;
    size = strcspn(each->rest, "|");
    snprintf(each->word, sizeof(each->word), "%.*s", (int)size, each->rest);
    each->rest = each->rest[size] ? each->rest + size + 1 : NULL;
    each->number++;
    return each->word;
}

static bool set_choice(struct run *run, const struct option *option,
                       const char *value, void *place)
{
    struct each_choice each = { option->choices, option->first, "" };
    const char *word;

    while ((word = next_choice(&each)) != NULL)
        if (strcasecmp(word, value) == 0) {
            *(unsigned *)place = each.number - 1;
            return true;
        }
    each.rest = option->choices;
    report_usage(run, "'%s' cannot be '%.60s'; it is one of %s%s", option->name,
                 value, option->choices,
                 args_hint(value, next_choice, &each).text);
    return false;
}

static bool set_count(struct run *run, const struct option *option,
                      const char *value, void *place)
{
    unsigned long long number;
    char *end;

    errno = 0;
    number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || number == 0) {
        report_usage(run, "'%s' cannot be '%.60s'; it is a number from 1 on",
                     option->name, value);
        return false;
    }
    *(uint64_t *)place = number;
    return true;
}

static bool set_number(struct run *run, const struct option *option,
                       const char *value, void *place)
{
    long long number;
    char *end;

    errno = 0;
    number = strtoll(value, &end, 10);
    if (end == value || *end || errno) {
        report_usage(run, "'%s' cannot be '%.60s'; it is a number",
                     option->name, value);
        return false;
    }
    *(uint64_t *)place = number > 0 ? (uint64_t)number : 0;
    return true;
}

/* 64M, 1.5G, 2GiB, 4096: a thousand or 1024 to the power of its letter. */
static bool set_size(struct run *run, const struct option *option,
                     const char *value, void *place)
{
    static const char letters[] = "kMGT";
    char *end;
    double number = strtod(value, &end);
    const char *letter =
        *end ? strchr(letters, *end == 'K' ? 'k' : *end) : NULL;
    bool binary = letter && end[1] == 'i';

    for (const char *at = letters; letter && at <= letter; at++)
        number *= binary ? 1024 : 1000;
    end += letter ? 1 + binary : 0;
    end += *end == 'B';
    if (*value < '0' || *value > '9' || *end || !(number >= 1) ||
        number >= 0x1p63) {
        report_usage(run,
                     "'%s' cannot be '%.60s'; it is a size such as 64M, "
                     "1.5G or 2GiB",
                     option->name, value);
        return false;
    }
    *(uint64_t *)place = (uint64_t)number;
    return true;
}

static bool add_text(struct run *run, const struct option *option,
                     const char *value, void *place)
{
    struct text_list *list = place;

    if (list->count == LIST_MAX) {
        report_usage(run, "'%s' is given more than %d times", option->name,
                     LIST_MAX);
        return false;
    }
    list->at[list->count++] = value;
    return true;
}

/* value: what follows "=", or NULL.  *used says whether the next argument was
 * taken as the value. */
static bool set_option(struct run *run, const struct option *option,
                       const char *value, const char *next, bool *used)
{
    void *place = (char *)&run->options + option->place;

    if (option->kind == OPTION_FLAG && value) {
        report_usage(run, "'%s' takes no value", option->name);
        return false;
    }
    if (option->kind == OPTION_FLAG) {
        *(bool *)place = true;
        return true;
    }
    *used = !value;
    value = value ? value : next;
    if (!value) {
        report_usage(run, "'%s' wants a value: %s", option->name,
                     option->choices);
        return false;
    }
    if (option->kind == OPTION_TEXT) {
        *(const char **)place = value;
        return true;
    }
    if (option->kind == OPTION_LIST)
        return add_text(run, option, value, place);
    if (option->kind == OPTION_SIZE)
        return set_size(run, option, value, place);
    if (option->kind == OPTION_AT_ALL)
        return set_number(run, option, value, place);
    return option->kind == OPTION_CHOICE ? set_choice(run, option, value, place)
                                         : set_count(run, option, value, place);
}

static bool take_option(struct run *run, const char *argument, const char *next,
                        bool *used)
{
    size_t size = strcspn(argument, "=");
    const char *value = argument[size] ? argument + size + 1 : NULL;
    const struct option *option;

    option = find_option(common_options, argument, size);
    if (!option)
        option = find_option(run->command->options, argument, size);
    if (!option)
        return unknown_option(run, argument, size);
    return set_option(run, option, value, next, used);
}

/* The operand that no command but one has, and that stands for an option. */
static bool take_last(struct run *run)
{
    const struct option *option = run->command->options;
    bool used;

    while (option && option->name && option->name[0] == '-')
        option++;
    if (!option || !option->name || run->operand_count < run->command->most)
        return true;
    return set_option(run, option, run->operand[--run->operand_count], NULL,
                      &used);
}

/* No option begins with a digit: -1 is a number. */
bool args_is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != 0 &&
           !(argument[1] >= '0' && argument[1] <= '9') &&
           strcmp(argument, "--") != 0;
}

bool args_takes_next(const char *argument)
{
    size_t size = strlen(argument);
    const struct option *option = find_option(common_options, argument, size);

    for (const struct command *each = commands; !option && each->name; each++)
        option = find_option(each->options, argument, size);
    return option && option->kind != OPTION_FLAG;
}

/* Most often a pattern of the shell's that stands for several files. */
static void too_many(struct run *run)
{
    const struct command *command = run->command;
    const char *more = run->operand[command->most];

    if (strstr(command->operands, "[PATTERN]") &&
        access(run->operand[1], F_OK) == 0)
        names_is_file(
            run, strcmp(command->name, "meta") == 0 ? NAMED_KEY : NAMED_TENSOR,
            run->operand[1]);
    else
        report_usage(run,
                     "'%.200s' is one argument too many; usage: modelfile "
                     "%s%s%s %s%s",
                     more, command->name, *command->sub ? " " : "",
                     command->sub, command->operands,
                     command->execute == command_merge
                         ? " (FIRST stands for all shards)"
                         : "");
}

bool args_parse(struct run *run, int count, char **arguments)
{
    bool options_over = false;

    for (int i = 0; i < count; i++) {
        char *argument = arguments[i];
        bool used = false;

        if (!options_over && strcmp(argument, "--") == 0) {
            options_over = true;
        } else if (options_over || !args_is_option(argument)) {
            run->operand[run->operand_count++] = argument;
        } else {
            if (!take_option(run, argument,
                             i + 1 < count ? arguments[i + 1] : NULL, &used))
                return false;
            i += used;
        }
    }
    if (run->options.help)
        return true;
    if (run->command->execute == command_quantize)
        quantize_operands(run);
    if (run->operand_count < run->command->least)
        report_usage(run, "something is missing; usage: modelfile %s%s%s %s",
                     run->command->name, *run->command->sub ? " " : "",
                     run->command->sub, run->command->operands);
    else if (run->operand_count > run->command->most)
        too_many(run);
    else if (run->operand_count > run->command->least)
        return take_last(run);
    return run->code == EXIT_DONE;
}
