/* SPDX-License-Identifier: MIT
 *
 * config.c - --config: options of validate in a file
 *
 * One option per line, without its dashes, then a space and its value.  Empty
 * lines, and those that begin with '#', say nothing.  Only a file that the
 * command line names is read: one that lies next to a model may come from the
 * model's author.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/validate/validate.h"
#include "cli/nearest.h"
#include "cli/report.h"

/* What says how to judge and to show findings.  Where reports and inputs are is
 * for the command line. */
static const char *const allowed[] = { "ignore",        "hide",
                                       "for",           "strict",
                                       "require-known", "max-findings",
                                       "data",          "coverage" };
#define ALLOWED (sizeof(allowed) / sizeof(*allowed))

struct config {
    struct run *run;
    const char *path;
    const struct option *table;
    size_t line;
};

static const char *next_name(void *state)
{
    size_t *next = state;

    return *next < ALLOWED ? allowed[(*next)++] : NULL;
}

static bool unknown(const struct config *config, const char *name)
{
    size_t next = 0;

    report_usage(config->run, "line %zu of '%.200s': unknown option '%.60s'%s",
                 config->line, config->path, name,
                 nearest_word(name, next_name, &next).hint);
    return false;
}

/* The option of that name, or NULL. */
static const struct option *find_option(const struct config *config,
                                        const char *name)
{
    const char *known;
    size_t next = 0;

    while ((known = next_name(&next)) != NULL && strcmp(known, name) != 0)
        ;
    for (const struct option *each = config->table; known && each->name; each++)
        if (strcmp(each->name + 2, name) == 0)
            return each;
    return NULL;
}

/* Takes the blanks off the end of a terminated text. */
static void trim_end(char *text)
{
    size_t size = strlen(text);

    while (size > 0 && strchr(" \t\r", text[size - 1]))
        text[--size] = 0;
}

static bool set_option(const struct config *config, char *name)
{
    char *value = name + strcspn(name, " \t=");
    const struct option *option;
    char place[300];

    if (*value)
        *value++ = 0;
    value += strspn(value, " \t=");
    option = find_option(config, name);
    if (!option)
        return unknown(config, name);
    snprintf(place, sizeof(place), "line %zu of '%.200s'", config->line,
             config->path);
    return args_set(config->run, option, *value ? value : NULL, place);
}

bool config_read(struct run *run, const char *path, const struct option *table,
                 struct textfile *file)
{
    static const struct textkind kind = { .what = "the options",
                                          .size_max = (size_t)1 << 20,
                                          .nul_refused = true };
    struct config config = { run, path, table, 0 };
    bool whole;

    if (!textfile_read(run, path, &kind, file))
        return false;
    for (char *line = file->text, *end = line + file->size, *next; line < end;
         line = next) {
        config.line++;
        next = report_line_end(line, end, &whole);
        line += strspn(line, " \t");
        trim_end(line);
        if (*line && *line != '#' && !set_option(&config, line))
            return false;
    }
    return true;
}
