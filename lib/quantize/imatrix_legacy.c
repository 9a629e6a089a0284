/* SPDX-License-Identifier: MIT
 *
 * imatrix_legacy.c - an importance matrix in llama-imatrix's first format
 *
 * Files of before 2025, "imatrix.dat".  There is no magic and no version:
 *
 *     u32              count of entries
 *     for each entry
 *       u32, bytes     length of its name, name
 *       u32            calls: how often the tensor was used
 *       u32, f32...    count of values, values: sums over the calls
 *     in later versions
 *       u32            chunks of text that it was made from
 *       u32, bytes     length of the file name of that text, name
 *
 * So each count is checked against what is left of the file before it is used,
 * and any rest is an error: it would be another kind of file that happens to
 * begin with a small number.
 */
#include "lib/quantize/imatrix.h"

/* The fewest bytes of an entry: three numbers and a value, an empty name. */
#define ENTRY_MIN 16

static enum mf_status not_imatrix(struct mf_env *env, uint64_t offset,
                                  const char *why, uint64_t number)
{
    return mf_fail(env, MF_ERR_CORRUPT, offset,
                   "not an importance matrix: %s %" PRIu64, why, number);
}

/* size bytes of text into the arena. */
static enum mf_status read_text(struct mf_imatrix *imatrix,
                                struct mf_reader *reader, const char *what,
                                struct mf_str *out)
{
    uint64_t at = mf_reader_offset(reader);
    uint32_t size = mf_take_u32(reader);
    char *text;

    if (reader->failed)
        return mf_reader_check(reader, what);
    if (size > MF_NAME_MAX || size > mf_reader_left(reader))
        return not_imatrix(imatrix->env, at,
                           "length of a text is out of range:", size);
    text = mf_arena_text(&imatrix->arena, size);
    if (!text)
        return imatrix->env->error.status;
    if (!mf_take_bytes(reader, text, size))
        return mf_reader_check(reader, what);
    *out = (struct mf_str){ text, size };
    return MF_OK;
}

static enum mf_status read_entry(struct mf_imatrix *imatrix,
                                 struct mf_reader *reader,
                                 const struct mf_imatrix_choice *choice)
{
    struct mf_imatrix_entry entry = { 0 };
    uint64_t at = mf_reader_offset(reader);
    uint32_t calls, count;

    if (read_text(imatrix, reader, "the name of an entry", &entry.name) !=
        MF_OK)
        return imatrix->env->error.status;
    if (entry.name.size == 0 ||
        memchr(entry.name.at, 0, entry.name.size) != NULL)
        return not_imatrix(imatrix->env, at,
                           "name is empty or has a NUL, its length is",
                           entry.name.size);
    calls = mf_take_u32(reader);
    at = mf_reader_offset(reader);
    count = mf_take_u32(reader);
    if (reader->failed)
        return mf_reader_check(reader, "an entry of the importance matrix");
    if (count == 0 || count > INT32_MAX ||
        count > mf_reader_left(reader) / sizeof(float))
        return not_imatrix(imatrix->env, at,
                           "value count of an entry is out of range:", count);
    /* 0, or out of range: the values are means already. */
    entry.calls = calls > 0 && calls <= INT32_MAX ? (float)calls : 1;
    entry.count = count;
    entry.columns = count;
    entry.offset = mf_reader_offset(reader);
    mf_skip(reader, count * sizeof(float));
    return mf_imatrix_add(imatrix, &entry, choice);
}

/* What later versions wrote after the entries. */
static enum mf_status read_trailer(struct mf_imatrix *imatrix,
                                   struct mf_reader *reader)
{
    uint32_t chunks;

    if (mf_reader_left(reader) == 0)
        return MF_OK;
    chunks = mf_take_u32(reader);
    imatrix->chunks = chunks <= INT32_MAX ? chunks : 0;
    if (read_text(imatrix, reader, "the name of the text it was made with",
                  &imatrix->dataset) != MF_OK)
        return imatrix->env->error.status;
    if (mf_reader_left(reader) > 0)
        return not_imatrix(imatrix->env, mf_reader_offset(reader),
                           "bytes after its end:", mf_reader_left(reader));
    return MF_OK;
}

enum mf_status mf_imatrix_read_legacy(struct mf_imatrix *imatrix,
                                      const struct mf_imatrix_choice *choice)
{
    struct mf_reader reader;
    enum mf_status status;
    uint32_t count;

    if (mf_reader_init(&reader, imatrix->env, &imatrix->source, NULL, 0) !=
        MF_OK)
        return imatrix->env->error.status;
    count = mf_take_u32(&reader);
    status = mf_reader_check(&reader, "the count of entries");
    if (status == MF_OK &&
        (count == 0 || count > mf_reader_left(&reader) / ENTRY_MIN))
        status = not_imatrix(imatrix->env, 0,
                             "count of entries is out of range:", count);
    for (uint32_t i = 0; i < count && status == MF_OK; i++)
        status = read_entry(imatrix, &reader, choice);
    if (status == MF_OK)
        status = read_trailer(imatrix, &reader);
    mf_reader_release(&reader);
    return status;
}
