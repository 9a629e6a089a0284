/* SPDX-License-Identifier: MIT
 *
 * compare.h - the parts of a pair of models
 */
#ifndef MF_LIB_REPORT_COMPARE_H
#define MF_LIB_REPORT_COMPARE_H

#include "lib/report/put.h"

/* Whether an error says what a model is, so that the rest of the report goes
 * on. */
bool mf_report_can_go_on(enum mf_status status);

/* Also where an importance matrix is of another model, as the section about it
 * shows, and where a shard's others cannot be found. */
bool mf_report_can_go_on_after(const struct mf_error *error);

/* The two models of a pair, and whether the document names files.  Of one model
 * alone b is NULL. */
struct mf_report_both {
    const struct mf_model *a, *b;
    bool paths;
};

/* What an error says. Without paths, the file at its beginning becomes which of
 * the two models it is of. */
void mf_report_reason(struct mf_json_out *json, const char *key,
                      const char *message, const struct mf_report_both *both);

/* VALUES of docs/report.md. */
void mf_report_errors(struct mf_json_out *json, const char *key,
                      const struct mf_value_errors *errors);

/* The member "verify", if one of the two may be quantized from the other. */
enum mf_status mf_report_verify(struct mf_model *const *models, size_t a,
                                size_t b,
                                const struct mf_report_options *options,
                                struct mf_json_out *json);

#endif
