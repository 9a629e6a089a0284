/* SPDX-License-Identifier: MIT
 *
 * rest.c - stand-ins until the sections are here
 */
#include "lib/report/report.h"

__attribute__((weak)) enum mf_status
mf_report_data(struct mf_model *model, const struct mf_report_options *options,
               struct mf_json_out *json)
{
    (void)model, (void)options, (void)json;
    return MF_OK;
}
