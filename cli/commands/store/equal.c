/* SPDX-License-Identifier: MIT
 *
 * equal.c - files of stores whose bytes are equal
 */
#include <string.h>

#include "cli/commands/store/store.h"
#include "cli/report.h"

struct table {
    struct store_file *file;
    struct mf_hashed_file *hashed; /* of each file of the list */
    uint32_t *row;                 /* in the list */
    size_t count;
};

/* ---- by size ---- */

/* Largest first; names of one inode follow each other. */
static bool larger(const void *table, uint32_t a, uint32_t b)
{
    const struct store_file *file = table;

    if (file[a].size != file[b].size)
        return file[a].size > file[b].size;
    if (file[a].device != file[b].device)
        return file[a].device < file[b].device;
    if (file[a].inode != file[b].inode)
        return file[a].inode < file[b].inode;
    return a < b;
}

static bool same_inode(const struct store_file *a, const struct store_file *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Whole files, of each inode the first name. */
static void choose_inodes(struct table *table, size_t count)
{
    const struct store_file *file = table->file;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (!file[i].partial && file[i].size >= EQUAL_LEAST)
            table->row[table->count++] = (uint32_t)i;
    mf_sort(table->row, table->count, larger, file);
    for (size_t i = 0; i < table->count; i++)
        if (i == 0 ||
            !same_inode(&file[table->row[i]], &file[table->row[i - 1]]))
            table->row[kept++] = table->row[i];
    table->count = kept;
}

/* Only those that have the size of another one. */
static void choose_sizes(struct table *table)
{
    const struct store_file *file = table->file;
    size_t kept = 0;

    for (size_t i = 0, end; i < table->count; i = end) {
        for (end = i + 1; end < table->count && file[table->row[end]].size ==
                                                    file[table->row[i]].size;)
            end++;
        if (end == i + 1)
            continue;
        memmove(table->row + kept, table->row + i,
                (end - i) * sizeof(*table->row));
        kept += end - i;
    }
    table->count = kept;
}

/* ---- by digest ---- */

static int compare_digests(const struct table *table, uint32_t a, uint32_t b)
{
    const struct mf_hashed_file *one = &table->hashed[a];
    const struct mf_hashed_file *other = &table->hashed[b];

    if (one->size != other->size)
        return one->size > other->size ? -1 : 1;
    if (one->status != MF_OK || other->status != MF_OK)
        return one->status == other->status ? 0 : one->status == MF_OK ? -1 : 1;
    return memcmp(one->digest, other->digest, 32);
}

/* Rows are numbers of hashed files here. */
static bool before(const void *user, uint32_t a, uint32_t b)
{
    const struct table *table = user;
    int order = compare_digests(table, a, b);

    return order < 0 || (order == 0 && table->row[a] < table->row[b]);
}

static bool hash(struct scan *scan, struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct store_file *file = &table->file[table->row[i]];

        table->hashed[i] =
            (struct mf_hashed_file){ .path = scan_text(scan, file->path),
                                     .size = file->size };
    }
    if (mf_files_hash(scan->run->env, table->hashed, table->count) == MF_OK)
        return true;
    report_failure(scan->run, NULL);
    return false;
}

/* Sets of two files or more, in room for twice as many numbers as files. */
static void collect(struct scan *scan, const struct table *table,
                    uint32_t *order, struct equal *out)
{
    for (size_t i = 0; i < table->count; i++)
        order[i] = (uint32_t)i;
    mf_sort(order, table->count, before, table);
    for (size_t i = 0, end; i < table->count; i = end) {
        const struct mf_hashed_file *first = &table->hashed[order[i]];

        end = i + 1;
        if (first->status != MF_OK) {
            out->unreadable++;
            report_remark(scan->run, first->path, first->why);
            continue;
        }
        while (end < table->count &&
               compare_digests(table, order[i], order[end]) == 0)
            end++;
        if (end == i + 1)
            continue;
        for (size_t k = i; k < end; k++)
            out->at[out->size++] = table->row[order[k]];
        out->at[out->size++] = EQUAL_END;
    }
}

bool equal_find(struct scan *scan, struct equal *out)
{
    struct mf_env *env = scan->run->env;
    size_t count = scan_file_count(scan), bytes, room;
    struct table table = { .file = scan_files(scan) };
    bool done = false;

    *out = (struct equal){ .room = 2 * count + 1 };
    bytes = 2 * (count + 1) * sizeof(*table.row);
    out->at = mf_env_resize(env, NULL, 0, out->room * sizeof(*out->at));
    table.row = mf_env_resize(env, NULL, 0, bytes);
    if (table.row && out->at) {
        choose_inodes(&table, count);
        choose_sizes(&table);
        room = (table.count + 1) * sizeof(*table.hashed);
        table.hashed = mf_env_resize(env, NULL, 0, room);
        done = table.hashed && hash(scan, &table);
        if (done)
            collect(scan, &table, table.row + count + 1, out);
        else if (!table.hashed)
            report_failure(scan->run, NULL);
        if (table.hashed)
            mf_env_resize(env, table.hashed, room, 0);
    } else {
        report_failure(scan->run, NULL);
    }
    if (table.row)
        mf_env_resize(env, table.row, bytes, 0);
    if (!done)
        equal_release(scan->run, out);
    return done;
}

void equal_release(struct run *run, struct equal *equal)
{
    if (equal->at)
        mf_env_resize(run->env, equal->at, equal->room * sizeof(*equal->at), 0);
    equal->at = NULL;
}
