/* SPDX-License-Identifier: MIT
 *
 * recorded.h - between the files that read what a run has recorded
 *
 * A record may come from a stranger, and have anything in it.  What is kept has
 * bounds that do not depend on the files, which are gone over once and never
 * in memory as a whole; and all of a file is checked before anything of it is
 * written.
 */
#ifndef MF_LIB_RECORDED_H
#define MF_LIB_RECORDED_H

#include "lib/io/reader.h"
#include "lib/json/tree.h"
#include "lib/report/put.h"

struct mf_recorded {
    struct mf_env *env;
    const struct mf_report_options *options;
    struct mf_json_out *json;
    struct mf_arena arena; /* of what is kept until it is written */
};

/* ---- a folder ---- */

/* What does not fit; further problems are counted only. */
#define MF_PROBLEMS 100

struct mf_problems {
    size_t count;
    bool has_sums; /* there is a SHA256SUMS */
    const char *text[MF_PROBLEMS];
};

void mf_problem(struct mf_recorded *recorded, struct mf_problems *problems,
                const char *format, ...) MF_PRINTF(3, 4);

/* The files of a record that are read. */
enum mf_record_file {
    MF_RECORD_RUN,
    MF_RECORD_MEMORY,
    MF_RECORD_LATENCY,
    MF_RECORD_RESULTS,
    MF_RECORD_FILES
};

extern const char *const mf_record_files[MF_RECORD_FILES];

/* MF_OK with *found false where there is no such file; the error that is set,
 * if one is: of a problem for which there was no memory.  name: below the
 * folder that the options name. */
enum mf_status mf_record_open(struct mf_recorded *recorded, const char *name,
                              struct mf_source *out, bool *found);

/* Compares the folder with its SHA256SUMS: listed says which of the files above
 * it names. */
enum mf_status mf_record_check(struct mf_recorded *recorded,
                               struct mf_problems *problems,
                               bool listed[MF_RECORD_FILES]);

enum mf_status mf_recorded_folder(struct mf_recorded *recorded);

/* ---- tables ---- */

/* Samples are in at most that many buckets, each of which has `every` of them:
 * even, since two become one. */
#define MF_POINTS ((size_t)2048)

struct mf_series {
    size_t columns;
    uint64_t samples, every;
    size_t points;
    uint64_t *value[5]; /* of each column: in the first one the first of each
                           bucket, in the others the largest */
};

/* The settings of results.csv that are kept; further ones are counted only. */
#define MF_RESULTS ((size_t)1000)

struct mf_results {
    uint64_t count;
    size_t kept;
    struct mf_str setting[MF_RESULTS];
    double value[MF_RESULTS][6]; /* NaN: it is missing */
};

/* The table of that file: names of columns until NULL. */
extern const char *const mf_memory_columns[], *const mf_latency_columns[],
                                                  *const mf_results_columns[];

/* *cut: the file ends within a line, which does not count. */
enum mf_status mf_series_read(struct mf_recorded *recorded,
                              const struct mf_source *source,
                              const char *const *columns, struct mf_series *out,
                              bool *cut);
enum mf_status mf_results_read(struct mf_recorded *recorded,
                               const struct mf_source *source,
                               struct mf_results *out, bool *cut);

/* ---- documents ---- */

/* run.json of a folder. */
enum mf_status mf_run_read(struct mf_recorded *recorded,
                           const struct mf_source *source,
                           const struct mf_node **out);
void mf_run_write(struct mf_recorded *recorded, const struct mf_node *run);

/* A heap profile, or what a command printed. */
enum mf_status mf_recorded_document(struct mf_recorded *recorded,
                                    const struct mf_source *source);

/* The value "run" of what a command printed. */
void mf_answer_write(struct mf_recorded *recorded, const struct mf_node *run);

/* ---- heap profiles ---- */

struct mf_sites; /* of a profile */

/* NULL, with the error set, without memory. */
struct mf_sites *mf_sites_new(struct mf_recorded *recorded);

/* The value of "pps", whose first token was `first`. */
enum mf_status mf_sites_read(struct mf_sites *sites, struct mf_json *json,
                             enum mf_json_token first);

/* Whether the table of frames, which has `count` of them, has all that the
 * sites name. */
enum mf_status mf_sites_check(const struct mf_sites *sites, uint64_t count);

/* frames: the reader is before the table of frames, and ends after it. */
enum mf_status mf_sites_write(struct mf_sites *sites, struct mf_reader *frames);

/* The text of a frame as a string: without its address, and without folders
 * unless paths are wanted.  cut: it is the beginning of a longer one. */
void mf_frame_write(struct mf_recorded *recorded, struct mf_str text, bool cut);

/* An integer of a document; what: its key. */
enum mf_status mf_take_number(struct mf_json *json, enum mf_json_token token,
                              const char *what, uint64_t *out);

#endif
