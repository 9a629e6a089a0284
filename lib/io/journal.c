/* SPDX-License-Identifier: MIT
 *
 * journal.c - a journal is read and compared with its file
 *
 * A journal may have been written by another user, or cut short: its bytes are
 * untrusted input.  Sizes are checked against its own size before anything is
 * read by them, and all of it against its checksum before any of it is used.
 */
#include "lib/io/journal_parts.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "lib/base/chunk.h"
#include "lib/io/digest.h"
#include "lib/io/path.h"
#include "lib/io/source.h"

_Static_assert(MF_PATCHES_MAX <= MF_OVERLAY_MAX, "an overlay has all patches");

/* ---- bytes ---- */

static uint64_t get_u64(const uint8_t *at)
{
    uint64_t value = 0;

    for (int i = 8; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

bool mf_journal_write_all(int fd, uint64_t offset, const void *bytes,
                          size_t size)
{
    const uint8_t *from = bytes;

    while (size > 0) {
        ssize_t wrote;

        MF_AGAIN(wrote, pwrite(fd, from, size, (off_t)offset));
        if (wrote == 0) /* it would be repeated for ever */
            errno = EIO;
        if (wrote <= 0)
            return false;
        from += wrote;
        offset += (uint64_t)wrote;
        size -= (size_t)wrote;
    }
    return true;
}

bool mf_journal_sync(int fd)
{
    int result;

    MF_AGAIN(result, fsync(fd));
    return result == 0;
}

bool mf_journal_sync_folder(int fd)
{
    return mf_journal_sync(fd) || errno == EINVAL;
}

bool mf_journal_name(const char *name, char out[NAME_MAX + 1])
{
    if (strlen(name) + strlen(MF_JOURNAL_SUFFIX) > NAME_MAX)
        return false;
    strcpy(out, name);
    strcat(out, MF_JOURNAL_SUFFIX);
    return true;
}

uint64_t mf_journal_size(const struct mf_journal_edit *edit)
{
    uint64_t size =
        MF_JOURNAL_HEAD + MF_JOURNAL_ROW * edit->count + MF_JOURNAL_SUM;

    for (size_t i = 0; i < edit->count; i++)
        size += 2 * edit->patch[i].size;
    return size;
}

/* ---- reading a journal ---- */

bool mf_journal_place(struct mf_journal *journal, uint64_t size)
{
    uint64_t at = MF_JOURNAL_HEAD + MF_JOURNAL_ROW * journal->count, end = 0;

    assert(journal->count <= MF_PATCHES_MAX && size >= MF_JOURNAL_SUM);
    size -= MF_JOURNAL_SUM;
    for (size_t i = 0; i < journal->count; i++) {
        struct mf_patch *patch = &journal->patch[i];

        patch->old_at = at;
        if (patch->size == 0 || patch->offset < end ||
            patch->offset > journal->file_size ||
            patch->size > journal->file_size - patch->offset || at > size ||
            patch->size > (size - at) / 2)
            return false;
        end = patch->offset + patch->size;
        at += 2 * patch->size;
    }
    return at == size;
}

/* NULL, or what is wrong. */
static const char *read_head(struct mf_journal *journal, uint64_t size)
{
    uint8_t bytes[MF_JOURNAL_HEAD + MF_JOURNAL_ROW * MF_PATCHES_MAX];
    uint64_t count;

    if (size > MF_JOURNAL_MAX)
        return "is larger than a journal can be";
    if (size < MF_JOURNAL_HEAD + MF_JOURNAL_ROW + MF_JOURNAL_SUM ||
        !mf_fd_read(journal->fd, 0, bytes, MF_JOURNAL_HEAD) ||
        memcmp(bytes, MF_JOURNAL_MAGIC, 8) != 0)
        return "is not a journal of this version";
    journal->file_size = get_u64(bytes + 8);
    count = get_u64(bytes + 16);
    if (count < 1 || count > MF_PATCHES_MAX ||
        size < MF_JOURNAL_HEAD + MF_JOURNAL_ROW * count + MF_JOURNAL_SUM ||
        !mf_fd_read(journal->fd, MF_JOURNAL_HEAD, bytes,
                    MF_JOURNAL_ROW * (size_t)count))
        return "is damaged: its count of patches is invalid";
    journal->count = (size_t)count;
    for (size_t i = 0; i < journal->count; i++) {
        journal->patch[i].offset = get_u64(bytes + MF_JOURNAL_ROW * i);
        journal->patch[i].size = get_u64(bytes + MF_JOURNAL_ROW * i + 8);
    }
    return mf_journal_place(journal, size)
               ? NULL
               : "is damaged: a patch is out of bounds";
}

static const char *check_digest(struct mf_digest *digest, int fd, uint64_t size)
{
    uint8_t bytes[4096], expected[MF_JOURNAL_SUM], found[MF_DIGEST_MAX];

    size -= MF_JOURNAL_SUM;
    for (uint64_t at = 0, some; at < size; at += some) {
        some = size - at < sizeof(bytes) ? size - at : sizeof(bytes);
        if (!mf_fd_read(fd, at, bytes, (size_t)some))
            return "cannot be read";
        mf_digest_add(digest, bytes, (size_t)some);
    }
    if (!mf_fd_read(fd, size, expected, sizeof(expected)))
        return "cannot be read";
    mf_digest_finish(digest, found);
    return memcmp(expected, found, sizeof(expected)) == 0
               ? NULL
               : "is damaged: its checksum does not match";
}

enum mf_status mf_journal_read(struct mf_env *env, int fd,
                               struct mf_journal *out, const char **why)
{
    struct mf_journal journal = { .fd = fd };
    struct mf_digest *digest;
    struct stat status;

    *why = fstat(fd, &status) == 0
               ? read_head(&journal, (uint64_t)status.st_size)
               : "cannot be read";
    if (*why)
        return MF_OK;
    digest = mf_digest_new(env, MF_XXH3_128);
    if (!digest)
        return env->error.status;
    *why = check_digest(digest, fd, (uint64_t)status.st_size);
    mf_digest_free(digest);
    *out = journal;
    return MF_OK;
}

/* ---- the state of a file ---- */

/* At the least they take less than the digest that made the journal, so that
 * an edit with a journal never stops here for want of memory. */
#define COMPARED_LEAST 128

struct comparison {
    uint8_t *now, *old, *new; /* of `chunk` bytes each */
    size_t chunk;
    bool some_old, some_new, foreign;
};

static void compare_chunk(struct comparison *comparison, size_t size)
{
    const uint8_t *now = comparison->now;

    for (size_t i = 0; i < size; i++) {
        bool is_old = now[i] == comparison->old[i];
        bool is_new = now[i] == comparison->new[i];

        comparison->some_old |= is_old && !is_new;
        comparison->some_new |= is_new && !is_old;
        comparison->foreign |= !is_old && !is_new;
    }
}

static bool compare_patch(struct comparison *comparison,
                          const struct mf_journal *journal,
                          const struct mf_patch *patch, int fd)
{
    size_t size;

    for (uint64_t at = 0; at < patch->size && !comparison->foreign;
         at += size) {
        uint64_t old_at = patch->old_at + at;

        size = patch->size - at < comparison->chunk ? (size_t)(patch->size - at)
                                                    : comparison->chunk;
        if (!mf_fd_read(fd, patch->offset + at, comparison->now, size) ||
            !mf_fd_read(journal->fd, old_at, comparison->old, size) ||
            !mf_fd_read(journal->fd, old_at + patch->size, comparison->new,
                        size))
            return false;
        compare_chunk(comparison, size);
    }
    return true;
}

static bool compare(struct comparison *comparison,
                    const struct mf_journal *journal, int fd)
{
    struct stat status;

    comparison->some_old = comparison->some_new = false;
    if (fstat(fd, &status) != 0)
        return false;
    comparison->foreign = (uint64_t)status.st_size != journal->file_size;
    for (size_t i = 0; i < journal->count && !comparison->foreign; i++)
        if (!compare_patch(comparison, journal, &journal->patch[i], fd))
            return false;
    return true;
}

enum mf_status mf_journal_compare(struct mf_env *env,
                                  const struct mf_journal *journal, int fd,
                                  enum mf_journal_state *out)
{
    struct mf_chunk_size size =
        mf_chunk_size(env, COMPARED_LEAST, MF_JOURNAL_CHUNK, 3, 2);
    uint8_t *bytes = mf_chunk_alloc(env, &size, 3);
    struct comparison comparison = { .chunk = size.now };

    if (!bytes)
        return env->error.status;
    comparison.now = bytes;
    comparison.old = bytes + size.now;
    comparison.new = bytes + 2 * size.now;
    if (!compare(&comparison, journal, fd))
        mf_fail_system(env, MF_ERR_IO, MF_NO_OFFSET, errno,
                       "cannot be compared with its journal: %s",
                       mf_errno_text(errno));
    else if (comparison.foreign)
        *out = MF_JOURNAL_FOREIGN;
    else if (comparison.some_old)
        *out = comparison.some_new ? MF_JOURNAL_MIXED : MF_JOURNAL_OLD;
    else
        *out = MF_JOURNAL_NEW;
    mf_release(env, bytes, 3 * size.now);
    return env->error.status;
}

struct mf_overlay mf_journal_overlay(const struct mf_journal *journal)
{
    struct mf_overlay overlay = { .fd = journal->fd, .count = journal->count };

    for (size_t i = 0; i < journal->count; i++) {
        const struct mf_patch *patch = &journal->patch[i];

        overlay.span[i].offset = patch->offset;
        overlay.span[i].size = patch->size;
        overlay.span[i].at =
            patch->old_at + (journal->shows_old ? 0 : patch->size);
    }
    return overlay;
}
