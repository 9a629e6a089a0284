/* SPDX-License-Identifier: MIT
 *
 * compare.c - encodes the source once more and compares
 *
 * Tensors are cut into parts, which threads read, encode and compare with the
 * model's bytes.  A tensor that differs is then encoded in other ways that may
 * have made it: without its importance weights, because they can be left out by
 * name, and as an encoder did that has changed since.  Of those, the first
 * block that differs ends the attempt.
 */
#include "lib/base/little.h"
#include "lib/base/timings.h"
#include "lib/verify/verify.h"

#define PARTS 256

/* Bytes of the source that a part has at most: encoding takes a hundred times
 * as long as comparing. */
#define COPIED  ((uint64_t)2 * 1024 * 1024)
#define ENCODED ((uint64_t)256 * 1024)

/* How a tensor may have been encoded. */
struct way {
    bool unweighted;     /* although the matrix has weights for it */
    bool older;          /* by another version's encoder: */
    const char *version; /* which; NULL: today's */
};

#define OLDER .older = true, .version = "ggml before 0.25.1"

/* Those that are tried, in this order, if the usual one was not it. */
static const struct way ways[] = {
    { .unweighted = true },
    { OLDER },
    { OLDER, .unweighted = true },
};

/* ---- parts ---- */

static void *found_of(void *context, size_t task)
{
    struct mf_comparison *comparison = context;

    return &comparison->part[task].found;
}

static const struct mf_yields results = { found_of,
                                          sizeof(struct mf_verify_found) };

static enum mf_status run(struct mf_comparison *comparison)
{
    size_t count = comparison->count;
    enum mf_status status =
        mf_crew_share(&comparison->crew, mf_verify_compare_part, NULL,
                      comparison, count, &results);

    comparison->count = 0;
    for (size_t i = 0; i < count && status == MF_OK; i++) {
        const struct mf_verify_part *part = &comparison->part[i];
        struct mf_claim *claim = part->claim;

        if (part->piece.measured)
            comparison->largest =
                fmaxf(comparison->largest, part->found.largest);
        if (part->found.differ > 0 && claim->differ == 0)
            claim->first = part->found.first;
        claim->differ += part->found.differ;
        claim->refused |= part->found.refused;
    }
    return status;
}

/* Cuts all of part's piece into parts. */
static enum mf_status add_parts(struct mf_comparison *comparison,
                                struct mf_verify_part part)
{
    struct mf_piece *piece = &part.piece;
    const struct mf_recoding *recoding = &piece->recoding;
    size_t block = mf_verify_block(piece->tensor);
    uint64_t in = recoding->decode ? recoding->in : block;
    uint64_t out = recoding->decode ? recoding->out : block;
    uint64_t most = recoding->decode ? ENCODED : COPIED;
    uint64_t start = part.place;

    most = in < most ? most / in * in : in;
    for (piece->at = 0; piece->at < piece->span.size;
         piece->at += piece->size) {
        uint64_t left = piece->span.size - piece->at;

        if (comparison->count == comparison->room && run(comparison) != MF_OK)
            return comparison->crew.env->error.status;
        piece->size = left < most ? left : most;
        part.place = start + piece->at / in * out;
        part.block = piece->at / in * (out / block);
        comparison->part[comparison->count++] = part;
    }
    return MF_OK;
}

/* ---- a tensor ---- */

static enum mf_status load_weights(struct mf_comparison *comparison,
                                   struct mf_piece *piece)
{
    const struct mf_weights *from = &comparison->work->weights;
    bool fastest_first = comparison->work->draft.format->fastest_first;
    size_t count =
        mf_weights_count(from, piece->tensor, fastest_first, &piece->recoding);

    if (count == 0)
        return MF_OK;
    if (comparison->weights.count > 0 && run(comparison) != MF_OK)
        return comparison->crew.env->error.status;
    return mf_weights_load(&comparison->weights, &comparison->crew, from,
                           piece->tensor, count, fastest_first,
                           &piece->recoding);
}

/* Of a tensor with one scale, which comes first and depends on the largest
 * number of all. */
static enum mf_status compare_scale(struct mf_comparison *comparison,
                                    struct mf_verify_part *part)
{
    struct mf_env *env = comparison->crew.env;
    struct mf_verify_part measured = *part;
    uint8_t scale[sizeof(float)], theirs[sizeof(scale)];

    measured.piece.measured = true;
    if (run(comparison) != MF_OK)
        return env->error.status;
    comparison->largest = 0;
    if (add_parts(comparison, measured) != MF_OK || run(comparison) != MF_OK ||
        mf_source_read(env, part->file, part->place, theirs, sizeof(theirs)) !=
            MF_OK)
        return env->error.status;
    mf_put_little_float(
        scale, comparison->largest > 0 ? comparison->largest / 127 : 1);
    part->claim->head_differs = memcmp(scale, theirs, sizeof(scale)) != 0;
    part->piece.recoding.largest = comparison->largest;
    part->place += sizeof(scale);
    return MF_OK;
}

/* How the source's tensor is encoded; false after mf_fail. */
static bool begin_encoding(struct mf_comparison *comparison,
                           struct mf_piece *piece)
{
    struct mf_env *env = comparison->crew.env;
    struct mf_recoding *recoding = &piece->recoding;
    uint64_t in, out;

    if (!mf_recoding_init(env, comparison->isa, piece->tensor,
                          comparison->work->draft.format->fastest_first,
                          recoding))
        return false;
    recoding->effort = comparison->work->effort;
    piece->span.offset += recoding->prefix;
    piece->span.size -= recoding->prefix;
    if (mf_recoding_sizes(recoding, &in, &out) && in == piece->span.size &&
        out + recoding->head == piece->tensor->size)
        return true;
    mf_piece_out_of_bounds(env, piece);
    return false;
}

static enum mf_status compare_tensor(struct mf_comparison *comparison,
                                     struct mf_claim *claim, struct way way)
{
    const struct mf_verification *work = comparison->work;
    const struct mf_record *record = mf_claim_record(work, claim);
    struct mf_verify_part part = { .piece = mf_claim_piece(work, claim),
                                   .claim = claim,
                                   .file =
                                       &work->model->file[record->shard].source,
                                   .place =
                                       mf_record_data(work->model, record) };
    const struct mf_draft_tensor *tensor = part.piece.tensor;

    claim->differ = 0;
    claim->head_differs = false;
    claim->refused = false;
    if (record->size == 0 && part.piece.span.size == 0)
        return MF_OK;
    if (tensor->from == tensor->type)
        return add_parts(comparison, part);
    if (!begin_encoding(comparison, &part.piece))
        return work->env->error.status;
    if (way.older)
        part.piece.recoding.encode = part.piece.recoding.encode->older;
    if ((!way.unweighted && load_weights(comparison, &part.piece) != MF_OK) ||
        (part.piece.recoding.head > 0 &&
         compare_scale(comparison, &part) != MF_OK))
        return work->env->error.status;
    claim->weighted = part.piece.recoding.weights != NULL;
    return add_parts(comparison, part);
}

static bool differs(const struct mf_claim *claim)
{
    return claim->differ > 0 || claim->head_differs || claim->refused;
}

/* ---- all of them ---- */

static enum mf_status compare_all(struct mf_comparison *comparison)
{
    struct mf_verification *work = comparison->work;
    enum mf_status status = MF_OK;

    for (size_t i = 0; i < work->count && status == MF_OK; i++)
        if (!work->claim[i].reason)
            status =
                compare_tensor(comparison, &work->claim[i], (struct way){ 0 });
    return status == MF_OK ? run(comparison) : status;
}

/* Whether it is what that way makes; else it keeps its first difference. */
static enum mf_status attempt(struct mf_comparison *comparison,
                              struct mf_claim *claim, struct way way,
                              bool *found)
{
    const struct mf_claim before = *claim;

    comparison->tries = true;
    atomic_store(&comparison->refuted, false);
    if (compare_tensor(comparison, claim, way) != MF_OK ||
        run(comparison) != MF_OK)
        return comparison->crew.env->error.status;
    comparison->tries = false;
    *found = !differs(claim);
    if (!*found)
        *claim = before;
    return MF_OK;
}

static enum mf_status try_ways(struct mf_comparison *comparison,
                               struct mf_claim *claim, bool *found)
{
    const struct mf_codec *codec =
        mf_env_codec(comparison->work->env, comparison->isa,
                     (enum mf_type)claim->from->type);
    bool weighted = claim->weighted;
    bool changed =
        claim->from->from != claim->from->type && codec && codec->older;

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) && !*found; i++) {
        const struct way *way = &ways[i];

        if ((way->unweighted && !weighted) || (way->older && !changed))
            continue;
        if (attempt(comparison, claim, *way, found) != MF_OK)
            return comparison->crew.env->error.status;
        if (!*found)
            continue;
        claim->version = way->version;
        claim->verdict =
            way->older ? MF_VERDICT_OTHER_VERSION : MF_VERDICT_SAME;
    }
    return MF_OK;
}

/* Encodes the tensor again, up to the row that has no encoding. */
static enum mf_status explain(struct mf_comparison *comparison,
                              struct mf_claim *claim)
{
    comparison->explains = true;
    if (compare_tensor(comparison, claim, (struct way){ 0 }) == MF_OK)
        run(comparison);
    comparison->explains = false;
    comparison->count = 0;
    claim->verdict = MF_VERDICT_NOT_DERIVABLE;
    return mf_claim_explain(comparison->work, claim);
}

static enum mf_status judge(struct mf_comparison *comparison,
                            struct mf_claim *claim)
{
    struct mf_verification *work = comparison->work;
    bool found = false;

    if (claim->reason) {
        claim->verdict = MF_VERDICT_NOT_DERIVABLE;
        return MF_OK;
    }
    claim->verdict = differs(claim) ? MF_VERDICT_DIFFERS : MF_VERDICT_SAME;
    if (claim->verdict == MF_VERDICT_SAME)
        return MF_OK;
    if (try_ways(comparison, claim, &found) != MF_OK)
        return work->env->error.status;
    if (found)
        return MF_OK;
    return claim->refused ? explain(comparison, claim)
                          : mf_verify_measure(work, &comparison->crew,
                                              comparison->isa, claim);
}

/* All that is read at first, and the buffer that a row needs. */
static enum mf_status measure_work(struct mf_comparison *comparison,
                                   uint64_t *work_size, size_t *least)
{
    const struct mf_verification *work = comparison->work;
    struct mf_recoding recoding;

    *work_size = 0;
    *least = 4 * MF_PAGE;
    for (size_t i = 0; i < work->count; i++) {
        const struct mf_draft_tensor *tensor = work->claim[i].from;
        size_t need;

        if (work->claim[i].reason)
            continue;
        if (!mf_add(*work_size, mf_claim_piece(work, &work->claim[i]).span.size,
                    work_size))
            *work_size = UINT64_MAX;
        if (tensor->from == tensor->type)
            continue;
        if (!mf_recoding_init(work->env, comparison->isa, tensor,
                              work->draft.format->fastest_first, &recoding))
            return work->env->error.status;
        need = mf_recoding_need(&recoding) + recoding.out;
        *least = need > *least ? need : *least;
    }
    return MF_OK;
}

static enum mf_status prepare(struct mf_comparison *comparison)
{
    struct mf_env *env = comparison->work->env;
    uint64_t size;
    size_t least;

    comparison->isa = comparison->work->isa;
    if (measure_work(comparison, &size, &least) != MF_OK ||
        mf_crew_init_slow(&comparison->crew, env, size, UINT64_MAX, least) !=
            MF_OK)
        return env->error.status;
    comparison->part = mf_chunk_table(env, PARTS, sizeof(*comparison->part),
                                      &comparison->room);
    return comparison->part ? MF_OK : env->error.status;
}

enum mf_status mf_verify_compare(struct mf_verification *work)
{
    struct mf_comparison comparison = { .work = work };
    struct mf_timed timed = mf_timed_begin(work->env, MF_PHASE_REST);
    enum mf_status status = prepare(&comparison);

    if (status == MF_OK)
        status = compare_all(&comparison);
    for (size_t i = 0; i < work->count && status == MF_OK; i++)
        status = judge(&comparison, &work->claim[i]);
    mf_weights_release(&comparison.weights, work->env);
    mf_release(work->env, comparison.part,
               comparison.room * sizeof(*comparison.part));
    mf_crew_release(&comparison.crew);
    mf_timed_end(work->env, timed);
    return status;
}
