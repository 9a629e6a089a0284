/* SPDX-License-Identifier: MIT
 *
 * writer.h - a file that a program makes: how far it is
 */
#ifndef MF_LIB_WRITER_H
#define MF_LIB_WRITER_H

#include <stdatomic.h>

#include "lib/write/convert.h"

enum mf_writer_stage {
    MF_WRITER_LISTING,
    MF_WRITER_PLANNED, /* nothing can be listed any more */
    MF_WRITER_OPEN,
    MF_WRITER_DONE,
    MF_WRITER_FAILED
};

/* The bytes of a tensor that were given: how many, and what their pieces' edges
 * add up to, see writer.c. */
struct mf_given {
    atomic_uint_fast64_t bytes, edges;
};

struct mf_writer {
    struct mf_env *env;
    struct mf_output output;
    enum mf_writer_stage stage;
    bool replace;
    struct mf_given *given; /* of each tensor */
    size_t given_count;
    size_t next;      /* tensor, in the order of the data, for push */
    uint64_t next_at; /* byte of it */
};

/* A call that the caller should not have made: says why, and that it is wrong
 * at this stage. */
enum mf_status mf_writer_refuse(struct mf_env *env, const char *why);
enum mf_status mf_writer_wrong_stage(const struct mf_writer *writer,
                                     struct mf_env *env);

/* No two tensors have one name, and no two values one key. */
enum mf_status mf_writer_check_names(struct mf_writer *writer);

#endif
