/* SPDX-License-Identifier: MIT
 *
 * hf.c - what callers ask before they need a recipe
 *
 * A library without the rooms of lib/hf has this file, and refuses.
 */
#include "lib/hf/hf.h"

#include "lib/base/str.h"
#include "lib/folder/sidecar.h"
#include "lib/model/nearby.h"
#include "lib/program.h"

/* ---- which models a recipe is for ---- */

/* A key with its type, as GGUF's are in files of other formats, counts too.
 * APR's own may be empty. */
bool mf_model_names_architecture(const struct mf_model *model)
{
    bool json = model->format->values == MF_VALUES_JSON;
    struct mf_meta meta;

    for (size_t i = 0; mf_meta_at(model, i, &meta); i++)
        if (mf_str_begins(meta.key, "general.architecture") ||
            (json && meta.type == MF_VALUE_STRING && meta.count > 0 &&
             (mf_str_is(meta.key, "architecture") ||
              mf_str_is(meta.key, "model_type"))))
            return true;
    return false;
}

bool mf_hf_applies_mistral(const struct mf_model *model,
                           const struct mf_format *format)
{
    return format->values == MF_VALUES_TYPED &&
           (model->format->naming == MF_NAMING_HF ||
            model->format->values == MF_VALUES_JSON) &&
           mf_nearby_any(model) && !mf_model_names_architecture(model);
}

bool mf_hf_applies(const struct mf_model *model, const struct mf_format *format)
{
    struct mf_arena arena;
    bool found;

    if (!mf_hf_applies_mistral(model, format))
        return false;
    mf_arena_init(&arena, model->env);
    found = mf_sidecar_exists(model, &arena, "config.json");
    mf_arena_release(&arena);
    return found;
}

/* ---- the outline ---- */

enum mf_status mf_model_outline(struct mf_model *model, enum mf_outline what,
                                struct mf_model **out)
{
    MF_NEED(NULL, model);
    MF_NEED(model->env, out);

    const struct mf_format *format = mf_format_with_values(MF_VALUES_TYPED);
    const struct mf_hf_options options = { .facts = what == MF_OUTLINE_FACTS };
    struct mf_draft draft;
    enum mf_status status;

    mf_clear_error(model->env);
    *out = NULL;
    if ((unsigned)what > MF_OUTLINE_HEADER)
        return mf_fail(model->env, MF_ERR_ARGUMENT, MF_NO_OFFSET,
                       "%u is no choice of an outline", (unsigned)what);
    if (!mf_hf_applies(model, format))
        return model->env->error.status;
    mf_draft_init(&draft, model->env, format);
    status = mf_hf_outline(&draft, model, &options);
    if (status == MF_OK)
        status = mf_draft_as_model(&draft, model->file[0].path, out);
    mf_draft_release(&draft);
    return status;
}

/* ---- types that can be asked for ---- */

static const struct {
    enum mf_type type;
    uint32_t file_type;
} outtypes[] = {
    { MF_TYPE_F32, 0 },  { MF_TYPE_F16, 1 },    { MF_TYPE_BF16, 32 },
    { MF_TYPE_Q8_0, 7 }, { MF_TYPE_TQ1_0, 36 }, { MF_TYPE_TQ2_0, 37 },
};
#define COUNT (sizeof(outtypes) / sizeof(*outtypes))

enum mf_type mf_hf_type(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(mf_types[outtypes[i].type].name, name) == 0)
            return outtypes[i].type;
    return MF_TYPE_UNKNOWN;
}

uint32_t mf_hf_file_type(enum mf_type wanted)
{
    size_t i = 0;

    while (i + 1 < COUNT && outtypes[i].type != wanted)
        i++;
    return outtypes[i].file_type;
}

/* ---- names ---- */

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
