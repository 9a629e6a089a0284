/* SPDX-License-Identifier: MIT
 *
 * args.c - options from tables, and parsing the command line
 */
#include "cli/args.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/measure/measure.h"
#include "cli/nearest.h"
#include "cli/report.h"
#include "cli/room.h"

struct options shared_options;

static struct option common[] = {
    OPTION_FLAG("--json", shared_options.json,
                "print one JSON document to standard output"),
    OPTION_FLAG("--quiet", shared_options.quiet,
                "print no closing line and no progress"),
    OPTION_FLAG("--stats", shared_options.stats,
                "print the closing line as a table"),
    OPTION_FLAG("--timings", shared_options.timings,
                "print where the time went"),
    OPTION_CHOICE(
        "--color", "auto|always|never", COLOUR_AUTO, shared_options.colour,
        "bold headings, errors in red, warnings in yellow; auto: on a "
        "terminal, unless NO_COLOR is set"),
    OPTION_SIZE("--max-memory", shared_options.max_memory,
                "limit of the heap; exit code 5 if it is reached"),
    OPTIONS_MEASURE,
    OPTION_OPTIONAL("--dhat", "FILE", shared_options.dhat,
                    "write a profile of the heap (default: dhat-heap.json)"),
    OPTION_FLAG("--no-sandbox", shared_options.no_sandbox,
                "keep all rights of the process (docs/security.md)"),
    OPTION_FLAG("--help", shared_options.help, "show this help"),
    { 0 }, /* for args_add_common */
    { 0 },
};
const struct option *const common_options = common;

void args_add_common(const struct option *option)
{
    common[sizeof(common) / sizeof(*common) - 2] = *option;
}

const char *args_of_one_process(const struct options *options)
{
    return options->max_memory > 0 ? "--max-memory"
           : options->record       ? "--record"
           : options->dhat         ? "--dhat"
                                   : NULL;
}

/* ---- names of options ---- */

/* An argument taken apart: "--top=3", "-t=4", "-t4". */
struct argument {
    const char *name; /* the long one, not terminated */
    size_t size;      /* of the name */
    const char *value;
};

static const struct short_name {
    const char *letter, *name;
    bool number; /* its value can follow at once, as in -t4 */
} short_names[] = {
    { "-h", "--help", false },
    { "-o", "--output", false },
    { "-q", "--quiet", false },
    { "-t", "--threads", true },
};
#define SHORT_NAMES (sizeof(short_names) / sizeof(*short_names))

const char *option_letter(const struct option *option)
{
    for (size_t i = 0; i < SHORT_NAMES; i++)
        if (strcmp(short_names[i].name, option->name) == 0)
            return short_names[i].letter;
    return NULL;
}

static struct argument split(const char *text)
{
    size_t size = strcspn(text, "=");
    const char *value = text[size] ? text + size + 1 : NULL;

    for (size_t i = 0; i < SHORT_NAMES; i++) {
        const struct short_name *each = &short_names[i];
        /* Only a number: "-threads" is a mistake. */
        bool attached = each->number && isdigit((unsigned char)text[2]);

        if (strncmp(text, each->letter, 2) == 0 && (size == 2 || attached))
            return (struct argument){ each->name, strlen(each->name),
                                      attached ? text + 2 : value };
    }
    return (struct argument){ text, size, value };
}

static const struct option *find(const struct option *table,
                                 const struct argument *argument)
{
    for (; table && table->name; table++)
        if (strlen(table->name) == argument->size &&
            memcmp(table->name, argument->name, argument->size) == 0)
            return table;
    return NULL;
}

const struct option *option_named(const struct option *table, const char *text)
{
    struct argument argument = split(text);

    return find(table, &argument);
}

bool args_takes_next(const struct option *table, const char *text)
{
    struct argument argument = split(text);
    const struct option *option = find(table, &argument);

    return option && option->kind != KIND_FLAG &&
           option->kind != KIND_OPTIONAL && !argument.value;
}

/* No option begins with a digit: -1 is a number. */
bool args_is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != 0 &&
           !isdigit((unsigned char)argument[1]) && strcmp(argument, "--") != 0;
}

/* ---- unknown options ---- */

struct each_option {
    const struct option *own, *common;
};

static const char *next_option(void *state)
{
    struct each_option *each = state;

    if (each->own && each->own->name)
        return each->own++->name;
    return each->common->name ? each->common++->name : NULL;
}

/* For -f: the first option of that letter. */
static struct nearest nearest_letter(const struct run *run, char letter)
{
    struct each_option each = { run->command->options, common_options };
    struct nearest nearest = { "" };
    const char *name;

    while (!*nearest.hint && (name = next_option(&each)) != NULL)
        if (name[strspn(name, "-")] == letter)
            snprintf(nearest.hint, sizeof(nearest.hint), "; did you mean '%s'?",
                     name);
    return nearest;
}

static void unknown_option(struct run *run, const char *argument)
{
    const struct command *command = run->command;
    struct each_option each = { command->options, common_options };
    size_t size = strcspn(argument, "=");
    struct nearest nearest = { "" };
    char name[64];

    if (size < sizeof(name)) {
        memcpy(name, argument, size);
        name[size] = 0;
        nearest = size == 2 ? nearest_letter(run, name[1])
                            : nearest_word(name, next_option, &each);
    }
    if (*nearest.hint)
        report_usage(run, "unknown option '%s'%s", name, nearest.hint);
    else
        report_usage(run, "unknown option '%.60s'; see: modelfile help %s%s%s",
                     argument, command->name, *command->sub ? " " : "",
                     command->sub);
}

/* ---- values ---- */

struct option_value option_value(const struct option *option)
{
    struct option_value value = { "" };
    const char *name;
    size_t size = 0;

    if (option->kind != KIND_FORMAT) {
        snprintf(value.text, sizeof(value.text),
                 option->kind == KIND_OPTIONAL ? "[=%s]" : "%s",
                 option->value ? option->value : "");
        return value;
    }
    for (size_t i = 0; size < sizeof(value.text) &&
                       (name = formats_name(option->first, i)) != NULL;
         i++)
        size += (size_t)snprintf(value.text + size, sizeof(value.text) - size,
                                 "%s%s", i > 0 ? "|" : "", name);
    return value;
}

struct each_choice {
    const char *rest; /* NULL at the end */
    unsigned number;  /* of words so far */
    char word[64];
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
                       const char *value)
{
    struct option_value words = option_value(option);
    struct each_choice each = { .rest = words.text };
    const char *word;

    while ((word = next_choice(&each)) != NULL)
        if (strcasecmp(word, value) == 0) {
            if (option->kind == KIND_FORMAT)
                *option->set.text =
                    formats_name(option->first, each.number - 1);
            else
                *option->set.choice = option->first + each.number - 1;
            return true;
        }
    if (run->command->other_choice && run->command->other_choice(option, value))
        return true;
    each.rest = words.text;
    report_usage(run, "invalid value '%.60s' for '%s': not one of %s%s", value,
                 option->name, words.text,
                 nearest_word(value, next_choice, &each).hint);
    return false;
}

static bool set_count(struct run *run, const struct option *option,
                      const char *value)
{
    unsigned long long number;
    char *end;

    errno = 0;
    number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || number == 0) {
        report_usage(run,
                     "invalid value '%.60s' for '%s': not a number from 1 up",
                     value, option->name);
        return false;
    }
    *option->set.number = number;
    return true;
}

/* The letter is for a thousand or, with "i", 1024, to the power of its place.
 */
bool args_size(const char *text, uint64_t *out)
{
    static const char letters[] = "kMGT";
    char *end;
    double number = strtod(text, &end);
    const char *letter =
        *end ? strchr(letters, *end == 'K' ? 'k' : *end) : NULL;
    bool binary = letter && end[1] == 'i';

    for (const char *at = letters; letter && at <= letter; at++)
        number *= binary ? 1024 : 1000;
    end += letter ? 1 + binary : 0;
    end += *end == 'B';
    if (*text < '0' || *text > '9' || *end || !(number >= 1) ||
        number >= 0x1p63)
        return false;
    *out = (uint64_t)number;
    return true;
}

static bool set_size(struct run *run, const struct option *option,
                     const char *value)
{
    if (args_size(value, option->set.number))
        return true;
    report_usage(run,
                 "invalid value '%.60s' for '%s': not a size such as 64M, "
                 "1.5G or 2GiB",
                 value, option->name);
    return false;
}

/* Room for all values; false after a report. */
static bool make_room(struct run *run, struct text_list *list)
{
    const size_t each = sizeof(*list->at) + sizeof(*list->place);

    if (list->place)
        return true;
    list->at = room_take(LIST_MAX * each);
    if (!list->at) {
        report_no_room(run);
        return false;
    }
    list->place = (void *)(list->at + LIST_MAX);
    return true;
}

static bool add_text(struct run *run, const struct option *option,
                     const char *value)
{
    static unsigned places;
    struct text_list *list = option->set.list;

    if (list->count == LIST_MAX) {
        report_usage(run, "too many '%s': at most %d", option->name, LIST_MAX);
        return false;
    }
    if (!make_room(run, list))
        return false;
    list->place[list->count] = places++;
    list->at[list->count++] = value;
    return true;
}

static bool set_value(struct run *run, const struct option *option,
                      const char *value)
{
    switch (option->kind) {
    case KIND_CHOICE:
    case KIND_FORMAT:
        return set_choice(run, option, value);
    case KIND_COUNT:
        return set_count(run, option, value);
    case KIND_SIZE:
        return set_size(run, option, value);
    case KIND_LIST:
        return add_text(run, option, value);
    default:
        *option->set.text = value;
        return true;
    }
}

static bool is_set(const struct option *option)
{
    switch (option->kind) {
    case KIND_CHOICE:
        return *option->set.choice != option->first;
    case KIND_COUNT:
    case KIND_SIZE:
        return *option->set.number != 0;
    case KIND_LIST:
        return false;
    default:
        return *option->set.text != NULL;
    }
}

bool args_set(struct run *run, const struct option *option, const char *value,
              const char *place)
{
    struct option placed = *option;
    char name[360];

    if (option->kind == KIND_FLAG && !value) {
        *option->set.flag = true;
        return true;
    }
    if (option->kind == KIND_FLAG || !value) {
        report_usage(run, "%s: option '%s' %s%s", place, option->name + 2,
                     value ? "takes no value" : "requires a value: ",
                     value ? "" : option_value(option).text);
        return false;
    }
    snprintf(name, sizeof(name), "%s, %s", option->name + 2, place);
    placed.name = name;
    return is_set(option) || set_value(run, &placed, value);
}

/* ---- the command line ---- */

/* next: the argument after it, or NULL; *used says whether that was the value.
 */
static bool parse_option(struct run *run, const char *text, const char *next,
                         bool *used)
{
    struct argument argument = split(text);
    const struct option *option = find(common_options, &argument);

    if (!option)
        option = find(run->command->options, &argument);
    if (!option) {
        unknown_option(run, text);
        return false;
    }
    if (option->kind == KIND_FLAG && argument.value) {
        report_usage(run, "option '%s' takes no value", option->name);
        return false;
    }
    if (option->kind == KIND_FLAG) {
        *option->set.flag = true;
        return true;
    }
    if (option->kind == KIND_OPTIONAL) {
        *option->set.text = argument.value ? argument.value : "";
        return true;
    }
    *used = !argument.value;
    if (*used && !next) {
        report_usage(run, "option '%s' requires a value: %s", option->name,
                     option_value(option).text);
        return false;
    }
    return set_value(run, option, *used ? next : argument.value);
}

/* The name of the first operand that is missing, in "IN [OUT] TYPE": words in
 * brackets are optional. */
static const char *missing_operand(const struct run *run)
{
    const char *word = run->command->operands, *missing = word;
    size_t required = 0;

    for (; *word && required <= run->operand_count;
         word += strcspn(word, " "), word += *word == ' ')
        if (*word != '[') {
            missing = word;
            required++;
        }
    return missing;
}

void args_missing(struct run *run)
{
    const struct command *command = run->command;
    const char *missing = missing_operand(run);

    report_usage(run, "missing argument %.*s; usage: modelfile %s%s%s %s",
                 (int)strcspn(missing, " ."), missing, command->name,
                 *command->sub ? " " : "", command->sub, command->operands);
}

static bool count_operands(struct run *run)
{
    const struct command *command = run->command;

    if (run->operand_count < command->operands_min)
        args_missing(run);
    else if (run->operand_count > command->operands_max)
        report_usage(run,
                     "unexpected argument '%.200s'; usage: modelfile %s%s%s %s",
                     run->operand[command->operands_max], command->name,
                     *command->sub ? " " : "", command->sub, command->operands);
    else
        return true;
    return false;
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
            if (!parse_option(run, argument,
                              i + 1 < count ? arguments[i + 1] : NULL, &used))
                return false;
            i += used;
        }
    }
    if (run->options->help)
        return true;
    if (run->command->check_operands && !run->command->check_operands(run))
        return false;
    return count_operands(run);
}
