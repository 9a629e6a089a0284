/* SPDX-License-Identifier: MIT
 *
 * scale_model.h - how long several ranks take to quantize a model
 *
 * Arithmetic alone: costs come in, times go out.  docs/scale.md explains the
 * formula.  All costs are seconds.
 */
#ifndef MF_CLI_BENCH_SCALE_MODEL_H
#define MF_CLI_BENCH_SCALE_MODEL_H

#include <stdint.h>

/* How the library cuts work (lib/write/transfer.c), and what the ranks bring to
 * a gather (lib/base/ranks.c). */
#define SCALE_PIECE    ((uint64_t)256 * 1024) /* bytes of the source */
#define SCALE_PIECES   256                    /* of a run, for each rank, */
#define SCALE_RANKS    64  /* but for no more ranks than these */
#define SCALE_CARD     48  /* bytes that a rank brings to each meeting */
#define SCALE_RESULT   104 /* bytes of a piece's result */
#define SCALE_MEETINGS 12  /* besides those at the end of runs */

struct scale_costs {
    double read, decode, encode;    /* of a byte of the source, by one thread */
    double write;                   /* of a byte of the output, likewise */
    double plan_tensor, plan_piece; /* by every rank */
    double gather;  /* of a gather, whatever it brings, by two ranks or more; */
    double message; /* and for every rank but one, */
    double network; /* and of a byte, which all ranks get */
    double disk_read, disk_write; /* of a byte, by the disk of one node */
    double shared;                /* of a byte, by the file system of all */
    double open;                  /* of a file, by its metadata server */
};

struct scale_work {
    uint64_t in, out; /* bytes */
    uint64_t tensors, files;
    uint64_t threads; /* of each rank */
};

/* The first three are at the same time, the others one after the other. */
enum scale_term {
    SCALE_ENCODER,  /* threads read, decode, encode and write */
    SCALE_DISK,     /* of each node */
    SCALE_SHARED,   /* the file system */
    SCALE_WAITING,  /* threads have no piece while others work on theirs */
    SCALE_PLAN,     /* what every rank does for itself */
    SCALE_GATHER,   /* results go to all ranks */
    SCALE_METADATA, /* files are opened, by every rank */
    SCALE_TERMS
};

/* "encoder", "disk", ... */
extern const char *const scale_names[SCALE_TERMS];

struct scale_time {
    double term[SCALE_TERMS];
    double seconds;
    enum scale_term bound; /* the largest term */
};

/* ranks and work->threads: at least 1. */
struct scale_time scale_predict(const struct scale_costs *costs,
                                const struct scale_work *work, uint64_t ranks);

#endif
