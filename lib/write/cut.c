/* SPDX-License-Identifier: MIT
 *
 * cut.c - which tensors each shard has
 */
#include "lib/write/convert.h"

uint64_t mf_cut_draft(const void *draft, size_t tensor)
{
    return ((const struct mf_draft *)draft)->tensor[tensor].size;
}

size_t mf_cut_take(const struct mf_cut *cut, size_t first)
{
    const struct mf_convert_options *options = cut->options;
    uint64_t size = 0;
    size_t count = 0;

    while (first + count < cut->tensors) {
        uint64_t more = cut->size(cut->from, first + count);

        if (count > 0 && options->shard_size > 0 &&
            (more > options->shard_size || size > options->shard_size - more))
            break;
        if (options->shard_tensors > 0 && count == options->shard_tensors)
            break;
        size += more;
        count++;
    }
    return count;
}

size_t mf_cut_count(const struct mf_cut *cut)
{
    size_t count = 0, first = 0;

    do {
        first += mf_cut_take(cut, first);
        count++;
    } while (first < cut->tensors);
    return count;
}
