/* SPDX-License-Identifier: MIT
 *
 * cli.h - commands, their options, and what they share while they run
 */
#ifndef MF_CLI_CLI_H
#define MF_CLI_CLI_H

#include <time.h>

#include "cli/out.h"
#include "cli/sandbox.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_NO = 1,      /* the answer is no */
    EXIT_USAGE = 2,   /* the command line is wrong */
    EXIT_INPUT = 3,   /* an input cannot be read */
    EXIT_OUTPUT = 4,  /* an output cannot be written */
    EXIT_MEMORY = 5,  /* stopped by --max-memory */
    EXIT_SIGNAL = 128 /* and the number of the signal */
};

enum colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
enum progress { PROGRESS_AUTO, PROGRESS_NEVER, PROGRESS_ALWAYS, PROGRESS_JSON };
enum sort { SORT_FILE, SORT_SIZE, SORT_NAME, SORT_OFFSET };

#define LIST_MAX 64

struct text_list {
    const char *at[LIST_MAX];
    size_t count;
};

/* Everything that options can say; all zero is the default. */
struct options {
    bool json, quiet, stats, help, no_sandbox;
    unsigned colour; /* enum colour */
    bool one_file, full, totals;
    unsigned sort; /* enum sort */
    uint64_t top;  /* 0: all */
    unsigned form; /* of a report, see validate.c */
    bool data, strict, rules;
    const char *baseline, *explain;
    uint64_t max_findings; /* 0: all */
    uint64_t threads;      /* 0: one per processor */
    uint64_t max_memory;   /* bytes; 0: any */
    unsigned progress;     /* enum progress */
    unsigned type;         /* of floats, see convert.c; 0: as they are */
    unsigned to;           /* a format, see convert.c; 0: by the suffix */
    uint64_t shard_size, shard_tensors, reserve; /* 0: not given */
    unsigned version;                            /* of GGUF; likewise */
    unsigned names;                              /* enum mf_naming */
    bool force, lossy, dry_run, raw, allow_nonfinite;
    bool empty_first, delete_inputs;
    const char *imatrix, *output_type, *embedding_type;
    struct text_list tensor_types, overrides, include_weights, exclude_weights,
        prune_layers;
    bool pure, allow_requantize, leave_output, keep_split, report;
    unsigned algo; /* 1 + enum mf_digest_kind; 0: not given */
    const char *check;
    unsigned manifest_form; /* 1: that of llama-gguf-hash */
    bool duplicates;
    bool no_data, values, strict_metadata;
    bool csv;
    const char *isa;
    struct text_list types, mixes;
    uint64_t rounds, floats; /* 0: not given */
};

enum option_kind {
    OPTION_FLAG,   /* sets a bool */
    OPTION_CHOICE, /* one of the words in choices: sets an unsigned, from
                      `first` on */
    OPTION_COUNT,  /* a number from 1 on: sets a uint64_t */
    OPTION_AT_ALL, /* the same; a number below 1 sets 0, as if not given */
    OPTION_SIZE,   /* bytes, as in 64M or 1.5GiB: sets a uint64_t */
    OPTION_TEXT,   /* anything: sets a const char pointer */
    OPTION_LIST    /* anything, several times: adds to a struct text_list */
};

struct option {
    const char *name; /* "--sort"; NULL ends a list.  One without a hyphen is
                         set by the last operand, if all are there */
    enum option_kind kind;
    const char *choices; /* "size|name|offset"; else what to call the value */
    unsigned first;
    size_t place;     /* in struct options */
    const char *help; /* NULL: another name for what help lists already */
};

/* What commands with long work have, and what those that write have. */
#define OPTIONS_LONG                                                           \
    { "--threads",                                                             \
      OPTION_COUNT,                                                            \
      "N",                                                                     \
      0,                                                                       \
      offsetof(struct options, threads),                                       \
      "that share the work; one per processor if not given" },                 \
        { "--max-memory",                                                      \
          OPTION_SIZE,                                                         \
          "SIZE",                                                              \
          0,                                                                   \
          offsetof(struct options, max_memory),                                \
          "of heap; ends with exit code 5 where more is needed" },             \
    {                                                                          \
        "--progress", OPTION_CHOICE, "auto|never|always|json", PROGRESS_AUTO,  \
            offsetof(struct options, progress),                                \
            "on standard error; auto: on a terminal, without --quiet"          \
    }
#define OPTIONS_WRITE                                                          \
    { "--force",                                                               \
      OPTION_FLAG,                                                             \
      NULL,                                                                    \
      0,                                                                       \
      offsetof(struct options, force),                                         \
      "replaces a file that stands there" },                                   \
        { "--dry-run",                                                         \
          OPTION_FLAG,                                                         \
          NULL,                                                                \
          0,                                                                   \
          offsetof(struct options, dry_run),                                   \
          "says what would be written, and its exact size" },                  \
        OPTIONS_LONG

struct run;

struct command {
    const char *name, *sub; /* "tensors", "info"; sub "" where there is none */
    const char *operands;   /* "FILE [PATTERN]" */
    size_t least, most;     /* how many of them */
    const char *summary;
    const char *examples;         /* a line each, ends with a newline */
    const struct option *options; /* beside those that all have */
    void (*execute)(struct run *run);
    /* Tells the sandbox of every file that the operands and options have it
     * write, see sandbox.h.  NULL: it writes none, and cannot. */
    void (*writes)(struct run *run);
};

/* All commands, in the order in which help lists them; ends with name NULL. */
extern const struct command commands[];

/* The first sub-command of a name is what the name alone means. */
const struct command *command_find(const char *name, const char *sub);

/* A command that is running. */
struct run {
    const struct command *command;
    struct options options;
    char **operand;
    size_t operand_count;
    struct mf_env *env;
    struct out out;
    struct mf_json_out json;
    struct sandbox sandbox;
    /* Between report_begin and report_end: an error is a member of the answer.
     */
    bool answering;
    const char *done_to, *done;   /* what was done to which file; or NULL */
    int code;                     /* the worst exit code so far */
    uint64_t size;                /* of all files looked at */
    struct mf_io_stats elsewhere; /* with envs that are gone */
    size_t findings_kept;         /* of each model; 0: as the library likes */
    struct timespec started;
    struct timespec progress_at; /* when it was told last */
    struct timespec progress_begun;
    uint64_t progress_done; /* then */
    size_t progress_width;  /* columns of it on the terminal */
    char remarked[512];     /* of an edit that was cut short */
};

/* ---- args.c ---- */

extern const struct option common_options[];

/* Takes options and operands out of the arguments; false after telling what is
 * wrong. */
bool args_parse(struct run *run, int count, char **arguments);

/* Whether an argument is an option ("-" is a file, "--" ends them), and whether
 * the one behind it is its value, for whichever command has it. */
bool args_is_option(const char *argument);
bool args_takes_next(const char *argument);

/* "; did you mean 'info'?" for a mistyped word: its nearest candidate, or that
 * which begins with it; "" where none is near.  next gives the candidates one
 * by one, then NULL. */
struct args_hint {
    char text[96];
};
struct args_hint args_hint(const char *word, const char *(*next)(void *state),
                           void *state);

/* ---- quantize.c ---- */

/* Puts NULL in the place of an operand that was left out: IN [OUT] TYPE. */
void quantize_operands(struct run *run);

/* ---- report.c ---- */

/* Standard error: "modelfile: ..." and in JSON an error object on standard
 * output; file may be NULL.  Raises run->code. */
void report_usage(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_failure(struct run *run, const char *file);

/* There is no memory for an env, be it for --max-memory. */
void report_start(struct run *run);

/* The answer is no: a sentence on standard error, exit code 1. */
void report_no(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An input of another kind than a model cannot be read. */
void report_input(struct run *run, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* mf_env_resize said no while such a file was read. */
void report_memory(struct run *run, const char *file);

/* An output cannot be written.  In JSON a member of the object that is open. */
void report_output(struct run *run, const char *file, const char *why);

/* A sentence on standard error about what is passed over; no failure. */
void report_remark(struct run *run, const char *path, const char *text);

/* A file was written or changed, which ("was written") stays true where the
 * answer cannot be printed; nothing was with --dry-run. */
void report_done(struct run *run, const char *path, const char *what);

/* A standard stream is closed and nothing can hold its place. */
void report_no_null(struct run *run);

/* A signal ended the wait for whoever reads standard output. */
void report_stopped(struct run *run);

/* The answer cannot be printed: why, and what was done all the same. */
void report_lost(struct run *run);

/* For mf_options; user is the run. */
void report_pending_edit(void *user, const struct mf_pending_edit *edit);

void report_worse(struct run *run, int code);

/* Raised when a member of an answer goes away, or says another thing; not for
 * new ones. */
#define JSON_SCHEMA 1

/* The answer to --json, an object; nothing without that option.  What it has
 * cost is its last member. */
void report_begin(struct run *run);
void report_end(struct run *run);

/* The closing line, or with --stats the table. */
void report_close(struct run *run);

/* ---- progress.c ---- */

/* For mf_options; user is the run. */
bool progress_tell(void *user, const struct mf_progress *progress);

/* Nothing of it is left on the terminal. */
void progress_clear(struct run *run);

/* From now on a signal ends work by way of progress_tell; and where that does
 * not do it soon enough, the program, leaving no temporary file of run->env. */
void progress_catch_signals(struct run *run);

/* What is to be done besides, in a signal handler; NULL: nothing. */
void progress_at_end(void (*act)(void));

/* The one that came, or 0. */
int progress_signal(void);

/* ---- detect.c ---- */

/* What follows a format's name: " v1, version 1.0, big-endian". */
void dialect_text(struct out *out, const char *variant, uint32_t version,
                  uint32_t minor, enum mf_byte_order order);

/* ---- inputs.c ---- */

/* What to open for an operand: "-" is standard input, which must be a file that
 * can be read at any place. */
const char *inputs_path(const char *operand);

/* What to write to for an operand: "-" for standard output by whatever name,
 * also where that is a file.  A file that goes there leaves no room for words;
 * output_fits is false, after report_usage, where JSON should go there, too. */
const char *output_path(const char *operand);
bool output_is_stdout(const char *operand);
bool output_fits(struct run *run, const char *operand);

/* Calls show for every model that the operands name: files, globs, and folders
 * with all that is in them; fail (report_failure, or what reports it in another
 * form) where a folder cannot be read or holds none, with the env's error.  In
 * JSON both are called with an object open, which may be one of an array. */
void inputs_each(struct run *run,
                 void (*show)(struct run *run, const char *path,
                              enum mf_shards shards),
                 void (*fail)(struct run *run, const char *path));

/* The same for commands that take files, models or not: show is called for a
 * folder, too, and says that it is none. */
void inputs_files(struct run *run,
                  void (*show)(struct run *run, const char *path,
                               enum mf_shards shards));

/* The one model of a command that takes a FILE: opens it and calls show. */
void inputs_one(struct run *run, bool metadata_only,
                void (*show)(struct run *run, struct mf_model *model));

/* The same for one that is written anew: any shard stands for all of them, also
 * where only an index or the names of the files say so. */
void inputs_whole(struct run *run,
                  void (*show)(struct run *run, struct mf_model *model));

/* Opens as the options say; NULL after report_failure. */
struct mf_model *inputs_open(struct run *run, const char *path,
                             enum mf_shards shards, bool metadata_only);

/* The same without a word: the error stays with run->env. */
enum mf_status inputs_try(struct run *run, const char *path,
                          enum mf_shards shards, struct mf_model **out);

/* False after report_usage where an operand is no file that can be changed. */
bool inputs_editable(struct run *run, const char *operand);

/* ---- textfile.c ---- */

struct textfile {
    char *text; /* terminated */
    size_t size;
};

/* A whole file of text; "-" is standard input, be it a pipe.  what: "the
 * manifest".  False after report_input. */
bool textfile_read(struct run *run, const char *path, const char *what,
                   struct textfile *out);
void textfile_release(struct run *run, struct textfile *file);

/* ---- json members ---- */

void json_text(struct run *run, const char *key, const char *text);
void json_str(struct run *run, const char *key, struct mf_str text);
void json_hex(struct run *run, struct mf_str text); /* only the value */
void json_number(struct run *run, const char *key, uint64_t number);
void json_double(struct run *run, const char *key, double number);
void json_bool(struct run *run, const char *key, bool value);

/* ---- names.c ---- */

enum named { NAMED_TENSOR, NAMED_KEY };

/* A glob, NULL for all.  The name is terminated. */
bool names_match(const char *pattern, struct mf_str name);

/* report_usage where a model has nothing of that name, or nothing that matches
 * the pattern, with what may be meant. */
void names_missing(struct run *run, const struct mf_model *model,
                   enum named named, const char *name);
void names_unmatched(struct run *run, const struct mf_model *model,
                     enum named named, const char *pattern);

/* report_usage where a file stands in the pattern's place. */
void names_is_file(struct run *run, enum named named, const char *pattern);

/* ---- types.c ---- */

/* False after report_usage with what may be meant: what quantize makes of a
 * model, and what an option makes of a tensor. */
bool types_quantize_known(struct run *run, const char *name);
bool types_tensor_known(struct run *run, const char *option, const char *name);

struct args_hint types_hint(const char *name); /* of a tensor */

/* A word that may be meant for one. */
bool types_is_near(const char *word);

/* ---- tensors.c ---- */

/* "4096 x 32000" in the file's order. */
struct shape_text {
    char at[128];
};
struct shape_text shape_text(const struct mf_tensor *tensor);

/* The member "shape", likewise. */
void shape_json(struct run *run, const struct mf_tensor *tensor);

/* ---- meta.c ---- */

/* "u32", "string[32000]" */
struct type_text {
    char at[48];
};
struct type_text type_text(const struct mf_meta *meta);

/* ---- totals.c ---- */

#define TOTALS_MAX 64

struct total {
    char type[24];
    uint64_t tensors, parameters, bytes;
};

struct totals {
    struct total row[TOTALS_MAX]; /* the last one also takes what is left */
    size_t count;
    struct total all;
};

void totals_add(struct totals *totals, const struct mf_tensor *tensor);
void totals_show(struct run *run, const struct totals *totals);

/* ---- value.c ---- */

/* A metadatum in one line; full: arrays and strings whole. */
void value_text(struct run *run, struct mf_model *model, size_t index,
                bool full);
/* The value itself, nothing around it, for a script or a pager. */
void value_plain(struct run *run, struct mf_model *model, size_t index,
                 bool full);
/* Members of an object: type, value and what belongs to them. */
void value_json(struct run *run, struct mf_model *model, size_t index,
                bool full);
/* Only the value, whole. */
void value_json_whole(struct run *run, struct mf_model *model, size_t index);

/* ---- commands ---- */

void command_detect(struct run *run);
void command_info(struct run *run);
void command_tensors_info(struct run *run);
void command_meta_list(struct run *run);
void command_meta_get(struct run *run);
void command_validate(struct run *run);
void command_tensors_stats(struct run *run);
void command_tensors_export(struct run *run);
void command_meta_set(struct run *run);
void command_meta_recover(struct run *run);
void command_convert(struct run *run);
void command_quantize(struct run *run);
void command_dequantize(struct run *run);
void command_split(struct run *run);
void command_merge(struct run *run);
void command_hash(struct run *run);
void command_diff(struct run *run);
void command_bench(struct run *run);
void command_help(struct run *run);
void command_version(struct run *run);

void writes_edited(struct run *run); /* meta_set.c */
void writes_out(struct run *run);    /* convert.c: the second operand */
void writes_export(struct run *run);
void writes_quantized(struct run *run);
void writes_bench(struct run *run);

extern const struct option info_options[];
extern const struct option tensors_options[];
extern const struct option meta_options[];
extern const struct option validate_options[];
extern const struct option tensors_stats_options[];
extern const struct option tensors_export_options[];
extern const struct option meta_set_options[];
extern const struct option meta_recover_options[];
extern const struct option convert_options[];
extern const struct option quantize_options[];
extern const struct option dequantize_options[];
extern const struct option split_options[];
extern const struct option merge_options[];
extern const struct option hash_options[];
extern const struct option diff_options[];
extern const struct option bench_options[];

/* Help for one command, for `help COMMAND` and `COMMAND --help`. */
void help_command(struct run *run, const struct command *command);

#endif
