/* SPDX-License-Identifier: MIT
 *
 * describe.c - shapes, types and formats in words
 */
#include "cli/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"

struct shape_text shape_text(const struct mf_tensor *tensor)
{
    struct shape_text text;
    char *at = text.at;

    for (uint32_t i = 0; i < tensor->rank; i++) {
        memcpy(at, "x...", sizeof("x..."));
        /* 64 dimensions are allowed, and do not fit. */
        if (text.at + sizeof(text.at) - at < 32)
            return text;
        at += i > 0 ? strlen("x") : 0;
        at += put_decimal(at, tensor->dim[i]);
    }
    memcpy(at, tensor->rank > 0 ? "" : "scalar", tensor->rank > 0 ? 1 : 7);
    return text;
}

void shape_json(struct run *run, const struct mf_tensor *tensor)
{
    mf_json_key(&run->json, "shape");
    mf_json_begin(&run->json, '[');
    for (uint32_t i = 0; i < tensor->rank; i++)
        mf_json_u64(&run->json, tensor->dim[i]);
    mf_json_end(&run->json, ']');
}

struct type_text type_text(const struct mf_meta *meta)
{
    struct type_text text;

    if (meta->type == MF_VALUE_ARRAY)
        snprintf(text.at, sizeof(text.at), "%s[%" PRIu64 "]",
                 mf_value_type_name(meta->of), meta->count);
    else
        snprintf(text.at, sizeof(text.at), "%s",
                 mf_value_type_name(meta->type));
    return text;
}

void dialect_text(struct out *out, const char *variant, uint32_t version,
                  uint32_t minor, enum mf_byte_order order)
{
    if (*variant)
        out_format(out, " %s", variant);
    if (version > 0)
        out_format(out, ", version %u", version);
    if (minor > 0)
        out_format(out, ".%u", minor);
    if (order == MF_BIG_ENDIAN)
        out_text(out, ", big-endian");
}

void byte_order_json(struct run *run, enum mf_byte_order order)
{
    json_text(run, "byte_order", order == MF_BIG_ENDIAN ? "big" : "little");
}
