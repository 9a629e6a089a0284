/* SPDX-License-Identifier: MIT
 *
 * member.c - the header of a member of a zip archive, and what follows its data
 */
#include "zip/parts.h"

/* ---- findings ---- */

static void note_local(struct mf_zip *zip, size_t i, const char *what)
{
    mf_index_note(zip->index, zip->part->shard, MF_ERROR, MF_RULE_ZIP_LOCAL,
                  zip->entry[i].local,
                  "the header of member '%s' says another %s than the "
                  "directory",
                  mf_zip_name(zip, i).text, what);
}

/* Marks a member whose data is not where it should be. */
static void misplaced(struct mf_zip *zip, size_t i, const char *what)
{
    mf_zip_spoil(zip, i, MF_RULE_ZIP_SIZE, zip->entry[i].at,
                 "%s of member '%s' is not before the directory, at "
                 "0x%" PRIx64,
                 what, mf_zip_name(zip, i).text, zip->directory.offset);
}

/* Compares `size` bytes of the file with a text that is there as well. */
static bool same_bytes(struct mf_reader *reader, uint64_t offset,
                       struct mf_str text)
{
    uint8_t bytes[MF_ZIP_START];

    for (size_t at = 0; at < text.size; at += sizeof(bytes)) {
        size_t size =
            text.size - at < sizeof(bytes) ? text.size - at : sizeof(bytes);

        if (!mf_reader_copy(reader, offset + at, bytes, size) ||
            memcmp(bytes, text.at + at, size) != 0)
            return false;
    }
    return true;
}

/* The name in the member's own header: what `start` does not have of a long one
 * is read. */
static bool same_name(struct mf_zip *zip, size_t i,
                      const struct mf_zip_start *start, size_t size)
{
    struct mf_str name = mf_zip_row(zip, i)->name, rest;
    size_t from = start->header + ZIP_LOCAL_SIZE, here = start->size - from;

    if (size != name.size)
        return false;
    if (here > size)
        here = size;
    rest = (struct mf_str){ name.at + here, size - here };
    return memcmp(start->bytes + from, name.at, here) == 0 &&
           same_bytes(zip->reader, zip->entry[i].local + ZIP_LOCAL_SIZE + here,
                      rest);
}

/* Sizes may be left to a descriptor after the data, and are 0 then. */
static void check_sizes(struct mf_zip *zip, size_t i,
                        const struct zip_fields *fields)
{
    const struct mf_stored *row = mf_zip_row(zip, i);
    bool later = zip->entry[i].flags & ZIP_DESCRIPTOR;

    if (fields->packed != row->file.size && !(later && fields->packed == 0))
        note_local(zip, i, "packed size");
    if (fields->size != row->size && !(later && fields->size == 0))
        note_local(zip, i, "size");
    if (fields->crc != row->crc && !(later && fields->crc == 0))
        note_local(zip, i, "checksum");
}

/* The extra fields of the header, as far as `start` has them: they are only
 * needed for sizes of 64 bits, and writers put these first. */
static void take_extra(const struct mf_zip_start *start,
                       struct zip_fields *fields)
{
    struct zip_fields seen = *fields;
    size_t at = start->header + ZIP_LOCAL_SIZE + (size_t)fields->name_size;

    if (at >= start->size)
        return;
    if (seen.extra_size > start->size - at)
        seen.extra_size = (uint16_t)(start->size - at);
    if (mf_zip_take_64(&seen, start->bytes + at, false)) {
        fields->size = seen.size;
        fields->packed = seen.packed;
    }
}

static void check_header(struct mf_zip *zip, size_t i,
                         const struct mf_zip_start *start,
                         struct zip_fields *fields)
{
    const struct mf_zip_entry *entry = &zip->entry[i];

    take_extra(start, fields);
    if (fields->flags != entry->flags)
        note_local(zip, i, "set of flags");
    if (fields->method != entry->method)
        note_local(zip, i, "method");
    if (!same_name(zip, i, start, fields->name_size))
        note_local(zip, i, "name");
    check_sizes(zip, i, fields);
}

/* ---- what follows the data ---- */

void mf_zip_check_descriptor(struct mf_zip *zip, size_t i, const uint8_t *bytes,
                             size_t size)
{
    const struct mf_stored *row = mf_zip_row(zip, i);
    bool wide = size >= 20; /* sizes of 64 bits */
    bool same = true;

    if (size % 8 == 0) { /* a signature, which not all writers put there */
        same = zip_is(bytes, ZIP_DESCRIPTION);
        bytes += ZIP_SIGNATURE;
    }
    same = same && mf_little_32(bytes) == row->crc &&
           (wide ? mf_little_64(bytes + 4) : mf_little_32(bytes + 4)) ==
               row->file.size &&
           (wide ? mf_little_64(bytes + 12) : mf_little_32(bytes + 8)) ==
               row->size;
    zip->entry[i].described = true;
    if (!same)
        mf_index_note(zip->index, zip->part->shard, MF_ERROR, MF_RULE_ZIP_LOCAL,
                      zip->entry[i].end,
                      "what follows member '%s' says another size or checksum "
                      "than the directory",
                      mf_zip_name(zip, i).text);
}

/* The bytes before a header belong to the member before it, mostly the one
 * before it in the directory. */
static void check_before(struct mf_zip *zip, size_t i,
                         const struct mf_zip_start *start)
{
    const struct mf_zip_entry *last = i > 0 ? &zip->entry[i - 1] : NULL;
    uint64_t size;

    if (!last || last->end == 0 || zip->entry[i].local < last->end)
        return;
    size = zip->entry[i].local - last->end;
    if (mf_zip_is_descriptor(last, size) && size <= start->header)
        mf_zip_check_descriptor(
            zip, i - 1, start->bytes + (start->header - size), (size_t)size);
}

/* ---- one member ---- */

static struct zip_fields take_header(const uint8_t *header)
{
    return (struct zip_fields){ .flags = mf_little_16(header + 6),
                                .method = mf_little_16(header + 8),
                                .crc = mf_little_32(header + 14),
                                .packed = mf_little_32(header + 18),
                                .size = mf_little_32(header + 22),
                                .name_size = mf_little_16(header + 26),
                                .extra_size = mf_little_16(header + 28) };
}

/* A header that is there: where the data is. */
static void take_member(struct mf_zip *zip, size_t i,
                        struct mf_zip_start *start)
{
    struct mf_zip_entry *entry = &zip->entry[i];
    struct mf_stored *row = mf_zip_row(zip, i);
    struct zip_fields fields = take_header(start->bytes + start->header);
    uint64_t room = zip->directory.offset - entry->local;
    uint64_t data =
        ZIP_LOCAL_SIZE + (uint64_t)fields.name_size + fields.extra_size;

    check_before(zip, i, start);
    check_header(zip, i, start, &fields);
    if (data < start->size - start->header)
        start->at = start->header + (size_t)data;
    if (data > room || row->file.size > room - data) {
        misplaced(zip, i, "the data");
        return;
    }
    row->file.offset = entry->local + data;
    entry->end = row->file.offset + row->file.size;
    if (start->size - start->at > row->file.size)
        start->size = start->at + (size_t)row->file.size;
}

enum mf_status mf_zip_member(struct mf_zip *zip, size_t i,
                             struct mf_zip_start *start)
{
    uint64_t local = zip->entry[i].local, room = zip->directory.offset;

    start->at = start->size = start->header = 0;
    if (local > room || room - local < ZIP_LOCAL_SIZE) {
        misplaced(zip, i, "the header");
        return MF_OK;
    }
    room -= local;
    start->header =
        local < ZIP_DESCRIPTOR_MAX ? (size_t)local : ZIP_DESCRIPTOR_MAX;
    start->size = MF_ZIP_START;
    if (room < start->size - start->header)
        start->size = start->header + (size_t)room;
    start->at = start->size;
    if (!mf_reader_copy(zip->reader, local - start->header, start->bytes,
                        start->size))
        return zip->index->env->error.status;
    if (zip_is(start->bytes + start->header, ZIP_LOCAL)) {
        take_member(zip, i, start);
    } else {
        mf_zip_spoil(zip, i, MF_RULE_ZIP_LOCAL, local,
                     "the directory says that member '%s' is here, and no "
                     "header is",
                     mf_zip_name(zip, i).text);
    }
    return zip->reader->failed ? zip->index->env->error.status : MF_OK;
}
