/* SPDX-License-Identifier: MIT
 *
 * report.h - what is known of models, as one document and as a page
 *
 * docs/report.md says what is in the document.  Each section is a function that
 * writes its member, key and value, into an object that is open; or nothing,
 * if the model has nothing for it.  The page is the same document with a
 * program that draws it, so nothing here knows how anything looks.
 *
 * A section that reads tensor data, or other files, is written only when the
 * options ask for it.
 */
#ifndef MF_LIB_REPORT_H
#define MF_LIB_REPORT_H

#include "lib/program.h"

typedef enum mf_status
mf_report_section(struct mf_model *model,
                  const struct mf_report_options *options,
                  struct mf_json_out *json);

/* From the header alone, of models of every source: what a page over a file
 * shows as well. */
mf_report_section mf_report_head, mf_report_verdict, mf_report_tensors,
    mf_report_metadata, mf_report_tokenizer, mf_report_plan;

/* On request. */
mf_report_section mf_report_data, mf_report_imatrix, mf_report_type_errors;

/* One of "compare": a pair of models, as an element of an array.  a and b are
 * their places among the models of the report. */
enum mf_status mf_report_pair(struct mf_model *const *models, size_t a,
                              size_t b, const struct mf_report_options *options,
                              struct mf_json_out *json);

/* The member "recorded": of options->recorded. */
enum mf_status mf_report_recorded(struct mf_env *env,
                                  const struct mf_report_options *options,
                                  struct mf_json_out *json);

/* An entry of the metadata, as a value: see ENTRY in docs/report.md. */
enum mf_status mf_report_entry(struct mf_model *model, size_t index,
                               struct mf_json_out *json);

/* An integer: of more than 53 bits as a string, since readers have doubles. */
void mf_report_number(struct mf_json_out *json, uint64_t number);
void mf_report_signed(struct mf_json_out *json, int64_t number);

#endif
