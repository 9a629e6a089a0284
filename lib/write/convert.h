/* SPDX-License-Identifier: MIT
 *
 * convert.h - from a model and a few wishes to files that are written
 *
 * In three steps: output_plan.c says what goes into which file, output.c brings
 * the files about, transfer.c moves the tensors' bytes.
 */
#ifndef MF_LIB_CONVERT_H
#define MF_LIB_CONVERT_H

#include "lib/base/parallel.h"
#include "lib/codec/recode.h"
#include "lib/draft/carry.h"
#include "lib/hub/rename.h"
#include "lib/io/target.h"
#include "lib/model/model.h"

/* One file that is written. */
struct mf_output {
    const char *path;
    struct mf_draft draft;
    struct mf_target target;
};

/* How much each column of a tensor matters, for encoders that want to know. */
struct mf_weights {
    /* count numbers of the tensor of that name; *found false where there are
     * none.  NULL: of no tensor. */
    enum mf_status (*read)(void *user, struct mf_str name, float *out,
                           size_t count, bool *found);
    void *user;
};

/* All files of a conversion. */
struct mf_outputs {
    struct mf_env *env;
    struct mf_model *model;
    struct mf_arena arena;
    struct mf_output *output;
    size_t count;
    bool verbatim;    /* one file, byte for byte that of the model */
    bool finite_only; /* numbers that are infinite or NaN are refused */
    /* The model's own and only file, which an edit replaces; NULL: any but
     * those that are read. */
    const struct stat *replaces;
    struct mf_renaming renaming;
    /* A file beside them that lists them, or path NULL. */
    char *index_path;
    struct mf_target index;
    size_t left_out;                 /* metadata that could not be carried */
    bool deletes;                    /* what is read will be removed */
    const struct mf_source *imatrix; /* read as well, or NULL */
    struct mf_weights weights;
    /* What recoding did to the numbers, by the type that they have now; NULL:
     * not asked. */
    struct mf_deviation *deviation;
};

/* Lists tensors of the model, under other names where there is a renaming. */
enum mf_status mf_draft_list_tensors(struct mf_draft *draft,
                                     const struct mf_model *model,
                                     const struct mf_renaming *renaming,
                                     size_t first, size_t count);

/* The format that a file is to have: that of a name, else (NULL) what the
 * path's suffix says, else the model's.  NULL after mf_fail. */
const struct mf_format *mf_output_format(struct mf_model *model,
                                         const char *path, const char *name);

/* No files yet; then as many as that, with their paths and empty drafts. */
void mf_outputs_init(struct mf_outputs *outputs, struct mf_model *model);
enum mf_status mf_outputs_make(struct mf_outputs *outputs,
                               const struct mf_format *format, const char *path,
                               size_t count, bool shards);

/* Says what goes where, all offsets fixed; nothing is written yet. */
enum mf_status mf_outputs_plan(struct mf_model *model, const char *path,
                               const struct mf_convert_options *options,
                               struct mf_outputs *out);
void mf_outputs_release(struct mf_outputs *outputs);

/* Bytes of tensors that are read. */
uint64_t mf_outputs_work(const struct mf_outputs *outputs);

/* Bytes of buffer that a thread needs at least; fails where a tensor cannot
 * become what it is to be. */
enum mf_status mf_outputs_buffer_need(const struct mf_outputs *outputs,
                                      size_t *out);

/* The tensors' bytes into the open targets, on all threads. */
enum mf_status mf_outputs_transfer(struct mf_outputs *outputs,
                                   struct mf_crew *crew);

/* MF_ERR_OUTPUT where one of them is a file that is read, or two are links to
 * one file, in output_guard.c. */
enum mf_status mf_outputs_guard_inputs(const struct mf_outputs *outputs);

/* Removes what was read, once all is in its place: the model's files and the
 * list of them. */
enum mf_status mf_outputs_delete_inputs(const struct mf_outputs *outputs);

/* Writes them all; nothing stands at any path before all is on the disk. */
enum mf_status mf_outputs_write(struct mf_outputs *outputs, bool replace);

/* Before a file with a checksum becomes another one with a checksum: whether it
 * fits its bytes, so that damage stays known.  Reads them all. */
enum mf_status mf_outputs_check_footers(const struct mf_outputs *outputs,
                                        struct mf_crew *crew);

/* Header, padding and checksum of one that is open. */
enum mf_status mf_output_write_header(struct mf_output *output);
enum mf_status mf_output_write_footer(struct mf_output *output,
                                      struct mf_crew *crew);

#endif
