/* SPDX-License-Identifier: MIT
 *
 * part.h - outputs are written in parts, by processes that know of each other
 * only by files
 *
 * Every part lists all pieces of the outputs, as work that can be resumed does:
 * they are the same whatever the number of threads, the heap limit, the
 * processor and the number of parts.  The places of the outputs are cut into
 * units, a piece belongs to the unit in which it begins, and a part moves the
 * pieces of its units, which are neighbours.  They go into the common partial
 * file (lib/io/shared.h).
 *
 * Each attempt at a part has a log.  It begins with what the work is, as the
 * log of work that can be resumed (resume.h), and what its files are; then
 * there is a record for each unit whose bytes are on the disk: where they are
 * and their digest.  A later attempt leaves those units out.  It does not
 * verify them: the end (finish.c) reads all bytes of all units once in any
 * case, from the file, and a unit that is not what its
 * record says has its part run again.  To read them in each attempt as well
 * would find nothing more.
 *
 * The end needs the logs only, no input and no plan.
 */
#ifndef MF_LIB_PART_H
#define MF_LIB_PART_H

#include <time.h>

#include "lib/io/shared.h"
#include "lib/io/worklog.h"
#include "lib/write/transfer.h"

/* ---- where units are ---- */

/* An output, or the index.json, which comes last. */
struct mf_part_file {
    const char *path;
    uint64_t size;
    uint64_t filled; /* so many bytes are in units: without the checksum at the
                        end of the file, which the end makes */
    uint64_t first;  /* number of its first unit */
    bool is_index;
};

struct mf_part_plan {
    struct mf_part_file *file;
    size_t files;
    uint64_t unit; /* bytes */
    uint64_t units;
    uint32_t parts;
};

/* Sets `first` of the files and the number of units; false where the sizes
 * cannot be. */
bool mf_part_lay_out(struct mf_part_plan *plan);

/* The unit of a byte of a file. */
uint64_t mf_part_unit(const struct mf_part_plan *plan, size_t file,
                      uint64_t at);

/* The first unit of a part; of parts + 1: the number of all units. */
uint64_t mf_part_first(const struct mf_part_plan *plan, uint32_t part);

/* The digest of a target's bytes, on all threads.  is_work: they count as bytes
 * read, and as progress. */
enum mf_status mf_part_digest(struct mf_crew *crew,
                              const struct mf_target *target, uint64_t from,
                              uint64_t to, bool is_work, uint64_t out[2]);

/* ---- logs: part_logs.c ---- */

/* Bytes of a unit. */
struct mf_part_unit {
    size_t file;
    uint64_t from, to, digest[2];
};

/* The log of one attempt, that is read or written. */
struct mf_part_log {
    struct mf_worklog log;
    struct mf_work_record head;
    char suffix[64]; /* of its name */
    uint32_t part, parts;
    uint64_t unit;
    size_t files, outputs; /* these are without the index.json */
};

enum mf_part_record {
    MF_PART_FILE = 1, /* size, filled, is_index, name */
    MF_PART_UNIT,     /* file, from, to, digest, sums */
    MF_PART_DONE      /* all units of the part are in some log */
};

/* Appends part, parts, unit and numbers of files to what the work is. */
void mf_part_fill_head(struct mf_part_log *log,
                       const struct mf_part_plan *plan);

/* Creates the log of the outputs at path, with its head and its files. */
enum mf_status mf_part_begin(struct mf_env *env, const char *path,
                             const struct mf_part_plan *plan,
                             struct mf_part_log *log);

void mf_part_put_unit(const struct mf_part_unit *unit,
                      struct mf_work_record *out);

/* What a record says, checked against the plan and the part; false where that
 * cannot be.  *sums: where those begin. */
bool mf_part_take_unit(const struct mf_part_plan *plan, uint32_t part,
                       const struct mf_work_record *record,
                       struct mf_part_unit *out, size_t *sums);

/* Reads the files of a log whose head was read; texts go to the arena.  *found:
 * false where they are incomplete. */
enum mf_status mf_part_take_files(struct mf_part_log *log,
                                  struct mf_arena *arena,
                                  struct mf_part_plan *out, bool *found);

/* The next record after the files. */
enum mf_status mf_part_next(struct mf_part_log *log, struct mf_work_record *out,
                            bool *found);

/* "the parts of 'path' cannot be joined: its log WHAT". */
enum mf_status mf_part_refuse_log(const struct mf_part_log *log,
                                  const char *what);

/* Fails where the log is of other work, named by its head. */
enum mf_status mf_part_same(const struct mf_part_log *log,
                            const struct mf_part_log *begun);

/* Of all logs of the outputs at path, those with a whole head, in any order:
 * each gets them one after the other, until it fails or sets *stop. */
typedef enum mf_status mf_part_each(void *user, struct mf_part_log *log,
                                    bool *stop);
enum mf_status mf_part_logs(struct mf_env *env, const char *path,
                            mf_part_each *each, void *user);

/* Removes the logs of parts whose number is true in `of`; NULL: of all. */
enum mf_status mf_part_remove_logs(struct mf_env *env, const char *path,
                                   const bool *of);

/* ---- an attempt: part.c ---- */

/* Records that wait for their bytes to be on the disk. */
#define MF_PART_WAITING 16

/* Must not move while it is open. */
struct mf_attempt {
    struct mf_outputs *outputs;
    struct mf_arena arena;
    struct mf_part_plan plan;
    struct mf_part_log log;
    uint64_t first, end; /* its units */
    bool *done;          /* those that a log has; the first is unit `first` */
    bool is_open;        /* a unit is being filled: */
    uint64_t unit;
    struct mf_part_unit place;
    struct mf_work_record *waiting;       /* MF_PART_WAITING of them */
    size_t waiting_file[MF_PART_WAITING]; /* that they are about */
    size_t count;
    struct timespec written; /* when records were, last */
    bool compared;           /* with the log of another attempt */
};

/* Opens everything, compares the work with what other parts do, and reads what
 * is done. */
enum mf_status mf_part_open(struct mf_attempt *attempt,
                            struct mf_outputs *outputs, bool replace);

/* Moves all that is not done, and makes records of it. */
enum mf_status mf_part_move(struct mf_attempt *attempt, struct mf_crew *crew);

void mf_part_close(struct mf_attempt *attempt);

/* ---- while pieces are listed ---- */

/* The largest piece that is copied. */
size_t mf_part_piece(const struct mf_attempt *attempt);

/* Whether some of a tensor will be written: of all that is written at once,
 * all is. */
bool mf_part_wants(const struct mf_outputs *outputs,
                   const struct mf_output *output,
                   const struct mf_draft_tensor *tensor);

/* Comes before each piece in the order of the outputs.  *taken: it will be
 * written, or measured. */
enum mf_status mf_part_place(struct mf_transfer *transfer,
                             const struct mf_piece *piece, bool *taken);

/* Whether the piece is in the unit that is being filled. */
bool mf_part_continues(const struct mf_transfer *transfer,
                       const struct mf_piece *piece);

/* The unit that is being filled now ends there. */
void mf_part_added(const struct mf_transfer *transfer, uint64_t to);

/* The header of an output, before its pieces. */
enum mf_status mf_part_header(struct mf_transfer *transfer,
                              struct mf_output *output);

/* The index.json, after all pieces; and that there are no more. */
enum mf_status mf_part_listed(struct mf_transfer *transfer);

#endif
