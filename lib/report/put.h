/* SPDX-License-Identifier: MIT
 *
 * put.h - members of the document
 */
#ifndef MF_LIB_REPORT_PUT_H
#define MF_LIB_REPORT_PUT_H

#include "lib/report/report.h"

struct mf_env *mf_report_env(const struct mf_model *model);

/* Whether the model has tensors that are weights: an importance matrix and a
 * table have none. */
bool mf_report_has_weights(const struct mf_model *model);

void mf_put_number(struct mf_json_out *json, const char *key, uint64_t number);
void mf_put_bool(struct mf_json_out *json, const char *key, bool value);
void mf_put_string(struct mf_json_out *json, const char *key, const char *text);
void mf_put_text(struct mf_json_out *json, const char *key, struct mf_str text);

/* A number, bool or null, as the document has it. */
void mf_report_scalar(struct mf_json_out *json, const struct mf_value *value);

/* The value of an entry alone, with all elements of an array. */
enum mf_status mf_report_whole(struct mf_model *model, size_t index,
                               struct mf_json_out *json);

/* At most room bytes of the text, and none of a character that would be cut. */
struct mf_str mf_report_front(struct mf_str text, size_t room);

#endif
