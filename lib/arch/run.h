/* SPDX-License-Identifier: MIT
 *
 * run.h - an architecture's rows while they are run
 */
#ifndef MF_LIB_ARCH_RUN_H
#define MF_LIB_ARCH_RUN_H

#include <string.h>

#include "lib/arch/arch.h"
#include "lib/rows/rows.h"

/* The paragraph of an architecture or of a group; NULL: there is none. */
static inline const struct mf_rows_part *mf_arch_find(bool is_arch,
                                                      struct mf_str name)
{
    return mf_rows_find(&mf_loader_rows, is_arch ? MF_ROWS_arch : MF_ROWS_group,
                        name);
}

/* What an expression gives.  Unknown: it depends on metadata that the file
 * lacks, on a division by zero or on a number above INT64_MAX. */
struct mf_arch_number {
    bool known;
    int64_t value;
};

/* What is wrong with a key. */
enum mf_arch_fault {
    MF_ARCH_SOUND,
    MF_ARCH_TYPE, /* another one; of a negative number its value is kept */
    MF_ARCH_COUNT,
    MF_ARCH_MISSING /* and required; only in GGUF */
};

/* A metadata key that a row has read. */
struct mf_arch_key {
    struct mf_str name; /* in the rows */
    bool present;       /* and of the right type */
    struct mf_arch_number number;
    const int64_t *each; /* elements of an array; NULL: not an array, or one
                            whose elements are of no interest */
    uint64_t count;      /* elements of the array */
    struct mf_str text;  /* of a string */
    uint64_t offset;     /* of the value in the file */
    enum mf_arch_fault fault;
};

struct mf_arch_let {
    struct mf_str name;
    struct mf_code expression;
    bool fixed; /* the value is given, and stays */
    bool open;  /* it is computed */
    /* Its last value, and for what it holds: the current block, or all of them,
     * and the keys that had been read.  Without it lengths that are made of
     * others are computed again for each row. */
    struct mf_arch_number value;
    bool varies; /* from block to block */
    uint64_t block;
    size_t key_count; /* 0: no value */
};

/* A tensor that is missing; one for all blocks. */
struct mf_arch_missing {
    struct mf_str pattern;
    uint64_t first, count;
};

#define MF_ARCH_MISSING_MAX 96

struct mf_arch_run {
    struct mf_model *model;
    struct mf_index *index;
    struct mf_str name; /* of the architecture */
    bool whole;         /* all tensors must be there */
    bool foreign;       /* not GGUF: other keys, and names of names.def */
    bool quiet;         /* for numbers: only keys are read, nothing is noted */
    bool known;         /* there are rows for the architecture */
    bool overflowed;    /* a number did not fit; only set */
    const struct mf_arch_key *culprit; /* the first that a number lacked */
    struct mf_arena arena;             /* of arrays, if quiet */
    struct mf_model
        *keys;          /* of another format, its metadata in GGUF; or NULL */
    mf_arch_take *take; /* gets the tensors of rows, which are not checked */
    void *take_user;
    enum mf_severity severity; /* of findings */
    bool stopped;   /* a fault that ends loading: no row is run any more */
    bool unsure;    /* a row was skipped for want of metadata */
    uint64_t block; /* its number replaces "*" */
    bool varies;    /* the number that is computed depends on it; only set */
    const struct mf_frame *frame; /* of the group that is run */
    /* The length of a tensor that a row names: for graphs. */
    struct mf_arch_number (*length)(void *user, struct mf_code_word name,
                                    unsigned dimension);
    void *length_user;
    enum mf_status status;
    uint8_t *used; /* for each tensor: a row names it */
    size_t used_count;
    size_t key_count, let_count, missing_count;
    struct mf_arch_key key[MF_ARCH_KEYS_MAX];
    struct mf_arch_missing missing[MF_ARCH_MISSING_MAX];
    size_t let_room;
    struct mf_arch_let let[];
};

/* ---- rows (run.c) ---- */

/* A run with room for so many `let` rows, and for marks of so many tensors.
 * NULL after mf_fail. */
struct mf_arch_run *mf_arch_run_new(struct mf_model *model, size_t let_room,
                                    size_t used_count);
void mf_arch_run_free(struct mf_arch_run *run);

/* Collects the `let` rows of a paragraph and those that it uses, and returns
 * how many they are; run NULL: only counts.  Those that come first hide later
 * ones. */
size_t mf_arch_lets(struct mf_arch_run *run, const struct mf_rows_part *part);
void mf_arch_add_let(struct mf_arch_run *run, struct mf_str name,
                     struct mf_code expression);

void mf_arch_run_part(struct mf_arch_run *run, const struct mf_rows_part *part);

/* ---- expressions (expression.c) ---- */

/* Takes an expression, and gives its value. */
struct mf_arch_number mf_arch_take_number(struct mf_arch_run *run,
                                          struct mf_code *code);
struct mf_arch_number mf_arch_number_of(struct mf_arch_run *run,
                                        struct mf_code code);

/* What an operator with two operands gives (operators.c). */
struct mf_arch_number mf_arch_apply(struct mf_arch_run *run,
                                    enum mf_code_kind kind,
                                    struct mf_arch_number a,
                                    struct mf_arch_number b);

/* ---- names in expressions (name.c) ---- */

struct mf_arch_number mf_arch_name_value(struct mf_arch_run *run,
                                         struct mf_str name);

/* The value of the group's argument for a parameter, from 1 on. */
struct mf_arch_number mf_arch_argument(struct mf_arch_run *run,
                                       unsigned parameter);

/* Takes a pattern, in which arguments stand for parameters.  out: where it is
 * put together. */
#define MF_ARCH_PATTERN_MAX 256
struct mf_str mf_arch_pattern(const struct mf_arch_run *run,
                              struct mf_code *code,
                              char out[MF_ARCH_PATTERN_MAX]);

/* Reports that an expression is not true, with the values of the keys and
 * names in it. */
void mf_arch_note_need(struct mf_arch_run *run, struct mf_str text,
                       struct mf_code expression);

/* ---- metadata (keys.c) ---- */

/* The name of a key in the file. */
struct mf_arch_full_key {
    char text[320];
    size_t size;
};
/* Whether the key is called so in the file, without the architecture's name. */
bool mf_arch_is_whole_key(struct mf_str name);

struct mf_arch_full_key mf_arch_full_key(const struct mf_arch_run *run,
                                         struct mf_str name);

/* Runs a row "key TYPE NAME". */
void mf_arch_read_key(struct mf_arch_run *run, struct mf_code row);

/* The key that a row has read; NULL if none has. */
const struct mf_arch_key *mf_arch_key_of(const struct mf_arch_run *run,
                                         struct mf_str name);

/* ---- tensors (tensors.c) ---- */

/* The tensor of that name, with the current block for "*"; NULL if it is
 * missing. */
const struct mf_record *mf_arch_tensor(const struct mf_arch_run *run,
                                       struct mf_str pattern);

/* Runs a row "tensor NAME DIMENSIONS". */
void mf_arch_check_tensor(struct mf_arch_run *run, struct mf_code row,
                          bool optional);

/* Whether a model of another format has nothing that its architecture has: no
 * block, no embedding.  Then a note says so, and there is nothing to check. */
bool mf_arch_is_other(struct mf_arch_run *run);

/* Reports tensors that are missing, and those that no row names. */
void mf_arch_report_tensors(struct mf_arch_run *run);

#endif
