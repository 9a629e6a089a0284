/* SPDX-License-Identifier: MIT
 *
 * npz.c - the row of an archive of arrays, as numpy.savez writes it
 *
 * An array's name is the member's without ".npy".  The header of a compressed
 * member is unpacked, and no more of it than that takes.
 */
#include "npy/npy.h"
#include "zip/zip.h"

static const char suffix[] = ".npy";

struct archive {
    struct mf_zip zip;
    struct mf_source unpacked; /* reads compressed members */
    uint8_t header[NPY_HEADER_MAX];
};

static bool probe(const struct mf_head *head, struct mf_detection *out)
{
    (void)out;
    return head->tail && mf_zip_tail_has(head, suffix);
}

/* ---- the header of one member ---- */

/* The member's first bytes: from what was read with its own header, as far as
 * that goes. */
static bool read_start(struct archive *archive, uint32_t row,
                       const struct mf_zip_start *start, size_t size)
{
    const struct mf_stored *stored = &archive->zip.index->stored.stored[row];

    if (stored->method != MF_METHOD_PLAIN)
        return mf_source_read(archive->zip.index->env, &archive->unpacked,
                              mf_stored_offset(archive->zip.index, row),
                              archive->header, size) == MF_OK;
    if (size > start->size - start->at)
        return mf_reader_copy(archive->zip.reader, stored->file.offset,
                              archive->header, size);
    memcpy(archive->header, start->bytes + start->at, size);
    return true;
}

static void note_fault(struct archive *archive, uint32_t row,
                       const struct npy_fault *fault)
{
    struct mf_index *index = archive->zip.index;
    const struct mf_stored *stored = &index->stored.stored[row];

    mf_index_note(index, archive->zip.part->shard, MF_ERROR_MISSED, fault->rule,
                  stored->file.offset +
                      (stored->method == MF_METHOD_PLAIN ? fault->at : 0),
                  "the header of '%s': %s", mf_quote(stored->name).text,
                  fault->what);
}

/* Bytes that cannot be unpacked are a finding: the other members can. */
static bool unpacking_failed(struct archive *archive, uint32_t row)
{
    struct mf_env *env = archive->zip.index->env;
    const struct npy_fault fault = { MF_RULE_ZIP_CRC, 0,
                                     "its compressed bytes are damaged" };

    if (env->error.status != MF_ERR_CORRUPT)
        return true;
    mf_clear_error(env);
    archive->zip.index->stored.stored[row].unreadable = true;
    note_fault(archive, row, &fault);
    return false;
}

/* *why: not an array, or its header is wrong; else NULL. */
static enum mf_status read_header(struct archive *archive, uint32_t row,
                                  const struct mf_zip_start *start,
                                  struct npy_header *out, const char **why)
{
    struct mf_env *env = archive->zip.index->env;
    const struct mf_stored *stored = &archive->zip.index->stored.stored[row];
    struct npy_fault fault = { .what = NULL };
    size_t size = 0;

    *why = "its compressed bytes are damaged";
    if (stored->size >= NPY_START &&
        !read_start(archive, row, start, NPY_START))
        return unpacking_failed(archive, row) ? env->error.status : MF_OK;
    if (stored->size < NPY_START || !mf_npy_is_magic(archive->header)) {
        *why = "it is not an array";
        mf_index_note(archive->zip.index, archive->zip.part->shard, MF_WARNING,
                      MF_RULE_NPY_MEMBER, stored->file.offset,
                      "member '%s' is not an array",
                      mf_quote(stored->name).text);
        return MF_OK;
    }
    size = mf_npy_header_size(archive->header, &fault);
    if (size > stored->size) {
        size = 0;
        fault = (struct npy_fault){ MF_RULE_NPY_HEADER, 8,
                                    "it is longer than its member" };
    }
    if (size > 0 && !read_start(archive, row, start, size))
        return unpacking_failed(archive, row) ? env->error.status : MF_OK;
    if (size > 0)
        mf_npy_header(archive->header, size, out, &fault);
    if (fault.what)
        note_fault(archive, row, &fault);
    *why = fault.what;
    return MF_OK;
}

/* The member's name becomes the array's; false after mf_fail. */
static bool take_name(struct mf_index *index, struct npy_place *place)
{
    size_t size = place->name.size;
    char *copy;

    if (!mf_str_ends(place->name, suffix))
        return true;
    size -= sizeof(suffix) - 1;
    copy = mf_arena_text(&index->tensor_arena, size);
    if (!copy)
        return false;
    memcpy(copy, place->name.at, size);
    place->name = (struct mf_str){ copy, size };
    return true;
}

static enum mf_status take_member(struct archive *archive, size_t i)
{
    struct mf_index *index = archive->zip.index;
    uint32_t row = archive->zip.first + (uint32_t)i;
    struct npy_place place = { .row = row };
    struct mf_zip_start start;
    struct npy_header header;
    const char *why = NULL;

    if (mf_zip_member(&archive->zip, i, &start) != MF_OK)
        return index->env->error.status;
    place.name = index->stored.stored[row].name;
    place.entry = index->stored.stored[row].file.offset;
    place.size = index->stored.stored[row].size;
    if (mf_str_ends(place.name, "/")) /* a folder */
        return MF_OK;
    if (index->stored.stored[row].unreadable)
        why = mf_zip_fault(&archive->zip, i);
    else if (read_header(archive, row, &start, &header, &why) != MF_OK)
        return index->env->error.status;
    if (!take_name(index, &place))
        return index->env->error.status;
    if (!why)
        return mf_npy_add(index, archive->zip.part, &header, &place);
    mf_index_miss(index, archive->zip.part->shard, place.name, "%s", why);
    return MF_OK;
}

/* ---- the archive ---- */

static enum mf_status take_members(struct archive *archive)
{
    struct mf_index *index = archive->zip.index;
    enum mf_status status;

    archive->unpacked = mf_source_borrow(archive->zip.reader->source);
    if (mf_stored_open(index->env, &archive->unpacked, index, 0) != MF_OK)
        return index->env->error.status;
    status = MF_OK;
    for (size_t i = 0; status == MF_OK && i < archive->zip.count; i++)
        status = take_member(archive, i);
    mf_source_close(&archive->unpacked);
    return status;
}

static enum mf_status parse(struct mf_reader *reader, struct mf_index *index,
                            struct mf_part *part)
{
    struct archive *archive = mf_alloc(index->env, sizeof(*archive));
    enum mf_status status;

    if (!archive)
        return index->env->error.status;
    status = mf_zip_open(&archive->zip, reader, index, part, MF_ERROR_MISSED);
    if (status == MF_OK)
        status = take_members(archive);
    if (mf_zip_close(&archive->zip) != MF_OK && status == MF_OK)
        status = index->env->error.status;
    mf_release(index->env, archive, sizeof(*archive));
    return status;
}

const struct mf_format mf_format_npz = {
    .name = "npz",
    .suffix = ".npz",
    .description = "archives of arrays, as numpy.savez writes them",
    NPY_MEMBERS,
    .tail_after = mf_zip_magics,
    .probe = probe,
    .parse = parse,
};
