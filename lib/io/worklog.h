/* SPDX-License-Identifier: MIT
 *
 * worklog.h - which parts of an output are finished, to resume stopped work
 *
 * Work that may go on after a stop keeps files next to its output, all hidden
 * and readable by their owner only: `.NAME.partial`, the output as far as it
 * is, and a work log, `.NAME.resume`, which says how far that is and of what
 * work.  What was measured before there was an output is in a log of its own,
 * `.NAME.measured`.  A log only grows: a record is appended after each step.
 * A kill leaves at most the last record incomplete, and that one is dropped;
 * whatever else is damaged makes the log useless, and it is refused.
 *
 * Here a record is a kind and some numbers; what they mean is decided in
 * lib/write/resume.c and lib/quantize/type_kept.c.  Not to be confused with the
 * journal of an edit (journal.h), through which readers see a file.
 *
 * The log is locked (flock) as long as it is open: two processes never write
 * the same partial file.
 */
#ifndef MF_LIB_WORKLOG_H
#define MF_LIB_WORKLOG_H

#include "lib/io/system.h"
#include "lib/io/temporary.h"

#define MF_WORKLOG_SUFFIX  ".resume"
#define MF_MEASURED_SUFFIX ".measured"
#define MF_PARTIAL_SUFFIX  ".partial"

/* Room for a row of sums per tensor type. */
#define MF_WORKLOG_WORDS 512

struct mf_work_record {
    uint64_t kind;
    size_t count; /* of words */
    uint64_t word[MF_WORKLOG_WORDS];
};

/* Must not move while it is open. */
struct mf_worklog {
    struct mf_env *env;
    const char *path;              /* of the output, for messages */
    struct mf_temporary temporary; /* the log's folder and name */
    int fd;                        /* -1: not open */
    uint64_t size;                 /* of the file, when it was opened */
    uint64_t at;                   /* end of the records read or written */
    bool kept;                     /* it stays when the work fails */
    bool copied;                   /* rank 0 has it; this is a copy */
    bool named;                    /* its name is on the disk */
    bool of_part;                  /* see shared.h: what refusals say */
};

#define MF_WORKLOG_NONE                                                        \
    {                                                                          \
        .temporary = { .folder = -1 }, .fd = -1                                \
    }

/* Opens the log of that suffix of the output at path, or creates an empty one.
 * restart: what is not a log of ours is removed and not refused.  MF_ERR_OUTPUT
 * where another process has it. */
enum mf_status mf_worklog_open(struct mf_env *env, const char *path,
                               const char *suffix, bool restart,
                               struct mf_worklog *out);

/* After it was opened by rank 0: others get a copy (worklog_ranks.c). */
enum mf_status mf_worklog_for_ranks(struct mf_worklog *log);

/* The same for the log of an attempt at a part, of a new name. */
enum mf_status mf_worklog_create(struct mf_env *env, const char *path,
                                 const char *suffix, struct mf_worklog *out);

/* Opens one to read it, though another process may write it.  *found: false
 * where there is none.
 */
enum mf_status mf_worklog_look(struct mf_env *env, const char *path,
                               const char *suffix, struct mf_worklog *out,
                               bool *found);

/* Whether the output at path has a log of that suffix. */
bool mf_worklog_is_there(struct mf_env *env, const char *path,
                         const char *suffix);

/* Empties the log and makes this its first record.  A failure and
 * mf_env_abandon remove the log, until it is kept. */
enum mf_status mf_worklog_begin(struct mf_worklog *log,
                                const struct mf_work_record *record);

/* Reads the next record.  *found: false at the end, where the last record may
 * be incomplete. */
enum mf_status mf_worklog_read(struct mf_worklog *log,
                               struct mf_work_record *out, bool *found);

/* Appends a record at `at`; what the file has after that is cut off. */
enum mf_status mf_worklog_add(struct mf_worklog *log,
                              const struct mf_work_record *record);

/* Cuts off all records from there on. */
enum mf_status mf_worklog_cut(struct mf_worklog *log, uint64_t at);

/* All records are on the disk after this, and the log's name; from any thread,
 * with its env. */
enum mf_status mf_worklog_flush(struct mf_env *env, struct mf_worklog *log);

/* From here on neither a failure nor mf_env_abandon removes the log, which is
 * so of one that had something in it. */
void mf_worklog_keep(struct mf_worklog *log);

/* Whether the call that failed can succeed next time: not where it was refused,
 * except for want of memory. */
bool mf_work_may_succeed(const struct mf_env *env);

/* The work is complete. */
void mf_worklog_remove(struct mf_worklog *log);

/* Removes the log unless it is kept.  May be called for one that was never
 * opened (MF_WORKLOG_NONE). */
void mf_worklog_close(struct mf_worklog *log);

/* "'path' cannot be resumed: WHAT": what was kept does not fit. */
enum mf_status mf_worklog_refuse(struct mf_env *env, const char *path,
                                 const char *what, ...) MF_PRINTF(3, 4);

/* ".NAME" and a suffix; false where that would be too long. */
bool mf_worklog_name(const char *name, const char *suffix,
                     char out[NAME_MAX + 1]);

/* Why the file, as lstat(2) describes it, cannot be one that we kept, a
 * predicate ("is a symbolic link"); NULL: it can. */
const char *mf_worklog_distrust(const struct stat *status);

#endif
