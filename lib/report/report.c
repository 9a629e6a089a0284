/* SPDX-License-Identifier: MIT
 *
 * report.c - the whole document, section by section
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/report/report.h"

void mf_report_number(struct mf_json_out *json, uint64_t number)
{
    char digits[24];
    int size;

    if (number <= (uint64_t)1 << 53) {
        mf_json_u64(json, number);
        return;
    }
    size = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    mf_json_string(json, digits, (size_t)size);
}
