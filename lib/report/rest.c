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

__attribute__((weak)) enum mf_status
mf_report_recorded(struct mf_env *env, const struct mf_report_options *options,
                   struct mf_json_out *json)
{
    (void)env, (void)options, (void)json;
    return MF_OK;
}
