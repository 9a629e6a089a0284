/* SPDX-License-Identifier: MIT
 *
 * tensors.h - the parts of modelfile tensors info
 */
#ifndef MF_CLI_COMMANDS_TENSORS_TENSORS_H
#define MF_CLI_COMMANDS_TENSORS_TENSORS_H

#include "cli/buffer.h"

/* ---- what `tensors info` lists of a table ---- */

/* Which chunks, in which order. */
struct chunk_choice {
    const struct mf_model *model;
    const char *pattern; /* of paths; NULL: all */
    bool sorted, totals; /* by order; only their sums */
    bool tsv;            /* only the chunks, for scripts */
    enum mf_order order;
    uint64_t limit;
};

/* False for a model, which has no chunks. */
bool chunks_show(struct run *run, const struct chunk_choice *choice);

/* ---- histograms of `tensors stats` ---- */

/* What is printed of one, in the text. */
struct histogram_place {
    size_t at, size;
    uint64_t rows, zero_rows, constant_rows;
};

/* Of the tensors that are measured. */
struct histograms {
    struct run *run;
    bool tsv;
    struct mf_tensor_stats *found;
    struct histogram_place *place; /* NULL: only statistics */
    struct buffer text;            /* buffer_release */
    bool failed;                   /* the env has the error */
};

enum mf_status histograms_measure(struct histograms *to, struct mf_model *model,
                                  const size_t *index, size_t count);

/* The lines of one, its columns, or its members.  Nothing without place. */
void histogram_show(const struct histograms *from, size_t number);

/* What the lines mean, for the end of them. */
void histograms_scale(struct run *run);

/* ---- errors of `tensors stats` (errors.c) ---- */

struct errors_options {
    const char *types;   /* a list, or "all"; NULL: no errors are asked for */
    const char *plot;    /* a picture of them; may be NULL */
    const char *imatrix; /* to measure them with; may be NULL */
};

/* False after a report unless the types are known and the picture can be
 * written. */
bool errors_check(struct run *run, const struct errors_options *options);

/* What each tensor that would be quantized is in these types. */
void errors_show(struct run *run, struct mf_model *model,
                 const struct errors_options *options);

/* ---- errors_plot.c ---- */

/* Draws the errors of tensors whose names match; pattern NULL: of all.  False
 * after a report. */
bool errors_plot(struct run *run, struct mf_model *model,
                 const struct mf_type_errors *errors, const char *pattern,
                 const char *path);

/* ---- what the tensors of an archive lie in ---- */

/* Members of the tensor in JSON: its storage, and how it lies there. */
void storage_json(struct run *run, const struct mf_model *model,
                  const struct mf_tensor *tensor);

/* The storages that tensors lie in, each once: a line, or a list in JSON.
 * Nothing where the format has none. */
void storages_show(struct run *run, const struct mf_model *model);

#endif
