/* SPDX-License-Identifier: MIT
 *
 * formats.c - all formats, for the env that knows them and for programs that
 * ask what the library can do
 */
#include "lib/full/full.h"

#include <string.h>

const struct mf_format *const mf_formats[] = {
#define FORMAT(folder, row) &mf_format_##row,
#include "lib/model/formats.def"
#undef FORMAT
    NULL
};

bool mf_format_at(size_t index, struct mf_format_info *out)
{
    if (!out)
        return false;

    const struct mf_format *row;

    if (index >= MF_FORMAT_COUNT)
        return false;
    row = mf_formats[index];
    *out = (struct mf_format_info){ .name = row->name,
                                    .suffix = row->suffix,
                                    .description = row->description,
                                    .variant = row->variant,
                                    .can_write = row->written,
                                    .values = row->values,
                                    .naming = row->naming };
    return true;
}

bool mf_type_in(const char *type, const char *format)
{
    if (!type || !format)
        return false;

    for (size_t i = 0; mf_formats[i]; i++) {
        if (strcmp(mf_formats[i]->name, format) != 0)
            continue;
        for (int t = 0; mf_formats[i]->type_id && t < MF_TYPE_COUNT; t++)
            if (strcmp(mf_types[t].name, type) == 0 &&
                mf_formats[i]->type_id((enum mf_type)t) != MF_NO_TYPE_ID)
                return true;
    }
    return false;
}
