/* SPDX-License-Identifier: MIT
 *
 * cli.h - what a command is, and what a command gets while it runs
 *
 * A command is a row (struct command) in a file of cli/commands, named in
 * commands.def; bench is in cli/measure.  main.c finds the row, args.c sets the
 * command's options, the sandbox closes, and the row's function runs.  Commands
 * know the files in cli/ but not each other: what two of them need moves to
 * cli/.
 *
 * Every command keeps to this:
 *
 *   - Standard output has data only.  Errors, remarks, progress and the closing
 *     line (time, memory, bytes read) go to standard error, so that output can
 *     always be piped.
 *   - With --json, standard output is one JSON document, also after an error:
 *     then it, or the object of the file in it, has a member "error".  Members
 *     are added, but never removed or given another meaning without a new
 *     JSON_SCHEMA.
 *   - An error is reported once, where it happens, by a function of report.h.
 *     A function that returns false or NULL to its caller has reported why,
 *     unless its comment says otherwise.
 *   - The exit code is the worst one reported.  Work goes on with the next file
 *     after an error in one.
 *   - A file name or any text from a file is escaped before it is printed: see
 *     out_escaped.
 *   - A command can write only the files that its row's `writes` names.
 *
 * The process runs one command and ends, so commands keep their options in
 * static variables.  What is large is on the stack, or taken when it is needed
 * (room.h).
 */
#ifndef MF_CLI_CLI_H
#define MF_CLI_CLI_H

#include <time.h>

#include "cli/args.h"
#include "cli/out.h"
#include "cli/sandbox.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_NO = 1,      /* invalid, different: see struct command, exit_no */
    EXIT_USAGE = 2,   /* the command line is wrong */
    EXIT_INPUT = 3,   /* an input cannot be read */
    EXIT_OUTPUT = 4,  /* an output cannot be written */
    EXIT_MEMORY = 5,  /* out of memory, or --max-memory was reached */
    EXIT_SIGNAL = 128 /* plus the number of the signal */
};

/* Where the document of --json is, which decides where an error goes. */
enum answering {
    ANSWER_NONE,    /* not begun, or complete: an error is a document */
    ANSWER_MEMBERS, /* in the document or the object of a file: a member */
    ANSWER_FILES    /* between files: an object like a file's */
};

struct run;

struct command {
    const char *name, *sub; /* "tensors", "info"; sub is "" if there is none */
    const char *operands;   /* "FILE [PATTERN]" */
    size_t operands_min, operands_max;
    const char *summary;
    const char *about;            /* paragraphs of the manual */
    const char *examples;         /* one per line; ends with a newline */
    const char *exit_no;          /* what exit code 1 means; NULL: not used */
    bool no_input;                /* reads no file: exit code 3 is not used */
    bool remote;                  /* reads URLs as well: see cli/remote */
    bool in_order;                /* with one thread, data in file order; calls
                                     remote_check after all of it */
    bool shared;                  /* ranks share its work: see ranks.h */
    bool unlisted;                /* only `help --all` lists it */
    const struct option *options; /* its own; may be NULL */
    void (*execute)(struct run *run);

    /* Optional: */

    /* Names every file that will be written to the sandbox.  A command without
     * it cannot write. */
    void (*writes)(struct run *run);
    /* The same for what a dry run writes and removes again. */
    void (*tries)(struct run *run);
    /* Moves operands to where execute expects them, before they are counted,
     * or explains a mistake better than counting can; false after a report. */
    bool (*check_operands)(struct run *run);
    /* Takes a value that is not one of an option's words, to explain it once
     * all operands are known; false if there is nothing to explain. */
    bool (*other_choice)(const struct option *option, const char *value);
    /* Whether it asks for ranks_gather_seconds. */
    bool (*gathers)(void);
    /* It does not do the same when it runs again, so it is not tried. */
    bool once;
    /* Prints a paragraph of the help text, below the usage line. */
    void (*more_help)(struct run *run);
};

/* A part of the list of commands, up to the next group. */
struct command_group {
    const char *title;
    const struct command *first;
};

/* A command that is running. */
struct run {
    const struct command *const *commands; /* all of them; ends with NULL */
    const struct command_group *groups;    /* of them; ends with a NULL title */
    const struct command *command;         /* this one */
    struct options *options;
    struct mf_str command_line; /* its words as given, a NUL after each */
    char **operand;
    size_t operand_count;
    char **listed; /* paths of --files-from: see files_from.h */
    size_t listed_count;
    struct mf_env *env;
    struct out out;
    struct mf_json_out json;
    struct sandbox sandbox;

    enum answering answering;        /* see answer.h */
    bool trial;                      /* see budget.h */
    int code;                        /* the worst exit code so far */
    uint64_t size;                   /* of all files opened */
    struct mf_io_stats other_io;     /* of envs that were freed, and of jobs */
    struct mf_heap_stats other_heap; /* the largest of jobs; all allocations */
    bool lists_missing;              /* the answer has what is not read */
    bool chooses_missing;            /* missing_show is called afterwards */
    size_t findings_max;        /* for each model; 0: the library's default */
    const char *done_to, *done; /* which file was changed, and how; or NULL */
    const char *imatrix;        /* the importance matrix, or NULL */
    const char *adapter;        /* what is added to the model, or NULL */
    bool may_be_bare; /* config.json alone is a model: see mf_open_options */
    /* More about an error of the library, or ""; NULL: there is never more. */
    const char *(*why)(const struct mf_error *error);
    const struct remote_cost *remote; /* NULL: no URL is read */
    void (*remote_sum_up)(void);      /* likewise: it gets the cost of all */
    const struct hub_cost *hub;       /* NULL: no model of the Hub is named */
    /* What one of the library's errors means, in place of its message, or NULL;
     * NULL: nothing else. */
    const char *(*instead)(const struct mf_error *error);
    bool reads_stream;   /* "-" is a pipe: see stream.h */
    uint64_t read_again; /* bytes of it that the library got of memory */
    bool checks_data;    /* the data of models is validated, too */
    struct timespec started, env_made;
    char last_remark[512]; /* of a pending edit: printed once */

    struct { /* private to progress.c */
        struct timespec shown, begun;
        uint64_t done;
        size_t width; /* columns of the line on the terminal */
    } progress;
};

#endif
