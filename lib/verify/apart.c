/* SPDX-License-Identifier: MIT
 *
 * apart.c - how far the numbers of a tensor are from the source's
 *
 * Only tensors that differ are measured.  A thread sums up a part in order, and
 * the parts' sums are added in order: the result does not depend on the number
 * of threads.
 */
#include "lib/base/timings.h"
#include "lib/compare/wide.h"
#include "lib/verify/verify.h"

/* Blocks of every type divide GROUP, and so a part begins with a block: see
 * diff_values.c, which has the proof. */
#define GROUP 256
#define PART  ((uint64_t)128 * 1024)
#define PARTS 64

/* A worker's buffer: decoded numbers of both sides, the bytes of one at a time,
 * and what is before them. */
#define PREFIX_MAX sizeof(float)

_Static_assert(GROUP % MF_WIDE_GROUP == 0, "groups with an exponent are cut");

/* Where the numbers of one side come from. */
struct side {
    struct mf_piece piece;
    enum mf_type type;
    const struct mf_codec *codec;
};

struct part {
    uint64_t from, count; /* numbers */
    struct mf_apart apart;
};

struct measuring {
    struct side source, model;
    uint64_t count; /* numbers of the tensor */
    bool wide;      /* floats cannot hold them */
    struct part part[PARTS];
};

static enum mf_status read_numbers(struct mf_worker *worker,
                                   const struct side *side, bool wide,
                                   uint64_t from, size_t count, uint8_t *room,
                                   void *out)
{
    size_t prefix = mf_type_head(side->type);
    struct mf_timed timed;

    if (mf_piece_read(worker, &side->piece, 0, room, prefix) != MF_OK ||
        mf_piece_read(worker, &side->piece,
                      prefix + mf_numbers_size(side->type, from), room + prefix,
                      (size_t)mf_numbers_size(side->type, count)) != MF_OK)
        return worker->env.error.status;
    timed = mf_timed_begin(&worker->env, MF_PHASE_DECODE);
    mf_decode_numbers(side->codec, side->type, wide, room, out, count);
    mf_timed_end(&worker->env, timed);
    return MF_OK;
}

/* Numbers, in whole groups, that a worker's buffer has room for. */
static size_t numbers_in(const struct measuring *measuring, size_t buffer_size)
{
    uint64_t a = mf_numbers_size(measuring->source.type, GROUP);
    uint64_t b = mf_numbers_size(measuring->model.type, GROUP);

    return (buffer_size - PREFIX_MAX) /
           (size_t)(GROUP * 2 * mf_decoded_size(measuring->wide) +
                    (a > b ? a : b)) *
           GROUP;
}

static enum mf_status measure_part(struct mf_worker *worker, void *context,
                                   size_t task)
{
    struct measuring *measuring = context;
    struct part *part = &measuring->part[task];
    size_t most = numbers_in(measuring, worker->buffer_size), some;
    bool wide = measuring->wide;
    size_t size = most * mf_decoded_size(wide);
    uint8_t *a = worker->buffer, *b = a + size, *room = b + size;

    for (uint64_t done = 0; done < part->count; done += some) {
        uint64_t from = part->from + done;
        struct mf_timed timed;

        some = mf_next_part(&worker->env, part->count - done, most);
        if (some == 0 ||
            read_numbers(worker, &measuring->source, wide, from, some, room,
                         a) != MF_OK ||
            read_numbers(worker, &measuring->model, wide, from, some, room,
                         b) != MF_OK)
            return worker->env.error.status;
        timed = mf_timed_begin(&worker->env, MF_PHASE_MEASURE);
        mf_apart_add_numbers(&part->apart, wide, a, b, some);
        mf_timed_end(&worker->env, timed);
    }
    return MF_OK;
}

/* APR has tensors whose bytes do not match their shape. */
static bool is_whole(const struct side *side, uint64_t count)
{
    uint64_t size;

    return (side->codec || mf_type_is_wide(side->type)) &&
           mf_type_size(side->type, count, &size) &&
           size == side->piece.span.size;
}

/* Where both sides' bytes are; false where they cannot be decoded. */
static bool sides_of(const struct mf_verification *work,
                     const struct mf_isa *isa, const struct mf_claim *claim,
                     struct measuring *out)
{
    const struct mf_record *record = mf_claim_record(work, claim);
    enum mf_type from = (enum mf_type)claim->from->from;
    enum mf_type to = (enum mf_type)record->type;

    if (from == MF_TYPE_UNKNOWN || to == MF_TYPE_UNKNOWN)
        return false;
    out->source = (struct side){ .piece = mf_claim_piece(work, claim),
                                 .type = from,
                                 .codec = mf_env_codec(work->env, isa, from) };
    out->model = (struct side){
        .piece = { .source = &work->model->file[record->shard].source,
                   .span = { mf_record_data(work->model, record),
                             record->size } },
        .type = to,
        .codec = mf_env_codec(work->env, isa, to),
    };
    out->wide = mf_type_is_wide(from) || mf_type_is_wide(to);
    return mf_elements(record->dim, record->rank, &out->count) &&
           is_whole(&out->source, out->count) &&
           is_whole(&out->model, out->count);
}

static void *apart_of(void *context, size_t task)
{
    struct measuring *measuring = context;

    return &measuring->part[task].apart;
}

static const struct mf_yields results = { apart_of, sizeof(struct mf_apart) };

static enum mf_status run(struct measuring *measuring, struct mf_crew *crew,
                          struct mf_apart *sum, size_t count)
{
    enum mf_status status =
        mf_crew_share(crew, measure_part, NULL, measuring, count, &results);

    for (size_t i = 0; i < count && status == MF_OK; i++)
        mf_apart_join(sum, &measuring->part[i].apart);
    return status;
}

static enum mf_status measure(struct measuring *measuring, struct mf_crew *crew,
                              struct mf_apart *out)
{
    enum mf_status status = MF_OK;
    size_t count = 0;

    for (uint64_t at = 0; at < measuring->count && status == MF_OK;) {
        uint64_t left = measuring->count - at;
        struct part part = { .from = at, .count = left < PART ? left : PART };

        measuring->part[count++] = part;
        at += part.count;
        if (count < PARTS && at < measuring->count)
            continue;
        status = run(measuring, crew, out, count);
        count = 0;
    }
    mf_apart_finish(out);
    return status;
}

enum mf_status mf_verify_measure(struct mf_verification *work,
                                 struct mf_crew *crew, const struct mf_isa *isa,
                                 struct mf_claim *claim)
{
    struct measuring *measuring =
        mf_crew_resize(crew, NULL, 0, sizeof(*measuring));
    struct mf_apart *apart;
    enum mf_status status = MF_OK;

    if (!measuring)
        return work->env->error.status;
    if (sides_of(work, isa, claim, measuring)) {
        apart = mf_arena_take(&work->arena, sizeof(*apart));
        status = apart ? MF_OK : work->env->error.status;
        if (status == MF_OK) {
            *apart = (struct mf_apart){ 0 };
            status = measure(measuring, crew, apart);
            claim->apart = apart;
        }
    }
    mf_release(work->env, measuring, sizeof(*measuring));
    return status;
}
