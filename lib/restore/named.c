/* SPDX-License-Identifier: MIT
 *
 * named.c - what a renaming needs that knows no recipe
 */
#include "lib/base/str.h"
#include "lib/restore/rename.h"

bool mf_is_named_for_gguf(const struct mf_index *index)
{
    for (size_t i = 0; i < index->tensor_count; i++) {
        const struct mf_record *record = &index->tensor[i];
        struct mf_str name = { record->name, record->name_size };

        if (mf_str_begins(name, "blk.") || mf_str_holds(name, ".blk.") ||
            mf_str_is(name, "token_embd.weight"))
            return true;
    }
    return false;
}

void mf_renaming_release(struct mf_renaming *renaming)
{
    if (renaming->draft.env)
        mf_draft_release(&renaming->draft);
    *renaming = (struct mf_renaming){ .to = MF_NAMING_KEEP };
}
