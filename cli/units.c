/* SPDX-License-Identifier: MIT
 *
 * units.c - tokens of a context, and memory, on the command line
 */
#include "cli/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"

bool units_tokens(const char *text, uint64_t *out)
{
    unsigned long long number;
    unsigned shift = 0;
    char *end;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'M')
        shift = 20;
    end += shift > 0;
    if (*text < '0' || *text > '9' || *end || errno || number == 0 ||
        number > (UINT64_C(1) << 63) >> shift)
        return false;
    *out = (uint64_t)number << shift;
    return true;
}

/* A number alone is bytes if it is at least that. */
#define BYTES_LEAST 1000000

bool units_memory(const char *text, uint64_t *out)
{
    static const char letters[] = "kMGTKmgt";
    size_t digits = strspn(text, "0123456789.");
    const char *unit = text + digits, *found;
    char whole[40];

    if (digits == 0 || digits > 24)
        return false;
    if (!*unit && args_size(text, out) && *out >= BYTES_LEAST)
        return true;
    unit = *unit ? unit : "G";
    found = strchr(letters, *unit);
    if (!found ||
        (unit[1] && strcmp(unit + 1, "B") != 0 && strcmp(unit + 1, "b") != 0))
        return args_size(text, out);
    snprintf(whole, sizeof(whole), "%.*s%ciB", (int)digits, text,
             letters[(found - letters) % 4]);
    return args_size(whole, out);
}
