/* SPDX-License-Identifier: MIT
 *
 * reasons.h - why a request is refused although the bytes are fine
 */
#ifndef MF_LIB_REASONS_H
#define MF_LIB_REASONS_H

#include "lib/modelfile.h"

enum mf_reason {
#define REASON(NAME, id, status, meaning) MF_REASON_##NAME,
#include "lib/base/reasons.def"
#undef REASON
    MF_REASON_COUNT
};

extern const struct mf_reason_info mf_reasons[MF_REASON_COUNT];

#endif
