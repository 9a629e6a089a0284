/* SPDX-License-Identifier: MIT
 *
 * document.h - between report.c and page.c
 */
#ifndef MF_LIB_DOCUMENT_H
#define MF_LIB_DOCUMENT_H

#include "lib/program.h"
#include "lib/report/report.h"

struct mf_report {
    struct mf_model *const *model;
    size_t count; /* at least 1 */
    struct mf_report_options options;
};

/* What the program gave, or MF_ERR_ARGUMENT. */
enum mf_status mf_report_check(struct mf_model *const *models, size_t count,
                               const struct mf_report_options *options,
                               struct mf_report *out);

enum mf_status mf_report_document(const struct mf_report *report,
                                  struct mf_json_out *json);

/* MF_ERR_OUTPUT where the page would replace a file that the options name. */
enum mf_status mf_report_guard(struct mf_env *env, const char *path,
                               const struct mf_report_options *options);

/* The page, without the document that belongs between both parts: web/page,
 * put together by make. */
extern const struct mf_packed mf_page_head, mf_page_tail;

#endif
