/* SPDX-License-Identifier: MIT
 *
 * args.h - options as tables, and parsing the command line
 *
 * A table of options points at the variables that it sets, so the command that
 * owns the variables reads them without a look-up:
 *
 *     static struct {
 *         bool raw;
 *         uint64_t top;
 *     } options;
 *
 *     static const struct option table[] = {
 *         OPTION_FLAG("--raw", options.raw, "write the bytes as they are"),
 *         OPTION_COUNT("--top", "N", options.top, "list the N largest"),
 *         OPTIONS_WORK,
 *         { 0 },
 *     };
 *
 * The macros take the variable itself: the compiler checks its type.
 */
#ifndef MF_CLI_ARGS_H
#define MF_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/formats.h"

struct run;

/* Enough for a script with a value for each tensor of a layer; more of them are
 * an error. */
#define LIST_MAX 1024

struct text_list {
    const char **at; /* room for LIST_MAX, if there is a value */
    unsigned *place; /* a later value, also of another list, has a larger one */
    size_t count;
};

enum option_kind {
    KIND_FLAG,     /* sets a bool to true */
    KIND_CHOICE,   /* one of several words: sets an unsigned to first + index */
    KIND_FORMAT,   /* the name of a format that can be written */
    KIND_COUNT,    /* a number from 1 up */
    KIND_SIZE,     /* bytes, as in 64M or 1.5GiB */
    KIND_TEXT,     /* any text */
    KIND_OPTIONAL, /* any text, only as in --dhat=FILE; "" without one */
    KIND_LIST      /* any text; can be given several times */
};

struct option {
    const char *name; /* "--sort"; NULL ends a table */
    enum option_kind kind;
    const char *value; /* what help calls the value; for a choice its words,
                          as in "size|name|offset"; NULL for a flag */
    unsigned first;    /* for a choice, what its first word sets; for a format,
                          enum formats */
    union {
        bool *flag;
        unsigned *choice;
        uint64_t *number; /* 0: not given */
        const char **text;
        struct text_list *list;
    } set;
    const char *help; /* NULL: another name of the option above */
    bool measures;    /* only `help --all` lists it */
};

#define OPTION_FLAG(name, variable, help)                                      \
    {                                                                          \
        name, KIND_FLAG, NULL, 0, { .flag = &(variable) }, help, false         \
    }
#define OPTION_CHOICE(name, words, first, variable, help)                      \
    {                                                                          \
        name, KIND_CHOICE, words, first, { .choice = &(variable) }, help,      \
            false                                                              \
    }
#define OPTION_FORMAT(name, which, variable, help)                             \
    {                                                                          \
        name, KIND_FORMAT, "FORMAT", which, { .text = &(variable) }, help,     \
            false                                                              \
    }
#define OPTION_COUNT(name, value, variable, help)                              \
    {                                                                          \
        name, KIND_COUNT, value, 0, { .number = &(variable) }, help, false     \
    }
#define OPTION_SIZE(name, variable, help)                                      \
    {                                                                          \
        name, KIND_SIZE, "SIZE", 0, { .number = &(variable) }, help, false     \
    }
#define OPTION_TEXT(name, value, variable, help)                               \
    {                                                                          \
        name, KIND_TEXT, value, 0, { .text = &(variable) }, help, false        \
    }
#define OPTION_OPTIONAL(name, value, variable, help)                           \
    {                                                                          \
        name, KIND_OPTIONAL, value, 0, { .text = &(variable) }, help, false    \
    }
#define OPTION_LIST(name, value, variable, help)                               \
    {                                                                          \
        name, KIND_LIST, value, 0, { .list = &(variable) }, help, false        \
    }
/* As OPTION_TEXT. */
#define OPTION_MEASURE(name, value, variable, help)                            \
    {                                                                          \
        name, KIND_TEXT, value, 0, { .text = &(variable) }, help, true         \
    }

/* ---- options that several commands have ---- */

enum progress { PROGRESS_AUTO, PROGRESS_NEVER, PROGRESS_ALWAYS, PROGRESS_JSON };

/* All zero is the default. */
struct options {
    bool json, quiet, stats, help, no_sandbox; /* every command */
    bool timings;                              /* likewise */
    unsigned colour;                           /* enum colour; likewise */
    const char *record, *power, *power_root;   /* likewise; NULL: not given */
    uint64_t max_memory; /* bytes; likewise; 0: no limit */
    const char *dhat;  /* a file, or "" for the usual one; likewise; or NULL */
    uint64_t threads;  /* 0: the default */
    unsigned progress; /* enum progress */
    bool force, dry_run, resume;
    bool one_file;
    bool whole; /* see OPTION_WHOLE */
    bool tensors_only;
    bool allow_missing;     /* see missing.h */
    const char *files_from; /* a list of paths; NULL: not given */
    uint64_t jobs;          /* see jobs.h; 0: not given */
    const char *part, *log; /* likewise; NULL: not given */
    uint64_t rank_timeout;  /* seconds; see ranks.h; 0: not given */
    const char *share;      /* see OPTION_PART; NULL: not given */
};
extern struct options shared_options; /* run->options points here */

/* The first option given that is about one process; NULL: there is none. */
const char *args_of_one_process(const struct options *options);

/* Every command has these. */
extern const struct option *const common_options;

/* One more, of the program that this one is: before the first is parsed. */
void args_add_common(const struct option *option);

/* For a command whose work takes long. */
#define OPTIONS_WORK                                                           \
    OPTION_COUNT("--threads", "N", shared_options.threads,                     \
                 "number of threads (default: $OMP_NUM_THREADS, or one per "   \
                 "processor)"),                                                \
        OPTION_CHOICE("--progress", "auto|never|always|json", PROGRESS_AUTO,   \
                      shared_options.progress,                                 \
                      "show progress on standard error; auto: on a terminal")

/* For a command that writes files. */
#define OPTION_FORCE                                                           \
    OPTION_FLAG("--force", shared_options.force, "overwrite existing files")
#define OPTIONS_WRITE                                                          \
    OPTION_FORCE,                                                              \
        OPTION_FLAG("--dry-run", shared_options.dry_run,                       \
                    "show what would be written, and its exact size"),         \
        OPTIONS_WORK

/* For a command whose writing takes long. */
#define OPTION_RESUME                                                          \
    OPTION_FLAG("--resume", shared_options.resume,                             \
                "keep finished parts when stopped, and continue with them")

/* Likewise; see output.h. */
#define OPTION_PART                                                            \
    OPTION_TEXT("--part", "I/N", shared_options.share,                         \
                "write part I of N only; 'modelfile finish OUT' joins them")

/* For a command that reads models. */
#define OPTION_ONE_FILE                                                        \
    OPTION_FLAG("--one-file", shared_options.one_file,                         \
                "this file only, not the other shards of its model")
#define OPTION_TENSORS_ONLY                                                    \
    OPTION_FLAG("--tensors-only", shared_options.tensors_only,                 \
                "of a pickle that names classes, only tensors")

/* For a command that reads data; see docs/remote.md. */
#define OPTION_WHOLE                                                           \
    OPTION_FLAG("--whole", shared_options.whole,                               \
                "of a server without ranges, read all of the file in order")

/* For a command that takes several files; see files_from.h. */
#define OPTION_FILES_FROM                                                      \
    OPTION_TEXT("--files-from", "LIST", shared_options.files_from,             \
                "more FILEs, one per line of LIST; -: standard input")

/* ---- parsing ---- */

/* Sets the options of run->command and moves the operands to the front of
 * run->operand. */
bool args_parse(struct run *run, int count, char **arguments);

/* Sets an option that a line of a file names, as in "line 3 of 'FILE'", unless
 * the command line has set it; one that may be given several times is added.
 * value: NULL if there is none.  It must stay.  False after report_usage. */
bool args_set(struct run *run, const struct option *option, const char *value,
              const char *place);

/* report_usage: names the first operand that is missing. */
void args_missing(struct run *run);

/* What the value of an option can be: "size|name|offset", "SIZE"; "" for a
 * flag. */
struct option_value {
    char text[128];
};
struct option_value option_value(const struct option *option);

/* Bytes, as in "64M", "1.5G", "2GiB" or "4096": at least 1 and below 2^63. */
bool args_size(const char *text, uint64_t *out);

/* The option of a table that the argument names, as in "--top=3"; NULL if there
 * is none.  table may be NULL. */
const struct option *option_named(const struct option *table,
                                  const char *argument);

/* The one-letter name of an option, as in "-q"; NULL if it has none. */
const char *option_letter(const struct option *option);

/* Whether the argument is an option: "-" is a file, "--" ends the options. */
bool args_is_option(const char *argument);

/* Whether the argument names an option of the table whose value is the next
 * argument. */
bool args_takes_next(const struct option *table, const char *argument);

#endif
