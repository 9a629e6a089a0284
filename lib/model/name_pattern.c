/* SPDX-License-Identifier: MIT
 *
 * name_pattern.c - the name of a tensor without its numbers
 */
#include "lib/model/name_pattern.h"

/* The count of digits from `at` on, if they are a whole part between dots. */
static size_t digits_at(struct mf_str name, size_t at)
{
    size_t end = at;

    if (at > 0 && name.at[at - 1] != '.')
        return 0;
    while (end < name.size && name.at[end] >= '0' && name.at[end] <= '9')
        end++;
    return end == name.size || name.at[end] != '.' ? 0 : end - at;
}

bool mf_name_pattern_make(struct mf_str name, struct mf_name_pattern *out)
{
    size_t size = 0, at = 0;

    out->has_block = false;
    out->block = 0;
    while (at < name.size) {
        size_t digits = digits_at(name, at);

        if (digits > 9 || size == MF_NAME_PATTERN_MAX)
            return false;
        if (digits == 0) {
            out->text[size++] = name.at[at++];
            continue;
        }
        for (size_t i = 0; i < digits && !out->has_block; i++)
            out->block = out->block * 10 + (uint64_t)(name.at[at + i] - '0');
        out->has_block = true;
        out->text[size++] = '*';
        at += digits;
    }
    out->name = (struct mf_str){ out->text, size };
    return true;
}
