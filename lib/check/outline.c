/* SPDX-License-Identifier: MIT
 *
 * outline.c - what a loader would find in the GGUF file that a folder becomes
 *
 * A folder of Hugging Face has neither the keys nor the names that the rows of
 * lib/arch are about; the header of the file that is made of it has.
 */
#include "lib/check/check.h"

#include "lib/model/model.h"

enum mf_status mf_outline_check(struct mf_model *model,
                                struct mf_model *outline)
{
    const struct mf_index *from = &outline->index;
    size_t first = from->finding_count;

    if (model->outline_validated)
        return MF_OK;
    model->outline_validated = true;
    mf_architecture_check(outline);
    mf_lists_check(outline);
    for (size_t i = first; i < from->finding_count; i++) {
        const struct mf_finding *finding = &from->finding[i];

        mf_index_note(&model->index, 0,
                      finding->severity == MF_NOTE ? MF_NOTE : MF_WARNING,
                      mf_rule_of(finding->rule), MF_NO_OFFSET, "as GGUF: %s",
                      finding->message);
    }
    return from->status != MF_OK ? from->status : model->index.status;
}
