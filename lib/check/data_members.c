/* SPDX-License-Identifier: MIT
 *
 * data_members.c - checksums of the members of an archive
 *
 * A checksum is of all bytes of a member, also of those that no tensor has, and
 * deflate goes forward only: so members are read one by one, several at once,
 * before the tensors are.
 */
#include "lib/check/data_members.h"

#include "lib/base/timings.h"

#define MEMBERS_MAX 1024 /* whose results are kept before they are reported */

struct member {
    uint32_t row; /* of index->stored */
    uint32_t crc;
    bool broken; /* it cannot be unpacked */
};

struct members {
    struct mf_model *model;
    struct member *member;
    size_t count;
};

bool mf_data_has_checksum(const struct mf_stored *stored)
{
    return stored->has_crc && !stored->unreadable;
}

/* ---- one member, in a thread ---- */

static enum mf_status read_member(struct mf_worker *worker, void *context,
                                  size_t task)
{
    const struct members *members = context;
    const struct mf_model *model = members->model;
    struct member *member = &members->member[task];
    const struct mf_stored *stored = &model->index.stored.stored[member->row];
    const struct mf_source *source = &model->file[stored->shard].source;
    uint64_t at = mf_stored_offset(&model->index, member->row);
    size_t size;

    mf_worker_at(worker, stored->name.at);
    for (uint64_t left = stored->size; left > 0; left -= size, at += size) {
        uint8_t *bytes = mf_worker_room(worker, at);
        struct mf_timed timed;

        size = mf_next_part(&worker->env, left, worker->buffer_size);
        if (size == 0 ||
            mf_source_read(&worker->env, source, at, bytes, size) != MF_OK)
            break;
        timed = mf_timed_begin(&worker->env, MF_PHASE_DIGEST);
        member->crc = mf_crc32(member->crc, bytes, size);
        mf_timed_end(&worker->env, timed);
        if (!mf_worker_done(worker, size))
            return mf_worker_stopped(worker);
    }
    member->broken = worker->env.error.status == MF_ERR_CORRUPT;
    if (member->broken)
        mf_clear_error(&worker->env);
    return worker->env.error.status;
}

/* ---- findings, in the order of the members ---- */

/* Tensors of members that cannot be unpacked cannot be read. */
static void mark_damaged(struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++) {
        struct mf_record *record = &index->tensor[i];

        if (record->storage > 0 &&
            index->stored.stored[record->storage - 1].broken)
            record->flags |= MF_TENSOR_DAMAGED;
    }
}

static void report(struct mf_index *index, const struct member *member)
{
    struct mf_stored *stored = &index->stored.stored[member->row];

    stored->broken = member->broken;
    if (member->broken) {
        mf_index_note(index, stored->shard, MF_ERROR, MF_RULE_ZIP_SIZE,
                      stored->file.offset,
                      "the compressed data of member '%s' is damaged, or not "
                      "of %" PRIu64 " bytes",
                      mf_quote(stored->name).text, stored->size);
    } else if (member->crc != stored->crc) {
        mf_index_note(index, stored->shard, MF_ERROR, MF_RULE_ZIP_CRC,
                      stored->file.offset,
                      "checksum mismatch: the directory has %08" PRIx32
                      " for member '%s', its bytes give %08" PRIx32,
                      stored->crc, mf_quote(stored->name).text, member->crc);
    }
}

static enum mf_status read_and_report(struct mf_crew *crew,
                                      struct members *members)
{
    enum mf_status status =
        mf_crew_run(crew, read_member, members, members->count);

    for (size_t i = 0; i < members->count && status == MF_OK; i++)
        report(&members->model->index, &members->member[i]);
    members->count = 0;
    return status;
}

/* ---- all of them ---- */

enum mf_status mf_data_members(struct mf_crew *crew, struct mf_model *model)
{
    const struct mf_stored_tables *tables = &model->index.stored;
    struct members members = { .model = model };
    enum mf_status status = MF_OK;
    size_t room;

    if (tables->stored_count == 0)
        return MF_OK;
    members.member = mf_chunk_table(
        model->env,
        tables->stored_count < MEMBERS_MAX ? tables->stored_count : MEMBERS_MAX,
        sizeof(*members.member), &room);
    if (!members.member)
        return model->env->error.status;
    for (size_t i = 0; i < tables->stored_count && status == MF_OK; i++) {
        if (mf_data_has_checksum(&tables->stored[i]))
            members.member[members.count++] =
                (struct member){ .row = (uint32_t)i };
        if (members.count == room)
            status = read_and_report(crew, &members);
    }
    if (status == MF_OK)
        status = read_and_report(crew, &members);
    mark_damaged(&model->index);
    mf_release(model->env, members.member, room * sizeof(*members.member));
    return status;
}
