/* SPDX-License-Identifier: MIT
 *
 * places.c - the members of a zip archive together: where they are, what they
 * are called
 *
 * Members are compared twice.  Before anything of them is read, the directory
 * alone tells which must overlap: an archive that unpacks the same bytes again
 * and again is known before one of them is unpacked.  Once their own headers
 * are known, it is certain where each begins and ends.
 */
#include "lib/base/sort.h"
#include "zip/parts.h"

/* ---- names ---- */

/* A name without what file systems do not tell apart. */
static int fold(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : (uint8_t)byte;
}

/* Any order in which equal names are neighbours will do.  Member names often
 * begin alike, so the order is by their last bytes. */
static int compare_folded(struct mf_str a, struct mf_str b)
{
    if (a.size != b.size)
        return a.size < b.size ? -1 : 1;
    for (size_t i = a.size; i-- > 0;)
        if (fold(a.at[i]) != fold(b.at[i]))
            return fold(a.at[i]) - fold(b.at[i]);
    return 0;
}

static bool name_before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_zip *zip = table;
    int order =
        compare_folded(mf_zip_row(zip, a)->name, mf_zip_row(zip, b)->name);

    return order != 0 ? order < 0 : a < b;
}

static void check_names(struct mf_zip *zip, const uint32_t *order)
{
    for (size_t i = 1; i < zip->count; i++) {
        struct mf_str name = mf_zip_row(zip, order[i])->name;
        struct mf_str other = mf_zip_row(zip, order[i - 1])->name;
        bool same = mf_str_same(name, other);

        if (compare_folded(name, other) == 0)
            mf_index_note(zip->index, zip->part->shard,
                          same ? MF_ERROR : MF_WARNING, MF_RULE_ZIP_DUPLICATE,
                          zip->entry[order[i]].at,
                          same ? "another member has the name '%s'"
                               : "another member has the name '%s', but for "
                                 "upper and lower case",
                          mf_zip_name(zip, order[i]).text);
    }
}

/* ---- places ---- */

static bool before(const void *table, uint32_t a, uint32_t b)
{
    const struct mf_zip_entry *entry = table;

    return entry[a].local < entry[b].local;
}

static void note_overlap(struct mf_zip *zip, size_t i, size_t last)
{
    mf_zip_row(zip, i)->unreadable = true;
    mf_zip_row(zip, last)->unreadable = true;
    zip->entry[i].fault = zip->entry[last].fault = MF_RULE_ZIP_OVERLAP;
    mf_index_note(zip->index, zip->part->shard, MF_ERROR, MF_RULE_ZIP_OVERLAP,
                  zip->entry[i].local,
                  "member '%s' begins within member '%s': neither is read",
                  mf_zip_name(zip, i).text, mf_zip_name(zip, last).text);
}

/* Members in the order of the file: each must begin where others have ended. */
static void check_overlaps(struct mf_zip *zip, const uint32_t *order)
{
    struct mf_zip_entry *last = NULL;

    for (size_t i = 0; i < zip->count; i++) {
        struct mf_zip_entry *entry = &zip->entry[order[i]];

        if (entry->end == 0)
            continue;
        if (last && entry->local < last->end &&
            !(last->overlaps && entry->overlaps)) {
            last->overlaps = entry->overlaps = true;
            note_overlap(zip, order[i], (size_t)(last - zip->entry));
        }
        if (!last || entry->end > last->end)
            last = entry;
    }
}

bool mf_zip_is_descriptor(const struct mf_zip_entry *entry, uint64_t size)
{
    return entry->flags & ZIP_DESCRIPTOR &&
           (size == 12 || size == 16 || size == 20 || size == 24);
}

/* A descriptor that was not in the bytes before the next member's header. */
static void read_descriptor(struct mf_zip *zip, size_t i, size_t size)
{
    uint8_t bytes[ZIP_DESCRIPTOR_MAX];

    if (!zip->entry[i].described &&
        mf_reader_copy(zip->reader, zip->entry[i].end, bytes, size))
        mf_zip_check_descriptor(zip, i, bytes, size);
}

/* Bytes after the member `last`, or before all others. */
static void check_gap(struct mf_zip *zip, const struct mf_zip_entry *last,
                      uint64_t to)
{
    uint64_t from = last ? last->end : 0;

    if (from >= to)
        return;
    if (last && mf_zip_is_descriptor(last, to - from))
        read_descriptor(zip, (size_t)(last - zip->entry), (size_t)(to - from));
    else if (!last)
        mf_index_note(zip->index, zip->part->shard, MF_ERROR,
                      MF_RULE_ZIP_PREFIX, 0,
                      "%" PRIu64 " bytes precede the first member", to);
    else
        mf_index_note(zip->index, zip->part->shard, MF_WARNING, MF_RULE_ZIP_GAP,
                      from, "%" PRIu64 " bytes here belong to no member",
                      to - from);
}

/* Only where all members are known: what is between may be one that is not. */
static void check_gaps(struct mf_zip *zip, const uint32_t *order)
{
    const struct mf_zip_entry *last = NULL;

    for (size_t i = 0; i < zip->count; i++)
        if (zip->entry[i].end == 0 || zip->entry[i].overlaps)
            return;
    for (size_t i = 0; i < zip->count; i++) {
        const struct mf_zip_entry *entry = &zip->entry[order[i]];

        check_gap(zip, last, entry->local);
        last = entry;
    }
    check_gap(zip, last, zip->directory.offset);
}

/* ---- when they are called ---- */

/* Rows in the order of the file; NULL after mf_fail, and if there are none. */
static uint32_t *take_order(struct mf_zip *zip)
{
    uint32_t *order =
        zip->count > 0 ? mf_alloc(zip->index->env, zip->count * sizeof(*order))
                       : NULL;

    for (uint32_t i = 0; order && i < zip->count; i++)
        order[i] = i;
    if (order)
        mf_sort(order, zip->count, before, zip->entry);
    return order;
}

static enum mf_status give_order(struct mf_zip *zip, uint32_t *order)
{
    mf_release(zip->index->env, order, zip->count * sizeof(*order));
    return zip->index->env->error.status;
}

enum mf_status mf_zip_check_directory(struct mf_zip *zip)
{
    uint32_t *order = take_order(zip);

    for (size_t i = 0; i < zip->count; i++) {
        struct mf_zip_entry *entry = &zip->entry[i];
        const struct mf_stored *row = mf_zip_row(zip, i);

        if (!mf_add(entry->local, row->file.size, &entry->end) ||
            !mf_add(entry->end, ZIP_LOCAL_SIZE + row->name.size, &entry->end))
            entry->end = 0;
    }
    if (order)
        check_overlaps(zip, order);
    for (size_t i = 0; i < zip->count; i++)
        zip->entry[i].end = 0;
    return give_order(zip, order);
}

static enum mf_status check_all(struct mf_zip *zip)
{
    uint32_t *order = take_order(zip);

    if (order) {
        check_overlaps(zip, order);
        check_gaps(zip, order);
        mf_sort(order, zip->count, name_before, zip);
        check_names(zip, order);
    }
    return give_order(zip, order);
}

enum mf_status mf_zip_close(struct mf_zip *zip)
{
    struct mf_env *env = zip->index->env;
    enum mf_status status = env->error.status;

    if (status == MF_OK)
        status = check_all(zip);
    mf_release(env, zip->entry, zip->entry_room * sizeof(*zip->entry));
    zip->entry = NULL;
    return status;
}
