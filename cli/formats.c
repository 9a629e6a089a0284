/* SPDX-License-Identifier: MIT
 *
 * formats.c - the formats that can be written, by name
 */
#include "cli/formats.h"

#include <string.h>

bool formats_is_main(size_t row, const struct mf_format_info *format)
{
    size_t size = strlen(format->suffix);
    struct mf_format_info other;

    for (size_t i = 0; mf_format_at(i, &other); i++)
        if (strcmp(other.name, format->name) == 0 &&
            (strlen(other.suffix) < size ||
             (i < row && strlen(other.suffix) == size)))
            return false;
    return true;
}

/* A format that has q8_0 has quantized types. */
const char *formats_name(enum formats which, size_t index)
{
    struct mf_format_info format;

    for (size_t row = 0; mf_format_at(row, &format); row++)
        if (format.can_write && formats_is_main(row, &format) &&
            (which != FORMATS_BLOCKS || mf_type_in("q8_0", format.name)) &&
            index-- == 0)
            return format.name;
    return NULL;
}
