/* SPDX-License-Identifier: MIT
 *
 * part.c - the value I/N of --part
 */
#include "cli/part.h"

#include <string.h>

#include "cli/report.h"

static bool is_number(const char *text, size_t size, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || *out > 99999)
            return false;
        *out = *out * 10 + (uint64_t)(text[i] - '0');
    }
    return size > 0 && *out > 0;
}

bool part_take(struct run *run, const char *text, uint64_t *part,
               uint64_t *parts)
{
    const char *slash = text ? strchr(text, '/') : NULL;

    *part = *parts = 1;
    if (!text ||
        (slash && is_number(text, (size_t)(slash - text), part) &&
         is_number(slash + 1, strlen(slash + 1), parts) && *part <= *parts))
        return true;
    report_usage(
        run, "'--part %.100s': it is I/N, from 1/N to N/N, such as 2/8", text);
    return false;
}
