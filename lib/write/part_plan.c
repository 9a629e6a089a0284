/* SPDX-License-Identifier: MIT
 *
 * part_plan.c - where the units of outputs are, and what is in them
 */
#include "lib/write/part.h"

#include "lib/write/resume.h"

bool mf_part_lay_out(struct mf_part_plan *plan)
{
    plan->units = 0;
    for (size_t i = 0; i < plan->files; i++) {
        struct mf_part_file *file = &plan->file[i];
        uint64_t units =
            file->size / plan->unit + (file->size % plan->unit > 0);

        if (file->size > INT64_MAX || file->filled > file->size ||
            units > UINT64_MAX / MF_PARTS_MAX - plan->units)
            return false;
        file->first = plan->units;
        plan->units += units;
    }
    return true;
}

uint64_t mf_part_unit(const struct mf_part_plan *plan, size_t file, uint64_t at)
{
    return plan->file[file].first + at / plan->unit;
}

uint64_t mf_part_first(const struct mf_part_plan *plan, uint32_t part)
{
    return plan->units * (part - 1) / plan->parts;
}

/* ---- what is in them ---- */

/* The size is a part of what the digest is. */
#define PIECE  ((uint64_t)1024 * 1024)
#define PIECES 64

struct digests {
    const struct mf_target *target;
    const struct mf_isa *isa;
    uint64_t from, to;
    bool is_work;
    uint64_t digest[PIECES][2];
};

static enum mf_status digest_piece(struct mf_worker *worker, void *context,
                                   size_t task)
{
    struct digests *all = context;
    uint64_t at = all->from + task * PIECE;
    uint64_t end = all->to - at < PIECE ? all->to : at + PIECE;
    struct mf_piece_digest digest;

    mf_piece_digest_begin(&digest);
    while (at < end) {
        uint8_t *buffer = mf_worker_room(worker, at);
        size_t size = mf_next_part(&worker->env, end - at, worker->buffer_size);

        if (size == 0 || mf_target_read(&worker->env, all->target, at, buffer,
                                        size) != MF_OK)
            return worker->env.error.status;
        mf_piece_digest_add(&digest, all->isa, buffer, size);
        at += size;
        if (all->is_work) {
            worker->env.io.bytes_read += size;
            mf_worker_done(worker, size);
        }
    }
    mf_piece_digest_end(&digest, all->digest[task]);
    return MF_OK;
}

enum mf_status mf_part_digest(struct mf_crew *crew,
                              const struct mf_target *target, uint64_t from,
                              uint64_t to, bool is_work, uint64_t out[2])
{
    struct digests all = { .target = target,
                           .is_work = is_work,
                           .isa = mf_isa_choose(crew->env) };
    enum mf_status status = all.isa ? MF_OK : crew->env->error.status;

    out[0] = out[1] = 0;
    for (uint64_t at = from; at < to && status == MF_OK; at = all.to) {
        size_t count;

        all.from = at;
        all.to = to - at < PIECE * PIECES ? to : at + PIECE * PIECES;
        count = (size_t)((all.to - at + PIECE - 1) / PIECE);
        status = mf_crew_run(crew, digest_piece, &all, count);
        for (size_t i = 0; i < count && status == MF_OK; i++)
            mf_piece_digest_join(out, all.digest[i]);
    }
    return status;
}
