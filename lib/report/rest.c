/* SPDX-License-Identifier: MIT
 *
 * rest.c - stand-ins until the sections are here
 */
#include "lib/report/report.h"

#define NOTHING(name)                                                          \
    __attribute__((weak)) enum mf_status name(                                 \
        struct mf_model *model, const struct mf_report_options *options,      \
        struct mf_json_out *json)                                              \
    {                                                                          \
        (void)model, (void)options, (void)json;                                \
        return MF_OK;                                                          \
    }
NOTHING(mf_report_data)
NOTHING(mf_report_imatrix)

__attribute__((weak)) enum mf_status
mf_report_pair(struct mf_model *const *models, size_t a, size_t b,
               const struct mf_report_options *options,
               struct mf_json_out *json)
{
    (void)models, (void)a, (void)b, (void)options;
    mf_json_null(json);
    return MF_OK;
}
