/* SPDX-License-Identifier: MIT
 *
 * finish.h - what parts wrote gets its name: what is shared by its two files
 */
#ifndef MF_LIB_FINISH_H
#define MF_LIB_FINISH_H

#include "lib/write/part.h"

/* A unit that a log has. */
struct mf_found_unit {
    struct mf_part_unit place; /* `to` 0: no log has it */
    const uint64_t *sums;      /* words of its record, or NULL */
    size_t sum_count;
};

/* What is known of a part. */
struct mf_found_part {
    bool begun, done, at_work, unsound;
    uint64_t units, bytes;
};

struct mf_finish {
    struct mf_env *env;
    const char *path;
    struct mf_finish_options options;
    struct mf_finish_result *result;
    struct mf_arena arena;
    struct mf_part_log first; /* with which all other logs are compared */
    bool found;               /* it was */
    struct mf_part_plan plan;
    struct mf_found_part *part; /* the first is number 0 */
    struct mf_found_unit *unit; /* by their numbers */
    size_t unit_count;          /* of the allocation */
    size_t unsound;             /* parts that are */
    struct mf_deviation sums[MF_TYPE_COUNT];
};

/* Reads all logs: what is there of each part.  May be called again. */
enum mf_status mf_finish_read(struct mf_finish *finish);

/* Notes parts of which a place is in no record. */
enum mf_status mf_finish_cover(struct mf_finish *finish);

/* Notes parts whose bytes in the targets are not what their records say. */
enum mf_status mf_finish_verify(struct mf_finish *finish,
                                const struct mf_target *const *target,
                                struct mf_crew *crew);

/* Fails where parts have not finished, or are not sound, with their numbers. */
enum mf_status mf_finish_check_parts(struct mf_finish *finish);

/* Adds the sums of all units, in their order. */
void mf_finish_add_sums(struct mf_finish *finish);

#endif
