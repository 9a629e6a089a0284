/* SPDX-License-Identifier: MIT
 *
 * journal_parts.h - the format of a journal, and what its three parts share
 *
 * journal.c reads a journal and compares it with its file, journal_make.c makes
 * one, journal_apply.c copies it to the file and removes it.
 *
 * The format, all numbers little-endian and of 64 bits:
 *
 *     "MFEDIT\2\n" | size of the file | count of patches
 *     count times: offset, size
 *     count times: the old bytes, the new bytes
 *     the XXH3 of 128 bits of all that
 *
 * The checksum finds a journal that was cut short or damaged, not one that was
 * forged: that is what the rules about its owner and mode are for.
 */
#ifndef MF_LIB_JOURNAL_PARTS_H
#define MF_LIB_JOURNAL_PARTS_H

#include "lib/io/journal.h"

#define MF_JOURNAL_MAGIC "MFEDIT\2\n"
#define MF_JOURNAL_HEAD  24
#define MF_JOURNAL_ROW   16
#define MF_JOURNAL_SUM   16
#define MF_JOURNAL_CHUNK ((size_t)16 * 1024)

/* How many of the bytes that are left are moved at once. */
static inline size_t mf_journal_piece(uint64_t left)
{
    return left < MF_JOURNAL_CHUNK ? (size_t)left : MF_JOURNAL_CHUNK;
}

/* Writes all of size bytes; false with errno set. */
bool mf_journal_write_all(int fd, uint64_t offset, const void *bytes,
                          size_t size);

/* fsync; false with errno set.  Of a folder, success where the file system
 * cannot (EINVAL). */
bool mf_journal_sync(int fd);
bool mf_journal_sync_folder(int fd);

/* Size of an edit's journal. */
uint64_t mf_journal_size(const struct mf_journal_edit *edit);

/* Computes where each patch is in a journal of that size; false where offsets
 * and sizes are invalid for one. */
bool mf_journal_place(struct mf_journal *journal, uint64_t size);

/* Makes the journal of an edit of the locked file: when this returns MF_OK it
 * is on the disk, under its name.  Places the patches of *journal and sets its
 * fd, which the caller closes unless it is -1. */
enum mf_status mf_journal_make(struct mf_env *env, const struct mf_lock *lock,
                               const struct mf_journal_edit *edit,
                               struct mf_journal *journal);

/* Removes the locked file's journal, if that is the file that is open as fd. */
bool mf_journal_unlink(const struct mf_lock *lock, int fd);

#endif
