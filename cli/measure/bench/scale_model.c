/* SPDX-License-Identifier: MIT
 *
 * scale_model.c - how long several ranks take to quantize a model
 */
#include "cli/measure/bench/scale_model.h"

#include <math.h>

const char *const scale_names[SCALE_TERMS] = {
    "encoder", "disk", "shared", "waiting", "plan", "gather", "metadata",
};

/* Runs of pieces: at the end of each all ranks wait for the last. */
struct runs {
    double pieces, each, count, last;
};

static struct runs runs_of(uint64_t in, uint64_t ranks)
{
    struct runs runs = {
        .pieces = ceil((double)in / (double)SCALE_PIECE),
        .each =
            SCALE_PIECES * (double)(ranks < SCALE_RANKS ? ranks : SCALE_RANKS),
    };

    runs.count = ceil(runs.pieces / runs.each);
    runs.last = runs.count > 0 ? runs.pieces - (runs.count - 1) * runs.each : 0;
    return runs;
}

/* Pieces that the busiest of so many threads has, one after the other. */
static double busiest(const struct runs *runs, double threads)
{
    if (runs->count < 1)
        return 0;
    return (runs->count - 1) * ceil(runs->each / threads) +
           ceil(runs->last / threads);
}

static double bytes_gathered(const struct runs *runs, double ranks)
{
    return (runs->count + SCALE_MEETINGS) * ranks * SCALE_CARD +
           runs->pieces * SCALE_RESULT;
}

static double gather_time(const struct scale_costs *costs,
                          const struct runs *runs, double ranks)
{
    double gathers = 2 * runs->count + SCALE_MEETINGS;

    if (ranks < 2)
        return 0;
    return gathers * (costs->gather + (ranks - 1) * costs->message) +
           bytes_gathered(runs, ranks) * costs->network;
}

static void sum_up(struct scale_time *time)
{
    const double *term = time->term;

    time->seconds =
        fmax(term[SCALE_ENCODER], fmax(term[SCALE_DISK], term[SCALE_SHARED]));
    for (int i = SCALE_WAITING; i < SCALE_TERMS; i++)
        time->seconds += term[i];
    for (int i = 0; i < SCALE_TERMS; i++)
        if (term[i] > term[time->bound])
            time->bound = (enum scale_term)i;
}

struct scale_time scale_predict(const struct scale_costs *costs,
                                const struct scale_work *work, uint64_t ranks)
{
    struct runs runs = runs_of(work->in, ranks);
    double in = (double)work->in, out = (double)work->out, n = (double)ranks;
    double threads = n * (double)work->threads;
    double moving =
        in * (costs->read + costs->decode + costs->encode) + out * costs->write;
    struct scale_time time = { .bound = SCALE_ENCODER };

    time.term[SCALE_ENCODER] = moving / threads;
    if (runs.pieces > 0)
        time.term[SCALE_WAITING] =
            moving / runs.pieces * busiest(&runs, threads) -
            time.term[SCALE_ENCODER];
    time.term[SCALE_DISK] =
        (in * costs->disk_read + out * costs->disk_write) / n;
    time.term[SCALE_SHARED] = (in + out) * costs->shared;
    time.term[SCALE_PLAN] = (double)work->tensors * costs->plan_tensor +
                            runs.pieces * costs->plan_piece;
    time.term[SCALE_GATHER] = gather_time(costs, &runs, n);
    time.term[SCALE_METADATA] = n * ((double)work->files + 1) * costs->open;
    sum_up(&time);
    return time;
}
