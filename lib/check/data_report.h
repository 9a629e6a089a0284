/* SPDX-License-Identifier: MIT
 *
 * data_report.h - what was found in the data of one tensor, as findings
 */
#ifndef MF_LIB_DATA_REPORT_H
#define MF_LIB_DATA_REPORT_H

#include "lib/check/scan.h"
#include "lib/model/model.h"

struct mf_data_found {
    struct mf_scan_found values;
    bool nonzero;   /* a byte is not zero */
    bool bad_scale; /* of the whole tensor */
    uint64_t same;  /* rows, if all of them are the same; else 0 */
};

void mf_data_report(struct mf_model *model, const struct mf_record *record,
                    const struct mf_data_found *found);

#endif
