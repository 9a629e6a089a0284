/* SPDX-License-Identifier: MIT
 *
 * directory.c - the end of a zip archive and its directory
 */
#include <stdio.h>

#include "zip/parts.h"

#define ALL_16 UINT16_MAX
#define ALL_32 UINT32_MAX

const char *const mf_zip_magics[] = { ZIP_LOCAL, ZIP_END, NULL };

/* ---- the end record ---- */

/* Whether an end record is there whose comment ends where the file does. */
static bool is_end(const uint8_t *tail, size_t at, size_t size)
{
    return size - at >= ZIP_END_SIZE && zip_is(tail + at, ZIP_END) &&
           mf_little_16(tail + at + 20) == size - at - ZIP_END_SIZE;
}

/* Where the last end record is before `size`; SIZE_MAX: not in the tail. */
static size_t find_end(const uint8_t *tail, size_t before, size_t size)
{
    for (size_t at = before; at-- > 0;)
        if (is_end(tail, at, size))
            return at;
    return SIZE_MAX;
}

/* A reader that looks for the signature alone finds another one in a comment,
 * and one that begins at the other end a comment that holds ours. */
static void check_ends(struct mf_zip *zip, const uint8_t *tail, size_t at,
                       size_t size)
{
    size_t other = find_end(tail, at, size);

    for (size_t i = at + ZIP_END_SIZE;
         other == SIZE_MAX && i + ZIP_SIGNATURE <= size; i++)
        if (zip_is(tail + i, ZIP_END))
            other = i;
    if (other != SIZE_MAX)
        mf_index_note(
            zip->index, zip->part->shard, MF_ERROR, MF_RULE_ZIP_ENDS,
            zip->reader->source->size - size + other,
            "a second end record; the one that is read is at 0x%" PRIx64,
            zip->end);
}

static enum mf_status bad_end(const struct mf_zip *zip, uint64_t at,
                              const char *what)
{
    return mf_refuse(zip->index->env, MF_RULE_ZIP_END, at, "%s", what);
}

/* The end record of 64 bits, if a locator precedes the other one; *end: where
 * the directory has to end. */
static enum mf_status read_end_64(struct mf_zip *zip, bool needed,
                                  uint64_t *count, uint64_t *end)
{
    uint8_t locator[ZIP_LOCATOR_SIZE], record[ZIP_END_64_SIZE];
    uint64_t locator_at = zip->end - ZIP_LOCATOR_SIZE, at, size;

    if (zip->end < ZIP_LOCATOR_SIZE ||
        !mf_reader_copy(zip->reader, locator_at, locator, sizeof(locator)) ||
        !zip_is(locator, ZIP_LOCATOR)) {
        if (zip->reader->failed)
            return zip->index->env->error.status;
        return needed ? bad_end(zip, zip->end,
                                "the end record refers to one of 64 bits, but "
                                "no locator precedes it")
                      : MF_OK;
    }
    at = mf_little_64(locator + 8);
    if (at > locator_at || locator_at - at < ZIP_END_64_SIZE)
        return bad_end(zip, locator_at,
                       "the end record of 64 bits is not before its locator");
    if (!mf_reader_copy(zip->reader, at, record, sizeof(record)))
        return zip->index->env->error.status;
    size = mf_little_64(record + 4);
    if (!zip_is(record, ZIP_END_64) || size != locator_at - at - 12)
        return bad_end(zip, at,
                       "no end record of 64 bits is where its locator says");
    if (mf_little_32(locator + 4) != 0 || mf_little_32(record + 16) != 0 ||
        mf_little_32(record + 20) != 0 || mf_little_32(locator + 16) > 1 ||
        mf_little_64(record + 24) != mf_little_64(record + 32))
        return bad_end(zip, at, "an archive in several parts is not read");
    if ((*count != ALL_16 && *count != mf_little_64(record + 32)) ||
        (zip->directory.size != ALL_32 &&
         zip->directory.size != mf_little_64(record + 40)) ||
        (zip->directory.offset != ALL_32 &&
         zip->directory.offset != mf_little_64(record + 48)))
        return bad_end(zip, at,
                       "the two end records, of 32 and of 64 bits, say "
                       "different things");
    *count = mf_little_64(record + 32);
    zip->directory = (struct mf_span){ mf_little_64(record + 48),
                                       mf_little_64(record + 40) };
    *end = at;
    return MF_OK;
}

/* Whether the directory is within the file and can hold so many members. */
static enum mf_status check_directory(struct mf_zip *zip, uint64_t count,
                                      uint64_t end)
{
    const struct mf_span *span = &zip->directory;
    uint64_t directory_end;

    if (!mf_add(span->offset, span->size, &directory_end) ||
        directory_end > end)
        return mf_refuse(zip->index->env, MF_RULE_ZIP_END, zip->end,
                         "the directory is said to be %" PRIu64
                         " bytes at %" PRIu64 ", but the end record is at "
                         "%" PRIu64,
                         span->size, span->offset, end);
    if (count > span->size / ZIP_DIRECTORY_SIZE)
        return mf_refuse(zip->index->env, MF_RULE_FILE_COUNT, zip->end,
                         "the end record says %" PRIu64
                         " members, but the directory has %" PRIu64 " bytes",
                         count, span->size);
    if (count > MF_STORED_ROWS_MAX)
        return mf_refuse(zip->index->env, MF_RULE_FILE_LIMIT, zip->end,
                         "%" PRIu64 " members, the limit is %zu", count,
                         MF_STORED_ROWS_MAX);
    if (directory_end < end)
        mf_index_note(zip->index, zip->part->shard, MF_WARNING, MF_RULE_ZIP_GAP,
                      directory_end,
                      "%" PRIu64 " bytes between the directory and the end "
                      "record belong to nothing",
                      end - directory_end);
    zip->count = (size_t)count;
    return MF_OK;
}

static enum mf_status read_end(struct mf_zip *zip)
{
    const uint8_t *tail = zip->reader->tail, *record;
    size_t size = zip->reader->tail_size;
    size_t at = tail ? find_end(tail, size, size) : SIZE_MAX;
    uint64_t count, end;
    bool needed;

    if (at == SIZE_MAX)
        return mf_refuse(zip->index->env, MF_RULE_ZIP_END,
                         zip->reader->source->size,
                         "no end record of a zip archive is at the end of the "
                         "file: it was truncated, or something was appended");
    record = tail + at;
    zip->end = end = zip->reader->source->size - size + at;
    check_ends(zip, tail, at, size);
    count = mf_little_16(record + 10);
    zip->directory = (struct mf_span){ mf_little_32(record + 16),
                                       mf_little_32(record + 12) };
    needed = count == ALL_16 || zip->directory.size == ALL_32 ||
             zip->directory.offset == ALL_32;
    if ((mf_little_16(record + 4) != 0 && mf_little_16(record + 4) != ALL_16) ||
        (mf_little_16(record + 6) != 0 && mf_little_16(record + 6) != ALL_16) ||
        mf_little_16(record + 8) != count)
        return bad_end(zip, zip->end,
                       "an archive in several parts is not read");
    if (read_end_64(zip, needed, &count, &end) != MF_OK)
        return zip->index->env->error.status;
    return check_directory(zip, count, end);
}

/* ---- the directory ---- */

bool mf_zip_take_64(struct zip_fields *fields, const uint8_t *extra,
                    bool has_local)
{
    uint64_t *wanted[3];
    size_t count = 0, size = fields->extra_size;

    if (fields->size == ALL_32)
        wanted[count++] = &fields->size;
    if (fields->packed == ALL_32)
        wanted[count++] = &fields->packed;
    if (has_local && fields->local == ALL_32)
        wanted[count++] = &fields->local;
    if (count == 0)
        return true;
    for (size_t at = 0; size - at >= 4;) {
        size_t field = mf_little_16(extra + at + 2);

        if (field > size - at - 4)
            return false;
        if (mf_little_16(extra + at) == ZIP_EXTRA_64) {
            for (size_t i = 0; i < count && field >= 8 * (i + 1); i++)
                *wanted[i] = mf_little_64(extra + at + 4 + 8 * i);
            return field >= 8 * count;
        }
        at += 4 + field;
    }
    return false;
}

struct mf_quoted mf_zip_name(const struct mf_zip *zip, size_t i)
{
    return mf_quote(mf_zip_row(zip, i)->name);
}

static bool leads_out(struct mf_str name)
{
    size_t start = 0;

    for (size_t i = 0; i <= name.size; i++)
        if (i == name.size || name.at[i] == '/' || name.at[i] == '\\') {
            if (i - start == 2 && memcmp(name.at + start, "..", 2) == 0)
                return true;
            start = i + 1;
        }
    return false;
}

static void check_name(struct mf_zip *zip, size_t i, uint64_t at)
{
    struct mf_str name = mf_zip_row(zip, i)->name;
    const char *what = NULL;

    if (name.size == 0)
        what = "is empty";
    else if (memchr(name.at, 0, name.size))
        what = "contains a NUL";
    else if (name.at[0] == '/' || name.at[0] == '\\' ||
             (name.size > 1 && name.at[1] == ':'))
        what = "is absolute";
    else if (leads_out(name))
        what = "leads out of its folder";
    if (what)
        mf_index_note(zip->index, zip->part->shard, MF_ERROR, MF_RULE_ZIP_NAME,
                      at, "the name of member '%s' %s",
                      mf_zip_name(zip, i).text, what);
}

void mf_zip_spoil(struct mf_zip *zip, size_t i, enum mf_rule rule, uint64_t at,
                  const char *format, ...)
{
    char text[sizeof(zip->index->env->error.message)];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    mf_zip_row(zip, i)->unreadable = true;
    zip->entry[i].fault = (uint16_t)rule;
    mf_index_note(zip->index, zip->part->shard, zip->fault, rule, at, "%s",
                  text);
}

const char *mf_zip_fault(const struct mf_zip *zip, size_t i)
{
    return mf_rules[zip->entry[i].fault].meaning;
}

/* More than deflate can make of so many bytes. */
static bool is_too_many(const struct zip_fields *fields)
{
    uint64_t times = fields->size / ZIP_RATIO_MAX;

    return times > fields->packed ||
           (times == fields->packed && fields->size % ZIP_RATIO_MAX > 0);
}

/* Whether a member can be unpacked, and should be. */
static void check_readable(struct mf_zip *zip, size_t i, uint64_t at,
                           const struct zip_fields *fields)
{
    if (fields->flags & ~ZIP_FLAGS)
        mf_zip_spoil(zip, i, MF_RULE_ZIP_METHOD, at,
                     "member '%s' is encrypted, or unusual in another way: its "
                     "flags are 0x%04x, supported ones are 0x%04x",
                     mf_zip_name(zip, i).text, (unsigned)fields->flags,
                     (unsigned)ZIP_FLAGS);
    else if (fields->method != ZIP_STORED && fields->method != ZIP_DEFLATED)
        mf_zip_spoil(zip, i, MF_RULE_ZIP_METHOD, at,
                     "member '%s' is compressed by method %u; 0 (not at all) "
                     "and 8 (deflate) are read",
                     mf_zip_name(zip, i).text, (unsigned)fields->method);
#if defined(MF_NO_ZLIB)
    else if (fields->method == ZIP_DEFLATED)
        mf_zip_spoil(zip, i, MF_RULE_ZIP_METHOD, at,
                     "member '%s' is compressed by deflate, which this build "
                     "without zlib cannot unpack",
                     mf_zip_name(zip, i).text);
#endif
    else if (fields->method == ZIP_STORED && fields->packed != fields->size)
        mf_zip_spoil(zip, i, MF_RULE_ZIP_SIZE, at,
                     "member '%s' is not compressed, but %" PRIu64
                     " bytes become %" PRIu64,
                     mf_zip_name(zip, i).text, fields->packed, fields->size);
    else if (fields->size > MF_STORED_SIZE_MAX)
        mf_zip_spoil(zip, i, MF_RULE_ZIP_SIZE, at,
                     "member '%s' has %" PRIu64 " bytes, the limit is %" PRIu64,
                     mf_zip_name(zip, i).text, fields->size,
                     MF_STORED_SIZE_MAX);
    else if (fields->method == ZIP_DEFLATED && is_too_many(fields))
        mf_zip_spoil(zip, i, MF_RULE_ZIP_RATIO, at,
                     "member '%s' unpacks from %" PRIu64 " to %" PRIu64
                     " bytes, more than %d times as many, which deflate "
                     "cannot do: it is not read",
                     mf_zip_name(zip, i).text, fields->packed, fields->size,
                     ZIP_RATIO_MAX);
}

/* Room for one more entry: what memory grows with is the file, not what its end
 * record says. */
static enum mf_status make_room(struct mf_zip *zip, size_t used)
{
    size_t room = zip->entry_room + zip->entry_room / 2 + 64;
    void *moved;

    if (used < zip->entry_room)
        return MF_OK;
    moved = mf_env_resize(zip->index->env, zip->entry,
                          zip->entry_room * sizeof(*zip->entry),
                          room * sizeof(*zip->entry));
    if (!moved)
        return zip->index->env->error.status;
    zip->entry = moved;
    zip->entry_room = room;
    return MF_OK;
}

/* The numbers of a record whose first bytes are at `record`. */
static struct zip_fields take_fields(const uint8_t *record)
{
    return (struct zip_fields){ .flags = mf_little_16(record + 8),
                                .method = mf_little_16(record + 10),
                                .crc = mf_little_32(record + 16),
                                .packed = mf_little_32(record + 20),
                                .size = mf_little_32(record + 24),
                                .name_size = mf_little_16(record + 28),
                                .extra_size = mf_little_16(record + 30),
                                .local = mf_little_32(record + 42) };
}

static enum mf_status bad_record(const struct mf_zip *zip, size_t i,
                                 uint64_t at, const char *what)
{
    return mf_refuse(zip->index->env, MF_RULE_ZIP_DIRECTORY, at,
                     "record %zu of the directory %s", i, what);
}

/* Record i, up to its comment. */
static enum mf_status read_record(struct mf_zip *zip, size_t i)
{
    struct mf_reader *reader = zip->reader;
    uint64_t at = mf_reader_offset(reader);
    const uint8_t *record, *extra;
    struct zip_fields fields;
    struct mf_stored *row;
    uint16_t comment;
    uint32_t number;
    char *name;

    if (mf_reader_left(reader) < ZIP_DIRECTORY_SIZE)
        return bad_record(zip, i, at, "is longer than the directory");
    record = mf_take(reader, ZIP_DIRECTORY_SIZE);
    if (!record)
        return zip->index->env->error.status;
    if (!zip_is(record, ZIP_DIRECTORY))
        return bad_record(zip, i, at, "does not begin with its signature");
    fields = take_fields(record);
    comment = mf_little_16(record + 32);
    if (mf_little_16(record + 34) != 0 && mf_little_16(record + 34) != ALL_16)
        return bad_record(zip, i, at, "is of a member in another part");
    if (mf_reader_left(reader) <
        (uint64_t)fields.name_size + fields.extra_size + comment)
        return bad_record(zip, i, at, "is longer than the directory");
    name = mf_arena_text(&zip->index->arena, fields.name_size);
    if (!name || !mf_take_bytes(reader, name, fields.name_size))
        return zip->index->env->error.status;
    extra = mf_take(reader, fields.extra_size);
    if (!extra)
        return zip->index->env->error.status;
    if (!mf_zip_take_64(&fields, extra, true))
        return bad_record(zip, i, at, "lacks its numbers of 64 bits");
    mf_skip(reader, comment);
    row = mf_index_add_stored(zip->index, zip->part, &number);
    if (!row || make_room(zip, i) != MF_OK)
        return zip->index->env->error.status;
    row->name = (struct mf_str){ name, fields.name_size };
    row->file.size = fields.packed;
    row->size = fields.size;
    row->crc = fields.crc;
    row->has_crc = true;
    row->method =
        fields.method == ZIP_STORED ? MF_METHOD_PLAIN : MF_METHOD_DEFLATED;
    zip->entry[i] = (struct mf_zip_entry){ .local = fields.local,
                                           .at = at,
                                           .flags = fields.flags,
                                           .method = fields.method };
    check_name(zip, i, at);
    check_readable(zip, i, at, &fields);
    return MF_OK;
}

static enum mf_status read_directory(struct mf_zip *zip)
{
    struct mf_reader *reader = zip->reader;
    uint64_t end = zip->directory.offset + zip->directory.size;
    enum mf_status status = MF_OK;

    mf_reader_seek(reader, zip->directory.offset);
    mf_reader_limit(reader, end);
    for (size_t i = 0; status == MF_OK && i < zip->count; i++)
        status = read_record(zip, i);
    if (status == MF_OK && mf_reader_left(reader) > 0)
        status = mf_refuse(
            zip->index->env, MF_RULE_ZIP_DIRECTORY, mf_reader_offset(reader),
            "the directory has %" PRIu64 " bytes after its %zu members",
            mf_reader_left(reader), zip->count);
    if (status == MF_OK)
        mf_reader_limit(reader, reader->source->size);
    return status;
}

enum mf_status mf_zip_open(struct mf_zip *zip, struct mf_reader *reader,
                           struct mf_index *index, struct mf_part *part,
                           enum mf_severity fault)
{
    part->alignment = 1;
    part->data_end = reader->source->size;
    *zip = (struct mf_zip){ .reader = reader,
                            .index = index,
                            .part = part,
                            .fault = fault,
                            .first = (uint32_t)index->stored.stored_count };
    if (read_end(zip) == MF_OK && read_directory(zip) == MF_OK)
        mf_zip_check_directory(zip);
    return index->env->error.status;
}

bool mf_zip_tail_has(const struct mf_head *head, const char *name)
{
    size_t wanted = strlen(name);

    for (size_t at = 0; head->tail_size - at >= ZIP_DIRECTORY_SIZE; at++) {
        const uint8_t *record = head->tail + at;
        size_t left = head->tail_size - at - ZIP_DIRECTORY_SIZE, size;

        if (!head->tail || !zip_is(record, ZIP_DIRECTORY))
            continue;
        size = mf_little_16(record + 28);
        if (size <= left && size >= wanted &&
            memcmp(record + ZIP_DIRECTORY_SIZE + size - wanted, name, wanted) ==
                0)
            return true;
    }
    return false;
}
