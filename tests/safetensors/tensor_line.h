/* SPDX-License-Identifier: MIT
 *
 * tensor_line.h - a tensor compared with a line of text
 */
#ifndef TESTS_TENSOR_LINE_H
#define TESTS_TENSOR_LINE_H

#include <inttypes.h>

#include "tests/support.h"

/* The line is "name type [dims] offset size", the offset from the start of the
 * data. */
static inline void check_tensor(const struct mf_model *model, size_t index,
                                const char *expected)
{
    char line[256];
    struct mf_tensor tensor;
    struct mf_shard shard;
    size_t at;

    assert_true(mf_tensor_at(model, index, &tensor));
    assert_true(mf_shard_at(model, tensor.shard, &shard));
    at = (size_t)snprintf(line, sizeof(line), "%s %s [", tensor.name.at,
                          tensor.type);
    for (uint32_t i = 0; i < tensor.rank; i++)
        at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%" PRIu64,
                               i > 0 ? "," : "", tensor.dim[i]);
    snprintf(line + at, sizeof(line) - at, "] %" PRIu64 " %" PRIu64,
             tensor.data.offset - shard.data_offset, tensor.data.size);
    assert_string_equal(line, expected);
}

#endif
