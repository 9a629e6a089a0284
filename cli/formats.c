/* SPDX-License-Identifier: MIT
 *
 * formats.c - the formats that can be written, by name
 */
#include "cli/formats.h"

#include <string.h>

bool formats_is_main(const struct mf_format_info *format)
{
    return *format->variant == 0;
}

bool formats_find(const char *name, struct mf_format_info *out)
{
    for (size_t row = 0; mf_format_at(row, out); row++)
        if (strcmp(out->name, name) == 0 && formats_is_main(out))
            return true;
    return false;
}

/* Types of blocks that no mix uses, such as f4, do not count. */
bool formats_holds_blocks(const char *name)
{
    struct mf_type_info type;

    for (size_t i = 0; mf_type_at(i, &type); i++)
        if (type.block > 1 && mf_mix_name(type.name) &&
            mf_type_in(type.name, name))
            return true;
    return false;
}

const char *formats_name(enum formats which, size_t index)
{
    struct mf_format_info format;

    for (size_t row = 0; mf_format_at(row, &format); row++)
        if (format.can_write && formats_is_main(&format) &&
            (which != FORMATS_BLOCKS || formats_holds_blocks(format.name)) &&
            index-- == 0)
            return format.name;
    return NULL;
}
