/* SPDX-License-Identifier: MIT
 *
 * templates.h - the chat templates of a model, as findings
 *
 * lib/template reads one template and reports; here a report becomes findings:
 * of the templates in a model's metadata, and for lib/folder of those in files
 * next to it.
 */
#ifndef MF_LIB_TEMPLATES_H
#define MF_LIB_TEMPLATES_H

#include "lib/model/model.h"
#include "lib/template/template.h"

/* Where a template is, and who reads it. */
struct mf_template_use {
    struct mf_str name; /* of the metadata key, or the file */
    uint32_t shard;
    uint64_t offset; /* of the template in the file, or MF_NO_OFFSET */
    bool plain; /* bytes of the template are bytes of the file from there on */
    /* of a template that the reader does not accept */
    enum mf_severity llama, jinja2;
    const char *llama_does; /* "llama.cpp ends while it loads" */
};

/* Adds what a report says to the findings. */
void mf_template_note(struct mf_index *index, const struct mf_template_use *use,
                      const struct mf_template_report *report);

/* Adds findings about the chat templates in a model's metadata. */
enum mf_status mf_templates_check(struct mf_model *model);

#endif
