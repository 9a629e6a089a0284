/* SPDX-License-Identifier: MIT
 *
 * writers.c - the formats that are written
 */
#include <string.h>

#include "lib/draft/draft.h"
#include "lib/io/path.h"

#define WRITER(row, how) extern const struct mf_format_out how;
#include "lib/draft/writers.def"
#undef WRITER

const struct mf_writing mf_writings[] = {
#define WRITER(row, how) { &mf_format_##row, &how },
#include "lib/draft/writers.def"
#undef WRITER
    { NULL, NULL }
};

/* Rows of one name are one format for readers; its lists of shards are not
 * written by themselves. */
const struct mf_format_out *mf_format_out(const struct mf_format *format)
{
    const struct mf_writing *row = mf_writings;

    while (row->format && row->format != format)
        row++;
    return row->out;
}

const struct mf_format *mf_format_to_write(const char *name)
{
    const struct mf_writing *row = mf_writings;

    while (row->format && (!name || strcmp(row->format->name, name) != 0))
        row++;
    return row->format;
}

const struct mf_format *mf_format_by_suffix(const char *path)
{
    const struct mf_writing *row = mf_writings;

    while (row->format && !mf_name_ends(path, row->format->suffix))
        row++;
    return row->format;
}

const struct mf_format *mf_format_with_values(enum mf_values_kind values)
{
    const struct mf_writing *row = mf_writings;

    while (row->format && row->format->values != values)
        row++;
    return row->format;
}

enum mf_status mf_format_unknown(struct mf_env *env, const char *name)
{
    struct mf_str text = { name ? name : "", name ? strlen(name) : 0 };
    const struct mf_format *formats[16] = { NULL };
    char known[160];

    for (size_t i = 0; mf_writings[i].format && i < 15; i++)
        formats[i] = mf_writings[i].format;
    mf_formats_text(formats, false, known, sizeof(known));
    return mf_fail(env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                   "cannot write format '%s'; expected %s", mf_quote(text).text,
                   known);
}
