/* SPDX-License-Identifier: MIT
 *
 * reasons.c - why a request is refused although the bytes are fine
 */
#include "lib/base/reasons.h"

#define ROW(name, error, text) { .id = name, .status = error, .meaning = text },

const struct mf_reason_info mf_reasons[MF_REASON_COUNT] = {
#define REASON(NAME, id, status, meaning) ROW(id, MF_ERR_##status, meaning)
#include "lib/base/reasons.def"
#undef REASON
};
#undef ROW

bool mf_reason_at(size_t index, struct mf_reason_info *out)
{
    if (!out || index >= MF_REASON_COUNT)
        return false;
    *out = mf_reasons[index];
    return true;
}
