/* SPDX-License-Identifier: MIT
 *
 * writer.h - a file that a program makes itself: its state
 */
#ifndef MF_LIB_WRITER_H
#define MF_LIB_WRITER_H

#include <stdatomic.h>

#include "lib/write/convert.h"

enum mf_writer_stage {
    MF_WRITER_LISTING,
    MF_WRITER_PLANNED, /* the lists are closed */
    MF_WRITER_OPEN,
    MF_WRITER_DONE,
    MF_WRITER_FAILED
};

/* The bytes of a tensor that were written so far: how many, and the sum of
 * their pieces' edges; see writer.c. */
struct mf_written {
    atomic_uint_fast64_t bytes, edges;
};

struct mf_writer {
    struct mf_env *env;
    struct mf_output output;
    enum mf_writer_stage stage;
    bool replace;
    struct mf_output_ops given; /* takes the bytes; without `write`: a file */
    struct mf_written *written; /* of each tensor */
    size_t written_count;
    size_t next;      /* tensor, in the order of the data, for push */
    uint64_t next_at; /* byte of it */
};

/* MF_ERR_ARGUMENT for a call that is wrong: with that message, or with one
 * about the writer's stage. */
enum mf_status mf_writer_refuse(struct mf_env *env, const char *why);
enum mf_status mf_writer_wrong_stage(const struct mf_writer *writer,
                                     struct mf_env *env);

/* Fails where two tensors have the same name, or two values the same key. */
enum mf_status mf_writer_check_names(struct mf_writer *writer);

#endif
