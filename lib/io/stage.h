/* SPDX-License-Identifier: MIT
 *
 * stage.h - a folder of files that is renamed once complete
 *
 * Files are written into a folder with a temporary name, next to the place of
 * the result, and that is renamed once all of them are on the disk.
 * Until then, and after an error or a signal, the path leads to nothing, or to
 * the empty folder that was there before.
 */
#ifndef MF_LIB_STAGE_H
#define MF_LIB_STAGE_H

#include "lib/io/sink.h"
#include "lib/io/temporary.h"

/* Must not move while it is open. */
struct mf_stage {
    struct mf_env *env;
    struct mf_arena arena;
    const char *path;   /* as the caller named it, without slashes at its end */
    const char *inside; /* path of the temporary folder, with a slash */
    int parent, fd;     /* -1: not open */
    struct mf_temporary temporary; /* the folder */
    struct mf_stage_name *first;   /* of files in it */
};

/* Creates the temporary folder.  What is at the path must be nothing, or an
 * empty folder. */
enum mf_status mf_stage_begin(struct mf_env *env, const char *path,
                              struct mf_stage *out);

/* Creates a folder in it, for files called FOLDER/NAME. */
enum mf_status mf_stage_folder(struct mf_stage *stage, const char *name);

/* The path of a file in the temporary folder, which will be removed with it
 * wherever it comes from; NULL after mf_fail. */
const char *mf_stage_expect(struct mf_stage *stage, const char *name);

/* A file that is being written. */
struct mf_stage_file {
    struct mf_stage *stage;
    const char *name; /* in the folder's arena */
    int fd;
    struct mf_sink sink;
};

/* Creates the file, to be written to out->sink, from the first byte to the
 * last.  Must be closed even after a failure. */
enum mf_status mf_stage_open(struct mf_stage *stage, const char *name,
                             struct mf_stage_file *out);

/* Returns status or, where that is MF_OK, whether all bytes were written and
 * are on the disk. */
enum mf_status mf_stage_close(struct mf_stage_file *file,
                              enum mf_status status);

/* Gives the folder its name. */
enum mf_status mf_stage_commit(struct mf_stage *stage);

/* Removes what was written.  May follow any of the above, also on a folder
 * that was never begun (MF_STAGE_NONE), and does nothing after a commit but
 * to release memory. */
void mf_stage_abort(struct mf_stage *stage);

#define MF_STAGE_NONE                                                          \
    {                                                                          \
        .parent = -1, .fd = -1                                                 \
    }

#endif
