/* SPDX-License-Identifier: MIT
 *
 * resume_parts.h - what the parts of going on after a stop share
 */
#ifndef MF_LIB_RESUME_PARTS_H
#define MF_LIB_RESUME_PARTS_H

#include "lib/write/resume.h"

/* Of records after the first. */
enum mf_work_kind {
    MF_WORK_DONE = 1, /* output, offset, records on the disk, digests of recoded
                         data and its input, largest value, the sums */
    MF_WORK_NAMING    /* output, inode number of its partial file */
};

bool mf_place_is_before(struct mf_place_done a, struct mf_place_done b);

/* ---- resume_records.c ---- */

/* The log's checksums are right, and what it says cannot be. */
enum mf_status mf_resume_refuse_log(const struct mf_resume *resume);

/* The record that everything up to that place is done. */
void mf_resume_fill(const struct mf_resume *resume, struct mf_place_done place,
                    float largest, struct mf_work_record *out);

/* Nothing is done, and no sums. */
void mf_resume_forget(struct mf_resume *resume);

/* Reads all records after the first: what is done, by the last of them. */
enum mf_status mf_resume_read(struct mf_resume *resume);

/* The next record is the one to be verified. */
enum mf_status mf_resume_next(struct mf_resume *resume);

/* Drops the records from that number on. */
enum mf_status mf_resume_drop(struct mf_resume *resume, uint64_t from);

#endif
