/* SPDX-License-Identifier: MIT
 *
 * resume.h - stopped work goes on where it was
 *
 * Pieces are listed in the order of the outputs' bytes, whatever the number of
 * threads, the heap limit or the processor.  So what is done is a place: all
 * bytes of the outputs before it; or, of outputs that are made together, all
 * pieces before one, by its number in the list.  Pieces run in batches
 * (transfer.c); after each one a record with the place that was reached is
 * added to the work log, together with all that the work carries along: the
 * sums of the quantization error, bit for bit, and a digest of the recoded
 * bytes.
 *
 * A later process lists the same pieces.  Those before the place are not moved
 * but verified, on all threads: what was recoded by the digest, what was copied
 * by comparing it with the source again.  Headers and checksums are written
 * again; they are small.
 *
 * What goes on must be the same work: the first record has digests of all that
 * the bytes depend on (resume_print.c), and a difference is named.
 */
#ifndef MF_LIB_RESUME_H
#define MF_LIB_RESUME_H

#include <stdalign.h>
#include <time.h>

#include "lib/io/worklog.h"
#include "lib/write/piece.h"

/* ---- a piece whose bytes were written before a stop is verified ---- */

/* XXH3's state, whose header would be compiled into every file otherwise. */
struct mf_piece_digest {
    alignas(64) uint8_t state[640];
};

void mf_piece_digest_begin(struct mf_piece_digest *digest);
void mf_piece_digest_add(struct mf_piece_digest *digest,
                         const struct mf_isa *isa, const void *bytes,
                         size_t size);
void mf_piece_digest_end(const struct mf_piece_digest *digest, uint64_t out[2]);

/* Makes one digest of those so far and the next. */
void mf_piece_digest_join(uint64_t all[2], const uint64_t digest[2]);

/* Bytes of the new file that the piece is. */
uint64_t mf_piece_written(const struct mf_piece *piece);

/* Adds rows of the source, as mf_piece_read_rows has read them; first: those
 * that the piece begins with. */
void mf_piece_digest_input(struct mf_piece_digest *digest,
                           const struct mf_piece *piece, const uint8_t *buffer,
                           bool first, size_t size);

/* In a worker's thread: sets piece->digest, of the bytes that the target has.
 */
enum mf_status mf_piece_digest_written(struct mf_worker *worker,
                                       struct mf_piece *piece);

/* In a worker's thread: sets piece->differs where the target has other bytes.
 */
enum mf_status mf_piece_compare(struct mf_worker *worker,
                                struct mf_piece *piece, uint64_t to,
                                const uint8_t *bytes, size_t size);

/* In a worker's thread: whether the target has what was written.  Sets
 * piece->differs, or of a piece that is recoded piece->digest. */
enum mf_status mf_piece_verify(struct mf_worker *worker,
                               struct mf_piece *piece);

/* ---- what the work is: resume_print.c ---- */

/* Fails where an output is a pipe, which cannot go on, or a device. */
enum mf_status mf_resume_check_files(const struct mf_outputs *outputs);

/* The first record of a log: what the work is. */
enum mf_status mf_resume_describe(const struct mf_outputs *outputs,
                                  bool replace, struct mf_work_record *out);

/* Reads the first record of the log, and refuses one that is of other work.
 * *found: false where it is incomplete, and the work had not begun. */
enum mf_status mf_resume_same(struct mf_worklog *log,
                              const struct mf_work_record *now,
                              struct mf_work_record *begun, bool *found);

/* What differs between the work that was begun and this one, a sentence; NULL:
 * nothing that must be the same. */
const char *mf_resume_difference(const struct mf_work_record *begun,
                                 const struct mf_work_record *now,
                                 char room[static 128]);

/* Whether the work that was begun may replace files, and which they were.
 * naming: the outputs were about to get their names. */
bool mf_resume_replaces(const struct mf_work_record *begun,
                        const struct mf_work_record *now, bool naming);

/* Of the first record only which files the outputs replace, as they are now. */
enum mf_status mf_resume_describe_old(const struct mf_outputs *outputs,
                                      struct mf_work_record *out);

/* Whether both were begun with the same leave to replace files. */
bool mf_resume_same_leave(const struct mf_work_record *a,
                          const struct mf_work_record *b);

/* Whether an input was touched since, though not by its time of writing. */
bool mf_resume_touched(const struct mf_work_record *begun,
                       const struct mf_work_record *now);

/* ---- sums of the quantization error in a record: resume_records.c ---- */

/* Appends those of all types that were measured. */
void mf_work_put_sums(const struct mf_deviation *sums,
                      struct mf_work_record *record);

/* Adds those of the words from `at` on; false where they are not sums. */
bool mf_work_add_sums(const struct mf_work_record *record, size_t at,
                      struct mf_deviation *sums);

/* ---- the work ---- */

/* A place in the outputs: all outputs before that one, and all its bytes before
 * `to`; or, where outputs are made together, all pieces before number `to`. */
struct mf_place_done {
    size_t output;
    uint64_t to;
};

/* Must not move while it is open. */
struct mf_resume {
    struct mf_outputs *outputs;
    struct mf_worklog log;
    bool going_on;    /* work was kept */
    bool restart;     /* what was kept is discarded */
    bool may_replace; /* outputs that exist */
    bool touched;     /* inputs were, since the work was begun: what is kept is
                         compared with them */
    bool again;       /* verifying found records to drop: list the pieces again
                       */
    atomic_bool flush_failed, flush_succeeded;
    uint64_t first;  /* offset in the log of the records after the first */
    uint64_t cursor; /* of the record that is verified next */
    uint64_t records, verified;
    uint64_t on_disk;  /* so many records and what they are about are there */
    uint64_t flushing; /* so many will be, after the flush */
    struct mf_place_done done;    /* kept, of the work before */
    struct mf_place_done next;    /* end of the record that is verified */
    uint64_t next_digest[2];      /* of that record */
    uint64_t next_input[2];       /* and of what it was made of */
    uint64_t digest[2];           /* of all recoded pieces so far */
    uint64_t input[2];            /* and of what they were made of */
    float largest;                /* of the tensor that is quantized */
    uint64_t batch_in, batch_out; /* bytes of the pieces that wait */
    size_t flushed;               /* outputs before this one are on the disk */
    size_t reached;               /* the output of the last record */
    struct timespec flush_time;
    uint64_t *inode; /* of each output that was about to get its name, else 0 */
};

/* Opens the work log of the outputs and compares it with the work.  replace:
 * starts again from the beginning. */
enum mf_status mf_resume_open(struct mf_resume *resume,
                              struct mf_outputs *outputs, bool replace);

/* Opens the target of an output, or of the index.json. */
enum mf_status mf_resume_target(struct mf_resume *resume, size_t number);
enum mf_status mf_resume_index(struct mf_resume *resume, uint64_t size);

/* ---- while pieces are listed ---- */

/* The largest piece whose bytes are copied, or written: small batches are
 * shared by all threads. */
#define MF_RESUME_PIECE ((size_t)1024 * 1024)

/* Whether the piece is kept: then it is only verified. */
enum mf_status mf_resume_place(const struct mf_resume *resume,
                               struct mf_piece *piece);

/* The piece was added to the batch, which is to run now if this is true. */
bool mf_resume_added(struct mf_resume *resume, const struct mf_piece *piece);

/* The scale before a tensor, which the piece would be: kept, and verified with
 * the record, or `size` bytes that were just written. */
enum mf_status mf_resume_scale(struct mf_resume *resume,
                               const struct mf_piece *piece, const void *bytes,
                               size_t size);

/* All pieces of the batch are done, and their sums are added. */
enum mf_status mf_resume_ran(struct mf_resume *resume,
                             const struct mf_piece *piece, size_t count,
                             float largest);

/* All is done, and an input was touched: next, all pieces are listed again, and
 * compared with it. */
enum mf_status mf_resume_recheck(struct mf_resume *resume);

/* No more pieces.  Everything that was kept must have been verified. */
enum mf_status mf_resume_listed(struct mf_resume *resume);

/* Whether pieces must be listed again from the first: records after which the
 * power failed were dropped.  Forgets the error. */
bool mf_resume_again(struct mf_resume *resume);

/* ---- onto the disk ---- */

/* Whether it is time for mf_resume_flush, which may run in any thread while
 * pieces are moved; and what follows when it has returned. */
bool mf_resume_flush_due(struct mf_resume *resume);
enum mf_status mf_resume_flush(struct mf_resume *resume, struct mf_env *env);
void mf_resume_flushed(struct mf_resume *resume);

/* A file could not be synced: what was written since the last time it could may
 * be lost, and is not kept. */
void mf_resume_lost(struct mf_resume *resume);

/* The outputs are about to get their names. */
enum mf_status mf_resume_naming(struct mf_resume *resume);

/* After the end: removes the log, or says that the work is kept. */
void mf_resume_close(struct mf_resume *resume, enum mf_status status);

#endif
