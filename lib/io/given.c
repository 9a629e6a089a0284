/* SPDX-License-Identifier: MIT
 *
 * given.c - bytes that a program brings, and the files next to them
 */
#include "lib/io/given.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/options.h"

struct mf_given {
    struct mf_env *env;
    struct mf_byte_source first;
    char *name; /* of the first */
    size_t name_size;
    atomic_flag reading; /* set while a thread reads, where only one may */
};

/* A file of the set that is open. */
struct given_file {
    struct mf_given *set;
    struct mf_byte_source source;
};

/* ---- the program's struct ---- */

/* A program that knows more members than this library fills in more. */
struct roomy {
    struct mf_byte_source source;
    char more[256];
};

static enum mf_status take(struct mf_env *env,
                           const struct mf_byte_source *given,
                           struct mf_byte_source *out)
{
    if (mf_options_take(env, out, sizeof(*out), given) != MF_OK)
        return MF_ERR_ARGUMENT;
    if (!out->read)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the source has no function to read with");
    if (out->bytes > INT64_MAX)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the source has %" PRIu64 " bytes, at most %" PRId64
                       " can be read",
                       out->bytes, INT64_MAX);
    return MF_OK;
}

static void close_source(const struct mf_byte_source *source)
{
    if (source->close)
        source->close(source->user);
}

/* ---- reading ---- */

static void begin_read(struct mf_given *set)
{
    const struct timespec moment = { .tv_nsec = 50000 };

    if (set->first.one_at_a_time)
        while (atomic_flag_test_and_set_explicit(&set->reading,
                                                 memory_order_acquire))
            nanosleep(&moment, NULL);
}

static void end_read(struct mf_given *set)
{
    if (set->first.one_at_a_time)
        atomic_flag_clear_explicit(&set->reading, memory_order_release);
}

/* What these mean elsewhere, a program does not mean by them. */
static int reason_of(int64_t got)
{
    int reason = got < -INT32_MAX ? EIO : (int)-got;

    return reason == EBADMSG || reason == ENOSPC ? EIO : reason;
}

static int64_t read_given(struct mf_given *set,
                          const struct mf_byte_source *from, uint64_t offset,
                          void *buffer, size_t size, struct mf_io_stats *io)
{
    uint64_t left = offset < from->bytes ? from->bytes - offset : 0;
    int64_t got = 0;

    if (size > left)
        size = (size_t)left;
    if (size == 0)
        return 0;
    begin_read(set);
    got = from->read(from->user, offset, buffer, size);
    end_read(set);
    if (got > 0 && (uint64_t)got > size)
        got = -EIO;
    if (got < 0) {
        errno = reason_of(got);
        return -1;
    }
    io->reads += got > 0;
    io->bytes_read += (uint64_t)got;
    return got;
}

static int64_t first_read(const struct mf_source *source, uint64_t offset,
                          void *buffer, size_t size, struct mf_io_stats *io)
{
    struct mf_given *set = source->user;

    return read_given(set, &set->first, offset, buffer, size, io);
}

static int64_t file_read(const struct mf_source *source, uint64_t offset,
                         void *buffer, size_t size, struct mf_io_stats *io)
{
    struct given_file *file = source->user;

    return read_given(file->set, &file->source, offset, buffer, size, io);
}

static void expect(struct mf_given *set, const struct mf_byte_source *from,
                   struct mf_span span)
{
    if (!from->expect)
        return;
    begin_read(set);
    from->expect(from->user, span.offset, span.size);
    end_read(set);
}

static void first_expect(const struct mf_source *source, struct mf_span span)
{
    struct mf_given *set = source->user;

    expect(set, &set->first, span);
}

static void file_expect(const struct mf_source *source, struct mf_span span)
{
    struct given_file *file = source->user;

    expect(file->set, &file->source, span);
}

static void file_close(struct mf_source *source)
{
    struct given_file *file = source->user;

    close_source(&file->source);
    mf_release(file->set->env, file, sizeof(*file));
}

/* That they do not change is for the program to see to. */
static const struct mf_source_ops first_ops = { .read = first_read,
                                                .expect = first_expect };
static const struct mf_source_ops borrowed_ops = { .read = file_read,
                                                   .expect = file_expect };
static const struct mf_source_ops file_ops = { .read = file_read,
                                               .expect = file_expect,
                                               .close = file_close,
                                               .borrowed = &borrowed_ops };

/* ---- the set ---- */

static enum mf_status make(struct mf_env *env,
                           const struct mf_byte_source *first,
                           struct mf_given **out)
{
    size_t size = strlen(first->name) + 1;
    struct mf_given *given = mf_alloc(env, sizeof(*given));

    if (!given)
        return env->error.status;
    *given = (struct mf_given){ .env = env,
                                .first = *first,
                                .name = mf_alloc(env, size),
                                .name_size = size,
                                .reading = ATOMIC_FLAG_INIT };
    if (!given->name) {
        mf_release(env, given, sizeof(*given));
        return env->error.status;
    }
    memcpy(given->name, first->name, size);
    *out = given;
    return MF_OK;
}

enum mf_status mf_given_new(struct mf_env *env,
                            const struct mf_byte_source *source,
                            struct mf_given **out)
{
    struct mf_byte_source first;

    if (take(env, source, &first) != MF_OK)
        return env->error.status;
    if (!first.name || !*first.name)
        return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "the source has no name");
    if (make(env, &first, out) != MF_OK)
        close_source(&first);
    return env->error.status;
}

void mf_given_close(struct mf_given *given)
{
    if (!given)
        return;
    close_source(&given->first);
    mf_release(given->env, given->name, given->name_size);
    mf_release(given->env, given, sizeof(*given));
}

const char *mf_given_name(const struct mf_given *given)
{
    return given->name;
}

bool mf_given_has_more(const struct mf_given *given)
{
    return given->first.open != NULL;
}

/* Not MF_ERR_ARGUMENT: the arguments of the call were right. */
static bool is_usable(struct mf_env *env, const struct roomy *roomy,
                      struct mf_byte_source *out)
{
    struct mf_error error;

    if (roomy->source.size <= sizeof(*roomy) &&
        take(env, &roomy->source, out) == MF_OK)
        return true;
    error = env->error;
    mf_clear_error(env);
    mf_fail(env, MF_ERR_IO, MF_NO_OFFSET,
            "the program opened it as a source that cannot be used: %s",
            error.status != MF_OK ? error.message : "its size is too large");
    return false;
}

/* What the program opens under that name; false after mf_fail. */
static bool open_source(struct mf_given *given, const char *name,
                        struct mf_byte_source *out)
{
    struct roomy roomy = { .source.size = sizeof(struct mf_byte_source) };
    int reason = ENOENT;

    begin_read(given);
    if (given->first.open)
        reason = given->first.open(given->first.user, name, &roomy.source);
    end_read(given);
    reason = abs(reason); /* as read returns them */
    if (reason != 0) {
        mf_fail_system(given->env,
                       reason == ECANCELED ? MF_ERR_STOPPED
                                           : mf_status_of(reason),
                       MF_NO_OFFSET, reason, "cannot be opened: %s",
                       mf_errno_text(reason));
        return false;
    }
    if (is_usable(given->env, &roomy, out))
        return true;
    close_source(&roomy.source);
    return false;
}

enum mf_status mf_given_open(struct mf_given *given, const char *name,
                             struct mf_source *out)
{
    struct mf_byte_source source;
    struct given_file *file;

    *out = (struct mf_source){ .fd = -1 };
    if (strcmp(name, given->name) == 0) {
        *out = (struct mf_source){ .ops = &first_ops,
                                   .name = name,
                                   .size = given->first.bytes,
                                   .version = { given->first.version[0],
                                                given->first.version[1] },
                                   .fd = -1,
                                   .user = given };
        return MF_OK;
    }
    if (!open_source(given, name, &source))
        return given->env->error.status;
    file = mf_alloc(given->env, sizeof(*file));
    if (!file) {
        close_source(&source);
        return given->env->error.status;
    }
    *file = (struct given_file){ .set = given, .source = source };
    *out =
        (struct mf_source){ .ops = &file_ops,
                            .name = name,
                            .size = source.bytes,
                            .version = { source.version[0], source.version[1] },
                            .fd = -1,
                            .user = file };
    return MF_OK;
}
